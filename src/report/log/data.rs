//! The log as JSON and as a Markdown table.

use std::io::{self, Write};

use serde::Serialize;

use super::text::describe_reach;
use super::{CommitEffect, CommitReach, LogEnd, OutputEffect};
use crate::report::blame::short_id;
use crate::report::markdown::{in_cell, prose};
use crate::report::model::{VERSION, write_json};
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
    let (partial, commits) =
        (end == LogEnd::Partial, commits.iter().map(CommitForm::new).collect());
    write_json(&LogForm { version: VERSION, partial, commits }, out)
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
        }
    }
}

/// Writes the log as a Markdown table.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_log_markdown(
    commits: &[CommitEffect],
    end: LogEnd,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "| Commit | Date | Subject | Outputs |")?;
    writeln!(out, "|---|---|---|---|")?;
    for effect in commits {
        let commit = &effect.commit;
        let reach =
            if effect.is_effective() { describe_reach(effect.reach()) } else { "none".to_owned() };
        let (id, subject) = (short_id(&commit.id), in_cell(&prose(&commit.subject)));
        writeln!(out, "| `{id}` | {} | {subject} | {reach} |", commit.date)?;
    }
    if end == LogEnd::Partial {
        writeln!(out, "\nPartial: earlier commits are not listed.")?;
    }
    Ok(())
}
