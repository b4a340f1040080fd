//! Lines of files with their labels, ready to be drawn.
//!
//! Labels that lie close together share an excerpt; far ones get their own,
//! with one line of context. Lines are made fit to show here: secrets become
//! `(hidden)`, tabs spaces, control characters escapes, and a line too long
//! for the terminal is cut around its label. Work is bounded by what is
//! shown, not by the length of lines.

use std::ops::Range;

use smol_str::SmolStr;
use unicode_width::UnicodeWidthChar;

use super::printable::{clean, escape, is_harmful};
use super::signs::Signs;
use super::view::View;
use super::{Style, wrap};
use crate::diagnostic::Label;
use crate::source::{FileId, Source};
use crate::yaml::emit::HIDDEN;

/// Lines of one file, one after the other.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// Where its foremost label is: path, line and column from one.
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The number of the first line, from zero.
    pub(super) first_line: usize,
    /// The lines, each with a line break.
    pub(super) text: String,
    /// What is marked in `text`, in order of place; the foremost has the most
    /// important label.
    pub(super) marks: Vec<Mark>,
}

/// A stretch of an excerpt, and what is said about it.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) primary: bool,
    /// Whether the place of the excerpt is the place of this mark.
    pub(super) foremost: bool,
}

/// The excerpts at the labels of a finding, the primary one first, in the
/// order in which the labels are given.
pub(super) fn excerpts(labels: &[&Label], view: &View<'_>, style: &Style) -> Vec<Excerpt> {
    let labels = labels.iter().enumerate();
    let spots = labels.map(|(order, label)| Spot::new(order, label, view, style));
    let groups = groups(spots.collect(), view);
    groups.iter().map(|group| Drawing { view, style, group }.excerpt()).collect()
}

/// A label and where it is to be seen.
#[derive(Debug)]
struct Spot<'a> {
    /// Among the labels of the finding; the primary one is the first.
    order: usize,
    label: &'a Label,
    file: FileId,
    line: usize,
    range: Range<u32>,
    /// Whether its line is longer than what can be shown.
    is_wide: bool,
}

impl<'a> Spot<'a> {
    fn new(order: usize, label: &'a Label, view: &View<'_>, style: &Style) -> Self {
        let file = label.span.file;
        let (line, mut range) = view.first_line(label.span);
        if view.is_opaque(file) && view.is_stretch(label.span) {
            // What stands for the line does not say where on it a secret begins.
            range.end = range.end.max(range.start + 1);
        }
        let room = room(style, line + 1);
        let start = view.line(file, line).start;
        let is_wide = substitute(view, file).is_none() && {
            let glyphs = Glyphs::around(view, file, line, start, room);
            glyphs.cut_right || glyphs.width() > room
        };
        Self { order, label, file, line, range, is_wide }
    }
}

/// Spots that can share an excerpt.
fn groups<'a>(mut spots: Vec<Spot<'a>>, view: &View<'_>) -> Vec<Vec<Spot<'a>>> {
    spots.sort_by_key(|spot| (spot.file, spot.line, spot.range.start, spot.order));
    let mut groups: Vec<Vec<Spot<'a>>> = Vec::new();
    for spot in spots {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| fit_together(last, &spot, view)) => {
                group.push(spot);
            }
            Some(_) | None => groups.push(vec![spot]),
        }
    }
    groups.sort_by_key(|group| group.iter().map(|spot| spot.order).min());
    groups
}

/// Whether the lines between two spots are few and may all be shown.
fn fit_together(first: &Spot<'_>, second: &Spot<'_>, view: &View<'_>) -> bool {
    /// With one line of context each, there is no gap between them.
    const NEAR: usize = 3;
    let near = if substitute(view, first.file).is_some() { 0 } else { NEAR };
    first.file == second.file
        && !first.is_wide
        && !second.is_wide
        && second.line - first.line <= near
        && !(first.line + 1..=second.line).any(|line| view.continues_secret(first.file, line))
}

/// What is shown in the place of lines, where there are none to be shown.
fn substitute(view: &View<'_>, file: FileId) -> Option<&'static str> {
    if view.is_opaque(file) {
        return Some("(not shown: may hold secrets)");
    }
    view.source(file).text().is_empty().then_some("(no text)")
}

/// The columns that are left for text beside the numbers of lines up to
/// `last`.
fn room(style: &Style, last: usize) -> usize {
    const AROUND_NUMBER: usize = 4;
    style.columns().saturating_sub(last.to_string().len() + AROUND_NUMBER)
}

/// What is needed to draw one group.
struct Drawing<'a> {
    view: &'a View<'a>,
    style: &'a Style,
    group: &'a [Spot<'a>],
}

impl Drawing<'_> {
    fn excerpt(&self) -> Excerpt {
        let foremost = self.group.iter().min_by_key(|spot| spot.order).expect("a group has spots");
        let lines = self.lines();
        let room = room(self.style, lines.end);
        let place = self.view.place(foremost.label.span);
        let path = clean(place.path.as_str());
        // The lines that are shown are those of the decoded text.
        let (path, line, column) = match &place.decoded {
            Some(it) => (format!("{path}:{}, decoded", place.line), it.line, it.column),
            None => (path.into_owned(), place.line, place.column),
        };
        let mut excerpt = Excerpt {
            path,
            line,
            column,
            first_line: lines.start,
            text: String::new(),
            marks: Vec::new(),
        };
        for line in lines {
            let spots: Vec<&Spot<'_>> =
                self.group.iter().filter(|spot| spot.line == line).collect();
            self.add_line(&mut excerpt, line, &spots, foremost.order, room);
        }
        excerpt
    }

    /// The lines to show: those with labels, and one more on both sides where
    /// there is one that is not the rest of a secret.
    fn lines(&self) -> Range<usize> {
        let file = self.group[0].file;
        let first = self.group[0].line;
        let last = self.group[self.group.len() - 1].line;
        if substitute(self.view, file).is_some() {
            return first..last + 1;
        }
        let is_shown = |line: usize| !self.view.continues_secret(file, line);
        let before = usize::from(first > 0 && is_shown(first) && is_shown(first - 1));
        let after = usize::from(last + 1 < lines_of(self.view.source(file)) && is_shown(last + 1));
        first - before..last + 1 + after
    }

    fn add_line(
        &self,
        excerpt: &mut Excerpt,
        line: usize,
        spots: &[&Spot<'_>],
        foremost: usize,
        room: usize,
    ) {
        let shown = self.shown_line(line, spots, room);
        let offset = excerpt.text.len();
        for (at, spot) in spots.iter().enumerate() {
            let range = shown.range(&spot.range);
            let (start, end) = (shown.column(range.start), shown.column(range.end));
            let middle = start + (end.max(start + 1) - start) / 2;
            let message = clean(&spot.label.message);
            let message = wrap(&message, room.saturating_sub(middle + BRANCH), "", "");
            let range = offset + range.start..offset + range.end;
            let is_foremost = spot.order == foremost;
            match excerpt.marks.last_mut().filter(|mark| at > 0 && mark.range == range) {
                Some(mark) => mark.join(&message, spot.order == 0, is_foremost),
                None => excerpt.marks.push(Mark {
                    range,
                    message,
                    primary: spot.order == 0,
                    foremost: is_foremost,
                }),
            }
        }
        excerpt.text.push_str(&shown.text);
        excerpt.text.push('\n');
    }

    fn shown_line(&self, line: usize, spots: &[&Spot<'_>], room: usize) -> ShownLine {
        let file = self.group[0].file;
        if let Some(text) = substitute(self.view, file) {
            let whole = Glyph { bytes: 0..u32::MAX, text: text.into(), width: text.len() };
            return ShownLine::new(&[whole], Window { left: "", right: "" });
        }
        let focus = match spots.first() {
            Some(spot) => spot.range.clone(),
            None => {
                let start = self.view.line(file, line).start;
                start..start
            }
        };
        let glyphs = Glyphs::around(self.view, file, line, focus.start, room);
        let wanted = match spots {
            [spot] => wanted_columns(&spot.label.message),
            _ => 0,
        };
        glyphs.cut(&focus, room, wanted, self.style)
    }
}

/// The columns of `╰── ` before a label's text.
const BRANCH: usize = 4;

/// The columns that a label's text should have, branch and all, even if the
/// beginning of its line has to be cut off for it.
fn wanted_columns(message: &str) -> usize {
    const READABLE: usize = 16;
    if message.is_empty() { 0 } else { message.chars().count().min(READABLE) + BRANCH }
}

/// How many lines a person sees: nothing after the last line break is none.
fn lines_of(source: &Source) -> usize {
    source.lines().count() - usize::from(source.text().ends_with('\n'))
}

impl Mark {
    /// Takes in what another label says of the same place.
    fn join(&mut self, message: &str, primary: bool, foremost: bool) {
        if !self.message.is_empty() && !message.is_empty() {
            self.message.push('\n');
        }
        self.message.push_str(message);
        self.primary |= primary;
        self.foremost |= foremost;
    }
}

/// What is shown for a stretch of text: a character, its escape, or what
/// stands for a secret.
#[derive(Clone, Debug)]
struct Glyph {
    /// Bytes of the file.
    bytes: Range<u32>,
    text: SmolStr,
    width: usize,
}

/// A part of one line, as it is shown.
struct Glyphs {
    #[expect(clippy::struct_field_names, reason = "they are what it is made of")]
    glyphs: Vec<Glyph>,
    /// Whether there is more of the line on this side.
    cut_left: bool,
    cut_right: bool,
}

/// What stands at both ends of a line that was cut.
struct Window {
    left: &'static str,
    right: &'static str,
}

impl Glyphs {
    /// The glyphs of a line on both sides of byte `focus`: as many as can be
    /// shown, and some more. How many is counted in what is shown, so that
    /// the length of a secret makes no difference.
    fn around(view: &View<'_>, file: FileId, line: usize, focus: u32, room: usize) -> Self {
        let content = view.line(file, line);
        let most = 2 * room;
        let mut glyphs = Vec::with_capacity(most);
        let mut at = focus;
        while at > content.start && glyphs.len() < most {
            let bytes = match view.secret_before(file, at) {
                Some(secret) => secret.start.max(content.start)..at,
                None => character_before(view, file, at),
            };
            at = bytes.start;
            glyphs.push(Glyph::new(view, file, bytes));
        }
        let cut_left = at > content.start;
        glyphs.reverse();
        let most = glyphs.len() + most;
        let mut at = focus;
        while at < content.end && glyphs.len() < most {
            let bytes = match view.secret_after(file, at) {
                Some(secret) => at..secret.end.min(content.end),
                None => character_after(view, file, at),
            };
            at = bytes.end;
            glyphs.push(Glyph::new(view, file, bytes));
        }
        let mut glyphs = Self { glyphs, cut_left, cut_right: at < content.end };
        glyphs.set_tabs();
        glyphs
    }

    /// Tabs reach to the next column that is a multiple of four.
    fn set_tabs(&mut self) {
        const TAB: usize = 4;
        let mut column = 0;
        for glyph in &mut self.glyphs {
            if glyph.text == "\t" {
                glyph.width = TAB - column % TAB;
                glyph.text = SmolStr::from(" ".repeat(glyph.width));
            }
            column += glyph.width;
        }
    }

    fn width(&self) -> usize {
        self.glyphs.iter().map(|glyph| glyph.width).sum()
    }

    /// The part of the line to show: whole if it fits and leaves `wanted`
    /// columns for the text of the label at `focus`, else the part where the
    /// label begins.
    fn cut(&self, focus: &Range<u32>, room: usize, wanted: usize, style: &Style) -> ShownLine {
        let more = Signs::of(style).dots;
        let more_width = more.chars().count();
        let (first_focused, end_focused) = glyph_range(&self.glyphs, focus);
        let columns = |glyphs: &[Glyph]| glyphs.iter().map(|glyph| glyph.width).sum::<usize>();
        let start = columns(&self.glyphs[..first_focused]);
        let width = columns(&self.glyphs[first_focused..end_focused]).clamp(1, room / 2);
        let for_text = (start + width / 2 + wanted).saturating_sub(room);
        let for_label = if start + width + more_width > room && self.width() > room {
            start.saturating_sub(room / 4)
        } else {
            0
        };
        let skip = for_text.max(for_label);
        let is_cut_left = self.cut_left || skip > 0;
        let left = if is_cut_left { more } else { "" };
        let first = if is_cut_left { self.first_from(skip + more_width, first_focused) } else { 0 };
        let rest = &self.glyphs[first..];
        let left_room = room - columns_of(left);
        if !self.cut_right && columns(rest) <= left_room {
            return ShownLine::new(rest, Window { left, right: "" });
        }
        let right_room = left_room - more_width;
        let shown = rest
            .iter()
            .scan(0, |column, glyph| {
                *column += glyph.width;
                Some(*column)
            })
            .take_while(|column| *column <= right_room)
            .count();
        ShownLine::new(&rest[..shown], Window { left, right: more })
    }

    /// The first glyph that begins at `column` or after it, but not after the
    /// one at `limit`.
    fn first_from(&self, column: usize, limit: usize) -> usize {
        let mut at = 0;
        let before = self.glyphs.iter().take_while(|glyph| {
            let is_before = at < column;
            at += glyph.width;
            is_before
        });
        before.count().min(limit)
    }
}

impl Glyph {
    /// What is shown for `bytes`: a secret, or one character.
    fn new(view: &View<'_>, file: FileId, bytes: Range<u32>) -> Self {
        if view.secret_after(file, bytes.start).is_some() {
            return Self { bytes, text: HIDDEN.into(), width: HIDDEN.len() };
        }
        let text = &view.source(file).text()[bytes.start as usize..bytes.end as usize];
        let text = match text.chars().next() {
            // A byte order mark is no text.
            Some('\u{feff}') if bytes.start == 0 => SmolStr::default(),
            Some(character) if is_harmful(character) && character != '\t' => {
                escape(character).into()
            }
            Some(_) | None => text.into(),
        };
        let width = columns_of(&text);
        Self { bytes, text, width }
    }
}

fn character_before(view: &View<'_>, file: FileId, at: u32) -> Range<u32> {
    let text = &view.source(file).text()[..at as usize];
    let length = text.chars().next_back().map_or(1, char::len_utf8);
    at - crate::source::offset(length)..at
}

fn character_after(view: &View<'_>, file: FileId, at: u32) -> Range<u32> {
    let text = &view.source(file).text()[at as usize..];
    let length = text.chars().next().map_or(1, char::len_utf8);
    at..at + crate::source::offset(length)
}

fn columns_of(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The glyphs that show `bytes`, as indexes; none of them where `bytes` is
/// empty.
fn glyph_range(glyphs: &[Glyph], bytes: &Range<u32>) -> (usize, usize) {
    let start = glyphs.partition_point(|glyph| glyph.bytes.end <= bytes.start);
    let end = glyphs.partition_point(|glyph| glyph.bytes.start < bytes.end);
    (start, if bytes.is_empty() { start } else { end.max(start) })
}

/// One line as it is shown.
struct ShownLine {
    text: String,
    glyphs: Vec<Glyph>,
    /// Where each glyph begins in `text`, and where the last one ends.
    starts: Vec<usize>,
    window: Window,
}

impl ShownLine {
    fn new(glyphs: &[Glyph], window: Window) -> Self {
        let mut text = window.left.to_owned();
        let mut starts = Vec::with_capacity(glyphs.len() + 1);
        for glyph in glyphs {
            starts.push(text.len());
            text.push_str(&glyph.text);
        }
        starts.push(text.len());
        text.push_str(window.right);
        Self { text, glyphs: glyphs.to_vec(), starts, window }
    }

    /// The bytes of `text` that show `bytes` of the file; what is cut off is
    /// shown by the dots that stand for it.
    fn range(&self, bytes: &Range<u32>) -> Range<usize> {
        let (first, end) = glyph_range(&self.glyphs, bytes);
        let is_beyond = self.glyphs.last().is_some_and(|last| bytes.end > last.bytes.end);
        let is_before = self.glyphs.first().is_some_and(|first| bytes.start < first.bytes.start);
        let start = if is_before && !self.window.left.is_empty() { 0 } else { self.starts[first] };
        let end = if is_beyond { self.text.len() } else { self.starts[end] };
        start..end.max(start)
    }

    /// The column at which byte `at` of `text` is shown.
    fn column(&self, at: usize) -> usize {
        columns_of(&self.text[..at])
    }
}
