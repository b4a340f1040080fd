//! Shields: each edited value is followed forward, and the text that stops it is reported.

use std::collections::HashSet;

use super::Question;
use super::reach::{Shield, Why};
use crate::edit::{Edit, EditId, Part, Text};
use crate::graph::{DocId, Graph};
use crate::render::flow::{self, flow_within};
use crate::render::replay::Replay;

/// Returns the shields of the edits that concern a site, and the number of those not listed. Only
/// for edits of values, because an added or removed document is not stopped by an override.
pub fn shields(question: &Question<'_>) -> (Vec<(EditId, Shield)>, usize) {
    let mut shields = Vec::new();
    let most = question.limits.places_of_each(question.concerned.len());
    for id in question.concerned {
        let edit = &question.edits[id.index()];
        let there = question.head.zip(edit.head.as_ref());
        let Some((side, text)) = there.or(question.base.zip(edit.base.as_ref())) else {
            continue;
        };
        let stops = stops(edit, &side.replay, text, most).into_iter();
        shields.extend(stops.map(|shield| (*id, shield)));
    }
    let unlisted = shields.len().saturating_sub(question.limits.shields);
    shields.truncate(question.limits.shields);
    (shields, unlisted)
}

fn stops(edit: &Edit, replay: &Replay<'_>, text: &Text, most: usize) -> Vec<Shield> {
    let graph = replay.graph();
    let Some(doc) = document_of(edit, graph, text).filter(|_| edit.part == Part::Data) else {
        return Vec::new();
    };
    let mut shields: Vec<Shield> = Vec::new();
    let mut known = HashSet::new();
    for stop in flow_within(replay, doc, &edit.location, most).stops {
        let why = match stop.why {
            flow::Why::SetAgain => Why::SetAgain,
            flow::Why::Deleted => Why::Deleted,
            flow::Why::Overwritten => Why::SubstitutedOver,
            flow::Why::Kept => Why::Kept,
            flow::Why::NotMerged => Why::LeftOut,
            flow::Why::NoAction => Why::NotTaken,
            // The value would not have reached an output.
            flow::Why::Unused | flow::Why::Blocked => continue,
        };
        let document = graph.recipe(stop.doc).key.clone();
        if known.insert((document.clone(), stop.by)) {
            let (location, by) = (stop.location, stop.by);
            shields.push(Shield { site: None, document, location, by, why });
        }
    }
    shields
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
