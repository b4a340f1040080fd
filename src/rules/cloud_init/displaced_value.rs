//! `displaced-value`: a mapping replaces a string or a list of higher priority.

use super::lost_value::singular;
use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::{Class, Notice};

super::super::rule!(
    "displaced-value",
    Warning,
    "a mapping replaces a string or list of higher priority";
    Set(super::merged_document::check, super::merged_document::RULES)
);

/// Returns `None` if later values have higher priority.
pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    class: Class,
) -> Option<Diagnostic> {
    if !merged.is_lower() {
        return None;
    }
    let what = merged.value_at(notice, "mapping");
    let message = format!("{what} replaces a {} of higher priority", singular(class));
    let labels = [
        "has lower priority, but is kept",
        "has higher priority, but is lost",
    ];
    Some(
        merged
            .finding(&RULE, notice, message, labels)
            .note(
                "when configurations are combined, values of higher priority are kept, except that \
                 a mapping always replaces a string or a list",
            )
            .help("give both the same type, or remove one of them"),
    )
}
