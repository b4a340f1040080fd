//! Repository to measure: files, two commits that differ in one value below `global/`, and another
//! such edit to stage.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::generator::Size;
use crate::shapes::{Edit, Shape};

/// A repository.
pub struct Repository {
    pub name: String,
    /// Number of copies of treasuremap's shape, if it has this shape.
    pub times: Option<usize>,
    pub root: PathBuf,
    pub size: Size,
    edit: Option<Edit>,
}

impl Repository {
    /// Creates a repository of this shape below `folder`.
    pub fn make(folder: &Path, shape: Shape) -> io::Result<Self> {
        let (name, edit) = (shape.name(), shape.edit());
        let root = folder.join(&name);
        fs::create_dir(&root)?;
        let size = shape.write(&root)?;
        git(&root, &["init", "--quiet"])?;
        commit(&root)?;
        apply(&root, &edit)?;
        commit(&root)?;
        pack_and_refresh(&root)?;
        let times = match shape {
            Shape::Times(times) => Some(times),
            Shape::FewSites | Shape::ManySites(_) | Shape::Deep | Shape::Wide | Shape::Children => {
                None
            }
        };
        Ok(Self {
            name,
            times,
            root,
            size,
            edit: Some(edit),
        })
    }

    /// Clones the repository at `path` below `folder`. The edit to stage is a version below
    /// `global/`, if there is one.
    pub fn clone(folder: &Path, path: &Path) -> io::Result<Self> {
        let name = path
            .canonicalize()?
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let root = folder.join("clone");
        let from = path.canonicalize()?;
        git(
            folder,
            &[
                "clone",
                "--quiet",
                &from.to_string_lossy(),
                &root.to_string_lossy(),
            ],
        )?;
        pack_and_refresh(&root)?;
        let mut files = Vec::new();
        collect(&root, &mut files)?;
        files.retain(|file| {
            file.extension()
                .is_some_and(|it| it == "yaml" || it == "yml")
        });
        files.sort();
        let (mut size, mut edit) = (Size::default(), None);
        for file in &files {
            let text = fs::read_to_string(file)?;
            size.files += 1;
            size.bytes += text.len();
            size.documents += text.lines().filter(|line| line.starts_with("---")).count();
            if edit.is_none()
                && file.starts_with(root.join("global"))
                && text.contains("reference: ")
            {
                let path = file
                    .strip_prefix(&root)
                    .expect("the file is below the root");
                let path = path.to_string_lossy().into_owned();
                let (from, to) = ("reference: ".to_owned(), "reference: edited-".to_owned());
                edit = Some(Edit { path, from, to });
            }
        }
        Ok(Self {
            name,
            times: None,
            root,
            size,
            edit,
        })
    }

    /// Stages another edit; returns false if there is none.
    pub fn stage(&self) -> io::Result<bool> {
        let Some(edit) = &self.edit else {
            return Ok(false);
        };
        apply(&self.root, edit)?;
        git(&self.root, &["add", "--all"])?;
        pack_and_refresh(&self.root)?;
        Ok(true)
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        let sites = fs::read_dir(self.root.join("site"));
        sites.map_or(0, |sites| {
            let sites = sites
                .flatten()
                .map(|site| site.path().join("site-definition.yaml"));
            sites.filter(|definition| definition.is_file()).count()
        })
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn apply(root: &Path, edit: &Edit) -> io::Result<()> {
    let file = root.join(&edit.path);
    let text = fs::read_to_string(&file)?;
    let edited = text.replacen(&edit.from, &edit.to, 1);
    if edited == text {
        return Err(io::Error::other(format!(
            "`{}` does not contain the text to edit",
            edit.path
        )));
    }
    fs::write(file, edited)
}

fn commit(root: &Path) -> io::Result<()> {
    git(root, &["add", "--all"])?;
    git(root, &["commit", "--quiet", "--message=a state"])
}

/// Brings the repository into the usual state: packed objects, and an index newer than the files.
fn pack_and_refresh(root: &Path) -> io::Result<()> {
    git(root, &["repack", "-a", "-d", "--quiet"])?;
    std::thread::sleep(Duration::from_millis(1100));
    git(root, &["update-index", "-q", "--really-refresh"])?;
    git(root, &["status", "--short"])
}

fn git(folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    git.args([
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.org",
        "-c",
        "gc.auto=0",
    ]);
    let output = git.args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "`git {}` failed: {stderr}",
        arguments.join(" ")
    )))
}
