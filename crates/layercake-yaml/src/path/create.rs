//! Creating what a path lacks (10.6, `common/utils.py:196-318`).
//!
//! Deckhand does not ask the parsed path what is missing. It cuts the text at
//! every dot, looks for `[digits]` in the pieces, and creates as it goes; then
//! it looks the path up once more. So `.*.b` makes a key `*`, `$..b` a key of
//! no characters, and a quoted name with a dot makes keys that the second look
//! does not find.

use std::sync::Arc;

use layercake_source::Span;

use super::{Location, MAX_INDEX, Path, PathShape, Piece, WalkError};
use crate::{Key, Mapping, Node, Value};

/// What was created, to be taken back where something fails afterwards.
pub(super) struct New {
    /// The topmost place created.
    pub(super) top: Location,
    /// How long the list around it was, where one was padded.
    length: Option<usize>,
}

impl New {
    /// Leaves `data` as it was before.
    pub(super) fn take_back(&self, data: &mut Node) {
        let Some(length) = self.length else {
            self.top.remove(data);
            return;
        };
        let list = self.top.parent().expect("an element has a list around it");
        if let Some(Node { value: Value::Sequence(items), .. }) = list.get_mut(data) {
            Arc::make_mut(items).truncate(length);
        }
    }
}

/// Creates by the text of `path`, in place: a copy of each level, for every
/// one of many paths, would cost far more than to take back what fails. Whether
/// the path leads anywhere afterwards, the caller has to see.
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

/// The pieces between the dots of a path's text; `.` means the root, which is
/// always there.
fn cut(text: &str) -> impl Iterator<Item = &str> {
    text.split('.').skip(1).filter(move |_| text != ".")
}

/// Whether a path that reads as `shape` leads through names alone, and the
/// pieces of its text are the same: none in quotes, none with brackets.
pub(super) fn makes_what_is_found(text: &str, shape: &PathShape) -> bool {
    let PathShape::Plain(segments) = shape else { return false };
    let names = segments.iter().map(|segment| segment.name().map(|name| &**name));
    !segments.is_empty() && names.eq(cut(text).map(Some))
}

fn grow_along(
    text: &str,
    data: &mut Node,
    made_at: Span,
    new: &mut Option<New>,
) -> Result<(), WalkError> {
    let mut cursor = Cursor { node: data, here: Location::root(), made_at };
    for piece in cut(text) {
        cursor = match bracketed(piece) {
            Some((name, Some(index))) => cursor.into_element(name, index, new)?,
            // Brackets that hold no number after all: the piece is looked up
            // as it stands, and never created.
            Some((_, None)) if !cursor.has(piece)? => return Err(WalkError::NotCreatable),
            Some((_, None)) => cursor.into_entry(piece, new)?,
            None if cursor.has(piece)? => cursor.into_entry(piece, new)?,
            None => cursor.into_entry(piece.trim_matches('\'').trim_matches('"'), new)?,
        };
    }
    Ok(())
}

/// The node that creation has come to.
struct Cursor<'d> {
    node: &'d mut Node,
    here: Location,
    made_at: Span,
}

impl Cursor<'_> {
    fn blocked(&self) -> WalkError {
        WalkError::CreateThrough { at: self.here.clone(), kind: self.node.value.kind() }
    }

    fn has(&self, key: &str) -> Result<bool, WalkError> {
        let mapping = self.node.as_mapping().ok_or_else(|| self.blocked())?;
        Ok(mapping.get(key).is_some())
    }

    /// Goes to the entry at `key`, which becomes `missing` where there is none.
    fn enter(
        self,
        key: &str,
        missing: fn() -> Value,
        new: &mut Option<New>,
    ) -> Result<Self, WalkError> {
        let Cursor { node, mut here, made_at } = self;
        let kind = node.value.kind();
        let Value::Mapping(mapping) = &mut node.value else {
            return Err(WalkError::CreateThrough { at: here, kind });
        };
        let make = || (Key::string(key, made_at), Node::made(missing(), made_at));
        let (key, node, was_there) = Mapping::to_change(mapping).get_or_insert_with(key, make);
        here.0.push(Piece::Key(key.clone()));
        if !was_there {
            new.get_or_insert_with(|| New { top: here.clone(), length: None });
        }
        Ok(Cursor { node, here, made_at })
    }

    fn into_entry(self, key: &str, new: &mut Option<New>) -> Result<Self, WalkError> {
        self.enter(key, || Value::Mapping(Arc::default()), new)
    }

    /// Goes to element `index` of the list at `name`, which is made, and
    /// padded with mappings, as far as needed.
    fn into_element(
        self,
        name: &str,
        index: i64,
        new: &mut Option<New>,
    ) -> Result<Self, WalkError> {
        let list = self.enter(name, || Value::Sequence(Arc::default()), new)?;
        let blocked = list.blocked();
        let Cursor { node, here, made_at } = list;
        match &mut node.value {
            Value::Sequence(items) => {
                let items = Arc::make_mut(items);
                // Python's `list[-1]`; where there is none, the reference goes
                // on with nothing in its hands.
                let length = items.len();
                let at = super::find::resolve(index, length);
                let at = at.map_err(|_| WalkError::NotCreatable)?;
                let here = here.join(Piece::Index(at));
                if at >= length {
                    if at > MAX_INDEX {
                        return Err(WalkError::IndexTooLarge { index: at });
                    }
                    let padding = || Node::made(Value::Mapping(Arc::default()), made_at);
                    items.resize_with(at + 1, padding);
                    new.get_or_insert_with(|| New { top: here.clone(), length: Some(length) });
                }
                Ok(Cursor { node: &mut items[at], here, made_at })
            }
            Value::Mapping(mapping) => {
                // A mapping long enough is asked for the integer as a key.
                let key = Key { value: Value::Int(index), span: made_at };
                if !super::find::is_within(index, mapping.len()) || mapping.get(&key).is_none() {
                    return Err(blocked);
                }
                let here = here.join(Piece::Key(key.clone()));
                let node = Mapping::to_change(mapping).get_mut(&key).expect("it was just found");
                Ok(Cursor { node, here, made_at })
            }
            _ => Err(blocked),
        }
    }
}

/// The name and the number of a piece that has digits in brackets; the number
/// is the one in its *first* brackets, if that is one.
fn bracketed(piece: &str) -> Option<(&str, Option<i64>)> {
    // The reference's pattern does not look beyond the first line.
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

/// What Python's `int` reads: blanks around it, a sign, `_` between digits.
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
