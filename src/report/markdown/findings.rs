//! Findings on a page: a few of them as alerts, more of them as a table.

use super::digest::Side;
use super::page::Page;
use super::paper::{Alert, Column, Full};
use super::words::{self, Words};
use crate::report::counted;
use crate::report::json::{Finding, Level, State};

/// More of them are a table.
const FEW: usize = 3;

impl<'a> Page<'a> {
    pub(super) fn write_findings(&mut self) -> Result<(), Full> {
        let findings = self.shown();
        if findings.is_empty() {
            return Ok(());
        }
        if findings.len() <= FEW && findings.len() == self.digest.findings.len() {
            let words = self.words;
            return findings
                .into_iter()
                .try_for_each(|it| self.paper.alert(alert(it.severity), &words.paragraphs(it)));
        }
        self.write_table(&findings)?;
        self.write_more(&findings)
    }

    /// The findings there is room for: so many of each severity.
    fn shown(&self) -> Vec<&'a Finding> {
        let mut left = [self.detail.findings; 3];
        let has_room = |it: &&&'a Finding| {
            let left = &mut left[it.severity as usize];
            let has_room = *left > 0;
            *left = left.saturating_sub(1);
            has_room
        };
        self.digest.findings.iter().filter(has_room).copied().collect()
    }

    fn write_table(&mut self, findings: &[&Finding]) -> Result<(), Full> {
        let words = self.words;
        let has_causes = findings.iter().any(|it| !it.caused_by.is_empty());
        let has_sites = findings.iter().any(|it| !it.sites.is_empty());
        let mut columns = vec![Column::Text("level"), Column::Text("where"), Column::Text("what")];
        columns.extend(has_sites.then_some(Column::Text("sites")));
        columns.extend(has_causes.then_some(Column::Text("caused by")));
        let rows = findings.iter().map(|it| {
            let mut cells = vec![words.level(it), words.finding_place(it), words.what(it)];
            cells.extend(has_sites.then(|| words.finding_sites(it)));
            cells.extend(has_causes.then(|| words.causes(it)));
            cells
        });
        self.paper.table_of(&columns, rows)
    }

    fn write_more(&mut self, shown: &[&Finding]) -> Result<(), Full> {
        let all = counts(self.digest.findings.iter().copied());
        let shown = counts(shown.iter().copied());
        let more: Vec<String> = LEVELS
            .iter()
            .zip(all.iter().zip(shown))
            .filter(|(_, (all, shown))| **all > *shown)
            .map(|(level, (all, shown))| counted(all - shown, &format!("more {}", level.as_str())))
            .collect();
        if more.is_empty() {
            return Ok(());
        }
        self.left.findings += all.iter().sum::<usize>() - shown.iter().sum::<usize>();
        self.paper.paragraph(&format!("and {}", more.join(", ")))
    }

    /// How many findings of each level are listed, in words.
    pub(super) fn counts_of_findings(&self) -> String {
        let reported = self.digest.findings.iter().filter(|it| it.suppressed.is_none());
        match words_of(counts(reported.copied()), "") {
            none if none.is_empty() => "nothing found".to_owned(),
            some => some,
        }
    }
}

/// From the worst on.
const LEVELS: [Level; 3] = [Level::Error, Level::Warning, Level::Note];

/// By [`LEVELS`].
pub(super) fn counts<'a>(findings: impl Iterator<Item = &'a Finding>) -> [usize; 3] {
    let mut counts = [0; 3];
    for finding in findings {
        match finding.severity {
            Level::Error => counts[0] += finding.count,
            Level::Warning => counts[1] += finding.count,
            Level::Note => counts[2] += finding.count,
        }
    }
    counts
}

/// `2 new errors, 1 new note`; nothing where there are none.
pub(super) fn words_of(counts: [usize; 3], kind: &str) -> String {
    let counts = LEVELS.iter().zip(counts).filter(|(_, count)| *count > 0);
    let words = counts.map(|(level, count)| counted(count, &format!("{kind}{}", level.as_str())));
    words.collect::<Vec<String>>().join(", ")
}

fn alert(level: Level) -> Alert {
    match level {
        Level::Error => Alert::Caution,
        Level::Warning => Alert::Warning,
        Level::Note => Alert::Note,
    }
}

impl Words<'_> {
    /// A finding in full.
    fn paragraphs(self, finding: &Finding) -> Vec<String> {
        let place = self.finding_place(finding);
        let mut paragraphs = vec![format!("{place} {}{}", self.state(finding), self.what(finding))];
        let mut more = Vec::new();
        let notes = finding.notes.iter().take(self.detail.others);
        more.extend(notes.map(|note| self.message(note)));
        more.extend(finding.help.iter().map(|help| format!("Help: {}", self.message(help))));
        let sites = format!("In {}", self.finding_sites(finding));
        let causes = format!("Caused by {}", self.causes(finding));
        let told = [(sites, finding.sites.is_empty()), (causes, finding.caused_by.is_empty())];
        let told: Vec<String> =
            told.into_iter().filter(|(_, is_empty)| !is_empty).map(|(words, _)| words).collect();
        more.extend((!told.is_empty()).then(|| told.join(" · ")));
        paragraphs.extend(more);
        paragraphs
    }

    fn finding_place(self, finding: &Finding) -> String {
        self.place(&finding.primary.file, finding.primary.line, Side::Head)
    }

    fn what(self, finding: &Finding) -> String {
        format!("{}: {}", self.code(&finding.rule), self.message(&finding.message))
    }

    fn level(self, finding: &Finding) -> String {
        let state = self.state(finding);
        let level = finding.severity.as_str();
        if state.is_empty() { level.to_owned() } else { format!("{level} {}", state.trim_end()) }
    }

    /// That a finding is not new, or not reported; with a space behind it.
    fn state(self, finding: &Finding) -> String {
        match (&finding.suppressed, finding.state) {
            (Some(by), _) => {
                let reason = match &*by.reason {
                    "" => String::new(),
                    reason => format!(": {}", self.prose(reason)),
                };
                format!("({}{reason}) ", self.prose(&by.kind))
            }
            (None, Some(State::Unchanged)) => "(unchanged) ".to_owned(),
            (None, Some(State::New | State::Fixed) | None) => String::new(),
        }
    }

    fn finding_sites(self, finding: &Finding) -> String {
        const FEW: usize = 3;
        match finding.sites.len() {
            all if all > FEW => counted(all, "site"),
            _ => self.sites(&finding.sites.iter().map(|it| &**it).collect::<Vec<_>>()),
        }
    }

    fn causes(self, finding: &Finding) -> String {
        let mut edits: Vec<usize> =
            finding.caused_by.iter().filter_map(|it| self.digest.report.edit_number(it)).collect();
        edits.sort_unstable();
        edits.dedup();
        if edits.is_empty() { String::new() } else { words::edits(&edits) }
    }
}
