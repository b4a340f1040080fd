//! Document values in a report: scalars also as text, all as JSON, secrets as neither.

use std::io::{self, Write};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::is_default;
use crate::yaml::emit::scalar_text;
use crate::yaml::json::NodeAsJson;
use crate::yaml::{Node, Value};

/// Maximum size of a value in bytes; longer ones are omitted.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Returns the maximum size in bytes of a value in a report with this many values.
pub(super) fn max_bytes(values: usize) -> usize {
    /// Maximum total size of all values in bytes, unless each is small.
    const MAX_BYTES: usize = 32 << 20;
    const MIN_VALUE_BYTES: usize = 1 << 10;
    (MAX_BYTES / values.max(1)).clamp(MIN_VALUE_BYTES, MAX_VALUE_BYTES)
}

/// One side of a change: a value, a secret, or a value that is too long.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ShownValue {
    /// A scalar as YAML writes it, without quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The value as JSON; see `docs/report.md` for types that JSON lacks.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) value: Option<Box<RawValue>>,
    /// Whether the value on this or the other side is secret.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) hidden: bool,
    /// Whether the value is too long for a report.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) truncated: bool,
}

impl ShownValue {
    /// Creates a value of at most `max_bytes`, with secrets in it hidden; it is hidden completely
    /// if it is secret or `is_secret` is set.
    pub(super) fn new(node: &Node, is_secret: bool, max_bytes: usize) -> Self {
        if node.secret || is_secret {
            return Self {
                hidden: true,
                ..Self::default()
            };
        }
        let mut room = BoundedBuffer {
            bytes: Vec::new(),
            max_bytes,
        };
        let written = serde_json::to_writer(&mut room, &NodeAsJson::new(node)).ok();
        let json = written.and_then(|()| String::from_utf8(room.bytes).ok());
        let Some(json) = json else {
            return Self {
                truncated: true,
                ..Self::default()
            };
        };
        let value = RawValue::from_string(json).expect("serde_json writes valid JSON");
        Self {
            text: scalar(&node.value),
            value: Some(value),
            ..Self::default()
        }
    }

    /// Returns the JSON; `None` if the value is secret or too long.
    pub(crate) fn json(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.get())
    }
}

/// Deserializes a value that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

fn scalar(value: &Value) -> Option<String> {
    value.is_scalar().then(|| scalar_text(value))
}

/// Buffer with a maximum size, which limits values that are large because of aliases.
struct BoundedBuffer {
    bytes: Vec<u8>,
    max_bytes: usize,
}

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
