//! The same comparison by the real program, over real commits: what it prints
//! must be what comes of files in memory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use layercake::merge::deckhand::Semantics;
use serde_json::Value as Json;

use super::Files;
use super::engine::{BothSeen, Manner, Rules};

/// A program that was built, to be run.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
}

/// What of a report is the same however the sides were read.
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
    "truncated",
];

/// Which head the program is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadAt {
    Commit,
    WorkingTree,
}

impl Program {
    /// What the program says otherwise than `both` of the two sides, which are
    /// committed one after the other.
    ///
    /// # Errors
    /// Where git or the program cannot be run, or files not be written.
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
            git(root, &["commit", "--quiet", "--allow-empty", "--message=side"])?;
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
        let flags = ["lint", "-o", "json", "--semantics", semantics, "--from", "HEAD~1"];
        let ran = command(&self.path, root).args(flags).args(to).args(rules).output()?;
        // Findings make it 1.
        if ran.status.code().is_none_or(|code| code > 1) {
            let errors = String::from_utf8_lossy(&ran.stderr);
            return Ok(vec![format!("the program failed: {:?} {errors}", ran.status)]);
        }
        let [said, expected]: [Json; 2] = [
            serde_json::from_slice(&ran.stdout).map_err(io::Error::other)?,
            serde_json::from_str(&both.report()).map_err(io::Error::other)?,
        ];
        let differ = KEYS.iter().filter(|key| said[**key] != expected[**key]);
        Ok(differ.map(|key| told(key, &said[*key], &expected[*key])).collect())
    }
}

fn told(key: &str, said: &Json, expected: &Json) -> String {
    let [said, expected] = [said, expected].map(ToString::to_string);
    let pairs = said.bytes().zip(expected.bytes());
    let at = pairs.take_while(|(one, other)| one == other).count().saturating_sub(60);
    let part = |text: &str| text.bytes().skip(at).take(300).map(char::from).collect::<String>();
    format!("the program's `{key}`: {}\n  expected: {}", part(&said), part(&expected))
}

/// Makes what `root` holds these files, and nothing else but git's own.
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
    if ran.status.success() { Ok(()) } else { Err(io::Error::other(errors.into_owned())) }
}

/// A program that knows nothing of the machine's own settings.
fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", root).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(root);
    command
}
