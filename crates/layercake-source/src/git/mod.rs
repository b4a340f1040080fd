//! Git repositories: listing working trees, reading commits and the index, and resolving revisions.
//!
//! The only module that uses git, through gix in-process; no `git` is run and nothing is fetched.
//! Repositories of the user are never written to: `create` creates a new one, for `demo`, and
//! writes only to that one.
//!
//! `discover` finds repositories, `variables` validates git's environment variables, `control` the
//! control files of a repository.

mod attributes;
mod control;
mod create;
mod cure;
mod discover;
mod history;
mod index;
mod listing;
mod log;
mod snapshot;
mod stored;
mod variables;
mod walk;

use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use create::NewCommit;
pub use log::{CommitReader, LoggedCommit, seconds_of_date};
pub use snapshot::{IsListed, LaterState, SideBySide};
pub use stored::StoredTree;
pub(super) use walk::{Checkout, WorkTreePath, WorkTreePathKind};

use super::{ContentId, RepoPath};

/// A git repository, possibly bare. Cheap to clone.
#[derive(Clone)]
pub struct Repository {
    shared: gix::ThreadSafeRepository,
}

impl Repository {
    /// Maximum memory in bytes for a git object or the index. Larger ones are damaged or unusable.
    pub const MAX_OBJECT_BYTES: usize = 512 << 20;

    /// Root of the working tree; `None` for a bare repository.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.shared.work_dir()
    }

    /// Name of the repository: the name of its folder.
    pub fn name(&self) -> String {
        let folder = self
            .work_tree_root()
            .unwrap_or_else(|| self.shared.git_dir());
        let folder = gix::path::realpath(folder).unwrap_or_else(|_| folder.to_owned());
        let name = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default().trim_end_matches(".git").to_owned()
    }

    /// Path of `from` in the working tree, with symbolic links and `..` resolved; `None` if it is
    /// outside.
    pub fn prefix(&self, from: &Path) -> Option<RepoPath> {
        let root = gix::path::realpath(self.work_tree_root()?).ok()?;
        let inside = gix::path::realpath(from).ok()?;
        RepoPath::of_place(&root, &inside)
    }

    /// As [`Repository::prefix`]; the root if `from` is outside, as for a bare repository.
    pub fn prefix_or_root(&self, from: &Path) -> RepoPath {
        self.prefix(from).unwrap_or_else(|| RepoPath::new(""))
    }

    /// Id that git assigns to a file with these bytes; `None` if git refuses to hash them (a
    /// collision attack).
    pub(super) fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        let kind = self.shared.objects.object_hash();
        let id = gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).ok()?;
        Some(content_id(id))
    }

    /// Like [`Repository::content_of`], for contents too large to be held in memory.
    pub(super) fn content_of_stream(&self, mut bytes: impl Read, length: u64) -> Option<ContentId> {
        let id = gix::objs::compute_stream_hash(
            self.shared.objects.object_hash(),
            gix::objs::Kind::Blob,
            &mut bytes,
            length,
            &mut gix::progress::Discard,
            &AtomicBool::new(false),
        );
        id.ok().map(content_id)
    }
}

/// Whether two URLs refer to one repository, as `https://HOST/PATH` and `git@HOST:PATH.git` do.
pub fn is_same_address(one: &str, other: &str) -> bool {
    let place = |address: &str| {
        let url = gix::url::parse(gix::bstr::BStr::new(address)).ok()?;
        let full = url.path.to_string();
        let bare = full.trim_matches('/');
        let path = bare.strip_suffix(".git").unwrap_or(bare).to_owned();
        Some((url.host().map(str::to_ascii_lowercase), path))
    };
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

fn content_id(id: gix::ObjectId) -> ContentId {
    ContentId::new(id.as_bytes())
}
