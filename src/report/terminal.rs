//! Findings for people: in full with the lines that matter, or one on a line.
//!
//! miette draws; which lines, and how they may be shown, is settled before in
//! `excerpt`. All excerpts of a finding, of whichever files, are handed to
//! miette as one text of which it asks for parts (`Sheet`), so that they
//! stand one below the other in one finding and no file is searched for
//! lines again.

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use super::counted;
use super::excerpt::{Excerpt, excerpts};
use super::printable::clean;
use super::signs::Signs;
use super::{ChosenSemantics, Style, View, first_few, some_sites, wrap};
use crate::diagnostic::{Diagnostic, Label, Severity, Suppression};
use crate::source::FileId;
use crate::triage::{Counts, Findings, Suppressed};

/// So many findings are shown in full; who has more begins with these, and
/// the others are still there, one on a line.
pub const MOST_IN_FULL: usize = 200;

/// So many labels of one finding are drawn; the others are named.
const MOST_DRAWN: usize = 12;

/// Labels that say the same are drawn for so many files.
const MOST_ALIKE: usize = 2;

/// So many labels of one finding are named.
const MOST_NAMED: usize = 12;

/// Writes all findings in full, each followed by an empty line.
///
/// # Errors
/// Those of `out`.
pub fn write(
    findings: &Findings,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_caused(&told(&findings.diagnostics), &|_| None, view, style, out)
}

/// What is told of a finding, wherever it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    pub(super) rule: &'a str,
    pub(super) severity: Severity,
    pub(super) message: &'a str,
    pub(super) primary: &'a Label,
    pub(super) related: &'a [Label],
    pub(super) notes: &'a [String],
    pub(super) help: Option<&'a str>,
    pub(super) suppressed: Option<&'a Suppression>,
    pub(super) sites: &'a [Arc<str>],
    pub(super) count: usize,
}

/// What is told of findings.
pub(super) fn told(diagnostics: &[Diagnostic]) -> Vec<Told<'_>> {
    diagnostics.iter().map(Told::from).collect()
}

/// Writes findings in full, and says of each what `cause` says of its index.
pub(super) fn write_caused(
    findings: &[Told<'_>],
    cause: &dyn Fn(usize) -> Option<String>,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (in_full, others) = findings.split_at(findings.len().min(MOST_IN_FULL));
    for (at, told) in in_full.iter().enumerate() {
        write_in_full(told, cause(at).as_deref(), view, style, out)?;
    }
    if others.is_empty() {
        return Ok(());
    }
    let more = format!("and {} more, each on one line:", others.len());
    writeln!(out, "{}\n", wrap(&more, style.columns(), "", ""))?;
    write_lines(others, view, style, out)?;
    writeln!(out)
}

/// Writes one line for each finding:
/// `path:line:column: severity[rule] message (sites: ...)`, with how many
/// sites there are where not all are named.
///
/// # Errors
/// Those of `out`.
pub fn write_concise(
    findings: &Findings,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_lines(&told(&findings.diagnostics), view, style, out)
}

/// Writes one line for each finding; see [`write_concise`].
pub(super) fn write_lines(
    findings: &[Told<'_>],
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    findings.iter().try_for_each(|told| write_on_one_line(told, view, style.color, out))
}

impl<'a> From<&'a Diagnostic> for Told<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self {
            rule: diagnostic.rule.name,
            severity: diagnostic.severity,
            message: &diagnostic.message,
            primary: &diagnostic.primary,
            related: &diagnostic.related,
            notes: &diagnostic.notes,
            help: diagnostic.help.as_deref(),
            suppressed: diagnostic.suppressed.as_ref(),
            sites: &diagnostic.sites,
            count: diagnostic.count,
        }
    }
}

/// How much a run had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sites; none for a set without layout.
    pub sites: usize,
    /// Documents, those of each site counted for it.
    pub documents: usize,
    /// Documents rendered.
    pub outputs: usize,
    /// The findings.
    pub counts: Counts,
    /// Those that are not reported.
    pub suppressed: Suppressed,
    /// The meaning of documents, unless a saved report does not name it.
    pub semantics: Option<ChosenSemantics>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Writes the closing line: what was looked at and what was found, in figures.
/// Where that is too much for a line, what was found begins the next.
///
/// # Errors
/// Those of `out`.
pub fn write_totals(totals: &Totals, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let between = Signs::of(style).between;
    let mut looked_at = Vec::new();
    if totals.sites > 0 {
        looked_at.push(counted(totals.sites, "site"));
    }
    looked_at.push(counted(totals.documents, "document"));
    looked_at.push(format!("{} rendered", totals.outputs));
    let mut found = vec![counts_text(&totals.counts)];
    found.extend(suppressed_words(totals.suppressed));
    found.extend(totals.semantics.map(|it| it.to_string()));
    found.push(format!("{:.2}s", totals.elapsed.as_secs_f64()));
    let halves = [looked_at.join(between), found.join(between)];
    let line = halves.join(between);
    if line.chars().count() <= style.columns() {
        return writeln!(out, "{line}");
    }
    halves.iter().try_for_each(|half| writeln!(out, "{}", wrap(half, style.columns(), "", "")))
}

/// How many findings are not reported, and why.
pub(super) fn suppressed_words(suppressed: Suppressed) -> Vec<String> {
    let Suppressed { ignored, accepted } = suppressed;
    let parts = [
        (ignored, format!("{ignored} ignored")),
        (accepted, format!("{accepted} in the baseline")),
    ];
    parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect()
}

/// Writes how many findings there are of each severity, without a line break.
///
/// # Errors
/// Those of `out`.
pub fn write_counts(counts: &Counts, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(counts_text(counts).as_bytes())
}

fn counts_text(counts: &Counts) -> String {
    let of = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
    let found: Vec<String> = of
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, it)| counted(count, it))
        .collect();
    if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") }
}

fn write_on_one_line(
    told: &Told<'_>,
    view: &View<'_>,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let place = place_text(told.primary, view);
    let kind = kind_text(told);
    let kind = Ink::of(told.severity).paint(&kind, color);
    write!(out, "{place}: {kind} {}", clean(told.message))?;
    if !told.sites.is_empty() {
        let (word, sites) = some_sites(told.sites);
        write!(out, " ({word}: {sites})")?;
    }
    if let Some(decoded) = view.place(told.primary.span).decoded {
        write!(out, " (decoded, {}:{})", decoded.line, decoded.column)?;
    }
    if told.suppressed.is_some() {
        write!(out, " (ignored)")?;
    }
    writeln!(out)
}

fn write_in_full(
    told: &Told<'_>,
    cause: Option<&str>,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let kind = format!("{}:", kind_text(told));
    let headline = format!("{kind} {}", clean(told.message));
    let ink = Ink::of(told.severity);
    write_paragraph(&kind, &headline, "  ", ink, style, out)?;
    let (repeated, others): (Vec<&Label>, Vec<&Label>) = told
        .related
        .iter()
        .partition(|label| label.message == told.primary.message && !label.message.is_empty());
    let (drawn, named) = drawn_and_named(others);
    let labels: Vec<&Label> = std::iter::once(told.primary).chain(drawn).collect();
    out.write_all(drawing(&labels, told.severity, view, style).as_bytes())?;
    let item = |word: &str, text: &str, ink: Ink, out: &mut dyn Write| {
        let first = format!("  {word}:");
        let rest = " ".repeat(first.len() + 1);
        write_paragraph(&first, &format!("{first} {}", clean(text)), &rest, ink, style, out)
    };
    if !repeated.is_empty() {
        item("also", &places_text(&repeated, view), Ink::Bold, out)?;
    }
    for label in named.iter().take(MOST_NAMED) {
        let text = format!("{}: {}", place_text(label, view), label.message);
        item("also", &text, Ink::Bold, out)?;
    }
    if named.len() > MOST_NAMED {
        let more = format!("at {}", counted(named.len() - MOST_NAMED, "more place"));
        item("also", &more, Ink::Bold, out)?;
    }
    for note in told.notes {
        item("note", note, Ink::Bold, out)?;
    }
    if let Some(help) = told.help {
        item("help", help, Ink::Cyan, out)?;
    }
    if !told.sites.is_empty() {
        let (word, sites) = some_sites(told.sites);
        item(&word, &sites, Ink::Bold, out)?;
    }
    if let Some(suppression) = told.suppressed {
        item("ignored", &suppression_text(suppression, view), Ink::Bold, out)?;
    }
    if let Some(cause) = cause {
        item("caused by", cause, Ink::Bold, out)?;
    }
    writeln!(out)
}

/// The labels beside the first that are drawn, and those that are named. Where
/// many files of many sites have the same to show, some are enough.
fn drawn_and_named(related: Vec<&Label>) -> (Vec<&Label>, Vec<&Label>) {
    let mut files: HashMap<&str, BTreeSet<FileId>> = HashMap::new();
    let (mut drawn, mut named) = (Vec::new(), Vec::new());
    for label in related {
        let alike = files.entry(&label.message).or_default();
        alike.insert(label.span.file);
        let is_drawn = drawn.len() < MOST_DRAWN - 1 && alike.len() <= MOST_ALIKE;
        if is_drawn { &mut drawn } else { &mut named }.push(label);
    }
    (drawn, named)
}

/// What says that a finding is not reported.
fn suppression_text(suppression: &Suppression, view: &View<'_>) -> String {
    let place = view.place(suppression.at());
    let at = format!("{}:{}", clean(place.path.as_str()), place.line);
    match suppression {
        Suppression::Comment { reason, .. } if reason.is_empty() => format!("by {at}"),
        Suppression::Comment { reason, .. } => format!("by {at}: {reason}"),
        Suppression::Baseline { .. } => format!("by the baseline, {at}"),
    }
}

/// Writes `text`, wrapped, with its beginning `word` painted.
fn write_paragraph(
    word: &str,
    text: &str,
    rest: &str,
    ink: Ink,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let indent = &text[..text.len() - text.trim_start().len()];
    let wrapped = wrap(text.trim_start(), style.columns(), indent, rest);
    match wrapped.strip_prefix(word) {
        Some(after) => writeln!(out, "{}{after}", ink.paint(word, style.color)),
        None => writeln!(out, "{wrapped}"),
    }
}

fn kind_text(told: &Told<'_>) -> String {
    format!("{}[{}]", told.severity.as_str(), clean(told.rule))
}

/// The first of the places at which is the same as at the primary one.
fn places_text(labels: &[&Label], view: &View<'_>) -> String {
    let (places, more) = first_few(labels, |label| place_text(label, view));
    match more {
        0 => places,
        more => format!("{places} and {}", counted(more, "more place")),
    }
}

fn place_text(label: &Label, view: &View<'_>) -> String {
    let place = view.place(label.span);
    format!("{}:{}:{}", clean(place.path.as_str()), place.line, place.column)
}

/// A colour, as terminals know it by number.
#[derive(Clone, Copy)]
pub(super) enum Ink {
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
}

impl Ink {
    fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Ink::Red,
            Severity::Warning => Ink::Yellow,
            Severity::Note => Ink::Cyan,
        }
    }

    pub(super) fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Ink::Red => "1;31",
            Ink::Green => "1;32",
            Ink::Yellow => "1;33",
            Ink::Cyan => "1;36",
            Ink::Bold => "1",
        };
        if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The excerpts at `labels`, the primary one first, as miette draws them.
fn drawing(labels: &[&Label], severity: Severity, view: &View<'_>, style: &Style) -> String {
    let sheet = Sheet::new(excerpts(labels, view, style));
    let handler = GraphicalReportHandler::new_themed(theme(&sheet, severity, style))
        .with_width(style.columns())
        .with_context_lines(1)
        .with_links(style.links)
        .without_syntax_highlighting();
    let mut text = String::new();
    handler.render_report(&mut text, &sheet).expect("strings take text, and excerpts have spans");
    // The first line is miette's headline; ours is at the edge, has the rule
    // and stands there already.
    text.split_once('\n').map(|(_, drawing)| drawing.to_owned()).unwrap_or_default()
}

fn theme(sheet: &Sheet, severity: Severity, style: &Style) -> GraphicalTheme {
    let mut theme = match (style.color, style.unicode) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::ascii(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let primary = match severity {
        Severity::Error => theme.styles.error,
        Severity::Warning => theme.styles.warning,
        Severity::Note => theme.styles.advice,
    };
    let other = theme.styles.help;
    let marks = sheet.excerpts.iter().flat_map(|(_, excerpt)| &excerpt.marks);
    theme.styles.highlights =
        marks.map(|mark| if mark.primary { primary } else { other }).collect();
    theme
}

/// The excerpts of one finding, one after the other, as one text: what miette
/// calls a source and a diagnostic.
#[derive(Debug)]
struct Sheet {
    /// Each with the byte at which it begins.
    excerpts: Vec<(usize, Excerpt)>,
}

impl Sheet {
    fn new(excerpts: Vec<Excerpt>) -> Self {
        let mut end = 0;
        let placed = excerpts.into_iter().map(|excerpt| {
            let start = end;
            end += excerpt.text.len();
            (start, excerpt)
        });
        Self { excerpts: placed.collect() }
    }
}

impl SourceCode for Sheet {
    /// The excerpt that holds `span`, whole; never two, so that miette does
    /// not make one of them. Where no context is asked for, it is the place
    /// of the foremost label that miette wants to know.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let index = self.excerpts.partition_point(|(start, _)| *start <= span.offset());
        let found = index.checked_sub(1).and_then(|index| self.excerpts.get(index));
        let (start, excerpt) = found.ok_or(MietteError::OutOfBounds)?;
        if span.offset() + span.len() > start + excerpt.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let (line, column) = match (before, after) {
            (0, 0) => (excerpt.line - 1, excerpt.column - 1),
            _ => (excerpt.first_line, 0),
        };
        Ok(Box::new(MietteSpanContents::new_named(
            excerpt.path.clone(),
            excerpt.text.as_bytes(),
            (*start, excerpt.text.len()).into(),
            line,
            column,
            excerpt.text.matches('\n').count(),
        )))
    }
}

impl miette::Diagnostic for Sheet {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.excerpts.iter().flat_map(|(start, excerpt)| {
            excerpt.marks.iter().map(move |mark| {
                let span = (start + mark.range.start, mark.range.len());
                let text = (!mark.message.is_empty()).then(|| mark.message.clone());
                if mark.foremost {
                    LabeledSpan::new_primary_with_span(text, span)
                } else {
                    LabeledSpan::new_with_span(text, span)
                }
            })
        })))
    }
}

impl Display for Sheet {
    /// Nothing: the headline is not miette's.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Sheet {}
