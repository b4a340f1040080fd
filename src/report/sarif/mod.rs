//! Findings for code scanning: SARIF 2.1.0 (OASIS), one run in one file.
//!
//! A finding is one result, at the line that wrote the fault, or, in a further
//! repository, at the line that pins its revision; outputs have no lines and are none. What led from an edit to a finding is a code flow, a
//! location for each step of the route. Fingerprints are those of the report:
//! they stay when lines move and values change, so that a code scanning
//! service knows a result again.
//!
//! The file stays within the limits of GitHub's code scanning: of the results
//! the worst are kept, and how many were left out is a notification of the
//! run. Places are relative to the root of their repository, columns count
//! characters.
//!
//! | file | what |
//! |---|---|
//! | `base` | what places are relative to |
//! | `log` | the structures of the standard, as far as they are used |
//! | `result` | one finding |
//! | `flow` | the routes that led to it |

mod base;
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
    SarifRun, SarifTool,
};
use super::FormatOptions;
use super::counted;
use super::formats::page;
use super::model::{Finding, Fingerprints, Report, write_json};
use super::printable::clean;

/// Maximum number of results of a run that GitHub's code scanning keeps and shows.
const MAX_RESULTS: usize = 5_000;

/// The category under which a code scanning service keeps results of one kind
/// apart from others.
const CATEGORY: &str = "layercake/";

/// Writes the findings as SARIF.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(
    report: &Report,
    manner: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_json(&SarifLog::of(run(report, manner)), out)
}

fn run(report: &Report, manner: &FormatOptions<'_>) -> SarifRun {
    let listed = report.findings.iter().filter(|finding| manner.listing.has(finding));
    let listed: Vec<&Finding> = listed.collect();
    let kept = worst(&listed);
    let names = names(&kept);
    let rules = names.iter().map(|name| descriptor(name, manner)).collect();
    // By the name as it was saved: what is shown of it may be another.
    let places: BTreeMap<&str, usize> =
        names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
    let bases = UriBases::of(report);
    let flows = flow::FlowIndex::of(report, &bases);
    let mut fingerprints = Fingerprints::default();
    let mut shown = result::QuotedLines::new();
    let mut results = Vec::with_capacity(kept.len());
    for finding in &kept {
        let place = places.get(&*finding.rule).copied().expect("every kept rule has a place");
        let fingerprint = fingerprints.next(finding);
        results.push(result::of(finding, place, fingerprint, &flows, &mut shown, &bases));
    }
    SarifRun {
        tool: SarifTool { driver: driver(report, rules) },
        automation_details: AutomationDetails { id: CATEGORY },
        original_uri_base_ids: bases.declared(),
        column_kind: "unicodeCodePoints",
        invocations: [invocation(listed.len() - kept.len())],
        properties: RunProperties { semantics: report.semantics },
        results,
    }
}

/// The worst findings, as many as are kept; in the order of the report.
fn worst<'a>(listed: &[&'a Finding]) -> Vec<&'a Finding> {
    let mut ranked: Vec<(usize, &Finding)> = listed.iter().copied().enumerate().collect();
    ranked.sort_by_key(|(at, finding)| (Reverse(finding.severity), *at));
    ranked.truncate(MAX_RESULTS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, finding)| finding).collect()
}

fn driver(report: &Report, rules: Vec<ReportingDescriptor>) -> SarifDriver {
    let version = clean(&report.tool.version).into_owned();
    SarifDriver { name: "layercake", semantic_version: version.clone(), version, rules }
}

/// The names of the rules of the findings, each once, in order.
fn names<'a>(findings: &[&'a Finding]) -> Vec<&'a str> {
    let mut names: Vec<&str> = findings.iter().map(|finding| &*finding.rule).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A rule, with its page as help.
fn descriptor(name: &str, manner: &FormatOptions<'_>) -> ReportingDescriptor {
    let known = manner.rule(name);
    let message = |text: &str| MultiformatMessage { text: text.to_owned(), markdown: None };
    ReportingDescriptor {
        id: clean(name).into_owned(),
        name: clean(name).into_owned(),
        short_description: known.map(|rule| message(rule.summary)),
        full_description: known.map(|rule| message(rule.summary)),
        help: known.map(|rule| MultiformatMessage { text: page(rule), markdown: Some(page(rule)) }),
        default_configuration: known.map(|rule| ReportingConfiguration {
            level: rule.severity.as_str(),
            enabled: rule.is_default(),
        }),
        properties: RuleProperties { tags: vec!["layercake"] },
    }
}

/// The end of the run, and the number of findings that the file lacks.
fn invocation(left_out: usize) -> Invocation {
    let notification = |left_out| Notification {
        level: "warning",
        message: SarifMessage::new(&format!(
            "{} more are left out of this file: the worst {MAX_RESULTS} are kept",
            counted(left_out, "finding")
        )),
    };
    Invocation {
        execution_successful: true,
        tool_execution_notifications: (left_out > 0)
            .then(|| notification(left_out))
            .into_iter()
            .collect(),
    }
}
