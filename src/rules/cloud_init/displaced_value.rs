//! `displaced-value`: a mapping replaces a string or a list of higher priority.

use super::merged_document::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
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
    let kind = match class {
        Class::Dict => "mapping",
        Class::List => "list",
        Class::Str => "string",
    };
    let shown = merged.shown(&notice.place);
    let what = match &shown {
        Some(place) => format!("the mapping at `{place}`"),
        None => "a mapping".to_owned(),
    };
    let at = merged.at(&notice.place, notice.at);
    let finding = Diagnostic::new(
        &RULE,
        format!("{what} replaces a {kind} of higher priority"),
        Label::new(at, "has lower priority, but is kept"),
    );
    Some(
        finding
            .related(
                merged.facts.first_line(notice.old),
                "has higher priority, but is lost",
            )
            .note(
                "when configurations are combined, values of higher priority are kept, except that \
                 a mapping always replaces a string or a list",
            )
            .help("give both the same type, or remove one of them")
            .about(shown.unwrap_or_default()),
    )
}
