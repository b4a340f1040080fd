//! Differences between states of a document's data.
//!
//! Each state has its own copy of every mapping and list that a stroke changed, so keeping a
//! thousand states of one growing mapping takes quadratic memory. Instead, one state is kept, with
//! the deltas to the others.

use std::sync::Arc;

use layercake_yaml::{Key, Mapping, Node, Sequence, Value};

/// Difference between two states of a value. Applied to the first it gives the second, reverted
/// from the second it gives the first, including all spans.
#[derive(Clone, Debug)]
pub(super) enum Delta {
    /// No difference.
    Same,
    /// A replaced value.
    Other {
        /// The first state.
        before: Node,
        /// The second state.
        after: Node,
    },
    /// A mapping with changed or appended entries.
    Mapping {
        /// Changed entries, by index.
        inside: Vec<(usize, Delta)>,
        /// Appended entries.
        added: Vec<(Key, Node)>,
    },
    /// A list with changed or appended items.
    Sequence {
        /// Changed items, by index.
        inside: Vec<(usize, Delta)>,
        /// Appended items.
        added: Vec<Node>,
    },
}

impl Delta {
    /// Returns the difference from `before` to `after`. Skips shared values.
    pub(super) fn of(before: &Node, after: &Node) -> Self {
        let has_same_attributes = before.span == after.span
            && before.secret == after.secret
            && before.origin == after.origin;
        let other = || Self::Other {
            before: before.clone(),
            after: after.clone(),
        };
        match (&before.value, &after.value) {
            _ if !has_same_attributes => other(),
            (Value::Mapping(old), Value::Mapping(new)) if Arc::ptr_eq(old, new) => Self::Same,
            (Value::Sequence(old), Value::Sequence(new)) if Arc::ptr_eq(old, new) => Self::Same,
            (Value::Mapping(old), Value::Mapping(new)) if begins_with_keys(new, old) => {
                let inside = changed(old.values().zip(new.values()));
                let added: Vec<(Key, Node)> = owned(new.iter().skip(old.len()));
                if is_most(count_replaced(&inside) + added.len(), new.len()) {
                    return other();
                }
                Self::Mapping { inside, added }
            }
            (Value::Sequence(old), Value::Sequence(new)) if new.len() >= old.len() => {
                let inside = changed(old.iter().zip(new.iter()));
                let added = new[old.len()..].to_vec();
                if is_most(count_replaced(&inside) + added.len(), new.len()) {
                    return other();
                }
                Self::Sequence { inside, added }
            }
            (Value::Mapping(_) | Value::Sequence(_), _) => other(),
            (old, new) if old == new => Self::Same,
            (_, _) => other(),
        }
    }

    /// Returns the second state, given the first.
    pub(super) fn state_after(&self, before: &Node) -> Node {
        let mut data = before.clone();
        self.redo(&mut data);
        data
    }

    /// Returns the first state, given the second.
    pub(super) fn state_before(&self, after: &Node) -> Node {
        let mut data = after.clone();
        self.undo(&mut data);
        data
    }

    /// Changes the first state into the second.
    pub(super) fn redo(&self, data: &mut Node) {
        match self {
            Self::Same => {}
            Self::Other { after, .. } => data.clone_from(after),
            Self::Mapping { inside, added } => {
                let mapping = mapping_of(data);
                for (index, delta) in inside {
                    delta.redo(mapping.value_at_mut(*index));
                }
                for (key, node) in added {
                    mapping.insert(key.clone(), node.clone());
                }
            }
            Self::Sequence { inside, added } => {
                let items = items_of(data);
                for (index, delta) in inside {
                    delta.redo(&mut items[*index]);
                }
                items.extend_from_slice(added);
            }
        }
    }

    /// Changes the second state into the first.
    pub(super) fn undo(&self, data: &mut Node) {
        match self {
            Self::Same => {}
            Self::Other { before, .. } => data.clone_from(before),
            Self::Mapping { inside, added } => {
                let mapping = mapping_of(data);
                for _ in added {
                    mapping.pop();
                }
                for (index, delta) in inside {
                    delta.undo(mapping.value_at_mut(*index));
                }
            }
            Self::Sequence { inside, added } => {
                let items = items_of(data);
                let before = items.len() - added.len();
                items.truncate(before);
                for (index, delta) in inside {
                    delta.undo(&mut items[*index]);
                }
            }
        }
    }

    /// Returns the number of entries of mappings and lists that are not shared.
    pub(super) fn entries(&self) -> usize {
        let of_all = |inside: &[(usize, Self)]| -> usize {
            inside.iter().map(|(_, delta)| 1 + delta.entries()).sum()
        };
        match self {
            Self::Same => 0,
            Self::Other { before, after } => {
                let mut left = MAX_OWN_ENTRIES;
                count_own_entries(before, after, &mut left);
                MAX_OWN_ENTRIES - left
            }
            Self::Mapping { inside, added } => of_all(inside) + added.len(),
            Self::Sequence { inside, added } => of_all(inside) + added.len(),
        }
    }
}

/// Returns whether most of a collection changed. Keeping both states then takes less memory.
fn is_most(changed: usize, all: usize) -> bool {
    changed > all / 2
}

fn count_replaced(inside: &[(usize, Delta)]) -> usize {
    inside
        .iter()
        .filter(|(_, delta)| matches!(delta, Delta::Other { .. }))
        .count()
}

fn begins_with_keys(new: &Mapping, old: &Mapping) -> bool {
    new.len() >= old.len()
        && old
            .keys()
            .zip(new.keys())
            .all(|(old, new)| old.span == new.span && old.value == new.value)
}

fn changed<'n>(pairs: impl Iterator<Item = (&'n Node, &'n Node)>) -> Vec<(usize, Delta)> {
    let deltas = pairs.map(|(old, new)| Delta::of(old, new)).enumerate();
    deltas
        .filter(|(_, delta)| !matches!(delta, Delta::Same))
        .collect()
}

fn owned<'n>(entries: impl Iterator<Item = (&'n Key, &'n Node)>) -> Vec<(Key, Node)> {
    entries
        .map(|(key, node)| (key.clone(), node.clone()))
        .collect()
}

fn mapping_of(data: &mut Node) -> &mut Mapping {
    match &mut data.value {
        Value::Mapping(mapping) => Mapping::to_change(mapping),
        _ => unreachable!("the delta of a mapping is applied to that mapping"),
    }
}

fn items_of(data: &mut Node) -> &mut Sequence {
    match &mut data.value {
        Value::Sequence(items) => Arc::make_mut(items),
        _ => unreachable!("the delta of a list is applied to that list"),
    }
}

/// Upper bound when counting entries; copies of one value can have millions.
const MAX_OWN_ENTRIES: usize = 2_000_000;

/// Subtracts from `left` the number of entries of mappings and lists that `after` does not share
/// with `before`.
fn count_own_entries(before: &Node, after: &Node, left: &mut usize) {
    match (&before.value, &after.value) {
        (Value::Mapping(old), Value::Mapping(new)) if !Arc::ptr_eq(old, new) => {
            *left = left.saturating_sub(new.len());
            for (key, node) in new.iter() {
                if *left == 0 {
                    return;
                }
                if let Some(old) = old.get(key) {
                    count_own_entries(old, node, left);
                }
            }
        }
        (Value::Sequence(old), Value::Sequence(new)) if !Arc::ptr_eq(old, new) => {
            *left = left.saturating_sub(new.len());
            for (old, node) in old.iter().zip(new.iter()) {
                if *left == 0 {
                    return;
                }
                count_own_entries(old, node, left);
            }
        }
        // Other values are shared with their origin.
        _ => {}
    }
}
