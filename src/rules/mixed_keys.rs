//! `mixed-keys`: keys that Deckhand cannot put in order.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("mixed-keys", Error [Refused], "a mapping has keys of several types", was "P005");

pub(super) fn word(at: Span, title: &str, other: Span) -> Diagnostic {
    let message = format!("`{title}` has keys of several types in one mapping");
    Diagnostic::new(&RULE, message, Label::new(at, "this key is of another type"))
        .related(other, "than this one")
        .note(
            "Deckhand sorts the keys of a document that selects a parent, to compare it, and \
             crashes on these",
        )
        .help("put the key in quotes, so that all keys of the mapping are strings")
}
