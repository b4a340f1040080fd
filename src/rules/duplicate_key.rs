//! `duplicate-key`: duplicate key in a mapping; the last value is used.

use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "duplicate-key",
    Warning,
    "duplicate key in a mapping; the last value is used"
);

pub(super) fn report(facts: &FileFacts<'_>, at: Span, first: Span) -> Diagnostic {
    let message = format!("duplicate key `{}` in a mapping", facts.quote(at));
    let diagnostic = RULE
        .finding(message, at, "overrides the first value")
        .related(first, "this value is dropped")
        .note(match facts.holds {
            FileContents::Documents => "Deckhand's YAML reader silently uses the last value",
            FileContents::Parts => "cloud-init's YAML reader silently uses the last value",
        })
        .help("remove one of them")
        .about(if facts.is_secret(at) {
            String::new()
        } else {
            facts.quote(at)
        });
    let document = facts
        .documents
        .iter()
        .find(|document| document.span.contains(at));
    match document {
        Some(document) => diagnostic.document(&document.key),
        None => diagnostic,
    }
}
