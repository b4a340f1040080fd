//! `layercake debug parse`: reads and parses the files that `lint` would, and
//! nothing else. The unit in which the cost of other verbs is measured.

use crate::check::{ParseTotals, Progress, parse};
use crate::commands::{Selection, Workspace};
use crate::error::Error;

/// Reads and parses.
///
/// # Errors
/// Where the work cannot be done.
pub fn run(selection: &Selection, progress: &Progress) -> Result<ParseTotals, Error> {
    let workspace = Workspace::open(selection)?;
    parse(&workspace.plan(progress))
}
