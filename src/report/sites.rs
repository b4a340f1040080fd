//! The table of sites.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::SiteRow;
use super::printable::clean;

/// Writes one line for each site under a line of headings; names to the left,
/// figures to the right.
///
/// # Errors
/// Those of `out`.
pub fn write(rows: &[SiteRow], out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "no sites");
    }
    let headings = ["site", "type", "files", "documents", "rendered"].map(String::from);
    let lines: Vec<[String; 5]> = std::iter::once(headings).chain(rows.iter().map(cells)).collect();
    let mut widths = [0; 5];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.width().max(*width);
        }
    }
    lines.iter().try_for_each(|line| write_line(line, widths, out))
}

fn write_line(line: &[String; 5], widths: [usize; 5], out: &mut dyn Write) -> io::Result<()> {
    let [site, site_type, figures @ ..] = line;
    let [site_width, type_width, figure_widths @ ..] = widths;
    let padding = |cell: &str, width: usize| " ".repeat(width - cell.width());
    write!(out, "{site}{}", padding(site, site_width))?;
    write!(out, "  {site_type}{}", padding(site_type, type_width))?;
    for (cell, width) in figures.iter().zip(figure_widths) {
        write!(out, "  {}{cell}", padding(cell, width))?;
    }
    writeln!(out)
}

fn cells(row: &SiteRow) -> [String; 5] {
    let name = |name: Option<&str>| clean(name.unwrap_or("-")).into_owned();
    [
        name(row.site.as_deref()),
        name(row.site_type.as_deref()),
        row.files.to_string(),
        row.documents.to_string(),
        row.outputs.to_string(),
    ]
}
