//! Places in texts: bytes for the engine, lines and columns for people.

use std::num::NonZeroU32;

use super::FileId;

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
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
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
}

impl LineIndex {
    /// The index of `text`; lines end at `\n`, so `\r\n` and `\n` count alike.
    pub fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| offset(at + 1))).collect();
        Self { starts }
    }

    /// The position of byte `at` of `text`, the text the index was made of.
    pub fn position(&self, text: &str, at: u32) -> Position {
        let line = self.line_of(at);
        let before = &text[self.starts[line] as usize..at as usize];
        Position { line: one_based(line), column: one_based(before.chars().count()) }
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

fn one_based(zero_based: usize) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(offset(zero_based))
}

/// A byte offset as spans hold it. Texts are refused above 4 GiB long before.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("texts are limited to far less than 4 GiB")
}
