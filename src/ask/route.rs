//! Routes of texts to other documents, as steps.

use super::question::shown;
use crate::check::RenderedSite;
use crate::graph::DocId;
use crate::render::flow::{Flow, Reached, Stop};
use crate::report::answer::StepKind;
use crate::report::answer::provenance::ProvenanceStep;
use crate::source::Span;

/// Route of a flow to a place, first hop first.
pub(super) fn route(flow: &Flow, index: usize) -> Vec<&Reached> {
    let mut route = Vec::new();
    let mut next = Some(index);
    while let Some(reached) = next.and_then(|index| flow.reached.get(index)) {
        route.push(reached);
        next = reached.from;
    }
    route.reverse();
    route
}

/// A place that a flow reached, as a step.
pub(super) fn reached_step(site: &RenderedSite<'_>, reached: &Reached) -> ProvenanceStep {
    let kind = StepKind::Reached(reached.via.into(), place_text(site, reached));
    step_at(site, reached.doc, kind, reached.at.clone())
}

/// A place at which a flow stops, as a step.
pub(super) fn stop_step(site: &RenderedSite<'_>, stop: &Stop) -> ProvenanceStep {
    step_at(site, stop.doc, StepKind::Stopped(stop.why), vec![stop.by])
}

pub(super) fn step_at(
    site: &RenderedSite<'_>,
    doc: DocId,
    kind: StepKind,
    at: Vec<Span>,
) -> ProvenanceStep {
    ProvenanceStep {
        document: site.graph.recipe(doc).key.clone(),
        step: kind,
        note: None,
        at,
        standing: None,
    }
}

/// Place of a rendered document that a flow reached, or the secret that contains it.
pub(super) fn place_text(site: &RenderedSite<'_>, reached: &Reached) -> String {
    let place = reached.location.clone();
    let data = site.rendered.data(reached.doc);
    data.map_or_else(
        || place.to_string(),
        |data| shown(data, place.clone()).to_string(),
    )
}
