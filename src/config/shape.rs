//! Validates a configuration against the keys and types of its schema, and describes each
//! violation.

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
        .map(|found| ConfigProblem {
            at: found.span(root),
            message: describe(found),
        })
        .collect()
}

fn schema() -> Schema {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(
        RepoPath::new("layercake.schema.json"),
        Ok(SCHEMA.into()),
    ));
    // JSON is also valid YAML.
    let parsed = yaml::parse(file, SCHEMA);
    let document = parsed
        .documents
        .first()
        .expect("the schema is one document");
    let (schema, problems) = Schema::compile(&document.root);
    debug_assert!(problems.is_empty(), "the schema can be used: {problems:?}");
    schema
}

fn describe(violation: &Violation) -> String {
    let key = dotted(&violation.location);
    let subject = if key.is_empty() {
        "the file".to_owned()
    } else {
        format!("`{key}`")
    };
    let inside = if key.is_empty() {
        String::new()
    } else {
        format!(" in `{key}`")
    };
    match &violation.wrong {
        Wrong::Type { expected, found } => {
            let wanted: Vec<&str> = expected.iter().map(|name| type_name(name)).collect();
            let wanted = wanted.join(" or ");
            let is_number = matches!(*found, "an integer" | "a float");
            let help = if is_number && wanted == "a string" {
                "; put it in quotes"
            } else {
                ""
            };
            format!("expected {wanted} for {subject}, found {found}{help}")
        }
        Wrong::MissingKey { key, near } => with_suggestion(
            &format!("missing key `{key}` in {subject}"),
            near.as_deref(),
        ),
        Wrong::UnknownKey { key, near, .. } => {
            let key = key.as_deref().unwrap_or_default();
            with_suggestion(&format!("unknown key `{key}`{inside}"), near.as_deref())
        }
        Wrong::KeyNoText => format!("a key{inside} is not a string"),
        Wrong::NotOneOf { options, near, .. } => {
            let found = violation.found.as_deref().unwrap_or("another value");
            match near {
                Some(near) => {
                    format!("unknown value `{found}` for {subject}; did you mean `{near}`?")
                }
                None => {
                    format!(
                        "expected one of {} for {subject}, found {found}",
                        options.join(", ")
                    )
                }
            }
        }
        Wrong::Beyond {
            bound: Bound::MinItems,
            ..
        } => {
            format!("{subject} is empty; remove it instead")
        }
        Wrong::Beyond {
            bound: Bound::Minimum,
            limit,
        } => {
            format!("{subject} must be at least {limit}")
        }
        Wrong::Beyond { limit, .. } => format!("{subject} exceeds the limit {limit}"),
        Wrong::Unfinished => format!("{subject} is too complex to check"),
        Wrong::Unmatched { .. }
        | Wrong::TooManySteps { .. }
        | Wrong::NoMultiple { .. }
        | Wrong::RepeatedItem
        | Wrong::MoreItems { .. }
        | Wrong::NoAlternative { .. }
        | Wrong::SeveralAlternatives { .. }
        | Wrong::DeadReference
        | Wrong::Excluded
        | Wrong::Other => format!("{subject} does not match the configuration schema"),
    }
}

fn type_name(name: &str) -> &str {
    match name {
        "string" => "a string",
        "integer" => "an integer",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "a mapping",
        other => other,
    }
}

fn with_suggestion(message: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message.to_owned(),
    }
}

/// Formats a location like the name of a setting: keys separated by dots.
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
