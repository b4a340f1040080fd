//! `invalid-replacement`: a replacement that Deckhand refuses.

use super::{REFUSED, SiteFacts, of_layer};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!("invalid-replacement", Error [Refused, Absence], "a replacement that Deckhand refuses", was "P005");

pub(super) fn word_without_parent(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let title = facts.name(doc);
    let label = Label::new(document.replacement.unwrap_or(document.name_span), "replaces nothing");
    let message = format!("replacement `{title}` has no parent to replace");
    Diagnostic::new(&RULE, message, label)
        .note(REFUSED)
        .help(format!(
            "add a `parentSelector` that finds the `{title}` of a higher layer, and `actions`; \
             or remove `replacement: true`"
        ))
        .document(document.key.clone())
}

pub(super) fn word_of_another(facts: &SiteFacts<'_>, doc: DocId, parent: DocId) -> Diagnostic {
    let (document, other) = (facts.document(doc), facts.document(parent));
    let (title, wanted) = (facts.name(doc), facts.name(parent));
    let label =
        Label::new(document.name_span, format!("must be `{wanted}`, as its parent is called"));
    let message = format!("replacement `{title}` has another name than its parent `{wanted}`");
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note(REFUSED)
        .related(facts.label(parent, doc), format!("this label makes `{wanted}` its parent"))
        .related(other.name_span, "the parent's name")
        .help("give both one name, or remove `replacement: true`")
        .document(document.key.clone())
        .document(other.key.clone());
    match document.replacement {
        Some(at) => diagnostic.related(at, "says that it replaces its parent"),
        None => diagnostic,
    }
}

pub(super) fn word_undeclared(facts: &SiteFacts<'_>, doc: DocId, parent: DocId) -> Diagnostic {
    let (document, other) = (facts.document(doc), facts.document(parent));
    let title = facts.name(doc);
    let label = Label::new(document.name_span, "has its parent's name, but does not replace it");
    let message = format!("`{title}` has its parent's name without `replacement: true`");
    Diagnostic::new(&RULE, message, label)
        .note(REFUSED)
        .related(other.name_span, format!("its parent, {}", of_layer(&other.key)))
        .help("add `replacement: true` to its `metadata`, or give one of them another name")
        .document(document.key.clone())
        .document(other.key.clone())
}

pub(super) fn word_shared_name(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let (earlier, document) = (facts.document(first), facts.document(again));
    let title = facts.name(again);
    let label = Label::new(
        document.name_span,
        format!("a document {} has this schema and name too", of_layer(&earlier.key)),
    );
    let message = format!(
        "two `{}` are called `{title}`, and neither replaces the other",
        document.key.schema
    );
    Diagnostic::new(&RULE, message, label)
        .note(REFUSED)
        .related(earlier.name_span, format!("`{title}` {}", of_layer(&earlier.key)))
        .help("give one of them another name, or let the lower one replace the higher one")
        .document(document.key.clone())
        .document(earlier.key.clone())
}
