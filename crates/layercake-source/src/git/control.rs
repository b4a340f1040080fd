//! Control files of a repository: refused by name if they are damaged or use features that
//! layercake does not support.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::cure;
use crate::error::Error;
use crate::tree::{bytes_at, is_there};

/// Supported extensions of the repository format (gitrepository-layout(5)): they do not affect
/// layercake, or gix supports them. References in reftable are refused where references are read.
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

/// Extensions that git refuses rather than ignores in a repository of version 0.
const NEWER_EXTENSIONS: &[&str] = &[
    "compatobjectformat",
    "noop-v1",
    "objectformat",
    "refstorage",
    "relativeworktrees",
];

/// Refuses a repository with an unsupported format or without a usable `HEAD`.
///
/// # Errors
/// If there is such a file or setting; the message names it.
pub(super) fn refuse_unusable(repository: &gix::Repository) -> Result<(), Error> {
    refuse_unknown_format(repository)?;
    refuse_damaged_head(repository)
}

/// git reads the format only from the repository's own configuration, and in version 0 it honours
/// only extensions older than version 1.
fn refuse_unknown_format(repository: &gix::Repository) -> Result<(), Error> {
    let snapshot = repository.config_snapshot();
    let config = snapshot.plumbing();
    let is_own = |section: &gix::config::file::Metadata| {
        section.source == gix::config::Source::Local && section.level == 0
    };
    let version = config
        .integer_filter("core.repositoryFormatVersion", is_own)
        .ok()
        .flatten()
        .unwrap_or(0);
    if !(0..=1).contains(&version) {
        let message = format!("unsupported repository format version {version}");
        let help = "layercake supports versions 0 and 1 (`core.repositoryFormatVersion`)";
        return Err(Error::git(message).with_help(help));
    }
    let is_refused = |name: &str| {
        let name = name.to_ascii_lowercase();
        let listed = if version == 0 {
            NEWER_EXTENSIONS
        } else {
            EXTENSIONS
        };
        listed.contains(&name.as_str()) == (version == 0)
    };
    let mut refused = config
        .sections_by_name("extensions")
        .into_iter()
        .flatten()
        .filter(|section| is_own(section.meta()))
        .flat_map(|section| section.body().value_names().collect::<Vec<_>>())
        .filter(|name| is_refused(name));
    let Some(name) = refused.next() else {
        return Ok(());
    };
    let message = format!(
        "the repository uses the extension `extensions.{name}`, which layercake does not support in \
         format version {version}"
    );
    let help = "clone the repository again without the extension";
    Err(Error::git(message).with_help(help))
}

/// Checks that `HEAD` is a symbolic reference below `refs/`, or an id.
fn refuse_damaged_head(repository: &gix::Repository) -> Result<(), Error> {
    let file = place(repository.git_dir(), "HEAD");
    let bytes = bytes_at(&file)?;
    let content = bytes.trim_end();
    let is_reference = content
        .strip_prefix(b"ref:")
        .is_some_and(|name| name.trim_start().starts_with(b"refs/"));
    if is_reference || is_id(repository, content) || file.is_symlink() {
        return Ok(());
    }
    let message = format!(
        "`{}` is damaged: it refers to neither a branch nor a commit",
        file.display()
    );
    let help = "run `git symbolic-ref HEAD refs/heads/BRANCH` to rewrite it";
    Err(Error::git(message).with_help(help))
}

/// Refuses files that change or truncate the history.
///
/// # Errors
/// If there are grafts, or the list of shallow commits is damaged.
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
    if content
        .lines()
        .all(|line| line.trim().is_empty() || line.starts_with(b"#"))
    {
        return Ok(());
    }
    let message = format!(
        "the repository has grafts (`{}`), which layercake does not support",
        file.display()
    );
    let help = "run `git replace --convert-graft-file` to convert them to replace refs";
    Err(Error::git(message).with_help(help))
}

fn refuse_damaged_shallow(repository: &gix::Repository) -> Result<(), Error> {
    let file = place(repository.common_dir(), "shallow");
    if !is_there(&file) {
        return Ok(());
    }
    let content = bytes_at(&file)?;
    let damaged = content.lines().position(|line| !is_id(repository, line));
    let Some(line) = damaged else { return Ok(()) };
    let message = format!(
        "`{}` is damaged: line {} is not a commit id",
        file.display(),
        line + 1
    );
    let help = match cure::remote(repository) {
        Some(remote) => {
            format!(
                "remove the file, then run `git fetch --refetch {remote}` to fetch the whole history"
            )
        }
        None => "remove the file if the repository has its whole history".to_owned(),
    };
    Err(Error::git(message).with_help(help))
}

/// Absolute path of a git file, for messages.
fn place(git_dir: &Path, file: &str) -> PathBuf {
    gix::path::realpath(git_dir)
        .unwrap_or_else(|_| git_dir.to_owned())
        .join(file)
}

fn is_id(repository: &gix::Repository, text: &[u8]) -> bool {
    gix::ObjectId::from_hex(text).is_ok_and(|id| id.kind() == repository.object_hash())
}
