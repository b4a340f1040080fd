//! `unused-schema`: a DataSchema that no document has as its schema.

use std::collections::HashSet;

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::system::deckhand::document::{Document, DocumentFault, DocumentFaultKind};

super::rule!(
    "unused-schema",
    Note [Strict, Everywhere],
    "a DataSchema that no document has as its schema",
    was "P003";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let used: HashSet<&str, foldhash::fast::RandomState> =
        facts.site.iter().map(|(_, document)| &*document.key.schema).collect();
    for (doc, document) in facts.site.iter() {
        let is_schema = document.key.schema.starts_with("deckhand/DataSchema/");
        if is_schema && can_be_used(document) && !used.contains(&*document.key.name) {
            found.push(word(facts, doc));
        }
    }
}

/// One without content checks nothing anyway, and one whose name no schema can
/// be is another rule's.
fn can_be_used(document: &Document) -> bool {
    let unusable =
        |fault: &DocumentFault| matches!(fault.kind, DocumentFaultKind::UnusableSchemaName { .. });
    !document.data.value.is_falsy()
        && !document.key.name.is_empty()
        && !document.faults.iter().any(unusable)
}

fn word(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!("no document has the schema `{}`", facts.name(doc));
    Diagnostic::new(
        &RULE,
        message,
        Label::new(document.name_span, "this DataSchema checks nothing"),
    )
    .help("remove it, or mend its name")
    .document(document.key.clone())
}
