//! The files by which git knows a repository and its history: refused by name if they
//! are damaged, or if they hold what layercake does not follow.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::cure;
use crate::error::{Error, ErrorKind};
use crate::tree::{bytes_at, is_there};

/// Extensions of the format of repositories (gitrepository-layout(5)) that change
/// nothing which layercake reads, or that gix knows. References in reftable are refused
/// where references are read.
const EXTENSIONS: &[&str] = &[
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

/// Extensions that git refuses in a repository of version 0, and does not ignore.
const NEWER_EXTENSIONS: &[&str] =
    &["compatobjectformat", "noop-v1", "objectformat", "refstorage", "relativeworktrees"];

/// Refuses a repository whose format git or layercake does not know, or without a
/// usable `HEAD`.
///
/// # Errors
/// If there is such a file or setting; the message names it.
pub(super) fn refuse_unusable(repository: &gix::Repository) -> Result<(), Error> {
    refuse_unknown_format(repository)?;
    refuse_damaged_head(repository)
}

/// git reads the format from the repository's own file, and extensions in a repository
/// of version 0 only if they are older than version 1.
fn refuse_unknown_format(repository: &gix::Repository) -> Result<(), Error> {
    let config = repository.config_snapshot();
    let config = config.plumbing();
    let own = |section: &gix::config::file::Metadata| {
        section.source == gix::config::Source::Local && section.level == 0
    };
    let version = config.integer_filter("core.repositoryFormatVersion", own);
    let version = version.ok().flatten().unwrap_or(0);
    if !(0..=1).contains(&version) {
        let message = format!("the repository has the format version {version}");
        let help = "layercake reads the versions 0 and 1 (`core.repositoryFormatVersion`)";
        return Err(Error::new(ErrorKind::Git, message).with_help(help));
    }
    let is_refused = |name: &str| {
        let name = name.to_ascii_lowercase();
        let listed = if version == 0 { NEWER_EXTENSIONS } else { EXTENSIONS };
        listed.contains(&name.as_str()) == (version == 0)
    };
    let sections = config.sections_by_name("extensions").into_iter().flatten();
    let own = sections.filter(|section| own(section.meta()));
    let names = own.flat_map(|section| section.body().value_names().collect::<Vec<_>>());
    let mut refused = names.filter(|name| is_refused(name));
    let Some(name) = refused.next() else { return Ok(()) };
    let message = format!(
        "the repository uses the extension `extensions.{name}`, which layercake does not read in \
         the format version {version}"
    );
    let help = "clone it anew without the extension; what it changes could not be read correctly";
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

/// `HEAD` is a symbolic reference below `refs/`, or an id.
fn refuse_damaged_head(repository: &gix::Repository) -> Result<(), Error> {
    let file = place(repository.git_dir(), "HEAD");
    let content = bytes_at(&file)?;
    let content = content.trim_end();
    let is_reference =
        content.strip_prefix(b"ref:").is_some_and(|name| name.trim_start().starts_with(b"refs/"));
    if is_reference || is_id(repository, content) || file.is_symlink() {
        return Ok(());
    }
    let message =
        format!("`{}` is damaged: it names neither a branch nor a commit", file.display());
    let help = "`git symbolic-ref HEAD refs/heads/BRANCH` writes it anew";
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

/// Refuses what makes the history another one than the commits say, or hides its end.
///
/// # Errors
/// If there are grafts, or if the list of commits without parents is damaged.
pub(super) fn refuse_altered_history(repository: &gix::Repository) -> Result<(), Error> {
    refuse_grafts(repository)?;
    refuse_damaged_shallow(repository)
}

fn refuse_grafts(repository: &gix::Repository) -> Result<(), Error> {
    let file = place(repository.common_dir(), "info/grafts");
    if !is_there(&file) {
        return Ok(());
    }
    let content = bytes_at(&file)?;
    let says_nothing = |line: &[u8]| line.trim().is_empty() || line.starts_with(b"#");
    if content.lines().all(says_nothing) {
        return Ok(());
    }
    let message = format!(
        "the repository has grafts (`{}`), which layercake does not follow",
        file.display()
    );
    let help = "`git replace --convert-graft-file` makes replacements of them, which it follows";
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

fn refuse_damaged_shallow(repository: &gix::Repository) -> Result<(), Error> {
    let file = place(repository.common_dir(), "shallow");
    if !is_there(&file) {
        return Ok(());
    }
    let content = bytes_at(&file)?;
    let damaged = content.lines().position(|line| !is_id(repository, line));
    let Some(line) = damaged else { return Ok(()) };
    let message =
        format!("`{}` is damaged: its line {} is not the id of a commit", file.display(), line + 1);
    let help = match cure::remote(repository) {
        Some(remote) => {
            format!("remove the file, then `git fetch --refetch {remote}` gets all of history")
        }
        None => "remove the file if the repository has all of its history".to_owned(),
    };
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

/// A file of git by its whole path, so that messages can name it.
fn place(git_dir: &Path, file: &str) -> PathBuf {
    gix::path::realpath(git_dir).unwrap_or_else(|_| git_dir.to_owned()).join(file)
}

fn is_id(repository: &gix::Repository, text: &[u8]) -> bool {
    gix::ObjectId::from_hex(text).is_ok_and(|id| id.kind() == repository.object_hash())
}
