//! `different-path`: an action's path that Deckhand does not read as documented.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::deckhand::Method;
use crate::source::Span;

super::rule!(
    "different-path",
    Warning,
    "an action's path that Deckhand does not read as documented"
);

pub(super) fn word(
    facts: &FileFacts<'_>,
    at: Span,
    method: Method,
    path: &str,
    deckhand: Option<&str>,
) -> Diagnostic {
    let (name, method) = (facts.name_at(at), method.as_str());
    match deckhand {
        Some(other) => {
            let message =
                format!("a `{method}` of `{name}` at `{path}` goes to `{other}` in Deckhand");
            Diagnostic::new(&RULE, message, Label::new(at, format!("Deckhand reads `{other}`")))
                .note("Deckhand cuts `.data` off the front of an action's path, inside a name too")
                .help(format!("write `.data{}`", path.strip_prefix('$').unwrap_or(path)))
        }
        None => {
            let message = format!("a `{method}` of `{name}` at `{path}` does nothing in Deckhand");
            Diagnostic::new(&RULE, message, Label::new(at, "Deckhand finds nothing at this path"))
                .note(format!("Deckhand makes `.{path}` of it, which is the root for `merge` only"))
                .help("write `.` for the root")
        }
    }
}
