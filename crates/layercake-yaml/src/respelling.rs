//! Placeholders and escapes in text that only PyYAML's own scanner reads.

use std::borrow::Cow;
use std::ops::Range;

use super::BYTE_ORDER_MARK;

/// Placeholder for a byte order mark that this scanner reads as text: a noncharacter of the same
/// length in UTF-8.
pub(super) const MARK: char = '\u{FDD0}';

/// Fills the place of a longer escape; it is removed from the value.
pub(super) const FILLER: char = '\u{10FFFF}';

/// The value of a scalar in a respelled text.
pub(super) fn original(value: Cow<'_, str>) -> Cow<'_, str> {
    if !value.contains([MARK, FILLER]) {
        return value;
    }
    value
        .replace(MARK, BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]))
        .replace(FILLER, "")
        .into()
}

/// Escape of a surrogate.
pub(super) struct SurrogateEscape {
    pub(crate) range: Range<usize>,
    pub(crate) code: u16,
}

impl SurrogateEscape {
    /// Character that YAML 1.2 reads for this escape and the next one.
    pub(super) fn combine(&self, next: &SurrogateEscape) -> Option<char> {
        let are_short = self.range.len() == 6 && next.range.len() == 6;
        let pair = char::decode_utf16([self.code, next.code]).next()?.ok();
        pair.filter(|_| are_short && self.range.end == next.range.start)
    }

    /// Escape of U+FFFD with the same length.
    pub(super) fn replacement(&self) -> &'static str {
        if self.range.len() == 6 {
            "\\uFFFD"
        } else {
            "\\U0000FFFD"
        }
    }
}

/// Escapes of surrogates in the text of a double-quoted scalar.
pub(super) fn surrogate_escapes(written: &str) -> Vec<SurrogateEscape> {
    let mut escapes = Vec::new();
    let mut at = 0;
    while let Some(found) = written[at..].find('\\') {
        let start = at + found;
        let digits = match written.as_bytes().get(start + 1) {
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let range = start..start + 2 + digits;
        let digits = written.get(start + 2..range.end);
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let Some(code) = code.and_then(|code| u16::try_from(code).ok())
            && (0xD800..0xE000).contains(&code)
        {
            escapes.push(SurrogateEscape { range, code });
        }
        // The escaped character may be a backslash, or longer than a byte.
        at = start
            + 1
            + written[start + 1..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
    }
    escapes
}
