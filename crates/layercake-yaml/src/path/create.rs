//! Creation of missing nodes (10.6, `common/utils.py:196-318`).
//!
//! Deckhand does not use the parsed path for this. It splits the text at every dot, searches for
//! `[digits]` in the pieces, creates nodes, and then evaluates the path again. So `.*.b` creates a
//! key `*`, `$..b` an empty key, and a quoted name with a dot creates keys that the second
//! evaluation does not find.

use std::sync::Arc;

use layercake_source::Span;

use super::{Location, MAX_INDEX, Path, PathShape, Piece, WalkError};
use crate::{Key, Mapping, Node, Value};

/// Created nodes, for reverting them if a later step fails.
pub(super) struct New {
    /// Topmost created location.
    pub(super) top: Location,
    /// Previous length of the enclosing list, if it was padded.
    length: Option<usize>,
}

impl New {
    /// Reverts the creation.
    pub(super) fn take_back(&self, data: &mut Node) {
        let Some(length) = self.length else {
            self.top.remove(data);
            return;
        };
        let list = self.top.parent().expect("an element is inside of a list");
        if let Some(Node {
            value: Value::Sequence(items),
            ..
        }) = list.get_mut(data)
        {
            Arc::make_mut(items).truncate(length);
        }
    }
}

/// Creates nodes for the text of `path`, in place: reverting a failure is much cheaper than copying
/// each level for each path. The caller must check whether the path then has a match.
pub(super) fn grow(path: &Path, data: &mut Node, made_at: Span) -> Result<Option<New>, WalkError> {
    let mut new = None;
    match grow_along(path.text(), data, made_at, &mut new) {
        Ok(()) => Ok(new),
        Err(error) => {
            if let Some(new) = new {
                new.take_back(data);
            }
            Err(error)
        }
    }
}

/// Pieces between the dots of a path's text; none for `.`, the root, which always exists.
fn cut(text: &str) -> impl Iterator<Item = &str> {
    text.split('.').skip(1).filter(move |_| text != ".")
}

/// Whether a path with this `shape` contains only names that are equal to the pieces of its text,
/// i.e. without quotes and brackets.
pub(super) fn makes_what_is_found(text: &str, shape: &PathShape) -> bool {
    let PathShape::Plain(segments) = shape else {
        return false;
    };
    let names = segments
        .iter()
        .map(|segment| segment.name().map(|name| &**name));
    !segments.is_empty() && names.eq(cut(text).map(Some))
}

fn grow_along(
    text: &str,
    data: &mut Node,
    made_at: Span,
    new: &mut Option<New>,
) -> Result<(), WalkError> {
    let mut cursor = Cursor {
        node: data,
        here: Location::root(),
        made_at,
    };
    for piece in cut(text) {
        cursor = match bracketed(piece) {
            Some((name, Some(index))) => cursor.into_element(name, index, new)?,
            // The brackets do not contain a number: the piece is evaluated as a whole, and never
            // created.
            Some((_, None)) if !cursor.has(piece)? => return Err(WalkError::NotCreatable),
            Some((_, None)) => cursor.into_entry(piece, new)?,
            None if cursor.has(piece)? => cursor.into_entry(piece, new)?,
            None => cursor.into_entry(piece.trim_matches('\'').trim_matches('"'), new)?,
        };
    }
    Ok(())
}

/// Current node of the creation.
struct Cursor<'d> {
    node: &'d mut Node,
    here: Location,
    made_at: Span,
}

impl Cursor<'_> {
    fn blocked(&self) -> WalkError {
        WalkError::CreateThrough {
            at: self.here.clone(),
            kind: self.node.value.kind(),
        }
    }

    fn has(&self, key: &str) -> Result<bool, WalkError> {
        let mapping = self.node.as_mapping().ok_or_else(|| self.blocked())?;
        Ok(mapping.get(key).is_some())
    }

    /// Enters the entry at `key`, creating it with `missing` if necessary.
    fn enter(
        self,
        key: &str,
        missing: fn() -> Value,
        new: &mut Option<New>,
    ) -> Result<Self, WalkError> {
        let Cursor {
            node,
            mut here,
            made_at,
        } = self;
        let kind = node.value.kind();
        let Value::Mapping(mapping) = &mut node.value else {
            return Err(WalkError::CreateThrough { at: here, kind });
        };
        let (key, node, was_there) = Mapping::to_change(mapping).get_or_insert_with(key, || {
            (Key::string(key, made_at), Node::made(missing(), made_at))
        });
        here.0.push(Piece::Key(key.clone()));
        if !was_there {
            new.get_or_insert_with(|| New {
                top: here.clone(),
                length: None,
            });
        }
        Ok(Cursor {
            node,
            here,
            made_at,
        })
    }

    fn into_entry(self, key: &str, new: &mut Option<New>) -> Result<Self, WalkError> {
        self.enter(key, || Value::Mapping(Arc::default()), new)
    }

    /// Enters element `index` of the list at `name`, creating the list and padding it with mappings
    /// if necessary.
    fn into_element(
        self,
        name: &str,
        index: i64,
        new: &mut Option<New>,
    ) -> Result<Self, WalkError> {
        let list = self.enter(name, || Value::Sequence(Arc::default()), new)?;
        let blocked = list.blocked();
        let Cursor {
            node,
            here,
            made_at,
        } = list;
        match &mut node.value {
            Value::Sequence(items) => {
                let items = Arc::make_mut(items);
                // Python's `list[-1]`; for an empty list, the reference continues with nothing.
                let length = items.len();
                let at =
                    super::find::resolve(index, length).map_err(|_| WalkError::NotCreatable)?;
                let here = here.join(Piece::Index(at));
                if at >= length {
                    if at > MAX_INDEX {
                        return Err(WalkError::IndexTooLarge { index: at });
                    }
                    items.resize_with(at + 1, || {
                        Node::made(Value::Mapping(Arc::default()), made_at)
                    });
                    new.get_or_insert_with(|| New {
                        top: here.clone(),
                        length: Some(length),
                    });
                }
                Ok(Cursor {
                    node: &mut items[at],
                    here,
                    made_at,
                })
            }
            Value::Mapping(mapping) => {
                // In a sufficiently large mapping, the integer is looked up as a key.
                let key = Key {
                    value: Value::Int(index),
                    span: made_at,
                };
                if !super::find::is_within(index, mapping.len()) || mapping.get(&key).is_none() {
                    return Err(blocked);
                }
                let here = here.join(Piece::Key(key.clone()));
                let node = Mapping::to_change(mapping)
                    .get_mut(&key)
                    .expect("the key exists");
                Ok(Cursor {
                    node,
                    here,
                    made_at,
                })
            }
            _ => Err(blocked),
        }
    }
}

/// Name and number of a piece with digits in brackets; the number is taken from its *first*
/// brackets, and may be invalid.
fn bracketed(piece: &str) -> Option<(&str, Option<i64>)> {
    // The pattern of the reference only searches the first line.
    let line = piece.split('\n').next().unwrap_or(piece);
    let has_digits = line.match_indices('[').any(|(at, _)| {
        let rest = &line[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest[digits..].starts_with(']')
    });
    if !has_digits {
        return None;
    }
    let (name, rest) = piece.split_once('[')?;
    let first = rest.split('[').next().unwrap_or(rest);
    let mut characters = first.chars();
    characters.next_back();
    Some((name, python_int(characters.as_str())))
}

/// Equivalent of Python's `int`: allows surrounding blanks, a sign, and `_` between digits.
fn python_int(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sound = digits
        .split('_')
        .all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    if !sound {
        return None;
    }
    let negative = text.starts_with('-');
    let number = digits.replace('_', "").parse().unwrap_or(i64::MAX);
    Some(if negative { -number } else { number })
}
