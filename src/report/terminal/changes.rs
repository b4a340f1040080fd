//! Changes on a terminal: edits with their effects, and outputs with the edits behind them.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::{Detail, TerminalPage};
use crate::report::counted;
use crate::report::cut::{common_start, cut, cut_sides};
use crate::report::model::ReportedEdit;
use crate::report::printable::clean;
use crate::report::story::{
    ChangeEntry, ChangedValue, EditEntry, EditedValue, OutputBlock, RouteEntry, ShortDelta,
    ValueDelta, edit_numbers, files_of, place_of,
};
use crate::report::text::{StyledText, TextRole};

/// Details of each change.
#[derive(Clone, Copy)]
struct Room {
    /// Maximum number of items in each list; 0 for all.
    items: usize,
    /// Maximum number of lines of a value.
    lines: usize,
}

/// Amounts of detail, the most first: items of a list in eighths of those of other lists, and lines
/// of a value.
const ROOMS: [(usize, usize); 8] = [
    (8, MAX_VALUE_LINES),
    (8, 4),
    (8, 2),
    (8, 1),
    (6, 1),
    (4, 1),
    (3, 1),
    (2, 1),
];

/// Maximum number of lines of all changes, per item of other lists.
const MAX_LINES_PER_ITEM: usize = 6;

/// Maximum number of lines of a value.
const MAX_VALUE_LINES: usize = 8;

/// Maximum number of places listed for one value change.
const MAX_PLACES: usize = 3;

/// Minimum width of a value beside its path.
const MIN_VALUE_WIDTH: usize = 24;

/// Writes the changes with as many details as fit on few lines.
pub(super) fn write(page: &TerminalPage<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let (entries, _) = page.limited(&page.story.entries);
    let (shown, text) = fullest(page, entries)?;
    out.write_all(&text)?;
    let more = page.story.entries.len() - shown;
    page.write_more(more, "group", "", out)?;
    if more > 0 { writeln!(out) } else { Ok(()) }
}

/// Returns the number of entries that are written, and their text: with the most details that fit,
/// with half of the entries in any case, and without omitting a single entry.
fn fullest(
    page: &TerminalPage<'_, '_>,
    entries: &[ChangeEntry<'_>],
) -> io::Result<(usize, Vec<u8>)> {
    let limit = page.options.limit;
    if limit == 0 {
        let room = Room {
            items: 0,
            lines: MAX_VALUE_LINES,
        };
        return Ok((
            entries.len(),
            ChangeWriter { page, room }.text(entries)?.concat(),
        ));
    }
    let mut texts = Vec::new();
    for (eighths, lines) in ROOMS {
        let room = Room {
            items: (limit * eighths).div_ceil(8),
            lines,
        };
        texts = ChangeWriter { page, room }.text(entries)?;
        if height(&texts) <= limit * MAX_LINES_PER_ITEM {
            break;
        }
    }
    let fitting = (limit.div_ceil(2)..=texts.len())
        .rev()
        .find(|count| height(&texts[..*count]) <= limit * MAX_LINES_PER_ITEM);
    let shown = fitting.unwrap_or(limit.div_ceil(2)).min(texts.len());
    if shown + 1 < texts.len() {
        texts.truncate(shown);
    }
    Ok((texts.len(), texts.concat()))
}

fn height(texts: &[Vec<u8>]) -> usize {
    texts
        .iter()
        .flatten()
        .filter(|byte| **byte == b'\n')
        .count()
}

struct ChangeWriter<'p, 'a, 'r> {
    page: &'p TerminalPage<'a, 'r>,
    room: Room,
}

impl<'r> ChangeWriter<'_, '_, 'r> {
    fn text(&self, entries: &[ChangeEntry<'r>]) -> io::Result<Vec<Vec<u8>>> {
        entries
            .iter()
            .map(|entry| {
                let mut text = Vec::new();
                match entry {
                    ChangeEntry::Edits(entry) => self.write_entry(entry, &mut text)?,
                    ChangeEntry::Outputs(block) => self.write_outputs(block, &mut text)?,
                }
                writeln!(text)?;
                Ok(text)
            })
            .collect()
    }

    fn is_whole(&self) -> bool {
        self.page.options.detail == Detail::Whole
    }

    /// Returns the first items of a list and the number of further ones.
    fn limited<'l, T>(&self, list: &'l [T]) -> (&'l [T], usize) {
        self.page.limited_to(self.room.items, list)
    }

    fn write_line(
        &self,
        text: &StyledText,
        first: &str,
        rest: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "{}", self.page.painter.paragraph(text, first, rest))
    }

    fn write_entry(&self, entry: &EditEntry<'r>, out: &mut dyn Write) -> io::Result<()> {
        let place = match &entry.edits[..] {
            [only] => place_of(only),
            edits => StyledText::of(TextRole::Place, files(edits)),
        };
        let title = self
            .page
            .painter
            .words(TextRole::Strong, &edit_numbers(&entry.edits));
        self.write_line(&place, &format!("{title}  "), "    ", out)?;
        let (changes, more) = self.limited(&entry.changes);
        for change in changes {
            self.write_change(entry, change, out)?;
        }
        self.page.write_more(more, "change", "  ", out)?;
        self.write_line(&entry.reach, "  ", "    ", out)?;
        let (blocks, more) = self.limited(&entry.blocks);
        for block in blocks {
            self.write_reached(entry, block, out)?;
        }
        self.page.write_more(more, "group", "    ", out)?;
        let has_route = self.room.items == 0 || self.page.story.entries.len() == 1;
        if let Some(route) = entry.route.as_ref().filter(|_| has_route) {
            writeln!(out)?;
            self.write_route(route, out)?;
        }
        if !entry.stops.is_empty() && !entry.blocks.is_empty() {
            writeln!(out)?;
        }
        let (stops, more) = self.limited(&entry.stops);
        for stop in stops {
            self.write_line(stop, "  ", "    ", out)?;
        }
        self.page.write_more(more, "shield", "  ", out)
    }

    /// Writes the edits of a change: each place, and the value once.
    fn write_change(
        &self,
        entry: &EditEntry<'r>,
        change: &EditedValue<'r>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_one_file = files_of(entry.edits.iter().copied()).len() == 1;
        let limit = match self.room.items {
            0 => 0,
            items if change.edits.len() <= MAX_PLACES.min(items) => 0,
            items => (MAX_PLACES - 1).min(items),
        };
        let (edits, more) = self.page.limited_to(limit, &change.edits);
        for edit in edits {
            let place = match edit.at.last().filter(|_| entry.edits.len() > 1) {
                Some(at) if is_one_file => {
                    place_of(edit).renamed(format!(":{}", at.line)).and("  ")
                }
                Some(_) => place_of(edit).and("  "),
                None => StyledText::default(),
            };
            let text = place.join(self.page.story.names.subject(edit));
            let whole = self.with_values(&text, &change.delta);
            let is_one_of_many = entry.changes.len() > 1 || self.room.lines == 1;
            if let Some(line) = whole.filter(|_| change.edits.len() == 1 && is_one_of_many) {
                return self.write_line(&line, "  ", "    ", out);
            }
            self.write_line(&text, "  ", "    ", out)?;
        }
        self.page.write_more(more, "place", "  ", out)?;
        self.write_lines_of(&change.delta, self.room.lines.max(4), "  ", out)
    }

    /// Returns the text with the values of a change of a scalar, if they fit on one line.
    fn with_values(&self, text: &StyledText, delta: &ValueDelta) -> Option<StyledText> {
        let sides = StyledText::sides(delta.scalars()?.map(clean), self.page.signs.arrow);
        let line = text.clone().and(": ").join(sides);
        let room = self.page.painter.style.columns().saturating_sub(2);
        (line.words().width() <= room).then_some(line)
    }

    /// Writes outputs that edits reached. Values that the edits show already have only their path.
    fn write_reached(
        &self,
        entry: &EditEntry<'r>,
        block: &OutputBlock<'r>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (shown, others) = if self.is_whole() {
            (Vec::new(), block.values.iter().collect())
        } else {
            entry.split(block)
        };
        let title = match &shown[..] {
            [] => block.title.clone(),
            [first, more @ ..] => {
                let title = block
                    .title
                    .clone()
                    .and("  ")
                    .then(TextRole::Name, &first.delta.path);
                if more.is_empty() {
                    title
                } else {
                    title.and(format!(" and {} more", more.len()))
                }
            }
        };
        self.write_block_title(title, block, "    ", out)?;
        self.write_values(&others, "      ", out, |value| {
            let others = entry.others_behind(value);
            if self.is_whole() && !entry.behind(value).is_empty() {
                self.behind(value)
            } else if self.is_whole() || others.is_empty() {
                StyledText::default()
            } else {
                StyledText::plain("with ").join(self.page.story.names.places(&others))
            }
        })
    }

    /// Writes outputs with the edits behind each of their values.
    fn write_outputs(&self, block: &OutputBlock<'r>, out: &mut dyn Write) -> io::Result<()> {
        let common = block.common_causes();
        let title = block.title.clone();
        let title = match common {
            Some(causes) => title.and(", by ").join(self.behind(causes)),
            None if block.values.is_empty() && block.listed_elsewhere == 0 => {
                let edits = self.page.story.report.edits_with(&block.edits);
                title
                    .and(", by ")
                    .join(self.page.story.names.places(&edits.collect::<Vec<_>>()))
            }
            None => title,
        };
        self.write_block_title(title, block, "", out)?;
        for edit in &block.caused {
            self.write_line(edit, "  by ", "    ", out)?;
        }
        let values: Vec<&ChangedValue<'r>> = block.values.iter().collect();
        self.write_values(&values, "  ", out, |value| match common {
            Some(_) => StyledText::default(),
            None => self.behind(value),
        })?;
        if block.listed_elsewhere > 0 {
            let edits = counted(block.listed_elsewhere, "own edit");
            let text = format!("{edits}, listed with the outputs that they reach");
            writeln!(out, "  {}", self.page.painter.words(TextRole::Dim, &text))?;
        }
        match block.route.as_ref().filter(|_| self.room.items == 0) {
            Some(route) => self.write_route(route, out),
            None => Ok(()),
        }
    }

    /// Writes changed values, each with the text of `behind`. Several changes of metadata beside
    /// changes of data take one line.
    fn write_values(
        &self,
        values: &[&ChangedValue<'r>],
        indent: &str,
        out: &mut dyn Write,
        behind: impl Fn(&ChangedValue<'r>) -> StyledText,
    ) -> io::Result<()> {
        let (data, metadata): (Vec<&ChangedValue<'r>>, Vec<&ChangedValue<'r>>) = values
            .iter()
            .copied()
            .partition(|value| !value.delta.is_in_metadata());
        let is_folded = !data.is_empty() && metadata.len() > 1 && !self.is_whole();
        let (listed, more) = self.limited(if is_folded { &data } else { values });
        for value in listed {
            self.write_delta(&value.delta, &behind(value), indent, out)?;
        }
        self.page.write_more(more, "place", indent, out)?;
        if !is_folded {
            return Ok(());
        }
        let (paths, more) = self.page.limited_to(MAX_PLACES, &metadata);
        let paths = paths.iter().map(|value| {
            let path = value
                .delta
                .path
                .strip_prefix("metadata")
                .unwrap_or_default();
            StyledText::name(path)
        });
        let text = StyledText::plain("metadata: ").join(StyledText::list(paths, ", "));
        self.write_line(
            &text.then(TextRole::Dim, and_more(more)),
            indent,
            &format!("{indent}  "),
            out,
        )
    }

    /// Returns the places of the edits behind a value.
    fn behind(&self, value: &ChangedValue<'r>) -> StyledText {
        let edits = &value.edits;
        let places = if self.is_whole() {
            StyledText::list(edits.iter().map(|edit| place_of(edit)), ", ")
        } else {
            self.page.story.names.places(edits)
        };
        if value.are_joint && edits.len() > 1 {
            places.then(TextRole::Dim, ", only together")
        } else {
            places
        }
    }

    fn write_block_title(
        &self,
        title: StyledText,
        block: &OutputBlock<'r>,
        indent: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let rest = format!("{indent}  ");
        let removed = match block.removed() {
            0 => StyledText::default(),
            count => StyledText::of(TextRole::Warning, format!("removes {count} values")),
        };
        self.write_line(
            &StyledText::list([title, removed], ", "),
            indent,
            &rest,
            out,
        )?;
        if block.documents.is_empty() {
            return Ok(());
        }
        let (documents, more) = self.page.limited(&block.documents);
        let text = StyledText::list(documents.iter().cloned(), ", ");
        self.write_line(&text.then(TextRole::Dim, and_more(more)), &rest, &rest, out)
    }

    /// Writes the change of a value, with the places of the edits behind it; on one line if it fits.
    fn write_delta(
        &self,
        delta: &ValueDelta,
        behind: &StyledText,
        indent: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let path = StyledText::name(&delta.path);
        let place = behind.clone().prefixed("  ");
        let others = indent.width() + path.words().width() + 2 + place.words().width();
        let room = self.page.painter.style.columns().saturating_sub(others);
        let value = delta.short(self.lines()).filter(|_| !delta.path.is_empty());
        if let Some((sign, value)) = value.as_ref().and_then(|value| self.short(value, room)) {
            let line = sign.join(path).and(": ").join(value).join(place);
            return writeln!(out, "{indent}{}", self.page.painter.line(&line));
        }
        if !delta.path.is_empty() {
            self.write_line(&path.join(place), indent, &format!("{indent}  "), out)?;
        }
        let room = self
            .page
            .painter
            .style
            .columns()
            .saturating_sub(indent.width() + 2);
        match value
            .filter(|_| self.room.lines == 1)
            .and_then(|value| self.short(&value, room))
        {
            Some((sign, value)) => {
                writeln!(
                    out,
                    "{indent}  {}",
                    self.page.painter.line(&sign.join(value))
                )
            }
            None => self.write_lines_of(delta, self.room.lines, indent, out),
        }
    }

    /// Returns the sign and the text of a value that fits, or can be cut to fit.
    fn short(&self, value: &ShortDelta, room: usize) -> Option<(StyledText, StyledText)> {
        let is_fitting =
            |width: usize| width <= room || (self.room.lines == 1 && room >= MIN_VALUE_WIDTH);
        let dots = self.page.signs.dots;
        match value {
            ShortDelta::Only(sign, text) => {
                let text = clean(text);
                let mark = sign.mark().trim_start();
                let text = is_fitting(mark.width() + text.width())
                    .then(|| cut(&text, 0, room.saturating_sub(mark.width()), dots))?;
                Some((
                    StyledText::of(sign.role(), mark),
                    StyledText::of(sign.role(), text),
                ))
            }
            ShortDelta::Sides(sides) => {
                let sides = sides.each_ref().map(|side| clean(side));
                let arrow = self.page.signs.arrow;
                let width = sides[0].width() + arrow.width() + 2 + sides[1].width();
                let room = room.saturating_sub(arrow.width() + 2);
                let sides = is_fitting(width)
                    .then(|| cut_sides(sides.each_ref().map(|side| &**side), room, dots))?;
                Some((StyledText::default(), StyledText::sides(sides, arrow)))
            }
        }
    }

    fn lines(&self) -> usize {
        if self.is_whole() {
            usize::MAX
        } else {
            self.room.lines
        }
    }

    /// Writes the changed lines of a value.
    fn write_lines_of(
        &self,
        delta: &ValueDelta,
        max: usize,
        indent: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (lines, more) = match &delta.lines[..] {
            _ if self.is_whole() => delta.shortened(usize::MAX),
            // The values around places that are not listed would not show what differs.
            [first, _, ..] if delta.is_cut => (vec![first], 0),
            _ => delta.shortened(max.max(2)),
        };
        let room = self
            .page
            .painter
            .style
            .columns()
            .saturating_sub(indent.width() + 2);
        let focus = delta
            .scalars()
            .map_or(0, |[base, head]| common_start(base, head));
        for line in lines {
            let text = cut(&clean(&line.text), focus, room, self.page.signs.dots);
            let text = format!("{}{text}", line.sign.mark());
            writeln!(
                out,
                "{indent}{}",
                self.page.painter.words(line.sign.role(), &text)
            )?;
        }
        self.page.write_more(more, "line", indent, out)
    }

    fn write_route(&self, route: &RouteEntry, out: &mut dyn Write) -> io::Result<()> {
        self.write_line(&route.title, "  ", "    ", out)?;
        for step in &route.steps {
            let places = if self.is_whole() {
                &step.places
            } else {
                &step.place
            };
            let text = StyledText::list([places.clone(), step.words.clone()], "  ");
            self.write_line(&text, "    ", "      ", out)?;
        }
        Ok(())
    }
}

fn and_more(more: usize) -> String {
    if more == 0 {
        String::new()
    } else {
        format!(" and {more} more (-v)")
    }
}

/// Formats the first file of edits and the number of further ones.
fn files(edits: &[&ReportedEdit]) -> String {
    let files = files_of(edits.iter().copied());
    match (files.first(), files.len()) {
        (None, _) => String::new(),
        (Some(only), 1) => (*only).to_owned(),
        (Some(first), count) => format!("{first} and {}", counted(count - 1, "more file")),
    }
}
