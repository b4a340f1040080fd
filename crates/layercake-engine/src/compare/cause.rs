//! Attribution of changes to the edits that caused them.
//!
//! Every changed value is traced back to its source texts on both sides; edits that overlap one of
//! these texts are candidates. A single candidate is the cause. Among several, the needed ones are:
//! the site is rendered with subsets of the edits, until every remaining edit is needed for the
//! changed value. The same search is used if the trace found too few candidates.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use layercake_source::{DocKey, Span};
use layercake_yaml::diff::{self, DiffPlace, Difference, ListKeys, differences, same};
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Key, Node, Whole};

use super::texts::{Texts, edits_overlapping};
use super::{Cause, Change, Hop, Limits, Proof, Renames, Side, Status, Via, matched};
use crate::edit::{Edit, EditId, EditKind, Part, Text};
use crate::graph::{DocId, Graph};
use crate::render::replay::{self, Replay};
use crate::render::{Outcome, ProblemKind, Rendered};

/// Effort spent on rendering to verify causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Trace the values. If that leaves several candidates, render each site again up to this many
    /// times to decide.
    Followed {
        /// Maximum number of renderings.
        renderings: usize,
    },
    /// Verify every cause by rendering.
    Verified,
}

/// Input of the attribution for one site.
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
    /// Effort of the attribution.
    pub attribution: Attribution,
    /// Limits on the listed results.
    pub limits: Limits,
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
pub struct Attributed {
    /// Proof for each edit that is a cause.
    pub proofs: BTreeMap<EditId, Proof>,
    /// Number of causes of outputs that are not listed.
    pub unlisted: usize,
}

/// Adds the causes to `changes`, the changes between the two sides.
pub fn attribute(question: &Question<'_>, changes: &mut [Change]) -> Attributed {
    let texts =
        |side: fn(&Edit) -> Option<&Text>| Texts::of(question.edits, question.concerned, side);
    let (of_base, of_head) = (texts(|edit| edit.base.as_ref()), texts(|edit| edit.head.as_ref()));
    let most_leaves = (MAX_LEAVES_OF_SITE / changes.len().max(1)).clamp(FEW_LEAVES, MAX_LEAVES);
    let attributing =
        Attributing { question, renderings: RefCell::new(0), of_base, of_head, most_leaves };
    attributing.run(changes)
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

/// Index of a change, and a unit of it.
type Target = (usize, Unit);

/// Causes of a unit.
struct Found {
    edits: Vec<EditId>,
    /// Whether the edits cause the unit only together.
    are_joint: bool,
    proof: Proof,
}

impl Found {
    /// Creates a result with edits that are all needed.
    fn needed(edits: Vec<EditId>, proof: Proof) -> Self {
        Self { edits, are_joint: true, proof }
    }
}

/// Result of tracing all units.
#[derive(Default)]
struct Followed {
    /// Units, by their candidates.
    by_candidates: BTreeMap<Vec<EditId>, Vec<Target>>,
    /// First unit of each change with a single candidate, which nearly always is the cause, and the
    /// route to it. Built early, while the traces are available.
    routes: Routes,
}

type Routes = BTreeMap<(usize, EditId), (Unit, Vec<Hop>)>;

/// Traces of the values of a unit.
#[derive(Default)]
struct Trails {
    /// On the base side and on the head side.
    sides: [Vec<replay::Hop>; 2],
    /// Whether some values were not traced.
    is_cut: bool,
}

struct Attributing<'a> {
    question: &'a Question<'a>,
    renderings: RefCell<usize>,
    /// Texts of the edits that concern the site.
    of_base: Texts,
    of_head: Texts,
    /// Maximum number of values traced per unit.
    most_leaves: usize,
}

impl Attributing<'_> {
    fn run(&self, changes: &mut [Change]) -> Attributed {
        let mut found: BTreeMap<Target, Found> = BTreeMap::new();
        let Followed { by_candidates, mut routes } = self.follow(changes);
        // If renderings are limited, units with few candidates come first.
        let mut by_candidates: Vec<_> = by_candidates.into_iter().collect();
        by_candidates.sort_by_key(|(candidates, _)| candidates.len());
        for (candidates, targets) in by_candidates {
            let search = Search::new(self, changes, &targets);
            for target in targets {
                found.insert(target, search.decide(target, &candidates));
            }
        }
        let most = self.question.limits.causes_of_each(changes.len());
        let mut proofs: BTreeMap<EditId, Proof> = BTreeMap::new();
        for ((index, _), found) in &found {
            changes[*index].unexplained += usize::from(found.edits.is_empty());
            for edit in &found.edits {
                let proof = proofs.entry(*edit).or_insert(found.proof);
                *proof = (*proof).min(found.proof);
            }
        }
        let mut unlisted = 0;
        for (index, change) in changes.iter_mut().enumerate() {
            let units = found.range((index, Unit::Whole)..(index + 1, Unit::Whole));
            let edits: BTreeSet<EditId> =
                units.clone().flat_map(|(_, found)| &found.edits).copied().collect();
            let listed: BTreeSet<EditId> = edits.iter().take(most).copied().collect();
            unlisted += edits.len() - listed.len();
            change.causes = self.causes(index, change, units, &listed, &mut routes);
        }
        Attributed { proofs, unlisted }
    }

    /// Traces every unit of all changes.
    fn follow(&self, changes: &[Change]) -> Followed {
        let mut followed = Followed::default();
        let site = self.edit_of_site();
        for (index, change) in changes.iter().enumerate() {
            for unit in units(change) {
                if let ([only], Some(_)) = (self.question.concerned, site) {
                    // Fast path: the only edit is the cause.
                    followed.by_candidates.entry(vec![*only]).or_default().push((index, unit));
                    continue;
                }
                let trails = self.trails(change, unit);
                let [base, head] = self.texts(change, unit, &trails);
                let mut candidates = self.overlapping(&base, &head);
                if let Some(site) = site.filter(|site| !candidates.contains(site)) {
                    candidates.push(site);
                    candidates.sort_unstable();
                }
                if let [only] = candidates[..] {
                    let route = || (unit, self.route(&trails, only));
                    followed.routes.entry((index, only)).or_insert_with(route);
                }
                followed.by_candidates.entry(candidates).or_default().push((index, unit));
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
                let (of_base, of_head) = (self.question.base, self.question.head);
                let places = difference_of(change, unit).filter(|_| trails.is_cut);
                let [in_base, in_head] = [
                    places.and_then(|it| it.base.as_ref()),
                    places.and_then(|it| it.head.as_ref()),
                ];
                let sides = [(of_base, base, in_base), (of_head, head, in_head)];
                sides.map(|(side, trails, unfollowed)| {
                    let mut texts: Vec<Span> = trails.iter().flat_map(replay::Hop::texts).collect();
                    texts.extend(side.into_iter().flat_map(|side| failed_merges(side, trails)));
                    texts.extend(
                        unfollowed.into_iter().flat_map(|place| self.written_in(&place.node)),
                    );
                    texts
                })
            }
            Unit::Metadata(at) => {
                let difference = &change.metadata[at];
                [&difference.base, &difference.head].map(|place| {
                    let place = place.iter();
                    place.flat_map(|place| place.key.into_iter().chain([place.node.span])).collect()
                })
            }
        };
        texts.map(|mut spans| {
            spans.sort_unstable();
            spans.dedup();
            spans
        })
    }

    /// Returns the source texts of the values in `node`.
    fn written_in(&self, node: &Node) -> Vec<Span> {
        let (mut spans, mut open) = (Vec::new(), vec![node]);
        while let Some(node) = open.pop().filter(|_| spans.len() < self.most_leaves) {
            let before = open.len();
            open.extend(inside(node));
            if open.len() == before {
                spans.push(node.span);
            }
        }
        spans
    }

    /// Traces the values of a unit.
    fn trails(&self, change: &Change, unit: Unit) -> Trails {
        /// Maximum number of values traced for all units of an output.
        const MAX_LEAVES_OF_OUTPUT: usize = 20_000;
        let Some(difference) = difference_of(change, unit) else { return Trails::default() };
        let elsewhere = difference.location();
        let most = match difference.unlisted {
            0 => self.most_leaves.min(MAX_LEAVES_OF_OUTPUT / change.data.len().max(1)).max(1),
            _ => FEW_LEAVES,
        };
        let mut is_cut = false;
        let mut of = |at: usize, side: Option<&Side<'_>>, doc: Option<DocId>| {
            let Some((side, doc)) = side.zip(doc) else { return Vec::new() };
            let place = [&difference.base, &difference.head][at];
            let Some(place) = place else { return vec![side.replay.trace(doc, elsewhere)] };
            let (leaves, more) = leaves(&difference.kind, at, place, most);
            is_cut |= more;
            let leaves = leaves.into_iter();
            side.replay.trace_all(doc, leaves.map(|leaf| place.location.joined(&leaf)))
        };
        let sides = [
            of(0, self.question.base, change.output.base),
            of(1, self.question.head, change.output.head),
        ];
        Trails { sides, is_cut }
    }

    /// Returns edits of the documents that a unit's values came through. These include edits
    /// outside the source texts, for example of whether a document is abstract.
    fn candidates_nearby(&self, change: &Change, unit: Unit) -> Vec<EditId> {
        let [mut base, mut head] = self.texts(change, unit, &self.trails(change, unit));
        let of = |side: Option<&Side<'_>>, doc: Option<DocId>, spans: &mut Vec<Span>| {
            let Some((side, doc)) = side.zip(doc) else { return };
            spans.push(side.graph.recipe(doc).span);
            let near: BTreeSet<Span> =
                spans.iter().flat_map(|span| side.texts_around(*span)).collect();
            spans.extend(near);
        };
        of(self.question.base, change.output.base, &mut base);
        of(self.question.head, change.output.head, &mut head);
        self.overlapping(&base, &head)
    }

    fn may_render(&self) -> bool {
        match self.question.attribution {
            Attribution::Verified => true,
            Attribution::Followed { renderings } => *self.renderings.borrow() < renderings,
        }
    }

    /// Returns the listed causes of a change, from the results for its units.
    fn causes<'f>(
        &self,
        index: usize,
        change: &Change,
        units: impl Iterator<Item = (&'f Target, &'f Found)>,
        listed: &BTreeSet<EditId>,
        routes: &mut Routes,
    ) -> Vec<Cause> {
        let mut causes: BTreeMap<EditId, Cause> = BTreeMap::new();
        for ((_, unit), found) in units {
            let trails = LazyCell::new(|| self.trails(change, *unit));
            for edit in found.edits.iter().filter(|edit| listed.contains(edit)) {
                if causes.contains_key(edit) {
                    continue;
                }
                let others = found.edits.iter().filter(|other| *other != edit).copied();
                let named = if found.are_joint { Cause::max_joint(found.edits.len()) } else { 0 };
                let joint = others.take(named).collect();
                let route = match routes.remove(&(index, *edit)) {
                    Some((of, route)) if of == *unit => route,
                    Some(_) | None => self.route(&trails, *edit),
                };
                causes.insert(*edit, Cause { edit: *edit, joint, route });
            }
        }
        causes.into_values().collect()
    }

    /// Returns the route from an edit to an output, the edit first.
    fn route(&self, trails: &Trails, edit: EditId) -> Vec<Hop> {
        let edit = &self.question.edits[edit.index()];
        let mut route = vec![first_hop(edit)];
        // The place of a value in its documents does not explain why the site exists.
        if matches!(edit.kind, EditKind::SiteAdded | EditKind::SiteRemoved) {
            return route;
        }
        let [base, head] = &trails.sides;
        let question = self.question;
        let sides = [(question.head, &edit.head, head), (question.base, &edit.base, base)];
        for (side, text, trails) in sides {
            let (Some(side), Some(text)) = (side, text) else { continue };
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
        let (base, head) = (self.question.base?, self.question.head?);
        let parent = |side: &Side<'_>| {
            let recipe = side.recipe_of(document)?;
            Some(recipe.base.map(|link| side.graph.recipe(link.doc).key.clone()))
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
            let of_item = |index: &usize| Location(vec![Piece::Index(*index), key.clone()]);
            let indexes = &indexes[side];
            (indexes.iter().take(most).map(of_item).collect(), indexes.len() > most)
        }
    }
}

/// Returns the difference of a unit of an output's data.
fn difference_of(change: &Change, unit: Unit) -> Option<&Difference> {
    match (unit, &change.data[..]) {
        (Unit::Data(at), data) => data.get(at),
        (Unit::Whole, [whole]) => Some(whole),
        (Unit::Whole | Unit::Metadata(_), _) => None,
    }
}

/// Returns the texts that made a merge fail for a document in these traces, so that nothing of the
/// other document was used.
fn failed_merges(side: &Side<'_>, trails: &[replay::Hop]) -> Vec<Span> {
    let (mut docs, mut open) = (Vec::new(), trails.iter().collect::<Vec<_>>());
    while let Some(hop) = open.pop() {
        docs.push(hop.doc);
        open.extend(&hop.from);
    }
    docs.sort_unstable();
    docs.dedup();
    let of_way = docs.into_iter().flat_map(|doc| side.rendered.problems_of(doc));
    let refused = of_way.filter_map(|problem| match &problem.kind {
        ProblemKind::NotMerged { failure, .. } => Some([problem.at, failure.at()]),
        _ => None,
    });
    refused.flatten().collect()
}

fn units(change: &Change) -> Vec<Unit> {
    let whole = match change.status {
        Status::Added | Status::Removed | Status::Broken | Status::Repaired => true,
        Status::Changed | Status::Metadata | Status::NotComparable => false,
    };
    let data = if whole { 0 } else { change.data.len() };
    let metadata = (0..change.metadata.len()).map(Unit::Metadata);
    let whole = whole.then_some(Unit::Whole);
    whole.into_iter().chain((0..data).map(Unit::Data)).chain(metadata).collect()
}

pub(super) fn first_hop(edit: &Edit) -> Hop {
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
    Hop { via, document: edit.document.clone(), location, at: vec![edit.at()] }
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

/// Search for the causes of units with the same candidates, by rendering.
struct Search<'a> {
    attributing: &'a Attributing<'a>,
    changes: &'a [Change],
    /// Schema and name of the outputs in question.
    outputs: BTreeSet<(&'a str, &'a str)>,
    trials: RefCell<BTreeMap<Vec<EditId>, Rc<Attempt>>>,
}

/// Rendering of a subset of edits, compared with the head on demand.
struct Attempt {
    trial: Trial,
    /// Its outputs, by the matching document of the head.
    by_head: BTreeMap<DocId, DocId>,
    /// Its outputs, by the matching document of the base.
    by_base: BTreeMap<DocId, DocId>,
    compared: RefCell<BTreeMap<usize, Rc<Compared>>>,
}

impl Attempt {
    fn new(trial: Trial, question: &Question<'_>) -> Self {
        let written = trial.written.iter().collect();
        let side = Side::new(&trial.graph, &trial.rendered, written);
        let with = |other: Option<&Side<'_>>| -> BTreeMap<DocId, DocId> {
            let outputs = matched(other, Some(&side), question.renames).into_iter();
            outputs.filter_map(|output| output.base.zip(output.head)).collect()
        };
        let (by_head, by_base) = (with(question.head), with(question.base));
        Self { by_head, by_base, compared: RefCell::default(), trial }
    }

    /// Returns the output of the rendering that matches the changed one.
    fn output(&self, change: &Change) -> Option<DocId> {
        let of_head = change.output.head.and_then(|head| self.by_head.get(&head));
        of_head.or_else(|| self.by_base.get(&change.output.base?)).copied()
    }
}

/// Comparison of an output of a rendering with the matching output of the head.
enum Compared {
    /// No output matches.
    Missing,
    /// The output cannot be rendered.
    Blocked,
    /// The remaining differences; empty if the head has no matching output.
    Ready { data: Vec<Difference>, metadata: Vec<Difference> },
}

impl<'a> Search<'a> {
    fn new(attributing: &'a Attributing<'a>, changes: &'a [Change], targets: &[Target]) -> Self {
        let names = |(index, _): &Target| {
            let change = &changes[*index];
            let of = |side: Option<&Side<'a>>, doc: Option<DocId>| {
                let key = &side?.graph.recipe(doc?).key;
                Some((&*key.schema, &*key.name))
            };
            let base = of(attributing.question.base, change.output.base);
            base.into_iter().chain(of(attributing.question.head, change.output.head))
        };
        let outputs = targets.iter().flat_map(names).collect();
        Self { attributing, changes, outputs, trials: RefCell::default() }
    }

    /// Returns the outputs of a rendering that are in question.
    fn wanted(&self, graph: &Graph) -> Vec<DocId> {
        let is_wanted = |key: &DocKey| self.outputs.contains(&(&*key.schema, &*key.name));
        let wanted = graph.outputs().filter(|(_, recipe)| is_wanted(&recipe.key));
        wanted.map(|(doc, _)| doc).collect()
    }

    /// Returns the edits that caused a unit, among these candidates or others.
    fn decide(&self, target: Target, candidates: &[EditId]) -> Found {
        let question = self.attributing.question;
        // With all edits, the base equals the head.
        if let [only] = question.concerned {
            return Found::needed(vec![*only], Proof::Rendered);
        }
        let verified = question.attribution == Attribution::Verified;
        let of_candidates = |proof| Found::needed(candidates.to_vec(), proof);
        // Each of its edits changed some of the many places of such a unit.
        if self.has_unlisted_places(target) && !candidates.is_empty() {
            return Found { are_joint: false, ..of_candidates(Proof::Followed) };
        }
        match candidates.len() {
            1 if !verified => of_candidates(Proof::Followed),
            2.. if !self.attributing.may_render() => of_candidates(Proof::Followed),
            _ => self.search(target, candidates),
        }
    }

    fn has_unlisted_places(&self, (index, unit): Target) -> bool {
        let difference = difference_of(&self.changes[index], unit);
        difference.is_some_and(|difference| difference.unlisted > 0)
    }

    /// Returns the edits needed for a unit, among its candidates if these are sufficient.
    fn search(&self, target: Target, candidates: &[EditId]) -> Found {
        let (index, unit) = target;
        if !candidates.is_empty() && self.holds(target, candidates) {
            return self.needed(target, candidates);
        }
        let nearby = self.attributing.candidates_nearby(&self.changes[index], unit);
        if !nearby.is_empty() && !self.attributing.may_render() {
            return Found::needed(nearby, Proof::Followed);
        }
        for wider in [&nearby[..], self.attributing.question.concerned] {
            if !wider.is_empty() && self.holds(target, wider) {
                return self.needed(target, wider);
            }
        }
        Found::needed(Vec::new(), Proof::Rendered)
    }

    /// Returns a subset of sufficient edits that are all needed for the unit. Edits that only the
    /// base depends on are removed first; then, of many, larger subsets (delta debugging); then one
    /// by one. If that takes too many renderings, some of the remaining edits may not be needed.
    fn needed(&self, target: Target, enough: &[EditId]) -> Found {
        /// Number of edits up to which subsets are not tried: most of so few are likely needed.
        const FEW: usize = 64;
        let mut needed = self.on_head(target, enough).unwrap_or_else(|| enough.to_vec());
        let mut size = if needed.len() > FEW { needed.len().div_ceil(2) } else { 1 };
        while needed.len() > 1 {
            let mut at = 0;
            let mut dropped = false;
            while at < needed.len() && needed.len() > 1 {
                if !self.attributing.may_render() {
                    return Found::needed(needed, Proof::Followed);
                }
                let end = (at + size).min(needed.len());
                let rest: Vec<EditId> =
                    needed[..at].iter().chain(&needed[end..]).copied().collect();
                if !rest.is_empty() && self.holds(target, &rest) {
                    needed = rest;
                    dropped = true;
                } else {
                    at = end;
                }
            }
            match (size, dropped) {
                (1, false) => break,
                (1, true) => {}
                _ => size = size.div_ceil(2),
            }
        }
        Found::needed(needed, Proof::Rendered)
    }

    /// Returns the edits that overlap the source texts of the unit on the head side, if they are
    /// fewer and sufficient.
    fn on_head(&self, target: Target, enough: &[EditId]) -> Option<Vec<EditId>> {
        if enough.len() < 2 {
            return None;
        }
        let (index, unit) = target;
        let change = &self.changes[index];
        let trails = self.attributing.trails(change, unit);
        let [_, head] = self.attributing.texts(change, unit, &trails);
        let mut met = self.attributing.overlapping(&[], &head);
        met.retain(|edit| enough.binary_search(edit).is_ok());
        let is_fewer = !met.is_empty() && met.len() < enough.len();
        (is_fewer && self.holds(target, &met)).then_some(met)
    }

    /// Returns whether the unit is as on the head with these edits alone.
    fn holds(&self, (index, unit): Target, edits: &[EditId]) -> bool {
        if edits == self.attributing.question.concerned {
            return true;
        }
        let attempt = self.attempt(edits);
        let compared = self.compared(&attempt, index);
        let change = &self.changes[index];
        match (unit, change.status, &*compared) {
            (Unit::Whole, Status::Removed, compared) => matches!(compared, Compared::Missing),
            (Unit::Whole, Status::Broken, compared) => matches!(compared, Compared::Blocked),
            (Unit::Whole, _, Compared::Ready { data, .. }) => data.is_empty(),
            (Unit::Data(at), _, Compared::Ready { data, .. }) => {
                !data.iter().any(|left| touches(left, &change.data[at]))
            }
            (Unit::Metadata(at), _, Compared::Ready { metadata, .. }) => {
                !metadata.iter().any(|left| touches(left, &change.metadata[at]))
            }
            (_, _, Compared::Missing | Compared::Blocked) => false,
        }
    }

    fn attempt(&self, edits: &[EditId]) -> Rc<Attempt> {
        if let Some(attempt) = self.trials.borrow().get(edits) {
            return attempt.clone();
        }
        *self.attributing.renderings.borrow_mut() += 1;
        let trial = (self.attributing.question.rerender)(edits, &|graph| self.wanted(graph));
        let attempt = Rc::new(Attempt::new(trial, self.attributing.question));
        self.trials.borrow_mut().insert(edits.to_vec(), attempt.clone());
        attempt
    }

    fn compared(&self, attempt: &Attempt, index: usize) -> Rc<Compared> {
        if let Some(compared) = attempt.compared.borrow().get(&index) {
            return compared.clone();
        }
        let compared = Rc::new(self.compare(attempt, index));
        attempt.compared.borrow_mut().insert(index, compared.clone());
        compared
    }

    fn compare(&self, attempt: &Attempt, index: usize) -> Compared {
        let (change, trial) = (&self.changes[index], &attempt.trial);
        let question = self.attributing.question;
        let Some(doc) = attempt.output(change) else { return Compared::Missing };
        let Outcome::Ready(data) = trial.rendered.outcome(doc) else { return Compared::Blocked };
        let head = question.head.zip(change.output.head);
        let (data, metadata) = match head {
            Some((side, head)) => {
                let tried = (&trial.written[doc.index()], trial.graph.recipe(doc).span);
                let of_metadata = side.metadata_against(head, tried, question.keys);
                let of_data = match side.rendered.outcome(head) {
                    Outcome::Ready(head) => {
                        differences(data, head, &question.keys.of_schema(&change.key.schema))
                    }
                    Outcome::Blocked(_) => Vec::new(),
                };
                (of_data, of_metadata)
            }
            None => (Vec::new(), Vec::new()),
        };
        Compared::Ready { data, metadata }
    }
}

/// Returns whether a remaining difference overlaps the difference in question.
fn touches(left: &Difference, asked: &Difference) -> bool {
    let around =
        |one: &Location, other: &Location| one.starts_with(other) || other.starts_with(one);
    // A difference in order is separate from differences in the values of the list.
    match (&left.kind, &asked.kind) {
        (diff::DifferenceKind::Value, diff::DifferenceKind::Value) => {}
        (diff::DifferenceKind::Order { .. }, diff::DifferenceKind::Order { .. }) => {
            return left.location() == asked.location();
        }
        (diff::DifferenceKind::Order { .. }, diff::DifferenceKind::Value) => {
            return left.location().starts_with(asked.location());
        }
        (diff::DifferenceKind::Value, diff::DifferenceKind::Order { .. }) => {
            return asked.location().starts_with(left.location());
        }
    }
    match (&asked.head, &asked.base) {
        (Some(asked), _) => around(left.location(), &asked.location),
        (None, Some(asked)) => match (&left.base, &left.head) {
            // Indexes may have moved, so a removed item is identified by its value.
            (Some(left), None) => {
                around(&left.location, &asked.location)
                    || (left.location.parent() == asked.location.parent()
                        && same(&left.node, &asked.node))
            }
            _ => around(left.location(), &asked.location),
        },
        (None, None) => false,
    }
}
