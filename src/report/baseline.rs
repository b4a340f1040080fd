//! Contents of a baseline as a table.

use std::io::{self, Write};

use super::TerminalStyle;
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;
use crate::source::{DocKey, RepoPath};

/// Equal findings, which a baseline accepts as one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineRow {
    pub(crate) rule: String,
    /// Number of findings.
    pub(crate) count: usize,
    /// File of the primary place.
    pub(crate) file: RepoPath,
    /// Document of the findings; `None` for findings about the file itself.
    pub(crate) document: Option<DocKey>,
    pub(crate) subject: String,
}

/// Writes a line for each row.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(rows: &[BaselineRow], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let widest = rows
        .iter()
        .map(|row| row.rule.len())
        .max()
        .unwrap_or_default();
    for row in rows {
        let document = row
            .document
            .as_ref()
            .map(|key| format!("  {key}"))
            .unwrap_or_default();
        let subject = if row.subject.is_empty() { "" } else { "  " };
        let rule = format!("{:widest$}", clean(&row.rule));
        let rule = painted(&rule, TextRole::Strong, style);
        let file = painted(&clean(row.file.as_str()), TextRole::Place, style);
        let line = format!("{document}{subject}{}", row.subject);
        writeln!(out, "{:>5}  {rule}  {file}{}", row.count, clean(&line))?;
    }
    Ok(())
}
