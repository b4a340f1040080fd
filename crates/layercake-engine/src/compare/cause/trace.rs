//! Tracing of changed values back to the edits of their source texts, and the routes between.

use std::cell::Cell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use layercake_source::{DocKey, Span};
use layercake_yaml::diff::{self, DiffPlace, Difference};
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Key, Node};

use super::{Question, Target, Unit, units};
use crate::compare::texts::{Texts, edits_overlapping};
use crate::compare::{Change, Hop, Limits, Side, Via, route_size};
use crate::edit::{Edit, EditId, EditKind, Part, Text};
use crate::graph::DocId;
use crate::render::replay::{self, Replay};
use crate::render::{CombineProblem, ProblemKind};

/// Texts of the edits of a site, and the effort spent on tracing.
pub(super) struct Tracing<'a> {
    question: &'a Question<'a>,
    of_base: Texts,
    of_head: Texts,
    /// Maximum number of values traced per unit.
    most_leaves: usize,
    /// Number of hops, and of pieces of their places, that may still be traced.
    room: Cell<usize>,
}

/// Edits of the texts that a unit was traced to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidates {
    /// On either side.
    pub(super) all: Vec<EditId>,
    /// On the head side.
    pub(super) of_head: Vec<EditId>,
}

/// Result of tracing all units.
#[derive(Default)]
pub(super) struct Followed {
    /// Units, by their candidates.
    pub(super) by_candidates: BTreeMap<Candidates, Vec<Target>>,
    /// First unit of each change with a single candidate, which nearly always is the cause, and the
    /// route to it. Built early, while the traces are available.
    pub(super) routes: Routes,
}

pub(super) type Routes = BTreeMap<(usize, EditId), (Unit, Vec<Hop>)>;

/// Traces of the values of a unit.
#[derive(Default)]
pub(super) struct Trails {
    /// On the base side and on the head side.
    sides: [Vec<replay::Hop>; 2],
    /// Whether some values were not traced.
    is_cut: bool,
}

impl<'a> Tracing<'a> {
    /// Prepares the tracing of `changes` changed outputs.
    pub(super) fn new(question: &'a Question<'a>, changes: usize) -> Self {
        let texts =
            |side: fn(&Edit) -> Option<&Text>| Texts::of(question.edits, question.concerned, side);
        Self {
            question,
            of_base: texts(|edit| edit.base.as_ref()),
            of_head: texts(|edit| edit.head.as_ref()),
            most_leaves: (MAX_LEAVES_OF_SITE / changes.max(1)).clamp(FEW_LEAVES, MAX_LEAVES),
            room: Cell::new(Limits::TRACED),
        }
    }

    /// Traces every unit of all changes.
    pub(super) fn follow(&self, changes: &[Change]) -> Followed {
        let mut followed = Followed::default();
        let mut room = self.question.limits.routes;
        let site = self.edit_of_site();
        for (index, change) in changes.iter().enumerate() {
            for unit in units(change) {
                let target = Target {
                    change: index,
                    unit,
                };
                if let [only] = self.question.concerned {
                    // Fast path: the only edit is the cause.
                    let only = Candidates {
                        all: vec![*only],
                        of_head: Vec::new(),
                    };
                    followed.by_candidates.entry(only).or_default().push(target);
                    continue;
                }
                let trails = self.trails(change, unit);
                let [base, head] = self.texts(change, unit, &trails);
                let mut candidates = Candidates {
                    all: self.overlapping(&base, &head),
                    of_head: self.overlapping(&[], &head),
                };
                if let Some(site) = site.filter(|site| !candidates.all.contains(site)) {
                    candidates.all.push(site);
                    candidates.all.sort_unstable();
                }
                if let [only] = candidates.all[..]
                    && room > 0
                    && let Entry::Vacant(entry) = followed.routes.entry((index, only))
                {
                    let (_, route) = entry.insert((unit, self.route(&trails, only)));
                    room = room.saturating_sub(route_size(route));
                }
                followed
                    .by_candidates
                    .entry(candidates)
                    .or_default()
                    .push(target);
            }
        }
        followed
    }

    /// Returns the edit that added or removed the site, which causes all outputs added or removed
    /// with it.
    fn edit_of_site(&self) -> Option<EditId> {
        let is_of_site = |id: &&EditId| match self.question.edits[id.index()].kind {
            EditKind::SiteAdded | EditKind::SiteRemoved => true,
            EditKind::Value
            | EditKind::Key
            | EditKind::Order
            | EditKind::Document
            | EditKind::Renamed
            | EditKind::Moved
            | EditKind::Policy
            | EditKind::Site
            | EditKind::File
            | EditKind::Repository => false,
        };
        self.question.concerned.iter().find(is_of_site).copied()
    }

    /// Returns the edits that overlap one of these texts of the base or of the head.
    fn overlapping(&self, base: &[Span], head: &[Span]) -> Vec<EditId> {
        let of_base = base.iter().map(|span| (&self.of_base, *span));
        edits_overlapping(of_base.chain(head.iter().map(|span| (&self.of_head, *span))))
    }

    /// Returns the source texts that a unit with these traces depends on, on each side.
    fn texts(&self, change: &Change, unit: Unit, trails: &Trails) -> [Vec<Span>; 2] {
        let texts: [Vec<Span>; 2] = match unit {
            Unit::Whole | Unit::Data(_) => {
                let [base, head] = &trails.sides;
                let of_base = self.question.base;
                let of_head = self.question.head;
                let places = difference_of(change, unit).filter(|_| trails.is_cut);
                let [in_base, in_head] = [
                    places.and_then(|it| it.base.as_ref()),
                    places.and_then(|it| it.head.as_ref()),
                ];
                let sides = [(of_base, base, in_base), (of_head, head, in_head)];
                sides.map(|(side, trails, unfollowed)| {
                    let mut texts: Vec<Span> = trails.iter().flat_map(replay::Hop::texts).collect();
                    texts.extend(
                        side.into_iter()
                            .flat_map(|side| failed_merges(side, trails)),
                    );
                    texts.extend(
                        unfollowed
                            .into_iter()
                            .flat_map(|place| written_in(&place.node)),
                    );
                    texts
                })
            }
            Unit::Metadata(at) => {
                let difference = &change.metadata[at];
                [&difference.base, &difference.head].map(|place| {
                    let place = place.iter();
                    place
                        .flat_map(|place| place.key.into_iter().chain([place.node.span]))
                        .collect()
                })
            }
        };
        texts.map(|mut spans| {
            spans.sort_unstable();
            spans.dedup();
            spans
        })
    }

    /// Traces the values of a unit.
    pub(super) fn trails(&self, change: &Change, unit: Unit) -> Trails {
        /// Maximum number of values traced for all units of an output.
        const MAX_LEAVES_OF_OUTPUT: usize = 20_000;
        let Some(difference) = difference_of(change, unit) else {
            return Trails::default();
        };
        let elsewhere = difference.location();
        let most = match difference.unlisted {
            0 => self.most_leaves,
            _ => FEW_LEAVES,
        };
        let most = most
            .min(MAX_LEAVES_OF_OUTPUT / change.data.len().max(1))
            .max(1);
        let mut is_cut = difference.unlisted > 0;
        let mut of = |at: usize, side: Option<&Side<'_>>, doc: Option<DocId>| {
            let Some((side, doc)) = side.zip(doc) else {
                return Vec::new();
            };
            let place = [&difference.base, &difference.head][at];
            let (leaves, more) = match place {
                Some(place) => {
                    let (leaves, more) = leaves(&difference.kind, at, place, most);
                    (
                        leaves
                            .iter()
                            .map(|leaf| place.location.joined(leaf))
                            .collect(),
                        more,
                    )
                }
                None => (vec![elsewhere.clone()], false),
            };
            let count = leaves.len();
            let traces = side.replay.trace_all(doc, leaves.into_iter(), &self.room);
            is_cut |= more || traces.len() < count;
            traces
        };
        let sides = [
            of(0, self.question.base, change.output.base),
            of(1, self.question.head, change.output.head),
        ];
        Trails { sides, is_cut }
    }

    /// Returns edits of the documents that a unit's values came through. These include edits
    /// outside the source texts, for example of whether a document is abstract.
    pub(super) fn candidates_nearby(&self, change: &Change, unit: Unit) -> Vec<EditId> {
        let [mut base, mut head] = self.texts(change, unit, &self.trails(change, unit));
        let of = |side: Option<&Side<'_>>, doc: Option<DocId>, spans: &mut Vec<Span>| {
            let Some((side, doc)) = side.zip(doc) else {
                return;
            };
            spans.push(side.graph.recipe(doc).span);
            let near: BTreeSet<Span> = spans
                .iter()
                .flat_map(|span| side.texts_around(*span))
                .collect();
            spans.extend(near);
        };
        of(self.question.base, change.output.base, &mut base);
        of(self.question.head, change.output.head, &mut head);
        self.overlapping(&base, &head)
    }

    /// Returns the route from an edit to an output, the edit first.
    pub(super) fn route(&self, trails: &Trails, edit: EditId) -> Vec<Hop> {
        let edit = &self.question.edits[edit.index()];
        let mut route = vec![first_hop(edit)];
        // The place of a value in its documents does not explain why the site exists.
        if matches!(edit.kind, EditKind::SiteAdded | EditKind::SiteRemoved) {
            return route;
        }
        let [base, head] = &trails.sides;
        let question = self.question;
        let sides = [
            (question.head, &edit.head, head),
            (question.base, &edit.base, base),
        ];
        for (side, text, trails) in sides {
            let (Some(side), Some(text)) = (side, text) else {
                continue;
            };
            let found = trails.iter().find_map(|trail| trace_from(text, trail));
            if let Some(trace) = found {
                route.extend(self.hops(side, &trace));
                return route;
            }
        }
        route
    }

    /// Returns the hops of a trace, after the edit itself.
    fn hops(&self, side: &Side<'_>, trace: &[&replay::Hop]) -> Vec<Hop> {
        let mut hops: Vec<Hop> = Vec::new();
        for (steps, hop) in trace.iter().enumerate() {
            let via = match hop.via {
                replay::Via::Inherited => Via::Inherited,
                replay::Via::Replaced => Via::Replaced,
                replay::Via::Substituted | replay::Via::Pattern => Via::Substituted,
                replay::Via::Merged => Via::Merged,
                // Steps within one document.
                replay::Via::Literal
                | replay::Via::Made
                | replay::Via::Layered { .. }
                | replay::Via::Deleted
                | replay::Via::Absent
                | replay::Via::Blocked
                | replay::Via::Unfollowed => continue,
            };
            let document = side.graph.recipe(hop.doc).key.clone();
            let parent_change = self.parent_change(&document, via);
            // The edit is part of the first hop. An edit of how a document takes a value, instead
            // of the value itself, is an extra hop only if it selected another parent.
            if steps == 0 && parent_change.is_none() {
                continue;
            }
            let location = Some(hop.location.clone());
            hops.push(Hop {
                via: parent_change.unwrap_or(via),
                document,
                location,
                at: hop.at.clone(),
            });
        }
        hops
    }

    /// Returns how a document's parent changed, if the document inherits and has another parent, or
    /// none, on the other side.
    fn parent_change(&self, document: &DocKey, via: Via) -> Option<Via> {
        if !matches!(via, Via::Inherited | Via::Replaced) {
            return None;
        }
        let base = self.question.base?;
        let head = self.question.head?;
        let parent = |side: &Side<'_>| {
            let recipe = side.recipe_of(document)?;
            Some(
                recipe
                    .base
                    .map(|link| side.graph.recipe(link.doc).key.clone()),
            )
        };
        match (parent(base)?, parent(head)?) {
            (Some(_), None) => Some(Via::Unparented),
            (before, after) if before != after => Some(Via::Retargeted),
            _ => None,
        }
    }
}

/// Maximum number of values traced per unit.
const MAX_LEAVES: usize = 5_000;

/// Maximum number of values traced per unit over all outputs of a site. With many outputs, each
/// unit has at least [`FEW_LEAVES`].
const MAX_LEAVES_OF_SITE: usize = 1_000_000;

/// Number of values traced if there are very many; only their source texts are compared.
const FEW_LEAVES: usize = 20;

/// Returns the places, below that of a difference on the side at this index, whose values
/// contribute to the difference: at most `most`, and whether there are more.
fn leaves(
    kind: &diff::DifferenceKind,
    side: usize,
    place: &DiffPlace,
    most: usize,
) -> (Vec<Location>, bool) {
    match kind {
        diff::DifferenceKind::Value => {
            let leaves = Replay::leaves(&place.node, most);
            (leaves.locations, leaves.more)
        }
        diff::DifferenceKind::Order { key, indexes } => {
            let key = Piece::Key(Key::string(&**key, place.node.span));
            let indexes = &indexes[side];
            (
                indexes
                    .iter()
                    .take(most)
                    .map(|index| Location(vec![Piece::Index(*index), key.clone()]))
                    .collect(),
                indexes.len() > most,
            )
        }
    }
}

/// Returns the difference of a unit of an output's data.
pub(super) fn difference_of(change: &Change, unit: Unit) -> Option<&Difference> {
    match (unit, &change.data[..]) {
        (Unit::Data(at), data) => data.get(at),
        (Unit::Whole, [whole]) => Some(whole),
        (Unit::Whole | Unit::Metadata(_), _) => None,
    }
}

/// Returns the source texts of the values in `node`; a value that is in several places is visited
/// once.
pub(super) fn written_in(node: &Node) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut open = vec![node];
    let mut known = HashSet::new();
    while let Some(node) = open.pop() {
        if node
            .value
            .address()
            .is_some_and(|address| !known.insert(address))
        {
            continue;
        }
        let before = open.len();
        open.extend(inside(node));
        if open.len() == before {
            spans.push(node.span);
        }
    }
    spans
}

/// Returns the texts that made a merge fail for a document in these traces, so that nothing of the
/// other document was used.
fn failed_merges(side: &Side<'_>, trails: &[replay::Hop]) -> Vec<Span> {
    let mut docs = Vec::new();
    let mut open = trails.iter().collect::<Vec<_>>();
    while let Some(hop) = open.pop() {
        docs.push(hop.doc);
        open.extend(&hop.from);
    }
    docs.sort_unstable();
    docs.dedup();
    let of_way = docs
        .into_iter()
        .flat_map(|doc| side.rendered.problems_of(doc));
    let refused = of_way.filter_map(|problem| match &problem.kind {
        ProblemKind::Combine(CombineProblem::NotMerged { failure, .. }) => {
            Some([problem.at, failure.at()])
        }
        _ => None,
    });
    refused.flatten().collect()
}

pub(in crate::compare) fn first_hop(edit: &Edit) -> Hop {
    let via = match (edit.kind, &edit.base, &edit.head) {
        (EditKind::Policy | EditKind::Site, ..) => Via::Policy,
        (EditKind::Document, None, _) | (EditKind::SiteAdded, ..) => Via::Added,
        (EditKind::Document, Some(_), _) | (EditKind::SiteRemoved, ..) => Via::Removed,
        (
            EditKind::Value
            | EditKind::Key
            | EditKind::Order
            | EditKind::Renamed
            | EditKind::Moved
            | EditKind::File
            | EditKind::Repository,
            ..,
        ) => Via::Edited,
    };
    let location = (edit.part == Part::Data).then(|| edit.location.clone());
    Hop {
        via,
        document: edit.document.clone(),
        location,
        at: vec![edit.at()],
    }
}

/// Returns the hops from the one that depends on `text`, if any, to the rendered value.
fn trace_from<'h>(text: &Text, hop: &'h replay::Hop) -> Option<Vec<&'h replay::Hop>> {
    let mut trace = match hop.from.iter().find_map(|from| trace_from(text, from)) {
        Some(trace) => trace,
        None if hop.at.iter().any(|span| text.meets(*span)) => Vec::new(),
        None => return None,
    };
    trace.push(hop);
    Some(trace)
}
