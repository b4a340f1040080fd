//! Faults of layercake itself, planted: each costs what was being made and
//! nothing else, is told, and makes the exit code 2.

use serde_json::Value as Json;

use super::{Ran, Sandbox, document, formats};

/// Two sites, one of them with a fault of its own. The document `source` of
/// `lab` is needed by `needing`, and that by `far`.
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
    sandbox.write("site/lab/source.yaml", document("source", "site", "{of: s3cr3t}"));
    sandbox.write("site/lab/needing.yaml", needing("needing", "source"));
    sandbox.write("site/lab/far.yaml", needing("far", "needing"));
    sandbox.break_site("prod");
    sandbox
}

impl Sandbox {
    /// Runs while layercake fails at `place`.
    fn run_failing(&self, place: &str, arguments: &[&str]) -> Ran {
        self.run(&[&["debug", "fail", "--at", place, "--"], arguments].concat())
    }
}

/// The findings of a run, as rule, message and sites.
fn told(ran: &Ran) -> Vec<(String, String, String)> {
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let told = findings.map(|finding| {
        let sites: Vec<String> = finding["sites"].as_array().unwrap().iter().map(text).collect();
        (text(&finding["rule"]), text(&finding["message"]), sites.join(" "))
    });
    told.collect()
}

/// That it ended as it must after a fault: with 2, and one line that says where
/// it was and nothing else.
#[track_caller]
fn assert_failed(ran: &Ran) {
    assert_eq!(ran.code, 2, "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().filter(|it| it.contains(" failed at ")).collect();
    let [line] = lines[..] else { panic!("{ran:?}") };
    let file = "crates/layercake-engine/src/guard.rs";
    let start = format!("layercake {} failed at {file}:", env!("CARGO_PKG_VERSION"));
    assert!(line.starts_with(&start), "{line}");
    // The message of a panic may hold values.
    assert!(!ran.stderr.contains("planted") && !ran.stderr.contains("s3cr3t"), "{ran:?}");
}

#[test]
fn a_document_costs_itself_and_what_needs_it() {
    let sandbox = sandbox();
    let (failing, lint) = ("document:source", ["lint", "-o", "json"]);
    let sound = told(&sandbox.run(&lint));
    assert_eq!(sound.len(), 1, "{sound:?}");
    assert_eq!(sound[0].0, "missing-source");
    let ran = sandbox.run_failing(failing, &lint);
    assert_failed(&ran);
    let (internal, others): (Vec<_>, Vec<_>) =
        told(&ran).into_iter().partition(|(rule, _, _)| rule == "internal-error");
    assert_eq!(others, sound);
    let message = "layercake itself failed while it rendered `source`";
    assert_eq!(internal, [("internal-error".to_owned(), message.to_owned(), "lab".to_owned())]);
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let finding = findings.clone().find(|it| it["rule"] == "internal-error").unwrap();
    let related: Vec<&str> = finding["related"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| label["label"].as_str().unwrap())
        .collect();
    assert_eq!(
        related,
        [
            "`far` needs it, and is not rendered either",
            "`needing` needs it, and is not rendered either"
        ]
    );

    let ran = sandbox.run_failing(failing, &["render", "--format", "json"]);
    assert_failed(&ran);
    let rendered = ran.json().to_string();
    for (name, is_there) in
        [("source", false), ("needing", false), ("far", false), ("only", true), ("chart", true)]
    {
        assert_eq!(rendered.contains(&format!("\"name\":\"{name}\"")), is_there, "{name}");
    }
}

#[test]
fn a_rule_costs_its_findings() {
    let sandbox = sandbox();
    sandbox.write("type/small/keys.yaml", document("keys", "type", "{yes: 010, b: PLACEHOLDER}"));
    let lint = ["lint", "-o", "json", "--select", "all"];
    let sound = told(&sandbox.run(&lint));
    // One of a file, one of a document, one of a site.
    for rule in ["octal-integer", "ineffective-action", "unused-document"] {
        let ran = sandbox.run_failing(&format!("rule:{rule}"), &lint);
        // Rules that look at plain scalars are looked for together.
        let place = if rule == "octal-integer" { "rule:boolean-key" } else { "" };
        let ran = if place.is_empty() { ran } else { sandbox.run_failing(place, &lint) };
        assert_failed(&ran);
        let (internal, others): (Vec<_>, Vec<_>) =
            told(&ran).into_iter().partition(|(rule, _, _)| rule == "internal-error");
        assert!(!internal.is_empty(), "{rule}");
        assert!(internal.iter().all(|(_, message, _)| message.contains(rule)), "{internal:?}");
        let left = sound.iter().filter(|it| others.contains(it));
        assert_eq!(left.count(), others.len(), "{rule} brings nothing");
        let lost = sound.iter().filter(|it| !others.contains(it));
        let lost: Vec<&String> = lost.map(|(rule, _, _)| rule).collect();
        let of_rule =
            |it: &&String| internal.iter().any(|(_, message, _)| message.contains(&***it));
        assert!(lost.iter().all(of_rule), "{rule} costs {lost:?}");
    }
}

#[test]
fn a_comparison_tells_what_failed_on_both_sides() {
    let sandbox = sandbox();
    sandbox.commit();
    sandbox.write("site/lab/only.yaml", document("only", "site", "{of: another}"));
    let lint = ["lint", "--since", "HEAD", "-o", "json"];
    for (place, message) in [
        ("document:source", "layercake itself failed while it rendered `source`"),
        ("comparison:lab", "layercake itself failed, and this site is not compared"),
        ("taking:lab", "layercake itself failed, and does not show what it was asked for"),
        ("site:lab", "layercake itself failed, and this site is not checked"),
        ("parts:none", ""),
    ] {
        let ran = sandbox.run_failing(place, &lint);
        let internal: Vec<String> = told(&ran)
            .into_iter()
            .filter(|(rule, _, sites)| rule == "internal-error" && sites == "lab")
            .map(|(_, message, _)| message)
            .collect();
        if message.is_empty() {
            assert_eq!((ran.code, internal.len()), (0, 0), "nothing is there that could fail");
            continue;
        }
        assert_failed(&ran);
        assert_eq!(internal, [message], "{place}");
        let outputs = ran.json()["outputs"].to_string();
        let is_compared = !matches!(place, "comparison:lab" | "site:lab");
        assert_eq!(outputs.contains("\"only\""), is_compared, "{place}: {outputs}");
    }
}

/// Files, words and whole runs.
#[test]
fn what_else_can_fail_is_told() {
    let sandbox = sandbox();
    for (place, message) in [
        ("file:site/lab/only.yaml", "layercake itself failed while it read a file"),
        ("documents:site/lab/only.yaml", "layercake itself failed while it read a file"),
        ("reading:site/lab/only.yaml", "layercake itself failed while it read a file"),
        ("words:relation", "layercake itself failed while it put a finding into words"),
    ] {
        let ran = sandbox.run_failing(place, &["lint", "-o", "json"]);
        assert_failed(&ran);
        assert!(told(&ran).iter().any(|(_, it, _)| it == message), "{place}: {ran:?}");
    }
    let ran = sandbox.run_failing("run:", &["lint"]);
    // What runs this run is not told of faults before it.
    assert_eq!(ran.code, 1, "{ran:?}");
}

/// Whatever is selected, configured or accepted, a fault of layercake is told.
#[test]
fn nothing_silences_a_fault() {
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
        assert!(ran.stdout.contains("internal-error"), "{arguments:?}: {ran:?}");
    }
    for format in formats() {
        let ran = sandbox.run_failing("document:source", &["lint", "-o", format]);
        assert_failed(&ran);
        assert!(ran.stdout.contains("internal-error"), "{format}: {}", ran.stdout);
    }
}

/// What is made of all that is found is not made of less.
#[test]
fn no_baseline_is_written_of_a_run_that_failed() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    let file = sandbox.path(".layercake-baseline.json");
    let before = std::fs::read(&file).unwrap();
    for verb in ["write", "prune"] {
        let ran = sandbox.run_failing("document:source", &["baseline", verb]);
        assert_failed(&ran);
        assert!(ran.stderr.contains("may not have found all that there is"), "{ran:?}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
