//! Detection of unused vendor-data: cloud-init uses it only if the other sources combined enable it
//! (`cloud-init.md` 8).
//!
//! The set of combined sources must be known before rendering, so the relevant sources are merged
//! here first, with the same strategies.

use std::sync::Arc;

use super::{PartSource, Set, SourceKind, rules_of_sources, steps};
use crate::merge::Strategy;
use crate::source::Span;
use crate::yaml::{Key, Mapping, Node, Value};

/// A source that cloud-init does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnusedVendorData {
    /// Kind of the source.
    pub(crate) source: SourceKind,
    /// The value that disables it; `None` if no value enables it.
    pub(crate) by: Option<Span>,
}

/// Sources of a set that have parts but are not used.
pub(super) fn unused(set: &Set<'_>) -> Vec<UnusedVendorData> {
    let is_there = |(kind, _): &(SourceKind, &str)| {
        let mut sources = set.sources.iter().filter(|source| source.kind == *kind);
        sources.any(|source| source.parts().next().is_some())
    };
    let there: Vec<(SourceKind, &str)> = SWITCHES.into_iter().filter(is_there).collect();
    if there.is_empty() {
        return Vec::new();
    }
    let rest = without_vendor_data(set);
    there.into_iter().filter_map(|(source, key)| disabled(source, rest.get(key))).collect()
}

/// The keys that enable each kind of vendor-data.
const SWITCHES: [(SourceKind, &str); 2] =
    [(SourceKind::VendorData2, "vendor_data2"), (SourceKind::VendorData, "vendor_data")];

/// The source if it is disabled, with the value that disables it; `None` if it is enabled. A value
/// that is not a mapping counts as disabled.
fn disabled(source: SourceKind, switch: Option<&Node>) -> Option<UnusedVendorData> {
    let Some(switch) = switch else { return Some(UnusedVendorData { source, by: None }) };
    let by = match switch.get("enabled") {
        Some(enabled) if is_true(enabled) => return None,
        Some(enabled) => enabled.span,
        None => switch.span,
    };
    Some(UnusedVendorData { source, by: Some(by) })
}

/// Python's `util.is_true`.
fn is_true(node: &Node) -> bool {
    let is_word = |text: &str| ["true", "1", "on", "yes"].contains(&text);
    match &node.value {
        Value::Bool(enabled) => *enabled,
        Value::String(text) => is_word(text.to_lowercase().trim()),
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
    let (user_data, system): (Vec<&PartSource<'_>>, Vec<&PartSource<'_>>) =
        set.read_sources().partition(|source| source.kind.is_user_data());
    let user_data = user_data.into_iter().filter(|source| source.kind == SourceKind::UserData);
    let mut all: Vec<Node> = user_data.map(|source| merged(set, source)).collect();
    let system = system_of(set, &system).into_iter().chain([built_in(set.at)]);
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
        let Some(strategy) = strategy.filter(|_| !part.data.is_null()) else { continue };
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
    let entries = entries.into_iter().map(|(key, node)| (Key::string(key, at), node));
    Node::made(Value::Mapping(Arc::new(entries.collect())), at)
}

fn empty(at: Span) -> Node {
    Node::made(Value::Mapping(Arc::new(Mapping::new())), at)
}
