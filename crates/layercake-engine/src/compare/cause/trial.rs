//! Renderings with some of the edits, and their deviations from the head.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use layercake_source::DocKey;
use layercake_yaml::diff::{self, DiffMemo, Difference, MAX_DIFFERENCES, same};

use super::batch::{Batch, Owners};
use super::remaining::Asked;
use super::{Attribution, Question, Target, Trial, Unit, union, units};
use crate::compare::reach::Shield;
use crate::compare::shield;
use crate::compare::{Change, Output, Side, Status, matched};
use crate::edit::EditId;
use crate::graph::{DocId, Graph};
use crate::render::Outcome;

/// Deviations of a rendering with some of the edits from the head.
#[derive(Default)]
pub(super) struct Deviations {
    /// Parts of changes that are not as on the head.
    pub(super) units: BTreeSet<Target>,
    /// Changed outputs that also deviate in places that did not change.
    pub(super) beside: BTreeSet<usize>,
    /// Unchanged outputs that deviate, and outputs that neither side has.
    pub(super) kept: BTreeSet<DocKey>,
    /// If a single removed value was put back: the texts that stop it.
    pub(super) shields: Vec<Shield>,
}

impl Deviations {
    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty() && self.beside.is_empty() && self.kept.is_empty()
    }
}

/// Renderings of a site with some of its edits; each set of edits is rendered once.
pub(super) struct Trials<'a> {
    question: &'a Question<'a>,
    changes: &'a [Change],
    outputs: Vec<ChangedOutput<'a>>,
    /// Indexes of the changed outputs, by change.
    output_of: Vec<usize>,
    /// Indexes of the changes, by document of the head.
    of_head: BTreeMap<DocId, usize>,
    known: RefCell<BTreeMap<Vec<EditId>, Rc<Deviations>>>,
    /// Number of renderings.
    count: Cell<usize>,
}

/// A changed output. Several changes of it may be asked about.
pub(super) struct ChangedOutput<'a> {
    output: Output,
    status: Status,
    /// Its changes, with their indexes.
    changes: Vec<(usize, &'a Change)>,
    data: OnceCell<Asked<'a>>,
    metadata: OnceCell<Asked<'a>>,
}

impl<'a> ChangedOutput<'a> {
    /// Groups the changes by output; also returns the index of the output of each change.
    fn group(changes: &'a [Change]) -> (Vec<Self>, Vec<usize>) {
        let mut outputs: Vec<Self> = Vec::new();
        let mut known: HashMap<Output, usize> = HashMap::new();
        let mut output_of = Vec::with_capacity(changes.len());
        for (index, change) in changes.iter().enumerate() {
            let at = *known.entry(change.output).or_insert(outputs.len());
            if at == outputs.len() {
                outputs.push(Self {
                    output: change.output,
                    status: change.status,
                    changes: Vec::new(),
                    data: OnceCell::new(),
                    metadata: OnceCell::new(),
                });
            }
            outputs[at].changes.push((index, change));
            output_of.push(at);
        }
        (outputs, output_of)
    }

    fn targets(&self) -> impl Iterator<Item = (Target, &'a Change)> {
        self.changes.iter().flat_map(|(index, change)| {
            units(change).into_iter().map(|unit| {
                let target = Target {
                    change: *index,
                    unit,
                };
                (target, *change)
            })
        })
    }

    /// Parts of the data.
    pub(super) fn data(&self) -> &Asked<'a> {
        self.data.get_or_init(|| {
            let mut whole = Vec::new();
            let mut parts = Vec::new();
            for (target, change) in self.targets() {
                match target.unit {
                    Unit::Whole => whole.push(target),
                    Unit::Data(at) => parts.push((target, &change.data[at])),
                    Unit::Metadata(_) => {}
                }
            }
            Asked::new(whole, parts)
        })
    }

    /// Parts of the metadata.
    fn metadata(&self) -> &Asked<'a> {
        self.metadata.get_or_init(|| {
            let parts = self
                .targets()
                .filter_map(|(target, change)| match target.unit {
                    Unit::Metadata(at) => Some((target, &change.metadata[at])),
                    Unit::Whole | Unit::Data(_) => None,
                });
            Asked::new(Vec::new(), parts.collect())
        })
    }
}

impl<'a> Trials<'a> {
    pub(super) fn new(question: &'a Question<'a>, changes: &'a [Change]) -> Self {
        let (outputs, output_of) = ChangedOutput::group(changes);
        let by_head = changes.iter().enumerate();
        let of_head = by_head
            .filter_map(|(index, it)| Some((it.output.head?, index)))
            .collect();
        let all = (question.concerned.to_vec(), Rc::default());
        let count = Cell::new(0);
        let known = RefCell::new(BTreeMap::from([all]));
        Self {
            question,
            changes,
            outputs,
            output_of,
            of_head,
            known,
            count,
        }
    }

    /// Returns whether a part of a change is as on the head with these edits alone; `None` if it is
    /// not known and no more renderings are allowed.
    pub(super) fn holds(&self, target: Target, edits: &[EditId]) -> Option<bool> {
        Some(!self.with(edits)?.units.contains(&target))
    }

    /// Returns the index of the change of an output of the head.
    pub(super) fn change_of(&self, head: DocId) -> Option<usize> {
        self.of_head.get(&head).copied()
    }

    /// Returns the changed output of a change.
    pub(super) fn output_of(&self, change: usize) -> &ChangedOutput<'a> {
        &self.outputs[self.output_of[change]]
    }

    /// Returns the deviations with all edits but these, which must be sorted; as [`Trials::with`].
    pub(super) fn without(&self, reverted: &[EditId]) -> Option<Rc<Deviations>> {
        self.with(&self.all_but(reverted))
    }

    /// Returns all edits but these, which must be sorted.
    pub(super) fn all_but(&self, reverted: &[EditId]) -> Vec<EditId> {
        let concerned = self.question.concerned.iter().copied();
        concerned
            .filter(|edit| reverted.binary_search(edit).is_err())
            .collect()
    }

    /// Returns the deviations without each edit of a batch, and the edits whose deviations cannot be
    /// separated from those of others. `None` if no more renderings are allowed.
    pub(super) fn without_each(
        &self,
        batch: &Batch,
    ) -> Option<(BTreeMap<EditId, Deviations>, BTreeSet<EditId>)> {
        let trial = self.rendered(&self.all_but(&batch.edits))?;
        let side = side_of(&trial);
        let all = self.deviations(&side);
        let owners = batch.owners(self.question, &trial.graph);
        let mut each: BTreeMap<EditId, Deviations> = BTreeMap::new();
        let mut open = BTreeSet::new();
        let mut owner_of = |output: &DocKey| {
            let owners = owners.of(output);
            if let [only] = owners[..] {
                return Some(only);
            }
            open.extend(if owners.is_empty() {
                batch.edits.clone()
            } else {
                owners
            });
            None
        };
        for target in all.units {
            if let Some(owner) = owner_of(&self.changes[target.change].key) {
                each.entry(owner).or_default().units.insert(target);
            }
        }
        for index in all.beside {
            if let Some(owner) = owner_of(&self.changes[index].key) {
                each.entry(owner).or_default().beside.insert(index);
            }
        }
        for output in all.kept {
            if let Some(owner) = owner_of(&output) {
                each.entry(owner).or_default().kept.insert(output);
            }
        }
        for edit in &batch.edits {
            let shields = self.shields_of_removed(*edit, &side);
            each.entry(*edit).or_default().shields = shields;
        }
        each.retain(|edit, _| !open.contains(edit));
        Some((each, open))
    }

    /// Returns the deviations with a batch and other edits, and the edits of the batch that concern
    /// each output then. `None` if no more renderings are allowed.
    pub(super) fn with_batch(
        &self,
        batch: &Batch,
        others: &[EditId],
    ) -> Option<(Deviations, Owners)> {
        let edits = union(&batch.edits, others);
        let trial = self.rendered(&edits)?;
        let owners = batch.owners(self.question, &trial.graph);
        Some((self.deviations(&side_of(&trial)), owners))
    }

    pub(super) fn question(&self) -> &Question<'a> {
        self.question
    }

    pub(super) fn changes(&self) -> &[Change] {
        self.changes
    }

    /// Returns the differences of the data of an output of a rendering from that of the head. `None`
    /// if only one of them can be rendered.
    pub(super) fn data_differences<'n>(
        &'n self,
        head: DocId,
        tried: DocId,
        side: &Side<'n>,
        memo: &mut DiffMemo<'n>,
    ) -> Option<Vec<Difference>> {
        let of_head = self.question.head?;
        match (side.rendered.data(tried), of_head.rendered.data(head)) {
            (None, None) => Some(Vec::new()),
            (Some(tried), Some(data)) if diff::identical(tried, data) => Some(Vec::new()),
            (Some(tried), Some(data)) => {
                let schema = &of_head.graph.recipe(head).key.schema;
                let keys = self.question.keys.of_schema(schema);
                Some(memo.differences(tried, data, &keys, MAX_DIFFERENCES))
            }
            (None, Some(_)) | (Some(_), None) => None,
        }
    }

    /// Counts a rendering; `None` if no more are allowed.
    pub(super) fn count(&self) -> Option<()> {
        let (Attribution::Followed { renderings } | Attribution::Verified { renderings }) =
            self.question.attribution;
        let count = self.count.get() + 1;
        let is_allowed = count <= renderings && !self.question.cancel.is_cancelled();
        is_allowed.then(|| self.count.set(count))
    }

    /// Renders with these edits alone; `None` if no more renderings are allowed.
    pub(super) fn rendered(&self, edits: &[EditId]) -> Option<Trial> {
        self.count()?;
        let outputs = |graph: &Graph| graph.outputs().map(|(doc, _)| doc).collect();
        Some((self.question.rerender)(edits, &outputs))
    }

    /// Returns the deviations with these edits alone, which must be sorted; `None` if they are not
    /// known and no more renderings are allowed.
    pub(super) fn with(&self, edits: &[EditId]) -> Option<Rc<Deviations>> {
        if let Some(known) = self.known.borrow().get(edits) {
            return Some(known.clone());
        }
        let trial = self.rendered(edits)?;
        let side = side_of(&trial);
        let mut found = self.deviations(&side);
        if let [only] = self.all_but(edits)[..] {
            found.shields = self.shields_of_removed(only, &side);
        }
        let found = Rc::new(found);
        self.known
            .borrow_mut()
            .insert(edits.to_vec(), found.clone());
        Some(found)
    }

    /// Returns the texts that stop a removed value which a rendering has; none for other edits.
    fn shields_of_removed(&self, edit: EditId, side: &Side<'_>) -> Vec<Shield> {
        if self.question.edits[edit.index()].head.is_some() {
            return Vec::new();
        }
        shield::passage(self.question, edit, side).shields
    }

    /// Compares a rendering with the head, without the texts that stop an edit.
    fn deviations(&self, side: &Side<'_>) -> Deviations {
        let question = self.question;
        let mut memo = DiffMemo::default();
        let by_head = counterparts(question.head, side, question);
        let by_base = counterparts(question.base, side, question);
        let mut found = Deviations::default();
        let mut met: HashSet<DocId> = HashSet::new();
        for changed in &self.outputs {
            let of_head = changed.output.head.and_then(|head| by_head.get(&head));
            let tried = of_head
                .or_else(|| by_base.get(&changed.output.base?))
                .copied();
            met.extend(tried);
            self.add_changed(changed, tried.map(|doc| (doc, side)), &mut memo, &mut found);
        }
        for (doc, recipe) in question
            .head
            .into_iter()
            .flat_map(|head| head.graph.outputs())
        {
            if self.of_head.contains_key(&doc) {
                continue;
            }
            let tried = by_head.get(&doc).copied();
            met.extend(tried);
            if self.deviates(doc, tried, side) {
                found.kept.insert(recipe.key.clone());
            }
        }
        let others = side
            .graph
            .outputs()
            .filter(|(doc, _)| !met.contains(doc))
            .filter(|(doc, _)| side.rendered.data(*doc).is_some());
        found
            .kept
            .extend(others.map(|(_, recipe)| recipe.key.clone()));
        found
    }

    /// Adds the deviations of a changed output, which the rendering has as `tried`.
    fn add_changed<'n>(
        &'n self,
        changed: &ChangedOutput<'_>,
        tried: Option<(DocId, &Side<'n>)>,
        memo: &mut DiffMemo<'n>,
        found: &mut Deviations,
    ) {
        let all = || changed.targets().map(|(target, _)| target);
        let outcome = tried.map(|(doc, side)| (doc, side, side.rendered.outcome(doc)));
        match (changed.status, outcome) {
            (Status::NotComparable, _) => {}
            (Status::Removed, None) => {}
            (Status::Removed, Some((.., Outcome::Ready(_) | Outcome::Blocked(_)))) => {
                found.units.extend(all());
            }
            (Status::Broken, Some((doc, side, Outcome::Blocked(_)))) => {
                let (_, metadata) = self.remaining(changed.output, doc, side, memo);
                add_remaining(changed, &[], &metadata, found);
            }
            (_, None | Some((.., Outcome::Blocked(_)))) => found.units.extend(all()),
            (Status::Broken, Some((.., Outcome::Ready(_)))) => found.units.extend(all()),
            (
                Status::Changed | Status::Metadata | Status::Added | Status::Repaired,
                Some((doc, side, Outcome::Ready(_))),
            ) => {
                let (data, metadata) = self.remaining(changed.output, doc, side, memo);
                add_remaining(changed, &data, &metadata, found);
            }
        }
    }

    /// Returns the differences of an output of a rendering from that of the head, in its data and
    /// in its metadata.
    fn remaining<'n>(
        &'n self,
        output: Output,
        tried: DocId,
        side: &Side<'n>,
        memo: &mut DiffMemo<'n>,
    ) -> (Vec<Difference>, Vec<Difference>) {
        let Some((head, of_head)) = output.head.zip(self.question.head) else {
            return (Vec::new(), Vec::new());
        };
        let keys = self.question.keys;
        let metadata = of_head.metadata_against(head, side, tried, keys);
        let data = self
            .data_differences(head, tried, side, memo)
            .unwrap_or_default();
        (data, metadata)
    }

    /// Returns whether an unchanged output of the head differs from that of a rendering.
    fn deviates(&self, head: DocId, tried: Option<DocId>, side: &Side<'_>) -> bool {
        let Some(of_head) = self.question.head else {
            return false;
        };
        let of_trial = tried.and_then(|doc| side.rendered.data(doc));
        match (of_trial, of_head.rendered.data(head)) {
            (Some(one), Some(other)) if !diff::identical(one, other) && !same(one, other) => true,
            (Some(_), Some(_)) => tried.is_some_and(|tried| {
                let keys = self.question.keys;
                !of_head.metadata_against(head, side, tried, keys).is_empty()
            }),
            (None, None) => false,
            (None, Some(_)) | (Some(_), None) => true,
        }
    }
}

/// Adds the parts of the changes of an output that remaining differences overlap, and the changes
/// with others beside them.
fn add_remaining(
    changed: &ChangedOutput<'_>,
    data: &[Difference],
    metadata: &[Difference],
    found: &mut Deviations,
) {
    // Number of differences that each change overlaps.
    let mut met: HashMap<usize, usize> = HashMap::new();
    let in_data = data.iter().map(|left| changed.data().touched_by(left));
    let in_metadata = metadata
        .iter()
        .map(|left| changed.metadata().touched_by(left));
    for targets in in_data.chain(in_metadata) {
        let mut last = None;
        for target in targets {
            found.units.insert(target);
            if last.replace(target.change) != Some(target.change) {
                *met.entry(target.change).or_default() += 1;
            }
        }
    }
    let count = data.len() + metadata.len();
    found.beside.extend(
        changed
            .changes
            .iter()
            .map(|(index, _)| *index)
            .filter(|index| met.get(index).copied().unwrap_or_default() < count),
    );
}

/// Returns a rendering as a side.
pub(super) fn side_of(trial: &Trial) -> Side<'_> {
    Side::new(
        &trial.graph,
        &trial.rendered,
        trial.written.iter().collect(),
    )
}

/// Returns the outputs of a rendering by the matching document of one of the sides.
pub(super) fn counterparts(
    other: Option<&Side<'_>>,
    side: &Side<'_>,
    question: &Question<'_>,
) -> BTreeMap<DocId, DocId> {
    let outputs = matched(other, Some(side), question.renames).into_iter();
    outputs
        .filter_map(|output| output.base.zip(output.head))
        .collect()
}
