//! Workflow commands of GitHub, which become annotations of a run and of the lines of a pull
//! request.
//!
//! There is one for each finding that is listed and one for each entry of edits, at the edited
//! line; an edit and a finding on its line that it caused share one. A finding in a file that was
//! not edited is at the edit that caused it, since GitHub folds everything outside of the
//! difference. Neither outputs nor places of the base are annotated: they are not lines of the
//! head. A finding in a further repository is at the line that pins its revision.
//!
//! GitHub keeps ten annotations of a level and step and drops the others silently. So the last of
//! ten says how many were left out.
//!
//! Texts are escaped as `escapeData` and `escapeProperty` of the package `@actions/core` do it. No
//! text can begin a line or end a command.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::model::{EditRef, FilePlace, Finding, LabelledPlace, Report, ReportedEdit, State};
use super::printable::{clean, is_harmful};
use super::story::{EditEntry, FindingEntry, Sign, Story, edit_numbers, labelled, place_words};
use super::{FormatOptions, counted};
use crate::diagnostic::Severity;

/// Maximum number of annotations of a level that GitHub keeps of a step.
const MAX_ANNOTATIONS: usize = 10;

/// Maximum number of UTF-16 units of a message that are kept: the runner's own
/// `_maxIssueMessageLength`, which cuts silently.
const MAX_MESSAGE_UNITS: usize = 4096;

/// Maximum number of places, groups and lines that one annotation names of each.
const MAX_NAMED: usize = 5;

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(
    report: &Report,
    manner: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let story = Story::new(report, manner.listing);
    let edited: BTreeSet<&str> =
        report.edits.iter().filter_map(|edit| edit.at.head.as_ref()).map(|at| &*at.file).collect();
    let findings = story.errors.iter().chain(&story.others);
    let mut findings: Vec<Annotation> =
        findings.map(|entry| of_finding(entry, report, &edited)).collect();
    let mut entries: Vec<&EditEntry<'_>> = story.entries.iter().collect();
    for command in [Command::Error, Command::Warning] {
        let mut kept: Vec<Annotation> = unexplained(report, command).into_iter().collect();
        kept.extend(findings.extract_if(.., |it| it.command == command));
        let left_out = cut(&mut kept);
        share(&mut kept, &mut entries, &story);
        write_all(&kept, &left_out, command, out)?;
    }
    let mut notices = findings;
    notices.extend(entries.iter().map(|entry| of_entry(entry, &story)));
    let left_out = cut(&mut notices);
    write_all(&notices, &left_out, Command::Notice, out)
}

/// The commands that annotate.
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

/// One command, before it is escaped.
struct Annotation {
    command: Command,
    rank: AnnotationRank,
    /// The line it is shown at; none where it is not of a line of the head.
    at: Option<AnnotationPlace>,
    title: String,
    lines: Vec<String>,
    of: AnnotationSubject,
}

/// Subject of an annotation.
enum AnnotationSubject {
    /// A finding, and the edits behind it.
    Finding(Vec<EditRef>),
    /// A number of edits.
    Edits(usize),
    /// The run.
    Run,
}

/// Order of importance, where not all can be kept: root causes, edits by how much they change, new
/// findings on lines that a reviewer sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AnnotationRank {
    Root,
    Edit(Reverse<usize>),
    InEditedFile,
    Elsewhere,
    Unchanged,
    Suppressed,
}

/// A stretch of a line of the head, in the repository that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AnnotationPlace {
    file: String,
    line: usize,
    column: usize,
    /// None where what is meant goes on in further lines: GitHub takes columns of one line alone,
    /// and shows an annotation below the last of its lines, which may lie outside of the
    /// difference.
    end_column: Option<usize>,
}

impl AnnotationPlace {
    /// The place of a label.
    fn of_label(label: &LabelledPlace, report: &Report) -> Option<Self> {
        let end_column = (label.end_line == label.line).then_some(label.end_column);
        Some(Self { end_column, ..Self::of_place(&label.start(), report)? })
    }

    /// The edited place on the head side, if it is there.
    fn of_edit(edit: &ReportedEdit, report: &Report) -> Option<Self> {
        Self::of_place(edit.at.head.as_ref()?, report)
    }

    /// None in a further repository, in no file, and in one whose name cannot be printed as it
    /// is: GitHub would take each for another file, or for none.
    fn of_place(place: &FilePlace, report: &Report) -> Option<Self> {
        let FilePlace { file, line, column, .. } = place;
        let is_printable = !file.is_empty() && !file.contains(is_harmful);
        let is_own = report.repository_of(file).is_none();
        (is_own && is_printable).then(|| Self {
            file: file.clone(),
            line: *line,
            column: *column,
            end_column: None,
        })
    }

    /// The line that pins the revision of a further repository that a place is in.
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
    let is_root = report
        .findings
        .iter()
        .any(|other| other.because_of.as_deref() == Some(&*finding.fingerprint));
    let rank = match (&finding.suppressed, finding.state) {
        (Some(_), _) => AnnotationRank::Suppressed,
        (None, Some(State::Unchanged)) => AnnotationRank::Unchanged,
        (None, Some(State::New | State::Fixed) | None) if is_root => AnnotationRank::Root,
        (None, Some(State::New | State::Fixed) | None) if is_in_edited => {
            AnnotationRank::InEditedFile
        }
        (None, Some(State::New | State::Fixed) | None) => AnnotationRank::Elsewhere,
    };
    let own = AnnotationPlace::of_label(&finding.primary, report)
        .filter(|_| !is_of_base(finding, report));
    let mut edits = finding.caused_by.iter().map(|edit| report.edit(*edit));
    let at_edit = if is_in_edited {
        None
    } else {
        edits.find_map(|edit| AnnotationPlace::of_edit(edit, report))
    };
    let (message, label) = (&finding.message, &finding.primary.label);
    let is_at_place = at_edit.is_none() && own.is_some() && finding.primary.decoded.is_none();
    let mut lines = match (is_at_place, &**label) {
        (true, "") => vec![message.clone()],
        (true, label) => vec![message.clone(), label.to_owned()],
        (false, "") => vec![format!("{}: {message}", place_words(&finding.primary))],
        (false, _) => vec![message.clone(), labelled(&finding.primary)],
    };
    lines.extend(entry.lines(MAX_NAMED));
    Annotation {
        command: command(finding),
        rank,
        at: at_edit.or(own).or_else(|| AnnotationPlace::of_pin(&finding.primary.start(), report)),
        title: finding.rule.clone(),
        lines,
        of: AnnotationSubject::Finding(finding.caused_by.clone()),
    }
}

/// Whether a finding is of something that only the base has, such as an edit that removes it.
fn is_of_base(finding: &Finding, report: &Report) -> bool {
    let place = finding.primary.start();
    let mut edits = finding.caused_by.iter().map(|edit| report.edit(*edit));
    edits.any(|edit| edit.at.head.is_none() && edit.at.base.as_ref() == Some(&place))
}

/// A suppressed finding fails nothing, and is not painted red.
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

/// The first edited line of the head, or else the line that pins the repository of an edit.
fn edited_place(edits: &[&ReportedEdit], report: &Report) -> Option<AnnotationPlace> {
    let own = edits.iter().find_map(|edit| AnnotationPlace::of_edit(edit, report));
    let mut places = edits.iter().filter_map(|edit| edit.at.last());
    own.or_else(|| places.find_map(|place| AnnotationPlace::of_pin(place, report)))
}

/// The edited values before and after, and their effects.
fn entry_lines(entry: &EditEntry<'_>, story: &Story<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for change in entry.changes.iter().take(MAX_NAMED) {
        let edit = change.edits[0];
        let more = match change.edits.len() - 1 {
            0 => String::new(),
            more => format!(" and {}", counted(more, "more place")),
        };
        let place = match AnnotationPlace::of_edit(edit, story.report) {
            Some(_) => String::new(),
            None => {
                edit.at.last().map(|it| format!("{}:{} ", it.file, it.line)).unwrap_or_default()
            }
        };
        lines.push(format!("{place}{}{more}", story.names.subject(edit).words()));
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
    let groups = entry.groups.iter().take(MAX_NAMED).map(|group| group.title.words());
    lines.extend(groups);
    if entry.groups.len() > MAX_NAMED {
        let more = counted(entry.groups.len() - MAX_NAMED, "more group");
        lines.push(format!("and {more} of outputs"));
    }
    lines.extend(entry.stops.iter().take(MAX_NAMED).map(super::text::StyledText::words));
    lines
}

/// An output that no edit explains is a fault of layercake, and always reported.
fn unexplained(report: &Report, command: Command) -> Option<Annotation> {
    let count = report.totals.unexplained;
    (command == Command::Warning && count > 0).then(|| Annotation {
        command,
        rank: AnnotationRank::Root,
        at: None,
        title: "unexplained change".to_owned(),
        lines: vec![format!(
            "{} changed, and no edit explains how: a fault of layercake, please report it",
            counted(count, "output")
        )],
        of: AnnotationSubject::Run,
    })
}

/// Counts of what is not annotated.
#[derive(Default)]
struct OmittedCounts {
    findings: usize,
    edits: usize,
}

/// Sorts annotations, and removes those that GitHub would drop and one more, whose place is for
/// saying so.
fn cut(annotations: &mut Vec<Annotation>) -> OmittedCounts {
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

/// Adds what is said of an edit to a finding on its line that it caused, and removes it from the
/// entries that are still to be annotated.
fn share(kept: &mut [Annotation], entries: &mut Vec<&EditEntry<'_>>, story: &Story<'_>) {
    entries.retain(|entry| {
        let first = entry.edits[0];
        let Some(at) = AnnotationPlace::of_edit(first, story.report) else { return true };
        let host = kept.iter_mut().find(|annotation| {
            let is_caused = match &annotation.of {
                AnnotationSubject::Finding(causes) => causes.contains(&first.id),
                AnnotationSubject::Edits(_) | AnnotationSubject::Run => false,
            };
            is_caused && annotation.at.as_ref().is_some_and(|it| it.is_on_line_of(&at))
        });
        let Some(host) = host else { return true };
        let subject = story.names.subject(first).words();
        host.lines.push(format!("{subject}: {}", entry.reach.words()));
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
    let parts = [(left_out.findings, "more finding"), (left_out.edits, "more edit")].into_iter();
    let parts = parts.filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
    let what = parts.collect::<Vec<_>>().join(" and ");
    if what.is_empty() {
        return Ok(());
    }
    let word = command.as_str();
    let text = format!(
        "{what} left out, since GitHub shows {MAX_ANNOTATIONS} {word} annotations of a step: every \
         other report of this run has them"
    );
    writeln!(out, "::{word} title=left out::{}", data(&text))
}

fn write_one(annotation: &Annotation, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", annotation.command.as_str())?;
    if let Some(AnnotationPlace { file, line, column, end_column }) = &annotation.at {
        write!(out, "file={},line={line},endLine={line},col={column},", property(file))?;
        if let Some(end_column) = end_column {
            write!(out, "endColumn={end_column},")?;
        }
    }
    let lines: Vec<_> = annotation.lines.iter().map(|line| clean(line)).collect();
    let text = shortened(&lines.join("\n"));
    writeln!(out, "title={}::{}", property(&clean(&annotation.title)), data(&text))
}

/// A message of no more than [`MAX_MESSAGE_UNITS`].
fn shortened(text: &str) -> String {
    const DOTS: char = '…';
    if text.encode_utf16().count() <= MAX_MESSAGE_UNITS {
        return text.to_owned();
    }
    let mut room = MAX_MESSAGE_UNITS - DOTS.len_utf16();
    let fits = |character: &char| {
        let left = room.checked_sub(character.len_utf16());
        room = left.unwrap_or(0);
        left.is_some()
    };
    text.chars().take_while(fits).chain([DOTS]).collect()
}

/// A message as a command has it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property as a command has it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
