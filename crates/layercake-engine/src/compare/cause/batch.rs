//! Batches of edits that are reverted, or applied, in one rendering, because they concern different
//! outputs.
//!
//! An edit concerns the outputs that depend on its document. If the outputs of two edits are
//! disjoint in every rendering in question, each output shows the effect of at most one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake_source::DocKey;

use super::Question;
use crate::edit::{Edit, EditId, EditKind};
use crate::graph::{DocId, Graph, Recipe};

/// Edits that are reverted or applied together.
pub(super) struct Batch {
    pub(super) edits: Vec<EditId>,
    /// Outputs that they concern on one of the sides, each with its only edit.
    outputs: BTreeMap<OutputName, EditId>,
    /// Whether the only edit may concern every output.
    is_alone: bool,
}

/// Returns the outputs of a graph that depend on the document of an edit.
fn outputs_of(graph: &Graph, edit: &Edit) -> BTreeSet<OutputName> {
    let texts = || edit.base.iter().chain(&edit.head);
    let is_of_edit = |recipe: &Recipe| {
        recipe.key == edit.document
            || texts().any(|text| {
                text.covers
                    .iter()
                    .chain([&text.at])
                    .any(|cover| recipe.span.contains(*cover))
            })
    };
    let documents = graph
        .iter()
        .filter(|(_, recipe)| is_of_edit(recipe))
        .map(|(doc, _)| doc);
    let dependents = graph
        .dependents(documents.collect())
        .into_iter()
        .enumerate()
        .filter(|(_, is_dependent)| *is_dependent);
    let recipes = dependents.map(|(at, _)| graph.recipe(DocId::at(at)));
    recipes
        .filter(|recipe| recipe.emit)
        .map(|recipe| name_of(&recipe.key))
        .collect()
}

/// Divides edits into batches. An edit of the layers or files of a site is alone, since it may
/// concern every output.
pub(super) fn batches(question: &Question<'_>, edits: &[EditId]) -> Vec<Batch> {
    let sides: Vec<&Graph> = question
        .base
        .into_iter()
        .chain(question.head)
        .map(|side| side.graph)
        .collect();
    let concerned = concerned(question, edits, &sides);
    let mut batches: Vec<Batch> = Vec::new();
    for (edit, outputs) in concerned {
        let is_alone = concerns_all(question, edit);
        let is_free = |batch: &&mut Batch| {
            !batch.is_alone && outputs.iter().all(|it| !batch.outputs.contains_key(it))
        };
        let outputs = outputs.iter().cloned().map(|output| (output, edit));
        match batches.iter_mut().find(is_free).filter(|_| !is_alone) {
            Some(batch) => {
                batch.edits.push(edit);
                batch.outputs.extend(outputs);
            }
            None => {
                batches.push(Batch {
                    edits: vec![edit],
                    outputs: outputs.collect(),
                    is_alone,
                });
            }
        }
    }
    for batch in &mut batches {
        batch.edits.sort_unstable();
    }
    batches
}

/// Returns the outputs that each edit concerns in one of the graphs.
fn concerned(
    question: &Question<'_>,
    edits: &[EditId],
    graphs: &[&Graph],
) -> Vec<(EditId, BTreeSet<OutputName>)> {
    let outputs = |id: &EditId| {
        let edit = &question.edits[id.index()];
        (
            *id,
            graphs
                .iter()
                .flat_map(|graph| outputs_of(graph, edit))
                .collect(),
        )
    };
    edits.iter().map(outputs).collect()
}

fn concerns_all(question: &Question<'_>, id: EditId) -> bool {
    let edit = &question.edits[id.index()];
    match edit.kind {
        EditKind::Policy
        | EditKind::Site
        | EditKind::SiteAdded
        | EditKind::SiteRemoved
        | EditKind::Moved
        | EditKind::Renamed
        | EditKind::File
        | EditKind::Repository => true,
        EditKind::Document => (question.may_relate)(edit),
        EditKind::Value | EditKind::Key | EditKind::Order => false,
    }
}

impl Batch {
    /// Returns the edits of the batch that concern each output, on the sides or in `graph`, a
    /// rendering with or without the batch.
    pub(super) fn owners(&self, question: &Question<'_>, graph: &Graph) -> Owners {
        let mut owners = Owners::default();
        for (output, edit) in &self.outputs {
            owners.add(output, *edit);
        }
        for (edit, outputs) in concerned(question, &self.edits, &[graph]) {
            for output in &outputs {
                owners.add(output, edit);
            }
        }
        owners
    }
}

/// Edits that concern each output.
#[derive(Default)]
pub(super) struct Owners {
    of: BTreeMap<OutputName, BTreeSet<EditId>>,
}

impl Owners {
    fn add(&mut self, output: &OutputName, edit: EditId) {
        self.of.entry(output.clone()).or_default().insert(edit);
    }

    /// Returns the edits that concern an output.
    pub(super) fn of(&self, output: &DocKey) -> Vec<EditId> {
        self.of
            .get(&name_of(output))
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }
}

/// Schema and name of an output: documents of several layers may give the same one.
type OutputName = (Arc<str>, Arc<str>);

fn name_of(key: &DocKey) -> OutputName {
    (key.schema.clone(), key.name.clone())
}
