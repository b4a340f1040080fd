//! From a rendered value back to the texts that wrote it.
//!
//! A document's recipe is run once more, and what every stroke did to its data is
//! kept. The value at a place is then followed backwards, while one stroke after
//! the other is undone: which stroke put it there, what it was
//! read from, and on in that document. Nothing is guessed from equal values or
//! from spans. The way of a value ends at the text that wrote it
//! ([`Via::Literal`]), at a step that made it ([`Via::Made`]), or at the reason
//! why there is none.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use layercake_source::Span;
use layercake_yaml::path::{Location, first_inside};
use layercake_yaml::{Node, Origin, Value};

use super::flow::Readers;
use super::numbering::Numbering;
use super::stroke::{Came, Change, States, Stroke, settled};
use super::{Outcome, Rendered};
use crate::graph::{DocId, Graph, Op, Recipe};
use crate::merge::deckhand::Method;

/// A rendered graph, to be asked where its values came from. A document's
/// states are kept once they were needed.
pub struct Replay<'a> {
    graph: &'a Graph,
    rendered: &'a Rendered,
    states: RefCell<HashMap<DocId, Option<Rc<States>>, foldhash::fast::RandomState>>,
    numbering: Numbering<'a>,
    readers: OnceCell<Readers>,
}

/// One look at a value in one document.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The document.
    pub doc: DocId,
    /// The place; of a [`Via::Literal`] in the document's own data, otherwise
    /// in its data as it stood then: rendered, or halfway.
    pub location: Location,
    /// What stands there; none where nothing does.
    pub value: Option<Node>,
    /// How it came there, or why nothing did.
    pub via: Via,
    /// Which step of the recipe did that; none where no step did.
    pub step: Option<usize>,
    /// The texts in this document that the hop rests on: a change of the value
    /// is a change of one of them, or of those of [`Hop::from`]. Of an
    /// inherited value also the parent's label.
    pub at: Vec<Span>,
    /// The way of what stood at the place before, and lost to this; of
    /// [`Replay::trace_with_losers`] alone.
    pub lost: Option<Box<Hop>>,
    /// What the value was read from: nothing for a literal, one for what was
    /// inherited, written by an action or substituted, two for a pattern (the
    /// text it was put into, then the value put in). Where nothing stands, what
    /// should have held it.
    pub from: Vec<Hop>,
}

/// How a value came to its place, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// It is written there.
    Literal,
    /// A step made it: a mapping or list on the way to a place, a null for a
    /// missing source.
    Made,
    /// The document was laid on another one, which has it.
    Inherited,
    /// As [`Via::Inherited`], by a document that replaces the other.
    Replaced,
    /// An action laid the document's own data there.
    Layered {
        /// What the action does.
        method: Method,
    },
    /// A document that was laid over what there was has it, or put it to a text
    /// that was there.
    Laid,
    /// A substitution wrote the whole value.
    Substituted,
    /// A substitution replaced part of a text.
    Pattern,
    /// There is none: a step took away what stood there.
    Deleted,
    /// There is none, and nothing was ever there.
    Absent,
    /// The document is not rendered: it is on a cycle, or needs one that is.
    Blocked,
    /// The way is longer than [`Replay::MAX_HOPS`] or [`Replay::MAX_LENGTH`],
    /// or leads through more steps of a document than are kept, and is not
    /// followed further.
    Unfollowed,
}

/// Leaves of a value.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// Where they are, in document order.
    pub locations: Vec<Location>,
    /// Whether there are more than these.
    pub(crate) more: bool,
}

impl<'a> Replay<'a> {
    /// One answer looks at so many places at most.
    pub const MAX_HOPS: usize = 10_000;
    /// Maximum number of hops of the values of one output that are followed together.
    pub const MAX_HOPS_TOGETHER: usize = 100_000;
    /// One value is followed through so many documents at most.
    pub const MAX_LENGTH: usize = 200;

    /// The replay of `rendered`, which was rendered from `graph`.
    pub fn new(graph: &'a Graph, rendered: &'a Rendered) -> Self {
        let numbering = Numbering::new(graph, rendered);
        let (states, readers) = (RefCell::default(), OnceCell::new());
        Self { graph, rendered, states, numbering, readers }
    }

    /// The recipes.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// What they render to.
    pub fn rendered(&self) -> &'a Rendered {
        self.rendered
    }

    /// The way of the value at `location` of a rendered document. The first hop
    /// is the last look: at that document. Of a mapping or list, it is the way
    /// of the container itself, not of what is in it. What lost on the way is
    /// not followed: [`Hop::lost`] is none everywhere.
    pub fn trace(&self, doc: DocId, location: &Location) -> Hop {
        self.follow(doc, location, false)
    }

    /// As [`Replay::trace`], of several places, as far as all ways together have
    /// [`Replay::MAX_HOPS_TOGETHER`].
    pub(crate) fn trace_all(
        &self,
        doc: DocId,
        locations: impl Iterator<Item = Location>,
    ) -> Vec<Hop> {
        let mut hops = 0;
        let mut ways = Vec::new();
        for location in locations {
            let trail = Trail { replay: self, hops: Cell::new(0), with_losers: false };
            ways.push(trail.rendered(doc, &location, 0));
            hops += trail.hops.get();
            if hops >= Self::MAX_HOPS_TOGETHER {
                break;
            }
        }
        ways
    }

    /// As [`Replay::trace`], with the ways of all that lost on the way.
    pub fn trace_with_losers(&self, doc: DocId, location: &Location) -> Hop {
        self.follow(doc, location, true)
    }

    fn follow(&self, doc: DocId, location: &Location, with_losers: bool) -> Hop {
        Trail { replay: self, hops: Cell::new(0), with_losers }.rendered(doc, location, 0)
    }

    /// The places of the scalars and empty collections in `data`, `most` at
    /// most. Sets and pairs count as scalars: no path leads into them.
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

    /// Who reads whom.
    pub(super) fn readers(&self) -> &Readers {
        self.readers.get_or_init(|| Readers::of(self.graph))
    }

    /// The states of a document while it was made; none where it was not.
    pub(super) fn states(&self, doc: DocId) -> Option<Rc<States>> {
        if let Some(known) = self.states.borrow().get(&doc) {
            return known.clone();
        }
        let states = States::of(self.graph, self.rendered, doc).map(Rc::new);
        self.states.borrow_mut().insert(doc, states.clone());
        states
    }

    /// The stroke at an index of a document with the states before and after it, and its inputs.
    pub(super) fn change<'s>(
        &'s self,
        doc: DocId,
        (index, stroke): (usize, &'s Stroke),
        before: Node,
        after: Node,
    ) -> Change<'s> {
        let (recipe, numbering) = (self.graph.recipe(doc), &self.numbering);
        let (source, numbers) = (None, OnceCell::new());
        let change =
            Change { numbering, doc, recipe, stroke, index, before, after, source, numbers };
        let source = change.step().and_then(|step| step.op.source());
        Change { source: source.and_then(|source| self.rendered.data(source)), ..change }
    }
}

fn is_leaf(node: &Node) -> bool {
    match &node.value {
        Value::Mapping(mapping) => mapping.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::String(_) => true,
    }
}

impl Hop {
    /// The hop at the end of the way: of a pattern, of the text it was put
    /// into.
    pub fn origin(&self) -> &Hop {
        let mut hop = self;
        while let Some(from) = hop.from.first() {
            hop = from;
        }
        hop
    }

    /// The ways of all that stood at the value's places and lost, the first to
    /// be there first.
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

    /// All texts that the value rests on, in order, each once.
    pub fn texts(&self) -> Vec<Span> {
        let (mut texts, mut open) = (Vec::new(), vec![self]);
        while let Some(hop) = open.pop() {
            texts.extend_from_slice(&hop.at);
            open.extend(&hop.from);
        }
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}

/// One answer while it is looked for.
struct Trail<'r, 'a> {
    replay: &'r Replay<'a>,
    hops: Cell<usize>,
    /// Whether the ways of what lost to the value are followed, too.
    with_losers: bool,
}

impl Trail<'_, '_> {
    /// The way of a place of a rendered document, `length` hops from where the
    /// answer begins.
    fn rendered(&self, doc: DocId, location: &Location, length: usize) -> Hop {
        match self.replay.states(doc) {
            Some(states) => {
                let (strokes, data) = (states.strokes.len(), states.end.clone());
                self.state(Moment { doc, states: &states, strokes, data, length }, location)
            }
            None => self.blocked(doc, location),
        }
    }

    /// The way of a place of a document's data as it was at a moment.
    fn state(&self, moment: Moment<'_>, location: &Location) -> Hop {
        let Moment { doc, states, strokes, mut data, length } = moment;
        let mut here = location.clone();
        let met = self.hops.replace(self.hops.get() + 1);
        if met >= Replay::MAX_HOPS || length >= Replay::MAX_LENGTH {
            let value = location.get(&data).cloned();
            return Hop { value, ..hop(doc, location, Via::Unfollowed) };
        }
        for (number, stroke) in states.strokes[..strokes].iter().enumerate().rev() {
            if stroke.undo_elsewhere(&here, &mut data) {
                continue;
            }
            let before = stroke.delta.undone(&data);
            let change = self.replay.change(doc, (number, stroke), before, data);
            match change.came(&here) {
                Came::Kept(before) => (here, data) = (before, change.before),
                came => {
                    let look = Look { doc, states, number, change, here, length };
                    let hop = self.stroke(&look, came);
                    return Hop { location: location.clone(), ..hop };
                }
            }
        }
        if states.is_cut {
            let value = here.get(&states.start).cloned();
            return Hop { value, ..hop(doc, location, Via::Unfollowed) };
        }
        Hop { location: location.clone(), ..self.start(doc, states, &here, length) }
    }

    /// The way of a place that no stroke wrote.
    fn start(&self, doc: DocId, states: &States, location: &Location, length: usize) -> Hop {
        let recipe = self.replay.graph.recipe(doc);
        let Some(base) = recipe.base.filter(|_| recipe.starts_as_base()) else {
            return own(doc, recipe, location);
        };
        let is_replaced = recipe.replaces == Some(base.doc);
        let via = if is_replaced { Via::Replaced } else { Via::Inherited };
        let step = recipe.steps.iter().find(|step| matches!(step.op, Op::Merge { .. }));
        let at = [Some(base.selector), Some(base.label), step.map(|step| step.at)];
        Hop {
            value: location.get(&states.start).cloned(),
            step: step.map(|step| step.index),
            at: at.into_iter().flatten().collect(),
            from: vec![self.rendered(base.doc, location, length + 1)],
            ..hop(doc, location, via)
        }
    }

    /// The way of what a stroke left at a place.
    fn stroke(&self, look: &Look<'_>, came: Came) -> Hop {
        let change = &look.change;
        let value = look.here.get(&change.after).cloned();
        let step = look.step();
        let hop = Hop { value, step, at: look.texts(), ..hop(look.doc, &look.here, look.via()) };
        let next = look.length + 1;
        match came {
            Came::Kept(_) => unreachable!("what is kept is followed on, not told"),
            Came::Made => Hop { via: Via::Made, ..hop },
            Came::Own(place) if look.step().is_none() => {
                let hop = own(look.doc, change.recipe, &place);
                Hop { at: [hop.at, look.texts()].concat(), ..hop }
            }
            Came::Own(place) => {
                let from = vec![own(look.doc, change.recipe, &place)];
                Hop { lost: self.lost(look, &look.here), from, ..hop }
            }
            Came::Source(place) => {
                let from = look.source().map(|source| self.rendered(source, &place, next));
                let from = from.into_iter().collect();
                Hop { lost: self.lost(look, &look.here), from, ..hop }
            }
            Came::Put { text, value } => {
                let text = self.state(look.before(), &text);
                let value = look.source().map(|source| self.rendered(source, &value, next));
                let from = std::iter::once(text).chain(value).collect();
                let via = if look.via() == Via::Laid { Via::Laid } else { Via::Pattern };
                Hop { via, from, ..hop }
            }
            Came::Deleted { place, writing } => {
                let from = match writing.as_deref() {
                    Some(Came::Own(place)) => Some(own(look.doc, change.recipe, place)),
                    Some(Came::Source(place)) => {
                        look.source().map(|source| self.rendered(source, place, next))
                    }
                    Some(Came::Kept(_) | Came::Put { .. } | Came::Made | Came::Deleted { .. })
                    | None => None,
                };
                let lost = self.lost(look, &place);
                Hop { via: Via::Deleted, lost, from: from.into_iter().collect(), ..hop }
            }
        }
    }

    /// The way of what stood at `place` before a stroke, if that is lost:
    /// of two mappings or lists that were merged none is.
    fn lost(&self, look: &Look<'_>, place: &Location) -> Option<Box<Hop>> {
        if !self.with_losers {
            return None;
        }
        let before = place.get(&look.change.before)?;
        let after = look.here.get(&look.change.after);
        let merges = [Via::Layered { method: Method::Merge }, Via::Laid].contains(&look.via());
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
        let at = recipe.needs.iter().filter(|need| is_blocked(need.doc)).map(|need| need.at);
        Hop { at: at.collect(), ..hop(doc, location, Via::Blocked) }
    }
}

/// Whether an action that merges kept something of both. Lists are lists of
/// both only where the action extends one (D01), and are longer then.
fn are_merged(before: &Node, after: &Node) -> bool {
    let length = |node: &Node| node.as_sequence().map(<[Node]>::len);
    let are_mappings = before.as_mapping().is_some() && after.as_mapping().is_some();
    let is_extended = match (before.as_sequence(), after.as_sequence()) {
        (Some(short), Some(long)) => {
            let starts = short.iter().zip(long).all(|(one, other)| one.span == other.span);
            length(before) <= length(after) && starts
        }
        (Some(_) | None, _) => false,
    };
    are_mappings || is_extended
}

/// A document while it is made.
struct Moment<'s> {
    doc: DocId,
    states: &'s States,
    /// How many strokes were made.
    strokes: usize,
    /// The data after them.
    data: Node,
    /// How many hops lie between this and where the answer begins.
    length: usize,
}

/// A place of a document at which a stroke did something.
struct Look<'s> {
    doc: DocId,
    states: &'s States,
    number: usize,
    change: Change<'s>,
    here: Location,
    length: usize,
}

impl<'s> Look<'s> {
    /// The document before the stroke, one hop further.
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
            Some(Op::Lay(_)) => Via::Laid,
            None => Via::Literal,
        }
    }

    fn texts(&self) -> Vec<Span> {
        self.change.texts()
    }
}

/// What a document's own data says at a place; where nothing does, the text of
/// what should.
fn own(doc: DocId, recipe: &Recipe, location: &Location) -> Hop {
    match location.get(&recipe.data) {
        Some(node) => {
            let via = match node.origin {
                Origin::Written | Origin::Derived => Via::Literal,
                Origin::Made => Via::Made,
            };
            Hop { value: Some(node.clone()), at: vec![node.span], ..hop(doc, location, via) }
        }
        None => {
            let around = settled(location, &recipe.data);
            let around = around.get(&recipe.data).map(|node| node.span);
            Hop { at: around.into_iter().collect(), ..hop(doc, location, Via::Absent) }
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
