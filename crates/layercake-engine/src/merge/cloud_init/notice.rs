//! What cloud-init passes over in silence while it merges (`cloud-init.md` 12):
//! facts about two values that met, for rules to put into words.

use layercake_source::Span;
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Value};

use super::Class;
use super::classes::class_for;
use super::elements::length;
use super::replaced::holds_in_order;
use super::verdict::{Kept, Verdict};

/// Something that may not be as whoever wrote it meant it.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The new value.
    pub at: Span,
    /// The old value that it met.
    pub old: Span,
    /// The class for the old value's type; none where no class is for it.
    pub old_class: Option<Class>,
    /// Where they met.
    pub place: Location,
    /// Whether the new value is a list whose items are all in the old one, in their order.
    pub is_contained: bool,
    /// Whether either is secret: then nothing of the fact that depends on
    /// their values may be shown, lengths included.
    pub secret: bool,
    /// What happened.
    pub fact: Fact,
}

/// What happened where two values met that are not equal in Python's sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The old value stays, and the new one is lost.
    Lost(Kept),
    /// A null deletes nothing, since `allow_delete` is not there.
    NullWithoutDelete(Remains),
    /// A list replaced index by index by one of another length: the result is
    /// as long as the old one.
    OtherLength {
        /// How many items the old one has; those beyond the new one stay.
        old: usize,
        /// How many items the new one has; those beyond the old one are lost.
        new: usize,
    },
    /// Something that is no list, merged into one piece by piece.
    TakenApart(TakenApart),
    /// The default of user-data took the new value, and nobody asked for that.
    Replaced(Replaced),
    /// A mapping takes the place of a list or a text, although `dict` keeps
    /// what is there; of which class that was.
    Displaced(Class),
    /// There is more of the kind, beyond [`Notice::LIMIT`]. It stands last, at
    /// the mapping as a whole.
    Further {
        /// How many.
        count: usize,
    },
}

/// What the default of user-data replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// A list whose items are not all in the new one.
    Items,
    /// A key of a mapping that the new one does not have.
    Key,
    /// A text by a text. Told once, beside what is lost.
    Text,
    /// A value with which the new one cannot be merged. Told once, beside what is lost.
    Other,
}

/// What remains where a null met a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// The old value.
    Old,
    /// The null.
    Null,
}

/// What becomes the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenApart {
    /// The characters of a text.
    Characters,
    /// The keys of a mapping.
    Keys,
}

impl Notice {
    /// So many are told of one laying.
    pub const LIMIT: usize = 200;
}

/// The notices of one laying.
#[derive(Debug, Default)]
pub(super) struct Notices {
    told: Vec<Notice>,
    further: usize,
}

impl Notices {
    /// Notes what is silent about a meeting, before anything is changed.
    pub(super) fn note(&mut self, verdict: Verdict, old: &Node, new: &Node, place: &Location) {
        if let Some(fact) = fact(verdict, old, new) {
            self.push(fact, old, new, place);
        }
    }

    /// Notes that a null takes the place of a value, where it may have been
    /// meant to delete it.
    pub(super) fn note_null(&mut self, old: &Node, null: &Node, place: &Location) {
        if !old.is_null() {
            self.push(Fact::NullWithoutDelete(Remains::Null), old, null, place);
        }
    }

    /// Notes that a mapping takes the place of something else, where what is
    /// there was to stay.
    pub(super) fn note_displaced(&mut self, old: &Node, new: &Node, place: &Location) {
        let is_mapping = |node: &Node| node.as_mapping().is_some();
        if let Some(class) = class_for(&old.value).filter(|_| is_mapping(new) && !is_mapping(old)) {
            self.push(Fact::Displaced(class), old, new, place);
        }
    }

    /// All of them, with how many more there are at `whole`.
    pub(super) fn told(mut self, whole: Span) -> Vec<Notice> {
        if self.further > 0 {
            self.told.push(Notice {
                at: whole,
                old: whole,
                old_class: Some(Class::Dict),
                place: Location::root(),
                is_contained: false,
                secret: false,
                fact: Fact::Further { count: self.further },
            });
        }
        self.told
    }

    fn push(&mut self, fact: Fact, old: &Node, new: &Node, place: &Location) {
        if self.told.len() == Notice::LIMIT {
            self.further += 1;
            return;
        }
        let secret = old.secret || new.secret;
        let is_contained = match (fact, old.as_sequence(), new.as_sequence()) {
            (Fact::Lost(Kept::NoListRecursion), Some(old), Some(new)) => holds_in_order(old, new),
            _ => false,
        };
        self.told.push(Notice {
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
            let (old, new) = (length(old), length(new));
            (old != new).then_some(Fact::OtherLength { old, new })
        }
        Verdict::After | Verdict::Before => {
            let taken_apart = match &new.value {
                Value::String(_) => TakenApart::Characters,
                Value::Mapping(_) => TakenApart::Keys,
                _ => return None,
            };
            (length(new) > 0).then_some(Fact::TakenApart(taken_apart))
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
