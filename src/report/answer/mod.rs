//! Answers to questions. An answer has one type, from the code that finds it to its text and its
//! JSON: only its places change from [`Span`]s to [`AnswerPlace`]s, when it is known which texts are
//! secret. Its words are written here; code that asks compares enums.

pub mod graph;
pub mod impact;
pub mod provenance;
pub mod since;
mod step;

pub(crate) use self::step::{
    HopKind, Operation, ParentStep, StepAction, StepKind, SubstitutionKind,
};

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::model::{VERSION, write_json};
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::json::{KeyOrder, NodeAsJson};

/// Visible start of a place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerPlace<'v> {
    pub(super) file: &'v str,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl<'v> AnswerPlace<'v> {
    pub(super) fn new(span: Span, view: &View<'v>) -> Self {
        let place = view.place(span);
        Self {
            file: place.path.as_str(),
            line: place.line,
            column: place.column,
        }
    }

    fn all(spans: Vec<Span>, view: &View<'v>) -> Vec<Self> {
        let spans = spans.into_iter();
        spans.map(|span| Self::new(span, view)).collect()
    }
}

/// Formats places as [`places`], in their color.
fn painted_places(at: &[AnswerPlace<'_>], style: &TerminalStyle) -> String {
    let places = places(at);
    let lines = places
        .lines()
        .map(|line| painted(line, TextRole::Place, style));
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats places as `FILE:LINE`, several of one file as `FILE:LINE, :LINE`; one line per file.
fn places(at: &[AnswerPlace<'_>]) -> String {
    let mut text = String::new();
    let mut last: Option<(&str, usize)> = None;
    for AnswerPlace { file, line, .. } in at {
        match last {
            Some(known) if known == (file, *line) => continue,
            Some((known, _)) if known == *file => write!(text, ", :{line}"),
            Some(_) => write!(text, "\n{}:{line}", clean(file)),
            None => write!(text, "{}:{line}", clean(file)),
        }
        .expect("writing to a string cannot fail");
        last = Some((file, *line));
    }
    text
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

/// Writes an answer as JSON.
fn write_versioned(answer: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let version = VERSION;
    write_json(&Versioned { version, answer }, out)
}

/// Serializes a value without its secrets.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn without_secrets<S: Serializer>(node: &Option<Node>, serializer: S) -> Result<S::Ok, S::Error> {
    let node = node.as_ref().map(|node| NodeAsJson {
        node,
        order: KeyOrder::Document,
        show_secrets: false,
    });
    node.serialize(serializer)
}
