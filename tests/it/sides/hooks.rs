//! Real git hooks, with the variables that git sets in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Site, add_submodule, id, in_commit, in_index, program, side_in, site};

/// Installs `script` as the hook `name`. In it, `$side` runs the program, whose output is recorded
/// and whose exit code is that of the hook.
fn hook(site: &Site, name: &str, script: &str) {
    hook_in(".git", site, name, script);
}

fn hook_in(git_folder: &str, site: &Site, name: &str, script: &str) {
    let record = site.beside().join("record").display().to_string();
    let text = format!(
        "#!/bin/sh\nside='{} debug side'\n({script}) > '{record}' 2>&1\n",
        program()
    );
    let path = site.path(git_folder).join("hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Output of the hook, with the lines of files separate.
fn recorded(site: &Site) -> (Vec<String>, Vec<String>) {
    let text = fs::read_to_string(site.beside().join("record")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines.len() >= 3, "{text}");
    let files = lines.split_off(3);
    (lines, files)
}

#[test]
fn commit_hooks_see_the_committed_files() {
    let site = site();
    let commits: [(&str, &[&str]); 5] = [
        ("all", &["commit", "--quiet", "--all", "--message=all"]),
        (
            "one path",
            &["commit", "--quiet", "--message=path", "site/a.yaml"],
        ),
        (
            "included",
            &[
                "commit",
                "--quiet",
                "--message=i",
                "--include",
                "site/a.yaml",
            ],
        ),
        ("plain", &["commit", "--quiet", "--message=plain"]),
        (
            "amended",
            &["commit", "--quiet", "--amend", "--message=amended"],
        ),
    ];
    // the last one changes to another repository, as nested repositories do
    let scripts = [
        "$side --staged",
        "PRE_COMMIT=1 $side --auto",
        "cd site && $side --staged",
    ];
    let mut state = 0;
    for script in scripts {
        hook(&site, "pre-commit", script);
        for (kind, command) in commits {
            state += 1;
            site.write("site/staged.yaml", &format!("{state}\n"));
            site.git(&["add", "--all"]);
            site.write("site/a.yaml", &format!("a {state}\n"));
            site.write("site/b.yaml", &format!("b {state}\n"));
            site.write("untracked.yaml", "untracked\n");
            let head = id(&site, "HEAD");
            site.git(command);
            let (lines, files) = recorded(&site);
            assert_eq!(
                lines[1..],
                [format!("from: commit {head}"), "to: the index".into()]
            );
            assert_eq!(files, in_commit(&site, "HEAD"), "{kind}: {script}");
            site.git(&["reset", "--quiet", "--hard"]);
            fs::remove_file(site.path("untracked.yaml")).unwrap_or_default();
        }
    }
}

#[test]
fn hook_of_a_commit_that_only_deletes() {
    let site = site();
    hook(&site, "pre-commit", "$side --staged");
    site.git(&["rm", "--quiet", "site/b.yaml"]);
    site.git(&["commit", "--quiet", "--message=less"]);
    assert_eq!(recorded(&site).1, in_commit(&site, "HEAD"));
    assert_eq!(recorded(&site).1.len(), 1);
}

#[test]
fn hook_of_a_merge() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("site/b.yaml", "topic\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("site/a.yaml", "main\n");
    site.commit();
    hook(&site, "pre-merge-commit", "$side --staged");
    site.git(&["merge", "--quiet", "--no-edit", "topic"]);
    assert_eq!(recorded(&site).1, in_commit(&site, "HEAD"));
}

#[test]
fn hook_in_a_linked_worktree() {
    let site = site();
    let linked = site.beside().join("linked").display().to_string();
    site.git(&["worktree", "add", "--quiet", "-b", "topic", &linked]);
    hook(&site, "pre-commit", "$side --staged");
    fs::write(format!("{linked}/site/a.yaml"), "linked\n").unwrap();
    let tree = |site: &Site| in_commit(site, "topic");
    site.git(&[
        "-C",
        &linked,
        "commit",
        "--quiet",
        "--all",
        "--message=linked",
    ]);
    assert_eq!(recorded(&site).1, tree(&site));
    fs::write(format!("{linked}/site/a.yaml"), "again\n").unwrap();
    site.git(&[
        "-C",
        &linked,
        "commit",
        "--quiet",
        "--message=path",
        "site/a.yaml",
    ]);
    assert_eq!(recorded(&site).1, tree(&site));
}

/// git then sets `GIT_DIR`, but not the location of the working tree.
#[test]
fn hook_of_a_repository_with_a_separate_git_dir() {
    for (apart, script) in [
        ("apart", "$side --since HEAD"),
        ("around/.git", "$side --since HEAD"),
        ("apart", "cd site && $side --since HEAD"),
        ("around/.git", "cd site && $side --since HEAD"),
    ] {
        let site = site();
        hook(&site, "pre-commit", script);
        let apart = site.beside().join(apart);
        fs::create_dir_all(apart.parent().unwrap()).unwrap();
        fs::write(apart.parent().unwrap().join("stray.yaml"), "stray\n").unwrap();
        site.git(&[
            "init",
            "--quiet",
            "--separate-git-dir",
            &apart.display().to_string(),
        ]);
        site.write("site/a.yaml", "apart\n");
        site.git(&["commit", "--quiet", "--all", "--message=apart"]);
        let (lines, files) = recorded(&site);
        assert_eq!(lines[2], "to: the working tree", "{script}");
        assert_eq!(files, in_commit(&site, "HEAD"), "{script}");
    }
}

#[test]
fn hook_in_a_submodule() {
    let (inner, site) = (site(), site());
    let url = inner.root.display().to_string();
    site.git(&add_submodule(&url, "module"));
    for script in ["$side --since HEAD", "cd site && $side --since HEAD"] {
        hook_in(".git/modules/module", &site, "pre-commit", script);
        site.write("module/site/a.yaml", script);
        site.git(&[
            "-C",
            "module",
            "commit",
            "--quiet",
            "--all",
            "--message=inner",
        ]);
        let (lines, files) = recorded(&site);
        assert_eq!(lines[2], "to: the working tree");
        let names: Vec<&str> = files
            .iter()
            .filter_map(|line| line.split(' ').nth(1))
            .collect();
        assert_eq!(names, ["site/a.yaml", "site/b.yaml"], "{script}");
    }
}

#[test]
fn server_side_push_hooks() {
    let site = site();
    let remote = site.clone_to("remote.git", &["--bare"]);
    let url = remote.root.display().to_string();
    let script = "read -r from to _; $side --from $from --to $to";
    hook_in(".", &remote, "post-receive", script);
    site.write("site/a.yaml", "pushed\n");
    site.commit();
    site.git(&["push", "--quiet", &url, "main"]);
    let (lines, files) = recorded(&remote);
    let sides = ["HEAD~1", "HEAD"].map(|revision| id(&site, revision));
    assert_eq!(
        lines[1..],
        [
            format!("from: commit {}", sides[0]),
            format!("to: commit {}", sides[1])
        ]
    );
    assert_eq!(files, in_commit(&site, "HEAD"));

    hook_in(".", &remote, "pre-receive", script);
    site.write("site/a.yaml", "in quarantine\n");
    site.commit();
    assert!(site.try_git(&["push", "--quiet", &url, "main"]).is_err());
    let text = fs::read_to_string(remote.beside().join("record")).unwrap();
    assert!(text.contains("this clone has no such commit"), "{text}");
    assert!(
        text.contains("help: git quarantines pushed objects"),
        "{text}"
    );
}

#[test]
fn failing_hook_prevents_the_commit() {
    let site = site();
    hook(&site, "pre-commit", "$side --from nosuch");
    site.write("site/a.yaml", "refused\n");
    site.git(&["add", "--all"]);
    let before = id(&site, "HEAD");
    assert!(
        site.try_git(&["commit", "--quiet", "--message=refused"])
            .is_err()
    );
    let text = fs::read_to_string(site.beside().join("record")).unwrap();
    assert!(
        text.starts_with("error: unknown revision `nosuch`"),
        "{text}"
    );
    assert_eq!(id(&site, "HEAD"), before);
}

/// Without a previous commit, git compares with the empty tree.
#[test]
fn hook_of_the_very_first_commit() {
    for script in [
        "$side --staged",
        "PRE_COMMIT=1 $side --auto",
        "CI=1 PRE_COMMIT=1 $side --auto",
    ] {
        let site = Site::new(&[]);
        site.write("site/a.yaml", "a\n");
        site.write("untracked.yaml", "untracked\n");
        hook(&site, "pre-commit", script);
        site.git(&["add", "site"]);
        site.git(&["commit", "--quiet", "--message=first"]);
        let (lines, files) = recorded(&site);
        assert!(
            lines[0].ends_with("staged: nothing against the index"),
            "{lines:?}"
        );
        assert_eq!(lines[1..], ["from: nothing", "to: the index"]);
        assert_eq!(files, in_commit(&site, "HEAD"), "{script}");
    }
}

/// In a push of all commits, including the first one, pre-commit passes only the branch, and prek
/// the pushed commit. Neither need be checked out.
#[test]
fn push_of_all_commits_to_an_empty_remote() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("site/pushed.yaml", "pushed\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("site/staged.yaml", "staged\n");
    site.git(&["add", "--all"]);
    let pushed = id(&site, "topic");
    let of_prek = ("PRE_COMMIT_TO_REF", pushed.as_str());
    for branch in ["refs/heads/topic", &pushed] {
        for further in [
            &[][..],
            &[("CI", "true")],
            &[of_prek],
            &[of_prek, ("CI", "true")],
        ] {
            let push = [
                ("PRE_COMMIT", "1"),
                ("PRE_COMMIT_LOCAL_BRANCH", branch),
                ("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/topic"),
                ("PRE_COMMIT_REMOTE_NAME", "origin"),
                ("PRE_COMMIT_REMOTE_URL", "https://git.example.org/site.git"),
            ];
            let variables = push.into_iter().chain(further.iter().copied());
            let ran = side_in(&site.root, &["--auto"], variables);
            assert_eq!(ran.code(), "pre-commit-first-push");
            assert_eq!(ran.sides(), ["nothing", &pushed]);
            assert_eq!(ran.files(), in_commit(&site, "topic"));
        }
    }
}

/// pre-commit passes the input of git's pre-push hook in variables; the pushed branch need not be
/// checked out.
#[test]
fn push_of_a_branch_that_is_not_checked_out() {
    let site = site();
    let remote = site.clone_to("remote.git", &["--bare"]);
    site.git(&[
        "remote",
        "add",
        "origin",
        &remote.root.display().to_string(),
    ]);
    site.git(&["branch", "topic", "HEAD~1"]);
    site.git(&["push", "--quiet", "origin", "topic"]);
    site.git(&["checkout", "--quiet", "topic"]);
    site.write("site/pushed.yaml", "pushed\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    let script = "read -r _ to _ from; \
                  PRE_COMMIT=1 PRE_COMMIT_FROM_REF=$from PRE_COMMIT_TO_REF=$to $side --auto";
    hook(&site, "pre-push", script);
    site.git(&["push", "--quiet", "origin", "topic"]);
    let (lines, files) = recorded(&site);
    assert!(
        lines[0].starts_with("chosen: pre-commit-refs: "),
        "{lines:?}"
    );
    let (from, to) = (id(&site, "topic~1"), id(&site, "topic"));
    assert_eq!(
        lines[1..],
        [format!("from: commit {from}"), format!("to: commit {to}")]
    );
    assert_eq!(files, in_commit(&site, "topic"));
    assert_ne!(files, in_index(&site), "another branch is checked out");
}
