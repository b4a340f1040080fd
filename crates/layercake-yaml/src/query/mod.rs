//! JSONPath according to RFC 9535. jsonpath-rust evaluates the paths that need the data, and this
//! module adapts nodes to it. Deckhand's own dialect is in `path`.

mod exact;
mod places;

use std::collections::HashSet;
use std::fmt;
use std::slice;

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector};
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use jsonpath_rust::query::queryable::Queryable;
use layercake_source::{FileId, Span};

pub use self::places::PlaceQuery;
use super::{Key, Node, Value};
use crate::path::{Location, Piece};

/// A path according to RFC 9535, such as `$.chart_groups[*]`.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    parsed: JpQuery,
    /// The same path, if it does not need the data.
    places: Option<PlaceQuery>,
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

    /// Parses a path that its user waits for.
    ///
    /// # Errors
    /// If `text` is not valid.
    pub fn parse(text: &str) -> Result<Self, InvalidQuery> {
        let parsed = parse(text)?;
        exact::check(&parsed.segments)?;
        Ok(Self {
            text: text.to_owned(),
            places: PlaceQuery::of(&parsed, text).ok(),
            parsed,
        })
    }

    /// Parses a path of a configuration, which others may have written.
    ///
    /// # Errors
    /// If `text` is not valid, or may need exponential time: each `..` searches all results of the
    /// previous one, `[0,0]` doubles the results each time, and a `$` in a filter repeats the
    /// search for each value.
    pub fn parse_bounded(text: &str) -> Result<Self, InvalidQuery> {
        let bare = without_quoted(text);
        for (mark, most) in [
            ("..", Self::MAX_SEARCHES),
            ("$", Self::MAX_SEARCHES),
            (",", Self::MAX_COMMAS),
        ] {
            let count = bare.matches(mark).count();
            if count > most {
                let reason =
                    format!("it contains `{mark}` {count} times, at most {most} are allowed");
                return Err(InvalidQuery { reason });
            }
        }
        Self::parse(text)
    }

    /// The path as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Selected nodes, each once; without filters, in document order. Non-string keys are never matched, because JSON has
    /// none: [`json_form`](crate::json::json_form) makes them strings.
    pub fn find<'a>(&self, root: &'a Node) -> Vec<Selected<'a>> {
        if let Some(places) = &self.places {
            return places.select(root);
        }
        // Evaluation only fails for results outside of the document, which a path cannot have.
        let found = js_path_process(&self.parsed, root).unwrap_or_default();
        let mut seen = HashSet::new();
        found
            .into_iter()
            .filter(|found| seen.insert(found.path.clone()))
            .filter_map(|found| {
                Some(Selected {
                    node: found.val,
                    location: location(&found.path, root.span)?,
                })
            })
            .collect()
    }
}

/// A node that a query selects.
#[derive(Clone, Debug)]
pub struct Selected<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its location.
    pub location: Location,
}

fn parse(text: &str) -> Result<JpQuery, InvalidQuery> {
    parse_json_path(text).map_err(|error| InvalidQuery {
        reason: reason(&error.to_string()),
    })
}

/// Selectors of a segment, which may select at any depth.
fn selectors(segment: &Segment) -> &[Selector] {
    match segment {
        Segment::Descendant(inner) => selectors(inner),
        Segment::Selector(selector) => slice::from_ref(selector),
        Segment::Selectors(selectors) => selectors,
    }
}

/// Location of a normalized path (RFC 9535, 2.7), which is a path with one selector in each segment.
fn location(path: &str, at: Span) -> Option<Location> {
    let parsed = parse_json_path(path).ok()?;
    let pieces = parsed.segments.iter().map(|segment| {
        Some(match selectors(segment) {
            [Selector::Name(name)] => Piece::Key(Key::string(name, at)),
            [Selector::Index(index)] => Piece::Index(usize::try_from(*index).ok()?),
            _ => return None,
        })
    });
    pieces.collect::<Option<_>>().map(Location)
}

/// Reason of an error of the parser, on one line. The first line of a syntax error ends in its place,
/// as `1:COLUMN`, and the others draw it below the path.
fn reason(error: &str) -> String {
    let (first, drawn) = error.split_once('\n').unwrap_or((error, ""));
    match first.rsplit_once(':').filter(|_| !drawn.is_empty()) {
        Some((_, column)) => format!("syntax error at column {column} (JSONPath, RFC 9535)"),
        None => first.to_owned(),
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

impl From<&str> for InvalidQuery {
    fn from(reason: &str) -> Self {
        let reason = reason.to_owned();
        Self { reason }
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
