//! Human-readable report, in full or one line per finding.

mod changes;
mod excerpt;
mod finding;
mod paint;

use std::io::{self, Write};

use indexmap::IndexMap;
use unicode_width::UnicodeWidthStr;

use self::paint::Painter;
use super::model::{EditRef, Finding, Report, ReportedEdit, RunOutcome};
use super::story::{
    Arrangement, EditEntry, FindingEntry, FindingFilter, SiteColumn, SiteTable, Story, UNEXPLAINED,
    place_of,
};
use super::text::{StyledText, TextRole};
use super::{Signs, TerminalStyle, and_more_of, counted, write_for_people};
use crate::diagnostic::Severity;

/// Selection and amount of detail of a human-readable report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// The findings to list.
    pub listing: FindingFilter,
    /// Maximum number of items in each list; 0 for all.
    pub limit: usize,
    /// Amount of detail.
    pub detail: Detail,
}

/// Amount of detail of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Like `Usual`, but no output for a run that passes without new warnings.
    OnlyFaults,
    /// Only the figures and the site table.
    Figures,
    /// Values are truncated, and edits with the same effect form one entry.
    Usual,
    /// Everything.
    Whole,
}

impl TerminalOptions {
    /// Default limit.
    pub const DEFAULT_LIMIT: usize = 8;

    /// Maximum number of findings written in full, per item of other lists.
    const MAX_FULL_FINDINGS_PER_ENTRY: usize = 2;

    /// Maximum number of findings written on one line, per item of other lists.
    const MAX_LINES_PER_ENTRY: usize = 5;

    /// Whether no output is written for a report.
    pub fn leaves_out(&self, report: &Report) -> bool {
        let found = report.totals.findings;
        self.detail == Detail::OnlyFaults
            && report.verdict.outcome == RunOutcome::Passed
            && found.errors + found.warnings == 0
    }
}

/// Writes a report in full: verdict, compared sides, sites, edits and their effects, findings, the
/// new errors last, and the verdict again.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    report: &Report,
    options: TerminalOptions,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.leaves_out(report) {
        return Ok(());
    }
    let arrangement = match options.detail {
        Detail::Whole => Arrangement::Whole,
        Detail::OnlyFaults | Detail::Figures | Detail::Usual => Arrangement::Short,
    };
    let story = Story::new(report, options.listing, arrangement);
    write_for_people(out, |out| {
        TerminalPage::new(&story, options, style).write(out)
    })
}

/// Writes only the findings, in full.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_findings(
    report: &Report,
    options: TerminalOptions,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_for_people(out, |out| {
        let story = Story::new(report, options.listing, Arrangement::Short);
        let page = TerminalPage::new(&story, options, style);
        page.write_others(out)?;
        page.write_errors(out)
    })
}

/// Writes one line for each listed finding, and the reach of each edit.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_concise(
    report: &Report,
    options: TerminalOptions,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.leaves_out(report) {
        return Ok(());
    }
    let story = Story::new(report, options.listing, Arrangement::ByEdit);
    write_for_people(out, |out| {
        TerminalPage::new(&story, options, style).write_concise(out)
    })
}

/// How much of a finding is written.
enum FindingSpace {
    Full,
    /// One line for all findings of its rule.
    Line,
    /// Only their number.
    Count,
}

/// Context for writing the parts of a report.
struct TerminalPage<'a, 'r> {
    story: &'a Story<'r>,
    options: TerminalOptions,
    painter: Painter<'a>,
    signs: Signs,
    /// Whether an error causes others, or could, in a run without a base.
    has_old_cause: bool,
    /// Whether all findings are notes.
    has_only_notes: bool,
}

impl<'a, 'r> TerminalPage<'a, 'r> {
    fn new(story: &'a Story<'r>, options: TerminalOptions, style: &'a TerminalStyle) -> Self {
        let painter = Painter {
            report: story.report,
            style,
        };
        let Story {
            errors,
            others,
            report,
            ..
        } = story;
        Self {
            story,
            options,
            painter,
            signs: Signs::of(style),
            has_old_cause: report.comparison.is_none() && errors.iter().any(|it| it.is_root),
            has_only_notes: errors.is_empty()
                && others
                    .iter()
                    .all(|it| it.finding.severity == Severity::Note),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let is_compared = self.story.report.comparison.is_some();
        let has_findings = !self.story.errors.is_empty() || !self.story.others.is_empty();
        if is_compared && !has_findings && self.story.report.edits.is_empty() {
            return self.write_nothing_edited(out);
        }
        if is_compared || has_findings {
            self.write_headline(out)?;
        }
        let lists = self.options.detail != Detail::Figures;
        if is_compared && lists {
            self.write_findings(self.story.errors.iter(), out)?;
        }
        if let Some(table) = &self.story.sites {
            self.write_sites(table, out)?;
        }
        self.write_advice(out)?;
        if lists {
            changes::write(self, out)?;
            self.write_listed("content unknown", &self.story.unknown, out)?;
            self.write_listed("no effect", &self.story.inert, out)?;
            self.write_commits(out)?;
            self.write_unexplained(out)?;
            self.write_others(out)?;
        }
        if !is_compared && lists {
            self.write_errors(out)?;
        }
        self.write_closing(out)
    }

    fn write_concise(&self, out: &mut dyn Write) -> io::Result<()> {
        for entry in self.story.errors.iter().chain(&self.story.others) {
            writeln!(out, "{}", self.painter.line(&self.on_one_line(entry)))?;
        }
        if self.story.report.comparison.is_none() {
            return Ok(());
        }
        let entries: Vec<&EditEntry<'r>> = self.story.edit_entries().collect();
        let (entries, more) = self.limited(&entries);
        for entry in entries {
            let first = entry.edits[0];
            let subject = self.story.names.subject(first);
            let others = and_more_of(entry.edits.len() - 1, "edit");
            let text = place_of(first).and(": ").join(subject).and(others);
            let effects = [&entry.reach, &entry.shielded]
                .into_iter()
                .filter(|it| !it.is_empty());
            let effects = StyledText::list(effects.cloned(), ", ");
            writeln!(out, "{}", self.painter.line(&text.and(": ").join(effects)))?;
        }
        self.write_more(more, "edit", "", out)?;
        self.write_unexplained(out)?;
        writeln!(out, "{}", self.painter.line(&self.closing().0))
    }

    /// Returns the first items of a list and the number of further ones.
    fn limited<'l, T>(&self, list: &'l [T]) -> (&'l [T], usize) {
        self.limited_to(self.options.limit, list)
    }

    fn limited_to<'l, T>(&self, limit: usize, list: &'l [T]) -> (&'l [T], usize) {
        let shown = if limit == 0 {
            list.len()
        } else {
            list.len().min(limit)
        };
        (&list[..shown], list.len() - shown)
    }

    fn write_more(
        &self,
        more: usize,
        what: &str,
        indent: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if more == 0 {
            return Ok(());
        }
        let words = format!(
            "{} {} (-v)",
            self.signs.dots,
            counted(more, &format!("more {what}"))
        );
        writeln!(out, "{indent}{}", self.painter.words(TextRole::Dim, &words))
    }

    /// Writes the verdict and the figures, and what was compared.
    fn write_headline(&self, out: &mut dyn Write) -> io::Result<()> {
        let headline = &self.story.headline;
        self.write_badge(out)?;
        let figures = headline
            .switches
            .iter()
            .chain(self.figures())
            .chain(&headline.findings)
            .cloned();
        let sides =
            (self.story.report.comparison.is_some()).then(|| self.sides(&self.story.header));
        for text in figures.chain(sides) {
            writeln!(out, "{}", self.painter.paragraph(&text, "", "  "))?;
        }
        writeln!(out)?;
        if self.options.detail != Detail::Whole || self.story.images.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", self.painter.words(TextRole::Strong, "images"))?;
        for image in &self.story.images {
            writeln!(out, "{}", self.painter.paragraph(image, "  ", "    "))?;
        }
        writeln!(out)
    }

    /// Figures of the run, with those that only a detailed report has.
    fn figures(&self) -> impl Iterator<Item = &StyledText> {
        let headline = &self.story.headline;
        let is_whole = self.options.detail == Detail::Whole;
        let detailed = headline.no_certificates.iter().filter(move |_| is_whole);
        headline.figures.iter().chain(detailed)
    }

    fn sides(&self, header: &[(&str, StyledText)]) -> StyledText {
        let sides = header.iter().map(|(word, text)| {
            StyledText::of(TextRole::Dim, format!("{word} ")).join(text.clone())
        });
        StyledText::list(sides, self.signs.between)
    }

    /// Writes one paragraph for a comparison without edits.
    fn write_nothing_edited(&self, out: &mut dyn Write) -> io::Result<()> {
        let headline = &self.story.headline;
        let badge = headline
            .badge
            .map(|(badge, role)| StyledText::of(role, badge).and("  "));
        let figures = self.figures().chain(&headline.findings).cloned();
        let figures = std::iter::once(headline.reason.clone()).chain(figures);
        let text = StyledText::list(
            figures.chain([self.sides(&self.story.header)]),
            self.signs.between,
        );
        let text = badge.unwrap_or_default().join(text);
        writeln!(out, "{}", self.painter.paragraph(&text, "", "      "))
    }

    /// Writes the verdict in one paragraph; nothing if there was nothing to judge.
    fn write_badge(&self, out: &mut dyn Write) -> io::Result<()> {
        let headline = &self.story.headline;
        let Some((badge, role)) = headline.badge else {
            return Ok(());
        };
        let reason = [
            headline.reason.clone(),
            headline.acceptance.clone().unwrap_or_default(),
        ];
        let reason = StyledText::list(reason, self.signs.between);
        let text = StyledText::of(role, badge).and("  ").join(reason);
        writeln!(out, "{}", self.painter.paragraph(&text, "", "      "))
    }

    fn write_sites(&self, table: &SiteTable, out: &mut dyn Write) -> io::Result<()> {
        let (rows, more) = self.limited(&table.rows);
        let widths: Vec<usize> = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, head)| {
                let cells = rows.iter().map(|row| row.cells[at].width());
                cells.max().unwrap_or(0).max(head.head.len())
            })
            .collect();
        let others: usize = widths.iter().map(|width| width + 2).sum();
        let room = self
            .painter
            .style
            .columns()
            .saturating_sub(others)
            .max(MIN_SITE_COLUMN);
        let names: Vec<Vec<String>> = rows
            .iter()
            .map(|row| self.wrapped(&row.sites, room))
            .collect();
        let widest = names
            .iter()
            .flatten()
            .map(|line| textwrap::core::display_width(line))
            .max()
            .unwrap_or(0)
            .max("sites".len());
        let head = table
            .columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| in_column(column, column.head, column.head, *width));
        let head = format!("{:widest$}{}", "sites", head.collect::<String>());
        writeln!(
            out,
            "{}",
            self.painter.words(TextRole::Dim, head.trim_end())
        )?;
        for (row, lines) in rows.iter().zip(&names) {
            for (at, line) in lines.iter().enumerate() {
                let padding = " ".repeat(widest - textwrap::core::display_width(line));
                if at > 0 {
                    writeln!(out, "{line}")?;
                    continue;
                }
                let mut line = format!("{line}{padding}");
                for ((cell, width), column) in row.cells.iter().zip(&widths).zip(&table.columns) {
                    let words = self.painter.words(column.role, cell);
                    line += &in_column(column, cell, &words, *width);
                }
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        let left_out = &table.rows[rows.len()..];
        if more > 0 {
            let sites: usize = left_out.iter().map(|row| row.count).sum();
            let words = format!("{} {} (-v)", self.signs.dots, counted(sites, "more site"));
            writeln!(out, "{}", self.painter.words(TextRole::Dim, &words))?;
        }
        if table.unchanged > 0 {
            let words = format!("{} unchanged", counted(table.unchanged, "site"));
            writeln!(out, "{}", self.painter.words(TextRole::Dim, &words))?;
        }
        writeln!(out)
    }

    fn wrapped(&self, text: &StyledText, room: usize) -> Vec<String> {
        let lines = super::wrap(&self.painter.line(text), room, "", "  ");
        lines.lines().map(str::to_owned).collect()
    }

    fn write_listed(
        &self,
        title: &str,
        edits: &[&ReportedEdit],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        let title = format!("{title}: {}", counted(edits.len(), "edit"));
        writeln!(out, "{}", self.painter.words(TextRole::Strong, &title))?;
        let (shown, more) = self.limited(edits);
        for edit in shown {
            let text = place_of(edit)
                .and("  ")
                .join(self.story.without_effect(edit));
            writeln!(out, "{}", self.painter.paragraph(&text, "  ", "    "))?;
        }
        self.write_more(more, "edit", "  ", out)?;
        writeln!(out)
    }

    fn write_advice(&self, out: &mut dyn Write) -> io::Result<()> {
        /// Maximum number of entries, unless the run lists everything.
        const MAX_ENTRIES: usize = 3;
        let limit = self.options.limit.min(MAX_ENTRIES);
        let (shown, more) = self.limited_to(limit, &self.story.advice);
        for advice in shown {
            writeln!(out, "{}", self.painter.paragraph(&advice.title, "", "  "))?;
            for caution in &advice.cautions {
                writeln!(out, "{}", self.painter.paragraph(caution, "  ", "    "))?;
            }
        }
        self.write_more(more, "answer", "", out)?;
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(out)
    }

    fn write_commits(&self, out: &mut dyn Write) -> io::Result<()> {
        for commits in &self.story.commits {
            writeln!(out, "{}", self.painter.paragraph(&commits.title, "", "  "))?;
            let (listed, more) = self.limited(&commits.listed);
            for commit in listed {
                writeln!(out, "{}", self.painter.paragraph(commit, "  ", "    "))?;
            }
            self.write_more(more + commits.more, "commit", "  ", out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_unexplained(&self, out: &mut dyn Write) -> io::Result<()> {
        let outputs = &self.story.unexplained;
        if outputs.is_empty() {
            return Ok(());
        }
        let title = "UNEXPLAINED: changes that no edit explains";
        writeln!(out, "{}", self.painter.words(TextRole::Error, title))?;
        for output in outputs {
            writeln!(out, "{}", self.painter.paragraph(output, "  ", "    "))?;
        }
        let text = StyledText::plain(UNEXPLAINED);
        writeln!(out, "{}\n", self.painter.paragraph(&text, "  ", "  "))
    }

    fn write_closing(&self, out: &mut dyn Write) -> io::Result<()> {
        let headline = &self.story.headline;
        if let Some(hint) = &headline.hint {
            writeln!(out, "{}", self.painter.paragraph(hint, "", "  "))?;
        }
        let (text, rest) = self.closing();
        if self.story.report.comparison.is_some() {
            return writeln!(out, "{}", self.painter.paragraph(&text, "", rest));
        }
        let report = self.story.report;
        let time = report.timing_ms.total.map(|total| {
            StyledText::of(
                TextRole::Dim,
                format!("{}.{:02}s", total / 1000, total % 1000 / 10),
            )
        });
        let meaning = self
            .story
            .header
            .iter()
            .map(|(word, text)| StyledText::plain(format!("{word} ")).join(text.clone()));
        let findings = headline.findings.iter().cloned();
        let parts = std::iter::once(text)
            .chain(findings)
            .chain(meaning)
            .chain(time);
        let text = StyledText::list(parts, self.signs.between);
        writeln!(out, "{}", self.painter.paragraph(&text, "", rest))
    }

    /// Returns the closing verdict, with the indentation of its further lines.
    fn closing(&self) -> (StyledText, &'static str) {
        let headline = &self.story.headline;
        let parts = std::iter::once(&headline.reason).chain(self.figures());
        let text = StyledText::list(parts.cloned(), self.signs.between);
        match headline.badge {
            Some((badge, role)) => (StyledText::of(role, badge).and("  ").join(text), "      "),
            None => (text, "  "),
        }
    }

    /// Writes the findings except new errors, which come before the changes of a comparison, and
    /// otherwise last.
    fn write_others(&self, out: &mut dyn Write) -> io::Result<()> {
        let [mut in_full, mut on_lines, mut counted] = [const { Vec::new() }; 3];
        for entry in &self.story.others {
            match self.space_for(entry.finding) {
                FindingSpace::Full => in_full.push(entry),
                FindingSpace::Line => on_lines.push(entry),
                FindingSpace::Count => counted.push(entry),
            }
        }
        self.write_findings(in_full.into_iter(), out)?;
        self.write_summaries(&on_lines, out)?;
        for (severity, word) in [(Severity::Warning, "warning"), (Severity::Note, "note")] {
            let of_severity = counted
                .iter()
                .filter(|entry| entry.finding.severity == severity);
            self.write_more(
                of_severity.map(|entry| entry.finding.count).sum(),
                word,
                "",
                out,
            )?;
        }
        out.write_all(if counted.is_empty() { b"" } else { b"\n" })
    }

    /// Findings that do not fail the run are shortened beside others: notes to their number, and
    /// without a comparison also warnings, to one line for each rule, or to their number if an error
    /// is the cause of others.
    fn space_for(&self, finding: &Finding) -> FindingSpace {
        let Story { errors, report, .. } = self.story;
        let is_failing = report
            .verdict
            .fail_on
            .is_some_and(|least| finding.severity >= least);
        if self.options.detail == Detail::Whole || is_failing {
            return FindingSpace::Full;
        }
        match finding.severity {
            Severity::Error => FindingSpace::Full,
            Severity::Warning
                if errors.is_empty() || report.comparison.is_some() || !finding.is_new() =>
            {
                FindingSpace::Full
            }
            Severity::Warning if self.has_old_cause => FindingSpace::Count,
            Severity::Warning => FindingSpace::Line,
            Severity::Note if self.has_only_notes => FindingSpace::Full,
            Severity::Note => FindingSpace::Count,
        }
    }

    /// Writes the errors of a run without a base, last: beside the cause of others, each of the rest
    /// on one line, since the cause is to be corrected first.
    fn write_errors(&self, out: &mut dyn Write) -> io::Result<()> {
        let errors = &self.story.errors;
        let is_shortened = self.has_old_cause && self.options.detail != Detail::Whole;
        let (in_full, others): (Vec<_>, Vec<_>) = errors
            .iter()
            .partition(|entry| entry.is_root || !is_shortened);
        self.write_findings(in_full.into_iter(), out)?;
        self.write_lines(
            &others,
            self.options.limit * TerminalOptions::MAX_LINES_PER_ENTRY,
            out,
        )
    }

    /// Writes one line for the findings of each rule, with the first of them.
    fn write_summaries(
        &self,
        entries: &[&FindingEntry<'r>],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut of_rules: IndexMap<&str, Vec<&FindingEntry<'r>>> = IndexMap::new();
        for entry in entries {
            of_rules.entry(&entry.finding.rule).or_default().push(entry);
        }
        for entries in of_rules.values() {
            let more: usize = entries[1..].iter().map(|entry| entry.finding.count).sum();
            let more = if more == 0 {
                String::new()
            } else {
                format!(" and {more} more (-v)")
            };
            let line = self.on_one_line(entries[0]).and(more);
            writeln!(out, "{}", self.painter.paragraph(&line, "", "  "))?;
        }
        out.write_all(if of_rules.is_empty() { b"" } else { b"\n" })
    }

    /// Writes findings in full; of several that are alike, only the first.
    fn write_findings<'e>(
        &self,
        entries: impl Iterator<Item = &'e FindingEntry<'r>>,
        out: &mut dyn Write,
    ) -> io::Result<()>
    where
        'r: 'e,
    {
        let limit = self.options.limit * TerminalOptions::MAX_FULL_FINDINGS_PER_ENTRY;
        let alike = alike(entries, self.options.limit == 0);
        let (in_full, left_out) = self.limited_to(limit, &alike);
        for alike in in_full {
            self.write_finding(alike[0], out)?;
            self.write_lines(&alike[1..], self.options.limit.div_ceil(2), out)?;
        }
        let left_out = alike[alike.len() - left_out..].concat();
        self.write_lines(
            &left_out,
            self.options.limit * TerminalOptions::MAX_LINES_PER_ENTRY,
            out,
        )
    }

    fn write_lines(
        &self,
        entries: &[&FindingEntry<'r>],
        limit: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let (lines, more) = self.limited_to(limit, entries);
        for entry in lines {
            let line = self.on_one_line(entry);
            writeln!(out, "{}", self.painter.paragraph(&line, "", "  "))?;
        }
        self.write_more(more, "finding", "", out)?;
        writeln!(out)
    }

    fn on_one_line(&self, entry: &FindingEntry<'r>) -> StyledText {
        let finding = entry.finding;
        let label = &finding.primary;
        let place = format!("{}:{}:{}", label.file, label.line, label.column);
        let mut text = StyledText::of(TextRole::Place, place).and(": ");
        text = text
            .join(self.kind(finding, ""))
            .and(" ")
            .and(&finding.message);
        if !entry.sites.is_empty() {
            text = text.and(" (in ").join(entry.sites.clone()).and(")");
        }
        if let Some(decoded) = &label.decoded {
            text = text.and(format!(" (decoded, {}:{})", decoded.line, decoded.column));
        }
        if finding.suppressed.is_some() {
            text = text.and(" (ignored)");
        }
        text
    }
}

/// Formats a cell of the site table: figures right-aligned, words left-aligned.
fn in_column(column: &SiteColumn, text: &str, painted: &str, width: usize) -> String {
    let padding = " ".repeat(width - text.width());
    if column.is_figures {
        format!("  {padding}{painted}")
    } else {
        format!("  {painted}{padding}")
    }
}

/// Returns a line in the colour of a role, if colours are used.
pub(super) fn painted(line: &str, role: TextRole, style: &TerminalStyle) -> String {
    match paint::code(role).filter(|_| style.color) {
        Some(code) => format!("\x1b[{code}m{line}\x1b[0m"),
        None => line.to_owned(),
    }
}

/// Minimum width of site names in columns.
const MIN_SITE_COLUMN: usize = 20;

/// Returns the role of a severity.
fn role(severity: Severity) -> TextRole {
    match severity {
        Severity::Error => TextRole::Error,
        Severity::Warning => TextRole::Warning,
        Severity::Note => TextRole::Note,
    }
}

/// Groups errors of one rule with the same causes, and all other findings with causes by rule, or
/// also by causes if `each_cause`; findings without causes are groups of one.
fn alike<'e, 'r>(
    entries: impl Iterator<Item = &'e FindingEntry<'r>>,
    each_cause: bool,
) -> Vec<Vec<&'e FindingEntry<'r>>> {
    let mut alike: IndexMap<(&str, Severity, &[EditRef], usize), Vec<&FindingEntry<'r>>> =
        IndexMap::new();
    for (at, entry) in entries.enumerate() {
        let finding = entry.finding;
        let number = if finding.caused_by.is_empty() { at } else { 0 };
        let has_own = each_cause || finding.severity == Severity::Error;
        let causes = if has_own { &*finding.caused_by } else { &[] };
        let key = (&*finding.rule, finding.severity, causes, number);
        alike.entry(key).or_default().push(entry);
    }
    alike.into_values().collect()
}
