//! `invalid-document`: a document that Deckhand's schemas refuse.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-document", Error [Refused], "a document that Deckhand's schemas refuse", was "P005");

pub(super) fn word_missing(at: Span, title: &str, field: &str) -> Diagnostic {
    let label = format!("`{}` is missing here", last_part(field));
    finding(at, format!("`{title}` has no `{field}`"), label).help(how_to_add(field))
}

pub(super) fn word_type(
    at: Span,
    title: &str,
    field: &str,
    expected: &str,
    found: &str,
) -> Diagnostic {
    let message = format!("`{field}` of `{title}` must be {expected}, not {found}");
    let diagnostic = finding(at, message, format!("this is {found}"));
    if expected == "a boolean" {
        return diagnostic.help("write `true` or `false`, without quotes");
    }
    let is_scalar = !matches!(found, "a mapping" | "a list" | "a list of pairs" | "a set");
    if expected == "a string" && is_scalar {
        return diagnostic.help("put it in quotes");
    }
    diagnostic
}

pub(super) fn word_value(at: Span, title: &str, field: &str, expected: &str) -> Diagnostic {
    let message = format!("`{field}` of `{title}` must be {expected}");
    finding(at, message, format!("not {expected}"))
}

pub(super) fn word_unknown(at: Span, title: &str, field: &str, near: Option<&str>) -> Diagnostic {
    let message = format!("`{title}` has an unknown field `{field}`");
    finding(at, message, "Deckhand allows no such field here".into()).help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if field.starts_with("data.") => "remove it".into(),
        None => "remove it, or move it below `data`".into(),
    })
}

pub(super) fn word_unpaired(at: Span, title: &str, has: &str, lacks: &str) -> Diagnostic {
    let message = format!("`{title}` has `{has}` without `{lacks}`");
    finding(at, message, format!("`{lacks}` is missing beside it")).help(how_to_pair(lacks))
}

fn finding(at: Span, message: String, label: String) -> Diagnostic {
    Diagnostic::new(&RULE, message, Label::new(at, label))
        .note("Deckhand refuses the whole site, and tells of the first such document only")
}

/// The key itself.
fn last_part(field: &str) -> &str {
    field.rsplit('.').next().unwrap_or(field)
}

/// The text to write for a field that Deckhand requires.
fn how_to_add(field: &str) -> String {
    match last_part(field) {
        "storagePolicy" => "add `storagePolicy: cleartext`, or `encrypted` for a secret".into(),
        "layeringDefinition" => "add `layeringDefinition: {abstract: false, layer: LAYER}`".into(),
        "schema" if field == "metadata.schema" => "add `schema: metadata/Document/v1`".into(),
        "layer" => "add `layer`, one of those in the LayeringPolicy's `layerOrder`".into(),
        other => format!("add `{other}`"),
    }
}

/// The text to write beside the other half of a pair, or the text to remove.
fn how_to_pair(lacks: &str) -> &'static str {
    match lacks {
        "actions" => "add `actions`, such as `[{method: merge, path: .}]`, or remove the selector",
        _ => "add a `parentSelector` that finds the parent, or remove the actions",
    }
}
