//! `layercake debug parse`: reads and parses the files that `lint` would, and does nothing else.
//! The baseline for measuring the cost of other verbs.

use crate::check::{ParseTotals, RunControl, parse};
use crate::commands::{Project, Selection};
use crate::error::Error;

/// Reads and parses the files.
///
/// # Errors
/// If a step fails.
pub fn run(selection: &Selection, control: &RunControl) -> Result<ParseTotals, Error> {
    let project = Project::open(selection)?;
    parse(&project.plan(control))
}
