//! Fast path for plain YAML, the form of nearly all files.
//!
//! It reads block mappings and lists, scalars, flow collections on one line, and comments, and
//! passes them to the same reader as the events of granit-parser, with the same ranges. Anything
//! else (anchors, aliases, tags, explicit keys, rare escapes, and all errors) is left to
//! granit-parser, which then reads the file from its beginning.

use std::borrow::Cow;
use std::ops::Range;

use layercake_source::FileId;

use super::libyaml::has_odd_characters;
use super::read::YamlReader;
use super::{Loader, Parsed};

/// Maximum nesting depth, below that of all parsers.
const MAX_DEPTH: usize = 200;

/// Maximum length of a key in bytes, below that of all parsers.
const MAX_KEY_BYTES: usize = 1000;

/// Parses `text`, which begins at byte `base` of the file, like libyaml; `None` if it is not plain.
pub(super) fn read(file: FileId, base: u32, text: &str) -> Option<Parsed> {
    if has_odd_characters(text) || text.contains('\r') {
        return None;
    }
    let mut scanner = PlainScanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        levels: Vec::new(),
        pending: None,
        block: String::new(),
        reader: YamlReader::new(file, base, text, Loader::Libyaml),
    };
    scanner.stream()?;
    let reader = scanner.reader;
    (reader.has_started() && !reader.is_odd()).then(|| reader.finish())
}

struct PlainScanner<'text> {
    text: &'text str,
    bytes: &'text [u8],
    at: usize,
    /// Start of the current line.
    line: usize,
    /// Open block collections.
    levels: Vec<Level>,
    /// Node that the next line may contain.
    pending: Option<Pending>,
    /// Buffer for the contents of block scalars.
    block: String,
    reader: YamlReader<'text>,
}

#[derive(Clone, Copy)]
struct Level {
    column: usize,
    kind: LevelKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LevelKind {
    Mapping,
    Sequence,
    /// List at the column of the key above it.
    UnindentedSequence,
}

#[derive(Clone, Copy)]
enum Pending {
    /// Root of a document; where it is if it is missing.
    Root(usize),
    /// Value of a key, with the offset after the colon.
    Value(usize),
    Item,
}

/// Plain or quoted scalar.
struct InlineScalar<'text> {
    text: Cow<'text, str>,
    range: Range<usize>,
    is_plain: bool,
}

/// Further line of a scalar.
struct Continuation {
    /// Number of line breaks before it.
    breaks: usize,
    line: usize,
    /// Start of its text.
    at: usize,
}

impl Continuation {
    /// Text for the line breaks before it.
    fn folded(&self) -> impl Iterator<Item = char> + use<> {
        let (character, times) = match self.breaks {
            1 => (' ', 1),
            breaks => ('\n', breaks - 1),
        };
        std::iter::repeat_n(character, times)
    }
}

/// Chomping of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl<'text> PlainScanner<'text> {
    fn stream(&mut self) -> Option<()> {
        while self.at < self.bytes.len() {
            self.line = self.at;
            self.skip_blanks();
            match self.bytes.get(self.at) {
                None | Some(b'\n' | b'#') => self.end_line()?,
                Some(b'-') if self.is_marker(b"---") => {
                    self.end_document()?;
                    self.reader.start_document(self.at..self.at + 3, true);
                    self.at += 3;
                    self.pending = Some(Pending::Root(self.at));
                    self.end_line()?;
                }
                Some(b'.') if self.is_marker(b"...") => {
                    if !self.reader.is_in_document() {
                        return None;
                    }
                    self.end_document()?;
                    self.at += 3;
                    self.end_line()?;
                }
                Some(_) => self.entry()?,
            }
        }
        self.end_document()
    }

    fn is_marker(&self, marker: &[u8]) -> bool {
        self.at == self.line
            && self.bytes[self.at..].starts_with(marker)
            && self.ends_word(self.at + marker.len())
    }

    /// Whether a blank, a line break or the end of the text is at byte `at`.
    fn ends_word(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), None | Some(b' ' | b'\n'))
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    /// Reads the rest of a line: blanks and a comment.
    fn end_line(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b'#') {
            if self.at > self.line && self.bytes[self.at - 1] != b' ' {
                return None;
            }
            let end = self.end_of_line(self.at);
            self.reader.comment(self.at..end);
            self.at = end;
        }
        match self.bytes.get(self.at) {
            None => Some(()),
            Some(b'\n') => {
                self.at += 1;
                Some(())
            }
            Some(_) => None,
        }
    }

    fn end_of_line(&self, at: usize) -> usize {
        let length = self.text[at..].find('\n');
        length.map_or(self.bytes.len(), |length| at + length)
    }

    fn end_document(&mut self) -> Option<()> {
        self.end_missing()?;
        for _ in self.levels.drain(..) {
            self.reader.end_collection(0..0);
        }
        self.reader.end_document();
        Some(())
    }

    /// Ends the pending node without a value.
    fn end_missing(&mut self) -> Option<()> {
        match self.pending.take() {
            None => Some(()),
            Some(Pending::Root(at) | Pending::Value(at)) => {
                self.reader.untagged_scalar("", true, at..at);
                Some(())
            }
            Some(Pending::Item) => None,
        }
    }

    /// Reads a line with an item or a key.
    fn entry(&mut self) -> Option<()> {
        if !self.reader.is_in_document() {
            self.reader.start_document(self.at..self.at, false);
            self.pending = Some(Pending::Root(self.at));
        }
        let is_item = self.is_item();
        let column = self.at - self.line;
        let opened = self.opened_by(column, is_item);
        if opened.is_none() {
            self.close_levels(column, is_item)?;
        }
        if is_item {
            self.items(opened)
        } else {
            let scalar = self.scalar()?;
            if opened.is_some() && !self.levels.is_empty() && !self.is_colon() {
                return self.scalar_value(scalar);
            }
            self.key(&scalar, opened.is_some())
        }
    }

    fn is_item(&self) -> bool {
        self.bytes.get(self.at) == Some(&b'-') && self.ends_word(self.at + 1)
    }

    /// Kind of the collection that an item or a key opens, as the pending node.
    fn opened_by(&mut self, column: usize, is_item: bool) -> Option<LevelKind> {
        self.pending?;
        let opened = match self.levels.last() {
            Some(top) if column < top.column => None,
            Some(top) if column == top.column => {
                (is_item && top.kind == LevelKind::Mapping).then_some(LevelKind::UnindentedSequence)
            }
            _ if is_item => Some(LevelKind::Sequence),
            _ => Some(LevelKind::Mapping),
        };
        if opened.is_some() {
            self.pending = None;
        }
        opened
    }

    /// Closes the collections that end before an item or a key of an open collection.
    fn close_levels(&mut self, column: usize, is_item: bool) -> Option<()> {
        self.end_missing()?;
        loop {
            let top = *self.levels.last()?;
            let continues = column == top.column && is_item == (top.kind != LevelKind::Mapping);
            if continues {
                return Some(());
            }
            let ends = column < top.column
                || column == top.column && top.kind == LevelKind::UnindentedSequence;
            if !ends {
                return None;
            }
            self.levels.pop();
            self.reader.end_collection(0..0);
        }
    }

    fn open(&mut self, column: usize, kind: LevelKind, start: usize) -> Option<()> {
        if self.levels.len() >= MAX_DEPTH {
            return None;
        }
        self.levels.push(Level { column, kind });
        match kind {
            LevelKind::Mapping => self.reader.start_mapping(start..start),
            LevelKind::Sequence | LevelKind::UnindentedSequence => {
                self.reader.start_sequence(start..start);
            }
        }
        Some(())
    }

    /// Reads `-` and what follows it on the line, which may be further items.
    fn items(&mut self, mut opened: Option<LevelKind>) -> Option<()> {
        loop {
            let dash = self.at;
            self.at += 1;
            self.skip_blanks();
            let is_empty = matches!(self.bytes.get(self.at), None | Some(b'\n' | b'#'));
            if let Some(kind) = opened {
                // granit-parser reports an unindented list behind its first dash.
                let start = match kind {
                    LevelKind::UnindentedSequence if is_empty => self.end_of_line(self.at),
                    LevelKind::UnindentedSequence => self.at,
                    LevelKind::Sequence | LevelKind::Mapping => dash,
                };
                self.open(dash - self.line, kind, start)?;
            }
            if is_empty {
                self.pending = Some(Pending::Item);
                return self.end_line();
            }
            if !self.is_item() {
                break;
            }
            opened = Some(LevelKind::Sequence);
        }
        match self.bytes[self.at] {
            b'|' | b'>' | b'[' | b'{' => self.value(),
            _ => {
                let scalar = self.scalar()?;
                if self.is_colon() {
                    return self.key(&scalar, true);
                }
                self.scalar_value(scalar)
            }
        }
    }

    fn push(&mut self, scalar: &InlineScalar<'text>) {
        let range = scalar.range.clone();
        self.reader
            .untagged_scalar(&scalar.text, scalar.is_plain, range);
    }

    fn is_colon(&self) -> bool {
        self.bytes.get(self.at) == Some(&b':') && self.ends_word(self.at + 1)
    }

    /// Reads the colon and the value of a key, the first of a new mapping if `is_first`.
    fn key(&mut self, key: &InlineScalar<'text>, is_first: bool) -> Option<()> {
        let is_valid = key.range.len() <= MAX_KEY_BYTES && key.range.start >= self.line;
        if !self.is_colon() || !is_valid {
            return None;
        }
        if is_first {
            let start = key.range.start;
            self.open(start - self.line, LevelKind::Mapping, start)?;
        }
        self.push(key);
        self.at += 1;
        let after = self.at;
        self.skip_blanks();
        if matches!(self.bytes.get(self.at), None | Some(b'\n' | b'#')) {
            self.pending = Some(Pending::Value(after));
            return self.end_line();
        }
        self.value()
    }

    /// Reads a value up to the end of its last line.
    fn value(&mut self) -> Option<()> {
        match self.bytes[self.at] {
            b'|' | b'>' => self.block_scalar(),
            b'[' | b'{' => {
                self.flow(0)?;
                self.end_line()
            }
            _ => {
                let scalar = self.scalar()?;
                self.scalar_value(scalar)
            }
        }
    }

    /// Adds a scalar that is not a key, with the further lines of a plain one.
    fn scalar_value(&mut self, mut scalar: InlineScalar<'text>) -> Option<()> {
        while scalar.is_plain && self.bytes.get(self.at) == Some(&b'\n') {
            let Some(next) = self.continuation(self.at) else {
                break;
            };
            if self.bytes[next.at] == b'#' {
                break;
            }
            self.line = next.line;
            self.at = next.at;
            let more = self.plain_in_block();
            let text = scalar.text.to_mut();
            text.extend(next.folded());
            text.push_str(&more.text);
            scalar.range.end = more.range.end;
        }
        self.push(&scalar);
        self.end_line()
    }

    /// Next line with text after the line break at byte `at`, if it may continue a scalar.
    fn continuation(&self, at: usize) -> Option<Continuation> {
        let column = self.levels.last()?.column;
        let mut next = Continuation {
            breaks: 0,
            line: at,
            at,
        };
        while let byte @ (b' ' | b'\n') = self.bytes.get(next.at)? {
            next.at += 1;
            if *byte == b'\n' {
                next.breaks += 1;
                next.line = next.at;
            }
        }
        (next.at > next.line + column).then_some(next)
    }

    /// Reads a scalar in a block context, and the blanks after it.
    fn scalar(&mut self) -> Option<InlineScalar<'text>> {
        match self.bytes[self.at] {
            quote @ (b'"' | b'\'') => self.quoted(quote),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%'
            | b'@' | b'`' | b'?' | b':' => None,
            b'-' if self.ends_word(self.at + 1) => None,
            _ => Some(self.plain_in_block()),
        }
    }

    fn plain_in_block(&mut self) -> InlineScalar<'text> {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => break,
                b':' if self.ends_word(self.at + 1) => break,
                b'#' if self.bytes[self.at - 1] == b' ' => break,
                _ => self.at += 1,
            }
        }
        self.plain(start)
    }

    /// Plain scalar from byte `start` to the current one, without the blanks before it.
    fn plain(&self, start: usize) -> InlineScalar<'text> {
        let text = self.text[start..self.at].trim_end_matches(' ');
        InlineScalar {
            text: text.into(),
            range: start..start + text.len(),
            is_plain: true,
        }
    }

    /// Reads a quoted scalar without rare escapes, and the blanks after it.
    fn quoted(&mut self, quote: u8) -> Option<InlineScalar<'text>> {
        let start = self.at;
        self.at += 1;
        let mut has_escapes = false;
        let mut from = self.at;
        let mut lines = String::new();
        loop {
            let next = self.bytes.get(self.at + 1);
            match *self.bytes.get(self.at)? {
                b'\n' => {
                    lines.push_str(self.text[from..self.at].trim_end_matches(' '));
                    let next = self.continuation(self.at)?;
                    lines.extend(next.folded());
                    self.line = next.line;
                    self.at = next.at;
                    from = next.at;
                }
                b'\\' if quote == b'"' => {
                    next.filter(|escaped| b"nt\"\\".contains(escaped))?;
                    has_escapes = true;
                    self.at += 2;
                }
                b'\'' if quote == b'\'' && next == Some(&quote) => {
                    has_escapes = true;
                    self.at += 2;
                }
                byte if byte == quote => break,
                _ => self.at += 1,
            }
        }
        let end = self.at;
        let mut text = Cow::from(&self.text[from..end]);
        if from > start + 1 {
            lines.push_str(&text);
            text = lines.into();
        }
        if has_escapes {
            text = unescaped(&text, quote).into();
        }
        self.at += 1;
        self.skip_blanks();
        Some(InlineScalar {
            text,
            range: start..end + 1,
            is_plain: false,
        })
    }

    /// Reads a flow collection on one line.
    fn flow(&mut self, depth: usize) -> Option<()> {
        let opener = self.at..self.at + 1;
        let is_mapping = self.bytes[self.at] == b'{';
        let closer = if is_mapping { b'}' } else { b']' };
        if self.levels.len() + depth >= MAX_DEPTH {
            return None;
        }
        if is_mapping {
            self.reader.start_mapping(opener);
        } else {
            self.reader.start_sequence(opener);
        }
        self.at += 1;
        self.skip_blanks();
        while *self.bytes.get(self.at)? != closer {
            if is_mapping {
                let key = self.scalar_in_flow()?;
                if !self.is_colon() || key.range.len() > MAX_KEY_BYTES {
                    return None;
                }
                self.push(&key);
                self.at += 1;
                self.skip_blanks();
            }
            match self.bytes.get(self.at)? {
                b'[' | b'{' => self.flow(depth + 1)?,
                _ => {
                    let scalar = self.scalar_in_flow()?;
                    self.push(&scalar);
                }
            }
            self.skip_blanks();
            match self.bytes.get(self.at)? {
                b',' => self.at += 1,
                byte if *byte == closer => break,
                _ => return None,
            }
            self.skip_blanks();
        }
        self.reader.end_collection(self.at..self.at + 1);
        self.at += 1;
        Some(())
    }

    /// Reads a scalar in a flow collection, and the blanks after it.
    fn scalar_in_flow(&mut self) -> Option<InlineScalar<'text>> {
        let first = *self.bytes.get(self.at)?;
        if matches!(first, b'"' | b'\'') {
            return self.quoted(first);
        }
        let start = self.at;
        let second = self.bytes.get(start + 1)?;
        if b"#&*!|>%@`?:".contains(&first) || first == b'-' && b" ,[]{}\n".contains(second) {
            return None;
        }
        loop {
            match self.bytes.get(self.at)? {
                b',' | b'[' | b']' | b'{' | b'}' => break,
                b'\n' | b'#' => return None,
                b':' if self.ends_word(self.at + 1) => break,
                _ => self.at += 1,
            }
        }
        Some(self.plain(start)).filter(|scalar| !scalar.range.is_empty())
    }

    /// Reads a block scalar.
    fn block_scalar(&mut self) -> Option<()> {
        let header = self.at;
        let is_literal = self.bytes[header] == b'|';
        self.at += 1;
        let chomping = match self.bytes.get(self.at) {
            Some(b'-') => Chomping::Strip,
            Some(b'+') => Chomping::Keep,
            _ => Chomping::Clip,
        };
        self.at += usize::from(chomping != Chomping::Clip);
        if !self.ends_word(self.at) {
            return None;
        }
        self.end_line()?;
        let parent = self.levels.last()?.column;
        let indent = self.block_indent().filter(|indent| *indent > parent)?;
        self.block.clear();
        let breaks = self.block_lines(indent, is_literal)?;
        if chomping != Chomping::Strip {
            self.block.push('\n');
        }
        if chomping == Chomping::Keep {
            self.block.extend(std::iter::repeat_n('\n', breaks));
        }
        let blanks = self.bytes[self.at..].iter().take(indent);
        let end = self.at + blanks.take_while(|byte| **byte == b' ').count();
        let range = self.reader.block_scalar_range(header, end);
        self.reader.untagged_scalar(&self.block, false, range);
        Some(())
    }

    /// Indentation of the first line with text, unless a blank line above it is longer.
    fn block_indent(&self) -> Option<usize> {
        let mut longest = 0;
        for line in self.text[self.at..].split_inclusive('\n') {
            let indent = line.bytes().take_while(|byte| *byte == b' ').count();
            if line.as_bytes().get(indent) != Some(&b'\n') {
                return (indent >= longest && indent < line.len()).then_some(indent);
            }
            longest = longest.max(indent);
        }
        None
    }

    /// Reads the lines of a block scalar, up to the first that is not its own, without the last
    /// line break. Returns the number of blank lines at its end.
    fn block_lines(&mut self, indent: usize, is_literal: bool) -> Option<usize> {
        let mut breaks = 0;
        let mut is_first = true;
        // Whether a line begins with a blank, which keeps its line breaks in a folded scalar.
        let mut was_blank = false;
        while self.at < self.bytes.len() {
            let end = self.end_of_line(self.at);
            let blanks = self.bytes[self.at..end].iter().take(indent);
            let blanks = blanks.take_while(|byte| **byte == b' ').count();
            let line = &self.text[self.at + blanks..end];
            if end == self.bytes.len() {
                // The end of the text without a line break, or within the next line.
                if blanks == indent || line.is_empty() {
                    return None;
                }
                break;
            }
            if line.is_empty() {
                breaks += 1;
            } else if blanks < indent {
                break;
            } else {
                let is_blank = line.starts_with(' ');
                let is_folded = !is_literal && !is_first && !was_blank && !is_blank;
                if is_folded && breaks == 0 {
                    self.block.push(' ');
                } else if !is_folded && !is_first {
                    self.block.push('\n');
                }
                self.block.extend(std::iter::repeat_n('\n', breaks));
                self.block.push_str(line);
                breaks = 0;
                is_first = false;
                was_blank = is_blank;
            }
            self.at = end + 1;
        }
        Some(breaks)
    }
}

/// Text of a quoted scalar without the escapes that [`PlainScanner::quoted`] accepts.
fn unescaped(text: &str, quote: u8) -> String {
    if quote == b'\'' {
        return text.replace("''", "'");
    }
    let mut characters = text.chars();
    let mut unescaped = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next()).flatten();
        unescaped.push(match escaped {
            None => character,
            Some('n') => '\n',
            Some('t') => '\t',
            Some(escaped) => escaped,
        });
    }
    unescaped
}
