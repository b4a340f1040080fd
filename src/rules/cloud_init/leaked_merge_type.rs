//! `leaked-merge-type`: `merge_type` beside `merge_how` stays in the data.

use super::{SetFacts, mergeable};
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::Dialect;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "leaked-merge-type",
    Warning,
    "`merge_type` beside `merge_how` is ignored and stays in the data";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {
            let parts = facts.set.sources.iter().flat_map(|source| {
                mergeable(source).filter_map(|part| report(part, source.kind.is_user_data()))
            });
            found.extend(parts);
        }
        // This dialect removes neither key.
        Dialect::Documented => {}
    }
}

fn report(part: &CloudPart, is_user_data: bool) -> Option<Diagnostic> {
    let (leaked, effective) = part.leaked_merge_type()?;
    let (message, label, note) = if is_user_data {
        (
            "`merge_type` beside `merge_how` is ignored and stays in the data",
            "ignored and not removed",
            "in the merged configuration, cloud-init uses it to combine all user-data with \
             vendor-data and with the system's configuration",
        )
    } else {
        (
            "`merge_type` beside `merge_how` is ignored",
            "ignored when the file is merged",
            "cloud-init removes it later, when it merges the system's configuration into nothing: \
             it has no effect then, except that without a class `dict` the whole configuration is \
             lost",
        )
    };
    Some(
        RULE.finding(message, leaked.span, label)
            .related(effective.span, "this specification is used")
            .note(note)
            .help("remove `merge_type`"),
    )
}
