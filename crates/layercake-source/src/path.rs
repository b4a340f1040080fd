//! Paths inside repositories.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

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
