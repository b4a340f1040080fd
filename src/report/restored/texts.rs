//! Texts of which only some lines are known, at their numbers, so that whatever
//! looks at texts finds in them what a saved report tells.
//!
//! A line that is not known is empty and counts as the rest of a secret, which
//! nothing shows; what is not known of a known line is filled with dots. A
//! place outside of what is known gets a line and columns of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::report::View;
use crate::report::json::{
    ByForm, DecodedPlace, FileLines, LabelForm, Line, PlaceForm, Report, SuppressionForm,
    Unreadable,
};
use crate::source::{FileId, RepoPath, Source, SourceMap, Span, offset};

/// What stands where something is not known.
const UNKNOWN: char = '…';

/// So many bytes all texts may take together.
const MOST_BYTES: u64 = 2 * Source::MAX_BYTES;

/// So many columns are counted to find all places: those of ten thousand labels
/// at the end of lines of a book each.
const MOST_COLUMNS: usize = 1 << 28;

/// The place of what is not pointed at: in the first of all texts, which is empty
/// and holds no secret.
pub(super) const NOWHERE: Span = Span::point(FileId(0), 0);

/// The texts of a saved report.
#[derive(Debug)]
pub(super) struct Texts {
    sources: SourceMap,
    secrets: Vec<Span>,
    opaque: Vec<FileId>,
    known: BTreeMap<Name, Known>,
}

/// Which text a place is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    /// What the text is called.
    path: String,
    /// Where it stands encoded, if it does: file, line and column.
    written: Option<(String, usize, usize)>,
    /// Its index among those of which the report keeps lines.
    kept: Option<usize>,
}

/// Where a place is said to be; lines and columns from one.
#[derive(Clone, Debug)]
pub(super) struct Position {
    text: Name,
    start: (usize, usize),
    end: (usize, usize),
    /// Whether it goes on over a secret at its end.
    covers_hidden: bool,
}

impl Position {
    pub(super) fn of_label(label: &LabelForm, report: &Report) -> Self {
        let at = (label.line, label.column);
        let text = Name {
            kept: report.text_number(label),
            ..Name::of(&label.file, at, label.decoded.as_ref().map(|it| &*it.name))
        };
        let (start, end) = match &label.decoded {
            Some(it) => ((it.line, it.column), (it.end_line, it.end_column)),
            None => (at, (label.end_line, label.end_column)),
        };
        Self { text, start, end, covers_hidden: label.covers_hidden }
    }

    pub(super) fn of_place(place: &PlaceForm) -> Self {
        Self::at(&place.file, (place.line, place.col), place.decoded.as_ref())
    }

    pub(super) fn of_stop(by: &ByForm) -> Self {
        Self::at(&by.file, (by.line, by.col), by.decoded.as_ref())
    }

    pub(super) fn of_suppression(suppression: &SuppressionForm) -> Self {
        Self::at(&suppression.file, (suppression.line, 1), None)
    }

    fn at(file: &str, at: (usize, usize), decoded: Option<&DecodedPlace>) -> Self {
        let text = Name::of(file, at, decoded.map(|it| &*it.name));
        let start = decoded.map_or(at, |it| (it.line, it.col));
        Self { text, start, end: start, covers_hidden: false }
    }

    /// The place at which the text of this one stands encoded.
    fn around(&self) -> Option<Self> {
        let (file, line, column) = self.text.written.as_ref()?;
        Some(Self::at(file, (*line, *column), None))
    }
}

impl Name {
    /// The file, or the text that stands in it encoded at a place.
    fn of(file: &str, at: (usize, usize), decoded: Option<&str>) -> Self {
        Self {
            path: decoded.unwrap_or(file).to_owned(),
            written: decoded.map(|_| (file.to_owned(), at.0, at.1)),
            kept: None,
        }
    }
}

/// All places that a report tells of.
fn positions(report: &Report) -> impl Iterator<Item = Position> + '_ {
    let labels = report.findings.iter().flat_map(|it| it.related.iter().chain([&it.primary]));
    let labels = labels.map(|label| Position::of_label(label, report));
    let suppressed = report.findings.iter().filter_map(|it| it.suppressed.as_ref());
    let sides = report.edits.iter().flat_map(|edit| edit.at.from.iter().chain(&edit.at.to));
    let steps = report.routes.iter().flat_map(|route| &route.steps).flat_map(|step| &step.at);
    let stops = report.shields.iter().map(|shield| Position::of_stop(&shield.by));
    let places = sides.chain(steps).map(Position::of_place);
    labels.chain(suppressed.map(Position::of_suppression)).chain(places).chain(stops)
}

/// What a text has to have.
#[derive(Default)]
struct Draft<'a> {
    kept: Option<&'a FileLines>,
    written: Option<Position>,
    /// By line, the furthest column that a place has on it.
    columns: BTreeMap<usize, usize>,
}

/// A text as it was made.
#[derive(Debug)]
struct Known {
    file: FileId,
    is_withheld: bool,
    /// By number from one: those with places.
    lines: BTreeMap<usize, KnownLine>,
}

/// A line with places.
#[derive(Debug)]
struct KnownLine {
    bytes: Range<u32>,
    /// The secrets in it.
    hidden: Vec<Range<u32>>,
}

impl Texts {
    /// The texts of a report.
    ///
    /// # Errors
    /// Where they would be larger than those of any repository.
    pub(super) fn of(report: &Report) -> Result<Self, Unreadable> {
        let drafts = drafts(report)?;
        let mut texts = Self {
            sources: SourceMap::new(),
            secrets: Vec::new(),
            opaque: Vec::new(),
            known: BTreeMap::new(),
        };
        texts.sources.add(Source::new(RepoPath::new(""), Ok(Vec::new())));
        // A text that is encoded refers to the one it stands in.
        let (files, decoded): (Vec<_>, Vec<_>) =
            drafts.into_iter().partition(|(_, draft)| draft.written.is_none());
        for (name, draft) in files.into_iter().chain(decoded) {
            texts.add(name, &draft);
        }
        Ok(texts)
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.sources, &self.secrets, &self.opaque)
    }

    /// The span of a place of the report. As much of it as is on its first line,
    /// which is all that is shown.
    pub(super) fn span(&self, position: &Position) -> Span {
        let known = &self.known[&position.text];
        let (line, column) = position.start;
        let start = self.offset(known, line, column);
        let on_line = &known.lines[&line];
        let end = match position.end {
            (end_line, column) if end_line == line => self.offset(known, line, column),
            _ => on_line.bytes.end,
        };
        let end = match position.covers_hidden {
            true if known.is_withheld => on_line.bytes.end,
            true => {
                let over = on_line.hidden.iter().find(|it| it.start == end);
                over.map_or(end, |hidden| hidden.end)
            }
            false => end,
        };
        Span::new(known.file, start, end.max(start))
    }

    /// The byte at a column of a line; at a secret, where that begins.
    fn offset(&self, known: &Known, line: usize, column: usize) -> u32 {
        let text = self.sources.get(known.file).text();
        let KnownLine { bytes, hidden } = &known.lines[&line];
        let (mut from, mut left) = (bytes.start, column - 1);
        for secret in hidden {
            let before = &text[from as usize..secret.start as usize];
            if let Some((at, _)) = before.char_indices().nth(left) {
                return from + offset(at);
            }
            left -= before.chars().count();
            if left == 0 {
                return secret.start;
            }
            from = secret.end;
        }
        let rest = &text[from as usize..bytes.end as usize];
        rest.char_indices().nth(left).map_or(bytes.end, |(at, _)| from + offset(at))
    }

    fn add(&mut self, name: Name, draft: &Draft<'_>) {
        let file = self.sources.upcoming();
        let (text, lines) = self.written_out(file, draft);
        let path = RepoPath::new(&*name.path);
        let source = match &draft.written {
            Some(written) => Source::decoded(path, text.into_bytes(), self.span(written)),
            None => Source::new(path, Ok(text.into_bytes())),
        };
        self.sources.add(source);
        let is_withheld = draft.kept.is_some_and(|kept| kept.withheld);
        if is_withheld {
            self.opaque.push(file);
        }
        self.known.insert(name, Known { file, is_withheld, lines });
    }

    /// The text of a draft, and where its lines with places are; its secrets are
    /// added to all of them.
    fn written_out(
        &mut self,
        file: FileId,
        draft: &Draft<'_>,
    ) -> (String, BTreeMap<usize, KnownLine>) {
        let parts = draft.parts();
        // Where nothing may be shown there is still something to point at.
        let beyond = usize::from(draft.kept.is_some_and(|kept| kept.withheld));
        let mut writing = Writing { file, text: String::new(), secrets: &mut self.secrets };
        let mut lines = BTreeMap::new();
        let last = draft.last_line();
        for line in 1..=last {
            match (parts.get(&line), draft.columns.get(&line)) {
                (None, None) => writing.skip(draft.kept.is_some_and(|it| !it.withheld)),
                (parts, furthest) => {
                    let parts = parts.map_or(&[][..], Vec::as_slice);
                    let known = writing.line(parts, furthest.copied().unwrap_or(1) + beyond);
                    if furthest.is_some() {
                        lines.insert(line, known);
                    }
                    // Nothing after the last line break is no line of a text.
                    if line < last || !parts.is_empty() {
                        writing.text.push('\n');
                    }
                }
            }
        }
        (writing.text, lines)
    }
}

/// A text that is written line by line.
struct Writing<'a> {
    file: FileId,
    text: String,
    secrets: &'a mut Vec<Span>,
}

impl Writing<'_> {
    /// A line of which nothing is known; in a text of which lines are, it is
    /// hidden with the line break before it. Its own is not: what is hidden
    /// behind that begins there, unless it says otherwise.
    fn skip(&mut self, is_hidden: bool) {
        if is_hidden {
            let start = self.text.len().saturating_sub(1);
            self.text.push(' ');
            self.hide(start, self.text.len());
        }
        self.text.push('\n');
    }

    /// A line of these parts, filled up to the column `furthest`; the line break
    /// is not written.
    fn line(&mut self, parts: &[&Line], furthest: usize) -> KnownLine {
        if self.text.is_empty() && parts.first().is_some_and(|it| it.text.starts_with('\u{feff}')) {
            // A text that begins so is taken for one with a byte order mark.
            self.text.push('\u{feff}');
        }
        let (start, mut column, mut hidden) = (self.text.len(), 1, Vec::new());
        for part in parts {
            self.fill(UNKNOWN, part.column.saturating_sub(column));
            let at = self.text.len();
            self.text.push_str(&part.text);
            let stretches = hidden_bytes(part).map(|it| at + it.start..at + it.end);
            let stretches: Vec<Range<usize>> = stretches.collect();
            let masked: usize = part.hidden.iter().map(|[start, end]| end - start).sum();
            column = column.max(part.column) + part.text.chars().count() - masked;
            if let Some(first) = stretches.first().filter(|it| part.continues && it.start == start)
            {
                self.hide(start.saturating_sub(1), first.end);
            }
            for stretch in stretches {
                self.hide(stretch.start, stretch.end);
                hidden.push(offset(stretch.start)..offset(stretch.end));
            }
        }
        match parts.last() {
            Some(last) if last.cut => self.fill(UNKNOWN, furthest.saturating_sub(column).max(1)),
            // Behind all that is shown there can be the first half of a line break.
            Some(last) => {
                let is_needed = usize::from(last.text.ends_with('\r'));
                self.fill('\r', furthest.saturating_sub(column).max(is_needed));
            }
            None => self.fill(UNKNOWN, furthest.saturating_sub(column)),
        }
        KnownLine { bytes: offset(start)..offset(self.text.len()), hidden }
    }

    fn fill(&mut self, with: char, count: usize) {
        self.text.extend(std::iter::repeat_n(with, count));
    }

    fn hide(&mut self, start: usize, end: usize) {
        self.secrets.push(Span::new(self.file, offset(start), offset(end)));
    }
}

/// Where the secrets of a part are, in bytes.
fn hidden_bytes(part: &Line) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut characters = part.text.char_indices().map(|(at, _)| at).chain([part.text.len()]);
    let mut next = 0;
    part.hidden.iter().filter_map(move |[start, end]| {
        let start_byte = characters.nth(start.checked_sub(next)?)?;
        let end_byte = characters.nth(end.checked_sub(start + 1)?)?;
        next = end + 1;
        Some(start_byte..end_byte)
    })
}

/// What each text has to have, of a size that texts of repositories have.
fn drafts(report: &Report) -> Result<BTreeMap<Name, Draft<'_>>, Unreadable> {
    let mut drafts: BTreeMap<Name, Draft<'_>> = BTreeMap::new();
    let mut columns = 0_usize;
    for position in positions(report) {
        if let Some(around) = position.around() {
            columns = columns.saturating_add(around.start.1);
            drafts.entry(around.text.clone()).or_default().take(&around);
        }
        columns = columns.saturating_add(position.start.1).saturating_add(position.end.1);
        let draft = drafts.entry(position.text.clone()).or_default();
        draft.kept = position.text.kept.and_then(|number| report.lines.get(number));
        draft.take(&position);
    }
    let sizes = drafts.values().map(Draft::bytes);
    let is_large = sizes.clone().any(|size| size > Source::MAX_BYTES);
    let all = sizes.fold(0_u64, u64::saturating_add);
    if is_large || all > MOST_BYTES || columns > MOST_COLUMNS {
        return Err(Unreadable::TooFar);
    }
    Ok(drafts)
}

impl<'a> Draft<'a> {
    fn take(&mut self, position: &Position) {
        let (line, column) = position.start;
        let end = if position.end.0 == line { position.end.1 } else { column };
        let furthest = self.columns.entry(line).or_default();
        *furthest = column.max(end).max(*furthest);
        if self.written.is_none() {
            self.written = position.around();
        }
    }

    fn last_line(&self) -> usize {
        let kept = self.kept.and_then(|it| it.lines.last()).map_or(0, |it| it.line);
        let placed = self.columns.last_key_value().map_or(0, |(line, _)| *line);
        kept.max(placed)
    }

    /// How many bytes it takes at most.
    fn bytes(&self) -> u64 {
        let kept = self.kept.into_iter().flat_map(|it| &it.lines);
        let kept = kept.map(|part| part.text.len() as u64 + 3 * part.column as u64);
        let filled = self.columns.values().map(|furthest| 3 * (*furthest as u64 + 1));
        let all = kept.chain(filled).fold(2 * self.last_line() as u64, u64::saturating_add);
        all.saturating_add("\u{feff}".len() as u64)
    }

    /// The parts that are known, by line.
    fn parts(&self) -> BTreeMap<usize, Vec<&'a Line>> {
        let mut parts: BTreeMap<usize, Vec<&Line>> = BTreeMap::new();
        let kept = self.kept.filter(|it| !it.withheld);
        for part in kept.into_iter().flat_map(|it| &it.lines) {
            parts.entry(part.line).or_default().push(part);
        }
        parts
    }
}
