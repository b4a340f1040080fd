//! `different-index-merge`: merge at a list index, which Deckhand does differently than documented.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::Problem;

super::rule!(
    "different-index-merge",
    Warning,
    "merge at a list index, which Deckhand does differently than documented"
);

pub(super) fn report(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let message = format!("`{}` merges at an index of a list", facts.name(problem.doc));
    RULE.finding(message, problem.at, "ends in an index")
        .note(
            "Deckhand's documentation says that the child's elements are appended to the parent's \
             list; Deckhand merges the two elements at this index",
        )
        .note(facts.rendered_meaning())
        .help("use `replace` at the list itself and write the whole list")
}
