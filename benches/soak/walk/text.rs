//! Replacements in YAML texts at the spans of parsed nodes; the surrounding text, including
//! comments and layout, is unchanged.
//!
//! The result may not be valid YAML; callers parse it again.

use std::ops::Range;

use layercake::source::{FileId, Source, SourceMap};
use layercake::yaml::{Mapping, Node, Parsed, Value, YamlDocument, parse};

use super::Text;

/// Parses the text of a file like the engine.
pub fn parsed(path: &str, text: &str) -> Parsed {
    parse(some_file(path), text)
}

/// ID of a standalone file.
fn some_file(path: &str) -> FileId {
    let source = Source::new(layercake::source::RepoPath::new(path), Ok(Vec::new()));
    SourceMap::new().add(source)
}

/// Replaces `range` of `text`.
pub fn replaced(text: &str, range: Range<usize>, new: &str) -> Text {
    [&text[..range.start], new, &text[range.end..]]
        .concat()
        .into()
}

/// Replaces `node` by a single-line value.
pub fn with_value(text: &str, node: &Node, new: &str) -> Text {
    let range = node.span.range();
    let follows = text[..range.start].ends_with([':', '-']);
    // The span of a block scalar includes its last line break.
    let has_break = text[range.clone()].ends_with('\n');
    let new = [
        if follows { " " } else { "" },
        new,
        if has_break { "\n" } else { "" },
    ]
    .concat();
    replaced(text, range, &new)
}

/// Inserts an entry at the start of a mapping.
pub fn with_entry(text: &str, node: &Node, key: &str, value: &str) -> Option<Text> {
    let mapping = node.as_mapping()?;
    let Some(first) = mapping.keys().next() else {
        return Some(with_value(text, node, &format!("{{{key}: {value}}}")));
    };
    let at = first.span.range().start;
    let new = if is_flow(text, node) {
        format!("{key}: {value}, ")
    } else {
        format!("{key}: {value}\n{}", " ".repeat(column(text, at)))
    };
    Some(replaced(text, at..at, &new))
}

/// Inserts an item before the one at `index`.
pub fn with_item(text: &str, node: &Node, index: usize, value: &str) -> Option<Text> {
    let items = node.as_sequence()?;
    let Some(item) = items.get(index) else {
        return items
            .is_empty()
            .then(|| with_value(text, node, &format!("[{value}]")));
    };
    let at = item.span.range().start;
    let new = if is_flow(text, node) {
        format!("{value}, ")
    } else {
        format!(
            "{value}\n{}- ",
            " ".repeat(column(text, node.span.range().start))
        )
    };
    Some(replaced(text, at..at, &new))
}

/// Removes the mapping entry or list item at `index`.
pub fn without(text: &str, node: &Node, index: usize) -> Option<Text> {
    let members = members(node);
    let member = members.get(index)?;
    if members.len() == 1 {
        let nothing = if node.as_mapping().is_some() {
            "{}"
        } else {
            "[]"
        };
        return Some(with_value(text, node, nothing));
    }
    let range = match (members.get(index + 1), index.checked_sub(1)) {
        (Some(next), _) => member.start..next.start,
        (None, Some(before)) => members[before].end..member.end,
        (None, None) => return None,
    };
    (range.start <= range.end).then(|| replaced(text, range, ""))
}

/// Swaps the members at `index` and after it; a third member must follow, so that each ends where
/// another begins.
pub fn with_swapped(text: &str, node: &Node, index: usize) -> Option<Text> {
    let members = members(node);
    let [first, second, third] = members.get(index..index + 3)? else {
        return None;
    };
    if first.start > second.start || second.start > third.start {
        return None;
    }
    let (one, other) = (
        &text[first.start..second.start],
        &text[second.start..third.start],
    );
    Some(replaced(
        text,
        first.start..third.start,
        &[other, one].concat(),
    ))
}

/// Ranges of the entries of a mapping, or of the items of a list.
fn members(node: &Node) -> Vec<Range<usize>> {
    let of_entries = |mapping: &Mapping| {
        let entries = mapping.iter();
        let ranges = entries.map(|(key, value)| {
            let (key, value) = (key.span.range(), value.span.range());
            key.start..value.end.max(key.end)
        });
        ranges.collect()
    };
    match &node.value {
        Value::Mapping(mapping) => of_entries(mapping),
        Value::Sequence(items) => items.iter().map(|item| item.span.range()).collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::String(_) => Vec::new(),
    }
}

fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.range()].starts_with(['{', '['])
}

/// Number of characters before `at` on its line.
fn column(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |before| before + 1);
    text[line..at].chars().count()
}

/// Ranges of the documents of `text`, each up to the next one.
pub fn stretches(text: &str, documents: &[YamlDocument]) -> Vec<Range<usize>> {
    let starts: Vec<usize> = documents.iter().map(|it| it.span.range().start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}

/// Appends a document to `text`.
pub fn with_document(text: &str, document: &str) -> Text {
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let start = if document.starts_with("---") {
        ""
    } else {
        "---\n"
    };
    let end = if document.ends_with('\n') { "" } else { "\n" };
    [text, gap, start, document, end].concat().into()
}

/// Start offsets of the lines of `text`.
pub fn line_starts(text: &str) -> Vec<usize> {
    let behind = text.match_indices('\n').map(|(at, _)| at + 1);
    [0].into_iter().chain(behind).collect()
}
