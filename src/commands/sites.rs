//! `layercake sites`: the sites and their size.

use std::sync::Arc;

use crate::check::{Answer, CheckedSite, RunControl, Work, ask_sites};
use crate::commands::{Project, Selection};
use crate::deployment::Deployment;
use crate::error::Error;
use crate::report::SiteRow;

/// Sites of a repository.
#[derive(Debug)]
pub struct Listed {
    /// Sites with a usable definition.
    pub rows: Vec<SiteRow>,
    /// Names of sites whose definition is missing or broken.
    pub undefined: Vec<Arc<str>>,
    /// Whether a part of layercake failed.
    pub internal_error: bool,
}

/// Lists the selected sites.
///
/// # Errors
/// If a step fails.
pub fn run(selection: &Selection, control: &RunControl) -> Result<Listed, Error> {
    let project = Project::open(selection)?;
    let checked = ask_sites(&project.plan(control), Work::Relate, |site| {
        let needed = site.unrequested(Deployment::needed(site.graph));
        Answer::after(needed, || Deployment::of(site.graph, site.rendered).count())
    })?;
    Ok(Listed {
        rows: checked.sites.iter().map(row).collect(),
        undefined: checked.undefined,
        internal_error: checked.internal_error,
    })
}

fn row(site: &CheckedSite<Option<usize>>) -> SiteRow {
    SiteRow {
        site: site.name.clone(),
        site_type: site.site_type.clone(),
        files: site.files,
        documents: site.documents,
        outputs: site.outputs,
        deployed: site.taken.flatten(),
    }
}
