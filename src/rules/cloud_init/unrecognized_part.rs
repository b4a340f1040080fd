//! `unrecognized-part`: a part that cloud-init does not know what to do with.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::system::cloud_init::part::{Carrier, PartResemblance};

super::super::rule!(
    "unrecognized-part",
    Error,
    "a part that cloud-init does not know what to do with"
);

/// A text whose first line says nothing, by what it looks like.
pub(super) fn word_text(
    facts: &UserDataFacts<'_>,
    at: Span,
    likeness: &PartResemblance,
) -> Diagnostic {
    let UnrecognizedPartMessage { message, label, note, help } = match likeness {
        PartResemblance::Nothing => UnrecognizedPartMessage {
            message: "a part does not say what it is",
            label: "says nothing to cloud-init",
            note: "cloud-init goes by the first line: by `#cloud-config`, written so, without a \
                   blank; it passes over the part and all it holds",
            help: "write `#cloud-config` as its first line, or take the file out of its set"
                .to_owned(),
        },
        PartResemblance::ByteOrderMark => UnrecognizedPartMessage {
            message: "a part begins with a byte order mark",
            label: "a byte order mark stands before it",
            note: "the mark is part of the first line to cloud-init, which then says nothing; \
                   cloud-init passes over the part and all it holds",
            help: "save the file as UTF-8 without a byte order mark (U+FEFF)".to_owned(),
        },
        PartResemblance::Headers { in_message: false } => without_version(
            "write `MIME-Version: 1.0` as its first line, directly above the other headers"
                .to_owned(),
        ),
        PartResemblance::Headers { in_message: true } => UnrecognizedPartMessage {
            message: "headers of a MIME message behind a blank line",
            label: "read as text, not as a header",
            note: "headers end at the first blank line; cloud-init passes over the part and all \
                   it holds",
            help: "remove the blank line above these headers".to_owned(),
        },
        PartResemblance::Boundary { name, in_message: false } => without_version(format!(
            "write `MIME-Version: 1.0`, `{}` and a blank line above it",
            content_type(facts, at, name)
        )),
        PartResemblance::Boundary { name, in_message: true } => UnrecognizedPartMessage {
            message: "a MIME message with a boundary that no header names",
            label: "read as text, not as a boundary",
            note: "a message is split into parts only if its header `Content-Type` says so; \
                   cloud-init passes over all it holds",
            help: format!(
                "write `{}` among the headers of the message",
                content_type(facts, at, name)
            ),
        },
        PartResemblance::Base64 => UnrecognizedPartMessage {
            message: "a part is base64, which cloud-init does not decode here",
            label: "base64 of user-data",
            note: "cloud-init decodes base64 only in a part of a MIME message that says \
                   `Content-Transfer-Encoding: base64`, and some platforms decode it before; \
                   cloud-init passes over the part and all it holds",
            help: "store it decoded, as `base64 --decode` writes it; in a message, add the header \
                   `Content-Transfer-Encoding: base64` to the part"
                .to_owned(),
        },
    };
    Diagnostic::new(&RULE, message, Label::new(facts.first_line(at), label)).note(note).help(help)
}

struct UnrecognizedPartMessage {
    message: &'static str,
    label: &'static str,
    note: &'static str,
    help: String,
}

fn without_version(help: String) -> UnrecognizedPartMessage {
    UnrecognizedPartMessage {
        message: "a MIME message without the header `MIME-Version`",
        label: "not recognized as a message",
        note: "cloud-init looks for `MIME-Version:` in the first 4096 bytes; without it the text \
               is one part that does not say what it is, and cloud-init passes over all it holds",
        help,
    }
}

/// The header that names a boundary.
fn content_type(facts: &UserDataFacts<'_>, at: Span, boundary: &str) -> String {
    let boundary = facts.shown(at, boundary);
    format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"")
}

/// A content type that there is not.
pub(super) fn word_type(facts: &UserDataFacts<'_>, at: Span, name: &str) -> Diagnostic {
    let name = facts.shown(at, name);
    let message = format!("cloud-init does nothing with the content type `{name}`");
    Diagnostic::new(&RULE, message, Label::new(facts.first_line(at), "a part of this type"))
        .note("cloud-init passes over the part and all it holds")
        .help("give it the type `text/cloud-config`, or take it out")
        .about(name)
}

/// Something in an archive that would have to be looked into.
pub(super) fn word_nested(facts: &UserDataFacts<'_>, at: Span, carrier: Carrier) -> Diagnostic {
    let what = match carrier {
        Carrier::Archive => "an archive",
        Carrier::Include => "an `#include`",
        Carrier::Multipart => "a multipart message",
        Carrier::Gzip => "a compressed part",
        Carrier::JsonPatch => "a JSON patch",
    };
    let message = format!("{what} where cloud-init looks into nothing any more");
    Diagnostic::new(&RULE, message, Label::new(facts.first_line(at), "not looked into"))
        .note("what came out of an archive, or was compressed, is taken as it is")
        .help("put its parts one level higher")
}

/// An entry of an archive that is none.
pub(super) fn word_entry(facts: &UserDataFacts<'_>, at: Span, found: &str) -> Diagnostic {
    let message = format!("an entry of a `#cloud-config-archive` is {found}");
    let label = Label::new(facts.first_line(at), "neither a text nor a mapping");
    Diagnostic::new(&RULE, message, label)
        .note("cloud-init passes over the entry")
        .help("write a mapping with `type` and `content`")
}
