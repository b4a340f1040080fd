//! Size of the output for typical changes of the largest public site repository: lines of the
//! terminal at 80 columns, bytes of the comment, with the cause first.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use super::corpus;
use crate::cli::Sandbox;
use crate::cli::screens::{Budget, Screens, USUAL};
use crate::support::sample::is_thorough;

const HEAD: &str = "v1.9";
const VERSIONS: &str = "global/software/config/versions.yaml";

/// A clone of the recorded repository at its head.
pub fn clone() -> Sandbox {
    let sandbox = Sandbox::outside_git();
    let bundle = corpus().join("treasuremap/treasuremap.bundle");
    let bundle = bundle.to_str().expect("the corpus has a path in Unicode");
    sandbox.git(&["clone", "--quiet", "--branch", HEAD, bundle, "."]);
    sandbox
}

/// Replaces the first occurrence of a string in a file.
pub(super) fn edit(sandbox: &Sandbox, path: &str, before: &str, after: &str) {
    let text = fs::read_to_string(sandbox.path(path)).expect("the file is there");
    assert!(text.contains(before), "{path} has `{before}`");
    sandbox.write(path, text.replacen(before, after, 1));
}

/// Copies a site under another name.
fn copy_site(sandbox: &Sandbox, site: &str, name: &str) {
    copy(
        &sandbox.path(&format!("site/{site}")),
        &sandbox.path(&format!("site/{name}")),
    );
    let definition = format!("site/{name}/site-definition.yaml");
    let text = fs::read_to_string(sandbox.path(&definition)).expect("a site has a definition");
    sandbox.write(
        &definition,
        text.replace(&format!("name: {site}"), &format!("name: {name}")),
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("an entry can be read");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a file can be copied");
        }
    }
}

#[test]
#[ignore = "needs the recorded corpus"]
fn image_in_forty_eight_lines_is_one_entry() {
    let sandbox = clone();
    let budget = Budget { lines: 60, ..USUAL };
    let screens = Screens::of_command(
        &sandbox,
        &[
            "lint",
            "--from",
            "HEAD~10",
            "--to",
            "HEAD~9",
            "--ignore",
            "certificates",
        ],
        &budget,
    );
    let (full, comment) = (&screens["full"], &screens["comment"]);
    assert!(
        full.contains("317 of 2158 outputs changed in all 6 sites"),
        "{full}"
    );
    assert!(
        full.contains("edits 1–48  global/software/config/versions.yaml"),
        "{full}"
    );
    let pair = "+ quay.io/airshipit/kubernetes-entrypoint:latest-ubuntu_focal";
    assert_eq!(full.matches(pair).count(), 1, "{full}");
    let first: Vec<&str> = comment.lines().take(15).collect();
    assert!(first.contains(&pair), "{comment}");
    let notices = screens["github"].matches("::notice ").count();
    assert_eq!(notices, 1, "{}", screens["github"]);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn typo_is_one_error_and_removes_nothing() {
    let sandbox = clone();
    edit(&sandbox, VERSIONS, "      shipyard:\n", "      shipyard\n");
    let screens = Screens::of(&sandbox, &USUAL, "invalid-yaml");
    let full = &screens["full"];
    assert!(
        full.starts_with("FAIL  1 new error: invalid YAML: "),
        "{full}"
    );
    assert!(full.contains("none of 6 sites can be deployed"), "{full}");
    assert_eq!(full.matches("error[").count(), 1, "{full}");
    assert_eq!(screens.json()["totals"]["by_status"]["removed"], 0);
    let errors = screens["github"]
        .lines()
        .filter(|it| it.starts_with("::error "))
        .count();
    assert_eq!(errors, 1, "{}", screens["github"]);
    // Without a comparison, the error that causes most others comes first.
    let alone = sandbox
        .run(&["lint", "-o", "json", "--ignore", "certificates"])
        .json();
    let findings = alone["findings"].as_array().expect("findings");
    let follow = findings
        .iter()
        .filter(|it| !it["because_of"].is_null())
        .count();
    assert!(follow > 20, "{follow}");
    let shown = sandbox.run(&["lint", "--ignore", "certificates"]).stdout;
    let error = shown
        .lines()
        .find(|line| line.starts_with("error["))
        .expect("an error");
    assert!(error.starts_with("error[invalid-yaml]"), "{shown}");
}

#[test]
#[ignore = "needs the recorded corpus"]
fn sites_that_come_and_go_are_one_row_each() {
    let sandbox = clone();
    copy_site(&sandbox, "airsloop", "harbor");
    let screens = Screens::of(&sandbox, &USUAL, "site harbor of type sloop added");
    let full = &screens["full"];
    assert!(
        full.contains("381 of 2539 outputs added in 1 of 7 sites"),
        "{full}"
    );
    assert_eq!(
        screens.json()["edits"].as_array().expect("edits").len(),
        1,
        "{full}"
    );
    assert!(
        screens["html"].len() <= 300_000,
        "{}",
        screens["html"].len()
    );
    sandbox.commit();
    fs::remove_dir_all(sandbox.path("site/harbor")).expect("the site exists");
    let screens = Screens::of(&sandbox, &USUAL, "site harbor of type sloop removed");
    let full = &screens["full"];
    assert!(
        full.contains("381 of 2539 outputs removed in 1 of 7 sites"),
        "{full}"
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn first_push_shows_the_current_state() {
    let sandbox = clone();
    sandbox.git(&["checkout", "--quiet", "--orphan", "first"]);
    let budget = Budget {
        lines: 450,
        ..USUAL
    };
    let screens = Screens::of_command(
        &sandbox,
        &["lint", "--staged", "--ignore", "certificates"],
        &budget,
    );
    let report = screens.json();
    for list in ["edits", "outputs", "groups", "shields"] {
        assert!(
            report[list].as_array().expect("a list").is_empty(),
            "{list}"
        );
    }
    let alone = sandbox
        .run(&["lint", "-o", "json", "--ignore", "certificates"])
        .json();
    assert_eq!(report["totals"]["findings"], alone["totals"]["findings"]);
    let state = "no base to compare with: the current state is checked";
    assert!(screens["full"].contains(state), "{}", screens["full"]);
    assert!(
        screens["full"].starts_with("FAIL  4 errors, 25 warnings, "),
        "{}",
        screens["full"]
    );
}

/// Four sites copied under other names, a thousand in total. Takes minutes.
#[test]
#[ignore = "needs the recorded corpus"]
fn thousand_sites_fit_a_screen() {
    if !is_thorough() {
        return;
    }
    let sandbox = clone();
    let sites = ["aiab", "airskiff", "airsloop", "seaworthy"];
    for at in 0..994 {
        let site = sites[at % sites.len()];
        copy_site(&sandbox, site, &format!("{site}-{at:04}"));
    }
    sandbox.commit();
    let image = "quay.io/airshipit/deckhand:";
    edit(&sandbox, VERSIONS, image, "quay.io/airshipit/other:");
    let one = Screens::of(&sandbox, &USUAL, "quay.io/airshipit/other:");
    assert!(one["full"].contains("of 1000 sites"), "{}", one["full"]);
    for _ in 0..11 {
        edit(
            &sandbox,
            VERSIONS,
            "quay.io/airshipit/",
            "registry.example.org/airshipit/",
        );
    }
    let budget = Budget {
        lines: 120,
        ..USUAL
    };
    let twelve = Screens::of_command(
        &sandbox,
        &["lint", "--since", "HEAD", "--ignore", "certificates"],
        &budget,
    );
    let report: Json = twelve.json();
    assert_eq!(report["edits"].as_array().expect("edits").len(), 12);
    assert!(
        twelve["json"].len() <= 2_000_000,
        "{}",
        twelve["json"].len()
    );
}
