//! `duplicate-key`: a mapping has one key twice; the last value counts.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("duplicate-key", Warning, "a mapping has one key twice; the last value counts");

pub(super) fn word(facts: &FileFacts<'_>, at: Span, first: Span) -> Diagnostic {
    let label = Label::new(at, "takes the place of the first");
    let message = format!("key `{}` stands twice in one mapping", facts.quote(at));
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .related(first, "this one is dropped")
        .note(match facts.holds {
            FileContents::Documents => "Deckhand's YAML reader takes the last one in silence",
            FileContents::Parts => "cloud-init's YAML reader takes the last one in silence",
        })
        .help("remove one of them")
        .about(if facts.is_secret(at) { String::new() } else { facts.quote(at) });
    let document = facts.documents.iter().find(|document| document.span.contains(at));
    match document {
        Some(document) => diagnostic.document(document.key.clone()),
        None => diagnostic,
    }
}
