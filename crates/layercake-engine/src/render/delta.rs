//! What a stroke changed of a document's data, to be done and undone.
//!
//! States have their own copy of every mapping and list that changed on the way
//! to them: a thousand of one growing mapping take memory by the square. So one
//! is kept, and what leads from it to the others.

use std::sync::Arc;

use layercake_yaml::{Key, Mapping, Node, Sequence, Value};

/// The difference between two states of a value. Done to the first it gives the
/// second, undone to the second the first, with all spans.
#[derive(Clone, Debug)]
pub(super) enum Delta {
    /// There is none.
    Same,
    /// One value took the place of the other.
    Other {
        /// The first.
        before: Node,
        /// The second.
        after: Node,
    },
    /// A mapping has other values at some of its entries, or more entries.
    Mapping {
        /// By the indexes of the entries.
        inside: Vec<(usize, Delta)>,
        /// What stands behind all that was there.
        added: Vec<(Key, Node)>,
    },
    /// A list has other items, or more of them.
    Sequence {
        /// By the indexes of the items.
        inside: Vec<(usize, Delta)>,
        /// What stands behind all that was there.
        added: Vec<Node>,
    },
}

impl Delta {
    /// What leads from `before` to `after`. What they share is not looked at.
    pub(super) fn of(before: &Node, after: &Node) -> Self {
        let is_told_alike = before.span == after.span
            && before.secret == after.secret
            && before.origin == after.origin;
        let other = || Self::Other { before: before.clone(), after: after.clone() };
        match (&before.value, &after.value) {
            _ if !is_told_alike => other(),
            (Value::Mapping(old), Value::Mapping(new)) if Arc::ptr_eq(old, new) => Self::Same,
            (Value::Sequence(old), Value::Sequence(new)) if Arc::ptr_eq(old, new) => Self::Same,
            (Value::Mapping(old), Value::Mapping(new)) if begins_with_keys(new, old) => {
                let inside = changed(old.values().zip(new.values()));
                let added: Vec<(Key, Node)> = owned(new.iter().skip(old.len()));
                if is_most(others(&inside) + added.len(), new.len()) {
                    return other();
                }
                Self::Mapping { inside, added }
            }
            (Value::Sequence(old), Value::Sequence(new)) if new.len() >= old.len() => {
                let inside = changed(old.iter().zip(new.iter()));
                let added = new[old.len()..].to_vec();
                if is_most(others(&inside) + added.len(), new.len()) {
                    return other();
                }
                Self::Sequence { inside, added }
            }
            (Value::Mapping(_) | Value::Sequence(_), _) => other(),
            (old, new) if old == new => Self::Same,
            (_, _) => other(),
        }
    }

    /// The second state, made of the first.
    pub(super) fn redone(&self, before: &Node) -> Node {
        let mut data = before.clone();
        self.redo(&mut data);
        data
    }

    /// The first state, made of the second.
    pub(super) fn undone(&self, after: &Node) -> Node {
        let mut data = after.clone();
        self.undo(&mut data);
        data
    }

    /// Makes the first state the second.
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

    /// Makes the second state the first.
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

    /// How many entries of mappings and lists it holds that nobody else does.
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

/// Where most of a collection is another, it takes less to keep both.
fn is_most(changed: usize, all: usize) -> bool {
    changed > all / 2
}

fn others(inside: &[(usize, Delta)]) -> usize {
    inside.iter().filter(|(_, delta)| matches!(delta, Delta::Other { .. })).count()
}

fn begins_with_keys(new: &Mapping, old: &Mapping) -> bool {
    let are_alike = |(old, new): (&Key, &Key)| old.span == new.span && old.value == new.value;
    new.len() >= old.len() && old.keys().zip(new.keys()).all(are_alike)
}

fn changed<'n>(pairs: impl Iterator<Item = (&'n Node, &'n Node)>) -> Vec<(usize, Delta)> {
    let deltas = pairs.map(|(old, new)| Delta::of(old, new)).enumerate();
    deltas.filter(|(_, delta)| !matches!(delta, Delta::Same)).collect()
}

fn owned<'n>(entries: impl Iterator<Item = (&'n Key, &'n Node)>) -> Vec<(Key, Node)> {
    entries.map(|(key, node)| (key.clone(), node.clone())).collect()
}

fn mapping_of(data: &mut Node) -> &mut Mapping {
    match &mut data.value {
        Value::Mapping(mapping) => Mapping::to_change(mapping),
        _ => unreachable!("what changed a mapping is asked of that mapping"),
    }
}

fn items_of(data: &mut Node) -> &mut Sequence {
    match &mut data.value {
        Value::Sequence(items) => Arc::make_mut(items),
        _ => unreachable!("what changed a list is asked of that list"),
    }
}

/// Number of entries from which on it does not matter how many there are: copies of one
/// value can be millions.
const MAX_OWN_ENTRIES: usize = 2_000_000;

/// Takes from `left` the entries of its own that a state has which was made of another:
/// those of each mapping and list that it does not share.
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
        // Anything else is shared with where it came from.
        _ => {}
    }
}
