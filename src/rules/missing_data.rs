//! `missing-data`: document without data.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("missing-data", Warning, "document without data");

pub(super) fn report(at: Span, title: &str) -> Diagnostic {
    let label = Label::new(at, "this document has no `data`");
    Diagnostic::new(&RULE, format!("`{title}` has no `data`"), label)
        .note("Deckhand's documentation requires it; its code uses null")
        .help("write `data: {}` if the document is empty")
}
