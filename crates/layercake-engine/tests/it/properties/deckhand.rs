//! Laws of Deckhand's merging and of its actions.

use std::sync::Arc;

use layercake_engine::merge::deckhand::{Method, Semantics, apply, merged_over};
use layercake_source::FileId;
use layercake_yaml::path::Path;
use layercake_yaml::{Mapping, Node, Value, YamlProblem, parse};
use layercake_yaml_testing::config;
use layercake_yaml_testing::reading::{same, spans};
use layercake_yaml_testing::texts::{data, path};
use proptest::prelude::*;

/// Two values in two files.
fn two_sides() -> impl Strategy<Value = [Node; 2]> {
    [data(), data()].prop_map(|texts| {
        let mut file = 0;
        texts.map(|text| {
            let mut parsed = parse(FileId::new(file), &format!("data: {text}\n"));
            file += 1;
            let is_fatal = |problem: &YamlProblem| problem.kind.is_fatal();
            assert!(
                !parsed.problems.iter().any(is_fatal),
                "{text}: {:?}",
                parsed.problems
            );
            parsed
                .documents
                .remove(0)
                .root
                .get("data")
                .expect("it is there")
                .clone()
        })
    })
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn merging([base, over] in two_sides()) {
        let merged = merged_over(&base, &over);
        // Idempotent.
        prop_assert!(same(&merged_over(&merged, &over).value, &merged.value));
        prop_assert!(same(&merged_over(&base, &base).value, &base.value));
        // Over an empty mapping nothing changes, including spans.
        let empty = Node::made(Value::Mapping(Arc::default()), base.span);
        let alone = merged_over(&empty, &over);
        prop_assert!(same(&alone.value, &over.value));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        spans(&over, &mut before);
        spans(&alone, &mut after);
        if over.as_mapping().is_none_or(|mapping| !mapping.is_empty()) {
            prop_assert_eq!(after, before);
        }
        // Nothing is written that neither side has.
        let (mut sides, mut all) = (Vec::new(), Vec::new());
        spans(&base, &mut sides);
        spans(&over, &mut sides);
        spans(&merged, &mut all);
        prop_assert!(all.iter().all(|span| sides.contains(span)));
        // Values of the child win.
        for (key, node) in over.as_mapping().into_iter().flat_map(Mapping::iter) {
            let merged = merged.as_mapping().and_then(|mapping| mapping.get(key));
            let merged = merged.expect("a child's key is kept");
            if node.as_mapping().is_none() {
                prop_assert!(same(&merged.value, &node.value));
            }
        }
    }

    #[test]
    fn actions([base, over] in two_sides(), path in path(), method in 0..3_usize) {
        let method = [Method::Merge, Method::Replace, Method::Delete][method];
        let Ok(path) = Path::parse(&path) else { return Ok(()) };
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let at = over.span;
            let mut once = base.clone();
            if apply(method, &path, &mut once, &over, semantics, at).is_err() {
                // A failure changes nothing.
                prop_assert!(same(&once.value, &base.value));
                continue;
            }
            // A merge at an index extends the list each time, and a second delete has nothing to
            // delete, or something else.
            let is_idempotent = method != Method::Delete
                && !path.text().contains('[')
                && path.segments().is_some();
            if is_idempotent {
                let mut twice = once.clone();
                let again = apply(method, &path, &mut twice, &over, semantics, at);
                prop_assert!(again.is_ok());
                prop_assert!(same(&twice.value, &once.value));
            }
            let (mut sides, mut all) = (vec![at], Vec::new());
            spans(&base, &mut sides);
            spans(&over, &mut sides);
            spans(&once, &mut all);
            prop_assert!(all.iter().all(|span| sides.contains(span)));
        }
    }
}
