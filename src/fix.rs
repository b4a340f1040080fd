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
/// these is a comment there and changes no value.
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
    let mut text = source.text().to_string();
    let mut unreached = BTreeSet::new();
    // From below, so that no line moves that is still to be looked at.
    for (line, rules) in lines.into_iter().rev() {
        match with_ignore(&text, line, &rules, reason) {
            Some(with) => text = with,
            None => drop(unreached.insert(line)),
        }
    }
    let line = |finding: &Diagnostic| source.lines().line_of(finding.primary.span.start);
    let missed = findings.iter().enumerate().filter(|(_, it)| unreached.contains(&line(it)));
    (text, missed.map(|(index, _)| index).collect())
}

fn with_ignore(text: &str, line: usize, rules: &BTreeSet<&str>, reason: &str) -> Option<String> {
    let names: Vec<&str> = rules.iter().copied().collect();
    let words = |word: &str| {
        let comment = format!("# layercake: {word}[{}] {reason}", names.join(", "));
        comment.trim_end().to_owned()
    };
    let lines = Lines::of(text);
    let known = values(text);
    let places = [
        lines.at_end(line, &words("ignore")),
        lines.above(line, &words("ignore")),
        lines.at_document(line, &words("ignore-document")),
    ];
    let fits = |(with, at): &(String, usize)| {
        let parsed = yaml::parse(nowhere(), with);
        let is_there = |it: &yaml::Comment| it.span.range().contains(at);
        parsed.comments.iter().any(is_there) && values_of(&parsed) == known
    };
    places.into_iter().find(fits).map(|(with, _)| with)
}

/// The file of a text that is parsed for its values only.
fn nowhere() -> FileId {
    SourceMap::new().upcoming(0)
}

/// What a text says, comments apart.
fn values(text: &str) -> (Vec<yaml::Node>, usize) {
    values_of(&yaml::parse(nowhere(), text))
}

fn values_of(parsed: &yaml::Parsed) -> (Vec<yaml::Node>, usize) {
    let roots = parsed.documents.iter().map(|document| document.root.clone());
    (roots.collect(), parsed.problems.len())
}

/// A text by lines, to put comments in. Each gives the new text and the byte
/// at which the comment begins.
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

    fn line(&self, line: usize) -> &'t str {
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[self.starts[line]..end].trim_end_matches(['\n', '\r'])
    }

    fn at_end(&self, line: usize, comment: &str) -> (String, usize) {
        let content = self.line(line);
        let end = self.starts[line] + content.trim_end().len();
        let gap = if content.trim().is_empty() { "" } else { "  " };
        (self.with(end, &format!("{gap}{comment}")), end + gap.len())
    }

    fn above(&self, line: usize, comment: &str) -> (String, usize) {
        let content = self.line(line);
        let indent = &content[..content.len() - content.trim_start().len()];
        // Above the first line a byte order mark stays first.
        let mark = if self.starts[line] == 0 && content.starts_with('\u{feff}') { 3 } else { 0 };
        let at = self.starts[line] + mark;
        let put = format!("{indent}{comment}{}", self.line_break);
        (self.with(at, &put), at + indent.len())
    }

    /// Behind the `---` of the document that holds `line`, or above all where
    /// it has none.
    fn at_document(&self, line: usize, comment: &str) -> (String, usize) {
        let is_marker =
            |it: &usize| self.line(*it).trim_start_matches('\u{feff}').starts_with("---");
        match (0..=line).rev().find(is_marker) {
            Some(marker) => self.at_end(marker, comment),
            None => self.above(0, comment),
        }
    }

    fn with(&self, at: usize, put: &str) -> String {
        format!("{}{put}{}", &self.text[..at], &self.text[at..])
    }
}
