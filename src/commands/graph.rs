//! `layercake graph`: documents of each site and the dependencies between them.

use std::collections::BTreeSet;

use crate::check::{Checked, RenderedSite, RunControl, Work, work_on_sites};
use crate::commands::documents::DocumentGlobs;
use crate::commands::{Project, Selection, names};
use crate::error::Error;
use crate::graph::{Op, Recipe};
use crate::report::answer::graph::{DocumentGraph, EdgeKind, GraphEdge, GraphNode};
use crate::source::DocKey;

/// Documents of the selected sites and their edges. If files, schemas or names are given: the
/// documents in them or with them, with their direct and indirect dependencies and dependents.
///
/// # Errors
/// If a step fails, a given file cannot be read, or no document has a schema or name; other faults
/// of documents are findings.
pub fn run(
    selection: &Selection,
    documents: &DocumentGlobs,
    control: &RunControl,
) -> Result<(Checked<()>, Vec<DocumentGraph>), Error> {
    let filter = documents.matcher()?;
    let project = Project::open_asked(selection)?;
    let plan = project.plan(control);
    let taken = work_on_sites(&plan, Work::Render, |site| {
        let graph = of_site(site);
        let keys: BTreeSet<DocKey> = graph
            .documents
            .iter()
            .map(|node| node.document.clone())
            .collect();
        let is_meant = |node: &GraphNode| {
            plan.concerns(site.sources.path_of(site.sources.written(node.at)))
                && filter.matches(&node.document)
        };
        let meant: Vec<bool> = graph.documents.iter().map(is_meant).collect();
        (
            if meant.contains(&false) {
                around(graph, &meant)
            } else {
                graph
            },
            keys,
        )
    })?;
    let (checked, taken) = taken.without_taken();
    let (graphs, keys): (Vec<DocumentGraph>, Vec<_>) = taken.into_iter().unzip();
    let keys = keys.into_iter().flatten().collect();
    match (
        documents.ensure_matched("document", &keys),
        checked.unread.first(),
    ) {
        (Err(error), _) => Err(names::or_unread(error, &checked)),
        (Ok(()), Some(at)) if !selection.files.is_empty() => {
            Err(names::unread(&names::file_and_line(&checked, *at)))
        }
        (Ok(()), _) => Ok((checked, graphs)),
    }
}

/// Subgraph of the dependencies and dependents of the documents in `meant`.
fn around(graph: DocumentGraph, meant: &[bool]) -> DocumentGraph {
    let sources = reached(meant, graph.edges.iter().map(|edge| (edge.to, edge.from)));
    let readers = reached(meant, graph.edges.iter().map(|edge| (edge.from, edge.to)));
    let mut count = 0;
    let numbers: Vec<Option<usize>> = std::iter::zip(sources, readers)
        .map(|(is_source, is_reader)| {
            let number = (is_source || is_reader).then_some(count);
            count += usize::from(number.is_some());
            number
        })
        .collect();
    let edge = |edge: GraphEdge| {
        Some(GraphEdge {
            from: numbers[edge.from]?,
            to: numbers[edge.to]?,
            ..edge
        })
    };
    let edges = graph.edges.into_iter().filter_map(edge).collect();
    let documents = graph.documents.into_iter().zip(&numbers);
    let documents = documents
        .filter_map(|(node, number)| number.map(|_| node))
        .collect();
    DocumentGraph {
        site: graph.site,
        documents,
        edges,
    }
}

/// Nodes reachable from those at the start, including these.
fn reached(start: &[bool], steps: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); start.len()];
    for (from, to) in steps {
        next[from].push(to);
    }
    let mut reached = start.to_vec();
    let mut open: Vec<usize> = (0..start.len()).filter(|node| start[*node]).collect();
    while let Some(node) = open.pop() {
        for to in std::mem::take(&mut next[node]) {
            if !reached[to] {
                reached[to] = true;
                open.push(to);
            }
        }
    }
    reached
}

fn of_site(site: &RenderedSite<'_>) -> DocumentGraph {
    let documents = site.graph.iter().map(|(doc, recipe)| GraphNode {
        document: recipe.key.clone(),
        at: recipe.span,
        is_output: recipe.emit,
        is_abstract: site.sets.member(doc).is_none() && site.site.document(doc).is_abstract,
    });
    let edges = site
        .graph
        .iter()
        .flat_map(|(doc, recipe)| edges(doc.index(), recipe));
    DocumentGraph {
        site: site.site.name.clone(),
        documents: documents.collect(),
        edges: edges.collect(),
    }
}

/// Dependencies of a document: its parents and its substitution sources.
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
            Op::Combine(_) => EdgeKind::Merged,
            Op::Merge { .. } => return None,
        };
        Some(GraphEdge {
            from: step.op.source()?.index(),
            to,
            kind,
            at: step.at,
        })
    });
    base.into_iter().chain(read).collect()
}
