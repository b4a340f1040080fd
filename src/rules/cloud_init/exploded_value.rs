//! `exploded-value`: a text or a mapping that a list takes in piece by piece.

use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Notice, TakenApart};

super::super::rule!(
    "exploded-value",
    Warning,
    "a text or mapping of a cloud-init part that is merged into a list piece by piece"
);

pub(super) fn word(
    laid: &MergedDocument<'_>,
    notice: &Notice,
    taken_apart: TakenApart,
) -> Diagnostic {
    let (kind, pieces) = match taken_apart {
        TakenApart::Characters => ("text", "each of its characters becomes an item"),
        TakenApart::Keys => {
            ("mapping", "each of its keys becomes an item, and the values are lost")
        }
    };
    let shown = laid.shown(&notice.place);
    let what = match &shown {
        Some(place) => format!("the {kind} at `{place}`"),
        None => format!("a {kind}"),
    };
    let at = laid.at(&notice.place, notice.at);
    Diagnostic::new(
        &RULE,
        format!("{what} is put to a list: {pieces}"),
        Label::new(at, format!("a {kind}")),
    )
    .related(laid.facts.first_line(notice.old), "the list")
    .help("write it as a list")
    .about(shown.unwrap_or_default())
}
