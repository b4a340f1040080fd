//! Values with source spans.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;
use layercake_source::{FileId, Span};
use smol_str::SmolStr;

use super::collection::{Mapping, Sequence};

/// A value with its source span and secrecy.
///
/// Cheap to clone: sequences, mappings and strings are shared. Merging moves nodes and never
/// rewrites their spans, so a rendered leaf still refers to its source. Equality compares only the
/// values, not the spans.
#[derive(Clone, Debug)]
pub struct Node {
    /// Value of the node.
    pub value: Value,
    /// Span of the source text; for a created node, the span of the step that created it.
    ///
    /// - Plain or quoted scalar: its token, including quotes.
    /// - Block scalar: from its header, `|` or `>`, to the end of its last line, including the line
    ///   break; with `+` also the following blank lines.
    /// - Collection: from its first token to its last.
    /// - Missing value, as after `a:`: the position after the colon.
    ///
    /// Anchors and tags are not included. The node of an alias has the span of the anchored text,
    /// and entries merged by `<<` have their original spans.
    pub span: Span,
    /// Whether the value is secret: output must not reveal it, its length, anything computed from
    /// it, or the keys below it.
    pub secret: bool,
    /// Relation of the value to the text at its span.
    pub origin: Origin,
}

/// Relation of a value to the text at its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written: the text parses to the value.
    Written,
    /// Derived: a pattern or an append changed the written value.
    Derived,
    /// Created by a step (a created mapping, padding of a list, a null for a missing source); the
    /// span is the step.
    Made,
}

/// A value of YAML 1.1, as constructed by PyYAML's safe loader.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~`, or a missing value.
    Null,
    /// `true`, `yes`, `on`, or one of their opposites.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A larger integer, as decimal digits with an optional `-`.
    BigInt(Arc<str>),
    /// A floating-point number.
    Float(f64),
    /// A date.
    Date(Date),
    /// A point in time.
    Timestamp(Timestamp),
    /// Bytes (`!!binary`).
    Binary(Arc<[u8]>),
    /// A set (`!!set`), in document order.
    Set(Arc<[Key]>),
    /// `!!omap` and `!!pairs`: a list of pairs.
    Pairs(Arc<[(Node, Node)]>),
    /// A string. Short strings, such as most keys, are stored inline.
    String(SmolStr),
    /// A list.
    Sequence(Arc<Sequence>),
    /// A mapping.
    Mapping(Arc<Mapping>),
}

/// A calendar date; the parser ensures that it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 1 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// A date and time, with its UTC offset as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Date of the timestamp.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999999.
    pub microsecond: u32,
    /// Minutes east of UTC; `None` without a time zone.
    pub offset: Option<i16>,
}

/// Key of a mapping: any scalar, with its own span.
///
/// Keys are compared as in Python (`deckhand.md` 1.4): `1`, `1.0` and `true` are equal, `1` and
/// `"1"` are not. Unlike in Python, NaN equals itself, because otherwise locations below it could
/// not be found again.
#[derive(Clone, Debug)]
pub struct Key {
    /// A scalar; never a sequence, mapping, set or pairs, except to look up items of a list.
    pub value: Value,
    /// Span of the key as written.
    pub span: Span,
}

impl Node {
    /// Creates a node as parsed: written and not secret.
    pub fn new(value: Value, span: Span) -> Self {
        Self {
            value,
            span,
            secret: false,
            origin: Origin::Written,
        }
    }

    /// Creates a node made by the step at `span`.
    pub fn made(value: Value, span: Span) -> Self {
        Self {
            value,
            span,
            secret: false,
            origin: Origin::Made,
        }
    }

    /// Returns the value with all spans moved to another file with the same text. The parser limits
    /// the depth of the recursion.
    #[must_use]
    pub fn in_file(&self, file: FileId) -> Self {
        self.with_spans(&|span| Span::new(file, span.start, span.end))
    }

    /// Returns the value with mapped spans.
    #[must_use]
    pub fn with_spans(&self, moved: &impl Fn(Span) -> Span) -> Self {
        let key = |key: &Key| Key {
            value: key.value.clone(),
            span: moved(key.span),
        };
        let value = match &self.value {
            Value::Sequence(items) => Value::Sequence(Arc::new(
                items.iter().map(|item| item.with_spans(moved)).collect(),
            )),
            Value::Mapping(mapping) => {
                let entries = mapping
                    .iter()
                    .map(|(name, node)| (key(name), node.with_spans(moved)));
                Value::Mapping(Arc::new(entries.collect()))
            }
            Value::Pairs(pairs) => {
                let pairs = pairs.iter();
                let moved =
                    pairs.map(|(one, other)| (one.with_spans(moved), other.with_spans(moved)));
                Value::Pairs(moved.collect())
            }
            Value::Set(keys) => Value::Set(keys.iter().map(key).collect()),
            scalar => scalar.clone(),
        };
        Self {
            value,
            span: moved(self.span),
            ..self.clone()
        }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The value at a string key, if this is a mapping with this key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_mapping()?.get(key)
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Whether the value is a mapping or a list.
    pub fn is_collection(&self) -> bool {
        matches!(self.value, Value::Mapping(_) | Value::Sequence(_))
    }

    /// Whether this node or one inside it is secret.
    pub fn holds_secret(&self) -> bool {
        self.secret
            || match &self.value {
                Value::Sequence(items) => items.iter().any(Node::holds_secret),
                Value::Mapping(mapping) => mapping.values().any(Node::holds_secret),
                Value::Pairs(pairs) => pairs
                    .iter()
                    .any(|(left, right)| left.holds_secret() || right.holds_secret()),
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::BigInt(_)
                | Value::Float(_)
                | Value::Date(_)
                | Value::Timestamp(_)
                | Value::Binary(_)
                | Value::Set(_)
                | Value::String(_) => false,
            }
    }

    /// Returns the node with all its descendants marked as secret.
    #[must_use]
    pub fn into_secret(mut self) -> Self {
        self.value = match self.value {
            Value::Sequence(items) => {
                let items = Arc::unwrap_or_clone(items);
                Value::Sequence(Arc::new(items.into_iter().map(Node::into_secret).collect()))
            }
            Value::Mapping(mapping) => {
                let entries = Arc::unwrap_or_clone(mapping).into_iter();
                let marked = entries.map(|(key, node)| (key, node.into_secret()));
                Value::Mapping(Arc::new(marked.collect()))
            }
            Value::Pairs(pairs) => {
                let marked = pairs.iter().cloned();
                Value::Pairs(
                    marked
                        .map(|(left, right)| (left.into_secret(), right.into_secret()))
                        .collect(),
                )
            }
            scalar => scalar,
        };
        self.secret = true;
        self
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl From<Vec<Node>> for Value {
    /// Creates a list from these nodes.
    fn from(items: Vec<Node>) -> Self {
        Value::Sequence(Arc::new(items.into()))
    }
}

impl Value {
    /// Address of the shared memory of a mapping or list; `None` for other values.
    pub fn address(&self) -> Option<usize> {
        match self {
            Value::Mapping(mapping) => Some(Arc::as_ptr(mapping).addr()),
            Value::Sequence(items) => Some(Arc::as_ptr(items).addr()),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::Set(_)
            | Value::Pairs(_)
            | Value::String(_) => None,
        }
    }

    /// Whether the value is a scalar, as keys of mappings are.
    pub fn is_scalar(&self) -> bool {
        match self {
            Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => false,
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Date(_)
            | Value::Timestamp(_)
            | Value::Binary(_)
            | Value::String(_) => true,
        }
    }

    /// Name of the type, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::BigInt(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Date(_) => "a date",
            Value::Timestamp(_) => "a timestamp",
            Value::Binary(_) => "binary data",
            Value::Set(_) => "a set",
            Value::Pairs(_) => "a list of pairs",
            Value::String(_) => "a string",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }

    /// Whether the value is false in Python: null, false, zero, or empty.
    pub fn is_falsy(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(bool) => !bool,
            Value::Int(int) => *int == 0,
            Value::Float(float) => *float == 0.0,
            Value::BigInt(_) | Value::Date(_) | Value::Timestamp(_) => false,
            Value::Binary(bytes) => bytes.is_empty(),
            Value::Set(keys) => keys.is_empty(),
            Value::Pairs(pairs) => pairs.is_empty(),
            Value::String(text) => text.is_empty(),
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(mapping) => mapping.is_empty(),
        }
    }

    /// Equality like Python's `==`: numbers and booleans compare by value across types, mappings
    /// and sets ignore order.
    pub fn equals_in_python(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Sequence(left), Value::Sequence(right)) => {
                Arc::ptr_eq(left, right)
                    || left.len() == right.len()
                        && left
                            .iter()
                            .zip(right.iter())
                            .all(|(l, r)| l.value.equals_in_python(&r.value))
            }
            (Value::Mapping(left), Value::Mapping(right)) => {
                Arc::ptr_eq(left, right)
                    || left.len() == right.len()
                        && left.iter().all(|(key, l)| {
                            right
                                .get(key)
                                .is_some_and(|r| l.value.equals_in_python(&r.value))
                        })
            }
            (Value::Set(left), Value::Set(right)) => {
                let keys: HashSet<&Key, foldhash::fast::RandomState> = right.iter().collect();
                left.len() == right.len() && left.iter().all(|key| keys.contains(key))
            }
            (Value::Pairs(left), Value::Pairs(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right.iter()).all(|((a, b), (c, d))| {
                        a.value.equals_in_python(&c.value) && b.value.equals_in_python(&d.value)
                    })
            }
            (Value::Timestamp(left), Value::Timestamp(right)) => left.instant() == right.instant(),
            _ => match (self.number(), other.number()) {
                (Some(left), Some(right)) => left == right,
                _ => self == other,
            },
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Value::Bool(bool) => Some(Number::Int(i64::from(*bool))),
            Value::Int(int) => Some(Number::Int(*int)),
            Value::BigInt(digits) => Some(Number::Big(Arc::clone(digits))),
            Value::Float(float) => Some(Number::of(*float)),
            _ => None,
        }
    }
}

impl Hash for Value {
    /// Values that are equal in Python have the same hash.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::String(text) => text.hash(state),
            Value::Null => 0u8.hash(state),
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => {
                match self.number().expect("both are numbers") {
                    Number::Int(int) => int.hash(state),
                    Number::Big(digits) => digits.hash(state),
                    Number::Float(float) if float.is_nan() => f64::NAN.to_bits().hash(state),
                    Number::Float(float) => float.to_bits().hash(state),
                }
            }
            Value::Date(date) => date.hash(state),
            Value::Timestamp(timestamp) => timestamp.instant().hash(state),
            Value::Binary(bytes) => bytes.hash(state),
            Value::Sequence(items) => items.iter().for_each(|item| item.hash(state)),
            Value::Pairs(pairs) => pairs.hash(state),
            Value::Mapping(mapping) => hash_in_any_order(mapping.iter()).hash(state),
            Value::Set(keys) => hash_in_any_order(keys.iter()).hash(state),
        }
    }
}

fn hash_in_any_order(entries: impl Iterator<Item = impl Hash>) -> u64 {
    let state = foldhash::fast::FixedState::default();
    let hashes = entries.map(|entry| state.hash_one(entry));
    hashes.fold(0, u64::wrapping_add)
}

/// A normalized number, for comparisons: integral floats become integers.
#[derive(PartialEq)]
enum Number {
    Int(i64),
    Big(Arc<str>),
    Float(f64),
}

impl Number {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "only what fits is cast, and the limits are powers of two"
    )]
    fn of(float: f64) -> Self {
        // `i64::MAX` as a float is 2^63, one too large; the minimum is exact.
        let fits = float >= i64::MIN as f64 && float < i64::MAX as f64;
        match float.fract() == 0.0 {
            true if fits => Number::Int(float as i64),
            // Precision zero writes all integral digits.
            true => Number::Big(format!("{float:.0}").into()),
            // NaN and the infinities have no integral part.
            false => Number::Float(float),
        }
    }
}

impl Timestamp {
    /// Value that Python compares, in microseconds since 0000-03-01: the moment if there is a time
    /// zone, otherwise the fields as written.
    fn instant(&self) -> (bool, i64) {
        let Date { year, month, day } = self.date;
        // Years begin in March, so that the leap day is last.
        let months = (i64::from(month) + 9) % 12;
        let years = i64::from(year) - i64::from(month <= 2);
        let days = years * 365 + years / 4 - years / 100
            + years / 400
            + (months * 153 + 2) / 5
            + i64::from(day);
        let minutes = (days * 24 + i64::from(self.hour)) * 60 + i64::from(self.minute)
            - i64::from(self.offset.unwrap_or(0));
        let seconds = minutes * 60 + i64::from(self.second);
        (
            self.offset.is_some(),
            seconds * 1_000_000 + i64::from(self.microsecond),
        )
    }
}

impl Key {
    /// Creates a string key at `span`.
    pub fn string(text: impl Into<SmolStr>, span: Span) -> Self {
        Self {
            value: Value::String(text.into()),
            span,
        }
    }

    /// The string, if the key is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Float(left), Value::Float(right)) if left.is_nan() => right.is_nan(),
            (left, right) => left.equals_in_python(right),
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}
