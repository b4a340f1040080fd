//! Commits that changed rendered outputs: human-readable, Markdown and JSON.

mod data;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::data::{write_log_json, write_log_markdown};
pub use self::text::{write_commit, write_end};
use crate::compare::Status;
use crate::source::{DocKey, LoggedCommit, RepoPath};

/// Completeness of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// All requested commits are listed.
    Whole,
    /// Earlier commits may be missing.
    Partial,
}

/// Effect of a commit on the outputs.
#[derive(Clone, Debug)]
pub struct CommitEffect {
    /// The commit.
    pub commit: LoggedCommit,
    /// Sites with changed outputs, by name.
    pub sites: Vec<SiteEffect>,
    /// Sites that cannot be rendered at this commit.
    pub unusable: Vec<UnusableSite>,
}

/// The outputs of a site that a commit changed.
#[derive(Clone, Debug)]
pub struct SiteEffect {
    /// The site.
    pub site: Arc<str>,
    /// Previous name of the site, if the commit renamed it.
    pub renamed_from: Option<Arc<str>>,
    /// Ids of skipped earlier commits that cannot be rendered; the change may have happened in one
    /// of them.
    pub passed_over: Vec<String>,
    /// Changed outputs.
    pub outputs: Vec<OutputEffect>,
}

/// A change of one output.
#[derive(Clone, Debug)]
pub struct OutputEffect {
    /// The document.
    pub document: DocKey,
    /// Previous name of the output, if the commit renamed it.
    pub renamed_from: Option<DocKey>,
    /// Kind of the change.
    pub status: Status,
    /// Whether the commit touched the file of the document.
    pub touched: bool,
}

/// A site that cannot be rendered at a commit.
#[derive(Clone, Debug)]
pub struct UnusableSite {
    /// The site.
    pub site: Arc<str>,
    /// File and line of the error; `None` if layercake itself failed.
    pub at: Option<(RepoPath, u32)>,
}

/// Number of outputs and sites that a commit changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CommitReach {
    /// Number of changed outputs, counted per site.
    pub outputs: usize,
    /// Number of distinct changed documents, by schema and name.
    pub distinct: usize,
    /// Number of sites with changed outputs.
    pub sites: usize,
    /// Number of changed outputs whose own file was not edited.
    pub untouched: usize,
}

impl CommitEffect {
    /// Creates the effect of a commit without changes.
    pub fn of(commit: LoggedCommit) -> Self {
        Self { commit, sites: Vec::new(), unusable: Vec::new() }
    }

    /// Whether the commit changed an output.
    pub fn is_effective(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Returns the number of outputs and sites that the commit changed.
    pub fn reach(&self) -> CommitReach {
        let outputs = || self.sites.iter().flat_map(|site| &site.outputs);
        let names = outputs().map(|output| (&output.document.schema, &output.document.name));
        CommitReach {
            outputs: outputs().count(),
            distinct: names.collect::<BTreeSet<_>>().len(),
            sites: self.sites.len(),
            untouched: outputs().filter(|output| !output.touched).count(),
        }
    }
}
