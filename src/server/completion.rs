//! Names, paths and keys that can be written at a place. The text need not parse: the place is found by
//! its indentation, and the names are those of the last documents that could be read.

use std::collections::BTreeSet;

use gen_lsp_types::{CompletionItem, CompletionItemKind, CompletionParams, TextEdit};

use super::asked::Asked;
use super::cursor::{Cursor, ignored_rule};
use crate::ask::ValueQuestion;
use crate::ask::expected::{self, Expected};
use crate::config;
use crate::error::Error;
use crate::rules;
use crate::source::FileId;
use crate::system::deckhand::layout::Layout;
use crate::yaml::{self, Mapping, Node};

/// Texts that are expected at a place; nothing where any text can be.
pub(super) fn answer(
    asked: &mut Asked<'_>,
    params: CompletionParams,
) -> Result<Vec<CompletionItem>, Error> {
    let at = params.text_document_position_params.position;
    let byte = asked.lines().byte(at);
    let text = asked.text.clone();
    let (typed, found) = match ignored_rule(&text, byte) {
        Some(name) => (name.start..byte, rule_names()),
        None => {
            let cursor = Cursor::at(&text, byte);
            let found = candidates(asked, &cursor, &text)?;
            (cursor.typed, found)
        }
    };
    let range = asked.lines().range(typed);
    let items = found.into_iter().map(|label| CompletionItem {
        kind: Some(CompletionItemKind::Value),
        text_edit: Some(
            TextEdit {
                range,
                new_text: label.clone(),
            }
            .into(),
        ),
        label,
        ..CompletionItem::default()
    });
    Ok(items.collect())
}

/// Rules that an ignore comment can name.
fn rule_names() -> BTreeSet<String> {
    let rules = rules::RULES.iter().map(|rule| rule.name);
    let ignorable = rules.filter(|name| !rules::ignorable(name).is_empty());
    ignorable.map(str::to_owned).collect()
}

fn candidates(
    asked: &mut Asked<'_>,
    cursor: &Cursor,
    text: &str,
) -> Result<BTreeSet<String>, Error> {
    let name = asked.file.as_str().rsplit('/').next().unwrap_or_default();
    if config::NAMES.contains(&name) {
        return Ok(configuration_keys(cursor));
    }
    let expected = Expected::at(
        &cursor.path,
        cursor.is_value,
        &|key| cursor.sibling(key).map(str::to_owned),
        this_document(cursor, text),
        &asked.folder.workspace.settings().references,
    );
    match expected {
        None => Ok(BTreeSet::new()),
        Some(Expected::SiteType) => Ok(types(asked)),
        Some(Expected::Path(question)) => {
            let found = asked.ask(|site| expected::paths(site, &question))?;
            let mut found = found.into_iter().map(|(_, paths)| paths);
            Ok(found.find(|paths| !paths.is_empty()).unwrap_or_default())
        }
        Some(expected) => Ok(expected.offered(asked.folder.workspace.documents())),
    }
}

/// The document around a place, by the text of its schema and name.
fn this_document(cursor: &Cursor, text: &str) -> Option<ValueQuestion> {
    let lines = &text[cursor.document.clone()];
    let value = |key: &str| {
        let mut lines = lines.lines().filter_map(|line| line.strip_prefix(key));
        lines.next().map(|value| value.trim().to_owned())
    };
    Some(ValueQuestion {
        schema: value("schema:")?,
        name: value("  name:")?,
        path: String::new(),
    })
}

/// Types of sites, in a site definition.
fn types(asked: &Asked<'_>) -> BTreeSet<String> {
    let Some(root) = Layout::root_of_definition(&asked.file) else {
        return BTreeSet::new();
    };
    let folder = root.join("type");
    let files = asked.folder.workspace.files_below(&folder);
    let types = files.filter_map(|file| file.below(&folder)?.split('/').next());
    types.map(str::to_owned).collect()
}

/// Keys of the configuration at a place, by its JSON Schema.
fn configuration_keys(cursor: &Cursor) -> BTreeSet<String> {
    let parsed = yaml::parse(FileId::default(), config::SCHEMA);
    let Some(root) = parsed.documents.first().map(|document| &document.root) else {
        return BTreeSet::new();
    };
    let mut parts = cursor.path.split('.').filter(|part| !part.is_empty());
    let found = parts.try_fold(root, |schema, part| {
        let key = part.trim_end_matches("[]");
        let inner = resolved(root, schema).get("properties")?.get(key);
        let items = inner.and_then(|inner| resolved(root, inner).get("items"));
        if part.ends_with("[]") { items } else { inner }
    });
    let Some(schema) = found.map(|schema| resolved(root, schema)) else {
        return BTreeSet::new();
    };
    let texts = |node: Option<&Node>| -> BTreeSet<String> {
        let list = node.and_then(Node::as_sequence).unwrap_or_default();
        list.iter()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    if cursor.is_value {
        return texts(schema.get("enum"));
    }
    let properties = schema.get("properties").and_then(Node::as_mapping);
    let keys = properties.into_iter().flat_map(Mapping::iter);
    keys.filter_map(|(key, _)| Some(format!("{}: ", key.as_str()?)))
        .collect()
}

/// The part of the schema that a `$ref` leads to.
fn resolved<'n>(root: &'n Node, schema: &'n Node) -> &'n Node {
    let reference = schema.get("$ref").and_then(Node::as_str);
    let parts = reference.and_then(|reference| reference.strip_prefix("#/"));
    let found = parts.and_then(|parts| parts.split('/').try_fold(root, |node, key| node.get(key)));
    found.unwrap_or(schema)
}
