//! Values of documents in the report: as text where they are scalars, as JSON
//! in any case, and neither where they are secret.

use std::fmt;
use std::io::{self, Write};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::report::form::{Form, Order};
use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Value};

/// Maximum number of bytes of one value; longer ones are left out of a report.
const LONGEST: usize = 64 << 10;

/// Maximum number of bytes of one value in a report of so many.
pub(super) fn longest_of(values: usize) -> usize {
    /// Bytes that all values together may have, unless each has few.
    const ALL: usize = 32 << 20;
    const FEW: usize = 1 << 10;
    (ALL / values.max(1)).clamp(FEW, LONGEST)
}

/// One side of something that changed. Which fields are there says which of
/// three it is: a value, a secret, or a value too long.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ValueForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) text: Option<String>,
    #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
    pub(in crate::report) value: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) hidden: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) changed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) truncated: Option<bool>,
}

impl ValueForm {
    const EMPTY: Self =
        Self { text: None, value: None, hidden: None, changed: None, truncated: None };

    /// What is said of a value where one of the sides is secret.
    pub(super) const SECRET: Self = Self { hidden: Some(true), changed: Some(true), ..Self::EMPTY };

    /// A value of at most `longest` bytes; secrets inside it are hidden, and so is all of it
    /// where it is secret itself.
    pub(super) fn new(node: &Node, longest: usize) -> Self {
        if node.secret {
            return Self::SECRET;
        }
        let form = Form { node, order: Order::Document, show_secrets: false };
        let mut room = Room { bytes: Vec::new(), longest };
        let written = serde_json::to_writer(&mut room, &form).ok();
        let json = written.and_then(|()| String::from_utf8(room.bytes).ok());
        let Some(json) = json else { return Self { truncated: Some(true), ..Self::EMPTY } };
        let value = RawValue::from_string(json).expect("what serde wrote is JSON");
        Self { text: text(&node.value), value: Some(value), ..Self::EMPTY }
    }

    /// Whether the value was too long.
    pub(super) fn is_truncated(&self) -> bool {
        self.truncated.is_some()
    }
}

/// A value that is there, `null` too.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// A scalar as YAML says it, without quotes.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => None,
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::String(_) => Some(scalar_text(value)),
    }
}

/// Memory for a value of up to `longest` bytes, which keeps a value that
/// names itself many times from filling more.
struct Room {
    bytes: Vec<u8>,
    longest: usize,
}

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.longest {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The entries of an object in their order, also of one whose keys repeat.
pub(in crate::report) struct Entries<'a>(pub(in crate::report) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
