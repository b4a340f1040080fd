//! `layercake sites`: which sites there are, and what they are made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::{Checked, CheckedSite, Progress, check};
use crate::commands::{Selection, Workspace};
use crate::error::Error;
use crate::report::SiteRow;

/// The sites of a repository.
#[derive(Debug)]
pub struct Listed {
    /// Those that could be rendered.
    pub rows: Vec<SiteRow>,
    /// The names of those whose definition is missing or broken.
    pub undefined: Vec<Arc<str>>,
    /// Whether a part of layercake itself failed.
    pub internal_error: bool,
}

/// The sites that the selection names, rendered to be counted.
///
/// # Errors
/// Where the work cannot be done.
pub fn run(selection: &Selection, progress: &Progress) -> Result<Listed, Error> {
    let workspace = Workspace::open(selection)?;
    let checked = check(&workspace.plan(progress), |_| ())?;
    Ok(Listed {
        rows: checked.sites.iter().map(row).collect(),
        undefined: undefined(&checked),
        internal_error: checked.internal_error,
    })
}

fn row(site: &CheckedSite<()>) -> SiteRow {
    SiteRow {
        site: site.name.clone(),
        site_type: site.site_type.clone(),
        files: site.files,
        documents: site.documents,
        outputs: site.outputs,
    }
}

/// The sites that findings speak of and that were not rendered.
fn undefined(checked: &Checked<()>) -> Vec<Arc<str>> {
    let rendered: BTreeSet<_> = checked.sites.iter().map(|site| site.name.as_ref()).collect();
    let named = checked.findings.diagnostics.iter().flat_map(|finding| &finding.sites);
    let undefined: BTreeSet<_> = named.filter(|name| !rendered.contains(&Some(name))).collect();
    undefined.into_iter().cloned().collect()
}
