//! Pages followed literally by a new user, on a machine with only the tools that the page requires:
//! all commands in order, in one shell, beside a fresh clone of the project.
//!
//! Each command of the README succeeds. Those of the quick start and of the task pages also print
//! what the page shows; as in [`crate::examples`], `...` matches any lines, and
//! `LAYERCAKE_BLESS=1` rewrites outputs. A block ` ```sh ` shows no output.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::FOLLOWED;
use super::commands::fenced;
use crate::examples;
use crate::stored::{is_blessed, root};

#[test]
fn readme_works_in_a_fresh_clone() {
    let newcomer = Newcomer::new();
    let clone = newcomer.clone_of_project();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let ran = newcomer.follow(&[Visit {
        folder: clone,
        steps: steps(&readme),
    }]);
    let failed: Vec<&Ran> = ran.iter().filter(|ran| !ran.is_success()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for command in [
        "cargo install",
        "cargo run -- demo",
        "cargo test",
        "layercake explain-value",
    ] {
        assert!(
            ran.iter().any(|it| it.step.command.contains(command)),
            "`{command}` is in {ran:#?}"
        );
    }
}

#[test]
fn followed_pages_print_what_they_show() {
    // The first page installs the program.
    let newcomer = Newcomer::new();
    let wrong: Vec<String> = FOLLOWED
        .iter()
        .flat_map(|page| wrong_in(page, &newcomer))
        .collect();
    assert!(
        wrong.is_empty(),
        "other output is shown than this:\n{}",
        wrong.join("\n")
    );
}

/// Commands of a page that fail, or whose output differs from the page, with their output.
fn wrong_in(name: &str, newcomer: &Newcomer) -> Vec<String> {
    let path = root().join("docs").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let (first, own) = page.split_once(OWN_REPOSITORY).unwrap_or((&page, ""));
    let mut visits = vec![Visit {
        folder: newcomer.home(),
        steps: steps(first),
    }];
    if !own.is_empty() {
        visits.push(Visit {
            folder: newcomer.own_repository(),
            steps: steps(own),
        });
    }
    let (mut updated, mut wrong) = (page.clone(), Vec::new());
    let ran = newcomer.follow(&visits);
    assert!(ran.len() > 4, "{name} has commands: {ran:#?}");
    for ran in ran {
        let Ran {
            step: Step { command, shown },
            code,
            printed,
        } = &ran;
        let lines: Option<Vec<&str>> = shown.as_ref().map(|shown| shown.lines().collect());
        let is_right = lines
            .as_ref()
            .is_none_or(|shown| examples::is_shown(printed, shown));
        if is_right && ran.is_success() {
            continue;
        }
        let blessed = lines.filter(|_| ran.is_success() && is_blessed());
        match blessed.and_then(|shown| examples::abridged(printed, &shown)) {
            Some(new) => {
                let old = format!("$ {command}\n{}", shown.as_ref().unwrap());
                updated = updated.replacen(&old, &format!("$ {command}\n{new}"), 1);
            }
            None => wrong.push(format!(
                "{name} (exit code {code}):\n$ {command}\n{printed}"
            )),
        }
    }
    if updated != page {
        fs::write(path, updated).unwrap();
    }
    wrong
}

/// Heading from which on a page is about the user's own repository.
const OWN_REPOSITORY: &str = "\n## Your own repository\n";

/// Beginnings of commands that are not run, with the reason. `cargo` and `pre-commit` are replaced
/// by stubs instead, because they would compile for minutes.
const SKIPPED: [(&str, &str); 4] = [
    ("pip install", "needs the network"),
    ("pipx install", "needs the network"),
    ("uvx", "needs the network"),
    ("docker", "needs the network"),
];

/// Address from which the pages clone the project.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Commands that begin in a folder.
struct Visit {
    folder: PathBuf,
    steps: Vec<Step>,
}

/// Command of a page.
#[derive(Clone, Debug)]
struct Step {
    command: String,
    /// Output on the page; `None` in a block that shows none.
    shown: Option<String>,
}

/// Result of a command.
#[derive(Debug)]
struct Ran {
    step: Step,
    code: i32,
    /// Both streams.
    printed: String,
}

impl Ran {
    /// Whether the command succeeded. Code 1 of layercake reports findings.
    fn is_success(&self) -> bool {
        self.code == 0 || self.code == 1 && self.step.command.starts_with("layercake ")
    }
}

/// Commands of all blocks of a text: in a console block those after a prompt, in a block of a script
/// all lines.
fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for (language, block) in fenced(text) {
        match language.as_str() {
            "console" => {
                steps.extend(
                    examples::commands(&block)
                        .into_iter()
                        .map(|(command, shown)| Step {
                            command: command.to_owned(),
                            shown: Some(examples::joined(&shown)),
                        }),
                );
            }
            "sh" => steps.extend(
                block
                    .replace("\\\n", "")
                    .lines()
                    .filter(|line| !line.is_empty())
                    .map(|line| Step {
                        command: line.to_owned(),
                        shown: None,
                    }),
            ),
            _ => {}
        }
    }
    steps.retain(|step| {
        !SKIPPED
            .iter()
            .any(|(skipped, _)| step.command.starts_with(skipped))
    });
    steps
}

/// Machine of a user who has never used layercake.
struct Newcomer {
    folder: TempDir,
}

/// Stub for Rust's `cargo`: the program is already compiled, and `install` only makes it available
/// as `layercake`.
const CARGO: &str = r#"
case $1 in
    run) shift; [[ $1 == -- ]] && shift; [[ -f Cargo.toml ]] && exec "$PROGRAM" "$@" ;;
    test) [[ -f Cargo.toml ]] ;;
    install)
        while [[ $1 != --path ]]; do shift; done
        [[ -f $2/Cargo.toml ]] && ln -sf "$PROGRAM" "$HOME/.cargo/bin/layercake" ;;
    *) exit 2 ;;
esac
"#;

/// Stub for pre-commit, which fails in a folder without its configuration.
const PRE_COMMIT: &str = "[[ $1 == install && -f .pre-commit-config.yaml ]]\n";

impl Newcomer {
    fn new() -> Self {
        let newcomer = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["home/.cargo/bin", "tools", "tmp", "project"] {
            fs::create_dir_all(newcomer.path(folder)).unwrap();
        }
        newcomer.add_tool("cargo", CARGO);
        newcomer.add_tool("pre-commit", PRE_COMMIT);
        newcomer.copy_project(&newcomer.path("project"));
        newcomer.commit(&newcomer.path("project"));
        newcomer
    }

    /// Copies the files that git tracks, as they are now, and those that it would add.
    fn copy_project(&self, to: &Path) {
        let list = "git -c safe.directory='*' ls-files -z --cached --others --exclude-standard";
        let listed = self.run(root(), list);
        let files = listed
            .split('\0')
            .filter(|file| root().join(file).is_file());
        for file in files {
            copy(&root().join(file), &to.join(file));
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    fn add_tool(&self, name: &str, script: &str) {
        let path = self.path("tools").join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn clone_of_project(&self) -> PathBuf {
        self.run(&self.home(), &format!("git clone --quiet {REPOSITORY}"));
        self.home().join("layercake")
    }

    /// Site repository with a commit on `main`; returns a folder in it.
    fn own_repository(&self) -> PathBuf {
        let own = self.path("own");
        copy(&root().join("examples/sites"), &own);
        self.commit(&own);
        own
    }

    fn commit(&self, folder: &Path) {
        let commands = "git init --quiet --initial-branch=main\ngit add --all\n\
                        git commit --quiet --message=state\n";
        self.run(folder, commands);
    }

    /// Runs all commands in one shell.
    fn follow(&self, visits: &[Visit]) -> Vec<Ran> {
        let mut script = String::from("exec 2>&1\n");
        for visit in visits {
            writeln!(script, "cd '{}'", visit.folder.display()).unwrap();
            for step in &visit.steps {
                // The demo prints the folder that it creates, which differs here.
                let command = step
                    .command
                    .replace("/tmp/layercake-demo", "\"$TMPDIR\"/layercake-demo");
                writeln!(script, "{command}\nprintf '%s\\036' $?").unwrap();
            }
        }
        let printed = self.run(&self.home(), &script);
        let printed = printed.replace(self.path("tmp").to_str().unwrap(), "/tmp");
        let steps = visits.iter().flat_map(|visit| &visit.steps).cloned();
        // The exit code is after the last line of the output.
        let ran = steps
            .zip(printed.split_terminator('\x1e'))
            .map(|(step, printed)| {
                let (printed, code) =
                    printed.split_at(printed.rfind('\n').map_or(0, |end| end + 1));
                let code = code
                    .parse()
                    .unwrap_or_else(|_| panic!("`{step:?}` prints half a line"));
                Ran {
                    step,
                    code,
                    printed: printed.to_owned(),
                }
            });
        let ran: Vec<Ran> = ran.collect();
        assert_eq!(
            ran.len(),
            visits.iter().map(|visit| visit.steps.len()).sum::<usize>()
        );
        ran
    }

    /// Runs a script and returns its output.
    fn run(&self, folder: &Path, script: &str) -> String {
        let folders = [self.path("tools"), self.home().join(".cargo/bin")];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let inherited = std::env::split_paths(&inherited).filter(|folder| {
            // A preinstalled layercake must not be used.
            !folder.join("layercake").exists()
        });
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-c", script])
            .current_dir(folder)
            .env_clear();
        command.env(
            "PATH",
            std::env::join_paths(folders.into_iter().chain(inherited)).unwrap(),
        );
        command
            .env("HOME", self.home())
            .env("TMPDIR", self.path("tmp"));
        command.env("PROGRAM", env!("CARGO_BIN_EXE_layercake"));
        let settings = [
            ("user.name", "Newcomer".to_owned()),
            ("user.email", "newcomer@example.org".to_owned()),
            (
                &*format!("url.file://{}.insteadOf", self.path("project").display()),
                REPOSITORY.to_owned(),
            ),
        ]
        .map(|(key, value)| (key.to_owned(), value));
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_COUNT", "3");
        for (index, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}
