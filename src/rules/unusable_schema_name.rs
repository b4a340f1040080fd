//! `unusable-schema-name`: a DataSchema whose name no document's schema can be.

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::Span;
use crate::system::deckhand::read::is_schema_name;

super::rule!(
    "unusable-schema-name",
    Warning,
    "a DataSchema whose name no document's schema can be"
);

pub(super) fn word(at: Span, name: &str) -> Diagnostic {
    let message = format!("DataSchema `{name}` can apply to no document");
    let (severity, label, note, help) = if is_schema_name(name) {
        (
            Severity::Error,
            "only versions `v1` and `v2` are looked at",
            "Deckhand refuses the whole site: its code fails on this version",
            "name it and the documents it is for `v1` or `v2`",
        )
    } else {
        (
            RULE.severity,
            "no document's `schema` can be this",
            "Deckhand uses it for no document: those it is meant for are not validated",
            "name it as a document's `schema`: `namespace/Kind/v1`, letters only in the first two parts",
        )
    };
    let finding = Diagnostic::new(&RULE, message, Label::new(at, label)).note(note).help(help);
    Diagnostic { severity, ..finding }
}
