//! What holds for the way of every value of every site.

use std::collections::BTreeMap;

use layercake::check::RenderedSite;
use layercake::graph::DocId;
use layercake::render::flow::{Reached, flow};
use layercake::render::replay::{Hop, Replay, Via};
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Node, Origin, Value};

/// More leaves of one document are not asked for their way.
const MOST: usize = 2_000;

/// The ways of a site's values that are not as they must be:
///
/// - The first hop's value is the rendered one, span included.
/// - Every way ends at a text that wrote the value, or a step that made it, and
///   that is where the rendered leaf says it was written.
/// - It is the same when asked again, of another replay; and without the losers,
///   but for these.
pub fn untrue_ways(site: &RenderedSite<'_>) -> Vec<String> {
    let (replay, again) =
        (Replay::new(site.graph, site.rendered), Replay::new(site.graph, site.rendered));
    let mut wrong = Vec::new();
    for (doc, recipe) in site.graph.iter() {
        let Some(data) = site.rendered.data(doc) else { continue };
        let leaves = Replay::leaves(data, MOST);
        for location in containers(data, &leaves.locations) {
            let (hop, node) =
                (replay.trace_with_losers(doc, &location), location.get(data).unwrap());
            let twice =
                [format!("{hop:?}"), format!("{:?}", replay.trace_with_losers(doc, &location))];
            let other = format!("{:?}", again.trace_with_losers(doc, &location));
            if twice[0] != twice[1] || twice[0] != other {
                wrong.push(format!("{} {location}: not the same twice", recipe.key));
            }
            let alone = replay.trace(doc, &location);
            if format!("{alone:?}") != format!("{:?}", without_losers(hop.clone())) {
                wrong.push(format!("{} {location}: another without the losers", recipe.key));
            }
            if let Some(fault) = fault(&hop, node) {
                wrong.push(format!("{} {location}: {fault}: {hop:#?}", recipe.key));
            }
        }
    }
    wrong
}

fn without_losers(hop: Hop) -> Hop {
    Hop { lost: None, from: hop.from.into_iter().map(without_losers).collect(), ..hop }
}

/// The places, and those around them.
fn containers(data: &Node, leaves: &[Location]) -> Vec<Location> {
    let mut all: Vec<Location> = Vec::new();
    for leaf in leaves {
        let shared = all.last().map_or(0, |last| {
            last.0.iter().zip(&leaf.0).take_while(|(one, other)| one == other).count()
        });
        let first = if all.is_empty() { 0 } else { shared + 1 };
        all.extend((first..=leaf.0.len()).map(|end| Location(leaf.0[..end].to_vec())));
    }
    all.retain(|location| location.get(data).is_some());
    all
}

fn fault(hop: &Hop, node: &Node) -> Option<&'static str> {
    let is_same = |value: &Option<Node>| {
        value.as_ref().is_some_and(|value| value.span == node.span && value.origin == node.origin)
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
    let Some(written) = &end.value else { return Some("the way ends at nothing") };
    // A piece of a text or pair is a value that no node of the source is.
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

/// Whether a value was a key where its way ends: of a mapping that is merged
/// into a list the keys are the items, and no place is that of a key alone.
fn is_key(end: &Location, node: &Node) -> bool {
    matches!(end.0.last(), Some(Piece::Key(key)) if key.span == node.span)
}

/// The flows of a site's own texts that do not agree with the ways of its
/// values:
///
/// - What a text reaches has a way from that text, and the other way round.
/// - A text that reaches no output is stopped, or its document is.
/// - Each place that is reached comes from one that stands before it.
pub fn untrue_flows(site: &RenderedSite<'_>) -> Vec<String> {
    let replay = Replay::new(site.graph, site.rendered);
    let (ways, mut wrong) = (ways(site, &replay), Vec::new());
    for (doc, recipe) in site.graph.iter() {
        for leaf in Replay::leaves(&recipe.data, MOST).locations {
            let flow = flow(&replay, doc, &leaf);
            let mut fault = |text: &str| wrong.push(format!("{} {leaf}: {text}", recipe.key));
            for (at, reached) in flow.reached.iter().enumerate() {
                // An empty mapping may have been filled, and is no leaf then.
                let hop = replay.trace_with_losers(reached.doc, &reached.location);
                if !comes_from(&hop, doc, &leaf) {
                    fault(&format!("has no way back from {reached:?}: {hop:?}"));
                }
                if reached.from.is_some_and(|from| from >= at) {
                    fault("the order is wrong");
                }
            }
            for (other, place, hop) in &ways {
                // A pair, of which no path knows the inside, may become a list.
                let is_reached = |reached: &Reached| {
                    reached.doc == *other && place.starts_with(&reached.location)
                };
                let ends = ends(hop);
                if ends.iter().any(|end| end.doc == doc && end.location == leaf)
                    && !flow.reached.iter().any(is_reached)
                {
                    fault(&format!("does not flow to {other:?} {place}: {flow:#?}"));
                }
            }
            let is_output = |reached: &Reached| site.graph.recipe(reached.doc).emit;
            if flow.stops.is_empty() && !flow.reached.iter().any(is_output) {
                fault("goes nowhere, and nothing stops it");
            }
        }
    }
    wrong
}

/// How many hops of each kind the ways of a site have, and how many values lost.
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

/// The way of every leaf of a site.
fn ways(site: &RenderedSite<'_>, replay: &Replay<'_>) -> Ways {
    let data = site.graph.iter().filter_map(|(doc, _)| Some((doc, site.rendered.data(doc)?)));
    data.flat_map(|(doc, data)| {
        let leaves = Replay::leaves(data, MOST).locations.into_iter();
        leaves.map(move |leaf| (doc, leaf.clone(), replay.trace_with_losers(doc, &leaf)))
    })
    .collect()
}

/// The own data at which a way ends; what a step made is none.
fn ends(hop: &Hop) -> Vec<&Hop> {
    let all = hops(hop).into_iter();
    let is_own = |hop: &&Hop| matches!(hop.via, Via::Literal | Via::Made) && hop.step.is_none();
    all.filter(|hop| hop.from.is_empty() && is_own(hop)).collect()
}

/// Whether a way begins at a leaf of a document's own text. What was written
/// from a whole mapping, as text, has the way of the mapping.
fn comes_from(hop: &Hop, doc: DocId, leaf: &Location) -> bool {
    let is_text_of_all = |hop: &Hop| {
        let put = hop.from.get(1).and_then(|put| put.value.as_ref());
        matches!(hop.via, Via::Pattern | Via::Laid)
            && put.is_some_and(|it| it.as_mapping().is_some() || it.as_sequence().is_some())
    };
    ends(hop).iter().any(|end| end.doc == doc && end.location == *leaf)
        || hops(hop).into_iter().any(is_text_of_all)
}

fn hops(hop: &Hop) -> Vec<&Hop> {
    std::iter::once(hop).chain(hop.from.iter().flat_map(hops)).collect()
}
