//! Applying operations one after the other: after Python's `jsonpatch` 1.33, class by class.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use jsonptr::index::{Index, ParseIndexError};
use layercake_source::Span;
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Key, Mapping, Node, Value, YamlLimit};

use super::operation::{Action, Operation, Pointer};
use super::{Failure, Member, Reason};

/// What `operations` make of `base`.
///
/// # Errors
/// Where one of them fails.
pub(super) fn apply(operations: &[Operation], base: &Node) -> Result<Node, Failure> {
    apply_each(operations, base, |_, _| {})
}

/// As [`apply`]; `look` sees what each of them left.
///
/// # Errors
/// Where one of them fails.
pub(super) fn apply_each(
    operations: &[Operation],
    base: &Node,
    mut look: impl FnMut(usize, &Node),
) -> Result<Node, Failure> {
    let mut document = Document { root: base.clone(), deepened: 0 };
    for (index, operation) in operations.iter().enumerate() {
        let applied = document.apply(operation);
        applied.map_err(|(at, reason)| Failure { operation: Some(index), at, reason })?;
        look(index, &document.root);
    }
    Ok(document.root)
}

/// What is wrong, and the text that is at fault.
type Fault = (Span, Reason);

/// The document as far as it is patched.
struct Document {
    root: Node,
    /// How much deeper than when it was last measured it may be.
    deepened: usize,
}

impl Document {
    fn apply(&mut self, operation: &Operation) -> Result<(), Fault> {
        let path = &operation.path;
        match &operation.action {
            Action::Add(value) => {
                self.allow(1 + height(value), path)?;
                self.add(path, value.clone())
            }
            Action::Remove => {
                let (at, _) = self.member(path)?;
                at.remove(&mut self.root).expect("it was found");
                Ok(())
            }
            Action::Replace(value) => self.replace(path, value),
            Action::Move(from) => self.shift(from, path),
            Action::Copy(from) => {
                let (at, value) = self.member(from)?;
                self.allow(deepening(&at, path), path)?;
                self.add(path, value)
            }
            Action::Test(expected) => self.test(path, expected),
        }
    }

    /// Python's `AddOperation`.
    fn add(&mut self, path: &Pointer, value: Node) -> Result<(), Fault> {
        let (around, spot) = target(&self.root, path)?;
        if matches!(spot, Spot::Whole) {
            if self.root.as_mapping().is_none() {
                return Err(fault(path, Reason::WholeDocument));
            }
            self.root = value;
            return Ok(());
        }
        let node = around.get_mut(&mut self.root).expect("the way was walked");
        match (&mut node.value, spot) {
            (Value::Mapping(mapping), Spot::Key(key)) => {
                Mapping::to_change(mapping).insert(key, value);
                Ok(())
            }
            (Value::Sequence(items), Spot::Index(index)) if index <= items.len() => {
                Arc::make_mut(items).insert(index, value);
                Ok(())
            }
            (Value::Sequence(items), Spot::End) => {
                Arc::make_mut(items).push(value);
                Ok(())
            }
            _ => Err(fault(path, |member| Reason::OutOfRange { member, reached: around })),
        }
    }

    /// Python's `ReplaceOperation`, which takes `-` for the end of a list before
    /// it looks whether there is one.
    fn replace(&mut self, path: &Pointer, value: &Node) -> Result<(), Fault> {
        self.allow(1 + height(value), path)?;
        let (around, spot) = target(&self.root, path)?;
        if path.tokens.last().is_some_and(|last| &**last == "-") {
            return Err(fault(path, Reason::PastTheEnd));
        }
        let at = existing(&self.root, path, around, spot)?;
        *at.get_mut(&mut self.root).expect("it was found") = value.clone();
        Ok(())
    }

    /// Python's `MoveOperation`: removed, then added to what is left.
    fn shift(&mut self, from: &Pointer, path: &Pointer) -> Result<(), Fault> {
        let (at, value) = self.member(from)?;
        if from.tokens == path.tokens {
            return Ok(());
        }
        let is_in_mapping = matches!(at.0.last(), Some(Piece::Key(_)));
        if is_in_mapping && path.tokens.starts_with(&from.tokens) {
            return Err((path.span, Reason::IntoItself));
        }
        self.allow(deepening(&at, path), path)?;
        at.remove(&mut self.root).expect("it was found");
        self.add(path, value)
    }

    /// Python's `TestOperation`: `==`, to which `1`, `1.0` and `true` are equal.
    fn test(&self, path: &Pointer, expected: &Node) -> Result<(), Fault> {
        let (around, spot) = target(&self.root, path)?;
        let at = existing(&self.root, path, around, spot)?;
        let found = at.get(&self.root).expect("it was found");
        if found.value.equals_in_python(&expected.value) {
            return Ok(());
        }
        Err((expected.span, Reason::Different { found: found.span }))
    }

    /// What stands at a pointer inside the document, and where.
    fn member(&self, pointer: &Pointer) -> Result<(Location, Node), Fault> {
        let (around, spot) = target(&self.root, pointer)?;
        if matches!(spot, Spot::Whole) {
            return Err(fault(pointer, Reason::WholeDocument));
        }
        let at = existing(&self.root, pointer, around, spot)?;
        let node = at.get(&self.root).expect("it was found").clone();
        Ok((at, node))
    }

    /// Sees to it that the document nests no deeper than rendered data may:
    /// copies can be put into what they were made of, again and again.
    fn allow(&mut self, deeper: usize, path: &Pointer) -> Result<(), Fault> {
        self.deepened += deeper;
        if self.deepened <= YamlLimit::DEPTH {
            return Ok(());
        }
        self.deepened = deeper;
        let height = Heights::default().of(&self.root);
        if height + deeper <= MOST {
            return Ok(());
        }
        Err((path.span, Reason::OverLimit(YamlLimit::Depth)))
    }
}

/// Rendered data may be nested this deep.
const MOST: usize = 4 * YamlLimit::DEPTH;

/// By how much a value that is put at `path` may stand deeper than at `from`.
fn deepening(from: &Location, path: &Pointer) -> usize {
    path.tokens.len().saturating_sub(from.0.len())
}

/// The last step of a pointer.
enum Spot {
    /// The whole document: there is no step.
    Whole,
    /// A key of a mapping, which may not have it.
    Key(Key),
    /// An index into a list, which may not be so long.
    Index(usize),
    /// `-`: behind the end of a list.
    End,
}

/// Where a pointer leads: the mapping or list, which is there, and what in it
/// (`jsonpointer`'s `to_last`).
fn target(root: &Node, pointer: &Pointer) -> Result<(Location, Spot), Fault> {
    let mut around = Location::root();
    let Some((last, parents)) = pointer.tokens.split_last() else {
        return Ok((around, Spot::Whole));
    };
    let mut node = root;
    for token in parents {
        let spot = spot(node, token, &around, pointer)?;
        around = existing(root, pointer, around, spot)?;
        node = around.get(root).expect("it was found");
    }
    let spot = spot(node, last, &around, pointer)?;
    Ok((around, spot))
}

/// One step of a pointer into `node`, which is at `reached`.
fn spot(node: &Node, token: &str, reached: &Location, pointer: &Pointer) -> Result<Spot, Fault> {
    let reached = || reached.clone();
    match &node.value {
        Value::Mapping(_) => Ok(Spot::Key(Key::string(token, pointer.span))),
        Value::Sequence(_) => match Index::from_str(token) {
            Ok(Index::Num(index)) => Ok(Spot::Index(index)),
            Ok(Index::Next) => Ok(Spot::End),
            // Digits, but beyond all lists.
            Err(ParseIndexError::InvalidInteger(_)) if !token.is_empty() => {
                Err(fault(pointer, |member| Reason::OutOfRange { member, reached: reached() }))
            }
            Err(_) => {
                Err(fault(pointer, |member| Reason::NotAnIndex { member, reached: reached() }))
            }
        },
        other => {
            let found = other.kind();
            let reason = |member| Reason::NotAContainer { member, reached: reached(), found };
            Err(fault(pointer, reason))
        }
    }
}

/// The place of a step, where something is there.
fn existing(
    root: &Node,
    pointer: &Pointer,
    around: Location,
    spot: Spot,
) -> Result<Location, Fault> {
    let node = around.get(root).expect("the way was walked");
    match spot {
        Spot::Whole => Ok(around),
        Spot::Key(key) => {
            let entry = node.as_mapping().and_then(|mapping| mapping.get_entry(&key));
            match entry {
                Some((key, _)) => Ok(around.join(Piece::Key(key.clone()))),
                None => {
                    Err(fault(pointer, |member| Reason::MissingKey { member, reached: around }))
                }
            }
        }
        Spot::Index(index) => match node.as_sequence().and_then(|items| items.get(index)) {
            Some(_) => Ok(around.join(Piece::Index(index))),
            None => Err(fault(pointer, |member| Reason::OutOfRange { member, reached: around })),
        },
        Spot::End => Err(fault(pointer, Reason::PastTheEnd)),
    }
}

fn fault(pointer: &Pointer, reason: impl FnOnce(Member) -> Reason) -> Fault {
    (pointer.span, reason(pointer.member))
}

/// How deep the collections of a value from the patch are nested; nothing in it
/// is shared.
fn height(node: &Node) -> usize {
    let below = inside(node).map(height).max();
    usize::from(node.is_collection()) + below.unwrap_or(0)
}

/// Measures how deep values are nested, each shared one once.
#[derive(Default)]
struct Heights {
    known: HashMap<usize, usize, foldhash::fast::RandomState>,
}

impl Heights {
    fn of(&mut self, node: &Node) -> usize {
        let Some(address) = node.value.address() else { return 0 };
        if let Some(height) = self.known.get(&address) {
            return *height;
        }
        let height = 1 + inside(node).map(|child| self.of(child)).max().unwrap_or(0);
        self.known.insert(address, height);
        height
    }
}
