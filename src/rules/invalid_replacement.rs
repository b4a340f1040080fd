//! `invalid-replacement`: replacement that Deckhand refuses.

use super::{REFUSED, SiteFacts, of_layer};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!("invalid-replacement", Error [Refused, Absence], "replacement that Deckhand refuses", was "P005");

pub(super) fn report_without_parent(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let title = facts.name(doc);
    let message = format!("replacement `{title}` has no parent to replace");
    RULE.finding(
        message,
        document.replacement.unwrap_or(document.name_span),
        "replaces nothing",
    )
    .note(REFUSED)
    .help(format!(
        "add a `parentSelector` that selects the `{title}` of a higher layer, and `actions`; \
             or remove `replacement: true`"
    ))
    .document(&document.key)
}

pub(super) fn report_of_another(facts: &SiteFacts<'_>, doc: DocId, parent: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let other = facts.document(parent);
    let title = facts.name(doc);
    let wanted = facts.name(parent);
    let message = format!("replacement `{title}` has a different name than its parent `{wanted}`");
    let diagnostic = RULE
        .finding(
            message,
            document.name_span,
            format!("must be `{wanted}`, the name of its parent"),
        )
        .note(REFUSED)
        .related(
            facts.label(parent, doc),
            format!("this label makes `{wanted}` its parent"),
        )
        .related(other.name_span, "the parent's name")
        .help("give both the same name, or remove `replacement: true`")
        .document(&document.key)
        .document(&other.key);
    match document.replacement {
        Some(at) => diagnostic.related(at, "declared as a replacement here"),
        None => diagnostic,
    }
}

pub(super) fn report_undeclared(facts: &SiteFacts<'_>, doc: DocId, parent: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let other = facts.document(parent);
    let title = facts.name(doc);
    let message = format!("`{title}` has its parent's name without `replacement: true`");
    RULE.finding(
        message,
        document.name_span,
        "has its parent's name, but does not replace it",
    )
    .note(REFUSED)
    .related(
        other.name_span,
        format!("its parent, {}", of_layer(&other.key)),
    )
    .help("add `replacement: true` to its `metadata`, or rename one of them")
    .document(&document.key)
    .document(&other.key)
}

pub(super) fn report_shared_name(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let earlier = facts.document(first);
    let document = facts.document(again);
    let title = facts.name(again);
    let message = format!(
        "two `{}` are named `{title}`, and neither replaces the other",
        document.key.schema
    );
    RULE.finding(
        message,
        document.name_span,
        format!(
            "a document {} has the same schema and name",
            of_layer(&earlier.key)
        ),
    )
    .note(REFUSED)
    .related(
        earlier.name_span,
        format!("`{title}` {}", of_layer(&earlier.key)),
    )
    .help("rename one of them, or make the lower one replace the higher one")
    .document(&document.key)
    .document(&earlier.key)
}
