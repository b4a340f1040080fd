//! First steps of a new user: the commands of the README and of the quick start in order, each in
//! the folder that the page names, on a machine with only the tools that the page requires.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::commands::fenced;
use super::root;

#[test]
fn commands_of_the_readme_work_in_a_fresh_clone() {
    let newcomer = Newcomer::new();
    let clone = newcomer.clone_of_project();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let sections: Vec<Section> = sections(&readme)
        .into_iter()
        .map(|(_, text)| Section { folder: clone.clone(), commands: typed(&text) })
        .collect();
    let typed = newcomer.follow(&sections);
    for command in ["cargo install", "cargo run -- demo", "cargo test", "layercake impact"] {
        assert!(typed.contains(command), "`{command}` is among {typed}");
    }
}

#[test]
fn commands_of_the_quick_start_work_in_the_named_folders() {
    let newcomer = Newcomer::new();
    let own = newcomer.own_repository();
    let page = fs::read_to_string(root().join("docs/quick-start.md")).unwrap();
    let mut is_own = false;
    let sections: Vec<Section> = sections(&page)
        .into_iter()
        .map(|(heading, text)| {
            // "Go there": the rest of the page is about the user's own repository.
            is_own |= heading == "Your own repository";
            let folder = if is_own { own.clone() } else { newcomer.home() };
            Section { folder, commands: typed(&text) }
        })
        .collect();
    assert!(is_own, "the page has a section about the user's repository");
    let typed = newcomer.follow(&sections);
    for command in ["git clone", "cargo install", "layercake demo", "layercake init"] {
        assert!(typed.contains(command), "`{command}` is among {typed}");
    }
    let hook = fs::read_to_string(own.join(".pre-commit-config.yaml")).unwrap();
    assert!(hook.contains("layercake"), "{hook}");
}

/// Address from which the pages clone the project.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Commands to run in a folder.
struct Section {
    folder: PathBuf,
    /// Commands of each block; `cd` lasts until the end of the block.
    commands: Vec<Vec<String>>,
}

/// Sections of a page by heading, of the first two levels.
fn sections(page: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading.to_owned(), String::new()));
        }
        let (_, text) = sections.last_mut().unwrap();
        *text += &format!("{line}\n");
    }
    sections
}

/// Commands of each block of a text: lines after a prompt if there is one, otherwise all lines.
fn typed(text: &str) -> Vec<Vec<String>> {
    let blocks = fenced(text).into_iter().map(|(language, block)| {
        let joined = block.replace("\\\n", "");
        let lines = joined.lines().filter(|line| !line.is_empty());
        match language.as_str() {
            "console" => lines.filter_map(|it| it.strip_prefix("$ ")).map(str::to_owned).collect(),
            "sh" => lines.map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    });
    blocks.collect()
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
        let newcomer = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["home/.cargo/bin", "tools", "tmp", "project"] {
            fs::create_dir_all(newcomer.path(folder)).unwrap();
        }
        newcomer.add_tool("cargo", CARGO);
        newcomer.add_tool("pre-commit", PRE_COMMIT);
        for entry in ["README.md", "Cargo.toml", "docs", "examples"] {
            copy(&root().join(entry), &newcomer.path("project").join(entry));
        }
        newcomer.commit(&newcomer.path("project"));
        newcomer
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

    /// Runs the commands and returns them.
    fn follow(&self, sections: &[Section]) -> String {
        let mut script = String::from(
            "check() {\n    code=$?\n    case $1 in 'layercake lint'*) most=1 ;; *) most=0 ;; esac\n    \
             if ((code > most)); then\n        echo \"in $PWD: \\`$1\\` ends with $code\" >&2\n        \
             exit 1\n    fi\n}\n",
        );
        let mut all = String::new();
        for section in sections {
            for block in &section.commands {
                writeln!(script, "cd '{}'", section.folder.display()).unwrap();
                for command in block {
                    // The demo prints the folder that it creates, which differs here.
                    let here = command.replace("/tmp/layercake-demo", "\"$TMPDIR\"/layercake-demo");
                    let quoted = here.replace('\'', r"'\''");
                    writeln!(script, "{here}\ncheck '{quoted}'").unwrap();
                    writeln!(all, "{command}").unwrap();
                }
            }
        }
        self.run(&self.home(), &script);
        all
    }

    fn run(&self, folder: &Path, script: &str) {
        let folders = [self.path("tools"), self.home().join(".cargo/bin")];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let inherited = std::env::split_paths(&inherited).filter(|folder| {
            // A preinstalled layercake must not be used.
            !folder.join("layercake").exists()
        });
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-c", script]).current_dir(folder).env_clear();
        command.env("PATH", std::env::join_paths(folders.into_iter().chain(inherited)).unwrap());
        command.env("HOME", self.home()).env("TMPDIR", self.path("tmp"));
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
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_COUNT", "3");
        for (index, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
        fs::copy(from, to).unwrap();
    }
}
