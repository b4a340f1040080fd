//! Values of outputs that are traced through history: each is passed on to a parent in which it is
//! equal. If there is none, the commit is the one that changed it.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;

use super::walk::{Before, CommitsAtHand, Done, Known, OutputAt};
use crate::commands::history::CommitIndex;
use crate::compare::{Change, Status};
use crate::edit::Edit;
use crate::report::answer::blame::{BlameCause, BlameEnd, FurtherCommit};
use crate::source::{DocKey, FileId};
use crate::yaml::Node;
use crate::yaml::diff::{Counterparts, Difference, ListKeys, identical, same};
use crate::yaml::path::{Location, PlaceIndex};

/// A value that is traced.
#[derive(Clone, Debug)]
pub(super) struct FollowedValue {
    /// Index among the initial values of the walk.
    pub(super) index: usize,
    /// Place in the commit that it was traced to.
    pub(super) place: Arc<Location>,
}

/// Values of one output, under its name in the commit that they were traced to.
#[derive(Clone, Debug)]
pub(super) struct FollowedOutput {
    pub(super) key: DocKey,
    pub(super) values: Vec<FollowedValue>,
}

/// A commit that changed values of an output.
pub(super) struct FoundChange {
    pub(super) commit: CommitIndex,
    /// The previous commit, if any.
    pub(super) base: Option<CommitIndex>,
    /// Skipped commits before it that cannot be rendered.
    pub(super) passed_over: Vec<CommitIndex>,
    pub(super) end: BlameEnd,
    pub(super) key: DocKey,
    /// Name of the output before the commit, if it was renamed.
    pub(super) renamed_from: Option<DocKey>,
    /// Whether the file of the output's document changed.
    pub(super) touched: bool,
    pub(super) values: Vec<FoundValue>,
}

/// A value that a commit changed.
pub(super) struct FoundValue {
    pub(super) index: usize,
    pub(super) before: Option<Node>,
    pub(super) after: Option<Node>,
    pub(super) causes: Vec<Arc<BlameCause>>,
    /// Place in the output.
    pub(super) place: Arc<Location>,
    /// Commits of further repositories that changed it.
    pub(super) further: Vec<FurtherCommit>,
}

impl FoundValue {
    /// The value, to be traced further.
    pub(super) fn followed(&self) -> FollowedValue {
        FollowedValue {
            index: self.index,
            place: self.place.clone(),
        }
    }
}

/// Action for a value whose commit is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterChange {
    Stop,
    /// Trace the previous value further.
    Continue,
}

/// Settings for tracing values.
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
    /// Files of its document, in the commit and before it.
    fn files(&self) -> [Option<FileId>; 2] {
        let before = self
            .before
            .known
            .first()
            .and_then(|(_, before)| before.file());
        [self.here.file(), before]
    }
}

/// Edits that changed outputs.
type CausesByOutput = HashMap<DocKey, CausesByPlace>;

/// Edits that changed an output, by the places of their changes.
#[derive(Default)]
struct CausesByPlace {
    places: PlaceIndex,
    causes: Vec<Arc<BlameCause>>,
}

impl CausesByPlace {
    fn new(causes: Vec<(&Location, BlameCause)>) -> Self {
        let places = PlaceIndex::new(causes.iter().map(|(place, _)| *place));
        let causes = causes
            .into_iter()
            .map(|(_, cause)| Arc::new(cause))
            .collect();
        Self { places, causes }
    }

    /// Causes of changes of a value, in it or around it.
    fn of(&self, place: &Location) -> Vec<Arc<BlameCause>> {
        self.places
            .around(place)
            .into_iter()
            .map(|at| self.causes[at].clone())
            .collect()
    }
}

type ValuesDone = Done<FollowedOutput, FoundChange>;

impl FollowingValues<'_> {
    /// Passes the values at a commit on to its parents; `None` if commits are needed that are not
    /// in memory.
    pub(super) fn step(
        &self,
        at: &CommitsAtHand<'_, '_>,
        commit: CommitIndex,
        outputs: &[FollowedOutput],
    ) -> Option<ValuesDone> {
        let mut done = ValuesDone::default();
        let mut changed = Vec::new();
        for (key, values) in joined(outputs) {
            let output = self.pass_on((at, commit), key, values, &mut done)?;
            changed.extend((!output.values.is_empty()).then_some(output));
        }
        let causes = causes(at, commit, &changed);
        for output in changed {
            self.add_change(at, commit, output, &causes, &mut done);
        }
        Some(done)
    }

    /// Passes on the values of an output that are equal in a parent, and returns the others.
    fn pass_on<'s>(
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
            let passed = self.take_unchanged(&mut values, here.data(), other, key);
            if !passed.is_empty() {
                let key = other.name(key).clone();
                done.passed_on.push((
                    *earlier,
                    FollowedOutput {
                        key,
                        values: passed,
                    },
                ));
            }
        }
        Some(ChangedOutput {
            key: key.clone(),
            here,
            values,
            before,
        })
    }

    /// Removes the values from `left` that are equal in an earlier commit.
    fn take_unchanged(
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
                // A missing value is equal to one of a missing output.
                let data = head.or(base);
                let is_absent = |place: &Location| data.is_none_or(|it| place.get(it).is_none());
                return left
                    .extract_if(.., |value| is_absent(&value.place))
                    .collect();
            }
        };
        let keys = self.keys.of_schema(&key.schema);
        let mut counterparts = Counterparts::new(base, head, &keys);
        let mut passed = Vec::new();
        left.retain(|value| {
            let place = match value.place.get(head) {
                Some(node) => {
                    let there = counterparts.of(&value.place);
                    let there = there.filter(|(_, other)| same(node, other));
                    there.map(|(place, _)| shared(&value.place, place))
                }
                None => value.place.get(base).is_none().then(|| value.place.clone()),
            };
            let is_left = place.is_none();
            passed.extend(place.map(|place| FollowedValue {
                place,
                ..value.clone()
            }));
            is_left
        });
        passed
    }

    /// Records that a commit changed values of an output.
    fn add_change(
        &self,
        at: &CommitsAtHand<'_, '_>,
        commit: CommitIndex,
        output: ChangedOutput<'_>,
        causes: &CausesByOutput,
        done: &mut ValuesDone,
    ) {
        let [file, file_before] = output.files();
        let ChangedOutput {
            key,
            here,
            values,
            before,
        } = output;
        let base = before.known.first();
        let is_other = |it: &&DocKey| (&it.schema, &it.name) != (&key.schema, &key.name);
        let renamed_from = base
            .map(|(_, other)| other.name(&key))
            .filter(is_other)
            .cloned();
        let end = match base {
            Some((_, OutputAt::NoSite)) => BlameEnd::SiteAdded,
            Some(_) => BlameEnd::Changed,
            None => at.history.commit(commit).end(),
        };
        let (head, data) = (here.data(), base.and_then(|(_, other)| other.data()));
        let keys = self.keys.of_schema(&key.schema);
        let mut counterparts = head
            .zip(data)
            .map(|(head, base)| Counterparts::new(base, head, &keys));
        let causes = causes.get(&key);
        let mut followed = Vec::new();
        let found = values.iter().map(|value| {
            let there = counterparts.as_mut().and_then(|it| it.of(&value.place));
            let before = match &there {
                Some((_, node)) => Some(*node),
                None => data.and_then(|data| value.place.get(data)),
            };
            let place = there.map_or_else(
                || value.place.clone(),
                |(place, _)| shared(&value.place, place),
            );
            followed.push(FollowedValue {
                index: value.index,
                place,
            });
            FoundValue {
                index: value.index,
                before: before.cloned(),
                after: head.and_then(|head| value.place.get(head)).cloned(),
                causes: causes
                    .map(|causes| causes.of(&value.place))
                    .unwrap_or_default(),
                place: value.place.clone(),
                further: Vec::new(),
            }
        });
        let values = found.collect();
        let continues = self.after_change == AfterChange::Continue && end == BlameEnd::Changed;
        if let Some((base, other)) = base.filter(|_| continues) {
            let key = other.name(&key).clone();
            done.passed_on.push((
                *base,
                FollowedOutput {
                    key,
                    values: followed,
                },
            ));
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

/// A place, without a copy if it is known already: a walk holds thousands of them, which may be long.
fn shared(known: &Arc<Location>, place: Location) -> Arc<Location> {
    if **known == place {
        known.clone()
    } else {
        Arc::new(place)
    }
}

/// Merges the values of each output, which several commits may have passed on.
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

/// Edits that changed the places of these outputs of a commit.
fn causes(
    at: &CommitsAtHand<'_, '_>,
    commit: CommitIndex,
    outputs: &[ChangedOutput<'_>],
) -> CausesByOutput {
    let mut by_base: BTreeMap<CommitIndex, HashMap<&DocKey, &ChangedOutput<'_>>> = BTreeMap::new();
    for output in outputs {
        if let Some((base, _)) = output.before.known.first() {
            by_base
                .entry(*base)
                .or_default()
                .insert(&output.key, output);
        }
    }
    let mut causes = CausesByOutput::new();
    for (base, outputs) in by_base {
        let focus = |changes: Vec<Change>| {
            let asked = changes
                .into_iter()
                .filter_map(|it| Some((outputs.get(&it.key)?, it)));
            asked
                .flat_map(|(output, change)| split(change, &output.values))
                .collect()
        };
        let Some((base, head)) = at.index_of(base).zip(at.index_of(commit)) else {
            continue;
        };
        let Some(found) = at.states.changes(base, head, focus) else {
            continue;
        };
        let edits: Vec<Arc<Edit>> = found.edits.into_iter().map(Arc::new).collect();
        let whole = Location::root();
        let mut by_output: HashMap<&DocKey, Vec<(&Location, BlameCause)>> = HashMap::new();
        for change in &found.changes {
            let files = outputs[&change.key].files();
            let place = change.data.first().map_or(&whole, Difference::location);
            let of_output = by_output.entry(&change.key).or_default();
            of_output.extend(change.causes.iter().map(|cause| {
                let edit = edits[cause.edit.index()].clone();
                let mut texts = edit.base.iter().chain(&edit.head);
                let is_in_own_file = texts.any(|text| files.contains(&Some(text.at.file)));
                let route = cause.route.clone();
                (
                    place,
                    BlameCause {
                        id: cause.edit,
                        edit,
                        is_in_own_file,
                        route,
                    },
                )
            }));
        }
        // Each output has one base.
        causes.extend(
            by_output
                .into_iter()
                .map(|(key, of)| (key.clone(), CausesByPlace::new(of))),
        );
    }
    causes
}

/// Splits a change into one per difference that overlaps one of these values.
fn split(change: Change, values: &[FollowedValue]) -> Vec<Change> {
    if change.status != Status::Changed {
        return vec![change];
    }
    let values = PlaceIndex::new(values.iter().map(|value| &*value.place));
    let Change { data, .. } = change;
    let whole = Change {
        data: Vec::new(),
        metadata: Vec::new(),
        ..change
    };
    data.into_iter()
        .filter(|difference| !values.around(difference.location()).is_empty())
        .map(|difference| Change {
            data: vec![difference],
            ..whole.clone()
        })
        .collect()
}
