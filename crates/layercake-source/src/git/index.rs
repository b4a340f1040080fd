//! The index: contents of the next commit.
//!
//! For hooks of `git commit -a` or `git commit PATH`, `GIT_INDEX_FILE` names a temporary index,
//! which is itself a lock file.

use std::path::PathBuf;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Stage};
use gix::objs::tree::EntryKind as Mode;

use super::listing::files_below;
use super::stored::{Paths, StoredOrigin};
use super::{Repository, StoredTree, cure};
use crate::error::{Error, shell_word};
use crate::tree::is_there;

impl Repository {
    /// Files of the index, with their stored contents.
    ///
    /// Files added with `git add --intent-to-add` are not included, files outside of a sparse
    /// checkout are. A missing index is treated as empty.
    ///
    /// # Errors
    /// If the repository is bare, or the index is damaged, locked by another git process, or has
    /// unmerged entries.
    pub fn index(&self) -> Result<StoredTree, Error> {
        if self.work_tree_root().is_none() {
            let message = "this is a bare repository, which has no index";
            let help = "compare two commits instead";
            return Err(Error::git(message).with_help(help));
        }
        let repository = self.shared.to_thread_local();
        refuse_locked(&repository)?;
        let index = open_index(&repository, IndexCheck::Whole)?;
        refuse_unmerged(&repository, &index)?;
        self.stored_in(&repository, &index, |_| true)
    }

    /// Index entries that may be missing on disk, if there are any.
    pub(super) fn left_out(&self, index: &gix::index::File) -> Result<Option<StoredTree>, Error> {
        let is_left_out = |entry: &gix::index::Entry| {
            let flags = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
            entry.mode.is_sparse() || entry.flags.intersects(flags)
        };
        let has_some = index.entries().iter().any(is_left_out);
        has_some
            .then(|| self.stored_in(&self.shared.to_thread_local(), index, is_left_out))
            .transpose()
    }

    fn stored_in(
        &self,
        repository: &gix::Repository,
        index: &gix::index::File,
        is_meant: impl Fn(&gix::index::Entry) -> bool,
    ) -> Result<StoredTree, Error> {
        let paths = paths_of(repository, index, is_meant).map_err(|cause| {
            let error = Error::git("cannot list the files of the index");
            error
                .caused_by(cause)
                .with_help(cure::missing_objects_help(repository))
        })?;
        Ok(StoredTree::new(self.clone(), StoredOrigin::Index, paths))
    }
}

/// Extent of the damage check for the index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexCheck {
    /// Includes the checksum, because the contents are used.
    Whole,
    /// Only parse errors, like git, which leaves the checksum to `git fsck`: the index is only used
    /// for tracked paths.
    Form,
}

/// Reads the index from disk; a missing one is empty.
pub(super) fn open_index(
    repository: &gix::Repository,
    check: IndexCheck,
) -> Result<gix::index::File, Error> {
    let file = index_file(repository);
    let limit = Some(Repository::MAX_OBJECT_BYTES);
    let options = gix::index::decode::Options {
        alloc_limit_bytes: limit,
        ..Default::default()
    };
    let skip_hash = check == IndexCheck::Form;
    let hash = repository.object_hash();
    let opened = gix::index::File::at_or_default(&file, hash, skip_hash, options);
    opened.map_err(|cause| {
        let message = format!("cannot read the index `{}`", file.display());
        let help = format!(
            "move `{}` away, run `git reset` to recreate it from HEAD, then stage your changes \
             again",
            file.display()
        );
        Error::git(message).caused_by(cause).with_help(help)
    })
}

/// Path of the index file.
///
/// git changes to the top of the working tree before it opens `GIT_INDEX_FILE`, so a hook may
/// change folders. gix would resolve it relative to the current folder, and treat the missing file
/// as an empty index.
fn index_file(repository: &gix::Repository) -> PathBuf {
    let config = repository.config_snapshot();
    let named = config
        .plumbing()
        .raw_value_with_section_filter("gitoxide.core.indexFile", |_| true);
    let from_environment = named
        .ok()
        .filter(|(_, section)| section.meta().source == gix::config::Source::EnvOverride);
    let named = from_environment.and_then(|(value, _)| gix::path::from_bstring(value).ok());
    let file = match (named, repository.workdir()) {
        (Some(named), Some(root)) if named.is_relative() => root.join(named),
        _ => repository.index_path(),
    };
    // without `.` for the start folder
    file.components().collect()
}

/// git writes a new index as a lock file and then renames it.
pub(super) fn refuse_locked(repository: &gix::Repository) -> Result<(), Error> {
    let mut lock = index_file(repository).into_os_string();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    if !is_there(&lock) {
        return Ok(());
    }
    let message = "the index is locked by another git process";
    let help = format!(
        "wait until the process ends; if no git process is running, remove `{}`",
        lock.display()
    );
    Err(Error::git(message).with_help(help))
}

fn refuse_unmerged(repository: &gix::Repository, index: &gix::index::File) -> Result<(), Error> {
    let entries = index
        .entries()
        .iter()
        .filter(|entry| entry.stage() != Stage::Unconflicted);
    let mut paths: Vec<&BStr> = entries.map(|entry| entry.path(index)).collect();
    paths.dedup();
    let Some(first) = paths.first() else {
        return Ok(());
    };
    let others = match paths.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{first}`{others} in the index is unmerged");
    let abort = abort_of(repository)
        .map(|command| format!(", or run `git {command} --abort`"))
        .unwrap_or_default();
    // Without `./`, git would parse the name as an option.
    let option = if first.starts_with(b"-") { "./" } else { "" };
    let file = shell_word(&format!("{option}{first}"));
    let help = format!("resolve the conflict, then run `git add {file}`{abort}");
    Err(Error::git(message).with_help(help))
}

/// Operation in progress in this repository, if it can be aborted; a conflict of `git stash pop`
/// cannot.
fn abort_of(repository: &gix::Repository) -> Option<&'static str> {
    use gix::state::InProgress as Work;
    match repository.state()? {
        Work::Merge => Some("merge"),
        Work::Rebase | Work::RebaseInteractive | Work::ApplyMailboxRebase => Some("rebase"),
        Work::CherryPick | Work::CherryPickSequence => Some("cherry-pick"),
        Work::Revert | Work::RevertSequence => Some("revert"),
        Work::ApplyMailbox => Some("am"),
        Work::Bisect => None,
    }
}

/// Content of the relevant entries, by path.
pub(super) fn paths_of(
    repository: &gix::Repository,
    index: &gix::index::File,
    mut is_meant: impl FnMut(&gix::index::Entry) -> bool,
) -> gix::Result<Paths> {
    let mut paths = Paths::new();
    for entry in index.entries().iter().filter(|entry| is_meant(entry)) {
        let path = entry.path(index);
        if entry.flags.contains(Flags::INTENT_TO_ADD) {
            continue;
        }
        if entry.mode.is_sparse() {
            // a folder that a sparse index stores as one entry
            let folder = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
            for (below, (mode, id)) in files_below(repository, entry.id, &mut |_, _| true)? {
                let mut path = BString::from(folder);
                path.push(b'/');
                path.extend_from_slice(&below);
                add(&mut paths, path.as_bstr(), mode, id);
            }
        } else if let Some(mode) = entry.mode.to_tree_entry_mode() {
            add(&mut paths, path, mode.kind(), entry.id);
        }
    }
    Ok(paths)
}

/// Adds a path and its parent folders, which have no id of their own here.
fn add(paths: &mut Paths, path: &BStr, mode: Mode, id: gix::ObjectId) {
    for slash in path.find_iter("/") {
        let folder = BString::from(&path[..slash]);
        paths
            .entry(folder)
            .or_insert((Mode::Tree, gix::ObjectId::null(id.kind())));
    }
    paths.insert(path.to_owned(), (mode, id));
}
