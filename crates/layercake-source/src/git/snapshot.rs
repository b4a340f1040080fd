//! A commit and a later state side by side: the files that differ, and a part of the files of both.
//! Identical folders are not read.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::diff::tree::Recorder;
use gix::diff::tree::recorder::Change;
use gix::index::entry::{Flags, Mode as IndexMode};
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind as Mode, EntryMode};

use super::index::{IndexCheck, open_index, paths_of, refuse_locked};
use super::listing::files_below;
use super::stored::{Paths, StoredOrigin};
use super::{Repository, StoredTree};
use crate::{RepoPath, SharedTree, WorkTree};

/// Decides by the path of a folder whether the contents of its subfolders are listed.
pub type IsListed = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The later one of two states.
#[derive(Clone, Copy, Debug)]
pub enum LaterState<'s> {
    /// The commit with this full id.
    Commit(&'s str),
    /// The index.
    Index,
    /// Files on disk.
    WorkTree,
}

/// A commit and a later state.
pub struct SideBySide {
    repository: Repository,
    base: StoredCommit,
    head: Head,
}

/// A commit and its root folder.
#[derive(Clone, Copy)]
struct StoredCommit {
    id: gix::ObjectId,
    root: gix::ObjectId,
}

enum Head {
    Commit(StoredCommit),
    Index(Box<gix::index::File>),
    WorkTree(Box<WorkTree>),
}

impl Repository {
    /// A commit with this full id beside a later state. `None` if parts of them cannot be skipped: if
    /// one is missing or damaged, or the index is locked, sparse or unmerged, or there is a symbolic
    /// link or a submodule, which can refer to other folders.
    pub fn side_by_side(&self, commit: &str, later: LaterState<'_>) -> Option<SideBySide> {
        let repository = self.shared.to_thread_local();
        let head = match later {
            LaterState::Commit(commit) => Head::Commit(StoredCommit::find(&repository, commit)?),
            LaterState::Index => {
                refuse_locked(&repository).ok()?;
                let index = open_index(&repository, IndexCheck::Whole).ok()?;
                let index = Some(index).filter(|index| is_plain(index, Flags::INTENT_TO_ADD));
                Head::Index(Box::new(index?))
            }
            LaterState::WorkTree => {
                let files = WorkTree::compared(self).ok()?;
                let is_on_disk = is_plain(files.checkout()?.index()?, MAY_BE_ABSENT);
                is_on_disk.then(|| Head::WorkTree(Box::new(files)))?
            }
        };
        Some(SideBySide {
            repository: self.clone(),
            base: StoredCommit::find(&repository, commit)?,
            head,
        })
    }
}

impl StoredCommit {
    fn find(repository: &gix::Repository, commit: &str) -> Option<Self> {
        let id = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
        let root = repository.find_commit(id).ok()?.tree_id().ok()?.detach();
        Some(Self { id, root })
    }
}

/// Flags of entries whose file may be absent on disk without being deleted, or has no content yet.
const MAY_BE_ABSENT: Flags = Flags::INTENT_TO_ADD
    .union(Flags::SKIP_WORKTREE)
    .union(Flags::ASSUME_VALID);

/// Whether an index consists of merged, plain files without these flags.
fn is_plain(index: &gix::index::File, refused: Flags) -> bool {
    index.entries().iter().all(|entry| {
        let is_file = matches!(entry.mode, IndexMode::FILE | IndexMode::FILE_EXECUTABLE);
        is_file && entry.stage_raw() == 0 && !entry.flags.intersects(refused)
    })
}

impl SideBySide {
    /// Paths of the files that differ; `None` if some cannot be listed. In the working tree, a file
    /// counts as equal to the index if git's record of it says so, or its content.
    pub fn edited(&self) -> Option<Vec<RepoPath>> {
        let repository = self.repository.shared.to_thread_local();
        let edited = match &self.head {
            Head::Commit(head) => edited_between(&repository, self.base.root, head.root)?,
            Head::Index(index) => self.edited_in_index(&repository, index)?,
            Head::WorkTree(files) => {
                let checkout = files.checkout()?;
                let mut edited = self.edited_in_index(&repository, checkout.index()?)?;
                edited.extend(checkout.edited(files)?);
                edited
            }
        };
        Some(edited.iter().map(|path| RepoPath::of_bytes(path)).collect())
    }

    fn edited_in_index(
        &self,
        repository: &gix::Repository,
        index: &gix::index::File,
    ) -> Option<BTreeSet<BString>> {
        if stored_id(index, BStr::new("")) == Some(self.base.root) {
            return Some(BTreeSet::new());
        }
        let mut same: BTreeSet<BString> = BTreeSet::new();
        let base = files_below(repository, self.base.root, &mut |folder, id| {
            let is_same = stored_id(index, folder) == Some(id);
            same.extend(is_same.then(|| folder.to_owned()));
            !is_same
        });
        let base = all_plain(base.ok()?)?;
        let mut head = Paths::new();
        let mut from = 0;
        let ranges: BTreeSet<(usize, usize)> = same
            .iter()
            .map(|folder| entries_below(index, folder.as_bstr()))
            .map(|range| (range.start, range.end))
            .collect();
        let count = index.entries().len();
        for (start, end) in ranges.into_iter().chain([(count, count)]) {
            let between = &index.entries()[from..start];
            head.extend(between.iter().filter_map(|entry| {
                let mode = entry.mode.to_tree_entry_mode()?.kind();
                Some((entry.path(index).to_owned(), (mode, entry.id)))
            }));
            from = end;
        }
        let differing = head
            .iter()
            .filter(|(path, file)| base.get(*path) != Some(file))
            .chain(
                base.iter()
                    .filter(|(path, (mode, _))| *mode != Mode::Tree && !head.contains_key(*path)),
            );
        Some(differing.map(|(path, _)| path.clone()).collect())
    }

    /// A part of the files of both. `is_listed` decides by its path whether the contents of the folders
    /// in a folder are listed. `None` if a folder cannot be listed.
    pub fn trees(&self, is_listed: IsListed) -> Option<[SharedTree; 2]> {
        let repository = self.repository.shared.to_thread_local();
        let base = self.commit_tree(&repository, self.base, &is_listed)?;
        let head: SharedTree = match &self.head {
            Head::Commit(head) => self.commit_tree(&repository, *head, &is_listed)?,
            Head::Index(index) => self.index_tree(&repository, index, &is_listed)?,
            Head::WorkTree(files) => Arc::new(files.limited(is_listed)),
        };
        Some([base, head])
    }

    fn commit_tree(
        &self,
        repository: &gix::Repository,
        commit: StoredCommit,
        is_listed: &IsListed,
    ) -> Option<SharedTree> {
        let listed = files_below(repository, commit.root, &mut |folder, _| {
            is_within(is_listed, folder)
        });
        self.stored(StoredOrigin::Commit(commit.id), listed.ok()?)
    }

    fn index_tree(
        &self,
        repository: &gix::Repository,
        index: &gix::index::File,
        is_listed: &IsListed,
    ) -> Option<SharedTree> {
        let mut listed = ListedFiles::of(is_listed);
        let paths = paths_of(repository, index, |entry| listed.has(entry.path(index)));
        self.stored(StoredOrigin::Index, paths.ok()?)
    }

    fn stored(&self, origin: StoredOrigin, listed: Paths) -> Option<SharedTree> {
        let paths = all_plain(listed)?;
        let tree = StoredTree::new(self.repository.clone(), origin, paths);
        Some(Arc::new(tree))
    }
}

/// Paths of the files that differ between two trees.
fn edited_between(
    repository: &gix::Repository,
    base: gix::ObjectId,
    head: gix::ObjectId,
) -> Option<BTreeSet<BString>> {
    let [base, head] = [base, head].map(|root| repository.find_tree(root));
    let mut recorder = Recorder::default();
    gix::diff::tree(
        TreeRefIter::from_bytes(&base.ok()?.data, repository.object_hash()),
        TreeRefIter::from_bytes(&head.ok()?.data, repository.object_hash()),
        gix::diff::tree::State::default(),
        &repository.objects,
        &mut recorder,
    )
    .ok()?;
    let mut edited = BTreeSet::new();
    for change in recorder.records {
        let (modes, path) = match change {
            Change::Addition {
                entry_mode, path, ..
            }
            | Change::Deletion {
                entry_mode, path, ..
            } => ([entry_mode; 2], path),
            Change::Modification {
                previous_entry_mode,
                entry_mode,
                path,
                ..
            } => ([previous_entry_mode, entry_mode], path),
        };
        if modes.iter().any(|mode| mode.is_link() || mode.is_commit()) {
            return None;
        }
        if modes.iter().any(EntryMode::is_blob) {
            edited.insert(path);
        }
    }
    Some(edited)
}

/// Tree id of a folder of the index, if it is unchanged since the index was last written as a
/// tree.
fn stored_id(index: &gix::index::File, folder: &BStr) -> Option<gix::ObjectId> {
    let mut names = folder.split_str("/").filter(|name| !name.is_empty());
    let cached = names.try_fold(index.tree()?, |cached, name| {
        // Sorted when the index is read.
        let found = cached
            .children
            .binary_search_by(|child| child.name[..].cmp(name));
        found.ok().map(|at| &cached.children[at])
    })?;
    let is_whole = cached.num_entries? as usize == entries_below(index, folder).len();
    is_whole.then_some(cached.id)
}

fn entries_below(index: &gix::index::File, folder: &BStr) -> Range<usize> {
    let entries = index.entries();
    if folder.is_empty() {
        return 0..entries.len();
    }
    let prefix = [folder.as_bytes(), b"/"].concat();
    let path = |entry: &gix::index::Entry| entry.path(index);
    let start = entries.partition_point(|entry| path(entry) < prefix.as_bstr());
    let len = entries[start..].partition_point(|entry| path(entry).starts_with(&prefix));
    start..start + len
}

/// Files in listed folders, for files in the order of their paths.
pub(super) struct ListedFiles<'l> {
    is_listed: &'l IsListed,
    /// The last folder, and whether its files are listed.
    last: (BString, bool),
}

impl<'l> ListedFiles<'l> {
    pub(super) fn of(is_listed: &'l IsListed) -> Self {
        Self {
            is_listed,
            last: (BString::default(), true),
        }
    }

    /// Whether a file is listed: its folder and all folders around that are.
    pub(super) fn has(&mut self, file: &BStr) -> bool {
        let folder = around(file).unwrap_or_default();
        // Files of the same folder are adjacent.
        if self.last.0 != folder {
            let mut all = std::iter::successors(Some(folder), |folder| around(folder));
            let is_listed = all.all(|folder| is_within(self.is_listed, folder));
            self.last = (folder.to_owned(), is_listed);
        }
        self.last.1
    }
}

/// Whether the contents of a folder are listed, if the folder itself is.
pub(super) fn is_within(is_listed: &IsListed, folder: &BStr) -> bool {
    around(folder).is_none_or(|around| is_listed(RepoPath::of_bytes(around).as_str()))
}

/// Parent folder of a path; `None` for the root.
fn around(path: &BStr) -> Option<&BStr> {
    (!path.is_empty()).then(|| path[..path.rfind_byte(b'/').unwrap_or(0)].as_bstr())
}

/// `None` for a link or a submodule.
fn all_plain(paths: Paths) -> Option<Paths> {
    paths
        .values()
        .all(|(mode, _)| !matches!(mode, Mode::Link | Mode::Commit))
        .then_some(paths)
}
