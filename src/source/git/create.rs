//! A new repository with one commit: the only place that writes through git,
//! and only into a repository of its own making. Nothing of the user's git
//! configuration or environment counts, so the commit is the same everywhere.

use std::path::Path;

use gix::ThreadSafeRepository;
use gix::actor::SignatureRef;
use gix::create::{Kind, Options};
use gix::objs::tree::EntryKind;

use super::Repository;
use crate::error::{Error, ErrorKind};

/// All that makes the first commit of a repository what it is.
#[derive(Clone, Copy, Debug)]
pub struct FirstCommit<'a> {
    /// Its files: path and text.
    pub files: &'a [(&'a str, &'a str)],
    /// Who made it.
    pub name: &'a str,
    /// Their address.
    pub email: &'a str,
    /// When: seconds since 1970 and the offset from UTC, as git writes them.
    pub time: &'a str,
    /// What it says.
    pub message: &'a str,
}

impl Repository {
    /// Makes `folder` a git repository with one commit on its branch `main`;
    /// the index is that commit's. The files themselves are the caller's to
    /// write.
    ///
    /// # Errors
    /// Where `folder` has a repository already, or cannot be written to.
    pub fn create(folder: &Path, first: &FirstCommit<'_>) -> Result<Self, Error> {
        created(folder, first).map_err(|cause| {
            let message = format!("`{}` cannot be made a git repository", folder.display());
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }
}

fn created(folder: &Path, first: &FirstCommit<'_>) -> gix::Result<Repository> {
    let (kind, isolated) = (Kind::WithWorktree, gix::open::Options::isolated());
    let shared =
        ThreadSafeRepository::init_opts(folder, kind, Options::default(), isolated.clone())?;
    commit(&shared.to_thread_local(), first)?;
    // Opened anew: what was read of it before the commit is out of date.
    let shared = ThreadSafeRepository::open_opts(folder, isolated)?;
    Ok(Repository { shared })
}

fn commit(repository: &gix::Repository, first: &FirstCommit<'_>) -> gix::Result<()> {
    let mut tree = repository.edit_tree(repository.empty_tree().id)?;
    for (path, text) in first.files {
        let blob = repository.write_blob(text)?;
        tree.upsert(*path, EntryKind::Blob, blob)?;
    }
    let tree = tree.write()?.detach();
    let (name, email) = (first.name.into(), first.email.into());
    let who = SignatureRef { name, email, time: first.time };
    let parents: [gix::ObjectId; 0] = [];
    repository.commit_as(who, who, "HEAD", first.message, tree, parents)?;
    repository.index_from_tree(&tree)?.write(gix::index::write::Options::default())
}
