//! `unknown-document-key`: top-level key that Deckhand does not read.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("unknown-document-key", Warning, "top-level key that Deckhand does not read");

/// Keys that belong in `metadata`.
const OF_METADATA: [&str; 6] =
    ["name", "storagePolicy", "layeringDefinition", "labels", "replacement", "substitutions"];

pub(super) fn report(at: Span, title: &str, key: &str, near: Option<&str>) -> Diagnostic {
    let message = format!("`{title}` has an unknown key `{key}`");
    Diagnostic::new(&RULE, message, Label::new(at, "expected `schema`, `metadata` or `data`"))
        .note("Deckhand does not read it")
        .help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if OF_METADATA.contains(&key) => "move it below `metadata`".into(),
            None => "move it below `data`, or remove it".into(),
        })
}
