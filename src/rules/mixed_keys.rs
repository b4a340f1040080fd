//! `mixed-keys`: a mapping with keys of different types, which Deckhand cannot sort.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!("mixed-keys", Error [Refused], "mapping with keys of different types", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let keys = facts.document(doc).mixed_keys;
    let (at, other) = keys.expect("the rule reports only documents with such keys");
    let message = format!(
        "`{}` has keys of different types in one mapping",
        facts.name(doc)
    );
    RULE.finding(message, at, "this key has a different type")
        .related(other, "than this one")
        .note(
            "Deckhand refuses the whole site: it sorts the keys of a document that selects a \
             parent, and cannot sort these",
        )
        .help("quote the key, so that all keys of the mapping are strings")
        .document(&facts.document(doc).key)
}
