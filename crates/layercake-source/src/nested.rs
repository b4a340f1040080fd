//! Nested repositories: submodules, and clones that git does not track. Their files are not part of
//! the outer repository, but their known contents determine whether they matter.

use super::{ContentId, Entry, EntryKind, RepoPath, Repository, StoredTree, Tree, WorkTree};

/// Relation of a nested repository to the outer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nested {
    /// A submodule, recorded with this commit.
    Submodule(ContentId),
    /// Untracked: no commit of the outer repository has its files.
    Untracked,
}

/// All files of a nested repository, including its own submodules; `None` if they are not all
/// known.
pub(super) fn all_files(tree: &dyn Tree) -> Option<Vec<RepoPath>> {
    let mut files = Vec::new();
    for Entry { path, kind, .. } in tree.entries(&RepoPath::new("")).ok()? {
        match kind {
            EntryKind::Submodule => {
                let inner = tree.files_of_nested(&path)?;
                files.extend(inner.into_iter().map(|file| path.join(file.as_str())));
            }
            EntryKind::File | EntryKind::FolderLink | EntryKind::Missing => files.push(path),
        }
    }
    Some(files)
}

/// Id of the checked-out content: the commit, or `None` if files of it were edited. As in git,
/// untracked files do not make a submodule modified.
pub(super) fn checked_out(repository: &Repository) -> Option<ContentId> {
    let head = repository.commit("HEAD").ok()?;
    let files = WorkTree::compared(repository).ok()?;
    has_files_of(&files, &head)?.then(|| head.content())?
}

fn has_files_of(files: &WorkTree, head: &StoredTree) -> Option<bool> {
    let root = RepoPath::new("");
    let there = files.entries(&root).ok()?;
    Some(head.entries(&root).ok()?.iter().all(|stored| {
        let found = there.binary_search_by(|file| file.path.cmp(&stored.path));
        found.is_ok_and(|at| {
            stored.content.is_some() && stored.content == content_of(files, &there[at])
        })
    }))
}

fn content_of(files: &WorkTree, file: &Entry) -> Option<ContentId> {
    match file.content {
        Some(content) => Some(content),
        None => match files.read(&file.path) {
            Ok(bytes) => files.content_of(&bytes),
            Err(_) => files.content_of_unread(&file.path),
        },
    }
}
