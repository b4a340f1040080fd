//! `cloud-init/schema.json`: results of cloud-init's own schema for merge specifications.

use layercake::schema::Wrong;
use layercake::system::cloud_init::schema::violations;
use layercake::yaml::parse;
use layercake::yaml::path::{Location, Piece};
use serde_json::Value as Json;

use super::{CaseOrigin, node_of, some_file};

#[test]
fn schema_of_merge_specifications_refuses_the_recorded_cases() {
    compare_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn schema_of_merge_specifications_refuses_cases_of_the_corpus() {
    compare_all(CaseOrigin::Corpus);
}

fn compare_all(origin: CaseOrigin) {
    let cases = origin.cases("cloud-init/schema.json");
    let (mut refused, mut wrong) = (0, Vec::new());
    for case in &cases {
        let expected = paths(&case["expected"]);
        let data = node_of(&case["config"]).expect("a configuration is data");
        let mut actual: Vec<String> = violations(&data)
            .iter()
            .map(|violation| path(&violation.location))
            .collect();
        actual.sort();
        refused += usize::from(!expected.is_empty());
        if actual != expected {
            wrong.push(format!(
                "{}: expected {expected:?}, got {actual:?}",
                case["id"]
            ));
        }
    }
    origin.assert_at_least(6, refused);
    origin.assert_at_least(refused + 1, cases.len());
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Invalid locations, each as often as recorded.
fn paths(expected: &Json) -> Vec<String> {
    let paths = expected["paths"].as_array().into_iter().flatten();
    let mut paths: Vec<String> = paths
        .map(|path| path.as_str().expect("a path as text").to_owned())
        .collect();
    assert_eq!(
        paths.is_empty(),
        expected["ok"] == true,
        "failures have recorded paths"
    );
    paths.sort();
    paths
}

/// A location in cloud-init's notation.
fn path(location: &Location) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Index(index) => index.to_string(),
        Piece::Key(key) => key.as_str().expect("keys are text").to_owned(),
    };
    location.0.iter().map(piece).collect::<Vec<_>>().join(".")
}

/// Further data of the violations.
#[test]
fn violations_name_the_problem_and_suggest_a_fix() {
    let violations_of = |text: &str| -> Vec<String> {
        let mut documents = parse(some_file(), text).documents;
        let violations = violations(&documents.remove(0).root);
        let descriptions = violations.iter().map(|violation| match &violation.wrong {
            Wrong::NotOneOf { near, .. } => format!("{} near {near:?}", violation.location),
            Wrong::MissingKey { key, .. } => format!("{} lacks {key}", violation.location),
            Wrong::UnknownKey { key, .. } => format!("{} has {key:?}", violation.location),
            Wrong::Type { expected, .. } => format!("{} is not {expected:?}", violation.location),
            wrong => format!("{} {wrong:?}", violation.location),
        });
        descriptions.collect()
    };
    let none: [&str; 0] = [];
    for accepted in ["{}", "a: 1", "[1]", "merge_how: ''", "a: {merge_how: 1}"] {
        assert_eq!(violations_of(accepted), none, "{accepted}");
    }
    assert_eq!(
        violations_of("merge_how: [{name: lists, settings: [apend, append]}]"),
        [
            ".merge_how[0].name near Some(\"list\")",
            ".merge_how[0].settings[0] near Some(\"append\")"
        ]
    );
    assert_eq!(
        violations_of("{merge_how: [{settings: [], x: 1}], merge_type: 2}"),
        [
            ".merge_how[0] lacks name",
            ".merge_how[0] has Some(\"x\")",
            ".merge_type is not [\"string\"]",
            ".merge_type is not [\"array\"]"
        ]
    );
}
