//! Which edits are told as one, as in the report for people: those with the
//! same reach. And in which order: those that reach most come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Page;
use crate::report::json::{CauseForm, DocumentName, EditForm, Report, ShieldForm};

/// Edits with the same reach: the same outputs, by ways through the same
/// documents, stopped at the same documents.
pub(super) struct Fold {
    /// Where they are among the edits of the report; at least one.
    pub(super) edits: Vec<usize>,
    /// Where the groups that they reached are among the groups of the report.
    pub(super) groups: Vec<usize>,
}

/// All that is told of edits.
pub(super) struct Folds {
    /// Those that reached something or were stopped.
    pub(super) told: Vec<Fold>,
    /// Edits that reached nothing, and that nothing stopped.
    pub(super) inert: Vec<usize>,
}

impl Folds {
    pub(super) fn new(page: &Page<'_>) -> Self {
        let report = page.report;
        let mut alike: BTreeMap<Likeness<'_>, Vec<usize>> = BTreeMap::new();
        let mut inert = Vec::new();
        for (at, likeness) in likenesses(page).into_iter().enumerate() {
            if likeness.is_inert() && report.edits[at].is_inert() {
                inert.push(at);
            } else {
                alike.entry(likeness).or_default().push(at);
            }
        }
        let folds = alike.into_iter().map(|(likeness, edits)| {
            let mut groups: Vec<usize> = likeness.reached.iter().map(|it| it.group).collect();
            groups.dedup();
            Fold { edits, groups }
        });
        let mut told: Vec<Fold> = folds.collect();
        told.sort_by_key(|fold| {
            (Reverse(report.edits[fold.edits[0]].reach.outputs), fold.edits[0])
        });
        Self { told, inert }
    }
}

impl Fold {
    /// Its first edit.
    pub(super) fn first<'a>(&self, report: &'a Report) -> &'a EditForm {
        &report.edits[self.edits[0]]
    }
}

/// What two edits have in common where they are told as one.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness<'a> {
    reached: Vec<Reached<'a>>,
    stops: Vec<(Option<&'a str>, &'a DocumentName, &'a str)>,
}

/// An output, by its place in its group, the documents by which the edit came
/// to it, and the others that it took.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reached<'a> {
    group: usize,
    member: usize,
    way: Vec<(&'a str, &'a DocumentName)>,
    joint: &'a [String],
}

impl Likeness<'_> {
    fn is_inert(&self) -> bool {
        self.reached.is_empty() && self.stops.is_empty()
    }
}

/// By edit.
fn likenesses<'a>(page: &Page<'a>) -> Vec<Likeness<'a>> {
    let report = page.report;
    let mut all: Vec<Likeness<'a>> = report.edits.iter().map(|_| Likeness::default()).collect();
    for (group, form) in report.groups.iter().enumerate() {
        for (member, output) in form.outputs.iter().enumerate() {
            for cause in &output.causes {
                let Some(edit) = page.edit_at(&cause.edit) else { continue };
                let (way, joint) = (way(page, cause), &*cause.joint);
                all[edit].reached.push(Reached { group, member, way, joint });
            }
        }
    }
    for shield in &report.shields {
        let Some(edit) = page.edit_at(&shield.edit) else { continue };
        let ShieldForm { site, why, by, .. } = shield;
        all[edit].stops.push((site.as_deref(), &by.document, why));
    }
    for likeness in &mut all {
        likeness.stops.sort_unstable();
        likeness.stops.dedup();
    }
    all
}

fn way<'a>(page: &Page<'a>, cause: &CauseForm) -> Vec<(&'a str, &'a DocumentName)> {
    let steps = page.route(&cause.route).map(|(_, route)| &*route.steps).unwrap_or_default();
    steps.iter().map(|step| (&*step.via, &step.document)).collect()
}
