//! Findings as a report of tests, in the XML that JUnit made common, for
//! Jenkins, GitLab and others.
//!
//! A rule with findings is a suite, and each finding is a test case of it, by
//! the name of its file and its headline: no line is in the name, so that a
//! build's history knows a finding again when lines move. An error is a
//! failure. Warnings and notes, and what is suppressed, are skipped tests:
//! they are seen, and fail no build, as they fail no run unless `--fail-on` says
//! so. One more suite has the run itself, which passed: a report without
//! test cases is an error to some readers.
//!
//! The form is that of `junit-10.xsd`, which the plugin xUnit of Jenkins holds
//! reports against. GitLab takes the first of test cases with one name, so
//! names that are alike get a number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::FormatOptions;
use super::model::Report;
use super::printable::clean;
use super::story::{FindingEntry, Story, labelled};
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
    let mut suites: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    let story = Story::new(report, manner.listing);
    for entry in story.findings_by_place() {
        suites.entry(&entry.finding.rule).or_default().push(Case::of_finding(entry));
    }
    let all = || suites.values().flatten();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let (tests, failures) = (all().count() + 1, failures(all()));
    writeln!(
        out,
        "<testsuites name=\"layercake\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">"
    )?;
    write_suite("layercake", vec![Case::of_run()], out)?;
    for (rule, cases) in suites {
        write_suite(&format!("layercake.{}", clean(rule)), cases, out)?;
    }
    writeln!(out, "</testsuites>")
}

/// Maximum number of places that are named of one finding beside its first.
const MAX_PLACES: usize = 5;

/// A test case, before it is escaped.
struct Case {
    name: String,
    verdict: CaseOutcome,
}

/// Outcome of a test case.
enum CaseOutcome {
    Passed,
    Failed(CaseMessage),
    Skipped(CaseMessage),
}

/// Message of a test case that did not pass.
struct CaseMessage {
    /// The level, and whether it is suppressed.
    kind: String,
    message: String,
    text: String,
}

impl Case {
    fn of_run() -> Self {
        Self { name: "ran".to_owned(), verdict: CaseOutcome::Passed }
    }

    fn of_finding(entry: &FindingEntry<'_>) -> Self {
        let finding = entry.finding;
        let level = finding.severity.as_str();
        let lines = std::iter::once(labelled(&finding.primary)).chain(entry.lines(MAX_PLACES));
        let lines: Vec<String> = lines.map(|line| clean(&line).into_owned()).collect();
        let message = clean(&finding.message).into_owned();
        let text = lines.join("\n");
        let name = format!("{}: {message}", clean(&finding.primary.file));
        let case_message = |kind: String| CaseMessage { kind, message, text };
        let verdict = match (&finding.suppressed, finding.severity) {
            (Some(_), _) => CaseOutcome::Skipped(case_message(format!("ignored {level}"))),
            (None, Severity::Error) => CaseOutcome::Failed(case_message(level.to_owned())),
            (None, Severity::Warning | Severity::Note) => {
                CaseOutcome::Skipped(case_message(level.to_owned()))
            }
        };
        Self { name, verdict }
    }
}

fn failures<'a>(cases: impl Iterator<Item = &'a Case>) -> usize {
    cases.filter(|case| matches!(case.verdict, CaseOutcome::Failed(_))).count()
}

fn write_suite(name: &str, cases: Vec<Case>, out: &mut dyn Write) -> io::Result<()> {
    let skipped = cases.iter().filter(|it| matches!(it.verdict, CaseOutcome::Skipped(_))).count();
    let (name, tests, failures) = (escaped(name), cases.len(), failures(cases.iter()));
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
         skipped=\"{skipped}\">"
    )?;
    let mut names = CaseNames::default();
    for case in cases {
        write_case(&name, &names.next(&case.name), &case.verdict, out)?;
    }
    writeln!(out, "  </testsuite>")
}

/// The names of a suite, each taken once.
#[derive(Default)]
struct CaseNames {
    taken: BTreeSet<String>,
    /// Number of times that each name was asked for, from which its numbers go on.
    asked: BTreeMap<String, usize>,
}

impl CaseNames {
    fn next(&mut self, name: &str) -> String {
        let times = self.asked.entry(name.to_owned()).or_default();
        loop {
            *times += 1;
            let unique = match *times {
                1 => name.to_owned(),
                times => format!("{name} ({times})"),
            };
            if self.taken.insert(unique.clone()) {
                return unique;
            }
        }
    }
}

fn write_case(
    class: &str,
    name: &str,
    verdict: &CaseOutcome,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "    <testcase classname=\"{class}\" name=\"{}\"", escaped(name))?;
    let (element, CaseMessage { kind, message, text }) = match verdict {
        CaseOutcome::Passed => return writeln!(out, "/>"),
        CaseOutcome::Failed(case_message) => ("failure", case_message),
        CaseOutcome::Skipped(case_message) => ("skipped", case_message),
    };
    let (kind, message, text) = (escaped(kind), escaped(message), escaped(text));
    writeln!(out, ">")?;
    writeln!(out, "      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>")?;
    writeln!(out, "    </testcase>")
}

/// Text as XML 1.0 has it in elements and between quotation marks. Characters
/// that XML cannot hold are not left in what is [`clean`]. Number signs in a row
/// could be a command in the log of a job; they are written as numbers.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let entity = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            // `]]>` is not allowed in text.
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&apos;",
            '#' if escaped.ends_with('#') => "&#35;",
            _ => {
                escaped.push(character);
                continue;
            }
        };
        escaped.push_str(entity);
    }
    escaped
}
