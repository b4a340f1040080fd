//! Findings with one missing cause are reported as a single finding, in every report.

use serde_json::Value as Json;

use super::{Sandbox, document, formats};

/// A document with a substitution from `source` at each of `paths`.
fn reader(name: &str, source: &str, paths: &[&str]) -> String {
    let one = |path: &&str| {
        format!(
            "    - src: {{schema: example/Any/v1, name: {source}, path: {path}}}\n      dest: \
             {{path: .of_{name}{path}}}\n"
        )
    };
    let substitutions: String = paths.iter().map(one).collect();
    document(name, "site", "{}").replace(
        "\ndata:",
        &format!("\n  substitutions:\n{substitutions}data:"),
    )
}

fn messages(findings: &[Json]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding["message"].as_str().unwrap())
        .collect()
}

/// A site with three documents that substitute from a missing one, two of them twice.
fn with_readers(source: &str) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let readers = [
        ("one", &[".a"][..]),
        ("two", &[".a", ".b"]),
        ("three", &[".a", ".b"]),
    ];
    for (name, paths) in readers {
        sandbox.write(
            &format!("site/lab/{name}.yaml"),
            reader(name, source, paths),
        );
    }
    sandbox
}

#[test]
fn missing_source_is_one_finding_with_all_places() {
    let sandbox = with_readers("nowhere");
    let headline = "`nowhere` does not exist; 5 substitutions of 3 documents need it";
    let found = sandbox.findings(&[]);
    assert_eq!(messages(&found), [headline]);
    let related = found[0]["related"].as_array().unwrap();
    assert_eq!(related.len(), 4, "{found:#?}");
    assert_eq!(
        found[0]["documents"].as_array().unwrap().len(),
        3,
        "{found:#?}"
    );
    for format in formats() {
        let ran = sandbox.run(&["lint", "-o", format]);
        assert_eq!(ran.code, 1, "{format}");
        // Each format quotes names differently.
        let text = ran
            .stdout
            .replace(['`', '\\'], "")
            .replace("<code>", "")
            .replace("</code>", "");
        let count = text
            .matches("5 substitutions of 3 documents need it")
            .count();
        assert!(count >= 1, "{format}: {}", ran.stdout);
        assert!(
            !text.contains("substitutes from nowhere"),
            "{format}: {}",
            ran.stdout
        );
    }
    let full = sandbox.run(&["lint", "-o", "full"]).stdout;
    assert!(full.contains("also: site/lab/three.yaml:9:"), "{full}");
    assert!(full.contains(" and 2 more places"), "{full}");
    assert!(
        full.starts_with("FAIL  1 error: `nowhere` does not exist; "),
        "{full}"
    );
    let each = sandbox
        .run(&["lint", "-o", "concise", "--all-findings"])
        .stdout;
    assert_eq!(each.lines().count(), 5, "{each}");
    assert!(
        each.lines()
            .all(|line| line.contains("substitutes from `nowhere`")),
        "{each}"
    );
}

#[test]
fn single_finding_keeps_its_own_message() {
    let sandbox = with_readers("only");
    let found = sandbox.findings(&[]);
    let headlines = [
        "`only` has no value at `.a`; 3 substitutions of 3 documents need it",
        "`only` has no value at `.b`; 2 substitutions of 2 documents need it",
    ];
    assert_eq!(messages(&found), headlines);
    sandbox.write("site/lab/only.yaml", document("only", "site", "{a: 1}"));
    sandbox.write("site/lab/two.yaml", reader("two", "only", &[".a"]));
    assert_eq!(
        messages(&sandbox.findings(&[])),
        ["`three` reads `.b` of `only`, where it has nothing"]
    );
    sandbox.write("site/lab/only.yaml", document("only", "site", ""));
    let all = ["`only` has no data; 4 substitutions of 3 documents need it"];
    assert_eq!(
        messages(&sandbox.findings(&["--select", "missing-source"])),
        all
    );
}

#[test]
fn comments_and_baseline_apply_to_each_finding() {
    let sandbox = with_readers("nowhere");
    let ignored = reader("one", "nowhere", &[".a"]).replace(
        "    - src",
        "    # layercake: ignore[missing-source] made later\n    - src",
    );
    sandbox.write("site/lab/one.yaml", ignored);
    let headline = "`nowhere` does not exist; 4 substitutions of 2 documents need it";
    let open = |found: &[Json]| -> Vec<String> {
        let open = found
            .iter()
            .filter(|finding| finding["suppressed"].is_null());
        open.map(|finding| finding["message"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(open(&sandbox.findings(&[])), [headline]);
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    let baseline = std::fs::read_to_string(sandbox.path(".layercake-baseline.json")).unwrap();
    assert_eq!(
        baseline
            .matches("\"subject\":\"nowhere\",\"count\":2")
            .count(),
        2,
        "{baseline}"
    );
    assert_eq!(open(&sandbox.findings(&[])), [""; 0]);
}

#[test]
fn comparison_reports_only_new_findings_of_a_missing_document() {
    let sandbox = with_readers("nowhere");
    sandbox.commit();
    sandbox.write(
        "site/lab/four.yaml",
        reader("four", "nowhere", &[".a", ".b"]),
    );
    let ran = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "json"])
        .json();
    let of = |state: &str| -> Vec<Json> {
        let findings = ran["findings"].as_array().unwrap().iter();
        findings
            .filter(|finding| finding["state"] == state)
            .cloned()
            .collect()
    };
    let new = of("new");
    assert_eq!(
        messages(&new),
        ["`nowhere` does not exist; 2 substitutions of 1 document need it"]
    );
    assert_eq!(new[0]["caused_by"].as_array().unwrap().len(), 1, "{new:#?}");
    assert_eq!(
        (of("unchanged"), &ran["omitted_unchanged"]),
        (Vec::new(), &1.into())
    );
    let before = "`nowhere` does not exist; 5 substitutions of 3 documents need it";
    let sarif = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "sarif"])
        .stdout;
    assert!(sarif.contains(before), "{sarif}");
}

#[test]
fn missing_parent_is_one_finding() {
    let sandbox = Sandbox::with_sites();
    for name in ["one", "two", "three"] {
        let parent =
            "layer: site, parentSelector: {name: rack}, actions: [{method: merge, path: .}]}";
        let text = document(name, "site", "{}").replace("layer: site}", parent);
        sandbox.write(&format!("site/lab/{name}.yaml"), text);
    }
    let headline = "no `example/Any/v1` in a higher layer has the labels `{name: rack}`; 3 documents \
                    select them";
    assert_eq!(
        messages(&sandbox.findings(&["--select", "missing-parent"])),
        [headline]
    );
}

#[test]
fn missing_chart_group_is_one_finding() {
    let sandbox = Sandbox::with_sites();
    for name in ["one", "two"] {
        let text = document(name, "site", "{release_prefix: a, chart_groups: [nothing]}")
            .replace("example/Any/v1", "armada/Manifest/v1");
        sandbox.write(&format!("site/lab/{name}.yaml"), text);
    }
    let headline =
        "no `armada/ChartGroup/v1` named `nothing` is rendered; 2 values of 2 documents name it";
    assert_eq!(
        messages(&sandbox.findings(&["--select", "missing-reference"])),
        [headline]
    );
}

/// Equal findings in many sites are merged into one finding; in few sites they stay separate.
#[test]
fn equal_findings_of_many_sites_are_one_finding() {
    let sandbox = Sandbox::with_sites();
    for site in ["lab", "prod", "one", "two", "three"] {
        sandbox.write(
            &format!("site/{site}/site-definition.yaml"),
            super::definition(site, ""),
        );
        let doubled = document("doubled", "site", "{a: 1, a: 2}");
        sandbox.write(&format!("site/{site}/doubled.yaml"), doubled);
    }
    let report = sandbox.run(&["lint", "-o", "json"]).json();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(
        (
            &findings[0]["count"],
            findings[0]["related"].as_array().unwrap().len()
        ),
        (&Json::from(5), 4 + 1)
    );
    assert_eq!(findings[0]["sites"].as_array().unwrap().len(), 5);
    assert_eq!(report["totals"]["findings"]["warnings"], 5);
    let shown = sandbox.run(&["lint"]).stdout;
    assert!(shown.contains("in: all 5 sites"), "{shown}");
    assert!(shown.contains("also: site/one/doubled.yaml:8:"), "{shown}");
    let each = sandbox
        .run(&["lint", "--all-findings", "-o", "concise"])
        .stdout;
    assert_eq!(each.lines().count(), 5, "{each}");
    for site in ["two", "three"] {
        std::fs::remove_file(sandbox.path(&format!("site/{site}/doubled.yaml"))).unwrap();
    }
    assert_eq!(sandbox.findings(&[]).len(), 3);
}
