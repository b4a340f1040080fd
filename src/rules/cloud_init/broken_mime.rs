//! `broken-mime`: malformed MIME message that cloud-init still processes.

use super::UserDataFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::super::rule!("broken-mime", Warning, "malformed MIME message");

pub(super) fn report_end(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    RULE.finding(
        "multipart message without a closing boundary",
        facts.first_line(at),
        "never ends",
    )
    .note("it may be truncated: cloud-init reads everything up to the end as the last part")
    .help("end the message with a line of `--`, the boundary, and `--` again")
}

pub(super) fn report_base64(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    RULE.finding(
        "part declared as base64 that is not valid base64",
        facts.first_line(at),
        "not valid base64",
    )
    .note(
        "Python skips characters that are not base64; if the result is not valid either, it \
             uses the part unchanged",
    )
    .help("encode the part again")
}

pub(super) fn report_uuencode(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    RULE.finding(
        "part declared as uuencode that is not valid uuencode",
        facts.first_line(at),
        "not valid uuencode",
    )
    .note("Python cannot decode it, and uses the part unchanged")
    .help("encode the part again, or send it in base64")
}

pub(super) fn report_mangled(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    RULE.finding(
        "non-ASCII text in a MIME part without an encoding",
        facts.first_line(at),
        "not ASCII",
    )
    .note(
        "Python reads a MIME part without `Content-Transfer-Encoding` as ASCII, regardless of \
             `charset`: it replaces other characters with `\\uXXXX`",
    )
    .help("send the part in base64 or quoted-printable")
}
