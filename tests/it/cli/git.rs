//! Revisions, working trees and further repositories, and that nothing is ever written to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::{Sandbox, definition, document};

#[test]
fn revision_is_read_and_never_the_working_tree() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let rendered = sandbox.run(&["render"]);
    sandbox.break_site("lab");
    sandbox.write("type/small/dns.yaml", "---\na: [\n");
    fs::remove_file(sandbox.path("site/prod/only.yaml")).unwrap();
    sandbox.git(&["add", "--all"]);
    sandbox.write("site/lab/untracked.yaml", "---\na: [\n");
    assert_eq!(sandbox.run(&["lint"]).code, 1);
    assert_eq!(sandbox.run(&["lint", "--rev", "HEAD"]).code, 0);
    assert_eq!(sandbox.run(&["render", "--rev", "HEAD"]), rendered);
    fs::remove_dir_all(sandbox.path("site")).unwrap();
    assert_eq!(sandbox.run(&["render", "--rev", "main"]), rendered);

    sandbox.git(&["checkout", "--quiet", "HEAD", "."]);
    sandbox.break_site("lab");
    sandbox.commit();
    fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    assert_eq!(sandbox.run(&["lint", "--rev", "HEAD"]).code, 1);
    fs::remove_dir_all(sandbox.path("site/lab")).unwrap();
    for file in ["site/lab/broken.yaml", "site/lab", "site"] {
        assert_eq!(
            sandbox.run(&["lint", "--rev", "HEAD", file]).code,
            1,
            "{file}"
        );
    }
    assert_eq!(sandbox.run(&["lint", "--rev", "HEAD", "type"]).code, 0);
    let ran = sandbox.run(&["lint", "--rev", "HEAD", "site/lab/nosuch.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(sandbox.run(&["lint", "--rev", "HEAD~1"]).code, 0);
    let sites = sandbox.run(&["sites", "--rev", "HEAD~1"]);
    assert!(
        sites.stdout.contains("\nlab   small      5"),
        "{}",
        sites.stdout
    );
}

/// Neither git, nor any program that a repository or its configuration asks git to run.
#[cfg(unix)]
#[test]
fn no_program_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let (folder, marker) = (sandbox.beside("programs"), sandbox.beside("was-run"));
    fs::create_dir(&folder).unwrap();
    let program = folder.join("git");
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch '{}'\n", marker.display()),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for key in ["clean", "smudge", "process"] {
        sandbox.git(&["config", &format!("filter.planted.{key}"), program]);
    }
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "diff.planted.textconv",
    ] {
        sandbox.git(&["config", key, program]);
    }
    for hook in ["post-checkout", "post-index-change", "pre-commit"] {
        fs::copy(program, sandbox.path(".git/hooks").join(hook)).unwrap();
    }
    sandbox.break_site("lab");
    sandbox.write(".gitattributes", "* filter=planted diff=planted\n");
    for arguments in [
        &["lint"][..],
        &["lint", "--since", "HEAD"],
        &["lint", "--staged"],
        &["lint", "--auto"],
        &["diff", "HEAD"],
        &["render", "--rev", "HEAD"],
    ] {
        let mut command = sandbox.command(arguments);
        let path = std::env::join_paths([folder.as_path(), Path::new("/usr/bin")]).unwrap();
        assert!(
            command
                .env("PATH", path)
                .output()
                .unwrap()
                .status
                .code()
                .unwrap()
                < 2
        );
        assert!(!marker.exists(), "{arguments:?}");
    }
    // the planted program runs if git is called
    assert!(
        std::process::Command::new(program)
            .status()
            .unwrap()
            .success()
            && marker.exists()
    );
}

#[test]
fn untracked_files_count_and_ignored_ones_do_not() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.break_site("lab");
    assert_eq!(sandbox.rules(&[]), ["missing-source"]);
    sandbox.write(".gitignore", "broken.yaml\n");
    assert_eq!(sandbox.rules(&[]), Vec::<String>::new());
    sandbox.git(&["add", "--force", "site/lab/broken.yaml"]);
    assert_eq!(
        sandbox.rules(&[]),
        ["missing-source"],
        "tracked although ignored"
    );
}

#[test]
fn bare_repositories_are_read_at_a_revision() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    let bare = sandbox.beside("bare/repository.git");
    sandbox.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let of_bare = sandbox.run_in(&bare, &["lint", "--rev", "HEAD", "-o", "json"]);
    assert_eq!(
        of_bare,
        sandbox.run(&["lint", "--rev", "HEAD", "-o", "json"])
    );
    assert_eq!(of_bare.code, 1);
    let ran = sandbox.run_in(&bare, &["lint"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("--rev"), "{}", ran.stderr);
}

#[test]
fn linked_worktrees_are_repositories_like_others() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let linked = sandbox.beside("linked");
    sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    fs::write(linked.join("site/lab/broken.yaml"), super::broken()).unwrap();
    assert_eq!(sandbox.run(&["lint"]).code, 0);
    assert_eq!(sandbox.run_in(&linked, &["lint"]).code, 1);
    assert_eq!(sandbox.run_in(&linked, &["lint", "--rev", "HEAD"]).code, 0);
    assert_eq!(sandbox.run_in(&linked.join("site/lab"), &["lint"]).code, 1);
}

#[test]
fn results_are_the_same_from_any_folder() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write(
        "site/prod/twice.yaml",
        document("twice", "site", "{a: 1, a: 2}"),
    );
    sandbox.commit();
    let above = sandbox.beside(".");
    let root = sandbox.root.to_str().unwrap();
    for arguments in [
        &["lint", "-o", "json"][..],
        &["lint", "-o", "concise"],
        &["render", "--with-origin"],
        &["render", "--format", "json"],
        &["sites"],
        &["lint", "-o", "concise", "--rev", "HEAD"],
    ] {
        let expected = sandbox.run(arguments);
        assert!(!expected.stdout.is_empty());
        for folder in ["site/lab", "global", "type/small", "site"] {
            assert_eq!(
                sandbox.run_in(&sandbox.path(folder), arguments),
                expected,
                "{folder}"
            );
        }
        let given = [arguments, &["-C", root]].concat();
        assert_eq!(sandbox.run_in(&above, &given), expected);
        let given = [&["-C", "repository/site"], arguments].concat();
        assert_eq!(sandbox.run_in(&above, &given), expected);
    }
}

#[test]
fn site_repository_may_be_a_folder_of_a_repository() {
    let sandbox = Sandbox::new();
    let inner = Sandbox::with_sites();
    sandbox.write("README.md", "");
    copy(&inner.root, &sandbox.path("deep/sites"));
    sandbox.commit();
    let ran = sandbox.run(&["lint", "-C", "deep/sites"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        sandbox
            .run(&["lint", "-C", "deep/sites/site/lab", "--rev", "HEAD"])
            .code,
        0
    );
    let ran = sandbox.run(&[
        "render",
        "-C",
        "deep/sites",
        "--name",
        "dns",
        "--site",
        "lab",
    ]);
    assert!(
        ran.stdout
            .starts_with("---\n# lab · deep/sites/type/small/dns.yaml:1\n")
    );
}

#[test]
fn further_repositories_are_given_by_path_and_revision() {
    let sandbox = Sandbox::with_sites();
    let further = "  repositories:\n    base:\n      url: https://example.org/base\n      \
                   revision: v1\n";
    sandbox.write("site/lab/site-definition.yaml", definition("lab", further));
    let ran = sandbox.run(&["lint"]);
    assert!(
        ran.stdout.contains("[missing-repository]"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("--repository base="), "{}", ran.stdout);

    // A site that names none uses all that are given.
    let none = "  repositories: {}\n";
    sandbox.write("site/prod/site-definition.yaml", definition("prod", none));
    let base = Sandbox::new();
    let path = base.root.to_str().unwrap();
    base.write(
        "global/shared.yaml",
        document("shared", "global", "{version: 1}"),
    );
    base.commit();
    base.git(&["tag", "v1"]);
    base.write(
        "global/shared.yaml",
        document("shared", "global", "{version: 2}"),
    );
    base.write("site/lab/broken.yaml", super::broken());
    let rendered = |place: &str| {
        let given = format!("base={place}");
        let render = [
            "render",
            "--name",
            "shared",
            "--fail-on",
            "error",
            "--repository",
            &given,
        ];
        let ran = sandbox.run(&render);
        (ran.code, ran.stdout)
    };
    let (code, text) = rendered(&format!("{path}@worktree"));
    assert_eq!(code, 1, "the working tree, with its fault");
    assert!(
        text.contains("version: 2") && text.starts_with("---\n# lab · "),
        "{text}"
    );
    assert_eq!(
        text.matches("---\n").count(),
        1,
        "the other site does not name it"
    );
    for place in [path.to_owned(), format!("{path}@v1")] {
        let (code, text) = rendered(&place);
        assert_eq!(code, 0, "the pinned revision: {text}");
        assert!(text.contains("version: 1"), "{text}");
    }

    let lint = |given: &str| sandbox.run(&["lint", "--repository", given]);
    let ran = lint(&format!("base={path}@worktree"));
    assert!(
        ran.stdout.contains("base:site/lab/broken.yaml:9"),
        "{}",
        ran.stdout
    );
    for (given, said) in [
        (format!("base={path}@nosuch"), "nosuch"),
        ("base=nowhere".to_owned(), "nowhere"),
        ("base".to_owned(), "NAME=PATH"),
    ] {
        let ran = lint(&given);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{given}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn nothing_is_ever_written() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    sandbox.write(
        "site/lab/untracked.yaml",
        document("untracked", "site", "{}"),
    );
    sandbox.write(
        "site/prod/only.yaml",
        document("only", "site", "{of: another}"),
    );
    // state for which git would refresh its index
    let policy = fs::read(sandbox.path("global/policy.yaml")).unwrap();
    sandbox.write("global/policy.yaml", policy);
    let before = listing(sandbox.beside(".").as_path());
    assert!(
        before.len() > 40,
        "the repository's own files are listed too"
    );
    for arguments in [
        &["lint"][..],
        &["lint", "-o", "json", "--rev", "HEAD"],
        &["render", "--with-origin"],
        &["render", "--format", "json", "--rev", "HEAD"],
        &["sites"],
        &["sites", "--rev", "HEAD"],
        &["lint", "--set", "global"],
        &["debug", "parse"],
        &["lint", "--repository", "other=."],
        &["lint", "--rev", "nosuch"],
    ] {
        let _ = sandbox.run(arguments);
        assert_eq!(
            listing(sandbox.beside(".").as_path()),
            before,
            "{arguments:?}"
        );
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == ".git" => {}
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Size and modification time of every file and folder below `folder`.
fn listing(folder: &Path) -> BTreeMap<String, (u64, SystemTime)> {
    let entries = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap);
    entries
        .map(|entry| {
            let of = entry.metadata().unwrap();
            (
                entry.path().display().to_string(),
                (of.len(), of.modified().unwrap()),
            )
        })
        .collect()
}
