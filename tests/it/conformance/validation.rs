//! `deckhand/validation.json`: results of Deckhand's validation of documents, with and without
//! their schemas.

use std::collections::BTreeSet;

use layercake::check::{Checked, RenderedSite};
use layercake::diagnostic::Severity;
use layercake::graph::DocId;
use layercake::merge::deckhand::Semantics;
use layercake::system::deckhand::DeckhandOptions;
use layercake::system::deckhand::schema::{Schemas, refused};
use layercake::yaml::path::{Location, Piece};
use serde_json::Value as Json;

use super::CaseOrigin;
use super::documents::tree_of;
use super::layering::{
    classes_of_errors, findings, options_of, refused_at_its_document, says_refused,
};
use crate::support::{check_files, finding_text};

/// By document, in order, the locations that its schema refuses.
type Paths = Vec<BTreeSet<String>>;

#[test]
fn validation_has_the_recorded_results() {
    compare_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn validation_has_the_results_of_the_corpus() {
    compare_all(CaseOrigin::Corpus);
}

fn compare_all(origin: CaseOrigin) {
    let cases = origin.cases("deckhand/validation.json");
    let classes = classes_of_errors();
    let (mut compared, mut refused, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let Some((checked, existing)) = checked(case, Semantics::Deckhand) else {
            continue;
        };
        let outcome = match case["outcome"].get("error") {
            Some(error) => {
                refused += 1;
                super::layering::refused(error, &checked, &classes)
            }
            None => {
                compared += 1;
                compare(case, &checked, existing)
            }
        };
        if let Err(difference) = outcome {
            wrong.push(format!("{}: {difference}", case["id"]));
        }
    }
    eprintln!(
        "validation: {compared} compared, {refused} refused, of {}",
        cases.len()
    );
    origin.assert_at_least(54, compared);
    origin.assert_at_least(30, refused);
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A document that is refused when deployed cannot be deployed, regardless of the chosen meaning.
#[test]
fn every_invalid_document_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_invalid_document_of_the_corpus_is_an_error_in_both_meanings() {
    refuse_all(CaseOrigin::Corpus);
}

fn refuse_all(origin: CaseOrigin) {
    let classes = classes_of_errors();
    let (mut refusals, mut wrong) = (0, Vec::new());
    for case in origin.cases("deckhand/validation.json") {
        let documents = case["documents"].as_array().expect("documents");
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let Some((checked, existing)) = checked(&case, semantics) else {
                continue;
            };
            let mut differs = |difference: String| {
                wrong.push(format!("{} {semantics:?}: {difference}", case["id"]));
            };
            if let Some(error) = case["outcome"].get("error") {
                refusals += 1;
                let met = super::layering::refused(error, &checked, &classes)
                    .and_then(|()| refused_at_its_document(error, documents, existing, &checked));
                met.unwrap_or_else(&mut differs);
                continue;
            }
            let validations = case["outcome"]["validations"]
                .as_array()
                .expect("validations");
            let judged = documents.iter().zip(validations);
            for (document, _) in judged.filter(|(_, it)| it["status"] == "failure") {
                refusals += 1;
                let name = document["metadata"]["name"].as_str().expect("a name");
                let mut errors = checked
                    .findings
                    .diagnostics
                    .iter()
                    .filter(|it| says_refused(it));
                if !errors.any(|it| it.documents.iter().any(|key| *key.name == *name)) {
                    differs(format!("no error at {name}\n{}", findings(&checked)));
                }
            }
        }
    }
    origin.assert_at_least(108, refusals);
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Findings in the documents of a case, and the number of schemas before them; `None` if a document
/// is not data.
fn checked(case: &Json, semantics: Semantics) -> Option<(Checked<Paths>, usize)> {
    let documents = case["documents"].as_array().expect("documents");
    let identity = |it: &Json| {
        let metadata = &it["metadata"];
        let layer = &metadata["layeringDefinition"]["layer"];
        (
            it["schema"].clone(),
            layer.clone(),
            metadata["name"].clone(),
        )
    };
    // A document that is given again replaces the earlier one.
    let existing = case["existing_data_schemas"]
        .as_array()
        .expect("schemas")
        .iter();
    let given: Vec<_> = documents.iter().map(identity).collect();
    let existing: Vec<Json> = existing
        .filter(|schema| !given.contains(&identity(schema)))
        .cloned()
        .collect();
    let before = existing.len();
    let all: Vec<Json> = existing
        .into_iter()
        .chain(documents.iter().cloned())
        .collect();
    let tree = tree_of(&all)?;
    let only_control = case["options"]["pre_validate"] == true;
    let options = DeckhandOptions {
        semantics,
        ..options_of(&case["options"])
    };
    Some((
        check_files(&tree, options, |site| paths(site, only_control)),
        before,
    ))
}

/// Violations of the documents as given, which are the ones that Deckhand validates here.
fn paths(site: &RenderedSite<'_>, only_control: bool) -> Paths {
    let mut paths = vec![BTreeSet::new(); site.site.documents.len()];
    let data = |doc: DocId| Some(&site.site.document(doc).data);
    for refused in refused(site.site, &Schemas::default(), 1, data) {
        if only_control && !site.site.document(refused.doc).control {
            continue;
        }
        let violations = refused.refusal.violations.iter();
        paths[refused.doc.index()].extend(violations.map(|violation| path(&violation.location)));
    }
    paths
}

/// A location in the notation of Deckhand's validation.
pub(super) fn path(location: &Location) -> String {
    let pieces = location.0.iter().map(|piece| match piece {
        Piece::Index(index) => format!(".{index}"),
        Piece::Key(key) => match key.as_str() {
            Some(text) => format!(".{text}"),
            None => piece.to_string(),
        },
    });
    std::iter::once(".data".to_owned()).chain(pieces).collect()
}

fn compare(case: &Json, checked: &Checked<Paths>, existing: usize) -> Result<(), String> {
    let documents = case["documents"].as_array().expect("documents");
    let validations = case["outcome"]["validations"]
        .as_array()
        .expect("validations or error");
    let paths = checked.sites[0].taken.as_ref().ok_or("layercake failed")?;
    for (index, validation) in validations.iter().enumerate() {
        let errors = validation["errors"].as_array().expect("errors");
        let expected: BTreeSet<String> = errors
            .iter()
            .filter_map(|error| error["path"].as_str().map(str::to_owned))
            .collect();
        let actual = &paths[existing + index];
        // Other errors of a document than schema violations are errors.
        let by_itself = errors.iter().any(|error| error["path"].is_null());
        let findings = &checked.findings.diagnostics;
        let is_reported = |name: &str| {
            let mut errors = findings.iter().filter(|it| it.severity == Severity::Error);
            errors.any(|finding| finding.rule.name.contains(name))
        };
        if *actual != expected || (by_itself && !is_reported("duplicate-")) {
            let text: String = findings
                .iter()
                .map(|it| finding_text(it, &checked.sources))
                .collect();
            return Err(format!(
                "{}: expected {expected:?}, got {actual:?}\n{text}",
                documents[index]["metadata"]["name"]
            ));
        }
        let fails = validation["status"] == "failure";
        if fails != (!actual.is_empty() || by_itself) {
            return Err(format!("the status is {}", validation["status"]));
        }
    }
    Ok(())
}
