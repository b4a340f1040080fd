//! `replaced-by-index`: a list merged into one of a different length, item by item.

use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::Notice;

super::super::rule!(
    "replaced-by-index",
    Warning,
    "list of a cloud-init part that replaces items of a list of a different length"
);

pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    old: usize,
    new: usize,
) -> Diagnostic {
    let what = merged.place_or(notice, "a list");
    let outcome = match (notice.secret, old.cmp(&new)) {
        (true, _) | (false, std::cmp::Ordering::Equal) => {
            "the two have different lengths".to_owned()
        }
        (false, std::cmp::Ordering::Less) => format!("{} lost", items(new - old, "new")),
        (false, std::cmp::Ordering::Greater) => stay(old - new),
    };
    let message = format!("{what} is merged item by item: {outcome}");
    let labels = [
        "the new list",
        "the old list, which sets the length of the result",
    ];
    let finding = merged.finding(&RULE, notice, message, labels);
    finding.note("`list` without `append` or `prepend` replaces the items that both lists have")
    .help(
        "write `list(append)` to join the lists, or `dict(replace)` to use the new list as a whole",
    )
}

fn items(count: usize, which: &str) -> String {
    match count {
        1 => format!("the last {which} item is"),
        _ => format!("the last {count} {which} items are"),
    }
}

fn stay(count: usize) -> String {
    match count {
        1 => "the last old item is kept".to_owned(),
        _ => format!("the last {count} old items are kept"),
    }
}
