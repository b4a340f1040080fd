//! Versions, and gates that restrict groups to some of them (D10).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::SourceMap;
use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Origin, Value};

/// Current versions of the software that reads the data; an unknown version passes every gate.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Version of the plugin without a name.
    pub unnamed: Option<ComponentVersion>,
    /// Versions of named plugins.
    pub named: BTreeMap<Arc<str>, ComponentVersion>,
}

/// A version as written.
#[derive(Clone, Debug)]
pub struct ComponentVersion {
    text: Arc<str>,
    /// Numbers without trailing zeros; `None` if the version is not numeric.
    numbers: Option<Vec<VersionNumber>>,
}

/// Number of any length: digit count, and digits.
type VersionNumber = (usize, Arc<str>);

impl ComponentVersion {
    /// Parses a version.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        Self {
            text: text.into(),
            numbers: numbers(text),
        }
    }

    /// Version as written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it consists of numbers separated by dots.
    pub(super) fn is_numeric(&self) -> bool {
        self.numbers.is_some()
    }

    fn is_at_least(&self, other: &ComponentVersion) -> bool {
        match (&self.numbers, &other.numbers) {
            (Some(own), Some(other)) => own >= other,
            // Versions that cannot be compared pass.
            _ => true,
        }
    }
}

impl PartialEq for ComponentVersion {
    fn eq(&self, other: &Self) -> bool {
        match (&self.numbers, &other.numbers) {
            (Some(own), Some(other)) => own == other,
            (None, None) => self.text == other.text,
            _ => false,
        }
    }
}

fn numbers(text: &str) -> Option<Vec<VersionNumber>> {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let mut numbers = Vec::new();
    for part in digits.split('.') {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let part = part.trim_start_matches('0');
        numbers.push((part.len(), Arc::from(part)));
    }
    while numbers.last().is_some_and(|(length, _)| *length == 0) {
        numbers.pop();
    }
    Some(numbers)
}

/// Restriction of a group to some versions.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// Plugin that the versions are of.
    pub(super) plugin: Option<Arc<str>>,
    pub(super) supported: Supported,
}

#[derive(Clone, Debug)]
pub(super) enum Supported {
    /// Exactly these versions.
    Exactly(Vec<ComponentVersion>),
    /// This version and all later ones.
    Since(ComponentVersion),
}

impl Gate {
    /// The current version, if the gate rejects it.
    pub(super) fn rejects<'v>(&self, versions: &'v Versions) -> Option<&'v ComponentVersion> {
        let present = match &self.plugin {
            Some(plugin) => versions.named.get(plugin),
            None => versions.unnamed.as_ref(),
        }?;
        let is_supported = match &self.supported {
            Supported::Exactly(list) => list.contains(present),
            Supported::Since(first) => present.is_at_least(first),
        };
        (!is_supported).then_some(present)
    }

    /// Last version of a list, if all of its versions are before `present`.
    pub(super) fn last_before(&self, present: &ComponentVersion) -> Option<&str> {
        let Supported::Exactly(list) = &self.supported else {
            return None;
        };
        let present = present.numbers.as_ref()?;
        let numbers = list
            .iter()
            .map(|listed| Some((listed.numbers.as_ref()?, listed.text())));
        let (last, text) = numbers.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        (last < present).then_some(text)
    }

    /// Describes the supported versions.
    pub(super) fn describe(&self) -> String {
        match &self.supported {
            Supported::Since(first) => format!("since {}", first.text),
            Supported::Exactly(list) => {
                let texts: Vec<&str> = list.iter().map(ComponentVersion::text).collect();
                format!("in {}", texts.join(", "))
            }
        }
    }
}

/// Version in a scalar, read from its text, because YAML 1.1 reads an unquoted `1.10` as the number
/// 1.1. `None` if it cannot be a version.
pub(super) fn version_of(node: &Node, sources: &SourceMap) -> Option<ComponentVersion> {
    match &node.value {
        Value::String(text) => (!text.trim().is_empty()).then(|| ComponentVersion::new(text)),
        Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_) => Some(ComponentVersion::new(&written(node, sources))),
        Value::Null
        | Value::Bool(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => None,
    }
}

/// Text of a number and its value, if they differ because the number is unquoted.
pub(super) fn lossy(node: &Node, sources: &SourceMap) -> Option<(String, String)> {
    let text = written(node, sources);
    let read = scalar_text(&node.value);
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    (matches!(node.value, Value::Float(_)) && is_decimal && text != read).then_some((text, read))
}

/// Source text of a scalar other than a string, or the text of its value if the source has none, as
/// after a tag or for a computed value.
fn written(node: &Node, sources: &SourceMap) -> String {
    let text = if node.origin == Origin::Written {
        sources.slice(node.span)
    } else {
        ""
    };
    let is_plain = !text.is_empty() && !text.starts_with(['"', '\'', '|', '>']);
    if is_plain {
        text.to_owned()
    } else {
        scalar_text(&node.value)
    }
}
