//! `unmatched-source-pattern`: source pattern that does not match, so the whole value is used.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "unmatched-source-pattern",
    Warning,
    "source pattern that does not match, so the whole value is used"
);

pub(super) fn report(facts: &SiteFacts<'_>, problem: &Problem, value: Span) -> Diagnostic {
    let message = format!(
        "`src.pattern` of `{}` matches nothing",
        facts.name(problem.doc)
    );
    RULE.finding(message, problem.at, "no match in the source value")
        .related(facts.first_line(value), "the source value")
        .note("the whole value is substituted instead, as Deckhand silently does")
        .help("correct the pattern (a Python regular expression) to match the wanted part")
}
