//! `different-path`: action path that Deckhand reads differently than documented.

use super::{FileFacts, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::merge::deckhand::Method;
use crate::render::Problem;
use crate::source::Span;

super::rule!(
    "different-path",
    Warning,
    "action path that Deckhand reads differently than documented"
);

pub(super) fn report(
    facts: &FileFacts<'_>,
    at: Span,
    method: Method,
    path: &str,
    deckhand: Option<&str>,
) -> Diagnostic {
    let name = facts.name_at(at);
    let method = method.as_str();
    match deckhand {
        Some(other) => {
            let message =
                format!("a `{method}` of `{name}` at `{path}` applies to `{other}` in Deckhand");
            RULE.finding(message, at, format!("Deckhand reads `{other}`"))
                .note("Deckhand strips a leading `.data` from an action's path, even within a name")
                .help(format!(
                    "write `.data{}`",
                    path.strip_prefix('$').unwrap_or(path)
                ))
        }
        None => {
            let message = format!("a `{method}` of `{name}` at `{path}` does nothing in Deckhand");
            RULE.finding(message, at, "Deckhand finds nothing at this path")
                .note(format!(
                    "Deckhand turns it into `.{path}`, which is the root for `merge` only"
                ))
                .help("write `.` for the root")
        }
    }
}

/// Finding for a merge at `$` unless both values are mappings.
pub(super) fn report_merge(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("a `merge` of `{name}` at `$` keeps the parent's data in Deckhand");
    RULE.finding(message, problem.at, "Deckhand writes nothing at this path")
        .note("Deckhand merges two mappings at `$`; any other child data is lost")
        .note(facts.rendered_meaning())
        .help("write `.` for the root")
}
