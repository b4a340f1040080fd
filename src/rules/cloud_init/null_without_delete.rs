//! `null-without-delete`: a null that deletes nothing.

use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Class, Notice, Remains};

super::super::rule!(
    "null-without-delete",
    Warning,
    "a null in a cloud-init part that takes no key away"
);

/// None where it is meant so.
pub(super) fn word(
    laid: &MergedDocument<'_>,
    notice: &Notice,
    remains: Remains,
) -> Option<Diagnostic> {
    let is_meant = match remains {
        Remains::Old => laid.is_lower() || laid.asks(Class::Dict, &["no_replace"]),
        Remains::Null => false,
    };
    if is_meant {
        return None;
    }
    let shown = laid.shown(&notice.place);
    let (message, label) = match (remains, &shown) {
        (Remains::Old, Some(place)) => {
            (format!("the null at `{place}` deletes nothing"), "the old value stays")
        }
        (Remains::Old, None) => ("a null deletes nothing".to_owned(), "the old value stays"),
        (Remains::Null, Some(place)) => {
            (format!("`{place}` becomes null, and stays"), "takes the value's place")
        }
        (Remains::Null, None) => {
            ("a value becomes null, and its key stays".to_owned(), "takes the value's place")
        }
    };
    let help = match (remains, laid.asked.is_some()) {
        (Remains::Null, true) | (Remains::Old, _) => {
            "add `allow_delete` to `dict`, which takes the key away"
        }
        (Remains::Null, false) => {
            "write `merge_how: dict(replace,allow_delete)+list()+str()`, which takes the key away"
        }
    };
    let at = laid.at(&notice.place, notice.at);
    let finding = Diagnostic::new(&RULE, message, Label::new(at, label))
        .related(laid.facts.first_line(notice.old), "the value that it meets")
        .help(help);
    Some(finding.about(shown.unwrap_or_default()))
}
