//! A new repository with its first commits: the only place that writes through git,
//! and only into a repository of its own making. Nothing of the user's git
//! configuration or environment counts, so the commit is the same everywhere.

use std::borrow::Cow;
use std::path::Path;

use gix::ThreadSafeRepository;
use gix::actor::SignatureRef;
use gix::create::{Kind, Options};
use gix::objs::tree::EntryKind;
use gix::refs::transaction::PreviousValue;

use super::Repository;
use crate::error::{Error, ErrorKind};

/// All that makes a commit of a new repository what it is.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    /// Its files: path and text.
    pub files: Vec<(&'a str, Cow<'a, str>)>,
    /// The tag that names it, if one does.
    pub tag: Option<&'a str>,
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
    /// Makes `folder` a git repository with these commits, one after the other, on its branch
    /// `main`; the index is that of the last. The files themselves are the caller's to write.
    ///
    /// # Errors
    /// Where `folder` has a repository already, or cannot be written to.
    pub fn create(folder: &Path, commits: &[NewCommit<'_>]) -> Result<Self, Error> {
        created(folder, commits).map_err(|cause| {
            let message = format!("`{}` cannot be made a git repository", folder.display());
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }
}

fn created(folder: &Path, commits: &[NewCommit<'_>]) -> gix::Result<Repository> {
    let (kind, isolated) = (Kind::WithWorktree, gix::open::Options::isolated());
    let shared =
        ThreadSafeRepository::init_opts(folder, kind, Options::default(), isolated.clone())?;
    let repository = shared.to_thread_local();
    let mut last = None;
    for new in commits {
        last = Some(commit(&repository, new, last)?);
    }
    // Opened anew: what was read of it before the commits is out of date.
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
    let (name, email) = (new.name.into(), new.email.into());
    let who = SignatureRef { name, email, time: new.time };
    let id = repository.commit_as(who, who, "HEAD", new.message, tree, parent)?.detach();
    if let Some(tag) = new.tag {
        repository.tag_reference(tag, id, PreviousValue::MustNotExist)?;
    }
    repository.index_from_tree(&tree)?.write(gix::index::write::Options::default())?;
    Ok(id)
}
