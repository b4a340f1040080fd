//! Findings by file: what is wrong, on which lines, why, what to do, and
//! which edits are behind it.

use std::io::{self, Write};

use super::Page;
use super::escape::text;
use super::excerpt::{self, Surroundings};
use super::group::{edit_link, site_words};
use super::place::{Side, decoded_words, document, place};
use crate::diagnostic::Safety;
use crate::report::comparison::Unchanged;
use crate::report::json::{Finding, FixForm, LabelForm, Report, State};
use crate::report::{Ignored, Listing};

/// So many findings are unfolded; of more, the reader chooses.
const MOST_UNFOLDED: usize = 30;

/// Writes all findings that are listed, if any were looked for.
pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.is_linted() {
        return Ok(());
    }
    writeln!(out, "<section id=\"findings\" aria-labelledby=\"findings-title\">")?;
    writeln!(out, "<h2 id=\"findings-title\">Findings</h2>")?;
    writeln!(out, "<p>{}</p>", listed_words(page))?;
    let mut numbered: Vec<(usize, &Finding)> = page.findings.iter().copied().enumerate().collect();
    numbered.sort_by(|(_, left), (_, right)| left.primary.file.cmp(&right.primary.file));
    for file in numbered.chunk_by(|(_, one), (_, other)| one.primary.file == other.primary.file) {
        write_file(page, file, out)?;
    }
    writeln!(out, "</section>")
}

/// How many findings are listed, and which others there are.
fn listed_words(page: &Page<'_>) -> String {
    let listed = match Finding::total(page.findings.iter().copied()) {
        0 if page.report.comparison.is_some() => "No new finding.".to_owned(),
        0 => "Nothing found.".to_owned(),
        count => format!("{count} listed."),
    };
    let parts: Vec<String> = unlisted(page)
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() {
        return listed;
    }
    format!("{listed} Not listed: {}.", parts.join(", "))
}

/// Findings that are only counted, and what lists them.
fn unlisted(page: &Page<'_>) -> [(usize, &'static str); 3] {
    let Listing { unchanged, ignored } = page.manner.listing;
    let count = |wanted: fn(&Finding) -> bool| {
        Finding::total(page.report.findings.iter().filter(|it| wanted(it)))
    };
    [
        match unchanged {
            Unchanged::Counted => (
                count(|it| is_in(it, State::Unchanged)),
                "on both sides (<code>--all-findings</code>)",
            ),
            Unchanged::Shown => (0, ""),
        },
        (count(|it| is_in(it, State::Fixed)), "fixed"),
        match ignored {
            Ignored::Counted => {
                (count(|it| it.suppressed.is_some()), "suppressed (<code>--show-ignored</code>)")
            }
            Ignored::Shown => (0, ""),
        },
    ]
}

fn is_in(finding: &Finding, state: State) -> bool {
    finding.suppressed.is_none() && finding.state == Some(state)
}

fn write_file(
    page: &Page<'_>,
    findings: &[(usize, &Finding)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let file = findings.first().map_or("", |(_, it)| &it.primary.file);
    let count = Finding::total(findings.iter().map(|(_, finding)| *finding));
    writeln!(out, "<section class=\"bunch\"><h3>{} <small>{count}</small></h3>", text(file))?;
    for (at, finding) in findings {
        write_finding(page, *at, finding, out)?;
    }
    writeln!(out, "</section>")
}

fn write_finding(
    page: &Page<'_>,
    at: usize,
    finding: &Finding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let open = if page.findings.len() > MOST_UNFOLDED { "" } else { " open" };
    let (level, rule) = (finding.severity.as_str(), text(&finding.rule));
    writeln!(
        out,
        "<details class=\"finding unit\" id=\"f{}\" data-level=\"{level}\" data-rule=\"{rule}\"{open}>",
        at + 1
    )?;
    writeln!(
        out,
        "<summary><span class=\"badge {level}\">{level}</span>{} {} <code class=\"rule\">{rule}</code></summary>",
        badges(finding),
        text(&finding.message)
    )?;
    excerpt::write(page.report, &finding.primary, Surroundings::OneLine, out)?;
    write_related(page, finding, out)?;
    write_words(page, finding, out)?;
    writeln!(out, "</details>")
}

/// What else is to be known at once.
fn badges(finding: &Finding) -> &'static str {
    match (&finding.suppressed, finding.state) {
        (Some(_), _) => " <span class=\"badge\">suppressed</span>",
        (None, Some(State::New)) => " <span class=\"badge\">new</span>",
        (None, Some(State::Unchanged)) => " <span class=\"badge\">unchanged</span>",
        (None, Some(State::Fixed)) => " <span class=\"badge\">fixed</span>",
        (None, None) => "",
    }
}

fn write_related(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    if finding.related.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"related\">")?;
    for label in &finding.related {
        writeln!(out, "<li>")?;
        excerpt::write(page.report, label, Surroundings::None, out)?;
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>")
}

/// Writes all that is said beside the lines.
fn write_words(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<dl>")?;
    for note in &finding.notes {
        writeln!(out, "<dt>note</dt><dd>{}</dd>", text(note))?;
    }
    if let Some(help) = &finding.help {
        writeln!(out, "<dt>help</dt><dd>{}</dd>", text(help))?;
    }
    if let Some(fix) = &finding.fix {
        write_fix(page, fix, out)?;
    }
    if !finding.caused_by.is_empty() {
        let edits: Vec<String> = finding.caused_by.iter().map(|it| edit_link(page, it)).collect();
        writeln!(out, "<dt>cause</dt><dd>{}</dd>", edits.join(", "))?;
    }
    if !finding.sites.is_empty() {
        let sites: Vec<String> = finding.sites.iter().map(|it| site_words(Some(it))).collect();
        writeln!(out, "<dt>sites</dt><dd>{}</dd>", sites.join(" "))?;
    }
    if !finding.documents.is_empty() {
        let documents: Vec<String> = finding.documents.iter().map(document).collect();
        writeln!(out, "<dt>documents</dt><dd>{}</dd>", documents.join(", "))?;
    }
    if let Some(it) = &finding.suppressed {
        let (kind, at) = (text(&it.kind), place(page.report, Side::Head, &it.file, it.line));
        let reason = match &*it.reason {
            "" => String::new(),
            reason => format!(": {}", text(reason)),
        };
        writeln!(out, "<dt>suppressed</dt><dd>{kind} at {at}{reason}</dd>")?;
    }
    writeln!(out, "<dt>rule</dt><dd>{}</dd></dl>", rule_link(page, &finding.rule))
}

/// What `--fix` would do.
fn write_fix(page: &Page<'_>, fix: &FixForm, out: &mut dyn Write) -> io::Result<()> {
    let flags = Safety::from(fix.safety).flags();
    writeln!(out, "<dt><code>{flags}</code></dt><dd>{}", text(&fix.message))?;
    for edit in &fix.edits {
        writeln!(out, "<br>{}", place(page.report, Side::Head, &edit.file, edit.line))?;
        if edit.text.trim().is_empty() {
            continue;
        }
        write!(out, "<pre class=\"diff\">")?;
        for line in edit.text.lines() {
            writeln!(out, "<ins>+ {}</ins>", text(line))?;
        }
        writeln!(out, "</pre>")?;
    }
    writeln!(out, "</dd>")
}

/// A link to what a rule says of itself, where this layercake knows it.
fn rule_link(page: &Page<'_>, name: &str) -> String {
    match page.manner.rule(name) {
        Some(rule) => format!("<a href=\"#rule-{0}\">{0}</a>: {1}", rule.name, text(rule.summary)),
        None => text(name).to_string(),
    }
}

/// Where a label is: in its file, and in what stands encoded there.
pub(super) fn label_place(report: &Report, label: &LabelForm) -> String {
    let decoded = label.decoded.as_ref().map(|it| (&*it.name, it.line));
    format!("{}{}", place(report, Side::Head, &label.file, label.line), decoded_words(decoded))
}
