//! Changes of files, made or proposed, as a unified diff. Secrets are hidden in it, so that it is
//! for reading only.

use std::io::{self, Write};

use similar::{ChangeTag, TextDiff};

use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View};
use crate::source::{FileId, RepoPath};

/// The two texts of a file that changes.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    /// Where it is.
    pub(crate) path: RepoPath,
    /// The text before; none where it may hold secrets that were not found.
    pub(crate) before: Option<String>,
    /// The text after.
    pub(crate) after: Option<String>,
}

/// The text of a file as it may be shown.
pub(crate) fn shown(view: &View<'_>, file: FileId) -> Option<String> {
    view.masked(file)
}

/// Writes the differences of all `files`.
///
/// # Errors
/// Those of `out`.
pub fn write(files: &[ChangedFile], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    files.iter().try_for_each(|file| write_file(file, style, out))
}

fn write_file(file: &ChangedFile, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    const CONTEXT_LINES: usize = 3;
    let path = super::printable::clean(file.path.as_str());
    writeln!(out, "--- a/{path}\n+++ b/{path}")?;
    let (Some(before), Some(after)) = (&file.before, &file.after) else {
        return writeln!(out, "(hidden)");
    };
    let difference = TextDiff::from_lines(before, after);
    for hunk in difference.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
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
