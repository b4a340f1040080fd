//! Errors that prevent a comparison: one clear line, exit code 2, no output, and the repository
//! unchanged to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Sandbox, parent, repository};

/// The bytes of every file below `folder`.
fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// Asserts that the run fails with `expected` and nothing else, and leaves all files unchanged.
fn refused(sandbox: &Sandbox, arguments: &[&str], expected: &str) {
    let before = bytes(&sandbox.root);
    let ran = sandbox.run(arguments);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (2, ""),
        "{arguments:?}: {ran:?}"
    );
    let errors: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| !line.starts_with("  "))
        .collect();
    assert_eq!(errors.len(), 1, "{arguments:?}: {}", ran.stderr);
    assert!(errors[0].starts_with("error: "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(expected),
        "{arguments:?}: {}",
        ran.stderr
    );
    assert!(
        before == bytes(&sandbox.root),
        "{arguments:?} changed the repository"
    );
}

#[test]
fn unknown_revisions_are_refused() {
    let sandbox = repository();
    for arguments in [
        &["lint", "--since", "nosuch"][..],
        &["lint", "--from", "nosuch"],
        &["diff", "nosuch"],
        &["diff", "HEAD", "nosuch"],
        &[
            "explain-value",
            "lab",
            "example/Any/v1",
            "only",
            ".of",
            "--since",
            "nosuch",
        ],
    ] {
        refused(&sandbox, arguments, "unknown revision `nosuch`");
    }
}

#[test]
fn missing_repository_and_missing_commit_are_refused() {
    let sandbox = Sandbox::outside_git();
    sandbox.write_sites();
    for arguments in [
        &["lint", "--since", "main"][..],
        &["lint", "--staged"],
        &["diff", "main"],
    ] {
        refused(&sandbox, arguments, "is not inside a git repository");
    }
    let sandbox = Sandbox::with_sites();
    sandbox.git(&["add", "--all"]);
    for arguments in [&["lint", "--since", "HEAD"][..], &["diff", "HEAD"]] {
        refused(&sandbox, arguments, "branch `main` has no commits yet");
    }
}

#[test]
fn corrupt_objects_are_refused() {
    for damaged in [
        "HEAD",
        "HEAD^{tree}",
        "HEAD:global",
        "HEAD:global/parent.yaml",
    ] {
        let sandbox = repository();
        sandbox.write("global/parent.yaml", parent(2));
        let id = sandbox.id(damaged);
        let object = sandbox.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        fs::remove_file(&object).unwrap();
        fs::write(&object, "garbage").unwrap();
        for arguments in [&["lint", "--since", "HEAD"][..], &["diff", "HEAD"]] {
            refused(
                &sandbox,
                arguments,
                "run `git fsck` to list the missing objects",
            );
        }
    }
}

#[test]
fn locked_index_is_refused() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    fs::write(sandbox.path(".git/index.lock"), "").unwrap();
    refused(&sandbox, &["lint", "--staged"], "the index is locked");
    refused(&sandbox, &["diff", "--staged"], "remove `");
}

#[test]
fn comparisons_write_nothing() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.git(&["add", "global"]);
    sandbox.write("global/parent.yaml", parent(3));
    let before = bytes(&sandbox.root);
    for arguments in [
        &["lint", "--since", "HEAD"][..],
        &["lint", "--staged", "--verify-attribution"],
        &["lint", "--auto"],
        &["diff", "HEAD", "-o", "concise"],
        &["diff", "HEAD", "-o", "json"],
        &[
            "explain-value",
            "lab",
            "example/Any/v1",
            "child",
            ".values",
            "--since",
            "HEAD",
        ],
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        assert!(
            before == bytes(&sandbox.root),
            "{arguments:?} changed the repository"
        );
    }
}
