//! `layercake lint`: all findings; with two sides, the changed outputs and the new findings.

use crate::check::{Checked, RunControl, check};
use crate::commands::compare::{self, ComparisonOutcome, ComparisonRequest, SitesToRead};
use crate::commands::configuration::FoundConfiguration;
use crate::commands::{Project, Selection};
use crate::error::Error;
use crate::report::model::ReportedRepository;

/// Result of `lint`.
#[derive(Debug)]
pub enum Linted {
    /// One side, with its configuration and its repository.
    One(
        Box<Checked<()>>,
        Box<FoundConfiguration>,
        Option<ReportedRepository>,
    ),
    /// A comparison of two sides.
    Two(Box<ComparisonOutcome>),
}

/// Checks what the selection names, and compares it if requested.
///
/// # Errors
/// If a step fails; faults of documents are findings.
pub fn run(
    selection: &Selection,
    request: &ComparisonRequest,
    reading: SitesToRead,
    control: &RunControl,
) -> Result<Linted, Error> {
    if let Some(outcome) = compare::run(selection, request, reading, control)? {
        return Ok(Linted::Two(Box::new(outcome)));
    }
    let project = Project::open(selection)?;
    let checked = check(&project.plan(control), |_| ())?;
    let repository = compare::checked_repository(selection)?;
    Ok(Linted::One(
        Box::new(checked),
        Box::new(project.configured),
        repository,
    ))
}
