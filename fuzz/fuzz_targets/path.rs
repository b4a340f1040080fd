//! Paths of Deckhand and of RFC 9535. The first line is a path, the second the value to write, the
//! rest the data.
//!
//! Results are at their reported locations; a value written at a plain path is found there; and
//! failures change neither the data nor shared copies of it.

#![no_main]

use std::borrow::Cow;

use layercake::merge::deckhand::ActionPath;
use layercake::source::Span;
use layercake::yaml::path::{ListWrite, Location, Path, Piece, WalkError, children};
use layercake::yaml::{Node, Query};
use layercake_fuzz::laws::reading::{check_cached_size, same, spans};
use layercake_fuzz::{lines_and_rest, roots, text_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else {
        return;
    };
    let text = sources.get(file).text();
    let Some(([path, value], data)) = lines_and_rest::<2>(text) else {
        return;
    };
    check_action_path(path);
    let Some(data) = roots(file, data).map(|mut roots| roots.swap_remove(0)) else {
        return;
    };
    query(path, &data);
    let parsed = match Path::parse(path) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(path.get(error.at..).is_some(), "{error:?}");
            return assert!(!error.to_string().contains('\n'));
        }
    };
    assert_eq!(parsed.text(), path);
    parsed.near_miss(&data);
    check_locations(&parsed, &data);
    check_round_trip(&data);
    let Some(value) = roots(file, value).map(|mut roots| roots.swap_remove(0)) else {
        return;
    };
    for lists in [ListWrite::Whole, ListWrite::Popped] {
        check_writes(&parsed, &data, &value, lists);
    }
});

/// Actions modify a path; the location of an error must be within the original.
fn check_action_path(path: &str) {
    if let Err(error) = ActionPath::parse(path) {
        assert!(error.at <= path.len(), "{error:?}");
    }
}

/// Asserts that query results are nodes of the data itself.
fn query(path: &str, data: &Node) {
    let Ok(query) = Query::parse_bounded(path) else {
        return;
    };
    let mut all = Vec::new();
    nodes(data, &mut all);
    for found in query.find(data) {
        assert!(
            all.iter().any(|node| std::ptr::eq(*node, found.node)),
            "{path}"
        );
        assert!(found.location.get(data).is_some(), "{path}");
    }
}

fn nodes<'a>(node: &'a Node, all: &mut Vec<&'a Node>) {
    all.push(node);
    children(node).for_each(|(_, child)| nodes(child, all));
}

fn check_locations(path: &Path, data: &Node) {
    let (all, first) = (path.find(data), path.first(data));
    let (Ok(all), Ok(first)) = (&all, &first) else {
        return assert_eq!(all.err(), first.err());
    };
    assert_eq!(all.first(), first.as_ref());
    for found in all {
        if let Cow::Borrowed(node) = found.node {
            let there = found
                .location
                .get(data)
                .expect("the reported location exists");
            assert!(std::ptr::eq(node, there), "{:?}", found.location);
        }
    }
}

/// Asserts that a location formatted as a path leads back to it, if all keys are strings other than
/// `*`, which is a wildcard even in quotes.
fn check_round_trip(data: &Node) {
    let mut places = Vec::new();
    all_places(data, &Location::root(), &mut places);
    for place in places.into_iter().take(50) {
        let is_text = |piece: &Piece| match piece {
            Piece::Key(key) => key.as_str().is_some_and(|text| text != "*"),
            Piece::Index(_) => true,
        };
        if place.0.iter().all(is_text) {
            let path = Path::parse(&place.to_string()).expect("a location can be parsed as a path");
            let found = path
                .first(data)
                .expect("the path can be followed")
                .expect("the path has a match");
            assert_eq!(found.location, place);
        }
    }
}

fn all_places(node: &Node, here: &Location, all: &mut Vec<Location>) {
    all.push(here.clone());
    for (piece, child) in children(node) {
        all_places(child, &here.join(piece), all);
    }
}

fn check_writes(path: &Path, data: &Node, value: &Node, lists: ListWrite) {
    check_cached_size(data);
    let before = format!("{data:?}");
    let made_at = Span::point(data.span.file, 0);
    let (mut after, mut created) = (data.clone(), data.clone());
    let write = path.write(&mut after, value, lists, made_at);
    assert_eq!(format!("{data:?}"), before, "shared data is unchanged");
    check_cached_size(&after);
    match &write {
        Ok(done) => {
            check_found(path, &after, value, lists);
            done.locations
                .iter()
                .for_each(|place| assert!(place.0.len() < 2_000));
            check_spans(&after, [data, value], made_at);
        }
        Err(_) => assert_eq!(format!("{after:?}"), before, "a failure changes nothing"),
    }
    match path.create(&mut created, made_at) {
        Ok(made) => {
            assert!(
                path.first(&created)
                    .expect("the path can be followed")
                    .is_some(),
                "the value exists"
            );
            assert!(
                made.is_none_or(|top| top.get(&created).is_some()),
                "the created value exists"
            );
        }
        Err(error) => {
            assert_eq!(format!("{created:?}"), before, "a failure changes nothing");
            assert!(
                write.is_err() || error == WalkError::NotCreatable,
                "{error:?}"
            );
        }
    }
    let mut updated = data.clone();
    if path.update(&mut updated, value, lists).is_err() {
        assert_eq!(format!("{updated:?}"), before, "a failure changes nothing");
    }
    assert_eq!(format!("{data:?}"), before, "shared data is unchanged");
}

/// A list that is taken apart differs from the written value, and a path with filters may match
/// something else after the change.
fn check_found(path: &Path, after: &Node, value: &Node, lists: ListWrite) {
    if path.segments().is_some() && lists == ListWrite::Whole {
        let found = path
            .first(after)
            .expect("the path can be followed")
            .expect("the value exists");
        assert!(
            same(&found.node.value, &value.value),
            "{:?} is not {value:?}",
            found.node
        );
    }
}

fn check_spans(after: &Node, sides: [&Node; 2], made_at: Span) {
    let (mut known, mut all) = (vec![made_at], Vec::new());
    sides.into_iter().for_each(|side| spans(side, &mut known));
    spans(after, &mut all);
    assert!(
        all.iter().all(|span| known.contains(span)),
        "a span of no input"
    );
}
