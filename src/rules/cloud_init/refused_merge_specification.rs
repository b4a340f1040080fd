//! `refused-merge-specification`: a merge specification that cloud-init honours, and that its own
//! schema refuses.

use super::{SetFacts, SpecifiedPart};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Dialect, Settings};
use crate::system::cloud_init::schema::violations;
use crate::yaml::path::Piece;

super::super::rule!(
    "refused-merge-specification",
    Note,
    "a merge specification that cloud-init heeds, and its own schema refuses";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // The schema is of today.
        Dialect::Documented => return,
    }
    let clean = facts.specified().filter(|it| !is_reported_otherwise(it));
    found.extend(clean.filter_map(|it| word(&it)));
}

/// Whether other rules say already what is wrong with it.
fn is_reported_otherwise(specified: &SpecifiedPart<'_>) -> bool {
    specified.specification.requests.iter().any(|request| {
        let is_text = match &request.settings {
            Settings::Text(_) => true,
            Settings::Words { others, .. } => !others.is_empty(),
        };
        is_text || !request.unknown_options(Dialect::Current).is_empty()
    })
}

fn word(specified: &SpecifiedPart<'_>) -> Option<Diagnostic> {
    let data = &specified.part.data;
    let violation = violations(data).into_iter().next()?;
    let key = match violation.location.0.first() {
        Some(Piece::Key(key)) => key.as_str().unwrap_or_default().to_owned(),
        Some(Piece::Index(_)) | None => return None,
    };
    let label = Label::new(violation.span(data), "not so in cloud-init's schema");
    Some(
        Diagnostic::new(
            &RULE,
            format!("`{key}` has a form that cloud-init's schema refuses"),
            label,
        )
        .note("cloud-init heeds it all the same, and warns of it at boot")
        .help(
            "write a text, such as `dict(recurse_list)+list(append)`, or a list whose items \
                 have `name` (`dict`, `list` or `str`) and `settings` (a list) and nothing else",
        )
        .about(key),
    )
}
