//! A finding as a SARIF result.

use std::collections::{BTreeMap, BTreeSet};

use super::base::UriBases;
use super::flow::FlowIndex;
use super::log::{
    ArtifactChange, LogicalLocation, PhysicalLocation, Region, ResultProperties, SarifFix,
    SarifLocation, SarifMessage, SarifReplacement, SarifResult, SarifSuppression, Snippet,
};
use crate::diagnostic::Safety;
use crate::report::model::{
    FilePlace, Finding, LabelledPlace, Report, State, SuppressedBy, SuppressionKind, TextFix,
};
use crate::report::printable::clean;
use crate::report::story::{SiteNames, describe_place};

/// Maximum number of related locations of a result; code scanning services keep 100.
const MAX_RELATED: usize = 50;

/// Maximum number of logical locations of a result.
const MAX_NAMED: usize = 20;

/// Creates the result of a finding of the rule at `rule_index`.
pub(super) fn of<'a>(
    finding: &'a Finding,
    rule_index: usize,
    fingerprint: String,
    flows: &FlowIndex<'_>,
    shown: &mut QuotedLines<'a>,
    bases: &UriBases<'a>,
) -> SarifResult {
    let report = bases.report;
    let pin = report.pin_of(&finding.primary.start());
    let own = pin.map(|_| &finding.primary);
    let related = own
        .into_iter()
        .chain(&finding.related)
        .enumerate()
        .take(MAX_RELATED);
    SarifResult {
        rule_id: clean(&finding.rule).into_owned(),
        rule_index,
        level: finding.severity.as_str(),
        message: SarifMessage::of_lines(&text(finding, report)),
        locations: [SarifLocation {
            logical_locations: logical(finding, report),
            ..match pin {
                Some(pin) => at_pin(pin, bases),
                None => at_label(&finding.primary, shown, bases),
            }
        }],
        related_locations: related
            .map(|(at, label)| SarifLocation {
                id: Some(at + 1),
                ..at_label(label, shown, bases)
            })
            .collect(),
        code_flows: flows.to(finding),
        partial_fingerprints: BTreeMap::from([("layercake/v1", fingerprint)]),
        baseline_state: match finding.state {
            Some(State::New) => Some("new"),
            Some(State::Unchanged) => Some("unchanged"),
            Some(State::Fixed) => Some("absent"),
            None => None,
        },
        suppressions: finding
            .suppressed
            .iter()
            .map(|it| suppression(it, bases))
            .collect(),
        fixes: finding.fix.iter().map(|it| fix(it, bases)).collect(),
        properties: ResultProperties::of(&finding.caused_by, report),
    }
}

/// Returns the complete description of a finding, since viewers show a result by its message.
fn text(finding: &Finding, report: &Report) -> Vec<String> {
    let mut lines = vec![finding.message.clone()];
    if report.pin_of(&finding.primary.start()).is_some() {
        lines.push(format!("at {}", describe_place(&finding.primary)));
    }
    lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
    if let Some(set) = finding.sites {
        let names = SiteNames::new(report).phrase_of(set);
        lines.push(format!("in {}", names.words()));
    }
    lines
}

/// Returns the faulty document of a finding in each site.
fn logical(finding: &Finding, report: &Report) -> Vec<LogicalLocation> {
    let Some(document) = finding.documents.first() else {
        return Vec::new();
    };
    let name = format!("{}/{}", document.schema, document.name);
    let named = |site: Option<&str>| LogicalLocation {
        fully_qualified_name: clean(&match site {
            Some(site) => format!("{site}/{name}"),
            None => name.clone(),
        })
        .into_owned(),
    };
    match finding.sites {
        None => vec![named(None)],
        Some(set) => {
            let sites = report.sites_in(set).take(MAX_NAMED);
            sites.map(|site| named(site.name.as_deref())).collect()
        }
    }
}

/// Returns the location of a repository's pin as a related location. Code scanning knows only the
/// files of one repository and would show the result at a file with the same path.
fn at_pin(pin: &FilePlace, bases: &UriBases<'_>) -> SarifLocation {
    SarifLocation {
        physical_location: Some(at_line(&pin.file, pin.line, bases)),
        message: Some(SarifMessage::new(
            "pins the revision that contains this result",
        )),
        ..SarifLocation::default()
    }
}

/// Lines, by file, whose snippets were already written: each is in a log once.
pub(super) type QuotedLines<'a> = BTreeSet<(&'a str, usize)>;

fn at_label<'a>(
    label: &'a LabelledPlace,
    shown: &mut QuotedLines<'a>,
    bases: &UriBases<'_>,
) -> SarifLocation {
    let is_first = shown.insert((&label.file, label.line));
    let region = Region {
        start_line: label.line,
        start_column: Some(label.column),
        end_line: Some(label.end_line),
        end_column: Some(label.end_column),
        snippet: None,
    };
    let words = match &label.decoded {
        Some(it) if label.label.is_empty() => format!("decoded, {}:{}", it.line, it.column),
        Some(it) => format!("{} (decoded, {}:{})", label.label, it.line, it.column),
        None => label.label.clone(),
    };
    SarifLocation {
        physical_location: Some(PhysicalLocation {
            artifact_location: bases.artifact(&label.file),
            region,
            context_region: is_first.then(|| context(label, bases.report)).flatten(),
        }),
        message: (!words.is_empty()).then(|| SarifMessage::new(&words)),
        ..SarifLocation::default()
    }
}

/// Returns the lines around a label, with secrets hidden; `None` for decoded content, which is not
/// in the file, and for truncated lines.
fn context(label: &LabelledPlace, report: &Report) -> Option<Region> {
    let lines = report.lines_around(label);
    let first = lines.first()?;
    let last = lines.last()?;
    let is_whole = last.line - first.line + 1 == lines.len();
    let has_parts = lines.iter().any(|line| line.cut || line.column > 1);
    if label.decoded.is_some() || !is_whole || has_parts {
        return None;
    }
    Some(Region {
        start_line: first.line,
        start_column: None,
        end_line: Some(last.line),
        end_column: None,
        snippet: Some(Snippet {
            text: lines
                .iter()
                .map(|line| format!("{}\n", clean(&line.text)))
                .collect(),
        }),
    })
}

/// Returns a physical location for a line of a file.
pub(super) fn at_line(file: &str, line: usize, bases: &UriBases<'_>) -> PhysicalLocation {
    let region = Region {
        start_line: line,
        start_column: None,
        end_line: None,
        end_column: None,
        snippet: None,
    };
    PhysicalLocation {
        artifact_location: bases.artifact(file),
        region,
        context_region: None,
    }
}

fn suppression(suppression: &SuppressedBy, bases: &UriBases<'_>) -> SarifSuppression {
    let reason = &suppression.reason;
    SarifSuppression {
        kind: match suppression.kind {
            SuppressionKind::Comment => "inSource",
            SuppressionKind::Baseline => "external",
        },
        justification: (!reason.is_empty()).then(|| clean(reason).into_owned()),
        location: SarifLocation {
            physical_location: Some(at_line(&suppression.file, suppression.line, bases)),
            ..SarifLocation::default()
        },
    }
}

fn fix(fix: &TextFix, bases: &UriBases<'_>) -> SarifFix {
    let mut changes: BTreeMap<&str, Vec<SarifReplacement>> = BTreeMap::new();
    for edit in &fix.edits {
        changes
            .entry(&edit.file)
            .or_default()
            .push(SarifReplacement {
                deleted_region: Region {
                    start_line: edit.line,
                    start_column: Some(edit.column),
                    end_line: Some(edit.end_line),
                    end_column: Some(edit.end_column),
                    snippet: None,
                },
                // Text to be inserted by a tool is not escaped for display.
                inserted_content: Snippet {
                    text: edit.text.clone(),
                },
            });
    }
    SarifFix {
        description: SarifMessage::new(&match fix.safety {
            Safety::Safe => fix.message.clone(),
            it @ Safety::Unsafe => format!("{} (unsafe: `{}`)", fix.message, it.flags()),
        }),
        artifact_changes: changes
            .into_iter()
            .map(|(file, replacements)| ArtifactChange {
                artifact_location: bases.artifact(file),
                replacements,
            })
            .collect(),
    }
}
