//! Limits of docs/limits.md: input at the limit is accepted, and one more is reported.
//!
//! The depth of a file is tested in `hostile.rs`.

use std::sync::Arc;

use layercake_source::{FileId, Span};
use layercake_yaml::path::{
    ListWrite, MAX_DESCENT, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES, MAX_VISITS,
    MAX_VISITS_PER_VALUE, MIN_VISITS, Path,
};
use layercake_yaml::{Key, Mapping, Node, Value, YamlLimit, YamlProblemKind, parse};
use layercake_yaml_testing::largest;

fn problems(text: &str) -> Vec<YamlProblemKind> {
    parse(FileId::default(), text)
        .problems
        .into_iter()
        .map(|problem| problem.kind)
        .collect()
}

#[test]
fn digits_of_an_integer_are_limited() {
    let digits = |count: usize| format!("a: {}", "7".repeat(count));
    assert_eq!(problems(&digits(YamlLimit::DIGITS)), []);
    assert_eq!(
        problems(&digits(YamlLimit::DIGITS + 1)),
        [YamlProblemKind::OverLimit(YamlLimit::Digits)]
    );
}

#[test]
fn values_of_a_document_are_limited() {
    // A list of 1,000 values, which counts itself, aliased many times.
    let thousand = format!("a: &a [{}]\n", vec!["x"; 999].join(", "));
    let text = |times: u64, more: u64| {
        let aliases = vec!["*a"; usize::try_from(times).unwrap()].join(", ");
        let more = vec!["x"; usize::try_from(more).unwrap()].join(", ");
        format!("{thousand}b: [{aliases}]\nc: [{more}]\n")
    };
    let times = YamlLimit::NODES / 1000 - 2;
    let is_over = |more: u64| !problems(&text(times, more)).is_empty();
    let most = (0..4000)
        .collect::<Vec<u64>>()
        .partition_point(|more| !is_over(*more));
    assert!(
        (1..4000).contains(&most),
        "the limit is near {}: {most}",
        YamlLimit::NODES
    );
    assert_eq!(
        problems(&text(times, most as u64)),
        [YamlProblemKind::OverLimit(YamlLimit::Nodes)],
        "one more is reported"
    );
    // Beside the aliased lists, the mapping and its keys or values count.
    let counted = times * 1000 + 1000 + most as u64;
    assert!(
        counted.abs_diff(YamlLimit::NODES) < 10,
        "{counted} of {}",
        YamlLimit::NODES
    );
}

#[test]
fn pieces_and_nesting_of_a_path_are_limited() {
    let pieces = |count: usize| Path::parse(&".a".repeat(count)).is_ok();
    assert!(pieces(MAX_PIECES) && !pieces(MAX_PIECES + 1));
    let nested = |count: usize| {
        Path::parse(&format!("$.{}a{}", "(a.".repeat(count), ")".repeat(count))).is_ok()
    };
    let most = (0..=2 * MAX_NESTING)
        .collect::<Vec<_>>()
        .partition_point(|count| nested(*count));
    assert!(most.abs_diff(MAX_NESTING) <= 1, "{most}");
}

#[test]
fn index_of_a_path_is_limited() {
    let written = |index: usize| {
        let parsed = parse(FileId::default(), "{}");
        let mut data = parsed.documents[0].root.clone();
        let path = Path::parse(&format!(".b[{index}]")).unwrap();
        let value = parse(FileId::default(), "1").documents[0].root.clone();
        path.write(
            &mut data,
            &value,
            ListWrite::Whole,
            Span::point(FileId::default(), 0),
        )
        .is_ok()
    };
    assert!(written(MAX_INDEX) && !written(MAX_INDEX + 1));
}

#[test]
fn matches_of_a_path_are_limited() {
    let path = Path::parse("$[*]").expect("it is a path");
    let found = |count: usize| {
        path.find(&list_of_nulls(count))
            .map(|found| found.len())
            .ok()
    };
    assert_eq!(found(MAX_MATCHES), Some(MAX_MATCHES));
    assert_eq!(found(MAX_MATCHES + 1), None);
}

#[test]
fn places_visited_by_a_path_are_limited() {
    let at = Span::point(FileId::default(), 0);
    let list = |items: Vec<Node>| Node::new(Value::from(items), at);
    let null = Node::new(Value::Null, at);
    let path = Path::parse("$..a").expect("it is a path");
    let exceeds = |places: usize| {
        // Ten thousand places each, which exist once.
        let many = list(vec![null.clone(); 9_999]);
        let mut items = vec![many; (places - 1) / 10_000];
        items.extend(vec![null.clone(); (places - 1) % 10_000]);
        path.find(&list(items)).is_err()
    };
    // The path as a whole and its root count, too.
    assert_eq!(
        largest(MAX_VISITS - 4..MAX_VISITS + 2, exceeds),
        MAX_VISITS - 2
    );
}

#[test]
fn places_visited_by_a_path_are_limited_for_each_value() {
    let data = list_of_nulls(9_999);
    let is_refused = |times: usize| {
        let path = Path::parse(&format!("$[0:{times}].`parent`..a")).expect("it is a path");
        path.find(&data).is_err()
    };
    // Each time, all ten thousand values and the steps of the path are visited.
    let most = largest(
        MAX_VISITS_PER_VALUE - 5..MAX_VISITS_PER_VALUE + 5,
        is_refused,
    );
    assert_eq!(most, MAX_VISITS_PER_VALUE - 1);
}

#[test]
fn places_visited_by_any_path_are_limited() {
    // From each value to the root, and from there to each value.
    let path = Path::parse("$..$..a").expect("it is a path");
    // Few enough values that their own limit is not above the common minimum.
    let few = 200..MIN_VISITS / MAX_VISITS_PER_VALUE;
    let most = largest(few, |values| path.find(&list_of_nulls(values - 1)).is_err());
    let visits = most * most;
    assert!(
        (MIN_VISITS - MIN_VISITS / 50..=MIN_VISITS).contains(&visits),
        "{visits}"
    );
}

/// A list of `count` nulls, which itself counts as one more value.
fn list_of_nulls(count: usize) -> Node {
    let at = Span::point(FileId::default(), 0);
    Node::new(Value::from(vec![Node::new(Value::Null, at); count]), at)
}

#[test]
fn depth_of_writes_to_descendants_is_limited() {
    let is_refused = |depth: usize| {
        let at = Span::point(FileId::default(), 0);
        let key = || Key::string("a", at);
        let mut data = Node::new(Value::Null, at);
        for _ in 0..depth {
            let mapping: Mapping = [(key(), data)].into_iter().collect();
            data = Node::new(Value::Mapping(Arc::new(mapping)), at);
        }
        let path = Path::parse("$..b").expect("it is a path");
        path.update(&mut data, &Node::new(Value::Null, at), ListWrite::Whole)
            .is_err()
    };
    let most = largest(MAX_DESCENT - 5..MAX_DESCENT + 5, is_refused);
    assert!(most.abs_diff(MAX_DESCENT) <= 1, "{most}");
}
