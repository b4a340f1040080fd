//! Pins: their forms, what replaces them, and what is reported of them.

use serde_json::{Value as Json, json};

use super::{Pinned, URL, is_root_error, marked, places, versions};
use crate::cli::{definition, document};

#[test]
fn pin_may_be_any_name_of_a_commit() {
    let pinned = Pinned::new();
    let origin = &pinned.global;
    let id = origin.git(&["rev-parse", "v1"]).trim().to_owned();
    origin.git(&["tag", "--annotate", "--message=first", "annotated", "v1"]);
    origin.git(&["branch", "release/1", "v1"]);
    origin.git(&["update-ref", "refs/changes/01/1/1", "v1"]);
    let clone = pinned.sites.beside("clone").display().to_string();
    pinned.sites.git(&[
        "clone",
        "--quiet",
        &origin.root.display().to_string(),
        &clone,
    ]);
    pinned.sites.git(&[
        "-C",
        &clone,
        "fetch",
        "--quiet",
        "origin",
        "refs/changes/*:refs/changes/*",
    ]);
    for name in [
        "v1",
        "refs/tags/v1",
        "annotated",
        &id,
        &id[..7],
        // A branch that exists only in the remote.
        "release/1",
        "origin/release/1",
        "refs/changes/01/1/1",
        "v3~2",
    ] {
        // Quoted, since an id may consist of digits only.
        pinned.pin("lab", &format!("'{name}'"));
        assert_eq!(
            pinned.versions(&format!("global={clone}")),
            "lab=1 prod=2",
            "{name}"
        );
    }
}

#[test]
fn without_a_pin_the_checked_out_files_are_read() {
    let pinned = Pinned::new();
    let given = pinned.given();
    pinned.define("lab", "");
    assert_eq!(pinned.versions(&given), "lab=3 prod=2");
    pinned.write_version(9);
    assert_eq!(
        pinned.versions(&given),
        "lab=9 prod=2",
        "edits that are not committed count"
    );
    pinned
        .sites
        .write("site/lab/site-definition.yaml", definition("lab", ""));
    assert_eq!(
        pinned.versions(&given),
        "lab=9 prod=2",
        "without `repositories`, all are used"
    );
    pinned.sites.write(
        "site/lab/site-definition.yaml",
        definition("lab", "  repositories: {}\n"),
    );
    assert_eq!(pinned.versions(&given), "lab= prod=2");
}

#[test]
fn given_revision_replaces_every_pin() {
    let pinned = Pinned::new();
    let given = pinned.given();
    pinned.write_version(9);
    for (revision, expected) in [
        ("", "lab=1 prod=2"),
        ("@v1", "lab=1 prod=1"),
        ("@HEAD", "lab=3 prod=3"),
        ("@worktree", "lab=9 prod=9"),
    ] {
        assert_eq!(
            pinned.versions(&format!("{given}{revision}")),
            expected,
            "{revision}"
        );
    }
    pinned.define("lab", "");
    pinned.pin("prod", "nosuch");
    assert_eq!(
        pinned.versions(&format!("{given}@v1")),
        "lab=1 prod=1",
        "no pin is read"
    );
}

#[test]
fn unknown_pin_is_one_error_at_its_location() {
    let pinned = Pinned::new();
    pinned.pin("prod", "nosuch");
    for pin in [
        "nosuch",
        "v1..v2",
        "HEAD:global/release.yaml",
        "v1^{tree}",
        "0123456789012345678901234567890123456789",
        "refs/heads/nosuch",
    ] {
        pinned.pin("lab", pin);
        let findings = pinned.errors(&pinned.given());
        let expected = ["lab", "prod"]
            .map(|site| format!("missing-revision site/{site}/site-definition.yaml:13"));
        assert_eq!(places(&findings), expected, "{pin}");
        for (finding, (site, pin)) in findings.iter().zip([("lab", pin), ("prod", "nosuch")]) {
            assert_eq!(marked(&pinned.sites.root, finding), pin);
            assert_eq!(finding["sites"], json!([site]));
            assert_eq!(finding["severity"], "error");
            assert!(finding["help"].is_string(), "{finding:#}");
        }
    }
}

#[test]
fn non_string_pin_is_one_error_at_its_location() {
    let pinned = Pinned::new();
    for pin in ["1.9", "[v1]", "{v1: v2}", "true"] {
        pinned.pin("lab", pin);
        let findings = pinned.errors(&pinned.given());
        let of_lab: Vec<Json> = findings
            .into_iter()
            .filter(|it| it["sites"] == json!(["lab"]))
            .collect();
        assert_eq!(
            places(&of_lab),
            ["missing-revision site/lab/site-definition.yaml:13"],
            "{pin}"
        );
        assert_eq!(marked(&pinned.sites.root, &of_lab[0]), pin);
    }
}

#[test]
fn missing_repository_is_one_error_for_all_sites() {
    let pinned = Pinned::new();
    let ran = pinned.sites.run(&["lint", "-o", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = ran.json();
    let mut roots = report["findings"].as_array().unwrap().clone();
    roots.retain(is_root_error);
    let place = "missing-repository site/lab/site-definition.yaml:11";
    assert_eq!(places(&roots), [place], "{report:#}");
    assert_eq!(roots[0]["sites"], json!(["lab", "prod"]));
    assert_eq!(report["totals"]["findings"]["errors"], 1);
    assert_eq!(marked(&pinned.sites.root, &roots[0]), "global");
}

#[test]
fn two_names_may_share_a_clone() {
    let pinned = Pinned::new();
    let path = pinned.global.root.display().to_string();
    // A branch with documents that no other branch has.
    pinned
        .global
        .git(&["checkout", "--quiet", "--orphan", "other"]);
    pinned.global.git(&["rm", "-r", "--quiet", "--force", "."]);
    pinned.global.write(
        "global/other.yaml",
        document("other", "global", "{version: 8}"),
    );
    pinned.global.commit();
    let names = |second: &str| {
        let more = format!(
            "  repositories:\n    global: {{url: {URL}, revision: v1}}\n    more: {{url: {URL}, \
             revision: {second}}}\n"
        );
        pinned
            .sites
            .write("site/lab/site-definition.yaml", definition("lab", &more));
    };
    let given = [
        "--repository",
        &format!("global={path}"),
        "--repository",
        &format!("more={path}"),
    ];
    let run = |arguments: &[&str]| {
        pinned
            .sites
            .run(&[arguments, &["--site", "lab", "--fail-on", "never"], &given].concat())
    };
    names("other");
    for (name, expected) in [("release", "lab=1"), ("other", "lab=8")] {
        assert_eq!(
            versions(&run(&["render", "--format", "json", "--name", name])),
            expected
        );
    }
    names("v2");
    let report = run(&["lint", "-o", "json", "--select", "duplicate-document"]).json();
    let findings = report["findings"].as_array().unwrap();
    let release = findings
        .iter()
        .find(|it| it["documents"][0]["name"] == "release");
    assert_eq!(
        files(release.unwrap()),
        ["global:global/release.yaml", "more:global/release.yaml"]
    );
}

/// As in Pegleg, the first repository is read before the others.
#[test]
fn file_in_two_repositories_is_a_duplicate() {
    let pinned = Pinned::new();
    let file = "global/release.yaml";
    pinned
        .sites
        .write(file, document("release", "global", "{version: 0}"));
    pinned
        .sites
        .write("type/small/own.yaml", document("own", "type", "{}"));
    let findings = pinned.errors(&pinned.given());
    let duplicates: Vec<Vec<String>> = findings
        .iter()
        .filter(|it| it["rule"] == "duplicate-document")
        .map(files)
        .collect();
    assert!(!duplicates.is_empty(), "{findings:#?}");
    for files in duplicates {
        assert_eq!(files, [file.to_owned(), format!("global:{file}")]);
    }
}

/// Files of a finding, sorted.
fn files(finding: &Json) -> Vec<String> {
    let related = finding["related"].as_array().unwrap().iter();
    let labels = std::iter::once(&finding["primary"]).chain(related);
    let mut files: Vec<String> = labels
        .map(|label| label["file"].as_str().unwrap().to_owned())
        .collect();
    files.sort();
    files.dedup();
    files
}

#[test]
fn moved_pin_reports_the_edits_between_its_revisions() {
    let pinned = Pinned::new();
    pinned.pin("lab", "v3");
    let report = pinned.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
    let edits = report["edits"].as_array().unwrap().iter().map(|edit| {
        let at = ["head", "base"].map(|side| edit["at"][side]["file"].as_str());
        let texts = ["before", "after"].map(|side| edit[side]["text"].as_str().unwrap_or("-"));
        let place = at[0].or(at[1]).unwrap();
        format!(
            "{place} {} {}",
            edit["path"].as_str().unwrap(),
            texts.join(">")
        )
    });
    let mut edits: Vec<String> = edits.collect();
    edits.sort();
    assert_eq!(
        edits,
        [
            "global:global/broken.yaml . ->-",
            "global:global/chart.yaml .image chart:1>chart:3",
            "global:global/chart.yaml .replicas 1>3",
            "global:global/new-2.yaml . ->-",
            "global:global/new-3.yaml . ->-",
            "global:global/release.yaml .version 1>3",
            "site/lab/site-definition.yaml .repositories.global.revision v1>v3",
        ]
    );
    let edit_of = |path: &str| {
        report["edits"]
            .as_array()
            .unwrap()
            .iter()
            .find(|edit| edit["path"] == path)
            .unwrap()
    };
    assert_eq!(edit_of(".version")["reach"]["sites"], json!(["lab"]));
    let shields = report["shields"].as_array().unwrap().iter();
    let shields: Vec<&Json> = shields
        .filter(|it| it["document"]["name"] == "chart")
        .collect();
    assert_eq!(shields.len(), 1, "{report:#}");
    assert_eq!(shields[0]["edit"], edit_of(".replicas")["id"]);
    assert_eq!(shields[0]["by"]["file"], "site/lab/chart.yaml");
    let ran = pinned.run(&["lint", "--since", "HEAD", "-o", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = ran.json();
    let new = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["state"] == "new");
    assert!(
        new.clone().any(|it| it["rule"] == "missing-source"),
        "{report:#}"
    );
    assert!(
        new.clone().all(|it| it["sites"] == json!(["lab"])),
        "{report:#}"
    );
}

#[test]
fn staged_pin_is_read_from_the_index() {
    let pinned = Pinned::new();
    let version = |sides: &[&str]| {
        let run = [&["diff", "-o", "json"], sides].concat();
        let report = pinned.run(&run).json();
        assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
        let edits = report["edits"].as_array().unwrap().iter();
        let edit = edits.clone().find(|edit| edit["path"] == ".version");
        edit.map(|edit| ["before", "after"].map(|side| edit[side]["value"].as_u64().unwrap()))
    };
    pinned.pin("lab", "v2");
    pinned.sites.git(&["add", "--all"]);
    pinned.pin("lab", "v3");
    assert_eq!(version(&["--staged"]), Some([1, 2]));
    assert_eq!(version(&["HEAD"]), Some([1, 3]));
    assert_eq!(version(&["--from", "HEAD", "--to", "index"]), Some([1, 2]));
    pinned.pin("lab", "nosuch");
    pinned.sites.git(&["add", "--all"]);
    pinned.pin("lab", "v1");
    assert_eq!(version(&["HEAD"]), None);
    let report = pinned.run(&["lint", "--staged", "-o", "json"]).json();
    let mut new = report["findings"].as_array().unwrap().clone();
    new.retain(|it| it["state"] == "new" && is_root_error(it));
    assert_eq!(
        places(&new),
        ["missing-revision site/lab/site-definition.yaml:13"]
    );
    assert_eq!(
        report["totals"]["fixed"], 0,
        "an unknown finding is not counted as fixed: {report:#}"
    );
}

#[test]
fn unreadable_pin_of_the_base_leaves_no_change_unexplained() {
    let pinned = Pinned::new();
    pinned.pin("lab", "nosuch");
    pinned.sites.commit();
    pinned.pin("lab", "v1");
    let report = pinned
        .run(&["lint", "--since", "HEAD", "--all-findings", "-o", "json"])
        .json();
    assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
    let mut fixed = report["findings"].as_array().unwrap().clone();
    fixed.retain(|it| it["state"] == "fixed" && is_root_error(it));
    assert_eq!(
        places(&fixed),
        ["missing-revision site/lab/site-definition.yaml:13"]
    );
}
