//! Merging of nodes by every strategy. The first line is the path of an action, the second a merge
//! header; the remaining documents are merged one after the other, and each is also read as a JSON
//! Patch.
//!
//! Merging into an empty mapping changes nothing; results contain only nodes of the inputs;
//! explanations agree with results; and failures change nothing.

#![no_main]

use std::rc::Rc;
use std::sync::Arc;

use layercake::merge::Strategy;
use layercake::merge::cloud_init::{
    Default as ByDefault, Dialect, Incoming, MergeRules, Specification, stack, stack_of_many,
};
use layercake::merge::deckhand::{Method, Semantics, apply, merged_over, merged_shallow};
use layercake::merge::numbers::{From, Numbered, Numbers};
use layercake::merge::patch::Patch;
use layercake::source::{NumberedInput, Source, Span, Spanned};
use layercake::yaml::path::{Location, Path};
use layercake::yaml::{Mapping, Node, Value};
use layercake_fuzz::laws::merging::{invalid_deletions, invalid_destinations, places, untrue};
use layercake_fuzz::laws::reading::{check_cached_size, same, spans};
use layercake_fuzz::{lines_and_rest, roots, size, text_of};
use libfuzzer_sys::fuzz_target;

/// Maximum number of nodes of values that are checked at every location, which takes quadratic
/// time.
const MAX_FOLLOWED: usize = 120;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else {
        return;
    };
    let source = sources.get(file);
    let Some(([path, header], _)) = lines_and_rest::<2>(source.text()) else {
        return;
    };
    // Documents keep their offsets in the whole text, so the first two lines are blanked.
    let start = path.len() + header.len() + 2;
    let at = Span::new(
        file,
        0,
        u32::try_from(path.len()).expect("inputs are small"),
    );
    let body =
        " ".repeat(path.len()) + "\n" + &" ".repeat(header.len()) + "\n" + &source.text()[start..];
    let Some(roots) = roots(file, &body) else {
        return;
    };
    let header = Spanned {
        value: Arc::from(header),
        span: at,
    };
    for dialect in [Dialect::Current, Dialect::Documented] {
        let _ = Specification::read(&roots[0], Some(&header), dialect);
    }
    if let [base, over, ..] = &roots[..] {
        deckhand(path, base, over, at);
    }
    if roots.iter().map(size).sum::<usize>() <= MAX_FOLLOWED {
        for strategies in cloud_init(&roots, header) {
            merge_in_turn(&strategies, &roots, at);
        }
        merge_in_turn(&patches(source, &roots), &roots, at);
    }
});

fn deckhand(path: &str, base: &Node, over: &Node, at: Span) {
    let merged = merged_over(base, over);
    check_spans(&merged, [base, over], at);
    assert!(
        same(&merged_over(&merged, over).value, &merged.value),
        "merging is idempotent"
    );
    assert!(same(&merged_over(base, base).value, &base.value));
    let empty = Node::made(Value::Mapping(Arc::default()), base.span);
    assert!(same(&merged_over(&empty, over).value, &over.value));
    check_spans(&merged_shallow(base, over), [base, over], at);
    let before = Numbered::of(base, NumberedInput::Before);
    let own = Rc::new(Numbered::of(over, NumberedInput::Own));
    let after = merged_over(before.node(), own.node());
    let numbers = Numbers::new(before, Some(own), None, after);
    for place in places(&merged).into_iter().take(MAX_FOLLOWED) {
        check_origin(&numbers, [base, over], &merged, &place);
    }
    let Ok(path) = Path::parse(path) else { return };
    for semantics in [Semantics::Documented, Semantics::Deckhand] {
        for method in [Method::Merge, Method::Replace, Method::Delete] {
            let mut result = base.clone();
            let before = format!("{base:?}");
            match apply(method, &path, &mut result, over, semantics, at) {
                Ok(_) => check_spans(&result, [base, over], at),
                Err(_) => assert_eq!(format!("{result:?}"), before, "a failure changes nothing"),
            }
            assert_eq!(format!("{base:?}"), before, "shared data is unchanged");
        }
    }
}

/// Asserts that the input that a number refers to has the value.
fn check_origin(numbers: &Numbers, [base, over]: [&Node; 2], merged: &Node, place: &Location) {
    let node = place.get(merged).expect("the place is one of the result");
    let Some(From::Moved(input, from)) = numbers.from(place) else {
        panic!("{place} is moved")
    };
    let side = if input == NumberedInput::Before {
        base
    } else {
        over
    };
    let source = from.get(side).expect("the input has the location");
    assert!(
        node.is_collection() || same(&source.value, &node.value),
        "{place}"
    );
    assert_eq!(source.span, node.span, "{place}");
}

/// Asserts that all spans of the result are from the inputs.
fn check_spans(result: &Node, sides: [&Node; 2], at: Span) {
    let (mut written, mut all) = (vec![at], Vec::new());
    sides.into_iter().for_each(|side| spans(side, &mut written));
    spans(result, &mut all);
    written.sort();
    assert!(
        all.iter().all(|span| written.binary_search(span).is_ok()),
        "a span of no input"
    );
}

/// All ways in which cloud-init merges parts.
fn cloud_init(parts: &[Node], header: Spanned<Arc<str>>) -> [Vec<Strategy>; 5] {
    let current = |header: Option<&Spanned<Arc<str>>>, default| {
        let laying = MergeRules::Current {
            header: header.cloned(),
            default,
        };
        vec![Strategy::CloudInit(laying); parts.len()]
    };
    let incoming = |data| Incoming {
        data,
        header: Some(&header),
    };
    [
        current(None, ByDefault::UserData),
        current(Some(&header), ByDefault::UserData),
        current(None, ByDefault::Many),
        stack(parts.iter().map(incoming))
            .into_iter()
            .map(Strategy::CloudInit)
            .collect(),
        stack_of_many(parts)
            .into_iter()
            .map(Strategy::CloudInit)
            .collect(),
    ]
}

/// Reads each part as a patch; parts that are not patches are merged.
fn patches(source: &Source, parts: &[Node]) -> Vec<Strategy> {
    let strategies = parts.iter().map(|part| {
        match Patch::read(
            source.text().get(part.span.range()).unwrap_or_default(),
            part.span,
        ) {
            Ok(patch) => Strategy::JsonPatch(Arc::new(patch)),
            Err(_) => {
                let laying = MergeRules::Current {
                    header: None,
                    default: ByDefault::UserData,
                };
                Strategy::CloudInit(laying)
            }
        }
    });
    strategies.collect()
}

fn merge_in_turn(strategies: &[Strategy], parts: &[Node], at: Span) {
    let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), at);
    for (strategy, part) in strategies.iter().zip(parts) {
        let part = match strategy {
            Strategy::CloudInit(_) => part,
            Strategy::JsonPatch(patch) => patch.document(),
        };
        let base = result.clone();
        let before = format!("{base:?}");
        check_cached_size(&result);
        let laid = strategy.merge(&mut result, part);
        check_cached_size(&result);
        assert_eq!(format!("{base:?}"), before, "shared data is unchanged");
        if laid.is_err() {
            assert_eq!(format!("{result:?}"), before, "a failure changes nothing");
        } else if size(&result) <= MAX_FOLLOWED {
            check_explanation(strategy, &base, part, &result);
        }
        if size(&result) > 2 * MAX_FOLLOWED {
            return;
        }
    }
}

fn check_explanation(strategy: &Strategy, base: &Node, over: &Node, result: &Node) {
    if let Strategy::CloudInit(rules) = strategy {
        rules.classes(over);
    }
    let wrong = match strategy {
        Strategy::CloudInit(_) => [
            untrue(strategy, base, over, result),
            invalid_deletions(base, over, result),
            invalid_destinations(strategy, base, over, result),
        ]
        .concat(),
        // A patch removes values by their location.
        Strategy::JsonPatch(_) => [
            untrue(strategy, base, over, result),
            invalid_destinations(strategy, base, over, result),
        ]
        .concat(),
    };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
