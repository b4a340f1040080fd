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
mod report;
mod value;

use std::io::{self, Write};

use serde::Serialize;

use self::documents::{RenderedReport, SitesReport};
use self::escape::Escaping;
pub(super) use self::finding::DocumentName;
use self::report::Report;
use super::terminal::Totals;
use super::{Compared, DocumentsLook, RenderedSite, SiteRow, View};
use crate::triage::Findings;

pub use super::form::canonical;

/// The version of all formats here.
pub(super) const VERSION: u32 = 1;

/// Writes the report of a run without a comparison.
///
/// # Errors
/// Those of `out`.
pub fn findings(
    findings: &Findings,
    totals: &Totals,
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_json(&Report::of_findings(findings, totals, view), out)
}

/// Writes the report of a comparison, with the findings of both sides where
/// there are any.
///
/// # Errors
/// Those of `out`.
pub fn compared(compared: &Compared<'_>, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_json(&Report::of_comparison(compared, view), out)
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
