//! `different-path`: an action's path that Deckhand does not read as documented.

use super::{FileFacts, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::deckhand::Method;
use crate::render::Problem;
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

/// A merge at `$` of anything but two mappings.
pub(super) fn word_merge(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("a `merge` of `{name}` at `$` keeps the parent's data in Deckhand");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "Deckhand writes nothing at this path"))
        .note("Deckhand merges two mappings at `$`; any other data of the child is lost there")
        .note(facts.rendered_meaning())
        .help("write `.` for the root")
}
