//! Results for programs: JSON with a version, in an order that depends on nothing but the input.
//!
//! Fields may be added; one that is removed or means something else makes a new version.

mod documents;
mod escape;
mod layout;

use std::io::{self, Write};

use serde::Serialize;

use self::documents::{RenderedReport, SitesReport};
use self::escape::Escaping;
use self::layout::EntryPerLine;
use super::Report;
use crate::report::{DocumentOptions, SiteDocuments, SiteRow};

/// The version of all JSON that is not a report.
pub(in crate::report) const VERSION: u32 = 1;

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    let layout = EntryPerLine::default();
    report.serialize(&mut serde_json::Serializer::with_formatter(&mut out, layout))?;
    out.write_all(b"\n")
}

/// Writes rendered documents.
///
/// # Errors
/// Those of `out`.
pub fn rendered(
    sites: &[SiteDocuments],
    look: DocumentOptions,
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
pub fn site_rows(rows: &[SiteRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(&SitesReport::new(rows), out)
}

/// Writes what is not a report, indented.
pub(in crate::report) fn write_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")
}
