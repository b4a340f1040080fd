//! Source lines of findings: the lines of their labels with one line of context on each side,
//! secrets hidden. Of a long line, only the parts around its labels are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::id::TextRef;
use super::is_default;
use crate::diagnostic::{Diagnostic, Label};
use crate::report::View;
use crate::report::view::ShownLine;
use crate::source::{FileId, Span};

/// Maximum length in characters of a line that is kept completely.
const MAX_WHOLE_LINE: usize = 800;

/// Number of characters kept before and after the start of a label on a longer line: more than any
/// terminal shows.
const MAX_CHARACTERS_BESIDE_LABEL: usize = 400;

/// Kept lines of a file or of decoded content.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FileLines {
    /// Id in this report.
    pub(crate) id: TextRef,
    /// File in the repository.
    pub(crate) file: String,
    /// Name of the decoded content, if the file contains it encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<String>,
    /// Whether nothing may be shown, since it may hold undetected secrets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) withheld: bool,
    /// Lines by number; several parts of a line by column.
    pub(crate) lines: Vec<SourceLine>,
}

/// One line, or a part of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Line")]
pub(crate) struct SourceLine {
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Column at which the text begins, in the unit of labels.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) column: usize,
    /// The text, without a line break; `(hidden)` replaces a secret.
    pub(crate) text: String,
    /// Ranges of `(hidden)` in the text: start and end of each, in characters from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hidden: Vec<[usize; 2]>,
    /// Whether the line continues after the text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) cut: bool,
    /// Whether the line begins inside a secret.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) continues: bool,
}

fn one() -> usize {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_one(column: &usize) -> bool {
    *column == 1
}

/// Collects the lines of all labels of findings.
#[derive(Default)]
pub(super) struct LineCollector {
    /// Index into `lines` by file.
    places: BTreeMap<FileId, usize>,
    pub(super) lines: Vec<FileLines>,
}

/// Lines to keep of a file, from 0.
type WantedLines = BTreeMap<usize, WantedLine>;

/// Parts of a line to keep.
#[derive(Default)]
struct WantedLine {
    /// Start columns of labels on the line.
    columns: BTreeSet<usize>,
    /// Whether the line is context of a label, and is kept from its start.
    is_beside: bool,
}

impl LineCollector {
    /// Returns the id of the lines for a label in this file.
    pub(super) fn name_of(&self, file: FileId) -> Option<TextRef> {
        self.places.get(&file).map(|at| TextRef::at(*at))
    }

    /// Collects the lines of all labels of these findings.
    pub(super) fn of<'a>(
        diagnostics: impl Iterator<Item = &'a Diagnostic>,
        view: &View<'_>,
    ) -> Self {
        let mut wanted: BTreeMap<FileId, WantedLines> = BTreeMap::new();
        for label in diagnostics.flat_map(shown) {
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
            texts
                .lines
                .push(FileLines::new(TextRef::at(at), file, &lines, view));
        }
        texts
    }
}

/// Returns the labels whose lines are shown; labels that repeat the primary message are omitted.
fn shown(diagnostic: &Diagnostic) -> impl Iterator<Item = &Label> {
    let primary = &diagnostic.primary;
    std::iter::once(primary).chain(
        diagnostic
            .related
            .iter()
            .filter(|label| label.message.is_empty() || label.message != primary.message),
    )
}

impl FileLines {
    fn new(id: TextRef, file: FileId, wanted: &WantedLines, view: &View<'_>) -> Self {
        let written = view
            .written(Span {
                file,
                start: 0,
                end: 0,
            })
            .file;
        let name = |file| view.source(file).path().as_str().to_owned();
        let lines = wanted.iter().flat_map(|(line, wanted)| {
            // The rest of a secret is not shown as context.
            let shown = view
                .shown_line(file, *line)
                .filter(|it| !it.continues || !wanted.columns.is_empty());
            shown
                .map(|shown| SourceLine::parts(*line, shown, wanted))
                .unwrap_or_default()
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

impl SourceLine {
    /// Creates a line without text.
    pub(crate) fn empty(line: usize) -> Self {
        let text = String::new();
        Self {
            line,
            column: 1,
            text,
            hidden: Vec::new(),
            cut: false,
            continues: false,
        }
    }

    /// Returns the parts to keep of a line (from 0).
    fn parts(line: usize, shown: ShownLine, wanted: &WantedLine) -> Vec<Self> {
        let shown = without_bom(line, shown);
        let length = shown.text.chars().count();
        if length <= MAX_WHOLE_LINE {
            return vec![Self::part(
                line,
                &shown,
                0..length,
                length,
                shown.text.clone(),
            )];
        }
        let start = wanted.is_beside.then_some(0);
        let labels = wanted.columns.iter().map(|it| character_at(*it, &shown));
        let mut kept: Vec<Range<usize>> = Vec::new();
        for focus in start.into_iter().chain(labels) {
            let range = focus.saturating_sub(MAX_CHARACTERS_BESIDE_LABEL)
                ..(focus + MAX_CHARACTERS_BESIDE_LABEL).min(length);
            let range = including_secrets(range, &shown.hidden);
            match kept.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => kept.push(range),
            }
        }
        // Sequentially, so that the line is iterated only once.
        let mut characters = shown.text.chars();
        let mut at = 0;
        kept.into_iter()
            .map(|range| {
                let text = characters
                    .by_ref()
                    .skip(range.start - at)
                    .take(range.len())
                    .collect();
                at = range.end;
                Self::part(line, &shown, range, length, text)
            })
            .collect()
    }

    /// Creates the part of a line that has the characters `range`.
    fn part(
        line: usize,
        shown: &ShownLine,
        range: Range<usize>,
        length: usize,
        text: String,
    ) -> Self {
        let before = shown.hidden.iter().take_while(|it| it.end <= range.start);
        let hidden_before: usize = before.map(ExactSizeIterator::len).sum();
        let inside = shown
            .hidden
            .iter()
            .filter(|it| it.start >= range.start && it.end <= range.end);
        Self {
            line: line + 1,
            column: range.start - hidden_before + 1,
            hidden: inside
                .map(|it| [it.start - range.start, it.end - range.start])
                .collect(),
            text,
            cut: range.end < length,
            continues: shown.continues,
        }
    }
}

/// Removes the byte order mark, which is not counted in columns.
fn without_bom(line: usize, shown: ShownLine) -> ShownLine {
    match shown.text.strip_prefix('\u{feff}').filter(|_| line == 0) {
        Some(rest) => ShownLine {
            text: rest.to_owned(),
            hidden: shown
                .hidden
                .iter()
                .map(|it| it.start - 1..it.end - 1)
                .collect(),
            continues: shown.continues,
        },
        None => shown,
    }
}

/// Returns the character index of a column; for a secret, of its start.
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

/// Extends a range to the ends of each `(hidden)` that it overlaps.
fn including_secrets(range: Range<usize>, hidden: &[Range<usize>]) -> Range<usize> {
    let enclosing = |at: usize| hidden.iter().find(|it| it.start < at && at < it.end);
    let start = enclosing(range.start).map_or(range.start, |it| it.start);
    let end = enclosing(range.end).map_or(range.end, |it| it.end);
    start..end
}

impl FileLines {
    /// Returns the lines `first` to `last` by number. Of a line that is kept in parts, returns the
    /// part that contains column `at.1` if it is line `at.0`, or else the first part.
    pub(crate) fn between(
        &self,
        first: usize,
        last: usize,
        line: usize,
        column: usize,
    ) -> Vec<&SourceLine> {
        let mut lines: Vec<&SourceLine> = Vec::new();
        for part in self
            .lines
            .iter()
            .filter(|it| (first..=last).contains(&it.line))
        {
            match lines.last_mut() {
                Some(known) if known.line == part.line => {
                    if part.line == line && part.column <= column {
                        *known = part;
                    }
                }
                Some(_) | None => lines.push(part),
            }
        }
        lines
    }
}
