//! `ignored-merge-header`: merge header that cloud-init ignores.

use super::UserDataFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::system::cloud_init::part::Carrier;

super::super::rule!(
    "ignored-merge-header",
    Warning,
    "merge header that cloud-init ignores"
);

/// Finding for a header name in the wrong case.
pub(super) fn report_case(facts: &UserDataFacts<'_>, at: Span, expected: &str) -> Diagnostic {
    let written = facts.shown(at, facts.sources.slice(at));
    let message = format!("header `{written}` differs in case from the one that cloud-init reads");
    RULE.finding(message, at, "ignored in this spelling")
        .note("cloud-init compares this header case-sensitively, unlike other MIME parsers")
        .help(format!("write `{expected}`"))
        .about(written)
}

/// Finding for a header on something that is not merged.
pub(super) fn report_carrier(facts: &UserDataFacts<'_>, at: Span, carrier: Carrier) -> Diagnostic {
    let (on, why, help) = match carrier {
        Carrier::Multipart => (
            "a multipart container",
            "a container is not merged, and its headers do not apply to its parts",
            "add it to each part",
        ),
        Carrier::Gzip => (
            "a compressed part",
            "decompression keeps only the file name and the `Launch-Index` header",
            "set `merge_how` in the part, or send it in base64 instead",
        ),
        Carrier::Include => (
            "an `#include`",
            "the header does not apply to the included content",
            "set `merge_how` in the included file",
        ),
        Carrier::Archive => (
            "an archive",
            "the header does not apply to the entries of the archive",
            "add it to each entry, as a key",
        ),
        Carrier::JsonPatch => (
            "a JSON patch",
            "a patch is applied, not merged",
            "remove it",
        ),
    };
    let written = facts.shown(at, facts.sources.slice(at));
    let message = format!("header `{written}` on {on} has no effect");
    RULE.finding(message, at, "ignored")
        .note(why)
        .help(help)
        .about(written)
}
