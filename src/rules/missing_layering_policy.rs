//! `missing-layering-policy`: a site has no LayeringPolicy.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("missing-layering-policy", Error [Refused, Absence, Cause], "a site has no LayeringPolicy", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>) -> Diagnostic {
    let is_layer = facts
        .site
        .documents
        .iter()
        .any(|document| document.layer.is_some());
    let what = if is_layer { "this layer" } else { "the layers" };
    RULE.finding(
        "no LayeringPolicy among the documents",
        place(facts),
        format!("no document defines the order of {what}"),
    )
    .note("Deckhand refuses the whole site; layercake renders every document without a parent")
    .help(
        "add a document of schema `deckhand/LayeringPolicy/v1` with `data.layerOrder`, such as \
             `[global, type, site]`",
    )
}

/// First layer of a document, or else the first name.
pub(super) fn place(facts: &SiteFacts<'_>) -> Span {
    let documents = &facts.site.documents;
    let layer = documents
        .iter()
        .find_map(|document| document.layer.as_ref());
    let first = || {
        documents
            .first()
            .expect("a site without documents needs no policy")
            .name_span
    };
    layer.map_or_else(first, |layer| layer.span)
}
