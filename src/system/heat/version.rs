//! Versions, and which of them a group is for (D10).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::SourceMap;
use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Origin, Value};

/// The present versions of what reads the data; one that is not known is open
/// to everything.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// The one of the plugin that has no name.
    pub unnamed: Option<ComponentVersion>,
    /// The versions of plugins with a name.
    pub named: BTreeMap<Arc<str>, ComponentVersion>,
}

/// A version, as it is written.
#[derive(Clone, Debug)]
pub struct ComponentVersion {
    text: Arc<str>,
    /// Its numbers, without zeros at the end; none where it is no number.
    numbers: Option<Vec<VersionNumber>>,
}

/// A number of any length: how many digits, and the digits.
type VersionNumber = (usize, Arc<str>);

impl ComponentVersion {
    /// The version that is written so.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        Self { text: text.into(), numbers: numbers(text) }
    }

    /// The version as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is made of numbers with dots between.
    pub(super) fn is_numeric(&self) -> bool {
        self.numbers.is_some()
    }

    fn is_at_least(&self, other: &ComponentVersion) -> bool {
        match (&self.numbers, &other.numbers) {
            (Some(own), Some(other)) => own >= other,
            // What cannot be compared is not held against anybody.
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

/// The versions that a group is for.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// The plugin whose versions they are.
    pub(super) plugin: Option<Arc<str>>,
    pub(super) supported: Supported,
}

#[derive(Clone, Debug)]
pub(super) enum Supported {
    /// Exactly these.
    Exactly(Vec<ComponentVersion>),
    /// This one and all later ones.
    Since(ComponentVersion),
}

impl Gate {
    /// The version that it refuses, if it does.
    pub(super) fn refuses<'v>(&self, versions: &'v Versions) -> Option<&'v ComponentVersion> {
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

    /// The last version of a list, where all of it are before `present`.
    pub(super) fn last_before(&self, present: &ComponentVersion) -> Option<&str> {
        let Supported::Exactly(list) = &self.supported else { return None };
        let present = present.numbers.as_ref()?;
        let numbers = list.iter().map(|listed| Some((listed.numbers.as_ref()?, listed.text())));
        let (last, text) = numbers.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        (last < present).then_some(text)
    }

    /// The versions that it is for, in words.
    pub(super) fn in_words(&self) -> String {
        match &self.supported {
            Supported::Since(first) => format!("since {}", first.text),
            Supported::Exactly(list) => {
                let texts: Vec<&str> = list.iter().map(ComponentVersion::text).collect();
                format!("in {}", texts.join(", "))
            }
        }
    }
}

/// The version that a scalar is, by its text: to YAML 1.1 an unquoted `1.10`
/// is the number 1.1. None of what cannot be a version.
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

/// The text of a number and the value read, where they differ: without quotes the text is lost.
pub(super) fn lossy(node: &Node, sources: &SourceMap) -> Option<(String, String)> {
    let (text, read) = (written(node, sources), scalar_text(&node.value));
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (matches!(node.value, Value::Float(_)) && is_decimal && text != read).then_some((text, read))
}

/// The text of a scalar that is no string; that of its value where its place
/// holds no such text, as behind a tag, or where a step made it.
fn written(node: &Node, sources: &SourceMap) -> String {
    let text = if node.origin == Origin::Written { sources.slice(node.span) } else { "" };
    let is_plain = !text.is_empty() && !text.starts_with(['"', '\'', '|', '>']);
    if is_plain { text.to_owned() } else { scalar_text(&node.value) }
}
