//! Reports without their unchanged findings, which are most findings of a large repository.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::id::TextRef;
use super::{FileLines, Finding, LabelledPlace, Report, State};

/// Lines of each text that labels need.
type NeededLines = BTreeMap<TextRef, BTreeSet<usize>>;

impl Report {
    /// Returns the report without its unchanged findings and the lines that only these need. All
    /// figures stay.
    pub(in crate::report) fn without_unchanged(&self) -> Cow<'_, Self> {
        let is_unchanged = |finding: &&Finding| finding.state == Some(State::Unchanged);
        let omitted: usize = self
            .findings
            .iter()
            .filter(is_unchanged)
            .map(|finding| finding.count.max(1))
            .sum();
        if omitted == 0 {
            return Cow::Borrowed(self);
        }
        let mut report = self.clone();
        report.omitted_unchanged = report.omitted_unchanged.saturating_add(omitted);
        report.findings.retain(|finding| !is_unchanged(&finding));
        report.drop_unneeded_lines();
        Cow::Owned(report)
    }

    /// Removes the source lines, for a reader that has the files.
    pub(crate) fn drop_lines(&mut self) {
        self.lines.clear();
        for label in self.findings.iter_mut().flat_map(Finding::labels_mut) {
            label.text = None;
        }
    }

    /// Removes the lines that no finding needs, and numbers the remaining texts.
    fn drop_unneeded_lines(&mut self) {
        let needed = needed_lines(&self.findings);
        let ids: BTreeMap<TextRef, TextRef> = needed
            .keys()
            .enumerate()
            .map(|(at, id)| (*id, TextRef::at(at)))
            .collect();
        self.lines
            .retain_mut(|text| match (needed.get(&text.id), ids.get(&text.id)) {
                (Some(needed), Some(id)) => {
                    text.keep(needed);
                    text.id = *id;
                    true
                }
                (_, _) => false,
            });
        for label in self.findings.iter_mut().flat_map(Finding::labels_mut) {
            label.text = label.text.and_then(|id| ids.get(&id).copied());
        }
    }
}

impl Finding {
    fn labels(&self) -> impl Iterator<Item = &LabelledPlace> {
        std::iter::once(&self.primary).chain(&self.related)
    }

    fn labels_mut(&mut self) -> impl Iterator<Item = &mut LabelledPlace> {
        std::iter::once(&mut self.primary).chain(&mut self.related)
    }
}

impl FileLines {
    fn keep(&mut self, needed: &BTreeSet<usize>) {
        self.lines.retain(|line| needed.contains(&line.line));
    }
}

/// Returns the lines of all labels, with one line of context on each side.
fn needed_lines(findings: &[Finding]) -> NeededLines {
    let mut needed = NeededLines::new();
    for label in findings.iter().flat_map(Finding::labels) {
        let Some(text) = label.text else { continue };
        let [(line, _), _] = label.ends();
        needed
            .entry(text)
            .or_default()
            .extend(line.saturating_sub(1)..=line.saturating_add(1));
    }
    needed
}
