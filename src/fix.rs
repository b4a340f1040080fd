//! Edits of source texts: fixes of findings, and comments that suppress findings. Computes new
//! texts; does not read or write files.
//!
//! Text outside of the edits is preserved byte for byte.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Fix, Safety, TextEdit};
use crate::source::{FileId, LineIndex, Source, SourceMap, Span};
use crate::yaml;
use crate::yaml::path::{Location, Piece};

/// New texts of files, and the fixed findings.
#[derive(Debug, Default)]
pub struct Fixed {
    /// New texts of the changed files.
    pub texts: BTreeMap<FileId, String>,
    /// Indices of the fixed findings.
    pub findings: Vec<usize>,
}

/// Applies the fixes of `findings` up to `safety` that `may_apply` allows.
///
/// A fix is applied completely or not at all. Of two fixes that touch the same text, only the first
/// is applied; a second run may apply the other.
pub fn fixed(
    findings: &[Diagnostic],
    sources: &SourceMap,
    safety: Safety,
    may_apply: &dyn Fn(&Fix) -> bool,
) -> Fixed {
    let mut taken: BTreeMap<FileId, Vec<&TextEdit>> = BTreeMap::new();
    let mut applied: BTreeSet<(Vec<Span>, &str)> = BTreeSet::new();
    let mut fixed = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.safety <= safety) else {
            continue;
        };
        let name = (
            fix.edits.iter().map(|edit| edit.span).collect(),
            &*fix.message,
        );
        // Several rules or sites can report the same fix; it is applied once.
        if applied.contains(&name) {
            fixed.push(index);
        } else if is_free(fix, &taken) && may_apply(fix) {
            for edit in &fix.edits {
                taken.entry(edit.span.file).or_default().push(edit);
            }
            applied.insert(name);
            fixed.push(index);
        }
    }
    let texts = taken
        .into_iter()
        .map(|(file, edits)| (file, with_edits(sources.get(file).text(), &edits)));
    Fixed {
        texts: texts.collect(),
        findings: fixed,
    }
}

/// Whether no applied fix touches the same text.
fn is_free(fix: &Fix, taken: &BTreeMap<FileId, Vec<&TextEdit>>) -> bool {
    fix.edits.iter().all(|edit| {
        let mut others = taken.get(&edit.span.file).into_iter().flatten();
        others.all(|other| are_apart(edit.span, other.span))
    })
}

/// Whether two spans are disjoint. Empty spans must not even touch others, because insertions at
/// one position have no defined order.
fn are_apart(one: Span, other: Span) -> bool {
    let is_point = one.start == one.end || other.start == other.end;
    if is_point {
        one.end < other.start || other.end < one.start
    } else {
        one.end <= other.start || other.end <= one.start
    }
}

/// Applies non-overlapping edits to `text`.
fn with_edits(text: &str, edits: &[&TextEdit]) -> String {
    let mut sorted: Vec<&TextEdit> = edits.to_vec();
    sorted.sort_by_key(|edit| edit.span);
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for edit in sorted {
        result.push_str(&text[from..edit.span.start as usize]);
        result.push_str(&edit.text);
        from = edit.span.end as usize;
    }
    result.push_str(&text[from..]);
    result
}

/// The insertion that sets a value at a place of `data`, a mapping of `text` that has no value there:
/// at the end of the innermost mapping that exists. `None` if that mapping is not in block style, or if
/// the place leads into a list.
pub(crate) fn with_value(
    text: &str,
    data: &yaml::Node,
    place: &Location,
    value: &yaml::Node,
) -> Option<(Range<usize>, String)> {
    let mut around = data;
    let mut keys = Vec::new();
    for piece in &place.0 {
        let Piece::Key(key) = piece else { return None };
        match around.as_mapping().and_then(|mapping| mapping.get(key)) {
            Some(child) if keys.is_empty() => around = child,
            _ => keys.push(key),
        }
    }
    let last = around.as_mapping()?.iter().last()?;
    let lines = LineIndex::new(text);
    let line = lines.line_start(last.0.span.start) as usize;
    let indent = &text[line..last.0.span.start as usize];
    if keys.is_empty() || !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let end = text[..last.1.span.end as usize].trim_end().len();
    let end = text[end..]
        .find('\n')
        .map_or(text.len(), |length| end + length);
    let whole = keys.iter().rev().fold(value.clone(), |inner, key| {
        let entry = std::iter::once(((*key).clone(), inner)).collect();
        yaml::Node::new(yaml::Value::Mapping(Arc::new(entry)), value.span)
    });
    let written = yaml::emit::to_yaml(&whole, &yaml::emit::EmitOptions::default());
    let written: String = written
        .lines()
        .map(|line| format!("\n{indent}{line}"))
        .collect();
    Some((end..end, written))
}

/// Adds comments to `source` that suppress `findings`, all of them in this file. Returns the new
/// text and the indices of findings that no comment can suppress.
///
/// A comment is placed at the end of the finding's line, on a line of its own above it, or at the
/// beginning of its document: the first position where it is parsed as a comment and changes no
/// value. No comment is placed on or above the `---` at the beginning of the file, because Pegleg
/// rejects files whose first line is not exactly `---`.
pub fn with_ignores(
    source: &Source,
    findings: &[&Diagnostic],
    reason: &str,
) -> (String, Vec<usize>) {
    let mut lines: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for finding in findings {
        let line = source.lines().line_of(finding.primary.span.start);
        lines.entry(line).or_default().insert(finding.rule.name);
    }
    let commented = Commented::of(source.text());
    let (comments, unreached) = commented.comments(lines, reason);
    let insertions = commented.lines.insertions(&comments, reason);
    let (text, _) = commented.lines.with(&insertions.iter().collect::<Vec<_>>());
    let line = |finding: &Diagnostic| source.lines().line_of(finding.primary.span.start);
    let missed = findings
        .iter()
        .enumerate()
        .filter(|(_, it)| unreached.contains(&line(it)));
    (text, missed.map(|(index, _)| index).collect())
}

/// Position and extent of a comment. Lines are counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CommentPlace {
    /// At the end of this line, for this line.
    End(usize),
    /// On its own line above this line, for this line.
    Above(usize),
    /// On its own line below this `---`, for the `---`.
    Below(usize),
    /// On its own line below this `---`, for the document.
    Document(usize),
    /// On its own first line, for a document without `---`.
    FirstDocument,
    /// On its own line below this `---`, for the file.
    File(usize),
}

/// Rules to name in the comment at each position.
type RulesByPlace<'r> = BTreeMap<CommentPlace, BTreeSet<&'r str>>;

/// A line that needs a comment.
struct UncommentedLine<'r> {
    line: usize,
    rules: BTreeSet<&'r str>,
    /// Positions not tried yet.
    places: std::vec::IntoIter<CommentPlace>,
}

/// A comment with surrounding whitespace, and its insertion point.
struct InsertedComment {
    place: CommentPlace,
    at: usize,
    text: String,
    /// Offset of the comment in `text`.
    comment: usize,
}

/// A text to be commented, and its values without the comments.
struct Commented<'t> {
    lines: TextLines<'t>,
    known: (Vec<yaml::Node>, usize),
}

impl<'t> Commented<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            lines: TextLines::of(text),
            known: values_of(&yaml::parse(nowhere(), text)),
        }
    }

    /// Chooses the first valid position for each line, and returns the rules to name there, and the
    /// lines without a valid position.
    fn comments<'r>(
        &self,
        lines: BTreeMap<usize, BTreeSet<&'r str>>,
        reason: &str,
    ) -> (RulesByPlace<'r>, BTreeSet<usize>) {
        let mut comments = RulesByPlace::new();
        let mut unreached = BTreeSet::new();
        let uncommented = lines.into_iter().map(|(line, rules)| {
            let places = self.lines.places(line).into_iter();
            UncommentedLine {
                line,
                rules,
                places,
            }
        });
        let mut left: Vec<UncommentedLine<'r>> = uncommented.collect();
        while !left.is_empty() {
            let mut tried: BTreeMap<CommentPlace, Vec<UncommentedLine<'r>>> = BTreeMap::new();
            for mut uncommented in std::mem::take(&mut left) {
                match uncommented.places.next() {
                    Some(place) => tried.entry(place).or_default().push(uncommented),
                    None => drop(unreached.insert(uncommented.line)),
                }
            }
            let fitting = self.fitting(tried.keys().copied(), reason);
            for (place, uncommented) in tried {
                if fitting.contains(&place) {
                    let rules = uncommented
                        .into_iter()
                        .flat_map(|uncommented| uncommented.rules);
                    comments.entry(place).or_default().extend(rules);
                } else {
                    left.extend(uncommented);
                }
            }
        }
        (comments, unreached)
    }

    /// Positions where inserted text is parsed as a comment and changes no value. The named rules
    /// do not matter.
    fn fitting(
        &self,
        places: impl Iterator<Item = CommentPlace>,
        reason: &str,
    ) -> BTreeSet<CommentPlace> {
        let comments: RulesByPlace<'_> =
            places.map(|place| (place, BTreeSet::from(["x"]))).collect();
        let insertions = self.lines.insertions(&comments, reason);
        let mut fitting = BTreeSet::new();
        self.collect_fitting(&insertions.iter().collect::<Vec<_>>(), &mut fitting);
        fitting
    }

    /// Collects the valid positions. Parsing is expensive and most positions are valid, so all are
    /// tried at once; on failure, the set is split.
    fn collect_fitting(
        &self,
        insertions: &[&InsertedComment],
        fitting: &mut BTreeSet<CommentPlace>,
    ) {
        let (text, begins) = self.lines.with(insertions);
        let parsed = yaml::parse(nowhere(), &text);
        let is_there = |begin: usize| {
            let behind = parsed
                .comments
                .partition_point(|it| it.span.range().end <= begin);
            parsed
                .comments
                .get(behind)
                .is_some_and(|it| it.span.range().contains(&begin))
        };
        let all = insertions.iter().copied().zip(begins);
        let (there, missing): (Vec<_>, Vec<_>) = all.partition(|(_, begin)| is_there(*begin));
        if missing.is_empty() && values_of(&parsed) == self.known {
            fitting.extend(insertions.iter().map(|insertion| insertion.place));
            return;
        }
        // If the text parses, text that is part of a value in this set is part of a value on its
        // own, too.
        let are_values = there.is_empty() && parsed.problems.len() == self.known.1;
        if are_values || insertions.len() == 1 {
            return;
        }
        let parts = if there.is_empty() || missing.is_empty() {
            let (first, second) = insertions.split_at(insertions.len() / 2);
            [first.to_vec(), second.to_vec()]
        } else {
            [there, missing].map(|insertions| {
                insertions
                    .into_iter()
                    .map(|(insertion, _)| insertion)
                    .collect()
            })
        };
        for part in parts {
            self.collect_fitting(&part, fitting);
        }
    }
}

/// Placeholder file for text that is parsed only for its values.
fn nowhere() -> FileId {
    SourceMap::new().upcoming()
}

/// Values of a text, without comments.
fn values_of(parsed: &yaml::Parsed) -> (Vec<yaml::Node>, usize) {
    let roots = parsed
        .documents
        .iter()
        .map(|document| document.root.clone());
    (roots.collect(), parsed.problems.len())
}

/// Index of the lines of a text.
struct TextLines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    line_break: &'static str,
    /// Lines with a `---` marker.
    markers: Vec<usize>,
    /// Marker at the beginning of the file; only comments may precede it.
    first_marker: Option<usize>,
}

impl<'t> TextLines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let starts: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        let all = 0..starts.len();
        let unread = Self {
            text,
            starts,
            line_break,
            markers: Vec::new(),
            first_marker: None,
        };
        let markers = all
            .clone()
            .filter(|line| yaml::is_document_marker(unread.line(*line)))
            .collect();
        let first = all
            .into_iter()
            .find(|line| !yaml::is_blank_or_comment(unread.line(*line)));
        let first_marker = first.filter(|line| yaml::is_document_marker(unread.line(*line)));
        Self {
            markers,
            first_marker,
            ..unread
        }
    }

    /// Positions of comments that can suppress findings on `line`, the best first.
    fn places(&self, line: usize) -> Vec<CommentPlace> {
        let first = self.first_marker;
        let above = self.markers.partition_point(|marker| *marker <= line);
        match self.markers[..above].last().copied() {
            Some(marker) if marker == line && Some(line) == first => match self.behind(marker) {
                "" => vec![CommentPlace::Below(marker)],
                _ => vec![CommentPlace::End(line), CommentPlace::Document(marker)],
            },
            Some(marker) => vec![
                CommentPlace::End(line),
                CommentPlace::Above(line),
                CommentPlace::Document(marker),
            ],
            None => match first {
                Some(marker) => vec![CommentPlace::File(marker)],
                None => vec![
                    CommentPlace::End(line),
                    CommentPlace::Above(line),
                    CommentPlace::FirstDocument,
                ],
            },
        }
    }

    /// Insertions for the comments, in text order.
    fn insertions(&self, comments: &RulesByPlace<'_>, reason: &str) -> Vec<InsertedComment> {
        let mut insertions: Vec<InsertedComment> = comments
            .iter()
            .map(|(place, rules)| self.insertion(*place, rules, reason))
            .collect();
        insertions.sort_by_key(|insertion| (insertion.at, Reverse(insertion.place)));
        insertions
    }

    /// Inserts sorted comments; returns the new text and the offset of each comment in it.
    fn with(&self, insertions: &[&InsertedComment]) -> (String, Vec<usize>) {
        let mut result = String::new();
        let mut begins = Vec::new();
        let mut from = 0;
        for insertion in insertions {
            result.push_str(&self.text[from..insertion.at]);
            begins.push(result.len() + insertion.comment);
            result.push_str(&insertion.text);
            from = insertion.at;
        }
        result.push_str(&self.text[from..]);
        (result, begins)
    }

    /// Insertion of a comment for `rules` at `place`.
    fn insertion(
        &self,
        place: CommentPlace,
        rules: &BTreeSet<&str>,
        reason: &str,
    ) -> InsertedComment {
        let names: Vec<&str> = rules.iter().copied().collect();
        let words = |word: &str| {
            let comment = format!("# layercake: {word}[{}] {reason}", names.join(", "));
            comment.trim_end().to_owned()
        };
        match place {
            CommentPlace::End(line) => self.at_end(place, line, &words("ignore")),
            CommentPlace::Above(line) => self.above(place, line, &words("ignore")),
            CommentPlace::Below(marker) => self.below(place, marker, &words("ignore")),
            CommentPlace::Document(marker) => self.below(place, marker, &words("ignore-document")),
            CommentPlace::FirstDocument => self.above(place, 0, &words("ignore-document")),
            CommentPlace::File(marker) => self.below(place, marker, &words("ignore-file")),
        }
    }

    fn line(&self, line: usize) -> &'t str {
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.text.len());
        self.text[self.starts[line]..end].trim_end_matches(['\n', '\r'])
    }

    /// Text after a `---`, on the same line.
    fn behind(&self, marker: usize) -> &'t str {
        self.line(marker)
            .trim_start_matches(['\u{feff}', '-'])
            .trim()
    }

    fn at_end(&self, place: CommentPlace, line: usize, comment: &str) -> InsertedComment {
        let content = self.line(line);
        let gap = if content.trim().is_empty() { "" } else { "  " };
        let at = self.starts[line] + content.trim_end().len();
        InsertedComment {
            place,
            at,
            text: format!("{gap}{comment}"),
            comment: gap.len(),
        }
    }

    fn above(&self, place: CommentPlace, line: usize, comment: &str) -> InsertedComment {
        let content = self.line(line);
        let indent = &content[..content.len() - content.trim_start().len()];
        // A byte order mark stays first.
        let mark = if self.starts[line] == 0 && content.starts_with('\u{feff}') {
            3
        } else {
            0
        };
        let text = format!("{indent}{comment}{}", self.line_break);
        InsertedComment {
            place,
            at: self.starts[line] + mark,
            text,
            comment: indent.len(),
        }
    }

    fn below(&self, place: CommentPlace, line: usize, comment: &str) -> InsertedComment {
        match self.starts.get(line + 1) {
            Some(at) => InsertedComment {
                place,
                at: *at,
                text: format!("{comment}{}", self.line_break),
                comment: 0,
            },
            None => {
                let text = format!("{}{comment}", self.line_break);
                InsertedComment {
                    place,
                    at: self.text.len(),
                    text,
                    comment: self.line_break.len(),
                }
            }
        }
    }
}
