//! Human-readable log: each commit with its reach.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{CommitEffect, CommitReach, LogEnd};
use crate::compare::Status;
use crate::report::blame::{describe_commit, short_id};
use crate::report::printable::clean;
use crate::report::signs::Signs;
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, counted, wrap};

/// Maximum number of outputs listed for a commit.
const MAX_OUTPUTS: usize = 3;

/// Writes the note that follows the commits.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_end(commits: usize, end: LogEnd, out: &mut dyn Write) -> io::Result<()> {
    match (commits, end) {
        (0, LogEnd::Whole) => writeln!(out, "no commit changed a matching output"),
        (_, LogEnd::Whole) => Ok(()),
        (_, LogEnd::Partial) => writeln!(out, "\npartial: earlier commits are not listed"),
    }
}

/// Writes a commit for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_commit(
    effect: &CommitEffect,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let role = if effect.is_effective() { TextRole::Warning } else { TextRole::Dim };
    let id = painted(short_id(&effect.commit.id), role, style);
    let line = format!("{id}  {}", describe_commit(&effect.commit));
    writeln!(out, "{}", wrap(&line, style.columns(), "", "    "))?;
    let mut lines = Vec::new();
    if effect.is_effective() {
        lines.push(describe_reach(effect.reach()));
        lines.push(list_outputs(effect, &Signs::of(style)));
        lines.extend(describe_sites(effect));
    } else if effect.commit.is_cut {
        lines.push("not compared: its parent is missing from this shallow clone".to_owned());
    } else if effect.unusable.is_empty() {
        lines.push(painted("no output changed", TextRole::Dim, style));
    }
    for unusable in &effect.unusable {
        lines.push(format!("{} cannot be rendered here", clean(&unusable.site)));
    }
    for line in lines {
        writeln!(out, "{}", wrap(&line, style.columns(), "    ", "      "))?;
    }
    Ok(())
}

/// Describes the number of outputs and sites.
pub(super) fn describe_reach(reach: CommitReach) -> String {
    let CommitReach { outputs, sites, untouched, .. } = reach;
    let untouched = match untouched {
        0 => String::new(),
        untouched => format!(", {untouched} of them in untouched files"),
    };
    format!("{} in {}{untouched}", counted(outputs, "output"), counted(sites, "site"))
}

/// Lists the first outputs, ordered by number of sites.
fn list_outputs(effect: &CommitEffect, signs: &Signs) -> String {
    let mut sites: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for output in effect.sites.iter().flat_map(|site| &site.outputs) {
        *sites.entry((&output.document.schema, &output.document.name)).or_default() += 1;
    }
    let mut names: Vec<((&str, &str), usize)> = sites.into_iter().collect();
    names.sort_by_key(|(_, sites)| std::cmp::Reverse(*sites));
    let shown = names.iter().take(MAX_OUTPUTS).map(|((_, name), _)| clean(name).into_owned());
    let mut words: Vec<String> = shown.collect();
    if names.len() > MAX_OUTPUTS {
        words.push(format!("{} {} more", signs.dots, names.len() - MAX_OUTPUTS));
    }
    words.join(", ")
}

/// Describes added, removed and renamed sites.
fn describe_sites(effect: &CommitEffect) -> Vec<String> {
    let mut words = Vec::new();
    for site in &effect.sites {
        let name = clean(&site.site);
        let all = |status: Status| site.outputs.iter().all(|output| output.status == status);
        if let Some(before) = &site.renamed_from {
            words.push(format!("site `{}` was renamed to `{name}`", clean(before)));
        } else if all(Status::Added) && site.outputs.len() > 1 {
            words.push(format!("all outputs of {name} were added"));
        } else if all(Status::Removed) && site.outputs.len() > 1 {
            words.push(format!("all outputs of {name} were removed"));
        }
        if !site.passed_over.is_empty() {
            let ids: Vec<&str> = site.passed_over.iter().map(|id| short_id(id)).collect();
            let ids = ids.join(", ");
            words.push(format!("{name}: or in {ids}, which cannot be rendered"));
        }
    }
    words
}
