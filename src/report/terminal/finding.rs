//! A finding in full: message, source excerpts drawn by miette, notes and help.
//!
//! All excerpts of a finding are passed to miette as one source (`ExcerptSource`), so that excerpts
//! of several files are drawn below each other.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::io::{self, Write};

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use super::excerpt::{Excerpt, excerpts};
use super::{TerminalPage, role};
use crate::diagnostic::Severity;
use crate::report::model::{Finding, LabelledPlace};
use crate::report::story::{FindingEntry, describe_place, labelled};
use crate::report::text::{StyledText, TextLink, TextPiece, TextRole};
use crate::report::{TerminalStyle, and_more_of, counted, first_few};

/// Maximum number of labels of one finding that are drawn; others are listed.
const MAX_DRAWN: usize = 12;

/// Maximum number of labels of one finding that are listed.
const MAX_NAMED: usize = 12;

impl<'r> TerminalPage<'_, 'r> {
    pub(super) fn write_finding(
        &self,
        entry: &FindingEntry<'r>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let finding = entry.finding;
        let headline = self.kind(finding, ":").and(" ").and(&finding.message);
        writeln!(out, "{}", self.painter.paragraph(&headline, "", "  "))?;
        let (repeated, others): (Vec<&LabelledPlace>, Vec<&LabelledPlace>) = finding
            .related
            .iter()
            .partition(|label| label.label == finding.primary.label && !label.label.is_empty());
        let (drawn, named) = drawn_and_named(others);
        let labels: Vec<&LabelledPlace> = std::iter::once(&finding.primary).chain(drawn).collect();
        out.write_all(self.drawing(&labels, finding.severity).as_bytes())?;
        if !repeated.is_empty() {
            let (places, more) = first_few(&repeated, |label| describe_place(label));
            let text = StyledText::plain(places).and(and_more_of(more, "place"));
            self.write_item("also", TextRole::Strong, &text, out)?;
        }
        for label in named.iter().take(MAX_NAMED) {
            self.write_item(
                "also",
                TextRole::Strong,
                &StyledText::plain(labelled(label)),
                out,
            )?;
        }
        if named.len() > MAX_NAMED {
            let more = format!("at {}", counted(named.len() - MAX_NAMED, "more place"));
            self.write_item("also", TextRole::Strong, &StyledText::plain(more), out)?;
        }
        for note in &finding.notes {
            self.write_item("note", TextRole::Strong, &StyledText::plain(note), out)?;
        }
        if let Some(help) = &finding.help {
            self.write_item("help", TextRole::Note, &StyledText::plain(help), out)?;
        }
        let further = [
            ("in", &entry.sites),
            ("ignored", &entry.suppressed),
            ("caused by", &entry.causes),
        ];
        for (word, text) in further.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.write_item(word, TextRole::Strong, text, out)?;
        }
        writeln!(out)
    }

    /// Formats the severity and the rule of a finding, followed by `end`; the name of the rule
    /// links to its page.
    pub(super) fn kind(&self, finding: &Finding, end: &str) -> StyledText {
        let role = role(finding.severity);
        let level = finding.severity.as_str();
        let rule = &finding.rule;
        let page = TextLink::Rule(rule.clone());
        if self.painter.address(&page).is_none() {
            return StyledText::of(role, format!("{level}[{rule}]{end}"));
        }
        let name = TextPiece {
            text: rule.clone(),
            role,
            link: Some(page),
        };
        let mut text = StyledText::of(role, format!("{level}["));
        text.pieces.push(name);
        text.then(role, format!("]{end}"))
    }

    fn write_item(
        &self,
        word: &str,
        role: TextRole,
        text: &StyledText,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let first = format!("  {}: ", self.painter.words(role, word));
        let rest = " ".repeat(word.len() + 4);
        writeln!(out, "{}", self.painter.paragraph(text, &first, &rest))
    }

    /// Draws the excerpts at `labels`, the primary one first, with miette.
    fn drawing(&self, labels: &[&LabelledPlace], severity: Severity) -> String {
        let style = self.painter.style;
        let sheet = ExcerptSource::new(excerpts(labels, self.story.report, style));
        let handler = GraphicalReportHandler::new_themed(theme(&sheet, severity, style))
            .with_width(style.columns())
            .with_context_lines(1)
            .with_links(false)
            .without_syntax_highlighting();
        let mut text = String::new();
        handler
            .render_report(&mut text, &sheet)
            .expect("writing to a string cannot fail, and excerpts have spans");
        // The first line is miette's headline, which ours replaces.
        text.split_once('\n')
            .map(|(_, drawing)| drawing.to_owned())
            .unwrap_or_default()
    }
}

/// Splits the related labels into those to draw and those to list. If several files have the same
/// label, only that in the first is drawn.
fn drawn_and_named(related: Vec<&LabelledPlace>) -> (Vec<&LabelledPlace>, Vec<&LabelledPlace>) {
    let mut files: HashMap<&str, &str> = HashMap::new();
    let mut drawn = Vec::new();
    let mut named = Vec::new();
    for label in related {
        let first = *files.entry(&label.label).or_insert(&label.file);
        let is_drawn = drawn.len() < MAX_DRAWN - 1 && *label.file == *first;
        if is_drawn { &mut drawn } else { &mut named }.push(label);
    }
    (drawn, named)
}

fn theme(sheet: &ExcerptSource, severity: Severity, style: &TerminalStyle) -> GraphicalTheme {
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
    let marks = sheet
        .excerpts
        .iter()
        .flat_map(|(_, excerpt)| &excerpt.marks);
    theme.styles.highlights = marks
        .map(|mark| if mark.primary { primary } else { other })
        .collect();
    theme
}

/// Excerpts of one finding, concatenated: a source and a diagnostic for miette.
#[derive(Debug)]
struct ExcerptSource {
    /// Excerpts with their start offsets in bytes.
    excerpts: Vec<(usize, Excerpt)>,
}

impl ExcerptSource {
    fn new(excerpts: Vec<Excerpt>) -> Self {
        let mut end = 0;
        let placed = excerpts.into_iter().map(|excerpt| {
            let start = end;
            end += excerpt.text.len();
            (start, excerpt)
        });
        Self {
            excerpts: placed.collect(),
        }
    }
}

impl SourceCode for ExcerptSource {
    /// Returns the complete excerpt that contains `span`; never two, so that miette does not merge
    /// them. Without context, miette is asking for the place of the foremost label.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let index = self
            .excerpts
            .partition_point(|(start, _)| *start <= span.offset());
        let found = index
            .checked_sub(1)
            .and_then(|index| self.excerpts.get(index));
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

impl miette::Diagnostic for ExcerptSource {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.excerpts.iter().flat_map(
            |(start, excerpt)| {
                excerpt.marks.iter().map(move |mark| {
                    let span = (start + mark.range.start, mark.range.len());
                    let text = (!mark.message.is_empty()).then(|| mark.message.clone());
                    if mark.foremost {
                        LabeledSpan::new_primary_with_span(text, span)
                    } else {
                        LabeledSpan::new_with_span(text, span)
                    }
                })
            },
        )))
    }
}

impl Display for ExcerptSource {
    /// Writes nothing, since the headline is not drawn by miette.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for ExcerptSource {}
