//! `null-without-delete`: a null that does not delete its key.

use super::merged_document::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Class, Notice, Remains};

super::super::rule!(
    "null-without-delete",
    Warning,
    "null in a cloud-init part that does not delete its key"
);

/// Returns `None` if keeping the old value is intended.
pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    remains: Remains,
) -> Option<Diagnostic> {
    let is_meant = match remains {
        Remains::Old => merged.is_lower() || merged.asks(Class::Dict, &["no_replace"]),
        Remains::Null => false,
    };
    if is_meant {
        return None;
    }
    let shown = merged.shown(&notice.place);
    let (message, label) = match (remains, &shown) {
        (Remains::Old, Some(place)) => (
            format!("the null at `{place}` deletes nothing"),
            "the old value is kept",
        ),
        (Remains::Old, None) => ("a null deletes nothing".to_owned(), "the old value is kept"),
        (Remains::Null, Some(place)) => (
            format!("`{place}` becomes null and is not deleted"),
            "replaces the value",
        ),
        (Remains::Null, None) => (
            "a value becomes null and is not deleted".to_owned(),
            "replaces the value",
        ),
    };
    let help = match (remains, merged.asked.is_some()) {
        (Remains::Null, true) | (Remains::Old, _) => {
            "add `allow_delete` to `dict` to delete the key"
        }
        (Remains::Null, false) => {
            "add `merge_how: dict(replace,allow_delete)+list()+str()` to delete the key"
        }
    };
    let at = merged.at(&notice.place, notice.at);
    let finding = Diagnostic::new(&RULE, message, Label::new(at, label))
        .related(merged.facts.first_line(notice.old), "the old value")
        .help(help);
    Some(finding.about(shown.unwrap_or_default()))
}
