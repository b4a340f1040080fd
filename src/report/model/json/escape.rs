//! Escaping of JSON for terminals.

use std::io::{self, Write};

use crate::report::printable::is_harmful;

/// Writes JSON with more escapes than required, since it may be displayed in a terminal. The
/// escaped characters occur only inside of strings.
pub(super) struct Escaping<'a> {
    pub(super) out: &'a mut dyn Write,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// `serde_json` writes complete strings, so no character is split between calls.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if is_plain(bytes) {
            return self.out.write_all(bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains("##") || text.contains(needs_escape) => {
                self.write_escaped(text)
            }
            Ok(_) | Err(_) => self.out.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Escaping<'_> {
    /// Escapes the bracket after `##`, which starts a command in some CI logs.
    fn write_escaped(&mut self, text: &str) -> io::Result<()> {
        let mut text = text.to_owned();
        for word in ["##[", "##vso[", "##teamcity["] {
            text = text.replace(word, &word.replace('[', "\\u005b"));
        }
        for part in text.split_inclusive(needs_escape) {
            let plain = part.trim_end_matches(needs_escape);
            self.out.write_all(plain.as_bytes())?;
            for unit in part[plain.len()..].encode_utf16() {
                write!(self.out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// Fast path: most strings need no escapes, which is found by searching the whole slice.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.is_ascii() && !bytes.contains(&b'#') && !bytes.contains(&0x7f)
}

/// Whether a character needs an escape. Characters below U+0020 are already escaped inside of
/// strings; outside they are line breaks of the layout.
fn needs_escape(character: char) -> bool {
    character > ' ' && is_harmful(character)
}
