//! Repositories made with the real `git`, for tests.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests access files, run git, and panic"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use layercake_source::error::Error;
use layercake_source::{Repository, StoredTree, WorkTree};
use tempfile::TempDir;

/// A repository on branch `main`, which is removed on drop.
pub struct Site {
    /// Root of the working tree.
    pub root: PathBuf,
    folder: TempDir,
}

impl Site {
    /// A new repository, with further options of `git init`.
    pub fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("site");
        fs::create_dir(&root).unwrap();
        let site = Self { root, folder };
        site.git(&[&["init", "--quiet", "--initial-branch=main"], options].concat());
        // the developer's own ignore rules must not count
        let none = site.folder.path().join("no-rules").display().to_string();
        site.git(&["config", "core.excludesFile", &none]);
        site
    }

    /// A clone that fetches like one from another machine.
    #[must_use]
    pub fn clone_to(&self, name: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        let (from, to) = (
            format!("file://{}", self.root.display()),
            root.display().to_string(),
        );
        self.git(&[&["clone", "--quiet"], options, &[&from, &to]].concat());
        Self { root, folder }
    }

    /// Folder that holds the repository's folder.
    pub fn beside(&self) -> &Path {
        self.folder.path()
    }

    /// Absolute path of a file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file, with its folders.
    pub fn write(&self, path: &str, text: &str) {
        write(&self.root, path, text);
    }

    /// Commits all files.
    pub fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=two"]);
    }

    /// Output of git, which must succeed.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.try_git(arguments)
            .unwrap_or_else(|error| panic!("git {arguments:?}: {error}"))
    }

    /// Output of git.
    ///
    /// # Errors
    /// If git fails, with its error output.
    pub fn try_git(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// Command that runs git here, with a configuration of its own.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        scrub(&mut command);
        command
            .current_dir(&self.root)
            .env("HOME", self.folder.path());
        command.args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ]);
        command
            .args(["-c", "gc.auto=0", "-c", "commit.gpgSign=false"])
            .args(arguments);
        command
    }

    /// The repository, as layercake finds it.
    pub fn repository(&self) -> Repository {
        Repository::discover_further(&self.root).unwrap().unwrap()
    }

    /// Its working tree.
    pub fn work_tree(&self) -> WorkTree {
        WorkTree::in_repository(&self.repository()).unwrap()
    }

    /// Files of the checked-out commit.
    pub fn head(&self) -> StoredTree {
        self.tree_of("HEAD")
    }

    /// Files of a commit.
    pub fn tree_of(&self, revision: &str) -> StoredTree {
        self.repository().commit(revision).unwrap()
    }

    /// Error for a revision that names no commit.
    pub fn refused(&self, revision: &str) -> Error {
        self.repository().commit(revision).err().unwrap()
    }
}

/// Arguments with which git adds the repository in the folder `url` as a submodule.
pub fn add_submodule<'a>(url: &'a str, path: &'a str) -> [&'a str; 7] {
    [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        url,
        path,
    ]
}

/// Removes the variables that git would read from this process's environment.
pub fn scrub(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1");
}

/// Writes a file below `root`, with its folders.
pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// An error with its help, on one line.
pub fn describe_error(error: &Error) -> String {
    let help = error.help().map(|help| format!("; help: {help}"));
    format!("{error}{}", help.unwrap_or_default())
}
