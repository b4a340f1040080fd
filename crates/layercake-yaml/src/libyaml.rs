//! Validation by libyaml where granit-parser is known to differ.
//!
//! granit-parser implements YAML 1.2, which is slightly more permissive than the libyaml used by
//! Deckhand. A translation of libyaml is available as `serde_yaml`, but running it on every file
//! would double the cost of parsing. It is used only for documents marked as odd by the parser or
//! with [odd characters](has_odd_characters); a test with mutated texts checks that this is
//! sufficient.

use std::borrow::Cow;
use std::ops::Range;

use layercake_source::{FileId, Span, offset};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::read::{DocumentExtent, ReadDocuments};
use super::{YamlProblem, YamlProblemKind};

/// Removes the documents that libyaml rejects from `read`, adding a problem for each, unless
/// `passes` accepts the message. `text` begins at byte `base` of the file.
pub(super) fn review(
    file: FileId,
    base: u32,
    text: &str,
    passes: fn(&str) -> bool,
    read: &mut ReadDocuments,
) {
    let problems = &mut read.parsed.problems;
    let before = problems.len();
    let mut is_refused = |range: &Range<usize>| {
        let refusal = refusal(&text[range.clone()]).filter(|(_, message)| !passes(message));
        let Some((at, message)) = refusal else { return false };
        let span = Span::point(file, base + offset(range.start + at));
        problems.push(YamlProblem { span, kind: YamlProblemKind::RefusedByLibyaml(message) });
        true
    };
    if read.extents.is_empty() && before == 0 {
        is_refused(&(0..text.len()));
    }
    let mut extents = read.extents.iter();
    read.parsed.documents.retain(|_| {
        let DocumentExtent { range, is_odd } = extents.next().expect("each document has an extent");
        let may_differ = *is_odd || has_odd_characters(&text[range.clone()]);
        !(may_differ && is_refused(range))
    });
    if problems.len() > before {
        problems.sort_by_key(|problem| problem.span);
    }
}

/// Position and reason if libyaml rejects a text.
fn refusal(text: &str) -> Option<(usize, String)> {
    let narrow = narrow(text);
    for document in serde_yaml::Deserializer::from_str(&narrow) {
        let Err(error) = IgnoredAny::deserialize(document) else { continue };
        let message = error.to_string();
        // A limit of `serde_yaml` that libyaml does not have; the document has been parsed up to
        // this depth.
        if message.starts_with("recursion limit exceeded") {
            continue;
        }
        let stop = error.location().map_or(0, |location| location.index());
        return Some((widened(text, stop), message));
    }
    None
}

/// Replaces multi-byte characters by `^`, unless they are odd. libyaml counts characters, its
/// translation bytes, so a key of 1,024 bytes would be too long. `^` has no special meaning in
/// YAML: it is not an indicator, and not allowed in names and tags.
fn narrow(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    text.chars().map(|character| if is_wide(character) { '^' } else { character }).collect()
}

/// Byte offset in a text for byte `at` of its [`narrow`] form.
fn widened(text: &str, at: usize) -> usize {
    let mut passed = 0;
    let found = text.char_indices().find(|(_, character)| {
        let is_behind = passed >= at;
        passed += if is_wide(*character) { 1 } else { character.len_utf8() };
        is_behind
    });
    found.map_or(text.len(), |(at, _)| at)
}

fn is_wide(character: char) -> bool {
    let mut bytes = [0; 4];
    let bytes = character.encode_utf8(&mut bytes).as_bytes();
    bytes.len() > 1 && !is_odd_character(bytes, 0)
}

/// Whether there are characters that libyaml rejects, or that only one of the parsers treats as
/// white space or as a directive.
fn has_odd_characters(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut words = bytes.chunks_exact(8).enumerate();
    let is_odd =
        |from: usize| (from..bytes.len().min(from + 8)).any(|at| is_odd_character(bytes, at));
    let in_words = words.any(|(number, word)| {
        let word = u64::from_le_bytes(word.try_into().expect("a chunk has 8 bytes"));
        may_have_odd_character(word) && is_odd(number * 8)
    });
    in_words || is_odd(bytes.len() / 8 * 8)
}

/// Whether a byte is above ASCII, a control character other than `\n`, or `%`. Tests eight bytes at
/// once by their high bits, because released programs are not vectorized.
fn may_have_odd_character(word: u64) -> bool {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = EACH * 0x80;
    /// High bit of each byte that is zero or above ASCII, without a carry into the next byte.
    fn zeros(word: u64) -> u64 {
        !((word & !HIGH) + !HIGH) & HIGH
    }
    let is_below_space = !((word & !HIGH) + EACH * 0x60) & HIGH;
    let is_control = is_below_space & !zeros(word ^ (EACH * 0x0A));
    (word & HIGH | is_control | zeros(word ^ (EACH * 0x25)) | zeros(word ^ (EACH * 0x7F))) != 0
}

fn is_odd_character(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\n' | b'\r' => false,
        0..=0x1F | 0x7F => true,
        b'%' => at == 0 || matches!(bytes[at - 1], b'\n' | b'\r'),
        // Control characters.
        0xC2 => bytes[at + 1] < 0xA0,
        // U+2028 and U+2029, line breaks in YAML 1.1.
        0xE2 => matches!(bytes[at + 1..], [0x80, 0xA8 | 0xA9, ..]),
        // Byte order mark, U+FFFE and U+FFFF.
        0xEF => matches!(bytes[at + 1..], [0xBB, 0xBF, ..] | [0xBF, 0xBE | 0xBF, ..]),
        _ => false,
    }
}
