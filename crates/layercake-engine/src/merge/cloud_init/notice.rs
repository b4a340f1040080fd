//! Effects of a merge about which cloud-init does not warn (`cloud-init.md` 12): facts about pairs
//! of values, which rules describe to the user.

use std::collections::HashSet;
use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::path::{Location, Piece};
use layercake_yaml::{Key, Mapping, Node, Value};

use super::Class;
use super::classes::{class_for, is_list};
use super::elements::{elements, length};
use super::verdict::{Kept, Verdict};

/// Possibly unintended effect on a pair of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The new value.
    pub at: Span,
    /// The old value at the same place, or its key if it was replaced.
    pub old: Span,
    /// The class for the old value's type, if any.
    pub old_class: Option<Class>,
    /// Place of both values.
    pub place: Location,
    /// The lost value: a list or mapping if the result [lacks] something in it, or any value if its
    /// key is lost.
    pub lost: Option<Node>,
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
    /// The new value replaced the old one.
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

/// Old value that a new one replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// A list with items that the new one lacks.
    Items,
    /// A value in a mapping without its key.
    Key,
    /// A list or mapping, by a value of another type.
    Type,
    /// A string, by a value that it can be merged with. Reported only beside a loss.
    Text,
    /// A value that no class merges. Reported only beside a loss.
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
    /// Maximum number of notices of one merge without a lost list, mapping or key.
    pub const LIMIT: usize = 200;

    pub(super) fn of(fact: Fact, old: &Node, new: &Node, place: &Location) -> Self {
        let lost = match fact {
            Fact::Lost(_) => lacks(old, new).then_some(new),
            Fact::Displaced(_) => lacks(new, old).then_some(old),
            Fact::Replaced(Replaced::Items | Replaced::Key | Replaced::Type) => Some(old),
            Fact::Replaced(Replaced::Text | Replaced::Other)
            | Fact::NullWithoutDelete(_)
            | Fact::OtherLength { .. }
            | Fact::SplitInto(_)
            | Fact::Further { .. } => None,
        };
        Self {
            at: new.span,
            old: old.span,
            old_class: class_for(&old.value),
            place: place.clone(),
            lost: lost.cloned(),
            secret: old.secret || new.secret,
            fact,
        }
    }
}

/// Returns whether `kept` lacks a key or item of the list or mapping `lost`. A scalar at the same
/// place is an override, not a loss.
pub fn lacks(kept: &Node, lost: &Node) -> bool {
    match (lost.as_mapping(), kept.as_mapping()) {
        (Some(lost), Some(kept)) => {
            !std::ptr::eq(lost, kept)
                && lost
                    .iter()
                    .any(|(key, lost)| kept.get(key).is_none_or(|kept| lacks(kept, lost)))
        }
        (Some(lost), None) => !lost.is_empty(),
        (None, _) => is_list(lost) && !lost_items(kept, lost).is_empty(),
    }
}

/// Returns the items of the list `lost` that `kept` lacks.
pub fn lost_items(kept: &Node, lost: &Node) -> Vec<Node> {
    let item = |node: &Node| Key {
        value: node.value.clone(),
        span: node.span,
    };
    let kept = Some(kept).filter(|kept| is_list(kept)).map(elements);
    let kept: HashSet<Key> = kept.iter().flatten().map(item).collect();
    let mut items = elements(lost);
    items.retain(|lost| !kept.contains(&item(lost)));
    items
}

/// Notices of one merge.
#[derive(Debug, Default)]
pub(super) struct Notices {
    list: Vec<Notice>,
    further: usize,
    /// Replaced strings and scalars.
    beside: Vec<Notice>,
}

impl Notices {
    /// Records the effect that a verdict will have on two values.
    pub(super) fn note(&mut self, verdict: Verdict, old: &Node, new: &Node, place: &Location) {
        if let Some(fact) = fact(verdict, old, new) {
            self.push(Notice::of(fact, old, new, place));
        }
    }

    /// Records what is lost of an old value, with its key, that a new one replaces.
    pub(super) fn note_replaced(
        &mut self,
        key: &Key,
        old: &Node,
        new: &Node,
        place: &mut Location,
    ) {
        if let (Value::Mapping(below), Value::Mapping(above)) = (&old.value, &new.value) {
            if !Arc::ptr_eq(below, above) {
                self.note_replaced_entries(below, above, new, place);
            }
            return;
        }
        let replaced = match (class_for(&old.value), class_for(&new.value)) {
            _ if old.value.equals_in_python(&new.value) => return,
            (Some(Class::Dict | Class::List), _) if !lacks(new, old) => return,
            (Some(Class::List), Some(Class::List)) => Replaced::Items,
            (Some(Class::Dict | Class::List), _) => Replaced::Type,
            (Some(Class::Str), Some(_)) => Replaced::Text,
            (Some(Class::Str), None) | (None, _) => Replaced::Other,
        };
        self.push_replaced(replaced, key, old, new, place);
    }

    fn note_replaced_entries(
        &mut self,
        below: &Mapping,
        above: &Mapping,
        new: &Node,
        place: &mut Location,
    ) {
        for (key, old) in below.iter() {
            match above.get_entry(key) {
                Some((own, over)) => {
                    place.0.push(Piece::Key(own.clone()));
                    self.note_replaced(key, old, over, place);
                }
                None => {
                    place.0.push(Piece::Key(key.clone()));
                    self.push_replaced(Replaced::Key, key, old, new, place);
                }
            }
            place.0.pop();
        }
    }

    /// Returns all notices, with the number of further ones at `whole`.
    pub(super) fn into_vec(mut self, whole: &Node) -> Vec<Notice> {
        if self.list.iter().any(|notice| notice.lost.is_some()) {
            self.list.append(&mut self.beside);
        }
        if self.further > 0 {
            let fact = Fact::Further {
                count: self.further,
            };
            let further = Notice::of(fact, whole, whole, &Location::root());
            self.list.push(further);
        }
        self.list
    }

    fn push_replaced(
        &mut self,
        replaced: Replaced,
        key: &Key,
        old: &Node,
        new: &Node,
        place: &Location,
    ) {
        let is_at_key = key.span.file == old.span.file;
        self.push(Notice {
            old: if is_at_key { key.span } else { old.span },
            ..Notice::of(Fact::Replaced(replaced), old, new, place)
        });
    }

    /// Records an effect.
    pub(super) fn push(&mut self, notice: Notice) {
        if let Fact::Replaced(Replaced::Text | Replaced::Other) = notice.fact {
            self.beside.push(notice);
        } else if notice.lost.is_none() && self.list.len() >= Notice::LIMIT {
            self.further += 1;
        } else {
            self.list.push(notice);
        }
    }
}

fn fact(verdict: Verdict, old: &Node, new: &Node) -> Option<Fact> {
    match verdict {
        Verdict::Old(kept) => {
            let fact = if kept == Kept::Null {
                Fact::NullWithoutDelete(Remains::Old)
            } else {
                Fact::Lost(kept)
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
