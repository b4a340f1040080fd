//! `cloud-init/schema.json`: what cloud-init's own schema says of merge
//! specifications.

use layercake::schema::Wrong;
use layercake::system::cloud_init::schema::violations;
use layercake::yaml::parse;
use layercake::yaml::path::{Location, Piece};
use serde_json::Value as Json;

use super::{node_of, recorded, some_file};

#[test]
#[ignore = "needs the recorded corpus"]
fn the_schema_of_merge_specifications_refuses_what_is_recorded() {
    let cases = recorded("cloud-init/schema.json");
    let (mut refused, mut wrong) = (0, Vec::new());
    for case in &cases {
        let expected = paths(&case["expected"]);
        let data = node_of(&case["config"]).expect("a configuration is data");
        let mut actual: Vec<String> =
            violations(&data).iter().map(|violation| path(&violation.location)).collect();
        actual.sort();
        refused += usize::from(!expected.is_empty());
        if actual != expected {
            wrong.push(format!("{}: expected {expected:?}, got {actual:?}", case["id"]));
        }
    }
    assert!(refused > 10 && cases.len() > refused, "real cases were tried");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The places that are refused, each as often as it is recorded.
fn paths(expected: &Json) -> Vec<String> {
    let paths = expected["paths"].as_array().into_iter().flatten();
    let mut paths: Vec<String> =
        paths.map(|path| path.as_str().expect("a path as text").to_owned()).collect();
    assert_eq!(paths.is_empty(), expected["ok"] == true, "paths are recorded where it fails");
    paths.sort();
    paths
}

/// A place as cloud-init writes it.
fn path(location: &Location) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Index(index) => index.to_string(),
        Piece::Key(key) => key.as_str().expect("keys are text").to_owned(),
    };
    location.0.iter().map(piece).collect::<Vec<_>>().join(".")
}

/// What is told of a specification, beside the places.
#[test]
fn what_the_schema_refuses_is_told_with_what_was_meant() {
    let told = |text: &str| -> Vec<String> {
        let mut documents = parse(some_file(), text).documents;
        let violations = violations(&documents.remove(0).root);
        let told = violations.iter().map(|violation| match &violation.wrong {
            Wrong::NotOneOf { near, .. } => format!("{} near {near:?}", violation.location),
            Wrong::MissingKey { key, .. } => format!("{} lacks {key}", violation.location),
            Wrong::UnknownKey { key, .. } => format!("{} has {key:?}", violation.location),
            Wrong::Type { expected, .. } => format!("{} is no {expected:?}", violation.location),
            wrong => format!("{} {wrong:?}", violation.location),
        });
        told.collect()
    };
    let none: [&str; 0] = [];
    for accepted in ["{}", "a: 1", "[1]", "merge_how: ''", "a: {merge_how: 1}"] {
        assert_eq!(told(accepted), none, "{accepted}");
    }
    assert_eq!(
        told("merge_how: [{name: lists, settings: [apend, append]}]"),
        [
            ".merge_how[0].name near Some(\"list\")",
            ".merge_how[0].settings[0] near Some(\"append\")"
        ]
    );
    assert_eq!(
        told("{merge_how: [{settings: [], x: 1}], merge_type: 2}"),
        [
            ".merge_how[0] lacks name",
            ".merge_how[0] has Some(\"x\")",
            ".merge_type is no [\"string\"]",
            ".merge_type is no [\"array\"]"
        ]
    );
}
