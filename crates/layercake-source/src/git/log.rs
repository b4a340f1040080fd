//! Iteration over commits for history walks: authors, parents, and unchanged folders.

use std::time::SystemTime;

use gix::bstr::ByteSlice as _;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;
use parking_lot::Mutex;

use super::history::unreadable_history;
use super::listing::files_below;
use super::stored::StoredOrigin;
use super::{Repository, StoredTree, content_id, control, cure};
use crate::error::Error;
use crate::{ContentId, History, RepoPath};

/// A commit, as `git log` shows it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LoggedCommit {
    /// Full id.
    pub id: String,
    /// Ids of the parents, in order.
    #[serde(skip)]
    pub parents: Vec<String>,
    /// Name of the author.
    pub author: String,
    /// Author date, as `2024-10-09`.
    pub date: String,
    /// Commit date, in seconds since 1970.
    #[serde(skip)]
    pub committed: i64,
    /// Subject line of the message.
    pub subject: String,
    /// Whether its parents are missing in this clone.
    #[serde(skip)]
    pub is_cut: bool,
}

/// Reader for commits of a repository by full id.
pub struct CommitReader {
    repository: Repository,
    handle: Mutex<gix::Repository>,
}

impl Repository {
    /// Creates a reader.
    ///
    /// # Errors
    /// If grafts or a damaged shallow file change the history.
    pub fn commit_reader(&self) -> Result<CommitReader, Error> {
        let mut handle = self.shared.to_thread_local();
        control::refuse_altered_history(&handle)?;
        // A walk visits the same trees repeatedly.
        handle.object_cache_size_if_unset(16 << 20);
        Ok(CommitReader {
            repository: self.clone(),
            handle: Mutex::new(handle),
        })
    }

    /// Ids of the commits that are reachable from `tip` but not from `hidden`, both full ids.
    ///
    /// # Errors
    /// If an existing commit cannot be read.
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
        ids.collect::<Result<_, _>>()
            .map_err(|cause| unreadable(gix::Error::from_error(cause)))
    }
}

/// Parses a date in git's syntax, such as `2024-10-09` or `2 weeks ago`, to seconds since 1970;
/// `None` if it is invalid.
pub fn seconds_of_date(text: &str, now: SystemTime) -> Option<i64> {
    let now = gix::date::Zoned::try_from(now).ok();
    gix::date::parse(text, now).ok().map(|time| time.seconds)
}

impl CommitReader {
    /// Reads the commit with this id.
    ///
    /// # Errors
    /// If it is missing or damaged.
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
            let boundary = repository
                .shallow_commits()
                .map_err(|cause| cure::damaged(id, gix::Error::from_error(cause)))?;
            Ok(LoggedCommit {
                id: id.to_string(),
                parents: commit
                    .parent_ids()
                    .map(|parent| parent.to_string())
                    .collect(),
                author: name,
                date: date.unwrap_or_default(),
                committed: committer.seconds(),
                subject: History::subject(commit.message_raw_sloppy()),
                is_cut: boundary.is_some_and(|boundary| boundary.contains(&id)),
            })
        })
    }

    /// Ids of the entries at some paths of a commit; `None` for missing ones.
    ///
    /// # Errors
    /// If a tree is missing or damaged.
    pub fn contents(&self, id: &str, paths: &[&str]) -> Result<Vec<Option<ContentId>>, Error> {
        self.with(|repository| {
            let commit = find(repository, id)?;
            let damaged = |cause| cure::damaged(commit.id, gix::Error::from_error(cause));
            let tree = commit.tree_id().map_err(damaged)?.detach();
            paths
                .iter()
                .map(|path| {
                    if path.is_empty() {
                        return Ok(Some(content_id(tree)));
                    }
                    let root = repository.find_tree(tree).map_err(damaged)?;
                    let entry = root.lookup_entry_by_path(path).map_err(damaged)?;
                    Ok(entry.map(|entry| content_id(entry.object_id())))
                })
                .collect()
        })
    }

    /// Files of a commit, in the folders whose path satisfies `is_listed`.
    ///
    /// # Errors
    /// If a tree is missing or damaged.
    pub fn files(&self, id: &str, is_listed: &dyn Fn(&str) -> bool) -> Result<StoredTree, Error> {
        let (id, paths) = self.with(|repository| {
            let commit = find(repository, id)?;
            let unlisted = |cause: gix::Error| {
                let message = format!("cannot list the files of commit {}", commit.id);
                let error = Error::git(message).caused_by(cause);
                error.with_help(cure::missing_objects_help(repository))
            };
            let tree = commit
                .tree_id()
                .map_err(|cause| unlisted(gix::Error::from_error(cause)))?;
            let paths = files_below(repository, tree.detach(), &mut |folder, _| {
                is_listed(RepoPath::of_bytes(folder).as_str())
            });
            Ok((commit.id, paths.map_err(unlisted)?))
        })?;
        Ok(StoredTree::new(
            self.repository.clone(),
            StoredOrigin::Commit(id),
            paths,
        ))
    }

    fn with<T>(&self, read: impl FnOnce(&gix::Repository) -> Result<T, Error>) -> Result<T, Error> {
        read(&self.handle.lock())
    }
}

/// Formats a date like `git log --date=short`.
const DATE: gix::date::time::CustomFormat = gix::date::time::format::SHORT;

fn find<'r>(repository: &'r gix::Repository, id: &str) -> Result<gix::Commit<'r>, Error> {
    let unknown = |cause: gix::Error| {
        let message = format!("cannot read commit {id}");
        let error = Error::git(message).caused_by(cause);
        error.with_help(cure::missing_objects_help(repository))
    };
    let id = gix::ObjectId::from_hex(id.as_bytes())
        .map_err(|cause| unknown(gix::Error::from_error(cause)))?;
    repository
        .find_commit(id)
        .map_err(|cause| unknown(gix::Error::from_error(cause)))
}
