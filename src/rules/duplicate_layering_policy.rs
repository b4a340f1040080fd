//! `duplicate-layering-policy`: a site has two LayeringPolicy documents.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "duplicate-layering-policy",
    Error,
    "a site has two LayeringPolicy documents"
);

pub(super) fn report(facts: &SiteFacts<'_>, used: DocId, extra: DocId) -> Diagnostic {
    let policy = facts.document(used);
    let document = facts.document(extra);
    let message = format!("more than one LayeringPolicy: `{}`", facts.name(extra));
    RULE.finding(message, document.name_span, "this policy is ignored")
        .related(
            policy.name_span,
            "this policy is used, because its file comes first",
        )
        .note(
            "Deckhand uses the first one it receives, and Pegleg passes documents in no fixed \
             order",
        )
        .help("keep one of them")
        .document(&document.key)
        .document(&policy.key)
}
