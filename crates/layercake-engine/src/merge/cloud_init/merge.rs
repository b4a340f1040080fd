//! In-place merging of one value into another.
//!
//! Python merges a copy and discards it on failure. Here, all pairs of values are checked for
//! failures first, so that nothing is copied, and nothing is changed on failure. Pairs do not
//! depend on the results of others, so both have the same result.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use layercake_yaml::path::{Location, Piece};
use layercake_yaml::{Key, Mapping, Node, Origin, Sequence, Value, YamlLimit};

use super::classes::{class_for, is_list};
use super::elements::{elements, item, length};
use super::notice::{Fact, Notice, Notices, Remains, Replaced, lacks};
use super::specification::Taken;
use super::verdict::{Mergers, Verdict};
use super::{Class, Excess, Failure, FailureKind};
use crate::merge::pattern::{MAX_OUTPUT, python_text};

/// Merges `over`, without the removed keys, into `base`.
///
/// # Errors
/// If two values cannot be merged; returns the first failure.
pub(super) fn merge(
    mergers: &Mergers,
    taken: Taken,
    base: &mut Node,
    over: &Node,
) -> Result<Vec<Notice>, Failure> {
    let verdict = mergers.meet(base, over);
    // The removed keys are skipped when merging by entries. Any other merge would include them.
    let left = if verdict == Verdict::Entries {
        Cow::Borrowed(over)
    } else {
        taken.left_of(over)
    };
    let over = &*left;
    let mut review = Review {
        mergers,
        here: Location::root(),
        characters: 0,
    };
    review.meeting(base, over, verdict, taken)?;
    let mut work = Work {
        mergers,
        here: Location::root(),
        notices: Notices::default(),
    };
    work.meeting(base, over, verdict, taken);
    Ok(work.notices.into_vec(over))
}

/// Check for failures.
struct Review<'a> {
    mergers: &'a Mergers,
    here: Location,
    /// Number of characters of strings that become items.
    characters: u64,
}

impl Review<'_> {
    fn meeting(
        &mut self,
        old: &Node,
        new: &Node,
        verdict: Verdict,
        taken: Taken,
    ) -> Result<(), Failure> {
        match verdict {
            Verdict::Old(_) | Verdict::New | Verdict::Gone | Verdict::Item => Ok(()),
            Verdict::Joined => self.joined(old, new),
            Verdict::Entries => self.entries(old, new, taken),
            Verdict::Items => self.items(old, new),
            Verdict::After | Verdict::Before => self.elements(old, new),
            Verdict::NotText => {
                let kind = FailureKind::AppendedToText {
                    old: old.span,
                    place: self.here.clone(),
                    found: new.value.kind(),
                };
                self.fails(old, new, kind)
            }
            Verdict::NoIndex => {
                let kind = FailureKind::MappingForList {
                    old: old.span,
                    place: self.here.clone(),
                };
                self.fails(old, new, kind)
            }
        }
    }

    fn entries(&mut self, old: &Node, new: &Node, taken: Taken) -> Result<(), Failure> {
        let (Some(below), Some(above)) = (old.as_mapping(), new.as_mapping()) else {
            return Ok(());
        };
        for (key, node) in taken.rest(above) {
            let Some(lower) = below.get(key) else {
                continue;
            };
            let verdict = self.mergers.clash(lower, node);
            self.here.0.push(Piece::Key(key.clone()));
            self.meeting(lower, node, verdict, Taken::default())?;
            self.here.0.pop();
        }
        Ok(())
    }

    fn items(&mut self, old: &Node, new: &Node) -> Result<(), Failure> {
        for index in 0..length(old).min(length(new)) {
            let (Some(lower), Some(upper)) = (item(old, index), item(new, index)) else {
                continue;
            };
            let verdict = self.mergers.item(&lower, &upper);
            self.here.0.push(Piece::Index(index));
            self.meeting(&lower, &upper, verdict, Taken::default())?;
            self.here.0.pop();
        }
        Ok(())
    }

    /// Checks the number of items: each character of a string becomes a node, which is much larger.
    fn elements(&mut self, old: &Node, new: &Node) -> Result<(), Failure> {
        if let Value::String(_) = new.value {
            self.characters += u64::try_from(length(new)).unwrap_or(u64::MAX);
        }
        if self.characters > YamlLimit::NODES {
            return self.exceeds(old, new, Excess::Items);
        }
        Ok(())
    }

    /// Checks the length: appending to a string copies both strings.
    fn joined(&self, old: &Node, new: &Node) -> Result<(), Failure> {
        let length = bytes(old) + bytes(new);
        if length > MAX_OUTPUT {
            self.exceeds(old, new, Excess::Text)
        } else {
            Ok(())
        }
    }

    fn exceeds(&self, old: &Node, new: &Node, excess: Excess) -> Result<(), Failure> {
        self.fails(
            old,
            new,
            FailureKind::OverLimit {
                place: self.here.clone(),
                excess,
            },
        )
    }

    fn fails(&self, old: &Node, new: &Node, kind: FailureKind) -> Result<(), Failure> {
        Err(Failure {
            at: new.span,
            secret: old.secret || new.secret,
            kind,
        })
    }
}

/// Merge according to the verdicts, after the check found no failure.
struct Work<'a> {
    mergers: &'a Mergers,
    here: Location,
    notices: Notices,
}

impl Work<'_> {
    fn meeting(&mut self, old: &mut Node, new: &Node, verdict: Verdict, taken: Taken) {
        self.notices.note(verdict, old, new, &self.here);
        match verdict {
            Verdict::Old(_) | Verdict::NotText | Verdict::NoIndex => {}
            // The key is removed by the enclosing mapping.
            Verdict::Gone => {}
            Verdict::New => *old = new.clone(),
            Verdict::Entries => self.entries(old, new, taken),
            Verdict::Items => self.items(old, new),
            Verdict::After => extend(old, elements(new), new),
            Verdict::Before => {
                let items = elements(new);
                list_of(old).splice(0..0, items);
                mark_merged(old, new);
            }
            Verdict::Item => {
                list_of(old).push(new.clone());
                old.secret |= new.secret;
            }
            Verdict::Joined => *old = joined(old, new),
        }
    }

    /// Merges mappings. A key keeps its position and its original text, as in Python.
    fn entries(&mut self, old: &mut Node, new: &Node, taken: Taken) {
        let (Value::Mapping(below), Some(above)) = (&mut old.value, new.as_mapping()) else {
            return;
        };
        let mut removed = Vec::new();
        // Shared entries are copied, one level deep.
        let below = Mapping::to_change(below);
        for (key, node) in taken.rest(above) {
            let Some((own, lower)) = below.get_entry(key) else {
                below.insert(key.clone(), node.clone());
                continue;
            };
            let verdict = self.mergers.clash(lower, node);
            self.here.0.push(Piece::Key(key.clone()));
            if verdict == Verdict::New {
                self.note_new(own, lower, node);
            }
            if let Some(lower) = below.get_mut(key) {
                self.meeting(lower, node, verdict, Taken::default());
            }
            self.here.0.pop();
            if verdict == Verdict::Gone {
                removed.push(key);
            }
        }
        remove_keys(below, &removed);
        if taken.rest(above).next().is_some() {
            old.span = new.span;
            old.origin = new.origin;
        }
        old.secret |= new.secret;
    }

    /// Records the effects of a new value that replaces the old one of a key.
    fn note_new(&mut self, key: &Key, old: &Node, new: &Node) {
        let displaced = class_for(&old.value).filter(|class| {
            self.mergers.keeps() && new.as_mapping().is_some() && *class != Class::Dict
        });
        // In the dialect of 2013, no option deletes keys.
        let can_delete = matches!(self.mergers, Mergers::Current(_));
        let fact = match displaced {
            Some(class) => Fact::Displaced(class),
            None if can_delete && new.is_null() && !old.is_null() => {
                Fact::NullWithoutDelete(Remains::Null)
            }
            None => return self.notices.note_replaced(key, old, new, &mut self.here),
        };
        self.notices.push(Notice::of(fact, old, new, &self.here));
    }

    fn items(&mut self, old: &mut Node, new: &Node) {
        let count = length(new);
        let is_as_long = length(old) == count;
        let mut replaced = Vec::new();
        for (index, lower) in list_of(old).iter_mut().take(count).enumerate() {
            let Some(upper) = item(new, index) else {
                continue;
            };
            let verdict = self.mergers.item(lower, &upper);
            if verdict == Verdict::New {
                replaced.push(lower.clone());
            }
            self.here.0.push(Piece::Index(index));
            self.meeting(lower, &upper, verdict, Taken::default());
            self.here.0.pop();
        }
        // A finding about the different lengths includes these items.
        let items = Node {
            value: Value::from(replaced),
            ..old.clone()
        };
        if is_as_long && lacks(new, &items) {
            let fact = Fact::Replaced(Replaced::Items);
            self.notices.push(Notice::of(fact, &items, new, &self.here));
        }
        mark_merged(old, new);
    }
}

/// Removes keys from a mapping. Removing one key shifts all entries after it, so many keys are
/// removed in one pass.
fn remove_keys(mapping: &mut Mapping, removed: &[&Key]) {
    const FEW: usize = 8;
    if removed.len() <= FEW {
        for key in removed {
            mapping.remove(*key);
        }
        return;
    }
    let removed: HashSet<&Key, foldhash::fast::RandomState> = removed.iter().copied().collect();
    mapping.retain(|key| !removed.contains(key));
}

fn extend(old: &mut Node, items: Vec<Node>, new: &Node) {
    list_of(old).extend(items);
    mark_merged(old, new);
}

/// Marks a merged list with the span of the new one, as for a mapping: the result contains
/// something of the list written there.
fn mark_merged(list: &mut Node, new: &Node) {
    if is_list(new) && length(new) > 0 {
        list.span = new.span;
        list.origin = new.origin;
    }
    list.secret |= new.secret;
}

/// Returns the items of a list for modification. A list of pairs becomes a list of lists.
fn list_of(node: &mut Node) -> &mut Sequence {
    if let Value::Pairs(_) = node.value {
        node.value = Value::from(elements(node));
    }
    match &mut node.value {
        Value::Sequence(items) => Arc::make_mut(items),
        other => unreachable!("only lists are merged by items, found {}", other.kind()),
    }
}

/// Returns the length of a value's string.
fn bytes(node: &Node) -> usize {
    node.as_str()
        .map_or_else(|| python_text(&node.value).len(), str::len)
}

/// Returns both strings joined, with the span of the old one.
fn joined(old: &Node, new: &Node) -> Node {
    let text = |node: &Node| match &node.value {
        Value::String(text) => text.clone(),
        other => python_text(other).into(),
    };
    let both = [text(old), text(new)].concat();
    Node {
        value: Value::String(both.into()),
        span: old.span.with_part(new.span),
        secret: old.secret || new.holds_secret(),
        origin: Origin::Derived,
    }
}
