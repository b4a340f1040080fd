//! Working trees and commits of repositories made with the real `git`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use layercake_source::{
    Entry, EntryKind, Labelled, MemoryTree, Overlay, ReadError, RepoPath, Repository, SharedTree,
    Source, StoredTree, Tree, WorkTree,
};
use layercake_source_testing::{Site, add_submodule, describe_error, scrub, write};
use tempfile::TempDir;

#[test]
fn working_tree_is_what_git_sees() {
    let site = Site::new(&[]);
    site.write(".gitignore", "*.log\nbuild/\n");
    site.write("site/tracked.yaml", "a: 1\n");
    site.write("site/deleted.yaml", "a: 1\n");
    site.write("build/forced.yaml", "a: 1\n");
    site.write("build/deep/forced.log", "a: 1\n");
    site.git(&["add", "--all"]);
    site.git(&[
        "add",
        "--force",
        "build/forced.yaml",
        "build/deep/forced.log",
    ]);
    site.git(&["commit", "--message=first"]);
    fs::remove_file(site.path("site/deleted.yaml")).unwrap();
    site.write("site/untracked.yaml", "a: 1\n");
    site.write("new/folder/untracked.yaml", "a: 1\n");
    site.write("site/ignored.log", "a: 1\n");
    site.write("build/ignored.yaml", "a: 1\n");
    site.write("build/deep/ignored.yaml", "a: 1\n");

    assert_eq!(
        listed(&site.work_tree(), ""),
        [
            ".gitignore",
            "build/deep/forced.log",
            "build/forced.yaml",
            "new/folder/untracked.yaml",
            "site/deleted.yaml (missing)",
            "site/tracked.yaml",
            "site/untracked.yaml",
        ]
    );
    assert_eq!(
        listed(&site.work_tree(), "build"),
        ["build/deep/forced.log", "build/forced.yaml"]
    );
    assert_eq!(
        listed(&site.work_tree(), "build/deep"),
        ["build/deep/forced.log"]
    );
    assert_eq!(listed(&site.work_tree(), "nowhere"), NOTHING);
    assert_eq!(listed(&site.work_tree(), "site/tracked.yaml"), NOTHING);
}

#[test]
fn working_tree_agrees_with_git() {
    let site = Site::new(&[]);
    site.write(
        ".gitignore",
        "*.log\n!keep.log\n/top.yaml\nout/*\n!out/keep/\na/**/z.yaml\n",
    );
    site.write(".git/info/exclude", "private*\n");
    site.write("a/.gitignore", "!very.log\n/local.yaml\nc/\n");
    let files = [
        "top.yaml",
        "a/top.yaml",
        "keep.log",
        "some.log",
        "a/very.log",
        "a/b/local.yaml",
        "a/local.yaml",
        "out/x.yaml",
        "out/keep/x.yaml",
        "out/keep/x.log",
        "a/b/c/z.yaml",
        "a/b/z.yaml",
        "a/c/x.yaml",
        "private.yaml",
        "private/x.yaml",
        "a b/ä.yaml",
        "a/B.yaml",
    ];
    for folder in ["", "one/", "one/two/"] {
        for file in files {
            site.write(&format!("{folder}{file}"), "a: 1\n");
        }
    }
    site.git(&["add", "--all", "one/two"]);
    site.git(&[
        "add",
        "--force",
        "one/out/x.yaml",
        "one/a/c/x.yaml",
        "private/x.yaml",
    ]);
    site.git(&["commit", "--message=first"]);
    assert_agrees_with_git(&site);

    // unfinished work: a renamed folder, and a file replaced by a folder and restored
    fs::rename(site.path("one/a"), site.path("one/renamed")).unwrap();
    fs::remove_dir_all(site.path("one/two/a")).unwrap();
    site.write("one/two/a", "a: 1\n");
    fs::remove_file(site.path("one/two/keep.log")).unwrap();
    site.write("one/two/keep.log/x.yaml", "a: 1\n");
    assert_agrees_with_git(&site);
    site.commit();

    site.git(&[
        "update-index",
        "--assume-unchanged",
        "one/two/keep.log/x.yaml",
    ]);
    fs::remove_file(site.path("one/two/keep.log/x.yaml")).unwrap();
    assert_agrees_with_git(&site);
    site.git(&[
        "update-index",
        "--no-assume-unchanged",
        "one/two/keep.log/x.yaml",
    ]);
    site.git(&["checkout", "--quiet", "."]);
    site.git(&["update-index", "--skip-worktree", "one/two/a b/ä.yaml"]);
    site.git(&[
        "update-index",
        "--skip-worktree",
        "one/two/out/x.yaml",
        "one/two/out/keep/x.yaml",
    ]);
    assert_agrees_with_git(&site);
    for index in ["--no-sparse-index", "--sparse-index"] {
        site.git(&["sparse-checkout", "set", "--cone", index, "one/two/out"]);
        assert_agrees_with_git(&site);
    }
    site.write("one/renamed/left-behind.yaml", "a: 1\n");
    assert_agrees_with_git(&site);
}

#[test]
fn unmerged_files_are_listed_once() {
    let site = Site::new(&[]);
    site.write("a.yaml", "one\n");
    site.commit();
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("a.yaml", "two\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("a.yaml", "three\n");
    site.commit();
    assert!(site.try_git(&["merge", "topic"]).is_err());
    assert_eq!(listed(&site.work_tree(), ""), ["a.yaml"]);
}

#[test]
fn folders_are_not_patterns() {
    let site = Site::new(&[]);
    for file in [
        "si*/a.yaml",
        "site/a.yaml",
        "site-2/a.yaml",
        "[s]ite/a.yaml",
        "!x/a.yaml",
    ] {
        site.write(file, "a: 1\n");
    }
    site.commit();
    for tree in [&site.work_tree() as &dyn Tree, &site.head()] {
        assert_eq!(listed(tree, "si*"), ["si*/a.yaml"]);
        assert_eq!(listed(tree, "[s]ite"), ["[s]ite/a.yaml"]);
        assert_eq!(listed(tree, "!x"), ["!x/a.yaml"]);
        assert_eq!(listed(tree, "site"), ["site/a.yaml"]);
        assert_eq!(
            listed(tree, ""),
            [
                "!x/a.yaml",
                "[s]ite/a.yaml",
                "si*/a.yaml",
                "site-2/a.yaml",
                "site/a.yaml"
            ],
            "sorted by the bytes of the path"
        );
    }
}

#[test]
fn repository_without_a_commit_lists_its_files() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    assert_eq!(listed(&site.work_tree(), ""), ["a.yaml"]);
}

#[test]
fn repository_is_found_from_inside() {
    let site = Site::new(&[]);
    site.write("site/one/a.yaml", "a: 1\n");
    let repository = Repository::discover_further(&site.path("site/one"))
        .unwrap()
        .unwrap();
    let prefix = |path: &str| Some(repository.prefix(&site.path(path))?.as_str().to_owned());
    assert_eq!(prefix("site/one"), Some("site/one".into()));
    assert_eq!(prefix("site/one/../../site"), Some("site".into()));
    assert_eq!(prefix("site/one/a.yaml"), Some("site/one/a.yaml".into()));
    assert_eq!(prefix(""), Some(String::new()));
    assert_eq!(prefix(".."), None);
    assert_eq!(
        listed(&WorkTree::in_repository(&repository).unwrap(), ""),
        ["site/one/a.yaml"]
    );
}

#[test]
fn repository_is_found_from_inside_the_git_folder() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    for folder in [".git", ".git/refs/heads"] {
        let found = listed_by_child(&site.path(folder), Path::new("."), &[]);
        assert_eq!(found, "[a.yaml][a.yaml]", "{folder}");
    }
}

#[test]
fn upstream_of_this_repository() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    site.git(&["checkout", "--quiet", "-b", "topic/ä", "--track", "main"]);
    site.write("a.yaml", "a: 2\n");
    site.commit();
    for revision in [
        "@{u}",
        "@{Upstream}",
        "HEAD@{u}",
        "topic/ä@{upstream}",
        "@{u}~0",
    ] {
        let expected = site.git(&["rev-parse", revision]);
        assert_eq!(
            site.tree_of(revision).commit_id().unwrap(),
            expected.trim(),
            "{revision}"
        );
    }
    assert!(describe_error(&site.refused("main@{u}")).starts_with("unknown revision `main@{u}`"));
}

#[test]
fn bytes_are_those_on_disk() {
    let site = Site::new(&[]);
    site.git(&["config", "core.autocrlf", "true"]);
    site.write("a.yaml", "a: 1\r\n");
    site.commit();
    assert_eq!(read(&site.work_tree(), "a.yaml"), "a: 1\r\n");
    assert_eq!(read(&site.head(), "a.yaml"), "a: 1\n");
}

#[test]
fn other_repositories_are_reported_and_not_entered() {
    let inner = Site::new(&[]);
    inner.write("inner.yaml", "a: 1\n");
    inner.commit();
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    let url = inner.path("").display().to_string();
    site.git(&add_submodule(&url, "module"));
    site.commit();
    site.git(&["clone", &url, "nested"]);

    assert_eq!(
        listed(&site.work_tree(), ""),
        [
            ".gitmodules",
            "a.yaml",
            "module (submodule)",
            "nested (submodule)"
        ]
    );
    assert_eq!(
        listed(&site.head(), ""),
        [".gitmodules", "a.yaml", "module (submodule)"]
    );
    assert_eq!(refusal(&site.head(), "module"), "a submodule, not a file");
    for tree in [&site.work_tree() as &dyn Tree, &site.head()] {
        assert_eq!(listed(tree, "module"), ["module (submodule)"]);
    }
}

#[test]
fn commit_lists_its_files() {
    let site = Site::new(&[]);
    site.write("site/a.yaml", "old\n");
    site.write("site/same.yaml", "same\n");
    site.commit();
    site.git(&["tag", "--annotate", "--message=one", "v1"]);
    site.write("site/a.yaml", "new\n");
    site.write("b.yaml", "b\n");
    site.commit();
    fs::remove_dir_all(site.path("site")).unwrap();

    let (old, new) = (site.tree_of("v1"), site.head());
    assert_eq!(listed(&old, ""), ["site/a.yaml", "site/same.yaml"]);
    assert_eq!(
        listed(&new, ""),
        ["b.yaml", "site/a.yaml", "site/same.yaml"]
    );
    assert_eq!(read(&old, "site/a.yaml"), "old\n");
    assert_eq!(read(&new, "site/a.yaml"), "new\n");
    assert_eq!(refusal(&new, "site"), "a folder, not a file");
    assert_eq!(refusal(&new, "site/c.yaml"), "no such file");
    assert_eq!(refusal(&new, "site/a.yaml/c"), "no such file");
    assert_eq!(
        old.commit_id().unwrap(),
        site.git(&["rev-parse", "v1^{commit}"]).trim()
    );
    for expression in [
        "HEAD~1",
        "main^",
        &old.commit_id().unwrap()[..8],
        "HEAD^{/two}",
        "main@{1}",
    ] {
        let expected = site.try_git(&["rev-parse", expression]).ok();
        let found = site
            .repository()
            .commit(expression)
            .ok()
            .and_then(|tree| tree.commit_id());
        assert_eq!(
            found,
            expected.map(|id| id.trim().to_owned()),
            "{expression}"
        );
    }

    let content = |tree: &StoredTree, path: &str| entry(tree, path).content.unwrap();
    assert_eq!(
        content(&old, "site/same.yaml"),
        content(&new, "site/same.yaml")
    );
    assert_ne!(content(&old, "site/a.yaml"), content(&new, "site/a.yaml"));
}

#[test]
fn commits_are_read_from_several_threads() {
    let site = Site::new(&[]);
    for number in 0..50 {
        site.write(&format!("{number}.yaml"), &format!("a: {number}\n"));
    }
    site.commit();
    site.git(&["gc", "--quiet"]);
    let tree = site.head();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..50 {
                    assert_eq!(
                        read(&tree, &format!("{number}.yaml")),
                        format!("a: {number}\n")
                    );
                }
            });
        }
    });
}

#[test]
fn bare_repository_has_commits_only() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    let bare = site.clone_to("bare.git", &["--bare"]);
    let repository = bare.repository();
    assert_eq!(repository.work_tree_root(), None);
    assert_eq!(repository.prefix(&bare.root), None);
    assert_eq!(listed(&bare.head(), ""), ["a.yaml"]);
    let error = WorkTree::in_repository(&repository).err().unwrap();
    assert_eq!(
        describe_error(&error),
        "this repository has no working tree; help: name a revision to read, such as `HEAD`"
    );
}

#[test]
fn linked_working_tree_is_read() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    site.git(&["worktree", "add", "-b", "other", "linked"]);
    fs::write(site.path("linked/b.yaml"), "b").unwrap();
    let repository = Repository::discover_further(&site.path("linked"))
        .unwrap()
        .unwrap();
    assert_eq!(
        listed(&WorkTree::in_repository(&repository).unwrap(), ""),
        ["a.yaml", "b.yaml"]
    );
    assert_eq!(
        read(&repository.commit("other").unwrap(), "a.yaml"),
        "a: 1\n"
    );
    assert_eq!(
        listed(&site.work_tree(), ""),
        ["a.yaml", "linked (submodule)"]
    );
}

#[test]
fn sha256_repository_is_read() {
    let site = Site::new(&["--object-format=sha256"]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    site.write("b.yaml", "b: 1\n");
    assert_eq!(listed(&site.work_tree(), ""), ["a.yaml", "b.yaml"]);
    assert_eq!(read(&site.head(), "a.yaml"), "a: 1\n");
    let id = site.head().commit_id().unwrap();
    assert_eq!(id.len(), 64);
    for digits in [4, 7, 10, 39, 40, 41, 63, 64] {
        assert_eq!(
            site.tree_of(&id[..digits]).commit_id().unwrap(),
            id,
            "{digits}"
        );
    }
    site.commit();
    assert_eq!(
        site.tree_of(&format!("{}~1", short(&site)))
            .commit_id()
            .unwrap(),
        id
    );
    assert_eq!(
        describe_error(&site.refused("abcdef0123")),
        "unknown revision `abcdef0123`; help: name a commit, branch or tag of this repository"
    );
    assert_eq!(
        describe_error(&site.refused(&short(&site)[..3])),
        format!(
            "unknown revision `{}`; help: name a commit, branch or tag of this repository",
            &short(&site)[..3]
        )
    );
    // a branch may be called like an id
    site.git(&["branch", &short(&site), "HEAD~1"]);
    assert_eq!(site.tree_of(&short(&site)).commit_id().unwrap(), id);
}

fn short(site: &Site) -> String {
    site.git(&["rev-parse", "--short=8", "main"])
        .trim()
        .to_owned()
}

#[test]
fn revisions_that_name_no_commit_are_refused() {
    let site = Site::new(&[]);
    assert_eq!(
        describe_error(&site.refused("HEAD")),
        "`HEAD` is not a commit: branch `main` has no commits yet; help: create the first commit"
    );
    assert_eq!(
        describe_error(&site.refused("nothing")),
        "unknown revision `nothing`; help: name a commit, branch or tag of this repository"
    );
    site.write("a.yaml", "a: 1\n");
    site.commit();
    assert_eq!(
        describe_error(&site.refused("nothing")),
        "unknown revision `nothing`; help: name a commit, branch or tag of this repository"
    );
    assert_eq!(
        describe_error(&site.refused("")),
        "unknown revision ``; help: name a commit, branch or tag of this repository"
    );
    assert_eq!(
        describe_error(&site.refused("HEAD~5")),
        "unknown revision `HEAD~5`; help: name a commit, branch or tag of this repository"
    );
    assert_eq!(
        describe_error(&site.refused("HEAD:a.yaml")),
        "`HEAD:a.yaml` is a blob, not a commit"
    );
    assert_eq!(
        describe_error(&site.refused("HEAD^{tree}")),
        "`HEAD^{tree}` is a tree, not a commit"
    );
    assert_eq!(
        describe_error(&site.refused("main..HEAD")),
        "`main..HEAD` is a range, not one commit; help: name one of its endpoints"
    );
    for several in ["HEAD^!", "HEAD^@", "HEAD^-", "HEAD^-1", "^HEAD"] {
        let refused = format!(
            "`{several}` names several commits, expected one; help: name both sides: `layercake diff HEAD~1 HEAD`"
        );
        assert_eq!(describe_error(&site.refused(several)), refused);
    }
    site.git(&["branch", "topic"]);
    let clone = site.clone_to("clone", &[]);
    assert_eq!(
        describe_error(&clone.refused("topic~0")),
        "unknown revision `topic~0`; help: did you mean `origin/topic~0`?"
    );
}

#[test]
fn unknown_revision_suggests_similar_branches_and_tags() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    for branch in ["release/2025.1", "release/2025.2", "topic"] {
        site.git(&["branch", branch]);
    }
    site.git(&["tag", "topics"]);
    site.git(&["tag", "v1.9"]);
    let help = |site: &Site, revision: &str| describe_error(&site.refused(revision));
    let unknown = |revision: &str, names: &str| {
        format!("unknown revision `{revision}`; help: did you mean {names}?")
    };
    for (revision, names) in [
        ("mian", "`main`"),
        ("topik~2", "`topic`"),
        ("release/2025.3", "`release/2025.1` or `release/2025.2`"),
        ("release", "`release/2025.1` or `release/2025.2`"),
        ("v1.8", "`v1.9`"),
    ] {
        assert_eq!(help(&site, revision), unknown(revision, names));
    }
    let clone = site.clone_to("clone", &[]);
    for (revision, names) in [
        ("origin/mian", "`main` or `origin/main`"),
        ("topik", "`origin/topic`"),
        ("v1.8^", "`v1.9`"),
    ] {
        assert_eq!(help(&clone, revision), unknown(revision, names));
    }
    // A known revision needs no suggestion.
    assert!(!help(&site, "main~9").contains("did you mean"));
}

/// Messages about internal steps of the library do not help a user.
#[test]
fn unknown_revision_error_hides_library_internals() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    site.commit();
    for revision in [
        "HEAD~9",
        "HEAD^2",
        "nothing",
        "main@{u}",
        "HEAD@{9}",
        ":/nothing",
        "HEAD:b",
        "a b",
        "@{-4}",
    ] {
        let error = site.refused(revision);
        let mut text = error.to_string() + error.help().unwrap_or_default();
        let mut cause = std::error::Error::source(&error);
        while let Some(source) = cause {
            text += &source.to_string();
            cause = source.source();
        }
        for word in ["delegate", "traverse", "NthAncestor", "::", "(\u{2026})"] {
            assert!(!text.contains(word), "{revision}: {text}");
        }
    }
}

#[test]
fn errors_say_what_a_clone_lacks_and_how_to_fetch_it() {
    let site = Site::new(&[]);
    site.git(&["config", "uploadpack.allowFilter", "true"]);
    for text in ["one\n", "two\n", "three\n"] {
        site.write("a.yaml", text);
        site.commit();
    }
    site.git(&["branch", "topic", "HEAD~1"]);
    let first = site.git(&["rev-parse", "HEAD~2"]);

    let shallow = site.clone_to("shallow", &["--depth=1"]);
    let help = "this clone is shallow; run `git fetch --unshallow` to complete it \
                (with `actions/checkout`: `fetch-depth: 0`)";
    let (first, second) = (first.trim(), site.git(&["rev-parse", "HEAD~1"]));
    let second = second.trim();
    assert_eq!(
        describe_error(&shallow.refused("HEAD~1")),
        format!("unknown revision `HEAD~1`; help: {help}")
    );
    assert_eq!(
        describe_error(&shallow.refused("HEAD^")),
        format!(
            "the commit {second} of `HEAD^` is not in this clone; \
             help: run `git fetch --no-tags --depth=1 origin {second}` to fetch it"
        )
    );
    assert_eq!(
        describe_error(&shallow.refused(first)),
        format!(
            "unknown revision `{first}`: this clone has no such commit; \
             help: run `git fetch --no-tags --depth=1 origin {first}` to fetch it"
        )
    );
    shallow.git(&["fetch", "--no-tags", "--depth=1", "origin", first]);
    assert_eq!(read(&shallow.tree_of(first), "a.yaml"), "one\n");
    assert_eq!(
        describe_error(&shallow.refused("origin/topic")),
        "unknown revision `origin/topic`; help: this clone is shallow; \
         run `git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'` to complete it \
         (with `actions/checkout`: `fetch-depth: 0`)"
    );
    shallow.git(&[
        "fetch",
        "--unshallow",
        "origin",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    assert_eq!(read(&shallow.tree_of("origin/topic"), "a.yaml"), "two\n");
    assert_eq!(read(&shallow.tree_of("HEAD~2"), "a.yaml"), "one\n");

    let single = site.clone_to("single", &["--single-branch"]);
    assert_eq!(
        describe_error(&single.refused("origin/topic")),
        "unknown revision `origin/topic`; help: \
         run `git fetch origin '+refs/heads/*:refs/remotes/origin/*'` to fetch the branches of \
         `origin`"
    );
    single.git(&["fetch", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    assert_eq!(read(&single.tree_of("origin/topic"), "a.yaml"), "two\n");

    let partial = site.clone_to("partial", &["--filter=blob:none"]);
    let tree = partial.tree_of("HEAD~2");
    let files = [RepoPath::new("a.yaml")];
    let error = tree.ensure_present(&files).unwrap_err();
    assert_eq!(
        describe_error(&error),
        format!(
            "1 of 1 files of commit {} are missing in this partial clone; help: \
             run `git fetch --refetch --no-filter` to fetch what a partial clone left out",
            &first[..12]
        )
    );
    assert!(refusal(&tree, "a.yaml").ends_with("is missing in this clone"));
    partial.tree_of("HEAD").ensure_present(&files).unwrap();

    let treeless = site.clone_to("treeless", &["--filter=tree:0"]);
    assert_eq!(
        describe_error(&treeless.refused("HEAD~2")),
        "cannot list the files of `HEAD~2`; help: \
         run `git fetch --refetch --no-filter` to fetch what a partial clone left out"
    );
    for clone in [partial, treeless] {
        clone.git(&["fetch", "--refetch", "--no-filter"]);
        assert_eq!(read(&clone.tree_of("HEAD~2"), "a.yaml"), "one\n");
    }
}

#[test]
fn outside_of_git_all_files_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "b/a.yaml",
        "b-2/a.yaml",
        ".hidden/a.yaml",
        ".git/config",
        "c/.git/HEAD",
    ] {
        write(folder.path(), file, "a: 1\n");
    }
    assert!(
        Repository::discover_further(&folder.path().join("b"))
            .unwrap()
            .is_none()
    );
    let tree = WorkTree::in_folder(folder.path().to_owned()).unwrap();
    assert_eq!(
        listed(&tree, ""),
        [".hidden/a.yaml", "b-2/a.yaml", "b/a.yaml"]
    );
    assert_eq!(listed(&tree, "b"), ["b/a.yaml"]);
    assert_eq!(listed(&tree, "nowhere"), NOTHING);
    assert_eq!(read(&tree, "b/a.yaml"), "a: 1\n");
    assert_eq!(refusal(&tree, "b"), "a folder, not a file");
    assert_eq!(refusal(&tree, "nowhere/a.yaml"), "no such file");
    assert_ne!(
        refusal(&tree, ".git/config"),
        "",
        "credentials may be in there"
    );
    assert!(WorkTree::in_folder(folder.path().join("nowhere")).is_err());
    assert!(WorkTree::in_folder(folder.path().join("b/a.yaml")).is_err());
}

#[test]
fn large_files_are_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("large.yaml")).unwrap();
    file.set_len(Source::MAX_BYTES + 1).unwrap();
    let tree = WorkTree::in_folder(folder.path().to_owned()).unwrap();
    let refusal = tree.read(&RepoPath::new("large.yaml"));
    assert_eq!(refusal, Err(ReadError::TooLarge(Source::MAX_BYTES + 1)));
}

#[test]
fn further_repositories_have_a_name() {
    let tree = MemoryTree::new()
        .with("a.yaml", "a")
        .with("deploy/site/b.yaml", "b")
        .with("deploy/c.yaml", "c")
        .with("deploy-2/d.yaml", "d");

    let whole = Labelled::new("global", tree.clone(), RepoPath::new(""));
    assert_eq!(whole.root().as_str(), "global:");
    assert_eq!(listed(&whole, "global:"), listed(&whole, ""));
    assert_eq!(listed(&whole, "")[0], "global:a.yaml");
    assert_eq!(
        listed(&whole, "global:deploy"),
        ["global:deploy/c.yaml", "global:deploy/site/b.yaml"]
    );
    assert_eq!(read(&whole, "global:a.yaml"), "a");

    let part: Labelled<SharedTree> =
        Labelled::new("global", Arc::new(tree), RepoPath::new("deploy"));
    assert_eq!(listed(&part, ""), ["global:c.yaml", "global:site/b.yaml"]);
    assert_eq!(listed(&part, "global:site"), ["global:site/b.yaml"]);
    assert_eq!(listed(&part, "other:site"), NOTHING);
    assert_eq!(read(&part, "global:site/b.yaml"), "b");
    assert_eq!(refusal(&part, "site/b.yaml"), "no such file");
    assert_eq!(refusal(&part, "global:a.yaml"), "no such file");

    let joined = part.root().join("site").join("b.yaml");
    assert_eq!(joined.as_str(), "global:site/b.yaml");
    assert_eq!(joined.below(&part.root()), Some("site/b.yaml"));
}

/// An overlaid link is still one: where it leads decides whether its content is secret.
#[test]
fn overlay_replaces_adds_and_removes_files() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("secrets/a.yaml", "a"), ("b.yaml", "b"), ("c.yaml", "c")] {
        fs::create_dir_all(folder.path().join("secrets")).unwrap();
        fs::write(folder.path().join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("secrets/a.yaml", folder.path().join("link.yaml")).unwrap();
    let text = |path: &str, text: Option<&str>| (RepoPath::new(path), text.map(Arc::from));
    let texts = [
        text("link.yaml", Some("new")),
        text("b.yaml", None),
        text("new/d.yaml", Some("d")),
    ];
    let tree = WorkTree::in_folder(folder.path().to_owned()).unwrap();
    let tree = Overlay::new(tree, texts.into());
    assert_eq!(
        listed(&tree, ""),
        ["c.yaml", "link.yaml", "new/d.yaml", "secrets/a.yaml"]
    );
    assert_eq!(listed(&tree, "new"), ["new/d.yaml"]);
    let links = tree.entries(&RepoPath::new("")).unwrap().into_iter();
    let links: Vec<RepoPath> = links.filter(|it| it.is_link).map(|it| it.path).collect();
    assert_eq!(links, [RepoPath::new("link.yaml")]);
    let stored = |path: &str| tree.real_path(&RepoPath::new(path));
    assert_eq!(stored("link.yaml"), Some(RepoPath::new("secrets/a.yaml")));
    assert_eq!(stored("new/d.yaml"), Some(RepoPath::new("new/d.yaml")));
    assert_eq!(stored("b.yaml"), None);
    assert_eq!(
        [read(&tree, "link.yaml"), read(&tree, "c.yaml")],
        ["new", "c"]
    );
    assert_eq!(refusal(&tree, "b.yaml"), "no such file");
}

#[test]
fn environment_of_a_hook_is_kept_for_the_first_repository_only() {
    let (first, second) = (Site::new(&[]), Site::new(&[]));
    for (site, file) in [(&first, "first.yaml"), (&second, "second.yaml")] {
        site.write(".gitignore", "*.yaml\n");
        site.write(file, "a: 1\n");
        site.git(&["add", ".gitignore"]);
        site.git(&["commit", "--message=one"]);
    }
    // the index of a commit in progress tracks an ignored file
    let index = first.path(".git/next-index");
    fs::copy(first.path(".git/index"), &index).unwrap();
    let variable = ("GIT_INDEX_FILE", index.as_path());
    let mut add = first.command(&["add", "--force", "first.yaml"]);
    assert!(add.env(variable.0, variable.1).status().unwrap().success());

    let git_dir = first.path(".git");
    let hook = [variable, ("GIT_DIR", git_dir.as_path())];
    assert_eq!(
        listed_by_child(&first.root, &first.root, &[]),
        "[.gitignore][.gitignore]"
    );
    assert_eq!(
        listed_by_child(&first.root, &first.root, &hook),
        "[.gitignore first.yaml][.gitignore]"
    );
    assert_eq!(
        listed_by_child(&first.root, &second.root, &hook),
        "[.gitignore first.yaml (missing)][.gitignore]",
        "with only `GIT_DIR`, git uses the current folder as working tree"
    );

    let elsewhere = tempfile::tempdir().unwrap();
    write(elsewhere.path(), "elsewhere.yaml", "a: 1\n");
    let work_tree = [
        ("GIT_DIR", git_dir.as_path()),
        ("GIT_WORK_TREE", elsewhere.path()),
    ];
    assert_eq!(
        listed_by_child(elsewhere.path(), &second.root, &work_tree),
        "[.gitignore (missing) elsewhere.yaml][.gitignore]"
    );
    assert_eq!(
        listed_by_child(elsewhere.path(), elsewhere.path(), &[]),
        "nonenone"
    );
}

/// Listing by a child process with these variables, in `from`, as the first repository and as a
/// further one. All tests would see variables of this process.
fn listed_by_child(cwd: &Path, from: &Path, variables: &[(&str, &Path)]) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    scrub(&mut child);
    child.args(["--exact", "git::child", "--nocapture"]);
    child
        .current_dir(cwd)
        .env(CHILD, from)
        .envs(variables.iter().copied());
    let output = String::from_utf8(child.output().unwrap().stdout).unwrap();
    let lines = output
        .lines()
        .filter_map(|line| line.split_once("listed: "));
    lines.map(|(_, listed)| listed).collect()
}

const CHILD: &str = "LAYERCAKE_TEST_LIST_FROM";

/// Child process of [`listed_by_child`]; does nothing without its variable.
#[test]
fn child() {
    let Some(from) = std::env::var_os(CHILD).map(PathBuf::from) else {
        return;
    };
    for discover in [Repository::discover, Repository::discover_further] {
        match discover(&from).unwrap() {
            None => println!("listed: none"),
            Some(repository) => {
                let tree = WorkTree::in_repository(&repository).unwrap();
                println!("listed: [{}]", listed(&tree, "").join(" "));
            }
        }
    }
}

#[cfg(unix)]
mod unix {
    //! Only on Unix: links that any user may create, pipes, and names that are not UTF-8.

    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A site with every kind of link, and the errors of those that fail.
    fn linked_site() -> (Site, TempDir) {
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "secret.yaml", "secret\n");
        let site = Site::new(&[]);
        site.write("site/a.yaml", "a: 1\n");
        site.write("site/b/b.yaml", "b: 1\n");
        let link = |target: &str, at: &str| symlink(target, site.path(at)).unwrap();
        link("site/a.yaml", "file");
        link("../a.yaml", "site/b/up");
        link("./b/../b//up", "site/twice");
        link("folder/a.yaml", "through");
        link("site", "folder");
        link("site/./b/../../site", "folder-2");
        link("nothing", "dangling");
        link("site/a.yaml/x", "below-file");
        link("loop-2", "loop-1");
        link("loop-1", "loop-2");
        link("../secret.yaml", "above");
        link(
            &outside.path().join("secret.yaml").display().to_string(),
            "absolute",
        );
        link(&outside.path().display().to_string(), "absolute-folder");
        link(".git/config", "git");
        site.git(&["add", "--all"]);
        site.git(&["commit", "--message=links"]);
        (site, outside)
    }

    #[test]
    fn links_are_followed_inside_the_tree() {
        let (site, _outside) = linked_site();
        let (work_tree, head) = (site.work_tree(), site.head());
        let folder = WorkTree::in_folder(site.root.clone()).unwrap();
        for tree in [&work_tree as &dyn Tree, &folder, &head] {
            for link in ["file", "site/b/up", "site/twice", "through"] {
                assert_eq!(read(tree, link), "a: 1\n", "{link}");
            }
            for link in [
                "dangling",
                "below-file",
                "loop-1",
                "above",
                "absolute",
                "git",
            ] {
                assert_ne!(refusal(tree, link), "", "{link}");
            }
            assert_eq!(refusal(tree, "dangling"), "a broken symbolic link");
            assert_eq!(
                refusal(tree, "absolute"),
                "a symbolic link that leads out of the repository"
            );
            assert_eq!(
                listed(tree, "folder"),
                ["folder (folder link)"],
                "links are not followed"
            );
            assert_eq!(listed(tree, "folder/b"), NOTHING, "nor within a path");
        }
        assert_eq!(
            entry(&head, "file").content,
            entry(&head, "site/a.yaml").content
        );
        assert_ne!(
            entry(&head, "absolute").content,
            entry(&head, "above").content
        );
        let above = [
            "above",
            "absolute",
            "absolute-folder",
            "below-file",
            "dangling",
            "file",
        ];
        let files = [
            "folder (folder link)",
            "folder-2 (folder link)",
            "git",
            "loop-1",
        ];
        let inside = [
            "loop-2",
            "site/a.yaml",
            "site/b/b.yaml",
            "site/b/up",
            "site/twice",
        ];
        let all = [&above[..], &files[..], &inside[..], &["through"]].concat();
        assert_eq!(listed(&work_tree, ""), all);
        assert_eq!(listed(&folder, ""), all);
        assert_eq!(listed(&head, ""), all);
    }

    #[test]
    fn pipes_are_never_opened() {
        let site = Site::new(&[]);
        site.write("a.yaml", "a: 1\n");
        site.commit();
        let made = Command::new("mkfifo")
            .arg(site.path("pipe.yaml"))
            .status()
            .unwrap();
        assert!(made.success());
        symlink("pipe.yaml", site.path("link.yaml")).unwrap();
        for tree in [
            &site.work_tree(),
            &WorkTree::in_folder(site.root.clone()).unwrap(),
        ] {
            assert_eq!(listed(tree, ""), ["a.yaml", "link.yaml", "pipe.yaml"]);
            assert_eq!(refusal(tree, "pipe.yaml"), "not a file");
            assert_eq!(refusal(tree, "link.yaml"), "not a file");
        }
    }

    #[test]
    fn names_that_are_not_utf8() {
        let site = Site::new(&[]);
        site.write("a.yaml", "a: 1\n");
        let name = OsStr::from_bytes(b"\xff.yaml");
        if fs::write(site.root.join(name), "a: 2\n").is_err() {
            return; // file systems of macOS have no such names
        }
        site.commit();
        let folder = WorkTree::in_folder(site.root.clone()).unwrap();
        for tree in [&site.work_tree() as &dyn Tree, &folder, &site.head()] {
            assert_eq!(listed(tree, ""), ["a.yaml", "\u{f7ff}.yaml"]);
            assert_eq!(read(tree, "\u{f7ff}.yaml"), "a: 2\n");
        }
    }

    #[test]
    fn root_may_be_a_link() {
        let site = Site::new(&[]);
        site.write("site/a.yaml", "a: 1\n");
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link");
        symlink(&site.root, &link).unwrap();
        let repository = Repository::discover_further(&link).unwrap().unwrap();
        let tree = WorkTree::in_repository(&repository).unwrap();
        assert_eq!(listed(&tree, "site"), ["site/a.yaml"]);
        assert_eq!(read(&tree, "site/a.yaml"), "a: 1\n");
        assert_eq!(
            repository.prefix(&link.join("site")),
            Some(RepoPath::new("site"))
        );
        assert_eq!(
            repository.prefix(&site.path("site")),
            Some(RepoPath::new("site"))
        );
    }
}

const NOTHING: [&str; 0] = [];

/// Two folders of 2,000 entries each make four million paths.
#[test]
fn folders_with_too_many_files_are_refused() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a: 1\n");
    let blob = site.git(&["hash-object", "-w", "a.yaml"]);
    let folder_of = |kind: &str, id: &str| {
        let entries = (0..2000).map(|name| format!("{kind} {}\t{name:04}\n", id.trim()));
        let file = site.path("entries");
        fs::write(&file, entries.collect::<String>()).unwrap();
        let mut mktree = site.command(&["mktree"]);
        let output = mktree
            .stdin(fs::File::open(file).unwrap())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let files = folder_of("100644 blob", &blob);
    let commit = |folder: &str| {
        let commit = site.git(&["commit-tree", "-m", "many", folder]);
        let read = site.repository().commit(commit.trim());
        read.map(|tree| tree.entries(&RepoPath::new("")).unwrap().len())
    };
    assert_eq!(commit(&files).unwrap(), 2000);
    let refused = commit(&folder_of("040000 tree", &files)).unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert!(
        cause.contains("more than 2000000 files and folders"),
        "{cause}"
    );
}

/// Asserts that the tree lists the files that git calls tracked or untracked, and marks those that
/// are missing on disk.
fn assert_agrees_with_git(site: &Site) {
    let expected = site.git(&[
        "ls-files",
        "-z",
        "-v",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let tagged = expected
        .split_terminator('\0')
        .filter_map(|line| line.split_once(' '));
    let shown = |(tag, path): (&str, &str)| {
        let is_there = matches!(tag, "S" | "h") || site.path(path).is_file();
        if is_there {
            path.to_owned()
        } else {
            format!("{path} (missing)")
        }
    };
    let mut expected: Vec<String> = tagged.map(shown).collect();
    expected.sort();
    expected.dedup();
    assert!(expected.len() > 5);
    assert_eq!(listed(&site.work_tree(), ""), expected);
    for folder in ["one", "one/two", "one/out", "a/c", "private"] {
        let prefix = format!("{folder}/");
        let below = expected.iter().filter(|path| path.starts_with(&prefix));
        let below: Vec<String> = below.cloned().collect();
        assert_eq!(listed(&site.work_tree(), folder), below, "{folder}");
    }
}

/// Entries below `folder`; those that are not files are marked.
fn listed(tree: &(impl Tree + ?Sized), folder: &str) -> Vec<String> {
    let entries = tree.entries(&RepoPath::new(folder)).unwrap();
    let shown = entries.iter().map(|entry| match entry.kind {
        EntryKind::File => entry.path.to_string(),
        EntryKind::Submodule => format!("{} (submodule)", entry.path),
        EntryKind::Missing => format!("{} (missing)", entry.path),
        EntryKind::FolderLink => format!("{} (folder link)", entry.path),
    });
    shown.collect()
}

fn entry(tree: &dyn Tree, path: &str) -> Entry {
    let entries = tree.entries(&RepoPath::new("")).unwrap();
    entries
        .into_iter()
        .find(|entry| entry.path.as_str() == path)
        .unwrap()
}

fn read(tree: &(impl Tree + ?Sized), path: &str) -> String {
    let bytes = tree
        .read(&RepoPath::new(path))
        .unwrap_or_else(|error| panic!("{path}: {error:?}"));
    String::from_utf8(bytes).unwrap()
}

/// Reason why `path` is not read.
fn refusal(tree: &(impl Tree + ?Sized), path: &str) -> String {
    match tree.read(&RepoPath::new(path)).unwrap_err() {
        ReadError::Refused(reason) => reason,
        ReadError::Damaged { reason, .. } => reason,
        ReadError::TooLarge(bytes) => panic!("{path} has {bytes} bytes"),
    }
}

/// A file that is constantly replaced by a pipe, by a link out of the repository and by nothing is
/// read completely or not at all, and never blocks.
#[cfg(unix)]
#[test]
fn changing_file_is_read_completely_or_not_at_all() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    let folder = tempfile::tempdir().unwrap();
    let (root, kept) = (folder.path().join("root"), folder.path().join("kept"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&kept).unwrap();
    let text = "a: 1\n".repeat(2000);
    fs::write(kept.join("file"), &text).unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret"), kept.join("link")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(kept.join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let tree = WorkTree::in_folder(root.clone()).unwrap();
    let done = AtomicBool::new(false);
    let (mut read, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let path = root.join("a.yaml");
            let mut number = 0;
            while !done.load(Relaxed) {
                for kind in ["file", "pipe", "file", "link"] {
                    number += 1;
                    let other = kept.join(format!("{kind}-{number}"));
                    fs::hard_link(kept.join(kind), &other).unwrap();
                    fs::rename(other, &path).unwrap();
                }
                fs::remove_file(&path).unwrap();
            }
        });
        // On a busy machine one of the threads may not run for long.
        let mut attempts = 0;
        while attempts < 20_000 || (read == 0 || refused == 0) && attempts < 2_000_000 {
            attempts += 1;
            match tree.read(&RepoPath::new("a.yaml")) {
                Ok(bytes) => {
                    assert_eq!(bytes, text.as_bytes());
                    read += 1;
                }
                Err(ReadError::Refused(_)) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        done.store(true, Relaxed);
    });
    assert!(read > 0 && refused > 0, "{read} {refused}");
}
