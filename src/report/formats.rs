//! The output formats and their writers.
//!
//! Every format is a function of one [`Report`], so a saved report can be converted to any of them.

use std::borrow::Cow;
use std::io::{self, Write};

use super::model::{self, Report};
use super::terminal::{self, TerminalOptions};
use super::{FindingFilter, TerminalStyle, github, gitlab, html, junit, markdown, sarif};
use crate::diagnostic::Rule;

/// A value of `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// All findings with source excerpts.
    Full,
    /// One line per finding.
    Concise,
    /// One of the report formats.
    Of(ReportFormat),
}

/// File formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// The report for programs; unchanged findings on request.
    Json,
    /// GitHub workflow commands, which create annotations.
    Github,
    /// Markdown for a job summary.
    Markdown,
    /// Markdown within the size limit of a pull request comment.
    Comment,
    /// SARIF 2.1.0 for code scanning.
    Sarif,
    /// JUnit test report for Jenkins and others.
    Junit,
    /// GitLab code quality report.
    Gitlab,
    /// Self-contained interactive HTML page.
    Html,
}

impl Format {
    /// All formats, in documentation order.
    pub const ALL: [Format; 10] = [
        Format::Full,
        Format::Concise,
        Format::Of(ReportFormat::Json),
        Format::Of(ReportFormat::Github),
        Format::Of(ReportFormat::Markdown),
        Format::Of(ReportFormat::Comment),
        Format::Of(ReportFormat::Sarif),
        Format::Of(ReportFormat::Junit),
        Format::Of(ReportFormat::Gitlab),
        Format::Of(ReportFormat::Html),
    ];

    /// Value of `--output` that selects the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Full => "full",
            Format::Concise => "concise",
            Format::Of(ReportFormat::Json) => "json",
            Format::Of(ReportFormat::Github) => "github",
            Format::Of(ReportFormat::Markdown) => "markdown",
            Format::Of(ReportFormat::Comment) => "comment",
            Format::Of(ReportFormat::Sarif) => "sarif",
            Format::Of(ReportFormat::Junit) => "junit",
            Format::Of(ReportFormat::Gitlab) => "gitlab",
            Format::Of(ReportFormat::Html) => "html",
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Options of a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatOptions<'a> {
    /// The findings to list.
    pub listing: FindingFilter,
    /// All rules; metadata of a reported rule is looked up here by name.
    pub rules: &'a [&'static Rule],
}

impl FormatOptions<'_> {
    /// Returns the rule with this name; `None` if the report names a rule that this version does
    /// not have.
    pub(super) fn rule(&self, name: &str) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| rule.name == name).copied()
    }
}

/// Returns the page of a rule with relative links replaced by their text, since other pages exist
/// only in this crate's sources.
pub(super) fn page(rule: &Rule) -> String {
    let mut page = String::with_capacity(rule.page.len());
    let mut rest = rule.page;
    while let Some((before, after)) = rest.split_once("](") {
        let (target, beyond) = after.split_once(')').unwrap_or((after, ""));
        match before.rfind('[') {
            Some(at) if target.contains(".md") => {
                page.push_str(&before[..at]);
                page.push_str(&before[at + 1..]);
                rest = beyond;
            }
            Some(_) | None => {
                page.push_str(before);
                page.push_str("](");
                rest = after;
            }
        }
    }
    page.push_str(rest);
    page
}

/// Returns the report without unchanged findings, unless they are requested. All formats but SARIF
/// use it, so that they are the same from a report that was saved without these findings.
fn listed(report: &Report, listing: FindingFilter) -> Cow<'_, Report> {
    if listing.all {
        Cow::Borrowed(report)
    } else {
        report.without_unchanged()
    }
}

impl Format {
    /// Writes a report in this format; `options` and `style` apply to the terminal formats.
    ///
    /// # Errors
    /// Fails if writing to `out` fails.
    pub fn write(
        self,
        report: &Report,
        (options, style): (TerminalOptions, &TerminalStyle),
        rules: &[&'static Rule],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let format_options = FormatOptions {
            listing: options.listing,
            rules,
        };
        match self {
            Format::Full => terminal::write(&listed(report, options.listing), options, style, out),
            Format::Concise => {
                terminal::write_concise(&listed(report, options.listing), options, style, out)
            }
            Format::Of(form) => form.write(report, &format_options, out),
        }
    }
}

impl ReportFormat {
    /// Writes a report in this format.
    ///
    /// # Errors
    /// Fails if writing to `out` fails.
    pub fn write(
        self,
        report: &Report,
        options: &FormatOptions<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let has_unchanged = self == ReportFormat::Sarif;
        let report = &*if has_unchanged {
            Cow::Borrowed(report)
        } else {
            listed(report, options.listing)
        };
        match self {
            ReportFormat::Json => model::write(report, out),
            ReportFormat::Github => github::write(report, options, out),
            ReportFormat::Markdown => {
                markdown::write(report, options, markdown::Budget::SUMMARY, out)
            }
            ReportFormat::Comment => {
                markdown::write(report, options, markdown::Budget::COMMENT, out)
            }
            ReportFormat::Html => html::write(report, options, out),
            ReportFormat::Sarif => sarif::write(report, options, out),
            ReportFormat::Junit => junit::write(report, options, out),
            ReportFormat::Gitlab => gitlab::write(report, options, out),
        }
    }
}
