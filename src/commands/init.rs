//! `layercake init`: a commented configuration, and the hook's entry.

use std::path::{Path, PathBuf};

use super::configuration::Place;
use super::{Selection, Start};
use crate::config::NAMES;
use crate::error::{Error, ErrorKind};
use crate::source::{RepoPath, write_file};

/// The configuration that is written: all of it comments.
pub const CONFIGURATION: &str = include_str!("init/layercake.yaml");

/// The hook's entry in the configuration of pre-commit.
pub const HOOK: &str = include_str!("init/hook.yaml");

/// The configuration of pre-commit.
pub const HOOKS_FILE: &str = ".pre-commit-config.yaml";

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialized {
    /// The configuration.
    pub configuration: PathBuf,
    /// The hooks; none where the file was there already.
    pub hooks: Option<PathBuf>,
}

/// Writes both files to the root of the repository around `directory`.
///
/// # Errors
/// Where there is a configuration already, no repository, or no permission to
/// write. Nothing is written then.
pub fn run(directory: &Path) -> Result<Initialized, Error> {
    let selection =
        Selection { configuration: Place::Nowhere, ..Selection::of(directory.to_owned()) };
    let start = Start::find(&selection)?;
    let Some(root) = start.root.as_ref().filter(|_| start.is_repository) else {
        let message = "there is no repository here to configure";
        let help = "go to a git repository or a site repository, or name it with `-C DIR`";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    };
    let is_there = |name: &str| {
        let read = start.tree.read(&RepoPath::new(name));
        !read.is_err_and(|error| error.is_missing())
    };
    if let Some(name) = NAMES.into_iter().find(|name| is_there(name)) {
        let message = format!("`{name}` is there already");
        let help = "`layercake config show` says what it sets, and `layercake config schema` \
                    what else it could";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    }
    let configuration = root.join(NAMES[0]);
    write_file(&configuration, CONFIGURATION.as_bytes())?;
    if is_there(HOOKS_FILE) {
        return Ok(Initialized { configuration, hooks: None });
    }
    let hooks = root.join(HOOKS_FILE);
    write_file(&hooks, format!("repos:\n{HOOK}").as_bytes())?;
    Ok(Initialized { configuration, hooks: Some(hooks) })
}
