//! Values lost because a part has no merge specification, so that each of its top-level keys
//! replaces the earlier one as a whole.

use std::sync::Arc;

use layercake_yaml::path::{Location, Piece};
use layercake_yaml::{Mapping, Node, Value};

use super::classes::class_for;
use super::notice::{Fact, Notice, Replaced};

/// Returns notices for the values of `base` that `over` will replace: up to [`Notice::LIMIT`]
/// places where something is lost. Empty if values are replaced but nothing is lost.
pub(super) fn replaced(base: &Node, over: &Node) -> Vec<Notice> {
    let mut walk = Walk::default();
    if let (Some(below), Some(above)) = (base.as_mapping(), over.as_mapping()) {
        for (key, new) in above.iter() {
            let Some(old) = below.get(key) else { continue };
            walk.step(Piece::Key(key.clone()), |walk| walk.meeting(old, new));
        }
    }
    if walk.lost.is_empty() {
        return Vec::new();
    }
    walk.lost
        .into_iter()
        .chain(walk.text)
        .chain(walk.other)
        .collect()
}

#[derive(Default)]
struct Walk {
    here: Location,
    lost: Vec<Notice>,
    /// First replaced string.
    text: Option<Notice>,
    /// First value replaced by one that cannot be merged with it.
    other: Option<Notice>,
}

impl Walk {
    fn step(&mut self, piece: Piece, walk: impl FnOnce(&mut Self)) {
        if self.lost.len() < Notice::LIMIT {
            self.here.0.push(piece);
            walk(self);
            self.here.0.pop();
        }
    }

    fn meeting(&mut self, old: &Node, new: &Node) {
        match (&old.value, &new.value) {
            (Value::Mapping(below), Value::Mapping(above)) => {
                if !Arc::ptr_eq(below, above) {
                    self.mappings(below, above, new);
                }
            }
            (Value::Sequence(below), Value::Sequence(above)) => {
                if !holds_in_order(above, below) {
                    self.lost.push(self.notice(Replaced::Items, old, new));
                }
            }
            (old_value, new_value) if old_value.equals_in_python(new_value) => {}
            (Value::String(_), Value::String(_)) => {
                self.text = self
                    .text
                    .take()
                    .or(Some(self.notice(Replaced::Text, old, new)));
            }
            _ => {
                self.other = self
                    .other
                    .take()
                    .or(Some(self.notice(Replaced::Other, old, new)));
            }
        }
    }

    fn mappings(&mut self, below: &Mapping, above: &Mapping, new: &Node) {
        for (key, old) in below.iter() {
            match above.get_entry(key) {
                Some((own, new)) => {
                    self.step(Piece::Key(own.clone()), |walk| walk.meeting(old, new));
                }
                None if is_empty(old) => {}
                None => self.step(Piece::Key(key.clone()), |walk| {
                    walk.lost.push(walk.notice(Replaced::Key, old, new));
                }),
            }
        }
    }

    fn notice(&self, replaced: Replaced, old: &Node, new: &Node) -> Notice {
        Notice {
            at: new.span,
            old: old.span,
            old_class: class_for(&old.value),
            place: self.here.clone(),
            is_contained: false,
            secret: old.secret || new.secret,
            fact: Fact::Replaced(replaced),
        }
    }
}

/// Returns whether `others` contains all of `items`, in the same order.
pub(super) fn holds_in_order(others: &[Node], items: &[Node]) -> bool {
    let mut others = others.iter();
    items
        .iter()
        .all(|item| others.any(|other| other.value.equals_in_python(&item.value)))
}

/// Returns whether nothing is lost with the value: null, or an empty mapping or list.
fn is_empty(node: &Node) -> bool {
    node.is_null()
        || node.as_mapping().is_some_and(Mapping::is_empty)
        || node.as_sequence().is_some_and(<[Node]>::is_empty)
}
