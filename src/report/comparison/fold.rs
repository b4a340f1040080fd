//! Which edits are told as one: those with the same reach. A version that is
//! raised in forty places is then a few entries, and not forty.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compare::reach::{Comparison, EditReach, Why};
use crate::compare::{Cause, Via};
use crate::edit::EditId;
use crate::source::DocKey;

/// Edits with the same reach: the same outputs, by ways through the same
/// documents, stopped at the same documents.
pub(super) struct Fold {
    /// In their order; at least one.
    pub(super) edits: Vec<EditId>,
}

/// All edits that reached something or were stopped, in the order of the
/// first of each fold.
pub(super) fn folds(comparison: &Comparison) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::new();
    let mut known = BTreeMap::new();
    for (at, reach) in comparison.edits.iter().enumerate() {
        if reach.outputs.is_empty() && reach.shields.is_empty() {
            continue;
        }
        let edit = EditId::at(at);
        let fold = *known.entry(Likeness::of(edit, reach, comparison)).or_insert(folds.len());
        match folds.get_mut(fold) {
            Some(fold) => fold.edits.push(edit),
            None => folds.push(Fold { edits: vec![edit] }),
        }
    }
    folds
}

/// By output, the fold it is listed with: the first that caused it.
pub(super) fn owners(comparison: &Comparison, folds: &[Fold]) -> Vec<Option<usize>> {
    let mut owners = vec![None; comparison.outputs.len()];
    for (at, fold) in folds.iter().enumerate() {
        for output in &comparison.edits[fold.edits[0].index()].outputs {
            owners[*output].get_or_insert(at);
        }
    }
    owners
}

/// Why an edit changed an output, if it did.
pub(super) fn cause_of(comparison: &Comparison, edit: EditId, output: usize) -> Option<&Cause> {
    comparison.outputs[output].causes.iter().find(|cause| cause.edit == edit)
}

/// What two edits have in common where they are told as one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Likeness<'a> {
    outputs: Vec<Reached<'a>>,
    stops: Vec<(Option<&'a Arc<str>>, &'a DocKey, Why)>,
}

/// An output, by which documents the edit came to it, and together with which
/// others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reached<'a> {
    output: usize,
    way: Vec<(Via, &'a DocKey)>,
    joint: &'a [EditId],
}

impl<'a> Likeness<'a> {
    fn of(edit: EditId, reach: &'a EditReach, comparison: &'a Comparison) -> Self {
        let outputs = reach.outputs.iter().map(|output| {
            let cause = cause_of(comparison, edit, *output);
            let route = cause.map_or(&[][..], |cause| &cause.route);
            let way = route.iter().map(|hop| (hop.via, &hop.document)).collect();
            Reached { output: *output, way, joint: cause.map_or(&[], |cause| &cause.joint) }
        });
        let stops = reach.shields.iter().map(|it| (it.site.as_ref(), &it.document, it.why));
        let mut stops: Vec<_> = stops.collect();
        stops.sort();
        stops.dedup();
        Self { outputs: outputs.collect(), stops }
    }
}
