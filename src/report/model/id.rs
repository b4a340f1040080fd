//! Ids of the parts of a report: a letter and a number from 1, such as `e3`.

use std::fmt::{self, Display};

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Id of a part of a report: its index among the parts of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id<const LETTER: char>(u32);

/// Id of an edit.
pub(crate) type EditRef = Id<'e'>;
/// Id of a set of edits.
pub(crate) type EditSetRef = Id<'c'>;
/// Id of a group of outputs with the same change.
pub(crate) type GroupRef = Id<'g'>;
/// Id of a route.
pub(crate) type RouteRef = Id<'r'>;
/// Id of a set of sites.
pub(crate) type SetRef = Id<'s'>;
/// Id of a file or decoded content whose lines are kept.
pub(crate) type TextRef = Id<'t'>;

impl<const LETTER: char> Id<LETTER> {
    /// Returns the id of the part at this index.
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a report has far fewer than 2^32 parts"))
    }

    /// Returns the index among the parts of its kind.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the part with this id: reading a report checks that it has all of them.
    pub(crate) fn of<T>(self, parts: &[T]) -> &T {
        &parts[self.index()]
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
        write!(out, "an id such as `{LETTER}1`")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let number = name
            .strip_prefix(LETTER)
            .and_then(|number| number.parse::<u32>().ok());
        let id = number.and_then(|number| number.checked_sub(1)).map(Id);
        // Reject other spellings, such as `e01`: each part has exactly one id.
        id.filter(|id| id.to_string() == name)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}
