//! The two semantics of Deckhand's documents: what Deckhand refuses is an error in both, and a
//! repository whose results differ has to choose one.

use serde_json::Value as Json;

use super::{Sandbox, definition, document};

const BOTH: [&[&str]; 3] = [
    &[],
    &["--semantics", "documented"],
    &["--semantics", "deckhand"],
];

/// A document with its own name as a label.
fn labelled(name: &str, layer: &str, data: &str) -> String {
    let label = format!("  labels: {{name: {name}}}\n  layeringDefinition");
    document(name, layer, data).replace("  layeringDefinition", &label)
}

/// A document with a parent.
fn child(name: &str, layer: &str, parent: &str, actions: &str, data: &str) -> String {
    let layering =
        format!("layer: {layer}, parentSelector: {{name: {parent}}}, actions: [{actions}]}}");
    labelled(name, layer, data).replace(&format!("layer: {layer}}}"), &layering)
}

/// Two sites whose type has a document that merges at an index of a list.
fn with_index_merge() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let parent = labelled("host-global", "global", "{files: [{path: /a}, {path: /b}]}");
    sandbox.write(
        "global/host.yaml",
        parent.replace("abstract: false", "abstract: true"),
    );
    let actions = "{method: merge, path: '.files[2]'}";
    let host = child(
        "host",
        "type",
        "host-global",
        actions,
        "{files: [{}, {}, {path: /c}]}",
    );
    sandbox.write("type/small/host.yaml", host);
    sandbox
}

fn of_rule(findings: &[Json], rule: &str) -> Vec<Json> {
    findings
        .iter()
        .filter(|finding| finding["rule"] == rule)
        .cloned()
        .collect()
}

fn undecided(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Json> {
    of_rule(&sandbox.findings(arguments), "undecided-semantics")
}

/// Asserts that a run finds an error of `rule` with which Deckhand refuses the site.
#[track_caller]
fn assert_refused(sandbox: &Sandbox, rule: &str, file: &str) {
    for meaning in BOTH {
        assert_eq!(
            sandbox.run(&[&["lint"], meaning].concat()).code,
            1,
            "{meaning:?}"
        );
        let found = of_rule(&sandbox.findings(meaning), rule);
        let is_error = |finding: &&Json| {
            finding["severity"] == "error"
                && finding.to_string().contains(file)
                && finding
                    .to_string()
                    .contains("Deckhand refuses the whole site")
        };
        assert!(
            found.iter().any(|finding| is_error(&finding)),
            "{meaning:?}: {found:#?}"
        );
        assert_eq!(found.len(), 1, "{meaning:?}: {found:#?}");
    }
}

#[test]
fn value_refused_as_a_template_is_an_error_with_both_semantics() {
    let sandbox = Sandbox::with_sites();
    let chart = document("chart-of-lab", "site", "{url: 'mysql://u:PW@db'}").replace(
        "\ndata:",
        "\n  substitutions:\n    - src: {schema: deckhand/Passphrase/v1, name: pw, path: .}\n      \
         dest: {path: .url, pattern: PW}\ndata:",
    );
    sandbox.write("site/lab/chart.yaml", chart);
    let secret = document("pw", "site", "\"a\\\\1b\"")
        .replace("example/Any/v1", "deckhand/Passphrase/v1")
        .replace("cleartext", "encrypted");
    sandbox.write("site/lab/secrets/pw.yaml", secret);
    assert_refused(&sandbox, "invalid-substitution", "site/lab/chart.yaml");
    let found = sandbox.findings(&["--semantics", "documented"]);
    assert!(
        of_rule(&found, "backslash-in-pattern-value").is_empty(),
        "one fault, one finding"
    );
}

#[test]
fn action_that_fails_only_in_deckhand_is_an_error_with_both_semantics() {
    let cases = [
        (
            "{database: {x: 1}}",
            "{method: merge, path: .database}",
            "{database: {y: 2}}",
        ),
        ("{a: s}", "{method: merge, path: '.a[1]'}", "{a: [5, 6]}"),
        ("{a: [1]}", "{method: merge, path: '.a[3]'}", "{a: [5, 6]}"),
    ];
    let rules = [
        "missing-action-path",
        "invalid-action",
        "missing-action-path",
    ];
    for ((parent, actions, data), rule) in cases.into_iter().zip(rules) {
        let sandbox = Sandbox::with_sites();
        sandbox.write("global/parent.yaml", labelled("parent", "global", parent));
        let text = child("child", "site", "parent", actions, data);
        sandbox.write("site/lab/child.yaml", text);
        assert_refused(&sandbox, rule, "site/lab/child.yaml");
    }
}

/// A document that does not differ itself may be refused for what it takes from one that does.
#[test]
fn refusal_caused_by_a_difference_is_an_error_with_both_semantics() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/parent.yaml",
        labelled("parent", "global", "{keep: 1, drop: 1}"),
    );
    let text = child(
        "middle",
        "type",
        "parent",
        "{method: delete, path: .drop}",
        "{}",
    );
    sandbox.write("type/small/middle.yaml", text);
    let text = child(
        "last",
        "site",
        "middle",
        "{method: delete, path: .keep}",
        "{}",
    );
    sandbox.write("site/lab/last.yaml", text);
    assert_refused(&sandbox, "missing-action-path", "site/lab/last.yaml");
}

#[test]
fn schema_that_refuses_only_deckhands_result_is_an_error_with_both_semantics() {
    let sandbox = Sandbox::with_sites();
    let flag = document("flag", "global", "{value: true}");
    sandbox.write("global/flag.yaml", flag);
    let user = document("user", "site", "{text: 'is FLAG'}")
        .replace("example/Any/v1", "example/User/v1")
        .replace(
            "\ndata:",
            "\n  substitutions:\n    - src: {schema: example/Any/v1, name: flag, path: .value}\n      \
             dest: {path: .text, pattern: FLAG}\ndata:",
        );
    sandbox.write("site/lab/user.yaml", user);
    sandbox.write(
        "global/schema.yaml",
        "---\nschema: deckhand/DataSchema/v1\nmetadata:\n  schema: metadata/Control/v1\n  \
         name: example/User/v1\ndata: {type: object, properties: {text: {enum: [is true]}}}\n",
    );
    for meaning in [&BOTH[0], &BOTH[1]] {
        let found = of_rule(&sandbox.findings(meaning), "schema-violation");
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["severity"], "error");
    }
}

/// Words of a text, without HTML tags.
fn words_of(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    let bare = parts.fold(first, |all, part| {
        all + " " + part.split_once('>').map_or(part, |it| it.1)
    });
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_report_names_the_semantics_and_their_origin() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let replicas = document("chart", "global", "{values: {replicas: 2}}");
    sandbox.write("global/chart.yaml", replicas);
    for (configured, arguments, meaning, chosen_by) in [
        (None, &[][..], "documented", "default"),
        (Some("deckhand"), &[], "deckhand", "configuration"),
        (
            Some("deckhand"),
            &["--semantics", "documented"],
            "documented",
            "flag",
        ),
        (Some("deckhand"), &["--isolated"], "documented", "default"),
        (None, &["--semantics", "deckhand"], "deckhand", "flag"),
    ] {
        let file = sandbox.path("layercake.yaml");
        match configured {
            Some(meaning) => std::fs::write(file, format!("semantics: {meaning}\n")).unwrap(),
            None => drop(std::fs::remove_file(file)),
        }
        for verb in [
            &["lint"][..],
            &["lint", "--since", "HEAD"],
            &["diff", "HEAD"],
        ] {
            let words = format!("semantics {meaning} ({chosen_by})");
            let report = |format: &str| {
                let ran = sandbox.run(&[verb, arguments, &["-o", format]].concat());
                assert_eq!((ran.code, &*ran.stderr), (0, ""), "{verb:?} {format}");
                ran.stdout
            };
            for format in ["full", "markdown", "comment", "html"] {
                let text = report(format);
                assert!(
                    words_of(&text).contains(&words),
                    "{verb:?} {format} {words}: {text}"
                );
            }
            let expected = serde_json::json!({"meaning": meaning, "chosen_by": chosen_by});
            let sarif: Json = serde_json::from_str(&report("sarif")).unwrap();
            assert_eq!(sarif["runs"][0]["properties"]["semantics"], expected);
            let saved = report("json");
            let json: Json = serde_json::from_str(&saved).unwrap();
            assert_eq!(json["semantics"], expected);
            let path = sandbox.beside("saved.json");
            std::fs::write(&path, saved).unwrap();
            let path = path.to_str().unwrap();
            for format in ["full", "markdown", "html"] {
                let again = sandbox.run(&["report", path, "-o", format]);
                assert!(
                    words_of(&again.stdout).contains(&words),
                    "{verb:?} {format} {words}: {again:?}"
                );
            }
        }
    }
}

#[test]
fn report_without_differences_names_the_semantics() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let shown = sandbox.run(&["diff", "HEAD"]).stdout;
    assert!(
        words_of(&shown).ends_with(" · semantics documented (default)"),
        "{shown}"
    );
}

#[test]
fn difference_is_an_error_until_semantics_are_chosen() {
    let sandbox = with_index_merge();
    assert_eq!(sandbox.run(&["lint"]).code, 1);
    let found = undecided(&sandbox, &[]);
    assert_eq!(found.len(), 1, "one finding for both sites: {found:#?}");
    let text = found[0].to_string();
    for wanted in [
        "[{path: /a}, {path: /b}, {}, {}, {path: /c}]` (5 items)",
        "[{path: /a}, {path: /b}, {path: /c}]` (3 items)",
        "type/small/host.yaml",
        "`semantics: deckhand`",
        "`semantics: documented`",
        "layercake.yaml",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    for flag in ["documented", "deckhand"] {
        let chosen = ["--semantics", flag];
        assert_eq!(sandbox.run(&[&["lint"], &chosen[..]].concat()).code, 0);
        assert_eq!(sandbox.rules(&chosen), ["different-index-merge"]);
        sandbox.write("layercake.yaml", format!("semantics: {flag}\n"));
        assert_eq!(sandbox.rules(&[]), ["different-index-merge"]);
        assert_eq!(
            undecided(&sandbox, &["--isolated"]).len(),
            1,
            "`--isolated` ignores the configuration"
        );
    }
}

#[test]
fn difference_is_reported_only_at_the_document_that_causes_it() {
    let sandbox = with_index_merge();
    let heir = child("heir", "site", "host", "{method: merge, path: .}", "{x: 1}");
    sandbox.write("site/lab/heir.yaml", heir);
    let copy = document("copy", "site", "{}").replace(
        "\ndata:",
        "\n  substitutions:\n    - src: {schema: example/Any/v1, name: host, path: .files}\n      \
         dest: {path: .files}\ndata:",
    );
    sandbox.write("site/prod/copy.yaml", copy);
    let found = undecided(&sandbox, &[]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].to_string().contains("type/small/host.yaml"));
}

#[test]
fn difference_that_no_output_shows_needs_no_choice() {
    let sandbox = with_index_merge();
    let text = std::fs::read_to_string(sandbox.path("type/small/host.yaml")).unwrap();
    sandbox.write(
        "type/small/host.yaml",
        text.replace("abstract: false", "abstract: true"),
    );
    assert_eq!(
        sandbox
            .rules(&[])
            .iter()
            .filter(|it| *it == "undecided-semantics")
            .count(),
        0
    );
    let heir = child("heir", "site", "host", "{method: merge, path: .}", "{x: 1}");
    sandbox.write("site/lab/heir.yaml", heir);
    let found = undecided(&sandbox, &[]);
    assert_eq!(found.len(), 1, "its child shows it: {found:#?}");
    assert_eq!(found[0]["sites"], serde_json::json!(["lab"]));
}

#[test]
fn two_equal_results_need_no_choice() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/parent.yaml",
        labelled("parent", "global", "{a: [1, 1]}"),
    );
    let text = child(
        "child",
        "site",
        "parent",
        "{method: delete, path: '.a[1]'}",
        "{}",
    );
    sandbox.write("site/lab/child.yaml", text);
    assert_eq!(sandbox.rules(&[]), ["different-delete"]);
}

#[test]
fn action_path_and_control_parent_need_a_choice_too() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/parent.yaml", labelled("parent", "global", "{a: 1}"));
    let text = child(
        "child",
        "site",
        "parent",
        "{method: replace, path: $}",
        "{b: 1}",
    );
    sandbox.write("site/lab/child.yaml", text);
    let found = undecided(&sandbox, &[]);
    assert_eq!(found.len(), 1, "{found:#?}");

    let sandbox = Sandbox::with_sites();
    let control = labelled("parent", "global", "{a: 1}")
        .replace("metadata/Document/v1", "metadata/Control/v1");
    sandbox.write("global/parent.yaml", control);
    let text = child(
        "child",
        "site",
        "parent",
        "{method: merge, path: .}",
        "{b: 1}",
    );
    sandbox.write("site/lab/child.yaml", text);
    let found = undecided(&sandbox, &[]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(undecided(&sandbox, &["--semantics", "deckhand"]).is_empty());
}

#[test]
fn results_that_hold_a_secret_are_not_shown() {
    let reports: Vec<String> = ["hunter2", "correct horse battery staple"]
        .into_iter()
        .map(|secret| {
            let sandbox = Sandbox::with_sites();
            let parent = labelled("parent", "global", "{a: [{x: 1}]}");
            sandbox.write(
                "global/parent.yaml",
                parent.replace("cleartext", "encrypted"),
            );
            let actions = "{method: merge, path: '.a[1]'}";
            let data = format!("{{a: [{{}}, {{y: {secret}}}]}}");
            let text = child("child", "site", "parent", actions, &data);
            sandbox.write(
                "site/lab/child.yaml",
                text.replace("cleartext", "encrypted"),
            );
            let found = undecided(&sandbox, &[]);
            assert_eq!(found.len(), 1, "{found:#?}");
            let ran = sandbox.run(&["lint", "-o", "full"]);
            assert!(
                ran.stdout.contains("both results are secret"),
                "{}",
                ran.stdout
            );
            ran.stdout
                .lines()
                .filter(|line| !line.contains(" rendered "))
                .collect()
        })
        .collect();
    assert!(!reports[0].contains("hunter2"));
    assert_eq!(reports[0].len(), reports[1].len());
}

#[test]
fn init_chooses_semantics_and_says_why() {
    let written = |sandbox: &Sandbox| {
        assert_eq!(sandbox.run(&["init"]).code, 0);
        std::fs::read_to_string(sandbox.path("layercake.yaml")).unwrap()
    };
    let differing = with_index_merge();
    let text = written(&differing);
    let reason = "# This repository has 1 place that renders differently, in 2 sites.\n";
    assert!(
        text.contains(&format!("{reason}semantics: deckhand\n")),
        "{text}"
    );
    assert_eq!(
        differing.run(&["lint"]).code,
        0,
        "it is a warning from then on"
    );
    let text = written(&Sandbox::with_sites());
    assert!(text.contains("# This repository renders equally with both.\nsemantics: deckhand\n"));
    let empty = Sandbox::new();
    empty.write("readme.txt", "nothing\n");
    assert!(written(&empty).contains("could not be rendered"));
    let broken = Sandbox::with_sites();
    broken.write(
        "site/lab/site-definition.yaml",
        definition("lab", "").replace("data", "- data"),
    );
    assert!(written(&broken).contains("semantics: deckhand\n"));
}

/// `refused` in JSON says the same as the notes of a finding.
#[test]
fn refused_agrees_with_the_notes() {
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, \
                  name: layering-policy}\ndata: {layerOrder: [site]}\n";
    let metadata = |name: &str| {
        format!(
            "metadata:\n  schema: metadata/Document/v1\n  name: {name}\n  storagePolicy: \
             cleartext\n  layeringDefinition: {{abstract: false, layer: site}}\n"
        )
    };
    let source = format!(
        "---\nschema: deckhand/Passphrase/v1\n{}data: secret\n",
        metadata("pw")
    );
    let recursion = "recurse: {depth: -1}";
    for (src_path, dest, data, is_refused) in [
        (
            ".",
            format!("path: .a, pattern: PW, {recursion}"),
            "{b: 1}",
            false,
        ),
        (
            ".",
            format!("path: .b.a, pattern: PW, {recursion}"),
            "{b: 1}",
            true,
        ),
        (".", "path: .a, pattern: PW".to_owned(), "{b: 1}", true),
        (
            ".",
            format!("path: .a, pattern: PW, {recursion}"),
            "{a: []}",
            false,
        ),
        (
            ".",
            format!("path: ., pattern: PW, {recursion}"),
            "[]",
            true,
        ),
        (
            ".",
            format!("path: ., pattern: PW, {recursion}"),
            "{}",
            false,
        ),
        (
            ".",
            "path: .a, pattern: '(PW(?(1)a|b))'".to_owned(),
            "{a: PW}",
            false,
        ),
        (".", "path: .a, pattern: '(PW'".to_owned(), "{a: PW}", true),
        (".a/b", "path: .a".to_owned(), "{a: PW}", false),
    ] {
        let sandbox = Sandbox::new();
        let target = format!(
            "---\nschema: example/Kind/v1\n{}  substitutions:\n    - src: {{schema: \
             deckhand/Passphrase/v1, name: pw, path: {src_path}}}\n      dest: {{{dest}}}\ndata: \
             {data}\n",
            metadata("d")
        );
        sandbox.write("in.yaml", format!("{policy}{source}{target}"));
        let findings = sandbox.findings(&["--set", "in.yaml"]);
        assert!(!findings.is_empty(), "{dest} {data}");
        for finding in &findings {
            let notes = finding["notes"].to_string();
            let refuses = notes.contains("Deckhand refuses the whole site")
                && !notes.contains("Deckhand refuses the whole site if ");
            assert_eq!(finding["refused"] == true, refuses, "{finding}");
        }
        let refuses = findings.iter().any(|finding| finding["refused"] == true);
        assert_eq!(refuses, is_refused, "{dest} {data}: {findings:?}");
    }
}
