//! JSONPath according to RFC 9535, for paths in the configuration. jsonpath-rust evaluates the
//! paths, and this module adapts nodes to it. Deckhand's own dialect is in `path`.

mod places;

use std::fmt;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use jsonpath_rust::query::queryable::Queryable;
use layercake_source::{FileId, Span};

pub use self::places::PlaceQuery;
use super::{Node, Value};

/// A path according to RFC 9535, such as `$.chart_groups[*]`.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    parsed: JpQuery,
}

/// An invalid path, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidQuery {
    /// Error message of the parser.
    pub reason: String,
}

impl Query {
    /// Maximum number of `..`, and of `$`.
    pub const MAX_SEARCHES: usize = 1;
    /// Maximum number of commas.
    pub const MAX_COMMAS: usize = 6;

    /// Parses a path.
    ///
    /// # Errors
    /// If `text` is not valid, or may need exponential time: each `..` searches all results of the
    /// previous one, `[0,0]` doubles the results each time, and a `$` in a filter repeats the
    /// search for each value.
    pub fn parse(text: &str) -> Result<Self, InvalidQuery> {
        let parsed = parse_json_path(text).map_err(|error| InvalidQuery {
            reason: error.to_string(),
        })?;
        let bare = without_quoted(text);
        let searches = Self::MAX_SEARCHES;
        let commas = Self::MAX_COMMAS;
        for (mark, most) in [("..", searches), ("$", searches), (",", commas)] {
            let count = bare.matches(mark).count();
            if count > most {
                let reason =
                    format!("it contains `{mark}` {count} times, at most {most} are allowed");
                return Err(InvalidQuery { reason });
            }
        }
        Ok(Self {
            text: text.to_owned(),
            parsed,
        })
    }

    /// The path as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Matching nodes in document order. Non-string keys are never matched, because JSON has none.
    pub fn find<'a>(&self, root: &'a Node) -> Vec<&'a Node> {
        // Evaluation only fails for results outside of the document, which a plain path cannot
        // have.
        let found = js_path_process(&self.parsed, root).unwrap_or_default();
        found.into_iter().map(|found| found.val).collect()
    }
}

/// Removes quoted strings from a path.
fn without_quoted(path: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (None, _) => bare.push(character),
            (Some(_), '\\') => drop(characters.next()),
            (Some(end), _) if end == character => quote = None,
            (Some(_), _) => {}
        }
    }
    bare
}

impl fmt::Display for InvalidQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Queryable for Node {
    fn get(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn as_array(&self) -> Option<&Vec<Self>> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    fn as_object(&self) -> Option<Vec<(&str, &Self)>> {
        let mapping = self.as_mapping()?;
        Some(
            mapping
                .iter()
                .filter_map(|(key, node)| Some((key.as_str()?, node)))
                .collect(),
        )
    }

    fn as_str(&self) -> Option<&str> {
        self.as_str()
    }

    fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Int(int) => Some(int),
            _ => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self.value {
            Value::Float(float) => Some(float),
            _ => None,
        }
    }

    fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    fn null() -> Self {
        Self::default()
    }
}

/// Value that the engine creates for comparisons; it is never part of a result.
fn constant(value: Value) -> Node {
    Node::made(value, Span::point(FileId::default(), 0))
}

impl Default for Node {
    fn default() -> Self {
        constant(Value::Null)
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        constant(Value::String(text.into()))
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        constant(Value::String(text.into()))
    }
}

impl From<bool> for Node {
    fn from(bool: bool) -> Self {
        constant(Value::Bool(bool))
    }
}

impl From<i64> for Node {
    fn from(int: i64) -> Self {
        constant(Value::Int(int))
    }
}

impl From<f64> for Node {
    fn from(float: f64) -> Self {
        constant(Value::Float(float))
    }
}

impl From<Vec<Node>> for Node {
    fn from(items: Vec<Node>) -> Self {
        constant(Value::from(items))
    }
}
