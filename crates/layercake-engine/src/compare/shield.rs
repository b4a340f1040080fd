//! Passage of an edited value: it is followed forward to the places that it reaches, and to the
//! texts that stop it.

use std::collections::{BTreeMap, HashSet};

use layercake_source::Span;
use layercake_yaml::path::Location;

use super::reach::{Shield, Why};
use super::{Question, Side};
use crate::edit::{Edit, EditId, Part, Text};
use crate::graph::{DocId, Graph};
use crate::render::flow::{self, flow_of_rendered, flow_within};
use crate::render::replay;

/// Places that an edited value reaches, and the texts that stop it.
#[derive(Default)]
pub(super) struct Passage {
    /// Texts of the head that stop it.
    pub(super) shields: Vec<Shield>,
    /// Places of outputs that it reaches, by document.
    pub(super) reached: Vec<(DocId, Vec<Location>)>,
    /// Whether there may be more of both.
    pub(super) is_cut: bool,
    /// Whether these are all, each text that stops the value is in the head, and the value becomes
    /// part of no string.
    pub(super) is_certain: bool,
}

/// Follows the value that an edit has on `side`, which is the head, or the head with a removed value
/// put back. Only for edits of values, because an added or removed document is not stopped by an
/// override.
pub(super) fn passage(question: &Question<'_>, edit: EditId, side: &Side<'_>) -> Passage {
    let edit = &question.edits[edit.index()];
    let Some(text) = edit.head.as_ref().or(edit.base.as_ref()) else { return Passage::default() };
    let graph = side.graph;
    let Some(doc) = document_of(edit, graph, text).filter(|_| edit.part == Part::Data) else {
        return Passage::default();
    };
    let most = question.limits.places_of_each(question.concerned.len());
    let flow = flow_within(&side.replay, doc, &edit.location, most);
    let is_cut = flow.more;
    // Other edits may have moved the value within its document.
    let found = edit.location.get(&graph.recipe(doc).data).map(|node| node.span);
    let is_in_place = found.is_some() && found == text.node.as_ref().map(|node| node.span);
    let mut is_certain = is_in_place && !is_cut;
    let mut reached: BTreeMap<DocId, Vec<Location>> = BTreeMap::new();
    for place in flow.reached {
        is_certain &= place.via != replay::Via::Pattern;
        if graph.recipe(place.doc).emit {
            reached.entry(place.doc).or_default().push(place.location);
        }
    }
    let mut shields: Vec<Shield> = Vec::new();
    let mut known = HashSet::new();
    for stop in flow.stops.into_iter().filter(is_override) {
        for stop in overrides(side, stop, MAX_OVERRIDES) {
            let document = graph.recipe(stop.doc).key.clone();
            let is_in_head = is_text_of(question.head, stop.by);
            is_certain &= is_in_head;
            let is_shield = is_in_head && !text.meets(stop.by);
            let Some(why) = shield_why(stop.why).filter(|_| is_shield) else { continue };
            if known.insert((document.clone(), stop.by)) {
                let (location, by) = (stop.location, stop.by);
                shields.push(Shield { site: None, document, location, by, why });
            }
        }
    }
    Passage { shields, reached: reached.into_iter().collect(), is_cut, is_certain }
}

/// Maximum number of overrides behind each other that are followed.
const MAX_OVERRIDES: usize = 8;

/// Returns a stop and those behind it, which together keep the value from the outputs; none if
/// it would not reach one in any case.
fn overrides(side: &Side<'_>, stop: flow::Stop, most: usize) -> Vec<flow::Stop> {
    let mut all = vec![stop.clone()];
    if stop.why == flow::Why::SetAgain || stop.why == flow::Why::Overwritten {
        let last = side.replay.trace(stop.doc, &stop.location);
        let is_last =
            last.at.contains(&stop.by) || last.from.iter().any(|from| from.at.contains(&stop.by));
        // Another step of the document writes to the same place later.
        if let (false, Some(why), Some(by)) = (is_last, overriding(last.via), last.at.first()) {
            all.push(flow::Stop { by: *by, why, ..stop.clone() });
        }
    }
    if side.graph.recipe(stop.doc).emit || stop.why == flow::Why::Deleted {
        return all;
    }
    let behind = flow_of_rendered(&side.replay, stop.doc, vec![(stop.location, stop.by)]);
    let reaches =
        |place: &flow::Reached| place.doc != stop.doc && side.graph.recipe(place.doc).emit;
    if behind.more || behind.reached.iter().any(reaches) {
        return all;
    }
    let next = behind.stops.into_iter().filter(is_override).filter(|_| most > 0);
    let next: Vec<flow::Stop> = next.flat_map(|stop| overrides(side, stop, most - 1)).collect();
    if next.is_empty() {
        return next;
    }
    all.extend(next);
    all
}

/// Returns how the last step that wrote to a place overrides others.
fn overriding(via: replay::Via) -> Option<flow::Why> {
    match via {
        replay::Via::Layered { .. } => Some(flow::Why::SetAgain),
        replay::Via::Substituted | replay::Via::Pattern => Some(flow::Why::Overwritten),
        replay::Via::Deleted => Some(flow::Why::Deleted),
        replay::Via::Literal
        | replay::Via::Made
        | replay::Via::Inherited
        | replay::Via::Replaced
        | replay::Via::Merged
        | replay::Via::Absent
        | replay::Via::Blocked
        | replay::Via::Unfollowed => None,
    }
}

fn is_override(stop: &flow::Stop) -> bool {
    shield_why(stop.why).is_some()
}

/// Returns how a text stopped a value; `None` if the value would have gone no further without it.
fn shield_why(why: flow::Why) -> Option<Why> {
    match why {
        flow::Why::SetAgain => Some(Why::SetAgain),
        flow::Why::Deleted => Some(Why::Deleted),
        flow::Why::Overwritten => Some(Why::SubstitutedOver),
        flow::Why::Kept => Some(Why::Kept),
        flow::Why::NotMerged => Some(Why::LeftOut),
        flow::Why::NoAction => Some(Why::NotTaken),
        flow::Why::Unused | flow::Why::Blocked => None,
    }
}

/// Returns whether a text belongs to a document of this side.
fn is_text_of(side: Option<&Side<'_>>, text: Span) -> bool {
    side.is_some_and(|side| side.texts_around(text).next().is_some())
}

/// Returns the document that contains the text of an edit.
fn document_of(edit: &Edit, graph: &Graph, text: &Text) -> Option<DocId> {
    let mut recipes = graph.iter();
    let holds = recipes.find(|(_, recipe)| {
        recipe.span.contains(text.at)
            || text.covers.iter().any(|cover| recipe.span.contains(*cover))
    });
    let (doc, _) = holds?;
    Some(doc).filter(|doc| graph.recipe(*doc).key == edit.document || edit.head.is_none())
}
