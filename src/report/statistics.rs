//! Number of findings per rule.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::model::{Finding, Report, State, SuppressionKind};
use super::printable::clean;
use super::{Signs, TerminalStyle, counted};
use crate::diagnostic::Severity;

/// Finding counts of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Row")]
pub struct RuleCount {
    /// The rule.
    pub(crate) rule: String,
    /// Highest severity of the findings.
    pub(crate) level: Severity,
    /// Number of reported findings, including those on both sides.
    pub(crate) count: usize,
    /// Number of reported findings that `--fix` removes.
    pub(crate) fixable: usize,
    /// Number of new findings; `None` without a comparison.
    pub(crate) new: Option<usize>,
    /// Number of findings on both sides; `None` without a comparison.
    pub(crate) unchanged: Option<usize>,
    /// Number of findings suppressed by a comment.
    pub(crate) ignored: usize,
    /// Number of findings suppressed by the baseline.
    pub(crate) accepted: usize,
    /// Number of sites with a reported finding.
    pub(crate) sites: usize,
}

/// Counts the findings of the head side by rule.
pub(super) fn rows(report: &Report) -> Vec<RuleCount> {
    let is_compared = report.comparison.is_some();
    let mut rows: BTreeMap<&str, (RuleCount, BTreeSet<usize>)> = BTreeMap::new();
    for finding in report
        .findings
        .iter()
        .filter(|it| it.state != Some(State::Fixed))
    {
        let entry = rows.entry(&finding.rule);
        let (row, sites) =
            entry.or_insert_with(|| (RuleCount::new(finding, is_compared), BTreeSet::new()));
        row.add(finding);
        if finding.is_open() {
            let set = finding.sites.map(|set| set.of(&report.site_sets));
            sites.extend(set.into_iter().flat_map(|set| &set.sites));
        }
    }
    rows.into_values()
        .map(|(row, sites)| RuleCount {
            sites: sites.len(),
            ..row
        })
        .collect()
}

/// Writes a table, the rule with most findings first.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(report: &Report, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let between = Signs::of(style).between;
    let mut rows: Vec<&RuleCount> = report.statistics.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.count), &row.rule));
    let widest = rows
        .iter()
        .map(|row| row.rule.len())
        .max()
        .unwrap_or_default();
    for row in rows {
        let rule = clean(&row.rule);
        let level = row.level.as_str();
        let words = row.words().join(between);
        writeln!(out, "{:>6}  {rule:widest$}  {level:7}  {words}", row.count)?;
    }
    Ok(())
}

impl RuleCount {
    fn new(finding: &Finding, is_compared: bool) -> Self {
        Self {
            rule: finding.rule.clone(),
            level: finding.severity,
            count: 0,
            fixable: 0,
            new: is_compared.then_some(0),
            unchanged: is_compared.then_some(0),
            ignored: 0,
            accepted: 0,
            sites: 0,
        }
    }

    fn add(&mut self, finding: &Finding) {
        self.level = self.level.max(finding.severity);
        match finding.suppressed.as_ref().map(|it| it.kind) {
            Some(SuppressionKind::Comment) => self.ignored += finding.count,
            Some(SuppressionKind::Baseline) => self.accepted += finding.count,
            None => {
                self.count += finding.count;
                self.fixable += usize::from(finding.has_safe_fix());
                let is_new = finding.state == Some(State::New);
                let figure = if is_new {
                    &mut self.new
                } else {
                    &mut self.unchanged
                };
                *figure = figure.map(|count| count + finding.count);
            }
        }
    }

    /// Returns the notes that follow the count.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.new.map(|count| format!("{count} new")));
        words.extend(self.unchanged.map(|count| format!("{count} unchanged")));
        let sometimes = [
            (self.fixable, format!("{} fixable", self.fixable)),
            (self.ignored, format!("{} ignored", self.ignored)),
            (self.accepted, format!("{} in the baseline", self.accepted)),
            (self.sites, format!("in {}", counted(self.sites, "site"))),
        ];
        words.extend(
            sometimes
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(_, it)| it),
        );
        words
    }
}
