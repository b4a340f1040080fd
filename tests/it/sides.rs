//! The two sides of a comparison, in repositories made with the real `git` and by the built
//! program: in hooks, in shallow clones, and as found by CI jobs.
//!
//! The content of a side is compared with the output of `git ls-tree` and `git ls-files`.

mod errors;
#[cfg(unix)]
mod hooks;
mod jobs;
mod shallow;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use layercake::commands::sides::{self, Environment, MergeBase, SideSelection};
use layercake::source::{ContentId, RepoPath, Tree};

use crate::git::{Site, add_submodule, describe_error};

/// Result of a run of `debug side`.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    /// The first lines: the chosen comparison, and the two sides.
    fn chosen(&self) -> Vec<&str> {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout.lines().take(3).collect()
    }

    fn code(&self) -> &str {
        let chosen = self.chosen()[0].strip_prefix("chosen: ");
        chosen.map_or("none", |chosen| chosen.split(':').next().unwrap())
    }

    /// Ids of the compared commits; for other sides, their names.
    fn sides(&self) -> [&str; 2] {
        let chosen = self.chosen();
        let side = |line: &'_ str| -> usize { line.find(' ').unwrap() + 1 };
        [1, 2].map(|at| {
            let side = &chosen[at][side(chosen[at])..];
            side.strip_prefix("commit ").unwrap_or(side)
        })
    }

    fn files(&self) -> Vec<String> {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout.lines().skip(3).map(str::to_owned).collect()
    }

    /// The error and its help; asserts that there is no other output.
    fn refusal(&self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        self.stderr
            .lines()
            .filter(|line| !line.starts_with("  caused by: "))
            .collect()
    }
}

const NOWHERE: [(&str, &str); 0] = [];

fn side(site: &Site, arguments: &[&str]) -> Ran {
    side_in(&site.root, arguments, NOWHERE)
}

fn side_in<V: AsRef<std::ffi::OsStr>>(
    folder: &Path,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (&'static str, V)>,
) -> Ran {
    let mut command = Command::new(program());
    command
        .args(["debug", "side"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(variables);
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_layercake")
}

fn id(site: &Site, revision: &str) -> String {
    site.git(&["rev-parse", revision]).trim().to_owned()
}

/// Files of a commit, according to git.
fn in_commit(site: &Site, revision: &str) -> Vec<String> {
    let listed = site.git(&["ls-tree", "-r", "-z", revision]);
    sorted(listed.split_terminator('\0').map(|line| {
        let (entry, path) = line.split_once('\t').unwrap();
        let words: Vec<&str> = entry.split(' ').collect();
        if words[1] == "commit" {
            format!("- {path}")
        } else {
            format!("{} {path}", words[2])
        }
    }))
}

/// Files of the index, according to git.
fn in_index(site: &Site) -> Vec<String> {
    let listed = site.git(&["ls-files", "--stage", "-z"]);
    sorted(listed.split_terminator('\0').map(|line| {
        let (entry, path) = line.split_once('\t').unwrap();
        let words: Vec<&str> = entry.split(' ').collect();
        if words[0] == "160000" {
            format!("- {path}")
        } else {
            format!("{} {path}", words[1])
        }
    }))
}

fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_by(|one, other| {
        one.split_once(' ')
            .unwrap()
            .1
            .cmp(other.split_once(' ').unwrap().1)
    });
    lines
}

/// Two commits on `main`, and a third state on disk.
fn site() -> Site {
    let site = Site::new(&[]);
    site.write("site/a.yaml", "one\n");
    site.write("site/b.yaml", "b\n");
    site.commit();
    site.write("site/a.yaml", "two\n");
    site.commit();
    site
}

/// Files that need not be on disk are not deleted: git calls such a tree clean.
#[test]
fn files_outside_a_sparse_checkout_are_not_deleted() {
    let site = site();
    site.write("site/c/c.yaml", "c\n");
    site.write("other/d.yaml", "d\n");
    site.commit();
    let whole = side(&site, &["--since", "HEAD"]);
    assert_eq!(whole.files(), in_commit(&site, "HEAD"));

    site.git(&["update-index", "--skip-worktree", "site/a.yaml"]);
    fs::remove_file(site.path("site/a.yaml")).unwrap();
    assert_eq!(side(&site, &["--since", "HEAD"]), whole);
    site.write("site/a.yaml", "here all the same\n");
    assert_eq!(side(&site, &["--since", "HEAD"]), whole, "git ignores it");
    site.git(&["config", "core.sparseCheckout", "true"]);
    assert_ne!(side(&site, &["--since", "HEAD"]).files(), whole.files());
    site.git(&["update-index", "--no-skip-worktree", "site/a.yaml"]);
    site.git(&["checkout", "--quiet", "site/a.yaml"]);

    for arguments in [
        ["--cone", "--no-sparse-index"],
        ["--cone", "--sparse-index"],
    ] {
        site.git(&[
            "sparse-checkout",
            "set",
            arguments[0],
            arguments[1],
            "other",
        ]);
        assert!(!site.path("site").exists());
        assert_eq!(side(&site, &["--since", "HEAD"]), whole, "{arguments:?}");
        fs::remove_file(site.path("other/d.yaml")).unwrap();
        let files = side(&site, &["--since", "HEAD"]).files();
        assert_eq!(files.len(), whole.files().len() - 1);
        site.git(&["checkout", "--quiet", "other/d.yaml"]);
    }
}

/// Variables that `git --literal-pathspecs commit` and similar commands give to hooks.
#[test]
fn pathspec_variables_have_no_effect() {
    let site = site();
    site.write("site/a.yaml", "edited\n");
    site.write("other/c.yaml", "beside\n");
    let arguments = ["--since", "HEAD"];
    for folder in ["", "site"] {
        let folder = site.root.join(folder);
        let ran = side_in(&folder, &arguments, NOWHERE);
        assert!(!ran.files().is_empty());
        for variable in ["LITERAL", "GLOB", "NOGLOB", "ICASE"] {
            let variable: &'static str = format!("GIT_{variable}_PATHSPECS").leak();
            assert_eq!(
                side_in(&folder, &arguments, [(variable, "1")]),
                ran,
                "{variable}"
            );
        }
    }
}

/// git gives hooks the path of the git folder, and expects the current folder as working tree.
#[test]
fn git_folder_may_be_elsewhere() {
    for name in ["elsewhere", "around/.git"] {
        let site = site();
        let elsewhere = site.beside().join(name);
        fs::create_dir_all(&elsewhere).unwrap();
        site.git(&[
            "init",
            "--quiet",
            "--separate-git-dir",
            elsewhere.to_str().unwrap(),
        ]);
        site.write("site/a.yaml", "edited\n");
        for arguments in [&["--since", "HEAD"][..], &["--staged"]] {
            let ran = side(&site, arguments);
            assert!(!ran.files().is_empty());
            let named = side_in(&site.root, arguments, [("GIT_DIR", &elsewhere)]);
            assert_eq!(named, ran, "{name}");
        }
    }
}

#[test]
fn staged_bytes_are_those_of_the_index() {
    let site = site();
    site.write("site/a.yaml", "staged\n");
    site.write("site/new.yaml", "new\n");
    site.git(&["add", "--all"]);
    site.write("site/a.yaml", "unstaged\n");
    site.write("site/untracked.yaml", "untracked\n");
    fs::remove_file(site.path("site/b.yaml")).unwrap();

    let ran = side(&site, &["--staged"]);
    assert_eq!(ran.code(), "staged");
    assert_eq!(ran.chosen()[0], "chosen: staged: HEAD against the index");
    assert_eq!(ran.sides(), [&id(&site, "HEAD"), "the index"]);
    assert_eq!(ran.files(), in_index(&site));
    assert_eq!(ran.files().len(), 3);

    let tree = site.repository().index().unwrap();
    assert_eq!(tree.commit_id(), None);
    let read = |path: &str| tree.read(&RepoPath::new(path)).unwrap();
    assert_eq!(read("site/a.yaml"), b"staged\n");
    assert_eq!(read("site/b.yaml"), b"b\n");
    let below = tree.entries(&RepoPath::new("site")).unwrap();
    assert_eq!(below.len(), 3);
    assert_eq!(tree.entries(&RepoPath::new("sit")).unwrap(), []);
}

#[test]
fn index_agrees_with_git() {
    let site = site();
    for number in 0..40 {
        site.write(
            &format!("more/{}/{number}.yaml", number % 4),
            &format!("{number}\n"),
        );
    }
    site.commit();
    site.git(&["mv", "site/a.yaml", "site/renamed.yaml"]);
    site.git(&["rm", "--quiet", "site/b.yaml"]);
    site.write("a b/ä.yaml", "a\n");
    site.git(&["add", "--all"]);
    assert_eq!(side(&site, &["--staged"]).files(), in_index(&site));
    assert!(
        in_index(&site)
            .iter()
            .any(|line| line.ends_with(" site/renamed.yaml"))
    );

    // intent to add, without content yet
    site.write("later.yaml", "later\n");
    site.git(&["add", "--intent-to-add", "later.yaml"]);
    let mut expected = in_index(&site);
    expected.retain(|line| !line.ends_with(" later.yaml"));
    assert_eq!(side(&site, &["--staged"]).files(), expected);
    site.git(&["add", "later.yaml"]);
    site.commit();

    for version in ["4", "2"] {
        site.git(&["update-index", "--index-version", version]);
        assert_eq!(
            side(&site, &["--staged"]).files(),
            in_index(&site),
            "version {version}"
        );
    }
    site.git(&["update-index", "--split-index"]);
    assert_eq!(side(&site, &["--staged"]).files(), in_index(&site), "split");
    site.git(&["update-index", "--no-split-index"]);
    site.git(&["update-index", "--skip-worktree", "site/renamed.yaml"]);
    assert_eq!(
        side(&site, &["--staged"]).files(),
        in_index(&site),
        "skip-worktree"
    );
    let whole = in_commit(&site, "HEAD");
    for index in ["--no-sparse-index", "--sparse-index"] {
        site.git(&["sparse-checkout", "set", "--cone", index, "more/1"]);
        assert_eq!(side(&site, &["--staged"]).files(), whole, "{index}");
    }
}

#[test]
fn links_of_the_index_are_followed_in_the_index() {
    let site = site();
    let link = site.git(&["hash-object", "-w", "--stdin-paths"]);
    assert_eq!(link, "", "nothing was given to hash");
    site.write("target", "site/a.yaml");
    let link = site.git(&["hash-object", "-w", "target"]);
    let entry = format!("120000,{},link.yaml", link.trim());
    site.git(&["update-index", "--add", "--cacheinfo", &entry]);
    let tree = site.repository().index().unwrap();
    assert_eq!(tree.read(&RepoPath::new("link.yaml")).unwrap(), b"two\n");
    site.write("site/a.yaml", "staged\n");
    site.git(&["add", "site/a.yaml"]);
    let tree = site.repository().index().unwrap();
    assert_eq!(tree.read(&RepoPath::new("link.yaml")).unwrap(), b"staged\n");
}

#[test]
fn missing_index_counts_as_empty() {
    let site = site();
    fs::remove_file(site.path(".git/index")).unwrap();
    assert_eq!(in_index(&site), Vec::<String>::new());
    assert_eq!(side(&site, &["--staged"]).files(), in_index(&site));
    let index = site.beside().join("no-such-index");
    let ran = side_in(&site.root, &["--staged"], [("GIT_INDEX_FILE", index)]);
    assert_eq!(ran.files(), Vec::<String>::new());
}

#[test]
fn since_compares_with_the_merge_base() {
    let site = site();
    let fork = id(&site, "HEAD");
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("site/a.yaml", "topic\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("site/b.yaml", "main\n");
    site.commit();
    site.git(&["checkout", "--quiet", "topic"]);
    site.write("site/untracked.yaml", "untracked\n");

    let ran = side(&site, &["--since", "main"]);
    assert_eq!(
        ran.chosen()[0],
        "chosen: since: merge-base of main and HEAD against the working tree"
    );
    assert_eq!(ran.sides(), [fork.as_str(), "the working tree"]);
    assert_eq!(ran.files().len(), 3);
    let ran = side(&site, &["--since", "main", "--no-merge-base"]);
    assert_eq!(ran.sides(), [&id(&site, "main"), "the working tree"]);
    let ran = side(&site, &["--from", "main"]);
    assert_eq!(
        (ran.code(), ran.sides()),
        ("from-to", [&*id(&site, "main"), "the working tree"])
    );
    assert_eq!(side(&site, &["--from", "main", "--to", "worktree"]), ran);
    let ran = side(&site, &["--from", "main", "--to", "index"]);
    assert_eq!(
        (ran.sides()[1], ran.files()),
        ("the index", in_index(&site))
    );
    let ran = side(&site, &["--from", "main", "--to", "HEAD~1"]);
    assert_eq!(
        (ran.sides()[1], ran.files()),
        (&*fork, in_commit(&site, "HEAD~1"))
    );
    assert_eq!(side(&site, &[]).stdout, "no comparison\n");
}

#[test]
fn sides_are_the_same_from_any_folder() {
    let site = site();
    site.write("site/a.yaml", "staged\n");
    site.git(&["add", "--all"]);
    for arguments in [&["--staged"][..], &["--since", "HEAD~1"], &["--auto"]] {
        let expected = side(&site, arguments);
        assert_eq!(expected.files().len(), 2);
        assert_eq!(side_in(&site.path("site"), arguments, NOWHERE), expected);
        let root = site.root.display().to_string();
        let mut command = Command::new(program());
        command
            .args(["-C", &root, "debug", "side"])
            .args(arguments)
            .current_dir("/");
        let output = command.env_clear().output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected.stdout);
    }
}

#[test]
fn linked_worktrees_have_an_index_of_their_own() {
    let site = site();
    let linked = site.beside().join("linked");
    site.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    fs::write(linked.join("site/a.yaml"), "linked\n").unwrap();
    site.git(&["-C", linked.to_str().unwrap(), "add", "--all"]);
    let ran = side_in(&linked, &["--staged"], NOWHERE);
    let staged = site.git(&["-C", linked.to_str().unwrap(), "rev-parse", ":site/a.yaml"]);
    assert!(
        ran.files()
            .contains(&format!("{} site/a.yaml", staged.trim())),
        "{ran:?}"
    );
    assert_eq!(side(&site, &["--staged"]).files(), in_index(&site));
    assert_ne!(side(&site, &["--staged"]).files(), ran.files());
}

#[test]
fn bare_repositories_compare_commits_only() {
    let site = site();
    let bare = site.clone_to("bare.git", &["--bare"]);
    let ran = side(&bare, &["--from", "HEAD~1", "--to", "HEAD"]);
    assert_eq!(ran.sides(), [id(&site, "HEAD~1"), id(&site, "HEAD")]);
    assert_eq!(ran.files(), in_commit(&site, "HEAD"));
    for arguments in [
        &["--staged"][..],
        &["--since", "HEAD~1"],
        &["--from", "HEAD"],
        &["--auto"],
    ] {
        let refusal = side(&bare, arguments).refusal();
        assert!(refusal.contains("bare repository"), "{refusal}");
        assert!(
            refusal.ends_with("compare two revisions: `--from REV --to REV`"),
            "{refusal}"
        );
    }
    let error = bare.repository().index().err().unwrap();
    assert!(describe_error(&error).contains("no index"), "{error}");
}

#[test]
fn submodules_are_listed_and_not_entered() {
    let (inner, site) = (site(), site());
    let url = inner.root.display().to_string();
    site.git(&add_submodule(&url, "module"));
    let ran = side(&site, &["--staged"]);
    assert_eq!(ran.files(), in_index(&site));
    assert!(ran.files().contains(&"- module".to_owned()));
}

#[test]
fn sha256_repositories_are_compared() {
    let site = Site::new(&["--object-format=sha256"]);
    site.write("a.yaml", "one\n");
    site.commit();
    site.write("a.yaml", "two\n");
    site.commit();
    site.git(&["checkout", "--quiet", "-b", "topic", "HEAD~1"]);
    site.write("a.yaml", "three\n");
    site.git(&["add", "--all"]);
    let ran = side(&site, &["--staged"]);
    assert_eq!(ran.files(), in_index(&site));
    assert_eq!(ran.files()[0].len(), 64 + " a.yaml".len());
    let ran = side(&site, &["--since", "main"]);
    assert_eq!(ran.sides(), [&id(&site, "main~1"), "the working tree"]);
    assert_eq!(
        ran.files(),
        in_index(&site),
        "read from disk, with git's ids"
    );
}

#[test]
fn files_on_disk_are_identified_by_content() {
    let site = site();
    let contents = |tree: &dyn Tree| -> BTreeMap<RepoPath, Option<ContentId>> {
        let entries = tree.entries(&RepoPath::new("")).unwrap().into_iter();
        let content = |path: &RepoPath| tree.content_of(&tree.read(path).unwrap());
        entries
            .map(|entry| (entry.path.clone(), entry.content.or(content(&entry.path))))
            .collect()
    };
    assert_eq!(contents(&site.work_tree()), contents(&site.head()));
    site.write("site/a.yaml", "changed\n");
    let (on_disk, stored) = (contents(&site.work_tree()), contents(&site.head()));
    let path = RepoPath::new("site/a.yaml");
    assert_ne!(on_disk[&path], stored[&path]);
    let hash = site.git(&["hash-object", "site/a.yaml"]);
    assert_eq!(on_disk[&path].unwrap().to_string(), hash.trim());
    let folder = layercake::source::WorkTree::in_folder(site.root.clone()).unwrap();
    assert_eq!(
        folder.content_of(b"changed\n"),
        None,
        "a folder outside of git has no ids"
    );
}

#[test]
fn contradictory_flags_are_refused() {
    let site = site();
    let revision = || Some("HEAD".to_owned());
    let wrong = [
        SideSelection {
            since: revision(),
            staged: true,
            ..SideSelection::default()
        },
        SideSelection {
            since: revision(),
            auto: true,
            ..SideSelection::default()
        },
        SideSelection {
            from: revision(),
            since: revision(),
            ..SideSelection::default()
        },
        SideSelection {
            staged: true,
            auto: true,
            ..SideSelection::default()
        },
        SideSelection {
            to: revision(),
            ..SideSelection::default()
        },
        SideSelection {
            to: revision(),
            staged: true,
            ..SideSelection::default()
        },
        SideSelection {
            merge_base: MergeBase::Skip,
            ..SideSelection::default()
        },
        SideSelection {
            merge_base: MergeBase::Skip,
            auto: true,
            ..SideSelection::default()
        },
    ];
    for wanted in wrong {
        let chosen = sides::choose(&site.repository(), &wanted, &Environment::default());
        let error = chosen.err().unwrap_or_else(|| panic!("{wanted:?}"));
        assert_eq!(error.kind(), layercake::error::ErrorKind::Usage);
    }
    for flags in [
        "--since HEAD --staged",
        "--from HEAD --auto",
        "--to HEAD",
        "--no-merge-base",
    ] {
        let arguments: Vec<&str> = flags.split(' ').collect();
        assert_eq!(side(&site, &arguments).code, 2, "{flags}");
    }
}

#[test]
fn nothing_is_written() {
    let site = site();
    site.git(&["branch", "topic", "HEAD~1"]);
    site.write("site/a.yaml", "on disk\n");
    // state for which git would refresh its index
    site.write("site/b.yaml", "b\n");
    let before = everything(&site.root);
    assert!(before.len() > 20);
    for arguments in [
        &["--staged"][..],
        &["--since", "topic"],
        &["--from", "HEAD~1", "--to", "HEAD"],
        &["--auto"],
        &["--since", "nosuch"],
    ] {
        let _ = side(&site, arguments);
        assert!(everything(&site.root) == before, "{arguments:?}");
    }
}

/// Bytes of every file, including the repository's own.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files
        .map(|file| (file.path().to_owned(), fs::read(file.path()).unwrap()))
        .collect()
}
