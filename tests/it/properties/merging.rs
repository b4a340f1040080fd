//! The laws of cloud-init's merging: what explains a result agrees with it,
//! and what fails changes nothing.

use std::sync::Arc;

use layercake::merge::cloud_init::{Default, Incoming, Laying, stack};
use layercake::merge::{Origin as From, Side, Strategy as Merging};
use layercake::report::json::canonical;
use layercake::source::{RepoPath, Source, SourceMap};
use layercake::yaml::path::{Location, Piece, children};
use layercake::yaml::{Mapping, Node, Origin, Value, parse};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::config;
use super::repository::data;
use crate::conformance::same;

/// The parts of a configuration, each in a file of its own.
fn parts() -> impl Strategy<Value = Vec<Node>> {
    let list =
        prop::collection::vec(data(), 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
    let value = prop_oneof![3 => data(), 2 => list, 1 => Just("~".to_owned())];
    let part = (specification(), prop::collection::btree_map(key(), value, 0..4));
    prop::collection::vec(part, 2..5).prop_map(|parts| {
        let mut files = SourceMap::new();
        let read = parts.into_iter().map(|(specification, entries)| {
            let mut text = specification;
            text.extend(entries.iter().map(|(key, value)| format!("{key}: {value}\n")));
            let text = if text.is_empty() { "{}".to_owned() } else { text };
            let file = files.upcoming(0);
            // Two values with the same anchor make no part.
            let mut parsed = parse(file, &text);
            if parsed.documents.is_empty() {
                parsed = parse(file, "{}");
            }
            files.add(Source::new(RepoPath::new("part"), Ok(text.into_bytes())));
            parsed.documents.remove(0).root
        });
        read.collect()
    })
}

fn key() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "x", "1", "on"])
}

/// The lines of a part that say how it is merged; none for the default.
fn specification() -> impl Strategy<Value = String> {
    let options = subsequence(
        vec![
            "append",
            "prepend",
            "replace",
            "no_replace",
            "recurse_dict",
            "recurse_list",
            "recurse_str",
            "allow_delete",
            "overwrite",
            "extend",
            "discard_non_list",
        ],
        0..6,
    );
    let class = (select(vec!["dict", "dict", "dict", "list", "list", "str"]), options)
        .prop_map(|(class, options)| format!("{class}({})", options.join(",")));
    let classes = prop::collection::vec(class, 1..5);
    let key = select(vec!["merge_how", "merge_type"]);
    prop_oneof![
        1 => Just(String::new()),
        6 => (key, classes)
            .prop_map(|(key, classes)| format!("{key}: dict(recurse_list)+{}\n", classes.join("+"))),
        6 => (select(vec!["merge_how", "merge_type"]), prop::collection::vec(
            subsequence(vec!["dict", "list", "str"], 1..4), 1..2,
        )).prop_map(|(key, classes)| {
            format!("{key}: dict(recurse_list,recurse_str)+list(append,recurse_dict)+{}()\n", classes[0].join("()+"))
        }),
        3 => Just("merge_how: dict(recurse_list)+list(recurse_list,recurse_dict)\n".to_owned()),
        3 => Just("merge_how: dict(allow_delete,recurse_list)+list(prepend)+str(append)\n".to_owned()),
        1 => Just("merge_how: list(no_replace)+dict(recurse_list,recurse_str)+str(append)\n".to_owned()),
        1 => Just("merge_how: dict(\n".to_owned()),
    ]
}

/// Every way of merging the parts: today's defaults, and that of 2013.
fn ways(parts: &[Node]) -> [Vec<Merging>; 3] {
    let current = |default| {
        let laying = Laying::Current { header: None, default };
        vec![Merging::CloudInit(laying); parts.len()]
    };
    let incoming = parts.iter().map(|data| Incoming { data, header: None });
    let documented = stack(incoming).into_iter().map(Merging::CloudInit).collect();
    [current(Default::UserData), current(Default::Many), documented]
}

/// All places of a value, the root among them.
fn places(node: &Node) -> Vec<Location> {
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
fn untrue(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let mut wrong = Vec::new();
    for place in places(result) {
        let node = place.get(result).expect("the place is one of the result");
        let came = merging.came(base, over, &place);
        let mut check = |side: Side, at: &Location| -> Option<Node> {
            let data = if side == Side::Base { base } else { over };
            let source = at.get(data).cloned();
            if source.is_none() {
                wrong.push(format!("{place} came from {side:?} {at}, where nothing is"));
            }
            // What is in a pair has no place of its own where it came from.
            let is_pairs = source.as_ref().is_some_and(|it| matches!(it.value, Value::Pairs(_)));
            let went = merging.went(base, over, side, at);
            if !went.iter().any(|it| *it == place || is_pairs && place.starts_with(it)) {
                wrong.push(format!("{place} came from {side:?} {at}, which did not go there"));
            }
            source
        };
        match &came {
            From::From(side, at) => {
                let data = if *side == Side::Base { base } else { over };
                if let Some(source) = check(*side, at) {
                    wrong.extend(
                        is_from(node, &source, at, data).err().map(|it| format!("{place}: {it}")),
                    );
                }
            }
            From::Joined { base: lower, over: upper } => {
                let texts = [check(Side::Base, lower), check(Side::Over, upper)];
                let joined: String = texts
                    .iter()
                    .flatten()
                    .map(|it| layercake::merge::pattern::python_text(&it.value))
                    .collect();
                if node.as_str() != Some(&*joined) || node.origin != Origin::Derived {
                    wrong.push(format!("{place}: {node:?} is not {joined:?}"));
                }
            }
            From::Made | From::Deleted(_) => wrong.push(format!("{place} is there, and {came:?}")),
        }
    }
    wrong
}

/// Keys of the root that are gone must have been taken away.
fn untrue_deletions(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let keys = base.as_mapping().into_iter().flat_map(Mapping::keys);
    let gone = keys.filter(|key| result.as_mapping().is_none_or(|it| it.get(*key).is_none()));
    let came = gone.map(|key| {
        let place = Location(vec![Piece::Key(key.clone())]);
        (merging.came(base, over, &place), place)
    });
    came.filter_map(|(came, place)| match &came {
        From::Deleted(at) if at.get(over).is_some_and(Node::is_null) => None,
        _ => Some(format!("{place} is gone, and came {came:?}")),
    })
    .collect()
}

/// Where a value went there is something, whichever value it was.
fn untrue_goings(merging: &Merging, base: &Node, over: &Node, result: &Node) -> Vec<String> {
    let mut wrong = Vec::new();
    for (side, data) in [(Side::Base, base), (Side::Over, over)] {
        for place in places(data) {
            for went in merging.went(base, over, side, &place) {
                if went.get(result).is_none() {
                    wrong.push(format!("{side:?} {place} went to {went}, where nothing is"));
                }
            }
        }
    }
    wrong
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn what_explains_a_result_agrees_with_it(parts in parts(), secret in any::<prop::sample::Index>()) {
        for ways in ways(&parts) {
            let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), parts[0].span);
            for (index, (merging, part)) in ways.iter().zip(&parts).enumerate() {
                let over = if secret.index(parts.len()) == index {
                    part.clone().into_secret()
                } else {
                    part.clone()
                };
                let base = result.clone();
                let before = format!("{base:?}");
                let laid = merging.lay(&mut result, &over);
                prop_assert_eq!(&format!("{base:?}"), &before, "what is shared is not changed");
                if laid.is_err() {
                    prop_assert_eq!(&format!("{result:?}"), &before, "what fails changes nothing");
                    continue;
                }
                let wrong = [
                    untrue(merging, &base, &over, &result),
                    untrue_deletions(merging, &base, &over, &result),
                    untrue_goings(merging, &base, &over, &result),
                ]
                .concat();
                prop_assert!(
                    wrong.is_empty(),
                    "{} with {} is {}:\n{}",
                    canonical(&base), canonical(&over), canonical(&result), wrong.join("\n")
                );
            }
        }
    }

    /// Merging a part twice by the default of user-data changes nothing more.
    #[test]
    fn replacing_twice_is_replacing_once(parts in parts()) {
        let laying = Laying::Current { header: None, default: Default::UserData };
        let merging = Merging::CloudInit(laying);
        let [base, over, ..] = &parts[..] else { unreachable!("there are two parts") };
        let (mut once, mut over) = (base.clone(), over.clone());
        if let Value::Mapping(mapping) = &mut over.value {
            Arc::make_mut(mapping).retain(|key| !matches!(key.as_str(), Some("merge_how" | "merge_type")));
        }
        let over = &over;
        prop_assert!(merging.lay(&mut once, over).is_ok());
        let mut twice = once.clone();
        prop_assert!(merging.lay(&mut twice, over).is_ok());
        prop_assert_eq!(canonical(&once), canonical(&twice));
    }
}
