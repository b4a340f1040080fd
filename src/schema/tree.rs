//! Our nodes as the validator sees them: values that JSON does not have are of
//! no type, and keys that are no text have names that no text is.

use std::borrow::Cow;

use jsonschema::json::{Array, Json, JsonNumber, Node as JsonNode, NodeIdentity, Object};
use jsonschema::{JsonType, Keyword, ValidationError};
use serde_json::{Number, Value as JsonValue};

use super::limits;
use crate::merge::pattern::Pattern;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node, Size, Value};

/// The keyword, unknown to users, that refuses what JSON does not have: beside
/// a list of types with `integer`, since the validator takes such values for
/// integers there.
pub(super) const ONLY_JSON: &str = "\u{0}json";

/// The keyword, unknown to users, that refuses mappings with keys that are no
/// text: beside `patternProperties`, where Deckhand's validator fails on them
/// (`deckhand.md` 15.3).
pub(super) const ONLY_TEXT_KEYS: &str = "\u{0}text-keys";

/// The internal keyword for `pattern`: patterns are Python's.
pub(super) const PATTERN: &str = "\u{0}pattern";

/// The internal keyword for a `$ref` that cannot be resolved: Deckhand's validator fails as soon as
/// it has a value to look at.
pub(super) const DEAD_REFERENCE: &str = "\u{0}dead-ref";

/// The user's spelling of an internal keyword.
pub(super) fn written_keyword(keyword: &str) -> &str {
    match keyword {
        ONLY_JSON => "type",
        ONLY_TEXT_KEYS => "patternProperties",
        PATTERN => "pattern",
        DEAD_REFERENCE => "$ref",
        written => written,
    }
}

/// Marks the name of a key that is no text.
const NO_TEXT: char = '\u{0}';

/// The name by which the validator knows a key.
pub(super) fn name_of(key: &Key) -> Cow<'_, str> {
    match key.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => format!("{NO_TEXT}{}", Piece::Key(key.clone())).into(),
    }
}

/// The entry with a name that [`name_of`] gave.
pub(super) fn entry<'a>(mapping: &'a Mapping, name: &str) -> Option<(&'a Key, &'a Node)> {
    if name.starts_with(NO_TEXT) {
        return mapping.iter().find(|(key, _)| name_of(key) == name);
    }
    mapping.get_entry(name)
}

/// A name as a person reads it.
pub(super) fn shown_name(name: &str) -> &str {
    name.strip_prefix(NO_TEXT).map_or(name, |rest| rest.trim_start_matches('.'))
}

/// The place that a JSON pointer into `root` means, as far as it leads.
pub(super) fn location(root: &Node, pointer: &str) -> Location {
    let mut location = Location::root();
    let mut node = root;
    for piece in pointer.split('/').skip(1) {
        let name = piece.replace("~1", "/").replace("~0", "~");
        let next = match &node.value {
            Value::Mapping(mapping) => {
                entry(mapping, &name).map(|(key, child)| (Piece::Key(key.clone()), child))
            }
            Value::Sequence(items) => name
                .parse()
                .ok()
                .and_then(|index: usize| Some((Piece::Index(index), items.get(index)?))),
            _ => None,
        };
        let Some((piece, child)) = next else { break };
        location.0.push(piece);
        node = child;
    }
    location
}

/// A value as JSON. What JSON does not have becomes something that is equal to
/// nothing else.
pub(super) fn to_json(node: &Node) -> JsonValue {
    match &node.value {
        Value::Null => JsonValue::Null,
        Value::Bool(bool) => JsonValue::Bool(*bool),
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) => match number(&node.value) {
            Some(number) => JsonValue::Number(number),
            None => odd(&node.value),
        },
        Value::String(text) => JsonValue::String(text.to_string()),
        Value::Sequence(items) => items.iter().map(to_json).collect(),
        Value::Mapping(mapping) => JsonValue::Object(
            mapping
                .iter()
                .map(|(key, child)| (name_of(key).into_owned(), to_json(child)))
                .collect(),
        ),
        Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_) => odd(&node.value),
    }
}

fn odd(value: &Value) -> JsonValue {
    let entry = (NO_TEXT.to_string(), JsonValue::String(format!("{value:?}")));
    JsonValue::Object([entry].into_iter().collect())
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(int) => Some(Number::from(*int)),
        Value::BigInt(digits) => match digits.parse::<u64>() {
            Ok(large) => Some(Number::from(large)),
            Err(_) => Number::from_f64(digits.parse().ok()?),
        },
        Value::Float(float) => Number::from_f64(*float),
        _ => None,
    }
}

/// Our nodes, as a form of JSON.
pub(super) struct NodeJson;

impl Json for NodeJson {
    type Node<'a> = &'a Node;
    type PreparedKey = String;
    type StringBuffer = Option<Node>;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(_: &mut Option<Node>, _: &str, _: impl FnOnce(&Node) -> T) -> T {
        unreachable!("only `propertyNames` asks for it, which Draft 4 does not know")
    }
}

impl<'a> JsonNode<'a, NodeJson> for &'a Node {
    type Object = &'a Mapping;
    type Array = &'a [Node];
    type Number = Numeric<'a>;

    fn as_object(&self) -> Option<&'a Mapping> {
        limits::count();
        Node::as_mapping(self)
    }

    fn as_array(&self) -> Option<&'a [Node]> {
        limits::count();
        Node::as_sequence(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        limits::count();
        Node::as_str(self).map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Numeric<'a>> {
        limits::count();
        let value = &self.value;
        matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Float(_))
            .then_some(Numeric(value))
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        Node::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        limits::count();
        match &self.value {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Int(_) | Value::BigInt(_) | Value::Float(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Sequence(_) => JsonType::Array,
            Value::Mapping(_) => JsonType::Object,
            // No value that JSON has is one of these types; a single `integer` asks for a number,
            // and `ONLY_JSON` is beside lists.
            Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_) => JsonType::Integer,
        }
    }

    /// An option of `enum`; `true` is not 1, and 1 is `1.0`.
    fn equals_value(&self, expected: &JsonValue) -> bool {
        limits::count();
        match (&self.value, expected) {
            (Value::String(text), JsonValue::String(expected)) => **text == **expected,
            (Value::String(_), _) | (_, JsonValue::String(_)) => false,
            (Value::Sequence(items), expected) => {
                let expected = expected.as_array().filter(|it| it.len() == items.len());
                expected.is_some_and(|expected| {
                    let mut pairs = items.iter().zip(expected);
                    pairs.all(|(item, expected)| item.equals_value(expected))
                })
            }
            (Value::Mapping(mapping), expected) => {
                let expected = expected.as_object().filter(|it| it.len() == mapping.len());
                expected.is_some_and(|expected| {
                    mapping.iter().all(|(key, node)| {
                        expected.get(&*name_of(key)).is_some_and(|it| node.equals_value(it))
                    })
                })
            }
            _ => jsonschema::json::cmp::equal(&to_json(self), expected),
        }
    }

    /// Errors take a copy of the value with them, which is not used: they say where it is.
    fn to_value(&self) -> Cow<'a, JsonValue> {
        Cow::Owned(JsonValue::Null)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        limits::count();
        Some(NodeIdentity::new(std::ptr::from_ref::<Node>(self).addr()))
    }
}

impl<'a> Object<'a, NodeJson> for &'a Mapping {
    type Node = &'a Node;
    type MemberName = Cow<'a, str>;
    type MembersIter = Box<dyn Iterator<Item = (Cow<'a, str>, &'a Node)> + 'a>;

    fn len(&self) -> usize {
        Mapping::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Node> {
        entry(self, key).map(|(_, node)| node)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(Mapping::iter(self).map(|(key, node)| (name_of(key), node)))
    }
}

impl<'a> Array<'a, NodeJson> for &'a [Node] {
    type Node = &'a Node;
    type ElementsIter = std::slice::Iter<'a, Node>;

    fn len(&self) -> usize {
        <[Node]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        self.iter()
    }

    fn is_unique(&self) -> bool {
        for item in *self {
            limits::count_all(Size::of(item).nodes());
        }
        let values: Vec<Cow<'_, JsonValue>> =
            self.iter().map(|item| Cow::Owned(to_json(item))).collect();
        jsonschema::json::unique::is_unique(&values)
    }
}

/// A number; a float is none that is written as an integer, whatever its value
/// is.
pub(super) struct Numeric<'a>(&'a Value);

impl JsonNumber for Numeric<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Value::Int(int) => u64::try_from(*int).ok(),
            Value::BigInt(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Value::Int(int) => Some(*int),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "it is asked for as a float")]
    fn as_f64(&self) -> Option<f64> {
        match self.0 {
            Value::Int(int) => Some(*int as f64),
            Value::BigInt(digits) => digits.parse().ok(),
            Value::Float(float) => Some(*float),
            _ => None,
        }
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self.0 {
            Value::BigInt(digits) => Cow::Borrowed(digits),
            Value::Float(float) => Cow::Owned(format!("{float:?}")),
            _ => Cow::Owned(self.to_number().to_string()),
        }
    }

    /// NaN and the infinities have no form in JSON; zero replaces them where only their being
    /// numbers counts.
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(number(self.0).unwrap_or_else(|| Number::from(0)))
    }

    fn is_written_as_integer(&self) -> bool {
        matches!(self.0, Value::Int(_) | Value::BigInt(_))
    }
}

/// A keyword of our own.
struct CustomKeyword<F> {
    name: &'static str,
    accepts: F,
}

impl<'i, F: Fn(&Node) -> bool + Send + Sync> Keyword<'i, NodeJson> for CustomKeyword<F> {
    fn validate(&self, node: &'i Node) -> Result<(), ValidationError<'i>> {
        if (self.accepts)(node) { Ok(()) } else { Err(ValidationError::custom(self.name)) }
    }

    fn is_valid(&self, node: &'i Node) -> bool {
        (self.accepts)(node)
    }
}

/// A keyword as the validator takes it.
pub(super) type AnyKeyword = Box<dyn for<'i> Keyword<'i, NodeJson>>;

/// See [`ONLY_JSON`].
pub(super) fn only_json() -> AnyKeyword {
    let accepts = |node: &Node| JsonNode::<NodeJson>::json_type(&node) != JsonType::Integer;
    Box::new(CustomKeyword { name: ONLY_JSON, accepts })
}

/// See [`ONLY_TEXT_KEYS`].
pub(super) fn only_text_keys() -> AnyKeyword {
    let accepts = |node: &Node| {
        let mut keys = node.as_mapping().into_iter().flat_map(Mapping::keys);
        keys.all(|key| key.as_str().is_some())
    };
    Box::new(CustomKeyword { name: ONLY_TEXT_KEYS, accepts })
}

/// See [`DEAD_REFERENCE`].
pub(super) fn dead_reference() -> AnyKeyword {
    Box::new(CustomKeyword { name: DEAD_REFERENCE, accepts: |_: &Node| false })
}

/// See [`PATTERN`].
pub(super) fn matching(pattern: Pattern) -> AnyKeyword {
    let accepts = move |node: &Node| {
        node.as_str().is_none_or(|text| limits::search(&pattern, text) == Ok(true))
    };
    Box::new(CustomKeyword { name: PATTERN, accepts })
}

/// Whether a text could be searched for a pattern to the end.
pub(super) fn can_be_searched(pattern: &str, node: &Node) -> bool {
    let text = node.as_str().unwrap_or_default();
    Pattern::parse(pattern).is_ok_and(|pattern| limits::search(&pattern, text).is_ok())
}
