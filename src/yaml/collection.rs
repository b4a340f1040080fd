//! Lists and mappings, which know how large they are.

use std::fmt;
use std::hash::{BuildHasher as _, Hash};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use indexmap::Equivalent;

use super::node::{Key, Node, Value};
use crate::source::{Span, offset};

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
///
/// One that differs in a few entries from another may hold these alone, and share
/// the others ([`Mapping::to_change`]): nothing of that shows but in what it costs.
#[derive(Clone, Default)]
pub struct Mapping {
    entries: Entries,
    size: Known,
}

#[derive(Clone)]
enum Entries {
    /// All its own.
    Own(Own),
    /// Those of another mapping, but for some.
    Over(Box<Over>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Own(Own::default())
    }
}

/// Entries in a list.
#[derive(Clone, Default)]
struct Own {
    list: Vec<(Key, Node)>,
    /// Where the keys are, if there are many of them. Nearly all mappings have a
    /// few: to compare these costs less than to keep a table. Shared with copies,
    /// most of which get other values at the same keys.
    index: Option<Arc<Index>>,
}

/// Where each key of a list is, without the keys.
#[derive(Clone, Default)]
struct Index {
    hasher: foldhash::fast::RandomState,
    /// For each key how many are before it.
    places: HashTable<u32>,
}

/// Entries over those of another mapping: what rendering writes into a document is
/// a few values of it, and to copy the rest would be most of what rendering costs.
#[derive(Clone)]
struct Over {
    /// All of its entries are its own.
    base: Arc<Mapping>,
    /// Values in place of those of `base`, each with how many are before it there.
    changed: Vec<(usize, Node)>,
    /// What comes behind the entries of `base`.
    added: Vec<(Key, Node)>,
}

impl Mapping {
    /// A mapping of more entries has an index.
    const FEW: usize = 12;
    /// A mapping of fewer entries is copied rather than shared.
    const FEWEST_SHARED: usize = 4;

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

    /// The mapping, to change. Where others have it, too, theirs stays as it is: it
    /// is then one of its own, which shares with theirs what is not changed.
    pub fn to_change(mapping: &mut Arc<Self>) -> &mut Self {
        let has_own = matches!(mapping.entries, Entries::Own(_));
        if has_own && mapping.len() >= Self::FEWEST_SHARED && Arc::get_mut(mapping).is_none() {
            let (changed, added) = (Vec::new(), Vec::new());
            let over = Over { base: mapping.clone(), changed, added };
            let size = mapping.size.clone();
            *mapping = Arc::new(Self { entries: Entries::Over(Box::new(over)), size });
        }
        Arc::make_mut(mapping)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Own(own) => own.list.len(),
            Entries::Over(over) => over.base.len() + over.added.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `key`.
    pub fn get<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&Node> {
        self.get_entry(key).map(|(_, node)| node)
    }

    /// The value at `key`, to change.
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<&mut Node> {
        self.position(key).map(|at| self.entry_mut(at).1)
    }

    /// The key as it is written, and its value.
    pub fn get_entry<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<(&Key, &Node)> {
        match &self.entries {
            Entries::Own(own) => own.entry_of(key),
            Entries::Over(over) => over.position(key).map(|at| over.entry(at)),
        }
    }

    /// The key as it is written, and its value, to change; where there is none,
    /// what `make` gives is put there first. Whether it was there.
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

    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.entries {
            Entries::Own(own) => own.position(key),
            Entries::Over(over) => over.position(key),
        }
    }

    /// The entry that has so many before it, to change.
    fn entry_mut(&mut self, at: usize) -> (&Key, &mut Node) {
        self.size.0.take();
        // What is nearly all another one has nothing to share.
        if let Entries::Over(over) = &self.entries
            && over.changed.len() > over.base().list.len() / 2
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

    /// The entries, all its own from now on, to change.
    fn own(&mut self) -> &mut Own {
        self.size.0.take();
        if let Entries::Over(over) = &self.entries {
            self.entries = Entries::Own(over.as_own());
        }
        match &mut self.entries {
            Entries::Own(own) => own,
            Entries::Over(_) => unreachable!("they have just been made its own"),
        }
    }

    /// Puts `node` at `key`. A key that is there keeps its place and its
    /// span, as in Python; the value it had is given back.
    pub fn insert(&mut self, key: Key, node: Node) -> Option<Node> {
        if let Some(at) = self.position(&key) {
            return Some(std::mem::replace(self.entry_mut(at).1, node));
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
        if let Some(at) = self.position(&key) {
            let (own, value) = &mut self.own().list[at];
            let before = std::mem::replace(&mut own.span, key.span);
            return Some((before, std::mem::replace(value, node)));
        }
        self.push(key, node);
        None
    }

    /// Adds an entry whose key is not there.
    fn push(&mut self, key: Key, node: Node) {
        self.size.0.take();
        match &mut self.entries {
            // These are looked through one by one.
            Entries::Over(over) if over.added.len() < Self::FEW => {
                if over.added.len() == over.added.capacity() {
                    over.added.reserve_exact(1 + over.added.len() / 2);
                }
                over.added.push((key, node));
            }
            Entries::Over(_) => self.own().push(key, node),
            Entries::Own(own) => own.push(key, node),
        }
    }

    /// An empty mapping with the room that another one has left behind.
    pub(super) fn in_room(room: Vec<(Key, Node)>) -> Self {
        debug_assert!(room.is_empty(), "what is left behind is empty");
        let entries = Entries::Own(Own { list: room, index: None });
        Self { entries, size: Known::default() }
    }

    /// Moves the entries to where just they have room; what they had is left
    /// behind, for the next mapping.
    pub(super) fn settle(mut self) -> (Self, Vec<(Key, Node)>) {
        let list = &mut self.own().list;
        let settled = settled(list);
        let room = std::mem::replace(list, settled);
        (self, room)
    }

    /// Takes the entry at `key` out; the others keep their order.
    pub fn remove<Q: ?Sized + Hash + Equivalent<Key>>(&mut self, key: &Q) -> Option<Node> {
        let at = self.position(key)?;
        let own = self.own();
        if let Some(index) = &mut own.index {
            Arc::make_mut(index).remove(at, &own.list);
        }
        Some(own.list.remove(at).1)
    }

    /// Takes the last entry out.
    pub fn pop(&mut self) -> Option<(Key, Node)> {
        let own = self.own();
        if let (Some(index), Some(last)) = (&mut own.index, own.list.len().checked_sub(1)) {
            Arc::make_mut(index).remove(last, &own.list);
        }
        own.list.pop()
    }

    /// The value of the entry that has so many before it, to change.
    ///
    /// # Panics
    /// Where there are not so many.
    pub fn value_at_mut(&mut self, at: usize) -> &mut Node {
        self.entry_mut(at).1
    }

    /// Keeps the entries whose keys are to be kept, in their order.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Key) -> bool) {
        let entries = std::mem::take(self).into_iter();
        *self = entries.filter(|(key, _)| keeps(key)).collect();
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        match &self.entries {
            Entries::Own(own) => {
                Iter { list: own.list.iter(), at: 0, changed: &[], added: [].iter() }
            }
            Entries::Over(over) => over.iter(),
        }
    }

    /// The entries, in order, with values to change.
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
}

impl Own {
    fn entry_of<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<(&Key, &Node)> {
        let entry = match &self.index {
            Some(index) => index.find(key, &self.list).map(|at| &self.list[at]),
            None => self.list.iter().find(|(own, _)| key.equivalent(own)),
        };
        entry.map(|(key, node)| (key, node))
    }

    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.index {
            Some(index) => index.find(key, &self.list),
            None => self.list.iter().position(|(own, _)| key.equivalent(own)),
        }
    }

    fn push(&mut self, key: Key, node: Node) {
        if self.list.len() == self.list.capacity() {
            // What is rendered adds an entry or two to what was written.
            self.list.reserve_exact(1 + self.list.len() / 4);
        }
        self.list.push((key, node));
        if self.index.is_some() || self.list.len() > Mapping::FEW {
            self.complete_index();
        }
    }

    /// Adds to the index the keys that are not in it yet, if there is to be one.
    fn complete_index(&mut self) {
        if self.index.is_none() && self.list.len() <= Mapping::FEW {
            return;
        }
        let index = self.index.get_or_insert_default();
        if index.places.len() < self.list.len() {
            Arc::make_mut(index).complete(&self.list);
        }
    }
}

impl Index {
    /// How many keys are before this one in `list`, if it is there.
    fn find<Q: ?Sized + Hash + Equivalent<Key>>(
        &self,
        key: &Q,
        list: &[(Key, Node)],
    ) -> Option<usize> {
        let is_there = |at: &u32| key.equivalent(&list[*at as usize].0);
        self.places.find(self.hasher.hash_one(key), is_there).map(|at| *at as usize)
    }

    /// Adds the last keys of `list`, which are not known yet.
    fn complete(&mut self, list: &[(Key, Node)]) {
        let Self { hasher, places } = self;
        let hash = |at: &u32| hasher.hash_one(&list[*at as usize].0);
        places.reserve(list.len() - places.len(), hash);
        for at in offset(places.len())..offset(list.len()) {
            places.insert_unique(hash(&at), at, hash);
        }
    }

    /// Takes a key out that will be taken out of `list`.
    fn remove(&mut self, at: usize, list: &[(Key, Node)]) {
        let (hash, at) = (self.hasher.hash_one(&list[at].0), offset(at));
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
    fn base(&self) -> &Own {
        own_of(&self.base)
    }

    fn position<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        let base = self.base();
        base.position(key).or_else(|| {
            let added = self.added.iter().position(|(own, _)| key.equivalent(own));
            added.map(|at| base.list.len() + at)
        })
    }

    fn entry(&self, at: usize) -> (&Key, &Node) {
        let base = &self.base().list;
        let Some(added) = at.checked_sub(base.len()) else {
            let (key, node) = &base[at];
            let changed = self.changed.binary_search_by_key(&at, |(changed, _)| *changed);
            return (key, changed.map_or(node, |changed| &self.changed[changed].1));
        };
        let (key, node) = &self.added[added];
        (key, node)
    }

    fn entry_mut(&mut self, at: usize) -> (&Key, &mut Node) {
        let Self { base, changed, added } = self;
        let base = &own_of(base).list;
        if let Some(added_at) = at.checked_sub(base.len()) {
            let (key, node) = &mut added[added_at];
            return (key, node);
        }
        let (key, node) = &base[at];
        let here = match changed.binary_search_by_key(&at, |(changed, _)| *changed) {
            Ok(here) => here,
            Err(here) => {
                if changed.len() == changed.capacity() {
                    changed.reserve_exact(1 + changed.len() / 2);
                }
                changed.insert(here, (at, node.clone()));
                here
            }
        };
        (key, &mut changed[here].1)
    }

    fn iter(&self) -> Iter<'_> {
        let list = self.base().list.iter();
        Iter { list, at: 0, changed: &self.changed, added: self.added.iter() }
    }

    fn as_own(&self) -> Own {
        let base = self.base();
        let mut list = Vec::with_capacity(base.list.len() + self.added.len());
        list.extend(self.iter().map(|(key, node)| (key.clone(), node.clone())));
        let mut own = Own { list, index: base.index.clone() };
        own.complete_index();
        own
    }
}

/// The entries of a mapping that is shared as the base of others.
fn own_of(base: &Mapping) -> &Own {
    match &base.entries {
        Entries::Own(own) => own,
        Entries::Over(_) => unreachable!("what others are over has entries of its own"),
    }
}

/// The entries of a mapping.
struct Iter<'m> {
    list: std::slice::Iter<'m, (Key, Node)>,
    /// How many of `list` have been given.
    at: usize,
    changed: &'m [(usize, Node)],
    added: std::slice::Iter<'m, (Key, Node)>,
}

impl<'m> Iterator for Iter<'m> {
    type Item = (&'m Key, &'m Node);

    fn next(&mut self) -> Option<Self::Item> {
        let Some((key, node)) = self.list.next() else {
            return self.added.next().map(|(key, node)| (key, node));
        };
        let here = self.at;
        self.at += 1;
        match self.changed {
            [(at, changed), rest @ ..] if *at == here => {
                self.changed = rest;
                Some((key, changed))
            }
            _ => Some((key, node)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.len() + self.added.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl fmt::Debug for Mapping {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
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

/// What was in a list that grew, where just that has room; the list keeps its
/// own.
pub(super) fn settled<T>(grown: &mut Vec<T>) -> Vec<T> {
    let mut settled = Vec::with_capacity(grown.len());
    settled.append(grown);
    settled
}
