//! Files of a commit, checked out into a working tree: in every folder, discovery must find the
//! repository that they were committed to, or fail.
//!
//! An input is text with a line `=== PATH` before each file. Paths that git refuses to commit are
//! skipped.

#![no_main]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use layercake::source::{RepoPath, Repository, Tree, WorkTree};
use layercake_fuzz::files::pieces;
use layercake_fuzz::git::Sound;
use libfuzzer_sys::fuzz_target;

static OUTER: LazyLock<Sound> = LazyLock::new(Sound::new);

/// Folder of the working tree that files are written to.
const CHECKED_OUT: &str = "deploy";

/// Maximum number of files in an input.
const MAX_FILES: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let root = OUTER.folder();
    let checked_out = root.join(CHECKED_OUT);
    fs::create_dir_all(&checked_out).expect("the folder is writable");
    let mut folders = BTreeSet::from([checked_out.clone()]);
    for (path, content) in pieces(bytes).into_iter().take(MAX_FILES) {
        folders.extend(write(&checked_out, &path, &content));
    }
    for folder in &folders {
        check(root, folder);
    }
    fs::remove_dir_all(&checked_out).expect("the folder is writable");
});

fn check(root: &Path, folder: &Path) {
    for found in [
        Repository::discover(folder),
        Repository::discover_further(folder),
    ] {
        let Ok(found) = found else { continue };
        let found = found.expect("the outer repository is found");
        assert_eq!(
            found.work_tree_root(),
            Some(root),
            "found in {}",
            folder.display()
        );
        assert!(
            found.resolve("v1").is_ok(),
            "the outer repository has this tag"
        );
        let listed = WorkTree::in_repository(&found).map(|tree| tree.entries(&RepoPath::new("")));
        assert!(listed.is_ok(), "the outer working tree can be listed");
    }
}

/// Writes a file, and returns the folders that contain it; none if git would not check it out, or
/// if another file is in the way.
fn write(below: &Path, path: &str, content: &[u8]) -> Vec<PathBuf> {
    if !path.split('/').all(is_committable) {
        return Vec::new();
    }
    let file = below.join(path);
    let folder = file.parent().unwrap_or(below);
    if fs::create_dir_all(folder).is_err() || fs::write(&file, content).is_err() {
        return Vec::new();
    }
    folder
        .ancestors()
        .take_while(|folder| *folder != below)
        .map(Path::to_owned)
        .collect()
}

/// Whether git checks out paths with this component (`verify_path` in git's read-cache.c).
fn is_committable(component: &str) -> bool {
    !matches!(component, "" | "." | "..") && !component.eq_ignore_ascii_case(".git")
}
