//! The keys around a place of a text that may not parse: they follow from the indentation.

use std::ops::Range as Bytes;

/// A place in a text in block style.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Keys from the top of the document, such as `metadata.substitutions[].src.name`; for a value,
    /// with its own key.
    pub(super) path: String,
    /// Whether a value is typed, not a key.
    pub(super) is_value: bool,
    /// Text that is typed so far, up to the place.
    pub(super) typed: Bytes<usize>,
    /// Scalars of the same mapping, by key.
    pub(super) siblings: Vec<(String, String)>,
    /// Top of the document: its lines.
    pub(super) document: Bytes<usize>,
}

/// A part of a line: a column, and a key with its value, or the mark of a list.
struct LinePart<'t> {
    column: usize,
    key: Option<(&'t str, &'t str)>,
}

impl Cursor {
    /// The keys around a byte.
    pub(super) fn at(text: &str, byte: usize) -> Self {
        let document = document_around(text, byte);
        let start = text[..byte].rfind('\n').map_or(0, |end| end + 1);
        let line = &text[start..byte];
        let (marks, rest) = list_marks(line);
        let column = line.len() - rest.len();
        let (is_value, typed) = match rest.split_once(':') {
            Some((_, value)) => (true, value.trim_start().trim_start_matches(['"', '\''])),
            None => (false, rest.trim_start_matches(['"', '\''])),
        };
        let mut inner: Vec<String> = Vec::new();
        if let Some((key, _)) = rest.split_once(':') {
            inner.push(key.trim().to_owned());
        }
        inner.extend(marks.iter().map(|_| "[]".to_owned()));
        let mut limit = marks.first().copied().unwrap_or(column);
        let mut after_mark = !marks.is_empty();
        for earlier in text[document.start..start].lines().rev() {
            for part in line_parts(earlier).into_iter().rev() {
                let is_around = match part.key {
                    Some((_, value)) => {
                        value.is_empty()
                            && (part.column < limit || (after_mark && part.column == limit))
                    }
                    None => part.column < limit,
                };
                if is_around {
                    inner.push(part.key.map_or("[]", |(key, _)| key).to_owned());
                    limit = part.column;
                    after_mark = part.key.is_none();
                }
            }
        }
        inner.reverse();
        Self {
            path: inner.join(".").replace(".[]", "[]"),
            is_value,
            typed: byte - typed.len()..byte,
            siblings: siblings(text, &document, start, column),
            document,
        }
    }

    /// A scalar of the same mapping.
    pub(super) fn sibling(&self, key: &str) -> Option<&str> {
        let mut siblings = self.siblings.iter();
        siblings
            .find(|(name, _)| name == key)
            .map(|(_, value)| &**value)
    }
}

/// The name of a rule in an ignore comment around a byte; empty where none is written yet.
pub(super) fn ignored_rule(text: &str, byte: usize) -> Option<Bytes<usize>> {
    let line = text[..byte].rfind('\n').map_or(0, |end| end + 1);
    let comment = line + text[line..byte].rfind("layercake:")?;
    let names = comment + text[comment..byte].rfind('[')? + 1;
    let last = text[names..byte]
        .rfind(',')
        .map_or(names, |at| names + at + 1);
    let start = last + text[last..byte].len() - text[last..byte].trim_start().len();
    let is_end = |character: char| !character.is_alphanumeric() && character != '-';
    let rest = text[byte..].find(is_end).unwrap_or(text.len() - byte);
    (!text[names..byte].contains(']')).then_some(start..byte + rest)
}

/// Bytes of the lines between the `---` around a byte.
fn document_around(text: &str, byte: usize) -> Bytes<usize> {
    let start = text[..byte].rfind("\n---").map_or(0, |at| at + 1);
    let end = text[byte..]
        .find("\n---")
        .map_or(text.len(), |at| byte + at);
    start..end
}

/// Columns of the `- ` at the beginning of a line, and the text behind them.
fn list_marks(line: &str) -> (Vec<usize>, &str) {
    let mut marks = Vec::new();
    let mut rest = line.trim_start_matches(' ');
    while let Some(behind) = rest.strip_prefix("- ") {
        marks.push(line.len() - rest.len());
        rest = behind.trim_start_matches(' ');
    }
    (marks, rest)
}

fn line_parts(line: &str) -> Vec<LinePart<'_>> {
    let (marks, rest) = list_marks(line);
    if rest.is_empty() && marks.is_empty()
        || rest.starts_with(['#', '{', '['])
        || line.starts_with("---")
    {
        return Vec::new();
    }
    let marks = marks
        .into_iter()
        .map(|column| LinePart { column, key: None });
    let key = rest
        .split_once(':')
        .filter(|(_, value)| value.is_empty() || value.starts_with(' '));
    let key = key.map(|(key, value)| LinePart {
        column: line.len() - rest.len(),
        key: Some((unquoted(key), scalar(value))),
    });
    marks.chain(key).collect()
}

/// A scalar as written, without its quotes and a comment behind it.
fn scalar(value: &str) -> &str {
    unquoted(value.split(" #").next().unwrap_or_default().trim())
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// Scalars at a column in the lines around, as far as these belong to the same mapping.
fn siblings(
    text: &str,
    document: &Bytes<usize>,
    start: usize,
    column: usize,
) -> Vec<(String, String)> {
    let behind = text[start..document.end].lines().skip(1);
    let before = text[document.start..start].lines().rev();
    let mut found = Vec::new();
    add_siblings(behind, column, false, &mut found);
    let (marks, _) = list_marks(text[start..].lines().next().unwrap_or_default());
    if marks.is_empty() {
        add_siblings(before, column, true, &mut found);
    }
    found
}

/// Adds the scalars at a column. A mapping ends at a line with less indentation, and begins at the mark
/// of a list before its first key.
fn add_siblings<'t>(
    lines: impl Iterator<Item = &'t str>,
    column: usize,
    is_upward: bool,
    found: &mut Vec<(String, String)>,
) {
    for line in lines {
        let parts = line_parts(line);
        let Some(first) = parts.first() else { continue };
        let is_first_of_item = first.key.is_none() && first.column < column;
        if first.column < column && !(is_upward && is_first_of_item) {
            return;
        }
        let at = parts.iter().find(|part| part.column == column);
        if let Some((key, value)) = at.and_then(|part| part.key) {
            found.push((key.to_owned(), value.to_owned()));
        }
        if is_first_of_item {
            return;
        }
    }
}
