//! The baseline combined with a configuration, or with the other side of a comparison.

use std::fs;

use super::{Sandbox, document};

const FILE: &str = ".layercake-baseline.json";

/// A document with a duplicate key.
fn doubled(name: &str) -> String {
    document(name, "site", "{a: 1, a: 2}")
}

/// A repository with an accepted finding, on a branch for the change.
fn accepted() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "rules: {levels: {duplicate-key: error}}\n",
    );
    sandbox.write("site/lab/old.yaml", doubled("old"));
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-b", "change"]);
    sandbox
}

/// Rule and state of each finding in a comparison with `main`.
fn since_main(sandbox: &Sandbox, more: &[&str]) -> Vec<String> {
    let findings = sandbox.findings(&[&["--since", "main"], more].concat());
    let rows = findings.iter().map(|it| {
        let state = it["suppressed"]["kind"].as_str().or(it["state"].as_str());
        format!("{} {}", it["rule"].as_str().unwrap(), state.unwrap())
    });
    rows.collect()
}

#[test]
fn change_cannot_accept_its_own_findings() {
    let sandbox = accepted();
    sandbox.write("site/lab/new.yaml", doubled("new"));
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.commit();
    assert_eq!(
        sandbox.run(&["lint", "--since", "main"]).code,
        0,
        "its own baseline accepts the finding"
    );
    let gate = ["--config-from-base"];
    assert_eq!(
        since_main(&sandbox, &gate),
        ["duplicate-key new", "duplicate-key baseline"],
        "accepted findings stay accepted"
    );
    assert_eq!(
        sandbox
            .run(&["lint", "--since", "main", "--config-from-base"])
            .code,
        1
    );
    // Nor with another baseline file.
    fs::rename(sandbox.path(FILE), sandbox.path("own.json")).unwrap();
    sandbox.write(
        "layercake.yaml",
        "rules: {levels: {duplicate-key: error}}\nbaseline: own.json\n",
    );
    assert_eq!(sandbox.run(&["lint", "--since", "main"]).code, 0);
    assert_eq!(
        since_main(&sandbox, &gate),
        [
            "config-changed new",
            "duplicate-key new",
            "duplicate-key baseline"
        ]
    );
    // An ignore comment can, and is counted.
    sandbox.write(
        "layercake.yaml",
        "rules: {levels: {duplicate-key: error}}\n",
    );
    let ignoring = doubled("new").replace("a: 2}", "a: 2} # layercake: ignore[duplicate-key] x");
    sandbox.write("site/lab/new.yaml", ignoring);
    let ran = sandbox.run(&["lint", "--since", "main", "--config-from-base"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("\n1 new ignore comment · 1 ignored"),
        "{ran:?}"
    );
}

#[test]
fn fixed_finding_is_stale_only_in_the_head_baseline() {
    let sandbox = accepted();
    let gate = ["--config-from-base"];
    sandbox.write("site/lab/old.yaml", document("old", "site", "{a: 1}"));
    assert_eq!(since_main(&sandbox, &gate), ["stale-baseline new"]);
    assert_eq!(sandbox.run(&["baseline", "prune"]).code, 0);
    assert_eq!(since_main(&sandbox, &gate), [""; 0]);
}

#[test]
fn baseline_holds_findings_that_the_configuration_selects() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/old.yaml", doubled("old"));
    let word = document("word", "site", "{a: yes}");
    sandbox.write("site/lab/word.yaml", &word);
    let write = || sandbox.run(&["baseline", "write"]).stdout;
    assert_eq!(write(), format!("{FILE} accepts 1 finding\n"));
    let with = "rules: {extend-select: [boolean-word]}\n";
    sandbox.write("layercake.yaml", with);
    assert_eq!(write(), format!("{FILE} accepts 2 findings\n"));
    assert!(
        sandbox
            .run(&["lint"])
            .stdout
            .contains(" rendered · 2 in the baseline · ")
    );
    // Entries of rules that are off now are kept, since these rules did not run.
    sandbox.write("layercake.yaml", "rules: {ignore: [duplicate-key]}\n");
    let pruned = sandbox.run(&["baseline", "prune"]).stdout;
    assert_eq!(
        pruned,
        format!("{FILE} accepts 2 findings, 0 fewer than before\n")
    );
    assert_eq!(write(), format!("{FILE} accepts 0 findings\n"));
    sandbox.write(
        "layercake.yaml",
        "rules: {per-path: {'site/lab/old.yaml': {ignore: [duplicate-key]}}}\nbaseline: own.json\n",
    );
    assert_eq!(write(), "own.json accepts 0 findings\n");
    sandbox.write("site/lab/word.yaml", doubled("word"));
    assert_eq!(write(), "own.json accepts 1 finding\n");
    let shown = sandbox.run(&["baseline", "show"]).stdout;
    assert!(shown.contains("site/lab/word.yaml"), "{shown}");
}

#[test]
fn change_can_fix_a_damaged_baseline() {
    let sandbox = accepted();
    let whole = fs::read_to_string(sandbox.path(FILE)).unwrap();
    let damaged = format!("<<<<<<< HEAD\n{whole}");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write(FILE, &damaged);
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-B", "change"]);
    let warning = "warning: ignoring the baseline of the earlier side: \
                invalid baseline: .layercake-baseline.json:1: ";
    let ran = sandbox.run(&["lint", "--since", "main"]);
    assert_eq!(ran.code, 2, "the head's baseline must be valid: {ran:?}");
    sandbox.write(FILE, &whole);
    let ran = sandbox.run(&["lint", "--since", "main"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.starts_with(warning), "{ran:?}");
    assert_eq!(since_main(&sandbox, &[]), ["duplicate-key baseline"]);
    // With the base's baseline, which accepts nothing, the finding is on both sides.
    assert_eq!(
        since_main(&sandbox, &["--config-from-base", "--all-findings"]),
        ["duplicate-key unchanged"]
    );
    sandbox.write("site/lab/new.yaml", doubled("new"));
    assert_eq!(sandbox.run(&["lint", "--since", "main"]).code, 1);
    // A comparison without a baseline reads none.
    let ran = sandbox.run(&["lint", "--since", "main", "--no-baseline"]);
    assert_eq!((ran.code, &*ran.stderr), (1, ""), "{ran:?}");
}

/// The same text with a fault, in differently named documents of several sites, is one finding
/// whichever sites are linted.
#[test]
fn baseline_matches_a_finding_whichever_sites_are_linted() {
    let sandbox = Sandbox::with_sites();
    let schema = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, \
                  name: example/Any/v1}\ndata:\n  $schema: http://json-schema.org/schema#\n  \
                  properties: {port: {type: integer}}\n";
    sandbox.write("global/schema.yaml", schema);
    let parent = document("parent", "global", "{port: high}")
        .replace("abstract: false", "abstract: true")
        .replace("  name:", "  labels: {of: all}\n  name:");
    sandbox.write("global/parent.yaml", parent);
    for site in ["lab", "prod"] {
        let child = document(&format!("of-{site}"), "site", "{}").replace(
            "layer: site}",
            "layer: site, parentSelector: {of: all}, actions: [{method: merge, path: .}]}",
        );
        sandbox.write(&format!("site/{site}/child.yaml"), child);
    }
    assert_eq!(sandbox.rules(&[]), ["schema-violation"]);
    let written = sandbox.run(&["baseline", "write"]).stdout;
    assert_eq!(written, format!("{FILE} accepts 1 finding\n"));
    for sites in [&[][..], &["--site", "lab"], &["--site", "prod"]] {
        let ran = sandbox.run(&[&["lint", "-o", "concise"], sites].concat());
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{sites:?}");
    }
}
