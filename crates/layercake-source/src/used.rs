//! Further repositories as reports show them: which revisions were read, and the commits between
//! them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Span;

/// A further repository, in the sites that read the same revisions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRepository {
    /// The name with which the paths of its files begin: `NAME:path`.
    pub name: Arc<str>,
    /// The sites, by name.
    pub sites: BTreeSet<Arc<str>>,
    /// The revision of the base side; none without a comparison, or where these sites did not
    /// use the repository.
    pub base: Option<UsedRevision>,
    /// The revision of the head side; none where these sites do not use it any more.
    pub head: Option<UsedRevision>,
    /// The commits between both; none where they are the same, or not known.
    pub history: Option<History>,
    /// The line that pins the head's revision in one of the sites, in a file of the repository
    /// that is checked; none where no line does.
    pub pin: Option<Span>,
    /// The template of links to its lines, as it is configured.
    pub links: Option<Arc<str>>,
}

/// A revision of a further repository, and what chose it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
pub struct UsedRevision {
    /// What chose it.
    pub chosen_by: RevisionChoice,
    /// What that calls it, such as `v1.8`; none where it has no name.
    pub revision: Option<Arc<str>>,
    /// The commit, in full; none where files are read from a folder, and where the revision
    /// cannot be read.
    pub commit: Option<Arc<str>>,
}

/// What chose the revision of a further repository.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RevisionChoice {
    /// The site definition.
    Pin,
    /// The user, in place of every pin.
    Override,
    /// The clone, as nothing else says: what is checked out there.
    CheckedOut,
    /// The user or, outside git, the clone: files as they are in its folder.
    Folder,
}

/// The commits between two revisions, as `git log` lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct History {
    /// Those that the second has and the first has not, the latest first; at most
    /// `History::MAX_COMMITS`.
    pub commits: Vec<Commit>,
    /// Number of all of them.
    pub added: usize,
    /// Number of those that the first has and the second has not.
    pub removed: usize,
    /// Whether there may be more, as the clone is shallow.
    pub shallow: bool,
}

impl History {
    /// Maximum number of commits that are listed.
    pub(crate) const MAX_COMMITS: usize = 20;
    /// Maximum number of characters of a subject.
    const MAX_SUBJECT: usize = 200;

    /// The subject in the message of a commit.
    pub(crate) fn subject(message: &[u8]) -> String {
        let line = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        line.trim().chars().take(Self::MAX_SUBJECT).collect()
    }
}

/// A commit as `git log --oneline` shows it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Commit {
    /// Its id, in full.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}
