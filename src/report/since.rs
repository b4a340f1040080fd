//! Provenance of a value on two sides, and the edits that made the difference: human-readable and
//! JSON.
//!
//! Of a secret, only whether it changed is reported.

use std::io::{self, Write};

use serde::Serialize;

use super::model::{VERSION, write_json};
use super::printable::clean;
use super::provenance::{ExplainedValue, PlaceForm, ProvenanceForm, write_provenance};
use super::story::path_in;
use super::{TerminalStyle, View, wrap};
use crate::edit::{Edit, Text};
use crate::source::DocKey;

/// Provenance of a value on both sides.
#[derive(Clone, Debug)]
pub struct ProvenanceDiff {
    /// The base side.
    pub(crate) base: ProvenanceSide,
    /// The head side.
    pub(crate) head: ProvenanceSide,
    /// The difference.
    pub(crate) difference: ExplainedDifference,
}

/// Provenance of a value on one side.
#[derive(Clone, Debug)]
pub(crate) struct ProvenanceSide {
    /// Heading of the side, such as `now`.
    pub(crate) heading: String,
    /// Provenance, or the reason why there is none as a sentence without a full stop.
    pub(crate) way: Result<ExplainedValue, String>,
}

/// Difference between two explanations of a value.
#[derive(Clone, Debug)]
pub(crate) enum ExplainedDifference {
    /// No difference.
    None,
    /// The value is equal, but its provenance differs.
    OnlyWay,
    /// The value differs because of these edits; empty if they are unknown.
    Value(Vec<Edit>),
}

/// Writes the provenance of a value on both sides for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance_since(
    since: &ProvenanceDiff,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    for side in [&since.base, &since.head] {
        writeln!(out, "{}\n", clean(&side.heading))?;
        match &side.way {
            Ok(way) => write_provenance(way, view, style, out)?,
            Err(reason) => writeln!(out, "{}", clean(reason))?,
        }
        writeln!(out)?;
    }
    match &since.difference {
        ExplainedDifference::None => writeln!(out, "the same on both sides"),
        ExplainedDifference::OnlyWay => {
            writeln!(
                out,
                "the same value on both sides, with different provenance"
            )
        }
        ExplainedDifference::Value(edits) => write_edits(edits, view, style, out),
    }
}

fn write_edits(
    edits: &[Edit],
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    const HEAD: &str = "changed by";
    match edits {
        [] => writeln!(out, "{HEAD} an unknown cause"),
        [edit] => {
            let (first, rest) = (format!("{HEAD} "), " ".repeat(4));
            writeln!(
                out,
                "{}",
                wrap(&edit_line(edit, view), style.columns(), &first, &rest)
            )
        }
        several => {
            writeln!(out, "{HEAD} {} edits", several.len())?;
            for edit in several {
                let text = edit_line(edit, view);
                writeln!(out, "{}", wrap(&text, style.columns(), "  ", "      "))?;
            }
            Ok(())
        }
    }
}

/// Writes the provenance of a value on both sides as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance_since_json(
    since: &ProvenanceDiff,
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (same, edits) = match &since.difference {
        ExplainedDifference::None | ExplainedDifference::OnlyWay => (true, &[][..]),
        ExplainedDifference::Value(edits) => (false, edits.as_slice()),
    };
    let report = SinceReport {
        version: VERSION,
        base: SideForm::new(&since.base, view),
        head: SideForm::new(&since.head, view),
        same,
        edits: edits.iter().map(|edit| EditForm::new(edit, view)).collect(),
    };
    write_json(&report, out)
}

/// Formats an edit on one line: location, document and path.
fn edit_line(edit: &Edit, view: &View<'_>) -> String {
    let place = view.place(edit.at());
    let document = edit.document.name_and_layer();
    let parts = [
        format!("{}:{}", place.path, place.line),
        document,
        edit_path(edit, view),
    ];
    let parts = parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| clean(part));
    parts.collect::<Vec<_>>().join("  ")
}

pub(super) fn edit_path(edit: &Edit, view: &View<'_>) -> String {
    path_in(edit.part, &view.shown_location(&edit.location).to_string())
}

#[derive(Serialize)]
struct SinceReport<'a> {
    version: u32,
    base: SideForm<'a>,
    head: SideForm<'a>,
    same: bool,
    edits: Vec<EditForm<'a>>,
}

#[derive(Serialize)]
struct SideForm<'a> {
    name: &'a str,
    way: Option<ProvenanceForm<'a>>,
    missing: Option<&'a str>,
}

/// An edit with its location on each side.
#[derive(Serialize)]
pub(super) struct EditForm<'a> {
    document: &'a DocKey,
    path: String,
    base: Option<PlaceForm<'a>>,
    head: Option<PlaceForm<'a>>,
}

impl<'a> SideForm<'a> {
    fn new(side: &'a ProvenanceSide, view: &View<'a>) -> Self {
        Self {
            name: &side.heading,
            way: side
                .way
                .as_ref()
                .ok()
                .map(|way| ProvenanceForm::new(way, view)),
            missing: side.way.as_ref().err().map(String::as_str),
        }
    }
}

impl<'a> EditForm<'a> {
    pub(super) fn new(edit: &'a Edit, view: &View<'a>) -> Self {
        let place = |text: &Option<Text>| text.as_ref().map(|it| PlaceForm::new(it.at, view));
        Self {
            document: &edit.document,
            path: edit_path(edit, view),
            base: place(&edit.base),
            head: place(&edit.head),
        }
    }
}
