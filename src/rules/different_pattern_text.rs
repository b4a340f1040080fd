//! `different-pattern-text`: a non-string value inserted by a pattern in Python's notation.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::render::{PatternTexts, Problem};
use crate::source::Span;

super::rule!(
    "different-pattern-text",
    Warning,
    "non-string value inserted by a pattern in Python's notation"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    value: Span,
    texts: Option<&PatternTexts>,
) -> Diagnostic {
    let destination = facts.destination(problem);
    // For a secret, report only that it is not a string.
    let found = texts.map_or("a value that is not a string", |texts| texts.found);
    let message = format!("a pattern inserts {found} into the string {destination}");
    RULE.finding(message, problem.at, label(texts))
        .related(
            facts.first_line(value),
            format!("the value is {}", kind(texts)),
        )
        .note(facts.rendered_meaning())
        .help(help(texts))
}

fn label(texts: Option<&PatternTexts>) -> String {
    match texts.map(|texts| (&*texts.deckhand, &texts.documented)) {
        // Only these values reveal nothing confidential.
        Some((deckhand @ ("True" | "False" | "None"), documented)) => {
            format!("Deckhand inserts `{deckhand}`, not `{documented}`")
        }
        _ => "Deckhand inserts the value in Python's notation".into(),
    }
}

fn kind(texts: Option<&PatternTexts>) -> &'static str {
    texts.map_or("not a string", |texts| texts.found)
}

fn help(texts: Option<&PatternTexts>) -> &'static str {
    match texts.map(|texts| texts.found) {
        Some("a mapping" | "a list" | "a set" | "a list of pairs") => {
            "substitute the whole value, without `dest.pattern`, or point `src.path` at a string"
        }
        Some(_) => "quote the value in the source document to make it a string",
        None => "point `src.path` at a string, or quote the value",
    }
}
