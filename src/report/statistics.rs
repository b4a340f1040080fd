//! How many findings there are of each rule, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use super::Style;
use super::counted;
use super::signs::Signs;
use crate::diagnostic::{Diagnostic, Severity, Suppression};
use crate::triage::{Compared, Findings};

/// The findings of one rule in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: &'static str,
    /// The highest level of them.
    pub level: Severity,
    /// How many are reported, old ones of a comparison included.
    pub count: usize,
    /// How many of these `--fix` would mend.
    pub fixable: usize,
    /// How many are new; none without a comparison.
    pub new: Option<usize>,
    /// How many were there before; none without a comparison.
    pub unchanged: Option<usize>,
    /// How many a comment suppresses.
    pub ignored: usize,
    /// How many the baseline suppresses.
    pub accepted: usize,
    /// In how many sites those that are reported are.
    pub sites: usize,
}

/// The findings of a run without a comparison, by rule.
pub fn of_findings(findings: &Findings) -> Vec<Row> {
    rows(&findings.diagnostics, &[], &findings.suppressed, None)
}

/// The findings of a comparison's head side, by rule.
pub fn of_comparison(compared: &Compared) -> Vec<Row> {
    let (new, old) = (&compared.new.diagnostics, &compared.unchanged.diagnostics);
    rows(new, old, &compared.suppressed, Some(()))
}

/// Writes a table, the rule with most findings first.
///
/// # Errors
/// Those of `out`.
pub fn write(rows: &[Row], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let between = Signs::of(style).between;
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.count), row.rule));
    let widest = rows.iter().map(|row| row.rule.len()).max().unwrap_or_default();
    for row in rows {
        let line = row.words().join(between);
        writeln!(out, "{:>6}  {:widest$}  {:7}  {line}", row.count, row.rule, row.level.as_str())?;
    }
    Ok(())
}

fn rows(
    new: &[Diagnostic],
    old: &[Diagnostic],
    suppressed: &[Diagnostic],
    compared: Option<()>,
) -> Vec<Row> {
    let mut rows: BTreeMap<&str, (Row, BTreeSet<Arc<str>>)> = BTreeMap::new();
    for (diagnostic, is_new) in
        new.iter().map(|it| (it, true)).chain(old.iter().map(|it| (it, false)))
    {
        let (row, sites) = row_of(&mut rows, diagnostic, compared);
        row.count += diagnostic.count;
        row.fixable += usize::from(diagnostic.has_safe_fix());
        let figure = if is_new { &mut row.new } else { &mut row.unchanged };
        *figure = figure.map(|count| count + diagnostic.count);
        sites.extend(diagnostic.sites.iter().cloned());
    }
    for diagnostic in suppressed {
        let (row, _) = row_of(&mut rows, diagnostic, compared);
        match &diagnostic.suppressed {
            Some(Suppression::Comment { .. }) => row.ignored += diagnostic.count,
            Some(Suppression::Baseline { .. }) => row.accepted += diagnostic.count,
            None => {}
        }
    }
    let rows = rows.into_values();
    rows.map(|(row, sites)| Row { sites: sites.len(), ..row }).collect()
}

fn row_of<'r>(
    rows: &'r mut BTreeMap<&'static str, (Row, BTreeSet<Arc<str>>)>,
    diagnostic: &Diagnostic,
    compared: Option<()>,
) -> &'r mut (Row, BTreeSet<Arc<str>>) {
    let entry = rows.entry(diagnostic.rule.name).or_insert_with(|| {
        let row = Row {
            rule: diagnostic.rule.name,
            level: diagnostic.severity,
            count: 0,
            fixable: 0,
            new: compared.map(|()| 0),
            unchanged: compared.map(|()| 0),
            ignored: 0,
            accepted: 0,
            sites: 0,
        };
        (row, BTreeSet::new())
    });
    entry.0.level = entry.0.level.max(diagnostic.severity);
    entry
}

impl Row {
    /// What is said beside its count.
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
        words.extend(sometimes.into_iter().filter(|(count, _)| *count > 0).map(|(_, it)| it));
        words
    }
}
