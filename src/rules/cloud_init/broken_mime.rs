//! `broken-mime`: a MIME message that is not as it should be, and of which
//! cloud-init makes something all the same.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::super::rule!("broken-mime", Warning, "a MIME message that is not as it should be");

pub(super) fn word_end(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "never ends");
    Diagnostic::new(&RULE, "a multipart message without its last boundary", label)
        .note("it was perhaps cut off: cloud-init takes all up to the end for the last part")
        .help("end the message with a line of `--`, the boundary, and `--` again")
}

pub(super) fn word_base64(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "not base64 throughout");
    Diagnostic::new(&RULE, "a part is sent in base64, and is none", label)
        .note(
            "Python passes over what is not base64, and where that leaves no base64 either, takes \
             the part as it stands",
        )
        .help("encode the part again")
}

pub(super) fn word_uuencode(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "not uuencode");
    Diagnostic::new(&RULE, "a part is sent in uuencode, and is not", label)
        .note("Python cannot decode it, and takes the part as it stands")
        .help("encode the part again, or send it in base64")
}

pub(super) fn word_mangled(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "not ASCII");
    Diagnostic::new(&RULE, "text beyond ASCII in a MIME part that is not encoded", label)
        .note(
            "a MIME part without `Content-Transfer-Encoding` is ASCII to Python, whatever \
             `charset` says: `\\uXXXX` is put in the place of other characters",
        )
        .help("send the part in base64 or quoted-printable")
}
