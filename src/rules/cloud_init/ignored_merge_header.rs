//! `ignored-merge-header`: a header that says how to merge, where cloud-init ignores it.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::system::cloud_init::part::Carrier;

super::super::rule!(
    "ignored-merge-header",
    Warning,
    "a header that says how to merge, and that cloud-init does not heed"
);

/// Written in another case.
pub(super) fn word_case(facts: &UserDataFacts<'_>, at: Span, expected: &str) -> Diagnostic {
    let written = facts.shown(at, facts.sources.slice(at));
    let message = format!("header `{written}` is not the one that cloud-init asks for");
    Diagnostic::new(&RULE, message, Label::new(at, "counts only in another spelling"))
        .note(
            "here cloud-init tells capitals from small letters, which other readers of MIME do not",
        )
        .help(format!("write `{expected}`"))
        .about(written)
}

/// Finding about a header of something that is not merged.
pub(super) fn word_carrier(facts: &UserDataFacts<'_>, at: Span, carrier: Carrier) -> Diagnostic {
    let (on, why, help) = match carrier {
        Carrier::Multipart => (
            "a multipart container",
            "a container is not merged, and does not hand its headers on to its parts",
            "give it to each of the parts",
        ),
        Carrier::Gzip => (
            "a compressed part",
            "of its headers only the file name and `Launch-Index` outlast decompression",
            "write `merge_how` into the part, or send it in base64 instead",
        ),
        Carrier::Include => (
            "an `#include`",
            "the header does not reach what is included",
            "write `merge_how` into the included text",
        ),
        Carrier::Archive => (
            "an archive",
            "the header does not reach the entries of the archive",
            "give it to each of the entries, as a key",
        ),
        Carrier::JsonPatch => ("a JSON patch", "a patch is applied, not merged", "take it out"),
    };
    let written = facts.shown(at, facts.sources.slice(at));
    let message = format!("header `{written}` on {on} has no effect");
    Diagnostic::new(&RULE, message, Label::new(at, "passed over"))
        .note(why)
        .help(help)
        .about(written)
}
