//! Answers to questions. An answer has one type, from the code that finds it to its text and its
//! JSON: only its places change from [`Span`]s to [`AnswerPlace`]s, when it is known which texts are
//! secret. Its words are written here; code that asks compares enums.

pub mod blame;
pub(crate) mod effect;
pub mod graph;
pub(crate) mod image;
pub mod impact;
pub mod log;
pub mod provenance;
pub mod query;
pub mod since;
mod step;

pub(crate) use self::step::{HopKind, Operation, ParentStep, StepAction, StepKind};

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::model::{VERSION, write_json};
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::json::NodeAsJson;

/// Serializes values as their words.
macro_rules! serialize_words {
    ($($words:ty),*) => {
        $(impl Serialize for $words {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*
    };
}

serialize_words!(
    blame::BlameEnd,
    impact::ImpactHop,
    provenance::ChangeScope,
    provenance::ReachState,
    provenance::StepNote,
    since::SideName,
    step::StepKind
);

/// Visible start of a place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
}

/// File and line.
impl Display for AnswerPlace<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", clean(self.file), self.line)
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
    for place in at {
        let AnswerPlace { file, line, .. } = *place;
        match last {
            Some(known) if known == (file, line) => continue,
            Some((known, _)) if known == file => write!(text, ", :{line}"),
            Some(_) => write!(text, "\n{place}"),
            None => write!(text, "{place}"),
        }
        .expect("writing to a string cannot fail");
        last = Some((file, line));
    }
    text
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

/// Writes a list of answers as JSON, with this name.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_list(name: &str, answers: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_answer(&BTreeMap::from([(name, answers)]), out)
}

/// Writes an answer as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_answer(answer: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_json(
        &Versioned {
            version: VERSION,
            answer,
        },
        out,
    )
}

/// Serializes a value without its secrets.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn without_secrets<S: Serializer>(node: &Option<Node>, serializer: S) -> Result<S::Ok, S::Error> {
    node.as_ref().map(as_json).serialize(serializer)
}

fn as_json(node: &Node) -> NodeAsJson<'_> {
    NodeAsJson::new(node)
}
