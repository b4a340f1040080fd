//! A commit and the index side by side: differing files, and selected files of both. Identical
//! folders are not read.

use std::collections::BTreeSet;
use std::ops::Range;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode as IndexMode};
use gix::objs::tree::EntryKind as Mode;

use super::index::{IndexCheck, open_index, paths_of, refuse_locked};
use super::listing::files_below;
use super::stored::{Paths, StoredOrigin};
use super::{Repository, StoredTree};
use crate::RepoPath;

/// A commit and the index.
pub struct StagedSides {
    repository: Repository,
    commit: gix::ObjectId,
    /// The root folder of the commit.
    root: gix::ObjectId,
    index: gix::index::File,
}

impl Repository {
    /// Creates a snapshot of the commit with this full id and the index. `None` if parts of them
    /// cannot be skipped: the index is locked, damaged, sparse or unmerged, or contains a symbolic
    /// link or a submodule, which can refer to other folders.
    pub fn staged_sides(&self, commit: &str) -> Option<StagedSides> {
        let repository = self.shared.to_thread_local();
        refuse_locked(&repository).ok()?;
        let index = open_index(&repository, IndexCheck::Whole).ok()?;
        let is_plain = index.entries().iter().all(|entry| {
            let is_file = matches!(entry.mode, IndexMode::FILE | IndexMode::FILE_EXECUTABLE);
            is_file && entry.stage_raw() == 0 && !entry.flags.contains(Flags::INTENT_TO_ADD)
        });
        let commit = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
        let root = repository
            .find_commit(commit)
            .ok()?
            .tree_id()
            .ok()?
            .detach();
        is_plain.then(|| StagedSides {
            repository: self.clone(),
            commit,
            root,
            index,
        })
    }
}

impl StagedSides {
    /// Paths of the files that differ; `None` if some cannot be listed.
    pub fn edited(&self) -> Option<Vec<RepoPath>> {
        let repository = self.repository.shared.to_thread_local();
        if self.stored_id(BStr::new("")) == Some(self.root) {
            return Some(Vec::new());
        }
        let mut same: BTreeSet<BString> = BTreeSet::new();
        let base = files_below(&repository, self.root, &mut |folder, id| {
            let is_same = self.stored_id(folder) == Some(id);
            same.extend(is_same.then(|| folder.to_owned()));
            !is_same
        });
        let base = all_plain(base.ok()?)?;
        let mut head = Paths::new();
        let mut from = 0;
        let ranges: BTreeSet<(usize, usize)> = same
            .iter()
            .map(|folder| self.entries_below(folder.as_bstr()))
            .map(|it| (it.start, it.end))
            .collect();
        let count = self.index.entries().len();
        for (start, end) in ranges.into_iter().chain([(count, count)]) {
            let between = &self.index.entries()[from..start];
            head.extend(between.iter().filter_map(|entry| {
                let mode = entry.mode.to_tree_entry_mode()?.kind();
                Some((entry.path(&self.index).to_owned(), (mode, entry.id)))
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
        Some(
            differing
                .map(|(path, _)| RepoPath::of_bytes(path))
                .collect(),
        )
    }

    /// Files of the commit and of the index. `is_listed` decides by its path whether the contents
    /// of a folder are listed. `None` if a folder cannot be listed.
    pub fn trees(&self, is_listed: &dyn Fn(&str) -> bool) -> Option<[StoredTree; 2]> {
        let repository = self.repository.shared.to_thread_local();
        let is_within = |folder: &BStr| is_listed(RepoPath::of_bytes(folder).as_str());
        let base = files_below(&repository, self.root, &mut |folder, _| {
            is_within(around(folder).unwrap_or_default())
        });
        // Files of the same folder are adjacent.
        let mut last = (BString::default(), true);
        let head = paths_of(&repository, &self.index, |entry| {
            let folder = around(entry.path(&self.index)).unwrap_or_default();
            if last.0 != folder {
                let mut all = std::iter::successors(around(folder), |folder| around(folder));
                last = (folder.to_owned(), all.all(is_within));
            }
            last.1
        });
        let tree = |origin, paths| StoredTree::new(self.repository.clone(), origin, paths);
        let base = tree(StoredOrigin::Commit(self.commit), all_plain(base.ok()?)?);
        Some([base, tree(StoredOrigin::Index, all_plain(head.ok()?)?)])
    }

    /// Whether the index has a file at this path.
    pub fn has_file(&self, path: &RepoPath) -> bool {
        self.index.entry_by_path(BStr::new(&path.bytes())).is_some()
    }

    /// Tree id of a folder of the index, if it is unchanged since the index was last written as a
    /// tree.
    fn stored_id(&self, folder: &BStr) -> Option<gix::ObjectId> {
        let mut names = folder.split_str("/").filter(|name| !name.is_empty());
        let cached = names.try_fold(self.index.tree()?, |cached, name| {
            // Sorted when the index is read.
            let found = cached
                .children
                .binary_search_by(|child| child.name[..].cmp(name));
            found.ok().map(|at| &cached.children[at])
        })?;
        let is_whole = cached.num_entries? as usize == self.entries_below(folder).len();
        is_whole.then_some(cached.id)
    }

    fn entries_below(&self, folder: &BStr) -> Range<usize> {
        let entries = self.index.entries();
        if folder.is_empty() {
            return 0..entries.len();
        }
        let prefix = [folder.as_bytes(), b"/"].concat();
        let path = |entry: &gix::index::Entry| entry.path(&self.index);
        let start = entries.partition_point(|entry| path(entry) < prefix.as_bstr());
        let len = entries[start..].partition_point(|entry| path(entry).starts_with(&prefix));
        start..start + len
    }
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
