//! Findings: which are listed, in which order, and what is said of each.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::FindingFilter;
use super::entries::edit_numbers;
use super::sites::SiteNames;
use crate::diagnostic::Severity;
use crate::report::counted;
use crate::report::model::{Finding, LabelledPlace, Report, State, SuppressedBy, SuppressionKind};
use crate::report::text::{StyledText, TextRole};

/// A finding, and what is said of it beside its message, places, notes and help.
pub(in crate::report) struct FindingEntry<'r> {
    /// The finding.
    pub(in crate::report) finding: &'r Finding,
    /// Its index among the findings of the report.
    pub(in crate::report) index: usize,
    /// The sites it is in; empty where none has a name.
    pub(in crate::report) sites: StyledText,
    /// The edits that caused it; empty where they are not known.
    pub(in crate::report) causes: StyledText,
    /// The reason why it is suppressed; empty where it is reported.
    pub(in crate::report) suppressed: StyledText,
}

/// The findings that are listed: errors that are new, root causes first, and all others, the
/// worst first.
pub(super) fn listed<'r>(
    report: &'r Report,
    listing: FindingFilter,
    sites: &SiteNames<'r>,
) -> (Vec<FindingEntry<'r>>, Vec<FindingEntry<'r>>) {
    let roots: HashSet<&str> =
        report.findings.iter().filter_map(|it| it.because_of.as_deref()).collect();
    let findings = report.findings.iter().enumerate();
    let mut findings: Vec<(usize, &Finding)> =
        findings.filter(|(_, finding)| listing.has(finding)).collect();
    findings.sort_by_key(|(_, finding)| {
        let is_root = roots.contains(&*finding.fingerprint);
        (rank(finding), Reverse(finding.severity), Reverse(is_root))
    });
    let entry = |(index, finding)| FindingEntry::new(index, finding, report, sites);
    findings
        .into_iter()
        .map(entry)
        .partition(|it| it.finding.is_new() && it.finding.severity == Severity::Error)
}

/// New findings come before others, and those before suppressed ones.
fn rank(finding: &Finding) -> usize {
    match (&finding.suppressed, finding.state) {
        (None, Some(State::New) | None) => 0,
        (None, Some(State::Unchanged | State::Fixed)) => 1,
        (Some(_), _) => 2,
    }
}

impl FindingFilter {
    /// Whether a finding is listed.
    pub(in crate::report) fn has(self, finding: &Finding) -> bool {
        match (&finding.suppressed, finding.state) {
            (Some(_), _) => self.ignored,
            (None, Some(State::Unchanged)) => self.all,
            (None, Some(State::Fixed)) => false,
            (None, Some(State::New) | None) => finding.because_of.is_none() || self.all,
        }
    }
}

impl<'r> FindingEntry<'r> {
    fn new(index: usize, finding: &'r Finding, report: &'r Report, sites: &SiteNames<'r>) -> Self {
        Self {
            finding,
            index,
            sites: finding.sites.map(|set| sites.phrase_of(set)).unwrap_or_default(),
            causes: causes(finding, report),
            suppressed: finding.suppressed.as_ref().map(suppression).unwrap_or_default(),
        }
    }

    /// The notes beside its message and its first place, a line each: its other places, its
    /// importance, the remedy, its sites, the edits that caused it.
    pub(in crate::report) fn lines(&self, max_places: usize) -> Vec<String> {
        let finding = self.finding;
        let mut lines: Vec<String> =
            finding.related.iter().take(max_places).map(labelled).collect();
        if finding.related.len() > max_places {
            lines
                .push(format!("and {}", counted(finding.related.len() - max_places, "more place")));
        }
        lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
        lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
        let further =
            [("in ", &self.sites), ("caused by ", &self.causes), ("ignored ", &self.suppressed)];
        let further = further.into_iter().filter(|(_, text)| !text.is_empty());
        lines.extend(further.map(|(word, text)| format!("{word}{}", text.words())));
        if finding.state == Some(State::Unchanged) {
            lines.push("the base has it too".to_owned());
        }
        lines
    }
}

/// The edits that caused a finding.
fn causes(finding: &Finding, report: &Report) -> StyledText {
    let edits: Vec<_> = finding.caused_by.iter().map(|edit| report.edit(*edit)).collect();
    let Some(first) = edits.first() else { return StyledText::default() };
    let text = StyledText::plain(edit_numbers(&edits)).linked(&first.id.to_string());
    let place = first.at.last().map(|place| StyledText::place(place, first.at.head.is_some()));
    let text = text.and(", ").join(place.unwrap_or_default());
    match edits.len() - 1 {
        0 => text,
        more => text.and(format!(" and {more} more")),
    }
}

fn suppression(by: &SuppressedBy) -> StyledText {
    let at = format!("{}:{}", by.file, by.line);
    match by.kind {
        SuppressionKind::Comment if by.reason.is_empty() => {
            StyledText::plain("by ").then(TextRole::Place, at)
        }
        SuppressionKind::Comment => {
            StyledText::plain("by ").then(TextRole::Place, at).and(": ").and(&by.reason)
        }
        SuppressionKind::Baseline => {
            StyledText::plain("by the baseline, ").then(TextRole::Place, at)
        }
    }
}

/// Where a label is, and what is to be seen there.
pub(in crate::report) fn labelled(label: &LabelledPlace) -> String {
    let place = place_words(label);
    if label.label.is_empty() { place } else { format!("{place}: {}", label.label) }
}

/// Where a label is.
pub(in crate::report) fn place_words(label: &LabelledPlace) -> String {
    let place = format!("{}:{}:{}", label.file, label.line, label.column);
    match &label.decoded {
        Some(it) => format!("{place} (decoded, {}:{}:{})", it.name, it.line, it.column),
        None => place,
    }
}
