//! Findings as a JUnit XML test report, for Jenkins, GitLab and others.
//!
//! Each rule with findings is a suite, and each finding is a test case named by its file and
//! headline. The name has no line number, so that a finding keeps its identity in a build's
//! history. Errors are failures; warnings, notes and suppressed findings are skipped tests, which
//! are visible but do not fail a build. One more suite represents the run itself, since some
//! consumers reject a report without test cases.
//!
//! The format is `junit-10.xsd`, which the Jenkins xUnit plugin validates against. GitLab keeps
//! only the first of several test cases with the same name, so equal names get a numeric suffix.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::FormatOptions;
use super::model::Report;
use super::printable::clean;
use super::story::{Arrangement, FindingEntry, Story, labelled};
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
    let mut suites: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    let story = Story::new(report, options.listing, Arrangement::ByEdit);
    for entry in story.findings_by_place() {
        suites
            .entry(&entry.finding.rule)
            .or_default()
            .push(Case::of_finding(entry));
    }
    let all = || suites.values().flatten();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let tests = all().count() + 1;
    let failures = failures(all());
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

/// Maximum number of related places listed for one finding.
const MAX_PLACES: usize = 5;

/// A test case, before it is escaped.
struct Case {
    name: String,
    verdict: CaseOutcome,
}

enum CaseOutcome {
    Passed,
    Failed(CaseMessage),
    Skipped(CaseMessage),
}

/// Message of a failed or skipped test case.
struct CaseMessage {
    /// Severity, and whether the finding is suppressed.
    kind: String,
    message: String,
    text: String,
}

impl Case {
    fn of_run() -> Self {
        Self {
            name: "ran".to_owned(),
            verdict: CaseOutcome::Passed,
        }
    }

    fn of_finding(entry: &FindingEntry<'_>) -> Self {
        let finding = entry.finding;
        let level = finding.severity.as_str();
        let lines: Vec<String> = std::iter::once(labelled(&finding.primary))
            .chain(entry.lines(MAX_PLACES))
            .map(|line| clean(&line).into_owned())
            .collect();
        let message = clean(&finding.message).into_owned();
        let text = lines.join("\n");
        let name = format!("{}: {message}", clean(&finding.primary.file));
        let case_message = |kind: String| CaseMessage {
            kind,
            message,
            text,
        };
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
    cases
        .filter(|case| matches!(case.verdict, CaseOutcome::Failed(_)))
        .count()
}

fn write_suite(name: &str, cases: Vec<Case>, out: &mut dyn Write) -> io::Result<()> {
    let skipped = cases
        .iter()
        .filter(|it| matches!(it.verdict, CaseOutcome::Skipped(_)))
        .count();
    let name = escaped(name);
    let tests = cases.len();
    let failures = failures(cases.iter());
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

/// Unique test case names of a suite.
#[derive(Default)]
struct CaseNames {
    taken: BTreeSet<String>,
    /// Number of uses of each name.
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
    write!(
        out,
        "    <testcase classname=\"{class}\" name=\"{}\"",
        escaped(name)
    )?;
    let (
        element,
        CaseMessage {
            kind,
            message,
            text,
        },
    ) = match verdict {
        CaseOutcome::Passed => return writeln!(out, "/>"),
        CaseOutcome::Failed(case_message) => ("failure", case_message),
        CaseOutcome::Skipped(case_message) => ("skipped", case_message),
    };
    let kind = escaped(kind);
    let message = escaped(message);
    let text = escaped(text);
    writeln!(out, ">")?;
    writeln!(
        out,
        "      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>"
    )?;
    writeln!(out, "    </testcase>")
}

/// Escapes a string for XML 1.0 text and attributes. [`clean`] has already removed characters that
/// XML cannot hold. Consecutive `#` are written as entities, since they could start a command in a
/// CI log.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let entity = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            // XML does not allow `]]>` in text.
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
