//! `invalid-path`: path that cannot be parsed.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::yaml::path::{PathError, PathErrorKind};

super::rule!("invalid-path", Error [Refused], "path that cannot be parsed", was "P005");

pub(super) fn report(at: Span, title: &str, field: &str, error: &PathError) -> Diagnostic {
    let message = format!("`{field}` of `{title}` is not a valid path: {error}");
    // Deckhand parses the path only where it reads it.
    let note = if field.ends_with("src.path") {
        "the substitution is skipped; Deckhand refuses the whole site if the data of the source is a \
         mapping, and uses all of it otherwise"
    } else {
        "the action or substitution is skipped; Deckhand refuses the whole site"
    };
    RULE.finding(message, at, error.to_string())
        .note(note)
        .help(help(&error.kind))
}

fn help(kind: &PathErrorKind) -> &'static str {
    match kind {
        PathErrorKind::UnexpectedCharacter(_) | PathErrorKind::UnexpectedToken(_) => {
            "quote a key that has characters other than letters, digits, `_` and `-`: \
             `.values.'a/b'.c`"
        }
        PathErrorKind::UnexpectedEnd => {
            "add a key, or remove the trailing characters; the root is `.`"
        }
        PathErrorKind::UnclosedQuote(_) => "close the quote",
        PathErrorKind::UnknownOperator(_) => "only `this` and `parent` are allowed in backquotes",
        PathErrorKind::TooLong | PathErrorKind::TooDeep => "use a shorter path",
    }
}
