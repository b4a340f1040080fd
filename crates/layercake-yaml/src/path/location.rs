//! A concrete place in some data.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use super::parse;
use crate::{Key, Mapping, Node, Value};

/// A place: keys and indexes from the root. Shows as `.a.b[0]`, which reads
/// back as a path to the same place; keys that are no text show bare. No path
/// leads to the key `*` alone: even in quotes it stands for all (10.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location(pub Vec<Piece>);

/// One step of a [`Location`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// The value at a key.
    Key(Key),
    /// An element of a list, from 0.
    Index(usize),
}

/// An item of a list on the way to a place, by the key that it is known by.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Index of its piece among those of the place.
    pub at: usize,
    /// The key.
    pub key: Arc<str>,
    /// The text or number at the key, which no other item of the list has there.
    pub name: Node,
}

/// What stands directly inside a mapping or list, in order, and where in it.
pub fn children(node: &Node) -> impl Iterator<Item = (Piece, &Node)> {
    let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    let items = node.as_sequence().unwrap_or_default().iter().enumerate();
    entries
        .map(|(key, child)| (Piece::Key(key.clone()), child))
        .chain(items.map(|(index, child)| (Piece::Index(index), child)))
}

/// The node to which pieces lead.
pub fn at<'a>(pieces: &[Piece], data: &'a Node) -> Option<&'a Node> {
    pieces.iter().try_fold(data, |node, piece| child(node, piece))
}

/// A hash of each place around the one to which pieces lead, from the root, and
/// of its own: equal places have equal hashes, and others nearly never.
pub fn hashes(pieces: &[Piece]) -> impl Iterator<Item = u64> {
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    let root = hasher.finish();
    let below = pieces.iter().map(move |piece| {
        piece.hash(&mut hasher);
        hasher.finish()
    });
    std::iter::once(root).chain(below)
}

/// What stands directly inside a mapping or list, in order.
pub fn inside(node: &Node) -> impl Iterator<Item = &Node> {
    let entries = node.as_mapping().into_iter().flat_map(Mapping::values);
    entries.chain(node.as_sequence().unwrap_or_default())
}

/// The first place below the root of which `holds`: depth first, a node before
/// what is in it, in order.
pub fn first_inside(
    data: &Node,
    mut holds: impl FnMut(&Node, &Location) -> bool,
) -> Option<Location> {
    let mut here = Location::root();
    search(data, &mut here, &mut holds).then_some(here)
}

fn search(
    node: &Node,
    here: &mut Location,
    holds: &mut dyn FnMut(&Node, &Location) -> bool,
) -> bool {
    children(node).any(|(piece, child)| {
        here.0.push(piece);
        let found = holds(child, here) || search(child, here, holds);
        if !found {
            here.0.pop();
        }
        found
    })
}

impl Piece {
    /// The key, if it is one and a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Piece::Key(key) => key.as_str(),
            Piece::Index(_) => None,
        }
    }
}

impl Location {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `other` is this place or one around it.
    pub fn starts_with(&self, other: &Location) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The way to this place from `around`, if it is inside that or is it.
    pub fn below(&self, around: &Location) -> Option<Location> {
        self.0.strip_prefix(around.0.as_slice()).map(|rest| Self(rest.to_vec()))
    }

    /// The place around this one; none for the root.
    pub fn parent(&self) -> Option<Location> {
        let (_, parents) = self.0.split_last()?;
        Some(Self(parents.to_vec()))
    }

    /// The place at `piece` inside this one.
    #[must_use]
    pub fn join(&self, piece: Piece) -> Self {
        let mut pieces = Vec::with_capacity(self.0.len() + 1);
        pieces.extend_from_slice(&self.0);
        pieces.push(piece);
        Self(pieces)
    }

    /// The place `below` inside this one.
    #[must_use]
    pub fn joined(&self, below: &Location) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// The same place with its keys as they are written in `data`, as far as it leads
    /// there.
    #[must_use]
    pub fn in_data(&self, data: &Node) -> Self {
        let mut here = Some(data);
        let pieces = self.0.iter().map(|piece| {
            let mapping = here.and_then(Node::as_mapping);
            here = here.and_then(|node| child(node, piece));
            match (piece, mapping) {
                (Piece::Key(key), Some(mapping)) => {
                    Piece::Key(mapping.get_entry(key).map_or(key, |(key, _)| key).clone())
                }
                (piece, _) => piece.clone(),
            }
        });
        Self(pieces.collect())
    }

    /// Shows as `.a[name=b].c`, with these items by their names; others by their indexes.
    pub fn with_items<'l>(&'l self, items: &'l [Item]) -> impl fmt::Display + use<'l> {
        WithItems { location: self, items }
    }

    /// The node here.
    pub fn get<'a>(&self, data: &'a Node) -> Option<&'a Node> {
        at(&self.0, data)
    }

    /// The node here, to change. What is shared on the way to it is copied,
    /// one level of each; where there is no node, nothing is.
    pub fn get_mut<'a>(&self, data: &'a mut Node) -> Option<&'a mut Node> {
        self.get(data)?;
        self.0.iter().try_fold(data, |node, piece| child_mut(node, piece))
    }

    /// Takes the entry or element here out; the root cannot be.
    pub fn remove(&self, data: &mut Node) -> Option<Node> {
        self.get(data)?;
        let (last, parents) = self.0.split_last()?;
        let parent = parents.iter().try_fold(data, |node, piece| child_mut(node, piece))?;
        match (&mut parent.value, last) {
            (Value::Mapping(mapping), Piece::Key(key)) => Arc::make_mut(mapping).remove(key),
            (Value::Sequence(items), Piece::Index(index)) => {
                Some(Arc::make_mut(items).remove(*index))
            }
            _ => None,
        }
    }
}

/// The node at `piece` of `node`.
pub fn child<'a>(node: &'a Node, piece: &Piece) -> Option<&'a Node> {
    match (&node.value, piece) {
        (Value::Mapping(mapping), Piece::Key(key)) => at_key(mapping, key),
        (Value::Sequence(items), Piece::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// The node at `piece` of `node`, to change.
pub(super) fn child_mut<'a>(node: &'a mut Node, piece: &Piece) -> Option<&'a mut Node> {
    match (&mut node.value, piece) {
        (Value::Mapping(mapping), Piece::Key(key)) => {
            let mapping = Mapping::to_change(mapping);
            match key.as_str() {
                Some(text) => mapping.get_mut(text),
                None => mapping.get_mut(key),
            }
        }
        (Value::Sequence(items), Piece::Index(index)) => Arc::make_mut(items).get_mut(*index),
        _ => None,
    }
}

fn at_key<'a>(mapping: &'a Mapping, key: &Key) -> Option<&'a Node> {
    match key.as_str() {
        Some(text) => mapping.get(text),
        None => mapping.get(key),
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_items(&[]).fmt(formatter)
    }
}

struct WithItems<'l> {
    location: &'l Location,
    items: &'l [Item],
}

impl fmt::Display for WithItems<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = &self.location.0;
        if pieces.is_empty() {
            return formatter.write_str(".");
        }
        // A path cannot begin with a bracket and be written to.
        if matches!(pieces.first(), Some(Piece::Index(_))) {
            formatter.write_str(".")?;
        }
        pieces.iter().enumerate().try_for_each(|(at, piece)| {
            let item = self.items.iter().find(|item| item.at == at);
            let Some(Item { key, name, .. }) = item else { return piece.fmt(formatter) };
            formatter.write_str("[")?;
            write_text(key, formatter)?;
            formatter.write_str("=")?;
            write_value(&name.value, formatter)?;
            formatter.write_str("]")
        })
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Index(index) => write!(formatter, "[{index}]"),
            Piece::Key(key) => {
                formatter.write_str(".")?;
                write_value(&key.value, formatter)
            }
        }
    }
}

fn write_text(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if parse::is_bare_name(text) {
        return formatter.write_str(text);
    }
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
    write!(formatter, "'{escaped}'")
}

fn write_value(value: &Value, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(text) => write_text(text, formatter),
        Value::Null => formatter.write_str("null"),
        Value::Bool(bool) => write!(formatter, "{bool}"),
        Value::Int(int) => write!(formatter, "{int}"),
        Value::BigInt(digits) => formatter.write_str(digits),
        Value::Float(float) => write!(formatter, "{float:?}"),
        Value::Date(date) => {
            write!(formatter, "{:04}-{:02}-{:02}", date.year, date.month, date.day)
        }
        Value::Timestamp(time) => {
            let date = time.date;
            write!(formatter, "{:04}-{:02}-{:02}", date.year, date.month, date.day)?;
            write!(formatter, "T{:02}:{:02}:{:02}", time.hour, time.minute, time.second)
        }
        Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => write!(formatter, "<{}>", value.kind()),
    }
}
