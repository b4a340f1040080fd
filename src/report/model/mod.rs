//! The report of `lint` and `diff`: the complete result of a run. Every format is a function of it.
//! It is written as JSON and can be read again, so a saved report can be converted to any format.
//! It contains no secrets and nothing specific to the machine.
//!
//! See `docs/report.md`; the schema is `docs/report-2.schema.json`.

mod change;
mod consequences;
mod finding;
mod id;
mod images;
mod json;
mod lines;
mod place;
pub mod read;
mod repositories;
mod sites;
mod timing;
mod unchanged;
mod value;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::change::{
    DeployedBy, EditSet, OnSides, OutputChange, OutputGroup, OutputPart, ReportedCause,
    ReportedEdit, ReportedOutput, ReportedShield, Route, RouteStep,
};
pub(crate) use self::consequences::{ReportedConsequences, ReportedEffect};
pub(crate) use self::finding::Finding;
pub(crate) use self::finding::{Fingerprints, State, SuppressedBy, SuppressionKind, TextFix};
pub(crate) use self::id::{EditRef, GroupRef, RouteRef, SetRef};
pub use self::images::{ImageChanges, ReportedImage};
pub(super) use self::json::{VERSION, write_json};
pub use self::json::{rendered, write};
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
use super::{ChosenBy, ChosenSemantics, Links, ReportedSemantics, RulePages, View};
use crate::compare::reach::{Comparison as Compared, SiteReach, Unlisted};
use crate::compare::{DeployedCounts, Status};
use crate::deployment::Consequences;
use crate::diagnostic::Severity;
use crate::source::{self, RepoPath, SourceMap};
use crate::triage::{self, Counts, Findings};

/// JSON Schema of a report.
pub const SCHEMA_TEXT: &str = include_str!("../../../docs/report-2.schema.json");

/// Name of the format: the `$id` of its JSON Schema.
pub(super) const SCHEMA: &str = "urn:layercake:report:2";

/// Version of the report format.
pub(super) const REPORT_VERSION: u32 = 2;

/// Complete result of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// Name of the format.
    pub schema: String,
    /// Version number.
    pub version: u32,
    /// Program that created the report.
    pub tool: Tool,
    /// Whether the run passed, and why.
    pub verdict: RunVerdict,
    /// Repository; `None` outside of git.
    pub repository: Option<ReportedRepository>,
    /// Further repositories by name, with the revisions used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repositories: Vec<RepositoryUse>,
    /// Compared sides; `None` without a comparison.
    pub comparison: Option<ReportedComparison>,
    /// Flags with globs, and paths, to which the run is limited.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limited_to: Vec<String>,
    /// Semantics used to render documents.
    pub semantics: ChosenSemantics,
    /// URL template for lines of the repository.
    pub links: Option<Links>,
    /// Summary counts of the run.
    pub totals: Totals,
    /// Certificates in the outputs of the head; `None` if they were not checked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub certificates: Option<ReportedCertificates>,
    /// Sites of both sides, by name.
    pub sites: Vec<ReportedSite>,
    /// Sets of sites, referenced by id.
    pub site_sets: Vec<SiteSet>,
    /// Edits, by path and place.
    pub edits: Vec<ReportedEdit>,
    /// Sets of edits, referenced by id.
    pub edit_sets: Vec<EditSet>,
    /// Groups of outputs with the same change.
    pub groups: Vec<OutputGroup>,
    /// Changed outputs, by group.
    pub outputs: Vec<ReportedOutput>,
    /// Routes from edits to outputs.
    pub routes: Vec<Route>,
    /// Places at which edits are overridden.
    pub shields: Vec<ReportedShield>,
    /// What the changes ask of the operators of sites.
    #[serde(default, skip_serializing_if = "is_default")]
    pub consequences: Vec<ReportedConsequences>,
    /// Images that the edits changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub images: Vec<ReportedImage>,
    /// Findings by path and place, fixed ones last.
    pub findings: Vec<Finding>,
    /// Number of unchanged findings that are not in `findings`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub omitted_unchanged: usize,
    /// Finding counts by rule.
    pub statistics: Vec<RuleCount>,
    /// Source lines referenced by findings.
    pub lines: Vec<FileLines>,
    /// Number of omitted items.
    pub truncated: Truncated,
    /// Duration of the run, in milliseconds.
    pub timing_ms: Timing,
    /// Published rule pages. Not saved: a saved report must not choose where rule names link to.
    #[serde(skip)]
    pub rule_pages: Option<RulePages>,
}

/// Program that created a report.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Tool {
    /// `layercake`.
    pub(crate) name: String,
    /// Version number.
    pub(crate) version: String,
}

/// Outcome of a run, and its failure criteria.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Verdict")]
pub struct RunVerdict {
    /// Outcome of the run.
    pub outcome: RunOutcome,
    /// Minimum severity of findings that fail the run; `None` if findings do not fail it.
    pub fail_on: Option<Severity>,
    /// Findings or changes that fail the run.
    pub judges: FailureCriterion,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Outcome")]
pub enum RunOutcome {
    /// The run passed: exit code 0.
    Passed,
    /// The run failed: exit code 1.
    Failed,
    /// layercake itself failed: exit code 2.
    InternalError,
}

/// Failure criterion of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Judges")]
pub enum FailureCriterion {
    /// New findings; without a comparison all findings.
    NewFindings,
    /// All findings, including those on both sides.
    AllFindings,
    /// The gates of a comparison.
    Gates,
    /// The gates, and any changed output.
    Changes,
}

/// The repository of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Repository")]
pub struct ReportedRepository {
    /// Name of its directory.
    pub name: String,
    /// Checked-out branch, if any.
    pub branch: Option<String>,
    /// Path in the enclosing repository, if it is nested.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nested_at: Option<String>,
    /// Full id of the commit that was checked, or on which the working tree is; only without a
    /// comparison.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commit: Option<String>,
    /// Date of that commit as ISO 8601.
    #[serde(default, skip_serializing_if = "is_default")]
    pub date: Option<String>,
}

/// Sides of a comparison, and the reason for their choice.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Comparison")]
pub struct ReportedComparison {
    /// The base side.
    pub base: ReportedSide,
    /// The head side.
    pub head: ReportedSide,
    /// Method of choosing the sides, as an identifier that is stable across versions, such
    /// as `since`.
    pub chosen_by: String,
    /// Human-readable reason for the choice, such as `merge-base of main and HEAD`.
    pub reason: String,
    /// Whether the repository is a shallow clone.
    pub shallow: bool,
    /// Number of files that differ between the sides.
    pub edited_files: usize,
    /// Whether the comparison is limited to some sites or files.
    pub limited: bool,
    /// Whether rules were checked.
    pub linted: bool,
    /// Number of new comments that suppress findings.
    pub added_ignores: usize,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Side")]
pub struct ReportedSide {
    /// Kind of the side.
    pub kind: SideKind,
    /// Full commit id.
    pub commit: Option<String>,
    /// Full id of the git tree.
    pub tree: Option<String>,
    /// Commit date as ISO 8601.
    pub date: Option<String>,
    /// Name given by the user, such as `main`; empty if none was given.
    pub name: String,
}

/// Kind of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SideKind {
    /// A commit.
    Commit,
    /// Empty: the state before the first commit.
    Nothing,
    /// The git index (staged files).
    Index,
    /// The working tree.
    Worktree,
}

/// Summary counts of a run. Findings that follow from others are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Totals {
    /// Named sites on the head side.
    pub(crate) sites: usize,
    /// Sites that were not read, since no edit can reach them. Other counts are without them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unread_sites: usize,
    /// Sites that Deckhand would reject.
    pub(crate) refused_sites: usize,
    /// Documents read; `None` with a comparison.
    pub(crate) documents: Option<usize>,
    /// Outputs on the head side.
    pub(crate) outputs: usize,
    /// Number of edits.
    pub edits: usize,
    /// Edits that changed no output, are not needed to keep one, and are not shielded.
    pub(crate) inert_edits: usize,
    /// Edits whose reach was not decided within the limits; counted as having an effect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) undecided_edits: usize,
    /// Sites with a changed, added or removed output.
    pub(crate) changed_sites: usize,
    /// Changed, added and removed outputs.
    pub changed_outputs: usize,
    /// Changed outputs whose own files are unchanged.
    pub(crate) untouched_outputs: usize,
    /// Changed outputs by whether they are deployed.
    #[serde(flatten)]
    pub(crate) deployed: DeployedCounts,
    /// Changed outputs by kind of change.
    pub by_status: ByStatus,
    /// Outputs with the same data that Deckhand treats differently.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) other_treatment: usize,
    /// Changed outputs that edits do not fully explain: a bug in layercake.
    pub(crate) unexplained: usize,
    /// Sites with a shielded edit.
    pub(crate) shielded_sites: usize,
    /// New open findings; without a comparison all open findings.
    pub findings: Counts,
    /// Findings that `--fix` removes.
    pub fixable: usize,
    /// Findings on both sides.
    pub(crate) unchanged: Counts,
    /// Findings on the base side only.
    pub(crate) fixed: usize,
    /// Findings suppressed by a comment.
    pub(crate) ignored: usize,
    /// Findings suppressed by the baseline.
    pub(crate) accepted: usize,
}

/// Certificates that a run checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReportedCertificates {
    /// Day, or instant, at which they have to be valid, as in RFC 3339; `None` if there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) time: Option<String>,
    /// Certificates that were read.
    pub(crate) checked: usize,
    /// Expired ones among these.
    pub(crate) expired: usize,
    /// Ones that are not valid yet.
    pub(crate) not_yet_valid: usize,
    /// Ones that expire soon.
    pub(crate) expiring: usize,
    /// Damaged certificates and private keys.
    pub(crate) unreadable: usize,
    /// Encrypted documents and private keys, which were not checked.
    pub(crate) encrypted: usize,
    /// Certificates whose signature or private key was not verified.
    pub(crate) unverified: usize,
}

/// Changed outputs by kind of change.
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

/// Number of changes omitted because there are too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Truncated {
    /// Changed outputs.
    pub(crate) outputs: usize,
    /// Causes of listed outputs.
    pub(crate) causes: usize,
    /// Shields.
    pub(crate) shields: usize,
    /// Values that are too long to list.
    pub(crate) values: usize,
}

/// Results of a run, from which a report is created.
#[derive(Debug)]
pub struct ReportInput<'a> {
    /// Whether the run passed, and why.
    pub verdict: RunVerdict,
    /// The repository.
    pub repository: Option<ReportedRepository>,
    /// The further repositories.
    pub repositories: &'a [source::UsedRepository],
    /// Rendered and compared sides.
    pub checked: CheckedSides<'a>,
    /// Images that the edits changed.
    pub images: Option<&'a ImageChanges>,
    /// Number of outputs of the head side.
    pub outputs: usize,
    /// Semantics used to render documents.
    pub semantics: ChosenSemantics,
    /// Template of links to lines of the repository.
    pub links: Option<Links>,
    /// Durations.
    pub timing: Timing,
}

/// Sides that a run checked.
#[derive(Debug)]
pub enum CheckedSides<'a> {
    /// A single side.
    One {
        /// Number of documents in all files.
        documents: usize,
        /// The sites.
        sites: Vec<SiteReach>,
        /// Findings to list.
        findings: &'a Findings,
    },
    /// Two compared sides.
    Two {
        /// The two sides.
        sides: Box<ReportedComparison>,
        /// The changes.
        comparison: &'a Compared,
        /// What they ask of the operator of each site.
        consequences: &'a Consequences,
        /// Findings to list; `None` if rules were not checked.
        findings: Option<&'a triage::ComparedFindings>,
    },
}

impl<'a> ReportInput<'a> {
    /// Creates the input for a run over one side with these findings; all other fields are
    /// defaults.
    pub fn of_findings(findings: &'a Findings) -> Self {
        Self::new(CheckedSides::One {
            documents: 0,
            sites: Vec::new(),
            findings,
        })
    }

    /// Creates the input for a run over two sides, with their findings if rules were checked; all
    /// other fields are defaults.
    pub fn of_comparison(
        sides: ReportedComparison,
        comparison: &'a Compared,
        consequences: &'a Consequences,
        findings: Option<&'a triage::ComparedFindings>,
    ) -> Self {
        Self::new(CheckedSides::Two {
            sides: Box::new(sides),
            comparison,
            consequences,
            findings,
        })
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
            images: None,
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
    /// Creates a comparison of sides of these kinds; all other fields are defaults.
    pub fn of_kinds(base: SideKind, head: SideKind) -> Self {
        let side = |kind| ReportedSide {
            kind,
            commit: None,
            tree: None,
            date: None,
            name: String::new(),
        };
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

/// Whether serde omits a field from a report.
fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

impl Report {
    /// Creates the report of a run.
    pub fn new(run: ReportInput<'_>, view: &View<'_>) -> Self {
        let found = run.checked.found(view);
        let named = found
            .iter()
            .flat_map(|it| it.diagnostic.sites.iter())
            .chain(run.repositories.iter().flat_map(|it| &it.sites))
            .cloned();
        let mut sets = SiteSets::new(run.checked.sites(), named);
        let texts = LineCollector::of(found.iter().map(|it| it.diagnostic), view);
        let (changes, consequences, unlisted) = match &run.checked {
            CheckedSides::One { .. } => Default::default(),
            CheckedSides::Two {
                comparison,
                consequences,
                ..
            } => (
                ReportedChanges::new(comparison, &mut sets, view),
                consequences::reported(consequences, comparison, &mut sets, view),
                comparison.unlisted,
            ),
        };
        let findings = finding::findings(&found, &texts, &mut sets, view);
        let repositories = repositories::used(run.repositories, &mut sets, view);
        let images = run
            .images
            .map(|images| ReportedImage::all(images, &mut sets));
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
            limited_to: Vec::new(),
            semantics: run.semantics,
            links: run.links,
            totals: Totals {
                documents,
                outputs: run.outputs,
                ..Totals::default()
            },
            certificates: None,
            site_sets: sets.listed(),
            sites: sets.sites,
            edits: changes.edits,
            edit_sets: changes.edit_sets,
            groups: changes.groups,
            outputs: changes.outputs,
            routes: changes.routes,
            shields: changes.shields,
            consequences,
            images: images.unwrap_or_default(),
            statistics: Vec::new(),
            findings,
            omitted_unchanged: 0,
            lines: texts.lines,
            truncated,
            timing_ms: run.timing,
            rule_pages: None,
        };
        report.without_further_fixes().counted()
    }

    /// Replaces the URL template if another one is given.
    #[must_use]
    pub fn with_links(self, links: Option<Links>) -> Self {
        Self {
            links: links.or(self.links),
            ..self
        }
    }

    /// States to which flags and paths the run is limited, and which of the paths contain no file
    /// that was read.
    #[must_use]
    pub fn with_limits(self, flags: Vec<String>, only: &[RepoPath], sources: &SourceMap) -> Self {
        let read: BTreeSet<&str> = match only {
            [] => BTreeSet::new(),
            _ => sources
                .iter()
                .map(|(_, source)| source.path().as_str())
                .collect(),
        };
        let path = |path: &RepoPath| {
            let folder = format!("{path}/");
            let mut below = read.range(&*folder..);
            let is_read = read.contains(path.as_str())
                || below.next().is_some_and(|it| it.starts_with(&folder));
            if is_read {
                path.to_string()
            } else {
                format!("{path} (read by no site)")
            }
        };
        let paths = only.iter().map(path);
        Self {
            limited_to: flags.into_iter().chain(paths).collect(),
            ..self
        }
    }

    /// Links rule names to these pages.
    #[must_use]
    pub fn with_rule_pages(self, rule_pages: Option<RulePages>) -> Self {
        Self { rule_pages, ..self }
    }

    /// Whether no certificate was checked.
    pub fn has_no_certificate(&self) -> bool {
        let certificates = self.certificates.as_ref();
        certificates.is_none_or(|certificates| certificates.checked == 0)
    }

    /// Returns the sites of a set.
    pub(crate) fn sites_in(&self, set: SetRef) -> impl ExactSizeIterator<Item = &ReportedSite> {
        set.of(&self.site_sets)
            .sites
            .iter()
            .map(|at| &self.sites[*at])
    }

    /// Returns the listed edit that removed the value which this one added under another key.
    pub(crate) fn renamed_by(&self, added: &ReportedEdit) -> Option<&ReportedEdit> {
        added
            .renames
            .map(|removed| self.edit(removed))
            .filter(|it| it.is_listed())
    }

    /// Returns the edit with this id.
    pub(crate) fn edit(&self, id: EditRef) -> &ReportedEdit {
        id.of(&self.edits)
    }

    /// Returns the edits with these ids.
    pub(crate) fn edits_with<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i EditRef>,
    ) -> impl Iterator<Item = &ReportedEdit> {
        ids.into_iter().map(|id| self.edit(*id))
    }

    /// Returns the lines of a label with one line of context on each side; empty if they must not
    /// be shown.
    pub(crate) fn lines_around(&self, label: &LabelledPlace) -> Vec<&SourceLine> {
        let [(first, column), (last, _)] = label.ends();
        let Some(text) = self.text_of(label) else {
            return Vec::new();
        };
        text.between(first.saturating_sub(1), last.min(first) + 1, first, column)
    }

    /// Returns the kept lines of the file or decoded content that contains a label.
    pub(crate) fn text_of(&self, label: &LabelledPlace) -> Option<&FileLines> {
        Some(label.text?.of(&self.lines))
    }

    /// Fills in the counts from the listed items.
    fn counted(mut self) -> Self {
        self.count_by_site();
        self.count_outputs();
        self.count_findings();
        self.statistics = statistics::rows(&self);
        self
    }

    fn count_by_site(&mut self) {
        let sets = &self.site_sets;
        let in_set = |set: SetRef| set.of(sets).sites.iter().copied();
        for output in &self.outputs {
            for site in in_set(output.sites) {
                let counts = &mut self.sites[site].counts;
                counts.add_output(output.status);
                let deployed_by = output.deployed_by;
                if let Some(deployed_by) =
                    deployed_by.filter(|_| output.status != Status::NotComparable)
                {
                    deployed_by.count(1, &mut counts.deployed);
                }
            }
        }
        for edit in &self.edits {
            for site in edit.reach.shielded.into_iter().flat_map(in_set) {
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

    /// Edits that changed no output, are not needed to keep one, and are not shielded.
    pub(in crate::report) fn inert_edits(&self) -> impl Iterator<Item = &ReportedEdit> {
        self.ineffective_edits()
            .filter(|edit| !edit.kind.is_unknown())
    }

    /// Inert edits, and edits of unknown content without a known effect.
    pub(in crate::report) fn ineffective_edits(&self) -> impl Iterator<Item = &ReportedEdit> {
        self.edits
            .iter()
            .filter(|edit| !edit.has_effect() && edit.reach.shielded.is_none())
    }

    /// Returns the edits that made the change at this index of an output's group.
    pub(in crate::report) fn causes_of(&self, output: &ReportedOutput, change: usize) -> &EditSet {
        output
            .changed_by
            .get(change)
            .unwrap_or(&output.edits)
            .of(&self.edit_sets)
    }

    /// Returns the sets of edits that made the changes of an output.
    pub(in crate::report) fn edit_sets_of(
        &self,
        output: &ReportedOutput,
    ) -> impl Iterator<Item = &EditSet> {
        let whole = output.changed_by.is_empty().then_some(&output.edits);
        output
            .changed_by
            .iter()
            .chain(whole)
            .map(|set| set.of(&self.edit_sets))
    }

    /// Returns all edits that changed an output.
    pub(in crate::report) fn edits_of(&self, output: &ReportedOutput) -> &[EditRef] {
        &output.edits.of(&self.edit_sets).edits
    }

    /// Returns the group of an output.
    pub(in crate::report) fn group_of(&self, output: &ReportedOutput) -> &OutputGroup {
        output.group.of(&self.groups)
    }

    fn count_outputs(&mut self) {
        let count =
            |is_in: fn(&ReportedSite) -> bool| self.sites.iter().filter(|it| is_in(it)).count();
        let sites =
            count(|site| site.name.is_some() && (site.head.is_some() || site.base.is_none()));
        let refused_sites = count(|site| site.counts.refused);
        let changed_sites = count(|site| site.counts.has_changed());
        let shielded_sites = count(|site| site.counts.shielded > 0);
        let unread_sites = count(|site| site.unread);
        let inert_edits = self.inert_edits().count();
        let totals = &mut self.totals;
        totals.sites = sites;
        totals.unread_sites = unread_sites;
        totals.refused_sites = refused_sites;
        totals.changed_sites = changed_sites;
        totals.shielded_sites = shielded_sites;
        totals.edits = self.edits.len();
        totals.inert_edits = inert_edits;
        totals.undecided_edits = self.edits.iter().filter(|edit| edit.is_undecided()).count();
        for output in &self.outputs {
            let outputs = output.sites.of(&self.site_sets).sites.len();
            totals.by_status.add(output.status, outputs);
            if output.status != Status::NotComparable {
                totals.changed_outputs += outputs;
                totals.untouched_outputs += if output.touched { 0 } else { outputs };
                if let Some(deployed_by) = output.deployed_by {
                    deployed_by.count(outputs, &mut totals.deployed);
                }
            }
            totals.other_treatment += if output.other_treatment { outputs } else { 0 };
            totals.unexplained += if output.unexplained { outputs } else { 0 };
        }
    }

    fn count_findings(&mut self) {
        let totals = &mut self.totals;
        for finding in &self.findings {
            match (&finding.suppressed, finding.state) {
                (Some(suppression), _) => match suppression.kind {
                    SuppressionKind::Comment => totals.ignored += finding.count,
                    SuppressionKind::Baseline => totals.accepted += finding.count,
                },
                (None, Some(State::Fixed)) => totals.fixed += finding.count,
                (None, Some(State::Unchanged)) => {
                    totals.unchanged.add(finding.severity, finding.count);
                }
                (None, Some(State::New) | None) => {
                    totals.findings.add(finding.severity, finding.count);
                    totals.fixable += if finding.has_safe_fix() {
                        finding.count
                    } else {
                        0
                    };
                }
            }
        }
    }
}

impl Tool {
    fn this() -> Self {
        let name = env!("CARGO_PKG_NAME");
        let version = env!("CARGO_PKG_VERSION");
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
        }
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

    /// Whether an output changed, was added or was removed.
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
        let Unlisted { causes, shields } = unlisted;
        Self {
            outputs: 0,
            causes,
            shields,
            values,
        }
    }
}

impl<'a> CheckedSides<'a> {
    fn found(&self, view: &View<'a>) -> Vec<ComparedFinding<'a>> {
        match self {
            CheckedSides::One { findings, .. } => ComparedFinding::on_one_side(findings, view),
            CheckedSides::Two { findings, .. } => findings
                .map(|it| ComparedFinding::on_two_sides(it, view))
                .unwrap_or_default(),
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
            unread: !reach.is_read,
            counts: SiteCounts::default(),
        };
        sites
            .iter()
            .map(|reach| (reach.site.clone(), site(reach)))
            .collect()
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
