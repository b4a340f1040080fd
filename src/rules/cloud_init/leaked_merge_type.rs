//! `leaked-merge-type`: `merge_type` beside `merge_how` stays in the data.

use super::{SetFacts, mergeable};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::Dialect;
use crate::system::cloud_init::part::Part;

super::super::rule!(
    "leaked-merge-type",
    Warning,
    "`merge_type` beside `merge_how` is not heeded, and stays in the data"
);

pub(super) fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {
            found.extend(facts.set.sources.iter().flat_map(mergeable).filter_map(word));
        }
        // Nothing is taken out there.
        Dialect::Documented => {}
    }
}

fn word(part: &Part) -> Option<Diagnostic> {
    let mapping = part.data.as_mapping()?;
    let (leaked, _) = mapping.get_entry("merge_type")?;
    let (heeded, _) = mapping.get_entry("merge_how").filter(|(_, how)| !how.is_null())?;
    let label = Label::new(leaked.span, "not heeded, and not taken out");
    Some(
        Diagnostic::new(
            &RULE,
            "`merge_type` stands beside `merge_how`, and stays in the data",
            label,
        )
        .related(heeded.span, "this one says how the part is merged")
        .note(
            "it is in the merged configuration then, and cloud-init heeds it there: it says how \
                 all user-data is combined with vendor-data and with the system's configuration",
        )
        .help("take `merge_type` out"),
    )
}
