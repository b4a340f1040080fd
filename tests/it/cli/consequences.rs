//! A file that cannot be parsed to its end, and other slips: the error comes first, and its
//! consequences are only counted.

use serde_json::Value as Json;

use super::{Sandbox, document, formats};

/// Maximum number of lines of the terminal at 80 columns.
const MAX_LINES: usize = 40;

/// Two sites, in which many documents need one document of a file in `global`.
fn with_versions() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/versions.yaml", versions());
    let readers = (0..30).map(|at| {
        let substitutions = "  substitutions:\n    - src: {schema: example/Any/v1, name: versions, \
                             path: .a}\n      dest: {path: .version}\n";
        let text = document(&format!("reader-{at}"), "global", "{}");
        text.replace("\ndata:", &format!("\n{substitutions}data:"))
    });
    sandbox.write("global/readers.yaml", readers.collect::<String>());
    let child = document("child", "site", "{}").replace(
        "layer: site}",
        "layer: site, parentSelector: {of: versions}, actions: [{method: merge, path: .}]}",
    );
    sandbox.write("site/lab/child.yaml", child);
    sandbox.commit();
    sandbox
}

fn versions() -> String {
    let labels = "  labels: {of: versions}\n  layeringDefinition";
    document("versions", "global", "\n  a: 1\n  b: 2").replace("  layeringDefinition", labels)
}

fn with_typo() -> Sandbox {
    let sandbox = with_versions();
    sandbox.write(
        "global/versions.yaml",
        versions().replace("  b: 2", "  b 2"),
    );
    sandbox
}

const SINCE: [&str; 3] = ["lint", "--since", "HEAD"];

#[test]
fn typo_is_one_error_and_nothing_is_removed() {
    let sandbox = with_typo();
    let ran = sandbox.run(&SINCE);
    assert_eq!(ran.code, 1);
    let text = ran.stdout;
    assert!(text.lines().count() <= MAX_LINES, "{text}");
    assert_eq!(text.matches("error[").count(), 1, "{text}");
    assert!(text.contains("error[invalid-yaml]"), "{text}");
    assert!(text.contains("31 findings follow from this one"), "{text}");
    assert!(
        text.starts_with("FAIL  1 new error: invalid YAML: "),
        "{text}"
    );
    assert!(!text.contains("removed"), "nothing was removed: {text}");
    let each = sandbox
        .run(&[&SINCE[..], &["--all-findings"]].concat())
        .stdout;
    assert!(each.contains("error[missing-source]") && each.contains("error[missing-parent]"));
}

#[test]
fn machine_readable_reports_name_the_root_error_of_a_finding() {
    let sandbox = with_typo();
    let report = sandbox.run(&[&SINCE[..], &["-o", "json"]].concat()).json();
    let findings = report["findings"].as_array().unwrap();
    let root = findings
        .iter()
        .find(|it| it["rule"] == "invalid-yaml")
        .unwrap();
    assert_eq!(root["because_of"], Json::Null);
    let others: Vec<&Json> = findings
        .iter()
        .filter(|it| it["state"] == "new" && it["rule"] != "invalid-yaml")
        .collect();
    assert!(others.len() >= 2, "{findings:#?}");
    for finding in others {
        assert_eq!(finding["because_of"], root["fingerprint"], "{finding:#}");
    }
    let rows = report["statistics"].as_array().unwrap();
    let new: u64 = rows.iter().map(|row| row["new"].as_u64().unwrap()).sum();
    assert_eq!(new, 1, "{rows:#?}");
}

#[test]
fn every_report_lists_only_the_root_error() {
    let sandbox = with_typo();
    for format in formats().filter(|format| *format != "json") {
        let ran = sandbox.run(&[&SINCE[..], &["-o", format]].concat());
        assert!(
            ran.stdout.contains("invalid-yaml"),
            "{format}: {}",
            ran.stdout
        );
        let consequence = ran.stdout.matches("missing-parent").count();
        assert_eq!(consequence, 0, "{format}: {}", ran.stdout);
    }
}

#[test]
fn already_broken_documents_are_not_added() {
    let sandbox = with_typo();
    sandbox.commit();
    sandbox.write("global/versions.yaml", versions());
    let report = sandbox.run(&[&SINCE[..], &["-o", "json"]].concat()).json();
    assert_eq!(
        report["totals"]["by_status"]["added"], 0,
        "{:#}",
        report["totals"]
    );
    let edits: Vec<&Json> = report["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["kind"])
        .collect();
    assert_eq!(edits, ["file"]);
    assert_eq!(sandbox.run(&SINCE).code, 0);
}

/// Without a comparison, a missing document may be in any broken file that mentions its schema.
#[test]
fn typo_is_one_error_without_a_comparison() {
    let sandbox = with_typo();
    let report = sandbox.run(&["lint", "-o", "json"]).json();
    let findings = report["findings"].as_array().unwrap();
    let root = findings
        .iter()
        .find(|it| it["rule"] == "invalid-yaml")
        .unwrap();
    let absent: Vec<&Json> = findings
        .iter()
        .filter(|it| {
            ["missing-source", "missing-parent"]
                .iter()
                .any(|rule| it["rule"] == *rule)
        })
        .collect();
    assert_eq!(absent.len(), 2, "{findings:#?}");
    for finding in absent {
        assert_eq!(finding["because_of"], root["fingerprint"], "{finding:#}");
    }
    assert_eq!(report["totals"]["findings"]["errors"], 1, "{report:#}");
    let ran = sandbox.run(&["lint"]);
    assert!(
        ran.stdout.starts_with("FAIL  1 error: invalid YAML: "),
        "{}",
        ran.stdout
    );
    // A file that does not mention the schema cannot hold the missing document.
    sandbox.write("global/versions.yaml", "---\nschema: other/Kind/v1\na: [\n");
    let found = sandbox.findings(&[]);
    assert!(
        found.iter().all(|it| it["because_of"].is_null()),
        "{found:#?}"
    );
}

/// The content of a repository that was not given is unknown.
#[test]
fn repository_that_was_not_given_is_one_error() {
    let sandbox = Sandbox::with_sites();
    let definition = super::definition("lab", "").replace(
        "site_type: small",
        "site_type: other\n  repositories:\n    global: {revision: v1, url: https://example.org/g}",
    );
    sandbox.write("site/lab/site-definition.yaml", definition);
    sandbox.write("site/lab/broken.yaml", super::broken());
    let ran = sandbox.run(&["lint", "--site", "lab", "-o", "concise"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let rules: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        rules
            .iter()
            .any(|line| line.contains("[missing-repository]")),
        "{rules:#?}"
    );
    assert!(!ran.stdout.contains("missing-source"), "{rules:#?}");
    assert!(!ran.stdout.contains("missing-type"), "{rules:#?}");
    let each = sandbox
        .run(&["lint", "--site", "lab", "-o", "concise", "--all-findings"])
        .stdout;
    assert!(
        each.contains("missing-source") && each.contains("missing-type"),
        "{each}"
    );
}

/// A slip, the text of its error, and its remedy in a comparison.
struct Slip {
    make: fn(&Sandbox),
    error: &'static str,
    help: &'static str,
}

const SLIPS: [Slip; 6] = [
    Slip {
        make: |it| {
            it.write(
                "global/versions.yaml",
                versions().replace("metadata:", "metdata:"),
            );
        },
        error: "error[invalid-document]: `example/Any/v1` has no `metadata`",
        help: "add `metadata`",
    },
    Slip {
        make: |it| {
            it.write(
                "global/versions.yaml",
                versions().replace("layer: global", "layer: globl"),
            );
        },
        error: "error[unknown-layer]: layer `globl` of `versions` is not in `layerOrder`",
        help: "did you mean `global`?",
    },
    Slip {
        make: |it| {
            it.write(
                "global/versions.yaml",
                versions().replace("  a: 1", "  version-a: 1"),
            );
        },
        error: "error[missing-source]: `versions` has no value at `.a`; 30 substitutions",
        help: "an edit renamed `.a` to `.version-a`: rename it back, or change the 30 places",
    },
    Slip {
        make: |it| {
            it.write(
                "global/versions.yaml",
                versions().replace("name: versions", "name: other"),
            );
        },
        error: "error[missing-source]: `versions` does not exist; 30 substitutions",
        help: "an edit changed `metadata.name` from `versions` to `other`: change it back, or",
    },
    Slip {
        make: |it| std::fs::remove_file(it.path("global/versions.yaml")).expect("it is a file"),
        error: "error[missing-source]: `versions` does not exist; 30 substitutions",
        help: "an edit removed `versions`: restore it, or change the 30 places that need it",
    },
    Slip {
        make: |it| {
            it.write(
                "global/versions.yaml",
                versions().replace("of: versions", "of: elsewhere"),
            );
        },
        error: "error[missing-parent]: no document matches the parentSelector of `child`",
        help: "an edit changed this label from `versions` to `elsewhere`: select `elsewhere` in 1",
    },
];

#[test]
fn slip_is_one_error_with_its_remedy() {
    for slip in SLIPS {
        let sandbox = with_versions();
        (slip.make)(&sandbox);
        let text = sandbox
            .run(&[&SINCE[..], &["--limit", "0"]].concat())
            .stdout;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("FAIL  1 new error"), "{text}");
        assert_eq!(text.matches("error[").count(), 1, "{text}");
        assert!(
            words.contains(slip.error) && words.contains(slip.help),
            "{text}"
        );
    }
}

/// What the edit of a document breaks in several ways is several errors.
#[test]
fn independent_errors_of_one_edit_are_counted_apart() {
    let sandbox = with_versions();
    let added = document("added", "site", "{}").replace(
        "layer: site}",
        "layer: site, parentSelector: {of: nothing}, actions: [{method: merge, path: .}]}\n  \
         substitutions:\n    - src: {schema: example/Any/v1, name: nobody, path: .a}\n      dest: \
         {path: .version}",
    );
    sandbox.write("site/lab/added.yaml", added);
    let text = sandbox.run(&SINCE).stdout;
    assert!(text.starts_with("FAIL  2 new errors"), "{text}");
}

/// A suppressed cause hides none of its consequences.
#[test]
fn consequences_of_a_suppressed_cause_are_listed() {
    let sandbox = with_versions();
    let ignored = "layer: globl # layercake: ignore[unknown-layer] on purpose";
    let text = versions().replace(
        "layeringDefinition: {abstract: false, layer: global}",
        "layeringDefinition:\n    X",
    );
    assert!(text.contains("    X"), "{text}");
    sandbox.write("global/versions.yaml", text.replace('X', ignored));
    let found = sandbox.findings(&[]);
    assert!(
        found.iter().any(|it| it["rule"] == "missing-parent"),
        "{found:#?}"
    );
    assert!(
        found.iter().all(|it| it["because_of"].is_null()),
        "{found:#?}"
    );
}
