//! `layercake demo`: a small site repository of its own to try layercake on,
//! with one commit and one edit that is not committed.
//!
//! The files are those of `examples/sites`, held by the program, so that
//! nothing else has to be there. What the edit reaches is then found as in any
//! other repository.

use std::path::{Path, PathBuf};

use super::Selection;
use super::compare::{self, Outcome, Request};
use super::sides::Wanted;
use crate::check::Progress;
use crate::error::Error;
use crate::source::{
    FirstCommit, Repository, create_empty_folder, create_folder, create_new_folder, write_file,
};

/// Where the repository is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a new folder inside this one.
    Inside(PathBuf),
    /// In this folder, which must be empty or not be there yet.
    At(PathBuf),
}

/// A change of one line.
#[derive(Clone, Copy, Debug)]
pub struct LineEdit {
    /// The file it is in.
    pub file: &'static str,
    /// The line's number, counted from 1.
    pub line: usize,
    /// What stands there once.
    pub before: &'static str,
    /// What stands there after the edit.
    pub after: &'static str,
}

/// What is edited after the commit: a version that reaches three sites by
/// three ways, and that a fourth site sets again.
pub const EDIT: LineEdit = LineEdit {
    file: "global/config/software-versions.yaml",
    line: 22,
    before: "keystone:2025.1-ubuntu_noble",
    after: "keystone:2025.2-ubuntu_noble",
};

/// How the name of a new folder begins; a number follows.
pub const FOLDER: &str = "layercake-demo";

/// The revision that the edit is compared with.
pub const SINCE: &str = "HEAD";

/// The repository that was made.
pub struct Demo {
    /// Its folder.
    pub folder: PathBuf,
    repository: Repository,
}

/// Makes the repository, and edits it.
///
/// # Errors
/// Where the folder is not empty, or cannot be written to.
pub fn create(place: &Place) -> Result<Demo, Error> {
    let folder = match place {
        Place::Inside(parent) => create_new_folder(parent, FOLDER)?,
        Place::At(folder) => {
            create_empty_folder(folder)?;
            folder.clone()
        }
    };
    let first = FirstCommit {
        files: FILES,
        name: "layercake demo",
        email: "demo@layercake.invalid",
        // So that the commit has the same id everywhere.
        time: "1767225600 +0000",
        message: "A small site repository\n",
    };
    let repository = Repository::create(&folder, &first)?;
    for (path, text) in FILES {
        write(&folder, path, text)?;
    }
    Ok(Demo { folder, repository })
}

/// Compares the edited files with the commit, as `lint --since HEAD` does.
///
/// # Errors
/// Where what was just written can no longer be read.
pub fn compare(
    demo: &Demo,
    selection: &Selection,
    progress: &Progress,
) -> Result<Option<Outcome>, Error> {
    let wanted = Wanted { since: Some(SINCE.to_owned()), ..Wanted::default() };
    let request = Request { wanted, ..Request::default() };
    compare::run_in(&demo.repository, selection, &request, progress)
}

fn write(folder: &Path, path: &str, text: &str) -> Result<(), Error> {
    let mut file = folder.to_owned();
    file.extend(path.split('/'));
    let inside = file.parent().expect("the file lies in the folder");
    create_folder(inside)?;
    if path == EDIT.file {
        return write_file(&file, text.replacen(EDIT.before, EDIT.after, 1).as_bytes());
    }
    write_file(&file, text.as_bytes())
}

/// Paths, each with the text of that file of the example.
macro_rules! example {
    ($($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../../examples/sites/", $path))),)*]
    };
}

/// The files of `examples/sites`: path and text.
pub const FILES: &[(&str, &str)] = example![
    "README.md",
    "global/charts/chart-group.yaml",
    "global/charts/horizon.yaml",
    "global/charts/keystone.yaml",
    "global/config/software-versions.yaml",
    "global/layering-policy.yaml",
    "global/schemas/software-versions.yaml",
    "site/lab/charts/keystone.yaml",
    "site/lab/secrets/passphrases.yaml",
    "site/lab/site-definition.yaml",
    "site/north/charts/keystone.yaml",
    "site/north/config/endpoints.yaml",
    "site/north/secrets/passphrases.yaml",
    "site/north/site-definition.yaml",
    "site/south/charts/horizon.yaml",
    "site/south/config/endpoints.yaml",
    "site/south/secrets/passphrases.yaml",
    "site/south/site-definition.yaml",
    "site/west/config/endpoints.yaml",
    "site/west/config/software-versions.yaml",
    "site/west/secrets/passphrases.yaml",
    "site/west/site-definition.yaml",
    "type/cloud/charts/keystone.yaml",
    "type/cloud/config/endpoints.yaml",
    "type/single/config/endpoints.yaml",
];
