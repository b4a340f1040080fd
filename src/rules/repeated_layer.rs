//! `repeated-layer`: duplicate layer in `layerOrder`.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("repeated-layer", Error [Refused], "duplicate layer in `layerOrder`", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>, layer: &str, first: Span, again: Span) -> Diagnostic {
    let message = format!("duplicate layer `{layer}` in `layerOrder`");
    let diagnostic = RULE
        .finding(message, again, "listed again here")
        .related(first, "first listed here; this position is used")
        .note("Deckhand refuses the whole site: it counts a parent in this layer twice")
        .help("remove one of them");
    match facts.site.policy {
        Some(policy) => diagnostic.document(&facts.document(policy).key),
        None => diagnostic,
    }
}
