//! Results for programs: JSON with a version, in an order that depends on
//! nothing but the input.
//!
//! Fields may be added; one that is taken away or means something else makes
//! a new version. Values are written as [`canonical`] says, in the order of
//! the document. `docs/report.md` tells what the report of `lint` and `diff`
//! means, `docs/report-1.schema.json` what may be in it.

mod comparison;
mod documents;
mod escape;
mod finding;
mod lines;
mod read;
mod report;
mod value;
pub(super) mod words;

use std::io::{self, Write};

use serde::Serialize;

pub(super) use self::comparison::{
    ByForm, CauseForm, ChangeForm, ComparisonForm, DecodedPlace, EditForm, ExtentForm, GroupForm,
    MemberForm, OutputForm, PlaceForm, RouteForm, ShieldForm, SideForm, StatusForm, StepForm,
};
use self::documents::{RenderedReport, SitesReport};
use self::escape::Escaping;
pub(super) use self::finding::{
    DocumentName, Finding, Fingerprints, FixForm, LabelForm, Level, State, SuppressionForm,
};
pub(super) use self::lines::{FileLines, Line};
pub use self::read::{Unreadable, read};
pub use self::report::Report;
pub(super) use self::value::{Entries, ValueForm};
use super::{DocumentsLook, RenderedSite, SiteRow};

pub use super::form::canonical;

/// The JSON Schema of the report of `lint` and `diff`.
pub const SCHEMA_TEXT: &str = include_str!("../../../docs/report-1.schema.json");

/// The version of all formats here.
pub(super) const VERSION: u32 = 1;

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_json(report, out)
}

/// Writes rendered documents.
///
/// # Errors
/// Those of `out`.
pub fn rendered(
    sites: &[RenderedSite],
    look: DocumentsLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer(&mut out, &RenderedReport::new(sites, look))?;
    out.write_all(b"\n")
}

/// Writes the sites.
///
/// # Errors
/// Those of `out`.
pub fn sites(rows: &[SiteRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(&SitesReport::new(rows), out)
}

/// Writes a report, laid out to be read.
pub(super) fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, report)?;
    out.write_all(b"\n")
}
