//! `unmatched-pattern`: a destination pattern that matches nothing.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::Span;

super::rule!("unmatched-pattern", Error, "a destination pattern that matches nothing");

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem, target: Span) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message = format!("the pattern for `{path}` of `{name}` matches nothing");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "not found at the destination"))
        .related(facts.first_line(target), "searched here")
        .note("nothing is substituted, and Deckhand says nothing about it")
        .help("let the pattern, a Python regular expression, match what is to be replaced")
        .about(path)
}
