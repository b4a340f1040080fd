//! `ignored-schema-keyword`: a keyword in a DataSchema that has no effect
//! where it stands.

use super::FileFacts;
use super::invalid_schema::{each_problem, finding};
use crate::diagnostic::Diagnostic;
use crate::schema::{Fault, Problem};
use crate::system::deckhand::document::Document;

super::rule!(
    "ignored-schema-keyword",
    Warning,
    "a keyword in a DataSchema that has no effect where it stands"
);

pub(super) fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    each_problem(facts, &mut |document, problem| found.extend(word(document, problem)));
}

fn word(document: &Document, problem: &Problem) -> Option<Diagnostic> {
    let (keyword, label, note) = match &problem.fault {
        Fault::ForeignKeyword { keyword, draft } => (
            keyword,
            format!("a keyword of Draft {draft}"),
            "Deckhand validates with Draft 4, whatever `$schema` says",
        ),
        Fault::BesideReference { keyword } => (
            keyword,
            "it stands beside `$ref`".to_owned(),
            "in Draft 4 nothing beside `$ref` is looked at; `allOf` can hold both",
        ),
        Fault::NeverApplies { keyword, about } => (
            keyword,
            format!("it is about values of type `{about}`"),
            "the `type` beside it allows no such value",
        ),
        Fault::UnknownKeyword { .. }
        | Fault::MisplacedProperty { .. }
        | Fault::UnresolvedReference { .. }
        | Fault::RemoteReference { .. }
        | Fault::InvalidPattern { .. }
        | Fault::WrongValue { .. }
        | Fault::Unpaired { .. }
        | Fault::TooLarge
        | Fault::Unusable { .. } => return None,
    };
    let message = format!("`{keyword}` has no effect here in DataSchema `{}`", document.key.name);
    Some(finding(&RULE, document, problem, message, label).note(note))
}
