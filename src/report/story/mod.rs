//! The contents of a report, in order: the verdict, the sites, the root causes, the edits and their
//! effects, all other findings. Folding and each sentence are here once; a format decides how it is
//! laid out and how much of it there is room for.

mod bumps;
mod delta;
mod entries;
mod findings;
mod fold;
mod names;
mod repositories;
mod sites;
mod verdict;

pub(super) use self::bumps::Commits;
pub(super) use self::delta::{DiffLine, Sign, ValueDelta};
pub(super) use self::entries::{
    EditEntry, EditedValue, GroupEntry, RouteEntry, edit_numbers, runs, step_words,
};
pub(super) use self::findings::{FindingEntry, labelled, place_words};
pub(super) use self::names::{DocumentNames, path_in};
pub(super) use self::repositories::used_repositories;
pub(super) use self::sites::{Cell, SiteColumn, SiteNames, SiteTable, SiteTableRow};
pub(super) use self::verdict::{Headline, counts, repository};

use super::counted;
use super::model::{Report, ReportedEdit};
use super::text::{StyledText, TextRole};

/// Optional findings that are listed, beside those that always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingFilter {
    /// Whether each finding is: those that follow from another one, and those that both sides of
    /// a comparison have.
    pub all: bool,
    /// Whether those are that a comment or the baseline suppresses.
    pub ignored: bool,
}

/// The contents of a report, in sentences.
pub(super) struct Story<'r> {
    /// The report.
    pub(super) report: &'r Report,
    /// Whether the run passed and why.
    pub(super) headline: Headline,
    /// The sides that were compared: a word and a name for each.
    pub(super) header: Vec<(&'static str, StyledText)>,
    /// The changes of the sites, where there are several.
    pub(super) sites: Option<SiteTable>,
    /// New findings that are errors.
    pub(super) errors: Vec<FindingEntry<'r>>,
    /// The edits and their effects.
    pub(super) entries: Vec<EditEntry<'r>>,
    /// The commits between the revisions of further repositories.
    pub(super) commits: Vec<Commits>,
    /// Edits that changed nothing and that nothing stopped.
    pub(super) inert: Vec<&'r ReportedEdit>,
    /// Edits of unknown content that no output follows from.
    pub(super) unknown: Vec<&'r ReportedEdit>,
    /// Outputs of which a change has no edit behind it.
    pub(super) unexplained: Vec<StyledText>,
    /// The other findings that are listed.
    pub(super) others: Vec<FindingEntry<'r>>,
    /// Names of documents.
    pub(super) names: DocumentNames<'r>,
    /// Names of sites.
    pub(super) site_names: SiteNames<'r>,
}

impl<'r> Story<'r> {
    pub(super) fn new(report: &'r Report, listing: FindingFilter) -> Self {
        Self::build(report, listing, false)
    }

    /// Lists outputs of one document separately where they have values of their own.
    pub(super) fn in_detail(report: &'r Report, listing: FindingFilter) -> Self {
        Self::build(report, listing, true)
    }

    fn build(report: &'r Report, listing: FindingFilter, each_value: bool) -> Self {
        let (names, site_names) = (DocumentNames::new(report), SiteNames::new(report));
        let (errors, others) = findings::listed(report, listing, &site_names);
        let without_effect = report.edits.iter().filter(|edit| {
            let is_shielded = || report.shields.iter().any(|shield| shield.edit == edit.id);
            edit.reach.outputs == 0 && !is_shielded()
        });
        let (unknown, inert) = without_effect.partition(|edit| edit.kind.is_unknown());
        Self {
            headline: Headline::new(report, &site_names),
            header: verdict::header(report, &site_names),
            sites: SiteTable::new(report, &site_names),
            errors,
            entries: entries::entries(report, &names, &site_names, each_value),
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
    /// All findings that are listed, in the order of the report.
    pub(super) fn findings_by_place(&self) -> Vec<&FindingEntry<'r>> {
        let mut entries: Vec<&FindingEntry<'r>> = self.errors.iter().chain(&self.others).collect();
        entries.sort_by_key(|entry| entry.index);
        entries
    }
}

/// Note on outputs that no edit explains: it is a fault of layercake.
pub(super) const UNEXPLAINED: &str = "This is a fault of layercake, not of your documents: do not \
                                      rely on the causes of these outputs, and please report it \
                                      with the output of `-o json`.";

fn unexplained(
    report: &Report,
    names: &DocumentNames<'_>,
    sites: &SiteNames<'_>,
) -> Vec<StyledText> {
    let outputs = report.outputs.iter().filter(|output| output.unexplained);
    let texts = outputs.map(|output| {
        let group = &report.groups[output.group.index()];
        let document = names.document(&output.document);
        let place = sites.phrase_of(output.sites);
        let text = if place.is_empty() { document } else { document.and(" in ").join(place) };
        match &group.changes[..] {
            [] => text,
            [first, more @ ..] => {
                let text = text.and("  ").then(TextRole::Name, &first.path);
                let more = match more.len() {
                    0 => String::new(),
                    count => format!(" and {}", counted(count, "more place")),
                };
                text.and(more)
            }
        }
    });
    texts.collect()
}
