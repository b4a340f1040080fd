//! `layercake demo`: its repository is complete, reproducible and independent of its surroundings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use layercake::commands::demo::{
    CLOUD_INIT_EDIT, CLOUD_INIT_FILES, EDIT, FILES, FOLDER, LineEdit, NAME, NEXT, PIN, SHARED,
    SITES,
};

use crate::cli::{Ran, Sandbox};

/// Id of the demo's commit, which changes whenever the examples do.
const COMMIT: &str = "ecb1aeccb941266a613dbe92a1fba3ad611f0cf2";

#[test]
fn program_embeds_the_files_of_the_examples() {
    assert_embeds("sites", FILES);
    assert_embeds("cloud-init", CLOUD_INIT_FILES);
}

fn assert_embeds(example: &str, files: &[(&str, &str)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(example);
    let mut found = Vec::new();
    collect(&root, &mut found);
    let found: BTreeSet<(String, String)> = found
        .iter()
        .map(|file| {
            let path = file
                .strip_prefix(&root)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            (path, fs::read_to_string(file).unwrap())
        })
        .collect();
    let held: BTreeSet<(String, String)> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    assert_eq!(held, found);
    assert_eq!(held.len(), files.len());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn edit_changes_one_line() {
    assert_changes_one_line(&EDIT, FILES);
    assert_changes_one_line(&CLOUD_INIT_EDIT, CLOUD_INIT_FILES);
}

fn assert_changes_one_line(edit: &LineEdit, files: &[(&str, &str)]) {
    let (_, text) = files.iter().find(|(path, _)| *path == edit.file).unwrap();
    let lines: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(edit.before))
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(lines, [edit.line]);
}

#[test]
fn demo_prints_the_output_of_its_commands() {
    assert_prints_output_of(&[], "", &["lint", "--since", "HEAD"]);
    let bump = format!("{NAME}={NEXT}");
    assert_prints_output_of(&["--cloud-init"], "", &["lint", "--since", "HEAD"]);
    assert_prints_output_of(&["--repositories"], SITES, &["diff", "--bump", &bump]);
}

/// Asserts that the demo prints the output of `command`, run in the folder `below` its own, and
/// that the other commands it names can be run there.
#[track_caller]
fn assert_prints_output_of(arguments: &[&str], below: &str, command: &[&str]) {
    let sandbox = Sandbox::outside_git();
    let ran = demo(&sandbox, arguments);
    let made = sandbox.path(&format!("{FOLDER}-1"));
    let folder = if below.is_empty() {
        made
    } else {
        made.join(below)
    };
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains(&format!("$ cd {}\n", folder.display())),
        "{}",
        ran.stdout
    );
    let compared = sandbox.run_in(&folder, command);
    assert_eq!((compared.code, compared.stderr.as_str()), (0, ""));
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let begin = format!("$ layercake {}\n", command.join(" "));
    let (_, report) = ran.stdout.split_once(&begin).unwrap();
    let (report, next) = report.split_once("\nTry next").unwrap();
    assert_eq!(lines(report), lines(&compared.stdout));
    for command in next
        .lines()
        .filter_map(|line| line.strip_prefix("$ layercake "))
    {
        let ran = sandbox.run_in(&folder, &command.split(' ').collect::<Vec<_>>());
        // The example has faults, which `lint` finds.
        assert_eq!(ran.code, i32::from(command == "lint"), "{command}: {ran:?}");
        assert_ne!(ran.stdout, "", "{command}");
    }
}

#[test]
fn demo_of_several_repositories_pins_a_tag() {
    let sandbox = Sandbox::outside_git();
    demo(&sandbox, &["made", "--repositories"]);
    let git = |folder: &str, arguments: &[&str]| {
        let folder = format!("made/{folder}");
        sandbox.git(&[&["-C", &folder], arguments].concat())
    };
    assert_eq!(git(SHARED, &["tag", "--list"]), format!("{PIN}\n{NEXT}\n"));
    assert_eq!(git(SHARED, &["rev-list", "--count", "main"]).trim(), "2");
    let changed = git(SHARED, &["diff", "--numstat", PIN, NEXT]);
    assert_eq!(changed, format!("1\t1\t{}\n", EDIT.file));
    for folder in [SHARED, SITES] {
        assert_eq!(git(folder, &["status", "--porcelain"]), "", "{folder}");
        git(folder, &["fsck", "--strict"]);
    }
    let pins = git(SITES, &["grep", "--count", &format!("revision: {PIN}")]);
    assert_eq!(pins.lines().count(), 4, "{pins}");
}

#[test]
fn git_sees_one_commit_and_one_edited_file() {
    let sandbox = Sandbox::outside_git();
    demo(&sandbox, &["made"]);
    let git = |arguments: &[&str]| sandbox.git(&[&["-C", "made"], arguments].concat());
    assert_eq!(git(&["rev-list", "--all"]).trim(), COMMIT);
    assert_eq!(git(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/main");
    assert_eq!(
        git(&["status", "--porcelain"]),
        format!(" M {}\n", EDIT.file)
    );
    assert_eq!(
        git(&["diff", "--numstat"]),
        format!("1\t1\t{}\n", EDIT.file)
    );
    git(&["fsck", "--strict"]);
}

#[test]
fn demo_neither_uses_nor_changes_its_surroundings() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.write(
        "home/.gitconfig",
        "[init]\ndefaultBranch = other\n[core]\nautocrlf = true\n",
    );
    let before = sandbox.git(&["status", "--porcelain"]);
    let mut command = sandbox.command(&["demo", "made"]);
    command
        .env("GIT_DIR", sandbox.path(".git"))
        .env("GIT_INDEX_FILE", sandbox.path(".git/index"));
    command.env("HOME", sandbox.path("home")).env("PATH", "");
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("\nedit 1  global/config/"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.starts_with("\nnote: `layercake` is not on PATH"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        sandbox.git(&["-C", "made", "rev-parse", "main"]).trim(),
        COMMIT
    );
    fs::remove_dir_all(sandbox.path("made")).unwrap();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), before);
}

#[test]
fn new_folder_has_the_next_number() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("layercake-demo-1/mine", "kept");
    for number in [2, 3] {
        assert_eq!(demo(&sandbox, &[]).code, 0);
        assert!(
            sandbox
                .path(&format!("layercake-demo-{number}/.git"))
                .is_dir()
        );
    }
    assert_eq!(
        fs::read_dir(sandbox.path("layercake-demo-1"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn chosen_folder_must_be_empty_or_new() {
    let sandbox = Sandbox::outside_git();
    fs::create_dir(sandbox.path("empty")).unwrap();
    for folder in ["empty", "new", "some/where/below", "with space"] {
        assert_eq!(demo(&sandbox, &[folder]).code, 0, "{folder}");
        assert!(sandbox.path(folder).join(EDIT.file).is_file(), "{folder}");
    }
    let ran = demo(&sandbox, &["-C", "some", "here"]);
    assert!(ran.stdout.contains("\n$ cd some/here\n"), "{}", ran.stdout);
    sandbox.write("full/mine", "kept");
    sandbox.write("file", "kept");
    for folder in ["full", "file", "file/below", "empty"] {
        let ran = demo(&sandbox, &[folder]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{folder}");
        assert!(ran.stderr.contains("the folder `"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_dir(sandbox.path("full")).unwrap().count(), 1);
}

#[test]
fn folder_is_quoted_for_a_shell() {
    let sandbox = Sandbox::outside_git();
    for (folder, shown) in [
        ("it's", r"'it'\''s'"),
        ("a b", "'a b'"),
        ("\u{1b}[31m", r"'\u{1b}[31m'"),
    ] {
        let ran = demo(&sandbox, &[folder]);
        assert!(
            ran.stdout.contains(&format!("\n$ cd {shown}\n")),
            "{}",
            ran.stdout
        );
        assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    }
}

/// Runs `demo`, with the sandbox as the folder for temporary files.
fn demo(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(&[&["demo"], arguments].concat());
    Ran::of(&command.env("TMPDIR", &sandbox.root).output().unwrap())
}
