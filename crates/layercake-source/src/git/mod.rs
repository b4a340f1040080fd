//! Git repositories: their working trees listed, their commits and their index
//! read, their revisions compared.
//!
//! The only place that knows git, and it asks gix in-process; no `git` is run
//! and nothing is fetched. Nothing is written to a repository of the user's:
//! `create` makes a new one, for `demo`, and writes to that alone.
//!
//! `discover` finds repositories, `variables` judges the environment variables of
//! git, `control` the files by which git knows a repository.

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
pub use snapshot::StagedSides;
pub use stored::StoredTree;
pub(super) use walk::{Checkout, WorkTreePath, WorkTreePathKind};

use super::{ContentId, RepoPath};

/// A git repository, with a working tree or without. Cheap to clone.
#[derive(Clone)]
pub struct Repository {
    shared: gix::ThreadSafeRepository,
}

impl Repository {
    /// An object of git, and the index, may take so many bytes of memory. What
    /// says of itself that it is larger is damaged, or of no use to anybody.
    pub const MAX_OBJECT_BYTES: usize = 512 << 20;

    /// The root of the working tree; a bare repository has none.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.shared.work_dir()
    }

    /// What people call the repository: the name of its folder.
    pub fn name(&self) -> String {
        let bare = || self.shared.git_dir();
        let folder = self.work_tree_root().unwrap_or_else(bare);
        let folder = gix::path::realpath(folder).unwrap_or_else(|_| folder.to_owned());
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default().trim_end_matches(".git").to_owned()
    }

    /// Where `from` lies inside the working tree, its symbolic links and `..`
    /// resolved; `None` where it is outside, or not UTF-8.
    pub fn prefix(&self, from: &Path) -> Option<RepoPath> {
        let root = gix::path::realpath(self.work_tree_root()?).ok()?;
        let inside = gix::path::realpath(from).ok()?;
        let parts = inside.strip_prefix(root).ok()?.components();
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        Some(RepoPath::new(parts?.join("/")))
    }

    /// The id that git gives a file of these bytes; none where it refuses to
    /// hash them (a collision made on purpose).
    pub(super) fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        let kind = self.shared.objects.object_hash();
        let id = gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).ok()?;
        Some(content_id(id))
    }

    /// As [`Repository::content_of`], of bytes that are too many to be held.
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

/// Whether two addresses are of one repository: `https://HOST/PATH` and `git@HOST:PATH.git` are.
pub fn is_same_address(one: &str, other: &str) -> bool {
    let place = |address: &str| {
        let url = gix::url::parse(gix::bstr::BStr::new(address)).ok()?;
        let path = url.path.to_string();
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).to_owned();
        Some((url.host().map(str::to_ascii_lowercase), path))
    };
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

fn content_id(id: gix::ObjectId) -> ContentId {
    ContentId::new(id.as_bytes())
}
