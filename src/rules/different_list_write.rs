//! `different-list-write`: Deckhand writes single elements where a list is written at an index.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::merge::deckhand::Method;
use crate::render::Problem;

super::rule!(
    "different-list-write",
    Warning,
    "list written at a list index, where Deckhand writes single elements"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    method: Option<Method>,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = match method {
        Some(method) => {
            format!(
                "a `{}` of `{name}` writes a list to an index of a list",
                method.as_str()
            )
        }
        None => {
            let path = facts.destination_path(problem.doc, problem.at);
            format!("a substitution writes a list to `{path}` of `{name}`, an element of a list")
        }
    };
    RULE.finding(
        message,
        problem.at,
        "Deckhand writes single elements of the list here",
    )
    .note("Deckhand removes the first element of the list for every index that it writes to")
    .note(facts.rendered_meaning())
    .help("write the whole outer list, at its own path")
}
