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
    /// Kind of its content.
    pub(super) label: &'t str,
    /// Lines between the first and the last; `None` if the last is missing.
    lines: Option<&'t str>,
}

/// Blocks whose first line begins a line of the text, which may be indented, with their numbers.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = (usize, Block<'_>)> {
    let starts = text.match_indices(BEGIN).map(|(at, _)| text.split_at(at));
    starts.enumerate().filter_map(|(number, (before, block))| {
        let before = before.trim_end_matches([' ', '\t']);
        let begins_line = before.is_empty() || before.ends_with('\n');
        begins_line.then(|| (number, Block::parse(&block[BEGIN.len()..])))
    })
}

impl<'t> Block<'t> {
    fn parse(text: &'t str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let label = first.trim_end().trim_end_matches('-').trim_end();
        let (lines, rest) = rest.split_once(END).unzip();
        let last = rest.and_then(|rest| rest.lines().next()).map(str::trim_end);
        let is_closed = last.and_then(|last| last.strip_suffix(DASHES)) == Some(label);
        Self {
            label,
            lines: lines.filter(|_| is_closed),
        }
    }

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
