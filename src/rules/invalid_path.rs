//! `invalid-path`: a path that does not parse.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::yaml::path::{PathError, PathErrorKind};

super::rule!("invalid-path", Error [Refused], "a path that does not parse", was "P005");

pub(super) fn word(at: Span, title: &str, field: &str, error: &PathError) -> Diagnostic {
    let message = format!("`{field}` of `{title}` is no path: {error}");
    Diagnostic::new(&RULE, message, Label::new(at, error.to_string()))
        .note("what it is for is skipped; Deckhand refuses the whole site")
        .help(help(&error.kind))
}

fn help(kind: &PathErrorKind) -> &'static str {
    match kind {
        PathErrorKind::UnexpectedCharacter(_) | PathErrorKind::UnexpectedToken(_) => {
            "a key with other characters than letters, digits, `_` and `-` needs quotes: \
             `.values.'a/b'.c`"
        }
        PathErrorKind::UnexpectedEnd => {
            "go on with a key, or remove what is at the end; the root is `.`"
        }
        PathErrorKind::UnclosedQuote(_) => "close the quote",
        PathErrorKind::UnknownOperator(_) => "only `this` and `parent` may stand in backquotes",
        PathErrorKind::TooLong | PathErrorKind::TooDeep => "use a shorter path",
    }
}
