//! Grouping of edits into entries, by equal value changes or equal reach.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::danger::Faulty;
use super::sites::{SiteIndices, SiteNames};
use crate::compare::Via;
use crate::compare::reach::Why;
use crate::edit::EditKind;
use crate::report::model::{
    EditRef, Report, ReportedCause, ReportedEdit, ReportedOutput, ReportedShield, ShownValue,
};
use crate::source::DocKey;

/// Edits of one entry with their reach.
pub(super) struct Fold<'r> {
    /// Edits in order.
    pub(super) edits: Vec<&'r ReportedEdit>,
    /// Outputs that they changed.
    pub(super) outputs: Vec<&'r ReportedOutput>,
    /// Shields of the edits.
    pub(super) shields: Vec<&'r ReportedShield>,
}

/// All edits that have an effect or were shielded, in groups.
pub(super) struct Folds<'r> {
    /// Groups, those that cause errors first, then by number of outputs.
    pub(super) all: Vec<Fold<'r>>,
    /// Index of the group of each edit.
    of_edit: HashMap<EditRef, usize>,
}

impl<'r> Folds<'r> {
    pub(super) fn new(report: &'r Report, sites: &SiteNames<'r>, faulty: &Faulty) -> Self {
        let traces = EditTrace::of_all(report);
        let mut folds = Self {
            all: Vec::new(),
            of_edit: HashMap::new(),
        };
        for (at, edits) in alike(report, &traces, sites, faulty)
            .into_iter()
            .enumerate()
        {
            folds.of_edit.extend(edits.iter().map(|edit| (edit.id, at)));
            let shields = edits
                .iter()
                .flat_map(|edit| &traces[edit.id.index()].shields)
                .copied()
                .collect();
            folds.all.push(Fold {
                edits,
                outputs: Vec::new(),
                shields,
            });
        }
        for output in &report.outputs {
            for at in folds.of(report.edits_of(output)) {
                folds.all[at].outputs.push(output);
            }
        }
        folds
    }

    /// Returns the indexes of the groups of edits.
    pub(super) fn of<'e>(&self, edits: impl IntoIterator<Item = &'e EditRef>) -> BTreeSet<usize> {
        edits
            .into_iter()
            .filter_map(|edit| self.of_edit.get(edit).copied())
            .collect()
    }
}

/// Outputs and shields that an edit reached.
#[derive(Clone, Default)]
struct EditTrace<'r> {
    /// Outputs with the route, if it is listed.
    outputs: Vec<(usize, Option<&'r ReportedCause>)>,
    shields: Vec<&'r ReportedShield>,
}

impl<'r> EditTrace<'r> {
    fn of_all(report: &'r Report) -> Vec<Self> {
        let mut traces = vec![Self::default(); report.edits.len()];
        for (at, output) in report.outputs.iter().enumerate() {
            let causes: HashMap<EditRef, &ReportedCause> = output
                .causes
                .iter()
                .map(|cause| (cause.edit, cause))
                .collect();
            for edit in report.edits_of(output) {
                traces[edit.index()]
                    .outputs
                    .push((at, causes.get(edit).copied()));
            }
        }
        for shield in &report.shields {
            traces[shield.edit.index()].shields.push(shield);
        }
        traces
    }
}

/// Property shared by the edits of an entry.
#[derive(PartialEq, Eq, Hash)]
enum EntryKey<'r> {
    /// Values before and after.
    Values(Values<'r>),
    /// The site definition that names a repository that cannot be read.
    Repository(&'r str),
    /// Added or removed sites.
    Site(EditKind),
    /// Added or removed documents and the sites that they reached.
    Document(bool, SiteIndices),
    /// Edits that keep a number of outputs as they are in some sites, and change none.
    Keeping(usize, SiteIndices),
    /// A single edit that keeps outputs as they are, and changes others.
    Single(EditRef),
    /// Outputs and shields that the edits reached.
    Reach(Vec<OutputRoute<'r>>, Vec<(&'r DocKey, Why, SiteIndices)>),
}

/// Kind of an edit, and its values as JSON.
type Values<'r> = (EditKind, Option<&'r str>, Option<&'r str>);

/// An output, the route to it by kind and document, and the joint edits.
type OutputRoute<'r> = (usize, Vec<(Via, &'r DocKey)>, &'r [EditRef]);

fn alike<'r>(
    report: &'r Report,
    traces: &[EditTrace<'r>],
    sites: &SiteNames<'r>,
    faulty: &Faulty,
) -> Vec<Vec<&'r ReportedEdit>> {
    let listed = || report.edits.iter().filter(|edit| edit.is_listed());
    let mut seen: HashMap<Values<'_>, usize> = HashMap::new();
    for values in listed().filter_map(values) {
        *seen.entry(values).or_default() += 1;
    }
    let unread: BTreeSet<&str> = listed()
        .filter(|edit| edit.kind == EditKind::Repository)
        .filter_map(file_of)
        .collect();
    let mut alike: IndexMap<EntryKey<'_>, Vec<&ReportedEdit>> = IndexMap::new();
    for edit in listed() {
        // Both edits of a renamed key are listed together.
        let first = report.renamed_by(edit).unwrap_or(edit);
        let is_keeping = first.reach.kept.is_some();
        let values = values(first).filter(|values| seen[values] > 1 && !is_keeping);
        let key = match (unread_repository(first, &unread), values) {
            (Some(file), _) => EntryKey::Repository(file),
            (None, Some(values)) => EntryKey::Values(values),
            (None, None) => EntryKey::of_reach(first, &traces[first.id.index()], report, sites),
        };
        alike.entry(key).or_default().push(edit);
    }
    let mut alike: Vec<Vec<&ReportedEdit>> = alike.into_values().collect();
    alike.sort_by_key(|edits| {
        let outputs: usize = edits.iter().map(|edit| edit.reach.outputs).sum();
        (faulty.danger_of(edits.iter().copied()), Reverse(outputs))
    });
    alike
}

fn file_of(edit: &ReportedEdit) -> Option<&str> {
    edit.at.last().map(|at| &*at.file)
}

/// Returns the site definition that names an unreadable repository, if the edit is in the list of
/// its repositories, or about the unknown content.
fn unread_repository<'r>(edit: &'r ReportedEdit, unread: &BTreeSet<&str>) -> Option<&'r str> {
    let is_in_list = edit.path.starts_with(".repositories");
    let file = file_of(edit).filter(|file| unread.contains(file))?;
    (edit.kind == EditKind::Repository || is_in_list).then_some(file)
}

/// Returns the values of an edit; `None` if they are hidden, and for a whole document.
fn values(edit: &ReportedEdit) -> Option<Values<'_>> {
    let sides = [&edit.before, &edit.after].map(|side| side.as_ref().map(ShownValue::json));
    let is_comparable = sides != [None; 2] && !sides.contains(&Some(None));
    let [before, after] = sides.map(Option::flatten);
    is_comparable.then_some((edit.kind, before, after))
}

impl<'r> EntryKey<'r> {
    fn of_reach(
        edit: &ReportedEdit,
        trace: &EditTrace<'r>,
        report: &'r Report,
        sites: &SiteNames<'r>,
    ) -> Self {
        if matches!(edit.kind, EditKind::SiteAdded | EditKind::SiteRemoved) {
            return EntryKey::Site(edit.kind);
        }
        if let Some(kept) = edit.reach.kept {
            return match edit.reach.outputs {
                0 => EntryKey::Keeping(kept.outputs, sites.in_set(kept.sites)),
                _ => EntryKey::Single(edit.id),
            };
        }
        if edit.kind == EditKind::Document {
            return EntryKey::Document(edit.at.head.is_some(), sites.in_set(edit.reach.sites));
        }
        let ways = trace.outputs.iter().map(|(output, cause)| {
            let route = cause.map(|cause| cause.route.of(&report.routes));
            let steps = route
                .into_iter()
                .flat_map(|route| &route.steps)
                .map(|step| (step.via, &step.document))
                .collect();
            (*output, steps, cause.map_or(&[][..], |cause| &cause.joint))
        });
        let stops: BTreeSet<_> = trace
            .shields
            .iter()
            .map(|it| (&it.document, it.why, sites.in_set(it.sites)))
            .collect();
        EntryKey::Reach(ways.collect(), stops.into_iter().collect())
    }
}
