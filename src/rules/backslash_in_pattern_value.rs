//! `backslash-in-pattern-value`: Deckhand reads backslashes of a value put in by a pattern as escapes.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "backslash-in-pattern-value",
    Warning,
    "Deckhand reads backslashes of a value put in by a pattern as escapes"
);

pub(super) fn word(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    value: Span,
    refused: bool,
) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message =
        format!("the value that a pattern puts into `{path}` of `{name}` contains a backslash");
    let label = if refused {
        "Deckhand refuses to put the value in here"
    } else {
        "Deckhand puts another text in here"
    };
    let outcome = if refused { "it refuses this one" } else { "this one arrives changed" };
    Diagnostic::new(&RULE, message, Label::new(problem.at, label))
        .related(facts.first_line(value), "the value")
        .note(format!(
            "Deckhand takes the value for a template of Python's `re.sub`, in which a backslash \
             begins an escape: {outcome}"
        ))
        .note(facts.rendered_meaning())
        .help("substitute the whole value, without `dest.pattern`, or choose a value without backslashes")
}
