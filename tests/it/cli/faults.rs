//! Planted internal errors of layercake: each loses only the result being computed, is reported,
//! and makes the exit code 2.

use serde_json::Value as Json;

use super::{Ran, Sandbox, document, formats};

/// Two sites, one of them with a fault of its own. In `lab`, `far` needs `needing`, which needs
/// the document `source`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let needing = |name: &str, from: &str| {
        let substitution = format!(
            "  substitutions:\n    - src: {{schema: example/Any/v1, name: {from}, path: .of}}\n      \
             dest: {{path: .of}}\n"
        );
        let text = document(name, "site", "{}");
        text.replace("\ndata:", &format!("\n{substitution}data:"))
    };
    sandbox.write(
        "site/lab/source.yaml",
        document("source", "site", "{of: s3cr3t}"),
    );
    sandbox.write("site/lab/needing.yaml", needing("needing", "source"));
    sandbox.write("site/lab/far.yaml", needing("far", "needing"));
    sandbox.break_site("prod");
    sandbox
}

impl Sandbox {
    /// Runs with layercake set to fail at `place`.
    fn run_failing(&self, place: &str, arguments: &[&str]) -> Ran {
        self.run(&[&["debug", "fail", "--at", place, "--"], arguments].concat())
    }
}

/// Findings of a run, as rule, message and sites.
fn findings_of(ran: &Ran) -> Vec<(String, String, String)> {
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let rows = findings.map(|finding| {
        let sites: Vec<String> = finding["sites"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect();
        (
            text(&finding["rule"]),
            text(&finding["message"]),
            sites.join(" "),
        )
    });
    rows.collect()
}

/// Asserts that the run ended as after any internal error: with exit code 2, and one line that
/// gives only the place of the failure.
#[track_caller]
fn assert_failed(ran: &Ran) {
    assert_eq!(ran.code, 2, "{ran:?}");
    let lines: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|it| it.contains(" failed at "))
        .collect();
    let [line] = lines[..] else { panic!("{ran:?}") };
    let file = "crates/layercake-engine/src/guard.rs";
    let start = format!("layercake {} failed at {file}:", env!("CARGO_PKG_VERSION"));
    assert!(line.starts_with(&start), "{line}");
    // The message of a panic may hold values.
    assert!(
        !ran.stderr.contains("planted") && !ran.stderr.contains("s3cr3t"),
        "{ran:?}"
    );
}

#[test]
fn failing_document_is_lost_with_its_dependents() {
    let sandbox = sandbox();
    let (failing, lint) = ("document:source", ["lint", "-o", "json"]);
    let sound = findings_of(&sandbox.run(&lint));
    assert_eq!(sound.len(), 1, "{sound:?}");
    assert_eq!(sound[0].0, "missing-source");
    let ran = sandbox.run_failing(failing, &lint);
    assert_failed(&ran);
    let (internal, others): (Vec<_>, Vec<_>) = findings_of(&ran)
        .into_iter()
        .partition(|(rule, _, _)| rule == "internal-error");
    assert_eq!(others, sound);
    let message = "internal error while rendering `source`";
    assert_eq!(
        internal,
        [(
            "internal-error".to_owned(),
            message.to_owned(),
            "lab".to_owned()
        )]
    );
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let finding = findings
        .clone()
        .find(|it| it["rule"] == "internal-error")
        .unwrap();
    let related: Vec<&str> = finding["related"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| label["label"].as_str().unwrap())
        .collect();
    assert_eq!(
        related,
        [
            "`far` depends on it, and was not rendered either",
            "`needing` depends on it, and was not rendered either"
        ]
    );

    let ran = sandbox.run_failing(failing, &["render", "--format", "json"]);
    assert_failed(&ran);
    let rendered = ran.json().to_string();
    for (name, is_there) in [
        ("source", false),
        ("needing", false),
        ("far", false),
        ("only", true),
        ("chart", true),
    ] {
        assert_eq!(
            rendered.contains(&format!("\"name\":\"{name}\"")),
            is_there,
            "{name}"
        );
    }
}

#[test]
fn failing_rule_loses_only_its_findings() {
    let sandbox = sandbox();
    sandbox.write(
        "type/small/keys.yaml",
        document("keys", "type", "{yes: 010, b: PLACEHOLDER}"),
    );
    let lint = ["lint", "-o", "json", "--select", "all"];
    let sound = findings_of(&sandbox.run(&lint));
    // A rule of a file, one of a document, and one of a site.
    for rule in ["octal-integer", "ineffective-action", "unused-document"] {
        let ran = sandbox.run_failing(&format!("rule:{rule}"), &lint);
        // Rules that look at plain scalars run together.
        let place = if rule == "octal-integer" {
            "rule:boolean-key"
        } else {
            ""
        };
        let ran = if place.is_empty() {
            ran
        } else {
            sandbox.run_failing(place, &lint)
        };
        assert_failed(&ran);
        let (internal, others): (Vec<_>, Vec<_>) = findings_of(&ran)
            .into_iter()
            .partition(|(rule, _, _)| rule == "internal-error");
        assert!(!internal.is_empty(), "{rule}");
        assert!(
            internal
                .iter()
                .all(|(_, message, _)| message.contains(rule)),
            "{internal:?}"
        );
        let left = sound.iter().filter(|it| others.contains(it));
        assert_eq!(left.count(), others.len(), "{rule} has no findings");
        let lost = sound.iter().filter(|it| !others.contains(it));
        let lost: Vec<&String> = lost.map(|(rule, _, _)| rule).collect();
        let of_rule = |it: &&String| {
            internal
                .iter()
                .any(|(_, message, _)| message.contains(&***it))
        };
        assert!(lost.iter().all(of_rule), "{rule} costs {lost:?}");
    }
}

#[test]
fn comparison_reports_failures_of_both_sides() {
    let sandbox = sandbox();
    sandbox.commit();
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: another}"),
    );
    let lint = ["lint", "--since", "HEAD", "-o", "json"];
    for (place, message) in [
        ("document:source", "internal error while rendering `source`"),
        (
            "comparison:lab",
            "internal error: this site was not compared",
        ),
        (
            "taking:lab",
            "internal error: the requested output is missing",
        ),
        ("site:lab", "internal error: this site was not checked"),
        ("parts:none", ""),
    ] {
        let ran = sandbox.run_failing(place, &lint);
        let internal: Vec<String> = findings_of(&ran)
            .into_iter()
            .filter(|(rule, _, sites)| rule == "internal-error" && sites == "lab")
            .map(|(_, message, _)| message)
            .collect();
        if message.is_empty() {
            assert_eq!(
                (ran.code, internal.len()),
                (0, 0),
                "the planted place is not reached"
            );
            continue;
        }
        assert_failed(&ran);
        assert_eq!(internal, [message], "{place}");
        let outputs = ran.json()["outputs"].to_string();
        let is_compared = !matches!(place, "comparison:lab" | "site:lab");
        assert_eq!(
            outputs.contains("\"only\""),
            is_compared,
            "{place}: {outputs}"
        );
    }
}

/// Failures while files are read, findings are worded, and a whole run.
#[test]
fn other_failures_are_reported() {
    let sandbox = sandbox();
    for (place, message) in [
        (
            "file:site/lab/only.yaml",
            "internal error while reading a file",
        ),
        (
            "documents:site/lab/only.yaml",
            "internal error while reading a file",
        ),
        (
            "reading:site/lab/only.yaml",
            "internal error while reading a file",
        ),
        (
            "words:relation",
            "internal error while formatting a finding",
        ),
    ] {
        let ran = sandbox.run_failing(place, &["lint", "-o", "json"]);
        assert_failed(&ran);
        assert!(
            findings_of(&ran).iter().any(|(_, it, _)| it == message),
            "{place}: {ran:?}"
        );
    }
    let ran = sandbox.run_failing("run:", &["lint"]);
    // `debug fail` reports failures of the run itself in its own way.
    assert_eq!(ran.code, 1, "{ran:?}");
}

/// An internal error is reported whatever is selected, configured or accepted.
#[test]
fn internal_error_cannot_be_suppressed() {
    let sandbox = sandbox();
    sandbox.write("layercake.yaml", "rules: {levels: {internal-error: off}}\n");
    for arguments in [
        &["lint"][..],
        &["lint", "--select", "octal-integer"],
        &["lint", "--ignore", "internal-error"],
        &["lint", "type/small"],
        &["lint", "--exit-zero"],
    ] {
        let ran = sandbox.run_failing("document:source", arguments);
        assert_failed(&ran);
        assert!(
            ran.stdout.contains("internal-error"),
            "{arguments:?}: {ran:?}"
        );
    }
    for format in formats() {
        let ran = sandbox.run_failing("document:source", &["lint", "-o", format]);
        assert_failed(&ran);
        assert!(
            ran.stdout.contains("internal-error"),
            "{format}: {}",
            ran.stdout
        );
    }
}

/// The baseline must hold all findings, so it is not written from an incomplete set.
#[test]
fn failed_run_writes_no_baseline() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    let file = sandbox.path(".layercake-baseline.json");
    let before = std::fs::read(&file).unwrap();
    for verb in ["write", "prune"] {
        let ran = sandbox.run_failing("document:source", &["baseline", verb]);
        assert_failed(&ran);
        assert!(ran.stderr.contains("so findings may be missing"), "{ran:?}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
