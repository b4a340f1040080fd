//! Origin of each value of a merged result. The nodes of the inputs are numbered, and the numbers
//! in the result identify the source of each node.
//!
//! A number is stored in place of a span. Merging moves nodes with their spans, so merge code needs
//! no support for this, unless it builds one value from two ([`Span::with_part`]).

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use layercake_source::{NumberedInput, Span};
use layercake_yaml::diff::identical;
use layercake_yaml::path::{Location, Piece, children};
use layercake_yaml::{Key, Mapping, Node, Size, Value};

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Input of a stroke, with a number in place of each span.
#[derive(Debug)]
pub struct Numbered {
    node: Node,
    input: NumberedInput,
    /// Number of the parent and the path piece from it to the node, by number; `None` for the root.
    places: Vec<Option<(u32, Piece)>>,
    /// Numbered collections by address, if a shared collection has the same numbers at all its
    /// places; `None` if each place has its own numbers.
    shared: Option<Lookup<usize, Node>>,
    /// Number of copied entries without numbers.
    unnumbered: usize,
}

impl Numbered {
    /// Maximum number of nodes of an input for which each place of a shared value has its own
    /// numbers. In larger inputs, which aliases can multiply, shared values are numbered once.
    const MAX_EXPANDED: u64 = 50_000;

    /// Numbers all nodes of a value.
    pub fn of(node: &Node, input: NumberedInput) -> Self {
        let mut numbered = Self::none(node, input);
        numbered.node = numbered.numbered(node, None);
        numbered
    }

    fn none(node: &Node, input: NumberedInput) -> Self {
        let is_expanded = Size::of(node).nodes() <= Self::MAX_EXPANDED;
        let shared = (!is_expanded).then(Lookup::default);
        Self {
            node: node.clone(),
            input,
            places: Vec::new(),
            shared,
            unnumbered: 0,
        }
    }

    /// Returns the value with numbers in place of spans.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Numbers the nodes that a stroke changed, and their ancestors. `after` is the result of the
    /// stroke; unchanged nodes keep their spans.
    pub(crate) fn of_changed(node: &Node, after: &Node) -> Self {
        let mut numbered = Self::none(node, NumberedInput::Before);
        numbered.node = numbered.changed(node, after, None);
        numbered
    }

    fn changed(&mut self, node: &Node, after: &Node, place: Option<(u32, Piece)>) -> Node {
        let (Value::Mapping(old), Value::Mapping(new)) = (&node.value, &after.value) else {
            return self.numbered(node, place);
        };
        let (number, span) = self.next(place);
        let mut mapping = old.clone();
        let changing = Mapping::to_change(&mut mapping);
        for (at, (key, child)) in old.iter().enumerate() {
            let after = counterpart(new, at, key);
            if after.is_some_and(|after| identical(child, after)) {
                self.unnumbered += 1;
                continue;
            }
            let place = Some((number, Piece::Key(key.clone())));
            *changing.value_at_mut(at) = match after {
                Some(after) => self.changed(child, after, place),
                None => self.numbered(child, place),
            };
        }
        Node {
            value: Value::Mapping(mapping),
            span,
            ..node.clone()
        }
    }

    fn next(&mut self, place: Option<(u32, Piece)>) -> (u32, Span) {
        let number = u32::try_from(self.places.len()).expect("inputs are limited to less");
        self.places.push(place);
        (number, self.input.span(number))
    }

    fn numbered(&mut self, node: &Node, place: Option<(u32, Piece)>) -> Node {
        let address = node.value.address();
        let known = address
            .zip(self.shared.as_ref())
            .and_then(|(address, it)| it.get(&address));
        if let Some(known) = known {
            return known.clone();
        }
        let (number, span) = self.next(place);
        let value = match &node.value {
            Value::Mapping(mapping) => {
                let entries = mapping.iter().map(|(key, child)| {
                    let child = self.numbered(child, Some((number, Piece::Key(key.clone()))));
                    (
                        Key {
                            value: key.value.clone(),
                            span: child.span,
                        },
                        child,
                    )
                });
                Value::Mapping(Arc::new(entries.collect::<Mapping>()))
            }
            Value::Sequence(items) => {
                let items = items.iter().enumerate().map(|(index, child)| {
                    self.numbered(child, Some((number, Piece::Index(index))))
                });
                Value::Sequence(Arc::new(items.collect()))
            }
            // No path leads into a pair.
            Value::Pairs(_) => node.with_spans(&|_| span).value,
            scalar => scalar.clone(),
        };
        let numbered = Node {
            value,
            span,
            ..node.clone()
        };
        if let (Some(address), Some(shared)) = (address, &mut self.shared) {
            shared.insert(address, numbered.clone());
        }
        numbered
    }

    fn number_at(&self, place: &Location) -> Option<u32> {
        let span = place.get(&self.node)?.span;
        span.numbered_input().map(|_| span.start)
    }

    /// Returns the number of entries for which it uses memory.
    pub(crate) fn size(&self) -> usize {
        self.places.len() + self.unnumbered
    }

    /// Returns the first place of a number.
    fn place(&self, number: u32) -> Location {
        place_of(&self.places, number)
    }
}

/// Returns the value of a key, which has index `at` in another mapping and usually in this one.
fn counterpart<'n>(mapping: &'n Mapping, at: usize, key: &Key) -> Option<&'n Node> {
    let in_place = mapping.entry_at(at).filter(|(here, _)| *here == key);
    in_place.map(|(_, node)| node).or_else(|| mapping.get(key))
}

/// Origin of a value of the result.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// Moved from this place of an input.
    Moved(NumberedInput, Location),
    /// Built by inserting a value into a string.
    Built {
        /// Place of the string before the stroke.
        text: Location,
        /// Place of the value in the source; `None` if it is not from there.
        part: Option<Location>,
    },
    /// Created by the stroke.
    Made,
}

/// Numbered inputs and the result of a stroke.
#[derive(Debug)]
pub struct Numbers {
    before: Numbered,
    /// Own data of the document, if the stroke reads it.
    own: Option<Rc<Numbered>>,
    source: Option<Rc<Numbered>>,
    after: Node,
    index: OnceCell<ResultIndex>,
}

impl Numbers {
    /// Combines the inputs with `after`, the result of a stroke on them.
    pub fn new(
        before: Numbered,
        own: Option<Rc<Numbered>>,
        source: Option<Rc<Numbered>>,
        after: Node,
    ) -> Self {
        Self {
            before,
            own,
            source,
            after,
            index: OnceCell::new(),
        }
    }

    /// Returns the numbered data before the stroke.
    pub fn before(&self) -> &Numbered {
        &self.before
    }

    /// Returns the approximate number of entries for which the data before and after the stroke use
    /// memory.
    pub(crate) fn size(&self) -> usize {
        // The result shares unchanged values, and consists of parts of the inputs otherwise.
        self.before.size().saturating_mul(2)
    }

    fn input(&self, input: NumberedInput) -> Option<&Numbered> {
        match input {
            NumberedInput::Before => Some(&self.before),
            NumberedInput::Own => self.own.as_deref(),
            NumberedInput::Source => self.source.as_deref(),
        }
    }

    /// Returns the origin of the node at a place of the result, if there is a node.
    pub fn from(&self, location: &Location) -> Option<From> {
        let span = location.get(&self.after)?.span;
        let Some((input, numbered)) = span
            .numbered_input()
            .and_then(|input| Some((input, self.input(input)?)))
        else {
            let is_kept = location
                .get(&self.before.node)
                .is_some_and(|node| node.span == span);
            let kept = From::Moved(NumberedInput::Before, location.clone());
            return Some(if is_kept { kept } else { From::Made });
        };
        let place = self.place(numbered, span.start, location);
        let Some(part) = span.part() else {
            return Some(From::Moved(input, place));
        };
        let part = part.and_then(|part| Some(self.source.as_ref()?.place(part)));
        Some(From::Built { text: place, part })
    }

    /// Returns the place of the number at `location` of the result. The number of a shared value
    /// has several places, which are distinguished by the ancestors of `location`.
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

    /// Returns whether [`Numbers::destinations`] finds all places: each place of the inputs has its
    /// own number, and the result is small enough for an index.
    pub(crate) fn are_exact(&self) -> bool {
        let inputs = [
            Some(&self.before),
            self.own.as_deref(),
            self.source.as_deref(),
        ];
        inputs
            .into_iter()
            .flatten()
            .all(|input| input.shared.is_none())
            && Size::of(&self.after).nodes() <= MAX_INDEXED as u64
    }

    /// Returns whether the value at a place of the result is an unchanged value of an input.
    pub(crate) fn is_moved_whole(&self, location: &Location) -> bool {
        let addresses = location.get(&self.after).and_then(|after| {
            let input = self.input(after.span.numbered_input()?)?;
            let from = self
                .place(input, after.span.start, location)
                .get(&input.node)?;
            Some([after, from].map(|node| node.value.address()))
        });
        addresses.is_some_and(|[after, from]| after.is_none() || from.is_none() || after == from)
    }

    /// Returns the places of the result with the node that an input has at `place`, or with a value
    /// built from that node or one of its ancestors.
    pub fn destinations(&self, input: NumberedInput, place: &Location) -> Vec<Location> {
        let Some(numbered) = self.input(input) else {
            return Vec::new();
        };
        let index = self
            .index
            .get_or_init(|| ResultIndex::of(&self.before.node, &self.after));
        let mut found: Vec<u32> = Vec::new();
        match numbered.number_at(place) {
            Some(number) => {
                found.extend(index.moved.get(&(input, number)).into_iter().flatten());
            }
            // The stroke did not change it.
            None if input == NumberedInput::Before && place.get(&self.after).is_some() => {
                return vec![place.clone()];
            }
            None => {}
        }
        if input == NumberedInput::Source {
            let around = place.ancestors().chain([place.clone()]);
            let numbers = around.filter_map(|around| numbered.number_at(&around));
            found.extend(numbers.flat_map(|number| index.put.get(&number).into_iter().flatten()));
        }
        found
            .into_iter()
            .map(|at| place_of(&index.places, at))
            .collect()
    }
}

/// Maximum number of nodes of an indexed result.
const MAX_INDEXED: usize = 150_000;

/// Index of the result of a stroke, by number.
#[derive(Debug, Default)]
struct ResultIndex {
    places: Vec<Option<(u32, Piece)>>,
    moved: Lookup<(NumberedInput, u32), Vec<u32>>,
    /// Strings, by the number of the inserted value.
    put: Lookup<u32, Vec<u32>>,
}

impl ResultIndex {
    fn of(before: &Node, after: &Node) -> Self {
        let mut index = Self::default();
        index.add(Some(before), after, None);
        index
    }

    /// Adds a node and its descendants. `before` is the previous node at its place; unchanged nodes
    /// have no numbers.
    fn add(&mut self, before: Option<&Node>, node: &Node, place: Option<(u32, Piece)>) {
        let at = u32::try_from(self.places.len()).expect("results are limited to less");
        self.places.push(place);
        if let Some(input) = node.span.numbered_input() {
            self.moved
                .entry((input, node.span.start))
                .or_default()
                .push(at);
            if let Some(Some(part)) = node.span.part() {
                self.put.entry(part).or_default().push(at);
            }
        }
        let old = before.and_then(Node::as_mapping);
        for (index, (piece, child)) in children(node).enumerate() {
            let before = match &piece {
                Piece::Key(key) => old.and_then(|old| counterpart(old, index, key)),
                Piece::Index(_) => None,
            };
            let is_left_alone = child.span.numbered_input().is_none()
                && before.is_some_and(|before| identical(before, child));
            if !is_left_alone {
                self.add(before, child, Some((at, piece)));
            }
        }
    }
}

/// Returns the place of a number.
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
