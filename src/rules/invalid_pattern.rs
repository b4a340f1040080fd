//! `invalid-pattern`: pattern that is not a valid regular expression.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::system::deckhand::document::PatternUse;

super::rule!("invalid-pattern", Error [Refused], "pattern that is not a valid regular expression", was "P005");

pub(super) fn report(
    at: Span,
    title: &str,
    field: &str,
    message: &str,
    failure: PatternUse,
) -> Diagnostic {
    let (fault, note, help) = match failure {
        PatternUse::Always => (
            "is not a valid regular expression",
            "the substitution is skipped; Deckhand refuses the whole site",
            ESCAPE,
        ),
        PatternUse::WhereFound => (
            "is not a valid regular expression",
            "the substitution is skipped; Deckhand refuses the whole site if a string below the \
             destination contains the pattern literally, and skips it otherwise",
            ESCAPE,
        ),
        PatternUse::Unsupported => (
            "cannot be used",
            "the substitution is skipped; Deckhand's code applies it, so the result rendered here \
             may differ",
            "rewrite the pattern, e.g. use a character instead of its name",
        ),
    };
    let headline = format!("`{field}` of `{title}` {fault}: {message}");
    RULE.finding(headline, at, message).note(note).help(help)
}

const ESCAPE: &str = "use Python's syntax, and escape literal special characters: `\\(`";
