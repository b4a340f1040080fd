//! `layercake graph`: the documents of each site, and which is made of which.

use crate::check::{Checked, Progress, RenderedSite, check};
use crate::commands::{Selection, Workspace};
use crate::error::Error;
use crate::graph::{Op, Recipe};
use crate::report::graph::{DocumentGraph, EdgeKind, GraphEdge, GraphNode};

/// The documents of the sites that the selection names, and their edges.
///
/// # Errors
/// Where the work cannot be done; faults of documents are findings.
pub fn run(selection: &Selection, progress: &Progress) -> Result<Checked<DocumentGraph>, Error> {
    let workspace = Workspace::open(selection)?;
    check(&workspace.plan(progress), of_site)
}

fn of_site(site: &RenderedSite<'_>) -> DocumentGraph {
    let nodes = site.graph.iter().map(|(doc, recipe)| GraphNode {
        key: recipe.key.clone(),
        at: recipe.span,
        is_output: recipe.emit,
        is_abstract: site.sets.member(doc).is_none() && site.site.document(doc).is_abstract,
    });
    let edges = site.graph.iter().flat_map(|(doc, recipe)| edges(doc.index(), recipe));
    DocumentGraph { site: site.site.name.clone(), nodes: nodes.collect(), edges: edges.collect() }
}

/// What a document is made of: what it is laid on, and what it reads.
fn edges(to: usize, recipe: &Recipe) -> Vec<GraphEdge> {
    let base = recipe.base.map(|base| GraphEdge {
        from: base.doc.index(),
        to,
        kind: if recipe.replaces == Some(base.doc) {
            EdgeKind::Replaced
        } else {
            EdgeKind::Inherited
        },
        at: base.selector,
    });
    let read = recipe.steps.iter().filter_map(|step| {
        let kind = match &step.op {
            Op::Substitute(_) => EdgeKind::Substituted,
            Op::Lay(_) => EdgeKind::Merged,
            Op::Merge { .. } => return None,
        };
        Some(GraphEdge { from: step.op.source()?.index(), to, kind, at: step.at })
    });
    base.into_iter().chain(read).collect()
}
