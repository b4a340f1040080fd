//! `layercake render`: the rendered documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ask;
use crate::check::{Checked, RenderedSite as SiteAtHand, RunControl, Work, work_on_sites};
use crate::commands::documents::DocumentGlobs;
use crate::commands::{Project, Selection, names};
use crate::error::Error;
use crate::graph::{DocId, Recipe};
use crate::report::{RenderedDocument, SiteDocuments};
use crate::source::{DocKey, RepoPath};
use crate::yaml::path::Piece;
use crate::yaml::{Key, Node, Value};

/// Request for rendered documents.
#[derive(Clone, Debug, Default)]
pub struct RenderRequest {
    /// Filter for documents.
    pub documents: DocumentGlobs,
    /// Place of the only value to print of each document.
    pub path: Option<String>,
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
        let Checked {
            undefined, unread, ..
        } = &self.checked;
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
    control: &RunControl,
) -> Result<Rendering, Error> {
    let open = if wanted.is_judged {
        Project::open
    } else {
        Project::open_asked
    };
    let project = open(selection)?;
    let filter = wanted.documents.matcher()?;
    let plan = project.plan(control);
    let per_site = |site: &SiteAtHand<'_>| {
        let path = wanted.path.as_deref();
        outputs(site, path, &|key, file| {
            filter.matches(key) && plan.concerns(file)
        })
    };
    let work = if wanted.is_judged {
        Work::Judge
    } else {
        Work::Render
    };
    let (checked, taken) = work_on_sites(&plan, work, per_site)?.without_taken();
    let (mut sites, mut missing) = (Vec::new(), Vec::new());
    let (mut known, mut without_value) = (BTreeSet::new(), None);
    for outputs in taken {
        missing.extend(
            outputs
                .unmade
                .into_iter()
                .map(|key| (outputs.site.clone(), key)),
        );
        known.extend(outputs.known);
        without_value = without_value.or(outputs.without_value);
        sites.push(SiteDocuments {
            site: outputs.site,
            documents: outputs.documents,
        });
    }
    let rendering = Rendering {
        checked,
        sites,
        missing,
    };
    let has_value = without_value
        .filter(|_| rendering.is_empty())
        .map_or(Ok(()), Err);
    let matched = wanted.documents.ensure_matched("rendered document", &known);
    match matched.and(has_value) {
        // The documents of a site without a definition are unknown.
        Err(error) if rendering.checked.undefined.is_empty() => {
            Err(names::or_unread(error, &rendering.checked))
        }
        Ok(()) | Err(_) => Ok(rendering),
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
    /// All outputs of the site.
    known: BTreeSet<DocKey>,
    /// Error for the first requested document that has no value at the path.
    without_value: Option<Error>,
}

fn outputs(
    site: &SiteAtHand<'_>,
    path: Option<&str>,
    is_wanted: &dyn Fn(&DocKey, &RepoPath) -> bool,
) -> Outputs {
    let (mut documents, mut unmade, mut without_value) = (Vec::new(), Vec::new(), None);
    let known = site
        .graph
        .outputs()
        .map(|(_, recipe)| recipe.key.clone())
        .collect();
    for (doc, recipe) in site.graph.outputs() {
        let file = site.sources.path_of(recipe.span);
        if !is_wanted(&recipe.key, file) {
            continue;
        }
        let data = site.rendered.data(doc);
        let data =
            data.map(|data| path.map_or_else(|| Ok(data.clone()), |path| only(data, recipe, path)));
        match data {
            Some(Ok(data)) => documents.push(RenderedDocument {
                key: recipe.key.clone(),
                data,
                metadata: metadata(site, doc),
                file: file.clone(),
                line: site
                    .sources
                    .start(site.sources.written(recipe.span))
                    .line
                    .get(),
            }),
            Some(Err(error)) => without_value = without_value.or(Some(error)),
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
    Outputs {
        site: site.site.name.clone(),
        documents,
        unmade,
        known,
        without_value,
    }
}

/// Data of a document with only the value at `path`, inside its parents.
fn only(data: &Node, recipe: &Recipe, path: &str) -> Result<Node, Error> {
    let place = ask::place(data, path)?;
    pruned(data, &place.0).ok_or_else(|| ask::no_value(recipe, data, &place))
}

fn pruned(node: &Node, pieces: &[Piece]) -> Option<Node> {
    let Some((piece, rest)) = pieces.split_first() else {
        return Some(node.clone());
    };
    let value = match piece {
        Piece::Key(wanted) => {
            let (key, child) = node.as_mapping()?.iter().find(|(key, _)| *key == wanted)?;
            let entry = (key.clone(), pruned(child, rest)?);
            Value::Mapping(Arc::new(std::iter::once(entry).collect()))
        }
        Piece::Index(index) => {
            let child = node.as_sequence()?.get(*index)?;
            Value::Sequence(Arc::new(std::iter::once(pruned(child, rest)?).collect()))
        }
    };
    Some(Node {
        value,
        ..node.clone()
    })
}
