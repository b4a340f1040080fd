//! GitHub workflow commands, which create annotations on a run and on lines of a pull request.
//!
//! There is one annotation for each listed finding and one for each entry of edits, at the edited
//! line; an edit and a finding on its line that it caused share one. A finding in an unedited file
//! is annotated at the edit that caused it, since GitHub collapses everything outside of the diff.
//! Outputs and places on the base side are not annotated, since they are not lines of the head. A
//! finding in a further repository is annotated at the line that pins its revision.
//!
//! GitHub keeps ten annotations per level and step and drops the others silently, so the last of
//! ten reports how many were omitted.
//!
//! Strings are escaped like `escapeData` and `escapeProperty` of the package `@actions/core`, so
//! that no string can start or end a command.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::model::{EditRef, FilePlace, Finding, LabelledPlace, Report, ReportedEdit, State};
use super::printable::{clean, is_harmful};
use super::story::{
    Arrangement, EditEntry, FindingEntry, Sign, Story, describe_place, edit_numbers, labelled,
};
use super::{FormatOptions, and_more_of, counted};
use crate::diagnostic::Severity;

/// Maximum number of annotations per level that GitHub keeps for a step.
const MAX_ANNOTATIONS: usize = 10;

/// Maximum length of a message in UTF-16 code units: `_maxIssueMessageLength` of the runner, which
/// truncates silently.
const MAX_MESSAGE_UNITS: usize = 4096;

/// Maximum number of places, of groups and of lines listed in one annotation.
const MAX_NAMED: usize = 5;

/// Writes a report.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write(
    report: &Report,
    options: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let story = Story::new(report, options.listing, Arrangement::ByEdit);
    let edited: BTreeSet<&str> = report
        .edits
        .iter()
        .filter_map(|edit| edit.at.head.as_ref())
        .map(|at| &*at.file)
        .collect();
    let mut findings: Vec<Annotation> = story
        .errors
        .iter()
        .chain(&story.others)
        .map(|entry| of_finding(entry, report, &edited))
        .collect();
    let mut entries: Vec<&EditEntry<'_>> = story.edit_entries().collect();
    for command in [Command::Error, Command::Warning] {
        let mut kept: Vec<Annotation> = unexplained(report, command).into_iter().collect();
        kept.extend(findings.extract_if(.., |it| it.command == command));
        let left_out = truncate(&mut kept);
        merge_into_findings(&mut kept, &mut entries, &story);
        write_all(&kept, &left_out, command, out)?;
    }
    let mut notices = findings;
    notices.extend(entries.iter().map(|entry| of_entry(entry, &story)));
    let left_out = truncate(&mut notices);
    write_all(&notices, &left_out, Command::Notice, out)
}

/// Annotation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Error,
    Warning,
    Notice,
}

impl Command {
    fn as_str(self) -> &'static str {
        match self {
            Command::Error => "error",
            Command::Warning => "warning",
            Command::Notice => "notice",
        }
    }
}

/// An annotation before escaping.
struct Annotation {
    command: Command,
    rank: AnnotationRank,
    /// Place of the annotation; `None` if it is not on a line of the head.
    at: Option<AnnotationPlace>,
    title: String,
    lines: Vec<String>,
    of: AnnotationSubject,
}

/// Subject of an annotation.
enum AnnotationSubject {
    /// A finding and the edits that caused it.
    Finding(Vec<EditRef>),
    /// Number of edits of an entry.
    Edits(usize),
    /// The run as a whole.
    Run,
}

/// Priority of an annotation if not all can be kept: root causes, then edits by the size of their
/// effect, then new findings on lines that a reviewer sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AnnotationRank {
    Root,
    Edit(Reverse<usize>),
    InEditedFile,
    Elsewhere,
    Unchanged,
    Suppressed,
}

/// A range of lines of the head, in the checked repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AnnotationPlace {
    file: String,
    line: usize,
    column: usize,
    /// End column; `None` for a range of several lines, since GitHub accepts columns only within
    /// one line and shows an annotation after its last line, which may be outside of the diff.
    end_column: Option<usize>,
}

impl AnnotationPlace {
    /// Returns the place of a label.
    fn of_label(label: &LabelledPlace, report: &Report) -> Option<Self> {
        let end_column = (label.end_line == label.line).then_some(label.end_column);
        Some(Self {
            end_column,
            ..Self::of_place(&label.start(), report)?
        })
    }

    /// Returns the edited place on the head side, if any.
    fn of_edit(edit: &ReportedEdit, report: &Report) -> Option<Self> {
        Self::of_place(edit.at.head.as_ref()?, report)
    }

    /// Returns a place; `None` for a further repository, without a file, or for a file name with
    /// unprintable characters, since GitHub would assign each to a wrong file or to none.
    fn of_place(place: &FilePlace, report: &Report) -> Option<Self> {
        let FilePlace {
            file, line, column, ..
        } = place;
        let is_printable = !file.is_empty() && !file.contains(is_harmful);
        let is_own = report.repository_of(file).is_none();
        (is_own && is_printable).then(|| Self {
            file: file.clone(),
            line: *line,
            column: *column,
            end_column: None,
        })
    }

    /// Returns the line that pins the further repository that contains a place.
    fn of_pin(place: &FilePlace, report: &Report) -> Option<Self> {
        Self::of_place(report.pin_of(place)?, report)
    }

    fn is_on_line_of(&self, other: &AnnotationPlace) -> bool {
        self.file == other.file && self.line == other.line
    }
}

fn of_finding(entry: &FindingEntry<'_>, report: &Report, edited: &BTreeSet<&str>) -> Annotation {
    let finding = entry.finding;
    let is_in_edited = edited.contains(&*finding.primary.file);
    let rank = match (&finding.suppressed, finding.state) {
        (Some(_), _) => AnnotationRank::Suppressed,
        (None, Some(State::Unchanged)) => AnnotationRank::Unchanged,
        (None, Some(State::New | State::Fixed) | None) if entry.is_root => AnnotationRank::Root,
        (None, Some(State::New | State::Fixed) | None) if is_in_edited => {
            AnnotationRank::InEditedFile
        }
        (None, Some(State::New | State::Fixed) | None) => AnnotationRank::Elsewhere,
    };
    let own = AnnotationPlace::of_label(&finding.primary, report)
        .filter(|_| !is_of_base(finding, report));
    let mut edits = report.edits_with(&finding.caused_by);
    let at_edit = if is_in_edited {
        None
    } else {
        edits.find_map(|edit| AnnotationPlace::of_edit(edit, report))
    };
    let message = &finding.message;
    let label = &finding.primary.label;
    let is_at_place = at_edit.is_none() && own.is_some() && finding.primary.decoded.is_none();
    let mut lines = match (is_at_place, &**label) {
        (true, "") => vec![message.clone()],
        (true, label) => vec![message.clone(), label.to_owned()],
        (false, "") => vec![format!("{}: {message}", describe_place(&finding.primary))],
        (false, _) => vec![message.clone(), labelled(&finding.primary)],
    };
    lines.extend(entry.lines(MAX_NAMED));
    Annotation {
        command: command(finding),
        rank,
        at: at_edit
            .or(own)
            .or_else(|| AnnotationPlace::of_pin(&finding.primary.start(), report)),
        title: finding.rule.clone(),
        lines,
        of: AnnotationSubject::Finding(finding.caused_by.clone()),
    }
}

/// Whether a finding is about something that exists only on the base side, such as an edit that
/// removes it.
fn is_of_base(finding: &Finding, report: &Report) -> bool {
    let place = finding.primary.start();
    let mut edits = report.edits_with(&finding.caused_by);
    edits.any(|edit| edit.at.head.is_none() && edit.at.base.as_ref() == Some(&place))
}

/// Returns the level of a finding; a suppressed finding is a notice, since it does not fail the
/// run.
fn command(finding: &Finding) -> Command {
    match (&finding.suppressed, finding.severity) {
        (None, Severity::Error) => Command::Error,
        (None, Severity::Warning) => Command::Warning,
        (None, Severity::Note) | (Some(_), _) => Command::Notice,
    }
}

fn of_entry(entry: &EditEntry<'_>, story: &Story<'_>) -> Annotation {
    let outputs: usize = entry.edits.iter().map(|edit| edit.reach.outputs).sum();
    Annotation {
        command: Command::Notice,
        rank: AnnotationRank::Edit(Reverse(outputs)),
        at: edited_place(&entry.edits, story.report),
        title: edit_numbers(&entry.edits),
        lines: entry_lines(entry, story),
        of: AnnotationSubject::Edits(entry.edits.len()),
    }
}

/// Returns the first edited line of the head, or else the line that pins the repository of an edit.
fn edited_place(edits: &[&ReportedEdit], report: &Report) -> Option<AnnotationPlace> {
    let own = edits
        .iter()
        .find_map(|edit| AnnotationPlace::of_edit(edit, report));
    let mut places = edits.iter().filter_map(|edit| edit.at.last());
    own.or_else(|| places.find_map(|place| AnnotationPlace::of_pin(place, report)))
}

/// Describes the edited values before and after, and their effects.
fn entry_lines(entry: &EditEntry<'_>, story: &Story<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for change in entry.changes.iter().take(MAX_NAMED) {
        let edit = change.edits[0];
        let more = and_more_of(change.edits.len() - 1, "place");
        let place = match AnnotationPlace::of_edit(edit, story.report) {
            Some(_) => String::new(),
            None => edit
                .at
                .last()
                .map(|it| format!("{}:{} ", it.file, it.line))
                .unwrap_or_default(),
        };
        lines.push(format!(
            "{place}{}{more}",
            story.names.subject(edit).words()
        ));
        let (shown, left_out) = change.delta.shortened(MAX_NAMED);
        lines.extend(shown.iter().map(|line| match line.sign {
            Sign::Removed => format!("- {}", line.text),
            Sign::Added => format!("+ {}", line.text),
            Sign::Same | Sign::Skipped => format!("  {}", line.text),
        }));
        if left_out > 0 {
            lines.push(format!("  … {}", counted(left_out, "more line")));
        }
    }
    lines.push(entry.reach.words());
    let blocks = entry
        .blocks
        .iter()
        .take(MAX_NAMED)
        .map(|block| block.title.words());
    lines.extend(blocks);
    if entry.blocks.len() > MAX_NAMED {
        let more = counted(entry.blocks.len() - MAX_NAMED, "more group");
        lines.push(format!("and {more} of outputs"));
    }
    lines.extend(
        entry
            .stops
            .iter()
            .take(MAX_NAMED)
            .map(super::text::StyledText::words),
    );
    lines
}

/// Returns the annotation for unexplained outputs: a bug in layercake, always reported.
fn unexplained(report: &Report, command: Command) -> Option<Annotation> {
    let count = report.totals.unexplained;
    (command == Command::Warning && count > 0).then(|| Annotation {
        command,
        rank: AnnotationRank::Root,
        at: None,
        title: "unexplained change".to_owned(),
        lines: vec![format!(
            "{} changed without an edit that explains it: a bug in layercake, please report it",
            counted(count, "output")
        )],
        of: AnnotationSubject::Run,
    })
}

/// Number of findings and edits that are not annotated.
#[derive(Default)]
struct OmittedCounts {
    findings: usize,
    edits: usize,
}

/// Sorts annotations and removes those that GitHub would drop, plus one to make room for the note
/// about omitted ones.
fn truncate(annotations: &mut Vec<Annotation>) -> OmittedCounts {
    annotations.sort_by_key(|annotation| annotation.rank);
    let mut left_out = OmittedCounts::default();
    if annotations.len() > MAX_ANNOTATIONS {
        for annotation in annotations.drain(MAX_ANNOTATIONS - 1..) {
            match annotation.of {
                AnnotationSubject::Finding(_) => left_out.findings += 1,
                AnnotationSubject::Edits(edits) => left_out.edits += edits,
                AnnotationSubject::Run => {}
            }
        }
    }
    left_out
}

/// Moves edits into the annotations of findings on their lines that they caused.
fn merge_into_findings(
    kept: &mut [Annotation],
    entries: &mut Vec<&EditEntry<'_>>,
    story: &Story<'_>,
) {
    entries.retain(|entry| {
        let first = entry.edits[0];
        let Some(at) = AnnotationPlace::of_edit(first, story.report) else {
            return true;
        };
        let annotation = kept.iter_mut().find(|annotation| {
            let is_caused = match &annotation.of {
                AnnotationSubject::Finding(causes) => causes.contains(&first.id),
                AnnotationSubject::Edits(_) | AnnotationSubject::Run => false,
            };
            is_caused
                && annotation
                    .at
                    .as_ref()
                    .is_some_and(|it| it.is_on_line_of(&at))
        });
        let Some(annotation) = annotation else {
            return true;
        };
        let subject = story.names.subject(first).words();
        annotation
            .lines
            .push(format!("{subject}: {}", entry.reach.words()));
        false
    });
}

fn write_all(
    annotations: &[Annotation],
    left_out: &OmittedCounts,
    command: Command,
    out: &mut dyn Write,
) -> io::Result<()> {
    for annotation in annotations {
        write_one(annotation, out)?;
    }
    let parts = [
        (left_out.findings, "more finding"),
        (left_out.edits, "more edit"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| counted(count, what));
    let what = parts.collect::<Vec<_>>().join(" and ");
    if what.is_empty() {
        return Ok(());
    }
    let word = command.as_str();
    let text = format!(
        "{what} omitted: GitHub shows at most {MAX_ANNOTATIONS} {word} annotations per step; all \
         other reports of this run include them"
    );
    writeln!(out, "::{word} title=omitted::{}", data(&text))
}

fn write_one(annotation: &Annotation, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", annotation.command.as_str())?;
    if let Some(AnnotationPlace {
        file,
        line,
        column,
        end_column,
    }) = &annotation.at
    {
        write!(
            out,
            "file={},line={line},endLine={line},col={column},",
            property(file)
        )?;
        if let Some(end_column) = end_column {
            write!(out, "endColumn={end_column},")?;
        }
    }
    let lines: Vec<_> = annotation.lines.iter().map(|line| clean(line)).collect();
    let text = shortened(&lines.join("\n"));
    writeln!(
        out,
        "title={}::{}",
        property(&clean(&annotation.title)),
        data(&text)
    )
}

/// Truncates a message to [`MAX_MESSAGE_UNITS`].
fn shortened(text: &str) -> String {
    const DOTS: char = '…';
    if text.encode_utf16().count() <= MAX_MESSAGE_UNITS {
        return text.to_owned();
    }
    let mut room = MAX_MESSAGE_UNITS - DOTS.len_utf16();
    text.chars()
        .take_while(|character| {
            let left = room.checked_sub(character.len_utf16());
            room = left.unwrap_or(0);
            left.is_some()
        })
        .chain([DOTS])
        .collect()
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
