//! Reading a saved report: only what this version can tell wholly is taken.
//!
//! What its form cannot say is checked here: that whatever is named is there,
//! that words are those of reports, that lines and columns are some a file can
//! have. What else a report says is believed.

use std::fmt::{self, Display};

use serde::Deserialize;

use super::comparison::{ByForm, DecodedPlace, EditForm, PlaceForm};
use super::finding::{Finding, LabelForm};
use super::lines::{FileLines, Line};
use super::report::{Report, SCHEMA};
use super::{VERSION, words};

/// Why a text is not taken as a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is no report of layercake, or a damaged one: what is wrong, and
    /// where.
    Other(String),
    /// It is one of another version of the form.
    Version(String),
    /// It has places that files of a repository do not have: lines or columns
    /// so far out, or so many of them, that no text can be shown for them.
    TooFar,
}

impl Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Other(fault) => write!(out, "it is no report of `layercake`: {fault}"),
            Unreadable::Version(schema) => {
                write!(out, "it is of the form `{schema}`, and this layercake reads `{SCHEMA}`")
            }
            Unreadable::TooFar => {
                out.write_str("its lines and columns are further out than those of any repository")
            }
        }
    }
}

/// What every version of the report says of itself.
#[derive(Deserialize)]
struct Heading {
    schema: String,
    version: u32,
}

/// Reads what [`super::write`] wrote, of this version or of a later one that
/// only added fields.
///
/// # Errors
/// Why the text is no such report.
pub fn read(text: &str) -> Result<Report, Unreadable> {
    let fault = |error: serde_json::Error| Unreadable::Other(error.to_string());
    let heading: Heading = serde_json::from_str(text).map_err(fault)?;
    if heading.schema != SCHEMA || heading.version != VERSION {
        return Err(Unreadable::Version(heading.schema));
    }
    let mut report: Report = serde_json::from_str(text).map_err(fault)?;
    for finding in report.findings.iter_mut().filter(|it| it.because_of.is_some()) {
        finding.count = 0;
    }
    report.check_names()?;
    report.check_words()?;
    report.check_places()?;
    report.lines.iter().try_for_each(FileLines::check)?;
    Ok(report)
}

fn other<T>(fault: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable::Other(fault.into()))
}

impl Report {
    /// Whatever is named is there, under the name that its place gives it.
    fn check_names(&self) -> Result<(), Unreadable> {
        numbered('e', self.edits.iter().map(|it| &*it.id))?;
        numbered('g', self.groups.iter().map(|it| &*it.id))?;
        numbered('r', self.routes.iter().map(|it| &*it.id))?;
        if self.lines.iter().any(|it| !it.id.is_empty()) {
            numbered('t', self.lines.iter().map(|it| &*it.id))?;
        }
        match self.dangling() {
            Some(name) => other(format!("there is no `{name}` in it")),
            None => Ok(()),
        }
    }

    /// A name that a part of the report refers to, and that nothing has.
    fn dangling(&self) -> Option<&str> {
        let members = self.groups.iter().flat_map(|it| &it.outputs).flat_map(|it| &it.causes);
        let causes = self.outputs.iter().flat_map(|it| &it.causes).chain(members);
        let caused = causes.clone().flat_map(|it| std::iter::once(&it.edit).chain(&it.joint));
        let mut edits = caused
            .chain(self.shields.iter().map(|it| &it.edit))
            .chain(self.findings.iter().flat_map(|it| &it.caused_by));
        let mut groups = self
            .outputs
            .iter()
            .filter_map(|it| it.group.as_ref())
            .chain(self.unexplained.iter().filter_map(|it| it.group.as_ref()));
        let mut routes = causes.map(|it| &it.route);
        let mut texts = self.labels().filter_map(|it| it.text.as_ref());
        let edit = edits.find(|name| self.edit_number(name).is_none());
        let group = edit.or_else(|| groups.find(|name| self.group_number(name).is_none()));
        let route = group.or_else(|| routes.find(|name| self.route_number(name).is_none()));
        route.or_else(|| texts.find(|name| self.line_number(name).is_none())).map(String::as_str)
    }

    fn check_words(&self) -> Result<(), Unreadable> {
        if let Some(comparison) = &self.comparison {
            words::side_kind(&comparison.from.kind)?;
            words::side_kind(&comparison.to.kind)?;
        }
        for edit in &self.edits {
            words::edit_kind(&edit.kind)?;
            words::part(&edit.part)?;
            words::proof(&edit.verified)?;
        }
        for change in self.groups.iter().flat_map(|it| &it.changes) {
            words::changed_part(&change.part)?;
            words::operation(&change.op)?;
        }
        for step in self.routes.iter().flat_map(|it| &it.steps) {
            words::via(&step.via)?;
        }
        for cause in self.outputs.iter().flat_map(|it| &it.causes) {
            words::via(&cause.via)?;
        }
        for shield in &self.shields {
            words::why(&shield.why)?;
        }
        let suppressed = self.findings.iter().filter_map(|it| it.suppressed.as_ref());
        suppressed.map(|it| words::suppression(&it.kind)).try_for_each(|it| it.map(drop))
    }

    fn check_places(&self) -> Result<(), Unreadable> {
        self.edits.iter().try_for_each(EditForm::check)?;
        for route in &self.routes {
            if route.steps.is_empty() {
                return other(format!("the route `{}` has no step", route.id));
            }
            route.steps.iter().flat_map(|it| &it.at).try_for_each(PlaceForm::check)?;
            let lines = route.steps.iter().filter_map(|it| it.line);
            lines.map(|line| place([line, 1])).try_for_each(|it| it)?;
        }
        for change in self.groups.iter().flat_map(|it| &it.changes) {
            change.at.from.iter().chain(&change.at.to).try_for_each(PlaceForm::check)?;
        }
        self.shields.iter().try_for_each(|it| it.by.check())?;
        self.findings.iter().try_for_each(Finding::check)
    }

    /// The labels of all findings.
    fn labels(&self) -> impl Iterator<Item = &LabelForm> {
        self.findings.iter().flat_map(|it| std::iter::once(&it.primary).chain(&it.related))
    }
}

/// `e1`, `e2` and so on.
fn numbered<'a>(prefix: char, names: impl Iterator<Item = &'a str>) -> Result<(), Unreadable> {
    let number = |name: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
    let wrong = names.enumerate().find(|(at, name)| number(name) != Some(at + 1));
    match wrong {
        Some((at, name)) => other(format!("`{name}` stands where `{prefix}{}` should", at + 1)),
        None => Ok(()),
    }
}

/// A line and a column that a file can have.
fn place(at: [usize; 2]) -> Result<(), Unreadable> {
    const MOST: usize = u32::MAX as usize;
    match at {
        _ if at.contains(&0) => other("lines and columns count from one"),
        [line, column] if line > MOST || column > MOST => Err(Unreadable::TooFar),
        _ => Ok(()),
    }
}

impl EditForm {
    fn check(&self) -> Result<(), Unreadable> {
        if self.at.from.is_none() && self.at.to.is_none() {
            return other(format!("the edit `{}` is on neither side", self.id));
        }
        self.at.from.iter().chain(&self.at.to).try_for_each(PlaceForm::check)
    }
}

impl PlaceForm {
    fn check(&self) -> Result<(), Unreadable> {
        place([self.line, self.col])?;
        self.decoded.iter().try_for_each(DecodedPlace::check)
    }
}

impl ByForm {
    fn check(&self) -> Result<(), Unreadable> {
        place([self.line, self.col])?;
        self.decoded.iter().try_for_each(DecodedPlace::check)
    }
}

impl DecodedPlace {
    fn check(&self) -> Result<(), Unreadable> {
        place([self.line, self.col])
    }
}

impl Finding {
    fn check(&self) -> Result<(), Unreadable> {
        std::iter::once(&self.primary).chain(&self.related).try_for_each(LabelForm::check)?;
        let suppressed = self.suppressed.iter().map(|it| place([it.line, 1]));
        suppressed.into_iter().try_for_each(|it| it)?;
        for edit in self.fix.iter().flat_map(|it| &it.edits) {
            stretch([edit.line, edit.column], [edit.end_line, edit.end_column])?;
        }
        Ok(())
    }
}

impl LabelForm {
    fn check(&self) -> Result<(), Unreadable> {
        stretch([self.line, self.column], [self.end_line, self.end_column])?;
        let decoded = self.decoded.as_ref();
        decoded.map_or(Ok(()), |it| stretch([it.line, it.column], [it.end_line, it.end_column]))
    }
}

fn stretch(start: [usize; 2], end: [usize; 2]) -> Result<(), Unreadable> {
    place(start)?;
    place(end)?;
    if end < start { other("a stretch ends before it begins") } else { Ok(()) }
}

impl FileLines {
    /// Lines by number, and parts of one line apart from each other.
    fn check(&self) -> Result<(), Unreadable> {
        let mut before = [0, 0];
        for line in &self.lines {
            line.check()?;
            if [line.line, line.column] < before {
                return other(format!("the lines of `{}` are in no order", self.file));
            }
            before = [line.line, line.end_column()];
        }
        Ok(())
    }
}

impl Line {
    fn check(&self) -> Result<(), Unreadable> {
        place([self.line, self.column])?;
        let length = self.text.chars().count();
        let mut before = 0;
        for [start, end] in &self.hidden {
            if *start < before || end <= start || *end > length {
                return other("what is hidden in a line is no part of it");
            }
            before = end + 1;
        }
        if self.text.contains('\n') { other("a line has a line break") } else { Ok(()) }
    }

    /// The column behind the text.
    fn end_column(&self) -> usize {
        let hidden: usize = self.hidden.iter().map(|[start, end]| end - start).sum();
        self.column + self.text.chars().count() - hidden
    }
}
