//! A report as a page to look around in: one HTML file, complete in itself.
//!
//! Everything that is said stands in the HTML, folded with `<details>`, so
//! that it can be read without JavaScript and printed. What `page.js` adds is
//! ways around: searching, filtering, opening what a link leads to. Nothing is
//! fetched from anywhere, and the page's own policy (CSP) allows no more than
//! its one script and its one style sheet, by their hashes.
//!
//! Every text is taken for hostile, since a saved report can come from
//! anybody: texts reach the page through [`escape::text`] alone, addresses
//! through [`place::address`], and no text at all stands in the script.
//!
//! | file | what |
//! |---|---|
//! | `head` | what the browser is told: the policy, the style sheet, the script |
//! | `overview` | both sides, all of it in figures, and what happened in each site |
//! | `edits` | edits in the order of their reach, what each reached and where it stopped |
//! | `fold` | which edits are told as one |
//! | `group` | outputs that changed alike, with their causes and the routes |
//! | `value` | values as lines, and what differs between two |
//! | `findings` | findings by file |
//! | `excerpt` | lines of files with their labels |
//! | `pages` | what rules say of themselves |
//! | `place` | places and documents, with links |
//! | `escape` | texts as HTML has them |

mod edits;
mod escape;
mod excerpt;
mod findings;
mod fold;
mod group;
mod head;
mod overview;
mod pages;
mod place;
mod value;

use std::io::{self, Write};

use self::escape::text;
use super::Manner;
use super::json::{Finding, Report, RouteForm, ShieldForm};

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(report: &Report, manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<()> {
    let page = Page::new(report, manner);
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">")?;
    head::write(&overview::headline(&page), out)?;
    writeln!(out, "<body>")?;
    overview::write_header(&page, out)?;
    write_ways_around(&page, out)?;
    writeln!(out, "<main>")?;
    edits::write_unexplained(&page, out)?;
    overview::write_sites(&page, out)?;
    edits::write(&page, out)?;
    findings::write(&page, out)?;
    pages::write(&page, out)?;
    writeln!(out, "</main>")?;
    write_footer(report, out)?;
    head::write_script(out)?;
    writeln!(out, "</body>\n</html>")
}

/// All that the parts of a page look at.
struct Page<'a> {
    report: &'a Report,
    manner: &'a Manner<'a>,
    /// The findings that are listed, in their order.
    findings: Vec<&'a Finding>,
    /// By edit, what stopped it.
    shields: Vec<Vec<&'a ShieldForm>>,
}

impl<'a> Page<'a> {
    fn new(report: &'a Report, manner: &'a Manner<'a>) -> Self {
        let mut shields = vec![Vec::new(); report.edits.len()];
        for shield in &report.shields {
            if let Some(edit) = report.edit_number(&shield.edit) {
                shields[edit].push(shield);
            }
        }
        Self { report, manner, findings: report.listed(manner.listing).collect(), shields }
    }

    /// Whether findings were looked for.
    fn is_linted(&self) -> bool {
        self.report.comparison.as_ref().is_none_or(|it| it.linted)
    }

    /// Where an edit is among the edits of the report. Names come from a file: in
    /// the page, things are named by their place instead.
    fn edit_at(&self, name: &str) -> Option<usize> {
        self.report.edit_number(name)
    }

    /// What stopped the edit at this place.
    fn shields_of(&self, edit: usize) -> &[&'a ShieldForm] {
        &self.shields[edit]
    }

    /// A route, and where it is among the routes of the report.
    fn route(&self, name: &str) -> Option<(usize, &'a RouteForm)> {
        let at = self.report.route_number(name)?;
        Some((at, &self.report.routes[at]))
    }

    /// Where a group is among the groups of the report.
    fn group_at(&self, name: &str) -> Option<usize> {
        self.report.group_number(name)
    }
}

/// Links to the parts of the page, and what the script uses. That is hidden
/// until there is a script.
fn write_ways_around(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<nav aria-label=\"parts of this report\"><ul>")?;
    writeln!(out, "<li><a href=\"#sites\">Sites</a></li>")?;
    if page.report.comparison.is_some() {
        let edits = page.report.edits.len();
        writeln!(out, "<li><a href=\"#edits\">Edits <b>{edits}</b></a></li>")?;
    }
    let findings = Finding::total(page.findings.iter().copied());
    if page.is_linted() {
        writeln!(out, "<li><a href=\"#findings\">Findings <b>{findings}</b></a></li>")?;
    }
    if !page.findings.is_empty() {
        writeln!(out, "<li><a href=\"#rules\">Rules</a></li>")?;
    }
    writeln!(out, "</ul></nav>")?;
    out.write_all(include_bytes!("tools.html"))
}

fn write_footer(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (name, version) = (text(&report.tool.name), text(&report.tool.version));
    writeln!(
        out,
        "<footer><p>{name} {version}. Secrets are hidden: neither their values nor their"
    )?;
    writeln!(out, "lengths stand in this file. It fetches nothing.</p>")?;
    if let Some(unlisted) = super::unlisted_words(report.truncated.unlisted()) {
        writeln!(out, "<p>{unlisted}.</p>")?;
    }
    let values = report.truncated.values;
    if values > 0 {
        let values = super::counted(values, "value");
        writeln!(out, "<p>Left out for being too long: {values}.</p>")?;
    }
    writeln!(out, "</footer>")
}
