//! Names of parts of a report: a letter and a number from one, such as `e3`.

use std::fmt::{self, Display};

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of one part of a kind, which is its index among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id<const LETTER: char>(u32);

/// An edit.
pub(crate) type EditRef = Id<'e'>;
/// A group of outputs that changed alike.
pub(crate) type GroupRef = Id<'g'>;
/// A route from an edit to an output.
pub(crate) type RouteRef = Id<'r'>;
/// A set of sites.
pub(crate) type SetRef = Id<'s'>;
/// A text of which lines are kept.
pub(crate) type TextRef = Id<'t'>;

impl<const LETTER: char> Id<LETTER> {
    /// The name of the part at this index.
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a report has far fewer than 2^32 parts"))
    }

    /// The index among the parts of its kind.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// The part of this name; none where a saved report has no such part.
    pub(crate) fn of<T>(self, parts: &[T]) -> Option<&T> {
        parts.get(self.index())
    }
}

impl<const LETTER: char> Display for Id<LETTER> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{LETTER}{}", self.index() + 1)
    }
}

impl<const LETTER: char> Serialize for Id<LETTER> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const LETTER: char> Deserialize<'de> for Id<LETTER> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(IdVisitor::<LETTER>)
    }
}

struct IdVisitor<const LETTER: char>;

impl<const LETTER: char> Visitor<'_> for IdVisitor<LETTER> {
    type Value = Id<LETTER>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a name such as `{LETTER}1`")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let number = name.strip_prefix(LETTER).and_then(|number| number.parse::<u32>().ok());
        let id = number.and_then(|number| number.checked_sub(1)).map(Id);
        // A second spelling, such as `e01`, would be a second name of the same part.
        id.filter(|id| id.to_string() == name)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}
