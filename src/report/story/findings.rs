//! Selection, order and descriptions of findings.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::FindingFilter;
use super::entries::edit_numbers;
use super::names::place_of;
use super::sites::SiteNames;
use crate::diagnostic::Severity;
use crate::report::counted;
use crate::report::model::{
    Finding, LabelledPlace, Report, ReportedEdit, State, SuppressedBy, SuppressionKind,
};
use crate::report::text::{StyledText, TextLink, TextRole};

/// A finding with its sites, causes and suppression as text.
pub(crate) struct FindingEntry<'r> {
    /// The finding.
    pub(crate) finding: &'r Finding,
    /// Index into the findings of the report.
    pub(crate) index: usize,
    /// Whether others are its consequences, or may be.
    pub(crate) is_root: bool,
    /// Sites with this finding; empty if none has a name.
    pub(crate) sites: StyledText,
    /// Edits that caused it; empty if unknown.
    pub(crate) causes: StyledText,
    /// Reason of its suppression; empty if it is reported.
    pub(crate) suppressed: StyledText,
}

/// Returns the listed findings: new errors, and all others, root causes first, then by severity.
pub(super) fn listed<'r>(
    report: &'r Report,
    listing: FindingFilter,
    sites: &SiteNames<'r>,
) -> (Vec<FindingEntry<'r>>, Vec<FindingEntry<'r>>) {
    let causes = with_consequences(report);
    let findings = report.findings.iter().enumerate();
    let mut entries: Vec<FindingEntry<'r>> = findings
        .filter(|(_, finding)| listing.has(finding))
        .map(|(index, finding)| {
            FindingEntry::new(index, finding, finding.is_root(&causes), report, sites)
        })
        .collect();
    entries.sort_by_key(|entry| {
        (
            rank(entry.finding),
            Reverse(entry.is_root),
            Reverse(entry.finding.severity),
        )
    });
    entries
        .into_iter()
        .partition(|it| it.finding.is_new() && it.finding.severity == Severity::Error)
}

/// Returns the fingerprints of the findings from which others follow.
pub(super) fn with_consequences(report: &Report) -> HashSet<&str> {
    report
        .findings
        .iter()
        .filter_map(|finding| finding.because_of.as_deref())
        .collect()
}

impl Finding {
    /// Returns whether others follow from the finding, or may.
    pub(super) fn is_root(&self, causes: &HashSet<&str>) -> bool {
        self.is_cause || causes.contains(&*self.fingerprint)
    }
}

/// Returns the sort rank: new findings first, suppressed ones last.
fn rank(finding: &Finding) -> usize {
    match (&finding.suppressed, finding.state) {
        (None, Some(State::New) | None) => 0,
        (None, Some(State::Unchanged | State::Fixed)) => 1,
        (Some(_), _) => 2,
    }
}

impl FindingFilter {
    /// Whether a finding is listed.
    pub(crate) fn has(self, finding: &Finding) -> bool {
        match (&finding.suppressed, finding.state) {
            (Some(_), _) => self.ignored,
            (None, Some(State::Unchanged)) => self.all,
            (None, Some(State::Fixed)) => false,
            (None, Some(State::New) | None) => finding.because_of.is_none() || self.all,
        }
    }
}

impl<'r> FindingEntry<'r> {
    fn new(
        index: usize,
        finding: &'r Finding,
        is_root: bool,
        report: &'r Report,
        sites: &SiteNames<'r>,
    ) -> Self {
        Self {
            finding,
            index,
            is_root,
            sites: finding
                .sites
                .map(|set| sites.phrase_of(set))
                .unwrap_or_default(),
            causes: causes(finding, report),
            suppressed: finding
                .suppressed
                .as_ref()
                .map(suppression)
                .unwrap_or_default(),
        }
    }

    /// Returns sites, causes and suppression, each with a word before it, if they are known.
    pub(crate) fn circumstances(&self) -> impl Iterator<Item = (&'static str, &StyledText)> {
        let circumstances = [
            ("in", &self.sites),
            ("caused by", &self.causes),
            ("ignored", &self.suppressed),
        ];
        circumstances
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
    }

    /// Returns everything except the message and the primary place, one item per line: related
    /// places, notes, help, sites, and causes.
    pub(crate) fn lines(&self, max_places: usize) -> Vec<String> {
        let finding = self.finding;
        let mut lines: Vec<String> = finding
            .related
            .iter()
            .take(max_places)
            .map(labelled)
            .collect();
        if finding.related.len() > max_places {
            lines.push(format!(
                "and {}",
                counted(finding.related.len() - max_places, "more place")
            ));
        }
        lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
        lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
        let circumstances = self.circumstances();
        lines.extend(circumstances.map(|(word, text)| format!("{word} {}", text.words())));
        if finding.state == Some(State::Unchanged) {
            lines.push("also present on the base side".to_owned());
        }
        lines
    }
}

/// Describes the edits that caused a finding.
fn causes(finding: &Finding, report: &Report) -> StyledText {
    let edits: Vec<&ReportedEdit> = report.edits_with(&finding.caused_by).collect();
    let Some(first) = edits.first() else {
        return StyledText::default();
    };
    let text = StyledText::plain(edit_numbers(&edits))
        .linked(&TextLink::Anchor(first.id.to_string()))
        .and(", ")
        .join(place_of(first));
    match edits.len() - 1 {
        0 => text,
        more => text.and(format!(" and {more} more")),
    }
}

fn suppression(by: &SuppressedBy) -> StyledText {
    let at = format!("{}:{}", by.file, by.line);
    match by.kind {
        SuppressionKind::Comment => StyledText::plain("by ")
            .then(TextRole::Place, at)
            .join(StyledText::plain(&by.reason).prefixed(": ")),
        SuppressionKind::Baseline => {
            StyledText::plain("by the baseline, ").then(TextRole::Place, at)
        }
    }
}

/// Formats the place and the text of a label.
pub(crate) fn labelled(label: &LabelledPlace) -> String {
    let place = describe_place(label);
    if label.label.is_empty() {
        place
    } else {
        format!("{place}: {}", label.label)
    }
}

/// Formats the place of a label.
pub(crate) fn describe_place(label: &LabelledPlace) -> String {
    let place = format!("{}:{}:{}", label.file, label.line, label.column);
    match &label.decoded {
        Some(it) => format!("{place} (decoded, {}:{}:{})", it.name, it.line, it.column),
        None => place,
    }
}
