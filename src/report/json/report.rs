//! The report of `lint` and `diff` as a whole: one form, with or without a
//! comparison.

use std::time::Duration;

use serde::Serialize;

use super::VERSION;
use super::comparison::{Changes, ComparisonForm};
use super::finding::{self, Finding};
use crate::compare::Status;
use crate::report::statistics::{self, Row};
use crate::report::terminal::Totals;
use crate::report::{Compared, Timing, View};
use crate::triage::{self, Findings};

/// The name of the format, which its JSON Schema has as `$id`.
const SCHEMA: &str = "urn:layercake:report:1";

#[derive(Serialize)]
pub(super) struct Report<'a> {
    schema: &'static str,
    version: u32,
    tool: Tool,
    comparison: Option<ComparisonForm<'a>>,
    totals: TotalsForm,
    #[serde(flatten)]
    changes: Changes<'a>,
    findings: Vec<Finding<'a>>,
    statistics: Vec<RowForm>,
    truncated: Truncated,
    timing_ms: TimingForm,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Default, Serialize)]
struct TotalsForm {
    sites: usize,
    outputs: usize,
    changed: usize,
    added: usize,
    removed: usize,
    broken: usize,
    repaired: usize,
    metadata: usize,
    unexplained: usize,
    groups: usize,
    edits: usize,
    inert_edits: usize,
    ignored: usize,
    accepted: usize,
    added_ignores: usize,
}

/// The findings of one rule in figures.
#[derive(Serialize)]
struct RowForm {
    rule: &'static str,
    level: &'static str,
    count: usize,
    fixable: usize,
    new: Option<usize>,
    unchanged: Option<usize>,
    ignored: usize,
    accepted: usize,
    sites: usize,
}

impl From<Row> for RowForm {
    fn from(row: Row) -> Self {
        let Row { rule, level, count, fixable, new, unchanged, ignored, accepted, sites } = row;
        let level = level.as_str();
        Self { rule, level, count, fixable, new, unchanged, ignored, accepted, sites }
    }
}

#[derive(Serialize)]
struct Truncated {
    outputs: usize,
    values: usize,
}

#[derive(Serialize)]
struct TimingForm {
    total: Option<u128>,
    read: Option<u128>,
    parse: Option<u128>,
    render: Option<u128>,
    diff: Option<u128>,
    attribute: Option<u128>,
}

const TOOL: Tool = Tool { name: "layercake", version: env!("CARGO_PKG_VERSION") };

impl<'a> Report<'a> {
    pub(super) fn of_findings(findings: &'a Findings, totals: &Totals, view: &View<'a>) -> Self {
        let timing = Timing { total: Some(totals.elapsed), ..Timing::default() };
        Self {
            schema: SCHEMA,
            version: VERSION,
            tool: TOOL,
            comparison: None,
            totals: TotalsForm {
                sites: totals.sites,
                outputs: totals.outputs,
                ignored: totals.suppressed.ignored,
                accepted: totals.suppressed.accepted,
                ..TotalsForm::default()
            },
            changes: Changes::default(),
            findings: finding::of_one_side(findings, view),
            statistics: rows(statistics::of_findings(findings)),
            truncated: Truncated { outputs: 0, values: 0 },
            timing_ms: TimingForm::new(timing),
        }
    }

    pub(super) fn of_comparison(compared: &Compared<'a>, view: &View<'a>) -> Self {
        let changes = Changes::new(compared.comparison, view);
        let values = changes.truncated_values();
        let findings = compared.findings.map(|it| finding::of_two_sides(it, view));
        Self {
            schema: SCHEMA,
            version: VERSION,
            tool: TOOL,
            comparison: Some(ComparisonForm::new(compared.sides)),
            totals: TotalsForm::new(compared),
            changes,
            findings: findings.unwrap_or_default(),
            statistics: rows(compared.findings.map(statistics::of_comparison).unwrap_or_default()),
            truncated: Truncated { outputs: 0, values },
            timing_ms: TimingForm::new(compared.timing),
        }
    }
}

fn rows(rows: Vec<Row>) -> Vec<RowForm> {
    rows.into_iter().map(RowForm::from).collect()
}

impl TotalsForm {
    fn new(compared: &Compared<'_>) -> Self {
        let comparison = compared.comparison;
        let suppressed = compared.findings.map(|it| triage::Suppressed::of(&it.suppressed));
        let suppressed = suppressed.unwrap_or_default();
        let named = comparison.sites.iter().filter(|it| it.site.is_some() && it.head.is_some());
        Self {
            sites: named.count(),
            outputs: compared.outputs,
            changed: comparison.count(Status::Changed),
            added: comparison.count(Status::Added),
            removed: comparison.count(Status::Removed),
            broken: comparison.count(Status::Broken),
            repaired: comparison.count(Status::Repaired),
            metadata: comparison.count(Status::Metadata),
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
        }
    }
}
