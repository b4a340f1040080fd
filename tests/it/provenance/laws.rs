//! Laws of the trace of every value of every site.

use std::collections::BTreeMap;

use layercake::check::RenderedSite;
use layercake::graph::DocId;
use layercake::render::flow::{Reached, flow};
use layercake::render::replay::{Hop, Replay, Via};
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Node, Origin, Value};

/// Maximum number of leaves of a document that are traced.
const MAX_LEAVES: usize = 2_000;

/// Traces of values of a site that violate a law:
///
/// - The value of the first hop is the rendered one, including its span.
/// - Every trace ends at the text that wrote the value, or at a step that created it, and the span
///   of the rendered leaf is that text.
/// - The trace is the same when repeated or computed by another replay, and, except for overridden
///   values, when these are skipped.
pub fn untrue_ways(site: &RenderedSite<'_>) -> Vec<String> {
    let (replay, again) = (
        Replay::new(site.graph, site.rendered),
        Replay::new(site.graph, site.rendered),
    );
    let mut wrong = Vec::new();
    for (doc, recipe) in site.graph.iter() {
        let Some(data) = site.rendered.data(doc) else {
            continue;
        };
        let leaves = Replay::leaves(data, MAX_LEAVES);
        for location in containers(data, &leaves.locations) {
            let (hop, node) = (
                replay.trace_with_losers(doc, &location),
                location.get(data).unwrap(),
            );
            let twice = [
                format!("{hop:?}"),
                format!("{:?}", replay.trace_with_losers(doc, &location)),
            ];
            let other = format!("{:?}", again.trace_with_losers(doc, &location));
            if twice[0] != twice[1] || twice[0] != other {
                wrong.push(format!("{} {location}: not the same twice", recipe.key));
            }
            let alone = replay.trace(doc, &location);
            if format!("{alone:?}") != format!("{:?}", without_losers(hop.clone())) {
                wrong.push(format!(
                    "{} {location}: another without the losers",
                    recipe.key
                ));
            }
            if let Some(fault) = fault(&hop, node) {
                wrong.push(format!("{} {location}: {fault}: {hop:#?}", recipe.key));
            }
        }
    }
    wrong
}

fn without_losers(hop: Hop) -> Hop {
    Hop {
        lost: None,
        from: hop.from.into_iter().map(without_losers).collect(),
        ..hop
    }
}

/// The locations, and those of their parents.
fn containers(data: &Node, leaves: &[Location]) -> Vec<Location> {
    let mut all: Vec<Location> = Vec::new();
    for leaf in leaves {
        let shared = all.last().map_or(0, |last| {
            last.0
                .iter()
                .zip(&leaf.0)
                .take_while(|(one, other)| one == other)
                .count()
        });
        let first = if all.is_empty() { 0 } else { shared + 1 };
        all.extend((first..=leaf.0.len()).map(|end| Location(leaf.0[..end].to_vec())));
    }
    all.retain(|location| location.get(data).is_some());
    all
}

fn fault(hop: &Hop, node: &Node) -> Option<&'static str> {
    let is_same = |value: &Option<Node>| {
        value
            .as_ref()
            .is_some_and(|value| value.span == node.span && value.origin == node.origin)
    };
    if !is_same(&hop.value) {
        return Some("the way begins at another value");
    }
    let end = hop.origin();
    if end.via == Via::Unfollowed {
        return None;
    }
    if !matches!(end.via, Via::Literal | Via::Made) {
        return Some("the way ends nowhere");
    }
    let Some(written) = &end.value else {
        return Some("the way ends at nothing");
    };
    // A character of a string, or a part of a pair, is not a node of the source.
    let is_of_pairs = matches!(written.value, Value::Pairs(_));
    let is_piece =
        (node.origin == Origin::Derived || is_of_pairs) && written.span.contains(node.span);
    if is_of_pairs && is_piece {
        return None;
    }
    if is_key(&end.location, node) {
        return None;
    }
    if written.span != node.span && !is_piece {
        return Some("the way ends at another text");
    }
    let is_untouched = node.origin == Origin::Written && node.as_mapping().is_none();
    if is_untouched && node.as_sequence().is_none() && written != node {
        return Some("the way ends at another value");
    }
    None
}

/// Whether a value was a key at the end of its trace: when a mapping is merged into a list, its
/// keys become items, and a key has no location.
fn is_key(end: &Location, node: &Node) -> bool {
    matches!(end.0.last(), Some(Piece::Key(key)) if key.span == node.span)
}

/// Flows of texts of a site that disagree with the traces of its values:
///
/// - Every location that a text reaches is traced to the text, and the other way round.
/// - A text that reaches no output is stopped, or its document is.
/// - Each reached location comes from an earlier one.
pub fn untrue_flows(site: &RenderedSite<'_>) -> Vec<String> {
    let replay = Replay::new(site.graph, site.rendered);
    let (ways, mut wrong) = (ways(site, &replay), Vec::new());
    for (doc, recipe) in site.graph.iter() {
        for leaf in Replay::leaves(&recipe.data, MAX_LEAVES).locations {
            let flow = flow(&replay, doc, &leaf);
            let mut fault = |text: &str| wrong.push(format!("{} {leaf}: {text}", recipe.key));
            for (at, reached) in flow.reached.iter().enumerate() {
                // An empty mapping may have been filled and then is not a leaf.
                let hop = replay.trace_with_losers(reached.doc, &reached.location);
                if !comes_from(&hop, doc, &leaf) {
                    fault(&format!("has no way back from {reached:?}: {hop:?}"));
                }
                if reached.from.is_some_and(|from| from >= at) {
                    fault("the order is wrong");
                }
            }
            for (other, place, hop) in &ways {
                // A pair, whose content no path can address, may become a list.
                let is_reached = |reached: &Reached| {
                    reached.doc == *other && place.starts_with(&reached.location)
                };
                let ends = ends(hop);
                if ends
                    .iter()
                    .any(|end| end.doc == doc && end.location == leaf)
                    && !flow.reached.iter().any(is_reached)
                {
                    fault(&format!("does not flow to {other:?} {place}: {flow:#?}"));
                }
            }
            let is_output = |reached: &Reached| site.graph.recipe(reached.doc).emit;
            if flow.stops.is_empty() && !flow.reached.iter().any(is_output) {
                fault("reaches no output and has no stop");
            }
        }
    }
    wrong
}

/// Numbers of hops of each kind in the traces of a site, and of overridden values.
pub fn ways_by_kind(site: &RenderedSite<'_>) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for (_, _, way) in ways(site, &Replay::new(site.graph, site.rendered)) {
        for hop in hops(&way) {
            let via = format!("{:?}", hop.via);
            let via = via.split(' ').next().unwrap_or_default().to_owned();
            *kinds.entry(via).or_default() += 1;
            *kinds.entry("lost".to_owned()).or_default() += usize::from(hop.lost.is_some());
        }
    }
    kinds
}

type Ways = Vec<(DocId, Location, Hop)>;

/// Trace of every leaf of a site.
fn ways(site: &RenderedSite<'_>, replay: &Replay<'_>) -> Ways {
    let data = site
        .graph
        .iter()
        .filter_map(|(doc, _)| Some((doc, site.rendered.data(doc)?)));
    data.flat_map(|(doc, data)| {
        let leaves = Replay::leaves(data, MAX_LEAVES).locations.into_iter();
        leaves.map(move |leaf| (doc, leaf.clone(), replay.trace_with_losers(doc, &leaf)))
    })
    .collect()
}

/// Own data at which a trace ends; steps that create a value are excluded.
fn ends(hop: &Hop) -> Vec<&Hop> {
    let all = hops(hop).into_iter();
    let is_own = |hop: &&Hop| matches!(hop.via, Via::Literal | Via::Made) && hop.step.is_none();
    all.filter(|hop| hop.from.is_empty() && is_own(hop))
        .collect()
}

/// Whether a trace ends at a leaf of a document's own text. A string created from a whole mapping
/// is traced to the mapping.
fn comes_from(hop: &Hop, doc: DocId, leaf: &Location) -> bool {
    let is_text_of_all = |hop: &Hop| {
        let put = hop.from.get(1).and_then(|put| put.value.as_ref());
        matches!(hop.via, Via::Pattern | Via::Merged)
            && put.is_some_and(|it| it.as_mapping().is_some() || it.as_sequence().is_some())
    };
    ends(hop)
        .iter()
        .any(|end| end.doc == doc && end.location == *leaf)
        || hops(hop).into_iter().any(is_text_of_all)
}

fn hops(hop: &Hop) -> Vec<&Hop> {
    std::iter::once(hop)
        .chain(hop.from.iter().flat_map(hops))
        .collect()
}
