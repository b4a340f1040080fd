//! What holds for the way of every value of every site.

use layercake::check::RenderedSite;
use layercake::render::replay::{Hop, Replay, Via};
use layercake::yaml::path::Location;
use layercake::yaml::{Node, Origin};

/// More leaves of one document are not asked for their way.
const MOST: usize = 2_000;

/// The ways of a site's values that are not as they must be:
///
/// - The first hop's value is the rendered one, span included.
/// - Every way ends at a text that wrote the value, or a step that made it, and
///   that is where the rendered leaf says it was written.
/// - It is the same when asked again, of another replay.
pub fn untrue_ways(site: &RenderedSite<'_>) -> Vec<String> {
    let (replay, again) =
        (Replay::new(site.graph, site.rendered), Replay::new(site.graph, site.rendered));
    let mut wrong = Vec::new();
    for (doc, recipe) in site.graph.iter() {
        let Some(data) = site.rendered.data(doc) else { continue };
        let leaves = Replay::leaves(data, MOST);
        for location in containers(data, &leaves.locations) {
            let (hop, node) = (replay.trace(doc, &location), location.get(data).unwrap());
            let twice = [format!("{hop:?}"), format!("{:?}", replay.trace(doc, &location))];
            let other = format!("{:?}", again.trace(doc, &location));
            if twice[0] != twice[1] || twice[0] != other {
                wrong.push(format!("{} {location}: not the same twice", recipe.key));
            }
            if let Some(fault) = fault(&hop, node) {
                wrong.push(format!("{} {location}: {fault}: {hop:#?}", recipe.key));
            }
        }
    }
    wrong
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
    let is_piece = node.origin == Origin::Derived && written.span.contains(node.span);
    if written.span != node.span && !is_piece {
        return Some("the way ends at another text");
    }
    let is_untouched = node.origin == Origin::Written && node.as_mapping().is_none();
    if is_untouched && node.as_sequence().is_none() && written != node {
        return Some("the way ends at another value");
    }
    None
}
