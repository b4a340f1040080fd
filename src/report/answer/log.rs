//! Commits that changed rendered outputs: human-readable, Markdown and JSON.

mod change;
mod data;
mod text;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use self::change::ShownChange;
pub use self::data::{write_log_json, write_log_markdown};
pub use self::text::{write_commit, write_end};
use crate::compare::Status;
use crate::report::story::{Danger, Losses};
use crate::report::{counted, present};
use crate::source::{DocKey, LoggedCommit};

/// Completeness of a log or another history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// All commits were searched.
    Whole,
    /// The requested number of commits was found, and there are more.
    Limited,
    /// The user ended the search.
    Interrupted,
}

impl LogEnd {
    /// Note on earlier commits that may be missing.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            LogEnd::Whole => None,
            LogEnd::Limited => Some("earlier commits are left out (--limit)"),
            LogEnd::Interrupted => Some("interrupted: earlier commits are left out"),
        }
    }
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
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
pub struct OutputEffect {
    /// The document.
    pub document: DocKey,
    /// Previous name of the output, if the commit renamed it.
    pub renamed_from: Option<DocKey>,
    /// Kind of the change.
    pub status: Status,
    /// Whether the commit touched the file of the document.
    #[serde(rename = "own_file")]
    pub touched: bool,
    /// Kind of the danger of the change.
    pub(in crate::report) danger: Danger,
    /// Values, pins and encryption that the output lost.
    #[serde(skip)]
    pub(in crate::report) losses: Losses,
    /// The most dangerous changed value, or else the first; `None` for an added or removed output.
    pub(in crate::report) change: Option<ShownChange>,
}

/// A site that cannot be rendered at a commit.
#[derive(Clone, Debug, Serialize)]
pub struct UnusableSite {
    /// The site.
    pub site: Arc<str>,
    /// File of the error; `None` if layercake itself failed.
    pub file: Option<String>,
    /// Line of the error.
    pub line: Option<u32>,
}

/// Number of outputs and sites that a commit changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
        Self {
            commit,
            sites: Vec::new(),
            unusable: Vec::new(),
        }
    }

    /// Whether the commit changed an output.
    pub fn is_effective(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Returns the number of outputs and sites that the commit changed.
    pub fn reach(&self) -> CommitReach {
        CommitReach {
            outputs: self.outputs().count(),
            distinct: self.documents().len(),
            sites: self.sites.len(),
            untouched: self.outputs().filter(|(_, output)| !output.touched).count(),
        }
    }

    /// Returns all changed outputs with their sites.
    fn outputs(&self) -> impl Iterator<Item = (&SiteEffect, &OutputEffect)> {
        self.sites
            .iter()
            .flat_map(|site| site.outputs.iter().map(move |output| (site, output)))
    }

    /// Returns the changed documents by schema and name, with the number of their sites.
    fn documents(&self) -> BTreeMap<(&str, &str), usize> {
        let mut sites = BTreeMap::new();
        for (_, output) in self.outputs() {
            *sites.entry(output.name()).or_default() += 1;
        }
        sites
    }

    /// Returns the most dangerous changed value, or else the first of the document that changed in
    /// most sites.
    fn change(&self) -> Option<(&SiteEffect, &OutputEffect, &ShownChange)> {
        let sites = self.documents();
        let changes = self.outputs().filter_map(|(site, output)| {
            output.change.as_ref().map(|change| (site, output, change))
        });
        changes.min_by_key(|(_, output, change)| {
            (change.rank, Reverse(sites[&output.name()]), output.name())
        })
    }

    /// Returns what the commit may break.
    fn danger(&self) -> Danger {
        self.outputs()
            .map(|(_, output)| output.danger)
            .min()
            .unwrap_or(Danger::None)
    }

    /// Returns what the outputs lost.
    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        self.outputs()
            .for_each(|(_, output)| losses.add(output.losses, 1));
        losses
    }

    /// Returns the number of outputs with a status.
    fn with_status(&self, status: Status) -> usize {
        self.outputs()
            .filter(|(_, output)| output.status == status)
            .count()
    }

    /// Describes each danger in figures, the most dangerous first.
    fn dangers(&self) -> Vec<String> {
        let kinds = [(Status::Removed, "removed"), (Status::Broken, "broken")];
        let outputs = kinds.map(|(status, word)| {
            let count = self.with_status(status);
            (count, format!("{} {word}", counted(count, "output")))
        });
        present(outputs)
            .into_iter()
            .chain(self.losses().describe())
            .collect()
    }
}

impl OutputEffect {
    /// Returns the schema and the name of the document.
    fn name(&self) -> (&str, &str) {
        (&self.document.schema, &self.document.name)
    }
}
