//! `different-index-merge`: a merge at a list index, which Deckhand does not do as documented.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;

super::rule!(
    "different-index-merge",
    Warning,
    "a merge at a list index, which Deckhand does not do as documented"
);

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let message = format!("`{}` merges at an index of a list", facts.name(problem.doc));
    let label = Label::new(problem.at, "ends in an index");
    Diagnostic::new(&RULE, message, label)
        .note(
            "Deckhand's documentation promises the parent's list extended by the child's elements; \
             Deckhand merges the two elements at this index",
        )
        .note(facts.rendered_meaning())
        .help("use `replace` at the list itself and write the whole list")
}
