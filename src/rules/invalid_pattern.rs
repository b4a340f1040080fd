//! `invalid-pattern`: a pattern that is no regular expression.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::system::deckhand::document::PatternUse;

super::rule!("invalid-pattern", Error [Refused], "a pattern that is no regular expression", was "P005");

pub(super) fn word(
    at: Span,
    title: &str,
    field: &str,
    message: &str,
    failure: PatternUse,
) -> Diagnostic {
    let (fault, note, help) = match failure {
        PatternUse::Always => (
            "is no regular expression",
            "the substitution is skipped; Deckhand refuses the whole site",
            ESCAPE,
        ),
        PatternUse::WhereFound => (
            "is no regular expression",
            "the substitution is skipped; Deckhand refuses the whole site where a string below the \
             destination holds this text, and skips it elsewhere",
            ESCAPE,
        ),
        PatternUse::Unsupported => (
            "cannot be used",
            "the substitution is skipped; Deckhand's code applies it, so that what is rendered here \
             may differ",
            "write the pattern in another way, such as a character itself instead of its name",
        ),
    };
    let headline = format!("`{field}` of `{title}` {fault}: {message}");
    Diagnostic::new(&RULE, headline, Label::new(at, message)).note(note).help(help)
}

const ESCAPE: &str =
    "write it as Python does, with a backslash before a character that stands for itself: `\\(`";
