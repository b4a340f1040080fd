//! Paths of RFC 9535 over our nodes, for what users select: jsonpath-rust
//! finds, and this says to it what a node is. Deckhand's own paths are others
//! (`path`).

mod places;

use std::fmt;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use jsonpath_rust::query::queryable::Queryable;
use layercake_source::{FileId, Span};

pub use self::places::PlaceQuery;
use super::{Node, Value};

/// A path of RFC 9535, such as `$.chart_groups[*]`.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    parsed: JpQuery,
}

/// A text that is no path of RFC 9535, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidQuery {
    /// Why, in the parser's words.
    pub reason: String,
}

impl Query {
    /// A path may have so many `..`, and as many `$`.
    pub const MAX_SEARCHES: usize = 1;
    /// A path may have so many commas.
    pub const MAX_COMMAS: usize = 6;

    /// Reads a path.
    ///
    /// # Errors
    /// Where `text` is none, or one that may find everything over and over: what is
    /// found by `..` would be searched by the next one, what `[0,0]` finds twice by the
    /// next one four times, and all of it for each value by a `$` in a filter.
    pub fn parse(text: &str) -> Result<Self, InvalidQuery> {
        let invalid = |error: &dyn fmt::Display| InvalidQuery { reason: error.to_string() };
        let parsed = parse_json_path(text).map_err(|error| invalid(&error))?;
        let bare = without_quoted(text);
        let (searches, commas) = (Self::MAX_SEARCHES, Self::MAX_COMMAS);
        for (mark, most) in [("..", searches), ("$", searches), (",", commas)] {
            let count = bare.matches(mark).count();
            if count > most {
                let reason = format!("`{mark}` stands in it {count} times, {most} at most may");
                return Err(InvalidQuery { reason });
            }
        }
        Ok(Self { text: text.to_owned(), parsed })
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The nodes at the path, in the order of the document. Keys that are no
    /// text are not found, as JSON has none.
    pub fn find<'a>(&self, root: &'a Node) -> Vec<&'a Node> {
        // The engine's only error is a result that is no part of the document,
        // which a path alone never has.
        let found = js_path_process(&self.parsed, root).unwrap_or_default();
        found.into_iter().map(|found| found.val).collect()
    }
}

/// A path without the texts in quotes that are in it.
fn without_quoted(path: &str) -> String {
    let (mut bare, mut quote, mut characters) = (String::new(), None, path.chars());
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
        Some(mapping.iter().filter_map(|(key, node)| Some((key.as_str()?, node))).collect())
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

/// What the engine makes to compare with: it is in no document, and never
/// among what is found.
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
