//! `ignored-schema-keyword`: DataSchema keyword that has no effect at its position.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{SchemaFault, SchemaProblem};
use crate::system::deckhand::document::Document;

super::rule!(
    "ignored-schema-keyword",
    Warning,
    "DataSchema keyword that has no effect at its position";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| {
        found.extend(report(document, problem));
    });
}

fn report(document: &Document, problem: &SchemaProblem) -> Option<Diagnostic> {
    let mut help = None;
    let (keyword, label, note) = match &problem.fault {
        SchemaFault::ForeignKeyword { keyword, draft } => (
            keyword,
            format!("a keyword of Draft {draft}"),
            "Deckhand validates with Draft 4, regardless of `$schema`".to_owned(),
        ),
        SchemaFault::BesideReference { keyword } => (
            keyword,
            "it is beside `$ref`".to_owned(),
            "Draft 4 ignores all keywords beside `$ref`; use `allOf` to combine them".to_owned(),
        ),
        SchemaFault::NeverApplies {
            keyword,
            about,
            allowed,
        } => {
            help = better_place(keyword, about, allowed);
            (
                keyword,
                format!("it applies to values of type `{about}`"),
                match &allowed[..] {
                    [only] => format!("the `type` beside it is `{only}`"),
                    _ => "the `type` beside it does not allow such values".to_owned(),
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
    let message = format!(
        "`{keyword}` has no effect here in DataSchema `{}`",
        document.key.name
    );
    let finding = finding(&RULE, document, problem, message, label).note(note);
    Some(match help {
        Some(help) => finding.help(help),
        None => finding,
    })
}

/// Suggests where to put a keyword for values of type `about` if only other types are allowed.
fn better_place(keyword: &str, about: &str, allowed: &[String]) -> Option<String> {
    let allows = |kind: &str| allowed.iter().any(|name| name == kind);
    match (keyword, about) {
        ("items", _) if allows("object") => {
            Some("use `additionalProperties` for the values of a mapping".to_owned())
        }
        (_, "object") if allows("array") => Some(format!(
            "if it applies to each item of the list, put `{keyword}` below `items`"
        )),
        _ => None,
    }
}
