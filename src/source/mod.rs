//! Which bytes, from where: files of a tree, their texts, places in them.
//!
//! A [`FileId`] stands for one path *and* one content. Nothing here knows
//! YAML or Deckhand, and nothing here prints.

mod git;
mod interrupt;
mod nested;
mod span;
mod text;
mod tree;
mod write;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

pub use git::{NewCommit, Repository, StagedSides, StoredTree, is_same_address};
pub use nested::Nested;
pub(crate) use span::offset;
pub use span::{LineIndex, NumberedInput, Position, Span, Spanned};
pub use text::{Encoding, Source, SourceMap, TextFault};
pub use tree::{
    ContentId, Entry, EntryKind, Excluding, Labelled, ListedFiles, MemoryTree, Overlay, ReadError,
    Tree, WorkTree, bytes_at, names_in, text_at,
};
pub use write::{
    create_empty_folder, create_folder, create_new_folder, real_place, refuse_git, stays_inside,
    write_file, write_files, write_own_file,
};

/// One path and one content; made by [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u32);

/// A path inside a repository: UTF-8, `/` between its parts, relative to the
/// repository's root; the root itself is empty.
///
/// A file of a further repository (`--repository NAME=PATH`) is written
/// `NAME:path`, so that it can never be taken for one of the first; that
/// repository's root is `NAME:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Arc<str>);

impl RepoPath {
    /// `path` as it stands; the caller has made it relative and `/`-separated.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(path.into())
    }

    /// The path of a place on disk in the repository whose root is `root`; none
    /// where it lies outside, or where its name is not UTF-8.
    pub fn of_place(root: &Path, place: &Path) -> Option<Self> {
        let inside = place.strip_prefix(root).ok()?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        Some(Self::new(parts?.join("/")))
    }

    /// The path's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of `name` inside this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        if self.is_root() {
            Self::new(format!("{}{name}", self.0))
        } else {
            Self::new(format!("{}/{name}", self.0))
        }
    }

    /// The parts between the slashes.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// What is left of the path below `folder`, if it is inside it.
    pub fn below(&self, folder: &RepoPath) -> Option<&str> {
        let rest = self.0.strip_prefix(&*folder.0)?;
        if folder.is_root() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// Whether this is the root of a repository, the first or a further one.
    pub fn is_root(&self) -> bool {
        self.0.is_empty() || (self.0.ends_with(':') && !self.0.contains('/'))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
    /// [`History::MAX_COMMITS`].
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
    pub const MAX_COMMITS: usize = 20;
    /// Maximum number of characters of a subject.
    pub const MAX_SUBJECT: usize = 200;
}

/// A commit as `git log --oneline` shows it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Commit {
    /// Its id, in full.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}

/// What a user calls a document: Deckhand's identity triple
/// (`deckhand.md` 2.1), with `""` for what the document does not say.
///
/// Cheap to clone: every site that has the document, and every finding about it,
/// names it by this.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
pub struct DocKey(Arc<Triple>);

/// What a [`DocKey`] says.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize)]
pub struct Triple {
    /// `schema`, e.g. `armada/Chart/v1`.
    pub schema: Arc<str>,
    /// `metadata.layeringDefinition.layer`.
    pub layer: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

impl DocKey {
    /// The key of a document that says this of itself.
    pub fn new(
        schema: impl Into<Arc<str>>,
        layer: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
    ) -> Self {
        Self(Arc::new(Triple { schema: schema.into(), layer: layer.into(), name: name.into() }))
    }

    /// Whether both were read once, of the same text.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its name with its layer, if it has one.
    pub fn name_and_layer(&self) -> String {
        let Triple { name, layer, .. } = &**self;
        if layer.is_empty() { name.to_string() } else { format!("{name} ({layer})") }
    }
}

impl Deref for DocKey {
    type Target = Triple;

    fn deref(&self) -> &Triple {
        &self.0
    }
}

impl fmt::Display for DocKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.schema, self.name)?;
        if self.layer.is_empty() { Ok(()) } else { write!(f, " ({})", self.layer) }
    }
}
