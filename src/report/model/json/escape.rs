//! JSON text that cannot drive a terminal.

use std::io::{self, Write};

use crate::report::printable::is_harmful;

/// Writes JSON text with more escapes than JSON asks for, since what is meant
/// for programs is looked at in terminals too. Such characters are never
/// outside of strings.
pub(super) struct Escaping<'a> {
    pub(super) out: &'a mut dyn Write,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// serde gives whole stretches of text, so that no character is divided.
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
    /// The bracket behind a number sign is what makes a command of it in the
    /// logs of some CI jobs.
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

/// Fast path: nearly all text has nothing to escape, which whole-slice searches see at once.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.is_ascii() && !bytes.contains(&b'#') && !bytes.contains(&0x7f)
}

/// The characters below a space are escaped already where they are in
/// strings; those outside are line breaks of the layout.
fn needs_escape(character: char) -> bool {
    character > ' ' && is_harmful(character)
}
