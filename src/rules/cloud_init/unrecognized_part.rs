//! `unrecognized-part`: a part that cloud-init does not recognize.

use super::UserDataFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::system::cloud_init::part::{Carrier, PartResemblance};

super::super::rule!(
    "unrecognized-part",
    Error,
    "part that cloud-init does not recognize"
);

/// Finding for a text without a recognized first line, by what it resembles.
pub(super) fn report_text(
    facts: &UserDataFacts<'_>,
    at: Span,
    likeness: &PartResemblance,
) -> Diagnostic {
    let UnrecognizedPartMessage {
        message,
        label,
        note,
        help,
    } = match likeness {
        PartResemblance::Nothing => UnrecognizedPartMessage {
            message: "a part without a type",
            label: "not a first line that cloud-init knows",
            note: "cloud-init identifies a part by its first line, which must be exactly \
                   `#cloud-config`; it ignores this whole part",
            help: "write `#cloud-config` as its first line, or remove the file from its set"
                .to_owned(),
        },
        PartResemblance::ByteOrderMark => UnrecognizedPartMessage {
            message: "a part begins with a byte order mark",
            label: "starts with a byte order mark",
            note: "the mark becomes part of the first line, which cloud-init then does not \
                   recognize; it ignores this whole part",
            help: "save the file as UTF-8 without a byte order mark (U+FEFF)".to_owned(),
        },
        PartResemblance::Headers { in_message: false } => without_version(
            "write `MIME-Version: 1.0` as its first line, directly above the other headers"
                .to_owned(),
        ),
        PartResemblance::Headers { in_message: true } => UnrecognizedPartMessage {
            message: "headers of a MIME message after a blank line",
            label: "read as text, not as a header",
            note: "headers end at the first blank line; cloud-init ignores this whole part",
            help: "remove the blank line above these headers".to_owned(),
        },
        PartResemblance::Boundary {
            name,
            in_message: false,
        } => without_version(format!(
            "write `MIME-Version: 1.0`, `{}` and a blank line above it",
            content_type(facts, at, name)
        )),
        PartResemblance::Boundary {
            name,
            in_message: true,
        } => UnrecognizedPartMessage {
            message: "MIME message with a boundary that no header declares",
            label: "read as text, not as a boundary",
            note: "a message is split into parts only if its `Content-Type` header declares it; \
                   cloud-init ignores its whole content",
            help: format!(
                "add `{}` to the headers of the message",
                content_type(facts, at, name)
            ),
        },
        PartResemblance::Base64 => UnrecognizedPartMessage {
            message: "a part is base64 that cloud-init does not decode here",
            label: "base64 of user-data",
            note: "cloud-init decodes base64 only in a part of a MIME message with the header \
                   `Content-Transfer-Encoding: base64`; some platforms decode it earlier; \
                   cloud-init ignores this whole part",
            help: "store it decoded, as `base64 --decode` writes it; in a message, add the header \
                   `Content-Transfer-Encoding: base64` to the part"
                .to_owned(),
        },
    };
    RULE.finding(message, facts.first_line(at), label)
        .note(note)
        .help(help)
}

struct UnrecognizedPartMessage {
    message: &'static str,
    label: &'static str,
    note: &'static str,
    help: String,
}

fn without_version(help: String) -> UnrecognizedPartMessage {
    UnrecognizedPartMessage {
        message: "MIME message without the header `MIME-Version`",
        label: "not recognized as a message",
        note: "cloud-init looks for `MIME-Version:` in the first 4096 bytes; without it the text \
               is one part without a type, which cloud-init ignores",
        help,
    }
}

/// Header that declares a boundary.
fn content_type(facts: &UserDataFacts<'_>, at: Span, boundary: &str) -> String {
    let boundary = facts.shown(at, boundary);
    format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"")
}

/// Finding for an unknown content type.
pub(super) fn report_type(facts: &UserDataFacts<'_>, at: Span, name: &str) -> Diagnostic {
    let name = facts.shown(at, name);
    let message = format!("unknown content type `{name}`");
    RULE.finding(message, facts.first_line(at), "the part with this type")
        .note("cloud-init ignores the whole part")
        .help("use the type `text/cloud-config`, or remove the part")
        .about(name)
}

/// Finding for a container inside an archive or a compressed part.
pub(super) fn report_nested(facts: &UserDataFacts<'_>, at: Span, carrier: Carrier) -> Diagnostic {
    let what = match carrier {
        Carrier::Archive => "an archive",
        Carrier::Include => "an `#include`",
        Carrier::Multipart => "a multipart message",
        Carrier::Gzip => "a compressed part",
        Carrier::JsonPatch => "a JSON patch",
    };
    let message = format!("{what} nested where cloud-init does not unpack it");
    RULE.finding(message, facts.first_line(at), "not unpacked")
        .note("cloud-init does not unpack the content of archives and compressed parts further")
        .help("move its parts one level up")
}

/// Finding for an invalid entry of an archive.
pub(super) fn report_entry(facts: &UserDataFacts<'_>, at: Span, found: &str) -> Diagnostic {
    let message = format!("an entry of a `#cloud-config-archive` is {found}");
    RULE.finding(
        message,
        facts.first_line(at),
        "neither a string nor a mapping",
    )
    .note("cloud-init ignores the entry")
    .help("write a mapping with `type` and `content`")
}
