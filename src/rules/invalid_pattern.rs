//! `invalid-pattern`: a pattern that is no regular expression.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-pattern", Error [Refused], "a pattern that is no regular expression", was "P005");

pub(super) fn word(at: Span, title: &str, field: &str, message: &str) -> Diagnostic {
    let headline = format!("`{field}` of `{title}` is no regular expression: {message}");
    Diagnostic::new(&RULE, headline, Label::new(at, message))
        .note("the substitution is skipped; Deckhand's code fails on it")
        .help("write it as Python does, with a backslash before a character that stands for itself: `\\(`")
}
