//! What becomes of two values of which one is laid over the other.

use layercake_yaml::Node;

use super::classes::Current;
use super::documented::Documented;
use super::{Class, Default, Dialect, Specification};

/// What becomes of an old value and the new one that meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The old one stays, and the new one is lost.
    Old(Kept),
    /// The new one takes its place.
    New,
    /// The old one is taken away, with its key.
    Gone,
    /// Two mappings become one: each key is judged by itself.
    Entries,
    /// Two lists become one as long as the old: each index is judged by itself.
    Items,
    /// The elements of the new one come after those of the old list.
    After,
    /// The elements of the new one come before those of the old list.
    Before,
    /// The new one is put to the old list, as one item.
    Item,
    /// The text of the new one is put to the old text.
    Joined,
    /// Python fails: what is to be put to a text is no text.
    NotText,
    /// Python fails: it looks in a mapping for the indexes of a list.
    NoIndex,
}

/// Why an old value stays where a new one meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The new one is a null, and `dict` has neither `replace` nor
    /// `allow_delete`.
    Null,
    /// The new one is neither mapping, list nor text; `dict` takes such only
    /// with `replace`.
    Scalar,
    /// The new one is a list, and `dict` lacks `recurse_list`.
    NoListRecursion,
    /// The new one is a text, and `dict` lacks `recurse_str`.
    NoTextRecursion,
    /// The class for the type of the old one is not asked for.
    MissingClass(Class),
    /// No class is for the type of the old one.
    UnhandledType,
    /// The old one is a mapping, and the new one is none.
    NotAMapping,
    /// `list(no_replace)` says so.
    NoReplace,
    /// 2013: `list` lacks `extend`.
    NoExtend,
    /// 2013: `list(discard_non_list)` says so.
    DiscardedNonList,
    /// 2013: `str` lacks `append`.
    NoAppend,
}

/// What decides: the classes that were asked for, with their options.
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
    /// The classes of a specification, and none else.
    pub(super) fn of(specification: &Specification, dialect: Dialect) -> Self {
        match dialect {
            Dialect::Current => Mergers::Current(Current::of(specification)),
            Dialect::Documented => Mergers::Documented(Documented::of(specification)),
        }
    }

    /// The classes that hold where nothing is asked for.
    pub(super) fn of_default(default: Default) -> Self {
        Mergers::Current(Current::of_default(default))
    }

    /// What becomes of two values by the class of the old one.
    pub(super) fn meet(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.meet(old, new),
            Mergers::Documented(documented) => documented.meet(old, new),
        }
    }

    /// What becomes of the values of a key that both mappings have.
    pub(super) fn clash(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.clash(old, new),
            Mergers::Documented(documented) => documented.clash(old, new),
        }
    }

    /// What becomes of two items at the same index.
    pub(super) fn item(&self, old: &Node, new: &Node) -> Verdict {
        match self {
            Mergers::Current(current) => current.item(old, new),
            // No class of 2013 goes by indexes.
            Mergers::Documented(documented) => documented.meet(old, new),
        }
    }

    /// Whether two values of one type are merged so that nothing of both is lost.
    pub(super) fn keeps_both(&self, class: Class) -> bool {
        match self {
            Mergers::Current(_) => false,
            Mergers::Documented(documented) => documented.keeps_both(class),
        }
    }

    /// Whether what is there has the right to stay where values clash.
    pub(super) fn keeps(&self) -> bool {
        match self {
            Mergers::Current(current) => current.keeps(),
            // No mapping takes the place of anything, unless it is asked to.
            Mergers::Documented(_) => false,
        }
    }

    /// Whether a null is a way to delete, for which an option is lacking.
    pub(super) fn knows_deletion(&self) -> bool {
        match self {
            Mergers::Current(_) => true,
            Mergers::Documented(_) => false,
        }
    }
}
