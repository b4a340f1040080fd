//! The code quality report as GitLab reads it.

use layercake::report::ReportFormat;
use serde_json::{Value as Json, json};

use super::made::{USUAL, finding, report, written};
use super::readers::issues;
use crate::cli::{Sandbox, document};

#[test]
fn issue_has_the_format_of_gitlab() {
    let error = finding(
        "missing-parent",
        "error",
        "no \"parent\"",
        "site/a b.yaml",
        4,
    );
    let mut long = finding("unused-label", "warning", "w", "b.yaml", 7);
    long["primary"]["end_line"] = 12.into();
    let note = finding("stale-reference", "note", "n", "c.yaml", 1);
    let issues = issues(&written(
        ReportFormat::Gitlab,
        &report(&[error, long, note], &[]),
        USUAL,
    ));
    assert_eq!(
        issues[0],
        json!({"description": "no \"parent\"", "check_name": "missing-parent", "fingerprint": "0f",
               "severity": "major",
               "location": {"path": "site/a b.yaml", "lines": {"begin": 4, "end": 4}}})
    );
    assert_eq!(
        issues[1]["location"]["lines"],
        json!({"begin": 7, "end": 12})
    );
    let severities: Vec<&Json> = issues.iter().map(|issue| &issue["severity"]).collect();
    assert_eq!(severities, ["major", "minor", "info"]);
    // All three have the fingerprint `0f`, and stay separate.
    let fingerprints: Vec<&Json> = issues.iter().map(|issue| &issue["fingerprint"]).collect();
    assert_eq!(fingerprints, ["0f", "0f-2", "0f-3"]);
}

/// GitLab compares the reports of two branches by fingerprint.
#[test]
fn fingerprints_are_stable_when_lines_move() {
    let sandbox = Sandbox::with_sites();
    let doubled = |above: &str| {
        let data = "{a: {b: 1, b: 2}, c: {b: 1, b: 2}}";
        document("twice", "site", data).replace("---\n", &format!("---\n{above}"))
    };
    sandbox.write("site/lab/twice.yaml", doubled(""));
    let fingerprints = |sandbox: &Sandbox| -> Vec<Json> {
        let issues = issues(&sandbox.run(&["lint", "-o", "gitlab"]).stdout);
        issues
            .iter()
            .map(|issue| issue["fingerprint"].clone())
            .collect()
    };
    let before = fingerprints(&sandbox);
    assert_eq!(before.len(), 2);
    sandbox.write("site/lab/twice.yaml", doubled("# a line\n# and another\n"));
    assert_eq!(fingerprints(&sandbox), before);
}
