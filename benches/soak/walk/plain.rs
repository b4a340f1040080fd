//! Values and outputs as plain text, and changes between two sets of outputs: an independent check
//! that shares no code with the comparison.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use layercake::yaml::{Key, Node, Value};

/// Data of an output as text; `None` if it cannot be rendered.
pub type Data = Option<String>;

/// An output of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub layer: String,
    pub data: Data,
    pub metadata: String,
    /// Index of the document in its site.
    pub document: usize,
}

/// Site name, document schema and document name.
pub type Name = [String; 3];

/// Outputs of all sites; those with the same schema and name are in document order.
pub type Outputs = BTreeMap<Name, Vec<Output>>;

/// A change of an output as in reports: name, layer, status.
pub type Change = (Name, String, &'static str);

/// Changes of outputs from `base` to `head`, sorted. Outputs with the same schema and name are
/// paired if there is one on each side, and otherwise if their layers are the same.
pub fn changes(base: &Outputs, head: &Outputs) -> Vec<Change> {
    let names: std::collections::BTreeSet<&Name> = base.keys().chain(head.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        let of = |side: &'_ Outputs| side.get(name).cloned().unwrap_or_default();
        for (before, after) in pairs(of(base), of(head)) {
            let layer = after
                .as_ref()
                .or(before.as_ref())
                .map(|it| it.layer.clone());
            let status = status(before.as_ref(), after.as_ref());
            changes.extend(
                layer
                    .zip(status)
                    .map(|(layer, it)| (name.clone(), layer, it)),
            );
        }
    }
    changes.sort();
    changes
}

type Pair = (Option<Output>, Option<Output>);

fn pairs(base: Vec<Output>, mut head: Vec<Output>) -> Vec<Pair> {
    if base.len() == 1 && head.len() == 1 {
        return base
            .into_iter()
            .map(Some)
            .zip(head.into_iter().map(Some))
            .collect();
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for before in base {
        let same = head.iter().position(|after| after.layer == before.layer);
        pairs.push((Some(before), same.map(|at| head.remove(at))));
    }
    pairs.extend(head.into_iter().map(|after| (None, Some(after))));
    pairs
}

fn status(before: Option<&Output>, after: Option<&Output>) -> Option<&'static str> {
    let data = |side: Option<&Output>| side.and_then(|output| output.data.clone());
    match (data(before), data(after)) {
        (Some(_), None) if after.is_some() => Some("broken"),
        (None, Some(_)) if before.is_some() => Some("repaired"),
        (Some(_), None) => Some("removed"),
        (None, Some(_)) => Some("added"),
        (None, None) => None,
        (Some(one), Some(other)) if one != other => Some("changed"),
        (Some(_), Some(_)) => {
            let metadata = |side: Option<&Output>| side.map(|output| output.metadata.clone());
            (metadata(before) != metadata(after)).then_some("metadata")
        }
    }
}

/// Text of a value that is equal for equal values: keys are sorted, and spans and source syntax are
/// omitted.
pub fn plain(node: &Node) -> String {
    let mut text = String::new();
    write(&mut text, node);
    text
}

fn write(text: &mut String, node: &Node) {
    match &node.value {
        Value::Mapping(mapping) => {
            let entries = mapping.iter().map(|(key, value)| (of_key(key), value));
            let sorted: BTreeMap<String, &Node> = entries.collect();
            text.push('{');
            for (key, value) in sorted {
                let _ = write!(text, "{key}: ");
                write_next(text, value);
            }
            text.push('}');
        }
        Value::Sequence(items) => {
            text.push('[');
            for item in items.iter() {
                write_next(text, item);
            }
            text.push(']');
        }
        Value::Pairs(pairs) => {
            text.push_str("pairs[");
            for (left, right) in pairs.iter() {
                write_next(text, left);
                write_next(text, right);
            }
            text.push(']');
        }
        Value::Set(keys) => {
            let mut keys: Vec<String> = keys.iter().map(of_key).collect();
            keys.sort();
            let _ = write!(text, "set{keys:?}");
        }
        Value::Float(float) => {
            let _ = write!(text, "float {:x}", float.to_bits());
        }
        scalar @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::String(_)) => {
            let _ = write!(text, "{scalar:?}");
        }
    }
}

fn write_next(text: &mut String, node: &Node) {
    write(text, node);
    text.push(',');
}

/// In Python, `1`, `1.0` and `true` are the same key.
fn of_key(key: &Key) -> String {
    match &key.value {
        Value::Bool(truth) => format!("{}", u8::from(*truth)),
        Value::Int(number) => format!("{number}"),
        Value::BigInt(digits) => digits.to_string(),
        Value::Float(float) => format!("{float}"),
        Value::String(string) => format!("{string:?}"),
        other => format!("{other:?}"),
    }
}
