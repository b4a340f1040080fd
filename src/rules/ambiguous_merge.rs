//! `ambiguous-merge`: `<<` merges different values of one key.

use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "ambiguous-merge",
    Warning,
    "`<<` merges different values of one key"
);

pub(super) fn report(facts: &FileFacts<'_>, at: Span, used: Span, other: Span) -> Diagnostic {
    let key = facts.quote(used);
    let message = format!("`<<` merges different values of the key `{key}`");
    let note = match facts.holds {
        FileContents::Documents => {
            "the value depends on the version of PyYAML in Deckhand and Pegleg"
        }
        FileContents::Parts => "the value depends on the version of PyYAML in cloud-init",
    };
    let finding = RULE
        .finding(message, at, "merges several mappings")
        .related(used, "used up to PyYAML 6.0.3, and by layercake")
        .related(other, "used since PyYAML 6.0.4")
        .note(note)
        .help("write the key beside `<<`, or remove it from all but one of the merged mappings")
        .about(if facts.is_secret(used) {
            String::new()
        } else {
            key
        });
    match facts
        .documents
        .iter()
        .find(|document| document.span.contains(at))
    {
        Some(document) => finding.document(&document.key),
        None => finding,
    }
}
