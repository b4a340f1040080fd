//! Edits of the envelope of documents.

use layercake::yaml::{Mapping, Node};

use super::super::text::without;
use super::values::{
    action_path as any_action_path, path_in, pattern as any_pattern, quoted, scalar,
};
use super::workshop::{Changed, Picked, Workshop, is_definition};

const LABELS: &[&str] = &["metadata", "labels"];
const DEFINITION: &str = "layeringDefinition";
const SELECTOR: &[&str] = &["metadata", DEFINITION, "parentSelector"];
const ACTIONS: &[&str] = &["metadata", DEFINITION, "actions"];
const SUBSTITUTIONS: &[&str] = &["metadata", "substitutions"];

fn within<'a>(root: &'a Node, keys: &[&str]) -> Option<&'a Node> {
    keys.iter().try_fold(root, |node, key| node.get(key))
}

/// Chooses a document with a non-empty collection at `keys`.
fn with_some(workshop: &mut Workshop<'_>, keys: &[&str]) -> Option<Picked> {
    workshop.pick(|root| {
        within(root, keys).is_some_and(|node| {
            node.as_mapping().is_some_and(|it| !it.is_empty())
                || node.as_sequence().is_some_and(|it| !it.is_empty())
        })
    })
}

/// Labels of some document, as YAML.
fn some_labels(workshop: &mut Workshop<'_>) -> Option<String> {
    let picked = with_some(workshop, LABELS)?;
    let labels = picked.at(LABELS)?.as_mapping()?;
    let written = |(key, value): (&layercake::yaml::Key, &Node)| {
        Some(format!(
            "{}: {}",
            quoted(key.as_str()?),
            quoted(value.as_str()?)
        ))
    };
    let written: Vec<String> = labels.iter().filter_map(written).collect();
    Some(format!("{{{}}}", written.join(", ")))
}

pub fn label(workshop: &mut Workshop<'_>) -> Option<Changed> {
    if workshop.random.in_hundred(30) {
        let labels = some_labels(workshop)?;
        return workshop.document()?.set(LABELS, &labels);
    }
    let picked = with_some(workshop, LABELS)?;
    let label = workshop.node(picked.at(LABELS)?, |node| node.as_str().is_some())?;
    Some(picked.with(&label, &scalar(workshop.random)))
}

pub fn selector(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let labels = some_labels(workshop)?;
    with_some(workshop, SELECTOR)?.set(SELECTOR, &labels)
}

fn any_method(workshop: &mut Workshop<'_>) -> &'static str {
    workshop
        .random
        .word(&["merge", "merge", "replace", "replace", "delete", "delete"])
}

/// Path for an action of this document, into its own data.
fn path_of_action(picked: &Picked, workshop: &mut Workshop<'_>) -> Option<String> {
    Some(quoted(&any_action_path(
        picked.at(&["data"])?,
        workshop.random,
    )))
}

pub fn action(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = with_some(workshop, ACTIONS)?;
    let (method, path) = (any_method(workshop), path_of_action(&picked, workshop)?);
    picked.put_first(ACTIONS, &format!("{{method: {method}, path: {path}}}"))
}

/// Removes an item from a list at `keys`.
fn with_item_removed(workshop: &mut Workshop<'_>, keys: &[&str]) -> Option<Changed> {
    let picked = with_some(workshop, keys)?;
    let list = picked.at(keys)?;
    let text = without(
        &picked.text,
        list,
        workshop.random.below(list.as_sequence()?.len()),
    )?;
    Some(picked.become_text(text))
}

pub fn no_action(workshop: &mut Workshop<'_>) -> Option<Changed> {
    with_item_removed(workshop, ACTIONS)
}

/// Chooses a document and an item of its list at `keys`.
fn some_item(workshop: &mut Workshop<'_>, keys: &[&str]) -> Option<(Picked, Node)> {
    let picked = with_some(workshop, keys)?;
    let item = workshop.random.of(picked.at(keys)?.as_sequence()?)?.clone();
    Some((picked, item))
}

pub fn method(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, action) = some_item(workshop, ACTIONS)?;
    Some(picked.with(action.get("method")?, any_method(workshop)))
}

pub fn action_path(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, action) = some_item(workshop, ACTIONS)?;
    let path = path_of_action(&picked, workshop)?;
    Some(picked.with(action.get("path")?, &path))
}

/// Source of a substitution, as YAML.
fn some_source(workshop: &mut Workshop<'_>) -> Option<(Picked, String)> {
    let picked = workshop.pick(|root| root.get("data").is_some() && !is_definition(root))?;
    let (schema, name) = (picked.word(&["schema"]), picked.word(&["metadata", "name"]));
    let path = quoted(&path_in(picked.at(&["data"])?, workshop.random));
    let source = format!(
        "{{schema: {}, name: {}, path: {path}}}",
        quoted(schema),
        quoted(name)
    );
    Some((picked, source))
}

/// Destination in `data`, sometimes with a pattern for a string.
fn some_destination(workshop: &mut Workshop<'_>, data: &Node) -> String {
    let path = path_in(data, workshop.random);
    if !workshop.random.in_hundred(50) {
        return format!("{{path: {}}}", quoted(&path));
    }
    let text = workshop.node(data, |node| node.as_str().is_some());
    let text = text
        .as_ref()
        .and_then(Node::as_str)
        .unwrap_or("DOMAIN")
        .to_owned();
    let pattern = quoted(&any_pattern(&text, workshop.random));
    let recursion =
        workshop
            .random
            .word(&["", "", ", recurse: {depth: -1}", ", recurse: {depth: 2}"]);
    format!("{{path: {}, pattern: {pattern}{recursion}}}", quoted(&path))
}

pub fn substitution(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (_, source) = some_source(workshop)?;
    let picked = workshop.pick(|root| {
        root.get("data")
            .is_some_and(|data| data.as_mapping().is_some())
            && !is_definition(root)
    })?;
    let destination = some_destination(workshop, picked.at(&["data"])?);
    let entry = format!("{{src: {source}, dest: {destination}}}");
    picked.put_first(SUBSTITUTIONS, &entry)
}

pub fn no_substitution(workshop: &mut Workshop<'_>) -> Option<Changed> {
    with_item_removed(workshop, SUBSTITUTIONS)
}

pub fn source(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (_, source) = some_source(workshop)?;
    let (picked, entry) = some_item(workshop, SUBSTITUTIONS)?;
    Some(picked.with(entry.get("src")?, &source))
}

pub fn source_path(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (other, _) = some_source(workshop)?;
    let (picked, entry) = some_item(workshop, SUBSTITUTIONS)?;
    let path = quoted(&path_in(other.at(&["data"])?, workshop.random));
    Some(picked.with(entry.get("src")?.get("path")?, &path))
}

/// Chooses a destination of a substitution.
fn a_destination(workshop: &mut Workshop<'_>) -> Option<(Picked, Node)> {
    let (picked, entry) = some_item(workshop, SUBSTITUTIONS)?;
    let destination = entry.get("dest")?.clone();
    match destination.as_sequence() {
        Some(items) => Some((picked, workshop.random.of(items)?.clone())),
        None => Some((picked, destination)),
    }
}

pub fn destination(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, destination) = a_destination(workshop)?;
    let path = quoted(&path_in(picked.at(&["data"])?, workshop.random));
    Some(picked.with(destination.get("path")?, &path))
}

pub fn pattern(workshop: &mut Workshop<'_>) -> Option<Changed> {
    if workshop.random.in_hundred(40) {
        let (picked, destination) = a_destination(workshop)?;
        let new = some_destination(workshop, picked.at(&["data"])?);
        return Some(picked.with(&destination, &new));
    }
    // Substitutes a value of any kind into an existing string.
    let (_, source) = some_source(workshop)?;
    let is_text_entry = |(key, value): (&layercake::yaml::Key, &Node)| {
        Some((key.as_str()?.to_owned(), value.as_str()?.to_owned()))
    };
    let texts_of = |mapping: &Mapping| -> Vec<(String, String)> {
        mapping.iter().filter_map(is_text_entry).collect()
    };
    let picked = workshop.pick(|root| {
        let data = root.get("data").and_then(Node::as_mapping);
        data.is_some_and(|data| !texts_of(data).is_empty()) && !is_definition(root)
    })?;
    let texts = texts_of(picked.at(&["data"])?.as_mapping()?);
    let (key, text) = workshop.random.of(&texts)?.clone();
    let pattern = quoted(&any_pattern(&text, workshop.random));
    let destination = format!(
        "{{path: {}, pattern: {pattern}}}",
        quoted(&format!(".{key}"))
    );
    picked.put_first(
        SUBSTITUTIONS,
        &format!("{{src: {source}, dest: {destination}}}"),
    )
}

/// Toggles a boolean.
fn toggled(workshop: &mut Workshop<'_>, keys: &[&str]) -> Option<Changed> {
    let picked = workshop.document()?;
    let is_true = picked
        .at(keys)
        .is_some_and(|it| it.value == layercake::yaml::Value::Bool(true));
    picked.set(keys, if is_true { "false" } else { "true" })
}

pub fn is_abstract(workshop: &mut Workshop<'_>) -> Option<Changed> {
    toggled(workshop, &["metadata", DEFINITION, "abstract"])
}

pub fn replacement(workshop: &mut Workshop<'_>) -> Option<Changed> {
    if workshop.random.in_hundred(40) {
        return toggled(workshop, &["metadata", "replacement"]);
    }
    let picked = workshop.pick(|root| within(root, &["metadata", "replacement"]).is_some())?;
    picked.set(
        &["metadata", "replacement"],
        workshop.random.word(&["true", "false"]),
    )
}

pub fn layer(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let word = workshop.random.word(&["global", "type", "site", "none"]);
    workshop
        .document()?
        .set(&["metadata", DEFINITION, "layer"], word)
}

pub fn schema(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (other, _) = some_source(workshop)?;
    let schema = match workshop.random.below(3) {
        0 => "made/Other/v1".to_owned(),
        _ => other.word(&["schema"]).to_owned(),
    };
    workshop.document()?.set(&["schema"], &quoted(&schema))
}

pub fn name(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (other, _) = some_source(workshop)?;
    let name = match workshop.random.below(2) {
        0 => format!("renamed-{}", workshop.random.below(100)),
        _ => other.word(&["metadata", "name"]).to_owned(),
    };
    workshop
        .document()?
        .set(&["metadata", "name"], &quoted(&name))
}

pub fn storage_policy(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let word = workshop
        .random
        .word(&["cleartext", "encrypted", "encrypted", "open"]);
    workshop
        .document()?
        .set(&["metadata", "storagePolicy"], word)
}

/// Toggles a labelled document, which can have children, between control and normal document.
pub fn control(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = with_some(workshop, LABELS)?;
    let is_control = picked
        .word(&["metadata", "schema"])
        .starts_with("metadata/Control");
    let other = if is_control {
        "metadata/Document/v1"
    } else {
        "metadata/Control/v1"
    };
    picked.set(&["metadata", "schema"], other)
}
