//! `duplicate-output`: a site renders two documents with the same schema and name.

use super::{REFUSED, SiteFacts, of_layer};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!("duplicate-output", Error [Refused], "a site renders two documents with the same schema and name", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let earlier = facts.document(first);
    let document = facts.document(again);
    let title = facts.name(again);
    let message = format!("`{}` `{title}` is rendered twice", document.key.schema);
    let diagnostic = RULE
        .finding(
            message,
            document.name_span,
            format!("one of them, {}", of_layer(&document.key)),
        )
        .related(
            earlier.name_span,
            format!("the other, {}", of_layer(&earlier.key)),
        )
        .document(&document.key)
        .document(&earlier.key);
    let parent = facts.site.parent(again);
    match parent.filter(|parent| facts.site.parent(first) == Some(*parent)) {
        Some(parent) => diagnostic
            .related(
                facts.document(parent).name_span,
                "both replace this document",
            )
            .note("Deckhand returns both, and their order decides which one substitutions read")
            .help("keep one replacement, and remove or rename the other"),
        None => diagnostic
            .note(REFUSED)
            .help("rename one of them, or make the lower one replace the higher one"),
    }
}
