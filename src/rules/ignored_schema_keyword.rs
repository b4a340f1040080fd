//! `ignored-schema-keyword`: a keyword in a DataSchema that has no effect at its place.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "ignored-schema-keyword",
    Warning,
    "a keyword in a DataSchema that has no effect where it stands";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| found.extend(word(document, problem)));
}

fn word(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let mut help = None;
    let (keyword, label, note) = match &problem.fault {
        SchemaFault::ForeignKeyword { keyword, draft } => (
            keyword,
            format!("a keyword of Draft {draft}"),
            "Deckhand validates with Draft 4, whatever `$schema` says".to_owned(),
        ),
        SchemaFault::BesideReference { keyword } => (
            keyword,
            "it stands beside `$ref`".to_owned(),
            "in Draft 4 nothing beside `$ref` is looked at; `allOf` can hold both".to_owned(),
        ),
        SchemaFault::NeverApplies { keyword, about, allowed } => {
            help = better_place(keyword, about, allowed);
            (
                keyword,
                format!("it is about values of type `{about}`"),
                match &allowed[..] {
                    [only] => format!("the `type` beside it is `{only}`"),
                    _ => "the `type` beside it allows no such value".to_owned(),
                },
            )
        }
        SchemaFault::UnknownKeyword { .. }
        | SchemaFault::MisplacedProperty { .. }
        | SchemaFault::UnresolvedReference { .. }
        | SchemaFault::EndlessReference
        | SchemaFault::RemoteReference { .. }
        | SchemaFault::InvalidPattern { .. }
        | SchemaFault::WrongValue { .. }
        | SchemaFault::Unpaired { .. }
        | SchemaFault::TooLarge
        | SchemaFault::Unusable { .. } => return None,
    };
    let message = format!("`{keyword}` has no effect here in DataSchema `{}`", document.key.name);
    let finding = finding(&RULE, document, problem, message, label).note(note);
    Some(match help {
        Some(help) => finding.help(help),
        None => finding,
    })
}

/// The place that was likely meant for a keyword for values of the type `about`, where only values
/// of other types are allowed.
fn better_place(keyword: &str, about: &str, allowed: &[String]) -> Option<String> {
    let allows = |kind: &str| allowed.iter().any(|name| name == kind);
    match (keyword, about) {
        ("items", _) if allows("object") => {
            Some("for what a mapping holds, write `additionalProperties`".to_owned())
        }
        (_, "object") if allows("array") => {
            Some(format!("if it is about each item of the list, put `{keyword}` below `items`"))
        }
        _ => None,
    }
}
