//! Texts changed in place: the fixes of findings, and the comments that
//! suppress them. Computes new texts; who reads and writes files is not known
//! here.
//!
//! What is not replaced stays as it is, byte for byte.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Fix, TextEdit};
use crate::source::{FileId, Source, SourceMap, Span};
use crate::yaml;

/// New texts of files, and which findings they mend.
#[derive(Debug, Default)]
pub struct Fixed {
    /// The files that change.
    pub texts: BTreeMap<FileId, String>,
    /// The findings that are mended, by index.
    pub mended: Vec<usize>,
}

/// The texts that the fixes of `findings` make, as far as `may_change` allows
/// their edits.
///
/// A fix is applied whole or not at all. Of two that touch the same text the
/// first is applied; the other may be found again.
pub fn fixed(
    findings: &[Diagnostic],
    sources: &SourceMap,
    may_change: &dyn Fn(&TextEdit) -> bool,
) -> Fixed {
    let mut taken: BTreeMap<FileId, Vec<&TextEdit>> = BTreeMap::new();
    let mut applied: BTreeSet<(Vec<Span>, &str)> = BTreeSet::new();
    let mut mended = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(fix) = &finding.fix else { continue };
        let name = (fix.edits.iter().map(|edit| edit.span).collect(), &*fix.message);
        // One text can be at fault for two rules, or for two sites in turn.
        if applied.contains(&name) {
            mended.push(index);
        } else if is_free(fix, &taken) && fix.edits.iter().all(may_change) {
            for edit in &fix.edits {
                taken.entry(edit.span.file).or_default().push(edit);
            }
            applied.insert(name);
            mended.push(index);
        }
    }
    let texts = taken.into_iter();
    let texts = texts.map(|(file, edits)| (file, with_edits(sources.get(file).text(), &edits)));
    Fixed { texts: texts.collect(), mended }
}

/// Whether nothing of what the fix touches is touched by another.
fn is_free(fix: &Fix, taken: &BTreeMap<FileId, Vec<&TextEdit>>) -> bool {
    fix.edits.iter().all(|edit| {
        let mut others = taken.get(&edit.span.file).into_iter().flatten();
        others.all(|other| are_apart(edit.span, other.span))
    })
}

/// Whether two stretches have nothing in common. Where one of them is a point
/// they may not even meet: texts put in at one place have no order.
fn are_apart(one: Span, other: Span) -> bool {
    let is_point = one.start == one.end || other.start == other.end;
    if is_point {
        one.end < other.start || other.end < one.start
    } else {
        one.end <= other.start || other.end <= one.start
    }
}

/// `text` with the edits, which do not overlap.
fn with_edits(text: &str, edits: &[&TextEdit]) -> String {
    let mut sorted: Vec<&TextEdit> = edits.to_vec();
    sorted.sort_by_key(|edit| edit.span);
    let mut made = String::with_capacity(text.len());
    let mut from = 0;
    for edit in sorted {
        made.push_str(&text[from..edit.span.start as usize]);
        made.push_str(&edit.text);
        from = edit.span.end as usize;
    }
    made.push_str(&text[from..]);
    made
}

/// `source` with comments that suppress `findings`, which begin in it, and
/// the indices of those that no comment can reach.
///
/// A comment goes to the end of the line on which a finding begins, or to a
/// line of its own above it, or to the beginning of its document, whichever of
/// these is a comment there and changes no value. None goes onto or above the
/// `---` with which the file begins: Pegleg refuses what is not that alone on
/// the first line.
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
    let mut unreached = BTreeSet::new();
    let mut by_place: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    for (line, rules) in lines {
        let mut places = commented.lines.places(line).into_iter();
        match places.find(|place| commented.fits(*place, &rules, reason)) {
            Some(place) => by_place.entry(place).or_default().extend(rules),
            None => drop(unreached.insert(line)),
        }
    }
    let mut puts: Vec<Put> =
        by_place.iter().map(|(place, rules)| commented.lines.put(*place, rules, reason)).collect();
    // From below, so that no place moves that is still to come.
    puts.sort_by_key(|put| std::cmp::Reverse(put.at));
    let text = puts.iter().fold(source.text().to_string(), |text, put| put.within(&text));
    let line = |finding: &Diagnostic| source.lines().line_of(finding.primary.span.start);
    let missed = findings.iter().enumerate().filter(|(_, it)| unreached.contains(&line(it)));
    (text, missed.map(|(index, _)| index).collect())
}

/// Where a comment can go, and how far it is to reach there. Lines are counted
/// from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// To the end of this line, for what begins on it.
    End(usize),
    /// To a line of its own above this one, for what begins on it.
    Above(usize),
    /// To a line of its own below this `---`, for what begins on the `---`.
    Below(usize),
    /// To a line of its own below this `---`, for its document.
    Document(usize),
    /// To a line of its own above all, for the document that has no `---`.
    FirstDocument,
    /// To a line of its own below this `---`, for the file.
    File(usize),
}

/// A comment with what stands around it, and where it is put in.
struct Put {
    at: usize,
    text: String,
    /// Where in the text the comment begins.
    comment: usize,
}

impl Put {
    fn within(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.at], self.text, &text[self.at..])
    }
}

/// A text that gets comments, and what it says without them.
struct Commented<'t> {
    lines: Lines<'t>,
    known: (Vec<yaml::Node>, usize),
}

impl<'t> Commented<'t> {
    fn of(text: &'t str) -> Self {
        Self { lines: Lines::of(text), known: values_of(&yaml::parse(nowhere(), text)) }
    }

    /// Whether what is put there is a comment, and changes no value.
    fn fits(&self, place: Place, rules: &BTreeSet<&str>, reason: &str) -> bool {
        let put = self.lines.put(place, rules, reason);
        let parsed = yaml::parse(nowhere(), &put.within(self.lines.text));
        let begin = put.at + put.comment;
        let is_there = |it: &yaml::Comment| it.span.range().contains(&begin);
        parsed.comments.iter().any(is_there) && values_of(&parsed) == self.known
    }
}

/// The file of a text that is parsed for its values only.
fn nowhere() -> FileId {
    SourceMap::new().upcoming()
}

/// What a text says, comments apart.
fn values_of(parsed: &yaml::Parsed) -> (Vec<yaml::Node>, usize) {
    let roots = parsed.documents.iter().map(|document| document.root.clone());
    (roots.collect(), parsed.problems.len())
}

/// A text by lines, to put comments in.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    line_break: &'static str,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { text, starts: std::iter::once(0).chain(breaks).collect(), line_break }
    }

    /// The places from which a comment may reach what begins on `line`, the
    /// best one first.
    fn places(&self, line: usize) -> Vec<Place> {
        let first = self.first_marker();
        match (0..=line).rev().find(|it| self.is_marker(*it)) {
            Some(marker) if marker == line && Some(line) == first => match self.behind(marker) {
                "" => vec![Place::Below(marker)],
                _ => vec![Place::End(line), Place::Document(marker)],
            },
            Some(marker) => vec![Place::End(line), Place::Above(line), Place::Document(marker)],
            None => match first {
                Some(marker) => vec![Place::File(marker)],
                None => vec![Place::End(line), Place::Above(line), Place::FirstDocument],
            },
        }
    }

    /// The comment for `rules` at a place.
    fn put(&self, place: Place, rules: &BTreeSet<&str>, reason: &str) -> Put {
        let names: Vec<&str> = rules.iter().copied().collect();
        let words = |word: &str| {
            let comment = format!("# layercake: {word}[{}] {reason}", names.join(", "));
            comment.trim_end().to_owned()
        };
        match place {
            Place::End(line) => self.at_end(line, &words("ignore")),
            Place::Above(line) => self.above(line, &words("ignore")),
            Place::Below(marker) => self.below(marker, &words("ignore")),
            Place::Document(marker) => self.below(marker, &words("ignore-document")),
            Place::FirstDocument => self.above(0, &words("ignore-document")),
            Place::File(marker) => self.below(marker, &words("ignore-file")),
        }
    }

    fn line(&self, line: usize) -> &'t str {
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[self.starts[line]..end].trim_end_matches(['\n', '\r'])
    }

    /// The `---` with which the file begins, whatever comments are above it.
    fn first_marker(&self) -> Option<usize> {
        let says_nothing = |line: &usize| {
            let text = self.line(*line).trim_start_matches('\u{feff}').trim();
            text.is_empty() || text.starts_with('#')
        };
        let first = (0..self.starts.len()).find(|line| !says_nothing(line));
        first.filter(|line| self.is_marker(*line))
    }

    fn is_marker(&self, line: usize) -> bool {
        let text = self.line(line).trim_start_matches('\u{feff}');
        text.strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    }

    /// What stands on the line of a `---` behind it.
    fn behind(&self, marker: usize) -> &'t str {
        self.line(marker).trim_start_matches(['\u{feff}', '-']).trim()
    }

    fn at_end(&self, line: usize, comment: &str) -> Put {
        let content = self.line(line);
        let gap = if content.trim().is_empty() { "" } else { "  " };
        let at = self.starts[line] + content.trim_end().len();
        Put { at, text: format!("{gap}{comment}"), comment: gap.len() }
    }

    fn above(&self, line: usize, comment: &str) -> Put {
        let content = self.line(line);
        let indent = &content[..content.len() - content.trim_start().len()];
        // Above the first line a byte order mark stays first.
        let mark = if self.starts[line] == 0 && content.starts_with('\u{feff}') { 3 } else { 0 };
        let text = format!("{indent}{comment}{}", self.line_break);
        Put { at: self.starts[line] + mark, text, comment: indent.len() }
    }

    fn below(&self, line: usize, comment: &str) -> Put {
        match self.starts.get(line + 1) {
            Some(at) => Put { at: *at, text: format!("{comment}{}", self.line_break), comment: 0 },
            None => {
                let text = format!("{}{comment}", self.line_break);
                Put { at: self.text.len(), text, comment: self.line_break.len() }
            }
        }
    }
}
