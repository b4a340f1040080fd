//! Paths inside repositories.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A path inside a repository, separated by `/`, relative to the root of the repository, which is
/// the empty path. Each byte that is not UTF-8 is represented by a private character, one of
/// [`ESCAPES`](RepoPath::ESCAPES).
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

    /// Characters that represent the bytes 0x80 to 0xff.
    pub const ESCAPES: RangeInclusive<char> = '\u{f780}'..='\u{f7ff}';

    /// Creates a path from the bytes that git or the system gives it.
    pub fn of_bytes(path: &[u8]) -> Self {
        if let Ok(text) = str::from_utf8(path)
            && !may_have_escapes(path)
        {
            return Self::new(text);
        }
        let escape = |byte: &u8| char::from_u32(0xf700 + u32::from(*byte)).unwrap_or_default();
        let mut text = String::with_capacity(path.len());
        for chunk in path.utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    // Paths with these characters must not equal others.
                    char if Self::ESCAPES.contains(&char) => {
                        let mut bytes = [0; 4];
                        text.extend(char.encode_utf8(&mut bytes).as_bytes().iter().map(escape));
                    }
                    char => text.push(char),
                }
            }
            text.extend(chunk.invalid().iter().map(escape));
        }
        Self::new(text)
    }

    /// Returns the bytes of the path, as git and the system have them.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        bytes_of(&self.0)
    }

    /// Converts a path on disk in the repository at `root`; `None` if it is outside.
    pub fn of_place(root: &Path, place: &Path) -> Option<Self> {
        let parts = place
            .strip_prefix(root)
            .ok()?
            .iter()
            .map(OsStr::as_encoded_bytes);
        Some(Self::of_bytes(&parts.collect::<Vec<_>>().join(&b'/')))
    }

    /// Returns the path on disk in the repository at `root`. It is joined by component: the
    /// system's separator is used, and an absolute path cannot replace the root.
    pub fn on_disk(&self, root: &Path) -> PathBuf {
        let mut file = root.to_owned();
        file.extend(self.parts().map(os_name));
        file
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
        if folder.is_root() {
            Some(rest)
        } else {
            rest.strip_prefix('/')
        }
    }

    /// Whether this is the root of the main or of an external repository.
    pub fn is_root(&self) -> bool {
        self.0.is_empty() || (self.0.ends_with(':') && !self.0.contains('/'))
    }
}

/// Whether a text may contain one of [`RepoPath::ESCAPES`], whose first byte is always this one.
fn may_have_escapes(text: &[u8]) -> bool {
    text.contains(&0xef)
}

fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    if !may_have_escapes(text.as_bytes()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if RepoPath::ESCAPES.contains(&char) => bytes.push(char as u8),
            char => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(unix)]
fn os_name(part: &str) -> Cow<'_, OsStr> {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    match bytes_of(part) {
        Cow::Borrowed(bytes) => Cow::Borrowed(OsStr::from_bytes(bytes)),
        Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes)),
    }
}

/// Names of other systems are text.
#[cfg(not(unix))]
fn os_name(part: &str) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::new(part))
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
