//! Iteration over values as in Python: the items of a list, the characters of a string, the keys of
//! a mapping.

use layercake_yaml::{Key, Node, Origin, Value};

/// Returns the number of elements; zero for a scalar other than a string.
pub(super) fn length(node: &Node) -> usize {
    match &node.value {
        Value::Sequence(items) => items.len(),
        Value::Pairs(pairs) => pairs.len(),
        Value::String(text) => text.chars().count(),
        Value::Mapping(mapping) => mapping.len(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_) => 0,
    }
}

/// Returns the elements, in order. Items of a list are returned as they are; other elements are
/// built from the source at their span. A pair of a list of pairs becomes a list of two, like
/// Python's tuple.
pub(super) fn elements(node: &Node) -> Vec<Node> {
    match &node.value {
        Value::Sequence(items) => items.to_vec(),
        Value::Pairs(pairs) => pairs.iter().map(pair).collect(),
        Value::String(text) => text.chars().map(|it| character(node, it)).collect(),
        Value::Mapping(mapping) => mapping.keys().map(|key| of_key(node, key)).collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_) => Vec::new(),
    }
}

/// Returns the element at an index of a list.
pub(super) fn item(list: &Node, index: usize) -> Option<Node> {
    match &list.value {
        Value::Sequence(items) => items.get(index).cloned(),
        Value::Pairs(pairs) => pairs.get(index).map(pair),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::String(_)
        | Value::Mapping(_) => None,
    }
}

fn pair((left, right): &(Node, Node)) -> Node {
    let value = Value::from(vec![left.clone(), right.clone()]);
    let secret = left.secret || right.secret;
    Node {
        secret,
        ..Node::made(value, left.span.to(right.span))
    }
}

fn character(text: &Node, character: char) -> Node {
    let value = Value::String(character.encode_utf8(&mut [0; 4]).into());
    Node {
        value,
        origin: Origin::Derived,
        ..text.clone()
    }
}

fn of_key(mapping: &Node, key: &Key) -> Node {
    Node {
        secret: mapping.secret,
        ..Node::new(key.value.clone(), key.span)
    }
}
