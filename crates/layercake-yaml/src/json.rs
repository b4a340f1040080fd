//! Conversion of nodes to JSON.
//!
//! JSON has no dates, bytes, sets or infinite numbers, and its keys are strings. Such values are
//! written as strings with a type tag: `"!!date:2019-01-31"`, `"!!float:.inf"`, and `"!!int:1"` for
//! the key `1`. A set is `{"!!set": [...]}`, and pairs are lists of two. Numbers are written as
//! Python writes them, integers of any size in full.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::emit::{HIDDEN, finite_float_text, scalar_text};
use crate::path::{Location, Piece, children, inside};
use crate::{Key, Mapping, Node, Timestamp, Value};

/// Returns the canonical JSON of a value: keys sorted by code point, no spaces. Equal values of
/// equal types have equal canonical JSON.
///
/// Includes secrets: for comparison only, never for output.
pub fn canonical(node: &Node) -> String {
    let form = NodeAsJson {
        node,
        is_sorted: true,
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
    let form = |node| json_form(node).into_owned();
    let value = match &*NodeAsJson::new(node).value() {
        Value::Sequence(items) => items.iter().map(form).collect::<Vec<_>>().into(),
        Value::Mapping(mapping) => mapping_of(
            mapping
                .iter()
                .map(|(key, node)| (Key::string(key_form(key), key.span), form(node))),
        ),
        scalar => scalar.clone(),
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
            (Piece::Key(key), Piece::Key(wanted)) => key_form(key) == key_form(wanted),
            (piece, wanted) => piece == wanted,
        });
        let Some((piece, inside)) = child else { break };
        location.0.push(piece);
        node = inside;
    }
    location
}

/// Whether a value has only types of JSON, and no secret.
fn is_json(node: &Node) -> bool {
    let mut keys = node.as_mapping().into_iter().flat_map(Mapping::keys);
    matches!(NodeAsJson::new(node).value(), Cow::Borrowed(_))
        && keys.all(|key| key.as_str().is_some())
        && inside(node).all(is_json)
}

fn mapping_of(entries: impl IntoIterator<Item = (Key, Node)>) -> Value {
    Value::Mapping(Arc::new(entries.into_iter().collect()))
}

/// Serializes a node as JSON.
#[derive(Clone, Copy, Debug)]
pub struct NodeAsJson<'a> {
    /// Value to serialize.
    pub node: &'a Node,
    /// Whether the keys of all mappings and sets are sorted by code point; otherwise they have the order
    /// of the document.
    pub is_sorted: bool,
    /// Whether secret values are included; otherwise each is [`HIDDEN`].
    pub show_secrets: bool,
}

impl Serialize for NodeAsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = |node| NodeAsJson { node, ..*self };
        match &*self.value() {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(bool) => serializer.serialize_bool(*bool),
            Value::Int(int) => serializer.serialize_i64(*int),
            Value::BigInt(digits) => number(digits.to_string(), serializer),
            Value::Float(float) => number(float_repr(*float), serializer),
            Value::Sequence(items) => serializer.collect_seq(items.iter().map(form)),
            Value::Mapping(mapping) => {
                let mut entries: Vec<_> = mapping
                    .iter()
                    .map(|(key, node)| (key_form(key), form(node)))
                    .collect();
                if self.is_sorted {
                    entries.sort_by(|(left, _), (right, _)| left.cmp(right));
                }
                serializer.collect_map(entries)
            }
            text @ (Value::String(_)
            | Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_)) => serializer.serialize_str(&tagged(text)),
        }
    }
}

impl<'a> NodeAsJson<'a> {
    /// A value in the order of the document, without secrets.
    pub fn new(node: &'a Node) -> Self {
        Self {
            node,
            is_sorted: false,
            show_secrets: false,
        }
    }

    /// The value, whose type is one of JSON; keys and values in it can have other types.
    fn value(&self) -> Cow<'a, Value> {
        let node = self.node;
        let list = |items: Vec<Node>, span| Node::new(items.into(), span);
        Cow::Owned(match &node.value {
            _ if node.secret && !self.show_secrets => Value::String(HIDDEN.into()),
            Value::Pairs(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| list(vec![key.clone(), value.clone()], key.span));
                Value::from(pairs.collect::<Vec<_>>())
            }
            Value::Set(keys) => {
                let mut keys: Vec<&Key> = keys.iter().collect();
                if self.is_sorted {
                    keys.sort_by_cached_key(|key| key_form(key));
                }
                let items = keys
                    .iter()
                    .map(|key| Node::new(key.value.clone(), key.span));
                let items = list(items.collect(), node.span);
                mapping_of([(Key::string("!!set", node.span), items)])
            }
            Value::Float(float) if float.is_finite() => return Cow::Borrowed(&node.value),
            Value::Float(_) | Value::Date(_) | Value::Timestamp(_) | Value::Binary(_) => {
                Value::String(tagged(&node.value).into())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::String(_)
            | Value::Sequence(_)
            | Value::Mapping(_) => return Cow::Borrowed(&node.value),
        })
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
