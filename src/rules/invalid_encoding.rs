//! `invalid-encoding`: a file is not in the encoding it must have.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{Encoding, Span};

super::rule!("invalid-encoding", Error [Refused, Unreadable], "a file is not in the encoding it must have", was "P007");

pub(super) fn word(facts: &FileFacts<'_>, encoding: Encoding, at: u32) -> Diagnostic {
    let (message, label) = match encoding {
        Encoding::Utf8 => ("a file that is not UTF-8", "the next byte is not UTF-8"),
        Encoding::Utf16Be | Encoding::Utf16Le => (
            "a file that is not UTF-16, as its byte order mark says",
            "the next bytes are not UTF-16",
        ),
    };
    Diagnostic::new(&RULE, message, Label::new(Span::point(facts.file, at), label))
        .note("Deckhand refuses the whole site; the YAML document in which this stands is not read, nor what comes after it")
        .help("save the file as UTF-8")
}
