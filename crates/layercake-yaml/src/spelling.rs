//! Respellings of text that granit-parser rejects or parses differently from libyaml.
//!
//! The parser requests a replacement of the same length, and parses the text again: all offsets are
//! preserved.

use std::collections::HashSet;

use granit_parser::{ErrorKind, ScanError};

use super::Loader;

/// A replacement in a text.
#[derive(Debug)]
pub(super) struct Respelling {
    at: usize,
    /// Replacement of the same length as the original.
    text: String,
}

/// Maximum number of respelled attempts for a text of a given length, before the problem is
/// reported.
pub(super) fn max_passes(bytes: usize) -> usize {
    const BYTES: usize = 4 << 20;
    (BYTES / bytes.max(1)).clamp(2, 32)
}

/// Applies `respellings` to `text`.
pub(super) fn respelled(text: &str, respellings: &[Respelling]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for Respelling { at, text } in respellings {
        bytes[*at..at + text.len()].copy_from_slice(text.as_bytes());
    }
    String::from_utf8(bytes).expect("whole characters are replaced")
}

/// Names of possible aliases in a text.
pub(super) fn alias_names(text: &str) -> HashSet<&str> {
    let is_other = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_';
    let names = text.split('*').skip(1);
    names.map(|rest| rest.split(is_other).next().unwrap_or_default()).collect()
}

/// Respelling for an error of granit-parser at byte `at`.
pub(super) fn of_error(
    error: &ScanError,
    text: &str,
    at: usize,
    in_flow: bool,
    loader: Loader,
) -> Option<Respelling> {
    let rest = text.get(at..)?;
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let is_blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    match error.kind() {
        // libyaml skips a byte order mark at the beginning of a line, but counts a column for it:
        // the rest of the line is indented by one, which is significant in block collections.
        ErrorKind::BomInsideDocument if at == line && loader == Loader::Libyaml => {
            let after = rest.strip_prefix('\u{feff}')?;
            let after = after.split(['\n', '\r']).next().unwrap_or_default();
            let is_nothing = is_blank(after.split('#').next().unwrap_or_default());
            match (is_nothing, in_flow) {
                (true, _) => Some(Respelling { at, text: "#  ".into() }),
                (false, true) => Some(Respelling { at, text: "   ".into() }),
                (false, false) => None,
            }
        }
        // In libyaml, a line with less indentation ends a block scalar, and may be a comment.
        ErrorKind::InvalidBlockScalarIndent if rest.starts_with('#') && at > line => {
            Some(Respelling { at: line, text: "#".into() })
        }
        // In a flow collection, libyaml treats a tab like a space.
        _ if in_flow || text[..line].trim_end().ends_with(['[', '{', ',']) => {
            let indent = text[line..at].trim_end_matches([' ', '\t']).len();
            let start = if indent == 0 { line } else { at };
            let end = at + rest.bytes().take_while(|byte| *byte == b'\t').count();
            let has_tab = text[start..end].contains('\t');
            has_tab.then(|| {
                let text = " ".repeat(end - start) + &indented_by_spaces(&text[end..]);
                Respelling { at: start, text }
            })
        }
        _ => None,
    }
}

/// Replaces tabs by spaces in `rest`, up to the first line not indented by tabs: JSON is often
/// indented by tabs throughout, and would need an attempt for each line.
fn indented_by_spaces(rest: &str) -> String {
    let mut spaced = String::new();
    let mut rest = rest;
    while let Some(end) = rest.find('\n') {
        let (line, below) = rest.split_at(end + 1);
        let indent = below.len() - below.trim_start_matches([' ', '\t']).len();
        if !below[..indent].contains('\t') {
            break;
        }
        spaced.push_str(line);
        spaced.extend(std::iter::repeat_n(' ', indent));
        rest = &below[indent..];
    }
    spaced
}

/// Respelling for an anchor `written` at byte `at`, if granit-parser parses a longer name than
/// libyaml, in which a colon ends the name. No alias may refer to it, because the respelling
/// removes the anchor.
pub(super) fn of_anchor<'t>(
    written: &'t str,
    at: usize,
    aliases: impl FnOnce() -> &'t HashSet<&'t str>,
) -> Option<Respelling> {
    let (name, rest) = written.strip_prefix('&')?.split_once(':')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name) || aliases().contains(name) {
        return None;
    }
    let blanks = " ".repeat(name.len());
    // The part before the colon is an empty key, unless the colon begins a plain scalar.
    let first = if rest.is_empty() { '~' } else { ' ' };
    Some(Respelling { at, text: format!("{first}{blanks}") })
}
