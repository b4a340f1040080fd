//! `different-list-write`: Deckhand takes a list apart when it is written at an index.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::deckhand::Method;
use crate::render::Problem;

super::rule!(
    "different-list-write",
    Warning,
    "Deckhand takes a list apart when it is written at an index"
);

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem, method: Option<Method>) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = match method {
        Some(method) => {
            format!("a `{}` of `{name}` writes a list to an index of a list", method.as_str())
        }
        None => {
            let path = facts.destination_path(problem.doc, problem.at);
            format!("a substitution writes a list to `{path}` of `{name}`, an element of a list")
        }
    };
    let label = Label::new(problem.at, "Deckhand writes single elements of the list here");
    Diagnostic::new(&RULE, message, label)
        .note(
            "Deckhand takes the next element from the front of the list for every index that it \
             writes to",
        )
        .note(facts.rendered_meaning())
        .help("write the whole outer list, at its own path")
}
