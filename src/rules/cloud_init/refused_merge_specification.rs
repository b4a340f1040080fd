//! `refused-merge-specification`: merge specification that cloud-init accepts but its schema
//! rejects.

use super::{SetFacts, SpecifiedPart};
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::{Dialect, Settings};
use crate::system::cloud_init::schema::violations;

super::super::rule!(
    "refused-merge-specification",
    Note,
    "merge specification that cloud-init accepts but its schema rejects";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // The schema is that of current cloud-init versions.
        Dialect::Documented => return,
    }
    let clean = facts.specified().filter(|it| !is_reported_otherwise(it));
    found.extend(clean.filter_map(|it| report(&it)));
}

/// Whether other rules report the specification.
fn is_reported_otherwise(specified: &SpecifiedPart<'_>) -> bool {
    specified.specification.requests.iter().any(|request| {
        let is_text = match &request.settings {
            Settings::Text(_) => true,
            Settings::Words { others, .. } => !others.is_empty(),
        };
        is_text || !request.unknown_options(Dialect::Current).is_empty()
    })
}

fn report(specified: &SpecifiedPart<'_>) -> Option<Diagnostic> {
    let data = &specified.part.data;
    let violation = violations(data).into_iter().next()?;
    let key = violation.location.first_key()?;
    Some(
        RULE.finding(
            format!("`{key}` has a form that cloud-init's schema rejects"),
            violation.span(data),
            "not allowed by cloud-init's schema",
        )
        .note("cloud-init still uses it, and logs a warning at boot")
        .help(
            "write a string, such as `dict(recurse_list)+list(append)`, or a list of items with \
                 only `name` (`dict`, `list` or `str`) and `settings` (a list)",
        )
        .about(key),
    )
}
