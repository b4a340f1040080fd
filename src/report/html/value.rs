//! Values as lines a person can read, and what differs between two of them.
//!
//! A report has values as JSON. Lists and mappings are shown as YAML here,
//! block by block, since that is what they were written in: every number in
//! the digits that the report has, and text in quotes wherever YAML could take
//! it for something else.

use std::io::{self, Write};

use serde_json::value::RawValue;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::escape::text;
use crate::report::counted;
use crate::report::json::{Entries, ValueForm};
use crate::yaml::emit::HIDDEN;

/// Writes what a value was and what it is.
pub(super) fn write(
    before: Option<&ValueForm>,
    after: Option<&ValueForm>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [before, after] = both(before, after);
    let lines = difference(&before, &after);
    match lines.len() {
        0 => Ok(()),
        count if count > MOST_UNFOLDED => {
            writeln!(out, "<details><summary>{}</summary>", counted(count, "line"))?;
            write_lines(&lines, out)?;
            writeln!(out, "</details>")
        }
        _ => write_lines(&lines, out),
    }
}

/// More lines than these are folded.
const MOST_UNFOLDED: usize = 24;

/// So many lines before and after a difference are shown.
const CONTEXT: usize = 3;

/// Where as many pairs of lines would have to be looked at, the sides are
/// shown one after the other instead.
const MOST_PAIRS: usize = 4_000_000;

/// One line of a difference.
enum DiffLine<'a> {
    Removed(&'a str),
    Added(&'a str),
    Same(&'a str),
    /// So many lines are left out, since they are the same.
    Skipped(usize),
}

fn write_lines(lines: &[DiffLine<'_>], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<pre class=\"diff\">")?;
    for line in lines {
        match line {
            DiffLine::Removed(line) => writeln!(out, "<del>- {}</del>", text(line))?,
            DiffLine::Added(line) => writeln!(out, "<ins>+ {}</ins>", text(line))?,
            DiffLine::Same(line) => writeln!(out, "<span>  {}</span>", text(line))?,
            DiffLine::Skipped(count) => {
                writeln!(out, "<i>  ({} alike)</i>", counted(*count, "line"))?;
            }
        }
    }
    writeln!(out, "</pre>")
}

fn difference<'a>(before: &'a [String], after: &'a [String]) -> Vec<DiffLine<'a>> {
    let removed = before.iter().map(|line| DiffLine::Removed(line));
    let added = after.iter().map(|line| DiffLine::Added(line));
    if before.len() < 2 || after.len() < 2 || before.len().saturating_mul(after.len()) > MOST_PAIRS
    {
        return removed.chain(added).collect();
    }
    let mut lines = Vec::new();
    let mut told = 0;
    for operation in group_diff_ops(compared(before, after), CONTEXT).into_iter().flatten() {
        let start = operation.old_range().start;
        if start > told {
            lines.push(DiffLine::Skipped(start - told));
        }
        told = operation.old_range().end;
        lines.extend(lines_of(operation, before, after));
    }
    if before.len() > told {
        lines.push(DiffLine::Skipped(before.len() - told));
    }
    lines
}

fn compared(before: &[String], after: &[String]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, before, after)
}

fn lines_of<'a>(operation: DiffOp, before: &'a [String], after: &'a [String]) -> Vec<DiffLine<'a>> {
    let (old, new) = (&before[operation.old_range()], &after[operation.new_range()]);
    match operation.tag() {
        DiffTag::Equal => old.iter().map(|line| DiffLine::Same(line)).collect(),
        DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
            let removed = old.iter().map(|line| DiffLine::Removed(line));
            removed.chain(new.iter().map(|line| DiffLine::Added(line))).collect()
        }
    }
}

/// Both sides as lines. As YAML writes them without quotes, a number and the
/// text of it look alike, and so do texts with other line breaks at the end:
/// where that would leave no difference to see, both are shown as JSON.
fn both(before: Option<&ValueForm>, after: Option<&ValueForm>) -> [Vec<String>; 2] {
    let lines = [before, after].map(|side| side.map(lines).unwrap_or_default());
    let json = |side: Option<&ValueForm>| side.and_then(|it| it.value.as_ref()).map(|it| exact(it));
    match (json(before), json(after)) {
        (Some(before), Some(after)) if lines[0] == lines[1] && before != after => {
            [vec![before], vec![after]]
        }
        (_, _) => lines,
    }
}

/// A value as lines.
fn lines(value: &ValueForm) -> Vec<String> {
    if value.hidden.is_some() {
        return vec![HIDDEN.to_owned()];
    }
    if value.truncated.is_some() {
        return vec!["(too long for the report)".to_owned()];
    }
    match (&value.text, &value.value) {
        (Some(scalar), _) if scalar.is_empty() => vec!["\"\"".to_owned()],
        (Some(scalar), _) => scalar.lines().map(str::to_owned).collect(),
        (None, Some(json)) => block(json),
        (None, None) => Vec::new(),
    }
}

/// A value as YAML.
fn block(json: &RawValue) -> Vec<String> {
    match Shape::of(json) {
        Shape::List(items) if items.is_empty() => vec!["[]".to_owned()],
        Shape::Mapping(entries) if entries.is_empty() => vec!["{}".to_owned()],
        Shape::List(items) => items.iter().flat_map(|item| item_lines(item)).collect(),
        Shape::Mapping(entries) => {
            entries.iter().flat_map(|(key, value)| entry_lines(key, value)).collect()
        }
        Shape::Text(content) => text_lines(&content),
        Shape::Other(exact) => vec![exact],
    }
}

fn item_lines(item: &RawValue) -> Vec<String> {
    let lines = block(item).into_iter().enumerate();
    lines.map(|(at, line)| format!("{}{line}", if at == 0 { "- " } else { "  " })).collect()
}

fn entry_lines(key: &str, value: &RawValue) -> Vec<String> {
    let (key, is_collection) = (quoted(key), Shape::of(value).has_parts());
    let mut lines = block(value).into_iter();
    let mut entry = vec![format!("{key}:")];
    if !is_collection && let Some(first) = lines.next() {
        entry[0] = format!("{key}: {first}");
    }
    entry.extend(lines.map(|line| format!("  {line}")));
    entry
}

/// A text: as a block where it has several lines that a block can hold.
fn text_lines(content: &str) -> Vec<String> {
    let is_plain = |it: char| it == '\n' || it == '\t' || !it.is_control();
    let can_be_block = content.contains('\n')
        && !content.starts_with([' ', '\t', '\n'])
        && content.chars().all(is_plain);
    if !can_be_block {
        return vec![quoted(content)];
    }
    let ends = content.len() - content.trim_end_matches('\n').len();
    let sign = ["|-", "|", "|+"][ends.min(2)];
    let body = content.strip_suffix('\n').unwrap_or(content);
    let body = body.split('\n').map(|line| format!("  {line}"));
    std::iter::once(sign.to_owned()).chain(body).collect()
}

/// A text on one line: as it is where YAML takes it for nothing else.
fn quoted(content: &str) -> String {
    if is_plain(content) {
        return content.to_owned();
    }
    serde_json::to_string(content).expect("text is JSON")
}

/// Whether YAML 1.1 reads this as text without quotes; when in doubt, not.
fn is_plain(content: &str) -> bool {
    const WORDS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"];
    let is_safe = |it: char| it.is_ascii_alphanumeric() || "_./-@+:".contains(it);
    let begins = content.starts_with(|it: char| it.is_ascii_alphabetic() || "_/".contains(it));
    begins
        && !content.ends_with(':')
        && content.chars().all(is_safe)
        && !WORDS.contains(&&*content.to_ascii_lowercase())
}

/// A JSON value with one level opened.
enum Shape<'a> {
    List(Vec<&'a RawValue>),
    Mapping(Vec<(String, &'a RawValue)>),
    Text(String),
    /// A number or a word, in its own characters.
    Other(String),
}

impl<'a> Shape<'a> {
    fn of(json: &'a RawValue) -> Self {
        let source = json.get().trim();
        let shape = match source.as_bytes().first() {
            Some(b'[') => serde_json::from_str(source).map(Shape::List),
            Some(b'{') => serde_json::from_str(source).map(|Entries(it)| Shape::Mapping(it)),
            Some(b'"') => serde_json::from_str(source).map(Shape::Text),
            Some(_) | None => return Shape::Other(source.to_owned()),
        };
        // What serde took for JSON when the report was read is still JSON, but
        // for text that is no Unicode.
        shape.unwrap_or_else(|_| Shape::Other(source.to_owned()))
    }

    /// Whether there is anything below it.
    fn has_parts(&self) -> bool {
        match self {
            Shape::List(items) => !items.is_empty(),
            Shape::Mapping(entries) => !entries.is_empty(),
            Shape::Text(_) | Shape::Other(_) => false,
        }
    }
}

/// A value as JSON on one line, the same however a report escaped it.
fn exact(json: &RawValue) -> String {
    match Shape::of(json) {
        Shape::Text(content) => serde_json::to_string(&content).expect("text is JSON"),
        Shape::List(_) | Shape::Mapping(_) | Shape::Other(_) => json.get().to_owned(),
    }
}
