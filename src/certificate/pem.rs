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
    /// Whether its header says that it is encrypted.
    pub(super) is_encrypted: bool,
    /// Decoded content; `None` if the block is damaged.
    pub(super) content: Option<Vec<u8>>,
}

/// Blocks whose first line begins a line of the text, which may be indented.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    let starts = text.match_indices(BEGIN).map(|(at, _)| at);
    let begins_line = |at: &usize| text[..*at].trim_end_matches([' ', '\t']).ends_with('\n');
    starts
        .filter(move |at| text[..*at].trim().is_empty() || begins_line(at))
        .filter_map(|start| block(text, start))
}

fn block(text: &str, start: usize) -> Option<Block<'_>> {
    let mut lines = text[start..].lines().map(str::trim);
    let label = lines
        .next()?
        .strip_prefix(BEGIN)?
        .trim_end_matches('-')
        .trim_end();
    let mut body = String::new();
    let mut headers = Vec::new();
    let end = lines.find(|line| {
        if line.contains(':') {
            headers.push(*line);
        } else if !line.starts_with(DASHES) {
            body.push_str(line);
        }
        line.starts_with(DASHES)
    });
    let is_closed = end.is_some_and(|line| {
        line.strip_prefix(END)
            .and_then(|line| line.strip_suffix(DASHES))
            == Some(label)
    });
    Some(Block {
        start,
        label,
        is_encrypted: headers.iter().any(|header| header.ends_with("ENCRYPTED")),
        content: BASE64.decode(body).ok().filter(|_| is_closed),
    })
}
