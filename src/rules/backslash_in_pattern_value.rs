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

/// A value that Deckhand refuses is the error of another rule, `invalid-substitution`.
pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem, value: Span) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message =
        format!("the value that a pattern puts into `{path}` of `{name}` contains a backslash");
    let label = Label::new(problem.at, "Deckhand puts another text in here");
    Diagnostic::new(&RULE, message, label)
        .related(facts.first_line(value), "the value")
        .note(
            "Deckhand takes the value for a template of Python's `re.sub`, in which a backslash \
             begins an escape: this one arrives changed",
        )
        .note(facts.rendered_meaning())
        .help("substitute the whole value, without `dest.pattern`, or choose a value without backslashes")
}
