//! `layercake graph`: documents of each site and the dependencies between them.

use std::collections::BTreeSet;

use crate::ask::graph;
use crate::check::{Checked, RunControl, Work, work_on_sites};
use crate::commands::documents::DocumentGlobs;
use crate::commands::{Project, Selection, names};
use crate::error::Error;
use crate::report::answer::graph::{DocumentGraph, GraphNode};
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
        let graph = graph::answer(site);
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
                graph::around(graph, &meant)
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
