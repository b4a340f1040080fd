//! `backslash-in-pattern-value`: Deckhand treats backslashes in a value inserted by a pattern as
//! escapes.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "backslash-in-pattern-value",
    Warning,
    "Deckhand treats backslashes in a value inserted by a pattern as escapes"
);

/// A value that Deckhand refuses is reported by `invalid-substitution`.
pub(super) fn report(facts: &SiteFacts<'_>, problem: &Problem, value: Span) -> Diagnostic {
    let destination = facts.destination(problem);
    let message =
        format!("the value that a pattern inserts into {destination} contains a backslash");
    RULE.finding(
        message,
        problem.at,
        "Deckhand inserts a different string here",
    )
    .related(facts.first_line(value), "the value")
    .note(
        "Deckhand uses the value as a template for Python's `re.sub`, in which a backslash \
             starts an escape, so the value changes",
    )
    .note(facts.rendered_meaning())
    .help("substitute the whole value, without `dest.pattern`, or use a value without backslashes")
}
