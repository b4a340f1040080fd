//! `different-delete`: Deckhand deletes another place than the one at the path.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::deckhand::Difference;
use crate::render::Problem;
use crate::yaml::path::Location;

super::rule!(
    "different-delete",
    Warning,
    "Deckhand deletes another place than the one at the path"
);

pub(super) fn word(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    difference: &Difference,
) -> Diagnostic {
    match difference {
        Difference::Delete { at_path, first_equal } => {
            word_other(facts, problem, at_path, first_equal)
        }
        Difference::DeleteOne { matches } => word_one(facts, problem, *matches),
        Difference::IndexMerge | Difference::RootMerge | Difference::ListWrite => {
            unreachable!("these are put into words by rules of their own")
        }
    }
}

/// Finding where another place with an equal value comes before the one at the path.
fn word_other(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    at_path: &Location,
    first_equal: &Location,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let base = facts.graph.recipe(problem.doc).base.map(|base| base.doc);
    let data = base.and_then(|base| facts.rendered.data(base));
    // The value may be the document's own, laid over the parent's before.
    let hidden = facts.document(problem.doc).data.secret;
    let place = data.filter(|_| !hidden).and_then(|data| facts.shown_place(data, first_equal));
    let place = place.map_or("another place".to_owned(), |place| format!("`{place}`"));
    let message = format!("a `delete` of `{name}` makes Deckhand remove {place} instead");
    let label = Label::new(problem.at, "does not remove what stands at this path");
    let mut diagnostic = Diagnostic::new(&RULE, message, label)
        .note(
            "Deckhand removes the first value that equals the one at the path, wherever it stands",
        )
        .note(facts.rendered_meaning())
        .help(
            "delete the mapping around it and write what is to stay of it, or make the two values \
             differ",
        );
    // Earlier actions may have changed what the parent has there.
    let found = data.and_then(|data| Some((at_path.get(data)?, first_equal.get(data)?)));
    if let Some((wanted, removed)) = found
        && wanted.value.equals_in_python(&removed.value)
    {
        diagnostic = diagnostic
            .related(facts.first_line(wanted.span), "the path leads to this")
            .related(facts.first_line(removed.span), "Deckhand removes this, which is equal");
    }
    diagnostic
}

/// The path matches several places.
fn word_one(facts: &SiteFacts<'_>, problem: &Problem, matches: usize) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("a `delete` of `{name}` makes Deckhand remove one of {matches} places");
    let label = Label::new(problem.at, format!("matches {matches} places"));
    Diagnostic::new(&RULE, message, label)
        .note("Deckhand removes the first match alone")
        .note(facts.rendered_meaning())
        .help("write a `delete` for each of the places, or for the collection that holds them")
}
