//! Inputs for which fuzzing found a bug (`docs/fuzzing.md`), each headed by the bug. Those for which
//! a crate is enough are in its `tests/it/found.rs`.

use layercake::config::{Vocabulary, read};
use layercake::merge::deckhand::Semantics;
use layercake::report::ReportFormat;
use layercake::source::{MemoryTree, RepoPath};

use crate::formats::made;
use crate::provenance::untrue_flows;
use crate::support::{check_files, options, saved};

/// SARIF lists rules by the names that are shown, but looked them up by the saved names, so a name
/// with a control character was not found.
#[test]
fn a_saved_rule_with_a_control_character_in_its_name() {
    let findings = ["odd\u{1}rule", "missing-parent", "odd-rule"]
        .map(|rule| made::finding(rule, "error", "it is odd", "a.yaml", 1));
    let log = made::written(
        ReportFormat::Sarif,
        &made::report(&findings, &[]),
        made::USUAL,
    );
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    for (index, rule) in ["odd\\x01rule", "missing-parent", "odd-rule"]
        .iter()
        .enumerate()
    {
        let result = &log["runs"][0]["results"][index];
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            (&rules[at]["id"], &result["ruleId"]),
            (&(*rule).into(), &(*rule).into())
        );
    }
}

/// Each error in a configuration is one line, whatever it quotes.
#[test]
fn a_glob_with_a_line_break() {
    let text = "cloud-config:\n  - {name: a, parts: [\"type/{x/\n\n  y\"]}\n";
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
    let refused = read(RepoPath::new("layercake.yaml"), text.into(), &vocabulary).unwrap_err();
    let lines: Vec<String> = refused.to_string().lines().map(str::to_owned).collect();
    assert!(
        lines.iter().all(|line| line.starts_with("layercake.yaml:")),
        "{lines:?}"
    );
}

/// A headline is one line, whatever it quotes.
#[test]
fn a_name_with_a_line_break() {
    let text = "---\nschema: example/Any/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
                \"a\\nb\"\n  storagePolicy: cleartext\n  layeringDefinition: {layer: site}\n";
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let messages: Vec<&str> = checked
        .findings
        .diagnostics
        .iter()
        .map(|finding| &*finding.message)
        .collect();
    assert!(
        messages.iter().any(|message| message.contains("a\\nb")),
        "{messages:?}"
    );
    assert!(
        !messages.iter().any(|message| message.contains('\n')),
        "{messages:?}"
    );
}

/// A long line was saved only around its own finding, without the start, which is shown below the
/// finding of the previous line.
#[test]
fn a_long_line_below_another_finding() {
    let padding = "x".repeat(900);
    let text = format!(
        "---\nschema: example/Kind/v1\nmetadata: {{schema: metadata/Document/v1, name: one}}\n\
         data: {{padding: {padding}, a: 1, a: 2}}\n"
    );
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let found = checked.findings.diagnostics.iter();
    let places = found.map(|finding| checked.sources.start(finding.primary.span));
    let places: Vec<(u32, u32)> = places.map(|at| (at.line.get(), at.column.get())).collect();
    assert!(places.iter().any(|(line, _)| *line == 3), "{places:?}");
    assert!(
        places
            .iter()
            .any(|(line, column)| *line == 4 && *column > 800),
        "{places:?}"
    );
    saved::check_checked(&checked);
}

/// A saved report treated a secret document after another one as the rest of that one, and showed
/// its finding there.
#[test]
fn a_secret_behind_lines_that_are_not_saved() {
    let secret = "---\nschema: deckhand/CertificateKey/v1\nmdtadata:\n  schema: metadata/Document/v1\n  name: a\n";
    let tree = MemoryTree::new().with("secrets.yaml", secret.repeat(2));
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    saved::check_checked(&checked);
    let found = checked.findings.diagnostics.iter();
    let places = found.map(|finding| checked.sources.start(finding.primary.span));
    let lines: Vec<u32> = places.map(|at| at.line.get()).collect();
    assert!(lines.contains(&2) && lines.contains(&7), "{lines:?}");
}

/// The flow of a value ended at a list that is read as a whole, because the path that reads it
/// names keys which are not in the list.
#[test]
fn a_list_that_is_read_by_a_path_of_names() {
    let tree = MemoryTree::new().with(
        "documents.yaml",
        "---
schema: example/Kind/v1
metadata:
  schema: metadata/Document/v1
  name: reader
  substitutions:
    - {src: {schema: example/Kind/v1, name: list, path: .one.two}, dest: {path: .}}
data: {}
---
schema: example/Kind/v1
metadata: {schema: metadata/Document/v1, name: list}
data: [{three: here}]
",
    );
    let checked = check_files(&tree, options(Semantics::Documented), untrue_flows);
    for site in checked.sites {
        assert_eq!(site.taken, Some(Vec::new()));
    }
}

/// In a text that is not shown, a label on a secret that begins at the end of a line was a point,
/// but a range in a saved report.
#[test]
fn a_secret_behind_a_line_of_a_text_that_is_not_shown() {
    let tree = MemoryTree::new().with(
        "secrets.yaml",
        "---
schema: deckhand/Passphrase/v1
metadata:
  schema: metadata/Document/v1
  name: a
  storagePolicy: cleartext
DATA: 1
---
data: !odd 1
",
    );
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    saved::check_checked(&checked);
    assert!(!checked.opaque.is_empty() && checked.findings.diagnostics.len() > 1);
}
