//! Provenance of a value on two sides, and the edits that made the difference: human-readable and
//! JSON.
//!
//! Of a secret, only whether it changed is reported.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use serde::Serialize;

use super::provenance::{ExplainedValue, write_provenance};
use super::{AnswerPlace, places};
use crate::edit::{Edit, Text};
use crate::report::printable::clean;
use crate::report::story::path_in;
use crate::report::{TerminalStyle, View, wrap};
use crate::source::{DocKey, Span};

/// Provenance of a value on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct ProvenanceDiff<At = Span, E = Edit> {
    pub(crate) base: ProvenanceSide<At>,
    pub(crate) head: ProvenanceSide<At>,
    /// Whether the value is equal.
    pub(crate) same: bool,
    /// Whether its provenance is equal, too.
    #[serde(skip)]
    pub(crate) has_same_steps: bool,
    /// Edits behind a different value; empty if they are unknown.
    pub(crate) edits: Vec<E>,
}

/// Provenance of a value on one side.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProvenanceSide<At = Span> {
    pub(crate) name: SideName,
    /// Provenance, if there is any.
    pub(crate) way: Option<ExplainedValue<At>>,
    /// Reason why there is none.
    pub(crate) missing: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum SideName {
    Now,
    /// Another state than a commit.
    State(String),
    /// A revision, with the abbreviated id of its commit.
    Commit(String, String),
    /// The merge base with a revision, with the abbreviated id of its commit.
    MergeBase(String, String),
}

/// An edit with its location on each side.
#[derive(Clone, Debug, Serialize)]
pub struct LocatedEdit<'v> {
    document: DocKey,
    pub(in crate::report) path: String,
    base: Option<AnswerPlace<'v>>,
    head: Option<AnswerPlace<'v>>,
}

impl ProvenanceDiff {
    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> ProvenanceDiff<AnswerPlace<'v>, LocatedEdit<'v>> {
        let edits = self.edits.iter().map(|edit| LocatedEdit::new(edit, view));
        ProvenanceDiff {
            base: self.base.located(view),
            head: self.head.located(view),
            same: self.same,
            has_same_steps: self.has_same_steps,
            edits: edits.collect(),
        }
    }
}

impl ProvenanceSide {
    fn located<'v>(self, view: &View<'v>) -> ProvenanceSide<AnswerPlace<'v>> {
        ProvenanceSide {
            name: self.name,
            way: self.way.map(|way| way.located(view)),
            missing: self.missing,
        }
    }
}

impl<'v> LocatedEdit<'v> {
    pub(in crate::report) fn new(edit: &Edit, view: &View<'v>) -> Self {
        let place = |text: &Option<Text>| text.as_ref().map(|it| AnswerPlace::new(it.at, view));
        let path = view.shown_location(&edit.location).to_string();
        Self {
            document: edit.document.clone(),
            path: path_in(edit.part, &path),
            base: place(&edit.base),
            head: place(&edit.head),
        }
    }

    /// Formats the edit on one line: location, document and path.
    fn line(&self) -> String {
        let document = self.document.name_and_layer();
        let parts = [
            places(self.head.or(self.base).as_slice()),
            clean(&document).into_owned(),
            clean(&self.path).into_owned(),
        ];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("  ")
    }
}

impl Display for SideName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SideName::Now => f.write_str("now"),
            SideName::State(name) => write!(f, "at {name}"),
            SideName::Commit(name, id) => write!(f, "at {name} ({id})"),
            SideName::MergeBase(name, id) => write!(f, "at {name} (merge base {id})"),
        }
    }
}

/// Writes the provenance of a value on both sides for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance_since(
    since: &ProvenanceDiff<AnswerPlace<'_>, LocatedEdit<'_>>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    for side in [&since.base, &since.head] {
        writeln!(out, "{}\n", clean(&side.name.to_string()))?;
        if let Some(way) = &side.way {
            write_provenance(way, style, out)?;
        }
        if let Some(reason) = &side.missing {
            writeln!(out, "{}", clean(reason))?;
        }
        writeln!(out)?;
    }
    match (since.same, since.has_same_steps) {
        (true, true) => writeln!(out, "the same on both sides"),
        (true, false) => writeln!(
            out,
            "the same value on both sides, with different provenance"
        ),
        (false, _) => write_edits(&since.edits, style, out),
    }
}

fn write_edits(
    edits: &[LocatedEdit<'_>],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    const HEAD: &str = "changed by";
    match edits {
        [] => writeln!(out, "{HEAD} an unknown cause"),
        [edit] => {
            let (first, rest) = (format!("{HEAD} "), " ".repeat(4));
            let line = wrap(&edit.line(), style.columns(), &first, &rest);
            writeln!(out, "{line}")
        }
        several => {
            writeln!(out, "{HEAD} {} edits", several.len())?;
            for edit in several {
                let line = wrap(&edit.line(), style.columns(), "  ", "      ");
                writeln!(out, "{line}")?;
            }
            Ok(())
        }
    }
}
