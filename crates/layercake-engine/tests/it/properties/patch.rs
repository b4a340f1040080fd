//! Laws of JSON Patch over generated documents and patches: the origin of every value in a result,
//! and agreement with another implementation.

use std::sync::Arc;

use layercake_engine::merge::Strategy as Merge;
use layercake_engine::merge::numbers::From;
use layercake_engine::merge::patch::Patch;
use layercake_engine_testing::numbers;
use layercake_source::NumberedInput;
use layercake_yaml::Node;
use layercake_yaml::path::{Location, children};
use layercake_yaml_testing::config;
use layercake_yaml_testing::reading::same;
use layercake_yaml_testing::values::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use crate::patch::{apply, document, read};

proptest! {
    #![proptest_config(config(300))]

    /// Every value equals the value at its origin, and the origin lists it as a destination.
    #[test]
    fn every_value_of_a_patched_document_has_an_origin(base in data(), tried in operations()) {
        let (base, patch) = (document(&base.to_string()), applicable(&base, &tried));
        let result = apply(&base, &patch).expect("every operation applies");
        let strategy = Merge::JsonPatch(Arc::new(patch.clone()));
        let over = patch.document();
        let numbers = numbers(&strategy, &base, over);
        for (place, node) in places(&result) {
            match numbers.from(&place) {
                Some(From::Moved(input, from)) => {
                    let source = match input {
                        NumberedInput::Before => from.get(&base),
                        NumberedInput::Own | NumberedInput::Source => from.get(over),
                    };
                    let source = source.expect("the origin exists");
                    if !node.is_collection() {
                        prop_assert!(same(&node.value, &source.value), "{place} from {input:?} {from}");
                        prop_assert_eq!(node.span, source.span);
                    }
                    let went = numbers.destinations(input, &from);
                    prop_assert!(went.contains(&place), "{place} from {input:?} {from} to {went:?}");
                }
                origin => prop_assert!(false, "{} has the origin {:?}", place, origin),
            }
        }
    }

    /// Every destination has a value that originates there.
    #[test]
    fn every_destination_originates_from_its_source(base in data(), tried in operations()) {
        let (base, patch) = (document(&base.to_string()), applicable(&base, &tried));
        let result = apply(&base, &patch).expect("every operation applies");
        let strategy = Merge::JsonPatch(Arc::new(patch.clone()));
        let over = patch.document();
        let numbers = numbers(&strategy, &base, over);
        for (input, data) in [(NumberedInput::Before, &base), (NumberedInput::Source, over)] {
            for (from, _) in places(data).into_iter().filter(|(_, node)| !node.is_collection()) {
                for place in numbers.destinations(input, &from) {
                    prop_assert!(place.get(&result).is_some(), "{from} to {place}");
                    prop_assert_eq!(numbers.from(&place), Some(From::Moved(input, from.clone())));
                }
            }
        }
    }

    /// Another implementation has the same result, or also fails.
    #[test]
    fn another_implementation_agrees(base in data(), tried in operations()) {
        let patches = [Json::Array(applicable_json(&base, &tried)), Json::Array(tried)];
        for patch in patches {
            if differs_from_python(&patch) {
                continue;
            }
            let ours = read(&patch.to_string())
                .and_then(|read| apply(&document(&base.to_string()), &read));
            let mut theirs = base.clone();
            let operations: json_patch::Patch =
                serde_json::from_value(patch.clone()).expect("the patch is well-formed");
            match (ours, json_patch::patch_unsafe(&mut theirs, &operations)) {
                (Ok(ours), Ok(())) => {
                    let theirs = of(theirs);
                    prop_assert_eq!(&ours, &theirs, "{}", patch);
                }
                (Err(_), Err(_)) => {}
                (ours, theirs) => {
                    prop_assert!(false, "{} {}: {:?} {:?}", base, patch, ours, theirs);
                }
            }
        }
    }
}

/// Whether a patch uses an operation that `jsonpatch` implements differently from RFC 6902:
/// copying, moving or removing the whole document, replacing the key `-`, and moving a list item
/// into its own remainder.
fn differs_from_python(patch: &Json) -> bool {
    let operations = patch.as_array().expect("a list").iter();
    operations.into_iter().any(|operation| {
        let text = |member: &str| operation[member].as_str().unwrap_or("absent");
        let into_itself = text("path").starts_with(text("from")) && text("path") != text("from");
        text("from").is_empty()
            || text("op") == "remove" && text("path").is_empty()
            || text("op") == "move" && into_itself
    })
}

/// Operations that apply to the result of those before them.
fn applicable_json(base: &Json, tried: &[Json]) -> Vec<Json> {
    let mut state = document(&base.to_string());
    let mut kept = Vec::new();
    for operation in tried {
        let single = read(&json!([operation]).to_string()).expect("the operation is well-formed");
        if let Ok(next) = apply(&state, &single) {
            state = next;
            kept.push(operation.clone());
        }
    }
    kept
}

fn applicable(base: &Json, tried: &[Json]) -> Patch {
    let kept = Json::Array(applicable_json(base, tried));
    read(&kept.to_string()).expect("the patch is well-formed")
}

/// All locations in some data.
fn places(data: &Node) -> Vec<(Location, &Node)> {
    let mut found = vec![(Location::root(), data)];
    let mut next = 0;
    while let Some((place, node)) = found.get(next).cloned() {
        found.extend(children(node).map(|(piece, child)| (place.join(piece), child)));
        next += 1;
    }
    found
}

/// Mappings with few distinct keys, so that pointers match them.
fn data() -> impl Strategy<Value = Json> {
    prop::collection::hash_map(key(), value(), 2..5).prop_map(object)
}

fn value() -> impl Strategy<Value = Json> {
    let scalar = select(vec![
        json!(null),
        json!("t"),
        json!(7),
        json!(-3),
        json!(""),
    ]);
    scalar.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::hash_map(key(), inner.clone(), 0..3).prop_map(object),
            prop::collection::vec(inner, 0..4).prop_map(Json::Array),
        ]
    })
}

fn object(entries: std::collections::HashMap<&'static str, Json>) -> Json {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    Json::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn key() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "0", "~/"])
}

fn operations() -> impl Strategy<Value = Vec<Json>> {
    prop::collection::vec(operation(), 0..40)
}

fn operation() -> impl Strategy<Value = Json> {
    let with_value = (select(vec!["add", "replace", "test"]), pointer(), value())
        .prop_map(|(op, path, value)| json!({"op": op, "path": path, "value": value}));
    let with_source = (select(vec!["move", "copy"]), pointer(), pointer())
        .prop_map(|(op, path, from)| json!({"op": op, "path": path, "from": from}));
    let remove = pointer().prop_map(|path| json!({"op": "remove", "path": path}));
    prop_oneof![4 => with_value, 4 => with_source, 1 => remove]
}

fn pointer() -> impl Strategy<Value = String> {
    let token = select(vec!["a", "a", "b", "b", "0", "0", "1", "-", "~0~1"]);
    let length = select(vec![1, 1, 1, 1, 2, 2, 2, 3, 3, 4]);
    let tokens = length.prop_flat_map(move |length| prop::collection::vec(token.clone(), length));
    let inside = tokens.prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect());
    prop_oneof![40 => inside, 1 => Just(String::new())]
}

/// Checks that the generators cover the laws.
#[test]
fn generated_patches_have_effects() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut applied, mut moved) = (0, 0);
    for _ in 0..200 {
        let tree = (data(), operations())
            .new_tree(&mut runner)
            .expect("data can be generated");
        let (base, tried) = tree.current();
        let kept = applicable_json(&base, &tried);
        applied += kept.len();
        moved += kept
            .iter()
            .filter(|it| it["op"] == "move" || it["op"] == "copy")
            .count();
    }
    assert!(
        applied > 500 && moved > 100,
        "{applied} operations, {moved} of them move or copy"
    );
}
