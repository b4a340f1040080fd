//! Tracing of a value of a document's own text to everything it reaches; the inverse of
//! [`replay`](super::replay).
//!
//! A value is followed through the strokes of its own document, then through those of every
//! document that inherits or substitutes from it, and so on. A place is only reported as reached if
//! the replay traces it back to the value, so both directions always agree. Where a value stops,
//! the text that stops it is reported.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use layercake_source::Span;
use layercake_yaml::path::{Location, Path, Piece, Segment};

use super::replay::{Replay, Via};
use super::stroke::{Change, States, Stroke, ValueOrigin, settled};
use crate::graph::{DocId, Graph, Lists, Op, Recipe, Step};
use crate::merge::deckhand::Method;

/// Places that a source text reaches, and places where it stops.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Places of rendered documents that contain it or were built from it; each after the one that
    /// it came from.
    pub reached: Vec<Reached>,
    /// Places where it stops.
    pub stops: Vec<Stop>,
    /// Whether the result may be incomplete, because the flow was cut off; see also
    /// [`Via::Unfollowed`].
    pub more: bool,
}

/// Place of a rendered document that a source text reaches.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The document.
    pub doc: DocId,
    /// Place in its data.
    pub location: Location,
    /// How the value got into the document.
    pub via: Via,
    /// Source texts that transferred it.
    pub at: Vec<Span>,
    /// Index of the place that it came from; `None` in its own document.
    pub from: Option<usize>,
}

/// Place where a source text stops.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The document.
    pub doc: DocId,
    /// Place where the value would be; for [`Why::NoAction`], its place in the document's own data.
    pub location: Location,
    /// Text that stops it.
    pub by: Span,
    /// Reason.
    pub why: Why,
    /// Index of the place that it came from; `None` in its own document.
    pub from: Option<usize>,
}

/// Reason why a source text goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The document's own data sets another value.
    SetAgain,
    /// An action replaces all inherited values at its path.
    NotInherited,
    /// A step removes it.
    Deleted,
    /// A substitution writes another value.
    Overwritten,
    /// A merge keeps the previous value instead.
    Kept,
    /// Its document could not be merged.
    NotMerged,
    /// No action of its document takes it from the document's own data.
    NoAction,
    /// The document is not an output, and nothing reads it.
    Unused,
    /// The document is on a cycle, or depends on one.
    Blocked,
}

/// Maximum number of places to which a flow is followed.
pub const MAX_REACHED: usize = 20_000;

/// Returns everything that the text at `location` of a document's own data reaches; for a mapping
/// or list, everything that its contents reach.
pub fn flow(replay: &Replay<'_>, doc: DocId, location: &Location) -> Flow {
    flow_within(replay, doc, location, MAX_REACHED)
}

/// As [`flow`], limited to about `most` places.
pub(crate) fn flow_within(
    replay: &Replay<'_>,
    doc: DocId,
    location: &Location,
    most: usize,
) -> Flow {
    let Some(node) = location.get(&replay.graph().recipe(doc).data) else {
        return Flow::default();
    };
    let leaves = Replay::leaves(node, most);
    let own = leaves
        .locations
        .iter()
        .map(|leaf| location.joined(leaf))
        .collect();
    let mut stream = Stream::new(replay, doc, own);
    stream.flow.more = leaves.more;
    stream.run(most);
    stream.flow
}

/// Returns the documents that [`flow`] from one of these places may enter, including `doc`.
pub fn may_enter(replay: &Replay<'_>, doc: DocId, locations: &[Location]) -> Vec<DocId> {
    let graph = replay.graph();
    // Inherited values keep their place, except for list indexes, which do not matter here.
    let mut heirs = vec![doc];
    let mut readers = Vec::new();
    let mut is_heir = vec![false; graph.recipes.len()];
    let mut next = 0;
    while let Some(from) = heirs.get(next).copied() {
        for reader in replay.readers().of_doc(from) {
            let recipe = graph.recipe(*reader);
            let mut reads = recipe
                .steps
                .iter()
                .filter(|step| step.op.source() == Some(from));
            let may_take = reads.any(|step| match &step.op {
                Op::Substitute(substitution) => {
                    let path = &substitution.writing.from.value;
                    locations.iter().any(|location| may_read(path, location))
                }
                Op::Merge { .. } | Op::Combine(_) => true,
            });
            if may_take {
                readers.push(*reader);
            } else if recipe.base.is_some_and(|base| base.doc == from)
                && !std::mem::replace(&mut is_heir[reader.index()], true)
            {
                heirs.push(*reader);
            }
        }
        next += 1;
    }
    let entered = graph
        .dependents(readers)
        .into_iter()
        .enumerate()
        .filter(|(_, is_entered)| *is_entered)
        .map(|(at, _)| DocId::at(at));
    heirs.into_iter().chain(entered).collect()
}

/// Returns everything that the values at `places` of a rendered document reach, independent of
/// their origin.
pub fn flow_of_rendered(replay: &Replay<'_>, doc: DocId, places: Vec<(Location, Span)>) -> Flow {
    let mut stream = Stream::new(replay, doc, Vec::new());
    for (location, at) in places {
        stream
            .places
            .entry(doc)
            .or_default()
            .push(stream.flow.reached.len());
        let at = vec![at];
        stream.flow.reached.push(Reached {
            doc,
            location,
            via: Via::Made,
            at,
            from: None,
        });
    }
    stream.run(MAX_REACHED);
    stream.flow
}

/// Returns everything that a document as a whole reaches: itself, and all documents that inherit or
/// read from one of these. The places are the roots of the documents.
pub fn flow_of_document(replay: &Replay<'_>, doc: DocId) -> Flow {
    let start = Reached {
        doc,
        location: Location::root(),
        via: Via::Literal,
        at: vec![replay.graph().recipe(doc).span],
        from: None,
    };
    let mut flow = Flow {
        reached: vec![start],
        ..Flow::default()
    };
    let mut known = BTreeSet::from([doc]);
    let mut index = 0;
    while let Some(from) = flow.reached.get(index).map(|reached| reached.doc) {
        for reader in replay.readers().of_doc(from).to_vec() {
            if known.insert(reader) {
                flow.reached
                    .push(reading(replay.graph(), reader, from, index));
            }
        }
        index += 1;
    }
    flow.add_unused(replay.graph());
    flow
}

/// Returns how one document reads another as a whole.
fn reading(graph: &Graph, doc: DocId, source: DocId, from: usize) -> Reached {
    let recipe = graph.recipe(doc);
    let (via, at) = match recipe.base.filter(|base| base.doc == source) {
        Some(base) if recipe.starts_as_base() => {
            (inheriting(recipe), vec![base.selector, base.label])
        }
        Some(_) | None => {
            let reads: Vec<Step<'_>> = recipe
                .steps
                .iter()
                .filter(|step| step.op.source() == Some(source))
                .collect();
            let is_merged = reads.iter().any(|step| matches!(step.op, Op::Combine(_)));
            let via = if is_merged {
                Via::Merged
            } else {
                Via::Substituted
            };
            (via, reads.iter().map(|step| step.at).collect())
        }
    };
    Reached {
        doc,
        location: Location::root(),
        via,
        at,
        from: Some(from),
    }
}

fn inheriting(recipe: &Recipe) -> Via {
    let is_replaced = recipe
        .base
        .is_some_and(|base| recipe.replaces == Some(base.doc));
    if is_replaced {
        Via::Replaced
    } else {
        Via::Inherited
    }
}

impl Flow {
    /// Adds a stop for each reached place of a document that is neither an output nor read by
    /// others.
    fn add_unused(&mut self, graph: &Graph) {
        let stops = self.stops.iter().filter_map(|stop| stop.from);
        let goes_on: BTreeSet<usize> = self
            .reached
            .iter()
            .filter_map(|reached| reached.from)
            .chain(stops)
            .collect();
        for (index, reached) in self.reached.iter().enumerate() {
            let recipe = graph.recipe(reached.doc);
            if !recipe.emit && !goes_on.contains(&index) {
                self.stops.push(Stop {
                    doc: reached.doc,
                    location: reached.location.clone(),
                    by: recipe.span,
                    why: Why::Unused,
                    from: Some(index),
                });
            }
        }
    }
}

/// Readers of each document, and the order of rendering.
#[derive(Debug)]
pub(super) struct Readers {
    of: Lists,
    /// Wave of each document; `None` if it is not rendered.
    waves: Vec<Option<usize>>,
}

impl Readers {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut pairs: Vec<(DocId, DocId)> = Vec::new();
        for (doc, recipe) in graph.iter() {
            let base = recipe
                .base
                .filter(|_| recipe.starts_as_base())
                .map(|base| base.doc);
            let read: BTreeSet<DocId> = base.into_iter().chain(recipe.steps.sources()).collect();
            pairs.extend(read.into_iter().map(|read| (read, doc)));
        }
        let of = Lists::new(graph.recipes.len(), || pairs.iter().copied());
        let mut waves = vec![None; graph.recipes.len()];
        for (number, wave) in graph.waves().waves.iter().enumerate() {
            for doc in wave {
                waves[doc.index()] = Some(number);
            }
        }
        Self { of, waves }
    }

    /// Returns the documents that read this one, in order.
    fn of_doc(&self, doc: DocId) -> &[DocId] {
        self.of.of(doc)
    }
}

/// State of a flow.
struct Stream<'r, 'a> {
    replay: &'r Replay<'a>,
    /// Document where it starts, with the places in its own data.
    doc: DocId,
    own: Vec<Location>,
    flow: Flow,
    /// Indexes of the reached places, by document.
    places: BTreeMap<DocId, Vec<usize>>,
}

/// Returns whether a path may lead to a place, into it, or to one of its ancestors. Only different
/// names are excluded. A value other than a mapping is read as a whole for any path.
fn may_read(path: &Path, place: &Location) -> bool {
    let Some(segments) = path.segments() else {
        return true;
    };
    if !matches!(place.0.first(), Some(Piece::Key(_))) {
        return true;
    }
    segments
        .iter()
        .zip(&place.0)
        .all(|(segment, piece)| match (segment, piece) {
            (Segment::Name(name), Piece::Key(key)) => key.as_str().is_none_or(|key| key == &**name),
            (Segment::Name(_) | Segment::Index(_), _) => true,
        })
}

/// Value at a place of a document that is being rendered.
#[derive(Clone)]
struct Carried {
    location: Location,
    via: Via,
    at: Vec<Span>,
    from: Option<usize>,
}

/// Values that a document holds after some of its strokes; each place once.
struct Carrying {
    list: Vec<Carried>,
    places: HashSet<Location, foldhash::fast::RandomState>,
}

impl Carrying {
    fn of(list: Vec<Carried>) -> Self {
        let places = list.iter().map(|value| value.location.clone()).collect();
        Self { list, places }
    }

    fn add(&mut self, value: Carried) {
        if self.places.insert(value.location.clone()) {
            self.list.push(value);
        }
    }
}

impl<'r, 'a> Stream<'r, 'a> {
    fn new(replay: &'r Replay<'a>, doc: DocId, own: Vec<Location>) -> Self {
        Self {
            replay,
            doc,
            own,
            flow: Flow::default(),
            places: BTreeMap::new(),
        }
    }

    /// Follows the flow, wave by wave, so that a document is entered after all documents that it
    /// reads.
    fn run(&mut self, most: usize) {
        let readers = self.replay.readers();
        let rank = |doc: DocId| (readers.waves[doc.index()].unwrap_or(usize::MAX), doc);
        let mut open = BTreeSet::from([rank(self.doc)]);
        while let Some((_, doc)) = open.pop_first() {
            self.enter(doc, most);
            if self.flow.reached.len() + self.flow.stops.len() > most {
                self.flow.more = true;
                break;
            }
            if self.places.contains_key(&doc) {
                open.extend(readers.of_doc(doc).iter().map(|reader| rank(*reader)));
            }
        }
        // The stops are not known if the flow was cut off.
        if !self.flow.more {
            self.flow.add_unused(self.replay.graph());
        }
    }

    /// Returns whether a reached value may get into a document. Avoids replaying documents that are
    /// not affected.
    fn may_enter(&self, doc: DocId) -> bool {
        let recipe = self.replay.graph().recipe(doc);
        let inherits = || {
            recipe
                .base
                .is_some_and(|base| recipe.starts_as_base() && self.places.contains_key(&base.doc))
        };
        let reads = || {
            recipe.steps.iter().any(|step| match &step.op {
                Op::Merge { .. } => false,
                Op::Substitute(substitution) => {
                    let path = &substitution.writing.from.value;
                    self.places_of(substitution.source)
                        .any(|(_, place)| may_read(path, place))
                }
                Op::Combine(combine) => self.places.contains_key(&combine.source),
            })
        };
        doc == self.doc || inherits() || reads()
    }

    /// Follows the flow through one document, up to about `most` places.
    fn enter(&mut self, doc: DocId, most: usize) {
        if !self.may_enter(doc) {
            return;
        }
        let Some(states) = self.replay.states(doc) else {
            return self.stop_at_blocked(doc);
        };
        // Strokes that are not kept may have taken values.
        self.flow.more |= states.is_cut;
        let mut carried = self.at_start(doc, &states);
        let mut is_taken: Vec<bool> = vec![!carried.is_empty(); self.own.len()];
        let mut data = states.start.clone();
        for (index, stroke) in states.strokes.iter().enumerate() {
            let places = carried.iter().map(|value| &value.location);
            if !self.may_bring(doc, stroke) && stroke.redo_elsewhere(places, &mut data) {
                continue;
            }
            let after = stroke.delta.state_after(&data);
            let change = self.replay.change(doc, index, stroke, data, after);
            let mut carrying = Carrying::of(self.through(doc, &change, carried));
            if doc == self.doc {
                self.add_own(&change, &mut carrying, &mut is_taken);
            }
            self.add_read(doc, &change, &mut carrying, most);
            carried = carrying.list;
            data = change.after;
            if carried.len() > most {
                self.flow.more = true;
                break;
            }
        }
        if doc == self.doc {
            self.stop_without_action(&is_taken);
        }
        for Carried {
            location,
            via,
            at,
            from,
        } in carried
        {
            self.places
                .entry(doc)
                .or_default()
                .push(self.flow.reached.len());
            self.flow.reached.push(Reached {
                doc,
                location,
                via,
                at,
                from,
            });
        }
    }

    /// Returns whether a stroke of a document may take a value reached in another one.
    fn may_bring(&self, doc: DocId, stroke: &Stroke) -> bool {
        let step = stroke.step(self.replay.graph().recipe(doc));
        step.and_then(|step| step.op.source())
            .is_some_and(|it| self.places.contains_key(&it))
    }

    /// Returns the reached values that a document starts with.
    fn at_start(&self, doc: DocId, states: &States) -> Vec<Carried> {
        let recipe = self.replay.graph().recipe(doc);
        let Some(base) = recipe.base.filter(|_| recipe.starts_as_base()) else {
            let own = if doc == self.doc { &self.own[..] } else { &[] };
            let node = |location: &Location| location.get(&states.start).map(|node| node.span);
            return own
                .iter()
                .map(|location| Carried {
                    location: location.clone(),
                    via: Via::Literal,
                    at: node(location).into_iter().collect(),
                    from: None,
                })
                .collect();
        };
        let step = recipe
            .steps
            .iter()
            .find(|step| matches!(step.op, Op::Merge { .. }));
        let at: Vec<Span> = [base.selector, base.label]
            .into_iter()
            .chain(step.map(|step| step.at))
            .collect();
        self.places_of(base.doc)
            .map(|(index, location)| Carried {
                location: location.clone(),
                via: inheriting(recipe),
                at: at.clone(),
                from: Some(index),
            })
            .collect()
    }

    fn places_of(&self, doc: DocId) -> impl Iterator<Item = (usize, &Location)> {
        let indexes = self.places.get(&doc).into_iter().flatten();
        indexes.map(|index| (*index, &self.flow.reached[*index].location))
    }

    /// Returns the values that remain after a stroke; adds stops for the others.
    fn through(&mut self, doc: DocId, change: &Change<'_>, carried: Vec<Carried>) -> Vec<Carried> {
        let mut left = Vec::with_capacity(carried.len());
        for value in carried {
            let places = change.kept_at(&value.location);
            if places.is_empty() {
                let (why, by) = stop_reason(change, &value.location);
                let Carried { location, from, .. } = value;
                self.flow.stops.push(Stop {
                    doc,
                    location,
                    by,
                    why,
                    from,
                });
                continue;
            }
            left.extend(places.into_iter().map(|location| Carried {
                location,
                ..value.clone()
            }));
        }
        left
    }

    /// Adds the values that the stroke takes from the document's own data.
    fn add_own(&self, change: &Change<'_>, carried: &mut Carrying, is_taken: &mut [bool]) {
        let via = match change.step().map(|step| step.op) {
            Some(Op::Merge { method, .. }) => Via::Layered { method },
            Some(Op::Substitute(_) | Op::Combine(_)) => return,
            None => Via::Literal,
        };
        for (own, is_taken) in self.own.iter().zip(is_taken) {
            for location in change.own_at(own) {
                *is_taken = true;
                carried.add(Carried {
                    location,
                    via,
                    at: change.texts(),
                    from: None,
                });
            }
        }
    }

    /// Adds the values that the stroke takes from reached places of other documents.
    fn add_read(&mut self, doc: DocId, change: &Change<'_>, carried: &mut Carrying, most: usize) {
        let Some(source) = change.step().and_then(|step| step.op.source()) else {
            return;
        };
        let via = match change.destination() {
            Some((_, destination)) if destination.part.is_some() => Via::Pattern,
            Some(_) => Via::Substituted,
            None => Via::Merged,
        };
        let at = change.texts();
        let mut stops = Vec::new();
        for (index, place) in self.places_of(source) {
            let taken = change.source_at(place);
            if taken.is_empty() && via == Via::Merged {
                stops.extend(not_laid(doc, change, place, index));
            }
            for location in taken {
                carried.add(Carried {
                    location,
                    via,
                    at: at.clone(),
                    from: Some(index),
                });
            }
            if carried.list.len() > most {
                break;
            }
        }
        self.flow.stops.extend(stops);
    }

    /// Adds stops for places of the document's own data that nothing took.
    fn stop_without_action(&mut self, is_taken: &[bool]) {
        let recipe = self.replay.graph().recipe(self.doc);
        let action = recipe
            .steps
            .iter()
            .next()
            .map_or(recipe.span, |step| step.at);
        let untaken = self
            .own
            .iter()
            .zip(is_taken)
            .filter(|(_, is_taken)| !**is_taken);
        self.flow.stops.extend(untaken.map(|(location, _)| Stop {
            doc: self.doc,
            location: location.clone(),
            by: action,
            why: Why::NoAction,
            from: None,
        }));
    }

    fn stop_at_blocked(&mut self, doc: DocId) {
        let recipe = self.replay.graph().recipe(doc);
        let from = recipe
            .needs
            .iter()
            .find_map(|need| self.places_of(need.doc).next());
        let hop = self.replay.trace(doc, &Location::root());
        self.flow.stops.push(Stop {
            doc,
            location: Location::root(),
            by: hop.at.first().copied().unwrap_or(recipe.span),
            why: Why::Blocked,
            from: from.map(|(index, _)| index),
        });
    }
}

/// Returns what stops a place of a document from being merged into another. `None` if the place is
/// not part of the merged data, but specifies how to merge.
fn not_laid(doc: DocId, change: &Change<'_>, place: &Location, from: usize) -> Option<Stop> {
    let stop = |by, why| Stop {
        doc,
        location: place.clone(),
        by,
        why,
        from: Some(from),
    };
    if change.stroke.written.is_empty() {
        return Some(stop(change.step()?.at, Why::NotMerged));
    }
    let kept = settled(place, &change.before);
    let node = kept.get(&change.before).filter(|_| !kept.is_root())?;
    Some(stop(node.span, Why::Kept))
}

/// Returns why the value at a place before a stroke is gone after it.
fn stop_reason(change: &Change<'_>, place: &Location) -> (Why, Span) {
    let step = change.step().map_or(change.recipe.span, |step| step.at);
    let destination = change.destination().map_or(step, |(_, to)| to.path.span);
    let is_merged = change
        .step()
        .is_some_and(|step| matches!(step.op, Op::Combine(_)));
    let is_replace = change.step().is_some_and(
        |step| matches!(step.op, Op::Merge { method, .. } if method == Method::Replace),
    );
    let source_span = |source: &Location| source.get(change.source?).map(|node| node.span);
    match change.value_origin(place) {
        ValueOrigin::Source(source) if is_merged => {
            (Why::SetAgain, source_span(&source).unwrap_or(step))
        }
        ValueOrigin::Deleted {
            writing: Some(writing),
            ..
        } if is_merged => match *writing {
            ValueOrigin::Source(source) => (Why::Deleted, source_span(&source).unwrap_or(step)),
            ValueOrigin::Kept(_)
            | ValueOrigin::Own(_)
            | ValueOrigin::Put { .. }
            | ValueOrigin::Made
            | ValueOrigin::Deleted { .. } => (Why::Deleted, step),
        },
        // Without the values that it takes over, it would still replace all others at its path.
        ValueOrigin::Own(_) if is_replace => (Why::NotInherited, step),
        ValueOrigin::Own(own) => {
            let node = outermost_list(change, place)
                .unwrap_or(own)
                .get(&change.recipe.data);
            (Why::SetAgain, node.map_or(step, |node| node.span))
        }
        ValueOrigin::Source(_) | ValueOrigin::Put { .. } => (Why::Overwritten, destination),
        ValueOrigin::Deleted {
            writing: Some(writing),
            ..
        } if matches!(*writing, ValueOrigin::Source(_)) => (Why::Overwritten, destination),
        ValueOrigin::Deleted { .. } if is_replace => (Why::NotInherited, step),
        ValueOrigin::Deleted { .. } | ValueOrigin::Kept(_) | ValueOrigin::Made => {
            (Why::Deleted, step)
        }
    }
}

/// Returns the place of the outermost list around a value that the document's own data sets: the
/// list is set as a whole, so that no other one takes the place of an item that is removed.
fn outermost_list(change: &Change<'_>, place: &Location) -> Option<Location> {
    place
        .lists()
        .find_map(|list| match change.value_origin(&list) {
            ValueOrigin::Own(list) => Some(list),
            _ => None,
        })
}
