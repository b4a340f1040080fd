//! Tracing of a rendered value back to its source texts.
//!
//! The recipe of a document is run again, and the effect of every stroke on its data is recorded. A
//! value is then followed backwards by undoing one stroke after the other: to the stroke that wrote
//! it, to the source of that stroke, and on in that document. Nothing is inferred from equal values
//! or spans. A trace ends at the text of the value ([`Via::Literal`]), at a step that created it
//! ([`Via::Made`]), or at the reason for a missing value.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use layercake_source::Span;
use layercake_yaml::path::{Location, first_inside, inside};
use layercake_yaml::{Node, Origin};

use super::flow::Readers;
use super::numbering::Numbering;
use super::stroke::{Change, States, Stroke, ValueOrigin, settled};
use super::{Outcome, Rendered};
use crate::graph::{DocId, Graph, Op, Recipe};
use crate::merge::deckhand::Method;

/// Rendered graph that can be queried for the origin of its values. Caches the states of documents.
pub struct Replay<'a> {
    graph: &'a Graph,
    rendered: &'a Rendered,
    states: RefCell<HashMap<DocId, Option<Rc<States>>, foldhash::fast::RandomState>>,
    numbering: Numbering<'a>,
    readers: OnceCell<Readers>,
}

/// One hop of a trace: a value in one document.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The document.
    pub doc: DocId,
    /// Place of the value: in the document's own data for [`Via::Literal`], otherwise in its data
    /// at that point of the rendering.
    pub location: Location,
    /// Value at the place, if any.
    pub value: Option<Node>,
    /// How the value got there, or why there is none.
    pub via: Via,
    /// Index of the recipe's step that did that, if any.
    pub step: Option<usize>,
    /// Source texts in this document that the value depends on. A change of the value requires a
    /// change of one of them, or of those of [`Hop::from`]. For an inherited value, includes the
    /// parent's label.
    pub at: Vec<Span>,
    /// Trace of the previous value at the place, which was overridden; only set by
    /// [`Replay::trace_with_losers`].
    pub lost: Option<Box<Hop>>,
    /// Hops that the value was read from: none for a literal; one if it was inherited, substituted
    /// or written by an action; two for a pattern (the string, then the inserted value). If there
    /// is no value, the hop that should have provided it.
    pub from: Vec<Hop>,
}

/// How a value got to its place, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Written at this place.
    Literal,
    /// Created by a step: a mapping or list on the way to a place, or null for a missing source.
    Made,
    /// Inherited from the document that this one is merged into.
    Inherited,
    /// As [`Via::Inherited`], in a document that replaces the other.
    Replaced,
    /// Written by an action, from the document's own data.
    Layered {
        /// Kind of the action.
        method: Method,
    },
    /// From another document that was merged into this one, or appended to an existing string.
    Merged,
    /// Written as a whole by a substitution.
    Substituted,
    /// Partly replaced by a substitution with a pattern.
    Pattern,
    /// No value: removed by a step.
    Deleted,
    /// No value: there never was one.
    Absent,
    /// The document is not rendered, because it is on a cycle or depends on one.
    Blocked,
    /// The trace was cut off, because it is longer than [`Replay::MAX_HOPS`] or
    /// [`Replay::MAX_LENGTH`], or needs steps of a document that are not kept.
    Unfollowed,
}

/// Leaves of a value.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// Their places, in document order.
    pub locations: Vec<Location>,
    /// Whether the list is truncated.
    pub(crate) more: bool,
}

impl<'a> Replay<'a> {
    /// Maximum number of hops of one trace.
    pub const MAX_HOPS: usize = 10_000;
    /// Maximum number of hops of the values of one output that are traced together.
    pub const MAX_HOPS_TOGETHER: usize = 100_000;
    /// Maximum number of documents in one chain of a trace.
    pub const MAX_LENGTH: usize = 200;

    /// Creates a replay of `rendered`, which must be the rendering of `graph`.
    pub fn new(graph: &'a Graph, rendered: &'a Rendered) -> Self {
        let numbering = Numbering::new(graph, rendered);
        let states = RefCell::default();
        let readers = OnceCell::new();
        Self {
            graph,
            rendered,
            states,
            numbering,
            readers,
        }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Returns the rendering.
    pub fn rendered(&self) -> &'a Rendered {
        self.rendered
    }

    /// Returns the trace of the value at `location` of a rendered document. The first hop is the
    /// value in that document. For a mapping or list, traces the container itself, not its
    /// contents. Overridden values are not traced: [`Hop::lost`] is always `None`.
    pub fn trace(&self, doc: DocId, location: &Location) -> Hop {
        self.follow(doc, location, false)
    }

    /// As [`Replay::trace`], for several places, until all traces together have
    /// [`Replay::MAX_HOPS_TOGETHER`] hops, or there is no room for the hops and the pieces of their
    /// places.
    pub(crate) fn trace_all(
        &self,
        doc: DocId,
        locations: impl Iterator<Item = Location>,
        room: &Cell<usize>,
    ) -> Vec<Hop> {
        let mut hops = 0;
        let mut traces = Vec::new();
        for location in locations {
            if hops >= Self::MAX_HOPS_TOGETHER || room.get() == 0 {
                break;
            }
            let trail = Trail::new(self, false);
            traces.push(trail.rendered(doc, &location, 0));
            hops += trail.hops.get();
            room.set(
                room.get()
                    .saturating_sub(trail.hops.get() + trail.pieces.get()),
            );
        }
        traces
    }

    /// As [`Replay::trace`], including the traces of all overridden values.
    pub fn trace_with_losers(&self, doc: DocId, location: &Location) -> Hop {
        self.follow(doc, location, true)
    }

    fn follow(&self, doc: DocId, location: &Location, with_losers: bool) -> Hop {
        Trail::new(self, with_losers).rendered(doc, location, 0)
    }

    /// Returns the places of the scalars and empty collections in `data`, at most `most`. Sets and
    /// pairs count as scalars, because no path leads into them.
    pub fn leaves(data: &Node, most: usize) -> Leaves {
        let mut leaves = Leaves::default();
        if is_leaf(data) {
            leaves.locations.push(Location::root());
            return leaves;
        }
        let _ = first_inside(data, |node, location| {
            if !is_leaf(node) {
                return false;
            }
            leaves.more = leaves.locations.len() == most;
            if !leaves.more {
                leaves.locations.push(location.clone());
            }
            leaves.more
        });
        leaves
    }

    /// Returns the readers of each document.
    pub(super) fn readers(&self) -> &Readers {
        self.readers.get_or_init(|| Readers::of(self.graph))
    }

    /// Returns the states of a document during rendering, or `None` if it was not rendered.
    pub(super) fn states(&self, doc: DocId) -> Option<Rc<States>> {
        if let Some(known) = self.states.borrow().get(&doc) {
            return known.clone();
        }
        let states = States::of(self.graph, self.rendered, doc).map(Rc::new);
        self.states.borrow_mut().insert(doc, states.clone());
        states
    }

    /// Returns the stroke at an index of a document, with the states before and after it, and its
    /// inputs.
    pub(super) fn change<'s>(
        &'s self,
        doc: DocId,
        index: usize,
        stroke: &'s Stroke,
        before: Node,
        after: Node,
    ) -> Change<'s> {
        let recipe = self.graph.recipe(doc);
        let source = stroke
            .step(recipe)
            .and_then(|step| step.op.source())
            .and_then(|source| self.rendered.data(source));
        Change {
            numbering: &self.numbering,
            doc,
            recipe,
            stroke,
            index,
            before,
            after,
            source,
            numbers: OnceCell::new(),
            moved: OnceCell::new(),
        }
    }
}

fn is_leaf(node: &Node) -> bool {
    inside(node).next().is_none()
}

impl Hop {
    /// Returns the last hop of the trace; for a pattern, of the string that was changed.
    pub fn origin(&self) -> &Hop {
        let mut hop = self;
        while let Some(from) = hop.from.first() {
            hop = from;
        }
        hop
    }

    /// Returns the traces of all overridden values at the value's places, earliest first.
    pub fn losers(&self) -> Vec<&Hop> {
        let mut losers = Vec::new();
        self.add_losers(&mut losers);
        losers
    }

    fn add_losers<'h>(&'h self, losers: &mut Vec<&'h Hop>) {
        for from in &self.from {
            from.add_losers(losers);
        }
        if let Some(lost) = &self.lost {
            lost.add_losers(losers);
            losers.push(lost);
        }
    }

    /// Returns all source texts that the value depends on, sorted and without duplicates.
    pub fn texts(&self) -> Vec<Span> {
        let mut texts = Vec::new();
        let mut open = vec![self];
        while let Some(hop) = open.pop() {
            texts.extend_from_slice(&hop.at);
            open.extend(&hop.from);
        }
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}

/// State of one trace.
struct Trail<'r, 'a> {
    replay: &'r Replay<'a>,
    hops: Cell<usize>,
    /// Number of pieces of the places of the hops.
    pieces: Cell<usize>,
    /// Whether overridden values are traced, too.
    with_losers: bool,
}

impl<'r, 'a> Trail<'r, 'a> {
    fn new(replay: &'r Replay<'a>, with_losers: bool) -> Self {
        Self {
            replay,
            hops: Cell::new(0),
            pieces: Cell::new(0),
            with_losers,
        }
    }

    /// Traces a place of a rendered document, `length` hops after the start.
    fn rendered(&self, doc: DocId, location: &Location, length: usize) -> Hop {
        match self.replay.states(doc) {
            Some(states) => {
                let strokes = states.strokes.len();
                let data = states.end.clone();
                self.state(
                    Moment {
                        doc,
                        states: &states,
                        strokes,
                        data,
                        length,
                    },
                    location,
                )
            }
            None => self.blocked(doc, location),
        }
    }

    /// Traces a place of a document's data at some point of its rendering.
    fn state(&self, moment: Moment<'_>, location: &Location) -> Hop {
        let Moment {
            doc,
            states,
            strokes,
            mut data,
            length,
        } = moment;
        let mut here = location.clone();
        let met = self.hops.replace(self.hops.get() + 1);
        self.pieces.set(self.pieces.get() + location.0.len());
        if met >= Replay::MAX_HOPS || length >= Replay::MAX_LENGTH {
            let value = location.get(&data).cloned();
            return Hop {
                value,
                ..hop(doc, location, Via::Unfollowed)
            };
        }
        for (number, stroke) in states.strokes[..strokes].iter().enumerate().rev() {
            if stroke.undo_elsewhere(&here, &mut data) {
                continue;
            }
            let before = stroke.delta.state_before(&data);
            let change = self.replay.change(doc, number, stroke, before, data);
            match change.value_origin(&here) {
                ValueOrigin::Kept(before) => (here, data) = (before, change.before),
                origin => {
                    let look = Look {
                        doc,
                        states,
                        number,
                        change,
                        here,
                        length,
                    };
                    let hop = self.stroke(&look, origin);
                    return Hop {
                        location: location.clone(),
                        ..hop
                    };
                }
            }
        }
        if states.is_cut {
            let value = here.get(&states.start).cloned();
            return Hop {
                value,
                ..hop(doc, location, Via::Unfollowed)
            };
        }
        Hop {
            location: location.clone(),
            ..self.start(doc, states, &here, length)
        }
    }

    /// Traces a place that no stroke wrote.
    fn start(&self, doc: DocId, states: &States, location: &Location, length: usize) -> Hop {
        let recipe = self.replay.graph.recipe(doc);
        let Some(base) = recipe.base.filter(|_| recipe.starts_as_base()) else {
            return own(doc, recipe, location);
        };
        let is_replaced = recipe.replaces == Some(base.doc);
        let via = if is_replaced {
            Via::Replaced
        } else {
            Via::Inherited
        };
        let step = recipe
            .steps
            .iter()
            .find(|step| matches!(step.op, Op::Merge { .. }));
        let at = [
            Some(base.selector),
            Some(base.label),
            step.map(|step| step.at),
        ];
        Hop {
            value: location.get(&states.start).cloned(),
            step: step.map(|step| step.index),
            at: at.into_iter().flatten().collect(),
            from: vec![self.rendered(base.doc, location, length + 1)],
            ..hop(doc, location, via)
        }
    }

    /// Traces the value that a stroke left at a place.
    fn stroke(&self, look: &Look<'_>, origin: ValueOrigin) -> Hop {
        let change = &look.change;
        let value = look.here.get(&change.after).cloned();
        let step = look.step();
        let hop = Hop {
            value,
            step,
            at: look.texts(),
            ..hop(look.doc, &look.here, look.via())
        };
        let next = look.length + 1;
        match origin {
            ValueOrigin::Kept(_) => unreachable!("a kept value is followed further"),
            ValueOrigin::Made => Hop {
                via: Via::Made,
                ..hop
            },
            ValueOrigin::Own(place) if look.step().is_none() => {
                let hop = own(look.doc, change.recipe, &place);
                Hop {
                    at: [hop.at, look.texts()].concat(),
                    ..hop
                }
            }
            ValueOrigin::Own(place) => {
                let from = vec![own(look.doc, change.recipe, &place)];
                Hop {
                    lost: self.lost(look, &look.here),
                    from,
                    ..hop
                }
            }
            ValueOrigin::Source(place) => {
                let from = look
                    .source()
                    .map(|source| self.rendered(source, &place, next))
                    .into_iter()
                    .collect();
                Hop {
                    lost: self.lost(look, &look.here),
                    from,
                    ..hop
                }
            }
            ValueOrigin::Put { text, value } => {
                let text = self.state(look.before(), &text);
                let value = look
                    .source()
                    .map(|source| self.rendered(source, &value, next));
                let from = std::iter::once(text).chain(value).collect();
                let via = if look.via() == Via::Merged {
                    Via::Merged
                } else {
                    Via::Pattern
                };
                Hop { via, from, ..hop }
            }
            ValueOrigin::Deleted { place, writing } => {
                let from = match writing.as_deref() {
                    Some(ValueOrigin::Own(place)) => Some(own(look.doc, change.recipe, place)),
                    Some(ValueOrigin::Source(place)) => look
                        .source()
                        .map(|source| self.rendered(source, place, next)),
                    Some(
                        ValueOrigin::Kept(_)
                        | ValueOrigin::Put { .. }
                        | ValueOrigin::Made
                        | ValueOrigin::Deleted { .. },
                    )
                    | None => None,
                };
                let lost = self.lost(look, &place);
                Hop {
                    via: Via::Deleted,
                    lost,
                    from: from.into_iter().collect(),
                    ..hop
                }
            }
        }
    }

    /// Traces the value at `place` before a stroke, if it was overridden. Merged mappings and lists
    /// are not overridden.
    fn lost(&self, look: &Look<'_>, place: &Location) -> Option<Box<Hop>> {
        if !self.with_losers {
            return None;
        }
        let before = place.get(&look.change.before)?;
        let after = look.here.get(&look.change.after);
        let merges = [
            Via::Layered {
                method: Method::Merge,
            },
            Via::Merged,
        ]
        .contains(&look.via());
        let is_merged = merges && after.is_some_and(|after| are_merged(before, after));
        if is_merged {
            return None;
        }
        Some(Box::new(self.state(look.before(), place)))
    }

    fn blocked(&self, doc: DocId, location: &Location) -> Hop {
        let recipe = self.replay.graph.recipe(doc);
        let is_blocked = |doc: DocId| match self.replay.rendered.outcome(doc) {
            Outcome::Ready(_) => false,
            Outcome::Blocked(_) => true,
        };
        let at = recipe
            .needs
            .iter()
            .filter(|need| is_blocked(need.doc))
            .map(|need| need.at);
        Hop {
            at: at.collect(),
            ..hop(doc, location, Via::Blocked)
        }
    }
}

/// Returns whether a merge kept part of both values. A merged list keeps items of both only if the
/// action extends it (D01), and is then longer.
fn are_merged(before: &Node, after: &Node) -> bool {
    let length = |node: &Node| node.as_sequence().map(<[Node]>::len);
    let are_mappings = before.as_mapping().is_some() && after.as_mapping().is_some();
    let is_extended = match (before.as_sequence(), after.as_sequence()) {
        (Some(short), Some(long)) => {
            let starts = short
                .iter()
                .zip(long)
                .all(|(one, other)| one.span == other.span);
            length(before) <= length(after) && starts
        }
        (Some(_) | None, _) => false,
    };
    are_mappings || is_extended
}

/// State of a document during its rendering.
struct Moment<'s> {
    doc: DocId,
    states: &'s States,
    /// Number of strokes so far.
    strokes: usize,
    /// Data after them.
    data: Node,
    /// Number of hops from the start of the trace.
    length: usize,
}

/// Place of a document that a stroke changed.
struct Look<'s> {
    doc: DocId,
    states: &'s States,
    number: usize,
    change: Change<'s>,
    here: Location,
    length: usize,
}

impl<'s> Look<'s> {
    /// Returns the document before the stroke, one hop further.
    fn before(&self) -> Moment<'s> {
        Moment {
            doc: self.doc,
            states: self.states,
            strokes: self.number,
            data: self.change.before.clone(),
            length: self.length + 1,
        }
    }

    fn step(&self) -> Option<usize> {
        Some(self.change.step()?.index)
    }

    fn source(&self) -> Option<DocId> {
        self.change.step()?.op.source()
    }

    fn via(&self) -> Via {
        match self.change.step().map(|step| step.op) {
            Some(Op::Merge { method, .. }) => Via::Layered { method },
            Some(Op::Substitute(_)) => Via::Substituted,
            Some(Op::Combine(_)) => Via::Merged,
            None => Via::Literal,
        }
    }

    fn texts(&self) -> Vec<Span> {
        self.change.texts()
    }
}

/// Returns the hop for the document's own data at a place. Without a value there, it refers to the
/// nearest ancestor.
fn own(doc: DocId, recipe: &Recipe, location: &Location) -> Hop {
    match location.get(&recipe.data) {
        Some(node) => {
            let via = match node.origin {
                Origin::Written | Origin::Derived => Via::Literal,
                Origin::Made => Via::Made,
            };
            Hop {
                value: Some(node.clone()),
                at: vec![node.span],
                ..hop(doc, location, via)
            }
        }
        None => {
            let around = settled(location, &recipe.data)
                .get(&recipe.data)
                .map(|node| node.span);
            Hop {
                at: around.into_iter().collect(),
                ..hop(doc, location, Via::Absent)
            }
        }
    }
}

fn hop(doc: DocId, location: &Location, via: Via) -> Hop {
    Hop {
        doc,
        location: location.clone(),
        value: None,
        via,
        step: None,
        at: Vec::new(),
        lost: None,
        from: Vec::new(),
    }
}
