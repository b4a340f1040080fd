//! Nodes laid over each other by every strategy. The first line is the path of
//! an action, the second a header that says how to merge; the documents of the
//! rest are laid one over the other, and each is also read as a JSON Patch.
//!
//! Over an empty mapping nothing changes; nothing is there that neither side
//! wrote; what explains a result agrees with it; what fails changes nothing.

#![no_main]

use std::rc::Rc;
use std::sync::Arc;

use layercake::merge::Strategy;
use layercake::merge::cloud_init::{
    Default as ByDefault, Dialect, Incoming, Laying, Specification, stack, stack_of_many,
};
use layercake::merge::deckhand::{Method, Semantics, apply, laid_flat, laid_over};
use layercake::merge::numbers::{From, Numbered, Numbers};
use layercake::merge::patch::Patch;
use layercake::source::{NumberedInput, Source, Span, Spanned};
use layercake::yaml::path::{Location, Path};
use layercake::yaml::{Mapping, Node, Value};
use layercake_fuzz::laws::merging::{places, untrue, untrue_deletions, untrue_goings};
use layercake_fuzz::laws::reading::{same, size_is_remembered, spans};
use layercake_fuzz::{lines_and_rest, roots, size, text_of};
use libfuzzer_sys::fuzz_target;

/// Of values with more nodes than this not every place is followed: that takes
/// time by its square.
const FOLLOWED: usize = 120;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else { return };
    let source = sources.get(file);
    let Some(([path, header], _)) = lines_and_rest::<2>(source.text()) else { return };
    // Documents keep their places in the whole text: the first two lines are
    // given to none of them.
    let start = path.len() + header.len() + 2;
    let at = Span::new(file, 0, u32::try_from(path.len()).expect("inputs are small"));
    let body =
        " ".repeat(path.len()) + "\n" + &" ".repeat(header.len()) + "\n" + &source.text()[start..];
    let Some(roots) = roots(file, &body) else { return };
    let header = Spanned { value: Arc::from(header), span: at };
    for dialect in [Dialect::Current, Dialect::Documented] {
        let _ = Specification::read(&roots[0], Some(&header), dialect);
    }
    if let [base, over, ..] = &roots[..] {
        deckhand(path, base, over, at);
    }
    if roots.iter().map(size).sum::<usize>() <= FOLLOWED {
        for strategies in cloud_init(&roots, header) {
            laid_in_turn(&strategies, &roots, at);
        }
        laid_in_turn(&patches(source, &roots), &roots, at);
    }
});

fn deckhand(path: &str, base: &Node, over: &Node, at: Span) {
    let merged = laid_over(base, over);
    known(&merged, [base, over], at);
    assert!(same(&laid_over(&merged, over).value, &merged.value), "twice is once");
    assert!(same(&laid_over(base, base).value, &base.value));
    let empty = Node::made(Value::Mapping(Arc::default()), base.span);
    assert!(same(&laid_over(&empty, over).value, &over.value));
    known(&laid_flat(base, over), [base, over], at);
    let before = Numbered::of(base, NumberedInput::Before);
    let own = Rc::new(Numbered::of(over, NumberedInput::Own));
    let after = laid_over(before.node(), own.node());
    let numbers = Numbers::new(before, Some(own), None, after);
    for place in places(&merged).into_iter().take(FOLLOWED) {
        is_of_side(&numbers, [base, over], &merged, &place);
    }
    let Ok(path) = Path::parse(path) else { return };
    for semantics in [Semantics::Documented, Semantics::Deckhand] {
        for method in [Method::Merge, Method::Replace, Method::Delete] {
            let mut result = base.clone();
            let before = format!("{base:?}");
            match apply(method, &path, &mut result, over, semantics, at) {
                Ok(_) => known(&result, [base, over], at),
                Err(_) => assert_eq!(format!("{result:?}"), before, "what fails changes nothing"),
            }
            assert_eq!(format!("{base:?}"), before, "nobody else sees it");
        }
    }
}

/// The value is in the input at the place that its number names.
fn is_of_side(numbers: &Numbers, [base, over]: [&Node; 2], merged: &Node, place: &Location) {
    let node = place.get(merged).expect("the place is one of the result");
    let Some(From::Moved(input, from)) = numbers.from(place) else { panic!("{place} is moved") };
    let side = if input == NumberedInput::Before { base } else { over };
    let source = from.get(side).expect("it was there");
    assert!(node.is_collection() || same(&source.value, &node.value), "{place}");
    assert_eq!(source.span, node.span, "{place}");
}

/// Nothing is written that neither side has written.
fn known(result: &Node, sides: [&Node; 2], at: Span) {
    let (mut written, mut all) = (vec![at], Vec::new());
    sides.into_iter().for_each(|side| spans(side, &mut written));
    spans(result, &mut all);
    written.sort();
    assert!(all.iter().all(|span| written.binary_search(span).is_ok()), "a span nobody wrote");
}

/// Every way in which cloud-init merges parts.
fn cloud_init(parts: &[Node], header: Spanned<Arc<str>>) -> [Vec<Strategy>; 5] {
    let current = |header: Option<&Spanned<Arc<str>>>, default| {
        let laying = Laying::Current { header: header.cloned(), default };
        vec![Strategy::CloudInit(laying); parts.len()]
    };
    let incoming = |data| Incoming { data, header: Some(&header) };
    [
        current(None, ByDefault::UserData),
        current(Some(&header), ByDefault::UserData),
        current(None, ByDefault::Many),
        stack(parts.iter().map(incoming)).into_iter().map(Strategy::CloudInit).collect(),
        stack_of_many(parts).into_iter().map(Strategy::CloudInit).collect(),
    ]
}

/// Each part as a patch, where it is one; what is none is laid as a part.
fn patches(source: &Source, parts: &[Node]) -> Vec<Strategy> {
    let strategies = parts.iter().map(|part| {
        match Patch::read(source.text().get(part.span.range()).unwrap_or_default(), part.span) {
            Ok(patch) => Strategy::JsonPatch(Arc::new(patch)),
            Err(_) => {
                let laying = Laying::Current { header: None, default: ByDefault::UserData };
                Strategy::CloudInit(laying)
            }
        }
    });
    strategies.collect()
}

fn laid_in_turn(strategies: &[Strategy], parts: &[Node], at: Span) {
    let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), at);
    for (strategy, part) in strategies.iter().zip(parts) {
        let part = match strategy {
            Strategy::CloudInit(_) => part,
            Strategy::JsonPatch(patch) => patch.document(),
        };
        let base = result.clone();
        let before = format!("{base:?}");
        size_is_remembered(&result);
        let laid = strategy.lay(&mut result, part);
        size_is_remembered(&result);
        assert_eq!(format!("{base:?}"), before, "nobody else sees it");
        if laid.is_err() {
            assert_eq!(format!("{result:?}"), before, "what fails changes nothing");
        } else if size(&result) <= FOLLOWED {
            explained(strategy, &base, part, &result);
        }
        if size(&result) > 2 * FOLLOWED {
            return;
        }
    }
}

fn explained(strategy: &Strategy, base: &Node, over: &Node, result: &Node) {
    strategy.told(over);
    let wrong = match strategy {
        Strategy::CloudInit(_) => [
            untrue(strategy, base, over, result),
            untrue_deletions(base, over, result),
            untrue_goings(strategy, base, over, result),
        ]
        .concat(),
        // What a patch takes away, it takes away by its place.
        Strategy::JsonPatch(_) => {
            [untrue(strategy, base, over, result), untrue_goings(strategy, base, over, result)]
                .concat()
        }
    };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
