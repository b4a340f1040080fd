//! `duplicate-document`: two documents with one schema, layer and name.

use super::{REFUSED, SiteFacts, of_layer};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!(
    "duplicate-document",
    Error [Refused],
    "two documents with one schema, layer and name",
    was "P005"
);

pub(super) fn word(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let (earlier, document) = (facts.document(first), facts.document(again));
    let key = &document.key;
    let title = facts.name(again);
    let label =
        Label::new(document.name_span, "there is one of this schema, layer and name already");
    let message = format!("a second `{}` `{title}` {}", key.schema, of_layer(key));
    Diagnostic::new(&RULE, message, label)
        .related(earlier.name_span, "the first one")
        .note(REFUSED)
        .help("remove one of them, or give it another name")
        .document(key.clone())
}
