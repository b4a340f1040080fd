//! Kinds of lines, and the lines of one item of a block list, for removing it without other changes.

use layercake_source::{Span, offset};

/// Whether a line begins a document: `---` at its start ends everything above it, including block
/// scalars.
pub fn is_document_marker(line: &str) -> bool {
    let rest = line.trim_start_matches('\u{feff}').strip_prefix("---");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether a line is blank or only a comment.
pub fn is_blank_or_comment(line: &str) -> bool {
    let text = line.trim_start_matches('\u{feff}').trim();
    text.is_empty() || text.starts_with('#')
}

/// Complete lines of the item at `item` of a block list, including the dash; `text` is the text of
/// its file.
///
/// `None` if removing them could affect something else: if the item shares a line with other
/// content, contains an anchor that may be referenced, or follows a comment that may describe it.
pub fn lines_of_item(text: &str, item: Span) -> Option<Span> {
    let range = item.range();
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[start..range.start];
    let behind_dash = before
        .trim_start_matches(' ')
        .strip_prefix('-')?
        .trim_start_matches(' ');
    if !behind_dash.is_empty() || is_comment(text[..start].lines().next_back()) {
        return None;
    }
    let end = end_of_lines(text, start, range.end)?;
    let lines = &text[start..end];
    (!lines.contains('&')).then(|| Span::new(item.file, offset(start), offset(end)))
}

/// End of the last line of an item that ends at `end`; `None` if content other than a comment
/// follows on the line.
fn end_of_lines(text: &str, start: usize, end: usize) -> Option<usize> {
    // The span of a block scalar includes its last line break.
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
