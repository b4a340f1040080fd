//! Commits one by one, as a walk through history meets them: who made each, what it follows, and
//! which of its folders are those of another.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use gix::bstr::ByteSlice as _;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::history::unreadable_history;
use super::listing::files_below;
use super::stored::StoredOrigin;
use super::{Repository, StoredTree, content_id, control, cure};
use crate::error::{Error, ErrorKind};
use crate::{ContentId, History};

/// A commit, as `git log` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCommit {
    /// Its id, in full.
    pub id: String,
    /// The ids of its parents, first one first.
    pub parents: Vec<String>,
    /// The author's name.
    pub author: String,
    /// When the author made it, as `2024-10-09`.
    pub date: String,
    /// When it was committed, in seconds since 1970.
    pub committed: i64,
    /// The first line of its message.
    pub subject: String,
    /// Whether this clone lacks what came before it.
    pub is_cut: bool,
}

/// Commits of a repository, read by their full ids.
pub struct CommitReader {
    repository: Repository,
    handle: Mutex<gix::Repository>,
}

impl Repository {
    /// A reader of its commits.
    ///
    /// # Errors
    /// Where the history is not the one that the commits say.
    pub fn commit_reader(&self) -> Result<CommitReader, Error> {
        let mut handle = self.shared.to_thread_local();
        control::refuse_altered_history(&handle)?;
        // A walk meets the same folders again and again.
        handle.object_cache_size_if_unset(16 << 20);
        Ok(CommitReader { repository: self.clone(), handle: Mutex::new(handle) })
    }

    /// The ids of the commits that `tip` has and `hidden` has not, both known by their full ids.
    ///
    /// # Errors
    /// Where a commit that is there cannot be read.
    pub fn commits_since(&self, hidden: &str, tip: &str) -> Result<Vec<String>, Error> {
        let repository = self.shared.to_thread_local();
        let unreadable = |cause| unreadable_history(&repository, [hidden, tip], cause);
        let [hidden_id, tip_id] = [hidden, tip].map(|id| {
            let id = gix::ObjectId::from_hex(id.as_bytes());
            id.map_err(|cause| unreadable(gix::Error::from_error(cause)))
        });
        let walk = repository.rev_walk([tip_id?]).with_hidden([hidden_id?]);
        let newest_first = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        let commits = walk.sorting(newest_first).all().map_err(unreadable)?;
        let ids = commits.map(|commit| commit.map(|commit| commit.id.to_string()));
        ids.collect::<Result<_, _>>().map_err(|cause| unreadable(gix::Error::from_error(cause)))
    }
}

/// The seconds since 1970 of a date as git reads it, such as `2024-10-09` or `2 weeks ago`; none
/// if it is not a date.
pub fn seconds_of_date(text: &str, now: SystemTime) -> Option<i64> {
    let now = gix::date::Zoned::try_from(now).ok();
    gix::date::parse(text, now).ok().map(|time| time.seconds)
}

impl CommitReader {
    /// The commit with this id.
    ///
    /// # Errors
    /// Where it is not here, or damaged.
    pub fn commit(&self, id: &str) -> Result<LoggedCommit, Error> {
        self.with(|repository| {
            let commit = find(repository, id)?;
            let id = commit.id;
            let damaged = |cause| cure::damaged(id, gix::Error::from_error(cause));
            let decoded = commit.decode().map_err(damaged)?;
            let author = decoded.author().map_err(damaged)?;
            let committer = decoded.committer().map_err(damaged)?;
            let date = author.time().ok().and_then(|time| time.format(DATE).ok());
            let name = author.name.to_str_lossy().trim().to_owned();
            let boundary = repository.shallow_commits();
            let boundary =
                boundary.map_err(|cause| cure::damaged(id, gix::Error::from_error(cause)))?;
            Ok(LoggedCommit {
                id: id.to_string(),
                parents: commit.parent_ids().map(|parent| parent.to_string()).collect(),
                author: name,
                date: date.unwrap_or_default(),
                committed: committer.seconds(),
                subject: History::subject(commit.message_raw_sloppy()),
                is_cut: boundary.is_some_and(|boundary| boundary.contains(&id)),
            })
        })
    }

    /// The ids of what is at some paths of a commit; none where nothing is.
    ///
    /// # Errors
    /// Where a folder is not here, or damaged.
    pub fn contents(&self, id: &str, paths: &[&str]) -> Result<Vec<Option<ContentId>>, Error> {
        self.with(|repository| {
            let commit = find(repository, id)?;
            let damaged = |cause| cure::damaged(commit.id, gix::Error::from_error(cause));
            let tree = commit.tree_id().map_err(damaged)?.detach();
            let of = |path: &&str| {
                if path.is_empty() {
                    return Ok(Some(content_id(tree)));
                }
                let root = repository.find_tree(tree).map_err(damaged)?;
                let entry = root.lookup_entry_by_path(path).map_err(damaged)?;
                Ok(entry.map(|entry| content_id(entry.object_id())))
            };
            paths.iter().map(of).collect()
        })
    }

    /// The files of a commit, in those folders for whose path `is_listed`.
    ///
    /// # Errors
    /// Where a folder is not here, or damaged.
    pub fn files(&self, id: &str, is_listed: &dyn Fn(&str) -> bool) -> Result<StoredTree, Error> {
        let (id, paths) = self.with(|repository| {
            let commit = find(repository, id)?;
            let unlisted = |cause: gix::Error| {
                let message = format!("the files of commit {} cannot be listed", commit.id);
                let error = Error::new(ErrorKind::Git, message).caused_by(cause);
                error.with_help(cure::missing_objects_help(repository))
            };
            let tree = commit.tree_id().map_err(|cause| unlisted(gix::Error::from_error(cause)))?;
            let paths = files_below(repository, tree.detach(), &mut |folder, _| {
                folder.to_str().is_ok_and(is_listed)
            });
            Ok((commit.id, paths.map_err(unlisted)?))
        })?;
        Ok(StoredTree::new(self.repository.clone(), StoredOrigin::Commit(id), paths))
    }

    fn with<T>(&self, read: impl FnOnce(&gix::Repository) -> Result<T, Error>) -> Result<T, Error> {
        read(&self.handle.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// As `git log --date=short` writes it.
const DATE: gix::date::time::CustomFormat = gix::date::time::format::SHORT;

fn find<'r>(repository: &'r gix::Repository, id: &str) -> Result<gix::Commit<'r>, Error> {
    let unknown = |cause: gix::Error| {
        let message = format!("commit {id} cannot be read");
        let error = Error::new(ErrorKind::Git, message).caused_by(cause);
        error.with_help(cure::missing_objects_help(repository))
    };
    let id = gix::ObjectId::from_hex(id.as_bytes());
    let id = id.map_err(|cause| unknown(gix::Error::from_error(cause)))?;
    repository.find_commit(id).map_err(|cause| unknown(gix::Error::from_error(cause)))
}
