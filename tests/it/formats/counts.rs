//! Completeness: each format has all findings of a report, or the number of those it omits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value as Json, json};

use super::made::{finding, json_report};
use super::readers::{annotations, issues, test_cases};
use super::written;
use crate::cli::{Sandbox, broken, formats};

/// Repository with a new, an unchanged, a fixed and an ignored finding, the first of which is a
/// note.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let named = |name: &str| {
        broken()
            .replace("broken", name)
            .replace("nowhere", &absent(name))
    };
    let ignored = named("ignored-one").replace(
        ", path: .}",
        ", path: .}  # layercake: ignore[missing-source] known",
    );
    sandbox.write("site/lab/ignored-one.yaml", ignored);
    for name in ["unchanged-one", "unchanged-two", "fixed-one"] {
        sandbox.write(&format!("site/lab/{name}.yaml"), named(name));
    }
    sandbox.commit();
    sandbox.write(
        "site/lab/fixed-one.yaml",
        named("fixed-one").replace(&absent("fixed-one"), "only"),
    );
    for name in ["new-one", "new-two"] {
        sandbox.write(&format!("site/prod/{name}.yaml"), named(name));
    }
    sandbox.write(
        "layercake.yaml",
        "rules: {select: [all], levels: {missing-document-start: note}}\n",
    );
    sandbox.write(
        "global/a-note.yaml",
        fs::read_to_string(sandbox.path("global/chart.yaml"))
            .unwrap()
            .replace("---\n", "")
            .replace("chart", "a-note"),
    );
    sandbox
}

/// Name of a missing source, which occurs nowhere else in a report.
fn absent(name: &str) -> String {
    format!("absent-for-{name}")
}

/// Number of unchanged findings that only some formats list.
fn omitted(report: &Json) -> usize {
    usize::try_from(report["omitted_unchanged"].as_u64().unwrap_or(0)).unwrap()
}

/// Findings that a report lists with these flags, as an independent implementation.
fn listed<'a>(report: &'a Json, arguments: &[&str]) -> Vec<&'a Json> {
    let is_wanted = |finding: &&Json| {
        let is_unchanged = finding["state"] == "unchanged";
        let is_suppressed = !finding["suppressed"].is_null();
        finding["state"] != "fixed"
            && (!is_suppressed || arguments.contains(&"--show-ignored"))
            && (!is_unchanged || arguments.contains(&"--all-findings"))
    };
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_wanted)
        .collect()
}

/// Number of findings in a format, as counted by a reader of it.
fn counted(format: &str, text: &str) -> Option<usize> {
    let parsed = || serde_json::from_str::<Json>(text).unwrap();
    match format {
        "concise" => Some(
            text.lines()
                .filter(|it| {
                    it.contains(": error[") || it.contains(": warning[") || it.contains(": note[")
                })
                .count(),
        ),
        "full" => {
            let is_headline = |line: &&str| {
                ["error[", "warning[", "note["]
                    .iter()
                    .any(|it| line.starts_with(it))
            };
            let is_counted = |line: &str| {
                let (count, rest) = line.strip_prefix("… ")?.split_once(' ')?;
                rest.starts_with("more note")
                    .then(|| count.parse::<usize>().unwrap())
            };
            let notes: usize = text.lines().filter_map(is_counted).sum();
            Some(text.lines().filter(is_headline).count() + notes)
        }
        "github" => {
            let of = annotations(text)
                .into_iter()
                .map(|it| match &*it.properties["title"] {
                    "omitted" => it
                        .data
                        .split_once(" more finding")
                        .map_or(0, |it| it.0.parse().unwrap()),
                    title => usize::from(layercake::rules::find(title).is_some()),
                });
            Some(of.sum())
        }
        "sarif" => Some(parsed()["runs"][0]["results"].as_array().unwrap().len()),
        "junit" => Some(test_cases(text).len() - 1),
        "gitlab" => Some(issues(text).len()),
        // These are counted by their names.
        "json" | "markdown" | "comment" | "html" => None,
        _ => panic!("unknown format `{format}`"),
    }
}

const RUNS: [&[&str]; 7] = [
    &["lint"],
    &["lint", "--show-ignored"],
    &["lint", "--since", "HEAD"],
    &["lint", "--since", "HEAD", "--all-findings"],
    &["lint", "--since", "HEAD", "--show-ignored"],
    &[
        "lint",
        "--since",
        "HEAD",
        "--all-findings",
        "--show-ignored",
    ],
    &["diff", "HEAD"],
];

#[test]
fn every_format_has_all_findings_or_counts_the_rest() {
    let sandbox = repository();
    let (mut seen, mut omitted_by_run) = (BTreeMap::new(), Vec::new());
    for arguments in RUNS {
        let (_, formats) = written(&sandbox, arguments);
        let report: Json = serde_json::from_str(&formats["json"]).unwrap();
        let listed = listed(&report, arguments);
        omitted_by_run.push(omitted(&report));
        seen.insert(arguments.join(" "), listed.len());
        for (format, text) in &formats {
            // `diff` does not list findings in a line each, but edits.
            if let Some(count) = counted(format, text).filter(|_| arguments[0] == "lint") {
                let others = if *format == "sarif" {
                    omitted(&report)
                } else {
                    0
                };
                assert_eq!(
                    count,
                    listed.len() + others,
                    "{arguments:?} -o {format}:\n{text}"
                );
            }
            if arguments[0] == "diff" && *format != "json" {
                continue;
            }
            for name in [
                "unchanged-one",
                "unchanged-two",
                "new-one",
                "new-two",
                "ignored-one",
            ] {
                let is_of = |it: &&&Json| it["message"].as_str().unwrap().contains(&absent(name));
                let is_listed = listed.iter().any(|it| is_of(&it))
                    || *format == "json" && is_there(&report, name)
                    || *format == "sarif" && name.starts_with("unchanged") && omitted(&report) > 0;
                assert_eq!(
                    text.contains(&absent(name)),
                    is_listed,
                    "{arguments:?} -o {format}: {name}\n{text}"
                );
            }
        }
    }
    let counts: Vec<usize> = RUNS.iter().map(|run| seen[&run.join(" ")]).collect();
    assert!(
        counts[..6].iter().all(|count| *count >= 2) && counts[6] == 0,
        "{seen:?}"
    );
    assert_eq!(omitted_by_run, [0, 0, 2, 0, 2, 0, 0]);
    assert!(
        counts[0] < counts[1] && counts[2] < counts[3] && counts[2] < counts[4],
        "{seen:?}"
    );
    let first = &sandbox.findings(&[])[0];
    assert_eq!(
        first["severity"], "note",
        "the first finding is a note: {first}"
    );
}

/// Whether a finding of this name is in the report.
fn is_there(report: &Json, name: &str) -> bool {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .any(|it| it["message"].as_str().unwrap().contains(&absent(name)))
        || report["lines"].to_string().contains(&absent(name))
        || report["edits"].to_string().contains(&absent(name))
}

/// Two thousand findings are in each format, or it has the number of the missing ones.
#[test]
fn omitted_findings_are_counted() {
    const ALL: usize = 2000;
    let sandbox = Sandbox::outside_git();
    let levels = ["note", "warning", "error"];
    let findings: Vec<Json> = (0..ALL)
        .map(|at| {
            let file = format!("site/lab/{}/file-{at:04}.yaml", "folder/".repeat(6));
            let mut it = finding(
                "missing-parent",
                levels[at % 3],
                &format!("finding-{at:04}."),
                &file,
                1,
            );
            it["fingerprint"] = format!("{at:032x}").into();
            it["notes"] =
                json!(["a note that is not short, as notes are where much is to be said"]);
            it
        })
        .collect();
    sandbox.write("saved.json", json_report(&findings, &[]).to_string());
    for format in formats() {
        let ran = sandbox.run(&["report", "saved.json", "-o", format]);
        assert_eq!(ran.stderr, "", "-o {format}");
        let text = ran.stdout;
        let tokens = text
            .match_indices("finding-")
            .filter_map(|(at, it)| text[at + it.len()..].get(..5));
        let shown: BTreeSet<&str> = tokens.filter(|it| it.ends_with('.')).collect();
        match format {
            "github" => assert_eq!((counted(format, &text), shown.len()), (Some(ALL), 27)),
            "json" | "sarif" | "junit" | "gitlab" | "html" => {
                assert_eq!(shown.len(), ALL, "-o {format}");
                assert!(
                    counted(format, &text).is_none_or(|count| count == ALL),
                    "-o {format}"
                );
            }
            _ => {
                let words = [" more finding", " more error", " more note", " more (-v)"];
                let said = words.iter().flat_map(|word| text.match_indices(word));
                let said = said.map(|(at, _)| {
                    let digits = text[..at].rfind(|it: char| !it.is_ascii_digit());
                    text[digits.map_or(0, |it| it + 1)..at]
                        .parse::<usize>()
                        .unwrap_or(0)
                });
                assert_eq!(
                    said.sum::<usize>(),
                    ALL - shown.len(),
                    "-o {format}: {text}"
                );
            }
        }
    }
}
