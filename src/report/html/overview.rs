//! What happened, in a sentence, in figures, and site by site.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::Page;
use super::escape::text;
use super::group::site_words;
use crate::report::counted;
use crate::report::json::{ComparisonForm, Finding, Level, Report, SideForm, State, StatusForm};

/// All of it in one sentence, as plain text.
pub(super) fn headline(page: &Page<'_>) -> String {
    let report = page.report;
    let (edits, outputs) = (report.edits.len(), report.outputs.len());
    match (&report.comparison, edits, outputs) {
        (None, _, _) => severities(page.report),
        (Some(_), 0, 0) => "no document differs".to_owned(),
        (Some(_), _, 0) => format!("{}, 0 rendered documents changed", counted(edits, "edit")),
        (Some(_), _, _) => {
            let verb = if edits == 1 { "changes" } else { "change" };
            let documents = counted(outputs, "rendered document");
            format!("{} {verb} {documents}{}", counted(edits, "edit"), in_sites(report))
        }
    }
}

/// In how many sites outputs changed, of all that there are on either side.
fn in_sites(report: &Report) -> String {
    let sites: BTreeSet<&str> = report.outputs.iter().filter_map(|it| it.site.as_deref()).collect();
    let named = report.sites.iter().filter(|it| it.site.is_some()).count();
    match (sites.len(), named.max(report.totals.sites)) {
        (0, _) => String::new(),
        (some, all) if some <= all => format!(" in {some} of {}", counted(all, "site")),
        (some, _) => format!(" in {}", counted(some, "site")),
    }
}

/// How many findings count, by severity.
fn severities(report: &Report) -> String {
    let counting = report.findings.iter().filter(|it| it.suppressed.is_none());
    words(&counting.collect::<Vec<_>>(), "").unwrap_or_else(|| "nothing found".to_owned())
}

/// How many there are of each level; none where there are none.
fn words(findings: &[&Finding], kind: &str) -> Option<String> {
    let parts = [Level::Error, Level::Warning, Level::Note].into_iter().filter_map(|level| {
        let of_level = findings.iter().filter(|it| it.severity == level);
        let count = Finding::total(of_level.copied());
        (count > 0).then(|| counted(count, &format!("{kind}{}", level.as_str())))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Writes what is looked at, and all of it in figures.
pub(super) fn write_header(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let totals = &page.report.totals;
    writeln!(out, "<header><p class=\"brand\">layercake</p>")?;
    writeln!(out, "<h1>{}</h1>", text(&headline(page)))?;
    let figures = [counted(totals.sites, "site"), counted(totals.outputs, "rendered document")];
    let semantics = page.report.semantics.map(|it| it.to_string());
    let all: Vec<String> = figures.into_iter().chain(semantics).collect();
    match &page.report.comparison {
        Some(comparison) => {
            write_sides(comparison, out)?;
            writeln!(out, "<p>{} · {}</p>", all.join(" · "), change_words(page.report))?;
        }
        None => writeln!(out, "<p>{}</p>", all.join(" · "))?,
    }
    if page.is_linted() {
        writeln!(out, "<p>{}</p>", finding_words(page.report))?;
    }
    writeln!(out, "</header>")
}

fn write_sides(comparison: &ComparisonForm, out: &mut dyn Write) -> io::Result<()> {
    let ComparisonForm { from, to, reason, shallow, edited_files, nested_at, .. } = comparison;
    let shallow = if *shallow { ", of a history that is shallow" } else { "" };
    writeln!(out, "<dl class=\"sides\"><dt>base</dt><dd>{}{shallow}</dd>", side(from))?;
    let edited = counted(*edited_files, "file");
    writeln!(out, "<dt>head</dt><dd>{}, {edited} changed</dd>", side(to))?;
    // Often the reason says no more than the names do.
    let is_told = reason.strip_prefix(&*from.name).is_some_and(|it| it.starts_with(" against "));
    if !reason.is_empty() && !is_told {
        writeln!(out, "<dt>why</dt><dd>{}</dd>", text(reason))?;
    }
    if let Some(path) = nested_at {
        writeln!(
            out,
            "<dt>of</dt><dd>the repository <code>{}</code> inside of another one</dd>",
            text(path)
        )?;
    }
    writeln!(out, "</dl>")
}

/// A side as a person says it, with all digits of a commit.
fn side(side: &SideForm) -> String {
    let of = match (&*side.kind, &side.sha) {
        ("index", _) => "index".to_owned(),
        ("worktree", _) => "working tree".to_owned(),
        (_, Some(sha)) => format!("<code>{}</code>", text(sha)),
        (_, None) => String::new(),
    };
    let is_named = !side.name.is_empty() && side.sha.as_deref() != Some(&*side.name);
    if is_named && !of.starts_with(&*side.name) {
        return format!("{of} ({})", text(&side.name));
    }
    of
}

/// What changed, in figures.
fn change_words(report: &Report) -> String {
    let totals = &report.totals;
    let outputs = counted(totals.changed, "output");
    let groups = counted(totals.groups, "group");
    let mut parts = vec![
        counted(totals.edits, "edit"),
        format!("{outputs} changed in {groups}"),
        format!("{} added", totals.added),
        format!("{} removed", totals.removed),
    ];
    let sometimes = [
        (totals.broken, format!("{} broken", totals.broken)),
        (totals.repaired, format!("{} repaired", totals.repaired)),
        (totals.metadata, format!("{} with other metadata only", totals.metadata)),
        (totals.inert_edits, format!("{} without effect", counted(totals.inert_edits, "edit"))),
        (totals.unexplained, format!("{} UNEXPLAINED", totals.unexplained)),
    ];
    parts.extend(sometimes.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words));
    let shielded: BTreeSet<&str> = shielded_sites(report);
    if !shielded.is_empty() {
        parts.push(format!("{} shielded", counted(shielded.len(), "site")));
    }
    parts.join(" · ")
}

/// Sites in which an edit was stopped and reached nothing.
fn shielded_sites(report: &Report) -> BTreeSet<&str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = report
        .edits
        .iter()
        .map(|edit| (&*edit.id, edit.reach.sites.iter().map(|it| &**it).collect()))
        .collect();
    let stopped = report.shields.iter().filter(|it| {
        let sites = reached.get(&*it.edit);
        it.site.as_deref().is_some_and(|site| sites.is_some_and(|all| !all.contains(site)))
    });
    stopped.filter_map(|it| it.site.as_deref()).collect()
}

/// Findings in figures, those too that are not listed.
fn finding_words(report: &Report) -> String {
    let totals = &report.totals;
    let state = |state| {
        let counting = report.findings.iter().filter(|it| it.suppressed.is_none());
        counting.filter(move |it| it.state == Some(state)).collect::<Vec<_>>()
    };
    let mut parts = match report.comparison {
        None => vec![severities(report)],
        Some(_) => vec![
            words(&state(State::New), "new ").unwrap_or_else(|| "0 new".to_owned()),
            format!("{} fixed", Finding::total(state(State::Fixed))),
            format!("{} unchanged", Finding::total(state(State::Unchanged))),
        ],
    };
    let sometimes = [
        (totals.ignored, format!("{} ignored", totals.ignored)),
        (totals.accepted, format!("{} in the baseline", totals.accepted)),
        (totals.added_ignores, counted(totals.added_ignores, "new ignore comment")),
    ];
    parts.extend(sometimes.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words));
    format!("Findings: {}", parts.join(" · "))
}

/// What happened in one site.
#[derive(Default)]
struct Row {
    /// On which sides it is, where that is not both.
    sides: &'static str,
    outputs: BTreeMap<StatusForm, usize>,
    /// How many edits were stopped there.
    stopped: BTreeSet<usize>,
    findings: BTreeMap<Level, usize>,
}

/// Writes what happened site by site.
pub(super) fn write_sites(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(page);
    writeln!(out, "<section id=\"sites\" aria-labelledby=\"sites-title\">")?;
    writeln!(out, "<h2 id=\"sites-title\">Sites</h2>")?;
    if rows.is_empty() {
        writeln!(out, "<p>Nothing happened in any site.</p>")?;
    } else {
        write_table(page, &rows, out)?;
    }
    writeln!(out, "</section>")
}

fn rows<'a>(page: &Page<'a>) -> BTreeMap<Option<&'a str>, Row> {
    let mut rows: BTreeMap<Option<&'a str>, Row> = BTreeMap::new();
    for site in &page.report.sites {
        rows.entry(site.site.as_deref()).or_default().sides = match (site.from, site.to) {
            (None, Some(_)) => " <span class=\"badge added\">new</span>",
            (Some(_), None) => " <span class=\"badge removed\">gone</span>",
            (_, _) => "",
        };
    }
    for output in &page.report.outputs {
        let row = rows.entry(output.site.as_deref()).or_default();
        *row.outputs.entry(output.status).or_default() += 1;
    }
    for shield in &page.report.shields {
        let row = rows.entry(shield.site.as_deref()).or_default();
        row.stopped.extend(page.edit_at(&shield.edit));
    }
    for finding in &page.findings {
        let sites = finding.sites.iter().map(|site| Some(&**site));
        let none = finding.sites.is_empty().then_some(None);
        for site in sites.chain(none) {
            let row = rows.entry(site).or_default();
            *row.findings.entry(finding.severity).or_default() += 1;
        }
    }
    rows
}

/// What can become of outputs, in the order of columns.
const STATUSES: [(StatusForm, &str); 7] = [
    (StatusForm::Changed, "changed"),
    (StatusForm::Added, "added"),
    (StatusForm::Removed, "removed"),
    (StatusForm::Broken, "broken"),
    (StatusForm::Repaired, "repaired"),
    (StatusForm::Metadata, "metadata only"),
    (StatusForm::NotComparable, "not comparable"),
];

const LEVELS: [(Level, &str); 3] =
    [(Level::Error, "errors"), (Level::Warning, "warnings"), (Level::Note, "notes")];

fn write_table(
    page: &Page<'_>,
    rows: &BTreeMap<Option<&str>, Row>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = columns(page, rows);
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"figures by site\">"
    )?;
    write!(out, "<table class=\"figures\"><thead><tr><th scope=\"col\">site</th>")?;
    for (name, _) in &columns {
        write!(out, "<th scope=\"col\">{name}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (site, row) in rows {
        write!(out, "<tr><th scope=\"row\">{}{}</th>", site_words(*site), row.sides)?;
        for (_, count) in &columns {
            match count(row) {
                0 => write!(out, "<td class=\"none\">0</td>")?,
                count => write!(out, "<td>{count}</td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if page.report.sites.is_empty() {
        writeln!(out, "<p><small>Sites without a finding are not listed.</small></p>")?;
    }
    Ok(())
}

type Column = (&'static str, Box<dyn Fn(&Row) -> usize>);

/// The columns that have something to say; the first three always, where two
/// sides are compared.
fn columns(page: &Page<'_>, rows: &BTreeMap<Option<&str>, Row>) -> Vec<Column> {
    const ALWAYS: usize = 3;
    let mut columns: Vec<Column> = Vec::new();
    if page.report.comparison.is_some() {
        for (at, (status, name)) in STATUSES.into_iter().enumerate() {
            if at < ALWAYS || rows.values().any(|row| row.outputs.contains_key(&status)) {
                let count = move |row: &Row| row.outputs.get(&status).copied().unwrap_or(0);
                columns.push((name, Box::new(count)));
            }
        }
        columns.push(("edits stopped", Box::new(|row: &Row| row.stopped.len())));
    }
    let levels = LEVELS.into_iter().filter(|_| page.is_linted());
    for (level, name) in levels {
        let count = move |row: &Row| row.findings.get(&level).copied().unwrap_or(0);
        columns.push((name, Box::new(count)));
    }
    columns
}
