//! The texts that override each other at a value, and final values.

use super::place::PlaceInData;
use crate::check::{Answer, RenderedSite};
use crate::graph::DocId;
use crate::render::flow::{flow, may_enter};
use crate::render::replay::{Hop, Replay};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::json::canonical;
use crate::yaml::path::{Location, children};

/// The texts that decide a value of a document, in one site.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverridingTexts {
    /// The text that wrote the final value of the output.
    pub(crate) wins: Option<Span>,
    /// Texts that the value of the document overrides.
    pub(crate) overridden: Vec<Span>,
    /// Texts that stop the document's own text on the way to other documents.
    pub(crate) shields: Vec<Span>,
}

/// The texts that decide a value of a document's own data, after the documents that it depends on were
/// rendered.
pub(crate) fn answer(site: &RenderedSite<'_>, place: &PlaceInData) -> Answer<OverridingTexts> {
    let last = site.site.standing_for(place.doc);
    let needed = site.unrequested([place.doc, last]);
    if !needed.is_empty() {
        return Answer::Needs(needed);
    }
    let replay = Replay::new(site.graph, site.rendered);
    let places = [place.location.clone()];
    let needed = site.unrequested(may_enter(&replay, place.doc, &places));
    Answer::after(needed, || {
        let own = replay.trace_with_losers(place.doc, &place.location);
        let stops = flow(&replay, place.doc, &place.location).stops;
        OverridingTexts {
            wins: origin(&replay, last, place),
            overridden: own
                .losers()
                .iter()
                .filter_map(|lost| written(lost))
                .collect(),
            shields: stops.iter().map(|stop| stop.by).collect(),
        }
    })
}

fn origin(replay: &Replay<'_>, doc: DocId, place: &PlaceInData) -> Option<Span> {
    written(replay.trace(doc, &place.location).origin())
}

/// The text that wrote a value.
fn written(hop: &Hop) -> Option<Span> {
    hop.origin().value.as_ref().map(|node| node.span)
}

/// Texts of values in a range with the final values that differ from them, in one site; `None` for a
/// value that was removed.
pub(crate) fn in_range(site: &RenderedSite<'_>, range: Span) -> Answer<Vec<(Span, Option<Node>)>> {
    let documents = site.site.iter().filter(|(_, document)| {
        let span = document.span;
        span.file == range.file && span.start <= range.end && range.start <= span.end
    });
    let documents: Vec<(DocId, DocId)> = documents
        .map(|(doc, _)| (doc, site.site.standing_for(doc)))
        .collect();
    let needed = site.unrequested(documents.iter().map(|(_, last)| *last));
    Answer::after(needed, || {
        let mut found = Vec::new();
        for (doc, last) in documents {
            let own = &site.graph.recipe(doc).data;
            let data = site.data(last);
            add_overridden(own, data, &mut Location::root(), &mut found);
        }
        found.retain(|(text, _)| {
            text.file == range.file && range.start <= text.start && text.end <= range.end
        });
        found
    })
}

fn add_overridden(
    own: &Node,
    data: &Node,
    here: &mut Location,
    found: &mut Vec<(Span, Option<Node>)>,
) {
    if children(own).next().is_none() && !own.secret {
        match here.get(data) {
            Some(last) if !last.secret && canonical(last) == canonical(own) => {}
            last => found.push((own.span, last.cloned())),
        }
    }
    if own.secret {
        return;
    }
    for (piece, child) in children(own) {
        here.0.push(piece);
        add_overridden(child, data, here, found);
        here.0.pop();
    }
}
