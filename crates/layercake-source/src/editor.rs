//! Positions as editors count them.

use super::{LineIndex, offset};

/// Unit in which an editor counts the columns of a line, by the names of the Language Server
/// Protocol (`PositionEncodingKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Characters.
    Utf32,
}

impl ColumnUnit {
    fn len(self, character: char) -> usize {
        match self {
            ColumnUnit::Utf8 => character.len_utf8(),
            ColumnUnit::Utf16 => character.len_utf16(),
            ColumnUnit::Utf32 => 1,
        }
    }
}

/// A position between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditorPosition {
    /// Line, from 0.
    pub line: u32,
    /// Column, from 0, in a [`ColumnUnit`].
    pub column: u32,
}

impl LineIndex {
    /// Position of byte `at` of `text`, which must be the indexed text; `at` begins a character.
    pub fn to_editor(&self, text: &str, at: u32, unit: ColumnUnit) -> EditorPosition {
        let line = self.line_of(at);
        let before = &text[self.line_start(at) as usize..at as usize];
        EditorPosition {
            line: offset(line),
            column: offset(before.chars().map(|character| unit.len(character)).sum()),
        }
    }

    /// Byte of `text`, which must be the indexed text, at a position. As the protocol says, a column
    /// beyond the line is its end; a line beyond the text is the end of the text. A column inside a
    /// character is its start.
    pub fn from_editor(&self, text: &str, position: EditorPosition, unit: ColumnUnit) -> u32 {
        let Some(start) = self.start_of(position.line as usize) else {
            return offset(text.len());
        };
        let line = text[start as usize..]
            .split('\n')
            .next()
            .unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut column = 0;
        for (at, character) in line.char_indices() {
            column += unit.len(character);
            if column > position.column as usize {
                return start + offset(at);
            }
        }
        start + offset(line.len())
    }
}
