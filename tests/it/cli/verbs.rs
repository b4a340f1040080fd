//! Output and exit code of each verb.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Sandbox, definition, document, without_timing};

#[test]
fn lint_exit_code_reflects_its_findings() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&["lint"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let totals = "PASS  no findings · 2 sites · 7 documents · 10 rendered · semantics ";
    assert!(ran.stdout.starts_with(totals), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("s\n"));

    // warnings do not fail a run
    sandbox.write(
        "site/lab/twice.yaml",
        document("twice", "site", "{a: 1, a: 2}"),
    );
    let ran = sandbox.run(&["lint"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout
            .starts_with("PASS  1 warning\n2 sites · 8 documents · 11 rendered\n"),
        "{}",
        ran.stdout
    );

    sandbox.break_site("prod");
    let ran = sandbox.run(&["lint", "-o", "concise"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("site/prod/broken.yaml:9:"),
        "{}",
        lines[0]
    );
    assert!(lines[0].ends_with("(in prod)"), "{}", lines[0]);
    assert!(lines[1].starts_with("site/lab/twice.yaml:8:14: warning[duplicate-key] "));
}

#[test]
fn lint_json_has_the_documented_shape() {
    let sandbox = Sandbox::with_sites();
    let report = sandbox.run(&["lint", "-o", "json"]).json();
    assert_eq!(
        (&report["version"], &report["findings"]),
        (&json!(2), &json!([]))
    );
    assert_eq!(
        (&report["comparison"], &report["edits"]),
        (&json!(null), &json!([]))
    );
    assert_eq!(
        (&report["totals"]["sites"], &report["totals"]["outputs"]),
        (&json!(2), &json!(10))
    );
    sandbox.break_site("lab");
    let report = sandbox.run(&["lint", "-o", "json"]).json();
    assert_eq!(report["version"], 2);
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "missing-source");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["sites"], json!(["lab"]));
    assert_eq!(finding["primary"]["file"], "site/lab/broken.yaml");
    assert_eq!(finding["primary"]["line"], 9);
    for field in ["fingerprint", "message", "help"] {
        assert!(finding[field].is_string(), "{field}: {finding}");
    }
    for field in ["column", "end_line", "end_column"] {
        assert!(finding["primary"][field].is_u64(), "{field}: {finding}");
    }
    for field in ["related", "notes", "documents"] {
        assert!(finding[field].is_array(), "{field}: {finding}");
    }
}

#[test]
fn render_prints_usable_documents_and_reports_the_rest() {
    let sandbox = Sandbox::with_sites();
    let whole = sandbox.run(&["render"]);
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""));
    sandbox.break_site("lab");
    sandbox.write("site/lab/unreadable.yaml", "---\na: [\n");
    let ran = sandbox.run(&["render"]);
    let warning = "site/lab/unreadable.yaml:2 cannot be read: documents of this file may be \
                   missing\n\
                   2 errors; `layercake lint` shows them\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, warning));
    let broken = ran
        .stdout
        .find("---\n# lab · site/lab/broken.yaml:1\n")
        .unwrap();
    let rest = &ran.stdout[broken..];
    let end = rest[4..].find("---\n").unwrap() + 4;
    assert_eq!(ran.stdout.replace(&rest[..end], ""), whole.stdout);
}

#[test]
fn render_sorts_and_selects() {
    let sandbox = Sandbox::with_sites();
    let other = document("zone", "global", "{}").replace("example/Any/v1", "example/AAA/v1");
    sandbox.write("global/zone.yaml", other);
    let names = |arguments: &[&str]| -> Vec<String> {
        let ran = sandbox.run(&[&["render", "--format", "json"], arguments].concat());
        assert_eq!(ran.code, i32::from(arguments.contains(&"nosuch")));
        let report = ran.json();
        assert_eq!(report["version"], 1);
        let sites = report["sites"].as_array().unwrap().clone();
        let of = |site: &serde_json::Value| -> Vec<String> {
            let name = site["site"].as_str().unwrap().to_owned();
            let documents = site["documents"].as_array().unwrap().clone();
            documents
                .iter()
                .map(|it| format!("{name} {}", it["name"].as_str().unwrap()))
                .collect()
        };
        sites.iter().flat_map(of).collect()
    };
    let of_lab = [
        "lab layering-policy",
        "lab zone",
        "lab chart",
        "lab dns",
        "lab only",
        "lab lab",
    ];
    assert_eq!(names(&["--site", "l*"]), of_lab);
    assert_eq!(names(&[]).len(), 12);
    assert_eq!(
        names(&["--schema", "example/Any/*", "--site", "lab"]),
        of_lab[2..5]
    );
    assert_eq!(names(&["--name", "only"]), ["lab only", "prod only"]);
    assert_eq!(
        names(&["--name", "dns", "--name", "zo*", "--site", "prod"]),
        ["prod zone", "prod dns"]
    );
    let ran = sandbox.run(&["render", "--name", "nosuch"]);
    let error = "error: no rendered document has the name `nosuch`\n";
    assert!(ran.code == 2 && ran.stderr.starts_with(error), "{ran:?}");
}

#[test]
fn render_succeeds_if_all_selected_documents_are_rendered() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write("site/prod/unreadable.yaml", "---\na: [\n");
    let cycle = |name: &str, other: &str| {
        let substitution = format!(
            "  substitutions:\n    - src: {{schema: example/Any/v1, name: {other}, path: .}}\n      \
             dest: {{path: .value}}\n"
        );
        document(name, "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"))
    };
    sandbox.write("site/lab/one.yaml", cycle("one", "other"));
    sandbox.write("site/lab/other.yaml", cycle("other", "one"));
    let undefined = definition("gone", "").replace("site_type: small", "site_type: [small]");
    sandbox.write("site/gone/site-definition.yaml", undefined);
    for (arguments, code, message) in [
        // Errors in selected documents, or elsewhere.
        ("--site lab --name broken", 0, ""),
        ("--site lab --name dns", 0, ""),
        ("site/lab/only.yaml", 0, ""),
        ("site/prod/only.yaml", 0, ""),
        (
            "--site lab",
            1,
            "`one` (example/Any/v1) of site `lab` is not rendered\n",
        ),
        (
            "--site lab --name on*",
            1,
            "`one` (example/Any/v1) of site `lab` is not rendered\n",
        ),
        (
            "--site prod",
            1,
            "site/prod/unreadable.yaml:2 cannot be read",
        ),
        // The file may hold another document of this name.
        (
            "--site prod --name only",
            1,
            "site/prod/unreadable.yaml:2 cannot be read",
        ),
        (
            "--site gone",
            1,
            "site `gone` is not rendered: its definition is missing or broken\n",
        ),
        (
            "--site prod --name nosuch",
            2,
            "but site/prod/unreadable.yaml:2 cannot be read",
        ),
        (
            "--site lab --name nosuch",
            2,
            "no rendered document has the name `nosuch`\n",
        ),
    ] {
        let words: Vec<&str> = std::iter::once("render")
            .chain(arguments.split(' '))
            .collect();
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, code, "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments}: {ran:?}");
        let is_whole = !ran.stderr.contains(" rendered") && !ran.stderr.contains(" missing");
        assert_eq!(is_whole, code == 0, "{arguments}: {ran:?}");
    }
}

#[test]
fn fail_on_makes_findings_fail_render() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write(
        "site/prod/twice.yaml",
        document("twice", "site", "{a: 1, a: 2}"),
    );
    for (arguments, code) in [
        ("--site lab", 0),
        ("--site lab --fail-on error", 1),
        ("--site lab --fail-on never", 0),
        ("--site prod --fail-on error", 0),
        ("--site prod --fail-on warning", 1),
        ("site/prod/only.yaml --fail-on note", 0),
        ("--name nosuch", 2),
        ("--name nosuch --fail-on never", 2),
    ] {
        let words: Vec<&str> = std::iter::once("render")
            .chain(arguments.split(' '))
            .collect();
        assert_eq!(sandbox.run(&words).code, code, "{arguments}");
    }
    let printed = |arguments: &[&str]| sandbox.run(arguments).stdout;
    assert_eq!(
        printed(&["render", "--fail-on", "error"]),
        printed(&["render"])
    );
}

/// The documented recipe of a job for each site, as a shell of GitHub runs it.
#[test]
#[cfg(unix)]
fn action_recipe_renders_a_site_beside_sites_with_errors() {
    let page = include_str!("../../../docs/github-action.md");
    let recipe = page
        .lines()
        .find_map(|line| line.trim().strip_prefix("- run: layercake render"));
    let recipe = format!(
        "layercake render{}",
        recipe.expect("the page has the recipe")
    );
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write("site/prod/unreadable.yaml", "---\na: [\n");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_layercake"));
    let mut command = std::process::Command::new("bash");
    command.args([
        "--noprofile",
        "--norc",
        "-e",
        "-o",
        "pipefail",
        "-c",
        &recipe,
    ]);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program.parent().unwrap().to_owned())
        .chain(std::env::split_paths(&folders));
    command
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("SITE", "lab");
    let output = command.current_dir(sandbox.path(".")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let rendered = std::fs::read_to_string(sandbox.path("rendered.yaml")).unwrap();
    assert_eq!(rendered, sandbox.run(&["render", "--site", "lab"]).stdout);
}

/// Verbs that report no findings run no rules, and read each file once.
#[test]
fn verbs_without_findings_run_no_rules() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/schema.yaml", document("a", "global", "{}"));
    sandbox.write(".layercake-baseline.json", "damaged");
    let files = |ran: &super::Ran, stage: &str| -> String {
        let row = ran
            .stderr
            .lines()
            .find(|line| line.trim_start().starts_with(stage));
        row.and_then(|row| row.split_whitespace().rev().nth(1))
            .unwrap_or_default()
            .to_owned()
    };
    let linted = sandbox.run(&["lint", "--no-baseline", "--timing"]);
    assert!(
        linted.stderr.contains("others"),
        "rules are listed: {linted:?}"
    );
    let all: usize = files(&linted, "read").parse().unwrap();
    // What stops a value in one site is not known from other sites.
    for (verb, unread) in [
        ("explain-value lab example/Any/v1 chart .values.replicas", 0),
        (
            "explain-value --all-sites example/Any/v1 chart .values.replicas",
            0,
        ),
        (
            "explain-value lab example/Any/v1 chart .values.replicas --why-not global/chart.yaml:8",
            1,
        ),
        ("impact global/chart.yaml:8", 0),
        ("render", 0),
        ("graph", 0),
        ("sites", 0),
    ] {
        let words: Vec<&str> = verb.split(' ').chain(["--timing"]).collect();
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, 0, "{verb}: {ran:?}");
        assert_eq!(
            files(&ran, "read"),
            (all - unread).to_string(),
            "{verb}: {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("others"), "{verb}: {}", ran.stderr);
        assert!(!ran.stderr.contains("duplicate"), "{verb}: {}", ran.stderr);
    }
    // Files of other sites are not read.
    let ran = sandbox.run(&["render", "--site", "lab", "--timing"]);
    assert_eq!(files(&ran, "read"), (all - 2).to_string(), "{}", ran.stderr);
}

#[test]
fn render_json_has_the_documented_shape() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&[
        "render", "--format", "json", "--site", "lab", "--name", "dns",
    ]);
    let expected = json!({"version": 1, "sites": [{"site": "lab", "documents": [{
        "schema": "example/Any/v1", "name": "dns", "layer": "type",
        "file": "type/small/dns.yaml", "line": 1, "data": {"server": "10.0.0.1"}
    }]}]});
    assert_eq!(ran.json(), expected);
    assert_eq!(
        sandbox.run(&["render", "-o", "json", "--site", "lab", "--name", "dns"]),
        ran
    );
}

#[test]
fn sites_are_listed() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&["sites"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let table = "site  type   files  documents  rendered\n\
                 lab   small      5          5         5\n\
                 prod  small      5          5         5\n";
    assert_eq!(ran.stdout, table);
    let expected = json!({"version": 1, "sites": [{
        "site": "lab", "type": "small", "files": 5, "documents": 5, "outputs": 5, "deployed": null
    }]});
    assert_eq!(
        sandbox
            .run(&["sites", "--format", "json", "--site", "lab"])
            .json(),
        expected
    );

    // errors in documents are not reported here
    sandbox.break_site("lab");
    assert_eq!(sandbox.run(&["sites"]).code, 0);
}

#[test]
fn site_without_a_definition_is_reported() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/new/only.yaml", document("only", "site", "{}"));
    sandbox.write("site/old/site-definition.yaml", "---\ndata: [\n");
    let ran = sandbox.run(&["sites"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("\nprod "));
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("site `new` is not listed: "),
        "{said:?}"
    );
    assert!(
        said[1].starts_with("site `old` is not listed: "),
        "{said:?}"
    );
    let ran = sandbox.run(&["sites", "--site", "lab"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(sandbox.run(&["sites", "--site", "new"]).code, 1);
    assert_eq!(
        sandbox.rules(&["--site", "new"]),
        ["missing-site-definition"]
    );
}

#[test]
fn only_selected_sites_are_reported() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write("site/lab/unreadable.yaml", "---\na: [\n");
    sandbox.write("global/unreadable.yaml", "---\na: [\n");
    assert_eq!(
        sandbox.rules(&[]),
        ["invalid-yaml", "missing-source", "invalid-yaml"]
    );
    assert_eq!(sandbox.findings(&["--site", "prod"]).len(), 1);
    assert_eq!(
        sandbox.findings(&["--site", "prod"])[0]["sites"],
        json!(["prod"])
    );
    assert_eq!(sandbox.findings(&["--site", "lab"]).len(), 3);
    let ran = sandbox.run(&["lint", "--site", "prod"]);
    assert!(
        ran.stdout.contains("\n1 site · 5 documents · 5 rendered\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn explain_accepts_codes_of_pegleg() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["explain", "P005"]);
    assert_eq!(ran.code, 0);
    let named: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        named.contains(&"missing-source") && named.contains(&"dependency-cycle"),
        "{named:?}"
    );
    assert!(
        !named.contains(&"missing-parent"),
        "Pegleg accepts this without an error"
    );
}

#[test]
fn rules_are_explained() {
    let sandbox = Sandbox::outside_git();
    let list = sandbox.run(&["explain"]);
    assert_eq!(list.code, 0);
    let rules = layercake::rules::RULES;
    let is_first = |line: &&str| !line.starts_with(' ');
    assert_eq!(list.stdout.lines().filter(is_first).count(), rules.len());
    for rule in rules {
        let ran = sandbox.run(&["explain", rule.name]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", rule.name);
        assert!(
            ran.stdout.starts_with(&format!("{}\n", rule.name)),
            "{}",
            rule.name
        );
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(rule.summary), "{}", rule.name);
        assert!(!ran.stdout.contains("<!--"), "{}", rule.name);
        assert!(!ran.stdout.contains("\n\n\n"), "{}", rule.name);
    }
}

#[test]
fn file_arguments_limit_the_report_in_a_repository() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.break_site("prod");
    assert_eq!(sandbox.findings(&["--all-findings"]).len(), 2);
    for files in [
        &["site/lab"][..],
        &["site/lab/broken.yaml"],
        &["global", "site/lab"],
    ] {
        let findings = sandbox.findings(files);
        assert_eq!(findings.len(), 1, "{files:?}");
        assert_eq!(findings[0]["sites"], json!(["lab"]));
    }
    assert_eq!(sandbox.findings(&["global"]).len(), 0);
    assert_eq!(sandbox.run(&["lint", "global"]).code, 0);
    // relative to the current folder
    assert_eq!(sandbox.findings(&["-C", "site", "prod"]).len(), 1);
    let ran = sandbox.run_in(&sandbox.path("site/prod"), &["lint", "broken.yaml"]);
    assert_eq!(ran.code, 1);
    let absolute = sandbox.path("site/lab");
    assert_eq!(sandbox.findings(&[absolute.to_str().unwrap()]).len(), 1);
    // rendering is limited as well
    let ran = sandbox.run(&["render", "type", "--site", "lab"]);
    assert_eq!(ran.stdout.matches("---\n").count(), 1);
}

#[test]
fn file_arguments_form_a_set_outside_a_repository_and_on_demand() {
    let outside = Sandbox::outside_git();
    outside.write("policy.yaml", super::POLICY);
    outside.write("broken.yaml", super::broken());
    let findings = outside.findings(&["--set", "policy.yaml", "broken.yaml"]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["sites"], json!([]));
    let report = outside
        .run(&[
            "render",
            "-o",
            "json",
            "--set",
            "policy.yaml",
            "broken.yaml",
        ])
        .json();
    assert!(report["sites"][0]["site"].is_null());
    assert_eq!(report["sites"][0]["documents"].as_array().unwrap().len(), 2);
    assert!(
        outside
            .run(&["lint", "--set", "."])
            .stdout
            .contains("\n2 documents · 2 rendered\n")
    );

    let inside = Sandbox::with_sites();
    inside.break_site("lab");
    let set = ["--set", "global/policy.yaml", "site/prod/only.yaml"];
    assert_eq!(inside.rules(&set), Vec::<String>::new());
    assert_eq!(
        inside.rules(&["--set", "global/policy.yaml", "site/lab"]),
        ["missing-source"]
    );
    let report = inside
        .run(&[&["render", "-o", "json"], &set[..]].concat())
        .json();
    assert!(report["sites"][0]["site"].is_null());
    // the current folder, if none is named
    let ran = inside.run_in(&inside.path("global"), &["lint", "--set"]);
    assert!(
        ran.stdout
            .starts_with("PASS  no findings · 2 documents · 2 rendered · "),
        "{}",
        ran.stdout
    );
}

#[test]
fn set_reads_files_of_any_name() {
    let outside = Sandbox::outside_git();
    outside.write("documents.txt", [super::POLICY, &super::broken()].concat());
    outside.write("folder/other.yml", document("other", "site", "{}"));
    assert_eq!(
        outside.rules(&["--set", "documents.txt"]),
        ["missing-source"]
    );
    assert_eq!(
        outside.rules(&["--set", "documents.txt", "folder"]),
        ["missing-source"]
    );
    assert!(Path::new(&outside.path("folder")).is_dir());
}

#[test]
fn named_site_is_rendered_like_one_that_a_glob_matches() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("prod");
    sandbox.write(
        "site/prod/inner/site/deep/site-definition.yaml",
        definition("deep", ""),
    );
    sandbox.write("layercake.yaml", "discover: {sites: [lab, prod]}\n");
    sandbox.commit();
    for folder in [".", "site/lab", "site/prod/inner", "global"] {
        let folder = sandbox.path(folder);
        for site in ["lab", "prod", "deep", "inner", "none"] {
            let glob = format!("[{}]{}", &site[..1], &site[1..]);
            for verb in ["render", "graph"] {
                let [named, matched] = [site, glob.as_str()]
                    .map(|site| sandbox.run_in(&folder, &[verb, "--site", site, "--site", site]));
                // The errors quote the site as it is given.
                if (named.code, matched.code) != (2, 2) {
                    assert_eq!(named, matched, "{verb} {site} in {folder:?}");
                }
            }
        }
    }
}

#[test]
fn site_is_checked_without_files_of_other_sites() {
    let sandbox = Sandbox::with_sites();
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    fs::rename(
        sandbox.path(".layercake-baseline.json"),
        sandbox.path("none.json"),
    )
    .unwrap();
    sandbox.break_site("lab");
    sandbox.break_site("prod");
    sandbox.write(
        "global/twice.yaml",
        document("twice", "global", "{a: 1, a: 2}"),
    );
    sandbox.write("type/unused/any.yaml", document("any", "type", "{}"));
    sandbox.write("site/other/own/any.yaml", document("any", "site", "{}"));
    let lint = ["lint", "--site", "lab", "-o", "json"];
    // Counts of the baseline cover all sites, so all are read.
    let with_all = [&lint[..], &["--baseline", "none.json"]].concat();
    let printed = |arguments: &[&str]| without_timing(&sandbox.run(arguments).stdout);
    assert_eq!(printed(&lint), printed(&with_all));
    assert_eq!(sandbox.files_read(&with_all), sandbox.files_read(&lint) + 4);
}

#[test]
fn files_of_other_sites_are_read_only_if_they_matter() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/prod/own/more.yaml", document("more", "site", "{}"));
    let reads = |question: &[&str]| sandbox.files_read(question);
    assert_eq!(reads(&["explain-value", "lab", "only", ".of"]), 6);
    assert_eq!(reads(&["explain-value", "lab", "dns", ".server"]), 8);
    assert_eq!(reads(&["impact", "site/lab/only.yaml:8"]), 6);
    assert_eq!(reads(&["impact", "global/chart.yaml:8"]), 8);
}

/// The glob decides which sites use a part, not its folder.
#[test]
fn impact_of_a_part_includes_all_sites_that_use_it() {
    let sandbox = Sandbox::with_sites();
    let sets = "cloud-config:\n  - name: genesis\n    parts: [site/lab/parts/*.yaml]\n";
    sandbox.write("layercake.yaml", sets);
    sandbox.write("site/lab/parts/one.yaml", "#cloud-config\npackages: [a]\n");
    let printed = sandbox.run(&["impact", "site/lab/parts/one.yaml:2"]).stdout;
    assert!(
        printed.contains("\nreaches 2 outputs in all 2 sites\n"),
        "{printed}"
    );
}
