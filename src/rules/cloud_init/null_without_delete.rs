//! `null-without-delete`: a null that does not delete its key.

use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
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
    let (message, label) = match remains {
        Remains::Old if merged.is_lower() || merged.asks(Class::Dict, &["no_replace"]) => {
            return None;
        }
        Remains::Old => (
            merged.value_at(notice, "null") + " deletes nothing",
            "the old value is kept",
        ),
        Remains::Null => (
            merged.place_or(notice, "a value") + " becomes null and is not deleted",
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
    let finding = merged.finding(&RULE, notice, message, [label, "the old value"]);
    Some(finding.help(help))
}
