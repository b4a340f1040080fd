//! The index: what the next commit will hold.
//!
//! As a hook of `git commit -a` or `git commit PATH`, layercake is told by
//! `GIT_INDEX_FILE` of another index than the usual one, which is then itself
//! a lock file.

use std::path::PathBuf;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Stage};
use gix::objs::tree::EntryKind as Mode;

use super::listing::files_below;
use super::stored::{Paths, StoredOrigin};
use super::{Repository, StoredTree, cure};
use crate::error::{Error, ErrorKind, shell_word};
use crate::tree::is_there;

impl Repository {
    /// The files of the index, with the bytes that git has stored for them.
    ///
    /// A file of which git was only told that it will be added (`git add
    /// --intent-to-add`) is not among them; one that a sparse checkout leaves
    /// out is. Where there is no index yet, it is empty.
    ///
    /// # Errors
    /// Where this repository has no working tree, and where the index is
    /// damaged, is being changed by another git, or holds both sides of a
    /// merge.
    pub fn index(&self) -> Result<StoredTree, Error> {
        if self.work_tree_root().is_none() {
            let message = "this is a bare repository, which has no index";
            let help = "compare two commits";
            return Err(Error::new(ErrorKind::Git, message).with_help(help));
        }
        let repository = self.shared.to_thread_local();
        refuse_locked(&repository)?;
        let index = open_index(&repository, IndexCheck::Whole)?;
        refuse_unmerged(&repository, &index)?;
        self.stored_in(&repository, &index, |_| true)
    }

    /// The files of this index that need not be on disk, if there are any.
    pub(super) fn left_out(&self, index: &gix::index::File) -> Result<Option<StoredTree>, Error> {
        let is_left_out = |entry: &gix::index::Entry| {
            let flags = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
            entry.mode.is_sparse() || entry.flags.intersects(flags)
        };
        let has_some = index.entries().iter().any(is_left_out);
        let stored = || self.stored_in(&self.shared.to_thread_local(), index, is_left_out);
        has_some.then(stored).transpose()
    }

    fn stored_in(
        &self,
        repository: &gix::Repository,
        index: &gix::index::File,
        is_meant: impl Fn(&gix::index::Entry) -> bool,
    ) -> Result<StoredTree, Error> {
        let paths = paths_of(repository, index, is_meant).map_err(|cause| {
            let error = Error::new(ErrorKind::Git, "the files of the index cannot be listed");
            error.caused_by(cause).with_help(cure::missing_objects_help(repository))
        })?;
        Ok(StoredTree::new(self.clone(), StoredOrigin::Index, paths))
    }
}

/// What of the index is looked at for damage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexCheck {
    /// The hash of all of it, for what is read is what it says.
    Whole,
    /// What cannot be read, as git does, which leaves the hash to `git fsck`: it
    /// only says which files are tracked.
    Form,
}

/// The index as it is on disk; an empty one where there is none.
pub(super) fn open_index(
    repository: &gix::Repository,
    check: IndexCheck,
) -> Result<gix::index::File, Error> {
    let file = index_file(repository);
    let limit = Some(Repository::MAX_OBJECT_BYTES);
    let options = gix::index::decode::Options { alloc_limit_bytes: limit, ..Default::default() };
    let skip_hash = check == IndexCheck::Form;
    let hash = repository.object_hash();
    let opened = gix::index::File::at_or_default(&file, hash, skip_hash, options);
    opened.map_err(|cause| {
        let message = format!("the index `{}` cannot be read", file.display());
        let help = format!(
            "move `{}` away: `git reset` then makes it anew from HEAD, and what was staged is to \
             be added again",
            file.display()
        );
        Error::new(ErrorKind::Git, message).caused_by(cause).with_help(help)
    })
}

/// Which file is the index.
///
/// git goes to the top of the working tree before it opens what
/// `GIT_INDEX_FILE` names, so a hook may go to another folder; gix would look
/// from there, and take the file that it does not find for an empty index.
fn index_file(repository: &gix::Repository) -> PathBuf {
    let config = repository.config_snapshot();
    let named =
        config.plumbing().raw_value_with_section_filter("gitoxide.core.indexFile", |_| true);
    let from_environment =
        named.ok().filter(|(_, section)| section.meta().source == gix::config::Source::EnvOverride);
    let named = from_environment.and_then(|(value, _)| gix::path::from_bstring(value).ok());
    let file = match (named, repository.workdir()) {
        (Some(named), Some(root)) if named.is_relative() => root.join(named),
        _ => repository.index_path(),
    };
    // without the `.` that stands for where layercake was started
    file.components().collect()
}

/// git writes the new index beside the old one and then puts it in its place.
pub(super) fn refuse_locked(repository: &gix::Repository) -> Result<(), Error> {
    let mut lock = index_file(repository).into_os_string();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    if !is_there(&lock) {
        return Ok(());
    }
    let message = "the index is locked: another git is changing it";
    let help = format!("wait until it has ended; if no git runs, remove `{}`", lock.display());
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

fn refuse_unmerged(repository: &gix::Repository, index: &gix::index::File) -> Result<(), Error> {
    let is_unmerged = |entry: &&gix::index::Entry| entry.stage() != Stage::Unconflicted;
    let entries = index.entries().iter().filter(is_unmerged);
    let mut paths: Vec<&BStr> = entries.map(|entry| entry.path(index)).collect();
    paths.dedup();
    let Some(first) = paths.first() else { return Ok(()) };
    let others = match paths.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{first}`{others} in the index is not merged");
    let abort = abort_of(repository).map(|command| format!("; or `git {command} --abort`"));
    let abort = abort.unwrap_or_default();
    // Without `./` git would read the name as an option.
    let option = if first.starts_with(b"-") { "./" } else { "" };
    let file = shell_word(&format!("{option}{first}"));
    let help = format!("settle the conflict, then `git add {file}`{abort}");
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

/// The command of git that is at work in this repository, if it can be given up:
/// a conflict of `git stash pop` cannot.
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

/// What stands at the paths of the entries that count.
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
            // a folder that a sparse index keeps as one entry
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

/// Adds a path, and the folders it is in, which have no id of their own here.
fn add(paths: &mut Paths, path: &BStr, mode: Mode, id: gix::ObjectId) {
    for slash in path.find_iter("/") {
        let folder = BString::from(&path[..slash]);
        paths.entry(folder).or_insert((Mode::Tree, gix::ObjectId::null(id.kind())));
    }
    paths.insert(path.to_owned(), (mode, id));
}
