//! Values that remember their text.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;
use layercake_source::{FileId, Span};
use smol_str::SmolStr;

use super::collection::{Mapping, Sequence};

/// A value, where it was written, and whether it may be shown.
///
/// Cheap to clone: sequences, mappings and strings are shared. Merging moves
/// nodes and never rewrites their spans, so a rendered leaf still says who
/// wrote it. Two nodes are equal when their values are; spans do not count.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The text it was written in; for a made node, the text that made it.
    ///
    /// A plain or quoted scalar: its token, quotes included. A block scalar:
    /// from its header, `|` or `>`, to the end of its last line, that line's
    /// break included; with `+` the blank lines after it too. A collection:
    /// from its first token to its last. Nothing at all, as after `a:`: the
    /// place right there. Anchor and tag are not in it. What an alias stands
    /// for keeps the span of the anchored text, and what `<<` brings the
    /// spans of the mapping it came from.
    pub span: Span,
    /// Whether the value is secret: no output may show it, nor its length,
    /// nor anything computed from it, nor the keys below it.
    pub secret: bool,
    /// How the value relates to the text at its span.
    pub origin: Origin,
}

/// How a value relates to the text at its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person wrote it there: the text reads as the value.
    Written,
    /// A pattern or an append changed what is written there.
    Derived,
    /// A step made it (a created mapping, padding of a list, a null for a
    /// missing source); the span is the text of that step.
    Made,
}

/// What a YAML 1.1 document can hold, as PyYAML's safe loader builds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~`, or nothing.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer beyond 64 bits, as its decimal digits with `-` in front
    /// where negative.
    BigInt(Arc<str>),
    /// A floating-point number.
    Float(f64),
    /// A day.
    Date(Date),
    /// A point in time.
    Timestamp(Timestamp),
    /// Bytes (`!!binary`).
    Binary(Arc<[u8]>),
    /// A set (`!!set`), in document order.
    Set(Arc<[Key]>),
    /// `!!omap` and `!!pairs`: a list of pairs.
    Pairs(Arc<[(Node, Node)]>),
    /// Text. A short one stands in the value itself, as nearly all keys do.
    String(SmolStr),
    /// A list.
    Sequence(Arc<Sequence>),
    /// A mapping.
    Mapping(Arc<Mapping>),
}

/// A calendar day, valid by construction of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 1 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// A day and a time of day, with the offset it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// The day.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999999.
    pub microsecond: u32,
    /// Minutes east of UTC; none where the text names no zone.
    pub offset: Option<i16>,
}

/// The key of a mapping: any scalar, with its own span.
///
/// Keys are equal as Python's are (`deckhand.md` 1.4): `1`, `1.0` and `true`
/// are one key, `1` and `"1"` two. Only NaN is one key here and not a new one
/// each time, or no place below it could be found again.
#[derive(Clone, Debug)]
pub struct Key {
    /// A scalar; never a sequence, mapping, set or pairs.
    pub value: Value,
    /// Where the key was written.
    pub span: Span,
}

impl Node {
    /// A node as the reader makes it: shown, and written by a person.
    pub fn new(value: Value, span: Span) -> Self {
        Self { value, span, secret: false, origin: Origin::Written }
    }

    /// A node that the step written at `span` made.
    pub fn made(value: Value, span: Span) -> Self {
        Self { value, span, secret: false, origin: Origin::Made }
    }

    /// The same value where its text is known as that of another file. The
    /// reader limits how deep this goes.
    #[must_use]
    pub fn in_file(&self, file: FileId) -> Self {
        self.with_spans(&|span| Span::new(file, span.start, span.end))
    }

    /// The same value with other spans.
    #[must_use]
    pub fn with_spans(&self, moved: &impl Fn(Span) -> Span) -> Self {
        let key = |key: &Key| Key { value: key.value.clone(), span: moved(key.span) };
        let value = match &self.value {
            Value::Sequence(items) => {
                Value::Sequence(Arc::new(items.iter().map(|item| item.with_spans(moved)).collect()))
            }
            Value::Mapping(mapping) => {
                let entries = mapping.iter();
                let entries = entries.map(|(name, node)| (key(name), node.with_spans(moved)));
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
        Self { value, span: moved(self.span), ..self.clone() }
    }

    /// The text, if this is text.
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

    /// The value at a text key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_mapping()?.get(key)
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Whether this is a mapping or a list.
    pub fn is_collection(&self) -> bool {
        matches!(self.value, Value::Mapping(_) | Value::Sequence(_))
    }

    /// Whether this is secret, or something in it is.
    pub fn holds_secret(&self) -> bool {
        self.secret
            || match &self.value {
                Value::Sequence(items) => items.iter().any(Node::holds_secret),
                Value::Mapping(mapping) => mapping.values().any(Node::holds_secret),
                Value::Pairs(pairs) => {
                    pairs.iter().any(|(left, right)| left.holds_secret() || right.holds_secret())
                }
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

    /// The same value marked secret, all the way down.
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
                    marked.map(|(left, right)| (left.into_secret(), right.into_secret())).collect(),
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

impl From<Vec<Node>> for Value {
    /// A list of these.
    fn from(items: Vec<Node>) -> Self {
        Value::Sequence(Arc::new(items.into()))
    }
}

impl Value {
    /// Address of the memory of a mapping or list, which all clones share; none for other values.
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

    /// Whether it holds no other values, as the keys of mappings do.
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

    /// What a person calls this kind of value.
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

    /// Whether Python calls it false: null, false, zero, or empty.
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

    /// Equality as Python's `==` has it: numbers and booleans compare by
    /// value across types, mappings and sets without regard to order.
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
                            right.get(key).is_some_and(|r| l.value.equals_in_python(&r.value))
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

/// A number in the form in which equal numbers are equal: integral floats are
/// integers.
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
        // i64::MAX as a float is 2^63, one too many; the minimum is exact.
        let fits = float >= i64::MIN as f64 && float < i64::MAX as f64;
        match float.fract() == 0.0 {
            true if fits => Number::Int(float as i64),
            // Without a precision too small for it, all digits are written.
            true => Number::Big(format!("{float:.0}").into()),
            // NaN and the infinities have no integral part either.
            false => Number::Float(float),
        }
    }
}

impl Timestamp {
    /// What Python compares: the moment where a zone is named, the fields as
    /// they stand where none is. Microseconds since 0000-03-01.
    fn instant(&self) -> (bool, i64) {
        let Date { year, month, day } = self.date;
        // Years begin in March, so that the odd day comes last.
        let months = (i64::from(month) + 9) % 12;
        let years = i64::from(year) - i64::from(month <= 2);
        let days = years * 365 + years / 4 - years / 100
            + years / 400
            + (months * 153 + 2) / 5
            + i64::from(day);
        let minutes = (days * 24 + i64::from(self.hour)) * 60 + i64::from(self.minute)
            - i64::from(self.offset.unwrap_or(0));
        let seconds = minutes * 60 + i64::from(self.second);
        (self.offset.is_some(), seconds * 1_000_000 + i64::from(self.microsecond))
    }
}

impl Key {
    /// A text key, written at `span`.
    pub fn string(text: impl Into<SmolStr>, span: Span) -> Self {
        Self { value: Value::String(text.into()), span }
    }

    /// The text, if the key is text.
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
        match &self.value {
            Value::String(text) => text.hash(state),
            Value::Null => 0u8.hash(state),
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => {
                match self.value.number().expect("these are numbers") {
                    Number::Int(int) => int.hash(state),
                    Number::Big(digits) => digits.hash(state),
                    Number::Float(float) if float.is_nan() => f64::NAN.to_bits().hash(state),
                    Number::Float(float) => float.to_bits().hash(state),
                }
            }
            Value::Date(date) => date.hash(state),
            Value::Timestamp(timestamp) => timestamp.instant().hash(state),
            Value::Binary(bytes) => bytes.hash(state),
            Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => {
                unreachable!("the reader refuses collections as keys")
            }
        }
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}
