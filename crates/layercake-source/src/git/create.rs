//! Creation of a repository with its first commits: the only module that writes through git, and
//! only into a repository that it creates. The user's git configuration and environment are
//! ignored, so commits are reproducible.

use std::borrow::Cow;
use std::path::Path;

use gix::ThreadSafeRepository;
use gix::actor::SignatureRef;
use gix::create::{Kind, Options};
use gix::objs::tree::EntryKind;
use gix::refs::transaction::PreviousValue;

use super::Repository;
use crate::error::Error;

/// Description of a commit in a new repository.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    /// Files: path and text.
    pub files: Vec<(&'a str, Cow<'a, str>)>,
    /// Tag for the commit, if any.
    pub tag: Option<&'a str>,
    /// Name of the author.
    pub name: &'a str,
    /// Email address of the author.
    pub email: &'a str,
    /// Date: seconds since 1970 and the offset from UTC, as git writes them.
    pub time: &'a str,
    /// Commit message.
    pub message: &'a str,
}

impl Repository {
    /// Creates a git repository in `folder` with these commits in sequence on the branch `main`;
    /// the index matches the last one. The caller writes the files of the working tree.
    ///
    /// # Errors
    /// If `folder` already has a repository, or is not writable.
    pub fn create(folder: &Path, commits: &[NewCommit<'_>]) -> Result<Self, Error> {
        created(folder, commits).map_err(|cause| {
            let message = format!("cannot create a git repository in `{}`", folder.display());
            Error::git(message).caused_by(cause)
        })
    }
}

fn created(folder: &Path, commits: &[NewCommit<'_>]) -> gix::Result<Repository> {
    let kind = Kind::WithWorktree;
    let isolated = gix::open::Options::isolated();
    let shared =
        ThreadSafeRepository::init_opts(folder, kind, Options::default(), isolated.clone())?;
    let repository = shared.to_thread_local();
    let mut last = None;
    for new in commits {
        last = Some(commit(&repository, new, last)?);
    }
    // Reopened, because the cached state predates the commits.
    let shared = ThreadSafeRepository::open_opts(folder, isolated)?;
    Ok(Repository { shared })
}

fn commit(
    repository: &gix::Repository,
    new: &NewCommit<'_>,
    parent: Option<gix::ObjectId>,
) -> gix::Result<gix::ObjectId> {
    let mut tree = repository.edit_tree(repository.empty_tree().id)?;
    for (path, text) in &new.files {
        let blob = repository.write_blob(text.as_bytes())?;
        tree.upsert(*path, EntryKind::Blob, blob)?;
    }
    let tree = tree.write()?.detach();
    let name = new.name.into();
    let email = new.email.into();
    let who = SignatureRef {
        name,
        email,
        time: new.time,
    };
    let id = repository
        .commit_as(who, who, "HEAD", new.message, tree, parent)?
        .detach();
    if let Some(tag) = new.tag {
        repository.tag_reference(tag, id, PreviousValue::MustNotExist)?;
    }
    repository
        .index_from_tree(&tree)?
        .write(gix::index::write::Options::default())?;
    Ok(id)
}
