//! `unknown-schema-keyword`: a key of a DataSchema that is no keyword.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "unknown-schema-keyword", Warning, "a key of a DataSchema that is no keyword";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| found.extend(word(document, problem)));
}

/// The remedy for a key that is nearly a keyword.
const HELP: &str = "write the keyword that was meant, or begin the key with `x-` if it is a note";

fn word(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let name = &document.key.name;
    let (key, help) = match &problem.fault {
        SchemaFault::UnknownKeyword { keyword, near } => {
            let meant = near.map(|near| format!("did you mean `{near}`?"));
            (keyword, meant.unwrap_or_else(|| HELP.to_owned()))
        }
        SchemaFault::MisplacedProperty { property } => {
            let help = "if it is a key that documents may have, put it below `properties`";
            (property, help.to_owned())
        }
        SchemaFault::ForeignKeyword { .. }
        | SchemaFault::BesideReference { .. }
        | SchemaFault::NeverApplies { .. }
        | SchemaFault::UnresolvedReference { .. }
        | SchemaFault::EndlessReference
        | SchemaFault::RemoteReference { .. }
        | SchemaFault::InvalidPattern { .. }
        | SchemaFault::WrongValue { .. }
        | SchemaFault::Unpaired { .. }
        | SchemaFault::TooLarge
        | SchemaFault::Unusable { .. } => return None,
    };
    let message = format!("`{key}` in DataSchema `{name}` is no keyword of JSON Schema");
    let finding = finding(&RULE, document, problem, message, "validators skip this")
        .note("what it was to demand of documents is never checked");
    Some(finding.help(help))
}
