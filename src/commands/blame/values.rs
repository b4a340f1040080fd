//! Values of outputs that are followed back: each is handed to a parent in which it is the same, and
//! belongs to the commit for which there is none.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use super::walk::{Before, CommitsAtHand, Done, Known, OutputAt};
use crate::commands::history::CommitIndex;
use crate::compare::{Change, Status};
use crate::report::blame::{BlameCause, BlameEnd, FurtherCommit};
use crate::source::{DocKey, FileId};
use crate::yaml::Node;
use crate::yaml::diff::{Counterparts, Difference, ListKeys, identical, same};
use crate::yaml::path::Location;

/// A value that is followed back.
#[derive(Clone, Debug)]
pub(super) struct FollowedValue {
    /// Which one of those that the walk was begun with.
    pub(super) index: usize,
    /// Where it is in the commit that it was followed to.
    pub(super) place: Location,
}

/// Values of one output, as it is called in the commit that they were followed to.
#[derive(Clone, Debug)]
pub(super) struct FollowedOutput {
    pub(super) key: DocKey,
    pub(super) values: Vec<FollowedValue>,
}

/// A commit that changed values of an output.
pub(super) struct FoundChange {
    pub(super) commit: CommitIndex,
    /// The commit before it; none if there is none.
    pub(super) base: Option<CommitIndex>,
    /// Commits before it that cannot be rendered.
    pub(super) passed_over: Vec<CommitIndex>,
    pub(super) end: BlameEnd,
    pub(super) key: DocKey,
    /// The name of the output before it, if that is another.
    pub(super) renamed_from: Option<DocKey>,
    /// Whether the file of the output's document is another.
    pub(super) touched: bool,
    pub(super) values: Vec<FoundValue>,
}

/// A value that a commit changed.
pub(super) struct FoundValue {
    pub(super) index: usize,
    pub(super) before: Option<Node>,
    pub(super) after: Option<Node>,
    pub(super) causes: Vec<BlameCause>,
    /// Where it is.
    pub(super) place: Location,
    /// The commits of further repositories that changed it.
    pub(super) further: Vec<FurtherCommit>,
}

impl FoundValue {
    /// The value as it is followed further.
    pub(super) fn followed(&self) -> FollowedValue {
        FollowedValue { index: self.index, place: self.place.clone() }
    }
}

/// What is done with a value whose commit is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterChange {
    /// Nothing more.
    Stop,
    /// What was there before is followed further.
    GoOn,
}

/// How values are followed.
pub(super) struct FollowingValues<'k> {
    pub(super) keys: &'k ListKeys,
    pub(super) after_change: AfterChange,
}

/// An output that a commit changed.
struct ChangedOutput<'s> {
    key: DocKey,
    here: OutputAt<'s>,
    values: Vec<FollowedValue>,
    before: Before<OutputAt<'s>>,
}

impl ChangedOutput<'_> {
    /// The files of its document, in the commit and before it.
    fn files(&self) -> [Option<FileId>; 2] {
        let before = self.before.known.first().and_then(|(_, before)| before.file());
        [self.here.file(), before]
    }
}

/// The edits that changed outputs, each with the place where it did.
type CausesByOutput = HashMap<DocKey, Vec<(Location, BlameCause)>>;

type ValuesDone = Done<FollowedOutput, FoundChange>;

impl FollowingValues<'_> {
    /// Hands on the values that were followed to a commit; none if commits are needed that are not
    /// at hand.
    pub(super) fn step(
        &self,
        at: &CommitsAtHand<'_, '_>,
        commit: CommitIndex,
        outputs: &[FollowedOutput],
    ) -> Option<ValuesDone> {
        let mut done = ValuesDone::default();
        let mut changed = Vec::new();
        for (key, values) in joined(outputs) {
            let output = self.hand_on((at, commit), key, values, &mut done)?;
            changed.extend((!output.values.is_empty()).then_some(output));
        }
        let causes = causes(at, commit, &changed);
        for output in changed {
            self.add_change(at, commit, output, &causes, &mut done);
        }
        Some(done)
    }

    /// Hands on those values of an output that are the same in a commit before, and leaves the
    /// others.
    fn hand_on<'s>(
        &self,
        (at, commit): (&CommitsAtHand<'s, '_>, CommitIndex),
        key: &DocKey,
        mut values: Vec<FollowedValue>,
        done: &mut ValuesDone,
    ) -> Option<ChangedOutput<'s>> {
        let here = match at.output(commit, key)? {
            Known::Is(output) => output,
            Known::Not(_) => OutputAt::Absent,
        };
        let output_before = |earlier| match at.output_before((earlier, commit), key)? {
            Known::Is(OutputAt::Absent) => match at.renamed_from(earlier, commit, key) {
                Some(before) if at.states.are_rendered(&before.name) => at.output(earlier, &before),
                Some(_) => None,
                None => Some(Known::Is(OutputAt::Absent)),
            },
            output => Some(output),
        };
        let before = at.before(commit, &output_before, &mut done.unusable)?;
        for (earlier, other) in &before.known {
            let passed = self.pass(&mut values, here.data(), other, key);
            if !passed.is_empty() {
                let key = other.name(key).clone();
                done.handed_on.push((*earlier, FollowedOutput { key, values: passed }));
            }
        }
        Some(ChangedOutput { key: key.clone(), here, values, before })
    }

    /// Takes those values out of `left` that are the same in an earlier commit.
    fn pass(
        &self,
        left: &mut Vec<FollowedValue>,
        head: Option<&Node>,
        earlier: &OutputAt<'_>,
        key: &DocKey,
    ) -> Vec<FollowedValue> {
        if matches!(earlier, OutputAt::NoSite) {
            return Vec::new();
        }
        let (head, base) = match (head, earlier.data()) {
            (Some(head), Some(base)) if identical(head, base) => return mem::take(left),
            (Some(head), Some(base)) => (head, base),
            (head, base) => {
                // What is not there is the same where there is no output.
                let data = head.or(base);
                let is_absent = |place: &Location| data.is_none_or(|it| place.get(it).is_none());
                return left.extract_if(.., |value| is_absent(&value.place)).collect();
            }
        };
        let keys = self.keys.of_schema(&key.schema);
        let mut counterparts = Counterparts::new(base, head, &keys);
        let mut passed = Vec::new();
        left.retain(|value| {
            let place = match value.place.get(head) {
                Some(node) => {
                    let there = counterparts.of(&value.place);
                    there.filter(|(_, other)| same(node, other)).map(|(place, _)| place)
                }
                None => value.place.get(base).is_none().then(|| value.place.clone()),
            };
            let is_left = place.is_none();
            passed.extend(place.map(|place| FollowedValue { place, ..value.clone() }));
            is_left
        });
        passed
    }

    /// Adds that a commit changed values of an output.
    fn add_change(
        &self,
        at: &CommitsAtHand<'_, '_>,
        commit: CommitIndex,
        output: ChangedOutput<'_>,
        causes: &CausesByOutput,
        done: &mut ValuesDone,
    ) {
        let [file, file_before] = output.files();
        let ChangedOutput { key, here, values, before } = output;
        let base = before.known.first();
        let is_other = |it: &&DocKey| (&it.schema, &it.name) != (&key.schema, &key.name);
        let renamed_from = base.map(|(_, other)| other.name(&key)).filter(is_other).cloned();
        let end = match base {
            Some((_, OutputAt::NoSite)) => BlameEnd::SiteAdded,
            Some(_) => BlameEnd::Changed,
            None => at.history.commit(commit).end(),
        };
        let (head, data) = (here.data(), base.and_then(|(_, other)| other.data()));
        let keys = self.keys.of_schema(&key.schema);
        let mut counterparts =
            head.zip(data).map(|(head, base)| Counterparts::new(base, head, &keys));
        let causes = causes.get(&key).map_or(&[][..], Vec::as_slice);
        let mut followed = Vec::new();
        let found = values.iter().map(|value| {
            let there = counterparts.as_mut().and_then(|it| it.of(&value.place));
            let there = there.or_else(|| Some((value.place.clone(), value.place.get(data?)?)));
            let (place, before) = there.map(|(place, node)| (place, node.clone())).unzip();
            let place = place.unwrap_or_else(|| value.place.clone());
            followed.push(FollowedValue { index: value.index, place });
            let of_value = causes.iter().filter(|(place, _)| meet(place, &value.place));
            FoundValue {
                index: value.index,
                before,
                after: head.and_then(|head| value.place.get(head)).cloned(),
                causes: of_value.map(|(_, cause)| cause.clone()).collect(),
                place: value.place.clone(),
                further: Vec::new(),
            }
        });
        let values = found.collect();
        let goes_on = self.after_change == AfterChange::GoOn && end == BlameEnd::Changed;
        if let Some((base, other)) = base.filter(|_| goes_on) {
            let key = other.name(&key).clone();
            done.handed_on.push((*base, FollowedOutput { key, values: followed }));
        }
        done.changes.push(FoundChange {
            commit,
            base: base.map(|(base, _)| *base),
            passed_over: before.passed_over,
            end,
            key,
            renamed_from,
            touched: file != file_before,
            values,
        });
    }
}

/// The values of each output: several commits may have handed on some of them.
fn joined(outputs: &[FollowedOutput]) -> Vec<(&DocKey, Vec<FollowedValue>)> {
    let mut at: HashMap<&DocKey, usize> = HashMap::new();
    let mut joined: Vec<(&DocKey, Vec<FollowedValue>)> = Vec::new();
    for FollowedOutput { key, values } in outputs {
        let at = *at.entry(key).or_insert(joined.len());
        if at == joined.len() {
            joined.push((key, Vec::new()));
        }
        joined[at].1.extend(values.iter().cloned());
    }
    joined
}

/// The edits that changed what is at the places of these outputs of a commit.
fn causes(
    at: &CommitsAtHand<'_, '_>,
    commit: CommitIndex,
    outputs: &[ChangedOutput<'_>],
) -> CausesByOutput {
    let mut by_base: BTreeMap<CommitIndex, HashMap<&DocKey, &ChangedOutput<'_>>> = BTreeMap::new();
    for output in outputs {
        if let Some((base, _)) = output.before.known.first() {
            by_base.entry(*base).or_default().insert(&output.key, output);
        }
    }
    let mut causes = CausesByOutput::new();
    for (base, outputs) in by_base {
        let focus = |changes: Vec<Change>| {
            let asked = changes.iter().filter_map(|it| Some((it, outputs.get(&it.key)?)));
            asked.flat_map(|(change, output)| parted(change, &output.values)).collect()
        };
        let Some((base, head)) = at.index_of(base).zip(at.index_of(commit)) else { continue };
        let Some(found) = at.states.changes(base, head, focus) else { continue };
        for change in &found.changes {
            let files = outputs[&change.key].files();
            let whole = Location::root();
            let place = change.data.first().map_or(&whole, Difference::location);
            let of_output = causes.entry(change.key.clone()).or_default();
            of_output.extend(change.causes.iter().map(|cause| {
                let edit = found.edits[cause.edit.index()].clone();
                let mut texts = edit.base.iter().chain(&edit.head);
                let is_in_own_file = texts.any(|text| files.contains(&Some(text.at.file)));
                let route = cause.route.clone();
                (place.clone(), BlameCause { id: cause.edit, edit, is_in_own_file, route })
            }));
        }
    }
    causes
}

/// A change for each of its differences that meets one of these values.
fn parted(change: &Change, values: &[FollowedValue]) -> Vec<Change> {
    if change.status != Status::Changed {
        return vec![change.clone()];
    }
    let is_met = |difference: &&Difference| {
        values.iter().any(|value| meet(difference.location(), &value.place))
    };
    let met = change.data.iter().filter(is_met);
    let of = |difference: &Difference| Change {
        data: vec![difference.clone()],
        metadata: Vec::new(),
        ..change.clone()
    };
    met.map(of).collect()
}

/// Whether one place is the other, or is in it.
fn meet(one: &Location, other: &Location) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
