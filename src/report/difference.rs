//! Unified diff of applied or proposed file changes. It cannot be applied, since secrets are
//! hidden.

use std::io::{self, Write};

use similar::{ChangeTag, TextDiff};

use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View};
use crate::source::{FileId, RepoPath};

/// A changed file, before and after.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    pub(crate) path: RepoPath,
    /// Content before the change; `None` if it may hold undetected secrets.
    pub(crate) before: Option<String>,
    /// Content after the change; `None` if it may hold undetected secrets.
    pub(crate) after: Option<String>,
}

/// Returns the content of a file with secrets hidden.
pub(crate) fn shown(view: &View<'_>, file: FileId) -> Option<String> {
    view.masked(file)
}

/// Writes the differences of all `files`.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(files: &[ChangedFile], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    files
        .iter()
        .try_for_each(|file| write_file(file, style, out))
}

fn write_file(file: &ChangedFile, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    const CONTEXT_LINES: usize = 3;
    let path = super::printable::clean(file.path.as_str());
    writeln!(out, "--- a/{path}\n+++ b/{path}")?;
    let (Some(before), Some(after)) = (&file.before, &file.after) else {
        return writeln!(out, "(hidden)");
    };
    let difference = TextDiff::from_lines(before, after);
    for hunk in difference
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .iter_hunks()
    {
        writeln!(out, "{}", hunk.header())?;
        for change in hunk.iter_changes() {
            let (sign, role) = match change.tag() {
                ChangeTag::Equal => (' ', None),
                ChangeTag::Delete => ('-', Some(TextRole::Error)),
                ChangeTag::Insert => ('+', Some(TextRole::Good)),
            };
            let text = change.value().trim_end_matches(['\n', '\r']);
            let line = format!("{sign}{}", super::printable::clean(text));
            let painted = role.map_or(line.clone(), |role| painted(&line, role, style));
            writeln!(out, "{painted}")?;
            if change.missing_newline() {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    Ok(())
}
