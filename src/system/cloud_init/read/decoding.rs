//! Decoding of bytes: transfer encodings as Python's `email` decodes them, gzip, and Python's
//! replacement of unencoded text.

use std::io::Read;

use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use flate2::bufread::GzDecoder;

/// Bytes decoded from base64.
pub(super) struct FromBase64 {
    pub(super) bytes: Vec<u8>,
    /// Whether the input was valid base64, padding aside.
    pub(super) is_sound: bool,
}

/// Reason why decompression failed.
#[derive(Debug)]
pub(super) enum NotDecompressed {
    /// The data is not gzip or is damaged. Has the reason.
    Damaged(String),
    /// The decompressed data exceeds the limit.
    TooLarge,
}

/// Decodes base64 (`email._encoded_words.decode_b`): characters outside the alphabet and all after
/// the padding are skipped; if the remaining length is invalid, the text is returned undecoded.
pub(super) fn from_base64(text: &[u8]) -> FromBase64 {
    let (digits, is_sound) = digits_of_base64(text);
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone);
    match GeneralPurpose::new(&STANDARD, config).decode(&digits) {
        Ok(bytes) => FromBase64 { bytes, is_sound },
        Err(_) => {
            let lines = text
                .iter()
                .copied()
                .filter(|byte| !matches!(byte, b'\r' | b'\n'));
            FromBase64 {
                bytes: lines.collect(),
                is_sound: false,
            }
        }
    }
}

/// Base64 digits of a text up to its padding, and whether it has no other characters than line
/// breaks (`binascii.a2b_base64`).
fn digits_of_base64(text: &[u8]) -> (Vec<u8>, bool) {
    let mut digits = Vec::with_capacity(text.len());
    let mut padding = 0;
    let mut is_sound = true;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                digits.push(*byte);
                padding = 0;
            }
            b'=' => {
                padding += 1;
                let in_group = digits.len() % 4;
                if in_group >= 2 && in_group + padding >= 4 {
                    is_sound &= text[at + 1..].iter().all(u8::is_ascii_whitespace);
                    break;
                }
            }
            b'\r' | b'\n' => {}
            _ => is_sound = false,
        }
    }
    (digits, is_sound)
}

/// Decodes quoted-printable (`binascii.a2b_qp`), which never fails: invalid escapes are kept.
pub(super) fn from_quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'=' {
            bytes.push(*byte);
            continue;
        }
        match text[at..] {
            [] => {}
            [b'\r' | b'\n', ..] => {
                let line = text[at..].iter().position(|it| *it == b'\n');
                at = line.map_or(text.len(), |line| at + line + 1);
            }
            [b'=', ..] => {
                bytes.push(b'=');
                at += 1;
            }
            [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(digit(high) << 4 | digit(low));
                at += 2;
            }
            _ => bytes.push(b'='),
        }
    }
    bytes
}

fn digit(hexadecimal: u8) -> u8 {
    match hexadecimal {
        b'0'..=b'9' => hexadecimal - b'0',
        letter => letter.to_ascii_lowercase() - b'a' + 10,
    }
}

/// Decodes uuencode (`email.message._decode_uu`); `None` if Python leaves the text undecoded.
pub(super) fn from_uuencode(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = lines(text);
    lines.find(|line| begins_uuencode(line))?;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for line in lines {
        let (first, _) = line.split_first()?;
        if trim_line(line) == b"end" {
            break;
        }
        // Some encoders write more bytes on a line than its length declares.
        let length = usize::from(first.wrapping_sub(b' ') & 0x3F);
        let written = line.len().min((length * 4 + 5) / 3);
        let decoded = from_uuencoded_line(line).or_else(|| from_uuencoded_line(&line[..written]));
        bytes.extend(decoded?);
    }
    Some(bytes)
}

/// Lines of a text without their line breaks (`bytes.splitlines`).
fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let end = text
            .iter()
            .position(|byte| matches!(byte, b'\r' | b'\n'))
            .unwrap_or(text.len());
        let (line, rest) = text.split_at(end);
        text = match rest {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => rest,
        };
        Some(line)
    })
}

fn trim_line(line: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c');
    let start = line
        .iter()
        .position(|byte| !is_blank(byte))
        .unwrap_or(line.len());
    let end = line
        .iter()
        .rposition(|byte| !is_blank(byte))
        .map_or(start, |last| last + 1);
    &line[start..end]
}

/// Whether the line is `begin`, an octal number as Python's `int` reads it, and a name.
fn begins_uuencode(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"begin ") else {
        return false;
    };
    let mode = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
    let mode = std::str::from_utf8(mode)
        .unwrap_or_default()
        .trim_matches(|it: char| it.is_ascii_whitespace() || it == '\x0b');
    let mode = mode.strip_prefix(['+', '-']).unwrap_or(mode);
    let prefixed = mode.strip_prefix("0o").or_else(|| mode.strip_prefix("0O"));
    let digits = prefixed.map_or(mode, |it| it.strip_prefix('_').unwrap_or(it));
    digits
        .split('_')
        .all(|group| !group.is_empty() && group.bytes().all(|it| matches!(it, b'0'..=b'7')))
}

/// Decodes one line, which begins with its length (`binascii.a2b_uu`); `None` if the line has
/// invalid or excess characters.
fn from_uuencoded_line(line: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = line.split_first()?;
    let length = usize::from(first.wrapping_sub(b' ') & 0x3F);
    let mut bytes = Vec::with_capacity(length);
    let mut bits = 0_u32;
    let mut count = 0;
    let mut at = 0;
    while bytes.len() < length {
        // Trailing blanks may be missing.
        let digit = rest.get(at).copied().unwrap_or(b' ');
        if !(b' '..=b'`').contains(&digit) {
            return None;
        }
        bits = (bits << 6 | u32::from((digit - b' ') & 0x3F)) & 0xFFFF;
        (count, at) = (count + 6, at + 1);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    let trailing = rest.get(at..).unwrap_or_default();
    trailing
        .iter()
        .all(|byte| matches!(byte, b' ' | b'`'))
        .then_some(bytes)
}

/// Bytes that Python's parser makes of unencoded text, which it reads as ASCII
/// (`raw-unicode-escape`): Latin-1 characters become one byte each, other characters an ASCII
/// escape of their code point.
pub(super) fn mangled(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        let number = u32::from(character);
        match u8::try_from(number) {
            Ok(latin) => bytes.push(latin),
            Err(_) if number > 0xFFFF => bytes.extend(format!("\\U{number:08x}").bytes()),
            Err(_) => bytes.extend(format!("\\u{number:04x}").bytes()),
        }
    }
    bytes
}

/// Decompresses gzip with any number of members, up to `max_bytes` (`gzip.GzipFile`).
pub(super) fn decompressed(mut bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, NotDecompressed> {
    let mut all = Vec::new();
    loop {
        let left = max_bytes - all.len() as u64;
        let mut member = GzDecoder::new(bytes);
        let read = member
            .by_ref()
            .take(left + 1)
            .read_to_end(&mut all)
            .map_err(|error| NotDecompressed::Damaged(error.to_string()))?;
        if read as u64 > left {
            return Err(NotDecompressed::TooLarge);
        }
        bytes = member.into_inner();
        // Zero padding may follow a member, as on tapes.
        while let [0, rest @ ..] = bytes {
            bytes = rest;
        }
        if bytes.is_empty() {
            return Ok(all);
        }
    }
}
