//! `different-delete`: Deckhand deletes a different value than the one at the path.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::merge::deckhand::DeleteDifference;
use crate::render::Problem;
use crate::yaml::path::Location;

super::rule!(
    "different-delete",
    Warning,
    "Deckhand deletes a different value than the one at the path"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    difference: &DeleteDifference,
) -> Diagnostic {
    match difference {
        DeleteDifference::FirstEqual {
            at_path,
            first_equal,
        } => report_other(facts, problem, at_path, first_equal),
        DeleteDifference::One { matches } => report_one(facts, problem, *matches),
    }
}

/// Finding for an equal value at another place that comes before the one at the path.
fn report_other(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    at_path: &Location,
    first_equal: &Location,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let base = facts.graph.recipe(problem.doc).base.map(|base| base.doc);
    let data = base.and_then(|base| facts.rendered.data(base));
    // The value may come from the document itself, merged over the parent's by an earlier action.
    let hidden = facts.document(problem.doc).data.secret;
    let place = data
        .filter(|_| !hidden)
        .and_then(|data| facts.shown_place(data, first_equal))
        .map_or("another place".to_owned(), |place| format!("`{place}`"));
    let message = format!("a `delete` of `{name}` makes Deckhand remove {place} instead");
    let mut diagnostic = RULE
        .finding(
            message,
            problem.at,
            "does not remove the value at this path",
        )
        .note("Deckhand removes the first value that equals the one at the path, wherever it is")
        .note(facts.rendered_meaning())
        .help(
            "delete the enclosing mapping and write the parts to keep, or make the two values \
             differ",
        );
    // Earlier actions may have changed the parent's value at this place.
    let found = data.and_then(|data| Some((at_path.get(data)?, first_equal.get(data)?)));
    if let Some((wanted, removed)) = found
        && wanted.value.equals_in_python(&removed.value)
    {
        diagnostic = diagnostic
            .related(facts.first_line(wanted.span), "the value at the path")
            .related(
                facts.first_line(removed.span),
                "the equal value that Deckhand removes",
            );
    }
    diagnostic
}

/// Finding for a path that matches several places.
fn report_one(facts: &SiteFacts<'_>, problem: &Problem, matches: usize) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("a `delete` of `{name}` makes Deckhand remove one of {matches} places");
    RULE.finding(message, problem.at, format!("matches {matches} places"))
        .note("Deckhand removes only the first match")
        .note(facts.rendered_meaning())
        .help("write a `delete` for each of the places, or for the enclosing collection")
}
