//! `different-recursion`: recursive pattern that Deckhand applies differently than documented.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "different-recursion",
    Warning,
    "recursive pattern that Deckhand applies differently than documented"
);

pub(super) fn report(facts: &SiteFacts<'_>, problem: &Problem, text: Span) -> Diagnostic {
    let destination = facts.destination(problem);
    let message = format!("Deckhand skips strings in {destination} that a pattern matches");
    RULE.finding(
        message,
        problem.at,
        "matches strings that do not contain the pattern literally",
    )
    .related(
        facts.first_line(text),
        "matches, but Deckhand does not change it",
    )
    .note(
        "with `recurse`, Deckhand changes only strings that contain the pattern literally, as \
             if it were not a regular expression",
    )
    .note(facts.rendered_meaning())
    .help("use the literal string as the pattern, or add a destination for each string")
}
