//! `different-pattern-text`: a value that is no string, put in by a pattern as Python writes it.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::render::{PatternTexts, Problem};
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
    texts: Option<&PatternTexts>,
) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    // Of a secret only its missing type is reported.
    let found = texts.map_or("a value that is no string", |texts| texts.found);
    let message = format!("a pattern puts {found} into the string `{path}` of `{name}`");
    Diagnostic::new(&RULE, message, Label::new(problem.at, label(texts)))
        .related(facts.first_line(value), format!("the value is {}", kind(texts)))
        .note(facts.rendered_meaning())
        .help(help(texts))
}

fn label(texts: Option<&PatternTexts>) -> String {
    match texts.map(|texts| (&*texts.deckhand, &texts.documented)) {
        // Of all values these alone are none of anybody's business.
        Some((deckhand @ ("True" | "False" | "None"), documented)) => {
            format!("Deckhand puts in `{deckhand}`, not `{documented}`")
        }
        _ => "Deckhand puts in Python's form of the value".into(),
    }
}

fn kind(texts: Option<&PatternTexts>) -> &'static str {
    texts.map_or("no string", |texts| texts.found)
}

fn help(texts: Option<&PatternTexts>) -> &'static str {
    match texts.map(|texts| texts.found) {
        Some("a mapping" | "a list" | "a set" | "a list of pairs") => {
            "substitute the whole value, without `dest.pattern`, or let `src.path` lead to a string"
        }
        Some(_) => "put quotes round the value in the source document, so that it is a string",
        None => "let `src.path` lead to a string, or put quotes round the value",
    }
}
