//! Read-only texts at addresses of the scheme `layercake`: a title as the path, which clients show, and a
//! [`ReadOnlyText`] as JSON in the query. Some clients decode and encode addresses, so nothing else of
//! their form has a meaning.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gen_lsp_types::{Position, TextDocumentContentResult, Uri};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::uri::encoded;
use crate::ask::SET;
use crate::check::{Answer, Workspace};
use crate::commands::Selection;
use crate::commands::documents::DocumentGlobs;
use crate::commands::render::{self, RenderRequest};
use crate::commands::reports::view;
use crate::error::{Error, ErrorKind};
use crate::report::{self, DocumentOptions};
use crate::source::{OverlaidTexts, RepoPath};

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
            uri: ReadOnlyText::Rendered(head).uri(),
            base: ReadOnlyText::Rendered(base).uri(),
            site: site.as_deref().map(str::to_owned),
        }
    });
    Ok(documents.collect())
}

/// Target of an address.
#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum ReadOnlyText {
    Rendered(RenderedAddress),
    /// A file at a commit of a further repository.
    Source {
        path: String,
        commit: String,
        /// The folder as the client opened it.
        folder: PathBuf,
    },
}

impl ReadOnlyText {
    pub(super) fn uri(&self) -> Uri {
        let title = match self {
            Self::Rendered(RenderedAddress {
                is_base,
                site,
                name,
                ..
            }) => {
                let side = if *is_base { " before" } else { "" };
                format!("{name} in {site}{side}.yaml")
            }
            Self::Source { path, commit, .. } => {
                let commit: String = commit.chars().take(7).collect();
                format!("{commit} {path}")
            }
        };
        let query = serde_json::to_string(self).expect("an address is JSON");
        Uri(format!("{SCHEME}:/{}?{}", encoded(&title), encoded(&query)))
    }

    /// `None` for another address.
    pub(super) fn parse(uri: &Uri) -> Option<Self> {
        let (_, query) = uri.0.strip_prefix(SCHEME)?.split_once('?')?;
        let query = percent_decode_str(query).decode_utf8().ok()?;
        serde_json::from_str(&query).ok()
    }

    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Rendered(RenderedAddress { folder, .. }) | Self::Source { folder, .. } => folder,
        }
    }

    /// # Errors
    /// If a site cannot be read.
    pub(super) fn text(&self, asked: &mut Asked<'_>) -> Result<TextDocumentContentResult, Error> {
        match self {
            Self::Rendered(address) => address.text(asked),
            Self::Source { path, commit, .. } => {
                let path = RepoPath::new(path.as_str());
                let text = shown_source(&asked.folder.workspace, &path, commit);
                let text = text.unwrap_or_default();
                Ok(TextDocumentContentResult { text })
            }
        }
    }
}

/// The text of a file at a commit of a further repository, with `*` for each byte of a secret; `None` if
/// it is not read any more.
fn shown_source(workspace: &Workspace, path: &RepoPath, commit: &str) -> Option<String> {
    let file = workspace.content_at(path, commit)?;
    let (sources, secrets, opaque) = workspace.texts();
    let text = sources.get(file).text();
    let of_file = secrets.iter().filter(|secret| secret.file == file);
    let mut hidden: Vec<Range<usize>> = of_file.map(|secret| secret.range()).collect();
    if opaque.contains(&file) {
        hidden.push(0..text.len());
    }
    let mut shown = text.to_string();
    for range in hidden {
        let stars = |line: &str| "*".repeat(line.len());
        let lines: Vec<String> = text[range.clone()].split('\n').map(stars).collect();
        shown.replace_range(range, &lines.join("\n"));
    }
    Some(shown)
}

/// A rendered document of a site.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct RenderedAddress {
    is_base: bool,
    /// `-` for a set of files without layout.
    site: String,
    schema: String,
    name: String,
    /// The folder as the client opened it.
    folder: PathBuf,
}

impl RenderedAddress {
    /// The rendered document with the origin of each value; empty if the side does not render it.
    ///
    /// # Errors
    /// If the site cannot be read.
    fn text(&self, asked: &mut Asked<'_>) -> Result<TextDocumentContentResult, Error> {
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
