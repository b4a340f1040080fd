//! `layercake lint`: everything that is wrong; with two sides, what changed
//! too, and what is wrong since.

use crate::check::{Checked, Progress, check};
use crate::commands::compare::{self, ComparisonOutcome, ComparisonRequest, SitesToRead};
use crate::commands::configuration::FoundConfiguration;
use crate::commands::{Selection, Workspace};
use crate::error::Error;

/// What was checked.
#[derive(Debug)]
pub enum Linted {
    /// One side, and what is configured.
    One(Box<Checked<()>>, Box<FoundConfiguration>),
    /// Two, compared.
    Two(Box<ComparisonOutcome>),
}

/// Checks what the selection names, and compares it as far as the request
/// asks for that.
///
/// # Errors
/// Where the work cannot be done; faults of documents are findings.
pub fn run(
    selection: &Selection,
    request: &ComparisonRequest,
    progress: &Progress,
) -> Result<Linted, Error> {
    if let Some(outcome) = compare::run(selection, request, SitesToRead::All, progress)? {
        return Ok(Linted::Two(Box::new(outcome)));
    }
    let workspace = Workspace::open(selection)?;
    let checked = check(&workspace.plan(progress), |_| ())?;
    Ok(Linted::One(Box::new(checked), Box::new(workspace.configured)))
}
