//! Places in files, as a report names them: lines and columns from one, columns in characters,
//! and none inside of a secret.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::id::TextRef;
use super::is_default;
use crate::report::View;
use crate::report::form::key_form;
use crate::report::view::VisibleDecodedPlace;
use crate::source::Span;
use crate::yaml::path::{Location, Piece};

/// Where something begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(expecting = "struct Place")]
pub(crate) struct FilePlace {
    /// The file in which it can be changed: its path in the repository, or `NAME:path` in a
    /// further one.
    pub(crate) file: String,
    /// The line.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
    /// The commit of a further repository that it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Arc<str>>,
    /// Where it is in a text that the file holds encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<DecodedPlace>,
}

/// Where something begins in a text that a file holds encoded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct DecodedPlace {
    /// Name of the text.
    pub(crate) name: String,
    /// The line.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
}

/// A stretch of a file, and what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct LabelledPlace {
    /// The file, as in [`FilePlace`].
    pub(crate) file: String,
    /// The line on which it begins.
    pub(crate) line: usize,
    /// The column at which it begins.
    pub(crate) column: usize,
    /// The line on which it ends.
    pub(crate) end_line: usize,
    /// The column behind it.
    pub(crate) end_column: usize,
    /// The commit of a further repository that it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Arc<str>>,
    /// Where it is in a text that the file holds encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<DecodedStretch>,
    /// Whether it goes on over a secret that begins where it is said to end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) covers_hidden: bool,
    /// Text of the label; empty where the message of the finding is enough.
    pub(crate) label: String,
    /// The text that it is in, among the `lines` of the report.
    pub(crate) text: Option<TextRef>,
}

/// A stretch of a text that a file holds encoded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct DecodedStretch {
    /// Name of the text.
    pub(crate) name: String,
    /// The line on which it begins.
    pub(crate) line: usize,
    /// The column at which it begins.
    pub(crate) column: usize,
    /// The line on which it ends.
    pub(crate) end_line: usize,
    /// The column behind it.
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
                |VisibleDecodedPlace { name, line, column, .. }| DecodedPlace {
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
            decoded: place.decoded.map(|it| DecodedStretch {
                name: it.name.as_str().to_owned(),
                line: it.line,
                column: it.column,
                end_line: it.end_line,
                end_column: it.end_column,
            }),
            covers_hidden: place.covers_secret,
            label: label.to_owned(),
            text,
        }
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> FilePlace {
        FilePlace {
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            commit: self.commit.clone(),
            decoded: self.decoded.as_ref().map(|it| DecodedPlace {
                name: it.name.clone(),
                line: it.line,
                column: it.column,
            }),
        }
    }

    /// Where it begins and where it ends in the text that its lines are those of: line and
    /// column of each.
    pub(crate) fn ends(&self) -> [(usize, usize); 2] {
        match &self.decoded {
            Some(it) => [(it.line, it.column), (it.end_line, it.end_column)],
            None => [(self.line, self.column), (self.end_line, self.end_column)],
        }
    }
}

/// A place in a document as a JSON Pointer (RFC 6901).
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
