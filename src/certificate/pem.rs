//! Blocks of PEM in a text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Start of a block.
pub(crate) const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// As OpenSSL decodes: bits behind the last byte do not matter.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// A block.
pub(super) struct Block<'t> {
    /// Offset of its first line.
    pub(super) start: usize,
    /// Kind of its content.
    pub(super) label: &'t str,
    /// Lines between the first and the last; `None` if the last is missing.
    lines: Option<&'t str>,
}

/// Blocks whose first line begins a line of the text, which may be indented.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    let starts = text.match_indices(BEGIN).map(|(at, _)| at);
    let begins_line = |at: &usize| {
        let before = text[..*at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    };
    starts.filter(begins_line).map(|start| block(text, start))
}

fn block(text: &str, start: usize) -> Block<'_> {
    let rest = &text[start + BEGIN.len()..];
    let (first, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let label = first.trim_end().trim_end_matches('-').trim_end();
    let (lines, last) = rest.split_once(DASHES).unzip();
    let end = last.unwrap_or_default().lines().next().unwrap_or_default();
    let is_closed = end.trim_end() == format!("{}{label}{DASHES}", &END[DASHES.len()..]);
    Block {
        start,
        label,
        lines: lines.filter(|_| is_closed),
    }
}

impl Block<'_> {
    /// Whether a header says that the content is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.lines.is_some_and(|lines| lines.contains(",ENCRYPTED"))
    }

    /// Decoded content; `None` if the block is damaged.
    pub(super) fn content(&self) -> Option<Vec<u8>> {
        let lines: String = self.lines?.split_ascii_whitespace().collect();
        BASE64.decode(lines).ok()
    }
}
