//! Texts of an edit on one side.

use std::collections::{BTreeMap, HashSet};

use crate::edit::Text;
use crate::source::{FileId, Span};
use crate::system::Written;
use crate::yaml::diff::{DiffPlace, Difference, DifferenceKind};
use crate::yaml::path::inside;
use crate::yaml::{Node, Value};

pub(super) fn whole_text(document: Written<'_>) -> Text {
    Text {
        at: document.heading(),
        covers: vec![document.span()],
        node: None,
    }
}

pub(super) fn text_of(place: &DiffPlace, difference: &Difference) -> Text {
    let node = &place.node;
    if let DifferenceKind::Order { .. } = difference.kind {
        let covers = inside(node).map(|name| name.span).collect();
        return Text {
            at: node.span,
            covers,
            node: Some(node.clone()),
        };
    }
    let at = match place.key {
        Some(key) if key.file == node.span.file && key.end <= node.span.start => key.to(node.span),
        Some(key) => key,
        None => node.span,
    };
    let mut spans = Vec::new();
    collect_texts(node, &mut HashSet::default(), &mut spans);
    Text {
        at,
        covers: outermost(at, spans),
        node: Some(node.clone()),
    }
}

/// Returns the spans in order, omitting those inside an earlier one.
fn outermost(first: Span, spans: Vec<Span>) -> Vec<Span> {
    let mut covers = vec![first];
    // Ends of the kept spans by start; for each start, only the farthest end so far matters.
    let mut ends: BTreeMap<(FileId, u32), u32> =
        BTreeMap::from([((first.file, first.start), first.end)]);
    for span in spans {
        let mut before = ends.range((span.file, 0)..=(span.file, span.start));
        if before.next_back().is_some_and(|(_, end)| *end >= span.end) {
            continue;
        }
        covers.push(span);
        let farthest = ends
            .range((span.file, 0)..=(span.file, span.start))
            .next_back();
        let end = farthest.map_or(span.end, |(_, end)| span.end.max(*end));
        let later: Vec<u32> = ends
            .range((span.file, span.start)..=(span.file, u32::MAX))
            .take_while(|(_, other)| **other < end)
            .map(|((_, start), _)| *start)
            .collect();
        for start in later {
            ends.remove(&(span.file, start));
        }
        ends.insert((span.file, span.start), end);
    }
    covers
}

/// Collects the spans of `node` and its descendants; shared nodes are visited once.
fn collect_texts(node: &Node, known: &mut HashSet<usize>, spans: &mut Vec<Span>) {
    spans.push(node.span);
    if node
        .value
        .address()
        .is_some_and(|address| !known.insert(address))
    {
        return;
    }
    match &node.value {
        Value::Mapping(_) | Value::Sequence(_) => {
            inside(node).for_each(|child| collect_texts(child, known, spans));
        }
        Value::Pairs(pairs) => {
            for (left, right) in pairs.iter() {
                collect_texts(left, known, spans);
                collect_texts(right, known, spans);
            }
        }
        _ => {}
    }
}
