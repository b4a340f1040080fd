//! SARIF conforms to its published schema and to the limits of code scanning, and points to the
//! correct text.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value as Json, json};

use crate::cli::{POLICY, Sandbox, definition, document};

const SCHEMA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/schemas/sarif-schema-2.1.0.json"
);

/// Log printed by a run, validated by its schema.
#[track_caller]
fn log(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    let ran = sandbox.run(&[arguments, &["-o", "sarif"]].concat());
    assert!(ran.code < 2, "{ran:?}");
    let log = ran.json();
    assert_sound(&log);
    log
}

#[track_caller]
pub(super) fn assert_sound(log: &Json) {
    // One pattern of the published schema is not a valid regular expression: it lacks a bracket.
    let schema = fs::read_to_string(SCHEMA)
        .unwrap()
        .replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(log)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for result in results(log) {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][at];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(
            rule["help"]["markdown"].as_str().unwrap().len() > 100,
            "{rule}"
        );
    }
}

fn results(log: &Json) -> &Vec<Json> {
    log["runs"][0]["results"].as_array().unwrap()
}

fn rules(log: &Json) -> Vec<&str> {
    results(log)
        .iter()
        .map(|result| result["ruleId"].as_str().unwrap())
        .collect()
}

/// Path of a relative reference of RFC 3986.
fn decoded(uri: &str) -> String {
    let mut parts = uri.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Text that a location points to.
fn text_at(sandbox: &Sandbox, location: &Json) -> String {
    let place = &location["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    let file = sandbox.path(&decoded(place["artifactLocation"]["uri"].as_str().unwrap()));
    let text = fs::read_to_string(file).unwrap();
    let number = |key: &str| usize::try_from(place["region"][key].as_u64().unwrap()).unwrap();
    let line = text.lines().nth(number("startLine") - 1).unwrap();
    assert_eq!(number("startLine"), number("endLine"));
    let (start, end) = (number("startColumn") - 1, number("endColumn") - 1);
    line.chars().skip(start).take(end - start).collect()
}

/// Two sites with a chart that inherits from `global/`, committed.
fn inherited() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.1}"),
    );
    let parent = document("parent", "global", "{values: {replicas: 1}}");
    let labels = "  name: parent\n  labels: {name: parent-global}\n";
    sandbox.write(
        "global/parent.yaml",
        parent.replace("  name: parent\n", labels),
    );
    for site in ["lab", "prod"] {
        sandbox.write(
            &format!("site/{site}/site-definition.yaml"),
            definition(site, ""),
        );
        let child = document("child", "site", "{of: it}").replace(
            "layer: site}",
            "layer: site,\n    parentSelector: {name: parent-global},\n    \
             actions: [{method: merge, path: .}]}",
        );
        sandbox.write(&format!("site/{site}/chärt%20one.yaml"), child);
    }
    sandbox.commit();
    sandbox
}

#[test]
fn results_point_to_the_text_of_the_finding() {
    let sandbox = inherited();
    assert_eq!(rules(&log(&sandbox, &["lint"])), [""; 0]);
    sandbox.write("global/parent.yaml", document("parent", "global", "{}"));
    let log = log(&sandbox, &["lint", "--ignore", "unused-document"]);
    let found = results(&log);
    let places: Vec<&str> = found
        .iter()
        .filter(|it| it["ruleId"] == "missing-parent")
        .map(|it| {
            assert_eq!(it["level"], "error");
            assert_eq!(
                text_at(&sandbox, &it["locations"][0]),
                "{name: parent-global}"
            );
            let place = &it["locations"][0]["physicalLocation"];
            let shown = place["contextRegion"]["snippet"]["text"].as_str().unwrap();
            assert!(
                shown.contains("parentSelector: {name: parent-global}"),
                "{shown}"
            );
            place["artifactLocation"]["uri"].as_str().unwrap()
        })
        .collect();
    // Percent signs and non-ASCII characters are encoded, and the file is still found.
    assert_eq!(places, ["site/lab/ch%C3%A4rt%2520one.yaml"]);
    let other = &found[0]["relatedLocations"][0];
    assert_eq!(text_at(&sandbox, other), "{name: parent-global}");
    let other = &other["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(other, "site/prod/ch%C3%A4rt%2520one.yaml");
    let names = found[0]["locations"][0]["logicalLocations"]
        .as_array()
        .unwrap();
    assert_eq!(names[0]["fullyQualifiedName"], "lab/example/Any/v1/child");
}

#[test]
fn finding_in_an_unchanged_file_has_the_route_from_the_edit() {
    let sandbox = inherited();
    let parent = document("parent", "global", "{values: {replicas: 1}}");
    let renamed = "  name: parent\n  labels: {name: parent-worldwide}\n";
    sandbox.write(
        "global/parent.yaml",
        parent.replace("  name: parent\n", renamed),
    );
    let log = log(&sandbox, &["lint", "--since", "HEAD"]);
    let result = results(&log)
        .iter()
        .find(|it| it["ruleId"] == "missing-parent")
        .unwrap();
    assert_eq!(result["baselineState"], "new");
    let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    let steps = steps.as_array().unwrap();
    let file = |step: &Json| {
        let place = &step["location"]["physicalLocation"]["artifactLocation"]["uri"];
        place.as_str().unwrap().to_owned()
    };
    assert_eq!(file(&steps[0]), "global/parent.yaml", "{steps:#?}");
    let last = steps.last().unwrap();
    assert_eq!(file(last), "site/lab/ch%C3%A4rt%2520one.yaml");
    assert_eq!(
        last["location"]["message"]["text"],
        result["message"]["text"]
            .as_str()
            .unwrap()
            .lines()
            .next()
            .unwrap()
    );
}

#[test]
fn gate_has_the_routes_of_its_edit() {
    let sandbox = inherited();
    let parent = fs::read_to_string(sandbox.path("global/parent.yaml")).unwrap();
    sandbox.write(
        "global/parent.yaml",
        parent.replace("replicas: 1", "replicas: 2"),
    );
    let log = log(&sandbox, &["lint", "--since", "HEAD", "--max-sites", "1"]);
    assert_eq!(rules(&log), ["reach-over-limit"]);
    let result = &results(&log)[0];
    assert_eq!(text_at(&sandbox, &result["locations"][0]), "2");
    let flows = result["codeFlows"].as_array().unwrap();
    assert!(flows.iter().any(|flow| {
        let steps = flow["threadFlows"][0]["locations"].as_array().unwrap();
        steps
            .iter()
            .any(|it| it["location"]["message"]["text"] == "inherited by `child`")
    }));
}

#[test]
fn fingerprints_are_stable_and_unique_in_a_file() {
    let sandbox = Sandbox::with_sites();
    let twice = "data: {a: 1, a: 2, a: 3}";
    let text = document("twice", "site", "{}").replace("data: {}", twice);
    sandbox.write("site/lab/twice.yaml", &text);
    let prints = |log: &Json| -> Vec<String> {
        let print = |it: &Json| {
            it["partialFingerprints"]["layercake/v1"]
                .as_str()
                .unwrap()
                .into()
        };
        results(log).iter().map(print).collect()
    };
    let before = prints(&log(&sandbox, &["lint"]));
    assert!(before.len() > 1, "{before:?}");
    assert_eq!(
        before.iter().collect::<BTreeSet<_>>().len(),
        before.len(),
        "{before:?}"
    );
    sandbox.write(
        "site/lab/twice.yaml",
        format!("---\n# moved\n# twice\n{}", &text[4..]),
    );
    assert_eq!(prints(&log(&sandbox, &["lint"])), before);
}

#[test]
fn ignored_findings_are_listed_with_reason_on_request() {
    let sandbox = Sandbox::with_sites();
    let broken = crate::cli::broken();
    let ignored = broken.replace(
        "    - src:",
        "    # layercake: ignore[missing-source] made at [deploy](time)\n    - src:",
    );
    sandbox.write("site/lab/broken.yaml", ignored);
    assert_eq!(rules(&log(&sandbox, &["lint"])), [""; 0]);
    let log = log(&sandbox, &["lint", "--show-ignored"]);
    let suppression = &results(&log)[0]["suppressions"][0];
    assert_eq!(suppression["kind"], "inSource");
    assert_eq!(suppression["justification"], "made at [deploy](time)");
}

#[test]
fn unchanged_findings_are_always_listed() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    sandbox.break_site("prod");
    let states = |log: &Json| -> Vec<String> {
        results(log)
            .iter()
            .map(|it| it["baselineState"].as_str().unwrap().into())
            .collect()
    };
    for arguments in [
        &["lint", "--since", "HEAD"][..],
        &["lint", "--since", "HEAD", "--all-findings"],
    ] {
        assert_eq!(
            states(&log(&sandbox, arguments)),
            ["unchanged", "new"],
            "{arguments:?}"
        );
    }
    sandbox.write("layercake.yaml", "output: {default: [sarif=found.sarif]}\n");
    sandbox.git(&["add", "layercake.yaml"]);
    sandbox.git(&["commit", "--quiet", "-m", "configure"]);
    sandbox.run(&["lint", "--since", "HEAD"]);
    let configured = std::fs::read_to_string(sandbox.path("found.sarif")).unwrap();
    let configured = serde_json::from_str(&configured).unwrap();
    assert_eq!(states(&configured), ["unchanged", "new"]);
}

#[test]
fn most_severe_findings_are_kept_and_the_others_counted() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let ran = sandbox.run(&["lint", "-o", "json"]);
    let mut report: Json = serde_json::from_str(&ran.stdout).unwrap();
    let finding = report["findings"][0].clone();
    let of = |at: usize| {
        let mut finding = finding.clone();
        finding["severity"] = json!(["note", "warning", "error"][at % 3]);
        finding["primary"]["line"] = json!(at + 1);
        finding["primary"]["end_line"] = json!(at + 1);
        finding["message"] = json!("[click](http://example.org/) me");
        finding
    };
    report["findings"] = (0..9_000).map(of).collect();
    sandbox.write("report.json", report.to_string());
    let log = log(&sandbox, &["report", "report.json"]);
    let levels = |level: &str| {
        results(&log)
            .iter()
            .filter(|it| it["level"] == level)
            .count()
    };
    assert_eq!(
        [levels("error"), levels("warning"), levels("note")],
        [3_000, 2_000, 0]
    );
    let line = |it: &Json| {
        it["locations"][0]["physicalLocation"]["region"]["startLine"]
            .as_u64()
            .unwrap()
    };
    assert!(results(&log).is_sorted_by_key(line));
    let notification = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    let said = "4000 findings omitted from this file: only the 5000 most severe are kept";
    assert_eq!(notification["message"]["text"], said);
    let message = results(&log)[0]["message"]["text"].as_str().unwrap();
    assert!(
        message.starts_with("[click]\\(http://example.org/) me\n"),
        "{message}"
    );
}

#[test]
fn rule_page_has_no_dead_links() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let ran = sandbox.run(&["lint", "-o", "json"]);
    let mut report: Json = serde_json::from_str(&ran.stdout).unwrap();
    let finding = report["findings"][0].clone();
    let of = |rule: &&layercake::diagnostic::Rule| {
        let mut finding = finding.clone();
        finding["rule"] = json!(rule.name);
        finding
    };
    report["findings"] = layercake::rules::RULES.iter().map(of).collect();
    sandbox.write("report.json", report.to_string());
    let log = log(&sandbox, &["report", "report.json"]);
    let described = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert_eq!(described.len(), layercake::rules::RULES.len());
    for described in described {
        let help = described["help"]["markdown"].as_str().unwrap();
        assert!(!help.contains(".md)"), "{help}");
    }
    let stale = described
        .iter()
        .find(|it| it["id"] == "ineffective-action")
        .unwrap();
    assert!(
        stale["help"]["text"]
            .as_str()
            .unwrap()
            .contains("reported by `ineffective-override`. A")
    );
}

#[test]
fn rules_of_another_version_are_named() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let ran = sandbox.run(&["lint", "-o", "json"]);
    let mut report: Json = serde_json::from_str(&ran.stdout).unwrap();
    report["findings"][0]["rule"] = json!("rule-of-tomorrow");
    sandbox.write("report.json", report.to_string());
    let log = sandbox
        .run(&["report", "report.json", "-o", "sarif"])
        .json();
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(
        (&rule["id"], rule.get("help")),
        (&json!("rule-of-tomorrow"), None)
    );
}

#[test]
fn dangerous_edit_is_a_note_at_its_line() {
    let sandbox = Sandbox::with_sites();
    let with = |data: &str| document("versions", "global", data);
    sandbox.write(
        "global/versions.yaml",
        with("{image: 'quay.io/a/b:1.0', map: {a: 1, b: 2}}"),
    );
    sandbox.commit();
    sandbox.write(
        "global/versions.yaml",
        with("{image: 'quay.io/a/b:latest'}"),
    );
    let log = log(&sandbox, &["lint", "--since", "HEAD"]);
    let notes: Vec<&Json> = results(&log)
        .iter()
        .filter(|it| it["ruleId"] == "dangerous-change")
        .collect();
    let texts: Vec<&str> = notes
        .iter()
        .map(|note| note["message"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(notes.len(), 2, "{texts:?}");
    assert!(
        texts[0].contains("removes values") && texts[0].contains(".map"),
        "{texts:?}"
    );
    assert!(texts[1].contains("pin of a revision or image"), "{texts:?}");
    for note in notes {
        assert_eq!(
            (&note["level"], &note["baselineState"]),
            (&json!("note"), &json!("new"))
        );
        let place = &note["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "global/versions.yaml");
    }
    let harmless = with("{image: 'quay.io/a/b:1.1', map: {a: 1, b: 3}}");
    sandbox.write("global/versions.yaml", harmless);
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "sarif"]);
    assert!(!ran.stdout.contains("dangerous-change"), "{}", ran.stdout);
}

#[test]
fn only_fixed_revisions_and_images_lose_a_pin() {
    const COMMIT: &str = "536eaed62d55eca694eaae0c50df910dbb55fff7";
    let cases = [
        ("a", COMMIT, None, true),
        ("b", COMMIT, Some("master"), true),
        (
            "c",
            COMMIT,
            Some("97ce6d7d8e9a090c748800d69a57bbd9af698b60"),
            false,
        ),
        ("d", "master", None, false),
        ("e", "quay.io/a/b:1.0", Some("quay.io/a/b:latest"), true),
        (
            "f",
            "quay.io/a/b:1.0",
            Some("quay.io/a/b:latest-ubuntu"),
            true,
        ),
        ("g", "quay.io/a/b:1.0", Some("quay.io/a/b"), true),
        ("h", "quay.io/a/b:1.0", Some("quay.io/a/b:2.0"), false),
        ("i", "quay.io/a/b:1.0", None, false),
        ("j", "quay.io/a/b@sha256:1", Some("quay.io/a/b:2"), false),
        ("k", "http://a/b:1", Some("http://a/b"), false),
        ("l", "10.0.0.0/24", Some("10.0.0.0/16"), false),
    ];
    let sandbox = Sandbox::with_sites();
    let write = |entries: Vec<String>| {
        let data = format!("{{{}}}", entries.join(", "));
        sandbox.write("global/pins.yaml", document("pins", "global", &data));
    };
    let entry = |key: &str, text: &str| format!("{key}: '{text}'");
    write(cases.iter().map(|case| entry(case.0, case.1)).collect());
    sandbox.commit();
    let changed = cases.iter().filter_map(|case| Some(entry(case.0, case.2?)));
    write(changed.collect());
    let log = log(&sandbox, &["lint", "--since", "HEAD"]);
    let notes: Vec<&str> = results(&log)
        .iter()
        .filter(|it| it["ruleId"] == "dangerous-change")
        .map(|note| note["message"]["text"].as_str().unwrap())
        .collect();
    for (key, before, after, expected) in cases {
        let path = format!(".{key}");
        let is_noted = notes
            .iter()
            .any(|text| text.split_whitespace().any(|word| word == path));
        assert_eq!(is_noted, expected, "{before} {after:?}: {notes:#?}");
    }
}
