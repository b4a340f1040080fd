//! `misspelled-schema`: a document has nearly the schema that others name.

use std::collections::BTreeMap;

use super::did_you_mean::word_edit;
use super::missing_source::missing_sources;
use super::{SiteFacts, missing_reference, title};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::near::nearest;
use crate::system::deckhand::{ParentRefusal, SiteProblem};

super::rule!(
    "misspelled-schema",
    Error [Cause, UnsafelyFixable],
    "a document has nearly, but not exactly, the schema that others name";
    Site(check, &[&RULE])
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    found.extend(
        meant_schemas(facts)
            .into_iter()
            .map(|(doc, meant)| report(facts, doc, meant)),
    );
}

fn report(facts: &SiteFacts<'_>, doc: DocId, meant: &str) -> Diagnostic {
    let document = facts.document(doc);
    let name = title(&document.key);
    let schema = &document.key.schema;
    let message = format!("only `{name}` has the schema `{schema}`; others need it as `{meant}`");
    RULE.finding(
        message,
        document.schema_span,
        "differs from all other schemas",
    )
    .did_you_mean(
        meant,
        word_edit(facts.sources, document.schema_span, schema, meant),
    )
    .document(&document.key)
}

/// Documents whose schema is probably misspelled, with the schema that others name.
pub(super) fn meant_schemas<'f>(facts: &'f SiteFacts<'_>) -> BTreeMap<DocId, &'f str> {
    let wanted = selected(facts)
        .chain(read(facts))
        .chain(missing_reference::nearly_named(facts));
    wanted
        .filter(|(doc, meant)| is_misspelled(facts, *doc, meant))
        .collect()
}

/// Documents with the labels that children of another schema select.
fn selected<'f>(facts: &'f SiteFacts<'_>) -> impl Iterator<Item = (DocId, &'f str)> {
    let refused = facts
        .site
        .problems
        .iter()
        .filter_map(|problem| match problem {
            SiteProblem::RefusedMatch {
                child,
                parents,
                refusal: ParentRefusal::OtherSchema,
            } => Some((*child, parents)),
            _ => None,
        });
    refused.flat_map(|(child, parents)| {
        let schema = &*facts.document(child).key.schema;
        parents.first.iter().map(move |parent| (*parent, schema))
    })
}

/// Documents with the names of sources that substitutions do not find.
fn read<'f>(facts: &'f SiteFacts<'_>) -> impl Iterator<Item = (DocId, &'f str)> {
    let wanted: BTreeMap<&str, &str> = missing_sources(facts)
        .map(|source| (&*source.name.value, &*source.schema.value))
        .collect();
    facts
        .site
        .iter()
        .filter_map(move |(doc, document)| Some((doc, *wanted.get(&*document.key.name)?)))
}

/// Whether the schema of a document is that of no other, and nearly the wanted one. Another version
/// is another schema.
fn is_misspelled(facts: &SiteFacts<'_>, doc: DocId, wanted: &str) -> bool {
    let document = facts.document(doc);
    let schema = &document.key.schema;
    let without_digits = |schema: &str| schema.replace(|letter: char| letter.is_ascii_digit(), "");
    let mut others = facts
        .site
        .iter()
        .filter(|(_, other)| other.key.schema == *schema);
    !document.is_doubtful
        && nearest(schema, [wanted]).is_some()
        && without_digits(schema) != without_digits(wanted)
        && !facts
            .settings
            .references
            .iter()
            .any(|it| it.schema == *schema || it.target == *schema)
        && others.all(|(_, other)| other.key.name == document.key.name)
}
