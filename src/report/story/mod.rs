//! The contents of a report in order: verdict, sites, root causes, edits and their effects, all
//! other findings. Grouping and wording are shared here; a format decides on layout and on the
//! amount of detail.

mod advice;
mod blocks;
mod bumps;
mod danger;
mod delta;
mod deployed;
mod entries;
mod findings;
mod fold;
mod images;
mod names;
mod repositories;
mod sites;
mod switches;
mod verdict;

pub(super) use self::advice::Advice;
pub(super) use self::blocks::{ChangedValue, OutputBlock};
pub(super) use self::bumps::Commits;
pub(super) use self::danger::{Danger, Losses};
pub(super) use self::delta::{DiffLine, ShortDelta, Sign, ValueDelta};
pub(super) use self::deployed::deployed_suffix;
pub(super) use self::entries::{
    Arrangement, ChangeEntry, EditEntry, EditedValue, RouteEntry, describe_step, edit_numbers, runs,
};
pub(super) use self::findings::{FindingEntry, describe_place, labelled};
pub(super) use self::names::{DocumentNames, files_of, path_in, place_of};
pub(super) use self::repositories::used_repositories;
pub(super) use self::sites::{SiteColumn, SiteNames, SiteTable, SiteTableRow};
pub(super) use self::verdict::{Headline, counts, repository};

use super::and_more_of;
use super::model::{Report, ReportedEdit};
use super::text::{StyledText, TextRole};

/// Selection of optional findings to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingFilter {
    /// Whether to list findings that follow from another one, and unchanged findings.
    pub all: bool,
    /// Whether to list suppressed findings.
    pub ignored: bool,
}

/// Contents of a report as text.
pub(super) struct Story<'r> {
    pub(super) report: &'r Report,
    pub(super) headline: Headline,
    /// Compared sides: a label and a description of each.
    pub(super) header: Vec<(&'static str, StyledText)>,
    /// Changes of the sites, if there are several.
    pub(super) sites: Option<SiteTable>,
    /// What the changes ask of the operators of sites.
    pub(super) advice: Vec<Advice>,
    /// New errors.
    pub(super) errors: Vec<FindingEntry<'r>>,
    /// Changed images.
    pub(super) images: Vec<StyledText>,
    /// Changes, the most dangerous first.
    pub(super) entries: Vec<ChangeEntry<'r>>,
    /// Commits between the revisions of further repositories.
    pub(super) commits: Vec<Commits>,
    /// Inert edits: they changed no output and are not shielded.
    pub(super) inert: Vec<&'r ReportedEdit>,
    /// Edits of unknown content without a dependent output.
    pub(super) unknown: Vec<&'r ReportedEdit>,
    /// Outputs with changes that no edit explains.
    pub(super) unexplained: Vec<StyledText>,
    /// Other listed findings.
    pub(super) others: Vec<FindingEntry<'r>>,
    /// Document names.
    pub(super) names: DocumentNames<'r>,
    /// Site names.
    pub(super) site_names: SiteNames<'r>,
}

impl<'r> Story<'r> {
    pub(super) fn new(
        report: &'r Report,
        listing: FindingFilter,
        arrangement: Arrangement,
    ) -> Self {
        let names = DocumentNames::new(report);
        let site_names = SiteNames::new(report);
        let (errors, others) = findings::listed(report, listing, &site_names);
        let (unknown, inert) = report
            .ineffective_edits()
            .partition(|edit| edit.kind.is_unknown());
        let changes = report.groups.iter().map(|group| group.changes.iter());
        let deltas: Vec<Vec<ValueDelta>> = changes
            .map(|changes| changes.map(ValueDelta::of_change).collect())
            .collect();
        let entries = entries::entries(report, &names, &site_names, &deltas, arrangement);
        Self {
            headline: Headline::new(report, &site_names, danger::dangers(report, &deltas)),
            header: verdict::header(report, &site_names),
            sites: SiteTable::new(report, &site_names),
            advice: Advice::all(report, &site_names),
            images: images::list(report, &site_names),
            errors,
            entries,
            commits: bumps::commits_of_bumps(report),
            inert,
            unknown,
            unexplained: unexplained(report, &names, &site_names),
            others,
            report,
            names,
            site_names,
        }
    }
}

impl<'r> Story<'r> {
    /// Describes an edit without effect, and why it has none.
    pub(super) fn without_effect(&self, edit: &ReportedEdit) -> StyledText {
        let why = edit
            .idle
            .map(|idle| StyledText::of(TextRole::Dim, idle.as_str()));
        StyledText::list([self.names.described(edit), why.unwrap_or_default()], "; ")
    }

    /// Returns the entries that list changes by edit.
    pub(super) fn edit_entries(&self) -> impl Iterator<Item = &EditEntry<'r>> {
        self.entries.iter().filter_map(|entry| match entry {
            ChangeEntry::Edits(entry) => Some(entry),
            ChangeEntry::Outputs(_) => None,
        })
    }

    /// Returns all listed findings, in the order of the report.
    pub(super) fn findings_by_place(&self) -> Vec<&FindingEntry<'r>> {
        let mut entries: Vec<&FindingEntry<'r>> = self.errors.iter().chain(&self.others).collect();
        entries.sort_by_key(|entry| entry.index);
        entries
    }
}

/// Note on unexplained outputs, which are a bug in layercake.
pub(super) const UNEXPLAINED: &str = "This is a bug in layercake, not in your documents. Do not \
                                      rely on the causes of these outputs, and report the bug \
                                      with the output of `-o json`.";

fn unexplained(
    report: &Report,
    names: &DocumentNames<'_>,
    sites: &SiteNames<'_>,
) -> Vec<StyledText> {
    let outputs = report.outputs.iter().filter(|output| output.unexplained);
    outputs
        .map(|output| {
            let group = report.group_of(output);
            let document = names.document(&output.document);
            let text = document.join(sites.phrase_of(output.sites).prefixed(" in "));
            match &group.changes[..] {
                [] => text,
                [first, more @ ..] => {
                    let text = text.and("  ").then(TextRole::Name, &first.path);
                    text.and(and_more_of(more.len(), "place"))
                }
            }
        })
        .collect()
}
