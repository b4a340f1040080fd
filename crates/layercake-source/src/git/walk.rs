//! The working tree as seen by git: tracked files, ignored files and nested repositories.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Mode, Stat};

use super::attributes::Conversions;
use super::index::{IndexCheck, open_index};
use super::snapshot::{IsListed, ListedFiles, is_within};
use super::{Repository, StoredTree, content_id};
use crate::error::Error;
use crate::{ContentId, Entry, EntryKind, ReadError, RepoPath, Tree, WorkTree};

/// A working tree as seen by git. The index is read only once, because for a large repository this
/// takes as long as listing a folder.
pub(crate) struct Checkout {
    repository: Repository,
    indexed: OnceLock<Indexed>,
    conversions: Conversions,
}

struct Indexed {
    index: gix::index::File,
    /// How files on disk are compared with the index.
    options: gix::index::entry::stat::Options,
    left_out: Option<StoredTree>,
}

impl Checkout {
    pub(crate) fn of(repository: Repository) -> Self {
        let conversions = Conversions::of(repository.clone());
        Self {
            repository,
            indexed: OnceLock::new(),
            conversions,
        }
    }

    /// Content that git compares for a file with `bytes` on disk at `file`.
    pub(crate) fn stored(
        &self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, ReadError> {
        let Ok(indexed) = self.indexed() else {
            return Ok(bytes);
        };
        self.conversions.stored(path, file, bytes, &indexed.index)
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Commit of the submodule at `path` in the index, if any.
    pub(crate) fn submodule(&self, path: &RepoPath) -> Option<ContentId> {
        let entry = self
            .indexed()
            .ok()?
            .index
            .entry_by_path(BStr::new(&path.bytes()))?;
        (entry.mode == Mode::COMMIT).then(|| content_id(entry.id))
    }

    /// Index entries that may be missing on disk because of a sparse checkout; git then uses the
    /// content in the index.
    pub(crate) fn left_out(&self) -> Result<Option<&StoredTree>, Error> {
        Ok(self.indexed()?.left_out.as_ref())
    }

    /// Entries below `folder` of the working tree: tracked files on disk, even if ignored, and
    /// untracked files that are not ignored. Unsorted; folders are not listed, and nested
    /// repositories are listed without their contents. With `is_listed`, only in folders that it
    /// selects.
    pub(crate) fn on_disk(
        &self,
        folder: &RepoPath,
        is_listed: Option<&IsListed>,
    ) -> Result<Vec<WorkTreePath>, Error> {
        let repository = self.repository.shared.to_thread_local();
        walk(&repository, &self.indexed()?.index, folder, is_listed).map_err(|cause| {
            let message = match self.repository.work_tree_root() {
                Some(root) => format!("cannot list the working tree `{}`", root.display()),
                None => "cannot list the working tree".to_owned(),
            };
            Error::git(message).caused_by(cause)
        })
    }

    /// Index entries below `folder` that were not found on disk: missing files, and submodules,
    /// which may be absent. If `is_listed` is given, only those in listed folders.
    pub(crate) fn missing(
        &self,
        folder: &RepoPath,
        seen: &[WorkTreePath],
        is_listed: Option<&IsListed>,
    ) -> Result<Vec<Entry>, Error> {
        let Indexed {
            index, left_out, ..
        } = self.indexed()?;
        let seen: HashSet<&BStr> = seen.iter().map(|seen| seen.path.as_bstr()).collect();
        let is_left_out = |path: &BStr| left_out.as_ref().is_some_and(|it| it.holds(path));
        let is_missing = |path: &BStr| {
            is_at_or_below(path, &folder.bytes()) && !seen.contains(path) && !is_left_out(path)
        };
        let entries = index
            .entries()
            .iter()
            .filter(|entry| !entry.mode.is_sparse());
        let mut listed = is_listed.map(ListedFiles::of);
        let mut is_of_listed = |path: &BStr| listed.as_mut().is_none_or(|listed| listed.has(path));
        let mut missing: Vec<Entry> = entries
            .filter(|entry| is_missing(entry.path(index)) && is_of_listed(entry.path(index)))
            .filter_map(|entry| {
                let path = RepoPath::of_bytes(entry.path(index));
                let is_submodule = entry.mode == Mode::COMMIT;
                let kind = if is_submodule {
                    EntryKind::Submodule
                } else {
                    EntryKind::Missing
                };
                let entry = Entry {
                    path,
                    kind,
                    content: None,
                    is_link: false,
                };
                entry.is_in(folder).then_some(entry)
            })
            .collect();
        // an unmerged file has an entry for each stage
        missing.dedup();
        Ok(missing)
    }

    /// The index; `None` if it cannot be read.
    pub(super) fn index(&self) -> Option<&gix::index::File> {
        self.indexed().ok().map(|indexed| &indexed.index)
    }

    /// Paths of tracked and untracked files on disk that differ from the index, whose entries are
    /// all plain files. `files` reads them as git would store them. `None` if some cannot be listed, or
    /// one is a link or in a nested repository.
    pub(super) fn edited(&self, files: &WorkTree) -> Option<Vec<BString>> {
        let index = self.index()?;
        let seen = self.on_disk(&RepoPath::new(""), None).ok()?;
        if seen.iter().any(|seen| seen.kind != WorkTreePathKind::File) {
            return None;
        }
        let is_same = |path: &BStr, entry: &gix::index::Entry| {
            let path = RepoPath::of_bytes(path);
            let content = |bytes: Vec<u8>| self.repository.content_of(&bytes);
            self.is_recorded(entry, &path.on_disk(files.root()))
                || files.read(&path).ok().and_then(content) == Some(content_id(entry.id))
        };
        let mut untracked: HashSet<&BStr, foldhash::fast::RandomState> =
            seen.iter().map(|seen| seen.path.as_bstr()).collect();
        let mut edited = Vec::new();
        for entry in index.entries() {
            let path = entry.path(index);
            let is_there = untracked.remove(path);
            if !is_there || !is_same(path, entry) {
                edited.push(path.to_owned());
            }
        }
        edited.extend(untracked.into_iter().map(BStr::to_owned));
        Some(edited)
    }

    /// Content of a tracked file on disk, without reading it; `None` if the file may have been edited
    /// since git recorded its state in the index.
    pub(crate) fn recorded(&self, path: &[u8], file: &Path) -> Option<ContentId> {
        let entry = self.index()?.entry_by_path(path.as_bstr())?;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        (is_file && self.is_recorded(entry, file)).then(|| content_id(entry.id))
    }

    /// Whether a file on disk is in the state that git recorded, as `git status` decides it.
    fn is_recorded(&self, entry: &gix::index::Entry, file: &Path) -> bool {
        let Ok(Indexed { index, options, .. }) = self.indexed() else {
            return false;
        };
        gix::index::fs::Metadata::from_path_no_follow(file)
            .ok()
            .and_then(|found| Stat::from_fs(&found).ok())
            .is_some_and(|stat| entry.stat.matches(&stat, *options))
            && !entry.stat.is_racy(index.timestamp(), *options)
    }

    fn indexed(&self) -> Result<&Indexed, Error> {
        if let Some(indexed) = self.indexed.get() {
            return Ok(indexed);
        }
        let repository = self.repository.shared.to_thread_local();
        let index = open_index(&repository, IndexCheck::Form)?;
        let indexed = Indexed {
            options: repository.stat_options().unwrap_or_default(),
            left_out: self.repository.left_out(&index)?,
            index,
        };
        Ok(self.indexed.get_or_init(|| indexed))
    }
}

/// An entry of the working tree as seen by git.
pub(crate) struct WorkTreePath {
    /// Path separated by `/`, with the raw bytes of its name.
    pub(crate) path: BString,
    pub(crate) kind: WorkTreePathKind,
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkTreePathKind {
    /// A file, or a special file such as a pipe.
    File,
    /// A symbolic link with any target.
    Link,
    /// A submodule or another nested repository.
    Repository,
}

fn walk(
    repository: &gix::Repository,
    index: &gix::index::State,
    folder: &RepoPath,
    is_listed: Option<&IsListed>,
) -> gix::Result<Vec<WorkTreePath>> {
    let options = repository.dirwalk_options()?.emit_tracked(true);
    // Environment variables that git sets for hooks would change the meaning of a pathspec.
    let everything: [&BStr; 0] = [];
    let mut seen = PathCollector {
        folder,
        is_listed,
        paths: Vec::with_capacity(index.entries().len()),
    };
    repository.dirwalk(
        index,
        everything,
        &AtomicBool::new(false),
        options,
        &mut seen,
    )?;
    Ok(seen.paths)
}

/// Collects the entries of gix's walk below a folder.
struct PathCollector<'a> {
    folder: &'a RepoPath,
    is_listed: Option<&'a IsListed>,
    paths: Vec<WorkTreePath>,
}

impl PathCollector<'_> {
    fn is_below_folder(&self, path: &BStr) -> bool {
        is_at_or_below(path, &self.folder.bytes())
    }
}

/// Whether a path is this folder or below it; always true for the root.
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
            self.paths
                .extend(kind.map(|kind| WorkTreePath { path, kind }));
        }
        gix::dir::walk::Action::Continue(())
    }

    /// git's defaults, but also entering folders excluded by a sparse checkout, because files may
    /// exist there.
    fn can_recurse(
        &mut self,
        entry: gix::dir::EntryRef<'_>,
        for_deletion: Option<gix::dir::walk::ForDeletionMode>,
        root_is_repository: bool,
    ) -> bool {
        use gix::dir::entry::{Kind, Property};
        let leads_to_folder = is_at_or_below(&self.folder.bytes(), &entry.rela_path);
        if !leads_to_folder && !self.is_below_folder(&entry.rela_path) {
            return false;
        }
        if (self.is_listed).is_some_and(|is_listed| !is_within(is_listed, &entry.rela_path)) {
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
