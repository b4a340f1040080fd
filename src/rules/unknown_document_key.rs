//! `unknown-document-key`: top-level key that Deckhand does not read.

use super::FileFacts;
use super::did_you_mean::word_edit;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;

super::rule!(
    "unknown-document-key",
    Warning[UnsafelyFixable, Cause],
    "top-level key that Deckhand does not read"
);

/// Keys that belong in `metadata`.
const OF_METADATA: [&str; 6] = [
    "name",
    "storagePolicy",
    "layeringDefinition",
    "labels",
    "replacement",
    "substitutions",
];

pub(super) fn report(
    facts: &FileFacts<'_>,
    at: Span,
    title: &str,
    key: &str,
    near: Option<&str>,
) -> Diagnostic {
    let message = format!("`{title}` has an unknown key `{key}`");
    let diagnostic = RULE
        .finding(message, at, "expected `schema`, `metadata` or `data`")
        .note("Deckhand does not read it");
    match near {
        Some(near) => Diagnostic {
            // The document has no data unless this key is corrected.
            severity: Severity::Error,
            ..diagnostic.did_you_mean(near, word_edit(facts.sources, at, key, near))
        },
        None if OF_METADATA.contains(&key) => diagnostic.help("move it below `metadata`"),
        None => diagnostic.help("move it below `data`, or remove it"),
    }
}
