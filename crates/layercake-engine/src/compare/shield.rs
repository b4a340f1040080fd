//! Passage of an edited value: it is followed forward to the places that it reaches, and to the
//! texts that stop it.

use std::collections::{BTreeMap, HashMap, HashSet};

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
    let Some(text) = edit.head.as_ref().or(edit.base.as_ref()) else {
        return Passage::default();
    };
    let graph = side.graph;
    let Some(doc) = document_of(edit, graph, text).filter(|_| edit.part == Part::Data) else {
        return Passage::default();
    };
    let most = question.limits.places_of_each(question.concerned.len());
    let flow = flow_within(&side.replay, doc, &edit.location, most);
    let is_cut = flow.more;
    // Other edits may have moved the value within its document.
    let found = edit
        .location
        .get(&graph.recipe(doc).data)
        .map(|node| node.span);
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
        for stop in overrides(side, stop, most) {
            let document = graph.recipe(stop.doc).key.clone();
            let is_in_head = is_text_of(question.head, stop.by);
            is_certain &= is_in_head;
            let is_shield = is_in_head && !text.meets(stop.by);
            let Some(why) = shield_why(stop.why).filter(|_| is_shield) else {
                continue;
            };
            let own = stop.location.get(&graph.recipe(stop.doc).data);
            let is_same = edit.head.is_some() && own.is_some() && own == text.node.as_ref();
            let why = if why == Why::SetAgain && is_same {
                Why::SetToSame
            } else {
                why
            };
            if known.insert((document.clone(), stop.by)) {
                let location = stop.location;
                let by = stop.by;
                shields.push(Shield {
                    site: None,
                    document,
                    location,
                    by,
                    why,
                });
            }
        }
    }
    Passage {
        shields,
        reached: reached.into_iter().collect(),
        is_cut,
        is_certain,
    }
}

/// Text that stops a value, and those behind it.
struct Override {
    stop: flow::Stop,
    behind: Vec<usize>,
    /// Whether the value would reach an output without this text and the following ones.
    passes: bool,
}

/// Returns a stop and those behind it, which together keep the value from the outputs; none if it
/// would not reach one in any case. Follows `most` stops; what lies behind the others is not known,
/// so the value counts as stopped there.
fn overrides(side: &Side<'_>, first: flow::Stop, most: usize) -> Vec<flow::Stop> {
    let mut all = vec![Override {
        stop: first,
        behind: Vec::new(),
        passes: false,
    }];
    let mut known: HashMap<(DocId, Location, Span), usize> = HashMap::new();
    let mut at = 0;
    while let Some(stop) = all.get(at).map(|it| it.stop.clone()) {
        let behind = if at < most {
            stops_behind(side, &stop)
        } else {
            None
        };
        match behind {
            None => all[at].passes = true,
            Some(stops) => {
                for stop in stops.into_iter().filter(is_override) {
                    let place = (stop.doc, stop.location.clone(), stop.by);
                    let next = *known.entry(place).or_insert(all.len());
                    if next == all.len() {
                        all.push(Override {
                            stop,
                            behind: Vec::new(),
                            passes: false,
                        });
                    }
                    all[at].behind.push(next);
                }
            }
        }
        at += 1;
    }
    mark_passing(&mut all);
    let passing = all.into_iter().filter(|it| it.passes);
    let steps = passing.flat_map(|it| [Some(it.stop.clone()), later_step(side, &it.stop)]);
    steps.flatten().collect()
}

/// Marks the stops behind which another one is that the value would pass.
fn mark_passing(all: &mut [Override]) {
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        // Most stops behind another one are after it.
        for at in (0..all.len()).rev() {
            let passes = all[at].passes || all[at].behind.iter().any(|next| all[*next].passes);
            is_changed |= passes != all[at].passes;
            all[at].passes = passes;
        }
    }
}

/// Returns the step of the same document that writes to the place of a stop later.
fn later_step(side: &Side<'_>, stop: &flow::Stop) -> Option<flow::Stop> {
    let last = side.replay.trace(stop.doc, &stop.location);
    let mut texts = last
        .at
        .iter()
        .chain(last.from.iter().flat_map(|from| &from.at));
    if texts.any(|text| stop.by.contains(*text)) {
        return None;
    }
    let list = stop
        .location
        .lists()
        .next()
        .map(|list| side.replay.trace(stop.doc, &list));
    let by = list
        .and_then(|list| list.at.first().copied())
        .or(last.at.first().copied())?;
    Some(flow::Stop {
        by,
        why: overriding(last.via)?,
        ..stop.clone()
    })
}

/// Returns what would stop the value after a stop; `None` if it would reach an output, or if that is
/// not known.
fn stops_behind(side: &Side<'_>, stop: &flow::Stop) -> Option<Vec<flow::Stop>> {
    let is_output = |doc: DocId| side.graph.recipe(doc).emit;
    let is_gone = matches!(stop.why, flow::Why::Deleted | flow::Why::NotInherited);
    if is_output(stop.doc) || is_gone {
        return None;
    }
    let place = (stop.location.clone(), stop.by);
    let behind = flow_of_rendered(&side.replay, stop.doc, vec![place]);
    let mut reached = behind.reached.iter().filter(|place| place.doc != stop.doc);
    let passes = behind.more || reached.any(|place| is_output(place.doc));
    (!passes).then_some(behind.stops)
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
        flow::Why::NotInherited => Some(Why::NotInherited),
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
