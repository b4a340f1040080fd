//! Laws of merging: the explanation of a result agrees with the result.

use std::rc::Rc;

use layercake_engine::merge::Strategy as Merging;
use layercake_engine::merge::numbers::{From, Numbered, Numbers};
use layercake_source::NumberedInput;
use layercake_yaml::path::{Location, Piece, children};
use layercake_yaml::{Key, Mapping, Node, Origin, Value};

use layercake_yaml_testing::reading::same;

/// Numbers that describe which values a strategy moves, and where.
pub fn numbers(merging: &Merging, base: &Node, over: &Node) -> Numbers {
    let before = Numbered::of(base, NumberedInput::Before);
    let source = Rc::new(Numbered::of(over, NumberedInput::Source));
    let mut after = before.node().clone();
    // A failed merge leaves the data unchanged.
    let _ = merging.merge(&mut after, source.node());
    Numbers::new(before, None, Some(source), after)
}

/// All locations in a value, including the root.
pub fn places(node: &Node) -> Vec<Location> {
    fn walk(node: &Node, here: &Location, all: &mut Vec<Location>) {
        all.push(here.clone());
        for (piece, child) in children(node) {
            walk(child, &here.join(piece), all);
        }
    }
    let mut all = Vec::new();
    walk(node, &Location::root(), &mut all);
    all
}

/// Checks that a node of a result equals the node at its origin.
fn is_from(node: &Node, source: &Node, at: &Location, side: &Node) -> Result<(), String> {
    let message = || format!("{node:?} is not from {source:?}");
    if node.secret != source.secret && !node.is_collection() {
        return Err(format!("a secret: {}", message()));
    }
    let is_character = node.origin == Origin::Derived
        && source
            .as_str()
            .zip(node.as_str())
            .is_some_and(|(all, one)| all.contains(one));
    let is_same = node.span == source.span
        && (is_character
            || node.is_collection() && source.is_collection()
            || same(&node.value, &source.value));
    let is_in_pairs = matches!(source.value, Value::Pairs(_)) && source.span.contains(node.span);
    let is_key = match at.0.split_last() {
        Some((Piece::Key(key), around)) => {
            let mapping = Location(around.to_vec())
                .get(side)
                .and_then(Node::as_mapping);
            let entry = mapping.and_then(|mapping| mapping.get_entry(key));
            entry.is_some_and(|(key, _)| key.span == node.span && same(&key.value, &node.value))
        }
        Some((Piece::Index(_), _)) | None => false,
    };
    if is_same || is_in_pairs || is_key {
        Ok(())
    } else {
        Err(message())
    }
}

/// Violations of the laws in a result of merging `over` into `base`.
pub fn untrue(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers = numbers(merging, base, over);
    for place in places(result) {
        let node = place.get(result).expect("the place is one of the result");
        let came = numbers.from(&place);
        let mut check = |input: NumberedInput, at: &Location| -> Option<Node> {
            let data = if input == NumberedInput::Before {
                base
            } else {
                over
            };
            let source = at.get(data).cloned();
            if source.is_none() {
                wrong.push(format!(
                    "{place} came from {input:?} {at}, which does not exist"
                ));
            }
            if !numbers.destinations(input, at).contains(&place) {
                wrong.push(format!(
                    "{place} came from {input:?} {at}, which has another destination"
                ));
            }
            source
        };
        match &came {
            Some(From::Moved(input, at)) => {
                let data = if *input == NumberedInput::Before {
                    base
                } else {
                    over
                };
                if let Some(source) = check(*input, at) {
                    wrong.extend(
                        is_from(node, &source, at, data)
                            .err()
                            .map(|it| format!("{place}: {it}")),
                    );
                }
            }
            Some(From::Built {
                text,
                part: Some(part),
            }) => {
                let texts = [
                    check(NumberedInput::Before, text),
                    check(NumberedInput::Source, part),
                ];
                let is_whole = node.as_str().is_some_and(|text| is_joined(text, &texts));
                if !is_whole || node.origin != Origin::Derived {
                    wrong.push(format!("{place}: {node:?} is not joined from {texts:?}"));
                }
            }
            Some(From::Built { part: None, .. } | From::Made) | None => {
                wrong.push(format!("{place} exists although its origin is {came:?}"));
            }
        }
    }
    wrong
}

/// Whether a string is made of these two; for a string in a pair, only the list of pairs is known.
fn is_joined(text: &str, sources: &[Option<Node>; 2]) -> bool {
    let [before, after] = sources.each_ref().map(|source| match source {
        Some(source) if matches!(source.value, Value::Pairs(_)) => None,
        Some(source) => Some(layercake_engine::merge::pattern::python_text(&source.value)),
        None => Some(String::new()),
    });
    match (before, after) {
        (Some(before), Some(after)) => text == before + &after,
        (Some(before), None) => text.starts_with(&before),
        (None, Some(after)) => text.ends_with(&after),
        (None, None) => true,
    }
}

/// Checks that a null removed the missing keys of the root.
pub fn invalid_deletions(base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let keys = base.as_mapping().into_iter().flat_map(Mapping::keys);
    let gone = keys.filter(|key| result.as_mapping().is_none_or(|it| it.get(*key).is_none()));
    let is_null = |key: &&Key| over.as_mapping()?.get(*key).map(Node::is_null);
    let kept = gone.filter(|key| is_null(key) != Some(true));
    kept.map(|key| format!("{key:?} is missing without a null that deletes it"))
        .collect()
}

/// Checks that values exist at the destinations of other values.
pub fn invalid_destinations(
    merging: &Merging,
    base: &Node,
    over: &Node,
    result: &Node,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers = numbers(merging, base, over);
    for (input, data) in [(NumberedInput::Before, base), (NumberedInput::Source, over)] {
        for place in places(data) {
            for went in numbers.destinations(input, &place) {
                if went.get(result).is_none() {
                    wrong.push(format!(
                        "{input:?} {place} went to {went}, which does not exist"
                    ));
                }
            }
        }
    }
    wrong
}
