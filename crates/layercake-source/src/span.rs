//! Locations in texts: bytes for the engine, lines and columns for people.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::OnceLock;

/// Id of a file with a given content; created by a source map, or by [`FileId::new`] without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// Creates the id with this index.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of a file's text, in bytes of its decoded (UTF-8) form.
///
/// `start` and `end` are always on character boundaries; `start == end` is a position between two
/// characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// File of the range.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of `start..end` in `file`.
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// Creates the empty span before byte `at`.
    pub const fn point(file: FileId, at: u32) -> Self {
        Self::new(file, at, at)
    }

    /// Whether `other` is within this span, in the same file.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// Smallest span that contains both. For spans of different files, it is `other`: in a document
    /// with only some of its edits, a key and its value may come from different files, and the
    /// value is more informative.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return other;
        }
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }

    /// Byte range for slicing the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Input of a merge. Its nodes have numbers in place of spans, so that spans in the result identify
/// nodes of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberedInput {
    /// Data before the merge.
    Before,
    /// Data of the document itself.
    Own,
    /// Document that is read.
    Source,
}

impl NumberedInput {
    const ALL: [Self; 3] = [Self::Before, Self::Own, Self::Source];
    /// Value of `end` for the number of an unchanged input node.
    const NO_PART: u32 = u32::MAX;
    /// Value of `end` for the number of a string into which an unnumbered value was inserted.
    const OTHER_PART: u32 = u32::MAX - 1;

    /// File id that no source map assigns.
    const fn file(self) -> FileId {
        FileId(u32::MAX - self as u32)
    }

    /// Encodes a number as a span.
    pub const fn span(self, number: u32) -> Span {
        Span::new(self.file(), number, Self::NO_PART)
    }
}

impl Span {
    /// Input that this number belongs to; `None` for a span of a text.
    pub fn numbered_input(self) -> Option<NumberedInput> {
        NumberedInput::ALL
            .into_iter()
            .find(|input| input.file() == self.file)
    }

    /// Span of a string after the value at `part` was inserted into it: unchanged for a span of a
    /// text; a number also stores the number of the value.
    #[must_use]
    pub fn with_part(self, part: Span) -> Self {
        if self.numbered_input().is_none() {
            return self;
        }
        let is_numbered = part.numbered_input().is_some();
        Self {
            end: if is_numbered {
                part.start
            } else {
                NumberedInput::OTHER_PART
            },
            ..self
        }
    }

    /// Number of the value that was inserted into the string with this number: `None` if there is
    /// none, `Some(None)` if the value has no number.
    pub fn part(self) -> Option<Option<u32>> {
        match self.end {
            NumberedInput::NO_PART => None,
            NumberedInput::OTHER_PART => Some(None),
            part => Some(Some(part)),
        }
    }
}

/// A value and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// Value at the location.
    pub value: T,
    /// Location of the value.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Creates a value located at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// Line and column for people and reports: both from one, columns in characters. The type prevents
/// zero-based reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from one.
    pub line: NonZeroU32,
    /// Column in characters (Unicode scalar values), from one.
    pub column: NonZeroU32,
}

/// Line index of a text.
#[derive(Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    has_lone_return: bool,
    /// Number of characters before each block of [`BLOCK`] bytes; computed on first use, because
    /// most lines are short.
    characters_before: OnceLock<Vec<u32>>,
}

/// Block size in bytes for counting characters; without blocks, each position in a file with only
/// one line would cost a scan of the file.
const BLOCK: usize = 1 << 10;

impl LineIndex {
    /// Creates the index of `text`; lines end with `\n` or `\r\n`.
    pub fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0)
            .chain(newlines.map(|(at, _)| offset(at + 1)))
            .collect();
        let mut behind_returns = text.split('\r').skip(1);
        Self {
            starts,
            has_lone_return: behind_returns.any(|behind| !behind.starts_with('\n')),
            characters_before: OnceLock::new(),
        }
    }

    /// Position of byte `at` of `text`, which must be the indexed text.
    pub fn position(&self, text: &str, at: u32) -> Position {
        let line = self.line_of(at);
        let before = self.characters(text, self.starts[line]..at);
        Position {
            line: one_based(line),
            column: one_based(before),
        }
    }

    /// Offset of the first byte of the line that contains byte `at`.
    pub fn line_start(&self, at: u32) -> u32 {
        self.starts[self.line_of(at)]
    }

    /// Number of characters in a range of `text`, which must be the indexed text.
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

    /// Zero-based number of the line that contains byte `at`.
    pub fn line_of(&self, at: u32) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// Offset of the first byte of the zero-based `line`, if it exists.
    pub fn start_of(&self, line: usize) -> Option<u32> {
        self.starts.get(line).copied()
    }

    /// Offset of the first byte of each line.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Whether the text has a `\r` without `\n`, which ends a line in YAML and LSP, but not here.
    pub fn has_lone_return(&self) -> bool {
        self.has_lone_return
    }

    /// Number of lines; an empty text has one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}

/// Number of characters before each block of `text`, and in total.
fn blocks(text: &str) -> Vec<u32> {
    let counts = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
        *before += beginning(block);
        Some(offset(*before))
    });
    std::iter::once(0).chain(counts).collect()
}

/// Number of characters that begin in these bytes of UTF-8, which may begin inside a character.
fn beginning(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .filter(|byte| (**byte & 0b1100_0000) != 0b1000_0000)
        .count()
}

fn one_based(zero_based: usize) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(offset(zero_based))
}

/// Converts a byte offset to the type used in spans. Texts are limited far below 4 GiB.
///
/// # Panics
/// Above 4 GiB.
pub fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("texts are limited to far less than 4 GiB")
}
