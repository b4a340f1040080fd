//! `unusable-schema-name`: DataSchema name that no document's schema can match.

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;
use crate::system::deckhand::read::is_schema_name;

super::rule!(
    "unusable-schema-name",
    Warning,
    "DataSchema name that no document's schema can match"
);

pub(super) fn report(at: Span, name: &str) -> Diagnostic {
    let message = format!("DataSchema `{name}` can apply to no document");
    let (severity, label, note, help) = if is_schema_name(name) {
        (
            Severity::Error,
            "only versions `v1` and `v2` are supported",
            "Deckhand refuses the whole site: its code fails on this version",
            "use version `v1` or `v2` in its name and in its documents",
        )
    } else {
        (
            RULE.severity,
            "not a valid `schema` of a document",
            "Deckhand never uses it: the intended documents are not validated",
            "use the form of a document's `schema`: `namespace/Kind/v1`, with only letters in the \
            first two parts",
        )
    };
    let finding = RULE.finding(message, at, label).note(note).help(help);
    Diagnostic {
        severity,
        ..finding
    }
}
