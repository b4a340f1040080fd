//! Source excerpts with labels, prepared for drawing.
//!
//! Labels close together share an excerpt; others get their own, with one line of context. Tabs
//! become spaces, control characters become escapes, and a line too long for the terminal is
//! truncated around its label.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::report::model::{FileLines, LabelledPlace, Report, SourceLine};
use crate::report::printable::{clean, escape, is_harmful};
use crate::report::{Signs, TerminalStyle, wrap};

/// Consecutive lines of a file.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// Place of its foremost label: path, line and column from 1.
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// Number of the first line, from 0.
    pub(super) first_line: usize,
    /// Lines, each with a line break.
    pub(super) text: String,
    /// Marks in `text`, in order of position; the foremost mark has the most important label.
    pub(super) marks: Vec<Mark>,
}

/// A labelled range of an excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) primary: bool,
    /// Whether this mark defines the place of the excerpt.
    pub(super) foremost: bool,
}

/// Returns the excerpts for the labels of a finding, the primary one first, then in label order.
pub(super) fn excerpts(
    labels: &[&LabelledPlace],
    report: &Report,
    style: &TerminalStyle,
) -> Vec<Excerpt> {
    let labels = labels.iter().enumerate();
    let spots = labels
        .map(|(order, label)| PlacedLabel::new(order, label, report))
        .collect();
    groups(spots, style)
        .iter()
        .map(|group| excerpt(group, style))
        .collect()
}

/// A label with its source lines.
#[derive(Debug)]
struct PlacedLabel<'r> {
    /// Index among the labels of the finding; the primary label is first.
    order: usize,
    label: &'r LabelledPlace,
    text: Option<&'r FileLines>,
    line: usize,
    /// Lines to show, by number.
    lines: Vec<&'r SourceLine>,
}

impl<'r> PlacedLabel<'r> {
    fn new(order: usize, label: &'r LabelledPlace, report: &'r Report) -> Self {
        let [(line, _), _] = label.ends();
        let text = report.text_of(label);
        Self {
            order,
            label,
            text,
            line,
            lines: report.lines_around(label),
        }
    }

    fn own_line(&self) -> Option<&'r SourceLine> {
        self.lines
            .iter()
            .copied()
            .find(|line| line.line == self.line)
    }

    /// Whether its line is longer than the terminal is wide.
    fn is_wide(&self, style: &TerminalStyle) -> bool {
        self.own_line().is_some_and(|line| {
            line.cut || line.column > 1 || line.text.width() > room(style, line.line + 1)
        })
    }
}

/// Groups labels that can share an excerpt.
fn groups<'r>(mut spots: Vec<PlacedLabel<'r>>, style: &TerminalStyle) -> Vec<Vec<PlacedLabel<'r>>> {
    spots.sort_by_key(|spot| {
        (
            spot.label.text,
            spot.line,
            spot.label.ends()[0].1,
            spot.order,
        )
    });
    let mut groups: Vec<Vec<PlacedLabel<'r>>> = Vec::new();
    for spot in spots {
        match groups.last_mut() {
            Some(group)
                if group
                    .last()
                    .is_some_and(|last| fit_together(last, &spot, style)) =>
            {
                group.push(spot);
            }
            Some(_) | None => groups.push(vec![spot]),
        }
    }
    groups.sort_by_key(|group| group.iter().map(|spot| spot.order).min());
    groups
}

/// Whether the lines between two labels are few and may all be shown.
fn fit_together(first: &PlacedLabel<'_>, second: &PlacedLabel<'_>, style: &TerminalStyle) -> bool {
    /// Maximum gap in lines that the context lines of two labels close.
    const MAX_GAP_LINES: usize = 3;
    let near = if first.lines.is_empty() {
        0
    } else {
        MAX_GAP_LINES
    };
    let gap = second.line - first.line.min(second.line);
    let continues = |line: &&SourceLine| line.continues && line.line > first.line;
    first.label.text == second.label.text
        && first.label.text.is_some()
        && !first.is_wide(style)
        && !second.is_wide(style)
        && gap <= near
        && !first.lines.iter().chain(&second.lines).any(continues)
}

/// Returns the columns available for text beside line numbers up to `last`.
fn room(style: &TerminalStyle, last: usize) -> usize {
    const COLUMNS_AROUND_NUMBER: usize = 4;
    style
        .columns()
        .saturating_sub(last.to_string().len() + COLUMNS_AROUND_NUMBER)
}

fn excerpt(group: &[PlacedLabel<'_>], style: &TerminalStyle) -> Excerpt {
    let foremost = group
        .iter()
        .min_by_key(|spot| spot.order)
        .expect("a group has spots");
    let path = clean(&foremost.label.file);
    let [(line, column), _] = foremost.label.ends();
    // The excerpt shows lines of the decoded content.
    let path = match &foremost.label.decoded {
        Some(_) => format!("{path}:{}, decoded", foremost.label.line),
        None => path.into_owned(),
    };
    let lines = lines(group);
    let first_line = lines.first().map_or(line, |line| line.line) - 1;
    let mut excerpt = Excerpt {
        path,
        line,
        column,
        first_line,
        text: String::new(),
        marks: Vec::new(),
    };
    if lines.is_empty() {
        excerpt.add_substitute(group, foremost);
    }
    let room = room(style, lines.last().map_or(line, |line| line.line));
    for line in &lines {
        let spots: Vec<&PlacedLabel<'_>> =
            group.iter().filter(|spot| spot.line == line.line).collect();
        excerpt.add_line(line, &spots, foremost.order, room, style);
    }
    excerpt
}

/// Returns the lines to show: those with labels and one line of context on each side, unless it is
/// the rest of a secret.
fn lines(group: &[PlacedLabel<'_>]) -> Vec<SourceLine> {
    let first = &group[0];
    let last = &group[group.len() - 1];
    let Some(text) = first.text.filter(|text| !text.withheld) else {
        return Vec::new();
    };
    let (_, column) = first.label.ends()[0];
    let mut lines: Vec<SourceLine> = text
        .between(
            first.line.saturating_sub(1),
            last.line + 1,
            first.line,
            column,
        )
        .into_iter()
        .cloned()
        .collect();
    if lines
        .iter()
        .any(|line| line.line == first.line && line.continues)
    {
        lines.retain(|line| line.line >= first.line);
    }
    lines.retain(|line| !line.continues || (first.line..=last.line).contains(&line.line));
    // No line follows the last line break, but a label can be there.
    if !lines.is_empty() && !lines.iter().any(|line| line.line == last.line) {
        lines.push(SourceLine::empty(last.line));
    }
    lines
}

impl Excerpt {
    /// Adds a note if there are no lines to show.
    fn add_substitute(&mut self, group: &[PlacedLabel<'_>], foremost: &PlacedLabel<'_>) {
        let withheld = foremost.text.is_some_and(|text| text.withheld);
        self.text.push_str(if withheld {
            "(not shown: may hold secrets)\n"
        } else {
            "(empty)\n"
        });
        for spot in group {
            let [start, end] = spot.label.ends();
            let is_stretch = start != end || spot.label.covers_hidden;
            let end = if withheld && is_stretch {
                self.text.len() - 1
            } else {
                0
            };
            self.mark(
                0..end,
                clean(&spot.label.label).into_owned(),
                spot,
                foremost.order,
            );
        }
    }

    fn add_line(
        &mut self,
        line: &SourceLine,
        spots: &[&PlacedLabel<'_>],
        foremost: usize,
        room: usize,
        style: &TerminalStyle,
    ) {
        let glyphs = glyphs(line);
        let ranges: Vec<Range<usize>> = spots
            .iter()
            .map(|spot| glyph_range(&glyphs, spot))
            .collect();
        let focus = ranges.first().cloned().unwrap_or(0..0);
        let wanted = match spots {
            [spot] => wanted_columns(&spot.label.label),
            _ => 0,
        };
        let window = Window::new(&glyphs, line, &focus, room, wanted, style);
        let offset = self.text.len();
        let shown = window.text(&glyphs);
        for (spot, range) in spots.iter().zip(&ranges) {
            let range = window.bytes(&glyphs, range);
            let start = shown[..range.start].width();
            let end = shown[..range.end].width();
            let middle = start + (end.max(start + 1) - start) / 2;
            let message = clean(&spot.label.label);
            let message = wrap(
                &message,
                room.saturating_sub(middle + BRANCH_COLUMNS),
                "",
                "",
            );
            self.mark(
                offset + range.start..offset + range.end,
                message,
                spot,
                foremost,
            );
        }
        self.text.push_str(&shown);
        self.text.push('\n');
    }

    /// Adds a mark; labels of the same range are joined.
    fn mark(
        &mut self,
        range: Range<usize>,
        message: String,
        spot: &PlacedLabel<'_>,
        foremost: usize,
    ) {
        let primary = spot.order == 0;
        let foremost = spot.order == foremost;
        match self.marks.last_mut().filter(|mark| mark.range == range) {
            Some(mark) => {
                if !mark.message.is_empty() && !message.is_empty() {
                    mark.message.push('\n');
                }
                mark.message.push_str(&message);
                mark.primary |= primary;
                mark.foremost |= foremost;
            }
            None => self.marks.push(Mark {
                range,
                message,
                primary,
                foremost,
            }),
        }
    }
}

/// Width of `╰── ` before a label's text.
const BRANCH_COLUMNS: usize = 4;

/// Returns the desired width of a label's text including its branch, for which the start of its
/// line may be truncated.
fn wanted_columns(message: &str) -> usize {
    const READABLE_COLUMNS: usize = 16;
    if message.is_empty() {
        0
    } else {
        message.chars().count().min(READABLE_COLUMNS) + BRANCH_COLUMNS
    }
}

/// Display form of one character of a line, or of a secret.
struct Glyph {
    /// Column in the file; for a secret, the column after it.
    column: usize,
    is_hidden: bool,
    text: String,
}

impl Glyph {
    fn width(&self) -> usize {
        self.text.width()
    }
}

fn glyphs(line: &SourceLine) -> Vec<Glyph> {
    /// Distance of tab stops in columns.
    const TAB_COLUMNS: usize = 4;
    let mut glyphs: Vec<Glyph> = Vec::new();
    let mut column = line.column;
    let mut width = 0;
    let mut hidden = line.hidden.iter().peekable();
    let mut characters = line.text.chars().enumerate();
    while let Some((at, character)) = characters.next() {
        let secret = hidden.next_if(|[start, _]| *start == at);
        let text = match (secret, character) {
            (Some([start, end]), first) => {
                let rest = characters.by_ref().take(end - start - 1).map(|(_, it)| it);
                std::iter::once(first).chain(rest).collect()
            }
            (None, '\t') => " ".repeat(TAB_COLUMNS - width % TAB_COLUMNS),
            (None, it) if is_harmful(it) => escape(it),
            (None, it) => it.to_string(),
        };
        width += text.width();
        glyphs.push(Glyph {
            column,
            is_hidden: secret.is_some(),
            text,
        });
        column += usize::from(secret.is_none());
    }
    glyphs
}

/// Returns the indices of the glyphs that a label marks on its first line.
fn glyph_range(glyphs: &[Glyph], spot: &PlacedLabel<'_>) -> Range<usize> {
    let [(line, column), (end_line, end_column)] = spot.label.ends();
    let covers = spot.label.covers_hidden;
    let is_point = (line, column) == (end_line, end_column) && !covers;
    let start = glyphs.partition_point(|glyph| glyph.column < column);
    // A label that begins at the column of a secret without covering it begins after it.
    let is_behind = !covers && !is_point && glyphs.get(start).is_some_and(|glyph| glyph.is_hidden);
    let start = start + usize::from(is_behind);
    let end = if end_line > line {
        glyphs.len()
    } else {
        let end = glyphs.partition_point(|glyph| glyph.column < end_column);
        end + usize::from(covers && glyphs.get(end).is_some_and(|glyph| glyph.is_hidden))
    };
    start..end.max(start)
}

/// Visible part of a line.
struct Window {
    /// Indices of the visible glyphs.
    shown: Range<usize>,
    left: &'static str,
    right: &'static str,
}

impl Window {
    /// Selects the whole line if it fits and leaves `wanted` columns for the text of the label at
    /// `focus`, else the part around the start of the label.
    fn new(
        glyphs: &[Glyph],
        line: &SourceLine,
        focus: &Range<usize>,
        room: usize,
        wanted: usize,
        style: &TerminalStyle,
    ) -> Self {
        let dots = Signs::of(style).dots;
        let columns = |glyphs: &[Glyph]| glyphs.iter().map(Glyph::width).sum::<usize>();
        let start = columns(&glyphs[..focus.start]);
        let width = columns(&glyphs[focus.clone()]).clamp(1, room / 2);
        let for_text = (start + width / 2 + wanted).saturating_sub(room);
        let is_beyond = start + width + dots.width() > room && columns(glyphs) > room;
        let for_label = if is_beyond {
            start.saturating_sub(room / 4)
        } else {
            0
        };
        let skip = for_text.max(for_label);
        let is_cut = line.column > 1 || skip > 0;
        let left = if is_cut { dots } else { "" };
        let first = if is_cut && skip > 0 {
            first_from(glyphs, skip + dots.width()).min(focus.start)
        } else {
            0
        };
        let left_room = room - left.width().min(room);
        if !line.cut && columns(&glyphs[first..]) <= left_room {
            return Self {
                shown: first..glyphs.len(),
                left,
                right: "",
            };
        }
        let right_room = left_room.saturating_sub(dots.width());
        let mut column = 0;
        let fitting = glyphs[first..].iter().take_while(|glyph| {
            column += glyph.width();
            column <= right_room
        });
        Self {
            shown: first..first + fitting.count(),
            left,
            right: dots,
        }
    }

    fn text(&self, glyphs: &[Glyph]) -> String {
        let shown = glyphs[self.shown.clone()].iter().map(|glyph| &*glyph.text);
        std::iter::once(self.left)
            .chain(shown)
            .chain([self.right])
            .collect()
    }

    /// Returns the byte range of glyphs in the text; truncated parts are represented by dots.
    fn bytes(&self, glyphs: &[Glyph], range: &Range<usize>) -> Range<usize> {
        let before = |at: usize| {
            let at = at.clamp(self.shown.start, self.shown.end);
            let shown = glyphs[self.shown.start..at].iter();
            self.left.len() + shown.map(|glyph| glyph.text.len()).sum::<usize>()
        };
        let is_cut_left = range.start < self.shown.start && !self.left.is_empty();
        let start = if is_cut_left { 0 } else { before(range.start) };
        let is_cut_right = range.end > self.shown.end && !self.right.is_empty();
        let end = before(range.end) + if is_cut_right { self.right.len() } else { 0 };
        start..end.max(start)
    }
}

/// Returns the index of the first glyph at or after a column.
fn first_from(glyphs: &[Glyph], column: usize) -> usize {
    let mut at = 0;
    glyphs
        .iter()
        .take_while(|glyph| {
            let is_before = at < column;
            at += glyph.width();
            is_before
        })
        .count()
}
