//! `unmatched-source-pattern`: a source pattern that does not match, so that the whole value is used.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "unmatched-source-pattern",
    Warning,
    "a source pattern that does not match, so that the whole value is used"
);

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem, value: Span) -> Diagnostic {
    let message = format!("`src.pattern` of `{}` matches nothing", facts.name(problem.doc));
    Diagnostic::new(&RULE, message, Label::new(problem.at, "not found in the source value"))
        .related(facts.first_line(value), "the source value")
        .note("the whole value is substituted instead of a part of it, as Deckhand does in silence")
        .help("let the pattern, a Python regular expression, match the part that is wanted")
}
