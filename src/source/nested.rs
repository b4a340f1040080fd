//! Repositories inside of the one that is read: submodules, and clones that git does not
//! track. Their files are not part of it, but what they are known to hold decides whether
//! they matter.

use super::{ContentId, Entry, EntryKind, RepoPath, Repository, StoredTree, Tree, WorkTree};

/// How git knows a repository inside of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nested {
    /// As a submodule, of which it keeps this commit.
    Submodule(ContentId),
    /// Not at all: no commit of the outer repository has its files.
    Untracked,
}

/// All files of a repository that is nested in another one, those of its own submodules among
/// them; none if they are not all known.
pub(super) fn all_files(tree: &dyn Tree) -> Option<Vec<RepoPath>> {
    let mut files = Vec::new();
    for Entry { path, kind, .. } in tree.entries(&RepoPath::new("")).ok()? {
        match kind {
            EntryKind::Submodule => {
                let inner = tree.files_of_nested(&path)?;
                files.extend(inner.into_iter().map(|file| path.join(file.as_str())));
            }
            EntryKind::File | EntryKind::Missing | EntryKind::NotUtf8 => files.push(path),
        }
    }
    Some(files)
}

/// Id of the content that is checked out: that of its commit, or none if files were edited
/// since.
pub(super) fn checked_out(repository: &Repository) -> Option<ContentId> {
    let head = repository.commit("HEAD").ok()?;
    let files = WorkTree::compared(repository).ok()?;
    holds_the_same(&files, &head)?.then(|| head.content())?
}

fn holds_the_same(files: &WorkTree, head: &StoredTree) -> Option<bool> {
    let root = RepoPath::new("");
    let (files_there, stored) = (files.entries(&root).ok()?, head.entries(&root).ok()?);
    let is_same = |(file, stored): (&Entry, &Entry)| {
        file.path == stored.path
            && stored.content.is_some()
            && stored.content == content_of(files, file)
    };
    Some(files_there.len() == stored.len() && files_there.iter().zip(&stored).all(is_same))
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
