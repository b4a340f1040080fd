//! Deckhand's paths, and those of RFC 9535. The first line is a path, the second
//! the value that is written there, the rest the data.
//!
//! What is found stands where it is said to; what was written at a plain path is
//! found there; what fails changes nothing, and nobody else who has the data
//! sees it change.

#![no_main]

use std::borrow::Cow;

use layercake::merge::deckhand::ActionPath;
use layercake::source::Span;
use layercake::yaml::path::{ListWrite, Location, Path, Piece, WalkError, children};
use layercake::yaml::{Node, Query};
use layercake_fuzz::laws::reading::{same, size_is_remembered, spans};
use layercake_fuzz::{lines_and_rest, roots, text_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else { return };
    let text = sources.get(file).text();
    let Some(([path, value], data)) = lines_and_rest::<2>(text) else { return };
    read_as_action(path);
    let Some(data) = roots(file, data).map(|mut roots| roots.swap_remove(0)) else { return };
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
    found_where_it_is(&parsed, &data);
    places_read_back(&data);
    let Some(value) = roots(file, value).map(|mut roots| roots.swap_remove(0)) else { return };
    for lists in [ListWrite::Whole, ListWrite::Popped] {
        written(&parsed, &data, &value, lists);
    }
});

/// Actions add to a path and cut from it; an error is placed in what was
/// written.
fn read_as_action(path: &str) {
    if let Err(error) = ActionPath::parse(path) {
        assert!(error.at <= path.len(), "{error:?}");
    }
}

/// What is found by a query is of the data itself.
fn query(path: &str, data: &Node) {
    let Ok(query) = Query::parse(path) else { return };
    // Segments that each go all the way down find more with every one.
    if path.matches("..").count() > 2 {
        return;
    }
    let mut all = Vec::new();
    nodes(data, &mut all);
    for found in query.find(data) {
        assert!(all.iter().any(|node| std::ptr::eq(*node, found)), "{path}");
    }
}

fn nodes<'a>(node: &'a Node, all: &mut Vec<&'a Node>) {
    all.push(node);
    children(node).for_each(|(_, child)| nodes(child, all));
}

fn found_where_it_is(path: &Path, data: &Node) {
    let (all, first) = (path.find(data), path.first(data));
    let (Ok(all), Ok(first)) = (&all, &first) else {
        return assert_eq!(all.err(), first.err());
    };
    assert_eq!(all.first(), first.as_ref());
    for found in all {
        if let Cow::Borrowed(node) = found.node {
            let there = found.location.get(data).expect("what is found is there");
            assert!(std::ptr::eq(node, there), "{:?}", found.location);
        }
    }
}

/// Places are shown as paths that lead to them, if all their keys are text, and
/// none is `*`, which stands for all even in quotes.
fn places_read_back(data: &Node) {
    let mut places = Vec::new();
    all_places(data, &Location::root(), &mut places);
    for place in places.into_iter().take(50) {
        let is_text = |piece: &Piece| match piece {
            Piece::Key(key) => key.as_str().is_some_and(|text| text != "*"),
            Piece::Index(_) => true,
        };
        if place.0.iter().all(is_text) {
            let path = Path::parse(&place.to_string()).expect("a place is shown as a path");
            let found = path.first(data).expect("it leads there").expect("something is there");
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

fn written(path: &Path, data: &Node, value: &Node, lists: ListWrite) {
    size_is_remembered(data);
    let before = format!("{data:?}");
    let made_at = Span::point(data.span.file, 0);
    let (mut after, mut created) = (data.clone(), data.clone());
    let write = path.write(&mut after, value, lists, made_at);
    assert_eq!(format!("{data:?}"), before, "nobody else sees it");
    size_is_remembered(&after);
    match &write {
        Ok(written) => {
            is_found(path, &after, value, lists);
            written.locations.iter().for_each(|place| assert!(place.0.len() < 2_000));
            spans_are_known(&after, [data, value], made_at);
        }
        Err(_) => assert_eq!(format!("{after:?}"), before, "what fails changes nothing"),
    }
    match path.create(&mut created, made_at) {
        Ok(made) => {
            assert!(path.first(&created).expect("it can be walked").is_some(), "it is there");
            assert!(made.is_none_or(|top| top.get(&created).is_some()), "what was made is there");
        }
        Err(error) => {
            assert_eq!(format!("{created:?}"), before, "what fails changes nothing");
            assert!(write.is_err() || error == WalkError::NotCreatable, "{error:?}");
        }
    }
    let mut updated = data.clone();
    if path.update(&mut updated, value, lists).is_err() {
        assert_eq!(format!("{updated:?}"), before, "what fails changes nothing");
    }
    assert_eq!(format!("{data:?}"), before, "nobody else sees it");
}

/// A list that is taken apart is not found as it was written, and a path that
/// looks at what it finds may find something else once it is changed.
fn is_found(path: &Path, after: &Node, value: &Node, lists: ListWrite) {
    if path.segments().is_some() && lists == ListWrite::Whole {
        let found = path.first(after).expect("it can be walked").expect("it is there");
        assert!(same(&found.node.value, &value.value), "{:?} is not {value:?}", found.node);
    }
}

fn spans_are_known(after: &Node, sides: [&Node; 2], made_at: Span) {
    let (mut known, mut all) = (vec![made_at], Vec::new());
    sides.into_iter().for_each(|side| spans(side, &mut known));
    spans(after, &mut all);
    assert!(all.iter().all(|span| known.contains(span)), "a span that nobody wrote");
}
