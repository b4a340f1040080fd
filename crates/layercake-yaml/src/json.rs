//! Conversion of nodes to JSON.
//!
//! JSON has no dates, bytes, sets or infinite numbers, and its keys are strings. Such values are
//! written as strings with a type tag: `"!!date:2019-01-31"`, `"!!float:.inf"`, and `"!!int:1"` for
//! the key `1`. A set is `{"!!set": [...]}`, and pairs are lists of two. Numbers are written as
//! Python writes them, integers of any size in full.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::emit::{HIDDEN, finite_float_text, scalar_text};
use crate::path::{Location, Piece, children};
use crate::{Key, Node, Timestamp, Value};

/// Returns the canonical JSON of a value: keys sorted by code point, no spaces. Equal values of
/// equal types have equal canonical JSON.
///
/// Includes secrets: for comparison only, never for output.
pub fn canonical(node: &Node) -> String {
    let form = NodeAsJson {
        node,
        order: KeyOrder::Sorted,
        show_secrets: true,
    };
    serde_json::to_string(&form)
        .expect("every value can be serialized, and writing to a string cannot fail")
}

/// A value as [`NodeAsJson`] writes it without secrets, with the spans of the original nodes.
pub fn json_form(node: &Node) -> Cow<'_, Node> {
    if is_json(node) {
        return Cow::Borrowed(node);
    }
    let text = |text: &str| Value::String(text.into());
    let of_key = |key: &Key| Key::string(key_form(key), key.span);
    let value = match &node.value {
        _ if node.secret => text(HIDDEN),
        Value::Sequence(items) => items.iter().map(owned).collect::<Vec<_>>().into(),
        Value::Mapping(mapping) => {
            let entries = mapping.iter().map(|(key, node)| (of_key(key), owned(node)));
            Value::Mapping(Arc::new(entries.collect()))
        }
        Value::Pairs(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| {
                let pair = vec![owned(key), owned(value)];
                Node {
                    value: pair.into(),
                    ..key.clone()
                }
            });
            pairs.collect::<Vec<_>>().into()
        }
        Value::Set(keys) => {
            let keys = keys
                .iter()
                .map(|key| Node::new(text(&key_form(key)), key.span));
            let keys = Node::new(keys.collect::<Vec<_>>().into(), node.span);
            let entries = std::iter::once((Key::string("!!set", node.span), keys));
            Value::Mapping(Arc::new(entries.collect()))
        }
        scalar => text(&tagged(scalar)),
    };
    Cow::Owned(Node {
        value,
        ..node.clone()
    })
}

/// Location in the data of what is at a location of its JSON form: up to the first value that JSON has
/// no type for.
pub fn original_location(data: &Node, of_form: &Location) -> Location {
    let mut location = Location::root();
    let mut node = data;
    for wanted in &of_form.0 {
        let child = children(node).find(|(piece, _)| match (piece, wanted) {
            (Piece::Key(key), Piece::Key(wanted)) => Some(&*key_form(key)) == wanted.as_str(),
            (piece, wanted) => piece == wanted,
        });
        let Some((piece, inside)) = child else { break };
        location.0.push(piece);
        node = inside;
    }
    location
}

fn owned(node: &Node) -> Node {
    json_form(node).into_owned()
}

/// Whether a value has only types of JSON, and no secret.
fn is_json(node: &Node) -> bool {
    !node.secret
        && match &node.value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::String(_) => {
                true
            }
            Value::Float(float) => float.is_finite(),
            Value::Sequence(items) => items.iter().all(is_json),
            Value::Mapping(mapping) => {
                let mut entries = mapping.iter();
                entries.all(|(key, node)| key.as_str().is_some() && is_json(node))
            }
            Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_) => false,
        }
}

/// Serializes a node as JSON.
#[derive(Clone, Copy, Debug)]
pub struct NodeAsJson<'a> {
    /// Value to serialize.
    pub node: &'a Node,
    /// Order of the keys of all mappings.
    pub order: KeyOrder,
    /// Whether secret values are included; otherwise each is [`HIDDEN`].
    pub show_secrets: bool,
}

/// Order of mapping keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Order of the document.
    Document,
    /// Sorted by code point.
    Sorted,
}

impl Serialize for NodeAsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.node.secret && !self.show_secrets {
            return serializer.serialize_str(HIDDEN);
        }
        match &self.node.value {
            Value::Sequence(items) => {
                serializer.collect_seq(items.iter().map(|item| self.of(item)))
            }
            Value::Mapping(mapping) => {
                let mut entries: Vec<_> = mapping
                    .iter()
                    .map(|(key, node)| (key_form(key), self.of(node)))
                    .collect();
                if self.order == KeyOrder::Sorted {
                    entries.sort_by(|(left, _), (right, _)| left.cmp(right));
                }
                serializer.collect_map(entries)
            }
            Value::Pairs(pairs) => serializer.collect_seq(
                pairs
                    .iter()
                    .map(|(key, node)| [self.of(key), self.of(node)]),
            ),
            Value::Set(keys) => {
                let mut items: Vec<Scalar<'_>> =
                    keys.iter().map(|key| Scalar(&key.value)).collect();
                if self.order == KeyOrder::Sorted {
                    items.sort_by_cached_key(|item| tagged(item.0));
                }
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("!!set", &items)?;
                map.end()
            }
            scalar => Scalar(scalar).serialize(serializer),
        }
    }
}

impl<'a> NodeAsJson<'a> {
    fn of(&self, node: &'a Node) -> Self {
        Self { node, ..*self }
    }
}

/// A value that is not a collection.
struct Scalar<'a>(&'a Value);

impl Serialize for Scalar<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(bool) => serializer.serialize_bool(*bool),
            Value::Int(int) => serializer.serialize_i64(*int),
            Value::BigInt(digits) => number(digits.to_string(), serializer),
            Value::Float(float) if float.is_finite() => number(float_repr(*float), serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Float(_)
            | Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_)
            | Value::Sequence(_)
            | Value::Mapping(_) => serializer.serialize_str(&tagged(self.0)),
        }
    }
}

/// Serializes a number with exactly these characters, which serde's own numbers would round or
/// reformat.
fn number<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text)
        .map_err(S::Error::custom)?
        .serialize(serializer)
}

/// Returns a key as a JSON string.
pub fn key_form(key: &Key) -> Cow<'_, str> {
    tagged(&key.value)
}

/// Returns a scalar as a string with its type tag; strings have no tag.
fn tagged(value: &Value) -> Cow<'_, str> {
    Cow::Owned(match value {
        Value::String(text) => return Cow::Borrowed(text),
        Value::Null => "!!null".to_owned(),
        Value::Bool(bool) => format!("!!bool:{bool}"),
        Value::Int(int) => format!("!!int:{int}"),
        Value::BigInt(digits) => format!("!!int:{digits}"),
        Value::Float(float) => format!("!!float:{}", float_repr(*float)),
        Value::Timestamp(timestamp) => format!("!!datetime:{}", timestamp_text(timestamp)),
        Value::Date(_) => format!("!!date:{}", scalar_text(value)),
        Value::Binary(_) => format!("!!binary:{}", scalar_text(value)),
        Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => {
            format!("!!{}", value.kind())
        }
    })
}

/// Formats a float like Python's `repr`; infinities and NaN like YAML.
fn float_repr(float: f64) -> String {
    if float.is_finite() {
        finite_float_text(float)
    } else {
        scalar_text(&Value::Float(float))
    }
}

/// Formats a timestamp like Python's `isoformat`.
fn timestamp_text(timestamp: &Timestamp) -> String {
    let Timestamp {
        date,
        hour,
        minute,
        second,
        microsecond,
        offset,
    } = timestamp;
    let mut text = format!(
        "{}T{hour:02}:{minute:02}:{second:02}",
        scalar_text(&Value::Date(*date))
    );
    if *microsecond != 0 {
        write!(text, ".{microsecond:06}").expect("writing to a string cannot fail");
    }
    if let Some(offset) = offset {
        let sign = if *offset < 0 { '-' } else { '+' };
        let minutes = offset.unsigned_abs();
        write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            .expect("writing to a string cannot fail");
    }
    text
}
