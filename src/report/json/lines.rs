//! The texts that findings point at, so that a saved report can show them: the
//! lines of their labels with one more before and after each, secrets hidden.
//! Of a long line only what is around its labels is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::finding::LabelForm;
use crate::diagnostic::Diagnostic;
use crate::report::View;
use crate::report::view::ShownLine;
use crate::source::{FileId, Span};
use crate::triage::{self, Findings};

/// A line of so many characters is kept whole.
const LONGEST: usize = 800;

/// So many characters of a longer one are kept before and after where a label
/// begins: more than any terminal shows.
const AROUND: usize = 400;

/// What is kept of one text.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct FileLines {
    /// Its name in this report, which labels have.
    #[serde(default)]
    pub(in crate::report) id: String,
    /// The file of the repository.
    pub(in crate::report) file: String,
    /// What the text is called where it stands encoded in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) decoded: Option<String>,
    /// Whether no text of it may be shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) withheld: bool,
    /// By number, parts of one line by column.
    pub(in crate::report) lines: Vec<Line>,
}

/// One line, or a part of it.
#[expect(clippy::struct_field_names, reason = "a line is at a line, as in every other place")]
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct Line {
    /// Its number, from one.
    pub(in crate::report) line: usize,
    /// The column at which the text begins, as labels count it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(in crate::report) column: usize,
    /// The text, without a line break; `(hidden)` stands for a secret.
    pub(in crate::report) text: String,
    /// Where in the text, in characters from zero, `(hidden)` stands for a
    /// secret: where it begins and where it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::report) hidden: Vec<[usize; 2]>,
    /// Whether the line goes on after the text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) cut: bool,
    /// Whether the line begins inside of a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) continues: bool,
}

pub(super) fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(column: &usize) -> bool {
    *column == 1
}

/// The texts that labels of findings stand in.
#[derive(Default)]
pub(super) struct Texts {
    /// By file, its place in `forms`.
    places: BTreeMap<FileId, usize>,
    pub(super) forms: Vec<FileLines>,
}

/// What is to be kept of a text: lines, from zero.
type Wanted = BTreeMap<usize, WantedLine>;

/// What is to be kept of a line.
#[derive(Default)]
struct WantedLine {
    /// The columns at which labels begin on it.
    columns: BTreeSet<usize>,
    /// Whether it stands beside a line with a label, and is shown from its start.
    is_beside: bool,
}

impl Texts {
    /// Those of a run without a comparison.
    pub(super) fn of_one_side(findings: &Findings, view: &View<'_>) -> Self {
        Self::of(findings.diagnostics.iter().chain(&findings.suppressed), view)
    }

    /// Those of two sides.
    pub(super) fn of_two_sides(compared: &triage::Compared, view: &View<'_>) -> Self {
        let triage::Compared { new, unchanged, fixed, suppressed, .. } = compared;
        let all = [new, unchanged, fixed].into_iter().flat_map(|it| &it.diagnostics);
        Self::of(all.chain(suppressed), view)
    }

    /// The name of the text that a label stands in.
    pub(super) fn name_of(&self, file: FileId) -> Option<String> {
        self.places.get(&file).map(|at| name(*at))
    }

    fn of<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>, view: &View<'_>) -> Self {
        let mut wanted: BTreeMap<FileId, Wanted> = BTreeMap::new();
        for label in diagnostics.flat_map(|it| std::iter::once(&it.primary).chain(&it.related)) {
            let lines = wanted.entry(label.span.file).or_default();
            let (line, column) = view.start(label.span);
            lines.entry(line - 1).or_default().columns.insert(column);
            for beside in [line.checked_sub(2), Some(line)].into_iter().flatten() {
                lines.entry(beside).or_default().is_beside = true;
            }
        }
        let mut texts = Self::default();
        for (at, (file, lines)) in wanted.into_iter().enumerate() {
            texts.places.insert(file, at);
            texts.forms.push(FileLines::new(name(at), file, &lines, view));
        }
        texts
    }
}

fn name(at: usize) -> String {
    format!("t{}", at + 1)
}

impl FileLines {
    fn new(id: String, file: FileId, wanted: &Wanted, view: &View<'_>) -> Self {
        let written = view.written(Span { file, start: 0, end: 0 }).file;
        let name = |file| view.source(file).path().as_str().to_owned();
        let lines = wanted.iter().flat_map(|(line, wanted)| {
            // Beside a label nothing is shown of a line that is the rest of a secret.
            let shown = view.shown_line(file, *line);
            let shown = shown.filter(|it| !it.continues || !wanted.columns.is_empty());
            shown.map(|shown| Line::parts(*line, shown, wanted)).unwrap_or_default()
        });
        Self {
            id,
            file: name(written),
            decoded: (written != file).then(|| name(file)),
            withheld: view.is_opaque(file),
            lines: lines.collect(),
        }
    }
}

impl Line {
    /// What is kept of a line (from zero).
    fn parts(line: usize, shown: ShownLine, wanted: &WantedLine) -> Vec<Self> {
        let shown = without_mark(line, shown);
        let length = shown.text.chars().count();
        if length <= LONGEST {
            return vec![Self::part(line, &shown, 0..length, length, shown.text.clone())];
        }
        let start = wanted.is_beside.then_some(0);
        let labels = wanted.columns.iter().map(|it| character_at(*it, &shown));
        let mut kept: Vec<Range<usize>> = Vec::new();
        for focus in start.into_iter().chain(labels) {
            let range = focus.saturating_sub(AROUND)..(focus + AROUND).min(length);
            let range = around_secrets(range, &shown.hidden);
            match kept.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => kept.push(range),
            }
        }
        // One behind the other, so that the line is gone through once.
        let (mut characters, mut at) = (shown.text.chars(), 0);
        let parts = kept.into_iter().map(|range| {
            let text = characters.by_ref().skip(range.start - at).take(range.len()).collect();
            at = range.end;
            Self::part(line, &shown, range, length, text)
        });
        parts.collect()
    }

    /// The characters `range` of a line of `length` characters, which are `text`.
    fn part(
        line: usize,
        shown: &ShownLine,
        range: Range<usize>,
        length: usize,
        text: String,
    ) -> Self {
        let before = shown.hidden.iter().take_while(|it| it.end <= range.start);
        let hidden_before: usize = before.map(ExactSizeIterator::len).sum();
        let inside =
            shown.hidden.iter().filter(|it| it.start >= range.start && it.end <= range.end);
        Self {
            line: line + 1,
            column: range.start - hidden_before + 1,
            hidden: inside.map(|it| [it.start - range.start, it.end - range.start]).collect(),
            text,
            cut: range.end < length,
            continues: shown.continues,
        }
    }
}

/// The line without a byte order mark, which no column counts.
fn without_mark(line: usize, shown: ShownLine) -> ShownLine {
    match shown.text.strip_prefix('\u{feff}').filter(|_| line == 0) {
        Some(rest) => ShownLine {
            text: rest.to_owned(),
            hidden: shown.hidden.iter().map(|it| it.start - 1..it.end - 1).collect(),
            continues: shown.continues,
        },
        None => shown,
    }
}

/// The character of a line at which a column is; at a secret, where it begins.
fn character_at(column: usize, shown: &ShownLine) -> usize {
    let mut at = column - 1;
    for hidden in &shown.hidden {
        if hidden.start >= at {
            break;
        }
        at += hidden.len();
    }
    at
}

/// The range with all of each `(hidden)` that it has a part of.
fn around_secrets(range: Range<usize>, hidden: &[Range<usize>]) -> Range<usize> {
    let met = |at: usize| hidden.iter().find(|it| it.start < at && at < it.end);
    let start = met(range.start).map_or(range.start, |it| it.start);
    let end = met(range.end).map_or(range.end, |it| it.end);
    start..end
}

impl super::Report {
    /// The lines that a label stands on, with one more on both sides, by
    /// number: those of the decoded text where it stands in one. Of a long line
    /// it is the part that has the label. None where no text may be shown.
    pub(in crate::report) fn lines_around(&self, label: &LabelForm) -> Vec<&Line> {
        let (line, column) = match &label.decoded {
            Some(decoded) => (decoded.line, decoded.column),
            None => (label.line, label.column),
        };
        let Some(text) = self.text_of(label) else { return Vec::new() };
        let mut around: Vec<&Line> = Vec::new();
        for part in text.lines.iter().filter(|it| it.line.abs_diff(line) <= 1) {
            match around.last_mut() {
                Some(last) if last.line == part.line => {
                    if part.line == line && part.column <= column {
                        *last = part;
                    }
                }
                Some(_) | None => around.push(part),
            }
        }
        around
    }

    /// What is kept of the text that a label stands in.
    pub(in crate::report) fn text_of(&self, label: &LabelForm) -> Option<&FileLines> {
        self.lines.get(self.text_number(label)?)
    }

    /// The index of the text that a label stands in: the one it names, or else
    /// the first of its file.
    pub(in crate::report) fn text_number(&self, label: &LabelForm) -> Option<usize> {
        let decoded = label.decoded.as_ref().map(|it| &it.name);
        let is_of = |it: &FileLines| it.file == label.file && it.decoded.as_ref() == decoded;
        let named = label.text.as_deref().and_then(|name| self.line_number(name));
        let named = named.filter(|at| is_of(&self.lines[*at]));
        named.or_else(|| self.lines.iter().position(is_of))
    }
}
