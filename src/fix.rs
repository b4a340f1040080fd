//! Texts changed in place: the fixes of findings, and the comments that
//! suppress them. Computes new texts; who reads and writes files is not known
//! here.
//!
//! What is not replaced stays as it is, byte for byte.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Fix, Safety, TextEdit};
use crate::source::{FileId, Source, SourceMap, Span};
use crate::yaml;

/// New texts of files, and the findings that they fix.
#[derive(Debug, Default)]
pub struct Fixed {
    /// The files that change.
    pub texts: BTreeMap<FileId, String>,
    /// The findings that are fixed, by index.
    pub findings: Vec<usize>,
}

/// The texts that the fixes of `findings` make, those up to `safety`, as far as `may_change`
/// allows their edits.
///
/// A fix is applied whole or not at all. Of two that touch the same text the
/// first is applied; the other may be found again.
pub fn fixed(
    findings: &[Diagnostic],
    sources: &SourceMap,
    safety: Safety,
    may_change: &dyn Fn(&TextEdit) -> bool,
) -> Fixed {
    let mut taken: BTreeMap<FileId, Vec<&TextEdit>> = BTreeMap::new();
    let mut applied: BTreeSet<(Vec<Span>, &str)> = BTreeSet::new();
    let mut fixed = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.safety <= safety) else { continue };
        let name = (fix.edits.iter().map(|edit| edit.span).collect(), &*fix.message);
        // One text can be at fault for two rules, or for two sites in turn.
        if applied.contains(&name) {
            fixed.push(index);
        } else if is_free(fix, &taken) && fix.edits.iter().all(may_change) {
            for edit in &fix.edits {
                taken.entry(edit.span.file).or_default().push(edit);
            }
            applied.insert(name);
            fixed.push(index);
        }
    }
    let texts = taken.into_iter();
    let texts = texts.map(|(file, edits)| (file, with_edits(sources.get(file).text(), &edits)));
    Fixed { texts: texts.collect(), findings: fixed }
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
    let (comments, unreached) = commented.comments(lines, reason);
    let puts = commented.lines.puts(&comments, reason);
    let (text, _) = commented.lines.with(&puts.iter().collect::<Vec<_>>());
    let line = |finding: &Diagnostic| source.lines().line_of(finding.primary.span.start);
    let missed = findings.iter().enumerate().filter(|(_, it)| unreached.contains(&line(it)));
    (text, missed.map(|(index, _)| index).collect())
}

/// Where a comment can go, and how far it is to reach there. Lines are counted
/// from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CommentPlace {
    /// At the end of this line, for what begins on it.
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

/// The rules that comments are to name.
type RulesByPlace<'r> = BTreeMap<CommentPlace, BTreeSet<&'r str>>;

/// A line that is to get a comment for what begins on it.
struct Wanting<'r> {
    line: usize,
    rules: BTreeSet<&'r str>,
    /// The places not tried yet.
    places: std::vec::IntoIter<CommentPlace>,
}

/// A comment with the white space around it, and where it is inserted.
struct InsertedComment {
    place: CommentPlace,
    at: usize,
    text: String,
    /// Where in the text the comment begins.
    comment: usize,
}

/// A text that gets comments, and what it says without them.
struct Commented<'t> {
    lines: TextLines<'t>,
    known: (Vec<yaml::Node>, usize),
}

impl<'t> Commented<'t> {
    fn of(text: &'t str) -> Self {
        Self { lines: TextLines::of(text), known: values_of(&yaml::parse(nowhere(), text)) }
    }

    /// The comments for the rules of each line, each at the first of its places at
    /// which one fits, and the lines that have none.
    fn comments<'r>(
        &self,
        lines: BTreeMap<usize, BTreeSet<&'r str>>,
        reason: &str,
    ) -> (RulesByPlace<'r>, BTreeSet<usize>) {
        let (mut comments, mut unreached) = (RulesByPlace::new(), BTreeSet::new());
        let wanting = lines.into_iter().map(|(line, rules)| {
            let places = self.lines.places(line).into_iter();
            Wanting { line, rules, places }
        });
        let mut left: Vec<Wanting<'r>> = wanting.collect();
        while !left.is_empty() {
            let mut tried: BTreeMap<CommentPlace, Vec<Wanting<'r>>> = BTreeMap::new();
            for mut wanting in std::mem::take(&mut left) {
                match wanting.places.next() {
                    Some(place) => tried.entry(place).or_default().push(wanting),
                    None => drop(unreached.insert(wanting.line)),
                }
            }
            let fitting = self.fitting(tried.keys().copied(), reason);
            for (place, wanting) in tried {
                if fitting.contains(&place) {
                    let rules = wanting.into_iter().flat_map(|wanting| wanting.rules);
                    comments.entry(place).or_default().extend(rules);
                } else {
                    left.extend(wanting);
                }
            }
        }
        (comments, unreached)
    }

    /// The places at which what is put there is a comment, and changes no value.
    /// Which rules it names makes no difference to that.
    fn fitting(
        &self,
        places: impl Iterator<Item = CommentPlace>,
        reason: &str,
    ) -> BTreeSet<CommentPlace> {
        let comments: RulesByPlace<'_> =
            places.map(|place| (place, BTreeSet::from(["x"]))).collect();
        let puts = self.lines.puts(&comments, reason);
        let mut fitting = BTreeSet::new();
        self.collect_fitting(&puts.iter().collect::<Vec<_>>(), &mut fitting);
        fitting
    }

    /// Nearly all fit, and to parse the text costs far more than a comment: they are
    /// tried together, and by parts only where that goes wrong.
    fn collect_fitting(&self, puts: &[&InsertedComment], fitting: &mut BTreeSet<CommentPlace>) {
        let (text, begins) = self.lines.with(puts);
        let parsed = yaml::parse(nowhere(), &text);
        let is_there = |begin: usize| {
            let behind = parsed.comments.partition_point(|it| it.span.range().end <= begin);
            parsed.comments.get(behind).is_some_and(|it| it.span.range().contains(&begin))
        };
        let all = puts.iter().copied().zip(begins);
        let (there, missing): (Vec<_>, Vec<_>) = all.partition(|(_, begin)| is_there(*begin));
        if missing.is_empty() && values_of(&parsed) == self.known {
            fitting.extend(puts.iter().map(|put| put.place));
            return;
        }
        // What is part of a value in a text that can be read is so by itself, too.
        let are_values = there.is_empty() && parsed.problems.len() == self.known.1;
        if are_values || puts.len() == 1 {
            return;
        }
        let parts = if there.is_empty() || missing.is_empty() {
            let (first, second) = puts.split_at(puts.len() / 2);
            [first.to_vec(), second.to_vec()]
        } else {
            [there, missing].map(|puts| puts.into_iter().map(|(put, _)| put).collect())
        };
        for part in parts {
            self.collect_fitting(&part, fitting);
        }
    }
}

/// The file of a text that is parsed for its values only.
fn nowhere() -> FileId {
    SourceMap::new().upcoming()
}

/// The values of a text, without its comments.
fn values_of(parsed: &yaml::Parsed) -> (Vec<yaml::Node>, usize) {
    let roots = parsed.documents.iter().map(|document| document.root.clone());
    (roots.collect(), parsed.problems.len())
}

/// A text by lines, to put comments in.
struct TextLines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    line_break: &'static str,
    /// The lines that are a `---`.
    markers: Vec<usize>,
    /// The `---` with which the file begins, whatever comments are above it.
    first_marker: Option<usize>,
}

impl<'t> TextLines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let starts: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        let all = 0..starts.len();
        let unread = Self { text, starts, line_break, markers: Vec::new(), first_marker: None };
        let markers = all.clone().filter(|line| unread.is_marker(*line)).collect();
        let first = all.into_iter().find(|line| !unread.says_nothing(*line));
        let first_marker = first.filter(|line| unread.is_marker(*line));
        Self { markers, first_marker, ..unread }
    }

    /// The places from which a comment may reach what begins on `line`, the
    /// best one first.
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

    /// The comments, in the order of the text.
    fn puts(&self, comments: &RulesByPlace<'_>, reason: &str) -> Vec<InsertedComment> {
        let puts = comments.iter().map(|(place, rules)| self.put(*place, rules, reason));
        let mut puts: Vec<InsertedComment> = puts.collect();
        puts.sort_by_key(|put| (put.at, Reverse(put.place)));
        puts
    }

    /// The text with comments, which are in its order, and where in it each begins.
    fn with(&self, puts: &[&InsertedComment]) -> (String, Vec<usize>) {
        let (mut made, mut begins, mut from) = (String::new(), Vec::new(), 0);
        for put in puts {
            made.push_str(&self.text[from..put.at]);
            begins.push(made.len() + put.comment);
            made.push_str(&put.text);
            from = put.at;
        }
        made.push_str(&self.text[from..]);
        (made, begins)
    }

    /// The comment for `rules` at a place.
    fn put(&self, place: CommentPlace, rules: &BTreeSet<&str>, reason: &str) -> InsertedComment {
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
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[self.starts[line]..end].trim_end_matches(['\n', '\r'])
    }

    fn says_nothing(&self, line: usize) -> bool {
        let text = self.line(line).trim_start_matches('\u{feff}').trim();
        text.is_empty() || text.starts_with('#')
    }

    fn is_marker(&self, line: usize) -> bool {
        let text = self.line(line).trim_start_matches('\u{feff}');
        text.strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    }

    /// The text behind a `---`, on the same line.
    fn behind(&self, marker: usize) -> &'t str {
        self.line(marker).trim_start_matches(['\u{feff}', '-']).trim()
    }

    fn at_end(&self, place: CommentPlace, line: usize, comment: &str) -> InsertedComment {
        let content = self.line(line);
        let gap = if content.trim().is_empty() { "" } else { "  " };
        let at = self.starts[line] + content.trim_end().len();
        InsertedComment { place, at, text: format!("{gap}{comment}"), comment: gap.len() }
    }

    fn above(&self, place: CommentPlace, line: usize, comment: &str) -> InsertedComment {
        let content = self.line(line);
        let indent = &content[..content.len() - content.trim_start().len()];
        // Above the first line a byte order mark stays first.
        let mark = if self.starts[line] == 0 && content.starts_with('\u{feff}') { 3 } else { 0 };
        let text = format!("{indent}{comment}{}", self.line_break);
        InsertedComment { place, at: self.starts[line] + mark, text, comment: indent.len() }
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
                InsertedComment { place, at: self.text.len(), text, comment: self.line_break.len() }
            }
        }
    }
}
