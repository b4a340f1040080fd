//! Workflow commands of GitHub, which become annotations of a run and of the
//! lines of a pull request.
//!
//! There is one for each finding that is listed and one for each edit, at the
//! edited line; edits with the same reach share one, and so do an edit and a
//! finding on its line that it caused. A finding in a file that nobody edited
//! stands at the edit that caused it, since GitHub folds away what lies outside
//! of the difference. Neither outputs nor places of the base are annotated:
//! they are no lines of the head.
//!
//! GitHub keeps ten annotations of a level and step and drops the others
//! without a word. So the last of ten says how many were left out.
//!
//! Texts are escaped as `escapeData` and `escapeProperty` of the package
//! `@actions/core` do it. No text can begin a line or end a command.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::json::{EditForm, Finding, LabelForm, Level, Report, State};
use super::printable::{clean, is_harmful};
use super::{Manner, counted, prose};

/// So many annotations of a level GitHub keeps of a step.
const MOST: usize = 10;

/// So many UTF-16 units of a message are kept: the runner's own
/// `_maxIssueMessageLength`, which counts without saying what it cut.
const LONGEST: usize = 4096;

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(report: &Report, manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut findings: Vec<Annotation> = Vec::new();
    let edited = edited_files(report);
    findings.extend(report.listed(manner.listing).map(|it| of_finding(it, report, &edited)));
    let mut folds = folds(report);
    for command in [Command::Error, Command::Warning] {
        let mut kept: Vec<Annotation> = unexplained(report, command).into_iter().collect();
        kept.extend(findings.extract_if(.., |it| it.command == command));
        let left_out = cut(&mut kept);
        share(&mut kept, &mut folds);
        write_all(&kept, left_out, command, out)?;
    }
    let mut notices = findings;
    notices.extend(folds.iter().map(|fold| of_edits(fold, report)));
    let left_out = cut(&mut notices);
    write_all(&notices, left_out, Command::Notice, out)
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
    rank: Rank,
    /// The line it is shown at; none where it is of no line of the head.
    at: Option<At>,
    title: String,
    lines: Vec<String>,
    of: Subject,
}

/// What an annotation is of.
enum Subject {
    /// A finding, and the edits behind it.
    Finding(Vec<String>),
    /// So many edits.
    Edits(usize),
    /// The run.
    Run,
}

impl Subject {
    fn causes(&self) -> &[String] {
        match self {
            Subject::Finding(causes) => causes,
            Subject::Edits(_) | Subject::Run => &[],
        }
    }
}

/// What comes first where not all can be kept: what has no place elsewhere,
/// edits by how much they change, what is new on lines that a reviewer sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Unexplained,
    Edit(Reverse<usize>),
    InEditedFile,
    Elsewhere,
    Unchanged,
    InertEdit,
    Suppressed,
}

/// A stretch of a line of the head.
#[derive(Clone, Debug, PartialEq, Eq)]
struct At {
    file: String,
    line: usize,
    column: usize,
    /// None where what is meant goes on in further lines: GitHub takes columns
    /// of one line alone, and shows an annotation below the last of its lines,
    /// which may lie outside of the difference.
    end_column: Option<usize>,
}

impl At {
    /// The place of a label; none where it is in no file, or in one whose name
    /// cannot be printed as it is: a changed name would be another file.
    fn of_label(label: &LabelForm) -> Option<Self> {
        let end_column = (label.end_line == label.line).then_some(label.end_column);
        Self::new(&label.file, label.line, label.column, end_column)
    }

    /// The edited place on the head side, if it is there.
    fn of_edit(edit: &EditForm) -> Option<Self> {
        let place = edit.at.to.as_ref()?;
        Self::new(&place.file, place.line, place.col, None)
    }

    fn new(file: &str, line: usize, column: usize, end_column: Option<usize>) -> Option<Self> {
        let is_printable = !file.is_empty() && !file.contains(is_harmful);
        is_printable.then(|| Self { file: file.to_owned(), line, column, end_column })
    }

    fn is_on_line_of(&self, other: &At) -> bool {
        self.file == other.file && self.line == other.line
    }
}

/// The files in which an edit can be seen on the head side.
fn edited_files(report: &Report) -> BTreeSet<&str> {
    report.edits.iter().filter_map(|edit| edit.at.to.as_ref()).map(|at| &*at.file).collect()
}

fn of_finding(finding: &Finding, report: &Report, edited: &BTreeSet<&str>) -> Annotation {
    let is_in_edited = edited.contains(&*finding.primary.file);
    let rank = match (&finding.suppressed, finding.state) {
        (Some(_), _) => Rank::Suppressed,
        (None, Some(State::Unchanged)) => Rank::Unchanged,
        (None, Some(State::New | State::Fixed) | None) if is_in_edited => Rank::InEditedFile,
        (None, Some(State::New | State::Fixed) | None) => Rank::Elsewhere,
    };
    let own = At::of_label(&finding.primary).filter(|_| !is_of_base(finding, report));
    let mut edits = finding.caused_by.iter().filter_map(|id| report.edit(id));
    let at_edit = if is_in_edited { None } else { edits.find_map(At::of_edit) };
    let message = clean(&finding.message);
    let label = clean(&finding.primary.label);
    let is_told = at_edit.is_none() && own.is_some() && finding.primary.decoded.is_none();
    let mut lines = match (is_told, &*label) {
        (true, "") => vec![message.into_owned()],
        (true, label) => vec![message.into_owned(), label.to_owned()],
        (false, "") => vec![format!("{}: {message}", prose::place(&finding.primary))],
        (false, _) => vec![message.into_owned(), prose::labelled(&finding.primary)],
    };
    lines.extend(prose::lines(finding, report));
    Annotation {
        command: command(finding),
        rank,
        at: at_edit.or(own),
        title: clean(&finding.rule).into_owned(),
        lines,
        of: Subject::Finding(finding.caused_by.clone()),
    }
}

/// Whether a finding is of something that only the base has, such as an edit
/// that removes it.
fn is_of_base(finding: &Finding, report: &Report) -> bool {
    let place = &finding.primary;
    let mut removed = finding.caused_by.iter().filter_map(|id| report.edit(id));
    removed.any(|edit| match (&edit.at.from, &edit.at.to) {
        (Some(at), None) => (&at.file, at.line, at.col) == (&place.file, place.line, place.column),
        (_, Some(_)) | (None, None) => false,
    })
}

/// What is suppressed fails nothing, and is not painted red.
fn command(finding: &Finding) -> Command {
    match (&finding.suppressed, finding.severity) {
        (None, Level::Error) => Command::Error,
        (None, Level::Warning) => Command::Warning,
        (None, Level::Note) | (Some(_), _) => Command::Notice,
    }
}

/// Edits that changed the same outputs and were stopped at the same documents,
/// in the order of the first of each; at least one.
struct Fold<'a> {
    edits: Vec<&'a EditForm>,
    /// Where they were stopped.
    stops: Vec<String>,
}

fn folds(report: &Report) -> Vec<Fold<'_>> {
    let reached = reached(report);
    let stops = stops(report);
    let mut known = BTreeMap::new();
    let mut folds: Vec<Fold<'_>> = Vec::new();
    for edit in &report.edits {
        let outputs = reached.get(&*edit.id);
        let stopped = stops.get(&*edit.id).cloned().unwrap_or_default();
        let at = *known.entry((outputs, stopped.clone())).or_insert(folds.len());
        match folds.get_mut(at) {
            Some(fold) => fold.edits.push(edit),
            None => folds.push(Fold { edits: vec![edit], stops: stopped }),
        }
    }
    // Where one of them can be annotated, it stands for the others.
    for fold in &mut folds {
        fold.edits.sort_by_key(|edit| At::of_edit(edit).is_none());
    }
    folds
}

/// By edit, the outputs that it changed.
fn reached(report: &Report) -> BTreeMap<&str, Vec<usize>> {
    let mut reached: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, output) in report.outputs.iter().enumerate() {
        for cause in &output.causes {
            reached.entry(&cause.edit).or_default().push(at);
        }
    }
    reached
}

/// By edit, in which sites and at which lines it was stopped.
fn stops(report: &Report) -> BTreeMap<&str, Vec<String>> {
    let mut stops: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for shield in &report.shields {
        let by = format!("{}:{}", clean(&shield.by.file), shield.by.line);
        let site = shield.site.iter().map(|site| format!("{} ", clean(site))).collect::<String>();
        let stop = format!("{site}at {by} ({})", clean(&shield.why));
        stops.entry(&shield.edit).or_default().push(stop);
    }
    stops
}

fn of_edits(fold: &Fold<'_>, report: &Report) -> Annotation {
    let first = fold.edits[0];
    let rank = match first.reach.outputs {
        0 => Rank::InertEdit,
        outputs => Rank::Edit(Reverse(outputs)),
    };
    Annotation {
        command: Command::Notice,
        rank,
        at: At::of_edit(first),
        title: match report.edits.len() {
            1 => "the edit".to_owned(),
            all => format!("{} of {all} edits", fold.edits.len()),
        },
        lines: edit_lines(fold),
        of: Subject::Edits(fold.edits.len()),
    }
}

fn edit_lines(fold: &Fold<'_>) -> Vec<String> {
    let first = fold.edits[0];
    let mut lines = vec![format!("{}: {}", prose::subject(first), prose::reach(first))];
    if At::of_edit(first).is_none() {
        lines[0] = format!("{}: {}", prose::edit_place(first), lines[0]);
    }
    if !first.reach.sites.is_empty() {
        lines.push(format!("in {}", prose::sites(&first.reach.sites)));
    }
    match first.reach.indirect {
        0 => {}
        1 => lines.push("1 of them is written in a file that nobody edited".to_owned()),
        more => lines.push(format!("{more} of them are written in files that nobody edited")),
    }
    if !fold.stops.is_empty() {
        lines.push(format!("stops in {}", prose::few(&fold.stops, "place")));
    }
    let others: Vec<String> = fold.edits[1..].iter().map(|edit| prose::edit_place(edit)).collect();
    if !others.is_empty() {
        lines.push(format!("so do the edits at {}", prose::few(&others, "edit")));
    }
    lines
}

/// What no edit explains is a fault of layercake, and always told.
fn unexplained(report: &Report, command: Command) -> Option<Annotation> {
    let count = report.unexplained.len();
    (command == Command::Warning && count > 0).then(|| Annotation {
        command,
        rank: Rank::Unexplained,
        at: None,
        title: "unexplained change".to_owned(),
        lines: vec![format!(
            "{} changed, and no edit explains how: a fault of layercake, please report it",
            counted(count, "output")
        )],
        of: Subject::Run,
    })
}

/// What there is no room for.
#[derive(Default)]
struct LeftOut {
    findings: usize,
    edits: usize,
}

impl LeftOut {
    fn add(&mut self, annotation: &Annotation) {
        match annotation.of {
            Subject::Finding(_) => self.findings += 1,
            Subject::Edits(edits) => self.edits += edits,
            Subject::Run => {}
        }
    }
}

/// Brings annotations in their order, and takes out those that GitHub would
/// drop and one more, whose place is for saying so.
fn cut(annotations: &mut Vec<Annotation>) -> LeftOut {
    annotations.sort_by_key(|annotation| annotation.rank);
    let mut left_out = LeftOut::default();
    if annotations.len() > MOST {
        annotations.drain(MOST - 1..).for_each(|annotation| left_out.add(&annotation));
    }
    left_out
}

/// Says of an edit at a finding on its line that it caused, and takes it out of
/// those that are still to be told.
fn share(kept: &mut [Annotation], folds: &mut Vec<Fold<'_>>) {
    folds.retain(|fold| {
        let first = fold.edits[0];
        let Some(at) = At::of_edit(first) else { return true };
        let host = kept.iter_mut().find(|annotation| {
            let is_caused = annotation.of.causes().contains(&first.id);
            is_caused && annotation.at.as_ref().is_some_and(|it| it.is_on_line_of(&at))
        });
        let Some(host) = host else { return true };
        let news: Vec<String> =
            edit_lines(fold).into_iter().filter(|line| !host.lines.contains(line)).collect();
        host.lines.extend(news);
        false
    });
}

fn write_all(
    annotations: &[Annotation],
    left_out: LeftOut,
    command: Command,
    out: &mut dyn Write,
) -> io::Result<()> {
    for annotation in annotations {
        write_one(annotation, out)?;
    }
    let LeftOut { findings, edits } = left_out;
    let parts = [(findings, "more finding"), (edits, "more edit")].into_iter();
    let parts = parts.filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
    let what = parts.collect::<Vec<_>>().join(" and ");
    if what.is_empty() {
        return Ok(());
    }
    let word = command.as_str();
    let text = format!(
        "{what} left out, since GitHub shows {MOST} {word} annotations of a step: every other \
         report of this run has them"
    );
    writeln!(out, "::{word} title=left out::{}", data(&text))
}

fn write_one(annotation: &Annotation, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", annotation.command.as_str())?;
    if let Some(At { file, line, column, end_column }) = &annotation.at {
        write!(out, "file={},line={line},endLine={line},col={column},", property(file))?;
        if let Some(end_column) = end_column {
            write!(out, "endColumn={end_column},")?;
        }
    }
    let text = shortened(&annotation.lines.join("\n"));
    writeln!(out, "title={}::{}", property(&annotation.title), data(&text))
}

/// A message of no more than [`LONGEST`] units.
fn shortened(text: &str) -> String {
    const DOTS: char = '…';
    if text.encode_utf16().count() <= LONGEST {
        return text.to_owned();
    }
    let mut room = LONGEST - DOTS.len_utf16();
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
