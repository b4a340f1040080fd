//! The laws of merging: what explains a result agrees with it.

use std::rc::Rc;

use layercake::merge::Strategy as Merging;
use layercake::merge::numbers::{From, Numbered, Numbers};
use layercake::source::NumberedInput;
use layercake::yaml::path::{Location, Piece, children};
use layercake::yaml::{Key, Mapping, Node, Origin, Value};

use super::reading::same;

/// What a strategy moves where.
pub fn numbers(merging: &Merging, base: &Node, over: &Node) -> Numbers {
    let before = Numbered::of(base, NumberedInput::Before);
    let source = Rc::new(Numbered::of(over, NumberedInput::Source));
    let mut after = before.node().clone();
    // What fails leaves all as it was.
    let _ = merging.lay(&mut after, source.node());
    Numbers::new(before, None, Some(source), after)
}

/// All places of a value, the root among them.
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

/// Whether the node of a result is what stands at its origin.
fn is_from(node: &Node, source: &Node, at: &Location, side: &Node) -> Result<(), String> {
    let told = || format!("{node:?} is not from {source:?}");
    if node.secret != source.secret && !node.is_collection() {
        return Err(format!("a secret: {}", told()));
    }
    let is_character = node.origin == Origin::Derived
        && source.as_str().zip(node.as_str()).is_some_and(|(all, one)| all.contains(one));
    let is_same = node.span == source.span
        && (is_character
            || node.is_collection() && source.is_collection()
            || same(&node.value, &source.value));
    let is_in_pairs = matches!(source.value, Value::Pairs(_)) && source.span.contains(node.span);
    let is_key = match at.0.split_last() {
        Some((Piece::Key(key), around)) => {
            let mapping = Location(around.to_vec()).get(side).and_then(Node::as_mapping);
            let entry = mapping.and_then(|mapping| mapping.get_entry(key));
            entry.is_some_and(|(key, _)| key.span == node.span && same(&key.value, &node.value))
        }
        Some((Piece::Index(_), _)) | None => false,
    };
    if is_same || is_in_pairs || is_key { Ok(()) } else { Err(told()) }
}

/// What is not true of a result, of which the parts below and above are known.
pub fn untrue(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers = numbers(merging, base, over);
    for place in places(result) {
        let node = place.get(result).expect("the place is one of the result");
        let came = numbers.from(&place);
        let mut check = |input: NumberedInput, at: &Location| -> Option<Node> {
            let data = if input == NumberedInput::Before { base } else { over };
            let source = at.get(data).cloned();
            if source.is_none() {
                wrong.push(format!("{place} came from {input:?} {at}, where nothing is"));
            }
            if !numbers.went(input, at).contains(&place) {
                wrong.push(format!("{place} came from {input:?} {at}, which did not go there"));
            }
            source
        };
        match &came {
            Some(From::Moved(input, at)) => {
                let data = if *input == NumberedInput::Before { base } else { over };
                if let Some(source) = check(*input, at) {
                    wrong.extend(
                        is_from(node, &source, at, data).err().map(|it| format!("{place}: {it}")),
                    );
                }
            }
            Some(From::Built { text, part: Some(part) }) => {
                let texts =
                    [check(NumberedInput::Before, text), check(NumberedInput::Source, part)];
                let is_whole = node.as_str().is_some_and(|text| is_joined(text, &texts));
                if !is_whole || node.origin != Origin::Derived {
                    wrong.push(format!("{place}: {node:?} is not joined of {texts:?}"));
                }
            }
            Some(From::Built { part: None, .. } | From::Made) | None => {
                wrong.push(format!("{place} is there, and {came:?}"));
            }
        }
    }
    wrong
}

/// Whether a text is made of these two; of one that stands in a pair only the list
/// of pairs is known.
fn is_joined(text: &str, sources: &[Option<Node>; 2]) -> bool {
    let [before, after] = sources.each_ref().map(|source| match source {
        Some(source) if matches!(source.value, Value::Pairs(_)) => None,
        Some(source) => Some(layercake::merge::pattern::python_text(&source.value)),
        None => Some(String::new()),
    });
    match (before, after) {
        (Some(before), Some(after)) => text == before + &after,
        (Some(before), None) => text.starts_with(&before),
        (None, Some(after)) => text.ends_with(&after),
        (None, None) => true,
    }
}

/// Keys of the root that are gone must have been taken away by a null.
pub fn untrue_deletions(base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let keys = base.as_mapping().into_iter().flat_map(Mapping::keys);
    let gone = keys.filter(|key| result.as_mapping().is_none_or(|it| it.get(*key).is_none()));
    let is_null = |key: &&Key| over.as_mapping()?.get(*key).map(Node::is_null);
    let kept = gone.filter(|key| is_null(key) != Some(true));
    kept.map(|key| format!("{key:?} is gone, and nothing takes it away")).collect()
}

/// Where a value went there is something, whichever value it was.
pub fn untrue_goings(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers = numbers(merging, base, over);
    for (input, data) in [(NumberedInput::Before, base), (NumberedInput::Source, over)] {
        for place in places(data) {
            for went in numbers.went(input, &place) {
                if went.get(result).is_none() {
                    wrong.push(format!("{input:?} {place} went to {went}, where nothing is"));
                }
            }
        }
    }
    wrong
}
