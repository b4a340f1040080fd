//! Locations in data.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use super::parse;
use crate::{Key, Mapping, Node, Value};

/// A location: keys and indexes from the root. Displayed as `.a.b[0]`, which parses as a path to
/// the same location; non-string keys are displayed without quotes. A key `*` has no path, because
/// even a quoted `*` is a wildcard (10.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location(pub Vec<Piece>);

/// A piece of a [`Location`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Value at a key.
    Key(Key),
    /// Element of a list, from 0.
    Index(usize),
}

/// A keyed list item on the path to a location.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Index of its piece in the location.
    pub at: usize,
    /// Identifying key.
    pub key: Arc<str>,
    /// String or number at the key, unique in the list.
    pub name: Node,
}

/// Children of a mapping or list, in order, with their pieces.
pub fn children(node: &Node) -> impl Iterator<Item = (Piece, &Node)> {
    let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    let items = node.as_sequence().unwrap_or_default().iter().enumerate();
    entries
        .map(|(key, child)| (Piece::Key(key.clone()), child))
        .chain(items.map(|(index, child)| (Piece::Index(index), child)))
}

/// The node at a sequence of pieces.
pub fn at<'a>(pieces: &[Piece], data: &'a Node) -> Option<&'a Node> {
    pieces
        .iter()
        .try_fold(data, |node, piece| child(node, piece))
}

/// Hashes of all prefixes of a location, from the root to itself: equal for equal locations, almost
/// certainly different for others.
pub fn hashes(pieces: &[Piece]) -> impl Iterator<Item = u64> {
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    let root = hasher.finish();
    let below = pieces.iter().map(move |piece| {
        piece.hash(&mut hasher);
        hasher.finish()
    });
    std::iter::once(root).chain(below)
}

/// Children of a mapping or list, in order.
pub fn inside(node: &Node) -> impl Iterator<Item = &Node> {
    let entries = node.as_mapping().into_iter().flat_map(Mapping::values);
    entries.chain(node.as_sequence().unwrap_or_default())
}

/// First location below the root that satisfies `holds`, in preorder.
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
    /// The key, if it is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Piece::Key(key) => key.as_str(),
            Piece::Index(_) => None,
        }
    }
}

impl Location {
    /// Creates the location of the root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// First key, if it is a string.
    pub fn first_key(&self) -> Option<&str> {
        self.0.first()?.as_text()
    }

    /// Whether `other` is an ancestor of this location or equal.
    pub fn starts_with(&self, other: &Location) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Relative path from the ancestor `around`, if it is one.
    pub fn below(&self, around: &Location) -> Option<Location> {
        self.0
            .strip_prefix(around.0.as_slice())
            .map(|rest| Self(rest.to_vec()))
    }

    /// Parent location; `None` for the root.
    pub fn parent(&self) -> Option<Location> {
        let (_, parents) = self.0.split_last()?;
        Some(Self(parents.to_vec()))
    }

    /// Locations around this one, the root first.
    pub fn ancestors(&self) -> impl Iterator<Item = Location> {
        (0..self.0.len()).map(|length| Self(self.0[..length].to_vec()))
    }

    /// Locations of the lists around this one, the outermost first.
    pub fn lists(&self) -> impl Iterator<Item = Location> {
        let items = self.ancestors().zip(&self.0);
        items
            .filter(|(_, item)| matches!(item, Piece::Index(_)))
            .map(|(list, _)| list)
    }

    /// Location of the child at `piece`.
    #[must_use]
    pub fn join(&self, piece: Piece) -> Self {
        let mut pieces = Vec::with_capacity(self.0.len() + 1);
        pieces.extend_from_slice(&self.0);
        pieces.push(piece);
        Self(pieces)
    }

    /// Location at `below`, relative to this one.
    #[must_use]
    pub fn joined(&self, below: &Location) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Returns the location with its keys as written in `data`, as far as they exist.
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

    /// Displays the location as `.a[name=b].c`, using these items' names; other items use indexes.
    pub fn with_items<'l>(&'l self, items: &'l [Item]) -> impl fmt::Display + use<'l> {
        WithItems {
            location: self,
            items,
        }
    }

    /// The node at this location.
    pub fn get<'a>(&self, data: &'a Node) -> Option<&'a Node> {
        at(&self.0, data)
    }

    /// The node at this location, mutable. Shared ancestors are copied, one level each; nothing is
    /// copied if the node does not exist.
    pub fn get_mut<'a>(&self, data: &'a mut Node) -> Option<&'a mut Node> {
        self.get(data)?;
        self.0
            .iter()
            .try_fold(data, |node, piece| child_mut(node, piece))
    }

    /// Removes the entry or element at this location; the root cannot be removed.
    pub fn remove(&self, data: &mut Node) -> Option<Node> {
        self.get(data)?;
        let (last, parents) = self.0.split_last()?;
        let parent = parents
            .iter()
            .try_fold(data, |node, piece| child_mut(node, piece))?;
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

/// The node at `piece` of `node`, mutable.
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
        // A writable path cannot begin with a bracket.
        if matches!(pieces.first(), Some(Piece::Index(_))) {
            formatter.write_str(".")?;
        }
        pieces.iter().enumerate().try_for_each(|(at, piece)| {
            let item = self.items.iter().find(|item| item.at == at);
            let Some(Item { key, name, .. }) = item else {
                return piece.fmt(formatter);
            };
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
            write!(
                formatter,
                "{:04}-{:02}-{:02}",
                date.year, date.month, date.day
            )
        }
        Value::Timestamp(time) => {
            let date = time.date;
            write!(
                formatter,
                "{:04}-{:02}-{:02}",
                date.year, date.month, date.day
            )?;
            write!(
                formatter,
                "T{:02}:{:02}:{:02}",
                time.hour, time.minute, time.second
            )
        }
        Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => write!(formatter, "<{}>", value.kind()),
    }
}
