//! The log as JSON and as a Markdown table.

use std::io::{self, Write};

use serde::Serialize;

use super::change::ShownChange;
use super::text::{change_line, describe_reach};
use super::{CommitEffect, CommitReach, LogEnd, OutputEffect};
use crate::compare::Status;
use crate::report::blame::short_id;
use crate::report::markdown::{in_cell, prose};
use crate::report::model::{VERSION, write_json};
use crate::report::signs::Signs;
use crate::report::story::{Losses, ShortDelta, Sign};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

#[derive(Serialize)]
struct LogForm<'a> {
    version: u32,
    partial: bool,
    commits: Vec<CommitForm<'a>>,
}

#[derive(Serialize)]
struct CommitForm<'a> {
    id: &'a str,
    parents: &'a [String],
    author: &'a str,
    date: &'a str,
    subject: &'a str,
    /// Whether the commit could not be compared, since its parent is missing from this shallow
    /// clone.
    cut: bool,
    reach: CommitReach,
    /// The most dangerous kind of change, if any is dangerous.
    danger: Option<&'static str>,
    losses: LossesForm,
    /// The most dangerous changed value, or else the first.
    change: Option<PlacedChangeForm<'a>>,
    sites: Vec<SiteForm<'a>>,
    unusable: Vec<UnusableForm<'a>>,
}

#[derive(Serialize)]
struct SiteForm<'a> {
    site: &'a str,
    renamed_from: Option<&'a str>,
    passed_over: &'a [String],
    outputs: Vec<OutputForm<'a>>,
}

#[derive(Serialize)]
struct OutputForm<'a> {
    document: &'a DocKey,
    renamed_from: Option<&'a DocKey>,
    status: &'static str,
    own_file: bool,
    danger: Option<&'static str>,
    change: Option<ChangeForm<'a>>,
}

#[derive(Serialize)]
struct LossesForm {
    removed_outputs: usize,
    broken_outputs: usize,
    #[serde(flatten)]
    of_values: Losses,
}

#[derive(Serialize)]
struct PlacedChangeForm<'a> {
    site: &'a str,
    document: &'a DocKey,
    #[serde(flatten)]
    change: ChangeForm<'a>,
}

#[derive(Serialize)]
struct ChangeForm<'a> {
    path: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    /// Description of a change without values on one line.
    summary: Option<&'a str>,
}

#[derive(Serialize)]
struct UnusableForm<'a> {
    site: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
}

/// Writes the log as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_log_json(
    commits: &[CommitEffect],
    end: LogEnd,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (partial, commits) = (
        end != LogEnd::Whole,
        commits.iter().map(CommitForm::new).collect(),
    );
    write_json(
        &LogForm {
            version: VERSION,
            partial,
            commits,
        },
        out,
    )
}

impl<'a> CommitForm<'a> {
    fn new(effect: &'a CommitEffect) -> Self {
        let commit = &effect.commit;
        let sites = effect.sites.iter().map(|site| SiteForm {
            site: &site.site,
            renamed_from: site.renamed_from.as_deref(),
            passed_over: &site.passed_over,
            outputs: site.outputs.iter().map(OutputForm::new).collect(),
        });
        let unusable = effect.unusable.iter().map(|unusable| UnusableForm {
            site: &unusable.site,
            file: unusable.at.as_ref().map(|(path, _)| path.as_str()),
            line: unusable.at.as_ref().map(|(_, line)| *line),
        });
        Self {
            id: &commit.id,
            parents: &commit.parents,
            author: &commit.author,
            date: &commit.date,
            subject: &commit.subject,
            cut: commit.is_cut,
            reach: effect.reach(),
            danger: effect.danger().name(),
            losses: LossesForm {
                removed_outputs: effect.with_status(Status::Removed),
                broken_outputs: effect.with_status(Status::Broken),
                of_values: effect.losses(),
            },
            change: effect
                .change()
                .map(|(site, output, change)| PlacedChangeForm {
                    site: &site.site,
                    document: &output.document,
                    change: ChangeForm::new(change),
                }),
            sites: sites.collect(),
            unusable: unusable.collect(),
        }
    }
}

impl<'a> OutputForm<'a> {
    fn new(output: &'a OutputEffect) -> Self {
        Self {
            document: &output.document,
            renamed_from: output.renamed_from.as_ref(),
            status: output.status.as_str(),
            own_file: output.touched,
            danger: output.danger.name(),
            change: output.change.as_ref().map(ChangeForm::new),
        }
    }
}

impl<'a> ChangeForm<'a> {
    fn new(change: &'a ShownChange) -> Self {
        let form = Self {
            path: &change.path,
            before: None,
            after: None,
            summary: None,
        };
        match &change.values {
            ShortDelta::Sides([before, after]) => Self {
                before: Some(before),
                after: Some(after),
                ..form
            },
            ShortDelta::Only(Sign::Removed, text) => Self {
                before: Some(text),
                ..form
            },
            ShortDelta::Only(Sign::Added, text) => Self {
                after: Some(text),
                ..form
            },
            ShortDelta::Only(Sign::Same | Sign::Skipped, text) => Self {
                summary: Some(text),
                ..form
            },
        }
    }
}

/// Maximum number of columns of a changed value in a table.
const MAX_CELL_COLUMNS: usize = 120;

/// Writes the log as a Markdown table.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_log_markdown(
    commits: &[CommitEffect],
    end: LogEnd,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "| Commit | Date | Subject | Outputs | Change | Danger |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for effect in commits {
        let commit = &effect.commit;
        let reach = if effect.is_effective() {
            describe_reach(effect.reach())
        } else {
            "none".to_owned()
        };
        let change = change_line(effect, MAX_CELL_COLUMNS, &Signs::UNICODE);
        let change = change.map(|line| in_markdown(&line)).unwrap_or_default();
        let (subject, change) = (in_cell(&prose(&commit.subject)), in_cell(&change));
        let (id, danger) = (
            short_id(&commit.id),
            effect.dangers().join(Signs::UNICODE.between),
        );
        let date = &commit.date;
        writeln!(
            out,
            "| `{id}` | {date} | {subject} | {reach} | {change} | {danger} |"
        )?;
    }
    end.note().map_or(Ok(()), |note| writeln!(out, "\n{note}"))
}

/// Escapes all text of a changed value except separators and signs, which are plain.
fn in_markdown(line: &StyledText) -> String {
    let pieces = line.pieces.iter().map(|piece| match piece.role {
        TextRole::Plain => piece.text.clone(),
        _ => prose(&piece.text),
    });
    pieces.collect()
}
