//! `repeated-layer`: a layer is listed twice in layerOrder.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("repeated-layer", Error [Refused], "a layer stands twice in layerOrder", was "P005");

pub(super) fn word(facts: &SiteFacts<'_>, layer: &str, first: Span, again: Span) -> Diagnostic {
    let message = format!("layer `{layer}` stands twice in `layerOrder`");
    let diagnostic = Diagnostic::new(&RULE, message, Label::new(again, "the second time"))
        .related(first, "the first time; this is its place")
        .note("Deckhand refuses the whole site: it counts a parent in this layer twice")
        .help("remove one of them");
    match facts.site.policy {
        Some(policy) => diagnostic.document(facts.document(policy).key.clone()),
        None => diagnostic,
    }
}
