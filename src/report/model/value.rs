//! Values of documents in a report: as text where they are scalars, as JSON in any case, and
//! neither where they are secret.

use std::io::{self, Write};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::is_default;
use crate::report::form::{KeyOrder, NodeAsJson};
use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Value};

/// Maximum number of bytes of one value; longer ones are left out of a report.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Maximum number of bytes of one value in a report of this many.
pub(super) fn max_bytes(values: usize) -> usize {
    /// Maximum number of bytes of all values together, unless each is small.
    const MAX_BYTES: usize = 32 << 20;
    const MIN_VALUE_BYTES: usize = 1 << 10;
    (MAX_BYTES / values.max(1)).clamp(MIN_VALUE_BYTES, MAX_VALUE_BYTES)
}

/// One side of something that changed: a value, a secret, or a value that is too long.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ShownValue {
    /// A scalar as YAML writes it, without quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The value as JSON; see `docs/report.md` for what JSON has no type for.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Box<RawValue>>,
    /// Whether it is secret, or the other side is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) hidden: bool,
    /// Whether it is too long to be in a report.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) truncated: bool,
}

impl ShownValue {
    /// A value of at most `max_bytes`; secrets in it are hidden, and all of it is where it is
    /// secret or `is_secret`.
    pub(super) fn new(node: &Node, is_secret: bool, max_bytes: usize) -> Self {
        if node.secret || is_secret {
            return Self { hidden: true, ..Self::default() };
        }
        let form = NodeAsJson { node, order: KeyOrder::Document, show_secrets: false };
        let mut room = BoundedBuffer { bytes: Vec::new(), max_bytes };
        let written = serde_json::to_writer(&mut room, &form).ok();
        let json = written.and_then(|()| String::from_utf8(room.bytes).ok());
        let Some(json) = json else { return Self { truncated: true, ..Self::default() } };
        let value = RawValue::from_string(json).expect("what serde wrote is JSON");
        Self { text: scalar(&node.value), value: Some(value), ..Self::default() }
    }

    /// The JSON text; none where it is secret or too long.
    pub(crate) fn json(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.get())
    }
}

/// A value that is there, `null` too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

fn scalar(value: &Value) -> Option<String> {
    value.is_scalar().then(|| scalar_text(value))
}

/// Memory for a value, which keeps one that repeats itself many times from filling more.
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
