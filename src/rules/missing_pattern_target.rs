//! `missing-pattern-target`: nothing at the path of a destination pattern.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;

super::rule!(
    "missing-pattern-target",
    Error [Refused],
    "nothing at the path of a destination pattern", was "P005"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    path: &str,
    near: Option<&str>,
    outcome: &str,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("`{name}` has nothing at `{path}` for the pattern to change");
    let diagnostic = RULE
        .finding(message, problem.at, "there is nothing at this path")
        .note(format!(
            "a destination pattern changes part of an existing string: {outcome}"
        ));
    match near {
        Some(near) => diagnostic.did_you_mean(near, None),
        None => diagnostic.help(
            "add a string that contains the pattern, or remove `pattern` to write the whole value",
        ),
    }
}

/// Outcome for the value at the destination.
pub(super) fn outcome(is_accepted: bool, is_created: bool) -> &'static str {
    match (is_accepted, is_created) {
        (false, false) => "nothing is written; Deckhand refuses the whole site",
        (false, true) => "`{}` is left there; Deckhand refuses the whole site",
        (true, false) => "nothing is written; Deckhand leaves `{}` there without a warning",
        (true, true) => "`{}` is left there, as Deckhand does without a warning",
    }
}
