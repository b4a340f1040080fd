//! A parameter of a header, as Python's `email` reads it (`email/message.py`,
//! `_parseparam` and `get_param`; `email/utils.py`, `decode_params`), step by step:
//! quotes and backslashes are taken off as often as it does that.

use std::borrow::Cow;

use super::sniff::is_space;

/// The value of the parameter `name`, which is given in lower case; none where the header has none.
/// Of parameters in pieces or in an encoding (RFC 2231) the encodings ASCII, UTF-8 and Latin-1 are
/// known: a value in another one is taken as it is.
pub(super) fn parameter(header: &str, name: &str) -> Option<String> {
    let mut continued = Vec::new();
    for (index, piece) in pieces(header).into_iter().enumerate() {
        let (key, value) = named(piece);
        // What comes first is the header's value, and is not looked into.
        let value = if index == 0 { value.into() } else { unquoted(value) };
        if key == name {
            return Some(unquoted(&unquoted(&value)).into_owned());
        }
        if let Some(number) = (index > 0).then(|| continuation(&key, name)).flatten() {
            continued.push((number, value, key.ends_with('*')));
        }
    }
    continued.sort();
    (!continued.is_empty()).then(|| joined(&continued))
}

/// The parts of a header between its semicolons; those in quotes are none.
fn pieces(header: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut is_quoted) = (Vec::new(), 0, false);
    let mut before = None;
    for (at, character) in header.char_indices() {
        match character {
            '"' if before != Some('\\') => is_quoted = !is_quoted,
            ';' if !is_quoted => {
                pieces.push(&header[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = Some(character);
    }
    pieces.push(&header[start..]);
    pieces
}

/// A part's name in lower case, and its value.
fn named(piece: &str) -> (String, &str) {
    let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
    (name.trim_matches(is_space).to_lowercase(), value.trim_matches(is_space))
}

/// Without the quotes or brackets around it, and the backslashes before quotes
/// and backslashes.
fn unquoted(text: &str) -> Cow<'_, str> {
    let inner = |open, close| {
        let inner = text.strip_prefix(open)?.strip_suffix(close);
        inner.filter(|_| text.len() > 1)
    };
    match inner('"', '"') {
        Some(inner) => inner.replace(r"\\", r"\").replace(r#"\""#, "\"").into(),
        None => inner('<', '>').unwrap_or(text).into(),
    }
}

/// Number of the piece of a parameter that a key is for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ParameterPiece {
    /// The only one: `name*`.
    Only,
    /// The one of this number: `name*1`, `name*1*`.
    Numbered(u64),
}

/// The piece of the parameter `name` that a key is for, if it is for one.
fn continuation(key: &str, name: &str) -> Option<ParameterPiece> {
    let rest = key.strip_prefix(name)?.strip_prefix('*')?;
    let number = rest.strip_suffix('*').unwrap_or(rest);
    match number.bytes().all(|it| it.is_ascii_digit()) {
        false => None,
        true if number.is_empty() => rest.is_empty().then_some(ParameterPiece::Only),
        true => Some(ParameterPiece::Numbered(number.parse().unwrap_or(u64::MAX))),
    }
}

/// The value of pieces in their order.
fn joined(pieces: &[(ParameterPiece, Cow<'_, str>, bool)]) -> String {
    let is_extended = pieces.iter().any(|(_, _, is_encoded)| *is_encoded);
    let value: String = pieces
        .iter()
        .map(
            |(_, value, is_encoded)| {
                if *is_encoded { percent_decoded(value) } else { value.clone() }
            },
        )
        .collect();
    let value = value.replace('\\', r"\\").replace('"', r#"\""#);
    if !is_extended {
        return unquoted(&unquoted(&format!("\"{value}\""))).into_owned();
    }
    let mut parts = value.splitn(3, '\'');
    let (encoding, text) = match (parts.next(), parts.next(), parts.next()) {
        (Some(encoding), Some(_), Some(text)) => (encoding, text),
        _ => ("us-ascii", &*value),
    };
    in_encoding(&unquoted(&format!("\"{text}\"")), encoding)
}

/// Replaces each `%41` by the byte it encodes, one character a byte.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let digits = after.get(..2).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(char::from(byte));
                rest = &after[2..];
            }
            None => {
                decoded.push('%');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded.into()
}

/// A text whose characters are bytes, as the text that they are in an encoding.
fn in_encoding(text: &str, encoding: &str) -> String {
    let bytes: Option<Vec<u8>> = text.chars().map(|it| u8::try_from(u32::from(it)).ok()).collect();
    let encoding = encoding.to_ascii_lowercase().replace('_', "-");
    match (bytes, encoding.as_str()) {
        (Some(bytes), "utf-8" | "utf8") => String::from_utf8_lossy(&bytes).into_owned(),
        (Some(bytes), "us-ascii" | "ascii") => bytes
            .into_iter()
            .map(|byte| if byte.is_ascii() { char::from(byte) } else { '\u{fffd}' })
            .collect(),
        (Some(_), "iso-8859-1" | "latin-1" | "latin1") => text.to_owned(),
        _ => unquoted(text).into_owned(),
    }
}
