//! `different-pattern-text`: a value that is no string, put in by a pattern as Python writes it.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "different-pattern-text",
    Warning,
    "a value that is no string, put in by a pattern as Python writes it"
);

pub(super) fn word(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    value: Span,
    found: &str,
    documented: &str,
    deckhand: &str,
) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message = format!("a pattern puts {found} into the string `{path}` of `{name}`");
    let label = match deckhand {
        // Of all values these alone are none of anybody's business.
        "True" | "False" | "None" => {
            format!("Deckhand puts in `{deckhand}`, not `{documented}`")
        }
        _ => "Deckhand puts in Python's form of the value".into(),
    };
    let help = match found {
        "a mapping" | "a list" | "a set" | "a list of pairs" => {
            "substitute the whole value, without `dest.pattern`, or let `src.path` lead to a string"
        }
        _ => "put quotes round the value in the source document, so that it is a string",
    };
    Diagnostic::new(&RULE, message, Label::new(problem.at, label))
        .related(facts.first_line(value), format!("the value is {found}"))
        .note(facts.rendered_meaning())
        .help(help)
}
