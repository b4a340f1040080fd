//! `missing-data`: a document without data.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("missing-data", Warning, "a document without data");

pub(super) fn word(at: Span, title: &str) -> Diagnostic {
    let label = Label::new(at, "this document has no `data`");
    Diagnostic::new(&RULE, format!("`{title}` has no `data`"), label)
        .note("Deckhand's documentation requires it; its code goes on with null")
        .help("write `data: {}` where nothing is meant to be in it")
}
