//! Effects of a merge about which cloud-init does not warn (`cloud-init.md` 12): facts about pairs
//! of values, which rules describe to the user.

use layercake_source::Span;
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Value};

use super::Class;
use super::classes::class_for;
use super::elements::length;
use super::replaced::holds_in_order;
use super::verdict::{Kept, Verdict};

/// Possibly unintended effect on a pair of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The new value.
    pub at: Span,
    /// The old value at the same place.
    pub old: Span,
    /// The class for the old value's type, if any.
    pub old_class: Option<Class>,
    /// Place of both values.
    pub place: Location,
    /// Whether the new value is a list whose items are all in the old one, in the same order.
    pub is_contained: bool,
    /// Whether either value is secret: anything that depends on the values must then not be shown,
    /// including lengths.
    pub secret: bool,
    /// Kind of the effect.
    pub fact: Fact,
}

/// Effect on two values that are not equal in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The old value is kept, and the new one is lost.
    Lost(Kept),
    /// A null deletes nothing, because `allow_delete` is not set.
    NullWithoutDelete(Remains),
    /// A list was replaced index by index by a list of another length. The result is as long as the
    /// old one.
    OtherLength {
        /// Length of the old list; additional items are kept.
        old: usize,
        /// Length of the new list; additional items are lost.
        new: usize,
    },
    /// A value other than a list was split into items of a list.
    SplitInto(SplitInto),
    /// The default of user-data took the new value, without an explicit request.
    Replaced(Replaced),
    /// A mapping replaced a list or a string, although `dict` keeps old values; with the class of
    /// the old value.
    Displaced(Class),
    /// More effects than [`Notice::LIMIT`]. The last notice, for the mapping as a whole.
    Further {
        /// Number of further effects.
        count: usize,
    },
}

/// Old value that the default of user-data replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// A list with items that the new one lacks.
    Items,
    /// A mapping with a key that the new one lacks.
    Key,
    /// A string, by a string. Reported once, in addition to lost values.
    Text,
    /// A value that cannot be merged with the new one. Reported once, in addition to lost values.
    Other,
}

/// Value that remains of a value and a null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// The old value.
    Old,
    /// The null.
    Null,
}

/// Parts of a value that become items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitInto {
    /// The characters of a string.
    Characters,
    /// The keys of a mapping.
    Keys,
}

impl Notice {
    /// Maximum number of notices of one merge.
    pub const LIMIT: usize = 200;
}

/// Notices of one merge.
#[derive(Debug, Default)]
pub(super) struct Notices {
    list: Vec<Notice>,
    further: usize,
}

impl Notices {
    /// Records the effect that a verdict will have on two values.
    pub(super) fn note(&mut self, verdict: Verdict, old: &Node, new: &Node, place: &Location) {
        if let Some(fact) = fact(verdict, old, new) {
            self.push(fact, old, new, place);
        }
    }

    /// Records that a null replaces a value, if it may have been intended to delete it.
    pub(super) fn note_null(&mut self, old: &Node, null: &Node, place: &Location) {
        if !old.is_null() {
            self.push(Fact::NullWithoutDelete(Remains::Null), old, null, place);
        }
    }

    /// Records that a mapping replaces another kind of value, although old values are kept.
    pub(super) fn note_displaced(&mut self, old: &Node, new: &Node, place: &Location) {
        let is_mapping = |node: &Node| node.as_mapping().is_some();
        if let Some(class) = class_for(&old.value).filter(|_| is_mapping(new) && !is_mapping(old)) {
            self.push(Fact::Displaced(class), old, new, place);
        }
    }

    /// Returns all notices, with the number of further ones at `whole`.
    pub(super) fn into_vec(mut self, whole: Span) -> Vec<Notice> {
        if self.further > 0 {
            self.list.push(Notice {
                at: whole,
                old: whole,
                old_class: Some(Class::Dict),
                place: Location::root(),
                is_contained: false,
                secret: false,
                fact: Fact::Further {
                    count: self.further,
                },
            });
        }
        self.list
    }

    fn push(&mut self, fact: Fact, old: &Node, new: &Node, place: &Location) {
        if self.list.len() == Notice::LIMIT {
            self.further += 1;
            return;
        }
        let secret = old.secret || new.secret;
        let is_contained = match (fact, old.as_sequence(), new.as_sequence()) {
            (Fact::Lost(Kept::NoListRecursion), Some(old), Some(new)) => holds_in_order(old, new),
            _ => false,
        };
        self.list.push(Notice {
            at: new.span,
            old: old.span,
            old_class: class_for(&old.value),
            place: place.clone(),
            is_contained,
            secret,
            fact,
        });
    }
}

fn fact(verdict: Verdict, old: &Node, new: &Node) -> Option<Fact> {
    match verdict {
        Verdict::Old(kept) => {
            let fact = match kept {
                Kept::Null => Fact::NullWithoutDelete(Remains::Old),
                Kept::Scalar
                | Kept::NoListRecursion
                | Kept::NoTextRecursion
                | Kept::MissingClass(_)
                | Kept::UnhandledType
                | Kept::NotAMapping
                | Kept::NoReplace
                | Kept::NoExtend
                | Kept::DiscardedNonList
                | Kept::NoAppend => Fact::Lost(kept),
            };
            (!old.value.equals_in_python(&new.value)).then_some(fact)
        }
        Verdict::Items => {
            let old = length(old);
            let new = length(new);
            (old != new).then_some(Fact::OtherLength { old, new })
        }
        Verdict::After | Verdict::Before => {
            let taken_apart = match &new.value {
                Value::String(_) => SplitInto::Characters,
                Value::Mapping(_) => SplitInto::Keys,
                _ => return None,
            };
            (length(new) > 0).then_some(Fact::SplitInto(taken_apart))
        }
        Verdict::New
        | Verdict::Gone
        | Verdict::Entries
        | Verdict::Item
        | Verdict::Joined
        | Verdict::NotText
        | Verdict::NoIndex => None,
    }
}
