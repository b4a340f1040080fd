//! `invalid-scalar`: a scalar that is not what its form or tag says.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-scalar", Error [Refused], "a scalar that is not what its form or tag says", was "P007");

pub(super) fn word(at: Span, reason: &str) -> Diagnostic {
    let message = format!("a value that YAML cannot make sense of: {reason}");
    Diagnostic::new(&RULE, message, Label::new(at, reason))
        .note("Pegleg and Deckhand fail on the file; nothing of this YAML document is read here")
        .help("correct it, or put it in quotes if it is meant as text")
}
