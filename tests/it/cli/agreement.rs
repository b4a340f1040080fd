//! Variables, settings and files that change what git compares: layercake compares the same, or
//! fails with an error that names them (docs/comparing.md has the table).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Ran, Sandbox, definition, document};
use crate::git::add_submodule;

type Variables<'v> = &'v [(&'v str, &'v str)];

/// Three commits, each of which edits a different file.
fn history() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    for (file, data) in [
        ("site/lab/only.yaml", "{of: two}"),
        ("site/prod/only.yaml", "{of: three}"),
    ] {
        sandbox.write(file, document("only", "site", data));
        sandbox.commit();
    }
    sandbox
}

fn edited_by_git(
    sandbox: &Sandbox,
    revisions: &[&str],
    variables: Variables<'_>,
) -> BTreeSet<String> {
    let mut command = Command::new("git");
    sandbox
        .scrub(&mut command)
        .current_dir(&sandbox.root)
        .envs(variables.iter().copied());
    let output = command
        .args(["diff", "--name-only"])
        .args(revisions)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let files = String::from_utf8(output.stdout).unwrap();
    files
        .lines()
        .filter(|file| file.ends_with(".yaml"))
        .map(str::to_owned)
        .collect()
}

fn diff(sandbox: &Sandbox, revisions: &[&str], variables: Variables<'_>) -> Ran {
    let mut command = sandbox.command(&[&["diff", "-o", "json"], revisions].concat());
    Ran::of(&command.envs(variables.iter().copied()).output().unwrap())
}

fn edited_files(ran: &Ran) -> BTreeSet<String> {
    assert!(ran.code < 2, "{ran:?}");
    let report = ran.json();
    let places = report["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| edit["at"].clone());
    let sides = places.flat_map(|at| ["base", "head"].map(|side| at[side]["file"].clone()));
    sides
        .filter_map(|file| file.as_str().map(str::to_owned))
        .collect()
}

#[track_caller]
fn assert_agrees(sandbox: &Sandbox, revisions: &[&str], variables: Variables<'_>) {
    let ran = diff(sandbox, revisions, variables);
    let expected = edited_by_git(sandbox, revisions, variables);
    assert_eq!(edited_files(&ran), expected, "{variables:?} {}", ran.stderr);
}

/// Asserts that the run fails with an error that contains all of `named`.
#[track_caller]
fn assert_refused(ran: &Ran, named: &[&str]) {
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (2, ""),
        "{named:?} {ran:?}"
    );
    for text in named {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("help: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn git_dir_and_work_tree_variables_are_followed() {
    let (first, second) = (history(), history());
    second.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: second}"),
    );
    second.commit();
    first.write(
        "site/prod/only.yaml",
        document("only", "site", "{of: first}"),
    );
    let git_dir = second.path(".git").display().to_string();
    let work_tree = second.root.display().to_string();
    assert_agrees(&first, &["HEAD"], &[]);
    assert_agrees(&first, &["HEAD"], &[("GIT_DIR", &git_dir)]);
    assert_agrees(&first, &["HEAD"], &[("GIT_WORK_TREE", &work_tree)]);
    assert_agrees(
        &first,
        &["HEAD"],
        &[("GIT_DIR", &git_dir), ("GIT_WORK_TREE", &work_tree)],
    );
    assert_agrees(
        &first,
        &["HEAD"],
        &[("GIT_DIR", ".git"), ("GIT_WORK_TREE", &work_tree)],
    );
    assert_agrees(&first, &["HEAD"], &[("GIT_NAMESPACE", "other")]);
    assert_refused(
        &diff(&first, &["HEAD"], &[("GIT_DIR", "nowhere")]),
        &["GIT_DIR", "nowhere"],
    );
}

#[test]
fn unsupported_variables_are_refused_by_name() {
    let sandbox = history();
    for name in [
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_SHALLOW_FILE",
        "GIT_GRAFT_FILE",
        "GIT_ATTR_SOURCE",
        "GIT_IMPLICIT_WORK_TREE",
    ] {
        let ran = diff(&sandbox, &["HEAD"], &[(name, "somewhere")]);
        assert_refused(&ran, &[name, &format!("env -u {name}")]);
    }
    let ran = diff(
        &sandbox,
        &["HEAD"],
        &[("GIT_CONFIG_PARAMETERS", "core.bare")],
    );
    assert_refused(&ran, &["GIT_CONFIG_PARAMETERS"]);
}

#[test]
fn git_command_line_settings_are_followed() {
    let sandbox = history();
    let other = sandbox.beside("other");
    fs::create_dir_all(other.join("site/lab")).unwrap();
    let text = document("only", "site", "{of: other}");
    fs::write(other.join("site/lab/only.yaml"), text).unwrap();
    let replaced = sandbox.git(&["rev-parse", "HEAD~2"]);
    sandbox.git(&["replace", "HEAD~1", replaced.trim()]);
    for setting in [
        "'core.useReplaceRefs'='false'",
        "'core.useReplaceRefs=false'",
    ] {
        assert_agrees(
            &sandbox,
            &["HEAD~1", "HEAD"],
            &[("GIT_CONFIG_PARAMETERS", setting)],
        );
    }
}

#[test]
fn replacements_are_followed() {
    let sandbox = history();
    let first = sandbox.git(&["rev-parse", "HEAD~2"]);
    sandbox.git(&["replace", "HEAD~1", first.trim()]);
    for variables in [
        &[][..],
        &[("GIT_NO_REPLACE_OBJECTS", "1")],
        &[("GIT_REPLACE_REF_BASE", "refs/x/")],
    ] {
        assert_agrees(&sandbox, &["HEAD~1", "HEAD"], variables);
    }
    sandbox.git(&["config", "core.useReplaceRefs", "false"]);
    assert_agrees(&sandbox, &["HEAD~1", "HEAD"], &[]);
}

#[test]
fn grafts_are_refused() {
    let sandbox = history();
    let ids = sandbox
        .git(&["rev-parse", "HEAD", "HEAD~2"])
        .replace('\n', " ");
    sandbox.write(".git/info/grafts", "# a comment\n\n");
    assert_agrees(&sandbox, &["HEAD~1", "HEAD"], &[]);
    sandbox.write(".git/info/grafts", ids);
    let ran = diff(&sandbox, &["HEAD~1", "HEAD"], &[]);
    assert_refused(&ran, &["info/grafts", "git replace --convert-graft-file"]);
    sandbox.git(&["replace", "--convert-graft-file"]);
    assert_agrees(&sandbox, &["HEAD~1", "HEAD"], &[]);
}

#[test]
fn unknown_repository_formats_are_refused() {
    for (settings, named) in [
        (
            &[
                ("core.repositoryFormatVersion", "1"),
                ("extensions.whatever", "true"),
            ][..],
            "whatever",
        ),
        (&[("extensions.refStorage", "files")], "refStorage"),
        (
            &[("extensions.compatObjectFormat", "sha256")],
            "compatObjectFormat",
        ),
        (&[("core.repositoryFormatVersion", "2")], "2"),
        (&[("core.repositoryFormatVersion", "x")], ""),
        (&[("core.bare", "perhaps")], ""),
    ] {
        let sandbox = history();
        for (key, value) in settings {
            fs::write(
                sandbox.path(".git/config"),
                format!(
                    "{}[{}]\n\t{} = {value}\n",
                    fs::read_to_string(sandbox.path(".git/config")).unwrap(),
                    key.split_once('.').unwrap().0,
                    key.split_once('.').unwrap().1
                ),
            )
            .unwrap();
        }
        for arguments in [&["lint"][..], &["diff", "HEAD"], &["render"]] {
            let ran = sandbox.run(arguments);
            assert_eq!(ran.code, 2, "{settings:?} {ran:?}");
            assert!(ran.stderr.contains(named), "{settings:?} {}", ran.stderr);
        }
    }
}

#[test]
fn extensions_without_effect_are_accepted() {
    let sandbox = history();
    sandbox.git(&["config", "extensions.whatever", "true"]);
    assert_agrees(&sandbox, &["HEAD~1", "HEAD"], &[]);
    sandbox.git(&["config", "--unset", "extensions.whatever"]);
    sandbox.git(&["config", "core.repositoryFormatVersion", "1"]);
    for extension in ["noop", "preciousObjects", "worktreeConfig"] {
        sandbox.git(&["config", &format!("extensions.{extension}"), "true"]);
    }
    assert_agrees(&sandbox, &["HEAD~1", "HEAD"], &[]);
}

/// Each kind of damage ends in an error or in git's own result.
#[test]
fn damaged_control_files_are_errors() {
    let contents: [&[u8]; 6] = [
        b"zzz\n",
        b"",
        b"\0\xff\0\xff",
        b"ref: nowhere\n",
        b"\n\n# x\n^",
        b"1234567890123456789012345678901234567890 refs/heads/x\nzzz\n",
    ];
    let files = [
        "HEAD",
        "shallow",
        "packed-refs",
        "config",
        "info/attributes",
        "info/exclude",
        "index",
        "refs/heads/main",
        "objects/info/alternates",
        "objects/info/commit-graph",
        "objects/pack/multi-pack-index",
        "commondir",
        "gitdir",
    ];
    let sandbox = history();
    for file in files {
        let path = sandbox.path(".git").join(file);
        let before = fs::read(&path).ok();
        for content in contents {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            for arguments in [
                &["diff", "HEAD~1", "HEAD", "-o", "json"][..],
                &["lint", "--since", "main~1", "-o", "json"],
            ] {
                let ran = sandbox.run(arguments);
                let case = format!("{file} {content:?} {arguments:?}: {ran:?}");
                assert!(ran.code <= 2, "{case}");
                assert!(!ran.stderr.contains("panicked"), "{case}");
                if ran.code == 2 {
                    assert!(ran.stderr.starts_with("error: "), "{case}");
                } else {
                    assert_eq!(
                        edited_files(&ran),
                        ["site/prod/only.yaml".to_owned()].into(),
                        "{case}"
                    );
                }
            }
        }
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
}

#[test]
fn damaged_shallow_file_is_an_error() {
    let sandbox = history();
    sandbox.write(".git/shallow", "zzz\n");
    for arguments in [
        &["diff", "HEAD~1"][..],
        &["lint", "--since", "HEAD~1"],
        &["lint", "--auto"],
    ] {
        let ran = sandbox.run(arguments);
        assert_refused(&ran, &[".git/shallow` is damaged: line 1"]);
    }
}

#[test]
fn damaged_references_do_not_change_the_default_branch() {
    let origin = history();
    let clone = origin.beside("clone");
    origin.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    origin.git(&["-C", clone.to_str().unwrap(), "pack-refs", "--all"]);
    assert_eq!(origin.run_in(&clone, &["lint", "--auto"]).code, 0);
    let ran = |file: &str, content: &str| {
        let file = clone.join(".git").join(file);
        let before = fs::read(&file).unwrap();
        fs::write(&file, content).unwrap();
        let ran = origin.run_in(&clone, &["lint", "--auto"]);
        fs::write(&file, before).unwrap();
        ran
    };
    assert_refused(&ran("packed-refs", "zzz\n"), &["refs/"]);
    assert_refused(
        &ran("refs/remotes/origin/HEAD", "zzz\n"),
        &["refs/remotes/origin/HEAD"],
    );
}

#[test]
fn damaged_head_does_not_select_the_outer_repository() {
    let outer = history();
    let inner = outer.path("vendored");
    fs::create_dir(&inner).unwrap();
    outer.git(&["init", "--quiet", "vendored"]);
    fs::write(inner.join(".git/HEAD"), "zzz\n").unwrap();
    assert_refused(&outer.run_in(&inner, &["diff", "HEAD"]), &["vendored/.git"]);
    fs::remove_dir_all(inner.join(".git")).unwrap();
    for text in ["gitdir: nowhere\n", "zzz\n", ""] {
        fs::write(inner.join(".git"), text).unwrap();
        assert_refused(&outer.run_in(&inner, &["diff", "HEAD"]), &["vendored/.git"]);
    }
}

#[test]
fn files_are_compared_as_git_stores_them() {
    for (attributes, text) in [
        ("ident", document("only", "site", "{of: \"$Id$\"}")),
        ("text eol=crlf", document("only", "site", "{of: lines}")),
        (
            "working-tree-encoding=UTF-16",
            document("only", "site", "{of: encoded}"),
        ),
        (
            "working-tree-encoding=ISO-8859-1",
            document("only", "site", "{of: \u{e4}}"),
        ),
    ] {
        let sandbox = history();
        sandbox.write(
            ".gitattributes",
            format!("site/lab/only.yaml {attributes}\n"),
        );
        let plain = text.clone().into_bytes();
        let bytes = match attributes {
            "working-tree-encoding=UTF-16" => utf_16(&text),
            "working-tree-encoding=ISO-8859-1" => text.chars().map(|it| it as u8).collect(),
            _ => plain,
        };
        sandbox.write("site/lab/only.yaml", bytes);
        sandbox.commit();
        fs::remove_file(sandbox.path("site/lab/only.yaml")).unwrap();
        sandbox.git(&["checkout", "--quiet", "site/lab/only.yaml"]);
        let ran = diff(&sandbox, &["HEAD"], &[]);
        assert_eq!(edited_files(&ran), BTreeSet::new(), "{attributes} {ran:?}");
        let changed = document("only", "site", "{of: changed}");
        let changed = match attributes {
            "working-tree-encoding=UTF-16" => utf_16(&changed),
            _ => changed.into_bytes(),
        };
        sandbox.write("site/lab/only.yaml", changed);
        assert_agrees(&sandbox, &["HEAD"], &[]);
    }
}

fn utf_16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_be_bytes).collect()
}

#[test]
fn file_with_a_filter_is_unchanged_or_reported() {
    let sandbox = history();
    sandbox.git(&["config", "filter.shout.clean", "tr a-z A-Z"]);
    sandbox.git(&["config", "filter.shout.smudge", "tr A-Z a-z"]);
    sandbox.write(
        ".gitattributes",
        "site/lab/only.yaml filter=shout\nsite/prod/only.yaml filter=none\n",
    );
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: filtered}"),
    );
    sandbox.commit();
    fs::remove_file(sandbox.path("site/lab/only.yaml")).unwrap();
    sandbox.git(&["checkout", "--quiet", "site/lab/only.yaml"]);
    let ran = diff(&sandbox, &["HEAD"], &[]);
    assert_eq!(edited_files(&ran), BTreeSet::new(), "{ran:?}");
    sandbox.write(
        "site/prod/only.yaml",
        document("only", "site", "{of: without}"),
    );
    assert_agrees(&sandbox, &["HEAD"], &[]);
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: another text}"),
    );
    let ran = diff(&sandbox, &["HEAD"], &[]);
    assert_refused(&ran, &["site/lab/only.yaml", "filter `shout`"]);
    assert_eq!(
        sandbox.run(&["lint"]).code,
        0,
        "without a comparison, the working tree is read"
    );
}

#[test]
fn index_flags_are_followed() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let sandbox = history();
        sandbox.git(&["update-index", flag, "site/lab/only.yaml"]);
        sandbox.write(
            "site/lab/only.yaml",
            document("only", "site", "{of: unseen}"),
        );
        assert_agrees(&sandbox, &["HEAD"], &[]);
        fs::remove_file(sandbox.path("site/lab/only.yaml")).unwrap();
        assert_agrees(&sandbox, &["HEAD"], &[]);
    }
}

#[test]
fn all_index_formats_are_read() {
    for setting in [
        "core.splitIndex",
        "core.untrackedCache",
        "index.skipHash",
        "feature.manyFiles",
    ] {
        let sandbox = history();
        sandbox.git(&["config", setting, "true"]);
        sandbox.write(
            "site/lab/only.yaml",
            document("only", "site", "{of: staged}"),
        );
        sandbox.git(&["add", "--all"]);
        sandbox.git(&["update-index", "--refresh"]);
        assert_agrees(&sandbox, &["HEAD"], &[]);
        let staged = sandbox.run(&["diff", "--staged", "-o", "json"]);
        assert!(!staged.stderr.contains("panicked"), "{setting} {staged:?}");
        if staged.code < 2 {
            assert_eq!(
                edited_files(&staged),
                ["site/lab/only.yaml".to_owned()].into(),
                "{setting}"
            );
        }
    }
}

/// Files that make a folder a repository for git as well: `HEAD`, `objects`, `refs`.
fn embed(folder: &Path, config: &str) {
    fs::create_dir_all(folder.join("objects")).unwrap();
    fs::create_dir_all(folder.join("refs/heads")).unwrap();
    for file in ["objects/.keep", "refs/heads/.keep"] {
        fs::write(folder.join(file), "").unwrap();
    }
    fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(folder.join("config"), config).unwrap();
}

#[test]
fn committed_bare_repository_is_never_used() {
    let bare = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
    let with_tree = "[core]\n\tbare = false\n\tworktree = ../elsewhere\n[include]\n\tpath = ../x\n";
    for config in [bare, with_tree] {
        for folder in ["site", "site/lab", "deploy.git", "x/git", "site/lab/.git-x"] {
            let sandbox = history();
            embed(&sandbox.path(folder), config);
            for (file, text) in [("commondir", "../.."), ("gitdir", "../x"), ("index", "")] {
                fs::write(sandbox.path(folder).join(file), text).unwrap();
            }
            sandbox.git(&["add", "--all", "--force"]);
            sandbox.git(&["commit", "--quiet", "--message=embedded"]);
            sandbox.break_site("lab");
            let expected = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
            assert_eq!(expected.code, 1);
            for inside in [folder.to_owned(), format!("{folder}/refs/heads")] {
                let inside = sandbox.path(&inside);
                let ran = sandbox.run_in(&inside, &["lint", "--since", "HEAD", "-o", "json"]);
                assert_eq!(ran, expected, "{}", inside.display());
                let given = inside.to_str().unwrap();
                let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json", "-C", given]);
                assert_eq!(ran, expected, "{given}");
            }
        }
    }
}

#[test]
fn ceiling_directories_bound_discovery_as_in_git() {
    let sandbox = history();
    let root = sandbox.root.display().to_string();
    let site = format!("{root}/site");
    let above = sandbox.root.parent().unwrap().display().to_string();
    for (folder, ceiling) in [
        ("site/lab", &root),
        ("", &root),
        ("site/lab", &above),
        ("site/lab", &site),
        ("type/small", &site),
    ] {
        let folder = sandbox.path(folder);
        let mut git = Command::new("git");
        sandbox
            .scrub(&mut git)
            .env("GIT_CEILING_DIRECTORIES", ceiling)
            .current_dir(&folder);
        let by_git = git
            .args(["rev-parse", "HEAD"])
            .output()
            .unwrap()
            .status
            .success();
        let mut command = sandbox.command(&["diff", "HEAD"]);
        command
            .env("GIT_CEILING_DIRECTORIES", ceiling)
            .current_dir(&folder);
        let ran = Ran::of(&command.output().unwrap());
        assert_eq!(
            ran.code < 2,
            by_git,
            "{} {ceiling} {ran:?}",
            folder.display()
        );
    }
}

#[test]
fn ceiling_does_not_make_a_committed_bare_repository_usable() {
    let sandbox = history();
    embed(&sandbox.path("deploy"), "[core]\n\tbare = true\n");
    let root = sandbox.root.display().to_string();
    let mut command = sandbox.command(&["diff", "HEAD", "-C", "deploy/refs"]);
    let ran = Ran::of(
        &command
            .env("GIT_CEILING_DIRECTORIES", root)
            .output()
            .unwrap(),
    );
    assert_refused(&ran, &["is not inside a git repository"]);
}

#[test]
fn further_repository_may_be_bare() {
    let sandbox = history();
    embed(&sandbox.path("deploy"), "[core]\n\tbare = true\n");
    sandbox.git(&["add", "--all", "--force"]);
    sandbox.git(&["commit", "--quiet", "--message=embedded"]);
    let named = "  repositories:\n    base: {url: https://example.org/base, revision: main}\n";
    sandbox.write("site/lab/site-definition.yaml", definition("lab", named));
    let ran = sandbox.run(&["lint", "--repository", "base=deploy@main"]);
    assert!(
        ran.code < 2,
        "`main` is a branch of the outer repository: {ran:?}"
    );
}

#[test]
fn safe_bare_repository_is_honoured() {
    let sandbox = history();
    let bare = sandbox.beside("bare.git");
    sandbox.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    assert_eq!(sandbox.run_in(&bare, &["lint", "--rev", "HEAD"]).code, 0);
    fs::write(
        sandbox.beside(".gitconfig"),
        "[safe]\n\tbareRepository = explicit\n",
    )
    .unwrap();
    let ran = sandbox.run_in(&bare, &["lint", "--rev", "HEAD"]);
    assert_refused(&ran, &["safe.bareRepository", "GIT_DIR="]);
    let mut named = sandbox.command(&["lint", "--rev", "HEAD"]);
    let named = Ran::of(
        &named
            .current_dir(&bare)
            .env("GIT_DIR", ".")
            .output()
            .unwrap(),
    );
    assert_eq!(named.code, 0, "{named:?}");
}

#[cfg(unix)]
#[test]
fn repository_of_another_user_is_refused_as_in_git() {
    use std::os::unix::fs::chown;
    let sandbox = history();
    if chown(&sandbox.root, Some(4321), None).is_err() {
        return; // only root gives files away
    }
    let runs = |variables: Variables<'_>| {
        let mut git = Command::new("git");
        sandbox
            .scrub(&mut git)
            .current_dir(&sandbox.root)
            .envs(variables.iter().copied());
        let by_git = git
            .args(["rev-parse", "HEAD"])
            .output()
            .unwrap()
            .status
            .success();
        let ran = diff(&sandbox, &["HEAD~1", "HEAD"], variables);
        assert_eq!(ran.code < 2, by_git, "{variables:?} {ran:?}");
        ran
    };
    let config = |text: &str| fs::write(sandbox.beside(".gitconfig"), text).unwrap();
    let root = sandbox.root.display().to_string();
    assert_refused(
        &runs(&[]),
        &["belongs to another user", &format!("safe.directory {root}")],
    );
    assert_eq!(sandbox.run(&["lint"]).code, 2, "files are not read either");
    sandbox.git(&["-c", "safe.directory=*", "config", "safe.directory", "*"]);
    assert_refused(&runs(&[]), &["belongs to another user"]);
    let above = sandbox.root.parent().unwrap().display().to_string();
    for (text, is_safe) in [
        ("directory = *".to_owned(), true),
        (format!("directory = {root}"), true),
        (format!("directory = {above}/*"), true),
        (format!("directory = {above}"), false),
        ("directory = /elsewhere".to_owned(), false),
        ("directory = *\n\tdirectory =".to_owned(), false),
    ] {
        config(&format!("[safe]\n\t{text}\n"));
        assert_eq!(runs(&[]).code < 2, is_safe, "{text}");
    }
    config("");
    assert_eq!(runs(&[("SUDO_UID", "4321")]).code, 0);
    assert_eq!(runs(&[("SUDO_UID", "4322")]).code, 2);
    assert_eq!(
        runs(&[("GIT_CONFIG_PARAMETERS", "'safe.directory'='*'")]).code,
        0
    );
    let by_number = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
    ];
    assert_eq!(runs(&by_number).code, 0);
    let git_dir = sandbox.path(".git").display().to_string();
    assert_eq!(
        runs(&[("GIT_DIR", &git_dir)]).code,
        0,
        "naming it in `GIT_DIR` trusts it"
    );
}

#[test]
fn submodules_and_missing_files_are_reported() {
    let sandbox = history();
    let inner = history();
    let url = inner.root.display().to_string();
    for place in ["site/vendored", "global/more"] {
        sandbox.git(&add_submodule(&url, place));
    }
    sandbox.git(&["commit", "--quiet", "--message=submodules"]);
    let odd = |arguments: &[&str]| -> BTreeSet<String> {
        let findings = sandbox.findings(arguments);
        let odd = findings
            .iter()
            .filter(|finding| finding["rule"] == "unread-file");
        odd.map(|finding| {
            finding["primary"]["file"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
    };
    let both: BTreeSet<String> = ["global/more", "site/vendored"].map(str::to_owned).into();
    assert_eq!(odd(&[]), both);
    assert_eq!(odd(&["--rev", "HEAD"]), both);
    fs::remove_dir_all(sandbox.path("site/vendored")).unwrap();
    fs::create_dir(sandbox.path("site/vendored")).unwrap();
    assert_eq!(odd(&[]), both, "not yet fetched");
    fs::remove_dir(sandbox.path("site/vendored")).unwrap();
    assert_eq!(odd(&[]), both, "not even its folder");
    fs::remove_file(sandbox.path("type/small/dns.yaml")).unwrap();
    let with_file: BTreeSet<String> = both
        .into_iter()
        .chain(["type/small/dns.yaml".to_owned()])
        .collect();
    assert_eq!(odd(&[]), with_file);
    sandbox.git(&["rm", "--quiet", "type/small/dns.yaml"]);
    assert_eq!(odd(&[]).len(), 2);
}

#[test]
fn report_names_the_compared_repository_inside_a_nested_one() {
    let sandbox = history();
    let inner: PathBuf = sandbox.path("vendored");
    sandbox.git(&["clone", "--quiet", ".", "vendored"]);
    let ran = sandbox.run_in(&inner, &["diff", "HEAD~1", "HEAD"]);
    assert!(
        ran.stdout.contains("vendored (inside of `repository`)"),
        "{}",
        ran.stdout
    );
    sandbox.write(".gitignore", "vendored\n");
    let ran = sandbox.run_in(&inner, &["diff", "HEAD~1", "HEAD"]);
    assert!(!ran.stdout.contains("inside of"), "{}", ran.stdout);
}

/// Covers every format that names the sides, and the output of `report` for a saved report.
#[test]
fn comparison_of_a_nested_repository_names_its_path() {
    let sandbox = history();
    sandbox.git(&["clone", "--quiet", ".", "vendored/sites"]);
    sandbox.write(
        "vendored/sites/site/lab/only.yaml",
        document("only", "site", "{of: other}"),
    );
    let inner = sandbox.path("vendored/sites/site");
    let saved = sandbox.run_in(&inner, &["lint", "--since", "HEAD", "-o", "json"]);
    assert_eq!(saved.json()["repository"]["nested_at"], "vendored/sites");
    assert_eq!(
        edited_files(&saved),
        BTreeSet::from(["site/lab/only.yaml".to_owned()])
    );
    let text = sandbox.run_in(&inner, &["lint", "--since", "HEAD"]).stdout;
    assert!(text.contains("sites (inside of `repository`)"), "{text}");
    fs::write(sandbox.beside("saved.json"), &saved.stdout).unwrap();
    let file = sandbox.beside("saved.json").display().to_string();
    for format in ["full", "markdown", "comment", "html"] {
        let again = sandbox.run(&["report", &file, "-o", format]).stdout;
        assert!(again.contains("vendored/sites"), "{format}: {again}");
        assert!(
            again.contains("in the enclosing repository"),
            "{format}: {again}"
        );
    }
    let outer = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "json"])
        .json();
    assert_eq!(outer["repository"].get("nested_at"), None);
}

#[cfg(unix)]
#[test]
fn tracked_link_out_of_the_repository_is_not_followed() {
    use std::os::unix::fs::symlink;
    let (sandbox, other) = (history(), history());
    symlink(&other.root, sandbox.path("deploy")).unwrap();
    symlink("site", sandbox.path("inside")).unwrap();
    let ran = sandbox.run(&["lint", "-C", "deploy", "--since", "HEAD"]);
    assert_eq!(ran.code, 0, "a link of the user's own: {ran:?}");
    sandbox.commit();
    for folder in ["deploy", "deploy/site/lab"] {
        let ran = sandbox.run(&["lint", "-C", folder, "--since", "HEAD"]);
        assert_refused(
            &ran,
            &["deploy", "symbolic link that leads out of the repository"],
        );
    }
    assert_eq!(
        sandbox
            .run(&["lint", "-C", "inside", "--since", "HEAD"])
            .code,
        0
    );
}
