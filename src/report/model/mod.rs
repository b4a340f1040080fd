//! The report of `lint` and `diff`: all that a run has to say, in one value that every format is
//! a function of. It is written as JSON and read again, so that a saved report says in any
//! format what the run would have said. It holds no secret, and nothing of this machine.
//!
//! `docs/report.md` explains it, `docs/report-2.schema.json` is its schema.

mod change;
mod finding;
mod id;
mod json;
mod lines;
mod place;
pub mod read;
mod repositories;
mod sites;
mod timing;
mod value;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::change::{
    OnSides, OutputChange, OutputGroup, OutputPart, ReportedCause, ReportedEdit, ReportedOutput,
    ReportedShield, Route, RouteStep,
};
pub(crate) use self::finding::Finding;
pub(crate) use self::finding::{Fingerprints, State, SuppressedBy, SuppressionKind, TextFix};
pub(crate) use self::id::{EditRef, GroupRef, RouteRef, SetRef};
pub(super) use self::json::{VERSION, write_json};
pub use self::json::{rendered, site_rows, write};
pub(crate) use self::lines::{FileLines, SourceLine};
pub(super) use self::place::pointer;
pub(crate) use self::place::{FilePlace, LabelledPlace};
pub use self::read::{ReportReadError, read};
pub(crate) use self::repositories::RepositoryUse;
pub(crate) use self::sites::{ReportedSite, SiteCounts, SiteSet};
pub use self::timing::Timing;
pub(crate) use self::value::ShownValue;

use self::change::ReportedChanges;
use self::finding::ComparedFinding;
use self::lines::LineCollector;
use self::sites::SiteSets;
use super::statistics::{self, RuleCount};
use super::{ChosenBy, ChosenSemantics, Links, ReportedSemantics, View};
use crate::compare::Status;
use crate::compare::reach::{Comparison as Compared, SiteReach, Unlisted};
use crate::diagnostic::Severity;
use crate::source;
use crate::triage::{self, Counts, Findings};

/// The JSON Schema of a report.
pub const SCHEMA_TEXT: &str = include_str!("../../../docs/report-2.schema.json");

/// The name of the format, which its JSON Schema has as `$id`.
pub(super) const SCHEMA: &str = "urn:layercake:report:2";

/// The version of reports.
pub(super) const REPORT_VERSION: u32 = 2;

/// All that a run has to say.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// The name of the format.
    pub schema: String,
    /// Its version.
    pub version: u32,
    /// The program that made it.
    pub tool: Tool,
    /// Whether the run passed.
    pub verdict: RunVerdict,
    /// The repository, where it is one of git.
    pub repository: Option<ReportedRepository>,
    /// The further repositories, by name, with the revisions that were read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repositories: Vec<RepositoryUse>,
    /// The two sides; none without a comparison.
    pub comparison: Option<ReportedComparison>,
    /// The meaning in which documents were rendered.
    pub semantics: ChosenSemantics,
    /// The template of links to lines of the repository.
    pub links: Option<Links>,
    /// The run in figures.
    pub totals: Totals,
    /// The sites of both sides, by name.
    pub sites: Vec<ReportedSite>,
    /// Sets of sites, which other parts name.
    pub site_sets: Vec<SiteSet>,
    /// The edits, by path and place.
    pub edits: Vec<ReportedEdit>,
    /// Outputs that changed alike.
    pub groups: Vec<OutputGroup>,
    /// The outputs that changed, by group.
    pub outputs: Vec<ReportedOutput>,
    /// Routes from edits to outputs.
    pub routes: Vec<Route>,
    /// The places that stopped edits.
    pub shields: Vec<ReportedShield>,
    /// The findings by path and place, those that are fixed last.
    pub findings: Vec<Finding>,
    /// The findings by rule, in figures.
    pub statistics: Vec<RuleCount>,
    /// The lines that findings point at.
    pub lines: Vec<FileLines>,
    /// Counts of what is not listed.
    pub truncated: Truncated,
    /// Duration of the run, in milliseconds.
    pub timing_ms: Timing,
}

/// The program that made a report.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Tool {
    /// `layercake`.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
}

/// Whether a run passed, and what would have failed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Verdict")]
pub struct RunVerdict {
    /// Its outcome.
    pub outcome: RunOutcome,
    /// The least bad findings that fail it; none where no finding does.
    pub fail_on: Option<Severity>,
    /// The findings, or changes, that fail it.
    pub judges: FailureCriterion,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Outcome")]
pub enum RunOutcome {
    /// Nothing fails it: exit code 0.
    Passed,
    /// Something does: exit code 1.
    Failed,
    /// layercake itself failed: exit code 2.
    InternalError,
}

/// Criterion by which a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Judges")]
pub enum FailureCriterion {
    /// Findings that are new; without a comparison all.
    NewFindings,
    /// All findings, also those of both sides.
    AllFindings,
    /// The gates of a comparison.
    Gates,
    /// These, and whether an output changed.
    Changes,
}

/// The repository of a report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Repository")]
pub struct ReportedRepository {
    /// The name of its folder.
    pub name: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Its path in the repository that it is inside of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nested_at: Option<String>,
}

/// The two sides of a comparison, and why it is these.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Comparison")]
pub struct ReportedComparison {
    /// The base side.
    pub base: ReportedSide,
    /// The head side.
    pub head: ReportedSide,
    /// The way in which they were chosen, as a word that stays the same in later versions, such as
    /// `since`.
    pub chosen_by: String,
    /// The way in which they were chosen, for people, such as `merge-base of main and HEAD`.
    pub reason: String,
    /// Whether the repository holds only part of its history.
    pub shallow: bool,
    /// Number of files that differ between the sides.
    pub edited_files: usize,
    /// Whether only some sites or files were asked for.
    pub limited: bool,
    /// Whether findings were looked for.
    pub linted: bool,
    /// Number of comments that suppress findings and are new.
    pub added_ignores: usize,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Side")]
pub struct ReportedSide {
    /// Kind of the source of its files.
    pub kind: SideKind,
    /// The commit, in full.
    pub commit: Option<String>,
    /// The id of the tree of files, in full.
    pub tree: Option<String>,
    /// When the commit was made, as ISO 8601.
    pub date: Option<String>,
    /// Its name as the user gave it, such as `main`; empty where it was not named.
    pub name: String,
}

/// Source of the files of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SideKind {
    /// A commit.
    Commit,
    /// Nothing: what was there before the first commit.
    Nothing,
    /// The index of git: what is staged.
    Index,
    /// The working tree.
    Worktree,
}

/// A run in figures. Findings that follow from others are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Totals {
    /// Sites of the head side that have a name.
    pub(crate) sites: usize,
    /// Sites that Deckhand would refuse.
    pub(crate) refused_sites: usize,
    /// Documents read; none with a comparison.
    pub(crate) documents: Option<usize>,
    /// Outputs of the head side.
    pub(crate) outputs: usize,
    /// Edits.
    pub edits: usize,
    /// Edits that change no output.
    pub(crate) inert_edits: usize,
    /// Sites in which an output changed, came or went.
    pub(crate) changed_sites: usize,
    /// Outputs that changed, came or went.
    pub changed_outputs: usize,
    /// Number of changed outputs in files that do not differ.
    pub(crate) untouched_outputs: usize,
    /// Changed outputs by what became of them.
    pub by_status: ByStatus,
    /// Changed outputs of which no edit explains all: a fault of layercake.
    pub(crate) unexplained: usize,
    /// Sites in which an override stops an edit.
    pub(crate) shielded_sites: usize,
    /// Open findings that are new; without a comparison all.
    pub findings: Counts,
    /// Number of findings that `--fix` removes.
    pub fixable: usize,
    /// Findings of both sides.
    pub(crate) unchanged: Counts,
    /// Findings of the base side alone.
    pub(crate) fixed: usize,
    /// Findings that a comment suppresses.
    pub(crate) ignored: usize,
    /// Findings that the baseline suppresses.
    pub(crate) accepted: usize,
}

/// Outputs by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[expect(missing_docs, reason = "the names are those of `Status`")]
pub struct ByStatus {
    pub changed: usize,
    pub added: usize,
    pub removed: usize,
    pub broken: usize,
    pub repaired: usize,
    pub metadata: usize,
    pub not_comparable: usize,
}

/// Counts of changes that are not listed, because there are too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Truncated {
    /// Outputs that changed.
    pub(crate) outputs: usize,
    /// Edits that changed a listed output, for all of these.
    pub(crate) causes: usize,
    /// Places that stop edits.
    pub(crate) shields: usize,
    /// Values that are too long.
    pub(crate) values: usize,
}

/// Results of a run, from which a report is made.
#[derive(Debug)]
pub struct ReportInput<'a> {
    /// Whether it passed.
    pub verdict: RunVerdict,
    /// The repository.
    pub repository: Option<ReportedRepository>,
    /// The further repositories.
    pub repositories: &'a [source::UsedRepository],
    /// The sides that were rendered and, of two, compared.
    pub checked: CheckedSides<'a>,
    /// Number of outputs of the head side.
    pub outputs: usize,
    /// The meaning of documents.
    pub semantics: ChosenSemantics,
    /// Template of links to lines of the repository.
    pub links: Option<Links>,
    /// Durations.
    pub timing: Timing,
}

/// The sides that a run looked at.
#[derive(Debug)]
pub enum CheckedSides<'a> {
    /// One.
    One {
        /// Number of documents that all files hold.
        documents: usize,
        /// The sites.
        sites: Vec<SiteReach>,
        /// The findings that reports list.
        findings: &'a Findings,
    },
    /// Two, compared.
    Two {
        /// The two sides.
        sides: Box<ReportedComparison>,
        /// The changes.
        comparison: &'a Compared,
        /// The findings that reports list; none where they were not looked for.
        findings: Option<&'a triage::ComparedFindings>,
    },
}

impl<'a> ReportInput<'a> {
    /// A run over one side in which these findings were found; what else there is to say of it is
    /// not known.
    pub fn of_findings(findings: &'a Findings) -> Self {
        Self::new(CheckedSides::One { documents: 0, sites: Vec::new(), findings })
    }

    /// A run over two sides, with the findings of both if they were looked for; what else there
    /// is to say of it is not known.
    pub fn of_comparison(
        sides: ReportedComparison,
        comparison: &'a Compared,
        findings: Option<&'a triage::ComparedFindings>,
    ) -> Self {
        Self::new(CheckedSides::Two { sides: Box::new(sides), comparison, findings })
    }

    fn new(checked: CheckedSides<'a>) -> Self {
        Self {
            verdict: RunVerdict {
                outcome: RunOutcome::Passed,
                fail_on: None,
                judges: FailureCriterion::NewFindings,
            },
            repository: None,
            repositories: &[],
            checked,
            outputs: 0,
            semantics: ChosenSemantics {
                meaning: ReportedSemantics::Documented,
                chosen_by: ChosenBy::Default,
            },
            links: None,
            timing: Timing::default(),
        }
    }
}

impl ReportedComparison {
    /// A comparison with a base, of which nothing else is known.
    pub fn of_kinds(base: SideKind, head: SideKind) -> Self {
        let side =
            |kind| ReportedSide { kind, commit: None, tree: None, date: None, name: String::new() };
        Self {
            base: side(base),
            head: side(head),
            chosen_by: String::new(),
            reason: String::new(),
            shallow: false,
            edited_files: 0,
            limited: false,
            linted: true,
            added_ignores: 0,
        }
    }
}

/// Whether serde leaves a field out of a report.
fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

impl Report {
    /// The report of a run.
    pub fn new(run: ReportInput<'_>, view: &View<'_>) -> Self {
        let found = run.checked.found(view);
        let named = found.iter().flat_map(|it| it.diagnostic.sites.iter());
        let named = named.chain(run.repositories.iter().flat_map(|it| &it.sites)).cloned();
        let mut sets = SiteSets::new(run.checked.sites(), named);
        let texts = LineCollector::of(found.iter().map(|it| it.diagnostic), view);
        let (changes, unlisted) = match &run.checked {
            CheckedSides::One { .. } => (ReportedChanges::default(), Unlisted::default()),
            CheckedSides::Two { comparison, .. } => {
                (ReportedChanges::new(comparison, &mut sets, view), comparison.unlisted)
            }
        };
        let findings = finding::findings(&found, &texts, &mut sets, view);
        let repositories = repositories::used(run.repositories, &mut sets, view);
        let documents = run.checked.documents();
        let truncated = Truncated::new(unlisted, changes.truncated_values());
        let report = Self {
            schema: SCHEMA.to_owned(),
            version: REPORT_VERSION,
            tool: Tool::this(),
            verdict: run.verdict,
            repository: run.repository,
            repositories,
            comparison: run.checked.into_comparison(),
            semantics: run.semantics,
            links: run.links,
            totals: Totals { documents, outputs: run.outputs, ..Totals::default() },
            sites: sets.sites,
            site_sets: sets.sets,
            edits: changes.edits,
            groups: changes.groups,
            outputs: changes.outputs,
            routes: changes.routes,
            shields: changes.shields,
            statistics: Vec::new(),
            findings,
            lines: texts.lines,
            truncated,
            timing_ms: run.timing,
        };
        report.without_further_fixes().counted()
    }

    /// The report with other links, where there are any.
    #[must_use]
    pub fn with_links(self, links: Option<Links>) -> Self {
        Self { links: links.or(self.links), ..self }
    }

    /// The sites of a set.
    pub(crate) fn sites_in(&self, set: SetRef) -> impl ExactSizeIterator<Item = &ReportedSite> {
        let sites = set.of(&self.site_sets).map_or(&[][..], |set| &set.sites);
        sites.iter().map(|at| &self.sites[*at])
    }

    /// The edit of this name.
    pub(crate) fn edit(&self, id: EditRef) -> &ReportedEdit {
        &self.edits[id.index()]
    }

    /// The lines that a label is on, with one more on both sides. None where no text may be
    /// shown.
    pub(crate) fn lines_around(&self, label: &LabelledPlace) -> Vec<&SourceLine> {
        let [(first, column), (last, _)] = label.ends();
        let Some(text) = self.text_of(label) else { return Vec::new() };
        text.between(first.saturating_sub(1), last.min(first) + 1, (first, column))
    }

    /// The lines kept of the text that a label is in.
    pub(crate) fn text_of(&self, label: &LabelledPlace) -> Option<&FileLines> {
        label.text?.of(&self.lines)
    }

    /// Adds the figures of what is listed.
    fn counted(mut self) -> Self {
        self.count_by_site();
        self.count_outputs();
        self.count_findings();
        self.statistics = statistics::rows(&self);
        self
    }

    fn count_by_site(&mut self) {
        let sets = &self.site_sets;
        let in_set = |set: SetRef| sets[set.index()].sites.iter().copied();
        for output in &self.outputs {
            for site in in_set(output.sites) {
                self.sites[site].counts.add_output(output.status);
            }
        }
        for shield in &self.shields {
            for site in in_set(shield.sites) {
                self.sites[site].counts.shielded += 1;
            }
        }
        for finding in self.findings.iter().filter(|it| it.is_open()) {
            let is_error = finding.is_new() && finding.severity == Severity::Error;
            for site in finding.sites.into_iter().flat_map(in_set) {
                let counts = &mut self.sites[site].counts;
                counts.refused |= finding.refused;
                counts.errors += if is_error { finding.count } else { 0 };
            }
        }
    }

    fn count_outputs(&mut self) {
        let count =
            |is_in: fn(&ReportedSite) -> bool| self.sites.iter().filter(|it| is_in(it)).count();
        let is_there = |site: &ReportedSite| {
            site.name.is_some() && (site.head.is_some() || site.base.is_none())
        };
        let (sites, refused_sites) = (count(is_there), count(|site| site.counts.refused));
        let (changed_sites, shielded_sites) =
            (count(|site| site.counts.has_changed()), count(|site| site.counts.shielded > 0));
        let totals = &mut self.totals;
        totals.sites = sites;
        totals.refused_sites = refused_sites;
        totals.changed_sites = changed_sites;
        totals.shielded_sites = shielded_sites;
        totals.edits = self.edits.len();
        totals.inert_edits = self.edits.iter().filter(|edit| edit.is_inert()).count();
        for output in &self.outputs {
            let outputs = self.site_sets[output.sites.index()].sites.len();
            totals.by_status.add(output.status, outputs);
            if output.status != Status::NotComparable {
                totals.changed_outputs += outputs;
                totals.untouched_outputs += if output.touched { 0 } else { outputs };
            }
            totals.unexplained += if output.unexplained { outputs } else { 0 };
        }
    }

    fn count_findings(&mut self) {
        let totals = &mut self.totals;
        for finding in &self.findings {
            match (&finding.suppressed, finding.state) {
                (Some(it), _) => match it.kind {
                    SuppressionKind::Comment => totals.ignored += finding.count,
                    SuppressionKind::Baseline => totals.accepted += finding.count,
                },
                (None, Some(State::Fixed)) => totals.fixed += finding.count,
                (None, Some(State::Unchanged)) => {
                    totals.unchanged.add(finding.severity, finding.count);
                }
                (None, Some(State::New) | None) => {
                    totals.findings.add(finding.severity, finding.count);
                    totals.fixable += if finding.has_safe_fix() { finding.count } else { 0 };
                }
            }
        }
    }
}

impl Tool {
    fn this() -> Self {
        let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self { name: name.to_owned(), version: version.to_owned() }
    }
}

impl SiteCounts {
    fn add_output(&mut self, status: Status) {
        let count = match status {
            Status::Added => &mut self.added,
            Status::Removed => &mut self.removed,
            Status::NotComparable => &mut self.not_comparable,
            Status::Changed | Status::Broken | Status::Repaired | Status::Metadata => {
                &mut self.changed
            }
        };
        *count += 1;
    }

    /// Whether an output changed, came or went.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed + self.added + self.removed > 0
    }
}

impl ByStatus {
    fn add(&mut self, status: Status, outputs: usize) {
        let count = match status {
            Status::Changed => &mut self.changed,
            Status::Added => &mut self.added,
            Status::Removed => &mut self.removed,
            Status::Broken => &mut self.broken,
            Status::Repaired => &mut self.repaired,
            Status::Metadata => &mut self.metadata,
            Status::NotComparable => &mut self.not_comparable,
        };
        *count += outputs;
    }
}

impl Truncated {
    fn new(unlisted: Unlisted, values: usize) -> Self {
        let Unlisted { outputs, causes, shields } = unlisted;
        Self { outputs, causes, shields, values }
    }
}

impl<'a> CheckedSides<'a> {
    fn found(&self, view: &View<'a>) -> Vec<ComparedFinding<'a>> {
        match self {
            CheckedSides::One { findings, .. } => ComparedFinding::on_one_side(findings, view),
            CheckedSides::Two { findings, .. } => {
                findings.map(|it| ComparedFinding::on_two_sides(it, view)).unwrap_or_default()
            }
        }
    }

    fn sites(&self) -> Vec<(Option<Arc<str>>, ReportedSite)> {
        let sites = match self {
            CheckedSides::One { sites, .. } => sites,
            CheckedSides::Two { comparison, .. } => &comparison.sites,
        };
        let site = |reach: &SiteReach| ReportedSite {
            name: reach.site.as_deref().map(str::to_owned),
            site_type: reach.site_type.as_deref().map(str::to_owned),
            base: reach.base,
            head: reach.head,
            counts: SiteCounts::default(),
        };
        sites.iter().map(|reach| (reach.site.clone(), site(reach))).collect()
    }

    fn documents(&self) -> Option<usize> {
        match self {
            CheckedSides::One { documents, .. } => Some(*documents),
            CheckedSides::Two { .. } => None,
        }
    }

    fn into_comparison(self) -> Option<ReportedComparison> {
        match self {
            CheckedSides::One { .. } => None,
            CheckedSides::Two { sides, .. } => Some(*sides),
        }
    }
}
