//! `layercake demo`: a small site repository to try layercake on, with one commit and one
//! uncommitted edit; or two repositories, where one pins the other.
//!
//! The files are those of `examples/sites` or `examples/cloud-init`, embedded in the program. The
//! reach of the edit is computed as in any other repository.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::Selection;
use super::compare::{self, ComparisonOutcome, ComparisonRequest};
use super::repositories::Bump;
use super::sides::SideSelection;
use crate::check::RunControl;
use crate::error::Error;
use crate::source::{
    NewCommit, Repository, create_empty_folder, create_folder, create_new_folder, write_file,
};

/// Place of the example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoFolder {
    /// In a new folder inside this one.
    Inside(PathBuf),
    /// In this folder, which must be empty or not exist.
    At(PathBuf),
}

/// A change of one line.
#[derive(Clone, Copy, Debug)]
pub struct LineEdit {
    /// Path of the file.
    pub file: &'static str,
    /// 1-based line number.
    pub line: usize,
    /// Text before the edit; unique on the line.
    pub before: &'static str,
    /// Text after the edit.
    pub(crate) after: &'static str,
}

/// Edit after the commit: a version that reaches three sites by three routes, and that a fourth
/// site overrides.
pub const EDIT: LineEdit = LineEdit {
    file: "global/config/software-versions.yaml",
    line: 22,
    before: "keystone:2025.1-ubuntu_noble",
    after: "keystone:2025.2-ubuntu_noble",
};

/// Edit of the parts for cloud-init: the list of a part no longer extends that of an earlier one.
pub const CLOUD_INIT_EDIT: LineEdit = LineEdit {
    file: "type/edge/cloud/20-edge.yaml",
    line: 2,
    before: "list(append)",
    after: "list()",
};

/// Prefix of the name of a new folder, followed by a number.
pub const FOLDER: &str = "layercake-demo";

/// Revision to compare the edit with.
pub const SINCE: &str = "HEAD";

/// Kind of example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// One repository with an uncommitted edit.
    One,
    /// One repository with parts for cloud-init, and an uncommitted edit.
    CloudInit,
    /// Two repositories: [`SITES`], whose sites pin [`PIN`] of the other, [`SHARED`].
    Several,
}

/// Folder of the repository with `site/` and `type/`.
pub const SITES: &str = "sites";

/// Folder of the repository with `global/`.
pub const SHARED: &str = "shared";

/// Name of the repository with `global/` in site definitions.
pub const NAME: &str = "global";

/// Revision that they pin.
pub const PIN: &str = "v1.7";

/// Next revision, which has the [`EDIT`].
pub const NEXT: &str = "v1.8";

/// A created example.
pub struct Demo {
    /// Folder to work in.
    pub folder: PathBuf,
    /// Folder that contains all created files.
    pub all: PathBuf,
    repository: Repository,
    example: Example,
}

/// Paths and texts of files.
type DemoFiles = Vec<(&'static str, Cow<'static, str>)>;

/// Creates the example.
///
/// # Errors
/// If the folder is not empty or not writable.
pub fn create(place: &DemoFolder, example: Example) -> Result<Demo, Error> {
    let all = match place {
        DemoFolder::Inside(parent) => create_new_folder(parent, FOLDER)?,
        DemoFolder::At(folder) => {
            create_empty_folder(folder)?;
            folder.clone()
        }
    };
    let (folder, repository) = match example {
        Example::One => {
            let commits = [commit("A small site repository\n", None, files_of(&[""]))];
            let repository = create_repository(&all, &commits, &edited(&EDIT, files_of(&[""])))?;
            (all.clone(), repository)
        }
        Example::CloudInit => {
            let files: DemoFiles = CLOUD_INIT_FILES
                .iter()
                .map(|(path, text)| (*path, (*text).into()))
                .collect();
            let commits = [commit(
                "Sites with parts for cloud-init\n",
                None,
                files.clone(),
            )];
            let files = edited(&CLOUD_INIT_EDIT, files);
            (all.clone(), create_repository(&all, &commits, &files)?)
        }
        Example::Several => {
            let (first, second) = (
                files_of(&["global/"]),
                edited(&EDIT, files_of(&["global/"])),
            );
            let commits = [
                commit("Documents that all sites share\n", Some(PIN), first),
                commit("keystone 2025.2\n", Some(NEXT), second.clone()),
            ];
            create_repository(&all.join(SHARED), &commits, &second)?;
            let files = pinned(files_of(&["site/", "type/"]));
            let commits = [commit("Sites on shared documents\n", None, files.clone())];
            let folder = all.join(SITES);
            let repository = create_repository(&folder, &commits, &files)?;
            (folder, repository)
        }
    };
    Ok(Demo {
        folder,
        all,
        repository,
        example,
    })
}

/// Compares the edited files with the commit, as `lint --since HEAD` does; or the sites with
/// themselves at the next revision, as `diff --bump` does.
///
/// # Errors
/// If the written files cannot be read.
pub fn compare(
    demo: &Demo,
    selection: &Selection,
    control: &RunControl,
) -> Result<Option<ComparisonOutcome>, Error> {
    let wanted = match demo.example {
        Example::One | Example::CloudInit => SideSelection {
            since: Some(SINCE.to_owned()),
            ..SideSelection::default()
        },
        Example::Several => {
            let bump = Bump {
                name: NAME.to_owned(),
                base: None,
                head: NEXT.to_owned(),
            };
            SideSelection {
                bumps: vec![bump],
                ..SideSelection::default()
            }
        }
    };
    let request = ComparisonRequest {
        wanted,
        ..ComparisonRequest::default()
    };
    compare::run_in(demo.repository.clone(), selection, &request, control)
}

fn files_of(folders: &[&str]) -> DemoFiles {
    let is_in = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    let files = FILES.iter().filter(|(path, _)| is_in(path));
    files
        .map(|(path, text)| (*path, Cow::Borrowed(*text)))
        .collect()
}

/// The files with the edit applied.
fn edited(edit: &LineEdit, files: DemoFiles) -> DemoFiles {
    let edited = |(path, text): (&'static str, Cow<'static, str>)| match path {
        path if path == edit.file => (path, text.replacen(edit.before, edit.after, 1).into()),
        path => (path, text),
    };
    files.into_iter().map(edited).collect()
}

/// Files of sites that pin the shared repository, and the configuration with its path.
fn pinned(files: DemoFiles) -> DemoFiles {
    let pin = format!(
        "  repositories:\n    {NAME}:\n      url: https://git.example.org/{SHARED}.git\n      \
         revision: {PIN}\n"
    );
    let pinned = |(path, text): (&'static str, Cow<'static, str>)| match path {
        path if path.ends_with("/site-definition.yaml") => (path, format!("{text}{pin}").into()),
        path => (path, text),
    };
    let configuration = format!("repositories:\n  {NAME}:\n    path: ../{SHARED}\n");
    let configuration = ("layercake.yaml", configuration.into());
    files
        .into_iter()
        .map(pinned)
        .chain([configuration])
        .collect()
}

fn commit(
    message: &'static str,
    tag: Option<&'static str>,
    files: DemoFiles,
) -> NewCommit<'static> {
    // Fixed, so that the commit has the same id everywhere.
    let time = "1767225600 +0000";
    let (name, email) = ("layercake demo", "demo@layercake.invalid");
    NewCommit {
        files,
        tag,
        name,
        email,
        time,
        message,
    }
}

/// Creates a repository with these commits, and these files on disk.
fn create_repository(
    folder: &Path,
    commits: &[NewCommit<'_>],
    files: &DemoFiles,
) -> Result<Repository, Error> {
    create_folder(folder)?;
    let repository = Repository::create(folder, commits)?;
    for (path, text) in files {
        let mut file = folder.to_owned();
        file.extend(path.split('/'));
        let inside = file.parent().expect("the file is in the folder");
        create_folder(inside)?;
        write_file(&file, text.as_bytes())?;
    }
    Ok(repository)
}

/// Paths with the texts of the files of the example.
macro_rules! example {
    ($example:literal: $($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../../examples/", $example, "/", $path))),)*]
    };
}

/// Paths and texts of the files of `examples/sites`.
pub const FILES: &[(&str, &str)] = example!["sites":
    "README.md",
    "global/charts/chart-group.yaml",
    "global/charts/horizon.yaml",
    "global/charts/keystone.yaml",
    "global/config/software-versions.yaml",
    "global/deployment/configuration.yaml",
    "global/deployment/manifest.yaml",
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

/// Paths and texts of the files of `examples/cloud-init`.
pub const CLOUD_INIT_FILES: &[(&str, &str)] = example!["cloud-init":
    "README.md",
    "global/cloud/10-base.yaml",
    "global/hosts/gateway.yaml",
    "global/layering-policy.yaml",
    "global/schemas/host.yaml",
    "layercake.yaml",
    "site/lyon/cloud/30-lyon.yaml",
    "site/lyon/hosts/gateway.yaml",
    "site/lyon/site-definition.yaml",
    "site/oslo/hosts/gateway.yaml",
    "site/oslo/site-definition.yaml",
    "type/edge/cloud/20-edge.yaml",
];
