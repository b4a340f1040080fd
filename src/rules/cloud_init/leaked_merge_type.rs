//! `leaked-merge-type`: `merge_type` beside `merge_how` stays in the data.

use super::{SetFacts, mergeable};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::Dialect;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "leaked-merge-type",
    Warning,
    "`merge_type` beside `merge_how` is not heeded, and stays in the data";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {
            let parts = facts.set.sources.iter().flat_map(|source| {
                mergeable(source).filter_map(|part| word(part, source.kind.is_user_data()))
            });
            found.extend(parts);
        }
        // Nothing is taken out there.
        Dialect::Documented => {}
    }
}

fn word(part: &CloudPart, is_user_data: bool) -> Option<Diagnostic> {
    let (leaked, effective) = part.leaked_merge_type()?;
    let (message, label, note) = if is_user_data {
        (
            "`merge_type` stands beside `merge_how`, and stays in the data",
            "not heeded, and not taken out",
            "it is in the merged configuration then, and cloud-init heeds it there: it says how \
             all user-data is combined with vendor-data and with the system's configuration",
        )
    } else {
        (
            "`merge_type` stands beside `merge_how`, and does not say how the file is merged",
            "not read with the file",
            "cloud-init takes it out in a later step, in which the system's configuration is laid \
             over nothing: it has no effect there, but without a class `dict` all of the \
             configuration is lost",
        )
    };
    Some(
        Diagnostic::new(&RULE, message, Label::new(leaked.span, label))
            .related(effective.span, "this one says how the part is merged")
            .note(note)
            .help("take `merge_type` out"),
    )
}
