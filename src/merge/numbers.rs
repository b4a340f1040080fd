//! From where each value of a result came: what is made of inputs whose nodes have numbers in place
//! of spans says so by the numbers in it.
//!
//! Merging moves nodes with their spans, so a way of merging need say nothing about this. What it
//! builds of two values it gives a span by [`Span::with_part`].

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::source::{NumberedInput, Span};
use crate::yaml::path::{Location, Piece, children};
use crate::yaml::{Key, Mapping, Node, Size, Value};

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// An input of a stroke with a number in place of each span.
#[derive(Debug)]
pub struct Numbered {
    node: Node,
    input: NumberedInput,
    /// By number: the number of what holds the node, and where in it. The root has none.
    places: Vec<Option<(u32, Piece)>>,
    /// What was numbered of values that are shared, by address; none where each of their places has
    /// numbers of its own.
    shared: Option<Lookup<usize, Node>>,
}

impl Numbered {
    /// Number of nodes up to which shared values are numbered at each of their places. Of larger
    /// inputs, which aliases have multiplied, they are numbered once.
    const MAX_EXPANDED: u64 = 50_000;

    /// Numbers for all nodes of a value.
    pub fn of(node: &Node, input: NumberedInput) -> Self {
        let mut numbered = Self::none(node, input);
        numbered.node = numbered.numbered(node, None);
        numbered
    }

    fn none(node: &Node, input: NumberedInput) -> Self {
        let is_expanded = Size::of(node).nodes() <= Self::MAX_EXPANDED;
        let shared = (!is_expanded).then(Lookup::default);
        Self { node: node.clone(), input, places: Vec::new(), shared }
    }

    /// The value with numbers in place of spans.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Numbers of what a stroke changed of `node`, and of all that is around that.
    pub fn of_changed(node: &Node, after: &Node) -> Self {
        let mut numbered = Self::none(node, NumberedInput::Before);
        numbered.node = numbered.changed(node, after, None);
        numbered
    }

    fn changed(&mut self, node: &Node, after: &Node, place: Option<(u32, Piece)>) -> Node {
        let (Some(old), Some(new)) = (node.as_mapping(), after.as_mapping()) else {
            return self.numbered(node, place);
        };
        let (number, span) = self.next(place);
        let entries = old.iter().map(|(key, child)| match new.get(key) {
            Some(after) if is_same(child, after) => (key.clone(), child.clone()),
            after => {
                let place = Some((number, Piece::Key(key.clone())));
                let child = match after {
                    Some(after) => self.changed(child, after, place),
                    None => self.numbered(child, place),
                };
                (key.clone(), child)
            }
        });
        let value = Value::Mapping(Arc::new(entries.collect()));
        Node { value, span, ..node.clone() }
    }

    fn next(&mut self, place: Option<(u32, Piece)>) -> (u32, Span) {
        let number = u32::try_from(self.places.len()).expect("inputs are limited to less");
        self.places.push(place);
        (number, self.input.span(number))
    }

    fn numbered(&mut self, node: &Node, place: Option<(u32, Piece)>) -> Node {
        let address = match &node.value {
            Value::Mapping(mapping) => Some(Arc::as_ptr(mapping).addr()),
            Value::Sequence(items) => Some(Arc::as_ptr(items).addr()),
            _ => None,
        };
        let known = address.zip(self.shared.as_ref()).and_then(|(address, it)| it.get(&address));
        if let Some(known) = known {
            return known.clone();
        }
        let (number, span) = self.next(place);
        let value = match &node.value {
            Value::Mapping(mapping) => {
                let entries = mapping.iter().map(|(key, child)| {
                    let child = self.numbered(child, Some((number, Piece::Key(key.clone()))));
                    (Key { value: key.value.clone(), span: child.span }, child)
                });
                Value::Mapping(Arc::new(entries.collect::<Mapping>()))
            }
            Value::Sequence(items) => {
                let items = items.iter().enumerate().map(|(index, child)| {
                    self.numbered(child, Some((number, Piece::Index(index))))
                });
                Value::Sequence(Arc::new(items.collect()))
            }
            // What is in a pair has no place of its own.
            Value::Pairs(_) => node.with_spans(&|_| span).value,
            scalar => scalar.clone(),
        };
        let numbered = Node { value, span, ..node.clone() };
        if let (Some(address), Some(shared)) = (address, &mut self.shared) {
            shared.insert(address, numbered.clone());
        }
        numbered
    }

    fn number_at(&self, place: &Location) -> Option<u32> {
        let span = place.get(&self.node)?.span;
        span.numbered_input().map(|_| span.start)
    }

    /// The first place of a number.
    fn place(&self, number: u32) -> Location {
        place_of(&self.places, number)
    }
}

/// Whether what stands at a place before a stroke stands there afterwards.
fn is_same(before: &Node, after: &Node) -> bool {
    before.span == after.span
        && before.secret == after.secret
        && match (&before.value, &after.value) {
            (Value::Mapping(old), Value::Mapping(new)) => Arc::ptr_eq(old, new),
            (Value::Sequence(old), Value::Sequence(new)) => Arc::ptr_eq(old, new),
            (old, new) => old == new,
        }
}

/// From where a place of the result has its value.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// From this place of an input.
    Moved(NumberedInput, Location),
    /// A text that was there, into which something was put.
    Built {
        /// Where the text stood.
        text: Location,
        /// Where what was put in stands in the source; none where it stands nowhere.
        part: Option<Location>,
    },
    /// Neither: the stroke made it.
    Made,
}

/// The inputs of a stroke with numbers, and what it made of them.
#[derive(Debug)]
pub struct Numbers {
    before: Numbered,
    /// The document's own data, where the stroke reads it.
    own: Option<Rc<Numbered>>,
    source: Option<Rc<Numbered>>,
    after: Node,
    went: OnceCell<Went>,
}

impl Numbers {
    /// The numbers in `after`, which was made of these.
    pub fn new(
        before: Numbered,
        own: Option<Rc<Numbered>>,
        source: Option<Rc<Numbered>>,
        after: Node,
    ) -> Self {
        Self { before, own, source, after, went: OnceCell::new() }
    }

    /// What there was, with numbers.
    pub fn before(&self) -> &Numbered {
        &self.before
    }

    /// Number of nodes for which they use memory, about.
    pub fn size(&self) -> usize {
        2 * self.before.places.len()
    }

    fn input(&self, input: NumberedInput) -> Option<&Numbered> {
        match input {
            NumberedInput::Before => Some(&self.before),
            NumberedInput::Own => self.own.as_deref(),
            NumberedInput::Source => self.source.as_deref(),
        }
    }

    /// From where the node at a place of the result is; none where nothing is there.
    pub fn from(&self, location: &Location) -> Option<From> {
        let span = location.get(&self.after)?.span;
        let Some((input, numbered)) =
            span.numbered_input().and_then(|input| Some((input, self.input(input)?)))
        else {
            let was_there = location.get(&self.before.node).is_some_and(|node| node.span == span);
            let kept = From::Moved(NumberedInput::Before, location.clone());
            return Some(if was_there { kept } else { From::Made });
        };
        let place = self.place(numbered, span.start, location);
        let Some(part) = span.part() else { return Some(From::Moved(input, place)) };
        let part = part.and_then(|part| Some(self.source.as_ref()?.place(part)));
        Some(From::Built { text: place, part })
    }

    /// The place of a number that stands at `location` of the result. Where shared values have one
    /// number, it is the one to which the way leads from what holds it.
    fn place(&self, input: &Numbered, number: u32, location: &Location) -> Location {
        if input.shared.is_none() {
            return input.place(number);
        }
        let around = (0..location.0.len()).map(|length| location.0.split_at(length));
        let mut candidates = around.filter_map(|(around, rest)| {
            let span = Location(around.to_vec()).get(&self.after)?.span;
            let is_of_input = span.numbered_input() == Some(input.input);
            is_of_input.then(|| input.place(span.start).joined(&Location(rest.to_vec())))
        });
        let found = candidates.find(|place| input.number_at(place) == Some(number));
        found.unwrap_or_else(|| input.place(number))
    }

    /// Whether each place of the inputs has a number of its own, so that [`Numbers::went`] knows
    /// all places to which it went.
    pub fn are_exact(&self) -> bool {
        let inputs = [Some(&self.before), self.own.as_deref(), self.source.as_deref()];
        inputs.into_iter().flatten().all(|input| input.shared.is_none())
            && Size::of(&self.after).nodes() <= 3 * Numbered::MAX_EXPANDED
    }

    /// Whether the collection at a place of the result is one of an input as it was there.
    pub fn is_moved_whole(&self, location: &Location) -> bool {
        let after = location.get(&self.after);
        let from = after.and_then(|node| {
            let input = self.input(node.span.numbered_input()?)?;
            self.place(input, node.span.start, location).get(&input.node)
        });
        match (after.map(|node| &node.value), from.map(|node| &node.value)) {
            (Some(Value::Mapping(after)), Some(Value::Mapping(from))) => Arc::ptr_eq(after, from),
            (Some(Value::Sequence(after)), Some(Value::Sequence(from))) => Arc::ptr_eq(after, from),
            (Some(_), Some(_)) => true,
            (_, _) => false,
        }
    }

    /// The places of the result that have the node which an input has at `place`, or were built
    /// from it, or of what is around it.
    pub fn went(&self, input: NumberedInput, place: &Location) -> Vec<Location> {
        let Some(numbered) = self.input(input) else { return Vec::new() };
        let went = self.went.get_or_init(|| Went::of(&self.after));
        let mut found: Vec<u32> = Vec::new();
        match numbered.number_at(place) {
            Some(number) => {
                found.extend(went.moved.get(&(input, number)).into_iter().flatten());
            }
            // It is where it was.
            None if place.get(&self.after).is_some() => return vec![place.clone()],
            None => {}
        }
        if input == NumberedInput::Source {
            let around = (0..=place.0.len()).map(|length| Location(place.0[..length].to_vec()));
            let numbers = around.filter_map(|around| numbered.number_at(&around));
            found.extend(numbers.flat_map(|number| went.put.get(&number).into_iter().flatten()));
        }
        found.into_iter().map(|at| place_of(&went.places, at)).collect()
    }
}

/// The result of a stroke by the numbers in it.
#[derive(Debug, Default)]
struct Went {
    places: Vec<Option<(u32, Piece)>>,
    moved: Lookup<(NumberedInput, u32), Vec<u32>>,
    /// By the number in the source of what was put into a text.
    put: Lookup<u32, Vec<u32>>,
}

impl Went {
    fn of(after: &Node) -> Self {
        let mut went = Self::default();
        went.add(after, None);
        went
    }

    fn add(&mut self, node: &Node, place: Option<(u32, Piece)>) {
        let at = u32::try_from(self.places.len()).expect("results are limited to less");
        self.places.push(place);
        if let Some(input) = node.span.numbered_input() {
            self.moved.entry((input, node.span.start)).or_default().push(at);
            if let Some(Some(part)) = node.span.part() {
                self.put.entry(part).or_default().push(at);
            }
        }
        for (piece, child) in children(node) {
            self.add(child, Some((at, piece)));
        }
    }
}

/// The place that leads to a number by what holds it.
fn place_of(places: &[Option<(u32, Piece)>], number: u32) -> Location {
    let mut pieces = Vec::new();
    let mut next = &places[number as usize];
    while let Some((around, piece)) = next {
        pieces.push(piece.clone());
        next = &places[*around as usize];
    }
    pieces.reverse();
    Location(pieces)
}
