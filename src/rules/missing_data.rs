//! `missing-data`: document without data.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("missing-data", Warning, "document without data");

pub(super) fn report(at: Span, title: &str) -> Diagnostic {
    RULE.finding(
        format!("`{title}` has no `data`"),
        at,
        "this document has no `data`",
    )
    .note("Deckhand's documentation requires it; its code uses null")
    .help("write `data: {}` if the document is empty")
}
