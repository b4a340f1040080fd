//! Attribution of changes to the edits that caused them.
//!
//! The causes of a changed value are the edits without which it would not be as on the head, and
//! which together give it. Two methods find them:
//!
//! - A *plain* edit changes a scalar, or adds a key, and shares no text with another edit. If a value
//!   is present on the head, the trace of its source texts shows whether it depends on such an edit.
//! - All other edits decide where values come from, or remove text that no trace of the head can
//!   meet. The site is rendered without each of them, and compared with the head.
//!
//! Edits that change a value only together are found by rendering subsets.

mod batch;
mod check;
mod remaining;
mod revive;
mod trace;
mod trial;

use std::borrow::Cow;
use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use layercake_source::cancel::Cancel;
use layercake_source::{DocKey, Span};
use layercake_yaml::diff::{DifferenceKind, ListKeys};
use layercake_yaml::path::{Location, Piece, PlaceIndex};
use layercake_yaml::{Node, Whole};

use super::reach::{Shield, Unlisted};
use super::shield::{Passage, passage};
use super::{Cause, Change, Limits, PlaceCauses, Proof, Renames, Side, Status, route_size};
use crate::edit::{Edit, EditId, EditKind, Part};
use crate::graph::{DocId, Graph, Op};
use crate::render::{ActionProblem, CombineProblem, ProblemKind, Rendered};

use self::batch::{Batch, Owners, batches};
use self::check::Checked;
pub use self::check::Fault;
use self::revive::removes_key;
pub(super) use self::trace::first_hop;
use self::trace::{Candidates, Followed, Routes, Tracing, Trails, difference_of, written_in};
use self::trial::{Deviations, Trials};

/// Effort spent on rendering to find causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Render each site at most this many times. What is then still open is not decided.
    Followed {
        /// Maximum number of renderings.
        renderings: usize,
    },
    /// Also check the result by rendering with and without the causes, again at most this many
    /// times. What is not checked then is not decided.
    Verified {
        /// Maximum number of renderings.
        renderings: usize,
    },
}

/// Input of the attribution for one site.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The base side, if the site exists there.
    pub base: Option<&'a Side<'a>>,
    /// The head side, if the site exists there.
    pub head: Option<&'a Side<'a>>,
    /// All edits, by id.
    pub edits: &'a [Edit],
    /// Edits that concern the site, in order.
    pub concerned: &'a [EditId],
    /// Renders the base side with some of the edits: at least the requested documents and their
    /// dependencies.
    pub rerender: &'a dyn Fn(&[EditId], Wanted<'_>) -> Trial,
    /// Renamed documents.
    pub renames: &'a Renames,
    /// Keys for matching list items.
    pub keys: &'a ListKeys,
    /// Whether an edit of a whole document may change how all others are related.
    pub may_relate: &'a dyn Fn(&Edit) -> bool,
    /// Whether all changes of the site are attributed. Otherwise effects elsewhere are not looked
    /// for.
    pub is_complete: bool,
    /// Effort of the attribution.
    pub attribution: Attribution,
    /// Limits on the listed results.
    pub limits: Limits,
    /// If cancelled, no more renderings are allowed.
    pub cancel: &'a Cancel,
}

/// Selects the requested documents of a graph.
pub type Wanted<'w> = &'w dyn Fn(&Graph) -> Vec<DocId>;

/// Rendering of a site with some of the edits.
pub struct Trial {
    /// Recipes of the site.
    pub graph: Graph,
    /// Rendered documents.
    pub rendered: Rendered,
    /// Source of each document.
    pub written: Vec<Whole>,
}

/// Result of the attribution for one site.
#[derive(Default)]
pub struct Attributed {
    /// Proof for each edit that has an effect.
    pub proofs: BTreeMap<EditId, Proof>,
    /// Outputs that did not change, and would have without the edit.
    pub kept: BTreeMap<EditId, BTreeSet<DocKey>>,
    /// Edits that a text of the head stops.
    pub shielded: BTreeSet<EditId>,
    /// Listed texts that stop an edit.
    pub shields: Vec<(EditId, Shield)>,
    /// Numbers of results that are not listed.
    pub unlisted: Unlisted,
    /// Statements that rendering contradicts; found by [`Attribution::Verified`] only.
    pub faults: Vec<Fault>,
}

/// Adds the causes to `changes`, the changes between the two sides.
pub fn attribute(question: &Question<'_>, changes: &mut [Change]) -> Attributed {
    let tracing = Tracing::new(question, changes.len());
    let Followed {
        by_candidates,
        routes,
    } = tracing.follow(changes);
    let mut attributing = Attributing::new(question, &tracing, changes);
    attributing.decide_all(by_candidates);
    if question.is_complete {
        attributing.follow_edits();
        attributing.decide_together();
    }
    let results = attributing.results;
    let attributed = results.into_changes(question, &tracing, changes, routes);
    match question.attribution {
        Attribution::Followed { .. } => attributed,
        Attribution::Verified { .. } => {
            let Checked { faults, unchecked } = check::checked(question, changes, &attributed);
            let mut proofs = attributed.proofs;
            if faults.is_empty() {
                for proof in proofs
                    .values_mut()
                    .filter(|proof| **proof == Proof::Followed)
                {
                    *proof = Proof::Rendered;
                }
            }
            proofs.extend(unchecked.into_iter().map(|edit| (edit, Proof::NotDecided)));
            Attributed {
                proofs,
                faults,
                ..attributed
            }
        }
    }
}

/// Part of a change that needs a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// The whole output, which was added, removed, broken or repaired.
    Whole,
    /// A difference of its data.
    Data(usize),
    /// A difference of its metadata.
    Metadata(usize),
}

/// A unit of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    /// Index of the change.
    change: usize,
    unit: Unit,
}

fn units(change: &Change) -> Vec<Unit> {
    let is_whole = match change.status {
        Status::Added | Status::Removed | Status::Broken | Status::Repaired => true,
        Status::Changed | Status::Metadata | Status::NotComparable => false,
    };
    let data = if is_whole { 0 } else { change.data.len() };
    let metadata = (0..change.metadata.len()).map(Unit::Metadata);
    is_whole
        .then_some(Unit::Whole)
        .into_iter()
        .chain((0..data).map(Unit::Data))
        .chain(metadata)
        .collect()
}

/// Causes of a unit.
#[derive(Clone)]
struct Found {
    edits: Vec<EditId>,
    /// Whether the edits cause the unit only together.
    are_joint: bool,
    proof: Proof,
}

impl Found {
    /// Creates a result with edits that are all needed.
    fn needed(edits: Vec<EditId>, proof: Proof) -> Self {
        Self {
            are_joint: edits.len() > 1,
            edits,
            proof,
        }
    }
}

/// Search for the causes of all changes of a site.
struct Attributing<'a> {
    question: &'a Question<'a>,
    tracing: &'a Tracing<'a>,
    changes: &'a [Change],
    trials: Trials<'a>,
    /// Concerned edits that are not plain.
    opaque: Vec<EditId>,
    /// Concerned edits that are plain.
    plain: Vec<EditId>,
    /// See [`has_other_shape`].
    has_other_shape: bool,
    /// Batches of the opaque edits, if there are many.
    batches: Vec<Batch>,
    /// Edits that removed a key, if there are many and their effects were found together.
    revived: Vec<EditId>,
    known: RefCell<KnownApplied>,
    /// Opaque edits without which a unit is not as on the head.
    needed: BTreeMap<Target, Vec<EditId>>,
    results: Results,
}

/// Opaque edits that are applied together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Applying {
    /// These alone.
    Edits(Vec<EditId>),
    /// A batch, by its index.
    Batch(usize),
    /// All edits that removed a key.
    Revived,
}

/// Renderings by their opaque edits, and by whether they have all plain ones; `None` if no more were
/// allowed.
type KnownApplied = BTreeMap<(Applying, bool), Option<Rc<Applied>>>;

/// Deviations with some edits; for a batch, with the edits that concern each output.
struct Applied {
    found: Rc<Deviations>,
    owners: Owners,
}

/// Results for a site, before they are added to its changes.
#[derive(Default)]
struct Results {
    found: BTreeMap<Target, Found>,
    /// Edits without which a changed output would differ in another place.
    beside: BTreeSet<(usize, EditId)>,
    kept: BTreeMap<EditId, BTreeSet<DocKey>>,
    shields: Vec<(EditId, Shield)>,
    undecided: BTreeSet<EditId>,
}

impl<'a> Attributing<'a> {
    fn new(question: &'a Question<'a>, tracing: &'a Tracing<'a>, changes: &'a [Change]) -> Self {
        let has_other_shape = has_other_shape(question);
        let aliased = with_aliased_text(question);
        let is_plain = |id: &EditId| {
            !has_other_shape && !aliased.contains(id) && is_plain(&question.edits[id.index()])
        };
        let (plain, opaque): (Vec<EditId>, Vec<EditId>) =
            question.concerned.iter().partition(|id| is_plain(id));
        let trials = Trials::new(question, changes);
        Self {
            question,
            tracing,
            changes,
            trials,
            opaque,
            plain,
            has_other_shape,
            batches: Vec::new(),
            revived: Vec::new(),
            known: RefCell::default(),
            needed: BTreeMap::new(),
            results: Results::default(),
        }
    }

    /// Finds the causes of all units.
    fn decide_all(&mut self, by_candidates: BTreeMap<Candidates, Vec<Target>>) {
        // With all edits, the base equals the head.
        if let [only] = self.question.concerned {
            for target in by_candidates.into_values().flatten() {
                self.results
                    .found
                    .insert(target, Found::needed(vec![*only], Proof::Rendered));
            }
            return;
        }
        self.revert_each();
        // If renderings are limited, units with few candidates come first.
        let mut by_candidates: Vec<_> = by_candidates.into_iter().collect();
        by_candidates.sort_by_key(|(candidates, _)| candidates.all.len());
        for (candidates, targets) in by_candidates {
            for target in targets {
                let found = self.decide(target, &candidates);
                self.results.found.insert(target, found);
            }
        }
    }

    /// Renders the head without each opaque edit. If there are many, several are reverted in one
    /// rendering where their effects can be separated.
    fn revert_each(&mut self) {
        let mut alone = self.opaque.clone();
        let is_removed = |edit: &EditId| removes_key(&self.question.edits[edit.index()]);
        let removed: Vec<EditId> = alone
            .iter()
            .filter(|edit| is_removed(edit))
            .copied()
            .collect();
        if removed.len() > MANY_REMOVED
            && !self.has_other_shape
            && let Some((each, open)) = self.trials.without_each_removed(&removed)
        {
            for (edit, found) in &each {
                self.add_needed(*edit, found);
            }
            alone.retain(|edit| !is_removed(edit) || open.contains(edit));
            self.revived = each.into_keys().collect();
        }
        if alone.len() > FEW {
            self.batches = batches(self.question, &alone);
        }
        for batch in mem::take(&mut self.batches) {
            if batch.edits.len() == 1 {
                continue;
            }
            let Some((each, open)) = self.trials.without_each(&batch) else {
                continue;
            };
            for (edit, found) in &each {
                self.add_needed(*edit, found);
            }
            alone.retain(|edit| open.contains(edit) || batch.edits.binary_search(edit).is_err());
            self.batches.push(batch);
        }
        for edit in alone {
            match self.trials.without(&[edit]) {
                Some(found) => self.add_needed(edit, &found),
                None => {
                    self.results.undecided.insert(edit);
                }
            }
        }
    }

    /// Returns whether a unit is as on the head with these edits alone, or together with all plain
    /// ones, if no trace of the unit meets others than the known ones.
    fn holds(&self, target: Target, needed: &[EditId], with_plain: bool) -> Option<bool> {
        if !needed.is_empty()
            && needed
                .iter()
                .all(|edit| self.revived.binary_search(edit).is_ok())
        {
            let applied = self.applied(Applying::Revived, with_plain)?;
            return Some(!applied.found.units.contains(&target));
        }
        if let [only] = needed
            && let Some(batch) = self
                .batches
                .iter()
                .position(|it| it.edits.binary_search(only).is_ok())
        {
            let applied = self.applied(Applying::Batch(batch), with_plain)?;
            if applied.owners.of(&self.changes[target.change].key) == [*only] {
                return Some(!applied.found.units.contains(&target));
            }
        }
        let applied = self.applied(Applying::Edits(needed.to_vec()), with_plain)?;
        Some(!applied.found.units.contains(&target))
    }

    /// Renders with some opaque edits, and with all plain ones if requested; each only once.
    fn applied(&self, applying: Applying, with_plain: bool) -> Option<Rc<Applied>> {
        let key = (applying, with_plain);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let plain = if with_plain { &self.plain[..] } else { &[] };
        let alone = |edits: &[EditId]| {
            let found = self.trials.with(&union(edits, plain))?;
            Some(Applied {
                found,
                owners: Owners::default(),
            })
        };
        let applied = match &key.0 {
            Applying::Edits(edits) => alone(edits),
            Applying::Revived => alone(&self.revived),
            Applying::Batch(at) => {
                let found = self.trials.with_batch(&self.batches[*at], plain);
                found.map(|(found, owners)| Applied {
                    found: Rc::new(found),
                    owners,
                })
            }
        };
        let applied = applied.map(Rc::new);
        self.known.borrow_mut().insert(key, applied.clone());
        applied
    }

    /// Adds the deviations of the head without an edit.
    fn add_needed(&mut self, edit: EditId, found: &Deviations) {
        for target in &found.units {
            self.needed.entry(*target).or_default().push(edit);
        }
        if self.question.is_complete {
            self.results.add_effects_elsewhere(edit, found);
        }
    }

    /// Returns the edits that caused a unit.
    fn decide(&self, target: Target, candidates: &Candidates) -> Found {
        let mut needed = self.needed.get(&target).cloned().unwrap_or_default();
        needed.sort_unstable();
        // A text of the base alone matters only if no opaque edit led the value elsewhere.
        let texts = if needed.is_empty() {
            &candidates.all
        } else {
            &candidates.of_head
        };
        let traced: Vec<EditId> = texts
            .iter()
            .filter(|edit| self.plain.binary_search(edit).is_ok())
            .copied()
            .collect();
        if self.has_unlisted_places(target) {
            // Each of its edits changed some of the many places of such a unit.
            let edits = union(&needed, &traced);
            let proof = if needed.is_empty() {
                Proof::Followed
            } else {
                Proof::Rendered
            };
            if !edits.is_empty() {
                return Found {
                    are_joint: false,
                    ..Found::needed(edits, proof)
                };
            }
        }
        let decided = if self.is_on_head(target) {
            self.decide_present(target, &needed, &traced)
        } else {
            self.decide_absent(target, &needed, &traced)
        };
        decided.unwrap_or_else(|| self.search(target, candidates, &needed))
    }

    /// Returns the causes of a value of the head, if its trace and the needed edits explain it.
    fn decide_present(
        &self,
        target: Target,
        needed: &[EditId],
        traced: &[EditId],
    ) -> Option<Found> {
        let traced = match traced {
            [_] => traced.to_vec(),
            several => self.needed_among(target, several)?,
        };
        let edits = union(needed, &traced);
        if edits.is_empty() || !self.holds(target, needed, true)? {
            return None;
        }
        let is_followed = edits.len() == 1 && needed.is_empty();
        let proof = if is_followed {
            Proof::Followed
        } else {
            Proof::Rendered
        };
        Some(Found::needed(edits, proof))
    }

    /// Returns the causes of a value that the head lacks, if the needed edits explain it.
    fn decide_absent(&self, target: Target, needed: &[EditId], traced: &[EditId]) -> Option<Found> {
        if !needed.is_empty() && self.holds(target, needed, false)? {
            return Some(Found::needed(needed.to_vec(), Proof::Rendered));
        }
        let edits = union(needed, &self.needed_among(target, traced)?);
        let is_enough = !edits.is_empty() && self.trials.holds(target, &edits)?;
        is_enough.then(|| Found::needed(edits, Proof::Rendered))
    }

    /// Returns those edits without which a unit is not as on the head.
    fn needed_among(&self, target: Target, edits: &[EditId]) -> Option<Vec<EditId>> {
        let mut needed = Vec::new();
        for edit in edits {
            if self.trials.without(&[*edit])?.units.contains(&target) {
                needed.push(*edit);
            }
        }
        Some(needed)
    }

    /// Returns edits that are enough for a unit and, without another one, all needed; and those
    /// that are known to be needed.
    fn search(&self, target: Target, candidates: &Candidates, needed: &[EditId]) -> Found {
        let change = &self.changes[target.change];
        let wider = std::iter::once(Cow::from(&candidates.all))
            .chain(std::iter::once_with(|| {
                self.tracing.candidates_nearby(change, target.unit).into()
            }))
            .chain([self.question.concerned.into()]);
        for wider in wider {
            let edits = union(&wider, needed);
            match self.trials.holds(target, &edits) {
                _ if edits.is_empty() => {}
                Some(false) => {}
                Some(true) => {
                    let found = self.least(target, edits);
                    return Found::needed(union(&found.edits, needed), found.proof);
                }
                None => return Found::needed(edits, Proof::NotDecided),
            }
        }
        Found::needed(Vec::new(), Proof::Rendered)
    }

    /// Returns a subset of sufficient edits that are all needed for the unit: of many, larger
    /// subsets are removed first (delta debugging), then one by one. If that takes too many
    /// renderings, some of the remaining edits may not be needed.
    fn least(&self, target: Target, enough: Vec<EditId>) -> Found {
        let is_enough = |edits: &[EditId]| {
            if edits.is_empty() {
                Some(false)
            } else {
                self.trials.holds(target, edits)
            }
        };
        match least(enough, &is_enough) {
            (edits, true) => Found::needed(edits, Proof::Rendered),
            (edits, false) => Found::needed(edits, Proof::NotDecided),
        }
    }

    fn has_unlisted_places(&self, target: Target) -> bool {
        let difference = difference_of(&self.changes[target.change], target.unit);
        difference.is_some_and(|difference| difference.unlisted > 0)
    }

    /// Returns whether the head has a value at a unit.
    fn is_on_head(&self, target: Target) -> bool {
        let change = &self.changes[target.change];
        match target.unit {
            Unit::Whole => matches!(change.status, Status::Added | Status::Repaired),
            Unit::Data(at) => change.data[at].head.is_some(),
            Unit::Metadata(at) => change.metadata[at].head.is_some(),
        }
    }

    /// Follows the values of edits to the texts that stop them, and to outputs that they keep
    /// unchanged.
    fn follow_edits(&mut self) {
        let Some(head) = self.question.head else {
            return;
        };
        let is_one_of_many =
            |edit| self.question.concerned.len() > 1 && self.plain.binary_search(edit).is_ok();
        let mut reached_by: BTreeMap<EditId, Vec<(DocId, Vec<Location>)>> = BTreeMap::new();
        let mut cut = Vec::new();
        for edit in self.question.concerned {
            let Passage {
                shields,
                reached,
                is_cut,
                ..
            } = passage(self.question, *edit, head);
            self.results
                .shields
                .extend(shields.into_iter().map(|shield| (*edit, shield)));
            if !is_one_of_many(edit) {
                continue;
            }
            if is_cut {
                cut.push(*edit);
            } else {
                reached_by.insert(*edit, reached);
            }
        }
        let caused = self.caused_by(|edit| reached_by.contains_key(edit));
        let has_changed_all = |edit: &EditId, reached: &[(DocId, Vec<Location>)]| {
            reached.iter().all(|(doc, places)| {
                self.trials.change_of(*doc).is_some_and(|index| {
                    let units = caused.get(&(*edit, index)).map_or(&[][..], Vec::as_slice);
                    self.has_changed(index, units, places)
                })
            })
        };
        let partial = reached_by
            .iter()
            .filter(|(edit, reached)| !has_changed_all(edit, reached));
        let mut unsure: Vec<EditId> = partial.map(|(edit, _)| *edit).chain(cut).collect();
        unsure.sort_unstable();
        for edit in unsure {
            self.add_kept(edit);
        }
    }

    /// Returns the units of each changed output that some of the edits caused.
    fn caused_by(
        &self,
        is_asked: impl Fn(&EditId) -> bool,
    ) -> BTreeMap<(EditId, usize), Vec<Unit>> {
        let mut caused: BTreeMap<(EditId, usize), Vec<Unit>> = BTreeMap::new();
        for (target, found) in &self.results.found {
            for edit in found.edits.iter().filter(|edit| is_asked(edit)) {
                let units = caused.entry((*edit, target.change)).or_default();
                units.push(target.unit);
            }
        }
        caused
    }

    /// Adds the outputs that a plain edit reaches without having changed them.
    fn add_kept(&mut self, edit: EditId) {
        match self.trials.without(&[edit]) {
            Some(found) => {
                // A difference around a unit contains values that did not change.
                let units = found.units.iter().filter(|target| {
                    !self
                        .results
                        .found
                        .get(target)
                        .is_some_and(|it| it.edits.contains(&edit))
                });
                let outputs: Vec<(usize, EditId)> =
                    units.map(|target| (target.change, edit)).collect();
                self.results.beside.extend(outputs);
                self.results.add_effects_elsewhere(edit, &found);
            }
            None => {
                self.results.undecided.insert(edit);
            }
        }
    }

    /// Returns whether these units of a changed output include all the places.
    fn has_changed(&self, index: usize, units: &[Unit], places: &[Location]) -> bool {
        let change = &self.changes[index];
        let changed = PlaceIndex::new(units.iter().filter_map(|unit| match unit {
            Unit::Data(at) => Some(change.data[*at].location()),
            Unit::Whole | Unit::Metadata(_) => None,
        }));
        units.contains(&Unit::Whole) || places.iter().all(|it| !changed.around(it).is_empty())
    }

    /// Finds the edits that have an effect only together: without any single one of them, all is as
    /// on the head.
    fn decide_together(&mut self) {
        let effective = self.results.effective();
        let concerned = self.question.concerned.iter();
        let mut inert: Vec<EditId> = concerned
            .filter(|edit| !effective.contains(edit))
            .copied()
            .collect();
        while inert.len() > 1
            && inert
                .iter()
                .any(|edit| self.opaque.binary_search(edit).is_ok())
        {
            match self.trials.without(&inert) {
                Some(found) if found.is_empty() => return,
                Some(_) => {}
                None => return self.results.undecided.extend(inert),
            }
            let deviates = |edits: &[EditId]| {
                Some(!edits.is_empty() && !self.trials.without(edits)?.is_empty())
            };
            let (together, is_decided) = least(inert.clone(), &deviates);
            let Some(found) = self.trials.without(&together).filter(|_| is_decided) else {
                return self.results.undecided.extend(inert);
            };
            inert.retain(|edit| !together.contains(edit));
            self.results.add_together(&together, &found);
        }
    }
}

/// Number of removed keys up to which each is put back in a rendering of its own.
const MANY_REMOVED: usize = 16;

/// Number of edits up to which they are not joined in one rendering: most of so few are needed.
const FEW: usize = 64;

/// Returns a smallest subset of `enough` for which `holds`, and whether every remaining element was
/// shown to be needed; `holds` returns `None` if it may not decide any more.
fn least(enough: Vec<EditId>, holds: &dyn Fn(&[EditId]) -> Option<bool>) -> (Vec<EditId>, bool) {
    let mut needed = enough;
    let mut size = if needed.len() > FEW {
        needed.len().div_ceil(2)
    } else {
        1
    };
    while needed.len() > 1 {
        let mut at = 0;
        let mut dropped = false;
        while at < needed.len() && needed.len() > 1 {
            let end = (at + size).min(needed.len());
            let rest: Vec<EditId> = needed[..at].iter().chain(&needed[end..]).copied().collect();
            match holds(&rest) {
                Some(true) => {
                    needed = rest;
                    dropped = true;
                }
                Some(false) => at = end,
                None => return (needed, false),
            }
        }
        match (size, dropped) {
            (1, false) => break,
            (1, true) => {}
            _ => size = size.div_ceil(2),
        }
    }
    (needed, true)
}

/// Returns the elements of two sorted lists, sorted and without duplicates.
fn union(one: &[EditId], other: &[EditId]) -> Vec<EditId> {
    one.iter()
        .chain(other)
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Returns whether documents are merged in a way that a value in them may decide: as parts of
/// cloud-config, or after a merge that failed.
fn has_other_shape(question: &Question<'_>) -> bool {
    question.base.into_iter().chain(question.head).any(|side| {
        let mut steps = side
            .graph
            .recipes
            .iter()
            .flat_map(|recipe| recipe.steps.iter());
        steps.any(|step| matches!(step.op, Op::Combine(_)))
            || side.rendered.problems.iter().any(|problem| {
                matches!(
                    problem.kind,
                    ProblemKind::Combine(CombineProblem::NotMerged { .. })
                        | ProblemKind::Action(
                            ActionProblem::MissingPath(_) | ActionProblem::Path { .. }
                        )
                )
            })
    })
}

/// Returns the edits of values that have a text in common, through an alias: a trace ends at the
/// text, and does not show which of the edits put it there.
fn with_aliased_text(question: &Question<'_>) -> BTreeSet<EditId> {
    let mut owners: HashMap<Span, EditId> = HashMap::new();
    let mut aliased = BTreeSet::new();
    for id in question.concerned {
        let edit = &question.edits[id.index()];
        let texts = edit
            .base
            .iter()
            .chain(&edit.head)
            .filter(|_| edit.part == Part::Data);
        for span in texts
            .filter_map(|text| text.node.as_ref())
            .flat_map(written_in)
        {
            let owner = *owners.entry(span).or_insert(*id);
            if owner != *id {
                aliased.extend([owner, *id]);
            }
        }
    }
    aliased
}

/// Returns whether an edit changed a scalar to another of its kind, or added a key to a mapping.
fn is_plain(edit: &Edit) -> bool {
    let nodes = [&edit.base, &edit.head].map(|text| text.as_ref().and_then(|it| it.node.as_ref()));
    let is_scalar = |node: &Node| !node.is_collection() && !node.is_null();
    if edit.part != Part::Data || edit.unlisted > 0 {
        return false;
    }
    match (edit.kind, nodes) {
        (EditKind::Value, [Some(base), Some(head)]) => {
            is_scalar(base)
                && is_scalar(head)
                && mem::discriminant(&base.value) == mem::discriminant(&head.value)
        }
        (EditKind::Key, [None, Some(head)]) => {
            matches!(edit.location.0.last(), Some(Piece::Key(_))) && !head.is_null()
        }
        _ => false,
    }
}

impl Results {
    /// Returns the edits with an effect.
    fn effective(&self) -> BTreeSet<EditId> {
        let found = self.found.values().flat_map(|found| &found.edits);
        let beside = self.beside.iter().map(|(_, edit)| edit);
        found
            .chain(beside)
            .chain(self.kept.keys())
            .chain(&self.undecided)
            .copied()
            .collect()
    }

    /// Adds the effect that edits have together.
    fn add_together(&mut self, edits: &[EditId], found: &Deviations) {
        for target in &found.units {
            let known = self.found.get(target).map_or(&[][..], |found| &found.edits);
            let all = union(known, edits);
            self.found
                .insert(*target, Found::needed(all, Proof::Rendered));
        }
        for edit in edits {
            self.add_effects_elsewhere(*edit, found);
        }
    }

    /// Adds the deviations of the head without an edit in places that did not change.
    fn add_effects_elsewhere(&mut self, edit: EditId, found: &Deviations) {
        self.beside
            .extend(found.beside.iter().map(|index| (*index, edit)));
        if !found.kept.is_empty() {
            self.kept
                .entry(edit)
                .or_default()
                .extend(found.kept.iter().cloned());
        }
        self.shields
            .extend(found.shields.iter().map(|shield| (edit, shield.clone())));
    }

    /// Returns the least certain proof of each edit with an effect.
    fn proofs(&self) -> BTreeMap<EditId, Proof> {
        let undecided = self.undecided.iter().map(|edit| (*edit, Proof::NotDecided));
        let beside = self.beside.iter().map(|(_, edit)| edit);
        let elsewhere = beside
            .chain(self.kept.keys())
            .map(|edit| (*edit, Proof::Rendered));
        let found = self
            .found
            .values()
            .flat_map(|found| found.edits.iter().map(|edit| (*edit, found.proof)));
        let mut proofs = BTreeMap::new();
        for (edit, proof) in undecided.chain(elsewhere).chain(found) {
            let known = proofs.entry(edit).or_insert(proof);
            *known = proof.min(*known);
        }
        proofs
    }

    /// Adds the causes to the changes.
    fn into_changes(
        mut self,
        question: &Question<'_>,
        tracing: &Tracing<'_>,
        changes: &mut [Change],
        mut routes: Routes,
    ) -> Attributed {
        let proofs = self.proofs();
        let mut sets = CauseSets::default();
        let most = routes_of_each(&self.found, changes.len(), question.limits);
        let mut unlisted = 0;
        let mut room = question.limits.routes;
        for (index, change) in changes.iter_mut().enumerate() {
            let first = |change| Target {
                change,
                unit: Unit::Whole,
            };
            let units = self.found.range(first(index)..first(index + 1));
            let beside = self
                .beside
                .range((index, EditId(0))..(index + 1, EditId(0)));
            let edits: BTreeSet<EditId> = units
                .clone()
                .flat_map(|(_, found)| &found.edits)
                .chain(beside.map(|(_, edit)| edit))
                .copied()
                .collect();
            let listed: BTreeSet<EditId> = edits.iter().take(most).copied().collect();
            let causes = listed_causes(
                tracing,
                change,
                units.clone(),
                &listed,
                &mut routes,
                &mut room,
            );
            unlisted += edits.len() - causes.len();
            change.places = units
                .clone()
                .map(|(_, found)| PlaceCauses {
                    edits: sets.get(&found.edits),
                    are_joint: found.are_joint,
                })
                .collect();
            change.unexplained = units.filter(|(_, found)| found.edits.is_empty()).count();
            change.edits = sets.get(&edits.into_iter().collect::<Vec<_>>());
            change.causes = causes;
        }
        self.drop_passed_shields(changes);
        let shielded: BTreeSet<EditId> = self.shields.iter().map(|(edit, _)| *edit).collect();
        let count = self.shields.len();
        let shields = listed_shields(self.shields, question.limits);
        let unlisted = Unlisted {
            causes: unlisted,
            shields: count - shields.len(),
        };
        Attributed {
            proofs,
            kept: self.kept,
            shielded,
            shields,
            unlisted,
            faults: Vec::new(),
        }
    }

    /// Drops the shields of places that the edit changed on another route.
    fn drop_passed_shields(&mut self, changes: &[Change]) {
        let changes: BTreeMap<&DocKey, &Change> =
            changes.iter().map(|change| (&change.key, change)).collect();
        self.shields.retain(|(edit, shield)| {
            let change = changes.get(&shield.document);
            !change.is_some_and(|change| is_changed_at(change, &shield.location, *edit))
        });
    }
}

/// Returns whether an edit changed the data of an output at a place.
fn is_changed_at(change: &Change, place: &Location, edit: EditId) -> bool {
    change
        .data
        .iter()
        .zip(&change.places)
        .any(|(difference, causes)| {
            let changed = difference.location();
            let is_there = changed.starts_with(place)
                || (difference.kind == DifferenceKind::Value && place.starts_with(changed));
            is_there && causes.edits.binary_search(&edit).is_ok()
        })
}

/// Returns the listed shields: all, unless a site has too many, and then as many of each edit as
/// fit.
fn listed_shields(shields: Vec<(EditId, Shield)>, limits: Limits) -> Vec<(EditId, Shield)> {
    let mut counts: BTreeMap<EditId, usize> = BTreeMap::new();
    for (edit, _) in &shields {
        *counts.entry(*edit).or_default() += 1;
    }
    let most = limits.shields_of_each(counts.into_values().collect());
    let mut listed: BTreeMap<EditId, usize> = BTreeMap::new();
    let mut is_listed = |edit: EditId| {
        let count = listed.entry(edit).or_default();
        *count += 1;
        *count <= most
    };
    shields
        .into_iter()
        .filter(|(edit, _)| is_listed(*edit))
        .collect()
}

/// Sets of edits; equal ones are shared.
#[derive(Default)]
struct CauseSets {
    known: BTreeSet<Arc<[EditId]>>,
}

impl CauseSets {
    fn get(&mut self, edits: &[EditId]) -> Arc<[EditId]> {
        if let Some(known) = self.known.get(edits) {
            return known.clone();
        }
        let set: Arc<[EditId]> = edits.into();
        self.known.insert(set.clone());
        set
    }
}

/// Returns the maximum number of causes of an output that are listed with their routes: all, unless
/// the site has too many, and then as many of each output as fit.
fn routes_of_each(found: &BTreeMap<Target, Found>, outputs: usize, limits: Limits) -> usize {
    let mut counts = vec![0; outputs];
    let mut edits: BTreeSet<EditId> = BTreeSet::new();
    let mut at = 0;
    for (target, found) in found {
        if target.change != at {
            edits.clear();
            at = target.change;
        }
        edits.extend(&found.edits);
        counts[at] = edits.len();
    }
    limits.causes_of_each(counts)
}

/// Returns the listed causes of a change, from the results for its units: at least one, and those
/// for whose routes there is room.
fn listed_causes<'f>(
    tracing: &Tracing<'_>,
    change: &Change,
    units: impl Iterator<Item = (&'f Target, &'f Found)>,
    listed: &BTreeSet<EditId>,
    routes: &mut Routes,
    room: &mut usize,
) -> Vec<Cause> {
    let mut causes: BTreeMap<EditId, Cause> = BTreeMap::new();
    for (target, found) in units {
        let trails = LazyCell::new(|| tracing.trails(change, target.unit));
        for edit in found.edits.iter().filter(|edit| listed.contains(edit)) {
            if causes.contains_key(edit) || *room == 0 && !causes.is_empty() {
                continue;
            }
            let others = found.edits.iter().filter(|other| *other != edit).copied();
            let named = if found.are_joint {
                Cause::max_joint(found.edits.len())
            } else {
                0
            };
            let joint = others.take(named).collect();
            let route = match routes.remove(&(target.change, *edit)) {
                Some((of, route)) if of == target.unit => route,
                Some(_) | None => tracing.route(&trails, *edit),
            };
            *room = room.saturating_sub(route_size(&route));
            causes.insert(
                *edit,
                Cause {
                    edit: *edit,
                    joint,
                    route: route.into(),
                },
            );
        }
    }
    for edit in listed {
        if causes.contains_key(edit) || *room == 0 && !causes.is_empty() {
            continue;
        }
        let route = tracing.route(&Trails::default(), *edit);
        *room = room.saturating_sub(route_size(&route));
        causes.insert(
            *edit,
            Cause {
                edit: *edit,
                joint: Vec::new(),
                route: route.into(),
            },
        );
    }
    causes.into_values().collect()
}
