//! `unused-schema`: DataSchema that no document uses.

use std::collections::HashSet;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::system::deckhand::document::{Document, DocumentFaultKind};

super::rule!(
    "unused-schema",
    Note [Strict, Everywhere],
    "DataSchema that no document uses",
    was "P003";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let used: HashSet<&str, foldhash::fast::RandomState> = facts
        .site
        .iter()
        .map(|(_, document)| &*document.key.schema)
        .collect();
    for (doc, document) in facts.site.iter() {
        let is_schema = document.key.schema.starts_with("deckhand/DataSchema/");
        if is_schema && can_be_used(document) && !used.contains(&*document.key.name) {
            found.push(report(facts, doc));
        }
    }
}

/// Whether the schema could apply to a document. One without content checks nothing, and
/// `unusable-schema-name` reports invalid names.
fn can_be_used(document: &Document) -> bool {
    !document.data.value.is_falsy()
        && !document.key.name.is_empty()
        && !document
            .faults
            .iter()
            .any(|fault| matches!(fault.kind, DocumentFaultKind::UnusableSchemaName { .. }))
}

fn report(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!("no document has the schema `{}`", facts.name(doc));
    RULE.finding(
        message,
        document.name_span,
        "this DataSchema checks nothing",
    )
    .help("remove it, or correct its name")
    .document(&document.key)
}
