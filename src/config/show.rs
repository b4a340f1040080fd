//! Lists all settings with their values and origins, for `config show`.
//!
//! The list comes from the schema, so it is complete.

use serde_json::{Map, Value as Json};

use super::{Config, SCHEMA};
use crate::source::Span;
use crate::yaml::emit::scalar_text;
use crate::yaml::{Mapping, Node, Value};

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Key, with dots between the levels.
    pub(crate) key: String,
    pub(crate) description: String,
    /// Value; null if it is not set.
    pub(crate) value: Json,
    /// Origin of the value.
    pub(crate) origin: SettingOrigin,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    /// Default value.
    Default,
    /// Configuration file, as `FILE:LINE`.
    File(String),
}

/// Returns all settings, in the order of the schema.
pub fn settings(config: &Config) -> Vec<Setting> {
    let schema: Json = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut found = Vec::new();
    let root = config.file.as_ref().map(|file| &file.root);
    collect(
        &schema,
        &schema,
        "",
        root.map(|root| (root, root.span)),
        config,
        &mut found,
    );
    found
}

/// Collects the settings below `part` of the schema. `node` is the corresponding value of the file
/// and its location.
fn collect(
    schema: &Json,
    part: &Json,
    key: &str,
    node: Option<(&Node, Span)>,
    config: &Config,
    found: &mut Vec<Setting>,
) {
    let part = resolved(schema, part);
    if let Some(Json::Object(properties)) = part.get("properties") {
        for (name, below) in properties {
            let key = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            let entry = node
                .and_then(|(node, _)| node.as_mapping()?.get_entry(name.as_str()))
                .map(|(key, node)| (node, key.span));
            collect(schema, below, &key, entry, config, found);
        }
        return;
    }
    let (value, origin) = match (node, &config.file) {
        (Some((node, at)), Some(file)) => (json(node), SettingOrigin::File(file.line(at))),
        _ => (
            part.get("default").cloned().unwrap_or(Json::Null),
            SettingOrigin::Default,
        ),
    };
    let description = part
        .get("description")
        .and_then(Json::as_str)
        .unwrap_or_default();
    found.push(Setting {
        key: key.to_owned(),
        description: description.to_owned(),
        value,
        origin,
    });
}

/// Resolves a `$ref` in the schema.
fn resolved<'s>(schema: &'s Json, part: &'s Json) -> &'s Json {
    let pointer = part.get("$ref").and_then(Json::as_str);
    let target = pointer.and_then(|pointer| schema.pointer(pointer.strip_prefix('#')?));
    target.unwrap_or(part)
}

/// Converts a value of the file to JSON.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Int(number) => Json::from(*number),
        Value::Float(float) => Json::from(*float),
        Value::String(text) => Json::from(&**text),
        Value::Sequence(items) => Json::Array(items.iter().map(json).collect()),
        Value::Mapping(mapping) => Json::Object(object(mapping)),
        Value::BigInt(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_) => Json::from(scalar_text(&node.value)),
    }
}

fn object(mapping: &Mapping) -> Map<String, Json> {
    mapping
        .iter()
        .map(|(key, node)| (scalar_text(&key.value), json(node)))
        .collect()
}
