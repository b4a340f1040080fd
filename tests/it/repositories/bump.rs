//! `--bump`: the report is that of a commit which moves the pins, without the pins themselves.

use serde_json::Value as Json;

use super::Pinned;
use crate::cli::Ran;

/// Parts of a report that name the two sides, and the time that it took.
const HEADER: [&str; 3] = ["repository", "comparison", "timing_ms"];

/// Edits and changed outputs of a report, without those of the pins: document, place in the head,
/// number of outputs or status.
fn changes(report: &Json) -> Vec<String> {
    let is_pin = |row: &&Json| row["document"]["schema"] == "pegleg/SiteDefinition/v1";
    let rows = |list: &str| {
        report[list]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| !is_pin(row))
    };
    let edits = rows("edits").map(|it| {
        let reach = &it["reach"];
        format!(
            "{} {} {} {}",
            it["document"], it["at"]["head"], reach["outputs"], reach["untouched"]
        )
    });
    let outputs = rows("outputs").map(|it| {
        let sites = &report["site_sets"][id(&it["sites"])]["sites"];
        let names = sites
            .as_array()
            .unwrap()
            .iter()
            .map(|at| at.as_u64().unwrap() as usize);
        let names: Vec<String> = names
            .map(|at| report["sites"][at]["name"].to_string())
            .collect();
        format!("{} {} {names:?}", it["document"], it["status"])
    });
    let mut changes: Vec<String> = edits.chain(outputs).collect();
    changes.sort();
    changes
}

fn id(name: &Json) -> usize {
    name.as_str().unwrap()[1..].parse::<usize>().unwrap() - 1
}

/// A report without its header.
#[track_caller]
fn body(ran: &Ran) -> Json {
    assert!(ran.code < 2, "{ran:?}");
    let mut report: Json = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
    for part in HEADER {
        report[part] = Json::Null;
    }
    report
}

/// Two commits: in `before`, which is checked out, `lab` is at `v1` and `prod` at `v2`; in `main`,
/// both are at `to`.
fn bumped(to: &str) -> Pinned {
    let pinned = Pinned::new();
    for site in ["lab", "prod"] {
        pinned.pin(site, to);
    }
    pinned.sites.commit();
    pinned
        .sites
        .git(&["checkout", "--quiet", "-b", "before", "HEAD~1"]);
    pinned
}

#[test]
fn bump_is_reported_like_the_commit_that_makes_it() {
    let committed = ["--from", "before", "--to", "main", "-o", "json"];
    for to in ["v1", "v2", "v3"] {
        let pinned = bumped(to);
        let bump = ["--bump", &format!("global={to}"), "-o", "json"];
        for verb in [&["diff"][..], &["diff", "--verify-attribution"], &["lint"]] {
            for site in [&[][..], &["--site", "lab"]] {
                let asked = pinned.run(&[verb, &bump, site].concat());
                let made = pinned.run(&[verb, &committed, site].concat());
                assert_eq!(asked.code, made.code, "{verb:?} {to} {site:?}");
                let [asked, made] = [asked, made].map(|ran| body(&ran));
                assert_eq!(changes(&asked), changes(&made), "{verb:?} {to} {site:?}");
                let messages = |report: &Json| -> Vec<String> {
                    let findings = report["findings"].as_array().unwrap().iter();
                    findings
                        .map(|it| format!("{} {}", it["message"], it["primary"]))
                        .collect()
                };
                assert_eq!(messages(&asked), messages(&made), "{verb:?} {to} {site:?}");
                assert_eq!(
                    asked["totals"]["edits"],
                    asked["edits"].as_array().unwrap().len()
                );
                let pins = |row: &Json| row["document"]["schema"] == "pegleg/SiteDefinition/v1";
                assert!(
                    !asked["outputs"].as_array().unwrap().iter().any(pins),
                    "{asked:#}"
                );
            }
        }
        assert_eq!(
            pinned.sites.git(&["status", "--porcelain"]),
            "",
            "no file is written"
        );
    }
}

/// `A..B` compares two revisions of the repository, regardless of pins.
#[test]
fn two_revisions_are_compared_regardless_of_pins() {
    let pinned = Pinned::new();
    for revision in ["v1", "v3"] {
        for site in ["lab", "prod"] {
            pinned.pin(site, revision);
        }
        pinned.sites.commit();
    }
    let made = pinned.run(&["diff", "HEAD~1", "HEAD", "-o", "json"]);
    pinned.sites.git(&["checkout", "--quiet", "HEAD~2"]);
    let asked = pinned.run(&["diff", "--bump", "global=v1..v3", "-o", "json"]);
    let [asked, made] = [asked, made].map(|ran| changes(&body(&ran)));
    assert_eq!(asked, made);
    assert!(!asked.is_empty());
}

/// Uncommitted edits of the sites are on both sides.
#[test]
fn bump_uses_the_working_tree() {
    let pinned = bumped("v3");
    pinned
        .sites
        .write("site/lab/chart.yaml", super::child("{own: edited}"));
    let report = body(&pinned.run(&["diff", "--bump", "global=v3", "-o", "json"]));
    let edits = report["edits"].as_array().unwrap().iter();
    let is_of_chart = |edit: &&Json| edit["at"]["head"]["file"] == "site/lab/chart.yaml";
    assert!(!edits.clone().any(|edit| is_of_chart(&edit)), "{report:#}");
    // The edit removed the override of `replicas`.
    assert_eq!(report["shields"], serde_json::json!([]));
}

#[test]
fn gates_and_exit_codes_judge_a_bump() {
    let pinned = Pinned::new();
    pinned.pin("prod", "v1");
    for (arguments, code) in [
        (&["diff", "--bump", "global=v3"][..], 0),
        (&["diff", "--bump", "global=v3", "--exit-code"], 1),
        (&["diff", "--bump", "global=v1", "--exit-code"], 0),
        (&["diff", "--bump", "global=v3", "--expect-unchanged"], 1),
        (&["diff", "--bump", "global=v1", "--expect-unchanged"], 0),
        (&["diff", "--bump", "global=v3", "--max-sites", "1"], 1),
        // `v2` has a document that lacks its source.
        (&["lint", "--bump", "global=v2", "--site", "lab"], 1),
        (&["lint", "--bump", "global=v1"], 0),
        (&["lint", "--bump", "global=v2..v1"], 0),
    ] {
        let ran = pinned.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    }
    for output in crate::cli::formats() {
        let ran = pinned.run(&["lint", "--bump", "global=v3", "-o", output, "--exit-zero"]);
        assert_eq!(ran.code, 0, "{output}: {ran:?}");
    }
}

#[test]
fn unknown_names_and_revisions_are_refused() {
    let pinned = Pinned::new();
    for (bump, named) in [
        ("nosuch=v2", "nosuch"),
        ("global=nosuch", "nosuch"),
        ("global=v1..nosuch", "nosuch"),
        ("global", "NAME=REV"),
        ("global=", "NAME=REV"),
    ] {
        let ran = pinned.run(&["diff", "--bump", bump]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{bump}: {ran:?}");
        assert!(ran.stderr.contains(named), "{bump}: {ran:?}");
    }
}
