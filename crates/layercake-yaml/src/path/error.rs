//! What can be wrong with a path, and with walking one.

use std::fmt;

use super::{Location, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES};

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The byte of the text, as written, where it stops being one.
    pub at: usize,
    /// What is wrong there.
    pub kind: PathErrorKind,
}

/// The kinds of [`PathError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathErrorKind {
    /// A character that begins no token (10.2).
    UnexpectedCharacter(char),
    /// A token that cannot stand here (10.3), as it is written.
    UnexpectedToken(String),
    /// The text ends where more is needed.
    UnexpectedEnd,
    /// A quote without its other half.
    UnclosedQuote(char),
    /// A name in backquotes other than `this` and `parent`.
    UnknownOperator(String),
    /// More than [`MAX_PIECES`] pieces, or a number of thousands of digits.
    TooLong,
    /// Operators nested deeper than [`MAX_NESTING`].
    TooDeep,
}

/// Why a path cannot be walked through some data: one variant for each way in
/// which the reference raises an exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// A negative index that lies before the first element.
    BeforeStart {
        /// The index.
        index: i64,
        /// How many elements there are.
        length: usize,
    },
    /// An index that selects in a mapping without such a key.
    IndexIntoMapping {
        /// The index.
        index: i64,
    },
    /// An index into what has no elements.
    IndexInto {
        /// What it is, as [`super::Value::kind`] says it.
        kind: &'static str,
    },
    /// A slice of what has no elements.
    SliceOf {
        /// What it is.
        kind: &'static str,
    },
    /// A slice `[a:b:0]`.
    ZeroStep,
    /// The `parent` of the root.
    NoParent,
    /// An operator that cannot be walked (`&`), or not be written through
    /// (`|`, `&`, `parent`). Deckhand swallows this one in substitutions.
    UnsupportedOperator(&'static str),
    /// A name or index written into what cannot take it.
    WriteInto {
        /// What it is.
        kind: &'static str,
    },
    /// More places for elements of a list than the list has elements.
    OutOfElements,
    /// A path to write to that does not begin with `.` or `$.`.
    NotRooted,
    /// Something missing would have to be created inside what is no mapping,
    /// or no list.
    CreateThrough {
        /// Where that is.
        at: Location,
        /// What it is.
        kind: &'static str,
    },
    /// A path whose missing pieces cannot be created: one with quotes,
    /// brackets or operators.
    NotCreatable,
    /// `..` that would write into the value just written, without end.
    EndlessDescent,
    /// A list would have to be padded beyond [`MAX_INDEX`].
    IndexTooLarge {
        /// The index.
        index: usize,
    },
    /// More than [`MAX_MATCHES`] places met.
    TooManyMatches,
    /// More places looked at than the values that are there allow
    /// ([`super::MAX_VISITS`]).
    TooManyVisits {
        /// So many are allowed.
        limit: usize,
    },
}

impl fmt::Display for PathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PathErrorKind::UnexpectedCharacter(character) => {
                write!(formatter, "unexpected character `{}`", character.escape_debug())
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
                write!(formatter, "the path is nested deeper than {MAX_NESTING} levels")
            }
        }
    }
}

impl std::error::Error for PathError {}

impl fmt::Display for WalkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::BeforeStart { index, length } => {
                write!(formatter, "index {index} lies before the start of {}", elements(*length))
            }
            WalkError::IndexIntoMapping { index } => {
                write!(formatter, "index {index} into a mapping, which has no such key")
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
                formatter.write_str("the list written has no element left for this place")
            }
            WalkError::NotRooted => {
                formatter.write_str("a path to write to must begin with `.` or `$.`")
            }
            WalkError::CreateThrough { at, kind } => {
                write!(formatter, "cannot create anything inside `{at}`, which is {kind}")
            }
            WalkError::NotCreatable => formatter.write_str(
                "the path leads nowhere, and what it lacks cannot be created: only plain names, \
                 and one index after a name, can",
            ),
            WalkError::EndlessDescent => {
                formatter.write_str("`..` matches inside the value it writes, without end")
            }
            WalkError::IndexTooLarge { index } => write!(
                formatter,
                "index {index} is beyond {MAX_INDEX}, up to which lists are extended"
            ),
            WalkError::TooManyMatches => {
                write!(formatter, "the path matches more than {MAX_MATCHES} places")
            }
            WalkError::TooManyVisits { limit } => {
                write!(formatter, "the path looks at more than {limit} places to find its matches")
            }
        }
    }
}

impl std::error::Error for WalkError {}

fn elements(length: usize) -> String {
    if length == 1 { "a list of 1 element".into() } else { format!("a list of {length} elements") }
}
