//! `mixed-keys`: keys that Deckhand cannot put in order.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!("mixed-keys", Error [Refused], "a mapping has keys of several types", was "P005");

pub(super) fn word(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let keys = facts.document(doc).mixed_keys;
    let (at, other) = keys.expect("the rule words documents with such keys only");
    let message = format!("`{}` has keys of several types in one mapping", facts.name(doc));
    Diagnostic::new(&RULE, message, Label::new(at, "this key is of another type"))
        .related(other, "than this one")
        .note(
            "Deckhand refuses the whole site: it sorts the keys of a document that selects a \
             parent, and cannot sort these",
        )
        .help("put the key in quotes, so that all keys of the mapping are strings")
        .document(facts.document(doc).key.clone())
}
