//! Addition of the hook to an existing configuration of pre-commit.

use super::{HOOK, HooksOutcome};
use crate::source::FileId;
use crate::yaml::{self, Node};

/// Adds the hook at the end of `repos` in the content of a configuration of pre-commit. All existing
/// bytes are kept.
///
/// # Errors
/// Returns [`HooksOutcome::Present`] if it has a hook of layercake, and
/// [`HooksOutcome::Unsupported`] if `repos` is not a block sequence with entries.
pub(super) fn with_hook(text: &str) -> Result<String, HooksOutcome> {
    let root = read(text).ok_or(HooksOutcome::Unsupported)?;
    let repos = root.get("repos").ok_or(HooksOutcome::Unsupported)?;
    let entries = repos.as_sequence().unwrap_or_default();
    if entries.iter().any(runs_layercake) {
        return Err(HooksOutcome::Present);
    }
    let (indent, end) = end_of_entries(text, entries).ok_or(HooksOutcome::Unsupported)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut entry = String::new();
    if !text[..end].ends_with('\n') {
        entry.push_str(newline);
    }
    for line in HOOK.lines() {
        let line = line.strip_prefix("  ").unwrap_or(line);
        entry.extend([indent, line, newline]);
    }
    let added = [&text[..end], &entry, &text[end..]].concat();
    // The position of the new entry is checked by reading it again.
    let count = read(&added).and_then(|root| Some(root.get("repos")?.as_sequence()?.len()));
    if count == Some(entries.len() + 1) {
        Ok(added)
    } else {
        Err(HooksOutcome::Unsupported)
    }
}

fn read(text: &str) -> Option<Node> {
    let parsed = yaml::parse(FileId::default(), text);
    let is_whole = parsed.problems.is_empty() && parsed.documents.len() == 1;
    parsed
        .documents
        .into_iter()
        .next()
        .filter(|_| is_whole)
        .map(|document| document.root)
}

fn runs_layercake(entry: &Node) -> bool {
    let hooks = entry
        .get("hooks")
        .and_then(Node::as_sequence)
        .unwrap_or_default();
    let mut ids = hooks.iter().filter_map(|hook| hook.get("id")?.as_str());
    ids.any(|id| id == "layercake" || id.starts_with("layercake-"))
}

/// Indentation of the dashes of a block sequence, and the offset after its last line; `None` for
/// other sequences.
fn end_of_entries<'t>(text: &'t str, entries: &[Node]) -> Option<(&'t str, usize)> {
    let (first, last) = (entries.first()?, entries.last()?);
    let before = &text[..first.span.range().start];
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let indent = line
        .trim_end()
        .strip_suffix('-')
        .filter(|it| it.trim().is_empty())?;
    let end = last.span.range().end;
    // A block mapping may end at the beginning of the next line.
    let end = text[..end].trim_end().len();
    Some((
        indent,
        text[end..].find('\n').map_or(text.len(), |at| end + at + 1),
    ))
}
