//! Decision on merging one value into another.

use layercake_yaml::Node;

use super::classes::Current;
use super::documented::Documented;
use super::{Class, Default, Dialect, Specification};

/// Decision on an old value and the new value at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The old value is kept, and the new one is lost.
    Old(Kept),
    /// The new value replaces the old one.
    New,
    /// The old value is removed with its key.
    Gone,
    /// Two mappings are merged key by key.
    Entries,
    /// Two lists are merged index by index; the result is as long as the old one.
    Items,
    /// The elements of the new value are appended to the old list.
    After,
    /// The elements of the new value are prepended to the old list.
    Before,
    /// The new value is appended to the old list as one item.
    Item,
    /// The string of the new value is appended to the old string.
    Joined,
    /// Python fails, because it appends a value other than a string to a string.
    NotText,
    /// Python fails, because it looks up list indexes in a mapping.
    NoIndex,
}

/// Reason why an old value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The new value is null, and `dict` has neither `replace` nor `allow_delete`.
    Null,
    /// The new value is not a mapping, list or string; `dict` takes these only with `replace`.
    Scalar,
    /// The new value is a list, and `dict` lacks `recurse_list`.
    NoListRecursion,
    /// The new value is a string, and `dict` lacks `recurse_str`.
    NoTextRecursion,
    /// The class for the type of the old value is not requested.
    MissingClass(Class),
    /// No class exists for the type of the old value.
    UnhandledType,
    /// The old value is a mapping, and the new one is not.
    NotAMapping,
    /// `list(no_replace)` is set.
    NoReplace,
    /// 2013: `list` lacks `extend`.
    NoExtend,
    /// 2013: `list(discard_non_list)` is set.
    DiscardedNonList,
    /// 2013: `str` lacks `append`.
    NoAppend,
}

/// Requested classes with their options, which decide on the verdicts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mergers {
    Current(Current),
    Documented(Documented),
}

impl std::fmt::Display for Mergers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mergers::Current(current) => current.fmt(formatter),
            Mergers::Documented(documented) => documented.fmt(formatter),
        }
    }
}

impl Mergers {
    /// Creates the mergers for a specification, without defaults.
    pub(super) fn of(specification: &Specification, dialect: Dialect) -> Self {
        match dialect {
            Dialect::Current => Mergers::Current(Current::of(specification)),
            Dialect::Documented => Mergers::Documented(Documented::of(specification)),
        }
    }

    /// Creates the mergers that apply by default.
    pub(super) fn of_default(default: Default) -> Self {
        Mergers::Current(Current::of_default(default))
    }

    /// Decides by the class of the old value.
    pub(super) fn meet(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.meet(old, new),
            Mergers::Documented(documented) => documented.meet(old, new),
        }
    }

    /// Decides about the values of a key that both mappings have.
    pub(super) fn clash(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.clash(old, new),
            Mergers::Documented(documented) => documented.clash(old, new),
        }
    }

    /// Decides about two items at the same index.
    pub(super) fn item(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.item(old, new),
            // No class of 2013 merges by index.
            Mergers::Documented(documented) => documented.meet(old, new),
        }
    }

    /// Returns whether old values are kept on conflicts.
    pub(super) fn keeps(&self) -> bool {
        match self {
            Mergers::Current(current) => current.keeps(),
            // Mappings replace other values only on request.
            Mergers::Documented(_) => false,
        }
    }
}
