//! External repositories for reports: the revisions that were read, and the commits between them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Span;

/// An external repository, for sites that read the same revisions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRepository {
    /// Prefix of the paths of its files: `NAME:path`.
    pub name: Arc<str>,
    /// Names of the sites.
    pub sites: BTreeSet<Arc<str>>,
    /// Revision on the base side; `None` without a comparison, or if these sites did not use the
    /// repository.
    pub base: Option<UsedRevision>,
    /// Revision on the head side; `None` if these sites no longer use the repository.
    pub head: Option<UsedRevision>,
    /// Commits between both revisions; `None` if they are the same or unknown.
    pub history: Option<History>,
    /// Line that pins the head revision for one of the sites, if it is in the checked repository.
    pub pin: Option<Span>,
    /// Configured link template.
    pub links: Option<Arc<str>>,
}

/// A revision of an external repository, with its origin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
pub struct UsedRevision {
    /// Origin of the choice.
    pub chosen_by: RevisionChoice,
    /// Name of the revision, such as `v1.8`, if any.
    pub revision: Option<Arc<str>>,
    /// Full commit id; `None` if files are read from a folder or the revision cannot be read.
    pub commit: Option<Arc<str>>,
}

/// Origin of the revision of an external repository.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RevisionChoice {
    /// The site definition.
    Pin,
    /// The user, overriding all pins.
    Override,
    /// The commit checked out in the clone, by default.
    CheckedOut,
    /// Files of the folder: chosen by the user, or because it is not a git clone.
    Folder,
}

/// Commits between two revisions, as in `git log`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct History {
    /// Commits only in the second revision, latest first; at most `History::MAX_COMMITS`.
    pub commits: Vec<Commit>,
    /// Total number of these commits.
    pub added: usize,
    /// Number of commits only in the first revision.
    pub removed: usize,
    /// Whether commits may be missing because the clone is shallow.
    pub shallow: bool,
}

impl History {
    /// Maximum number of listed commits.
    pub(crate) const MAX_COMMITS: usize = 20;
    /// Maximum number of characters of a subject.
    const MAX_SUBJECT: usize = 200;

    /// Subject line of a commit message.
    pub(crate) fn subject(message: &[u8]) -> String {
        let line = message
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        line.trim().chars().take(Self::MAX_SUBJECT).collect()
    }
}

/// A commit as in `git log --oneline`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Commit {
    /// Full id.
    pub id: String,
    /// Subject line of the message.
    pub subject: String,
}
