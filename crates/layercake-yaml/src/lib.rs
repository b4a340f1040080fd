#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Lowest first; a module uses only those above it in this list, its own submodules, and the types
//! of the crate root.
//!
//! - `scalar`: resolution of plain scalars
//! - `item`: kinds of lines, and the lines of one list item
//! - `node`, `collection`: the node tree
//! - `libyaml`: events of libyaml, for text that granit-parser may read differently
//! - `respelling`: placeholders for text that only PyYAML's own scanner reads
//! - `read`: conversion of events to nodes
//! - `plain`: fast path for plain YAML, without a parser
//! - `python`: errors specific to PyYAML's loader written in Python
//! - `whole`: documents that are parsed again on demand
//! - [`path`]: Deckhand's JSONPath, and locations in trees
//! - [`emit`]: conversion of nodes to text
//! - [`json`]: conversion of nodes to JSON
//! - `query`: JSONPath according to RFC 9535
//! - [`diff`]: differences between two trees

mod collection;
pub mod diff;
pub mod emit;
mod item;
pub mod json;
mod libyaml;
mod node;
pub mod path;
mod plain;
mod python;
mod query;
mod read;
mod respelling;
mod scalar;
mod whole;

pub use collection::{Mapping, Sequence, Size, is_in_capitals, words_in_capitals};
pub use item::{is_blank_or_comment, is_document_marker, lines_of_item};
pub use layercake_source::{FileId, LineIndex, Position, Span};
pub use node::{Date, Key, Node, Origin, Timestamp, Value};
pub use query::{InvalidQuery, PlaceQuery, Query, Selected};
pub use whole::{Whole, WholeText};

use std::ops::Range;
use std::sync::Arc;

use layercake_source::offset;

use self::python::RespelledText;

/// Contents of one file.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Documents in order, without those with a fatal problem.
    pub documents: Vec<YamlDocument>,
    /// Comments, in order.
    pub comments: Vec<Comment>,
    /// Problems, sorted by location.
    pub problems: Vec<YamlProblem>,
}

/// A document of a file.
#[derive(Debug)]
pub struct YamlDocument {
    /// Root node; null for an empty document.
    pub root: Node,
    /// Span from the first token (`---` if present) to the last.
    pub span: Span,
    /// Aliases of collections. Deckhand's loader creates one shared object for an anchor and its
    /// aliases (`deckhand.md` 14.4).
    pub shared: Vec<SharedCollection>,
}

/// An alias of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCollection {
    /// Span of the anchored collection, and of every node created from it.
    pub collection: Span,
    /// Span of the alias, `*name`.
    pub alias: Span,
}

/// A comment, from `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Span of the comment.
    pub span: Span,
}

/// A problem of a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlProblem {
    /// Location of the problem.
    pub span: Span,
    /// Kind of problem.
    pub kind: YamlProblemKind,
}

/// Kinds of [`YamlProblem`]; most are fatal for the document: see [`YamlProblemKind::is_fatal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlProblemKind {
    /// YAML that cannot be read.
    Invalid(InvalidYaml),
    /// An escaped surrogate, which [`Loader::Python`] accepts and does not combine with another; the
    /// value contains the whole character of a pair, and U+FFFD for a single surrogate.
    Surrogate,
    /// Text that YAML 1.2 does not allow, but the loaders accept, with a description.
    Unusual(&'static str),
    /// A repeated key of a mapping; the last value is used.
    DuplicateKey {
        /// First occurrence of the key.
        first: Span,
    },
    /// A key `<<` that merges several mappings with a key whose value depends on the version of
    /// PyYAML; the value is that of 6.0.3.
    AmbiguousMerge {
        /// The key in the mapping that is used.
        used: Span,
        /// The key in the mapping that PyYAML 6.0.4 uses.
        other: Span,
    },
    /// A tag unknown to the safe loader.
    UnknownTag(Arc<str>),
    /// A scalar that is invalid for its tag or form, such as `2001-02-30`, `!!int x`, or `=`; with
    /// the reason.
    InvalidScalar(String),
    /// An internal error; added by the caller of the parser.
    Internal,
    /// A value beyond a [`YamlLimit`].
    OverLimit(YamlLimit),
}

/// YAML that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidYaml {
    /// Rejected by the parser, with its message.
    Syntax(String),
    /// YAML that only libyaml rejects, with a message in its style.
    RefusedByLibyaml(String),
    /// YAML that only [`Loader::Python`] rejects.
    RefusedByPython(PythonRefusal),
    /// A list, a mapping or a set as a key.
    UnhashableKey,
    /// A value of `<<` that is not a mapping or a list of mappings.
    InvalidMerge,
    /// `*name` without a preceding `&name` in the document.
    UndefinedAlias(Arc<str>),
    /// A repeated `&name` in one document.
    DuplicateAnchor {
        /// First occurrence of the anchor.
        first: Span,
    },
    /// An alias inside its own collection.
    RecursiveAlias,
}

impl YamlProblemKind {
    /// Whether the document of the problem is discarded.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self,
            YamlProblemKind::DuplicateKey { .. }
                | YamlProblemKind::AmbiguousMerge { .. }
                | YamlProblemKind::Surrogate
                | YamlProblemKind::Unusual(_)
        )
    }
}

/// Text that [`Loader::Python`] rejects and [`Loader::Libyaml`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonRefusal {
    /// A tab outside of comments, quotes and block scalars.
    Tab,
    /// A question mark in a plain scalar inside of `[]` or `{}`.
    QuestionMark,
}

/// Limits on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlLimit {
    /// Nesting depth of collections; see [`YamlLimit::DEPTH`].
    Depth,
    /// Number of nodes of a document with aliases expanded; see [`YamlLimit::NODES`].
    Nodes,
    /// Number of digits of an integer; see [`YamlLimit::DIGITS`].
    Digits,
    /// Number of entries that `<<` adds to the mappings of a file; see `YamlLimit::merged`.
    Merged,
}

impl YamlLimit {
    /// Maximum nesting depth of collections (the reference implementation raises `RecursionError`
    /// before 1000).
    pub const DEPTH: usize = 255;
    /// Maximum number of nodes in a document, with aliases expanded.
    pub const NODES: u64 = 5_000_000;
    /// Maximum number of digits of an integer (the same as Python's limit,
    /// `sys.int_info.default_max_str_digits`).
    pub const DIGITS: usize = 4300;
    /// Maximum number of entries that `<<` may add to the mappings of a file, plus
    /// `YamlLimit::MERGED_PER_BYTE` for each byte. These entries are copies, not shared.
    pub const MERGED: u64 = 10_000;
    /// See [`YamlLimit::MERGED`].
    const MERGED_PER_BYTE: u64 = 2;

    /// Maximum number of merged entries for a text of `bytes` bytes.
    fn merged(bytes: usize) -> u64 {
        Self::MERGED + Self::MERGED_PER_BYTE * bytes as u64
    }
}

/// A safe loader of PyYAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// `CSafeLoader`, which uses libyaml: Pegleg and Deckhand.
    Libyaml,
    /// `SafeLoader`, written in Python and used by `yaml.safe_load`: cloud-init.
    Python,
}

/// Parses all documents of `text`, the decoded text of `file`, like libyaml.
pub fn parse(file: FileId, text: &str) -> Parsed {
    parse_stretch(file, text, 0..text.len(), Loader::Libyaml)
}

/// Parses only `stretch` of `text`, the decoded text of `file`. All spans refer to the file.
pub fn parse_stretch(file: FileId, text: &str, stretch: Range<usize>, loader: Loader) -> Parsed {
    let text = &text[..stretch.end];
    let body = &text[stretch.start..];
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let base = offset(text.len() - body.len());
    match loader {
        Loader::Libyaml => read_as_loader(file, base, body, loader),
        Loader::Python => {
            let RespelledText { text, surrogates } = python::respelled(body);
            let mut parsed = read_as_loader(file, base, &text, loader);
            python::review(file, base, &text, &mut parsed);
            python::add_surrogates(file, base, &surrogates, &mut parsed.problems);
            parsed
        }
    }
}

/// Parses `text` like [`parse`], and also without the fast path for plain YAML, to compare the two:
/// the first result is that of the fast path, if it reads the text.
pub fn parse_in_both_ways(file: FileId, text: &str) -> (Option<Parsed>, Parsed) {
    let parsed = read_by_events(file, 0, text, Loader::Libyaml);
    (plain::read(file, 0, text), parsed)
}

/// Parses `text` on the fast path if it is plain.
fn read_as_loader(file: FileId, base: u32, text: &str, loader: Loader) -> Parsed {
    let plain = match loader {
        Loader::Libyaml => plain::read(file, base, text),
        Loader::Python => None,
    };
    plain.unwrap_or_else(|| read_by_events(file, base, text, loader))
}

/// Parses `text` with granit-parser, and again with libyaml if the two may differ.
fn read_by_events(file: FileId, base: u32, text: &str, loader: Loader) -> Parsed {
    let granit = read::read(file, base, text, loader);
    if !granit.is_odd && !libyaml::has_odd_characters(text) {
        return granit.parsed;
    }
    let (mut parsed, refused) = read::read_with_libyaml(file, base, text, loader);
    if !refused.is_empty() {
        let passes = match loader {
            Loader::Libyaml => |_: &str| false,
            Loader::Python => python::passes,
        };
        libyaml::add_refused(
            &mut parsed,
            granit.parsed,
            &refused,
            file,
            base,
            text,
            passes,
        );
    }
    parsed
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';
