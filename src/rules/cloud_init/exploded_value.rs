//! `exploded-value`: a string or a mapping that is merged into a list element by element.

use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::{Notice, SplitInto};

super::super::rule!(
    "exploded-value",
    Warning,
    "string or mapping of a cloud-init part that is merged into a list element by element"
);

pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    taken_apart: SplitInto,
) -> Diagnostic {
    let (kind, pieces) = match taken_apart {
        SplitInto::Characters => ("string", "each of its characters becomes an item"),
        SplitInto::Keys => (
            "mapping",
            "each of its keys becomes an item, and the values are lost",
        ),
    };
    let what = merged.value_at(notice, kind);
    let message = format!("{what} is merged into a list: {pieces}");
    merged
        .finding(&RULE, notice, message, [&format!("a {kind}"), "the list"])
        .help("write it as a list")
}
