//! Detection of reports that an earlier run wrote, by content.
//!
//! A configuration can be written by anyone who can change the repository, so a report file named
//! there only replaces an earlier report. Formats without a recognizable structure are never
//! recognized.

use serde::Deserialize;

use super::{Format, ReportFormat};
use crate::diagnostic::Rule;

impl Format {
    /// Returns the file extensions that are associated with this format and are not executable;
    /// empty for plain text formats.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Full | Format::Concise | Format::Of(ReportFormat::Github) => &[],
            Format::Of(ReportFormat::Json | ReportFormat::Gitlab) => &["json"],
            Format::Of(ReportFormat::Sarif) => &["sarif", "json"],
            Format::Of(ReportFormat::Junit) => &["xml"],
            Format::Of(ReportFormat::Markdown | ReportFormat::Comment) => &["md", "markdown"],
            Format::Of(ReportFormat::Html) => &["html", "htm"],
        }
    }

    /// Whether `bytes` are a report in this format. `rules` are all known rules.
    pub fn recognizes(self, bytes: &[u8], rules: &[&'static Rule]) -> bool {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return false;
        };
        match self {
            Format::Full | Format::Concise | Format::Of(ReportFormat::Github) => false,
            Format::Of(ReportFormat::Json) => is_json(text),
            Format::Of(ReportFormat::Sarif) => is_sarif(text),
            Format::Of(ReportFormat::Junit) => text.starts_with(JUNIT),
            Format::Of(ReportFormat::Gitlab) => is_gitlab(text, rules),
            Format::Of(ReportFormat::Markdown | ReportFormat::Comment) => is_markdown(text),
            Format::Of(ReportFormat::Html) => is_html(text),
        }
    }
}

const JUNIT: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"layercake\" tests=\"";

fn is_json(text: &str) -> bool {
    #[derive(Deserialize)]
    struct ReportHead {
        schema: String,
    }
    serde_json::from_str::<ReportHead>(text)
        .is_ok_and(|report| report.schema.starts_with("urn:layercake:report:"))
}

fn is_sarif(text: &str) -> bool {
    #[derive(Deserialize)]
    struct SarifHead {
        runs: Vec<SarifRunHead>,
    }
    #[derive(Deserialize)]
    struct SarifRunHead {
        tool: SarifToolHead,
    }
    #[derive(Deserialize)]
    struct SarifToolHead {
        driver: SarifDriverHead,
    }
    #[derive(Deserialize)]
    struct SarifDriverHead {
        name: String,
    }
    serde_json::from_str::<SarifHead>(text).is_ok_and(
        |log| matches!(&log.runs[..], [run] if run.tool.driver.name == env!("CARGO_PKG_NAME")),
    )
}

/// Whether `text` is a GitLab report. GitLab's format does not name the tool, so every issue must
/// be of a known rule. A report without issues is an empty list.
fn is_gitlab(text: &str, rules: &[&'static Rule]) -> bool {
    #[derive(Deserialize)]
    struct IssueHead {
        check_name: String,
        fingerprint: String,
    }
    serde_json::from_str::<Vec<IssueHead>>(text).is_ok_and(|issues| {
        issues.iter().all(|issue| {
            rules.iter().any(|rule| rule.name == issue.check_name) && !issue.fingerprint.is_empty()
        })
    })
}

fn is_markdown(text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    text.starts_with("### layercake: ")
        && last.starts_with("<sub>layercake ")
        && last.ends_with("</sub>")
}

fn is_html(text: &str) -> bool {
    let head = text.split("</head>").next().unwrap_or_default();
    text.starts_with("<!DOCTYPE html>\n")
        && head.contains("<meta http-equiv=\"Content-Security-Policy\"")
        && head.contains("<title>layercake: ")
}
