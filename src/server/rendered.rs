//! Rendered documents as read-only texts, at addresses of the scheme `layercake`: a title as the path,
//! which clients show, and a [`RenderedAddress`] as JSON in the query. Some clients decode and encode
//! addresses, so nothing else of their form has a meaning.

use std::path::PathBuf;

use gen_lsp_types::{Position, TextDocumentContentResult, Uri};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::uri::encoded;
use crate::ask::SET;
use crate::check::Answer;
use crate::commands::Selection;
use crate::commands::documents::DocumentGlobs;
use crate::commands::render::{self, RenderRequest};
use crate::commands::reports::view;
use crate::error::{Error, ErrorKind};
use crate::report::{self, DocumentOptions};
use crate::source::OverlaidTexts;

/// Scheme of the addresses.
pub(super) const SCHEME: &str = "layercake";

/// Command that lists the rendered documents at a place.
pub(super) const DOCUMENTS: &str = "layercake.rendered";

/// Argument of the commands: a place, and a site to which the answer is limited.
#[derive(Deserialize)]
pub(super) struct CommandPlace {
    pub(super) position: Position,
    #[serde(default)]
    site: Option<String>,
}

/// A rendered document.
#[derive(Serialize)]
pub(super) struct RenderedDocument {
    site: Option<String>,
    document: String,
    /// Its text.
    uri: Uri,
    /// Its text in the base.
    base: Uri,
}

/// The output of each site that the document at a place is or becomes: it may be replaced.
pub(super) fn documents_at(
    asked: &mut Asked<'_>,
    place: &CommandPlace,
) -> Result<Vec<RenderedDocument>, Error> {
    let Some(at) = asked.at(place.position) else {
        return Ok(Vec::new());
    };
    let found = asked.ask(|site| {
        let doc = site.site.document_at(at);
        let doc = doc.map(|doc| site.site.standing_for(doc));
        let doc = doc.filter(|doc| site.site.is_output(*doc));
        Answer::Is(doc.map(|doc| site.graph.recipe(doc).key.clone()))
    })?;
    let found = found
        .into_iter()
        .filter_map(|(site, key)| Some((site, key?)));
    let wanted = found.filter(|(site, _)| {
        place.site.is_none() || place.site.as_deref() == Some(site.as_deref().unwrap_or(SET))
    });
    let documents = wanted.map(|(site, key)| {
        let head = RenderedAddress {
            is_base: false,
            site: site.as_deref().unwrap_or(SET).to_owned(),
            schema: key.schema.to_string(),
            name: key.name.to_string(),
            folder: asked.folder.path.clone(),
        };
        let is_base = true;
        let base = RenderedAddress {
            is_base,
            ..head.clone()
        };
        RenderedDocument {
            document: format!("{} {}", key.schema, key.name),
            uri: head.uri(),
            base: base.uri(),
            site: site.as_deref().map(str::to_owned),
        }
    });
    Ok(documents.collect())
}

/// Target of an address.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct RenderedAddress {
    is_base: bool,
    /// `-` for a set of files without layout.
    site: String,
    schema: String,
    name: String,
    /// The folder as the client opened it.
    pub(super) folder: PathBuf,
}

impl RenderedAddress {
    fn uri(&self) -> Uri {
        let side = if self.is_base { " before" } else { "" };
        let title = format!("{} in {}{side}.yaml", self.name, self.site);
        let query = serde_json::to_string(self).expect("an address is JSON");
        Uri(format!("{SCHEME}:/{}?{}", encoded(&title), encoded(&query)))
    }

    /// `None` for another address.
    pub(super) fn parse(uri: &Uri) -> Option<Self> {
        let (_, query) = uri.0.strip_prefix(SCHEME)?.split_once('?')?;
        let query = percent_decode_str(query).decode_utf8().ok()?;
        serde_json::from_str(&query).ok()
    }

    /// The rendered document with the origin of each value; empty if the side does not render it.
    ///
    /// # Errors
    /// If the site cannot be read.
    pub(super) fn text(&self, asked: &mut Asked<'_>) -> Result<TextDocumentContentResult, Error> {
        let revision = if self.is_base {
            match &asked.base()?.commit {
                Some(commit) => Some(commit.clone()),
                None => return Ok(TextDocumentContentResult::default()),
            }
        } else {
            None
        };
        let selection = Selection {
            sites: [&*self.site]
                .into_iter()
                .filter(|site| *site != SET)
                .map(globset::escape)
                .collect(),
            texts: if self.is_base {
                OverlaidTexts::default()
            } else {
                asked.selection().texts
            },
            revision,
            ..asked.selection()
        };
        let request = RenderRequest {
            documents: DocumentGlobs {
                schemas: vec![globset::escape(&self.schema)],
                names: vec![globset::escape(&self.name)],
            },
            ..RenderRequest::default()
        };
        let rendering = match render::run(&selection, &request, &asked.control()) {
            // The site or the document is not there.
            Err(error) if error.kind() == ErrorKind::Usage => {
                return Ok(TextDocumentContentResult::default());
            }
            rendering => rendering?,
        };
        let checked = &rendering.checked;
        let view = view(checked);
        let options = DocumentOptions {
            show_secrets: false,
            with_origin: true,
        };
        let mut text = Vec::new();
        report::documents::write(&rendering.sites, &view, options, &mut text)
            .expect("memory can be written");
        Ok(TextDocumentContentResult {
            text: String::from_utf8_lossy(&text).into_owned(),
        })
    }
}
