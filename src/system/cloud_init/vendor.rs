//! Detection of unused vendor-data: cloud-init uses it only if the other sources combined enable it,
//! and passes over its parts of the types that they disable (`cloud-init.md` 8; `stages.py`,
//! `_consume_vendordata`).
//!
//! The set of combined sources must be known before rendering, so the relevant sources are merged
//! here first, with the same strategies.

use std::sync::Arc;

use super::part::CloudPart;
use super::{PartSource, Set, SourceKind, rules_of_sources, steps};
use crate::merge::Strategy;
use crate::source::Span;
use crate::yaml::{Key, Mapping, Node, Value};

/// A source that cloud-init does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnusedVendorData {
    /// Kind of the source.
    pub(crate) source: SourceKind,
    /// Reason why it is not used.
    pub(crate) why: WhyUnused,
}

/// Reason why cloud-init does not use a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyUnused {
    /// It is not enabled. Has the value that disables it; `None` if no value enables it.
    Disabled(Option<Span>),
    /// cloud-init fails, because `disabled_handlers` cannot contain a type. Has its actual kind.
    InvalidHandlers(Span, &'static str),
}

/// A part of vendor-data that cloud-init passes over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisabledPart<'a> {
    pub(crate) part: &'a CloudPart,
    /// The value that disables its content type.
    pub(crate) by: Span,
}

/// Vendor-data of a set that is not used.
#[derive(Debug, std::default::Default)]
pub(super) struct LeftOut<'a> {
    pub(super) sources: Vec<UnusedVendorData>,
    pub(super) parts: Vec<DisabledPart<'a>>,
}

/// Finds the sources of a set that have parts but are not used, and removes the parts of the others
/// that cloud-init passes over.
pub(super) fn leave_out<'a>(set: &mut Set<'a>) -> LeftOut<'a> {
    let mut left_out = LeftOut::default();
    let there: Vec<(SourceKind, &str)> = SWITCHES
        .into_iter()
        .filter(|(kind, _)| {
            let mut sources = set.sources.iter().filter(|source| source.kind == *kind);
            sources.any(|source| source.parts().next().is_some())
        })
        .collect();
    if there.is_empty() {
        return left_out;
    }
    let rest = without_vendor_data(set);
    for (source, key) in there {
        let switch = rest.get(key);
        let handlers = switch.and_then(|switch| switch.get("disabled_handlers"));
        if let Some(why) = not_enabled(switch).or_else(|| handlers.and_then(invalid_handlers)) {
            left_out.sources.push(UnusedVendorData { source, why });
        } else if let Some(handlers) = handlers {
            remove_disabled(set, source, handlers, &mut left_out.parts);
        }
    }
    left_out
}

/// Removes the parts of a source whose content types are disabled (`walker_callback`).
fn remove_disabled<'a>(
    set: &mut Set<'a>,
    kind: SourceKind,
    handlers: &Node,
    disabled: &mut Vec<DisabledPart<'a>>,
) {
    let sources = set.sources.iter_mut().filter(|source| source.kind == kind);
    for file in sources.flat_map(|source| &mut source.files) {
        file.parts.retain(|part| {
            let by = disabling(handlers, part.kind.as_str());
            disabled.extend(by.map(|by| DisabledPart { part, by }));
            by.is_none()
        });
    }
}

/// The value that disables a content type, like Python's `in`.
fn disabling(handlers: &Node, content_type: &str) -> Option<Span> {
    let is_it = |value: &Value| matches!(value, Value::String(text) if *text == content_type);
    match &handlers.value {
        Value::String(text) => text.contains(content_type).then_some(handlers.span),
        Value::Sequence(items) => items
            .iter()
            .find(|item| is_it(&item.value))
            .map(|item| item.span),
        Value::Set(keys) => keys
            .iter()
            .find(|key| is_it(&key.value))
            .map(|key| key.span),
        Value::Mapping(mapping) => mapping.get_entry(content_type).map(|(key, _)| key.span),
        Value::Pairs(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_) => None,
    }
}

/// Fault of a value in which Python's `in` cannot look for a string.
fn invalid_handlers(handlers: &Node) -> Option<WhyUnused> {
    match handlers.value {
        Value::Null
        | Value::String(_)
        | Value::Sequence(_)
        | Value::Set(_)
        | Value::Mapping(_)
        | Value::Pairs(_) => None,
        Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_) => Some(WhyUnused::InvalidHandlers(
            handlers.span,
            handlers.value.kind(),
        )),
    }
}

/// The keys that enable each kind of vendor-data.
const SWITCHES: [(SourceKind, &str); 2] = [
    (SourceKind::VendorData2, "vendor_data2"),
    (SourceKind::VendorData, "vendor_data"),
];

/// Reason why a source is not enabled; `None` if it is. A value that is not a mapping counts as
/// disabled.
fn not_enabled(switch: Option<&Node>) -> Option<WhyUnused> {
    let Some(switch) = switch else {
        return Some(WhyUnused::Disabled(None));
    };
    let by = match switch.get("enabled") {
        Some(enabled) if is_true(enabled) => return None,
        Some(enabled) => enabled.span,
        None => switch.span,
    };
    Some(WhyUnused::Disabled(Some(by)))
}

/// Python's `util.is_true`.
fn is_true(node: &Node) -> bool {
    match &node.value {
        Value::Bool(enabled) => *enabled,
        Value::String(text) => ["true", "1", "on", "yes"].contains(&text.to_lowercase().trim()),
        Value::Int(number) => *number == 1,
        Value::Null
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Sequence(_)
        | Value::Mapping(_)
        | Value::Set(_)
        | Value::Pairs(_) => false,
    }
}

/// The combination of all other sources and cloud-init's built-in configuration.
fn without_vendor_data(set: &Set<'_>) -> Node {
    let (user_data, system): (Vec<&PartSource<'_>>, Vec<&PartSource<'_>>) = set
        .read_sources()
        .partition(|source| source.kind.is_user_data());
    let user_data = user_data
        .into_iter()
        .filter(|source| source.kind == SourceKind::UserData);
    let mut all: Vec<Node> = user_data.map(|source| merged(set, source)).collect();
    let system = system_of(set, &system)
        .into_iter()
        .chain([built_in(set.at)]);
    all.push(combined(set, &system.collect::<Vec<_>>()));
    combined(set, &all)
}

/// Merges `cloud.cfg` into the result of `conf.d`.
fn system_of(set: &Set<'_>, sources: &[&PartSource<'_>]) -> Option<Node> {
    let (above, rest) = sources.split_first()?;
    let mut system = merged(set, above);
    if !rest.is_empty() {
        system = combined(set, &[system]);
    }
    for source in rest {
        merge_parts(set, source, &mut system);
    }
    Some(system)
}

fn merged(set: &Set<'_>, source: &PartSource<'_>) -> Node {
    let mut merged = empty(set.at);
    merge_parts(set, source, &mut merged);
    merged
}

fn merge_parts(set: &Set<'_>, source: &PartSource<'_>, base: &mut Node) {
    for (part, strategy) in steps(set.dialect, source) {
        let Some(strategy) = strategy.filter(|_| !part.data.is_null()) else {
            continue;
        };
        // A part that cannot be merged is skipped; rendering reports the reason.
        let _ = strategy.merge(base, &part.data);
    }
}

fn combined(set: &Set<'_>, sources: &[Node]) -> Node {
    let mut combined = empty(set.at);
    for (source, rules) in sources.iter().zip(rules_of_sources(set, sources.len())) {
        // As above.
        let _ = Strategy::CloudInit(rules).merge(&mut combined, source);
    }
    combined
}

/// The part of cloud-init's built-in configuration (`settings.py`) that enables vendor-data.
fn built_in(at: Span) -> Node {
    let enabled = || mapping([("enabled", Node::made(Value::Bool(true), at))], at);
    mapping(SWITCHES.map(|(_, key)| (key, enabled())), at)
}

fn mapping<const COUNT: usize>(entries: [(&str, Node); COUNT], at: Span) -> Node {
    let entries = entries
        .into_iter()
        .map(|(key, node)| (Key::string(key, at), node));
    Node::made(Value::Mapping(Arc::new(entries.collect())), at)
}

fn empty(at: Span) -> Node {
    Node::made(Value::Mapping(Arc::new(Mapping::new())), at)
}
