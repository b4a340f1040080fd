//! Ways to name a clone: flag, configuration and environment.

use super::{Pinned, RELEASE, URL, versions};
use crate::cli::{Ran, definition};

/// Files of a further repository have the names under which they are shown.
#[test]
fn files_of_further_repositories_can_be_passed_as_arguments() {
    let pinned = Pinned::new();
    let impact = pinned.run(&["impact", "global:global/chart.yaml:11"]);
    assert_eq!(impact.code, 0, "{impact:?}");
    assert!(
        impact.stdout.contains("global:global/chart.yaml:11"),
        "{impact:?}"
    );
    let lint = pinned.run(&["lint", "global:global", "-o", "concise"]);
    assert!(
        lint.code < 2 && lint.stdout.lines().all(|it| !it.starts_with("site/")),
        "{lint:?}"
    );
    for gone in ["global:global/nosuch.yaml", "global:nosuch"] {
        let ran = pinned.run(&["lint", gone]);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{gone}");
        assert!(ran.stderr.contains(gone), "{ran:?}");
    }
}

#[test]
fn clone_can_be_named_in_several_ways() {
    let pinned = Pinned::new();
    pinned.sites.git(&[
        "clone",
        "--quiet",
        &pinned.global.root.display().to_string(),
        "../clone",
    ]);
    let named = "repositories: {global: {path: ../clone}}\n";
    let by_url = format!("repositories: {{any: {{url: {URL}, path: ../clone}}}}\n");
    let revised = "repositories: {global: {path: ../clone, revision: v3}}\n";
    let elsewhere = "repositories: {global: {path: ../nowhere}}\n";
    let none = "";
    let flag = ["--repository", "global=../clone"];
    let flag_v1 = ["--repository", "global=../clone@v1"];
    let worktree = "repositories: {global: {path: ../clone, revision: worktree}}\n";
    let pins = "lab=1 prod=2";
    for (what, file, variable, flags, expected) in [
        ("flag", none, "", &flag[..], pins),
        ("name", named, "", &[], pins),
        ("url", &by_url, "", &[], pins),
        ("variable", none, "global=../clone", &[], pins),
        (
            "lines of it",
            none,
            "other=../clone\nglobal=../clone\n",
            &[],
            pins,
        ),
        ("revision in the file", revised, "", &[], "lab=3 prod=3"),
        (
            "working tree in the file",
            worktree,
            "",
            &[],
            "lab=3 prod=3",
        ),
        (
            "revision in the variable",
            none,
            "global=../clone@v3",
            &[],
            "lab=3 prod=3",
        ),
        ("flag above file", revised, "", &flag_v1, "lab=1 prod=1"),
        (
            "flag above variable",
            none,
            "global=../clone@v3",
            &flag,
            pins,
        ),
        (
            "flag above a path that is not there",
            elsewhere,
            "",
            &flag,
            pins,
        ),
        ("variable above file", revised, "global=../clone", &[], pins),
    ] {
        let _ = std::fs::remove_file(pinned.sites.path("layercake.yaml"));
        if !file.is_empty() {
            pinned.sites.write("layercake.yaml", file);
        }
        for folder in [".", "site/lab"] {
            // Paths of flags and of the variable are relative to the current folder.
            if folder != "." && !(variable.is_empty() && flags.is_empty()) {
                continue;
            }
            let mut command = pinned.sites.command(&[&RELEASE[..], flags].concat());
            command
                .env("LAYERCAKE_REPOSITORIES", variable)
                .current_dir(pinned.sites.path(folder));
            assert_eq!(
                versions(&Ran::of(&command.output().unwrap())),
                expected,
                "{what} {folder}"
            );
        }
    }
}

/// One entry serves every name that has its URL.
#[test]
fn url_selects_the_clone_for_every_name() {
    let pinned = Pinned::new();
    for (site, name, revision) in [("lab", "one", "v1"), ("prod", "two", "v2")] {
        let more = format!("  repositories:\n    {name}: {{url: '{URL}', revision: {revision}}}\n");
        pinned.sites.write(
            &format!("site/{site}/site-definition.yaml"),
            definition(site, &more),
        );
    }
    let path = pinned.global.root.display();
    let entry = format!("repositories: {{any: {{url: '{URL}', path: '{path}'}}}}\n");
    pinned.sites.write("layercake.yaml", entry);
    assert_eq!(versions(&pinned.sites.run(&RELEASE)), "lab=1 prod=2");
}
