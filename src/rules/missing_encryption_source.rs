//! `missing-encryption-source`: encrypted document whose secret cannot be looked up.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "missing-encryption-source",
    Error [Refused, Absence],
    "encrypted document whose secret cannot be looked up", was "P005"
);

pub(super) fn report(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!(
        "the secret that `{}` refers to cannot be looked up",
        document.key.name
    );
    RULE.finding(message, document.data.span, "a reference to a secret store")
        .note("only Deckhand's service has a secret store: the reference is rendered unchanged")
        .note(
            "Deckhand refuses the whole site if its secret store lacks the reference; Pegleg fails \
             here, even where no document substitutes from this one",
        )
        .help("replace the reference with the secret, encrypted by Pegleg")
        .document(&document.key)
}
