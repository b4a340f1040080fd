//! Documents and the dependencies between them.

use crate::check::RenderedSite;
use crate::graph::{Op, Recipe};
use crate::report::answer::graph::{DocumentGraph, EdgeKind, GraphEdge, GraphNode};

/// Subgraph of the dependencies and dependents of the documents in `meant`.
pub(crate) fn around(graph: DocumentGraph, meant: &[bool]) -> DocumentGraph {
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

/// Documents of a site and their edges.
pub(crate) fn answer(site: &RenderedSite<'_>) -> DocumentGraph {
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
