//! Reading of saved reports, which are untrusted: everything must conform to the schema.
//!
//! This module also checks what the schema cannot express: that every referenced id exists, and
//! that numbers are in range.

use std::fmt::{self, Display};

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::id::Id;
use super::{
    FilePlace, Finding, LabelledPlace, OnSides, REPORT_VERSION, Report, ReportedCause,
    RepositoryUse, SCHEMA, SetRef, SourceLine,
};
use crate::report::model::FileLines;

/// Error for a file that is not a valid report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportReadError {
    /// Not a report of layercake, or a damaged one, for this reason.
    Other(String),
    /// A report with this other schema.
    Version(String),
}

impl Display for ReportReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportReadError::Other(fault) => write!(out, "not a report of `layercake`: {fault}"),
            ReportReadError::Version(schema) => {
                write!(
                    out,
                    "expected a report with schema `{SCHEMA}`, found `{schema}`"
                )
            }
        }
    }
}

/// Fields of a report that are the same in every version.
#[derive(Deserialize)]
struct Heading {
    schema: String,
    version: u32,
}

/// Reads a report written by [`super::write`] of this version, or of a later one that only added
/// fields.
///
/// # Errors
/// Returns an error if the text is not such a report.
pub fn read(text: &str) -> Result<Report, ReportReadError> {
    let fault = |error: serde_json::Error| ReportReadError::Other(error.to_string());
    let heading: Heading = serde_json::from_str(text).map_err(fault)?;
    if heading.schema != SCHEMA || heading.version != REPORT_VERSION {
        return Err(ReportReadError::Version(heading.schema));
    }
    let _: NumbersInRange = serde_json::from_str(text).map_err(fault)?;
    let report: Report = serde_json::from_str(text).map_err(fault)?;
    report.check().map_err(ReportReadError::Other)?;
    Ok(report)
}

type CheckResult = Result<(), String>;

/// Maximum of a number in a report: sums of numbers up to this one cannot overflow.
const MAX_NUMBER: u64 = u32::MAX as u64;

/// Any JSON value whose integers are at most [`MAX_NUMBER`], except for values of documents.
struct NumbersInRange;

impl<'de> Deserialize<'de> for NumbersInRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = NumbersInRange;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a JSON value with integers up to {MAX_NUMBER}")
    }

    fn visit_bool<E>(self, _: bool) -> Result<NumbersInRange, E> {
        Ok(NumbersInRange)
    }

    fn visit_i64<E>(self, _: i64) -> Result<NumbersInRange, E> {
        Ok(NumbersInRange)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<NumbersInRange, E> {
        if number <= MAX_NUMBER {
            return Ok(NumbersInRange);
        }
        Err(E::custom(format!(
            "expected a number up to {MAX_NUMBER}, found {number}"
        )))
    }

    fn visit_f64<E>(self, _: f64) -> Result<NumbersInRange, E> {
        Ok(NumbersInRange)
    }

    fn visit_str<E>(self, _: &str) -> Result<NumbersInRange, E> {
        Ok(NumbersInRange)
    }

    fn visit_unit<E>(self) -> Result<NumbersInRange, E> {
        Ok(NumbersInRange)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NumbersInRange, A::Error> {
        while items.next_element::<NumbersInRange>()?.is_some() {}
        Ok(NumbersInRange)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<NumbersInRange, A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            // Values of documents may have any size; no sums are made of them.
            if key == "value" {
                entries.next_value::<IgnoredAny>()?;
            } else {
                entries.next_value::<NumbersInRange>()?;
            }
        }
        Ok(NumbersInRange)
    }
}

impl Report {
    fn check(&self) -> CheckResult {
        check_numbering(self.site_sets.iter().map(|it| it.id))?;
        check_numbering(self.edits.iter().map(|it| it.id))?;
        check_numbering(self.edit_sets.iter().map(|it| it.id))?;
        check_numbering(self.groups.iter().map(|it| it.id))?;
        check_numbering(self.routes.iter().map(|it| it.id))?;
        check_numbering(self.lines.iter().map(|it| it.id))?;
        self.check_sites()?;
        self.repositories
            .iter()
            .try_for_each(|it| self.check_repository(it))?;
        self.check_changes()?;
        self.findings
            .iter()
            .try_for_each(|finding| self.check_finding(finding))?;
        self.lines.iter().try_for_each(FileLines::check)
    }

    fn check_sites(&self) -> CheckResult {
        for set in &self.site_sets {
            let is_ascending = set.sites.windows(2).all(|pair| pair[0] < pair[1]);
            if !is_ascending
                || set
                    .sites
                    .last()
                    .is_some_and(|last| *last >= self.sites.len())
            {
                return Err(format!("the site set `{}` refers to unknown sites", set.id));
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
            edit.renames
                .map_or(Ok(()), |removed| check_id(removed, &self.edits))?;
            self.check_set(edit.reach.sites)?;
            edit.reach
                .kept
                .map_or(Ok(()), |kept| self.check_set(kept.sites))?;
            edit.reach
                .shielded
                .map_or(Ok(()), |sites| self.check_set(sites))?;
        }
        for edits in self.edit_sets.iter().flat_map(|set| &set.edits) {
            check_id(*edits, &self.edits)?;
        }
        for group in &self.groups {
            group
                .changes
                .iter()
                .try_for_each(|change| change.at.check())?;
            self.check_set(group.sites)?;
        }
        for output in &self.outputs {
            check_id(output.group, &self.groups)?;
            self.check_set(output.sites)?;
            let mut edit_sets = std::iter::once(&output.edits).chain(&output.changed_by);
            edit_sets.try_for_each(|set| check_id(*set, &self.edit_sets))?;
            output
                .causes
                .iter()
                .try_for_each(|cause| self.check_cause(cause))?;
        }
        for route in &self.routes {
            if route.steps.is_empty() {
                return Err(format!("the route `{}` has no steps", route.id));
            }
            route
                .steps
                .iter()
                .flat_map(|step| &step.at)
                .try_for_each(FilePlace::check)?;
        }
        for shield in &self.shields {
            check_id(shield.edit, &self.edits)?;
            self.check_set(shield.sites)?;
            shield.by.iter().try_for_each(FilePlace::check)?;
        }
        for found in &self.consequences {
            self.check_set(found.sites)?;
            let mut edits = found.effects.iter().flat_map(|effect| &effect.edits);
            edits.try_for_each(|edit| check_id(*edit, &self.edits))?;
        }
        Ok(())
    }

    fn check_cause(&self, cause: &ReportedCause) -> CheckResult {
        check_id(cause.edit, &self.edits)?;
        check_id(cause.route, &self.routes)?;
        cause
            .joint
            .iter()
            .try_for_each(|edit| check_id(*edit, &self.edits))
    }

    fn check_set(&self, set: SetRef) -> CheckResult {
        check_id(set, &self.site_sets)
    }

    fn check_finding(&self, finding: &Finding) -> CheckResult {
        for label in std::iter::once(&finding.primary).chain(&finding.related) {
            label.check()?;
            label
                .text
                .map_or(Ok(()), |text| check_id(text, &self.lines))?;
        }
        if (finding.count == 0) != finding.because_of.is_some() {
            return Err("expected a `count` of at least 1 unless `because_of` is set".to_owned());
        }
        finding.sites.map_or(Ok(()), |set| self.check_set(set))?;
        finding
            .caused_by
            .iter()
            .try_for_each(|edit| check_id(*edit, &self.edits))?;
        finding
            .suppressed
            .iter()
            .try_for_each(|it| check_position([it.line, 1]))?;
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            check_range([edit.line, edit.column], [edit.end_line, edit.end_column])?;
        }
        Ok(())
    }
}

/// Checks that ids are numbered consecutively.
fn check_numbering<const LETTER: char>(names: impl Iterator<Item = Id<LETTER>>) -> CheckResult {
    match names.enumerate().find(|(at, name)| name.index() != *at) {
        Some((at, name)) => Err(format!(
            "expected `{}`, found `{name}`",
            Id::<LETTER>::at(at)
        )),
        None => Ok(()),
    }
}

fn check_id<const LETTER: char, T>(name: Id<LETTER>, parts: &[T]) -> CheckResult {
    parts
        .get(name.index())
        .map(drop)
        .ok_or_else(|| format!("unknown id `{name}`"))
}

/// Checks that a line and a column are valid.
fn check_position(at: [usize; 2]) -> CheckResult {
    if at.contains(&0) {
        Err("lines and columns start at 1".to_owned())
    } else {
        Ok(())
    }
}

fn check_range(start: [usize; 2], end: [usize; 2]) -> CheckResult {
    check_position(start)?;
    check_position(end)?;
    if end < start {
        Err("a range ends before it begins".to_owned())
    } else {
        Ok(())
    }
}

impl OnSides<FilePlace> {
    fn check(&self) -> CheckResult {
        self.base
            .iter()
            .chain(&self.head)
            .try_for_each(FilePlace::check)
    }
}

impl FilePlace {
    fn check(&self) -> CheckResult {
        check_position([self.line, self.column])?;
        self.decoded
            .iter()
            .try_for_each(|it| check_position([it.line, it.column]))
    }
}

impl LabelledPlace {
    fn check(&self) -> CheckResult {
        check_range([self.line, self.column], [self.end_line, self.end_column])?;
        let mut decoded = self.decoded.iter();
        decoded.try_for_each(|it| check_range([it.line, it.column], [it.end_line, it.end_column]))
    }
}

impl FileLines {
    /// Checks that lines are ordered by number and that parts of a line do not overlap.
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
        check_position([self.line, self.column])?;
        let length = self.text.chars().count();
        let mut before = 0;
        for [start, end] in &self.hidden {
            if *start < before || end <= start || *end > length {
                return Err("a `hidden` range is outside of its line".to_owned());
            }
            before = end + 1;
        }
        if self.text.contains('\n') {
            Err("a line contains a line break".to_owned())
        } else {
            Ok(())
        }
    }

    /// Returns the column after the text.
    fn end_column(&self) -> usize {
        let hidden: usize = self.hidden.iter().map(|[start, end]| end - start).sum();
        self.column + self.text.chars().count() - hidden
    }
}
