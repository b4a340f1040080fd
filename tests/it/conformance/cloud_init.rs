//! `cloud-init/spec.json`: parsing of merge specifications. `cloud_init_pipeline` compares the
//! merged results.

use layercake::merge::cloud_init::{Dialect, Failure, FailureKind, Settings, Specification};
use layercake::yaml::Node;
use serde_json::Value as Json;

use super::{CaseOrigin, node_of};

#[test]
fn specifications_are_read_as_recorded() {
    compare_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn specifications_of_the_corpus_are_read_as_recorded() {
    compare_all(CaseOrigin::Corpus);
}

fn compare_all(origin: CaseOrigin) {
    let cases = origin.cases("cloud-init/spec.json");
    origin.assert_at_least(243, cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let expected = &case["expected"];
        let read = Specification::read(&mapping_with(&case["spec"]), None, Dialect::Current);
        let is_as_recorded = match (&read, expected["error"].as_str()) {
            (Err(failure), Some(error)) => kind_of(failure) == error,
            (Ok(read), None) => parsed(read) == expected["parsed"],
            (Ok(_), Some(_)) | (Err(_), None) => false,
        };
        if !is_as_recorded {
            wrong.push(format!(
                "{}: {read:?}, and recorded is {expected}",
                case["spec"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Recorded kind of a failure (`cloud-init.md` 9).
pub(super) fn kind_of(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Format => "spec-format",
        FailureKind::Shape(_) => "spec-shape",
        FailureKind::UnknownClass { .. } => "unknown-class",
        FailureKind::AppendedToText { .. } | FailureKind::MappingForList { .. } => "merge",
        FailureKind::OverLimit { .. } => "beyond what we hold in memory",
    }
}

fn mapping_with(how: &Json) -> Node {
    node_of(&serde_json::json!({ "merge_how": how })).expect("plain data")
}

/// A specification in the recorded form.
fn parsed(specification: &Specification) -> Json {
    let requests = specification.requests.iter().map(|request| {
        let settings = match &request.settings {
            Settings::Words { words, .. } => {
                words.iter().map(|word| Json::from(&*word.value)).collect()
            }
            Settings::Text(text) => Json::from(&*text.value),
        };
        Json::from(vec![Json::from(&*request.name.value), settings])
    });
    requests.collect()
}
