//! Revisions and their history: the commit that a name refers to, its parents, and merge bases.
//!
//! A shallow clone or damaged object never shortens a result: if a missing commit could change it,
//! the result is an error that names the command to fetch the commit.

use std::borrow::Cow;
use std::collections::HashSet;

use super::stored::{StoredOrigin, paths_of};
use super::{Repository, StoredTree, control, cure};
use crate::error::Error;
use crate::{Commit, History, RepoPath, Tree as _};

impl Repository {
    /// Maximum nesting of tags that refer to tags.
    pub const MAX_TAGS: usize = 100;

    /// Files of the commit that `revision` names: a branch, a tag, an id, or any other git revision
    /// (`HEAD~1`, `origin/main`).
    ///
    /// # Errors
    /// If `revision` does not name a commit, or folders of the commit are missing; the help
    /// explains how to fetch them.
    pub fn commit(&self, revision: &str) -> Result<StoredTree, Error> {
        let repository = self.shared.to_thread_local();
        let id = commit_id(&repository, revision, CommitPurpose::Files)?;
        let paths = paths_of(&repository, id).map_err(|cause| {
            let message = format!("cannot list the files of `{revision}`");
            let error = Error::git(message).caused_by(cause);
            error.with_help(cure::missing_objects_help(&repository))
        })?;
        Ok(StoredTree::new(
            self.clone(),
            StoredOrigin::Commit(id),
            paths,
        ))
    }

    /// Files of the commit that a site definition pins as `revision`. As after a fresh clone, a
    /// branch may exist only at the remote.
    ///
    /// # Errors
    /// As for [`Repository::commit`], and if a partial clone lacks files below `folders`.
    pub fn pinned(&self, revision: &str, folders: &[RepoPath]) -> Result<StoredTree, Error> {
        let of_remote = || Some(format!("refs/remotes/{}/{revision}", self.remote()?));
        let tree = self.commit(revision).or_else(|error| {
            of_remote()
                .and_then(|name| self.commit(&name).ok())
                .ok_or(error)
        })?;
        let mut files = Vec::new();
        for folder in folders {
            files.extend(tree.entries(folder)?.into_iter().map(|entry| entry.path));
        }
        tree.ensure_present(&files)?;
        Ok(tree)
    }

    /// Command that fetches `revision` into this clone, displayed as `folder`; `None` without a
    /// remote.
    pub fn fetch_command(&self, folder: &str, revision: &str) -> Option<String> {
        cure::fetch_command(&self.shared.to_thread_local(), folder, revision)
    }

    /// Full id of the commit that `revision` names.
    ///
    /// # Errors
    /// If it does not name a commit in this clone.
    pub fn resolve(&self, revision: &str) -> Result<String, Error> {
        let repository = self.shared.to_thread_local();
        Ok(commit_id(&repository, revision, CommitPurpose::Files)?.to_string())
    }

    /// Whether the object with this full id is in this clone.
    pub fn has_object(&self, id: &str) -> bool {
        let repository = self.shared.to_thread_local();
        full_id(&repository, id).is_some_and(|id| repository.has_object(id))
    }

    /// Whether this clone lacks the ancestors of some commits.
    pub fn is_shallow(&self) -> bool {
        cure::is_shallow(&self.shared.to_thread_local())
    }

    /// Sentence with the command that completes a shallow clone.
    pub fn unshallow_help(&self) -> String {
        cure::unshallow_help(&self.shared.to_thread_local())
    }

    /// Checked-out branch; `None` for a detached HEAD.
    pub fn branch(&self) -> Option<String> {
        let name = self.shared.to_thread_local().head_name().ok()??;
        Some(name.shorten().to_string())
    }

    /// Date of the commit with this id, as ISO 8601; `None` if unknown.
    pub fn date_of(&self, commit: &str) -> Option<String> {
        let repository = self.shared.to_thread_local();
        let commit = repository
            .rev_parse_single(commit)
            .ok()?
            .object()
            .ok()?
            .try_into_commit()
            .ok()?;
        commit
            .time()
            .ok()?
            .format(gix::date::time::format::ISO8601_STRICT)
            .ok()
    }

    /// Tree id of the commit with this id.
    ///
    /// # Errors
    /// If the commit is missing or damaged.
    pub fn tree_of(&self, commit: &str) -> Result<String, Error> {
        let repository = self.shared.to_thread_local();
        let tree = repository.rev_parse_single(format!("{commit}^{{tree}}").as_str());
        tree.map(|id| id.to_string()).map_err(|cause| {
            let message = format!("cannot read commit {commit}");
            Error::git(message).caused_by(cause)
        })
    }

    /// Whether the checked-out branch has no commit yet.
    pub fn is_unborn(&self) -> bool {
        self.shared
            .to_thread_local()
            .head()
            .is_ok_and(|head| head.is_unborn())
    }

    /// Ids of the parents of the commit `revision`, in order, even if they are missing in this
    /// clone.
    ///
    /// # Errors
    /// If `revision` does not name a commit.
    pub fn parents(&self, revision: &str) -> Result<Vec<String>, Error> {
        let repository = self.shared.to_thread_local();
        let id = commit_id(&repository, revision, CommitPurpose::Files)?;
        let commit = repository
            .find_commit(id)
            .map_err(|cause| cure::damaged(id, cause))?;
        Ok(commit
            .parent_ids()
            .map(|parent| parent.to_string())
            .collect())
    }

    /// Best common ancestor of two commits, as in `git merge-base`; `None` if their histories are
    /// unrelated.
    ///
    /// # Errors
    /// If one of them is not a commit, or a commit missing in this shallow clone could be a better
    /// common ancestor; the help names the command to fetch it.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, Error> {
        let repository = self.shared.to_thread_local();
        let tips = [
            commit_id(&repository, one, CommitPurpose::History)?,
            commit_id(&repository, other, CommitPurpose::History)?,
        ];
        let unreadable = |cause: gix::Error| {
            let message = format!("cannot read the history of `{one}` and `{other}`");
            let error = Error::git(message).caused_by(cause);
            error.with_help(cure::missing_objects_help(&repository))
        };
        let bases: Vec<gix::ObjectId> = repository
            .merge_bases_many(tips[0], &[tips[1]])
            .map_err(unreadable)?
            .into_iter()
            .map(gix::Id::detach)
            .collect();
        // if one commit is an ancestor of the other, no better ancestor exists
        let is_certain = bases.first().is_some_and(|base| tips.contains(base));
        if !is_certain && ends_early(&repository, tips, &bases).map_err(unreadable)? {
            let message =
                format!("the merge base of `{one}` and `{other}` is not in this shallow clone");
            let help = cure::unshallow_help(&repository);
            return Err(Error::git(message).with_help(help));
        }
        Ok(bases.first().map(ToString::to_string))
    }

    /// Commits between two commits with these full ids.
    ///
    /// # Errors
    /// If an existing commit cannot be read.
    pub fn history(&self, from: &str, to: &str) -> Result<History, Error> {
        let repository = self.shared.to_thread_local();
        let unreadable = |cause| unreadable_history(&repository, [from, to], cause);
        let ids = [
            commit_id(&repository, from, CommitPurpose::Files)?,
            commit_id(&repository, to, CommitPurpose::Files)?,
        ];
        let newest_first = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let between = |hidden: gix::ObjectId, tip: gix::ObjectId| {
            let walk = repository.rev_walk([tip]).with_hidden([hidden]);
            walk.sorting(gix::revision::walk::Sorting::ByCommitTime(newest_first))
                .all()
        };
        let mut history = History {
            shallow: cure::is_shallow(&repository),
            ..History::default()
        };
        for commit in between(ids[0], ids[1]).map_err(unreadable)? {
            let id = commit
                .map_err(|cause| unreadable(gix::Error::from_error(cause)))?
                .id;
            history.added += 1;
            if history.commits.len() < History::MAX_COMMITS {
                let commit = repository
                    .find_commit(id)
                    .map_err(|cause| cure::damaged(id, cause))?;
                let subject = History::subject(commit.message_raw_sloppy());
                history.commits.push(Commit {
                    id: id.to_string(),
                    subject,
                });
            }
        }
        history.removed = between(ids[1], ids[0]).map_err(unreadable)?.count();
        Ok(history)
    }

    /// Main branch of the repository: the target of the remote's `HEAD`, or else `main` or
    /// `master`, at the remote or locally; `None` if none of them exists. Its commit need not be
    /// readable.
    ///
    /// # Errors
    /// If the reference storage is not supported.
    pub fn default_branch(&self) -> Result<Option<String>, Error> {
        let repository = self.shared.to_thread_local();
        cure::require_readable_references(&repository)?;
        let remote = cure::remote(&repository);
        let head = match &remote {
            Some(remote) => head_of(&repository, remote)?,
            None => None,
        };
        let local = ["main", "master"].map(|branch| Some(format!("refs/heads/{branch}")));
        let tracked = ["main", "master"]
            .map(|branch| Some(format!("refs/remotes/{}/{branch}", remote.as_ref()?)));
        for name in [head].into_iter().chain(tracked).chain(local).flatten() {
            if let Some(branch) = reference(&repository, &name)? {
                return Ok(Some(branch.name().shorten().to_string()));
            }
        }
        Ok(None)
    }

    /// Short names of branches, tags and remote branches; empty if they cannot be read.
    pub fn reference_names(&self) -> Vec<String> {
        let repository = self.shared.to_thread_local();
        let Ok(references) = repository.references() else {
            return Vec::new();
        };
        let lists = [
            references.local_branches(),
            references.tags(),
            references.remote_branches(),
        ];
        let known = lists
            .into_iter()
            .flatten()
            .flat_map(|list| list.filter_map(Result::ok));
        known
            .map(|reference| reference.name().shorten().to_string())
            .collect()
    }

    /// Remote to fetch from: the only one, or `origin`.
    pub fn remote(&self) -> Option<String> {
        cure::remote(&self.shared.to_thread_local())
    }
}

pub(super) fn unreadable_history(
    repository: &gix::Repository,
    [from, to]: [&str; 2],
    cause: gix::Error,
) -> Error {
    let message = format!("cannot read the history between {from} and {to}");
    let error = Error::git(message).caused_by(cause);
    error.with_help(cure::missing_objects_help(repository))
}

/// Purpose of looking up a commit, which determines the remedy if it is missing.
#[derive(Clone, Copy)]
enum CommitPurpose {
    /// Its files: only the commit is needed.
    Files,
    /// Its ancestors: the whole history is needed.
    History,
}

fn commit_id(
    repository: &gix::Repository,
    revision: &str,
    wanted: CommitPurpose,
) -> Result<gix::ObjectId, Error> {
    control::refuse_altered_history(repository)?;
    if let Some(id) = full_id(repository, revision).filter(|id| !repository.has_object(id)) {
        let help = match wanted {
            CommitPurpose::Files | CommitPurpose::History if cure::is_quarantined() => {
                cure::QUARANTINE_HELP.to_owned()
            }
            CommitPurpose::Files => cure::fetch_commit_help(repository, id),
            CommitPurpose::History => cure::fetch_history_help(repository, id),
        };
        let message = format!("unknown revision `{revision}`: this clone has no such commit");
        return Err(Error::git(message).with_help(help));
    }
    cure::refuse_several(revision)?;
    refuse_endless_tags(repository, revision)?;
    let spelled_out = match with_local_upstream(repository, revision) {
        Some(spelled_out) => spelled_out.into(),
        None => with_whole_id(repository, revision)?,
    };
    let id = repository
        .rev_parse_single(&*spelled_out)
        .map_err(|cause| cure::unresolved(repository, revision, cause))?
        .detach();
    let object = match repository.try_find_object(id) {
        Ok(Some(object)) => object,
        Ok(None) => {
            let error = cure::missing_commit_error(repository, revision, id);
            let help = cure::unshallow_help(repository);
            return Err(match wanted {
                CommitPurpose::History if cure::is_shallow(repository) => error.with_help(help),
                CommitPurpose::History | CommitPurpose::Files => error,
            });
        }
        Err(cause) => return Err(cure::damaged(id, cause)),
    };
    let kind = object.kind;
    match object.peel_to_kind(gix::objs::Kind::Commit) {
        Ok(commit) => match commit.try_to_commit_ref() {
            Ok(_) => Ok(commit.id),
            Err(cause) => Err(cure::damaged(commit.id, cause)),
        },
        Err(cause) if kind == gix::objs::Kind::Tag => {
            let message = format!("cannot read the commit of the tag `{revision}`");
            let error = Error::git(message).caused_by(cause);
            Err(error.with_help(cure::missing_objects_help(repository)))
        }
        Err(_) => {
            let message = format!("`{revision}` is a {kind}, not a commit");
            Err(Error::usage(message))
        }
    }
}

/// Resolves a leading `topic@{u}` if the upstream is a branch of this repository; gix supports only
/// upstreams of remotes.
fn with_local_upstream(repository: &gix::Repository, revision: &str) -> Option<String> {
    let lowercase = revision.to_ascii_lowercase();
    let (name, mark) = ["@{u}", "@{upstream}"]
        .iter()
        .find_map(|mark| Some((&revision[..lowercase.find(mark)?], mark)))?;
    let branch = match name {
        "" | "@" | "HEAD" => repository.head_name().ok()??.shorten().to_string(),
        name => name.to_owned(),
    };
    let config = repository.config_snapshot();
    let value = |key| config.string(&*format!("branch.{branch}.{key}"));
    let upstream =
        value("merge").filter(|_| value("remote").is_some_and(|remote| remote == "."))?;
    Some(format!(
        "{upstream}{}",
        &revision[name.len() + mark.len()..]
    ))
}

/// Expands a leading short id. gix does this itself, but treats every id of up to 40 digits as
/// SHA-1.
fn with_whole_id<'r>(
    repository: &gix::Repository,
    revision: &'r str,
) -> Result<Cow<'r, str>, Error> {
    let name = cure::base_name(revision);
    let hash = repository.object_hash();
    let is_named = || {
        repository
            .try_find_reference(name)
            .is_ok_and(|found| found.is_some())
    };
    if hash == gix::hash::Kind::Sha1 || name.len() >= hash.len_in_hex() || is_named() {
        return Ok(revision.into());
    }
    let padded = format!("{name:0<width$}", width = hash.len_in_hex());
    let prefix = gix::ObjectId::from_hex(padded.as_bytes())
        .and_then(|id| gix::hash::Prefix::new(&id, name.len()));
    // other names are resolved, or reported as errors, elsewhere
    let Ok(prefix) = prefix else {
        return Ok(revision.into());
    };
    let mut candidates = HashSet::default();
    let found = repository
        .objects
        .lookup_prefix(prefix, Some(&mut candidates));
    found.map_err(|cause| cure::unresolved(repository, revision, cause))?;
    let leads_to_commit = |id: &gix::ObjectId| {
        let object = repository.try_find_object(*id).ok().flatten();
        object.is_some_and(|object| object.peel_to_commit().is_ok())
    };
    candidates.retain(|id| !is_endless(repository, *id) && leads_to_commit(id));
    let mut candidates: Vec<String> = candidates.iter().map(ToString::to_string).collect();
    candidates.sort();
    match &candidates[..] {
        [] => Ok(revision.into()),
        [id] => Ok(format!("{id}{}", &revision[name.len()..]).into()),
        [..] => Err(cure::ambiguous(revision, &candidates)),
    }
}

/// Refuses endless chains of tags: in a damaged repository, a tag can refer to itself, and gix
/// would loop forever.
fn refuse_endless_tags(repository: &gix::Repository, revision: &str) -> Result<(), Error> {
    let endless = |mut reference: gix::Reference<'_>| {
        let id = reference.follow_to_object().ok()?.detach();
        let name = || reference.name().shorten().to_string();
        is_endless(repository, id).then(name)
    };
    let found = if revision.starts_with(":/") {
        // The search covers all commits reachable from any reference.
        let references = repository.references().ok();
        let all = references
            .as_ref()
            .and_then(|references| references.all().ok());
        all.and_then(|all| all.filter_map(Result::ok).find_map(endless))
    } else {
        let name = cure::base_name(revision);
        let id = full_id(repository, name).filter(|id| is_endless(repository, *id));
        let reference = || endless(repository.try_find_reference(name).ok()??);
        id.map(|id| id.to_string()).or_else(reference)
    };
    match found {
        Some(name) => Err(cure::endless_tag(&name)),
        None => Ok(()),
    }
}

fn is_endless(repository: &gix::Repository, start: gix::ObjectId) -> bool {
    std::iter::successors(Some(start), |id| {
        let object = repository.try_find_object(*id).ok()??;
        object.try_to_tag_ref_iter()?.target_id().ok()
    })
    .nth(Repository::MAX_TAGS + 1)
    .is_some()
}

/// The id itself, if `revision` is a full id, which git never treats as a name.
fn full_id(repository: &gix::Repository, revision: &str) -> Option<gix::ObjectId> {
    let id = gix::ObjectId::from_hex(revision.as_bytes()).ok()?;
    (id.kind() == repository.object_hash()).then_some(id)
}

/// Whether the walk from the two commits to their common ancestors reaches a commit whose parents
/// are missing in a shallow clone.
///
/// Ancestors of the found common ancestors do not matter, because they cannot be better.
fn ends_early(
    repository: &gix::Repository,
    tips: [gix::ObjectId; 2],
    bases: &[gix::ObjectId],
) -> gix::Result<bool> {
    let boundary = repository.shallow_commits()?;
    let walk = repository
        .rev_walk(tips)
        .with_hidden(bases.iter().copied())
        .all()?;
    for commit in walk {
        let commit = commit?;
        if boundary
            .as_ref()
            .is_some_and(|boundary| boundary.contains(&commit.id))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Target of the `HEAD` of a remote, such as `refs/remotes/origin/main`.
fn head_of(repository: &gix::Repository, remote: &str) -> Result<Option<String>, Error> {
    let head = reference(repository, &format!("refs/remotes/{remote}/HEAD"))?;
    Ok(head.and_then(|head| Some(head.target().try_name()?.as_bstr().to_string())))
}

/// Reference with this name; `None` if it does not exist. A damaged reference is an error, because
/// otherwise another branch would be compared.
fn reference<'r>(
    repository: &'r gix::Repository,
    name: &str,
) -> Result<Option<gix::Reference<'r>>, Error> {
    if gix::refs::FullName::try_from(name).is_err() {
        return Ok(None);
    }
    repository.try_find_reference(name).map_err(|cause| {
        let message = format!("cannot read the reference `{name}`");
        let help = cure::missing_objects_help(repository);
        Error::git(message).caused_by(cause).with_help(help)
    })
}
