//! `layercake render`: the rendered documents.

use std::sync::Arc;

use globset::GlobSet;

use crate::check::{Checked, Progress, RenderedSite as SiteAtHand, Work, work_on_sites};
use crate::commands::{Selection, Workspace, globs};
use crate::error::Error;
use crate::graph::DocId;
use crate::report::{RenderedDocument, SiteDocuments};
use crate::source::{DocKey, RepoPath};
use crate::yaml::{Key, Node, Value};

/// Filter for rendered documents.
#[derive(Clone, Debug, Default)]
pub struct RenderRequest {
    /// Globs of schemas; all if empty.
    pub schemas: Vec<String>,
    /// Globs of names; all if empty.
    pub names: Vec<String>,
    /// Whether to run rules on the rendered documents.
    pub is_judged: bool,
}

/// Rendered documents that were requested.
#[derive(Debug)]
pub struct Rendering {
    /// Findings: those of all rules if requested, else those of rendering.
    pub checked: Checked<()>,
    /// Documents, by site.
    pub sites: Vec<SiteDocuments>,
    /// Requested documents that could not be rendered, with their sites.
    pub missing: Vec<(Option<Arc<str>>, DocKey)>,
}

impl Rendering {
    /// Whether nothing matches the request.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.sites.iter().all(|site| site.documents.is_empty())
    }

    /// Whether all requested documents were rendered.
    pub fn is_whole(&self) -> bool {
        let Checked { undefined, unread, .. } = &self.checked;
        !self.is_empty() && self.missing.is_empty() && undefined.is_empty() && unread.is_empty()
    }
}

/// Renders what the selection names. Problems of other documents do not prevent it.
///
/// # Errors
/// If a step fails; faults of documents are findings.
pub fn run(
    selection: &Selection,
    wanted: &RenderRequest,
    progress: &Progress,
) -> Result<Rendering, Error> {
    let open = if wanted.is_judged { Workspace::open } else { Workspace::open_asked };
    let workspace = open(selection)?;
    let filter = Filter { schemas: globs(&wanted.schemas)?, names: globs(&wanted.names)? };
    let plan = workspace.plan(progress);
    let per_site = |site: &SiteAtHand<'_>| {
        outputs(site, &|key, file| filter.takes(key) && plan.concerns(file))
    };
    let work = if wanted.is_judged { Work::Judge } else { Work::Render };
    let (checked, taken) = work_on_sites(&plan, work, per_site)?.without_taken();
    let (mut sites, mut missing) = (Vec::new(), Vec::new());
    for Outputs { site, documents, unmade } in taken {
        missing.extend(unmade.into_iter().map(|key| (site.clone(), key)));
        sites.push(SiteDocuments { site, documents });
    }
    Ok(Rendering { checked, sites, missing })
}

struct Filter {
    schemas: Option<GlobSet>,
    names: Option<GlobSet>,
}

impl Filter {
    fn takes(&self, key: &DocKey) -> bool {
        let matches = |globs: &Option<GlobSet>, text: &str| {
            globs.as_ref().is_none_or(|globs| globs.is_match(text))
        };
        matches(&self.schemas, &key.schema) && matches(&self.names, &key.name)
    }
}

/// Metadata of a document; for a set of parts, its name.
fn metadata(site: &SiteAtHand<'_>, doc: DocId) -> Node {
    if site.sets.member(doc).is_none() {
        return site.site.document(doc).metadata();
    }
    let recipe = site.graph.recipe(doc);
    let name = Node::new(Value::String(recipe.key.name.clone().into()), recipe.span);
    let entries = std::iter::once((Key::string("name", recipe.span), name));
    Node::new(Value::Mapping(Arc::new(entries.collect())), recipe.span)
}

/// Requested outputs of one site.
struct Outputs {
    site: Option<Arc<str>>,
    /// Sorted by schema, name and layer.
    documents: Vec<RenderedDocument>,
    /// Outputs that could not be rendered.
    unmade: Vec<DocKey>,
}

fn outputs(site: &SiteAtHand<'_>, is_wanted: &dyn Fn(&DocKey, &RepoPath) -> bool) -> Outputs {
    let (mut documents, mut unmade) = (Vec::new(), Vec::new());
    for (doc, recipe) in site.graph.outputs() {
        let file = site.sources.path_of(recipe.span);
        if !is_wanted(&recipe.key, file) {
            continue;
        }
        match site.rendered.data(doc) {
            Some(data) => documents.push(RenderedDocument {
                key: recipe.key.clone(),
                data: data.clone(),
                metadata: metadata(site, doc),
                file: file.clone(),
                line: site.sources.start(site.sources.written(recipe.span)).line.get(),
            }),
            None => unmade.push(recipe.key.clone()),
        }
    }
    documents.sort_by(|left, right| {
        let order = |document: &RenderedDocument| {
            let key = &document.key;
            (key.schema.clone(), key.name.clone(), key.layer.clone())
        };
        order(left).cmp(&order(right))
    });
    Outputs { site: site.site.name.clone(), documents, unmade }
}
