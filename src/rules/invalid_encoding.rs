//! `invalid-encoding`: file that is not in the expected encoding.

use super::FileFacts;
use crate::diagnostic::Diagnostic;
use crate::source::{Encoding, Span};

super::rule!("invalid-encoding", Error [Refused, Unreadable, Cause], "file that is not in the expected encoding", was "P007");

pub(super) fn report(facts: &FileFacts<'_>, encoding: Encoding, at: u32) -> Diagnostic {
    let (message, label) = match encoding {
        Encoding::Utf8 => ("the file is not valid UTF-8", "invalid byte"),
        Encoding::Utf16Be | Encoding::Utf16Le => (
            "the file has a UTF-16 byte order mark, but is not valid UTF-16",
            "invalid bytes",
        ),
    };
    RULE.finding(message, Span::point(facts.file, at), label)
        .note("Deckhand refuses the whole site; layercake does not read this YAML document or anything after it")
        .help("save the file as UTF-8")
}
