//! `missing-encryption-source`: an encrypted document whose secret cannot be looked up.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!(
    "missing-encryption-source",
    Error [Refused, Absence],
    "an encrypted document whose secret cannot be looked up", was "P005"
);

pub(super) fn word(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!("the secret that `{}` refers to cannot be looked up", document.key.name);
    let label = Label::new(document.data.span, "a reference to a secret store");
    Diagnostic::new(&RULE, message, label)
        .note("outside Deckhand's service there is no secret store: the reference is rendered as it is")
        .note(
            "Deckhand refuses the whole site if its secret store lacks the reference; Pegleg fails \
             here, even where no document substitutes from this one",
        )
        .help("put the secret itself here, encrypted by Pegleg")
        .document(document.key.clone())
}
