//! Places in texts: bytes for the engine, lines and columns for people.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::OnceLock;

/// One path and one content; made by a source map, or by [`FileId::new`] where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// The file with this index.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The file's index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A stretch of one file's text, in bytes of its decoded (UTF-8) form.
///
/// `start..end` always lies on character boundaries; `start == end` marks a
/// place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of `start..end` in `file`.
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The place just before byte `at`.
    pub const fn point(file: FileId, at: u32) -> Self {
        Self::new(file, at, at)
    }

    /// Whether `other` lies within this span, in the same file.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that holds both. Spans of two files have none; then
    /// it is `other`: a document with only some of its edits may have a key
    /// from one file and its value from another, and the value tells more.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return other;
        }
        Span::new(self.file, self.start.min(other.start), self.end.max(other.end))
    }

    /// The bytes as a range, to slice the file's text with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Input of a merge whose nodes have numbers in place of spans, so that the spans in the result
/// identify the node of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberedInput {
    /// The data before the merge.
    Before,
    /// The document's own data.
    Own,
    /// The document that is read.
    Source,
}

impl NumberedInput {
    const ALL: [Self; 3] = [Self::Before, Self::Own, Self::Source];
    /// `end` of the number of a node as it was in the input.
    const NO_PART: u32 = u32::MAX;
    /// `end` of the number of a string into which an unnumbered value was put.
    const OTHER_PART: u32 = u32::MAX - 1;

    /// File id that no source map assigns.
    const fn file(self) -> FileId {
        FileId(u32::MAX - self as u32)
    }

    /// The span that stands for a number.
    pub const fn span(self, number: u32) -> Span {
        Span::new(self.file(), number, Self::NO_PART)
    }
}

impl Span {
    /// The input that this number belongs to; none for the span of a text.
    pub fn numbered_input(self) -> Option<NumberedInput> {
        NumberedInput::ALL.into_iter().find(|input| input.file() == self.file)
    }

    /// Span of a string after the value at `part` was put into it: unchanged for the span of a text;
    /// a number also stores the number of the value.
    #[must_use]
    pub fn with_part(self, part: Span) -> Self {
        if self.numbered_input().is_none() {
            return self;
        }
        let is_numbered = part.numbered_input().is_some();
        Self { end: if is_numbered { part.start } else { NumberedInput::OTHER_PART }, ..self }
    }

    /// Number of the value that was put into the string with this number: `None` if nothing was,
    /// `Some(None)` if the value has no number.
    pub fn part(self) -> Option<Option<u32>> {
        match self.end {
            NumberedInput::NO_PART => None,
            NumberedInput::OTHER_PART => Some(None),
            part => Some(Some(part)),
        }
    }
}

/// A value and the text it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// Line and column as people and reports count them: both from one, columns
/// in characters. The type makes a zero-based report impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from one.
    pub line: NonZeroU32,
    /// Column in characters (Unicode scalar values), from one.
    pub column: NonZeroU32,
}

/// Where the lines of one text begin.
#[derive(Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// How many characters begin before each block of so many bytes; counted when
    /// first asked for, since lines are seldom so long.
    characters_before: OnceLock<Vec<u32>>,
}

/// Characters are counted one by one in stretches of this many bytes only: where
/// all of a file is on one line, each of its places would else cost as much as it.
const BLOCK: usize = 1 << 10;

impl LineIndex {
    /// The index of `text`; lines end at `\n`, so `\r\n` and `\n` count alike.
    pub fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| offset(at + 1))).collect();
        Self { starts, characters_before: OnceLock::new() }
    }

    /// The position of byte `at` of `text`, the text the index was made of.
    pub fn position(&self, text: &str, at: u32) -> Position {
        let line = self.line_of(at);
        let before = self.characters(text, self.starts[line]..at);
        Position { line: one_based(line), column: one_based(before) }
    }

    /// The first byte of the line that byte `at` stands on.
    pub fn line_start(&self, at: u32) -> u32 {
        self.starts[self.line_of(at)]
    }

    /// How many characters are in a stretch of `text`, the text the index was made
    /// of.
    pub fn characters(&self, text: &str, stretch: Range<u32>) -> usize {
        let stretch = stretch.start as usize..stretch.end as usize;
        if stretch.len() <= BLOCK {
            return text[stretch].chars().count();
        }
        self.characters_before(text, stretch.end) - self.characters_before(text, stretch.start)
    }

    fn characters_before(&self, text: &str, at: usize) -> usize {
        let before = self.characters_before.get_or_init(|| blocks(text));
        let block = at / BLOCK;
        before[block] as usize + beginning(&text.as_bytes()[block * BLOCK..at])
    }

    /// The zero-based number of the line that byte `at` stands on.
    pub fn line_of(&self, at: u32) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The first byte of zero-based `line`, if there is such a line.
    pub fn start_of(&self, line: usize) -> Option<u32> {
        self.starts.get(line).copied()
    }

    /// How many lines there are; an empty text has one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}

/// How many characters begin before each block of `text`, and before its end.
fn blocks(text: &str) -> Vec<u32> {
    let counts = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
        *before += beginning(block);
        Some(offset(*before))
    });
    std::iter::once(0).chain(counts).collect()
}

/// How many characters begin in these bytes of UTF-8, of which the first may be in
/// the middle of one.
fn beginning(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0b1100_0000) != 0b1000_0000).count()
}

fn one_based(zero_based: usize) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(offset(zero_based))
}

/// A byte offset as spans hold it. Texts are refused above 4 GiB long before.
///
/// # Panics
/// Above 4 GiB.
pub fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("texts are limited to far less than 4 GiB")
}
