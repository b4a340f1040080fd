//! Which commits changed rendered outputs, for people and for programs.

mod data;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::data::{write_log_json, write_log_markdown};
pub use self::text::{write_commit, write_end};
use crate::compare::Status;
use crate::source::{DocKey, LoggedCommit, RepoPath};

/// Whether all commits that are asked for are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// They are.
    Whole,
    /// There may be more.
    Partial,
}

/// What a commit changed.
#[derive(Clone, Debug)]
pub struct CommitEffect {
    /// The commit.
    pub commit: LoggedCommit,
    /// The sites in which outputs changed, by name.
    pub sites: Vec<SiteEffect>,
    /// The sites that cannot be rendered.
    pub unusable: Vec<UnusableSite>,
}

/// The outputs of a site that a commit changed.
#[derive(Clone, Debug)]
pub struct SiteEffect {
    /// The site.
    pub site: Arc<str>,
    /// Its name before, if that was another.
    pub renamed_from: Option<Arc<str>>,
    /// Ids of the commits before it that cannot be rendered: it may have been one of these.
    pub passed_over: Vec<String>,
    /// The outputs.
    pub outputs: Vec<OutputEffect>,
}

/// An output that a commit changed.
#[derive(Clone, Debug)]
pub struct OutputEffect {
    /// The document.
    pub document: DocKey,
    /// Its name before, if that was another.
    pub renamed_from: Option<DocKey>,
    /// Its fate.
    pub status: Status,
    /// Whether the commit touched the file of the document.
    pub touched: bool,
}

/// A site that cannot be rendered in a commit.
#[derive(Clone, Debug)]
pub struct UnusableSite {
    /// The site.
    pub site: Arc<str>,
    /// The file and line that cannot be read, or used; none if layercake itself failed.
    pub at: Option<(RepoPath, u32)>,
}

/// Number of outputs and sites that a commit reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CommitReach {
    /// Outputs, those of each site counted.
    pub outputs: usize,
    /// Outputs of different schema or name.
    pub distinct: usize,
    /// Sites.
    pub sites: usize,
    /// Outputs in whose file nothing was edited.
    pub untouched: usize,
}

impl CommitEffect {
    /// A commit that changed nothing.
    pub fn of(commit: LoggedCommit) -> Self {
        Self { commit, sites: Vec::new(), unusable: Vec::new() }
    }

    /// Whether it changed an output.
    pub fn is_effective(&self) -> bool {
        !self.sites.is_empty()
    }

    /// How far it reached.
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
