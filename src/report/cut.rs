//! Truncation of text to a number of columns around what matters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Truncates both sides of a change so that together they take at most `room` columns, around the
/// first character that differs. A short side leaves its room to the other.
pub(super) fn cut_sides([base, head]: [&str; 2], room: usize, dots: &str) -> [String; 2] {
    let rooms = match [base.width(), head.width()] {
        [base, head] if base + head <= room => [base, head],
        [base, _] if base <= room / 2 => [base, room - base],
        [_, head] if head <= room / 2 => [room - head, head],
        [..] => [room / 2, room / 2],
    };
    let alike = common_start(base, head);
    [
        cut(base, alike, rooms[0], dots),
        cut(head, alike, rooms[1], dots),
    ]
}

/// Returns the number of characters with which both texts start.
pub(super) fn common_start(one: &str, other: &str) -> usize {
    common(one.chars(), other.chars()).count()
}

/// Returns the length in bytes of the common start of two texts, or of their ends in reverse.
pub(super) fn common_length(
    one: impl Iterator<Item = char>,
    other: impl Iterator<Item = char>,
) -> usize {
    common(one, other).map(char::len_utf8).sum()
}

fn common(
    one: impl Iterator<Item = char>,
    other: impl Iterator<Item = char>,
) -> impl Iterator<Item = char> {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .map(|(character, _)| character)
}

/// Truncates `text` to `room` columns around the character `focus`.
pub(super) fn cut(text: &str, focus: usize, room: usize, dots: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let widths: Vec<usize> = text.chars().map(|it| it.width().unwrap_or(0)).collect();
    let start = first_shown(&widths, focus, room, dots.width());
    let mut line = if start > 0 {
        dots.to_owned()
    } else {
        String::new()
    };
    let mut left = room.saturating_sub(line.width());
    let fits = widths[start..].iter().sum::<usize>() <= left;
    if !fits {
        left = left.saturating_sub(dots.width());
    }
    for (character, width) in text.chars().zip(&widths).skip(start) {
        if *width > left {
            break;
        }
        left -= width;
        line.push(character);
    }
    if !fits {
        line.push_str(dots);
    }
    line
}

/// Returns the first visible character of a line that is too wide, so that a third of the room
/// remains before `focus` and no room is wasted.
fn first_shown(widths: &[usize], focus: usize, room: usize, dots: usize) -> usize {
    let mut before: usize = widths[..focus.min(widths.len())].iter().sum();
    let mut all: usize = widths.iter().sum();
    let mut start = 0;
    while before > room / 3 && all + dots > room {
        before = before.saturating_sub(widths[start]);
        all -= widths[start];
        start += 1;
    }
    // Show the characters that the dots would replace, if they fit.
    if start <= dots { 0 } else { start }
}
