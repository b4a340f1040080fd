//! `invalid-document`: document that Deckhand's schemas reject.

use super::FileFacts;
use super::did_you_mean::word_edit;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "invalid-document",
    Error [Refused, Cause, UnsafelyFixable],
    "document that Deckhand's schemas reject", was "P005"
);

pub(super) fn report_missing(at: Span, title: &str, field: &str) -> Diagnostic {
    let label = format!("`{}` is missing here", last_part(field));
    finding(at, format!("`{title}` has no `{field}`"), label).help(how_to_add(field))
}

pub(super) fn report_renamed(at: Span, title: &str, field: &str) -> Diagnostic {
    let label = format!("`{field}` is missing, and this key is unknown");
    finding(at, format!("`{title}` has no `{field}`"), label)
        .help(format!("rename this key to `{field}`, or add `{field}`"))
}

pub(super) fn report_type(
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

pub(super) fn report_value(at: Span, title: &str, field: &str, expected: &str) -> Diagnostic {
    let message = format!("`{field}` of `{title}` must be {expected}");
    finding(at, message, format!("expected {expected}"))
}

pub(super) fn report_unknown(
    facts: &FileFacts<'_>,
    at: Span,
    title: &str,
    field: &str,
    near: Option<&str>,
) -> Diagnostic {
    let message = format!("`{title}` has an unknown field `{field}`");
    let diagnostic = finding(
        at,
        message,
        "Deckhand does not allow this field here".into(),
    );
    match near {
        Some(near) => {
            let edit = word_edit(facts.sources, at, last_part(field), near);
            diagnostic.did_you_mean(near, edit)
        }
        None if field.starts_with("data.") => diagnostic.help("remove it"),
        None => diagnostic.help("remove it, or move it below `data`"),
    }
}

pub(super) fn report_unpaired(at: Span, title: &str, has: &str, lacks: &str) -> Diagnostic {
    let message = format!("`{title}` has `{has}` without `{lacks}`");
    finding(at, message, format!("`{lacks}` is missing beside it")).help(how_to_pair(lacks))
}

fn finding(at: Span, message: String, label: String) -> Diagnostic {
    RULE.finding(message, at, label)
        .note("Deckhand refuses the whole site, and reports only the first such document")
}

/// Last component of a field's path.
fn last_part(field: &str) -> &str {
    field.rsplit('.').next().unwrap_or(field)
}

/// Help for adding a required field.
fn how_to_add(field: &str) -> String {
    match last_part(field) {
        "storagePolicy" => "add `storagePolicy: cleartext`, or `encrypted` for a secret".into(),
        "layeringDefinition" => "add `layeringDefinition: {abstract: false, layer: LAYER}`".into(),
        "schema" if field == "metadata.schema" => "add `schema: metadata/Document/v1`".into(),
        "layer" => "add `layer`, one of the layers in the LayeringPolicy's `layerOrder`".into(),
        other => format!("add `{other}`"),
    }
}

/// Help for completing or removing half of a pair of fields.
fn how_to_pair(lacks: &str) -> &'static str {
    match lacks {
        "actions" => "add `actions`, such as `[{method: merge, path: .}]`, or remove the selector",
        _ => "add a `parentSelector` that selects the parent, or remove the actions",
    }
}
