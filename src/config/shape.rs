//! Checks whether a configuration has the keys and types that the schema names, and describes each
//! violation for its line.

use super::{ConfigProblem, SCHEMA};
use crate::schema::{Bound, Schema, Violation, Wrong};
use crate::source::{RepoPath, Source, SourceMap};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{self, Node};

/// Violations of the schema in `root`.
pub(super) fn problems(root: &Node) -> Vec<ConfigProblem> {
    let violations = schema().violations(root);
    violations
        .iter()
        .map(|found| ConfigProblem { at: found.span(root), message: describe(found) })
        .collect()
}

fn schema() -> Schema {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(RepoPath::new("layercake.schema.json"), Ok(SCHEMA.into())));
    // JSON is YAML too.
    let parsed = yaml::parse(file, SCHEMA);
    let document = parsed.documents.first().expect("the schema is one document");
    let (schema, problems) = Schema::compile(&document.root);
    debug_assert!(problems.is_empty(), "the schema can be used: {problems:?}");
    schema
}

fn describe(violation: &Violation) -> String {
    let key = dotted(&violation.location);
    let subject = if key.is_empty() { "the file".to_owned() } else { format!("`{key}`") };
    let inside = if key.is_empty() { String::new() } else { format!(" in `{key}`") };
    match &violation.wrong {
        Wrong::Type { expected, found } => {
            let wanted: Vec<&str> = expected.iter().map(|name| of_type(name)).collect();
            let wanted = wanted.join(" or ");
            let is_number = matches!(*found, "an integer" | "a float");
            let help = if is_number && wanted == "a string" { "; put it in quotes" } else { "" };
            format!("{subject} is to be {wanted}, and is {found}{help}")
        }
        Wrong::MissingKey { key, near } => {
            with_near(&format!("{subject} lacks `{key}`"), near.as_deref())
        }
        Wrong::UnknownKey { key, near, .. } => {
            let key = key.as_deref().unwrap_or_default();
            with_near(&format!("unknown key `{key}`{inside}"), near.as_deref())
        }
        Wrong::KeyNoText => format!("a key{inside} is no string"),
        Wrong::NotOneOf { options, near, .. } => {
            let found = violation.found.as_deref().unwrap_or("something else");
            match near {
                Some(near) => format!("{subject} cannot be `{found}`; did you mean `{near}`?"),
                None => format!("{subject} is to be one of {}, and is {found}", options.join(", ")),
            }
        }
        Wrong::Beyond { bound: Bound::MinItems, .. } => {
            format!("{subject} is empty; leave it out instead")
        }
        Wrong::Beyond { bound: Bound::Minimum, limit } => {
            format!("{subject} is to be {limit} at least")
        }
        Wrong::Beyond { limit, .. } => format!("{subject} is beyond the limit {limit}"),
        Wrong::Unfinished => format!("{subject} is too much to be checked"),
        Wrong::Unmatched { .. }
        | Wrong::TooManySteps { .. }
        | Wrong::NoMultiple { .. }
        | Wrong::RepeatedItem
        | Wrong::MoreItems { .. }
        | Wrong::NoAlternative { .. }
        | Wrong::SeveralAlternatives { .. }
        | Wrong::DeadReference
        | Wrong::Excluded
        | Wrong::Other => format!("{subject} is not as the schema of the configuration has it"),
    }
}

fn of_type(name: &str) -> &str {
    match name {
        "string" => "a string",
        "integer" => "an integer",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "a mapping",
        other => other,
    }
}

fn with_near(message: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message.to_owned(),
    }
}

/// A place as settings are named: keys with dots between.
fn dotted(location: &Location) -> String {
    let mut text = String::new();
    for piece in &location.0 {
        match piece {
            Piece::Index(index) => text += &format!("[{index}]"),
            Piece::Key(key) => {
                let dot = if text.is_empty() { "" } else { "." };
                text += &format!("{dot}{}", yaml::emit::scalar_text(&key.value));
            }
        }
    }
    text
}
