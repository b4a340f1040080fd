//! `different-recursion`: a recursive pattern that Deckhand does not apply as documented.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "different-recursion",
    Warning,
    "a recursive pattern that Deckhand does not apply as documented"
);

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem, text: Span) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message =
        format!("Deckhand passes over strings in `{path}` of `{name}` that a pattern matches");
    let label = Label::new(problem.at, "matches strings that do not contain its own text");
    Diagnostic::new(&RULE, message, label)
        .related(facts.first_line(text), "matches, and Deckhand leaves it alone")
        .note(
            "with `recurse`, Deckhand changes only strings that contain the pattern letter by \
             letter, as if it were no regular expression",
        )
        .note(facts.rendered_meaning())
        .help(
            "write the text itself as the pattern, or name each string by a destination of its own",
        )
}
