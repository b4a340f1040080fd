//! The log as JSON and as a Markdown table.

use std::io::{self, Write};

use serde::Serialize;

use super::change::ShownChange;
use super::text::{change_line, describe_reach};
use super::{CommitEffect, CommitReach, LogEnd, SiteEffect, UnusableSite};
use crate::compare::Status;
use crate::report::answer::blame::short_id;
use crate::report::answer::write_answer;
use crate::report::markdown::{in_cell, prose};
use crate::report::signs::Signs;
use crate::report::story::{Danger, Losses};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

#[derive(Serialize)]
struct LogForm<'a> {
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
    danger: Danger,
    losses: LossesForm,
    /// The most dangerous changed value, or else the first.
    change: Option<PlacedChangeForm<'a>>,
    sites: &'a [SiteEffect],
    unusable: &'a [UnusableSite],
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
    change: &'a ShownChange,
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
    let log = LogForm {
        partial: end != LogEnd::Whole,
        commits: commits.iter().map(CommitForm::new).collect(),
    };
    write_answer(&log, out)
}

impl<'a> CommitForm<'a> {
    fn new(effect: &'a CommitEffect) -> Self {
        let commit = &effect.commit;
        Self {
            id: &commit.id,
            parents: &commit.parents,
            author: &commit.author,
            date: &commit.date,
            subject: &commit.subject,
            cut: commit.is_cut,
            reach: effect.reach(),
            danger: effect.danger(),
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
                    change,
                }),
            sites: &effect.sites,
            unusable: &effect.unusable,
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
