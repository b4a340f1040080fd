//! `unknown-schema-keyword`: unknown keyword in a DataSchema.

use super::FileFacts;
use super::did_you_mean::word_edit;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "unknown-schema-keyword", Warning[UnsafelyFixable], "unknown keyword in a DataSchema";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| {
        found.extend(report(facts, document, problem));
    });
}

/// Help for a key that resembles no keyword.
const HELP: &str = "use a JSON Schema keyword, or prefix the key with `x-` if it is a note";

fn report(
    facts: &FileFacts<'_>,
    document: &Document,
    problem: &SchemaProblem,
) -> Option<Diagnostic> {
    let name = &document.key.name;
    let (key, near, help) = match &problem.fault {
        SchemaFault::UnknownKeyword { keyword, near } => (keyword, *near, HELP),
        SchemaFault::MisplacedProperty { property } => (
            property,
            None,
            "move it below `properties` if it is a key of the documents",
        ),
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
    let message = format!("unknown keyword `{key}` in DataSchema `{name}`");
    let finding = finding(&RULE, document, problem, message, "ignored by validators")
        .note("the intended constraint is never checked");
    Some(match near {
        Some(near) => finding.did_you_mean(near, word_edit(facts.sources, problem.span, key, near)),
        None => finding.help(help),
    })
}
