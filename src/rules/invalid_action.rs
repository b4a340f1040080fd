//! `invalid-action`: layering action that cannot be applied.

use super::did_you_mean::word_edit;
use super::{FileFacts, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::merge::deckhand::Method;
use crate::render::Problem;
use crate::source::Span;
use crate::yaml::path::WalkError;

super::rule!(
    "invalid-action",
    Error [Refused, UnsafelyFixable],
    "layering action that cannot be applied", was "P005"
);

pub(super) fn report_method(
    facts: &FileFacts<'_>,
    at: Span,
    method: &str,
    near: Option<&str>,
) -> Diagnostic {
    let message = format!(
        "an action of `{}` has the unknown method `{method}`",
        facts.name_at(at)
    );
    let diagnostic = RULE
        .finding(message, at, "expected `merge`, `replace` or `delete`")
        .note("the action is skipped; Deckhand refuses the whole site");
    match near {
        Some(near) => diagnostic.did_you_mean(near, word_edit(facts.sources, at, method, near)),
        None => diagnostic.help("write `merge`, `replace` or `delete`"),
    }
}

pub(super) fn report_walk(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    method: Method,
    error: &WalkError,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let method = method.as_str();
    let message = format!("a `{method}` action of `{name}` has a path that cannot be resolved");
    let diagnostic = RULE
        .finding(message, problem.at, error.to_string())
        .note("the action is skipped; Deckhand refuses the whole site")
        .help("use a path that exists in the document and in its parent");
    let base = facts.graph.recipe(problem.doc).base;
    base.into_iter().fold(diagnostic, |diagnostic, base| {
        diagnostic.related(facts.document(base.doc).name_span, "the parent")
    })
}
