//! `unresolved-schema-reference`: `$ref` in a DataSchema that does not resolve.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "unresolved-schema-reference", Warning, "`$ref` in a DataSchema that does not resolve";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| {
        found.extend(report(document, problem));
    });
}

fn report(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let (reference, wrong, label, note) = match &problem.fault {
        SchemaFault::UnresolvedReference { reference } => (
            reference,
            "does not resolve",
            "no schema at this location",
            "each value validated by this schema is a `schema-violation` error",
        ),
        SchemaFault::RemoteReference {
            reference,
            is_meta_schema,
        } => (
            reference,
            "refers outside of the document",
            "not fetched",
            if *is_meta_schema {
                "layercake accepts any value here"
            } else {
                "each value validated by this schema is a `schema-violation` error"
            },
        ),
        SchemaFault::EndlessReference
        | SchemaFault::UnknownKeyword { .. }
        | SchemaFault::MisplacedProperty { .. }
        | SchemaFault::ForeignKeyword { .. }
        | SchemaFault::BesideReference { .. }
        | SchemaFault::NeverApplies { .. }
        | SchemaFault::InvalidPattern { .. }
        | SchemaFault::WrongValue { .. }
        | SchemaFault::Unpaired { .. }
        | SchemaFault::TooLarge
        | SchemaFault::Unusable { .. } => return None,
    };
    let name = &document.key.name;
    let message = format!("`$ref: {reference}` in DataSchema `{name}` {wrong}");
    let finding = finding(&RULE, document, problem, message, label).note(note);
    Some(finding.help("define it below `definitions`, and refer to it as `#/definitions/NAME`"))
}
