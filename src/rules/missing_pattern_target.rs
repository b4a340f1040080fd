//! `missing-pattern-target`: a destination pattern, and no value at its path.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;

super::rule!(
    "missing-pattern-target",
    Error [Refused],
    "a destination pattern, and nothing stands at its path", was "P005"
);

pub(super) fn word(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    path: &str,
    near: Option<&str>,
    outcome: &str,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("`{name}` has nothing at `{path}` for a pattern to change");
    let diagnostic =
        Diagnostic::new(&RULE, message, Label::new(problem.at, "there is nothing at this path"))
            .note(format!(
                "a destination with a pattern changes part of a string that is there: {outcome}"
            ));
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(
            "put a string that contains the pattern there, or leave `pattern` out to write the \
             whole value",
        ),
    }
}

/// The resulting value of the destination.
pub(super) fn outcome(recurses: bool, is_created: bool) -> &'static str {
    match (recurses, is_created) {
        (false, false) => "nothing is written; Deckhand refuses the whole site",
        (false, true) => "`{}` is left there; Deckhand refuses the whole site",
        (true, false) => "nothing is written; Deckhand leaves `{}` there without a warning",
        (true, true) => "`{}` is left there, as Deckhand does without a warning",
    }
}
