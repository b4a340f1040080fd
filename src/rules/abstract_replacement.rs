//! `abstract-replacement`: an abstract document replaces a concrete one, so neither is rendered.

use super::{SiteFacts, of_layer};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "abstract-replacement",
    Error,
    "an abstract document replaces a concrete one, so neither is rendered"
);

pub(super) fn report(facts: &SiteFacts<'_>, doc: DocId, replaced: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let other = facts.document(replaced);
    let title = facts.name(doc);
    let message = format!("abstract `{title}` replaces a concrete document: neither is rendered");
    RULE.finding(
        message,
        document.replacement.unwrap_or(document.name_span),
        "replaces a concrete document, but is abstract itself",
    )
    .related(
        other.name_span,
        format!("`{title}` {} is replaced", of_layer(&other.key)),
    )
    .note("Deckhand accepts this, and substitutions from it still read its values")
    .help(format!(
        "make `{title}` {} concrete: `abstract: false`",
        of_layer(&document.key)
    ))
    .document(&document.key)
    .document(&other.key)
}
