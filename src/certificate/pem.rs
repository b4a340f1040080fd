//! Blocks of PEM in a text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Start of a block.
pub(crate) const BEGIN: &str = "-----BEGIN ";
const END: &str = "END ";
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

/// Blocks at the start of a line, which may be indented, or of a quoted string, with their numbers.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = (usize, Block<'_>)> {
    let starts = text.match_indices(BEGIN).map(|(at, _)| text.split_at(at));
    starts.enumerate().filter_map(|(number, (before, block))| {
        let before = before.trim_end_matches([' ', '\t']);
        // In JSON, lines end in an escaped character.
        let is_start =
            before.is_empty() || before.ends_with(['\n', '"', '\'']) || before.ends_with("\\n");
        is_start.then(|| (number, Block::parse(&block[BEGIN.len()..])))
    })
}

impl<'t> Block<'t> {
    fn parse(text: &'t str) -> Self {
        let label = text.split(['-', '\n', '\\']).next().unwrap_or_default();
        let rest = text[label.len()..].trim_start_matches('-');
        let label = label.trim_end();
        // Only the next dashes count, so that many blocks without an end are read once.
        let (lines, last) = rest.split_once(DASHES).unzip();
        let is_closed = last
            .and_then(|last| last.strip_prefix(END)?.strip_prefix(label))
            .is_some_and(|rest| rest.starts_with(DASHES));
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
        let lines = self.lines?.replace("\\r", "").replace("\\n", "");
        let lines: String = lines.split_ascii_whitespace().collect();
        BASE64.decode(lines).ok()
    }
}
