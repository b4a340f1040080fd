//! `invalid-scalar`: a scalar that is not what its form or tag says.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-scalar", Error [Refused], "a scalar that is not what its form or tag says", was "P007");

pub(super) fn word(facts: &FileFacts<'_>, at: Span, reason: &str) -> Diagnostic {
    let message = format!("a value that YAML cannot make sense of: {reason}");
    Diagnostic::new(&RULE, message, Label::new(at, reason))
        .note(facts.unread_yaml())
        .help("correct it, or put it in quotes if it is meant as text")
}

/// Half a character, which only PyYAML's own reader takes.
pub(super) fn word_surrogate(at: Span) -> Diagnostic {
    let message = "an escape for half a character";
    Diagnostic::new(&RULE, message, Label::new(at, "a surrogate"))
        .note(
            "cloud-init reads the two halves as two characters, which it cannot write to a file; \
             layercake reads the whole character",
        )
        .help("write the character itself, or all of it as one escape: `\\U0001F600`")
}
