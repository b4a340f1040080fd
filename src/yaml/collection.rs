//! Lists and mappings, which know how large they are.

use std::fmt;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use indexmap::{Equivalent, IndexSet};

use super::node::{Key, Node, Value};
use crate::source::Span;

/// How large a value is, with shared values written out.
///
/// Collections remember it until they are changed, so that to measure a value
/// again costs what was changed in it, and what aliases or substitutions
/// multiply is measured once.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    nodes: u32,
    bytes: u32,
    height: u16,
    has_capitals: bool,
}

impl Size {
    /// So many letters make a word in capitals.
    pub const WORD: usize = 5;

    /// The size of a value.
    pub fn of(node: &Node) -> Self {
        match &node.value {
            Value::Mapping(mapping) => mapping.size(),
            Value::Sequence(items) => items.size(),
            Value::String(text) => {
                let has_capitals = words_in_capitals(text).next().is_some();
                Self { has_capitals, ..Self::ONE }.with_bytes(text.len())
            }
            Value::BigInt(digits) => Self::ONE.with_bytes(digits.len()),
            Value::Binary(bytes) => Self::ONE.with_bytes(bytes.len()),
            Value::Set(keys) => keys.iter().fold(Self::ONE, Self::with_key),
            Value::Pairs(pairs) => pairs.iter().fold(Self::ONE, |size, (key, value)| {
                size.with(Self::ONE.with_child(key).with_child(value))
            }),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Date(_)
            | Value::Timestamp(_) => Self::ONE,
        }
    }

    const ONE: Self = Self { nodes: 1, bytes: 0, height: 0, has_capitals: false };

    /// How many nodes there are, itself included; at most [`u32::MAX`].
    pub fn nodes(self) -> u64 {
        self.nodes.into()
    }

    /// How many bytes all texts and binary data have, keys included; at most
    /// [`u32::MAX`].
    pub fn bytes(self) -> u64 {
        self.bytes.into()
    }

    /// How deep collections are nested below; none for a scalar or what is empty.
    pub fn height(self) -> usize {
        self.height.into()
    }

    /// Whether a text in it, other than a key, has one of [`words_in_capitals`].
    pub fn has_capitals(self) -> bool {
        self.has_capitals
    }

    fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = self.bytes.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        self
    }

    fn with_key(self, key: &Key) -> Self {
        match &key.value {
            Value::String(text) => self.with_bytes(text.len()),
            Value::BigInt(digits) => self.with_bytes(digits.len()),
            Value::Binary(bytes) => self.with_bytes(bytes.len()),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Date(_)
            | Value::Timestamp(_) => self,
            Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => {
                unreachable!("the reader refuses collections as keys")
            }
        }
    }

    fn with_child(self, child: &Node) -> Self {
        self.with(Self::of(child))
    }

    fn with(self, child: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(child.nodes),
            bytes: self.bytes.saturating_add(child.bytes),
            height: self.height.max(child.height.saturating_add(1)),
            has_capitals: self.has_capitals | child.has_capitals,
        }
    }
}

/// The words in capitals of a text: those of [`Size::WORD`] letters or more, all of
/// them capitals, digits or underscores.
pub fn words_in_capitals(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: &u8| letter.is_ascii_alphanumeric() || *letter == b'_';
    let letters = text.as_bytes();
    let mut at = Size::WORD - 1;
    let words = std::iter::from_fn(move || {
        // Whoever takes steps of a word's length meets a letter of each of them.
        while !is_capital(*letters.get(at)?) {
            at += Size::WORD;
        }
        let (before, after) = letters.split_at(at);
        let start = at - before.iter().rev().take_while(|letter| is_part(letter)).count();
        let end = at + after.iter().take_while(|letter| is_part(letter)).count();
        at = end + Size::WORD;
        Some(&text[start..end])
    });
    words.filter(|word| is_in_capitals(word))
}

/// Whether a word is one of [`words_in_capitals`].
pub fn is_in_capitals(word: &str) -> bool {
    word.len() >= Size::WORD && word.bytes().all(is_capital)
}

fn is_capital(letter: u8) -> bool {
    matches!(letter, b'A'..=b'Z' | b'0'..=b'9' | b'_')
}

/// A size, once somebody has asked for it. That says nothing about the value, and
/// is not shown with it.
#[derive(Clone, Default)]
struct Known(OnceLock<Size>);

impl fmt::Debug for Known {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("_")
    }
}

/// A list.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    items: Vec<Node>,
    size: Known,
}

impl Sequence {
    /// How large it is.
    pub fn size(&self) -> Size {
        *self.size.0.get_or_init(|| self.items.iter().fold(Size::ONE, Size::with_child))
    }
}

impl Deref for Sequence {
    type Target = Vec<Node>;

    fn deref(&self) -> &Vec<Node> {
        &self.items
    }
}

impl DerefMut for Sequence {
    fn deref_mut(&mut self) -> &mut Vec<Node> {
        self.size.0.take();
        &mut self.items
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl From<Vec<Node>> for Sequence {
    fn from(items: Vec<Node>) -> Self {
        Self { items, size: Known::default() }
    }
}

impl FromIterator<Node> for Sequence {
    fn from_iter<I: IntoIterator<Item = Node>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl IntoIterator for Sequence {
    type Item = Node;
    type IntoIter = std::vec::IntoIter<Node>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// A mapping that keeps the order of its keys.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    entries: Vec<(Key, Node)>,
    /// The keys, in the same order, where there are many of them. Nearly all
    /// mappings have a few: to compare these costs less than to keep a table.
    /// Shared with copies, most of which get other values at the same keys.
    index: Option<Arc<IndexSet<Key, foldhash::fast::RandomState>>>,
    size: Known,
}

impl Mapping {
    /// A mapping of more entries has an index.
    const FEW: usize = 12;

    /// A mapping without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        *self.size.0.get_or_init(|| {
            let keys = self.keys().fold(Size::ONE, Size::with_key);
            self.values().fold(keys, Size::with_child)
        })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value at `key`.
    pub fn get<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&Node> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// The value at `key`, to change.
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<&mut Node> {
        self.size.0.take();
        self.position(key).map(|at| &mut self.entries[at].1)
    }

    /// The key as it is written, and its value.
    pub fn get_entry<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<(&Key, &Node)> {
        let (key, node) = &self.entries[self.position(key)?];
        Some((key, node))
    }

    /// The key as it is written, and its value, to change; where there is none,
    /// what `make` gives is put there first. Whether it was there.
    pub(super) fn get_or_insert_with(
        &mut self,
        key: &str,
        make: impl FnOnce() -> (Key, Node),
    ) -> (&Key, &mut Node, bool) {
        self.size.0.take();
        let found = self.position(key);
        let at = found.unwrap_or_else(|| {
            let (key, node) = make();
            self.push(key, node);
            self.entries.len() - 1
        });
        let (key, node) = &mut self.entries[at];
        (key, node, found.is_some())
    }

    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.index {
            Some(index) => index.get_index_of(key),
            None => self.entries.iter().position(|(own, _)| key.equivalent(own)),
        }
    }

    /// Puts `node` at `key`. A key that is there keeps its place and its
    /// span, as in Python; the value it had is given back.
    pub fn insert(&mut self, key: Key, node: Node) -> Option<Node> {
        self.size.0.take();
        if let Some(at) = self.position(&key) {
            return Some(std::mem::replace(&mut self.entries[at].1, node));
        }
        self.push(key, node);
        None
    }

    /// Puts `node` at `key`, and replaces a key that is there by this one, in
    /// its place: whoever writes a value wrote its key too.
    pub fn replace(&mut self, key: Key, node: Node) -> Option<Node> {
        self.put(key, node).map(|(_, node)| node)
    }

    /// As [`Mapping::replace`], and says where the key was written before.
    pub(super) fn put(&mut self, key: Key, node: Node) -> Option<(Span, Node)> {
        self.size.0.take();
        if let Some(at) = self.position(&key) {
            let (own, value) = &mut self.entries[at];
            let before = std::mem::replace(&mut own.span, key.span);
            return Some((before, std::mem::replace(value, node)));
        }
        self.push(key, node);
        None
    }

    /// Adds an entry whose key is not there.
    fn push(&mut self, key: Key, node: Node) {
        if let Some(index) = &mut self.index {
            Arc::make_mut(index).insert(key.clone());
        } else if self.entries.len() >= Self::FEW {
            let keys = self.entries.iter().map(|(key, _)| key);
            self.index = Some(Arc::new(keys.chain([&key]).cloned().collect()));
        }
        if self.entries.len() == self.entries.capacity() {
            // What is rendered adds an entry or two to what was written.
            self.entries.reserve_exact(1 + self.entries.len() / 4);
        }
        self.entries.push((key, node));
    }

    /// An empty mapping with the room that another one has left behind.
    pub(super) fn in_room(room: Vec<(Key, Node)>) -> Self {
        debug_assert!(room.is_empty(), "what is left behind is empty");
        Self { entries: room, ..Self::default() }
    }

    /// Moves the entries to where just they have room; what they had is left
    /// behind, for the next mapping.
    pub(super) fn settle(mut self) -> (Self, Vec<(Key, Node)>) {
        let settled = settled(&mut self.entries);
        let room = std::mem::replace(&mut self.entries, settled);
        (self, room)
    }

    /// Takes the entry at `key` out; the others keep their order.
    pub fn remove<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<Node> {
        self.size.0.take();
        let at = self.position(key)?;
        if let Some(index) = &mut self.index {
            Arc::make_mut(index).shift_remove_index(at);
        }
        Some(self.entries.remove(at).1)
    }

    /// Takes the last entry out.
    pub fn pop(&mut self) -> Option<(Key, Node)> {
        self.size.0.take();
        if let Some(index) = &mut self.index {
            Arc::make_mut(index).pop();
        }
        self.entries.pop()
    }

    /// The value of the entry that has so many before it, to change.
    ///
    /// # Panics
    /// Where there are not so many.
    pub fn value_at_mut(&mut self, at: usize) -> &mut Node {
        self.size.0.take();
        &mut self.entries[at].1
    }

    /// Keeps the entries whose keys are to be kept, in their order.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Key) -> bool) {
        let entries = std::mem::take(self).entries;
        *self = entries.into_iter().filter(|(key, _)| keeps(key)).collect();
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        self.entries.iter().map(|(key, node)| (key, node))
    }

    /// The entries, in order, with values to change.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Key, &mut Node)> {
        self.size.0.take();
        self.entries.iter_mut().map(|(key, node)| (&*key, node))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.entries.iter().map(|(_, node)| node)
    }
}

impl PartialEq for Mapping {
    /// Equal as mappings: the same keys with equal values, in any order.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, node)| other.get(key).is_some_and(|twin| node == twin))
    }
}

impl IntoIterator for Mapping {
    type Item = (Key, Node);
    type IntoIter = std::vec::IntoIter<(Key, Node)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl FromIterator<(Key, Node)> for Mapping {
    fn from_iter<I: IntoIterator<Item = (Key, Node)>>(entries: I) -> Self {
        let mut mapping = Self::default();
        for (key, node) in entries {
            mapping.insert(key, node);
        }
        mapping
    }
}

/// What was in a list that grew, where just that has room; the list keeps its
/// own.
pub(super) fn settled<T>(grown: &mut Vec<T>) -> Vec<T> {
    let mut settled = Vec::with_capacity(grown.len());
    settled.append(grown);
    settled
}
