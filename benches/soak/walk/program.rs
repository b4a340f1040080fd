//! The same comparison by the real program over real commits, whose output must match that for
//! files in memory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use layercake::merge::deckhand::Semantics;
use serde_json::Value as Json;

use super::Files;
use super::engine::{BothSeen, Manner, Rules};

/// A built executable.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
}

/// Keys of a report whose values do not depend on how the sides were read.
const KEYS: &[&str] = &[
    "sites",
    "edits",
    "groups",
    "outputs",
    "routes",
    "shields",
    "unexplained",
    "findings",
    "statistics",
    "lines",
    "omitted_unchanged",
    "truncated",
];

/// Kind of the head that the program compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadAt {
    Commit,
    WorkingTree,
}

impl Program {
    /// Commits both sides one after the other, and returns the differences between the program's
    /// output and `both`.
    ///
    /// # Errors
    /// If git or the program cannot be run, or files cannot be written.
    pub fn differing(
        &self,
        sides: [&Files; 2],
        both: &BothSeen,
        manner: Manner,
        head: HeadAt,
    ) -> io::Result<Vec<String>> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        git(root, &["init", "--quiet", "--initial-branch=main"])?;
        for files in sides {
            write(root, files)?;
            git(root, &["add", "--all"])?;
            git(
                root,
                &["commit", "--quiet", "--allow-empty", "--message=side"],
            )?;
        }
        let to: &[&str] = match head {
            HeadAt::Commit => &["--to", "HEAD"],
            HeadAt::WorkingTree => &[],
        };
        let semantics = match manner.semantics {
            Semantics::Documented => "documented",
            Semantics::Deckhand => "deckhand",
        };
        let rules: &[&str] = match manner.rules {
            Rules::Usual => &[],
            Rules::All => &["--select", "all"],
        };
        let flags = [
            "lint",
            "-o",
            "json",
            // The engine reads all sites, too.
            "--statistics",
            "--semantics",
            semantics,
            "--from",
            "HEAD~1",
        ];
        let ran = command(&self.path, root)
            .args(flags)
            .args(to)
            .args(rules)
            .output()?;
        // Findings cause exit code 1.
        if ran.status.code().is_none_or(|code| code > 1) {
            let errors = String::from_utf8_lossy(&ran.stderr);
            return Ok(vec![format!(
                "the program failed: {:?} {errors}",
                ran.status
            )]);
        }
        let [actual, expected]: [Json; 2] = [
            serde_json::from_slice(&ran.stdout).map_err(io::Error::other)?,
            serde_json::from_str(&both.usual_report()).map_err(io::Error::other)?,
        ];
        let differ = KEYS.iter().filter(|key| actual[**key] != expected[**key]);
        Ok(differ
            .map(|key| describe_difference(key, &actual[*key], &expected[*key]))
            .collect())
    }
}

fn describe_difference(key: &str, actual: &Json, expected: &Json) -> String {
    let [actual, expected] = [actual, expected].map(ToString::to_string);
    let pairs = actual.bytes().zip(expected.bytes());
    let at = pairs
        .take_while(|(one, other)| one == other)
        .count()
        .saturating_sub(60);
    let part = |text: &str| {
        text.bytes()
            .skip(at)
            .take(300)
            .map(char::from)
            .collect::<String>()
    };
    format!(
        "`{key}` of the program: {}\n  expected: {}",
        part(&actual),
        part(&expected)
    )
}

/// Replaces the content of `root`, except `.git`, by these files.
fn write(root: &Path, files: &Files) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    for (path, text) in files {
        let file = root.join(&**path);
        fs::create_dir_all(file.parent().unwrap_or(root))?;
        fs::write(file, &**text)?;
    }
    Ok(())
}

fn git(root: &Path, arguments: &[&str]) -> io::Result<()> {
    let mut git = command(Path::new("git"), root);
    git.args(["-c", "user.name=Soak", "-c", "user.email=soak@example.org"]);
    let ran = git.args(arguments).output()?;
    let errors = String::from_utf8_lossy(&ran.stderr);
    if ran.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(errors.into_owned()))
    }
}

/// Command that ignores the settings of the machine.
fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("HOME", root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(root);
    command
}
