//! The working tree as git sees it: what is tracked, ignored, or another
//! repository.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::Mode;

use super::attributes::Conversions;
use super::index::{IndexCheck, open_index};
use super::{Repository, StoredTree, content_id};
use crate::error::{Error, ErrorKind};
use crate::{ContentId, Entry, EntryKind, ReadError, RepoPath};

/// A working tree as git sees it, by the index as it was when it was first asked
/// for: of a large repository it takes as long to read as a folder to list.
pub(crate) struct Checkout {
    repository: Repository,
    indexed: OnceLock<Indexed>,
    conversions: Conversions,
}

struct Indexed {
    index: gix::index::File,
    left_out: Option<StoredTree>,
}

impl Checkout {
    pub(crate) fn of(repository: Repository) -> Self {
        let conversions = Conversions::of(repository.clone());
        Self { repository, indexed: OnceLock::new(), conversions }
    }

    /// The content that git compares for a file, of which `bytes` are on disk at `file`.
    pub(crate) fn stored(
        &self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, ReadError> {
        let Ok(indexed) = self.indexed() else { return Ok(bytes) };
        self.conversions.stored(path, file, bytes, &indexed.index)
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The commit that the index has for a submodule at `path`; none if it has none there.
    pub(crate) fn submodule(&self, path: &RepoPath) -> Option<ContentId> {
        let entry = self.indexed().ok()?.index.entry_by_path(path.as_str().into())?;
        (entry.mode == Mode::COMMIT).then(|| content_id(entry.id))
    }

    /// The files of the index that need not be on disk, as a sparse checkout has them:
    /// those that are not are to git what the index says. None where there are none.
    pub(crate) fn left_out(&self) -> Result<Option<&StoredTree>, Error> {
        Ok(self.indexed()?.left_out.as_ref())
    }

    /// What git sees below `folder` of the working tree: files that are
    /// tracked and on disk, whether ignored or not, and files that are neither
    /// tracked nor ignored. Unsorted; folders are not listed, and repositories
    /// inside this one are listed without what they hold.
    pub(crate) fn on_disk(&self, folder: &RepoPath) -> Result<Vec<WorkTreePath>, Error> {
        let repository = self.repository.shared.to_thread_local();
        walk(&repository, &self.indexed()?.index, folder).map_err(|cause| {
            let message = match self.repository.work_tree_root() {
                Some(root) => format!("the working tree `{}` cannot be listed", root.display()),
                None => "the working tree cannot be listed".to_owned(),
            };
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }

    /// What the index has below `folder` and is not among what was seen there: files
    /// that are gone, and submodules, which need not be there.
    pub(crate) fn missing(
        &self,
        folder: &RepoPath,
        seen: &[WorkTreePath],
    ) -> Result<Vec<Entry>, Error> {
        let Indexed { index, left_out } = self.indexed()?;
        let seen: HashSet<&BStr> = seen.iter().map(|seen| seen.path.as_bstr()).collect();
        let is_left_out = |path: &BStr| left_out.as_ref().is_some_and(|it| it.holds(path));
        let is_missing = |path: &BStr| {
            is_at_or_below(path, folder.as_str().as_bytes())
                && !seen.contains(path)
                && !is_left_out(path)
        };
        let entries = index.entries().iter().filter(|entry| !entry.mode.is_sparse());
        let missing = entries.filter(|entry| is_missing(entry.path(index))).filter_map(|entry| {
            let path = RepoPath::new(entry.path(index).to_str().ok()?);
            let is_submodule = entry.mode == Mode::COMMIT;
            let kind = if is_submodule { EntryKind::Submodule } else { EntryKind::Missing };
            let entry = Entry { path, kind, content: None, is_link: false };
            entry.is_in(folder).then_some(entry)
        });
        let mut missing: Vec<Entry> = missing.collect();
        // an unmerged file has an entry for each side
        missing.dedup();
        Ok(missing)
    }

    fn indexed(&self) -> Result<&Indexed, Error> {
        if let Some(indexed) = self.indexed.get() {
            return Ok(indexed);
        }
        let index = open_index(&self.repository.shared.to_thread_local(), IndexCheck::Form)?;
        let left_out = self.repository.left_out(&index)?;
        Ok(self.indexed.get_or_init(|| Indexed { index, left_out }))
    }
}

/// One path of the working tree as git sees it.
pub(crate) struct WorkTreePath {
    /// The path, `/` between its parts, in whatever bytes its name has.
    pub(crate) path: BString,
    /// What is there.
    pub(crate) kind: WorkTreePathKind,
}

/// What a path of the working tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkTreePathKind {
    /// A file, or something that is none, such as a pipe.
    File,
    /// A symbolic link, to whatever.
    Link,
    /// A submodule or any other repository.
    Repository,
}

fn walk(
    repository: &gix::Repository,
    index: &gix::index::State,
    folder: &RepoPath,
) -> gix::Result<Vec<WorkTreePath>> {
    let options = repository.dirwalk_options()?.emit_tracked(true);
    // What a pathspec means depends on variables, which git gives to hooks.
    let everything: [&BStr; 0] = [];
    let mut seen = PathCollector { folder, paths: Vec::with_capacity(index.entries().len()) };
    repository.dirwalk(index, everything, &AtomicBool::new(false), options, &mut seen)?;
    Ok(seen.paths)
}

/// Collects what gix's walk emits below a folder.
struct PathCollector<'a> {
    folder: &'a RepoPath,
    paths: Vec<WorkTreePath>,
}

impl PathCollector<'_> {
    fn is_below_folder(&self, path: &BStr) -> bool {
        is_at_or_below(path, self.folder.as_str().as_bytes())
    }
}

/// Whether a path is this folder or below it; everything is below the root.
fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

impl gix::dir::walk::Delegate for PathCollector<'_> {
    fn emit(
        &mut self,
        entry: gix::dir::EntryRef<'_>,
        _: Option<gix::dir::entry::Status>,
    ) -> gix::dir::walk::Action {
        use gix::dir::entry::Kind;
        let kind = match entry.disk_kind {
            Some(Kind::File | Kind::Untrackable) => Some(WorkTreePathKind::File),
            Some(Kind::Symlink) => Some(WorkTreePathKind::Link),
            Some(Kind::Repository) => Some(WorkTreePathKind::Repository),
            Some(Kind::Directory) | None => None,
        };
        if self.is_below_folder(&entry.rela_path) {
            let path = entry.rela_path.into_owned();
            self.paths.extend(kind.map(|kind| WorkTreePath { path, kind }));
        }
        gix::dir::walk::Action::Continue(())
    }

    /// As git does by default, but also into folders of which a sparse
    /// checkout leaves out every file: what is there all the same counts.
    fn can_recurse(
        &mut self,
        entry: gix::dir::EntryRef<'_>,
        for_deletion: Option<gix::dir::walk::ForDeletionMode>,
        root_is_repository: bool,
    ) -> bool {
        use gix::dir::entry::{Kind, Property};
        let leads_to_folder = is_at_or_below(self.folder.as_str().as_bytes(), &entry.rela_path);
        if !leads_to_folder && !self.is_below_folder(&entry.rela_path) {
            return false;
        }
        let left_out = entry.property == Some(Property::TrackedExcluded);
        (left_out && entry.disk_kind == Some(Kind::Directory))
            || entry.status.can_recurse(
                entry.disk_kind,
                entry.pathspec_match,
                for_deletion,
                root_is_repository,
            )
    }
}
