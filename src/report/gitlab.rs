//! GitLab code quality report: findings by file and line.
//!
//! The report is the array that GitLab documents, a subset of Code Climate's format: `description`,
//! `check_name`, `fingerprint`, `severity` and `location`. GitLab compares the reports of two
//! branches by fingerprint and merges findings with equal fingerprints, so equal ones get a numeric
//! suffix in order.

use std::io::{self, Write};

use serde::Serialize;

use super::FormatOptions;
use super::model::{Finding, Fingerprints, Report, write_json};
use crate::diagnostic::Severity;

/// Writes a report.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write(
    report: &Report,
    options: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let findings = report.findings.iter().filter(|it| options.listing.has(it));
    let issues = findings.map(|finding| CodeQualityIssue::new(finding, fingerprints.next(finding)));
    write_json(&issues.collect::<Vec<_>>(), out)
}

/// A finding in GitLab's format.
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
                lines: IssueLines {
                    begin: place.line,
                    end: place.end_line,
                },
            },
        }
    }
}

/// Returns the GitLab severity. `critical` and `blocker` are never used, since a linter cannot know
/// them; suppressed findings are `info`.
fn severity(finding: &Finding) -> &'static str {
    match (&finding.suppressed, finding.severity) {
        (None, Severity::Error) => "major",
        (None, Severity::Warning) => "minor",
        (None, Severity::Note) | (Some(_), _) => "info",
    }
}
