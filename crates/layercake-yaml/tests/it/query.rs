//! RFC 9535 paths find the same in our nodes as in JSON, and return the nodes themselves, each
//! with its source text.

use jsonpath_rust::JsonPath as _;
use layercake_yaml::json::{NodeAsJson, canonical, json_form, original_location};
use layercake_yaml::{Query, parse};
use layercake_yaml_testing::reading::some_file;
use serde_json::Value;

/// JSON, which is YAML too.
const TEXT: &str = r#"{"groups": [
    {"name": "one", "charts": ["a", "b"], "size": 1, "debug": true},
    {"name": "two", "charts": [], "size": 2.5},
    "plain"
  ], "flags": {"x": null, "y z": false}}"#;

const PATHS: &[&str] = &[
    "$",
    "$.groups[*].name",
    "$.groups[*].charts[*]",
    "$.groups[-1]",
    "$.groups[0:2].size",
    "$.flags['y z', 'x']",
    "$.flags.*",
    "$..name",
    "$.groups[?@.size > 1].name",
    "$.groups[?@.debug == true].charts[0]",
    "$.groups[?@.name == 'two']",
    "$.groups[?length(@.charts) == 2].name",
    "$.nothing[*].here",
];

#[test]
fn paths_find_in_nodes_what_they_find_in_json() {
    let json: Value = serde_json::from_str(TEXT).expect("it is JSON");
    let parsed = parse(some_file(), TEXT);
    for path in PATHS {
        let expected = json.query(path).expect("it is a path");
        let query = Query::parse(path).expect("it is a path");
        let found = query.find(&parsed.documents[0].root);
        let mut found: Vec<Value> = found
            .iter()
            .map(|found| {
                serde_json::from_str(&TEXT[found.node.span.range()]).expect("JSON in JSON")
            })
            .collect();
        // The order of the nodes of a union is different.
        found.sort_by_key(Value::to_string);
        let mut expected: Vec<Value> = expected.into_iter().cloned().collect();
        expected.sort_by_key(Value::to_string);
        assert_eq!(found, expected, "{path}");
    }
    assert!(
        PATHS
            .iter()
            .filter(|path| !json.query(path).unwrap().is_empty())
            .count()
            > 10
    );
}

#[test]
fn invalid_paths_are_refused() {
    for text in ["", "chart_group", "$.", "$[", "$.a[?", ".a"] {
        assert!(Query::parse(text).is_err(), "{text}");
    }
}

/// Such a path finds nearly everything many times over, and may be in a file that a pull request
/// changes.
#[test]
fn paths_that_multiply_matches_are_refused() {
    for text in [
        "$..*..*",
        "$.a[?$.b == 1]",
        "$..[?@..a]",
        "$[0,0][0,0][0,0][0,0][0,0][0,0][0,0]",
    ] {
        let refused = Query::parse_bounded(text)
            .map_err(|invalid| invalid.reason)
            .unwrap_err();
        assert!(refused.contains("at most"), "{text}: {refused}");
    }
    for text in [
        "$..['a..b', \"$,,,,,,,\"]",
        "$[0,0][0,0][0,0][0,0][0,0][0,0]",
        "$['a\\'..$'].b",
    ] {
        assert!(Query::parse_bounded(text).is_ok(), "{text}");
    }
}

/// jsonpath-rust accepts them, and finds other values than RFC 9535 demands.
#[test]
fn paths_that_would_find_something_else_are_refused() {
    for text in [
        "$[?@[?@ > 1]]",
        "$[?count(@[?@.a]) > 1]",
        "$.a[?@.b && !@..[?@.c]]",
        "$[?length(@.a)]",
        "$[?(@.a == 1 || count(@.*))]",
        "$[?value(@.a)]",
    ] {
        assert!(Query::parse(text).is_err(), "{text}");
    }
    for text in [
        "$[?@.a[?@ > 1]]",
        "$[?length(@.a) > 1]",
        "$[?!match(@.a, 'b')]",
    ] {
        assert!(Query::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn json_form_is_serialized_like_the_value() {
    let text = "{1: !!set {1, x, ~, 2019-01-31}, a: !!omap [k: 1.5, 2: .inf], b: !!binary AQ==}";
    let parsed = parse(some_file(), text);
    let root = &parsed.documents[0].root;
    let json = |node| serde_json::to_string(&NodeAsJson::new(node)).unwrap();
    assert_eq!(json(&json_form(root)), json(root));
}

#[test]
fn selected_nodes_have_their_location() {
    let text =
        "{\"it's\": {\"a]b\": [{\"\\\\\": 1, \"\\n\\u0001\": 2}]}, 1: {2019-01-31: !!set {x}}}";
    let parsed = parse(some_file(), text);
    let root = &parsed.documents[0].root;
    let form = json_form(root);
    let all = Query::parse("$..*").unwrap();
    let found = all.find(&form);
    for found in &found {
        let location = original_location(root, &found.location);
        let node = location.get(root).unwrap();
        // JSON has no sets, so nothing in one has a location.
        let is_set = matches!(node.value, layercake_yaml::Value::Set(_));
        assert!(
            is_set || canonical(node) == canonical(found.node),
            "{location}"
        );
    }
    assert_eq!(found.len(), 9);
    let tagged = Query::parse("$['!!int:1']['!!date:2019-01-31']['!!set'][0]").unwrap();
    assert_eq!(tagged.find(&form)[0].node.as_str(), Some("x"));
}
