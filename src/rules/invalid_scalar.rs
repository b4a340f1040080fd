//! `invalid-scalar`: scalar that is not valid for its form or tag.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;

super::rule!("invalid-scalar", Error [Refused], "scalar that is not valid for its form or tag", was "P007");

pub(super) fn report(facts: &FileFacts<'_>, at: Span, reason: &str) -> Diagnostic {
    let message = format!("invalid YAML value: {reason}");
    RULE.finding(message, at, reason)
        .note(facts.unread_yaml())
        .help("correct it, or quote it if it is a string")
}

/// Warning for half of a surrogate pair, which only PyYAML's own reader accepts.
pub(super) fn report_surrogate(at: Span) -> Diagnostic {
    let message = "escape sequence for half of a surrogate pair";
    let finding = RULE
        .finding(message, at, "a surrogate")
        .note(
            "cloud-init keeps each half as a character of its own; layercake shows a pair as one \
             character, and a single half as U+FFFD",
        )
        .help("write the character itself, or a single escape: `\\U0001F600`");
    Diagnostic {
        severity: Severity::Warning,
        ..finding
    }
}
