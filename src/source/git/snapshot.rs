//! A commit and the index side by side: what differs between them, and their files as far as they
//! are wanted. Folders that are the same are not read.

use std::collections::BTreeMap;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode as IndexMode};
use gix::index::extension::Tree as CachedTree;
use gix::objs::tree::EntryKind as Mode;

use super::index::{IndexCheck, open_index, refuse_locked};
use super::listing::MAX_PATH_BYTES;
use super::stored::{Paths, StoredOrigin};
use super::{Repository, StoredTree};
use crate::source::RepoPath;

/// A commit and the index, which are read folder by folder.
pub struct StagedSides {
    repository: Repository,
    commit: gix::ObjectId,
    index: gix::index::File,
}

/// Whether the folders in a folder are listed; also given whether the folder has a file of a name.
type IsListed<'f> = dyn Fn(&str, &dyn Fn(&str) -> bool) -> bool + 'f;

impl Repository {
    /// The commit with this full id and the index. None where their folders cannot be read one by
    /// one: the index is locked, damaged, sparse or unmerged, or has a symbolic link or a
    /// submodule, which can lead to other folders.
    pub fn staged_sides(&self, commit: &str) -> Option<StagedSides> {
        let repository = self.shared.to_thread_local();
        refuse_locked(&repository).ok()?;
        let index = open_index(&repository, IndexCheck::Whole).ok()?;
        let is_plain = |entry: &gix::index::Entry| {
            let is_file = matches!(entry.mode, IndexMode::FILE | IndexMode::FILE_EXECUTABLE);
            is_file && entry.stage_raw() == 0 && !entry.flags.contains(Flags::INTENT_TO_ADD)
        };
        let is_plain = index.entries().iter().all(is_plain);
        let commit = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
        is_plain.then(|| StagedSides { repository: self.clone(), commit, index })
    }
}

impl StagedSides {
    /// The paths of the files and folders that differ. None where one cannot be read.
    pub fn edited(&self) -> Option<Vec<RepoPath>> {
        let repository = self.repository.shared.to_thread_local();
        let mut edited = Edited { repository: &repository, paths: Vec::new() };
        let (base, head) = (self.root_of_commit(&repository)?, self.root_of_index());
        edited.compare(&mut BString::default(), Some(base), Some(head))?;
        Some(edited.paths)
    }

    /// The files of the commit and of the index. None where some cannot be listed.
    pub fn trees(&self, is_listed: &IsListed<'_>) -> Option<[StoredTree; 2]> {
        let repository = self.repository.shared.to_thread_local();
        let tree = |origin, root| {
            let mut listing = Listing { repository: &repository, is_listed, paths: Paths::new() };
            listing.add(&mut BString::default(), root)?;
            Some(StoredTree::new(self.repository.clone(), origin, listing.paths))
        };
        let base = tree(StoredOrigin::Commit(self.commit), self.root_of_commit(&repository)?)?;
        Some([base, tree(StoredOrigin::Index, self.root_of_index())?])
    }

    fn root_of_commit(&self, repository: &gix::Repository) -> Option<Folder<'_>> {
        let tree = repository.find_commit(self.commit).ok()?.tree_id().ok()?;
        Some(Folder::Stored(tree.detach()))
    }

    fn root_of_index(&self) -> Folder<'_> {
        let index = &*self.index;
        Folder::Indexed { index, entries: index.entries(), depth: 0, cached: index.tree() }
    }
}

/// A folder of a commit or of the index.
#[derive(Clone, Copy)]
enum Folder<'s> {
    Stored(gix::ObjectId),
    Indexed {
        index: &'s gix::index::State,
        /// What the index has below the folder.
        entries: &'s [gix::index::Entry],
        /// Length of the folder's path with the slash after it.
        depth: usize,
        /// The folder as it was when it was last written to a commit.
        cached: Option<&'s CachedTree>,
    },
}

enum Child<'s> {
    File(Mode, gix::ObjectId),
    Folder(Folder<'s>),
}

type Children<'s> = BTreeMap<BString, Child<'s>>;

impl<'s> Folder<'s> {
    /// The id under which it is stored, if that is known.
    fn id(self) -> Option<gix::ObjectId> {
        match self {
            Folder::Stored(id) => Some(id),
            Folder::Indexed { entries, cached, .. } => {
                let is_whole = |cached: &&CachedTree| {
                    cached.num_entries.is_some_and(|count| count as usize == entries.len())
                };
                cached.filter(is_whole).map(|cached| cached.id)
            }
        }
    }

    fn children(self, repository: &gix::Repository) -> Option<Children<'s>> {
        match self {
            Folder::Stored(id) => stored_children(repository, id),
            Folder::Indexed { index, entries, depth, cached } => {
                indexed_children(index, entries, depth, cached)
            }
        }
    }
}

/// None where there is a link or submodule, or the folder cannot be read.
fn stored_children<'s>(repository: &gix::Repository, id: gix::ObjectId) -> Option<Children<'s>> {
    let tree = repository.find_tree(id).ok()?;
    let children = tree.iter().map(|entry| {
        let entry = entry.ok()?;
        let child = match entry.mode().kind() {
            Mode::Tree => Child::Folder(Folder::Stored(entry.object_id())),
            mode @ (Mode::Blob | Mode::BlobExecutable) => Child::File(mode, entry.object_id()),
            Mode::Link | Mode::Commit => return None,
        };
        Some((entry.filename().to_owned(), child))
    });
    children.collect()
}

fn indexed_children<'s>(
    index: &'s gix::index::State,
    mut entries: &'s [gix::index::Entry],
    depth: usize,
    cached: Option<&'s CachedTree>,
) -> Option<Children<'s>> {
    let mut children = Children::new();
    while let [first, others @ ..] = entries {
        let below = first.path(index).get(depth..)?.as_bstr();
        let Some(slash) = below.find_byte(b'/') else {
            let mode = first.mode.to_tree_entry_mode()?.kind();
            children.insert(below.to_owned(), Child::File(mode, first.id));
            entries = others;
            continue;
        };
        let (name, folder) = (&below[..slash], &first.path(index)[..=depth + slash]);
        let end = entries.partition_point(|entry| entry.path(index).starts_with(folder));
        let (inside, rest) = entries.split_at(end);
        let cached = cached.and_then(|it| it.children.iter().find(|it| it.name[..] == *name));
        let folder = Folder::Indexed { index, entries: inside, depth: depth + slash + 1, cached };
        children.insert(name.into(), Child::Folder(folder));
        entries = rest;
    }
    Some(children)
}

/// Collects what differs.
struct Edited<'r> {
    repository: &'r gix::Repository,
    paths: Vec<RepoPath>,
}

impl Edited<'_> {
    fn compare(
        &mut self,
        path: &mut BString,
        base: Option<Folder<'_>>,
        head: Option<Folder<'_>>,
    ) -> Option<()> {
        let ids = [base, head].map(|folder| folder.and_then(Folder::id));
        if ids[0].is_some() && ids[0] == ids[1] {
            return Some(());
        }
        let (mut base, head) = (self.children(base)?, self.children(head)?);
        let pairs = head.into_iter().map(|(name, head)| (base.remove(&name), name, Some(head)));
        let pairs: Vec<_> = pairs.collect();
        let gone = base.into_iter().map(|(name, base)| (Some(base), name, None));
        for (base, name, head) in pairs.into_iter().chain(gone) {
            let around = descend(path, name.as_bstr())?;
            match (base, head) {
                (Some(Child::Folder(base)), Some(Child::Folder(head))) => {
                    self.compare(path, Some(base), Some(head))?;
                }
                (Some(Child::File(mode, id)), Some(Child::File(new_mode, new_id)))
                    if (mode, id) == (new_mode, new_id) => {}
                (Some(Child::File(..)) | None, Some(Child::Folder(head))) => {
                    self.compare(path, None, Some(head))?;
                }
                (Some(Child::Folder(base)), Some(Child::File(..)) | None) => {
                    self.compare(path, Some(base), None)?;
                }
                (Some(Child::File(..)), Some(Child::File(..)) | None)
                | (None, Some(Child::File(..))) => {
                    self.paths.push(RepoPath::new(path.to_str().ok()?));
                }
                (None, None) => {}
            }
            path.truncate(around);
        }
        Some(())
    }

    fn children<'s>(&self, folder: Option<Folder<'s>>) -> Option<Children<'s>> {
        folder.map_or_else(|| Some(Children::new()), |folder| folder.children(self.repository))
    }
}

/// Collects what stands at each path.
struct Listing<'r> {
    repository: &'r gix::Repository,
    is_listed: &'r IsListed<'r>,
    paths: Paths,
}

impl Listing<'_> {
    fn add(&mut self, path: &mut BString, folder: Folder<'_>) -> Option<()> {
        let children = folder.children(self.repository)?;
        let has_file = |name: &str| {
            let child = children.get(name.as_bytes().as_bstr());
            matches!(child, Some(Child::File(..)))
        };
        let is_listed = (self.is_listed)(path.to_str().ok()?, &has_file);
        for (name, child) in &children {
            let around = descend(path, name.as_bstr())?;
            match child {
                Child::File(mode, id) => drop(self.paths.insert(path.clone(), (*mode, *id))),
                Child::Folder(folder) if is_listed => {
                    let no_id = gix::ObjectId::null(self.repository.object_hash());
                    self.paths.insert(path.clone(), (Mode::Tree, no_id));
                    self.add(path, *folder)?;
                }
                Child::Folder(_) => {}
            }
            path.truncate(around);
        }
        (self.paths.len() <= StoredTree::MAX_PATHS).then_some(())
    }
}

/// Appends a name to the path of its folder, and returns how long that was. None for a path that
/// is too long.
fn descend(path: &mut BString, name: &BStr) -> Option<usize> {
    let around = path.len();
    if around > 0 {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    (path.len() <= MAX_PATH_BYTES).then_some(around)
}
