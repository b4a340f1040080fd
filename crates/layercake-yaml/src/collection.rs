//! Lists and mappings that cache their size.
//!
//! Mappings are implemented with a list and an index: an `IndexMap` would execute 3% more
//! instructions in `lint` and use 4% more memory, or 20% more with ten times as many documents.

use std::fmt;
use std::hash::{BuildHasher as _, Hash};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use indexmap::Equivalent;
use layercake_source::{Span, offset};

use super::node::{Key, Node, Value};

/// Size of a value, with shared values counted at each use.
///
/// Collections cache it until they are changed: recomputing it costs only as much as the changes,
/// and values multiplied by aliases or substitutions are measured once.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    nodes: u32,
    bytes: u32,
    height: u16,
    has_capitals: bool,
}

impl Size {
    /// Minimum length in bytes of a word in capitals.
    pub const WORD: usize = 5;

    /// Computes the size of a value.
    pub fn of(node: &Node) -> Self {
        match &node.value {
            Value::Mapping(mapping) => mapping.size(),
            Value::Sequence(items) => items.size(),
            Value::String(text) => {
                let has_capitals = words_in_capitals(text).next().is_some();
                Self {
                    has_capitals,
                    ..Self::ONE
                }
                .with_bytes(text.len())
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

    const ONE: Self = Self {
        nodes: 1,
        bytes: 0,
        height: 0,
        has_capitals: false,
    };

    /// Number of nodes, including the value itself; at most [`u32::MAX`].
    pub fn nodes(self) -> u64 {
        self.nodes.into()
    }

    /// Number of bytes of all strings and binary data, including keys; at most [`u32::MAX`].
    pub fn bytes(self) -> u64 {
        self.bytes.into()
    }

    /// Height of the tree; 0 for a scalar or an empty collection.
    pub fn height(self) -> usize {
        self.height.into()
    }

    /// Whether a string in it, other than a key, contains one of [`words_in_capitals`].
    pub fn has_capitals(self) -> bool {
        self.has_capitals
    }

    fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = self
            .bytes
            .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
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
                unreachable!("the parser rejects collections as keys")
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

/// Words in capitals in a text: at least [`Size::WORD`] characters, all of them capitals, digits or
/// underscores.
pub fn words_in_capitals(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: &u8| letter.is_ascii_alphanumeric() || *letter == b'_';
    let letters = text.as_bytes();
    let mut at = Size::WORD - 1;
    let words = std::iter::from_fn(move || {
        // Steps of the minimum length cannot skip a word.
        while !is_capital(*letters.get(at)?) {
            at += Size::WORD;
        }
        let (before, after) = letters.split_at(at);
        let start = at
            - before
                .iter()
                .rev()
                .take_while(|letter| is_part(letter))
                .count();
        let end = at + after.iter().take_while(|letter| is_part(letter)).count();
        at = end + Size::WORD;
        Some(&text[start..end])
    });
    words.filter(|word| is_in_capitals(word))
}

/// Whether a word is in capitals, as in [`words_in_capitals`].
pub fn is_in_capitals(word: &str) -> bool {
    word.len() >= Size::WORD && word.bytes().all(is_capital)
}

fn is_capital(letter: u8) -> bool {
    matches!(letter, b'A'..=b'Z' | b'0'..=b'9' | b'_')
}

/// A list of nodes.
#[derive(Clone, Default)]
pub struct Sequence {
    items: Vec<Node>,
    size: OnceLock<Size>,
}

impl Sequence {
    /// Size, computed once after each change.
    pub fn size(&self) -> Size {
        *self
            .size
            .get_or_init(|| self.items.iter().fold(Size::ONE, Size::with_child))
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
        self.size.take();
        &mut self.items
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(formatter)
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl From<Vec<Node>> for Sequence {
    fn from(items: Vec<Node>) -> Self {
        Self {
            items,
            size: OnceLock::new(),
        }
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

/// A mapping that preserves the order of its keys.
///
/// It can store only its differences from another mapping and share the rest
/// ([`Mapping::to_change`]), which affects only performance.
#[derive(Clone, Default)]
pub struct Mapping {
    entries: Entries,
    size: OnceLock<Size>,
}

#[derive(Clone)]
enum Entries {
    Own(Own),
    Over(Box<Over>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Own(Own::default())
    }
}

/// Entries stored in a list.
#[derive(Clone, Default)]
struct Own {
    list: Vec<(Key, Node)>,
    /// Present above [`Mapping::MAX_SEARCHED`] entries: most mappings have few keys, and comparing
    /// them is cheaper than an index. Shared with copies, most of which only differ in values.
    index: Option<Arc<Index>>,
}

/// Position of each key in a list, without the keys.
#[derive(Clone, Default)]
struct Index {
    hasher: foldhash::fast::RandomState,
    places: HashTable<u32>,
}

/// Changes to a shared mapping: rendering changes a few values of a document, and copying the rest
/// would dominate its cost.
#[derive(Clone)]
struct Over {
    /// Shared mapping, which owns its entries.
    base: Arc<Mapping>,
    /// Values that replace those of `base`, by position, in order.
    changed: Vec<(usize, Node)>,
    /// Entries after those of `base`.
    added: Vec<(Key, Node)>,
}

impl Mapping {
    /// Maximum number of entries for a linear search.
    const MAX_SEARCHED: usize = 12;
    /// Minimum number of entries that are shared rather than copied.
    const MIN_SHARED: usize = 4;

    /// Creates an empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Size, computed once after each change.
    pub fn size(&self) -> Size {
        *self.size.get_or_init(|| {
            let keys = self.keys().fold(Size::ONE, Size::with_key);
            self.values().fold(keys, Size::with_child)
        })
    }

    /// Returns a mutable mapping. If it is shared, it is replaced by one that stores the changes
    /// and shares the rest; others are not affected.
    pub fn to_change(mapping: &mut Arc<Self>) -> &mut Self {
        let has_own = matches!(mapping.entries, Entries::Own(_));
        if has_own && mapping.len() >= Self::MIN_SHARED && Arc::get_mut(mapping).is_none() {
            let over = Over {
                base: mapping.clone(),
                changed: Vec::new(),
                added: Vec::new(),
            };
            let size = mapping.size.clone();
            *mapping = Arc::new(Self {
                entries: Entries::Over(Box::new(over)),
                size,
            });
        }
        Arc::make_mut(mapping)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Own(own) => own.list.len(),
            Entries::Over(over) => over.base.len() + over.added.len(),
        }
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `key`.
    pub fn get<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&Node> {
        self.get_entry(key).map(|(_, node)| node)
    }

    /// The value at `key`, mutable.
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<&mut Node> {
        self.position(key).map(|at| self.entry_mut(at).1)
    }

    /// The entry at `key`, with the key as written.
    pub fn get_entry<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<(&Key, &Node)> {
        self.position(key).map(|at| self.entry(at))
    }

    /// The entry at `key`, with a mutable value, and whether it existed; otherwise inserts the
    /// result of `make`.
    pub(super) fn get_or_insert_with(
        &mut self,
        key: &str,
        make: impl FnOnce() -> (Key, Node),
    ) -> (&Key, &mut Node, bool) {
        let found = self.position(key);
        let at = found.unwrap_or_else(|| {
            let (key, node) = make();
            self.push(key, node);
            self.len() - 1
        });
        let (key, node) = self.entry_mut(at);
        (key, node, found.is_some())
    }

    /// Inserts `node` at `key`, and returns the previous value. As in Python, an existing key keeps
    /// its position and span.
    pub fn insert(&mut self, key: Key, node: Node) -> Option<Node> {
        if let Some(at) = self.position(&key) {
            return Some(std::mem::replace(self.entry_mut(at).1, node));
        }
        self.push(key, node);
        None
    }

    /// Inserts `node` at `key`, and replaces an existing key at its position, because key and value
    /// have the same source.
    pub fn replace(&mut self, key: Key, node: Node) -> Option<Node> {
        self.put(key, node).map(|(_, node)| node)
    }

    /// Like [`Mapping::replace`], but also returns the span of the previous key.
    pub(super) fn put(&mut self, key: Key, node: Node) -> Option<(Span, Node)> {
        if let Some(at) = self.position(&key) {
            let (own, value) = &mut self.own().list[at];
            let before = std::mem::replace(&mut own.span, key.span);
            return Some((before, std::mem::replace(value, node)));
        }
        self.push(key, node);
        None
    }

    /// Removes the entry at `key`, preserving the order.
    pub fn remove<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<Node> {
        let at = self.position(key)?;
        Some(self.own().remove(at).1)
    }

    /// Removes the last entry.
    pub fn pop(&mut self) -> Option<(Key, Node)> {
        let last = self.len().checked_sub(1)?;
        Some(self.own().remove(last))
    }

    /// Keeps only the entries whose keys satisfy the predicate.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Key) -> bool) {
        let entries = std::mem::take(self).into_iter();
        *self = entries.filter(|(key, _)| keeps(key)).collect();
    }

    /// The value at a position, mutable.
    ///
    /// # Panics
    /// If the position is out of range.
    pub fn value_at_mut(&mut self, at: usize) -> &mut Node {
        self.entry_mut(at).1
    }

    /// The entry at an index.
    pub fn entry_at(&self, at: usize) -> Option<(&Key, &Node)> {
        (at < self.len()).then(|| self.entry(at))
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        (0..self.len()).map(move |at| self.entry(at))
    }

    /// The entries in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Key, &mut Node)> {
        self.own().list.iter_mut().map(|(key, node)| (&*key, node))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.iter().map(|(_, node)| node)
    }

    /// Creates an empty mapping that reuses a buffer.
    pub(super) fn in_buffer(buffer: Vec<(Key, Node)>) -> Self {
        debug_assert!(buffer.is_empty(), "the buffer is empty");
        let entries = Entries::Own(Own {
            list: buffer,
            index: None,
        });
        Self {
            entries,
            size: OnceLock::new(),
        }
    }

    /// Moves the entries to a buffer of the exact size, and returns the old buffer for reuse.
    pub(super) fn settle(mut self) -> (Self, Vec<(Key, Node)>) {
        let list = &mut self.own().list;
        let settled = settled(list);
        let buffer = std::mem::replace(list, settled);
        (self, buffer)
    }

    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.entries {
            Entries::Own(own) => own.position(key),
            Entries::Over(over) => over.position(key),
        }
    }

    fn entry(&self, at: usize) -> (&Key, &Node) {
        match &self.entries {
            Entries::Own(own) => own.entry(at),
            Entries::Over(over) => over.entry(at),
        }
    }

    fn entry_mut(&mut self, at: usize) -> (&Key, &mut Node) {
        self.size.take();
        // If most values are changed, sharing has no benefit.
        if let Entries::Over(over) = &self.entries
            && over.changed.len() > over.base.len() / 2
        {
            self.own();
        }
        match &mut self.entries {
            Entries::Own(own) => {
                let (key, node) = &mut own.list[at];
                (key, node)
            }
            Entries::Over(over) => over.entry_mut(at),
        }
    }

    /// Appends an entry whose key does not exist yet.
    fn push(&mut self, key: Key, node: Node) {
        self.size.take();
        match &mut self.entries {
            // Added entries are searched linearly.
            Entries::Over(over) if over.added.len() < Self::MAX_SEARCHED => {
                make_room(&mut over.added);
                over.added.push((key, node));
            }
            Entries::Over(_) => self.own().push(key, node),
            Entries::Own(own) => own.push(key, node),
        }
    }

    /// The entries in their own list, copied if they were shared.
    fn own(&mut self) -> &mut Own {
        self.size.take();
        if let Entries::Over(over) = &self.entries {
            self.entries = Entries::Own(over.as_own());
        }
        match &mut self.entries {
            Entries::Own(own) => own,
            Entries::Over(_) => unreachable!("the entries were just copied"),
        }
    }
}

impl Own {
    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.index {
            Some(index) => index.find(key, &self.list),
            None => self.list.iter().position(|(own, _)| key.equivalent(own)),
        }
    }

    fn entry(&self, at: usize) -> (&Key, &Node) {
        let (key, node) = &self.list[at];
        (key, node)
    }

    fn push(&mut self, key: Key, node: Node) {
        make_room(&mut self.list);
        self.list.push((key, node));
        self.complete_index();
    }

    fn remove(&mut self, at: usize) -> (Key, Node) {
        if let Some(index) = &mut self.index {
            Arc::make_mut(index).remove(at, &self.list);
        }
        self.list.remove(at)
    }

    /// Adds missing keys to the index, if the mapping is large enough to have one.
    fn complete_index(&mut self) {
        if self.index.is_none() && self.list.len() <= Mapping::MAX_SEARCHED {
            return;
        }
        let index = self.index.get_or_insert_default();
        if index.places.len() < self.list.len() {
            Arc::make_mut(index).complete(&self.list);
        }
    }
}

impl Index {
    /// Position of a key in `list`.
    fn find<Q: ?Sized + Hash + Equivalent<Key>>(
        &self,
        key: &Q,
        list: &[(Key, Node)],
    ) -> Option<usize> {
        self.places
            .find(self.hasher.hash_one(key), |at| {
                key.equivalent(&list[*at as usize].0)
            })
            .map(|at| *at as usize)
    }

    /// Adds the last keys of `list`, which are not indexed yet.
    fn complete(&mut self, list: &[(Key, Node)]) {
        let Self { hasher, places } = self;
        let hash = |at: &u32| hasher.hash_one(&list[*at as usize].0);
        places.reserve(list.len() - places.len(), hash);
        for at in offset(places.len())..offset(list.len()) {
            places.insert_unique(hash(&at), at, hash);
        }
    }

    /// Removes a key that will be removed from `list`.
    fn remove(&mut self, at: usize, list: &[(Key, Node)]) {
        let hash = self.hasher.hash_one(&list[at].0);
        let at = offset(at);
        if let Ok(place) = self.places.find_entry(hash, |place| *place == at) {
            place.remove();
        }
        if (at as usize) + 1 < list.len() {
            for behind in self.places.iter_mut().filter(|place| **place > at) {
                *behind -= 1;
            }
        }
    }
}

impl Over {
    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        self.base.position(key).or_else(|| {
            let added = self.added.iter().position(|(own, _)| key.equivalent(own));
            added.map(|at| self.base.len() + at)
        })
    }

    fn entry(&self, at: usize) -> (&Key, &Node) {
        if let Some(added) = at.checked_sub(self.base.len()) {
            let (key, node) = &self.added[added];
            return (key, node);
        }
        let (key, node) = self.base.entry(at);
        (
            key,
            self.changed_at(at)
                .map_or(node, |here| &self.changed[here].1),
        )
    }

    fn entry_mut(&mut self, at: usize) -> (&Key, &mut Node) {
        if let Some(added) = at.checked_sub(self.base.len()) {
            let (key, node) = &mut self.added[added];
            return (key, node);
        }
        let here = self.changed_at(at);
        let (key, node) = self.base.entry(at);
        let here = here.unwrap_or_else(|here| {
            make_room(&mut self.changed);
            self.changed.insert(here, (at, node.clone()));
            here
        });
        (key, &mut self.changed[here].1)
    }

    /// Binary search in `changed` for a position.
    fn changed_at(&self, at: usize) -> Result<usize, usize> {
        self.changed
            .binary_search_by_key(&at, |(changed, _)| *changed)
    }

    fn as_own(&self) -> Own {
        let mut list = Vec::with_capacity(self.base.len() + self.added.len());
        let places = 0..list.capacity();
        list.extend(
            places
                .map(|at| self.entry(at))
                .map(|(key, node)| (key.clone(), node.clone())),
        );
        let index = match &self.base.entries {
            Entries::Own(base) => base.index.clone(),
            Entries::Over(_) => None,
        };
        let mut own = Own { list, index };
        own.complete_index();
        own
    }
}

/// Grows a full list by a little: rendering adds only an entry or two.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(1 + list.len() / 4);
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for Mapping {
    /// Compares keys and values, regardless of order.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|(key, node)| other.get(key).is_some_and(|value| node == value))
    }
}

impl IntoIterator for Mapping {
    type Item = (Key, Node);
    type IntoIter = std::vec::IntoIter<(Key, Node)>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut self.own().list).into_iter()
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

/// Moves the items of a list to a buffer of the exact size; the list keeps its capacity.
pub(super) fn settled<T>(grown: &mut Vec<T>) -> Vec<T> {
    let mut settled = Vec::with_capacity(grown.len());
    settled.append(grown);
    settled
}
