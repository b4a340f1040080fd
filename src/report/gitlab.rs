//! The code quality report of GitLab: findings alone, by file and line.
//!
//! It is the array that GitLab's documentation describes, a subset of Code
//! Climate's: `description`, `check_name`, `fingerprint`, `severity` and
//! `location`. GitLab compares the reports of two branches by fingerprint and
//! shows findings of one fingerprint as one; so findings that are alike get a
//! number behind the fingerprint they share, by their order.

use std::io::{self, Write};

use serde::Serialize;

use super::FormatOptions;
use super::model::{Finding, Fingerprints, Report, write_json};
use crate::diagnostic::Severity;

/// Writes a report.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(
    report: &Report,
    manner: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let findings = report.findings.iter().filter(|it| manner.listing.has(it));
    let issues = findings.map(|finding| CodeQualityIssue::new(finding, fingerprints.next(finding)));
    write_json(&issues.collect::<Vec<_>>(), out)
}

/// A finding as GitLab takes it.
#[derive(Serialize)]
struct CodeQualityIssue<'a> {
    description: &'a str,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: IssueLocation<'a>,
}

#[derive(Serialize)]
struct IssueLocation<'a> {
    path: &'a str,
    lines: IssueLines,
}

#[derive(Serialize)]
struct IssueLines {
    begin: usize,
    end: usize,
}

impl<'a> CodeQualityIssue<'a> {
    fn new(finding: &'a Finding, fingerprint: String) -> Self {
        let place = &finding.primary;
        Self {
            description: &finding.message,
            check_name: &finding.rule,
            fingerprint,
            severity: severity(finding),
            location: IssueLocation {
                path: &place.file,
                lines: IssueLines { begin: place.line, end: place.end_line },
            },
        }
    }
}

/// GitLab has five words. `critical` and `blocker` say more than a linter can
/// know; what is suppressed is for information.
fn severity(finding: &Finding) -> &'static str {
    match (&finding.suppressed, finding.severity) {
        (None, Severity::Error) => "major",
        (None, Severity::Warning) => "minor",
        (None, Severity::Note) | (Some(_), _) => "info",
    }
}
