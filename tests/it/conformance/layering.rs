//! `deckhand/layering.json` and `deckhand/substitution.json`: sets of documents, rendered by
//! Deckhand.

use std::collections::{BTreeMap, BTreeSet};

use layercake::check::{Checked, RenderedSite};
use layercake::diagnostic::{Diagnostic, Rule, Severity};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::rules::{REFUSED, RULES};
use layercake::system::deckhand::DeckhandOptions;
use serde_json::{Value as Json, json};

use super::documents::{file_name, tree_of};
use super::exceptions::layering_exception;
use super::{CaseOrigin, node_of};
use crate::support::{check_files, finding_text};

/// Rendered documents: schema, name, layer and data.
type Outputs = Vec<(String, String, String, String)>;

#[test]
fn layering_renders_as_recorded() {
    render_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn layering_renders_as_in_the_corpus() {
    render_all(CaseOrigin::Corpus);
}

fn render_all(origin: CaseOrigin) {
    let cases = origin.cases("deckhand/layering.json");
    origin.assert_at_least(1529, cases.len());
    let classes = classes_of_errors();
    let (mut passed, mut excepted, mut wrong) = (0, BTreeMap::new(), Vec::new());
    for case in &cases {
        let documents = case["documents"].as_array().expect("documents");
        let Some(tree) = tree_of(documents) else {
            continue;
        };
        let checked = check_files(&tree, options_of(&case["options"]), outputs);
        let outcome = match case.get("outcome_value_semantics") {
            Some(outcome) => outcome,
            None => &case["outcome"],
        };
        match compare(outcome, &checked, &classes) {
            Ok(()) => passed += 1,
            Err(difference) => match layering_exception(documents, &case["options"]) {
                Some(reason) => *excepted.entry(reason).or_insert(0) += 1,
                None => wrong.push(format!("{}: {difference}", case["id"])),
            },
        }
    }
    eprintln!(
        "layering: {passed} of {} as recorded, excepted {excepted:?}",
        cases.len()
    );
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A site that Deckhand refuses cannot be deployed, regardless of the chosen meaning.
#[test]
fn every_recorded_refusal_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_refusal_of_the_corpus_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Corpus);
}

fn refuse_all(origin: CaseOrigin) {
    let classes = classes_of_errors();
    let (mut refusals, mut wrong) = (0, Vec::new());
    for case in origin.cases("deckhand/layering.json") {
        let outcome = case
            .get("outcome_value_semantics")
            .unwrap_or(&case["outcome"]);
        let Some(error) = outcome.get("error") else {
            continue;
        };
        let documents = case["documents"].as_array().expect("documents");
        let Some(tree) = tree_of(documents) else {
            continue;
        };
        refusals += 1;
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let options = DeckhandOptions {
                semantics,
                ..options_of(&case["options"])
            };
            let checked = check_files(&tree, options, |_| ());
            let met = refused(error, &checked, &classes)
                .and_then(|()| refused_at_its_document(error, documents, 0, &checked));
            if let Err(difference) = met {
                wrong.push(format!("{} {semantics:?}: {difference}", case["id"]));
            }
        }
    }
    origin.assert_at_least(711, refusals);
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Whether an error reporting that Deckhand refuses the site is about one of the documents named in
/// Deckhand's own message, if any; `first` is the index of the first document's file.
pub(super) fn refused_at_its_document<T>(
    error: &Json,
    documents: &[Json],
    first: usize,
    checked: &Checked<T>,
) -> Result<(), String> {
    let details = error["error_list"].as_array().into_iter().flatten();
    let blamed = details
        .filter_map(|detail| detail["documents"].as_array())
        .flatten();
    let blamed = blamed.filter_map(|it| it["name"].as_str());
    let message = error["message"].as_str().unwrap_or_default();
    let words: BTreeSet<&str> = message
        .split(|it: char| !it.is_alphanumeric() && !['-', '_', '.', '/'].contains(&it))
        .map(|word| word.trim_end_matches('.'))
        .collect();
    let names = documents
        .iter()
        .filter_map(|it| it["metadata"]["name"].as_str());
    let named: BTreeSet<&str> = names
        .filter(|name| words.contains(name))
        .chain(blamed)
        .filter(|it| !it.is_empty())
        .collect();
    let is_named = |name: &Json| name.as_str().is_some_and(|name| named.contains(name));
    let named_files: BTreeSet<String> = documents
        .iter()
        .enumerate()
        .filter(|(_, it)| is_named(&it["metadata"]["name"]))
        .map(|(index, _)| file_name(first + index))
        .collect();
    let mut errors = checked
        .findings
        .diagnostics
        .iter()
        .filter(|finding| says_refused(finding));
    let is_there = errors.any(|finding| {
        // The policy is invalid, and Deckhand's message names a document that depends on it.
        finding.rule.name == "repeated-layer"
            || named.is_empty()
            || finding
                .documents
                .iter()
                .any(|key| named.contains(&*key.name))
            || named_files.contains(checked.sources.path_of(finding.primary.span).as_str())
    });
    if is_there {
        return Ok(());
    }
    Err(format!(
        "no error at one of {named:?}, for {message}\n{}",
        findings(checked)
    ))
}

/// Whether a finding is an error reporting that Deckhand refuses the site.
pub(super) fn says_refused(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && finding.notes.iter().any(|note| note.contains(REFUSED))
}

/// Here, Deckhand substitutes a list of documents one by one, without layering; the sources are
/// given separately.
#[test]
#[ignore = "needs the recorded corpus"]
fn substitution_renders_as_recorded() {
    let cases = CaseOrigin::Corpus.cases("deckhand/substitution.json");
    assert!(!cases.is_empty());
    for case in &cases {
        let documents = case["documents"].as_array().expect("documents");
        let yielded = case["outcome"]["yielded"]
            .as_array()
            .expect("no case refuses");
        let mut all = documents.clone();
        let identity = |it: &Json| (it["schema"].clone(), it["metadata"]["name"].clone());
        let known: BTreeSet<String> = documents
            .iter()
            .map(|it| format!("{:?}", identity(it)))
            .collect();
        let sources = case["substitution_sources"].as_array().expect("sources");
        all.extend(
            sources
                .iter()
                .filter(|it| !known.contains(&format!("{:?}", identity(it))))
                .cloned(),
        );
        for document in &mut all {
            // Parents are irrelevant here.
            if let Some(layering) = document["metadata"]["layeringDefinition"].as_object_mut() {
                layering.remove("parentSelector");
                layering.remove("actions");
            }
        }
        let tree = tree_of(&all).expect("nothing opaque");
        let checked = check_files(&tree, options_of(&case["options"]), every_document);
        let rendered = checked.sites[0]
            .taken
            .as_ref()
            .expect("no fault in layercake");
        assert!(!yielded.is_empty(), "{}", case["id"]);
        for document in yielded {
            let named = |(schema, _, name, _): &&(String, String, String, String)| {
                document["schema"] == json!(schema) && document["metadata"]["name"] == json!(name)
            };
            let (.., data) = rendered
                .iter()
                .find(named)
                .expect("what is yielded was given");
            assert_eq!(*data, canonical_json(&document["data"]), "{}", case["id"]);
        }
    }
}

pub(super) fn options_of(options: &Json) -> DeckhandOptions {
    let fails = options["fail_on_missing_sub_src"].as_bool().unwrap_or(true);
    let sources = options["encryption_sources"].as_object();
    DeckhandOptions {
        semantics: Semantics::Deckhand,
        missing_source: if fails {
            MissingSource::Error
        } else {
            MissingSource::Warning
        },
        encryption_sources: sources
            .into_iter()
            .flatten()
            .map(|(reference, secret)| (reference.clone(), node_of(secret).expect("plain data")))
            .collect(),
    }
}

fn outputs(site: &RenderedSite<'_>) -> Outputs {
    let emitted = site.graph.iter().filter(|(_, recipe)| recipe.emit);
    let mut outputs: Outputs = emitted
        .filter_map(|(doc, recipe)| {
            let key = &recipe.key;
            let data = canonical(site.rendered.data(doc)?);
            Some((
                key.schema.to_string(),
                key.layer.to_string(),
                key.name.to_string(),
                data,
            ))
        })
        .collect();
    outputs.sort();
    outputs
}

fn every_document(site: &RenderedSite<'_>) -> Outputs {
    let recipes = site.graph.iter();
    recipes
        .map(|(doc, recipe)| {
            let key = &recipe.key;
            let data = site.rendered.data(doc).map(canonical).unwrap_or_default();
            (
                key.schema.to_string(),
                key.layer.to_string(),
                key.name.to_string(),
                data,
            )
        })
        .collect()
}

fn compare(
    outcome: &Json,
    checked: &Checked<Outputs>,
    classes: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), String> {
    if let Some(error) = outcome.get("error") {
        return refused(error, checked, classes);
    }
    let rendered = outcome["rendered"].as_array().expect("rendered or error");
    let mut expected: Outputs = rendered
        .iter()
        .map(|document| {
            let metadata = &document["metadata"];
            let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
            (
                text(&document["schema"]),
                text(&metadata["layeringDefinition"]["layer"]),
                text(&metadata["name"]),
                canonical_json(&document["data"]),
            )
        })
        .collect();
    expected.sort();
    let actual = checked.sites[0].taken.as_ref().ok_or("layercake failed")?;
    if *actual == expected {
        return Ok(());
    }
    Err(format!(
        "expected {expected:#?}\nbut got {actual:#?}\n{}",
        findings(checked)
    ))
}

/// A refusal must have an error of a rule for its class of errors, a crash of Deckhand any error.
pub(super) fn refused<T>(
    error: &Json,
    checked: &Checked<T>,
    classes: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), String> {
    let class = error["class"].as_str().expect("a class");
    let rules = if error["deckhand"] == true {
        Some(
            classes
                .get(class)
                .ok_or_else(|| format!("docs/deckhand.md lacks `{class}`"))?,
        )
    } else {
        None
    };
    let errors = checked.findings.diagnostics.iter();
    let mut errors = errors.filter(|finding| finding.severity == Severity::Error);
    if errors.any(|finding| rules.is_none_or(|rules| rules.contains(finding.rule.name))) {
        return Ok(());
    }
    Err(format!(
        "expected {class}: {}\n{}",
        error["message"],
        findings(checked)
    ))
}

pub(super) fn findings<T>(checked: &Checked<T>) -> String {
    let findings = checked.findings.diagnostics.iter();
    findings
        .map(|finding| finding_text(finding, &checked.sources))
        .collect()
}

fn canonical_json(json: &Json) -> String {
    canonical(&node_of(json).expect("nothing opaque"))
}

/// Table of `docs/deckhand.md`: classes of errors and their rules.
pub(super) fn classes_of_errors() -> BTreeMap<String, BTreeSet<String>> {
    let page = include_str!("../../../docs/deckhand.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let names = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let mut classes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        for class in names(cells[1]) {
            classes.entry(class).or_default().extend(names(cells[2]));
        }
    }
    classes
}

fn is_pegleg_rendering(rule: &Rule) -> bool {
    // Pegleg does not check schemas, and other readers refuse the rest.
    rule.aliases.contains(&"P005")
        || [
            "not-a-document",
            "empty-document",
            "over-limit",
            "schema-violation",
            "invalid-schema",
        ]
        .contains(&rule.name)
}

#[test]
fn table_of_error_classes_names_rules() {
    let classes = classes_of_errors();
    assert!(classes.len() >= 12, "{classes:?}");
    for (class, rules) in classes {
        for name in rules {
            let rule = RULES.iter().find(|rule| rule.name == name);
            let rule = rule.unwrap_or_else(|| panic!("{class}: unknown rule `{name}`"));
            // Pegleg has one code for all errors of Deckhand's rendering.
            assert!(
                is_pegleg_rendering(rule),
                "{name} does not have the code P005"
            );
        }
    }
}
