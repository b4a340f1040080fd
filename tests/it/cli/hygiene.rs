//! Comments that suppress findings, the baseline, fixes and statistics, on
//! real repositories.

use std::fs;

use serde_json::Value as Json;

use super::{Sandbox, broken, document};

/// A document with a duplicate key.
fn doubled(name: &str) -> String {
    document(name, "global", "").replace("\ndata: ", "\ndata:\n  server: 1\n  server: 2")
}

/// A repository with one warning, at `  server: 2`.
fn with_doubled() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/doubled.yaml", doubled("doubled"));
    sandbox
}

/// Inserts lines after the `---` at the start of a text.
fn after_marker(lines: &str, text: &str) -> String {
    match lines {
        "" => text.to_owned(),
        _ => text.replacen("---\n", &format!("---\n{lines}\n"), 1),
    }
}

fn suppressed(findings: &[Json]) -> Vec<&Json> {
    findings
        .iter()
        .filter(|finding| !finding["suppressed"].is_null())
        .collect()
}

fn reported(findings: &[Json]) -> Vec<&str> {
    let open = findings
        .iter()
        .filter(|finding| finding["suppressed"].is_null());
    open.map(|finding| finding["rule"].as_str().unwrap())
        .collect()
}

#[test]
fn ignore_comment_suppresses_findings_on_its_line() {
    let sandbox = with_doubled();
    assert_eq!(sandbox.rules(&[]), ["duplicate-key"]);
    let text = doubled("doubled");
    let at = |line: &str, more: &str| text.replace(line, more);
    for ignoring in [
        at(
            "server: 2",
            "server: 2 # layercake: ignore[duplicate-key] why",
        ),
        at(
            "server: 2",
            "server: 2 # old # layercake: ignore[unknown-tag, duplicate-key] why",
        ),
        at(
            "  server: 2",
            "# layercake: ignore[duplicate-key] why\n  server: 2",
        ),
        at(
            "  server: 2",
            "# layercake: ignore[duplicate-key] why\n\n  # old\n  server: 2",
        ),
        // The first of the two keys is a related place.
        at(
            "server: 1",
            "server: 1 # layercake: ignore[duplicate-key] why",
        ),
        text.replace(
            "---\n",
            "---\n# layercake: ignore-file[duplicate-key] why\n",
        ),
        text.replace(
            "---\n",
            "---\n# layercake: ignore-document[duplicate-key] why\n",
        ),
        format!(
            "{}\n{text}",
            text.replace("doubled", "other")
                .replace("  server: 2\n", "")
        ) + "# layercake: ignore-file[duplicate-key] why\n",
        format!("{text}# layercake: ignore-document[duplicate-key] why\n"),
        text.replace('\n', "\r\n").replace(
            "server: 2",
            "server: 2 # layercake: ignore[duplicate-key] why",
        ),
        format!(
            "\u{feff}{}",
            text.replace(
                "---\n",
                "---\n# layercake: ignore-file[duplicate-key] why\n"
            )
        ),
    ] {
        sandbox.write("global/doubled.yaml", &ignoring);
        let findings = sandbox.findings(&["--site", "lab"]);
        assert_eq!(reported(&findings), [""; 0], "{ignoring}");
        let [only] = suppressed(&findings)[..] else {
            panic!("{ignoring}")
        };
        let line = 1 + ignoring
            .lines()
            .position(|it| it.contains("layercake:"))
            .unwrap();
        assert_eq!(only["suppressed"]["kind"], "comment");
        assert_eq!(only["suppressed"]["file"], "global/doubled.yaml");
        assert_eq!(only["suppressed"]["line"], line, "{ignoring}");
        assert_eq!(only["suppressed"]["reason"], "why", "{ignoring}");
    }
}

#[test]
fn ignore_comment_elsewhere_suppresses_nothing() {
    let sandbox = Sandbox::with_sites();
    let text = doubled("doubled");
    let other = text
        .replace("doubled", "other")
        .replace("  server: 2\n", "");
    for (kept, more) in [
        (
            text.replace("\ndata:", "\ndata: # layercake: ignore[duplicate-key] x"),
            "unused-ignore",
        ),
        (
            format!("{text}# layercake: ignore[duplicate-key] x\n"),
            "unused-ignore",
        ),
        (
            format!("{other}# layercake: ignore[duplicate-key] x\n{text}"),
            "unused-ignore",
        ),
        (
            after_marker("# layercake: ignore-document[duplicate-key] x", &other) + &text,
            "unused-ignore",
        ),
        (
            format!("{text}# layercake: ignore-document[duplicate-key] x\n{other}"),
            "unused-ignore",
        ),
        (
            format!("{text}  more: |\n    # layercake: ignore-file[duplicate-key]\n"),
            "invalid-ignore",
        ),
        (
            format!("{text}  more: 'x # layercake: ignore-file[duplicate-key]'\n"),
            "invalid-ignore",
        ),
        (
            text.replace("server: 2", "server: 2 # layercake: ignore"),
            "invalid-ignore",
        ),
        (
            text.replace("server: 2", "server: 2 # layercake: ignore[]"),
            "invalid-ignore",
        ),
        (
            text.replace("server: 2", "server: 2 # layercake: ignore[default] x"),
            "invalid-ignore",
        ),
        (
            text.replace("server: 2", "server: 2 # layercake: ignore[duplicate-key x"),
            "invalid-ignore",
        ),
    ] {
        sandbox.write("global/doubled.yaml", &kept);
        let mut rules = sandbox.rules(&[]);
        rules.sort();
        let mut expected = ["duplicate-key", more];
        expected.sort_unstable();
        assert_eq!(rules, expected, "{kept}");
    }
}

/// A comment at the start of a document applies to it, whether above its `---` or after it.
#[test]
fn comment_at_a_marker_applies_to_the_document_that_begins_there() {
    let sandbox = Sandbox::with_sites();
    let texts = ["one", "two", "three"].map(doubled);
    let comment = "# layercake: ignore-document[duplicate-key] x\n";
    for (index, name) in ["one", "two", "three"].into_iter().enumerate() {
        let behind = |text: &String| text.replacen("---\n", &format!("---\n{comment}"), 1);
        let above = |text: &String| format!("{comment}{text}");
        let far_above = |text: &String| format!("# old\n{comment}\n# old\n{text}");
        let places: [&dyn Fn(&String) -> String; 3] = [&behind, &above, &far_above];
        for place in &places {
            let mut with = texts.clone();
            with[index] = place(&texts[index]);
            sandbox.write("global/doubled.yaml", with.concat());
            let findings = sandbox.findings(&["-x", "missing-document-start"]);
            let named = |it: &&Json| it["documents"][0]["name"] == name;
            assert_eq!(
                reported(&findings),
                ["duplicate-key"; 2],
                "{}",
                with.concat()
            );
            assert_eq!(suppressed(&findings).len(), 1);
            assert!(suppressed(&findings).iter().all(named), "{}", with.concat());
        }
    }
    // After a `---` it belongs to that document, even if the document is otherwise empty.
    sandbox.write(
        "global/doubled.yaml",
        format!("---\n# layercake: ignore[empty-document] x\n{}", texts[0]),
    );
    assert_eq!(reported(&sandbox.findings(&[])), ["duplicate-key"]);
    sandbox.write("global/doubled.yaml", format!("---\n{comment}{}", texts[0]));
    assert!(reported(&sandbox.findings(&[])).contains(&"duplicate-key"));
}

#[test]
fn page_about_ignoring_shows_working_comments() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ignoring.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page
        .split("```yaml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let sandbox = Sandbox::with_sites();
    let plain: Vec<&str> = block
        .lines()
        .map(|line| line.split("# layercake:").next().unwrap())
        .collect();
    sandbox.write("global/shown.yaml", plain.join("\n"));
    assert_eq!(reported(&sandbox.findings(&[])), ["duplicate-key"; 2]);
    sandbox.write("global/shown.yaml", block);
    let findings = sandbox.findings(&[]);
    assert_eq!(reported(&findings), [""; 0]);
    assert_eq!(suppressed(&findings).len(), 2);
}

#[test]
fn finding_in_a_child_can_be_ignored_in_child_or_parent() {
    let labelled = document("parent", "global", "{}")
        .replace("abstract: false", "abstract: true")
        .replace("  name:", "  labels: {of: all}\n  name:");
    let twin = labelled.replace("name: parent", "name: twin");
    let child = document("child", "site", "{}").replace(
        "layer: site}",
        "layer: site, parentSelector: {of: all}, actions: [{method: merge, path: .}]}",
    );
    let ignore = "# layercake: ignore-file[ambiguous-parent] until one is gone";
    for (at_parent, at_child) in [("", ""), (ignore, ""), ("", ignore)] {
        let sandbox = Sandbox::with_sites();
        sandbox.write("global/parent.yaml", after_marker(at_parent, &labelled));
        sandbox.write("global/twin.yaml", &twin);
        sandbox.write("site/lab/child.yaml", after_marker(at_child, &child));
        let findings = sandbox.findings(&[]);
        let rules = reported(&findings);
        match (at_parent, at_child) {
            ("", "") => assert_eq!(rules, ["ambiguous-parent"], "{findings:?}"),
            _ => {
                assert_eq!(rules, [""; 0], "{findings:?}");
                let file = if at_child.is_empty() {
                    "global/parent.yaml"
                } else {
                    "site/lab/child.yaml"
                };
                assert_eq!(suppressed(&findings)[0]["suppressed"]["file"], file);
            }
        }
    }
}

#[test]
fn ignored_findings_are_counted_and_shown_on_request() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    assert_eq!(sandbox.run(&["lint"]).code, 1);
    let text = broken().replace(
        "name: nowhere,",
        "name: nowhere, # layercake: ignore[P005] later\n       ",
    );
    sandbox.write("site/lab/broken.yaml", text);
    let ran = sandbox.run(&["lint"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains(" rendered · 1 ignored · "), "{ran:?}");
    assert!(!ran.stdout.contains("missing-source"), "{ran:?}");
    let shown = sandbox.run(&["lint", "--show-ignored"]);
    assert_eq!(shown.code, 0);
    assert!(shown.stdout.contains("error[missing-source]"), "{shown:?}");
    assert!(
        shown
            .stdout
            .contains("  ignored: by site/lab/broken.yaml:9: later\n"),
        "{shown:?}"
    );
    let concise = sandbox.run(&["lint", "--show-ignored", "-o", "concise"]);
    assert!(concise.stdout.ends_with(" (ignored)\n"), "{concise:?}");
    assert_eq!(sandbox.run(&["lint", "-o", "concise"]).stdout, "");
    let json = sandbox.run(&["lint", "-o", "json"]);
    assert_eq!(json.json()["totals"]["ignored"], 1);
    assert_eq!(json.json()["statistics"][0]["ignored"], 1);
    assert_eq!(json.json()["statistics"][0]["count"], 0);
}

#[test]
fn partial_run_does_not_report_unused_ignores() {
    let sandbox = Sandbox::with_sites();
    let text = doubled("doubled").replace("  server: 1\n", "");
    sandbox.write(
        "global/doubled.yaml",
        text.replace(
            "server: 2",
            "server: 2 # layercake: ignore[duplicate-key] x",
        ),
    );
    assert_eq!(sandbox.rules(&[]), ["unused-ignore"]);
    assert_eq!(sandbox.rules(&["--site", "lab"]), [""; 0]);
    assert_eq!(sandbox.rules(&["global"]), [""; 0]);
}

#[test]
fn comparison_applies_comments_to_their_own_side() {
    let sandbox = with_doubled();
    let open = doubled("doubled");
    let ignored = open.replace(
        "server: 2",
        "server: 2 # layercake: ignore[duplicate-key] x",
    );
    let since = |before: &str, after: &str| {
        sandbox.write("global/doubled.yaml", before);
        sandbox.write("mark", before.len().to_string() + after);
        sandbox.commit();
        sandbox.write("global/doubled.yaml", after);
        let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json", "--all-findings"]);
        let report = ran.json();
        let findings = report["findings"].as_array().unwrap().clone();
        let states = findings.iter().map(|it| {
            let word = it["suppressed"]["kind"].as_str().or(it["state"].as_str());
            word.unwrap().to_owned()
        });
        let states: Vec<String> = states.collect();
        (
            states,
            report["comparison"]["added_ignores"].as_u64().unwrap(),
        )
    };
    assert_eq!(since(&open, &ignored), (vec!["comment".to_owned()], 1));
    assert_eq!(since(&ignored, &open), (vec!["new".to_owned()], 0));
    assert_eq!(since(&ignored, &ignored), (vec!["comment".to_owned()], 0));
    assert_eq!(since(&open, &open), (vec!["unchanged".to_owned()], 0));
    let fixed = ignored
        .replace("  server: 1\n", "")
        .replace(" # layercake: ignore[duplicate-key] x", "");
    assert_eq!(since(&ignored, &fixed), (vec![], 0));
    assert_eq!(since(&open, &fixed), (vec!["fixed".to_owned()], 0));
    sandbox.write("global/doubled.yaml", &ignored);
    let ran = sandbox.run(&["lint", "--since", "HEAD"]);
    assert!(
        ran.stdout
            .contains(" · 1 new ignore comment · 1 ignored · "),
        "{ran:?}"
    );
}

#[test]
fn baseline_accepts_existing_findings() {
    let sandbox = with_doubled();
    sandbox.break_site("lab");
    let ran = sandbox.run(&["baseline", "write"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, ".layercake-baseline.json accepts 2 findings\n")
    );
    let baseline = fs::read_to_string(sandbox.path(".layercake-baseline.json")).unwrap();
    assert_eq!(
        baseline
            .lines()
            .filter(|line| line.contains("\"rule\""))
            .count(),
        2,
        "{baseline}"
    );
    assert!(
        baseline.contains("\"subject\":\"server\",\"count\":1"),
        "{baseline}"
    );
    let ran = sandbox.run(&["lint"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains(" rendered · 2 in the baseline · "),
        "{ran:?}"
    );
    assert_eq!(sandbox.run(&["lint", "--no-baseline"]).code, 1);
    let json = sandbox.run(&["lint", "-o", "json"]);
    for finding in json.json()["findings"].as_array().unwrap() {
        assert_eq!(finding["suppressed"]["kind"], "baseline");
        let line = finding["suppressed"]["line"].as_u64().unwrap() as usize;
        let print = finding["fingerprint"].as_str().unwrap();
        assert!(
            baseline.lines().nth(line - 1).unwrap().contains(print),
            "{finding}"
        );
    }
    let shown = sandbox.run(&["baseline", "show"]).stdout;
    assert!(
        shown.contains("1  duplicate-key   global/doubled.yaml"),
        "{shown}"
    );
    // Writing it again gives the same bytes.
    sandbox.run(&["baseline", "write"]);
    assert_eq!(
        fs::read_to_string(sandbox.path(".layercake-baseline.json")).unwrap(),
        baseline
    );
}

#[test]
fn baseline_matches_a_finding_whose_lines_or_file_moved() {
    let sandbox = with_doubled();
    sandbox.run(&["baseline", "write"]);
    sandbox.write(
        "global/doubled.yaml",
        after_marker("# a\n\n# b", &doubled("doubled")),
    );
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
    sandbox.write(
        "global/doubled.yaml",
        doubled("doubled").replace("server: 2", "server: 3"),
    );
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
    fs::remove_file(sandbox.path("global/doubled.yaml")).unwrap();
    sandbox.write("global/moved/here.yaml", doubled("doubled"));
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
    // Another document, or another key, is a different finding.
    sandbox.write("global/moved/here.yaml", doubled("renamed"));
    assert_eq!(
        reported(&sandbox.findings(&[])),
        ["stale-baseline", "duplicate-key"]
    );
    sandbox.write(
        "global/moved/here.yaml",
        doubled("doubled").replace("server", "domain"),
    );
    assert_eq!(
        reported(&sandbox.findings(&[])),
        ["stale-baseline", "duplicate-key"]
    );
}

#[test]
fn finding_beyond_the_baseline_count_is_reported() {
    let sandbox = with_doubled();
    sandbox.run(&["baseline", "write"]);
    sandbox.write("global/doubled.yaml", doubled("doubled") + "  server: 3\n");
    let findings = sandbox.findings(&[]);
    assert_eq!(reported(&findings), ["duplicate-key"]);
    let open = findings
        .iter()
        .find(|it| it["suppressed"].is_null())
        .unwrap();
    assert_eq!(open["primary"]["line"], 11, "{open}");
    let note = open["notes"].as_array().unwrap().last().unwrap();
    assert_eq!(
        note,
        "the baseline accepts one identical finding, and this is another"
    );
}

#[test]
fn baseline_entry_does_not_accept_the_fault_in_another_site() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.run(&["baseline", "write"]);
    // The same document, by name, in the other site; the first is fixed.
    fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    sandbox.write("site/lab/broken.yaml", document("broken", "site", "{}"));
    sandbox.break_site("prod");
    let findings = sandbox.findings(&[]);
    assert_eq!(reported(&findings), ["stale-baseline", "missing-source"]);
}

/// The fault is in one parent, and the child in each site shows it.
#[test]
fn fault_inherited_in_all_sites_is_one_baseline_entry() {
    let head = |kind: &str, name: &str, layer: &str| {
        format!(
            "---\nschema: {kind}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
             storagePolicy: cleartext\n  labels: {{name: {name}}}\n  layeringDefinition:\n    \
             layer: {layer}\n"
        )
    };
    let sandbox = Sandbox::with_sites();
    let schema = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, \
                  name: example/Rack/v1}\ndata:\n  properties: {units: {type: integer}}\n";
    sandbox.write("global/schema.yaml", schema);
    let parent = head("example/Rack/v1", "rack", "global") + "    abstract: true\n";
    sandbox.write("global/rack.yaml", parent + "data: {units: many}\n");
    for site in ["lab", "prod"] {
        let child = head("example/Rack/v1", &format!("rack-of-{site}"), "site")
            + "    parentSelector: {name: rack}\n    actions: [{method: merge, path: .}]\n";
        sandbox.write(
            &format!("site/{site}/rack.yaml"),
            child + "data: {power: ac}\n",
        );
    }
    assert_eq!(reported(&sandbox.findings(&[])), ["schema-violation"]);
    sandbox.run(&["baseline", "write"]);
    let findings = sandbox.findings(&[]);
    assert_eq!(reported(&findings), [""; 0]);
    assert_eq!(suppressed(&findings).len(), 1);
    assert_eq!(
        suppressed(&findings)[0]["sites"],
        serde_json::json!(["lab", "prod"])
    );
}

#[test]
fn fixed_findings_are_pruned_from_the_baseline() {
    let sandbox = with_doubled();
    sandbox.break_site("lab");
    sandbox.run(&["baseline", "write"]);
    fs::remove_file(sandbox.path("global/doubled.yaml")).unwrap();
    let findings = sandbox.findings(&[]);
    assert_eq!(reported(&findings), ["stale-baseline"]);
    assert_eq!(findings[0]["primary"]["file"], ".layercake-baseline.json");
    assert_eq!(findings[0]["primary"]["line"], 4);
    assert_eq!(reported(&sandbox.findings(&["--site", "lab"])), [""; 0]);
    assert_eq!(reported(&sandbox.findings(&["site/lab"])), [""; 0]);
    let ran = sandbox.run(&["baseline", "prune"]);
    let pruned = ".layercake-baseline.json accepts 1 finding, 1 fewer than before\n";
    assert_eq!((ran.code, &*ran.stdout), (0, pruned));
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
    assert_eq!(sandbox.run(&["lint"]).code, 0);
}

#[test]
fn damaged_baseline_ends_the_run() {
    let sandbox = with_doubled();
    sandbox.run(&["baseline", "write"]);
    let path = sandbox.path(".layercake-baseline.json");
    let whole = fs::read_to_string(&path).unwrap();
    for (damaged, line) in [
        (whole.replace("\"rule\"", "\"ruel\""), 4),
        (whole.replace("\"count\":1", "\"count\":0"), 4),
        (whole.replace("baseline:1", "baseline:2"), 1),
        (whole.replace("  ]", "  ],"), 6),
        ("<<<<<<< HEAD\n".to_owned() + &whole, 1),
        (String::new(), 1),
    ] {
        fs::write(&path, &damaged).unwrap();
        for verb in [&["lint"][..], &["baseline", "prune"], &["baseline", "show"]] {
            let ran = sandbox.run(verb);
            assert_eq!(ran.code, 2, "{ran:?}");
            let error = format!("error: invalid baseline: .layercake-baseline.json:{line}: ");
            assert!(ran.stderr.starts_with(&error), "{damaged}: {ran:?}");
            assert!(ran.stderr.contains("  help: fix it"), "{ran:?}");
        }
        assert_eq!(sandbox.run(&["lint", "--no-baseline"]).code, 0);
    }
    fs::write(&path, b"\xff").unwrap();
    assert_eq!(sandbox.run(&["lint"]).code, 2);
}

#[test]
fn baseline_at_a_given_path_must_exist() {
    let sandbox = with_doubled();
    let ran = sandbox.run(&["baseline", "write", "--baseline", "accepted.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!sandbox.path(".layercake-baseline.json").exists());
    assert_eq!(sandbox.rules(&["--no-baseline"]), ["duplicate-key"]);
    assert_eq!(
        reported(&sandbox.findings(&["--baseline", "accepted.json"])),
        [""; 0]
    );
    assert_eq!(sandbox.run(&["lint", "--baseline", "nosuch.json"]).code, 2);
    assert_eq!(sandbox.run(&["baseline", "show"]).code, 2);
    assert_eq!(sandbox.run(&["baseline", "prune"]).code, 2);
}

/// A chart that lists a substitution twice.
fn repeated() -> String {
    let item = "    - src: {schema: example/Any/v1, name: dns, path: .server}\n      \
                dest: {path: .server}\n";
    let substitutions = format!("  substitutions:\n{item}{item}");
    document("repeated", "site", "{server: none}")
        .replace("\ndata:", &format!("\n{substitutions}data:"))
}

#[test]
fn fixes_change_nothing_else() {
    let once = repeated().replacen(
        "    - src: {schema: example/Any/v1, name: dns, path: .server}\n      dest: {path: .server}\n",
        "",
        1,
    );
    for style in ["\n", "\r\n"] {
        for (mark, kept, after) in [
            ("", "", ""),
            ("\u{feff}", "", ""),
            ("", "# kept   \n", "# kept"),
        ] {
            let sandbox = Sandbox::with_sites();
            let styled = |text: &str| {
                format!("{mark}{}{after}", after_marker(kept, text)).replace('\n', style)
            };
            sandbox.write("site/lab/repeated.yaml", styled(&repeated()));
            assert_eq!(sandbox.rules(&[]), ["repeated-substitution"]);
            let data = || -> Vec<Json> {
                let report = sandbox.run(&["render", "--format", "json"]).json();
                let sites = report["sites"].as_array().unwrap().iter();
                let documents = sites.flat_map(|site| site["documents"].as_array().unwrap());
                documents.map(|document| document["data"].clone()).collect()
            };
            let rendered = data();
            let ran = sandbox.run(&["lint", "--diff"]);
            assert_eq!(ran.stderr, "would fix 1 finding in 1 file\n");
            let path = sandbox.path("site/lab/repeated.yaml");
            assert_eq!(fs::read_to_string(&path).unwrap(), styled(&repeated()));
            let removed = ran.stdout.lines().filter(|it| it.starts_with('-')).count();
            assert_eq!(removed, 3, "{ran:?}");
            let ran = sandbox.run(&["lint", "--fix"]);
            assert_eq!(
                (ran.code, &*ran.stderr),
                (0, "fixed 1 finding in 1 file\n"),
                "{ran:?}"
            );
            assert!(ran.stdout.contains("no findings"), "{ran:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), styled(&once));
            assert_eq!(data(), rendered);
            let again = sandbox.run(&["lint", "--fix"]);
            assert_eq!(again.stderr, "fixed 0 findings in 0 files\n");
        }
    }
}

#[test]
fn only_the_unused_part_of_a_comment_is_removed() {
    let sandbox = Sandbox::with_sites();
    let plain = doubled("doubled");
    let path = sandbox.path("global/doubled.yaml");
    for (before, after) in [
        (
            plain.replace(
                "  server: 1",
                "  # layercake: ignore[unknown-tag] x\n  server: 1",
            ),
            plain.clone(),
        ),
        (
            plain.replace("\ndata:", "\ndata:  # layercake: ignore[unknown-tag] x"),
            plain.clone(),
        ),
        (
            plain.replace(
                "\ndata:",
                "\ndata:  # layercake: ignore[unknown-tag] x # theirs",
            ),
            plain.replace("\ndata:", "\ndata:  # theirs"),
        ),
        (
            plain.replace(
                "server: 2",
                "server: 2 # layercake: ignore[unknown-tag, duplicate-key] x",
            ),
            plain.replace(
                "server: 2",
                "server: 2 # layercake: ignore[duplicate-key] x",
            ),
        ),
        (
            format!("{plain}# layercake: ignore-file[unknown-tag]"),
            plain.trim_end().to_owned(),
        ),
    ] {
        sandbox.write("global/doubled.yaml", &before);
        let ran = sandbox.run(&["lint", "--fix"]);
        assert_eq!(ran.stderr, "fixed 1 finding in 1 file\n", "{before}");
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{before}");
    }
}

#[test]
fn fixes_change_only_the_working_tree() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/repeated.yaml", repeated());
    sandbox.commit();
    for flag in ["--fix", "--diff", "--add-ignore"] {
        for arguments in [
            &["--rev", "HEAD"][..],
            &["--staged"],
            &["--from", "HEAD"],
            &["--from", "HEAD", "--to", "index"],
        ] {
            let ran = sandbox.run(&[&["lint", flag], arguments].concat());
            assert_eq!(
                (ran.code, &*ran.stdout),
                (2, ""),
                "{flag} {arguments:?}: {ran:?}"
            );
        }
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // With a base, only new findings are fixed.
    let ran = sandbox.run(&["lint", "--fix", "--since", "HEAD"]);
    assert_eq!(ran.stderr, "fixed 0 findings in 0 files\n", "{ran:?}");
    sandbox.write("site/prod/repeated.yaml", repeated());
    let ran = sandbox.run(&["lint", "--fix", "--since", "HEAD"]);
    assert_eq!(ran.stderr, "fixed 1 finding in 1 file\n", "{ran:?}");
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]),
        "?? site/prod/repeated.yaml\n"
    );
    assert_eq!(sandbox.rules(&["--site", "prod"]), [""; 0]);
}

#[cfg(unix)]
#[test]
fn special_files_are_not_fixed() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("kept/repeated.yaml", repeated());
    std::os::unix::fs::symlink(
        "../../kept/repeated.yaml",
        sandbox.path("site/lab/link.yaml"),
    )
    .unwrap();
    assert_eq!(sandbox.rules(&[]), ["repeated-substitution"]);
    let ran = sandbox.run(&["lint", "--fix"]);
    assert_eq!(ran.stderr, "fixed 0 findings in 0 files\n");
    let ran = sandbox.run(&["lint", "--add-ignore"]);
    assert!(
        ran.stderr
            .contains("site/lab/link.yaml:12: cannot ignore `repeated-substitution`"),
        "{ran:?}"
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("kept/repeated.yaml")).unwrap(),
        repeated()
    );
}

#[test]
fn printed_diff_shows_no_secret() {
    let sandbox = Sandbox::with_sites();
    let secret = document("password", "site", "hunter-2-hunter")
        .replace("example/Any/v1", "deckhand/Passphrase/v1")
        .replace("cleartext", "encrypted");
    let comment = "# layercake: ignore-document[unknown-tag] x\n";
    // After the key of the data, a comment may be part of the secret.
    let commented = secret.replace("\ndata:", &format!("\n{comment}data:"));
    sandbox.write("site/lab/secret.yaml", commented);
    let ran = sandbox.run(&["lint", "--diff"]);
    assert_eq!(ran.stderr, "would fix 1 finding in 1 file\n", "{ran:?}");
    assert!(ran.stdout.contains(&format!("\n-{comment}")), "{ran:?}");
    assert!(ran.stdout.contains("data: (hidden)"), "{ran:?}");
    assert!(!ran.stdout.contains("hunter"), "{ran:?}");
}

#[test]
fn inserted_ignores_parse_as_comments() {
    let sandbox = with_doubled();
    sandbox.break_site("lab");
    sandbox.write(
        "site/prod/only.yaml",
        document("only", "site", "!nosuch |\n  a\n  b"),
    );
    let quoted = document("quoted", "global", "{a: \"x\n  y\", a: \"z\n\n  z\"}");
    sandbox.write("global/quoted.yaml", quoted.replace('\n', "\r\n"));
    let before: Vec<String> = sandbox.rules(&[]);
    assert!(before.len() > 3, "{before:?}");
    let rendered = sandbox.run(&["render"]).stdout;
    let ran = sandbox.run(&["lint", "--add-ignore=known since May"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stderr,
        format!("ignored {} findings in 4 files\n", before.len()),
        "{ran:?}"
    );
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
    assert_eq!(sandbox.run(&["render"]).stdout, rendered);
    let text = fs::read_to_string(sandbox.path("global/quoted.yaml")).unwrap();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    let findings = sandbox.findings(&[]);
    assert!(
        suppressed(&findings)
            .iter()
            .all(|it| it["suppressed"]["reason"] == "known since May")
    );
    assert_eq!(sandbox.run(&["lint", "--add-ignore=a # b"]).code, 2);
}

/// A document that substitutes a mapping and then writes into it more than one level deep;
/// `source` is the first `src`.
fn leaking(source: &str) -> String {
    document("leaking", "site", "{}").replace(
        "\ndata:",
        &format!(
            "\n  substitutions:\n    - src:{source}\n      dest: {{path: .in}}\n    \
             - src: {{schema: example/Any/v1, name: chart, path: .values.replicas}}\n      \
             dest: {{path: .in.deep.er}}\ndata:"
        ),
    )
}

#[test]
fn unsafe_fix_is_applied_only_on_request() {
    let block = "\n        schema: example/Any/v1\n        name: source\n        path: .";
    let flow = " {schema: example/Any/v1, name: source, path: .}";
    let added_block = block.replacen("schema", "deepcopy: true\n        schema", 1);
    let added_flow = flow.replacen("schema", "deepcopy: true, schema", 1);
    let off = " {schema: example/Any/v1, name: source, path: ., deepcopy: false}";
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/source.yaml",
        document("source", "global", "{deep: {a: 1}}"),
    );
    for (before, after) in [
        (block.to_owned(), added_block.clone()),
        (flow.to_owned(), added_flow),
        (off.to_owned(), off.replace("false", "true")),
        (
            block.replace('\n', "\r\n"),
            added_block.replace('\n', "\r\n"),
        ),
    ] {
        let (before, after) = (leaking(&before), leaking(&after));
        sandbox.write("site/lab/leaking.yaml", &before);
        assert_eq!(sandbox.rules(&[]), ["leaking-substitution"], "{before}");
        let text = || fs::read_to_string(sandbox.path("site/lab/leaking.yaml")).unwrap();
        let fixed = sandbox.run(&["lint", "--fix"]);
        assert!(
            fixed
                .stderr
                .contains("1 finding left with an unsafe fix; pass `--unsafe-fixes`"),
            "{fixed:?}"
        );
        assert_eq!(text(), before);
        let shown = sandbox.run(&["lint", "--diff", "--unsafe-fixes"]);
        assert!(shown.stdout.contains("deepcopy: true"), "{shown:?}");
        assert_eq!(text(), before);
        let fixed = sandbox.run(&["lint", "--fix", "--unsafe-fixes"]);
        assert!(
            fixed.stderr.contains("fixed 1 finding in 1 file"),
            "{fixed:?}"
        );
        assert_eq!(text(), after);
        assert_eq!(sandbox.rules(&[]), [""; 0], "{after}");
    }
    let refused = sandbox.run(&["lint", "--unsafe-fixes"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn reports_mark_unsafe_fixes() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/source.yaml",
        document("source", "global", "{deep: {a: 1}}"),
    );
    sandbox.write(
        "site/lab/leaking.yaml",
        leaking(" {schema: example/Any/v1, name: source, path: .}"),
    );
    let ran = sandbox.run(&["lint", "-o", "json"]);
    let report = ran.json();
    assert_eq!(report["findings"][0]["fix"]["safety"], "unsafe");
    assert_eq!(
        report["statistics"][0]["fixable"], 0,
        "`--fix` alone does not apply it"
    );
    let sarif = sandbox.run(&["lint", "-o", "sarif"]).json();
    let description = &sarif["runs"][0]["results"][0]["fixes"][0]["description"]["text"];
    let words = "add `deepcopy: true` to the source (unsafe: `--fix --unsafe-fixes`)";
    assert_eq!(description, words);
    let html = sandbox.run(&["lint", "-o", "html"]).stdout;
    assert!(html.contains("<dt>--fix --unsafe-fixes</dt>"));
    let text = sandbox.run(&["lint"]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Deckhand 0531c10 or later"), "{text}");
    assert!(
        text.contains("`lint --fix --unsafe-fixes` adds it"),
        "{text}"
    );
}

/// An invalid entry is not a substitution, but has its place in the list.
#[test]
fn unsafe_fix_edits_the_leaking_entry() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/source.yaml",
        document("source", "global", "{deep: {a: 1}}"),
    );
    let flow = " {schema: example/Any/v1, name: source, path: .}";
    let broken = "\n    - src: {schema: example/Any/v1, name: source, path: '.a['}\n      \
                  dest: {path: .other}";
    let with_broken = |source: &str| {
        leaking(source).replace("\n  substitutions:", &format!("\n  substitutions:{broken}"))
    };
    sandbox.write("site/lab/leaking.yaml", with_broken(flow));
    let mut rules = sandbox.rules(&[]);
    rules.sort();
    assert_eq!(rules, ["invalid-path", "leaking-substitution"]);
    sandbox.run(&["lint", "--fix", "--unsafe-fixes"]);
    let text = fs::read_to_string(sandbox.path("site/lab/leaking.yaml")).unwrap();
    assert_eq!(
        text,
        with_broken(&flow.replacen("schema", "deepcopy: true, schema", 1))
    );
}

/// A source that other substitutions may share is left unchanged.
#[test]
fn aliased_source_has_no_fix() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/source.yaml",
        document("source", "global", "{deep: {a: 1}}"),
    );
    let shared = " &shared {schema: example/Any/v1, name: source, path: .}";
    sandbox.write("site/lab/leaking.yaml", leaking(shared));
    let found = sandbox.findings(&[]);
    assert_eq!(found[0]["rule"], "leaking-substitution");
    assert!(found[0]["fix"].is_null(), "{found:#?}");
}

/// A document with actions, whose parent is `parent` of the layer `global`.
fn layered(actions: &str) -> String {
    document("child", "site", "{a: 1}").replace(
        "layer: site}",
        &format!("layer: site, parentSelector: {{name: parent}}, actions: {actions}}}"),
    )
}

/// A repository with `parent`, and a schema for documents `example/Node/v1`.
fn with_parent() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let parent = document("parent", "global", "{a: 0, b: 0}");
    let labelled = parent.replace("name: parent", "name: parent\n  labels: {name: parent}");
    sandbox.write("global/parent.yaml", labelled);
    sandbox.write(
        "global/schema.yaml",
        data_schema(
            "example/Node/v1",
            "properties: {role: {enum: [master, worker]}}",
        ) + "  additionalProperties: false\n",
    );
    sandbox
}

fn data_schema(name: &str, data: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: {name}}}\n\
         data:\n  type: object\n  {data}\n"
    )
}

/// A document that the schema of [`with_parent`] describes.
fn node(data: &str) -> String {
    document("node", "site", data).replace("example/Any/v1", "example/Node/v1")
}

/// Rule, path and text of a mistake for which the help suggests a word, and the corrected text.
fn guessed() -> Vec<(&'static str, &'static str, String, String)> {
    let site = "site/lab/file.yaml";
    let any = |data: &str| document("any", "site", data);
    let schema = |data: &str| data_schema("example/Other/v1", data);
    let ignoring = |names: &str| any(&format!("{{a: 1, a: 2}} # layercake: ignore[{names}] why"));
    let group = |group: &str| {
        let properties = "properties: {a: {type: string}, b: {type: string}}";
        schema(&format!(
            "{properties}\n  property_groups: [{{one: {{{group}}}}}]"
        ))
    };
    let mut all = vec![
        (
            "unknown-document-key",
            site,
            any("{}").replace("\ndata", "\ndta"),
            any("{}"),
        ),
        (
            "invalid-ignore",
            site,
            ignoring("duplicat-key"),
            ignoring("duplicate-key"),
        ),
        (
            "unknown-schema-keyword",
            site,
            schema("\"requried\": [a]"),
            schema("\"required\": [a]"),
        ),
        (
            "invalid-property-group",
            site,
            group("properties: [a, b], operator: xro"),
            group("properties: [a, b], operator: xor"),
        ),
        (
            "invalid-property-group",
            site,
            group("propertis: [a, b], operator: xor"),
            group("properties: [a, b], operator: xor"),
        ),
        (
            "schema-violation",
            site,
            node("{rol: master}"),
            node("{role: master}"),
        ),
        (
            "invalid-document",
            site,
            any("{}").replace("  name:", "  lables: {a: b}\n  name:"),
            any("{}").replace("  name:", "  labels: {a: b}\n  name:"),
        ),
    ];
    for quote in ["", "\"", "'"] {
        let quoted = |word: &str| format!("{quote}{word}{quote}");
        let actions = |word: &str| layered(&format!("[{{method: {}, path: .}}]", quoted(word)));
        let layer = |layer: &str| document("any", &quoted(layer), "{}");
        let of_type = |word: &str| {
            super::definition("lab", "")
                .replace("site_type: small", &format!("site_type: {}", quoted(word)))
        };
        let role = |role: &str| node(&format!("{{role: {}}}", quoted(role)));
        all.extend([
            ("invalid-action", site, actions("mrege"), actions("merge")),
            ("unknown-layer", site, layer("sitte"), layer("site")),
            (
                "missing-type",
                "site/lab/site-definition.yaml",
                of_type("smal"),
                of_type("small"),
            ),
            ("schema-violation", site, role("wroker"), role("worker")),
        ]);
    }
    all
}

#[test]
fn suggested_words_are_written_only_on_request() {
    for (rule, path, before, after) in guessed() {
        let sandbox = with_parent();
        sandbox.write(path, &before);
        let text = || fs::read_to_string(sandbox.path(path)).unwrap();
        let found = sandbox.findings(&[]);
        let is_guess = |it: &&Json| it["rule"] == rule && it["fix"]["safety"] == "unsafe";
        assert_eq!(found.iter().filter(is_guess).count(), 1, "{rule}: {before}");
        let fixed = sandbox.run(&["lint", "--fix"]);
        assert!(
            fixed
                .stderr
                .contains("left with an unsafe fix; pass `--unsafe-fixes`"),
            "{fixed:?}"
        );
        assert_eq!(text(), before);
        let fixed = sandbox.run(&["lint", "--fix", "--unsafe-fixes"]);
        assert!(
            fixed.stderr.starts_with("fixed 1 finding in 1 file"),
            "{rule}: {fixed:?}"
        );
        assert_eq!(text(), after, "{rule}");
        assert!(
            !sandbox.rules(&[]).iter().any(|it| it == rule),
            "{rule}: {after}"
        );
    }
}

/// Words that an alias may share, and words that are not exactly the wrong one.
#[test]
fn uncertain_words_have_a_suggestion_without_a_fix() {
    let any = |layer: &str| document("any", layer, "{}");
    for (rule, text) in [
        ("invalid-action", layered("[{method: &m mrege, path: .}]")),
        (
            "invalid-action",
            layered("[{method: &m mrege, path: .}, {method: *m, path: .a}]"),
        ),
        (
            "invalid-action",
            layered("[&a {method: mrege, path: .}, *a]"),
        ),
        (
            "invalid-action",
            layered("[{method: \"mre\\x67e\", path: .}]"),
        ),
        ("unknown-layer", any("&l\n      sitte")),
        (
            "unknown-layer",
            any("!!str sitte").replace("name: any", "name: &n any"),
        ),
    ] {
        let sandbox = with_parent();
        sandbox.write("site/lab/file.yaml", &text);
        let found = sandbox.findings(&[]);
        let found: Vec<&Json> = found.iter().filter(|it| it["rule"] == rule).collect();
        assert!(!found.is_empty(), "no {rule}: {text}");
        for finding in found {
            assert!(
                finding["help"]
                    .as_str()
                    .unwrap()
                    .starts_with("did you mean"),
                "{finding}"
            );
            assert!(finding["fix"].is_null(), "{text}: {finding}");
        }
        sandbox.run(&["lint", "--fix", "--unsafe-fixes"]);
        assert_eq!(
            fs::read_to_string(sandbox.path("site/lab/file.yaml")).unwrap(),
            text
        );
    }
}

/// The action names nothing, which the unknown method hid.
#[test]
fn guess_that_reveals_an_error_is_not_applied() {
    let sandbox = with_parent();
    let action = |word: &str| layered(&format!("[{{method: {word}, path: .nowhere}}]"));
    let unused = "# layercake: ignore-document[unknown-tag] x\n";
    let with_unused = |text: String| text.replacen("---\n", &format!("---\n{unused}"), 1);
    sandbox.write("site/lab/file.yaml", with_unused(action("mrege")));
    sandbox.write("site/prod/file.yaml", document("any", "sitte", "{}"));
    let fixed = sandbox.run(&["lint", "--fix", "--unsafe-fixes"]);
    assert_eq!(fixed.code, 1, "{fixed:?}");
    let warning = "warning: an unsafe fix of `site/lab/file.yaml` would cause new errors and was \
                   not applied\n";
    assert!(fixed.stderr.starts_with(warning), "{fixed:?}");
    assert!(
        fixed.stderr.ends_with("fixed 2 findings in 2 files\n"),
        "{fixed:?}"
    );
    let text = |path: &str| fs::read_to_string(sandbox.path(path)).unwrap();
    assert_eq!(
        text("site/lab/file.yaml"),
        action("mrege"),
        "the safe fix is applied"
    );
    assert_eq!(text("site/prod/file.yaml"), document("any", "site", "{}"));
}

/// Pegleg refuses a file whose first line is not just `---`.
#[test]
fn no_comment_is_inserted_above_or_beside_the_first_marker() {
    let [quoted, second] = ["quoted", "second"]
        .map(|name| document(name, "global", "{a: \"x\n  y\", a: \"z\n\n  z\"}"));
    let ignoring = |word: &str, rule: &str| format!("# layercake: {word}[{rule}] why");
    let twice = ignoring("ignore-document", "duplicate-key");
    let late = ignoring("ignore-file", "missing-document-start");
    let empty = ignoring("ignore", "empty-document");
    for (before, after) in [
        (quoted.clone(), after_marker(&twice, &quoted)),
        (
            format!("{quoted}{second}"),
            after_marker(&twice, &quoted) + &after_marker(&twice, &second),
        ),
        (
            format!("\u{feff}{quoted}"),
            format!("\u{feff}{}", after_marker(&twice, &quoted)),
        ),
        (
            quoted.replace('\n', "\r\n"),
            after_marker(&twice, &quoted).replace('\n', "\r\n"),
        ),
        (
            format!("# old\n\n{}", document("late", "global", "{}")),
            format!(
                "# old\n\n{}",
                after_marker(&late, &document("late", "global", "{}"))
            ),
        ),
        (
            format!("---\n{}", document("behind", "global", "{}")),
            format!("---\n{empty}\n{}", document("behind", "global", "{}")),
        ),
    ] {
        let sandbox = Sandbox::with_sites();
        sandbox.write("global/file.yaml", &before);
        assert!(!sandbox.rules(&[]).is_empty(), "{before}");
        let ran = sandbox.run(&["lint", "--add-ignore=why"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            fs::read_to_string(sandbox.path("global/file.yaml")).unwrap(),
            after
        );
        assert_eq!(reported(&sandbox.findings(&[])), [""; 0], "{after}");
    }
}

#[test]
fn comment_without_a_required_reason_is_not_inserted() {
    let sandbox = with_doubled();
    sandbox.write("layercake.yaml", "rules: {require-reason: true}\n");
    let ran = sandbox.run(&["lint", "--add-ignore"]);
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("every ignore comment needs a reason in this repository\n  help: pass it"),
        "{ran:?}"
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("global/doubled.yaml")).unwrap(),
        doubled("doubled")
    );
    assert_eq!(sandbox.run(&["lint", "--add-ignore=why"]).code, 0);
    assert_eq!(reported(&sandbox.findings(&[])), [""; 0]);
}

#[test]
fn fix_changes_only_the_storage_policy() {
    let sandbox = Sandbox::with_sites();
    let secret = |policy: &str| {
        document("password", "site", "hunter-2-hunter")
            .replace("example/Any/v1", "deckhand/Passphrase/v1")
            .replace(
                "storagePolicy: cleartext\n",
                &format!("storagePolicy: {policy}\n"),
            )
    };
    let path = sandbox.path("site/lab/secrets/passphrases/password.yaml");
    let select = ["--select", "secret-not-encrypted"];
    for (before, after) in [
        ("cleartext", "encrypted"),
        ("cleartext   # for now", "encrypted   # for now"),
        ("'cleartext'", "encrypted"),
    ] {
        for line_end in ["\n", "\r\n"] {
            let styled =
                |policy: &str| format!("\u{feff}{}", secret(policy)).replace('\n', line_end);
            sandbox.write("site/lab/secrets/passphrases/password.yaml", styled(before));
            assert_eq!(sandbox.rules(&select), ["secret-not-encrypted"]);
            let ran = sandbox.run(&[&["lint", "--diff"], &select[..]].concat());
            assert_eq!(ran.stderr, "would fix 1 finding in 1 file\n", "{ran:?}");
            assert!(!ran.stdout.contains("hunter"), "{ran:?}");
            let ran = sandbox.run(&[&["lint", "--fix"], &select[..]].concat());
            assert_eq!(
                (ran.code, &*ran.stderr),
                (0, "fixed 1 finding in 1 file\n"),
                "{ran:?}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), styled(after));
        }
    }
    // Unless selected it does nothing: the rule is off by default.
    sandbox.write(
        "site/lab/secrets/passphrases/password.yaml",
        secret("cleartext"),
    );
    assert_eq!(
        sandbox.run(&["lint", "--fix"]).stderr,
        "fixed 0 findings in 0 files\n"
    );
}

#[test]
fn statistics_count_by_rule() {
    let sandbox = with_doubled();
    sandbox.write("site/lab/repeated.yaml", repeated());
    sandbox.commit();
    let ran = sandbox.run(&["lint", "--statistics"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "     1  duplicate-key          warning  in 2 sites"
    );
    assert_eq!(
        lines[1],
        "     1  repeated-substitution  warning  1 fixable · in 1 site"
    );
    assert_eq!(lines.len(), 2, "{ran:?}");
    sandbox.break_site("lab");
    let ran = sandbox.run(&["lint", "--statistics", "--since", "HEAD", "-o", "concise"]);
    let line = "     1  missing-source         error    1 new · 0 unchanged · in 1 site\n";
    assert!(ran.stdout.contains(line), "{ran:?}");
    let json = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
    let rows = json.json()["statistics"].clone();
    assert_eq!(rows[0]["rule"], "duplicate-key");
    assert_eq!(
        (&rows[0]["new"], &rows[0]["unchanged"]),
        (&Json::from(0), &Json::from(1))
    );
    assert_eq!(rows[2]["fixable"], 1);
}

#[test]
fn comments_in_secrets_are_not_shown() {
    let sandbox = Sandbox::with_sites();
    let secret = document("password", "site", "")
        .replace("cleartext", "encrypted")
        .replace(
            "\ndata: ",
            "\ndata:\n  a: 1\n  # layercake: ignore[duplicate-key] hunter-1\n  a: 2\n  \
             b: 1 # layercake: ignore[hunter-2] hunter-3\n  c: |\n    # layercake: ignore[hunter-4]\n",
        );
    sandbox.write("site/lab/secrets/secret.yaml", secret);
    sandbox.run(&["baseline", "write", "--baseline", "accepted.json"]);
    let accepted = fs::read_to_string(sandbox.path("accepted.json")).unwrap();
    assert!(accepted.contains("invalid-ignore"), "{accepted}");
    assert!(!accepted.contains("hunter"), "{accepted}");
    for arguments in [
        &["-o", "json"][..],
        &["--show-ignored"],
        &["--show-ignored", "-o", "concise"],
        &["--diff"],
        &["--diff", "--add-ignore"],
        &["--statistics"],
    ] {
        let ran = sandbox.run(&[&["lint"], arguments].concat());
        assert!(ran.code < 2, "{ran:?}");
        assert!(
            !format!("{ran:?}").contains("hunter"),
            "{arguments:?}: {ran:?}"
        );
    }
    assert_eq!(reported(&sandbox.findings(&[])), ["invalid-ignore"; 2]);
}
