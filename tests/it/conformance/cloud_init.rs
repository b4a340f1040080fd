//! `cloud-init/spec.json`, `merge.json` and `legacy.json`: merger
//! specifications, and parts merged by cloud-init, today's and that of 2013.
//!
//! Here are the cases that need no more than merging: parts that are mappings,
//! with their headers. What is read from other forms is compared elsewhere.

use std::sync::Arc;

use layercake::merge::cloud_init::{
    Default, Dialect, Failure, FailureKind, Incoming, Laying, Settings, Specification, stack,
    stack_of_many,
};
use layercake::merge::{Failure as LayFailure, Strategy};
use layercake::report::json::canonical;
use layercake::source::{Span, Spanned};
use layercake::yaml::{Mapping, Node, Value, parse};
use serde_json::Value as Json;

use super::{node_of, nowhere, recorded, some_file};

#[test]
fn specifications_are_read_as_recorded() {
    let Some(cases) = recorded("cloud-init/spec.json") else { return };
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
            wrong.push(format!("{}: {read:?}, and recorded is {expected}", case["spec"]));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn parts_are_merged_as_recorded() {
    let Some(cases) = recorded("cloud-init/merge.json") else { return };
    let mut compared = 0;
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| is_about_merging(case)) {
        let parts = parts_of(case);
        let outcome = match case["mode"].as_str() {
            Some("many") => many(&parts, &current(Default::Many, &parts)),
            Some(_) | None => Ok(one_by_one(&parts, &current(Default::UserData, &parts))),
        };
        compared += 1;
        wrong.extend(difference(case, &outcome));
    }
    eprintln!("merge.json: {compared} of {} cases are compared here", cases.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn parts_are_merged_as_in_2013() {
    let Some(cases) = recorded("cloud-init/legacy.json") else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let parts = parts_of(case);
        let outcome = match case["mode"].as_str() {
            Some("many") => many(&parts, &stack_of_many(parts.iter().map(|part| &part.data))),
            Some(_) | None => Ok(one_by_one(&parts, &stack(parts.iter().map(Part::incoming)))),
        };
        wrong.extend(difference(case, &outcome));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A part of a case.
struct Part {
    /// Null where cloud-init makes nothing of it.
    data: Node,
    header: Option<Spanned<Arc<str>>>,
}

impl Part {
    fn incoming(&self) -> Incoming<'_> {
        Incoming { data: &self.data, header: self.header.as_ref() }
    }
}

/// What came of merging: the result and which parts are not in it, or why
/// there is none.
type Merged = (Node, Vec<(usize, &'static str)>);

type Outcome = Result<Merged, &'static str>;

fn is_about_merging(case: &Json) -> bool {
    let is_mode = matches!(case["mode"].as_str(), None | Some("many"));
    let parts = case["parts"].as_array();
    is_mode && parts.is_some_and(|parts| parts.iter().all(|part| part["ctype"].is_null()))
}

fn parts_of(case: &Json) -> Vec<Part> {
    let mut parts: Vec<Part> =
        case["parts"].as_array().expect("parts").iter().map(part_of).collect();
    if case["reverse"] == true {
        parts.reverse();
    }
    parts
}

fn part_of(part: &Json) -> Part {
    let header = |name: &str| part[name].as_str().filter(|text| !text.is_empty());
    let header = header("merge_type").or_else(|| header("x_merge_type"));
    let data = match part["text"].as_str() {
        Some(text) => mapping_in(text),
        None => node_of(&part["value"]).expect("plain data"),
    };
    Part { data, header: header.map(|text| Spanned::new(text.into(), nowhere())) }
}

/// The mapping that a text holds; null where it holds none that can be used.
fn mapping_in(text: &str) -> Node {
    let mut parsed = parse(some_file(), text);
    let is_sound = !parsed.problems.iter().any(|problem| problem.kind.is_fatal());
    match parsed.documents.pop() {
        Some(document) if is_sound && parsed.documents.is_empty() => match document.root.value {
            Value::Mapping(_) => document.root,
            _ => Node::new(Value::Null, nowhere()),
        },
        _ => Node::new(Value::Null, nowhere()),
    }
}

fn current(default: Default, parts: &[Part]) -> Vec<Laying> {
    let laying = |part: &Part| Laying::Current { header: part.header.clone(), default };
    parts.iter().map(laying).collect()
}

/// User-data: a part that cannot be merged is dropped.
fn one_by_one(parts: &[Part], layings: &[Laying]) -> Merged {
    if parts.is_empty() {
        return (Node::new(Value::Null, nowhere()), Vec::new());
    }
    let (mut result, mut dropped) = (empty(), Vec::new());
    for (index, (part, laying)) in parts.iter().zip(layings).enumerate() {
        if part.data.as_mapping().is_none() {
            dropped.push((index, "empty"));
            continue;
        }
        let before = canonical(&result);
        if let Err(failure) = lay(&mut result, &part.data, laying) {
            assert_eq!(canonical(&result), before, "what fails changes nothing");
            dropped.push((index, kind_of(&failure)));
        }
    }
    (result, dropped)
}

/// `mergemanydict`: an empty one is passed over, and a fault is fatal.
fn many(parts: &[Part], layings: &[Laying]) -> Outcome {
    let mut result = empty();
    for (part, laying) in parts.iter().zip(layings) {
        if !part.data.value.is_falsy() {
            lay(&mut result, &part.data, laying).map_err(|failure| kind_of(&failure))?;
        }
    }
    Ok((result, Vec::new()))
}

fn lay(base: &mut Node, over: &Node, laying: &Laying) -> Result<(), Failure> {
    match Strategy::CloudInit(laying.clone()).lay(base, over) {
        Ok(_) => Ok(()),
        Err(LayFailure::CloudInit(failure)) => Err(failure),
        Err(LayFailure::JsonPatch(_)) => unreachable!("no patch is laid"),
    }
}

/// What is not as it was recorded.
fn difference(case: &Json, outcome: &Outcome) -> Option<String> {
    let expected = &case["expected"];
    let told = match outcome {
        Err(error) if expected["error"] == *error => return None,
        Err(error) => format!("fails with {error}"),
        Ok((result, dropped)) => {
            let recorded: Vec<(usize, &str)> = dropped_of(expected);
            let is_same = *dropped == recorded
                && result_of(expected)
                    .is_some_and(|wanted| as_lists(result).equals_in_python(&as_lists(&wanted)));
            if is_same {
                return None;
            }
            format!("{} without {dropped:?}", canonical(result))
        }
    };
    Some(format!("{}: {told}, and recorded is {expected}", case["id"]))
}

fn dropped_of(expected: &Json) -> Vec<(usize, &str)> {
    let dropped = expected["dropped"].as_array();
    let each = dropped.into_iter().flatten().map(|it| {
        let index = it[0].as_u64().expect("the index of a part");
        (usize::try_from(index).expect("a small index"), it[1].as_str().expect("a kind"))
    });
    each.collect()
}

fn result_of(expected: &Json) -> Option<Node> {
    match expected["result_yaml"].as_str() {
        Some(text) => Some(parse(some_file(), text).documents.remove(0).root),
        None => expected.get("result").and_then(node_of),
    }
}

/// The value with lists for lists of pairs, as which they are recorded.
fn as_lists(node: &Node) -> Value {
    let new = |value| Node::new(value, nowhere());
    let list = |nodes: Vec<Node>| Value::Sequence(Arc::new(nodes));
    match &node.value {
        Value::Pairs(pairs) => list(
            pairs
                .iter()
                .map(|(left, right)| new(list(vec![new(as_lists(left)), new(as_lists(right))])))
                .collect(),
        ),
        Value::Sequence(items) => list(items.iter().map(|item| new(as_lists(item))).collect()),
        Value::Mapping(mapping) => {
            let entries = mapping.iter().map(|(key, node)| (key.clone(), new(as_lists(node))));
            Value::Mapping(Arc::new(entries.collect()))
        }
        scalar => scalar.clone(),
    }
}

/// The word of the recorded cases for a fault (`cloud-init.md` 9).
fn kind_of(failure: &Failure) -> &'static str {
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

/// A specification as it is recorded.
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

fn empty() -> Node {
    Node::new(Value::Mapping(Arc::new(Mapping::new())), Span::point(some_file(), 0))
}
