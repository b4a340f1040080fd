//! `displaced-value`: a mapping that takes the place of a text or a list which
//! counts more.

use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Class, Notice};

super::super::rule!(
    "displaced-value",
    Warning,
    "a mapping that takes the place of a text or list of higher priority";
    Set(super::laying::check, super::laying::RULES)
);

/// None where what comes later counts more.
pub(super) fn word(laid: &MergedDocument<'_>, notice: &Notice, class: Class) -> Option<Diagnostic> {
    if !laid.is_lower() {
        return None;
    }
    let kind = match class {
        Class::Dict => "mapping",
        Class::List => "list",
        Class::Str => "text",
    };
    let shown = laid.shown(&notice.place);
    let what = match &shown {
        Some(place) => format!("the mapping at `{place}`"),
        None => "a mapping".to_owned(),
    };
    let at = laid.at(&notice.place, notice.at);
    let finding = Diagnostic::new(
        &RULE,
        format!("{what} takes the place of a {kind} of higher priority"),
        Label::new(at, "counts less, and stays"),
    );
    Some(
        finding
            .related(laid.facts.first_line(notice.old), "counts more, and is lost")
            .note(
                "where configurations are combined, what counts more stays; but a mapping takes \
                 the place of a text or a list all the same",
            )
            .help("give both the same type, or take one of them out")
            .about(shown.unwrap_or_default()),
    )
}
