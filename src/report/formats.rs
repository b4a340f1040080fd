//! The output formats and their writers.
//!
//! All are functions of one [`Report`], so that a saved one says in any of them what the run
//! would have said.

use std::io::{self, Write};

use super::model::{self, Report};
use super::terminal::{self, TerminalOptions};
use super::{FindingFilter, TerminalStyle, github, gitlab, html, junit, markdown, sarif};
use crate::diagnostic::Rule;

/// A value of `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Every finding with its lines.
    Full,
    /// One line for each finding.
    Concise,
    /// The report in one of its forms.
    Of(ReportFormat),
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For programs: all of it.
    Json,
    /// Workflow commands of GitHub, which become annotations.
    Github,
    /// A page in Markdown, as the summary of a job.
    Markdown,
    /// The same within the limits of a comment on a pull request.
    Comment,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// As a report of tests, for Jenkins and others: JUnit.
    Junit,
    /// The code quality report of GitLab.
    Gitlab,
    /// A page to look around in, complete in itself.
    Html,
}

impl Format {
    /// All of them, in the order of documentation.
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

    /// The word that asks for it.
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

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Options of a format, whatever the report.
#[derive(Clone, Copy, Debug)]
pub struct FormatOptions<'a> {
    /// The findings to list.
    pub listing: FindingFilter,
    /// The rules that there are, by name: what a report says of a rule beyond
    /// its name is looked up here.
    pub rules: &'a [&'static Rule],
}

impl FormatOptions<'_> {
    /// The rule of this name; none where another version of layercake wrote
    /// the report, and had it.
    pub(super) fn rule(&self, name: &str) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| rule.name == name).copied()
    }
}

/// The page of a rule as it reads by itself: links to other pages, which are
/// where only this crate's sources are, are left as their texts.
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

impl Format {
    /// Writes a report in this format, for people as `look` and `style` say.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        self,
        report: &Report,
        (look, style): (TerminalOptions, &TerminalStyle),
        rules: &[&'static Rule],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let manner = FormatOptions { listing: look.listing, rules };
        match self {
            Format::Full => terminal::write(report, look, style, out),
            Format::Concise => terminal::write_concise(report, look, style, out),
            Format::Of(form) => form.write(report, &manner, out),
        }
    }
}

impl ReportFormat {
    /// Writes a report in this form.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        self,
        report: &Report,
        manner: &FormatOptions<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            ReportFormat::Json => model::write(report, out),
            ReportFormat::Github => github::write(report, manner, out),
            ReportFormat::Markdown => {
                markdown::write(report, manner, markdown::Budget::SUMMARY, out)
            }
            ReportFormat::Comment => {
                markdown::write(report, manner, markdown::Budget::COMMENT, out)
            }
            ReportFormat::Html => html::write(report, manner, out),
            ReportFormat::Sarif => sarif::write(report, manner, out),
            ReportFormat::Junit => junit::write(report, manner, out),
            ReportFormat::Gitlab => gitlab::write(report, manner, out),
        }
    }
}
