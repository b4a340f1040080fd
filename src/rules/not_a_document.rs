//! `not-a-document`: a YAML document that is no Deckhand document.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("not-a-document", Error [Refused], "a YAML document that is no Deckhand document", was "P007");

pub(super) fn word(at: Span, found: &str) -> Diagnostic {
    let label = Label::new(at, format!("this is {found}"));
    let message = format!("a YAML document that is no Deckhand document, but {found}");
    Diagnostic::new(&RULE, message, label)
        .note("Pegleg ends in a traceback on it, for all sites that read the file")
        .help("give it `schema`, `metadata` and `data`, or move the file out of the layer folders")
}
