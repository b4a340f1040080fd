//! Grouping of edits into entries: edits that did the same to values, or reached the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sites::SiteNames;
use crate::compare::Via;
use crate::compare::reach::Why;
use crate::diagnostic::Severity;
use crate::edit::EditKind;
use crate::report::model::{
    EditRef, Report, ReportedCause, ReportedEdit, ReportedOutput, ReportedShield, ShownValue,
};
use crate::source::DocKey;

/// Edits of one entry, and what they reached.
pub(super) struct Fold<'r> {
    /// The edits, in their order.
    pub(super) edits: Vec<&'r ReportedEdit>,
    /// The outputs that are listed with it: no entry before reached them.
    pub(super) own: Vec<&'r ReportedOutput>,
    /// Outputs that are listed with other entries, by the entry.
    pub(super) elsewhere: BTreeMap<usize, Vec<&'r ReportedOutput>>,
    /// The places that stopped the edits.
    pub(super) shields: Vec<&'r ReportedShield>,
}

impl<'r> Fold<'r> {
    /// All outputs that they reached.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'r ReportedOutput> {
        self.own.iter().chain(self.elsewhere.values().flatten()).copied()
    }

    /// The cause by which the first of them changed an output.
    pub(super) fn cause_of(&self, output: &'r ReportedOutput) -> Option<&'r ReportedCause> {
        output.causes.iter().find(|cause| self.edits.iter().any(|edit| edit.id == cause.edit))
    }
}

/// All edits that reached an output or were stopped; those first from which errors follow, then
/// by the outputs they reached.
pub(super) fn folds<'r>(report: &'r Report, sites: &SiteNames<'r>) -> Vec<Fold<'r>> {
    let traces = EditTrace::of_all(report);
    let alike = alike(report, &traces, sites);
    let mut entry_of: HashMap<EditRef, usize> = HashMap::new();
    for (at, edits) in alike.iter().enumerate() {
        entry_of.extend(edits.iter().map(|edit| (edit.id, at)));
    }
    let mut folds: Vec<Fold<'r>> = alike
        .into_iter()
        .map(|edits| Fold {
            shields: edits.iter().flat_map(|it| traces[it.id.index()].shields.clone()).collect(),
            edits,
            own: Vec::new(),
            elsewhere: BTreeMap::new(),
        })
        .collect();
    for output in &report.outputs {
        let entries = output.causes.iter().filter_map(|cause| entry_of.get(&cause.edit).copied());
        let entries: BTreeSet<usize> = entries.collect();
        let mut entries = entries.into_iter();
        let Some(first) = entries.next() else { continue };
        folds[first].own.push(output);
        entries.for_each(|at| folds[at].elsewhere.entry(first).or_default().push(output));
    }
    folds
}

/// The outputs and the shields that one edit reached.
#[derive(Clone, Default)]
struct EditTrace<'r> {
    outputs: Vec<(usize, &'r ReportedCause)>,
    shields: Vec<&'r ReportedShield>,
}

impl<'r> EditTrace<'r> {
    fn of_all(report: &'r Report) -> Vec<Self> {
        let mut traces = vec![Self::default(); report.edits.len()];
        for (at, output) in report.outputs.iter().enumerate() {
            for cause in &output.causes {
                traces[cause.edit.index()].outputs.push((at, cause));
            }
        }
        for shield in &report.shields {
            traces[shield.edit.index()].shields.push(shield);
        }
        traces
    }

    fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.shields.is_empty()
    }
}

/// Common property of the edits of one entry.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum EditLikeness<'r> {
    /// The values before and after.
    Values(Values<'r>),
    /// Sites that came, or went.
    Site(EditKind),
    /// Whether documents came or went, and the sites they reached.
    Document(bool, BTreeSet<usize>),
    /// The outputs and the shields that they reached.
    Reach(Vec<OutputRoute<'r>>, Vec<(&'r DocKey, Why, BTreeSet<usize>)>),
}

/// The kind of an edit, and its values as JSON.
type Values<'r> = (EditKind, Option<&'r str>, Option<&'r str>);

/// An output, by which documents an edit came to it, and together with which others.
type OutputRoute<'r> = (usize, Vec<(Via, &'r DocKey)>, &'r [EditRef]);

fn alike<'r>(
    report: &'r Report,
    traces: &[EditTrace<'r>],
    sites: &SiteNames<'r>,
) -> Vec<Vec<&'r ReportedEdit>> {
    let listed = || report.edits.iter().filter(|edit| !traces[edit.id.index()].is_empty());
    let mut met: HashMap<Values<'_>, usize> = HashMap::new();
    for values in listed().filter_map(values) {
        *met.entry(values).or_default() += 1;
    }
    let mut alike: Vec<Vec<&ReportedEdit>> = Vec::new();
    let mut known: BTreeMap<EditLikeness<'_>, usize> = BTreeMap::new();
    for edit in listed() {
        let likeness = match values(edit).filter(|values| met[values] > 1) {
            Some(values) => EditLikeness::Values(values),
            None => EditLikeness::of_reach(edit, &traces[edit.id.index()], report, sites),
        };
        let at = *known.entry(likeness).or_insert(alike.len());
        match alike.get_mut(at) {
            Some(edits) => edits.push(edit),
            None => alike.push(vec![edit]),
        }
    }
    let faulty = edits_behind_errors(report);
    alike.sort_by_key(|edits| {
        let is_faulty = edits.iter().any(|edit| faulty.contains(&edit.id));
        (Reverse(is_faulty), Reverse(edits.iter().map(|edit| edit.reach.outputs).sum::<usize>()))
    });
    alike
}

/// The values of an edit; none where they may not be known, and for a whole document.
fn values(edit: &ReportedEdit) -> Option<Values<'_>> {
    let sides = [edit.before.as_ref(), edit.after.as_ref()];
    let mut there = sides.into_iter().flatten().peekable();
    let is_comparable = there.peek().is_some() && there.all(|value| value.value.is_some());
    let [before, after] = sides.map(|side| side.and_then(ShownValue::json));
    is_comparable.then_some((edit.kind, before, after))
}

impl<'r> EditLikeness<'r> {
    fn of_reach(
        edit: &ReportedEdit,
        trace: &EditTrace<'r>,
        report: &'r Report,
        sites: &SiteNames<'r>,
    ) -> Self {
        if matches!(edit.kind, EditKind::SiteAdded | EditKind::SiteRemoved) {
            return EditLikeness::Site(edit.kind);
        }
        if edit.kind == EditKind::Document {
            return EditLikeness::Document(edit.at.head.is_some(), sites.in_set(edit.reach.sites));
        }
        let ways = trace.outputs.iter().map(|(output, cause)| {
            let steps = cause.route.of(&report.routes).map_or(&[][..], |route| &route.steps);
            let steps = steps.iter().map(|step| (step.via, &step.document));
            (*output, steps.collect(), &*cause.joint)
        });
        let stops = trace.shields.iter();
        let stops: BTreeSet<_> =
            stops.map(|it| (&it.document, it.why, sites.in_set(it.sites))).collect();
        EditLikeness::Reach(ways.collect(), stops.into_iter().collect())
    }
}

/// The edits that caused new errors.
fn edits_behind_errors(report: &Report) -> BTreeSet<EditRef> {
    let errors = report.findings.iter().filter(|it| it.is_new() && it.severity == Severity::Error);
    errors.flat_map(|finding| &finding.caused_by).copied().collect()
}
