//! Effect of each configuration key.

use std::fs;

use layercake::config::{Vocabulary, read};
use layercake::source::RepoPath;

use super::{are, configured, rules};
use crate::cli::{Ran, Sandbox, broken, definition, document};

/// Document that is secret by its schema only.
fn token() -> String {
    let text = document("token", "site", "{value: s3cret}");
    text.replace("example/Any/v1", "example/Token/v1")
}

#[test]
fn semantics_selects_the_rendered_meaning() {
    let sandbox = Sandbox::with_sites();
    let list = document("parent", "global", "{items: [1]}").replace(
        "  layeringDefinition",
        "  labels: {name: parent}\n  layeringDefinition",
    );
    sandbox.write("global/parent.yaml", list);
    let child = document("child", "site", "{items: [2]}").replace(
        "layer: site}",
        "layer: site, parentSelector: {name: parent}, actions: [{method: merge, path: '.items[0]'}]}",
    );
    sandbox.write("site/lab/child.yaml", child);
    let rendered = |arguments: &[&str]| {
        let ran =
            sandbox.run(&[&["render", "--site", "lab", "--name", "child"], arguments].concat());
        ran.stdout
    };
    let documented = rendered(&["--semantics", "documented"]);
    let deckhand = rendered(&["--semantics", "deckhand"]);
    assert_ne!(documented, deckhand, "the meanings differ here");
    assert_eq!(rendered(&[]), documented);
    sandbox.write("layercake.yaml", "semantics: deckhand\n");
    assert_eq!(rendered(&[]), deckhand);
    assert_eq!(
        rendered(&["--semantics", "documented"]),
        documented,
        "the flag overrides the file"
    );
    assert_eq!(rendered(&["--isolated"]), documented);
}

#[test]
fn discover_selects_sites_and_files() {
    let sandbox = configured("discover: {sites: ['l*']}\n");
    sandbox.break_site("prod");
    let sites = |sandbox: &Sandbox| {
        let listed = sandbox.run(&["sites", "--format", "json"]).json();
        let names = listed["sites"].as_array().unwrap().iter();
        names
            .map(|site| site["site"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(sites(&sandbox), ["lab"]);
    assert!(
        are(&rules(&sandbox, &[]), &[]),
        "excluded files have no findings"
    );
    assert_eq!(
        sandbox.run(&["lint", "--site", "prod"]).code,
        2,
        "unknown site"
    );
    sandbox.write(
        "layercake.yaml",
        "discover: {exclude: ['site/*/broken.yaml']}\n",
    );
    assert_eq!(sites(&sandbox), ["lab", "prod"]);
    assert!(are(&rules(&sandbox, &[]), &[]));
    assert!(are(&rules(&sandbox, &["--isolated"]), &["missing-source"]));
    sandbox.write("layercake.yaml", "discover: {exclude: ['*/broken.yaml']}\n");
    assert!(
        are(&rules(&sandbox, &[]), &["missing-source"]),
        "`*` does not match a slash"
    );
}

#[test]
fn repositories_locates_further_repositories() {
    let sandbox = configured("repositories: {shared: {path: ../shared}}\n");
    let more = "  repositories: {shared: {url_path: x}}\n";
    sandbox.write("site/lab/site-definition.yaml", definition("lab", more));
    let missing = sandbox.run(&["lint"]);
    assert_eq!(missing.code, 2);
    let start = "error: `repositories.shared` in layercake.yaml:1: ";
    assert!(missing.stderr.starts_with(start), "{missing:?}");
    let other = sandbox.beside("shared/global");
    fs::create_dir_all(&other).unwrap();
    fs::write(
        other.join("more.yaml"),
        document("more", "global", "{a: 1}"),
    )
    .unwrap();
    fs::create_dir_all(sandbox.path("site/lab/deep")).unwrap();
    let ran = sandbox.run_in(
        &sandbox.path("site/lab/deep"),
        &["render", "--name", "more"],
    );
    assert!(
        ran.code == 0 && ran.stdout.contains("name: more"),
        "from any folder: {ran:?}"
    );
    assert!(are(
        &rules(&sandbox, &["--isolated"]),
        &["missing-repository"]
    ));
    fs::create_dir_all(sandbox.beside("empty/global")).unwrap();
    let flag = [
        "render",
        "--name",
        "more",
        "--repository",
        "shared=../empty",
    ];
    assert!(
        !sandbox.run(&flag).stdout.contains("name: more"),
        "the flag overrides the file"
    );
    let mut variable = sandbox.command(&["render", "--name", "more", "--site", "lab"]);
    let named = "other=../shared\nshared=../empty\n";
    let ran = Ran::of(
        &variable
            .env("LAYERCAKE_REPOSITORIES", named)
            .output()
            .unwrap(),
    );
    assert!(
        !ran.stdout.contains("name: more"),
        "the variable overrides the file: {ran:?}"
    );
}

#[test]
fn compare_base_is_the_default_base() {
    let sandbox = configured("compare: {base: start}\n");
    sandbox.commit();
    sandbox.git(&["branch", "start"]);
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{values: {replicas: 2}}"),
    );
    sandbox.commit();
    let changed = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["diff", "--auto", "--exit-code"], arguments].concat());
        assert!(ran.code < 2, "{ran:?}");
        ran.code == 1
    };
    assert!(changed(&[]));
    assert!(!changed(&["--isolated"]), "HEAD is the default branch");
}

#[test]
fn missing_source_level_is_configurable() {
    let sandbox = configured("render: {missing-substitution-source: warning}\n");
    sandbox.break_site("lab");
    assert_eq!(sandbox.run(&["lint"]).code, 0);
    assert_eq!(
        sandbox
            .run(&["lint", "--missing-substitution-source", "error"])
            .code,
        1
    );
    assert_eq!(sandbox.run(&["lint", "--isolated"]).code, 1);
    sandbox.break_site("prod");
    sandbox.write(
        "layercake.yaml",
        "sites: {l*: {missing-substitution-source: warning}}\n",
    );
    let levels = |arguments: &[&str]| {
        let mut levels: Vec<String> = Vec::new();
        for finding in sandbox.findings(arguments) {
            let level = finding["severity"].as_str().unwrap();
            levels.extend(
                finding["sites"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|site| format!("{site} {level}")),
            );
        }
        levels
    };
    assert_eq!(levels(&[]), ["\"lab\" warning", "\"prod\" error"]);
    let flag = ["--missing-substitution-source", "error"];
    assert_eq!(levels(&flag), ["\"lab\" error", "\"prod\" error"]);
}

#[test]
fn known_missing_sources_are_not_reported() {
    let sandbox = configured("render: {known-missing-sources: [example/Any/v1/no*]}\n");
    sandbox.break_site("lab");
    sandbox.break_site("prod");
    assert!(are(&rules(&sandbox, &[]), &[]));
    sandbox.write(
        "layercake.yaml",
        "render: {known-missing-sources: [other/*]}\n",
    );
    assert!(are(
        &rules(&sandbox, &[]),
        &["missing-source", "unused-configuration"]
    ));
    let text = "sites: {lab: {known-missing-sources: ['*/nowhere']}}\n";
    sandbox.write("layercake.yaml", text);
    let findings = sandbox.findings(&[]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["sites"], serde_json::json!(["prod"]));
    sandbox.commit();
    let since = sandbox.findings(&["--since", "HEAD", "--all-findings"]);
    assert!(
        since
            .iter()
            .all(|finding| finding["sites"] == serde_json::json!(["prod"]))
    );
}

#[test]
fn rules_are_selected_by_the_file() {
    for (text, expected) in [
        ("", &["duplicate-key", "missing-source"][..]),
        ("select: [duplicate-key]", &["duplicate-key"]),
        ("select: [P005]", &["missing-source"]),
        (
            "select: [deckhand], extend-select: [duplicate-key]",
            &["duplicate-key"],
        ),
        ("ignore: [duplicate-key]", &["missing-source"]),
        ("levels: {duplicate-key: off}", &["missing-source"]),
        (
            "select: [empty-document], levels: {duplicate-key: note}",
            &["duplicate-key"],
        ),
        (
            "levels: {all: off, missing-source: note}",
            &["missing-source"],
        ),
    ] {
        let sandbox = configured(&format!("rules: {{{text}}}\n"));
        sandbox.write("site/lab/broken.yaml", broken());
        sandbox.write(
            "site/lab/twice.yaml",
            document("twice", "site", "{a: 1, a: 2}"),
        );
        let found = rules(&sandbox, &[]);
        // Errors of Deckhand itself are left to its own rules.
        let found = found
            .into_iter()
            .filter(|rule| expected.contains(&rule.as_str()) || !text.contains("deckhand"));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn levels_decide_the_exit_code() {
    let sandbox = configured("rules: {levels: {duplicate-key: error}}\n");
    sandbox.write(
        "site/lab/twice.yaml",
        document("twice", "site", "{a: 1, a: 2}"),
    );
    assert_eq!(sandbox.run(&["lint"]).code, 1);
    assert_eq!(
        sandbox.run(&["lint", "-w", "duplicate-key"]).code,
        0,
        "the flag overrides the file"
    );
    assert_eq!(sandbox.run(&["lint", "--isolated"]).code, 0);
    sandbox.write("layercake.yaml", "rules: {levels: {duplicate-key: note}}\n");
    assert_eq!(sandbox.findings(&[])[0]["severity"], "note");
}

#[test]
fn later_path_overrides_earlier_and_site_overrides_both() {
    let sandbox = Sandbox::with_sites();
    for site in ["lab", "prod"] {
        let path = format!("site/{site}/twice.yaml");
        sandbox.write(&path, document("twice", "site", "{a: 1, a: 2}"));
    }
    let levels = |text: &str, arguments: &[&str]| {
        sandbox.write("layercake.yaml", text);
        let findings = sandbox.findings(arguments);
        let level = |it: &serde_json::Value| {
            format!(
                "{} {}",
                it["severity"].as_str().unwrap(),
                it["sites"][0].as_str().unwrap()
            )
        };
        findings.iter().map(level).collect::<Vec<_>>()
    };
    let off = "rules: {per-path: {'site/lab/**': {ignore: [duplicate-key]}}}\n";
    assert_eq!(levels(off, &[]), ["warning prod"]);
    let later = "rules:\n  per-path:\n    'site/**': {levels: {duplicate-key: error}}\n    \
                 'site/lab/*': {levels: {duplicate-key: note}}\n";
    assert_eq!(levels(later, &[]), ["note lab", "error prod"]);
    let site =
        format!("{later}sites: {{lab: {{rules: {{levels: {{duplicate-key: warning}}}}}}}}\n");
    assert_eq!(levels(&site, &[]), ["warning lab", "error prod"]);
    let site = format!("{later}sites: {{prod: {{rules: {{ignore: [duplicate-key]}}}}}}\n");
    assert_eq!(levels(&site, &[]), ["note lab"]);
    let none: [&str; 0] = [];
    assert_eq!(
        levels(later, &["--ignore", "duplicate-key"]),
        none,
        "the flag overrides everything"
    );
    assert_eq!(
        levels(later, &["-w", "duplicate-key"]),
        ["warning lab", "warning prod"]
    );
    assert_eq!(levels(later, &["--select", "missing-source"]), none);
    let raised = "rules: {ignore: [duplicate-key], per-path: {'site/lab/*': {levels: \
                  {duplicate-key: note}}}}\n";
    assert_eq!(
        levels(raised, &[]),
        ["note lab"],
        "the rule runs although it is ignored elsewhere"
    );
}

#[test]
fn reach_limits_an_edit_and_names_the_setting() {
    let sandbox = configured("reach:\n  max-sites: 1\n  max-outputs: 1\n");
    sandbox.commit();
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{values: {replicas: 2}}"),
    );
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let text = ran.stdout;
    assert!(
        text.contains("the limit is `reach.max-sites` in layercake.yaml:2"),
        "{text}"
    );
    assert!(
        text.contains("the limit is `reach.max-outputs` in layercake.yaml:3"),
        "{text}"
    );
    let raised = [
        "lint",
        "--since",
        "HEAD",
        "--max-sites",
        "2",
        "--max-outputs",
        "2",
    ];
    assert_eq!(sandbox.run(&raised).code, 0, "the flag overrides the file");
    assert_eq!(sandbox.run(&["diff", "HEAD"]).code, 1);
    sandbox.write(
        "layercake.yaml",
        "reach: {max-sites: 1}\nrules: {levels: {reach-over-limit: warning}}\n",
    );
    assert_eq!(
        sandbox.run(&["lint", "--since", "HEAD"]).code,
        0,
        "a warning does not fail"
    );
    assert_eq!(sandbox.run(&["diff", "HEAD"]).code, 0);
    sandbox.write(
        "layercake.yaml",
        "reach: {max-sites: 1}\nrules: {ignore: [reach-over-limit]}\n",
    );
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
    assert!(!ran.stdout.contains("reach-over-limit"), "{ran:?}");
}

#[test]
fn list_keys_apply_to_a_schema_and_a_path() {
    let sandbox = Sandbox::with_sites();
    let hosts = |first: &str| {
        let list = format!("[{first}{{host: a, port: 1}}, {{host: b, port: 2}}]");
        document(
            "list",
            "site",
            &format!("{{in: {{hosts: {list}}}, other: {list}}}"),
        )
    };
    sandbox.write("site/lab/list.yaml", hosts(""));
    sandbox.commit();
    // Without a key, the first item could be either of two items of the edited list.
    let edited = hosts("").replace(
        "{host: a, port: 1}",
        "{host: c, port: 1}, {host: a, port: 9}",
    );
    sandbox.write("site/lab/list.yaml", edited);
    let paths = |text: &str| {
        sandbox.write("layercake.yaml", text);
        let report = sandbox
            .run(&["diff", "HEAD", "-o", "json"])
            .json()
            .to_string();
        (
            report.contains("/in/hosts/1/port"),
            report.contains("/other/1/port"),
        )
    };
    assert_eq!(paths(""), (false, false));
    assert_eq!(
        paths("diff: {list-keys: {'example/*': {'$.in.hosts': host}}}\n"),
        (true, false)
    );
    assert_eq!(
        paths("diff: {list-keys: {'example/*': {'$..*': host}}}\n"),
        (true, true)
    );
    assert_eq!(
        paths("diff: {list-keys: {'other/*': {'$..*': host}}}\n"),
        (false, false)
    );
}

#[test]
fn secret_schemas_are_hidden_everywhere() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/token.yaml", token());
    let passphrase = token().replace("example/Token/v1", "deckhand/Passphrase/v1");
    sandbox.write(
        "site/lab/passphrase.yaml",
        passphrase.replace("name: token", "name: phrase"),
    );
    let shown = |text: &str| {
        sandbox.write("layercake.yaml", text);
        let of = |name: &str| {
            sandbox
                .run(&["render", "--name", name])
                .stdout
                .contains("s3cret")
        };
        (of("token"), of("phrase"))
    };
    assert_eq!(shown(""), (true, false));
    assert_eq!(
        shown("secrets: {extra-schemas: [example/Token/v1]}\n"),
        (false, false)
    );
    assert_eq!(
        shown("secrets: {schemas: [example/Token/v2]}\n"),
        (false, true),
        "of any version"
    );
    sandbox.write(
        "layercake.yaml",
        "secrets: {extra-schemas: [example/Token/v1]}\n",
    );
    sandbox.commit();
    sandbox.write(
        "site/lab/token.yaml",
        token().replace("s3cret", "other-s3cret"),
    );
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]);
    assert!(
        report.stdout.contains("token") && !report.stdout.contains("s3cret"),
        "{report:?}"
    );
}

#[test]
fn output_default_is_used_without_the_flag() {
    let sandbox = configured("output: {default: [concise, json=report.json]}\n");
    sandbox.break_site("lab");
    fs::create_dir_all(sandbox.path("site/lab/deep")).unwrap();
    let ran = sandbox.run_in(&sandbox.path("site/lab/deep"), &["lint"]);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    let report = fs::read_to_string(sandbox.path("report.json")).unwrap();
    assert!(
        report.contains("missing-source"),
        "the report is next to the configuration"
    );
    assert!(sandbox.run(&["lint", "-o", "full"]).stdout.lines().count() > 1);
}

/// Keys that are tested where they are used.
#[test]
fn keys_used_by_other_parts_are_read() {
    let text = "rules: {require-reason: true}\nbaseline: accepted.json\nclient-versions: {docker: '1.2'}\n\
                client-version: '3'\nproperty-groups: {a/B/v1: [{or: [x]}]}\n\
                references:\n  - from: {schema: a/B/v1, path: '$.members[*]'}\n    to: {schema: a/C/v1, by: name}\n";
    let vocabulary = Vocabulary {
        rules: &[],
        cautions: &[],
        consequence: |_| Ok(()),
        formats: &[],
        version: "1.0.0",
        links: |_| Ok(()),
        docs_url: |_| Ok(()),
        not_shown: None,
    };
    let config = read(RepoPath::new("layercake.yaml"), text.into(), &vocabulary).unwrap();
    assert!(config.rules.require_reason);
    assert_eq!(&*config.baseline.as_ref().unwrap().value, "accepted.json");
    assert_eq!(config.client_versions, [("docker".into(), "1.2".into())]);
    assert_eq!(config.client_version.as_deref(), Some("3"));
    let [(schema, block)] = &config.property_groups[..] else {
        panic!("one block")
    };
    assert_eq!(
        (&*schema.value, block.as_sequence().map(<[_]>::len)),
        ("a/B/v1", Some(1))
    );
    let reference = &config.references[0];
    assert_eq!(
        (&*reference.schema.value, &*reference.target.value),
        ("a/B/v1", "a/C/v1")
    );
    assert_eq!(reference.path.text(), "$.members[*]");
}

#[test]
fn references_between_documents_are_followed() {
    let reference = "references:\n  - from: {schema: example/Any/v1, path: '$.members[?@.live==true].name'}\n    \
                     to: {schema: example/Any/v1}\n";
    let sandbox = configured(reference);
    let data =
        "{members: [{name: dns, live: true}, {name: dnss, live: true}, {name: x, live: false}]}";
    sandbox.write("site/lab/group.yaml", document("group", "site", data));
    assert!(are(&rules(&sandbox, &[]), &["missing-reference"]));
    assert_eq!(
        sandbox.rules(&[]).len(),
        1,
        "filters are evaluated in these paths"
    );
    assert!(are(&rules(&sandbox, &["--isolated"]), &[]));
}
