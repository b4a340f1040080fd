//! `deckhand/yaml.json`: texts as PyYAML with libyaml reads them.

use layercake::diagnostic::Diagnostic;
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;
use layercake::yaml::{Parsed, YamlProblemKind, parse};
use serde_json::Value as Json;

use super::exceptions::yaml_exception;
use super::layering::{findings, says_refused};
use super::{CaseOrigin, node_of, same, some_file};
use crate::support::{check_files, options};

#[test]
fn texts_are_read_as_by_pyyaml() {
    compare_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn texts_of_the_corpus_are_read_as_by_pyyaml() {
    compare_all(CaseOrigin::Corpus);
}

fn compare_all(origin: CaseOrigin) {
    let cases = origin.cases("deckhand/yaml.json");
    origin.assert_at_least(183, cases.len());
    let mut passed = 0;
    let mut excused = Vec::new();
    let mut failures = Vec::new();
    for case in &cases {
        let text = case["yaml"].as_str().expect("each case has YAML");
        match (compare(text, &case["outcome"]), yaml_exception(text)) {
            (Ok(()), _) => passed += 1,
            (Err(_), Some(reason)) => excused.push(format!("{} {reason}", case["id"])),
            (Err(difference), None) => failures.push(format!("{} {difference}", case["id"])),
        }
    }
    eprintln!(
        "yaml: {passed} of {} pass, excused:\n{}",
        cases.len(),
        excused.join("\n")
    );
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

/// A text that Deckhand's parser refuses cannot be deployed, regardless of the chosen meaning.
#[test]
fn every_text_refused_by_pyyaml_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_text_of_the_corpus_refused_by_pyyaml_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Corpus);
}

fn refuse_all(origin: CaseOrigin) {
    let (mut refusals, mut wrong) = (0, Vec::new());
    for case in origin.cases("deckhand/yaml.json") {
        let text = case["yaml"].as_str().expect("each case has YAML");
        if case["outcome"].get("error").is_none() || yaml_exception(text).is_some() {
            continue;
        }
        refusals += 1;
        let tree = MemoryTree::new().with("in.yaml", text);
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let checked = check_files(&tree, options(semantics), |_| ());
            let is_of_file = |finding: &&Diagnostic| finding.rule.name != "missing-layering-policy";
            let mut found = checked.findings.diagnostics.iter().filter(is_of_file);
            if !found.any(says_refused) {
                wrong.push(format!(
                    "{} {semantics:?}: {text}\n{}",
                    case["id"],
                    findings(&checked)
                ));
            }
        }
    }
    origin.assert_at_least(14, refusals);
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn compare(text: &str, outcome: &Json) -> Result<(), String> {
    let parsed = parse(some_file(), text);
    let fatal = is_refused(&parsed);
    let Some(expected) = outcome["documents"].as_array() else {
        return if fatal {
            Ok(())
        } else {
            Err(format!(
                "is refused by PyYAML: {}\n{text}",
                outcome["error"]
            ))
        };
    };
    if fatal {
        return Err(format!("is read by PyYAML: {:?}\n{text}", parsed.problems));
    }
    if expected.len() != parsed.documents.len() {
        return Err(format!(
            "has {} documents: {:?}",
            expected.len(),
            parsed.documents
        ));
    }
    for (expected, document) in expected.iter().zip(&parsed.documents) {
        let Some(node) = node_of(expected) else {
            continue;
        };
        if !same(&document.root.value, &node.value) {
            return Err(format!(
                "is {expected}\nnot {:?}\n{text}",
                document.root.value
            ));
        }
    }
    Ok(())
}

/// Whether there is an error other than a duplicate key.
fn is_refused(parsed: &Parsed) -> bool {
    !parsed
        .problems
        .iter()
        .all(|it| matches!(it.kind, YamlProblemKind::DuplicateKey { .. }))
}
