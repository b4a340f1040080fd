//! JSON output: versioned, in an order that depends only on the input.
//!
//! Adding a field keeps the version; removing one or changing its meaning requires a new version.

mod documents;
mod escape;
mod layout;

use std::io::{self, Write};

use serde::Serialize;

use self::documents::RenderedReport;
use self::escape::Escaping;
use self::layout::EntryPerLine;
use super::Report;
use crate::report::{DocumentOptions, SiteDocuments};

/// Version of all JSON output except reports.
pub(in crate::report) const VERSION: u32 = 1;

/// Writes a report.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    let layout = EntryPerLine::default();
    report.serialize(&mut serde_json::Serializer::with_formatter(
        &mut out, layout,
    ))?;
    out.write_all(b"\n")
}

/// Writes rendered documents, and the report of the run that rendered them.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn rendered(
    sites: &[SiteDocuments],
    options: DocumentOptions,
    report: Option<&Report>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer(&mut out, &RenderedReport::new(sites, options, report))?;
    out.write_all(b"\n")
}

/// Writes other values than reports, indented.
pub(in crate::report) fn write_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")
}
