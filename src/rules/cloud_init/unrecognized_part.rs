//! `unrecognized-part`: a part that cloud-init does not know what to do with.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::system::cloud_init::part::Carrier;

super::super::rule!(
    "unrecognized-part",
    Error,
    "a part that cloud-init does not know what to do with"
);

/// A text whose first line says nothing.
pub(super) fn word_text(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    if has_byte_order_mark(facts, at) {
        let label = Label::new(facts.first_line(at), "a byte order mark stands before it");
        return Diagnostic::new(&RULE, "a part begins with a byte order mark", label)
            .note(
                "the mark is part of the first line to cloud-init, which then says nothing; \
                 cloud-init passes over the part and all it holds",
            )
            .help("save the file as UTF-8 without a byte order mark (U+FEFF)");
    }
    let label = Label::new(facts.first_line(at), "says nothing to cloud-init");
    Diagnostic::new(&RULE, "a part does not say what it is", label)
        .note(
            "cloud-init goes by the first line: by `#cloud-config`, written so, without a blank; \
             it passes over the part and all it holds",
        )
        .help("write `#cloud-config` as its first line, or take the file out of its set")
}

/// Whether a first line that would say what the part is has a byte order mark before it.
fn has_byte_order_mark(facts: &UserDataFacts<'_>, at: Span) -> bool {
    let source = facts.sources.get(at.file);
    let text = source.text().get(at.range().start..).unwrap_or_default();
    text.strip_prefix('\u{feff}').is_some_and(|rest| rest.starts_with('#'))
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
