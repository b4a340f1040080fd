//! Errors of parsing and evaluating paths.

use std::fmt;

use super::{Location, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES};

/// Error of parsing a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// Byte offset of the error in the text, as written.
    pub at: usize,
    /// Kind of the error.
    pub kind: PathErrorKind,
}

/// Kinds of [`PathError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathErrorKind {
    /// A character that does not begin a token (10.2).
    UnexpectedCharacter(char),
    /// A token that is not allowed here (10.3), as written.
    UnexpectedToken(String),
    /// The text ends too early.
    UnexpectedEnd,
    /// A quote that is not closed.
    UnclosedQuote(char),
    /// A name in backquotes other than `this` and `parent`.
    UnknownOperator(String),
    /// More than [`MAX_PIECES`] pieces, or a number of thousands of digits.
    TooLong,
    /// Operators nested deeper than [`MAX_NESTING`].
    TooDeep,
}

/// Error of evaluating a path: one variant for each exception of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// A negative index before the first element.
    BeforeStart {
        /// Index in the path.
        index: i64,
        /// Number of elements.
        length: usize,
    },
    /// An index into a mapping without such a key.
    IndexIntoMapping {
        /// Index in the path.
        index: i64,
    },
    /// An index into a value without elements.
    IndexInto {
        /// Type of the value; see [`super::Value::kind`].
        kind: &'static str,
    },
    /// A slice of a value without elements.
    SliceOf {
        /// Type of the value.
        kind: &'static str,
    },
    /// A slice `[a:b:0]`.
    ZeroStep,
    /// The `parent` of the root.
    NoParent,
    /// An operator that cannot be evaluated (`&`), or not be written through (`|`, `&`, `parent`).
    /// Deckhand ignores this error in substitutions.
    UnsupportedOperator(&'static str),
    /// A name or index written into a value that does not support it.
    WriteInto {
        /// Type of the value.
        kind: &'static str,
    },
    /// More list indexes to write to than the written list has elements.
    OutOfElements,
    /// A path for writing that does not begin with `.` or `$.`.
    NotRooted,
    /// A missing node inside of a value that is not a mapping or list.
    CreateThrough {
        /// Location of the value.
        at: Location,
        /// Type of the value.
        kind: &'static str,
    },
    /// Missing pieces that cannot be created: with quotes, brackets or operators.
    NotCreatable,
    /// Endless recursion of `..` into the value just written.
    EndlessDescent,
    /// Padding of a list beyond [`MAX_INDEX`].
    IndexTooLarge {
        /// Required index.
        index: usize,
    },
    /// More than [`MAX_MATCHES`] matches.
    TooManyMatches,
    /// More visits than allowed for the size of the data ([`super::MAX_VISITS`]).
    TooManyVisits {
        /// Allowed number.
        limit: usize,
    },
}

impl fmt::Display for PathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PathErrorKind::UnexpectedCharacter(character) => {
                write!(
                    formatter,
                    "unexpected character `{}`",
                    character.escape_debug()
                )
            }
            PathErrorKind::UnexpectedToken(token) => {
                write!(formatter, "unexpected `{}`", token.escape_debug())
            }
            PathErrorKind::UnexpectedEnd => formatter.write_str("the path ends too early"),
            PathErrorKind::UnclosedQuote(quote) => write!(formatter, "missing closing {quote}"),
            PathErrorKind::UnknownOperator(name) => {
                write!(formatter, "unknown operator `{}`", name.escape_debug())
            }
            PathErrorKind::TooLong => {
                write!(formatter, "the path has more than {MAX_PIECES} pieces")
            }
            PathErrorKind::TooDeep => {
                write!(
                    formatter,
                    "the path is nested deeper than {MAX_NESTING} levels"
                )
            }
        }
    }
}

impl std::error::Error for PathError {}

impl fmt::Display for WalkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::BeforeStart { index, length } => {
                write!(
                    formatter,
                    "index {index} is before the start of {}",
                    elements(*length)
                )
            }
            WalkError::IndexIntoMapping { index } => {
                write!(formatter, "index {index} into a mapping without this key")
            }
            WalkError::IndexInto { kind } => write!(formatter, "index into {kind}"),
            WalkError::SliceOf { kind } => write!(formatter, "slice of {kind}"),
            WalkError::ZeroStep => formatter.write_str("slice with a step of 0"),
            WalkError::NoParent => formatter.write_str("the root has no parent"),
            WalkError::UnsupportedOperator(operator) => {
                write!(formatter, "operator `{operator}` is not supported here")
            }
            WalkError::WriteInto { kind } => write!(formatter, "cannot write into {kind}"),
            WalkError::OutOfElements => {
                formatter.write_str("the written list has no element left for this location")
            }
            WalkError::NotRooted => {
                formatter.write_str("a path for writing must begin with `.` or `$.`")
            }
            WalkError::CreateThrough { at, kind } => {
                write!(
                    formatter,
                    "cannot create anything inside `{at}`, which is {kind}"
                )
            }
            WalkError::NotCreatable => formatter.write_str(
                "the path has no match and cannot be created: only plain names, \
                 and one index after a name, can be created",
            ),
            WalkError::EndlessDescent => {
                formatter.write_str("`..` endlessly matches inside the value that it writes")
            }
            WalkError::IndexTooLarge { index } => write!(
                formatter,
                "index {index} exceeds {MAX_INDEX}, the limit for extending lists"
            ),
            WalkError::TooManyMatches => {
                write!(
                    formatter,
                    "the path matches more than {MAX_MATCHES} locations"
                )
            }
            WalkError::TooManyVisits { limit } => {
                write!(
                    formatter,
                    "the path visits more than {limit} locations to find its matches"
                )
            }
        }
    }
}

impl std::error::Error for WalkError {}

fn elements(length: usize) -> String {
    if length == 1 {
        "a list of 1 element".into()
    } else {
        format!("a list of {length} elements")
    }
}
