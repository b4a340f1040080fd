//! Paths inside repositories.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A path inside a repository: UTF-8, separated by `/`, relative to the root of the repository,
/// which is the empty path.
///
/// A file of an external repository (`--repository NAME=PATH`) is written `NAME:path`, so it cannot
/// be confused with a file of the main repository. The root of an external repository is `NAME:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Arc<str>);

impl RepoPath {
    /// Creates a path; `path` must be relative and separated by `/`.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(path.into())
    }

    /// Converts a path on disk in the repository at `root`; `None` if it is outside or not UTF-8.
    pub fn of_place(root: &Path, place: &Path) -> Option<Self> {
        let inside = place.strip_prefix(root).ok()?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        Some(Self::new(parts?.join("/")))
    }

    /// Returns the path as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Path of `name` in this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        if self.is_root() {
            Self::new(format!("{}{name}", self.0))
        } else {
            Self::new(format!("{}/{name}", self.0))
        }
    }

    /// Components of the path.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Rest of the path below `folder`, if it is inside.
    pub fn below(&self, folder: &RepoPath) -> Option<&str> {
        let rest = self.0.strip_prefix(&*folder.0)?;
        if folder.is_root() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// Whether this is the root of the main or of an external repository.
    pub fn is_root(&self) -> bool {
        self.0.is_empty() || (self.0.ends_with(':') && !self.0.contains('/'))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
