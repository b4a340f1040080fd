//! `layercake render`: the rendered documents.

use std::sync::Arc;

use globset::GlobSet;

use crate::check::{Checked, Progress, RenderedSite as SiteAtHand, check};
use crate::commands::{Selection, Workspace, globs};
use crate::error::Error;
use crate::graph::DocId;
use crate::report::{RenderedDocument, RenderedSite};
use crate::source::{DocKey, RepoPath};
use crate::yaml::{Key, Node, Value};

/// Which of the rendered documents are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Globs of schemas; all where there is none.
    pub schemas: Vec<String>,
    /// Globs of names; all where there is none.
    pub names: Vec<String>,
}

/// Renders what the selection names; what was rendered comes although other
/// documents have problems.
///
/// # Errors
/// Where the work cannot be done; faults of documents are findings.
pub fn run(
    selection: &Selection,
    wanted: &Wanted,
    progress: &Progress,
) -> Result<Checked<RenderedSite>, Error> {
    let workspace = Workspace::open(selection)?;
    let filter = Filter { schemas: globs(&wanted.schemas)?, names: globs(&wanted.names)? };
    let plan = workspace.plan(progress);
    check(&plan, |site| {
        let documents = outputs(site, &|key, file| filter.takes(key) && plan.concerns(file));
        RenderedSite { site: site.site.name.clone(), documents }
    })
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

/// The metadata of a document; of a set of parts, its name.
fn metadata(site: &SiteAtHand<'_>, doc: DocId) -> Node {
    if site.sets.member(doc).is_none() {
        return site.site.document(doc).metadata();
    }
    let recipe = site.graph.recipe(doc);
    let name = Node::new(Value::String(recipe.key.name.clone().into()), recipe.span);
    let entries = std::iter::once((Key::string("name", recipe.span), name));
    Node::new(Value::Mapping(Arc::new(entries.collect())), recipe.span)
}

/// The outputs of one site that are wanted, by schema, name and layer.
fn outputs(
    site: &SiteAtHand<'_>,
    is_wanted: &dyn Fn(&DocKey, &RepoPath) -> bool,
) -> Vec<RenderedDocument> {
    let emitted = site.graph.outputs();
    let mut documents: Vec<RenderedDocument> = emitted
        .filter_map(|(doc, recipe)| {
            let file = site.sources.path_of(recipe.span);
            if !is_wanted(&recipe.key, file) {
                return None;
            }
            Some(RenderedDocument {
                key: recipe.key.clone(),
                data: site.rendered.data(doc)?.clone(),
                // Read again for each of them.
                metadata: metadata(site, doc),
                file: file.clone(),
                line: site.sources.start(site.sources.written(recipe.span)).line.get(),
            })
        })
        .collect();
    documents.sort_by(|left, right| {
        let order = |document: &RenderedDocument| {
            let key = &document.key;
            (key.schema.clone(), key.name.clone(), key.layer.clone())
        };
        order(left).cmp(&order(right))
    });
    documents
}
