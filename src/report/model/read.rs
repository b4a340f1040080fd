//! Reading a saved report, which may come from anyone: nothing of it is used that its form does
//! not allow.
//!
//! Checked here is what the form cannot say: that whatever is named is there, and that lines and
//! columns are such as a file can have.

use std::fmt::{self, Display};

use serde::Deserialize;

use super::id::Id;
use super::{
    FilePlace, Finding, LabelledPlace, OnSides, REPORT_VERSION, Report, ReportedCause,
    RepositoryUse, SCHEMA, SetRef, SourceLine,
};
use crate::report::model::FileLines;

/// Reason why a text is not a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportReadError {
    /// It is not a report of layercake, or a damaged one; why.
    Other(String),
    /// It is a report of this other version.
    Version(String),
}

impl Display for ReportReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportReadError::Other(fault) => write!(out, "not a report of `layercake`: {fault}"),
            ReportReadError::Version(schema) => {
                write!(out, "expected a report of the form `{SCHEMA}`, found `{schema}`")
            }
        }
    }
}

/// The part of a report that is the same in every version.
#[derive(Deserialize)]
struct Heading {
    schema: String,
    version: u32,
}

/// Reads what [`super::write`] wrote, in this version or in a later one that only added fields.
///
/// # Errors
/// Why the text is not such a report.
pub fn read(text: &str) -> Result<Report, ReportReadError> {
    let fault = |error: serde_json::Error| ReportReadError::Other(error.to_string());
    let heading: Heading = serde_json::from_str(text).map_err(fault)?;
    if heading.schema != SCHEMA || heading.version != REPORT_VERSION {
        return Err(ReportReadError::Version(heading.schema));
    }
    let report: Report = serde_json::from_str(text).map_err(fault)?;
    report.check().map_err(ReportReadError::Other)?;
    Ok(report)
}

type CheckResult = Result<(), String>;

impl Report {
    fn check(&self) -> CheckResult {
        numbered(self.site_sets.iter().map(|it| it.id))?;
        numbered(self.edits.iter().map(|it| it.id))?;
        numbered(self.groups.iter().map(|it| it.id))?;
        numbered(self.routes.iter().map(|it| it.id))?;
        numbered(self.lines.iter().map(|it| it.id))?;
        self.check_sites()?;
        self.repositories.iter().try_for_each(|it| self.check_repository(it))?;
        self.check_changes()?;
        self.findings.iter().try_for_each(|finding| self.check_finding(finding))?;
        self.lines.iter().try_for_each(FileLines::check)
    }

    fn check_sites(&self) -> CheckResult {
        for set in &self.site_sets {
            let is_ascending = set.sites.windows(2).all(|pair| pair[0] < pair[1]);
            if !is_ascending || set.sites.last().is_some_and(|last| *last >= self.sites.len()) {
                return Err(format!("the sites of `{}` are not among those of the report", set.id));
            }
        }
        Ok(())
    }

    fn check_repository(&self, used: &RepositoryUse) -> CheckResult {
        self.check_set(used.sites)?;
        used.pin.iter().try_for_each(FilePlace::check)
    }

    fn check_changes(&self) -> CheckResult {
        for edit in &self.edits {
            if edit.at.last().is_none() {
                return Err(format!("the edit `{}` is on neither side", edit.id));
            }
            edit.at.check()?;
            self.check_set(edit.reach.sites)?;
        }
        for group in &self.groups {
            group.changes.iter().try_for_each(|change| change.at.check())?;
            self.check_set(group.sites)?;
        }
        for output in &self.outputs {
            known(output.group, &self.groups)?;
            self.check_set(output.sites)?;
            output.causes.iter().try_for_each(|cause| self.check_cause(cause))?;
        }
        for route in &self.routes {
            if route.steps.is_empty() {
                return Err(format!("the route `{}` has no step", route.id));
            }
            route.steps.iter().flat_map(|step| &step.at).try_for_each(FilePlace::check)?;
        }
        for shield in &self.shields {
            known(shield.edit, &self.edits)?;
            self.check_set(shield.sites)?;
            shield.by.iter().try_for_each(FilePlace::check)?;
        }
        Ok(())
    }

    fn check_cause(&self, cause: &ReportedCause) -> CheckResult {
        known(cause.edit, &self.edits)?;
        known(cause.route, &self.routes)?;
        cause.joint.iter().try_for_each(|edit| known(*edit, &self.edits))
    }

    fn check_set(&self, set: SetRef) -> CheckResult {
        known(set, &self.site_sets)
    }

    fn check_finding(&self, finding: &Finding) -> CheckResult {
        for label in std::iter::once(&finding.primary).chain(&finding.related) {
            label.check()?;
            label.text.map_or(Ok(()), |text| known(text, &self.lines))?;
        }
        if (finding.count == 0) != finding.because_of.is_some() {
            return Err("a finding counts unless it follows from another one".to_owned());
        }
        finding.sites.map_or(Ok(()), |set| self.check_set(set))?;
        finding.caused_by.iter().try_for_each(|edit| known(*edit, &self.edits))?;
        finding.suppressed.iter().try_for_each(|it| point([it.line, 1]))?;
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            stretch([edit.line, edit.column], [edit.end_line, edit.end_column])?;
        }
        Ok(())
    }
}

/// Parts are named by their order.
fn numbered<const LETTER: char>(names: impl Iterator<Item = Id<LETTER>>) -> CheckResult {
    match names.enumerate().find(|(at, name)| name.index() != *at) {
        Some((at, name)) => Err(format!("expected `{}`, found `{name}`", Id::<LETTER>::at(at))),
        None => Ok(()),
    }
}

fn known<const LETTER: char, T>(name: Id<LETTER>, parts: &[T]) -> CheckResult {
    name.of(parts).map(drop).ok_or_else(|| format!("there is no `{name}` in it"))
}

/// A line and a column that a file can have.
fn point(at: [usize; 2]) -> CheckResult {
    const MAX_NUMBER: usize = u32::MAX as usize;
    match at {
        _ if at.contains(&0) => Err("lines and columns count from one".to_owned()),
        _ if at.iter().any(|number| *number > MAX_NUMBER) => {
            Err("no file has so many lines or columns".to_owned())
        }
        _ => Ok(()),
    }
}

fn stretch(start: [usize; 2], end: [usize; 2]) -> CheckResult {
    point(start)?;
    point(end)?;
    if end < start { Err("a stretch ends before it begins".to_owned()) } else { Ok(()) }
}

impl OnSides<FilePlace> {
    fn check(&self) -> CheckResult {
        self.base.iter().chain(&self.head).try_for_each(FilePlace::check)
    }
}

impl FilePlace {
    fn check(&self) -> CheckResult {
        point([self.line, self.column])?;
        self.decoded.iter().try_for_each(|it| point([it.line, it.column]))
    }
}

impl LabelledPlace {
    fn check(&self) -> CheckResult {
        stretch([self.line, self.column], [self.end_line, self.end_column])?;
        let mut decoded = self.decoded.iter();
        decoded.try_for_each(|it| stretch([it.line, it.column], [it.end_line, it.end_column]))
    }
}

impl FileLines {
    /// Lines by number, and parts of one line apart from each other.
    fn check(&self) -> CheckResult {
        let mut before = [0, 0];
        for line in &self.lines {
            line.check()?;
            if [line.line, line.column] < before {
                return Err(format!("the lines of `{}` are not in order", self.file));
            }
            before = [line.line, line.end_column()];
        }
        Ok(())
    }
}

impl SourceLine {
    fn check(&self) -> CheckResult {
        point([self.line, self.column])?;
        let length = self.text.chars().count();
        let mut before = 0;
        for [start, end] in &self.hidden {
            if *start < before || end <= start || *end > length {
                return Err("a hidden part of a line is not in it".to_owned());
            }
            before = end + 1;
        }
        if self.text.contains('\n') { Err("a line has a line break".to_owned()) } else { Ok(()) }
    }

    /// The column behind the text.
    fn end_column(&self) -> usize {
        let hidden: usize = self.hidden.iter().map(|[start, end]| end - start).sum();
        self.column + self.text.chars().count() - hidden
    }
}
