//! The report of `lint` and `diff` as a whole: one form, with or without a
//! comparison, that is written, and read again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::VERSION;
use super::comparison::{
    Changes, ComparisonForm, EditForm, GroupForm, OutputForm, RouteForm, ShieldForm, SiteForm,
    UnexplainedForm, is_zero,
};
use super::finding::{self, Finding, State};
use super::lines::{FileLines, Texts};
use crate::compare::Status;
use crate::compare::reach::Unlisted;
use crate::report::comparison::Unchanged;
use crate::report::links::Links;
use crate::report::statistics::{self, Row};
use crate::report::terminal::Totals;
use crate::report::{ChosenSemantics, Compared, Ignored, Listing, Timing, View};
use crate::stopwatch::{RuleTime, Stage, StageTime, Times};
use crate::triage::{self, Findings};

/// The name of the format, which its JSON Schema has as `$id`.
pub(super) const SCHEMA: &str = "urn:layercake:report:1";

/// All that a run has to say, as every format for programs, pages and places
/// tells it. It holds no secret, and nothing of this machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    pub(super) schema: String,
    pub(super) version: u32,
    pub(in crate::report) tool: Tool,
    pub(in crate::report) comparison: Option<ComparisonForm>,
    /// None in a report of a version that did not name it.
    #[serde(default)]
    pub(in crate::report) semantics: Option<ChosenSemantics>,
    /// What a link to a line of the repository is made of.
    #[serde(default)]
    pub(in crate::report) links: Option<Links>,
    pub(in crate::report) totals: TotalsForm,
    /// The sites of both sides, by name; none without a comparison.
    #[serde(default)]
    pub(in crate::report) sites: Vec<SiteForm>,
    pub(in crate::report) edits: Vec<EditForm>,
    pub(in crate::report) groups: Vec<GroupForm>,
    pub(in crate::report) outputs: Vec<OutputForm>,
    pub(in crate::report) routes: Vec<RouteForm>,
    pub(in crate::report) shields: Vec<ShieldForm>,
    pub(in crate::report) unexplained: Vec<UnexplainedForm>,
    pub(in crate::report) findings: Vec<Finding>,
    pub(in crate::report) statistics: Vec<RowForm>,
    /// The lines that findings point at, fit to be shown.
    #[serde(default)]
    pub(in crate::report) lines: Vec<FileLines>,
    pub(in crate::report) truncated: Truncated,
    pub(in crate::report) timing_ms: TimingForm,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct Tool {
    pub(in crate::report) name: String,
    pub(in crate::report) version: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(in crate::report) struct TotalsForm {
    pub(in crate::report) sites: usize,
    /// How many documents were read; none with a comparison.
    #[serde(default)]
    pub(in crate::report) documents: Option<usize>,
    pub(in crate::report) outputs: usize,
    pub(in crate::report) changed: usize,
    pub(in crate::report) added: usize,
    pub(in crate::report) removed: usize,
    pub(in crate::report) broken: usize,
    pub(in crate::report) repaired: usize,
    pub(in crate::report) metadata: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::report) not_comparable: usize,
    pub(in crate::report) unexplained: usize,
    pub(in crate::report) groups: usize,
    pub(in crate::report) edits: usize,
    pub(in crate::report) inert_edits: usize,
    pub(in crate::report) ignored: usize,
    pub(in crate::report) accepted: usize,
    pub(in crate::report) added_ignores: usize,
}

/// The findings of one rule in figures.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct RowForm {
    pub(in crate::report) rule: String,
    pub(in crate::report) level: String,
    pub(in crate::report) count: usize,
    pub(in crate::report) fixable: usize,
    pub(in crate::report) new: Option<usize>,
    pub(in crate::report) unchanged: Option<usize>,
    pub(in crate::report) ignored: usize,
    pub(in crate::report) accepted: usize,
    pub(in crate::report) sites: usize,
}

impl From<Row> for RowForm {
    fn from(row: Row) -> Self {
        let Row { rule, level, count, fixable, new, unchanged, ignored, accepted, sites } = row;
        let (rule, level) = (rule.to_owned(), level.as_str().to_owned());
        Self { rule, level, count, fixable, new, unchanged, ignored, accepted, sites }
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(in crate::report) struct Truncated {
    pub(in crate::report) outputs: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::report) causes: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::report) shields: usize,
    pub(in crate::report) values: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct TimingForm {
    pub(in crate::report) total: Option<u128>,
    pub(in crate::report) read: Option<u128>,
    pub(in crate::report) parse: Option<u128>,
    pub(in crate::report) render: Option<u128>,
    pub(in crate::report) diff: Option<u128>,
    pub(in crate::report) attribute: Option<u128>,
    /// Every stage, where the run was timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::report) stages: Vec<StageForm>,
    /// The rules, the dearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::report) rules: Vec<RuleForm>,
}

/// What a stage of the run took.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct StageForm {
    pub(in crate::report) stage: String,
    pub(in crate::report) passed: f64,
    pub(in crate::report) threads: f64,
    pub(in crate::report) count: Option<u64>,
    pub(in crate::report) unit: Option<String>,
}

/// What rules took that are looked for together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct RuleForm {
    pub(in crate::report) rule: String,
    pub(in crate::report) others: usize,
    pub(in crate::report) threads: f64,
}

impl Report {
    /// The report of a run without a comparison.
    pub fn of_findings(findings: &Findings, totals: &Totals, view: &View<'_>) -> Self {
        let timing = Timing { total: Some(totals.elapsed), ..Timing::default() };
        let texts = Texts::of_one_side(findings, view);
        Self {
            comparison: None,
            semantics: totals.semantics,
            totals: TotalsForm {
                sites: totals.sites,
                documents: Some(totals.documents),
                outputs: totals.outputs,
                ignored: totals.suppressed.ignored,
                accepted: totals.suppressed.accepted,
                ..TotalsForm::default()
            },
            findings: finding::of_one_side(findings, &texts, view),
            statistics: rows(statistics::of_findings(findings)),
            lines: texts.forms,
            ..Self::of_changes(Changes::default(), timing)
        }
    }

    /// The report of a comparison, with the findings of both sides where there
    /// are any.
    pub fn of_comparison(compared: &Compared<'_>, view: &View<'_>) -> Self {
        let changes = Changes::new(compared.comparison, view);
        let findings = compared.findings;
        let texts = findings.map(|it| Texts::of_two_sides(it, view)).unwrap_or_default();
        let told = findings.map(|it| finding::of_two_sides(it, &texts, view));
        Self {
            comparison: Some(ComparisonForm::new(compared)),
            semantics: compared.semantics,
            sites: compared.comparison.sites.iter().map(SiteForm::new).collect(),
            totals: TotalsForm::new(compared),
            findings: told.unwrap_or_default(),
            statistics: rows(findings.map(statistics::of_comparison).unwrap_or_default()),
            lines: texts.forms,
            ..Self::of_changes(changes, compared.timing)
        }
        .with_unlisted(compared.comparison.unlisted)
    }

    fn with_unlisted(self, unlisted: Unlisted) -> Self {
        let Unlisted { outputs, causes, shields } = unlisted;
        Self { truncated: Truncated { outputs, causes, shields, ..self.truncated }, ..self }
    }

    /// The report with links to the repository.
    #[must_use]
    pub fn with_links(self, links: Option<Links>) -> Self {
        Self { links: links.or(self.links), ..self }
    }

    /// The report with how the run split until now, if that is known.
    #[must_use]
    pub fn with_times(self, times: Option<Times>) -> Self {
        match times {
            Some(times) => Self { timing_ms: self.timing_ms.with(&times), ..self },
            None => self,
        }
    }

    fn of_changes(changes: Changes, timing: Timing) -> Self {
        let values = changes.truncated_values();
        let truncated = Truncated { values, ..Truncated::default() };
        let Changes { edits, groups, outputs, routes, shields, unexplained } = changes;
        let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool: Tool { name: name.to_owned(), version: version.to_owned() },
            comparison: None,
            semantics: None,
            links: None,
            totals: TotalsForm::default(),
            sites: Vec::new(),
            edits,
            groups,
            outputs,
            routes,
            shields,
            unexplained,
            findings: Vec::new(),
            statistics: Vec::new(),
            lines: Vec::new(),
            truncated,
            timing_ms: TimingForm::new(timing),
        }
    }

    /// The findings that a report is to list, in their order: without a
    /// comparison all, with one those of the head that the base has not, and
    /// what else is asked for. Those that are fixed are never among them.
    pub(in crate::report) fn listed(&self, listing: Listing) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| match (&finding.suppressed, finding.state) {
            (Some(_), _) => listing.ignored == Ignored::Shown,
            (None, Some(State::Unchanged)) => listing.unchanged == Unchanged::Shown,
            (None, Some(State::Fixed)) => false,
            (None, Some(State::New) | None) => {
                finding.because_of.is_none() || listing.unchanged == Unchanged::Shown
            }
        })
    }

    /// The edit of this name.
    pub(in crate::report) fn edit(&self, id: &str) -> Option<&EditForm> {
        self.edits.get(self.edit_number(id)?)
    }

    /// The route of this name.
    pub(in crate::report) fn route(&self, id: &str) -> Option<&RouteForm> {
        self.routes.get(self.route_number(id)?)
    }

    /// The index of the edit of this name.
    pub(in crate::report) fn edit_number(&self, id: &str) -> Option<usize> {
        number_of(id, 'e').filter(|at| self.edits.get(*at).is_some_and(|it| it.id == id))
    }

    /// The index of the group of this name.
    pub(in crate::report) fn group_number(&self, id: &str) -> Option<usize> {
        number_of(id, 'g').filter(|at| self.groups.get(*at).is_some_and(|it| it.id == id))
    }

    /// The index of the route of this name.
    pub(in crate::report) fn route_number(&self, id: &str) -> Option<usize> {
        number_of(id, 'r').filter(|at| self.routes.get(*at).is_some_and(|it| it.id == id))
    }

    /// The index of the text of this name, of which there are lines.
    pub(super) fn line_number(&self, id: &str) -> Option<usize> {
        number_of(id, 't').filter(|at| self.lines.get(*at).is_some_and(|it| it.id == id))
    }

    /// The address of a place of the head side, where it can be linked to.
    pub(in crate::report) fn link(&self, file: &str, line: usize) -> Option<String> {
        let commit = self.comparison.as_ref().and_then(|it| it.to.sha.as_deref());
        self.links.as_ref()?.to(commit, file, line)
    }

    /// The address of a place of the base side, where it can be linked to.
    pub(in crate::report) fn base_link(&self, file: &str, line: usize) -> Option<String> {
        let commit = self.comparison.as_ref().and_then(|it| it.from.sha.as_deref());
        self.links.as_ref()?.to(commit, file, line)
    }
}

/// The index of what is named `prefix` and its number, from one.
fn number_of(name: &str, prefix: char) -> Option<usize> {
    name.strip_prefix(prefix)?.parse::<usize>().ok()?.checked_sub(1)
}

fn rows(rows: Vec<Row>) -> Vec<RowForm> {
    rows.into_iter().map(RowForm::from).collect()
}

impl Truncated {
    pub(in crate::report) fn unlisted(&self) -> Unlisted {
        Unlisted { outputs: self.outputs, causes: self.causes, shields: self.shields }
    }
}

impl TotalsForm {
    fn new(compared: &Compared<'_>) -> Self {
        let comparison = compared.comparison;
        let suppressed = compared.findings.map(|it| triage::Suppressed::of(&it.suppressed));
        let suppressed = suppressed.unwrap_or_default();
        let named = comparison.sites.iter().filter(|it| it.site.is_some() && it.head.is_some());
        Self {
            sites: named.count(),
            documents: None,
            outputs: compared.outputs,
            changed: comparison.count(Status::Changed),
            added: comparison.count(Status::Added),
            removed: comparison.count(Status::Removed),
            broken: comparison.count(Status::Broken),
            repaired: comparison.count(Status::Repaired),
            metadata: comparison.count(Status::Metadata),
            not_comparable: comparison.count(Status::NotComparable),
            unexplained: comparison.outputs.iter().filter(|it| it.is_unexplained()).count(),
            groups: comparison.groups.len(),
            edits: comparison.edits.len(),
            inert_edits: comparison.inert(),
            ignored: suppressed.ignored,
            accepted: suppressed.accepted,
            added_ignores: compared.findings.map_or(0, |it| it.added_ignores),
        }
    }
}

impl TimingForm {
    fn new(timing: Timing) -> Self {
        let milliseconds = |part: Option<Duration>| part.map(|it| it.as_millis());
        Self {
            total: milliseconds(timing.total),
            read: milliseconds(timing.read),
            parse: milliseconds(timing.parse),
            render: milliseconds(timing.render),
            diff: milliseconds(timing.diff),
            attribute: milliseconds(timing.attribute),
            stages: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn with(self, times: &Times) -> Self {
        let passed = |stages: &[Stage]| {
            let passed: Duration = stages.iter().map(|stage| times.of(*stage).passed).sum();
            Some(passed.as_millis())
        };
        Self {
            total: self.total,
            read: passed(&[Stage::Read]),
            parse: passed(&[Stage::Parse]),
            render: passed(&[Stage::Render]),
            diff: passed(&[Stage::Pair, Stage::Differ]),
            attribute: passed(&[Stage::Cause]),
            stages: times.stages.iter().map(StageForm::new).collect(),
            rules: times.rules.iter().map(RuleForm::new).collect(),
        }
    }
}

impl StageForm {
    fn new(of: &StageTime) -> Self {
        let unit = of.stage.unit();
        Self {
            stage: of.stage.as_str().to_owned(),
            passed: milliseconds(of.passed),
            threads: milliseconds(of.threads),
            count: unit.map(|_| of.count),
            unit: unit.map(str::to_owned),
        }
    }
}

impl RuleForm {
    fn new(of: &RuleTime) -> Self {
        let (rule, others) = of.rules;
        Self { rule: rule.to_owned(), others, threads: milliseconds(of.threads) }
    }
}

/// Milliseconds, to a thousandth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
