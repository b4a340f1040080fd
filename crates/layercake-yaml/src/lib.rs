#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Lowest first; a module uses only those before it and those of its own item, and the types of
//! this one.
//!
//! - `scalar`: what a plain scalar resolves to
//! - `quoted`: scalars in quotes
//! - `spelling`: other spellings of what granit-parser does not read as libyaml does
//! - `item`: the lines of one item of a list
//! - `node`, `collection`: the tree
//! - `read`: from events to nodes
//! - `libyaml`, `python`: what one of PyYAML's loaders refuses
//! - `whole`: a document read again for more than its data
//! - [`path`]: Deckhand's JSONPath, and places in trees
//! - `query`: JSONPath as in RFC 9535
//! - [`emit`]: from nodes to text
//! - [`diff`]: what differs between two trees

mod collection;
pub mod diff;
pub mod emit;
mod item;
mod libyaml;
mod node;
pub mod path;
mod python;
mod query;
mod quoted;
mod read;
mod scalar;
mod spelling;
mod whole;

pub use collection::{Mapping, Sequence, Size, is_in_capitals, words_in_capitals};
pub use item::lines_of_item;
pub use layercake_source::{FileId, LineIndex, Position, Span};
pub use node::{Date, Key, Node, Origin, Timestamp, Value};
pub use query::{InvalidQuery, PlaceQuery, Query};
pub use whole::{Whole, WholeText};

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use layercake_source::offset;

use self::read::ReadDocuments;

/// What one file holds.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The documents, in order. A document with a fatal problem is not here.
    pub documents: Vec<YamlDocument>,
    /// The comments, in order.
    pub comments: Vec<Comment>,
    /// What is wrong, in order of place.
    pub problems: Vec<YamlProblem>,
}

/// One document of a file.
#[derive(Debug)]
pub struct YamlDocument {
    /// Its content; an empty document is null.
    pub root: Node,
    /// From its first token (`---` where there is one) to its last.
    pub span: Span,
    /// Aliases of collections: Deckhand's loader makes one shared object of
    /// an anchor and its aliases (`deckhand.md` 14.4).
    pub shared: Vec<SharedCollection>,
}

/// An alias that stands for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCollection {
    /// The span of the anchored collection, which is the span of every node
    /// that came from it.
    pub collection: Span,
    /// The alias, `*name`.
    pub alias: Span,
}

/// A comment, from `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it is.
    pub span: Span,
}

/// Something wrong with a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlProblem {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: YamlProblemKind,
}

/// The kinds of [`YamlProblem`]. All but [`YamlProblemKind::DuplicateKey`] and
/// [`YamlProblemKind::Surrogate`] cost the document they are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlProblemKind {
    /// Not YAML; in the reader's own words.
    Syntax(String),
    /// YAML to us, but libyaml refuses it; in libyaml's words.
    RefusedByLibyaml(String),
    /// YAML to us and to libyaml, but [`Loader::Python`] refuses it.
    RefusedByPython(PythonRefusal),
    /// An escape for half a character, which [`Loader::Python`] takes as it is; what stands
    /// here is the whole character.
    Surrogate,
    /// A key that stands in its mapping already; the last value counts.
    DuplicateKey {
        /// The key as it was first written.
        first: Span,
    },
    /// A key that is a list, a mapping or a set.
    UnhashableKey,
    /// A tag the safe loader does not know.
    UnknownTag(Arc<str>),
    /// A scalar that is not what its tag or its form says, such as
    /// `2001-02-30`, `!!int x`, or `=`; the text says what is wrong.
    InvalidScalar(String),
    /// `<<` over something that is no mapping or list of mappings.
    InvalidMerge,
    /// `*name` without `&name` before it in the document.
    UndefinedAlias(Arc<str>),
    /// `&name` twice in one document.
    DuplicateAnchor {
        /// The anchor as it was first written.
        first: Span,
    },
    /// An alias inside the collection it stands for.
    RecursiveAlias,
    /// Reading failed in layercake itself; whoever calls the reader notes it.
    Internal,
    /// Beyond one of [`YamlLimit`].
    OverLimit(YamlLimit),
}

impl YamlProblemKind {
    /// Whether the problem costs the document it is in.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, YamlProblemKind::DuplicateKey { .. } | YamlProblemKind::Surrogate)
    }
}

/// What [`Loader::Python`] does not read and [`Loader::Libyaml`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonRefusal {
    /// A tab that is in no comment, no quotes and no block scalar.
    Tab,
    /// A question mark in a text without quotes, inside of `[]` or `{}`.
    QuestionMark,
}

/// What layercake refuses to hold in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlLimit {
    /// Collections inside collections; see [`YamlLimit::DEPTH`].
    Depth,
    /// Nodes of one document with its aliases written out; see [`YamlLimit::NODES`].
    Nodes,
    /// Digits of one integer; see [`YamlLimit::DIGITS`].
    Digits,
    /// Bytes of the texts of one document; see [`YamlLimit::BYTES`].
    Bytes,
    /// Entries that `<<` brings into the mappings of one text; see `YamlLimit::merged`.
    Merged,
}

impl YamlLimit {
    /// Collections may be nested this deep (the reference implementation ends
    /// in a `RecursionError` before 1000).
    pub const DEPTH: usize = 255;
    /// A document may hold this many nodes, aliases written out.
    pub const NODES: u64 = 5_000_000;
    /// An integer may have this many digits (as Python's own limit on
    /// reading them, `sys.int_info.default_max_str_digits`).
    pub const DIGITS: usize = 4300;
    /// The texts of a rendered document may have this many bytes, shared ones
    /// written out.
    pub const BYTES: u64 = 256 << 20;
    /// `<<` may bring so many entries into the mappings of one text, and
    /// `YamlLimit::MERGED_PER_BYTE` more for each byte. They are copies, not shared.
    pub const MERGED: u64 = 10_000;
    /// See [`YamlLimit::MERGED`].
    const MERGED_PER_BYTE: u64 = 2;

    /// How many entries `<<` may bring into the mappings of a text of so many bytes.
    fn merged(bytes: usize) -> u64 {
        Self::MERGED + Self::MERGED_PER_BYTE * bytes as u64
    }
}

/// Which of PyYAML's two safe loaders a text is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// `CSafeLoader`, which leaves the text to libyaml: Pegleg and Deckhand.
    Libyaml,
    /// `SafeLoader`, written in Python, which is what `yaml.safe_load` takes:
    /// cloud-init.
    Python,
}

/// Reads all documents of `text`, the decoded text of `file`, with libyaml.
pub fn parse(file: FileId, text: &str) -> Parsed {
    parse_stretch(file, text, 0..text.len(), Loader::Libyaml)
}

/// Reads `stretch` of `text`, the decoded text of `file`, as if nothing else
/// stood there. All spans are of the file.
pub fn parse_stretch(file: FileId, text: &str, stretch: Range<usize>, loader: Loader) -> Parsed {
    let text = &text[..stretch.end];
    let body = &text[stretch.start..];
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let base = offset(text.len() - body.len());
    let body = with_line_breaks_of_libyaml(body);
    let mut read = read_respelled(file, base, &body, loader);
    match loader {
        Loader::Libyaml => libyaml::review(file, base, &body, |_| false, &mut read),
        Loader::Python => {
            libyaml::review(file, base, &body, python::passes, &mut read);
            python::review(file, base, &body, &mut read);
        }
    }
    read.parsed
}

/// Reads `text`, where needed in spellings that granit-parser reads as libyaml reads `text`.
fn read_respelled(file: FileId, base: u32, text: &str, loader: Loader) -> ReadDocuments {
    let written = read::read(file, base, text, loader);
    if written.respellings.is_empty() {
        return written;
    }
    let mut respelled = spelling::respelled(text, &written.respellings);
    let mut read = read::read(file, base, &respelled, loader);
    for _ in 1..spelling::max_passes(text.len()) {
        if read.respellings.is_empty() {
            break;
        }
        respelled = spelling::respelled(&respelled, &read.respellings);
        read = read::read(file, base, &respelled, loader);
    }
    // libyaml has the last word on what is read of another spelling.
    read.extents.iter_mut().for_each(|extent| extent.is_odd = true);
    // Where no fault is gone, the problems of the text as it is written are easier to understand.
    let faults =
        |read: &ReadDocuments| read.parsed.problems.iter().filter(|it| it.kind.is_fatal()).count();
    if faults(&read) < faults(&written) { read } else { written }
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// To YAML 1.1 U+0085 ends a line, to YAML 1.2 it does not. A carriage return
/// with a line feed is as long in UTF-8, so that no byte moves.
fn with_line_breaks_of_libyaml(text: &str) -> Cow<'_, str> {
    const NEXT_LINE: char = '\u{85}';
    // Fast path: ASCII has no such character.
    if text.is_ascii() || !text.contains(NEXT_LINE) {
        return text.into();
    }
    text.replace(NEXT_LINE, "\r\n").into()
}
