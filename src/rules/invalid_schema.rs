//! `invalid-schema`: DataSchema that is not a valid Draft 4 schema.

use super::FileFacts;
use crate::diagnostic::Diagnostic;
use crate::schema::{Schema, SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;
use crate::system::deckhand::schema::is_in_use;

super::rule!(
    "invalid-schema", Error[Refused], "DataSchema that is not a valid Draft 4 schema";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| {
        found.extend(report(document, problem));
    });
}

/// Reports each problem of the DataSchema documents of a file.
pub(super) fn each_problem(
    facts: &FileFacts<'_>,
    report: &mut dyn FnMut(&Document, &SchemaProblem),
) {
    // Deckhand ignores schemas without content, and names that no document's schema can have.
    let schemas = facts
        .documents
        .iter()
        .filter(|document| is_in_use(document));
    // The content of a secret schema must not be reported.
    for document in schemas.filter(|document| !document.data.secret) {
        for problem in &facts.schemas.compiled(&document.data).problems {
            report(document, problem);
        }
    }
}

/// Finding for a fault in a schema.
pub(super) fn finding(
    rule: &'static crate::diagnostic::Rule,
    document: &Document,
    problem: &SchemaProblem,
    message: String,
    label: impl Into<String>,
) -> Diagnostic {
    rule.finding(message, problem.span, label)
        .about(problem.location.to_string())
        .document(&document.key)
}

fn report(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let name = &document.key.name;
    let (message, label) = match &problem.fault {
        SchemaFault::InvalidPattern { pattern, reason } => (
            format!("DataSchema `{name}` has the invalid pattern `{pattern}`"),
            reason.clone(),
        ),
        SchemaFault::WrongValue { keyword, expected } if keyword.is_empty() => (
            format!("DataSchema `{name}` is not a schema"),
            format!("this must be {expected}"),
        ),
        SchemaFault::WrongValue { keyword, expected } => (
            format!("DataSchema `{name}` has an invalid `{keyword}`"),
            format!("this must be {expected}"),
        ),
        SchemaFault::Unpaired { keyword, needs } => (
            format!("DataSchema `{name}` has `{keyword}` without `{needs}`"),
            format!("`{needs}` sets the limit that this modifies"),
        ),
        SchemaFault::TooLarge => {
            let message = format!("DataSchema `{name}` is too large to be used");
            let label = format!(
                "it has more than {} values, or references that multiply or nest too much",
                Schema::MAX_NODES
            );
            (message, label)
        }
        SchemaFault::Unusable { reason } => (
            format!("a part of DataSchema `{name}` cannot be used"),
            reason.clone(),
        ),
        SchemaFault::EndlessReference => (
            format!("a `$ref` in DataSchema `{name}` refers to itself"),
            "circular reference".to_owned(),
        ),
        SchemaFault::UnknownKeyword { .. }
        | SchemaFault::MisplacedProperty { .. }
        | SchemaFault::ForeignKeyword { .. }
        | SchemaFault::BesideReference { .. }
        | SchemaFault::NeverApplies { .. }
        | SchemaFault::UnresolvedReference { .. }
        | SchemaFault::RemoteReference { .. } => return None,
    };
    if problem.fault == SchemaFault::TooLarge {
        let note = "layercake does not use it for validation";
        return Some(finding(&RULE, document, problem, message, label).note(note));
    }
    let note = "Deckhand refuses the whole site if it has a document of this schema; layercake \
                validates these documents without this part";
    let finding = finding(&RULE, document, problem, message, label).note(note);
    Some(match &problem.fault {
        SchemaFault::WrongValue { keyword, .. } if keyword == "required" => {
            finding.help("write `required` beside `properties`, as a list of required names")
        }
        _ => finding,
    })
}
