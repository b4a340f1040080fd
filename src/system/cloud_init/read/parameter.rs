//! Parameters of a header, as Python's `email` reads them (`email/message.py`, `_parseparam` and
//! `get_param`; `email/utils.py`, `decode_params`), step by step: quotes and backslashes are
//! removed as often as there.

use std::borrow::Cow;

use super::sniff::is_space;

/// Value of the parameter `name`, given in lower case; `None` if the header lacks it. Continued and
/// encoded parameters (RFC 2231) may use ASCII, UTF-8 or Latin-1; values in other encodings are
/// returned undecoded.
pub(super) fn parameter(header: &str, name: &str) -> Option<String> {
    let mut continued = Vec::new();
    for (index, piece) in pieces(header).into_iter().enumerate() {
        let (key, value) = named(piece);
        // The first piece is the header's value, which is not unquoted.
        let value = if index == 0 {
            value.into()
        } else {
            unquoted(value)
        };
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

/// Pieces of a header between semicolons outside quotes.
fn pieces(header: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
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

/// Name of a piece in lower case, and its value.
fn named(piece: &str) -> (String, &str) {
    let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
    (
        name.trim_matches(is_space).to_lowercase(),
        value.trim_matches(is_space),
    )
}

/// Removes enclosing quotes or brackets, and backslashes before quotes and backslashes.
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

/// Number of a piece of a continued parameter.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ParameterPiece {
    /// The only piece: `name*`.
    Only,
    /// A numbered piece: `name*1`, `name*1*`.
    Numbered(u64),
}

/// Piece number in a key, if the key is a piece of the parameter `name`.
fn continuation(key: &str, name: &str) -> Option<ParameterPiece> {
    let rest = key.strip_prefix(name)?.strip_prefix('*')?;
    let number = rest.strip_suffix('*').unwrap_or(rest);
    match number.bytes().all(|it| it.is_ascii_digit()) {
        false => None,
        true if number.is_empty() => rest.is_empty().then_some(ParameterPiece::Only),
        true => Some(ParameterPiece::Numbered(number.parse().unwrap_or(u64::MAX))),
    }
}

/// Joins pieces that are in order.
fn joined(pieces: &[(ParameterPiece, Cow<'_, str>, bool)]) -> String {
    let is_extended = pieces.iter().any(|(_, _, is_encoded)| *is_encoded);
    let value: String = pieces
        .iter()
        .map(|(_, value, is_encoded)| {
            if *is_encoded {
                percent_decoded(value)
            } else {
                value.clone()
            }
        })
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

/// Replaces each `%41` by the byte it encodes, one character per byte.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let digits = after
            .get(..2)
            .filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
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

/// Decodes a string that has one byte per character.
fn in_encoding(text: &str, encoding: &str) -> String {
    let bytes: Option<Vec<u8>> = text
        .chars()
        .map(|it| u8::try_from(u32::from(it)).ok())
        .collect();
    let encoding = encoding.to_ascii_lowercase().replace('_', "-");
    match (bytes, encoding.as_str()) {
        (Some(bytes), "utf-8" | "utf8") => String::from_utf8_lossy(&bytes).into_owned(),
        (Some(bytes), "us-ascii" | "ascii") => bytes
            .into_iter()
            .map(|byte| {
                if byte.is_ascii() {
                    char::from(byte)
                } else {
                    '\u{fffd}'
                }
            })
            .collect(),
        (Some(_), "iso-8859-1" | "latin-1" | "latin1") => text.to_owned(),
        _ => unquoted(text).into_owned(),
    }
}
