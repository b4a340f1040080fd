//! `duplicate-document`: two documents with the same schema, layer and name.

use super::{REFUSED, SiteFacts, of_layer};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "duplicate-document",
    Error [Refused],
    "two documents with the same schema, layer and name",
    was "P005"
);

pub(super) fn report(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let earlier = facts.document(first);
    let document = facts.document(again);
    let key = &document.key;
    let title = facts.name(again);
    let message = format!("duplicate `{}` `{title}` {}", key.schema, of_layer(key));
    RULE.finding(
        message,
        document.name_span,
        "another document has this schema, layer and name",
    )
    .related(earlier.name_span, "first defined here")
    .note(REFUSED)
    .help("remove one of them, or rename it")
    .document(key)
}
