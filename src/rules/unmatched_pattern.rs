//! `unmatched-pattern`: destination pattern that matches nothing.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "unmatched-pattern",
    Error,
    "destination pattern that matches nothing"
);

pub(super) fn report(facts: &SiteFacts<'_>, problem: &Problem, target: Span) -> Diagnostic {
    let name = facts.name(problem.doc);
    let path = facts.destination_path(problem.doc, problem.at);
    let message = format!("the pattern for `{path}` of `{name}` matches nothing");
    RULE.finding(message, problem.at, "no match at the destination")
        .related(facts.first_line(target), "searched here")
        .note("Deckhand silently substitutes nothing")
        .help("correct the pattern (a Python regular expression) to match the placeholder")
        .about(path)
}
