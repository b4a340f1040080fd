//! Findings for code scanning: SARIF 2.1.0 (OASIS), one run in one file.
//!
//! A finding is one result at its primary location or, in a further repository, at the line that
//! pins its revision. Outputs have no lines and are not results; an edit that changes them
//! dangerously is a note. The route from an edit to a finding is a code flow with a location for each
//! step. Fingerprints are those of the report: they stay the same when lines move and values change,
//! so that a code scanning service can track a result.
//!
//! Unchanged findings are always listed, with their `baselineState`, since a code scanning service
//! closes the alerts that a file lacks.
//!
//! The file observes the limits of GitHub's code scanning: the most severe results are kept, and a
//! notification of the run reports the number of omitted ones. Paths are relative to the root of
//! their repository, columns count characters.
//!
//! | file | content |
//! |---|---|
//! | `base` | base URIs |
//! | `log` | structures of the standard |
//! | `result` | one finding |
//! | `change` | one dangerous change |
//! | `flow` | routes to a finding |

mod base;
mod change;
mod flow;
mod log;
mod result;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use self::base::UriBases;
use self::log::{
    AutomationDetails, Invocation, MultiformatMessage, Notification, ReportingConfiguration,
    ReportingDescriptor, RuleProperties, RunProperties, SarifDriver, SarifLog, SarifMessage,
    SarifResult, SarifRun, SarifTool,
};
use super::FormatOptions;
use super::counted;
use super::formats::page;
use super::model::{Finding, Fingerprints, Report, State, write_json};
use super::printable::clean;

/// Maximum number of results of a run that GitHub's code scanning keeps and shows.
const MAX_RESULTS: usize = 5_000;

/// Category (`automationDetails.id`), which code scanning services use to separate kinds of
/// results.
const CATEGORY: &str = "layercake/";

/// Writes the findings as SARIF.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write(
    report: &Report,
    options: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_json(&SarifLog::of(run(report, options)), out)
}

fn run(report: &Report, options: &FormatOptions<'_>) -> SarifRun {
    let listed: Vec<&Finding> = report
        .findings
        .iter()
        .filter(|finding| is_unchanged(finding) || options.listing.has(finding))
        .collect();
    let kept = worst(&listed);
    let names = names(&kept);
    let mut rules: Vec<ReportingDescriptor> = names
        .iter()
        .map(|name| descriptor(name, report, options))
        .collect();
    // Look up by the saved name, which can differ from the displayed one.
    let places: BTreeMap<&str, usize> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| (name, at))
        .collect();
    let bases = UriBases::of(report);
    let flows = flow::FlowIndex::of(report, &bases);
    let mut fingerprints = Fingerprints::default();
    let mut shown = result::QuotedLines::new();
    let mut results = Vec::with_capacity(kept.len());
    for finding in &kept {
        let place = places
            .get(&*finding.rule)
            .copied()
            .expect("every kept rule has an index");
        let fingerprint = fingerprints.next(finding);
        results.push(result::of(
            finding,
            place,
            fingerprint,
            &flows,
            &mut shown,
            &bases,
        ));
    }
    let mut changes: Vec<SarifResult> = change::results(rules.len(), &bases, options);
    let omitted_changes = changes.len().saturating_sub(MAX_RESULTS - results.len());
    changes.truncate(MAX_RESULTS - results.len());
    rules.extend((!changes.is_empty()).then(change::descriptor));
    results.extend(changes);
    SarifRun {
        tool: SarifTool {
            driver: driver(report, rules),
        },
        automation_details: AutomationDetails { id: CATEGORY },
        original_uri_base_ids: bases.declared(),
        column_kind: "unicodeCodePoints",
        invocations: [invocation(
            listed.len() - kept.len(),
            omitted_changes,
            report.omitted_unchanged,
        )],
        properties: RunProperties {
            semantics: report.semantics,
            certificates: report.certificates.clone(),
        },
        results,
    }
}

/// Whether both sides have a finding that does not follow from another one.
fn is_unchanged(finding: &Finding) -> bool {
    finding.state == Some(State::Unchanged) && finding.because_of.is_none()
}

/// Returns the most severe findings, up to the limit, in the order of the report. Unchanged ones are
/// omitted first.
fn worst<'a>(listed: &[&'a Finding]) -> Vec<&'a Finding> {
    let mut ranked: Vec<(usize, &Finding)> = listed.iter().copied().enumerate().collect();
    ranked.sort_by_key(|(at, finding)| {
        (
            finding.state == Some(State::Unchanged),
            Reverse(finding.severity),
            *at,
        )
    });
    ranked.truncate(MAX_RESULTS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, finding)| finding).collect()
}

fn driver(report: &Report, rules: Vec<ReportingDescriptor>) -> SarifDriver {
    let version = clean(&report.tool.version).into_owned();
    SarifDriver {
        name: "layercake",
        semantic_version: version.clone(),
        version,
        rules,
    }
}

/// Returns the distinct rule names of the findings, sorted.
fn names<'a>(findings: &[&'a Finding]) -> Vec<&'a str> {
    let mut names: Vec<&str> = findings.iter().map(|finding| &*finding.rule).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Creates the descriptor of a rule, with its page as help.
fn descriptor(name: &str, report: &Report, options: &FormatOptions<'_>) -> ReportingDescriptor {
    let known = options.rule(name);
    let message = |text: &str| MultiformatMessage {
        text: text.to_owned(),
        markdown: None,
    };
    ReportingDescriptor {
        id: clean(name).into_owned(),
        name: clean(name).into_owned(),
        short_description: known.map(|rule| message(rule.summary)),
        full_description: known.map(|rule| message(rule.summary)),
        help_uri: report.rule_address(name),
        help: known.map(|rule| MultiformatMessage {
            text: page(rule),
            markdown: Some(page(rule)),
        }),
        default_configuration: known.map(|rule| ReportingConfiguration {
            level: rule.severity.as_str(),
            enabled: rule.is_default(),
        }),
        properties: RuleProperties {
            tags: vec!["layercake"],
        },
    }
}

/// Creates the invocation, with notifications of results beyond the limit, and of unchanged findings
/// that a saved report lacks.
fn invocation(
    omitted_findings: usize,
    omitted_changes: usize,
    omitted_unchanged: usize,
) -> Invocation {
    let beyond_limit = [
        (omitted_findings, "finding"),
        (omitted_changes, "dangerous change"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| {
        let count = counted(count, what);
        format!("{count} omitted from this file: only the {MAX_RESULTS} most severe are kept")
    });
    let unchanged = (omitted_unchanged > 0).then(|| {
        let count = counted(omitted_unchanged, "unchanged finding");
        format!("{count} omitted from this file: the report was saved without them")
    });
    let notifications = beyond_limit.chain(unchanged).map(|text| Notification {
        level: "warning",
        message: SarifMessage::new(&text),
    });
    Invocation {
        execution_successful: true,
        tool_execution_notifications: notifications.collect(),
    }
}
