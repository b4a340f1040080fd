//! Source locations in a report: lines and columns from 1, columns in characters, never inside a
//! secret.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::id::TextRef;
use super::is_default;
use crate::report::View;
use crate::report::view::VisibleDecodedPlace;
use crate::source::Span;
use crate::yaml::json::key_form;
use crate::yaml::path::{Location, Piece};

/// Start of something in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(expecting = "a place in a file")]
pub(crate) struct FilePlace {
    /// Path of the file in the repository, or `NAME:path` in a further one.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// Commit of the further repository from which it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Arc<str>>,
    /// Location in the decoded content, if the file contains it encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<DecodedPlace>,
}

/// Start of something in decoded content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct DecodedPlace {
    /// Name of the decoded content.
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A range of a file with its label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct LabelledPlace {
    /// Path, as in [`FilePlace`].
    pub(crate) file: String,
    /// First line.
    pub(crate) line: usize,
    /// Column of the start.
    pub(crate) column: usize,
    /// Last line.
    pub(crate) end_line: usize,
    /// Column after the end.
    pub(crate) end_column: usize,
    /// Commit of the further repository from which it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Arc<str>>,
    /// Location in the decoded content, if the file contains it encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<DecodedRange>,
    /// Whether the range also covers a secret that begins at its reported end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) covers_hidden: bool,
    /// Text of the label; empty if the message of the finding is sufficient.
    pub(crate) label: String,
    /// Entry in the report's `lines` that contains it.
    pub(crate) text: Option<TextRef>,
}

/// A range of decoded content.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct DecodedRange {
    /// Name of the decoded content.
    pub(crate) name: String,
    /// First line.
    pub(crate) line: usize,
    /// Column of the start.
    pub(crate) column: usize,
    /// Last line.
    pub(crate) end_line: usize,
    /// Column after the end.
    pub(crate) end_column: usize,
}

impl FilePlace {
    pub(super) fn new(span: Span, view: &View<'_>) -> Self {
        let place = view.place(span);
        Self {
            file: place.path.as_str().to_owned(),
            line: place.line,
            column: place.column,
            commit: place.commit.cloned(),
            decoded: place.decoded.as_ref().map(
                |VisibleDecodedPlace {
                     name, line, column, ..
                 }| DecodedPlace {
                    name: name.as_str().to_owned(),
                    line: *line,
                    column: *column,
                },
            ),
        }
    }
}

impl LabelledPlace {
    pub(super) fn new(span: Span, label: &str, text: Option<TextRef>, view: &View<'_>) -> Self {
        let place = view.place(span);
        Self {
            file: place.path.as_str().to_owned(),
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
            commit: place.commit.cloned(),
            decoded: place.decoded.map(|range| DecodedRange {
                name: range.name.as_str().to_owned(),
                line: range.line,
                column: range.column,
                end_line: range.end_line,
                end_column: range.end_column,
            }),
            covers_hidden: place.covers_secret,
            label: label.to_owned(),
            text,
        }
    }

    /// Returns the start of the range.
    pub(crate) fn start(&self) -> FilePlace {
        FilePlace {
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            commit: self.commit.clone(),
            decoded: self.decoded.as_ref().map(|range| DecodedPlace {
                name: range.name.clone(),
                line: range.line,
                column: range.column,
            }),
        }
    }

    /// Returns line and column of the start and of the end, in the decoded content if there is any.
    pub(crate) fn ends(&self) -> [(usize, usize); 2] {
        match &self.decoded {
            Some(it) => [(it.line, it.column), (it.end_line, it.end_column)],
            None => [(self.line, self.column), (self.end_line, self.end_column)],
        }
    }
}

/// Returns a location in a document as a JSON Pointer (RFC 6901).
pub(in crate::report) fn pointer(location: &Location) -> String {
    let mut pointer = String::new();
    for piece in &location.0 {
        pointer.push('/');
        match piece {
            Piece::Key(key) => {
                pointer.push_str(&key_form(key).replace('~', "~0").replace('/', "~1"));
            }
            Piece::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}
