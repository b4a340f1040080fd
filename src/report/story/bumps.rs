//! Version bumps of further repositories: their effects, and the commits between the revisions.

use std::collections::BTreeSet;

use super::repositories::{name_and_revisions, shortened};
use super::sites::{SiteIndices, SiteNames};
use crate::report::model::{Report, ReportedEdit, RepositoryUse};
use crate::report::text::StyledText;
use crate::report::{counted, present};
use crate::source::{Commit, History, UsedRevision};

/// Commits between two revisions of a further repository.
pub(crate) struct Commits {
    /// Repository with both revisions, and the number of commits.
    pub(crate) title: StyledText,
    /// Latest commits.
    pub(crate) listed: Vec<StyledText>,
    /// Number of further commits.
    pub(crate) more: usize,
}

/// Describes the effect of each bump in a sentence.
pub(super) fn bumps(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    bumped(report)
        .map(|(index, used)| {
            let reach = BumpReach::of(report, index, sites);
            let commits = used.history.as_ref().map(commits).unwrap_or_default();
            let edits = StyledText::strong(counted(reach.edits, "edit"));
            let found = StyledText::list([commits, edits], ", ");
            let title = name_and_revisions(used, true);
            title
                .and(": ")
                .join(found)
                .and("; ")
                .join(reach.words(sites))
        })
        .collect()
}

/// Returns the commits of each bump, if known.
pub(super) fn commits_of_bumps(report: &Report) -> Vec<Commits> {
    let of = |(_, used): (usize, &RepositoryUse)| {
        let history = used
            .history
            .as_ref()
            .filter(|history| !history.commits.is_empty())?;
        Some(Commits {
            title: name_and_revisions(used, true)
                .and(": ")
                .join(commits(history)),
            listed: history.commits.iter().map(line).collect(),
            more: history.added.saturating_sub(history.commits.len()),
        })
    };
    bumped(report).filter_map(of).collect()
}

/// Returns the further repositories whose commits differ between the sides.
fn bumped(report: &Report) -> impl Iterator<Item = (usize, &RepositoryUse)> {
    let is_compared = report.comparison.is_some();
    report
        .repositories
        .iter()
        .enumerate()
        .filter(move |(_, used)| match (&used.base, &used.head) {
            (Some(base), Some(head)) => {
                is_compared && !is_unread(base, head) && base.commit != head.commit
            }
            (Some(_), None) | (None, _) => false,
        })
}

/// Whether either revision cannot be read.
fn is_unread(base: &UsedRevision, head: &UsedRevision) -> bool {
    [base, head]
        .iter()
        .any(|it| it.revision.is_some() && it.commit.is_none())
}

fn commits(history: &History) -> StyledText {
    let at_least = if history.shallow { "at least " } else { "" };
    let words = |count: usize, what: &str| format!("{at_least}{}", counted(count, what));
    StyledText::plain(match (history.added, history.removed) {
        (added, 0) => words(added, "commit"),
        (0, removed) => format!("{} dropped", words(removed, "commit")),
        (added, removed) => {
            format!(
                "{}, and {} dropped",
                words(added, "commit"),
                counted(removed, "commit")
            )
        }
    })
}

fn line(commit: &Commit) -> StyledText {
    StyledText::name(shortened(&commit.id))
        .and(" ")
        .and(&commit.subject)
}

/// Effects of the edits between two revisions.
struct BumpReach {
    edits: usize,
    outputs: usize,
    sites: SiteIndices,
    /// Number of edits that are shielded in any site.
    shielded: usize,
    /// Number of inert edits.
    inert: usize,
}

impl BumpReach {
    fn of(report: &Report, repository: usize, sites: &SiteNames<'_>) -> Self {
        let is_of_bump = |edit: &&ReportedEdit| edit.repository == Some(repository);
        let edits: Vec<&ReportedEdit> = report.edits.iter().filter(is_of_bump).collect();
        let ids: BTreeSet<_> = edits.iter().map(|edit| edit.id).collect();
        let shielded: BTreeSet<_> = report.shields.iter().map(|shield| shield.edit).collect();
        let reached: Vec<SiteIndices> = report
            .outputs
            .iter()
            .filter(|output| {
                report
                    .edits_of(output)
                    .iter()
                    .any(|edit| ids.contains(edit))
            })
            .map(|output| sites.in_set(output.sites))
            .collect();
        Self {
            edits: edits.len(),
            outputs: reached.iter().map(|sites| sites.len().max(1)).sum(),
            sites: reached.into_iter().flatten().collect(),
            shielded: ids.intersection(&shielded).count(),
            inert: report.inert_edits().filter(is_of_bump).count(),
        }
    }

    fn words(&self, sites: &SiteNames<'_>) -> StyledText {
        if self.edits == 0 {
            return StyledText::plain("no document changed");
        }
        let change = |count: usize| if count == 1 { "changes" } else { "change" };
        let changed = match self.outputs {
            0 => StyledText::plain("no output changes"),
            count => StyledText::strong(counted(count, "output"))
                .and(format!(" {} in ", change(count)))
                .join(sites.phrase(&self.sites)),
        };
        let are = if self.shielded == 1 { "is" } else { "are" };
        let others = present([
            (
                self.shielded,
                format!("{} {are} shielded", counted(self.shielded, "edit")),
            ),
            (
                self.inert,
                format!("{} {} nothing here", self.inert, change(self.inert)),
            ),
        ])
        .into_iter()
        .map(StyledText::plain);
        StyledText::list([changed].into_iter().chain(others), ", ")
    }
}
