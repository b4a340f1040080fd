//! The table of sites.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::printable::clean;
use super::story::SiteNames;
use super::terminal::painted;
use super::text::TextRole;
use super::{SiteRow, TerminalStyle, wrap};

/// Maximum number of sites with one line each; of more, sites with equal figures share a line.
const MAX_SITES: usize = 40;

/// Minimum width of the site names in columns.
const MIN_NAMES: usize = 20;

/// Line of the table: site names, and the other cells.
type SiteTableLine = (String, [String; 5]);

/// Writes one line for each site below the headings; names left-aligned, figures right-aligned. If
/// there are many sites, those with equal figures share a line.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(rows: &[SiteRow], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "no sites");
    }
    // Most repositories have no `DeploymentConfiguration`, or all of their sites do.
    let deployed = if rows.iter().any(|row| row.deployed.is_some()) {
        "deployed"
    } else {
        ""
    };
    let headings = (
        "site".to_owned(),
        ["type", "files", "documents", "rendered", deployed].map(String::from),
    );
    let lines = if rows.len() > MAX_SITES {
        folded(rows)
    } else {
        rows.iter().map(line).collect()
    };
    let lines: Vec<SiteTableLine> = std::iter::once(headings).chain(lines).collect();
    let mut widths = [0; 5];
    for (_, cells) in &lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.width().max(*width);
        }
    }
    let shown = widths.iter().filter(|width| **width > 0);
    let figures: usize = shown.map(|width| width + 2).sum();
    let room = style.columns().saturating_sub(figures).max(MIN_NAMES);
    let names: Vec<String> = lines
        .iter()
        .map(|(names, _)| wrap(names, room, "", "  "))
        .collect();
    let widest = names
        .iter()
        .flat_map(|names| names.lines())
        .map(UnicodeWidthStr::width)
        .max();
    let mut table = Vec::new();
    for (names, (_, cells)) in names.iter().zip(&lines) {
        write_line(names, widest.unwrap_or(0), cells, widths, &mut table)?;
    }
    let table = String::from_utf8_lossy(&table);
    let (headings, rest) = table.split_once('\n').unwrap_or((&table, ""));
    write!(out, "{}\n{rest}", painted(headings, TextRole::Dim, style))?;
    if rows.len() > MAX_SITES {
        writeln!(
            out,
            "{} sites (use `--format json` to list all)",
            rows.len()
        )?;
    }
    Ok(())
}

/// Groups sites with the same type and figures.
fn folded(rows: &[SiteRow]) -> Vec<SiteTableLine> {
    let names = rows
        .iter()
        .map(|row| (row.site.as_deref(), row.site_type.as_deref()));
    let names = SiteNames::of(names);
    let mut alike: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let key = (
            &row.site_type,
            row.outputs,
            row.deployed,
            row.documents,
            row.files,
        );
        alike.entry(key).or_default().insert(at);
    }
    let line = |sites: BTreeSet<usize>| {
        let first = sites.first().expect("a group has at least one site");
        let (_, cells) = line(&rows[*first]);
        (clean(&names.label(&sites).words()).into_owned(), cells)
    };
    alike.into_values().map(line).collect()
}

fn write_line(
    names: &str,
    widest: usize,
    cells: &[String; 5],
    widths: [usize; 5],
    out: &mut dyn Write,
) -> io::Result<()> {
    let [site_type, figures @ ..] = cells;
    let [type_width, figure_widths @ ..] = widths;
    let padding = |cell: &str, width: usize| " ".repeat(width - cell.width());
    let (first, rest) = names.split_once('\n').unwrap_or((names, ""));
    write!(out, "{first}{}", padding(first, widest))?;
    write!(out, "  {site_type}{}", padding(site_type, type_width))?;
    let columns = figures.iter().zip(figure_widths);
    for (cell, width) in columns.filter(|(_, width)| *width > 0) {
        write!(out, "  {}{cell}", padding(cell, width))?;
    }
    writeln!(out)?;
    if rest.is_empty() {
        Ok(())
    } else {
        writeln!(out, "{rest}")
    }
}

fn line(row: &SiteRow) -> SiteTableLine {
    let name = |name: Option<&str>| clean(name.unwrap_or("-")).into_owned();
    let site_type = name(row.site_type.as_deref());
    let figures = [row.files, row.documents, row.outputs].map(|count| count.to_string());
    let [files, documents, outputs] = figures;
    let deployed = row
        .deployed
        .map_or_else(String::new, |count| count.to_string());
    (
        name(row.site.as_deref()),
        [site_type, files, documents, outputs, deployed],
    )
}
