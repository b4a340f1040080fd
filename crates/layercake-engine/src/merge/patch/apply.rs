//! Application of operations in order, modelled on the classes of Python's `jsonpatch` 1.33.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use jsonptr::index::{Index, ParseIndexError};
use layercake_source::Span;
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Key, Mapping, Node, Value, YamlLimit};

use super::operation::{Action, Operation, Pointer};
use super::{Failure, Member, Reason};

/// Returns the result of `operations` on `base`.
///
/// # Errors
/// If one of them fails.
pub(super) fn apply(operations: &[Operation], base: &Node) -> Result<Node, Failure> {
    apply_each(operations, base, |_, _| {})
}

/// As [`apply`]; `look` receives the document after each operation.
///
/// # Errors
/// If one of them fails.
pub(super) fn apply_each(
    operations: &[Operation],
    base: &Node,
    mut look: impl FnMut(usize, &Node),
) -> Result<Node, Failure> {
    let mut document = Document {
        root: base.clone(),
        deepened: 0,
    };
    for (index, operation) in operations.iter().enumerate() {
        let applied = document.apply(operation);
        applied.map_err(|(at, reason)| Failure {
            operation: Some(index),
            at,
            reason,
        })?;
        look(index, &document.root);
    }
    Ok(document.root)
}

/// Reason, and span of the text to fix.
type Fault = (Span, Reason);

/// Partly patched document.
struct Document {
    root: Node,
    /// Upper bound of the increase in depth since it was last measured.
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

    /// Implements Python's `AddOperation`.
    fn add(&mut self, path: &Pointer, value: Node) -> Result<(), Fault> {
        let (around, spot) = target(&self.root, path)?;
        if matches!(spot, Spot::Whole) {
            if self.root.as_mapping().is_none() {
                return Err(fault(path, Reason::WholeDocument));
            }
            self.root = value;
            return Ok(());
        }
        let node = around
            .get_mut(&mut self.root)
            .expect("the path was resolved");
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
            _ => Err(fault(path, |member| Reason::OutOfRange {
                member,
                reached: around,
            })),
        }
    }

    /// Implements Python's `ReplaceOperation`, which treats `-` as the end of a list before it
    /// checks whether there is one.
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

    /// Implements Python's `MoveOperation`: the value is removed, then added to the remaining
    /// document.
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

    /// Implements Python's `TestOperation`: `==`, for which `1`, `1.0` and `true` are equal.
    fn test(&self, path: &Pointer, expected: &Node) -> Result<(), Fault> {
        let (around, spot) = target(&self.root, path)?;
        let at = existing(&self.root, path, around, spot)?;
        let found = at.get(&self.root).expect("it was found");
        if found.value.equals_in_python(&expected.value) {
            return Ok(());
        }
        Err((expected.span, Reason::Different { found: found.span }))
    }

    /// Returns the value of a pointer into the document, with its place.
    fn member(&self, pointer: &Pointer) -> Result<(Location, Node), Fault> {
        let (around, spot) = target(&self.root, pointer)?;
        if matches!(spot, Spot::Whole) {
            return Err(fault(pointer, Reason::WholeDocument));
        }
        let at = existing(&self.root, pointer, around, spot)?;
        let node = at.get(&self.root).expect("it was found").clone();
        Ok((at, node))
    }

    /// Checks the nesting depth of the document against the limit for rendered data, because values
    /// can repeatedly be copied into themselves.
    fn allow(&mut self, deeper: usize, path: &Pointer) -> Result<(), Fault> {
        self.deepened += deeper;
        if self.deepened <= YamlLimit::DEPTH {
            return Ok(());
        }
        self.deepened = deeper;
        let height = Heights::default().of(&self.root);
        if height + deeper <= MAX_DEPTH {
            return Ok(());
        }
        Err((path.span, Reason::OverLimit(YamlLimit::Depth)))
    }
}

/// Maximum nesting depth of rendered data.
const MAX_DEPTH: usize = 4 * YamlLimit::DEPTH;

/// Returns by how much a value may be deeper at `path` than at `from`.
fn deepening(from: &Location, path: &Pointer) -> usize {
    path.tokens.len().saturating_sub(from.0.len())
}

/// Last token of a pointer.
enum Spot {
    /// The whole document: no token.
    Whole,
    /// A key of a mapping, possibly missing.
    Key(Key),
    /// An index into a list, possibly past its end.
    Index(usize),
    /// `-`: past the end of a list.
    End,
}

/// Resolves a pointer to an existing mapping or list, and the last token in it (`jsonpointer`'s
/// `to_last`).
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

/// Resolves one token of a pointer in `node`, which is at `reached`.
fn spot(node: &Node, token: &str, reached: &Location, pointer: &Pointer) -> Result<Spot, Fault> {
    let reached = || reached.clone();
    match &node.value {
        Value::Mapping(_) => Ok(Spot::Key(Key::string(token, pointer.span))),
        Value::Sequence(_) => match Index::from_str(token) {
            Ok(Index::Num(index)) => Ok(Spot::Index(index)),
            Ok(Index::Next) => Ok(Spot::End),
            // Digits, but larger than any index.
            Err(ParseIndexError::InvalidInteger(_)) if !token.is_empty() => {
                Err(fault(pointer, |member| Reason::OutOfRange {
                    member,
                    reached: reached(),
                }))
            }
            Err(_) => Err(fault(pointer, |member| Reason::NotAnIndex {
                member,
                reached: reached(),
            })),
        },
        other => {
            let found = other.kind();
            Err(fault(pointer, |member| Reason::NotAContainer {
                member,
                reached: reached(),
                found,
            }))
        }
    }
}

/// Returns the place of a token, if it exists.
fn existing(
    root: &Node,
    pointer: &Pointer,
    around: Location,
    spot: Spot,
) -> Result<Location, Fault> {
    let node = around.get(root).expect("the path was resolved");
    match spot {
        Spot::Whole => Ok(around),
        Spot::Key(key) => {
            let entry = node
                .as_mapping()
                .and_then(|mapping| mapping.get_entry(&key));
            match entry {
                Some((key, _)) => Ok(around.join(Piece::Key(key.clone()))),
                None => Err(fault(pointer, |member| Reason::MissingKey {
                    member,
                    reached: around,
                })),
            }
        }
        Spot::Index(index) => match node.as_sequence().and_then(|items| items.get(index)) {
            Some(_) => Ok(around.join(Piece::Index(index))),
            None => Err(fault(pointer, |member| Reason::OutOfRange {
                member,
                reached: around,
            })),
        },
        Spot::End => Err(fault(pointer, Reason::PastTheEnd)),
    }
}

fn fault(pointer: &Pointer, reason: impl FnOnce(Member) -> Reason) -> Fault {
    (pointer.span, reason(pointer.member))
}

/// Returns the nesting depth of the collections of a value from the patch, which has no shared
/// values.
fn height(node: &Node) -> usize {
    let below = inside(node).map(height).max();
    usize::from(node.is_collection()) + below.unwrap_or(0)
}

/// Cache for measuring the nesting depth, by address of shared values.
#[derive(Default)]
struct Heights {
    known: HashMap<usize, usize, foldhash::fast::RandomState>,
}

impl Heights {
    fn of(&mut self, node: &Node) -> usize {
        let Some(address) = node.value.address() else {
            return 0;
        };
        if let Some(height) = self.known.get(&address) {
            return *height;
        }
        let height = 1 + inside(node).map(|child| self.of(child)).max().unwrap_or(0);
        self.known.insert(address, height);
        height
    }
}
