//! The lines of one item of a list in block style, so that it can be taken out
//! of its text and nothing else changes.

use layercake_source::{Span, offset};

/// The whole lines on which the item at `item` of a block list stands, its dash
/// included; `text` is the text of its file.
///
/// None where taking them out could change something else: where the item
/// shares a line with others, holds an anchor that they may name, or stands
/// below a comment that may be about it.
pub fn lines_of_item(text: &str, item: Span) -> Option<Span> {
    let range = item.range();
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[start..range.start];
    let behind_dash = before.trim_start_matches(' ').strip_prefix('-')?.trim_start_matches(' ');
    if !behind_dash.is_empty() || is_comment(text[..start].lines().next_back()) {
        return None;
    }
    let end = end_of_lines(text, start, range.end)?;
    let lines = &text[start..end];
    (!lines.contains('&')).then(|| Span::new(item.file, offset(start), offset(end)))
}

/// Where the last line ends that something up to `end` stands on; none where
/// more than a comment follows on it.
fn end_of_lines(text: &str, start: usize, end: usize) -> Option<usize> {
    // A block scalar ends behind its last line's break.
    if end > start && text[..end].ends_with('\n') {
        return Some(end);
    }
    let rest = &text[end..];
    let line = rest.find('\n').map_or(rest, |at| &rest[..=at]);
    let behind = line.trim();
    let is_free = behind.is_empty() || (line.starts_with([' ', '\t']) && behind.starts_with('#'));
    is_free.then_some(end + line.len())
}

fn is_comment(line: Option<&str>) -> bool {
    line.is_some_and(|line| line.trim_start().starts_with('#'))
}
