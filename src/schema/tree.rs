//! Adapter from nodes to the validator's view of JSON: values without a JSON type have no type, and
//! non-string keys get names that no string can have.

use std::borrow::Cow;

use jsonschema::json::{Array, Json, JsonNumber, Node as JsonNode, NodeIdentity, Object};
use jsonschema::{JsonType, Keyword, ValidationError};
use serde_json::{Number, Value as JsonValue};

use super::limits;
use crate::merge::pattern::Pattern;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node, Size, Value};

/// Internal keyword that rejects values without a JSON type. It is added to lists of types that
/// contain `integer`, because the validator treats such values as integers there.
pub(super) const ONLY_JSON: &str = "\u{0}json";

/// Internal keyword that rejects mappings with non-string keys. It is added to `patternProperties`,
/// where Deckhand's validator fails on such keys (`deckhand.md` 15.3).
pub(super) const ONLY_TEXT_KEYS: &str = "\u{0}text-keys";

/// Internal keyword for `pattern`, with Python's syntax of patterns.
pub(super) const PATTERN: &str = "\u{0}pattern";

/// Internal keyword for an unresolvable `$ref`: Deckhand's validator fails once it has a value to
/// validate.
pub(super) const DEAD_REFERENCE: &str = "\u{0}dead-ref";

/// Public spelling of an internal keyword.
pub(super) fn written_keyword(keyword: &str) -> &str {
    match keyword {
        ONLY_JSON => "type",
        ONLY_TEXT_KEYS => "patternProperties",
        PATTERN => "pattern",
        DEAD_REFERENCE => "$ref",
        written => written,
    }
}

/// Prefix of the names of non-string keys.
const NON_STRING_KEY: char = '\u{0}';

/// Name of a key for the validator.
pub(super) fn name_of(key: &Key) -> Cow<'_, str> {
    match key.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => format!("{NON_STRING_KEY}{}", Piece::Key(key.clone())).into(),
    }
}

/// Entry for a name created by [`name_of`].
pub(super) fn entry<'a>(mapping: &'a Mapping, name: &str) -> Option<(&'a Key, &'a Node)> {
    if name.starts_with(NON_STRING_KEY) {
        return mapping.iter().find(|(key, _)| name_of(key) == name);
    }
    mapping.get_entry(name)
}

/// Readable form of a name.
pub(super) fn shown_name(name: &str) -> &str {
    name.strip_prefix(NON_STRING_KEY)
        .map_or(name, |rest| rest.trim_start_matches('.'))
}

/// Location of a JSON pointer into `root`, as far as it resolves.
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

/// Converts a value to JSON. A value without a JSON type becomes a unique object.
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
    let entry = (
        NON_STRING_KEY.to_string(),
        JsonValue::String(format!("{value:?}")),
    );
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

/// Nodes as JSON values.
pub(super) struct NodeJson;

impl Json for NodeJson {
    type Node<'a> = &'a Node;
    type PreparedKey = String;
    type StringBuffer = Option<Node>;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(_: &mut Option<Node>, _: &str, _: impl FnOnce(&Node) -> T) -> T {
        unreachable!("only `propertyNames` uses it, which Draft 4 does not have")
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
            // JSON has no other types; a single `integer` is checked as a number, and lists of
            // types have `ONLY_JSON`.
            Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_) => JsonType::Integer,
        }
    }

    /// Equality with an option of `enum`; `true` differs from 1, and 1 equals `1.0`.
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
                        expected
                            .get(&*name_of(key))
                            .is_some_and(|it| node.equals_value(it))
                    })
                })
            }
            _ => jsonschema::json::cmp::equal(&to_json(self), expected),
        }
    }

    /// The validator copies the value into errors; a placeholder is enough, because only the
    /// location is used.
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

/// A JSON number; a float never counts as an integer, even with an integral value.
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

    #[expect(clippy::cast_precision_loss, reason = "the caller requests a float")]
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

    /// NaN and the infinities have no JSON form; zero replaces them where only the type matters.
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(number(self.0).unwrap_or_else(|| Number::from(0)))
    }

    fn is_written_as_integer(&self) -> bool {
        matches!(self.0, Value::Int(_) | Value::BigInt(_))
    }
}

/// Internal keyword.
struct CustomKeyword<F> {
    name: &'static str,
    accepts: F,
}

impl<'i, F: Fn(&Node) -> bool + Send + Sync> Keyword<'i, NodeJson> for CustomKeyword<F> {
    fn validate(&self, node: &'i Node) -> Result<(), ValidationError<'i>> {
        if (self.accepts)(node) {
            Ok(())
        } else {
            Err(ValidationError::custom(self.name))
        }
    }

    fn is_valid(&self, node: &'i Node) -> bool {
        (self.accepts)(node)
    }
}

/// Keyword object for the validator.
pub(super) type AnyKeyword = Box<dyn for<'i> Keyword<'i, NodeJson>>;

/// See [`ONLY_JSON`].
pub(super) fn only_json() -> AnyKeyword {
    let accepts = |node: &Node| JsonNode::<NodeJson>::json_type(&node) != JsonType::Integer;
    Box::new(CustomKeyword {
        name: ONLY_JSON,
        accepts,
    })
}

/// See [`ONLY_TEXT_KEYS`].
pub(super) fn only_text_keys() -> AnyKeyword {
    let accepts = |node: &Node| {
        let mut keys = node.as_mapping().into_iter().flat_map(Mapping::keys);
        keys.all(|key| key.as_str().is_some())
    };
    Box::new(CustomKeyword {
        name: ONLY_TEXT_KEYS,
        accepts,
    })
}

/// See [`DEAD_REFERENCE`].
pub(super) fn dead_reference() -> AnyKeyword {
    Box::new(CustomKeyword {
        name: DEAD_REFERENCE,
        accepts: |_: &Node| false,
    })
}

/// See [`PATTERN`].
pub(super) fn matching(pattern: Pattern) -> AnyKeyword {
    let accepts = move |node: &Node| {
        node.as_str()
            .is_none_or(|text| limits::search(&pattern, text) == Ok(true))
    };
    Box::new(CustomKeyword {
        name: PATTERN,
        accepts,
    })
}

/// Whether the search for a pattern in a text completed.
pub(super) fn can_be_searched(pattern: &str, node: &Node) -> bool {
    let text = node.as_str().unwrap_or_default();
    Pattern::parse(pattern).is_ok_and(|pattern| limits::search(&pattern, text).is_ok())
}
