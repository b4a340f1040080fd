//! `layercake lint`: everything that is wrong.

use crate::check::{Checked, Progress, check};
use crate::commands::{Selection, Workspace};
use crate::error::Error;

/// Checks what the selection names.
///
/// # Errors
/// Where the work cannot be done; faults of documents are findings.
pub fn run(selection: &Selection, progress: &Progress) -> Result<Checked<()>, Error> {
    let workspace = Workspace::open(selection)?;
    check(&workspace.plan(progress), |_| ())
}
