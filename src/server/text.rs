//! Places in texts, as LSP counts them: lines, and units of an encoding in a line.

use std::borrow::Cow;
use std::ops::Range as Bytes;

use gen_lsp_types::{Position, PositionEncodingKind, Range};

use crate::source::{Source, offset};

/// Units in which a client counts the characters of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first encoding that the client prefers and that is known; without a preference, UTF-16.
    pub(super) fn chosen(preferred: &[PositionEncodingKind]) -> Self {
        let known = |kind: &PositionEncodingKind| match kind {
            PositionEncodingKind::UTF8 => Some(Self::Utf8),
            PositionEncodingKind::UTF16 => Some(Self::Utf16),
            PositionEncodingKind::UTF32 => Some(Self::Utf32),
            PositionEncodingKind::Custom(_) => None,
        };
        preferred.iter().find_map(known).unwrap_or(Self::Utf16)
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// A text with the beginnings of its lines, which end with `\n`, `\r\n` or `\r`.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Cow<'t, [u32]>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = (0..bytes.len()).filter(|at| is_end(*at));
        Self {
            text,
            starts: [0]
                .into_iter()
                .chain(ends.map(|at| offset(at + 1)))
                .collect(),
            encoding,
        }
    }

    /// As [`Lines::new`], without a scan of the text for each place in it.
    pub(super) fn of(source: &'t Source, encoding: Encoding) -> Self {
        let lines = source.lines();
        if lines.has_lone_return() {
            return Self::new(source.text(), encoding);
        }
        Self {
            text: source.text(),
            starts: lines.starts().into(),
            encoding,
        }
    }

    /// The place of a byte, which is at the beginning of a character.
    pub(super) fn position(&self, byte: usize) -> Position {
        let line = self.starts.partition_point(|start| *start as usize <= byte) - 1;
        let before = &self.text[self.starts[line] as usize..byte];
        let units = before.chars().map(|it| self.encoding.width(it)).sum();
        Position::new(number(line), number(units))
    }

    pub(super) fn range(&self, bytes: Bytes<usize>) -> Range {
        Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// The byte at a place. One beyond the end of its line is the end of the line, and one beyond the
    /// text the end of the text.
    pub(super) fn byte(&self, position: Position) -> usize {
        let start = |line: usize| self.starts.get(line).map(|start| *start as usize);
        let line = position.line as usize;
        let Some(begin) = start(line) else {
            return self.text.len();
        };
        let end = start(line + 1).unwrap_or(self.text.len());
        let line = self.text[begin..end].trim_end_matches(['\r', '\n']);
        let mut units = 0;
        let before = line.chars().take_while(|character| {
            units += self.encoding.width(*character);
            units <= position.character as usize
        });
        begin + before.map(char::len_utf8).sum::<usize>()
    }

    pub(super) fn bytes(&self, range: Range) -> Bytes<usize> {
        let [start, end] = [range.start, range.end].map(|position| self.byte(position));
        start..end.max(start)
    }
}

/// The parts of two texts between their equal beginnings and ends.
pub(super) fn differing_parts(one: &str, other: &str) -> [Bytes<usize>; 2] {
    let same = |(one, other): &(char, char)| one == other;
    let bytes = |(character, _): (char, char)| character.len_utf8();
    let begin = one.chars().zip(other.chars()).take_while(same);
    let start: usize = begin.map(bytes).sum();
    let ends = one[start..].chars().rev().zip(other[start..].chars().rev());
    let end: usize = ends.take_while(same).map(bytes).sum();
    [start..one.len() - end, start..other.len() - end]
}

/// The byte of `to` at which a byte of `from` is: counted from the beginning if it is before the part
/// that differs, from the end if it is behind it, and else at the beginning of that part.
pub(super) fn moved(from: &str, to: &str, byte: usize) -> usize {
    if from == to {
        return byte;
    }
    let [before, after] = differing_parts(from, to);
    if byte <= before.start {
        byte
    } else if byte >= before.end {
        after.end + (byte - before.end)
    } else {
        before.start
    }
}

/// A count as LSP has it; nothing that is read is as long as its limit.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
