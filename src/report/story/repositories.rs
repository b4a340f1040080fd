//! Revisions of further repositories, one per line.

use super::sites::SiteNames;
use crate::report::model::{Report, RepositoryUse};
use crate::report::text::StyledText;
use crate::source::{RevisionChoice, UsedRevision};

/// Number of digits that identify a commit of a repository in practice.
const COMMIT_DIGITS: usize = 7;

/// Maximum number of header lines.
const MAX_LINES: usize = 6;

/// Returns the header lines, those with different revisions first.
pub(super) fn header_lines(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    let mut lines: Vec<_> = report
        .repositories
        .iter()
        .zip(used_repositories(report, sites))
        .collect();
    lines.sort_by_key(|(used, _)| used.base == used.head);
    let mut lines: Vec<StyledText> = lines.into_iter().map(|(_, line)| line).collect();
    if lines.len() > MAX_LINES {
        let more = lines.len() - (MAX_LINES - 1);
        lines.truncate(MAX_LINES - 1);
        lines.push(StyledText::plain(format!(
            "{more} more: see the JSON report"
        )));
    }
    lines
}

/// Formats each further repository as `NAME REVISION in SITES`, with both revisions if they differ.
pub(crate) fn used_repositories(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    report
        .repositories
        .iter()
        .map(|used| {
            name_and_revisions(used, report.comparison.is_some())
                .join(sites.phrase_of(used.sites).prefixed(" in "))
        })
        .collect()
}

/// Formats a repository with its revision, or with both if two are compared and differ.
pub(super) fn name_and_revisions(used: &RepositoryUse, is_compared: bool) -> StyledText {
    StyledText::strong(&used.name)
        .and(" ")
        .join(revisions(used, is_compared))
}

fn revisions(used: &RepositoryUse, is_compared: bool) -> StyledText {
    let in_full =
        |it: &Option<UsedRevision>| it.as_ref().map_or(StyledText::plain("not used"), in_full);
    if !is_compared || used.base == used.head {
        return in_full(&used.head);
    }
    let sides = match (pinned(used.base.as_ref()), pinned(used.head.as_ref())) {
        // Two different names are sufficient; if they are equal, the commits differ.
        (Some(base), Some(head)) if base != head => [base, head].map(StyledText::name).to_vec(),
        _ => [&used.base, &used.head].map(in_full).to_vec(),
    };
    StyledText::list(sides, " → ")
}

/// Returns the name of a pinned revision.
fn pinned(revision: Option<&UsedRevision>) -> Option<String> {
    let revision = revision.filter(|it| it.chosen_by == RevisionChoice::Pin)?;
    revision
        .revision
        .as_deref()
        .map(|name| name_of(name, revision.commit.as_deref()))
}

/// Formats a revision: name, commit, and whether it is the pinned one.
fn in_full(revision: &UsedRevision) -> StyledText {
    let commit = revision.commit.as_deref();
    let name = revision
        .revision
        .as_deref()
        .map(|name| name_of(name, commit));
    let chosen = match revision.chosen_by {
        RevisionChoice::Pin => "pinned",
        RevisionChoice::Override => "not the pin",
        RevisionChoice::CheckedOut => return StyledText::plain("working tree (no pin)"),
        RevisionChoice::Folder => return StyledText::plain("working tree (not the pin)"),
    };
    match (name, commit.map(shortened)) {
        (name, None) => StyledText::name(name.unwrap_or_default()).and(" (cannot be read)"),
        (Some(name), Some(digits)) if name != digits => {
            StyledText::name(name).and(format!(" ({chosen}, {digits})"))
        }
        (_, Some(digits)) => StyledText::name(digits).and(format!(" ({chosen})")),
    }
}

/// Returns the name of a revision, abbreviated if it is the commit id.
fn name_of(name: &str, commit: Option<&str>) -> String {
    match commit {
        Some(commit) if name.len() > COMMIT_DIGITS && commit.starts_with(name) => shortened(commit),
        Some(_) | None => name.to_owned(),
    }
}

pub(super) fn shortened(commit: &str) -> String {
    commit.chars().take(COMMIT_DIGITS).collect()
}
