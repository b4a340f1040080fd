//! `unresolved-schema-reference`: a `$ref` of a DataSchema that leads to
//! nothing.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "unresolved-schema-reference", Warning, "a `$ref` of a DataSchema that leads to nothing";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| found.extend(word(document, problem)));
}

fn word(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let (reference, wrong, label, note) = match &problem.fault {
        SchemaFault::UnresolvedReference { reference } => (
            reference,
            "leads to nothing",
            "there is no schema at this place",
            "each value that this schema is for is an error, `schema-violation`",
        ),
        SchemaFault::RemoteReference { reference, is_meta_schema } => (
            reference,
            "leads out of the document",
            "nothing is fetched from there",
            if *is_meta_schema {
                "layercake accepts any value there"
            } else {
                "each value that this schema is for is an error, `schema-violation`"
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
