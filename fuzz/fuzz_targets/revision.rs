//! Revisions given by users, and damaged repositories.
//!
//! An input that begins with `rev ` is a revision in an intact repository; any other input damages
//! files of it, including compressed objects. The result must be a value or an error: panics of git
//! crates must not escape [`Repository`].

#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex};

use arbitrary::{Arbitrary, Unstructured};
use layercake::source::{RepoPath, Repository, StoredTree, Tree, WorkTree};
use layercake_fuzz::git::{Damage, Sound};
use libfuzzer_sys::fuzz_target;

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    // Escaping panics are reported below. The fuzzer's hook would abort even on panics that are
    // caught.
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().expect("no panic while the lock is held") = Some(panic.to_string());
    }));
    Sound::new()
});

static PANIC: Mutex<Option<String>> = Mutex::new(None);

fuzz_target!(|bytes: &[u8]| {
    let sound = &*SOUND;
    match bytes.strip_prefix(b"rev ") {
        Some(revision) => survived(|| resolved(&String::from_utf8_lossy(revision), sound)),
        None => {
            let damages = Vec::<Damage>::arbitrary(&mut Unstructured::new(bytes));
            let Ok(damages) = damages else { return };
            let _restored = sound.damaged(&damages);
            survived(|| opened(sound));
        }
    }
});

/// Aborts on a panic that was not caught.
fn survived(look: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(look)).is_err() {
        let panic = PANIC
            .lock()
            .expect("no panic while the lock is held")
            .take();
        eprintln!("{}", panic.unwrap_or_default());
        std::process::abort();
    }
}

fn resolved(revision: &str, sound: &Sound) {
    let repository =
        Repository::discover_further(sound.folder()).expect("the repository is intact");
    let repository = repository.expect("the repository is found");
    if let Ok(id) = repository.resolve(revision) {
        assert!(repository.has_object(&id), "{revision}: {id}");
        assert_eq!(
            repository.resolve(&id).ok(),
            Some(id.clone()),
            "an ID resolves to itself"
        );
        let commit = repository
            .commit(revision)
            .expect("the revision was resolved");
        assert_eq!(commit.commit_id(), Some(id.clone()));
        read_all(&commit);
        assert!(repository.tree_of(&id).is_ok());
        let base = repository
            .merge_base(revision, "HEAD")
            .expect("the history is complete");
        assert_eq!(
            base,
            repository
                .merge_base("HEAD", revision)
                .expect("the history is complete")
        );
    }
    let _ = (
        repository.parents(revision),
        repository.merge_base("HEAD", revision),
    );
}

fn opened(sound: &Sound) {
    let Ok(Some(repository)) = Repository::discover_further(sound.folder()) else {
        return;
    };
    let _ = (
        repository.is_shallow(),
        repository.is_unborn(),
        repository.name(),
    );
    let _ = (repository.default_branch(), repository.remote());
    for revision in [
        "HEAD",
        "main",
        "side",
        "tag",
        "v1",
        "HEAD~1",
        "@{1}",
        "origin/main",
        ":/one",
    ] {
        if let Ok(commit) = repository.commit(revision) {
            read_all(&commit);
        }
        let _ = (
            repository.parents(revision),
            repository.merge_base(revision, "side"),
        );
    }
    if let Ok(index) = repository.index() {
        read_all(&index);
    }
    if let Ok(work_tree) = WorkTree::in_repository(&repository) {
        let _ = work_tree.entries(&RepoPath::new(""));
    }
}

fn read_all(tree: &StoredTree) {
    let Ok(entries) = tree.entries(&RepoPath::new("")) else {
        return;
    };
    for entry in entries {
        let _ = tree.read(&entry.path);
    }
}
