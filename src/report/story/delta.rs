//! Value changes as YAML diffs with context lines.
//!
//! A report contains values as JSON. They are shown as YAML, their source format: numbers with the
//! digits of the report, strings quoted if YAML could read them as another type.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::names::{ORDER_CHANGED, path, path_in};
use crate::edit::{EditKind, Part};
use crate::report::model::{FilePlace, OutputChange, OutputPart, ReportedEdit, ShownValue};
use crate::report::text::TextRole;
use crate::report::{counted, present};
use crate::yaml::emit::HIDDEN;

/// A change of one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueDelta {
    /// Path in the document; empty for the whole document.
    pub(crate) path: String,
    /// Changed lines with context.
    pub(crate) lines: Vec<DiffLine>,
    /// Number of values that are removed from an output without a replacement.
    pub(crate) removed: usize,
    /// Contents of a larger mapping or list that exists on only one side, in a few words.
    pub(crate) contents: Option<String>,
    /// Whether places inside of the value are not listed: the first line then has their number.
    pub(crate) is_cut: bool,
}

/// A change as one line.
#[derive(Clone, Debug)]
pub(crate) enum ShortDelta {
    /// Both sides of a scalar.
    Sides([String; 2]),
    /// The only side, or a summary.
    Only(Sign, String),
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DiffLine {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

/// Kind of a diff line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sign {
    /// Removed.
    Removed,
    /// Added.
    Added,
    /// Unchanged.
    Same,
    /// Note with the number of omitted lines.
    Skipped,
}

impl Sign {
    /// Returns the mark at the start of the line.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Removed => "- ",
            Self::Added => "+ ",
            Self::Same | Self::Skipped => "  ",
        }
    }

    pub(crate) fn role(self) -> TextRole {
        match self {
            Self::Removed => TextRole::Error,
            Self::Added => TextRole::Good,
            Self::Same => TextRole::Plain,
            Self::Skipped => TextRole::Dim,
        }
    }
}

/// Number of context lines before and after a change.
const CONTEXT_LINES: usize = 2;

/// Maximum number of line pairs to compare; longer sides are shown one after the other.
const MAX_PAIRS: usize = 4_000_000;

/// Maximum length in characters of list items shown on one line.
const MAX_ORDER: usize = 60;

/// Maximum nesting depth shown as YAML; deeper values are shown as JSON.
const MAX_DEPTH: usize = 32;

impl ValueDelta {
    /// Creates the delta of a change of an output.
    pub(crate) fn of_change(change: &OutputChange) -> Self {
        let part = match change.part {
            OutputPart::Data => Part::Data,
            OutputPart::Metadata => Part::Metadata,
        };
        let path = path_in(part, &change.path);
        let sides = [change.before.as_ref(), change.after.as_ref()];
        if change.reordered {
            return Self::of_order(path + ORDER_CHANGED, sides);
        }
        let removed = usize::try_from(change.removed).unwrap_or(usize::MAX);
        Self {
            removed,
            ..Self::new(path, sides, change.unlisted)
        }
    }

    /// Creates the delta of an edit; for a moved document, that of its place.
    pub(crate) fn of_edit(edit: &ReportedEdit) -> Self {
        let path = path(edit);
        let sides = [edit.before.as_ref(), edit.after.as_ref()];
        let place = |place: &Option<FilePlace>| {
            place
                .iter()
                .map(|it| format!("{}:{}", it.file, it.line))
                .collect::<Vec<_>>()
        };
        match edit.kind {
            EditKind::Moved => Self::of_lines(path, &place(&edit.at.base), &place(&edit.at.head)),
            EditKind::Order => Self::of_order(path, sides),
            _ => Self::new(path, sides, edit.unlisted),
        }
    }

    /// Returns the delta of a value that stays the same.
    pub(super) fn without_lines(self) -> Self {
        Self {
            lines: Vec::new(),
            contents: None,
            is_cut: false,
            ..self
        }
    }

    /// Returns whether the value is in the metadata of the document.
    pub(crate) fn is_in_metadata(&self) -> bool {
        self.path.starts_with("metadata")
    }

    /// Creates the delta of a value at a path.
    fn new(path: String, [before, after]: [Option<&ShownValue>; 2], unlisted: u64) -> Self {
        let [base, head] = both(before, after);
        let mut delta = Self::of_lines(path, &base, &head);
        if unlisted > 0 {
            let text = format!("{unlisted} places differ, too many to list");
            delta.lines.insert(
                0,
                DiffLine {
                    sign: Sign::Skipped,
                    text,
                },
            );
            delta.is_cut = true;
        }
        let only = before.xor(after).and_then(|only| only.value.as_deref());
        delta.contents = only.and_then(contents_in_words);
        delta
    }

    /// Creates the delta of a reordered list, from the keys of its items.
    fn of_order(path: String, sides: [Option<&ShownValue>; 2]) -> Self {
        let names = sides.map(|side| side.map(item_names).unwrap_or_default());
        let joined = names.each_ref().map(|names| vec![names.join(", ")]);
        let is_short = joined
            .iter()
            .flatten()
            .all(|line| line.chars().count() <= MAX_ORDER);
        let [base, head] = if is_short { joined } else { names };
        Self::of_lines(path, &base, &head)
    }

    /// Creates the delta between two lists of lines.
    fn of_lines(path: String, base: &[String], head: &[String]) -> Self {
        Self {
            path,
            lines: difference(base, head),
            removed: 0,
            contents: None,
            is_cut: false,
        }
    }

    /// Returns the value on both sides, if it is a single line on each.
    pub(crate) fn scalars(&self) -> Option<[&str; 2]> {
        match &self.lines[usize::from(self.is_cut)..] {
            [
                DiffLine {
                    sign: Sign::Removed,
                    text: before,
                },
                DiffLine {
                    sign: Sign::Added,
                    text: after,
                },
            ] => Some([before, after]),
            _ => None,
        }
    }

    /// Returns whether a secret was replaced.
    pub(super) fn is_hidden(&self) -> bool {
        self.scalars() == Some([HIDDEN; 2])
    }

    /// Returns the change as one line of any length, unless its lines and path fit on `max` lines.
    pub(crate) fn short(&self, max: usize) -> Option<ShortDelta> {
        if self.is_hidden() {
            return Some(ShortDelta::Only(Sign::Same, format!("replaced {HIDDEN}")));
        }
        if let Some(sides) = self.scalars() {
            return Some(ShortDelta::Sides(sides.map(str::to_owned)));
        }
        match &self.lines[..] {
            [only] => Some(ShortDelta::Only(only.sign, only.text.clone())),
            lines if lines.len() < max => None,
            [first, ..] if let Some(contents) = &self.contents => {
                Some(ShortDelta::Only(first.sign, contents.clone()))
            }
            _ if max == 1 && !self.is_cut => {
                let kinds = [(Sign::Removed, "removed"), (Sign::Added, "added")];
                let words = kinds.map(|(sign, word)| {
                    let count = self.lines.iter().filter(|line| line.sign == sign).count();
                    (count, format!("{} {word}", counted(count, "line")))
                });
                Some(ShortDelta::Only(Sign::Same, present(words).join(", ")))
            }
            _ => None,
        }
    }

    /// Returns the estimated number of lines that it takes at 80 columns.
    pub(super) fn height(&self) -> usize {
        const COLUMNS: usize = 66;
        const MAX_LINES: usize = 4;
        let path = self.path.len();
        let is_fitting = match self.short(MAX_LINES).filter(|_| path > 0) {
            Some(ShortDelta::Sides([base, head])) => path + base.len() + head.len() <= COLUMNS,
            Some(ShortDelta::Only(_, text)) => path + text.len() <= COLUMNS,
            None => false,
        };
        if is_fitting {
            1
        } else {
            usize::from(path > 0) + self.lines.len().min(MAX_LINES)
        }
    }

    /// Returns at most `max` lines, and the number of further changed lines: if all lines do not
    /// fit, changed lines without those around them.
    pub(crate) fn shortened(&self, max: usize) -> (Vec<&DiffLine>, usize) {
        let lines: Vec<&DiffLine> = self.lines.iter().collect();
        if lines.len() <= max {
            return (lines, 0);
        }
        let note = lines[0];
        let changed = lines
            .into_iter()
            .filter(|line| matches!(line.sign, Sign::Removed | Sign::Added));
        let changed: Vec<&DiffLine> = self
            .is_cut
            .then_some(note)
            .into_iter()
            .chain(changed)
            .collect();
        // The note on omitted lines takes one line.
        let shown = if changed.len() > max {
            max.saturating_sub(1)
        } else {
            changed.len()
        };
        (changed[..shown].to_vec(), changed.len() - shown)
    }
}

fn difference(before: &[String], after: &[String]) -> Vec<DiffLine> {
    if before.len() < 2 || after.len() < 2 || before.len().saturating_mul(after.len()) > MAX_PAIRS {
        return replaced(before, after);
    }
    let skipped = |count: usize| DiffLine {
        sign: Sign::Skipped,
        text: format!("… {} unchanged", counted(count, "line")),
    };
    let operations = capture_diff_slices(Algorithm::Myers, before, after);
    let mut lines = Vec::new();
    let mut shown = 0;
    for operation in group_diff_ops(operations, CONTEXT_LINES)
        .into_iter()
        .flatten()
    {
        let start = operation.old_range().start;
        if start > shown {
            lines.push(skipped(start - shown));
        }
        shown = operation.old_range().end;
        lines.extend(lines_of(operation, before, after));
    }
    if before.len() > shown {
        lines.push(skipped(before.len() - shown));
    }
    lines
}

fn lines_of(operation: DiffOp, before: &[String], after: &[String]) -> Vec<DiffLine> {
    let old = &before[operation.old_range()];
    let new = &after[operation.new_range()];
    match operation.tag() {
        DiffTag::Equal => marked(Sign::Same, old).collect(),
        DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => replaced(old, new),
    }
}

fn replaced(before: &[String], after: &[String]) -> Vec<DiffLine> {
    marked(Sign::Removed, before)
        .chain(marked(Sign::Added, after))
        .collect()
}

fn marked(sign: Sign, lines: &[String]) -> impl Iterator<Item = DiffLine> {
    lines.iter().map(move |text| DiffLine {
        sign,
        text: text.clone(),
    })
}

/// Returns both sides as lines. A number and an equal string look the same without quotes, as do
/// strings with different trailing line breaks: a difference that would be invisible is shown as
/// JSON.
fn both(before: Option<&ShownValue>, after: Option<&ShownValue>) -> [Vec<String>; 2] {
    let lines = [before, after].map(|side| side.map(lines).unwrap_or_default());
    let json = |side: Option<&ShownValue>| Some(exact(side?.value.as_ref()?));
    let (Some(base), Some(head)) = (json(before), json(after)) else {
        return lines;
    };
    let is_text = |json: &str| json.starts_with('"');
    let sides = [before, after].map(|side| side.and_then(|it| it.text.as_deref()));
    let is_read_otherwise = sides.iter().flatten().any(|text| !is_plain(text));
    let looks_alike = lines[0] == lines[1] && base != head;
    let has_other_type = sides.iter().all(Option::is_some) && is_text(&base) != is_text(&head);
    if looks_alike || (has_other_type && is_read_otherwise) {
        [vec![base], vec![head]]
    } else {
        lines
    }
}

/// Formats a value as lines of YAML.
pub(crate) fn lines(value: &ShownValue) -> Vec<String> {
    if value.hidden {
        return vec![HIDDEN.to_owned()];
    }
    if value.truncated {
        return vec!["(too long for the report)".to_owned()];
    }
    match (&value.text, &value.value) {
        (Some(scalar), _) if scalar.is_empty() => vec!["\"\"".to_owned()],
        (Some(scalar), _) => scalar.lines().map(str::to_owned).collect(),
        (None, Some(json)) => block(json, 0),
        (None, None) => Vec::new(),
    }
}

/// Formats the items of a list, one per line.
fn item_names(value: &ShownValue) -> Vec<String> {
    match value.value.as_ref().map(|json| JsonShape::of(json)) {
        Some(JsonShape::List(items)) => items.iter().flat_map(|item| block(item, 1)).collect(),
        Some(_) | None => lines(value),
    }
}

fn block(json: &RawValue, depth: usize) -> Vec<String> {
    if depth == MAX_DEPTH {
        return vec![json.get().to_owned()];
    }
    match JsonShape::of(json) {
        JsonShape::List(items) if items.is_empty() => vec!["[]".to_owned()],
        JsonShape::Mapping(entries) if entries.is_empty() => vec!["{}".to_owned()],
        JsonShape::List(items) => items
            .iter()
            .flat_map(|item| item_lines(item, depth))
            .collect(),
        JsonShape::Mapping(entries) => entries
            .iter()
            .flat_map(|(key, value)| entry_lines(key, value, depth))
            .collect(),
        JsonShape::Text(content) => text_lines(&content),
        JsonShape::Other(exact) => vec![exact],
    }
}

fn item_lines(item: &RawValue, depth: usize) -> Vec<String> {
    let lines = block(item, depth + 1).into_iter().enumerate();
    lines
        .map(|(at, line)| format!("{}{line}", if at == 0 { "- " } else { "  " }))
        .collect()
}

fn entry_lines(key: &str, value: &RawValue, depth: usize) -> Vec<String> {
    let key = quoted(key);
    let is_leaf = JsonShape::of(value).into_parts().is_empty();
    let mut lines = block(value, depth + 1).into_iter();
    let mut entry = vec![format!("{key}:")];
    if is_leaf && let Some(first) = lines.next() {
        entry[0] = format!("{key}: {first}");
    }
    entry.extend(lines.map(|line| format!("  {line}")));
    entry
}

/// Formats a string, as a block scalar if it has several lines that a block can represent.
fn text_lines(content: &str) -> Vec<String> {
    let can_be_block = content.contains('\n')
        && !content.starts_with([' ', '\t', '\n'])
        && content
            .chars()
            .all(|it| it == '\n' || it == '\t' || !it.is_control());
    if !can_be_block {
        return vec![quoted(content)];
    }
    let ends = content.len() - content.trim_end_matches('\n').len();
    let sign = ["|-", "|", "|+"][ends.min(2)];
    let body = content
        .strip_suffix('\n')
        .unwrap_or(content)
        .split('\n')
        .map(|line| format!("  {line}"));
    std::iter::once(sign.to_owned()).chain(body).collect()
}

/// Formats a string on one line, quoted unless YAML reads it as a string.
fn quoted(content: &str) -> String {
    if is_plain(content) {
        content.to_owned()
    } else {
        in_quotes(content)
    }
}

fn in_quotes(content: &str) -> String {
    serde_json::to_string(content).expect("a string can be serialized")
}

/// Whether YAML 1.1 reads this as a string without quotes; conservative.
fn is_plain(content: &str) -> bool {
    const WORDS: [&str; 10] = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "none",
    ];
    let begins = content.starts_with(|it: char| it.is_ascii_alphabetic() || "_/".contains(it));
    begins
        && !content.ends_with(':')
        && content
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "_./-@+:".contains(it))
        && !WORDS.contains(&&*content.to_ascii_lowercase())
}

/// A JSON value with its top level parsed.
enum JsonShape<'a> {
    List(Vec<&'a RawValue>),
    Mapping(Vec<(String, &'a RawValue)>),
    Text(String),
    /// A number or keyword in its original spelling.
    Other(String),
}

impl<'a> JsonShape<'a> {
    fn of(json: &'a RawValue) -> Self {
        let source = json.get().trim();
        let shape = match source.as_bytes().first() {
            Some(b'[') => serde_json::from_str(source).map(JsonShape::List),
            Some(b'{') => {
                serde_json::from_str(source).map(|JsonEntries(it)| JsonShape::Mapping(it))
            }
            Some(b'"') => serde_json::from_str(source).map(JsonShape::Text),
            Some(_) | None => return JsonShape::Other(source.to_owned()),
        };
        // A saved report can contain invalid Unicode escapes, which no string can hold.
        shape.unwrap_or_else(|_| JsonShape::Other(source.to_owned()))
    }

    /// Returns the items of a list, or the values of a mapping.
    fn into_parts(self) -> Vec<&'a RawValue> {
        match self {
            JsonShape::List(items) => items,
            JsonShape::Mapping(entries) => entries.into_iter().map(|(_, value)| value).collect(),
            JsonShape::Text(_) | JsonShape::Other(_) => Vec::new(),
        }
    }
}

/// Describes a mapping or list: the number of its values, and its first keys.
fn contents_in_words(json: &RawValue) -> Option<String> {
    const MAX_KEYS: usize = 4;
    match JsonShape::of(json) {
        JsonShape::List(items) => Some(counted(items.len(), "item")),
        JsonShape::Mapping(entries) => {
            let keys: Vec<&str> = entries
                .iter()
                .take(MAX_KEYS)
                .map(|(key, _)| &**key)
                .collect();
            let more = if entries.len() > MAX_KEYS {
                ", …"
            } else {
                ""
            };
            let count = counted(leaves(json, 0), "value");
            Some(format!("{count} ({}{more})", keys.join(", ")))
        }
        JsonShape::Text(_) | JsonShape::Other(_) => None,
    }
}

/// Returns the number of scalars and empty collections in a value.
fn leaves(json: &RawValue, depth: usize) -> usize {
    let parts = JsonShape::of(json).into_parts();
    if parts.is_empty() || depth == MAX_DEPTH {
        return 1;
    }
    parts.into_iter().map(|part| leaves(part, depth + 1)).sum()
}

/// Returns a value as normalized JSON on one line, independent of its escapes.
fn exact(json: &RawValue) -> String {
    match JsonShape::of(json) {
        JsonShape::Text(content) => in_quotes(&content),
        JsonShape::List(_) | JsonShape::Mapping(_) | JsonShape::Other(_) => json.get().to_owned(),
    }
}

/// Entries of an object in order, including duplicate keys.
struct JsonEntries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for JsonEntries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = JsonEntries<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(JsonEntries(entries))
    }
}
