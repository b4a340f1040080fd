//! Parts of a string with their spans, so that diagnostics can point to parts of a specification if
//! the source of the scalar equals its value.

use std::ops::Range;

use layercake_source::{Span, offset};
use layercake_yaml::{Node, Origin};

use super::strip;

/// Part of a scalar's string.
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    /// Span of the scalar.
    whole: Span,
    /// Offset of the part in the file, if known.
    at: Option<u32>,
}

impl<'a> Written<'a> {
    /// Creates a part from the whole string of a scalar; empty for other values.
    pub(super) fn of_node(node: &'a Node) -> Self {
        let text = node.as_str().unwrap_or_default();
        match node.origin {
            Origin::Written => Self::of_text(text, node.span),
            Origin::Derived | Origin::Made => Self {
                text,
                whole: node.span,
                at: None,
            },
        }
    }

    /// Creates a part from a string with this span.
    pub(super) fn of_text(text: &'a str, span: Span) -> Self {
        Self {
            text,
            whole: span,
            at: beginning(text, span),
        }
    }

    /// Returns the span of the part, or of the whole scalar if unknown.
    pub(super) fn span(&self) -> Span {
        match self.at {
            Some(at) => Span::new(self.whole.file, at, at + offset(self.text.len())),
            None => self.whole,
        }
    }

    /// Returns the byte range of the part, if valid.
    pub(super) fn part(&self, range: Range<usize>) -> Option<Self> {
        let at = self.at.map(|at| at + offset(range.start));
        Some(Self {
            text: self.text.get(range)?,
            whole: self.whole,
            at,
        })
    }

    /// Iterates over the parts between the separators.
    pub(super) fn split(&self, separator: char) -> impl Iterator<Item = Written<'a>> {
        let whole = self.whole;
        let mut at = self.at;
        let step = offset(separator.len_utf8());
        self.text.split(separator).map(move |text| {
            let stretch = Written { text, whole, at };
            at = at.map(|at| at + offset(text.len()) + step);
            stretch
        })
    }

    /// Returns the part without surrounding white space.
    pub(super) fn stripped(self) -> Self {
        let text = strip(self.text);
        let cut = offset(text.as_ptr().addr() - self.text.as_ptr().addr());
        Self {
            text,
            whole: self.whole,
            at: self.at.map(|at| at + cut),
        }
    }
}

/// Returns the offset of the first character if the source equals the value. This is the case for a
/// plain scalar on one line, whose source has the same length, and for a quoted one without blanks.
/// The source of a folded plain scalar is longer too, but its value contains a blank.
fn beginning(text: &str, span: Span) -> Option<u32> {
    if !text.is_ascii() {
        return None;
    }
    let longer = (span.end - span.start).checked_sub(offset(text.len()))?;
    match longer {
        0 => Some(span.start),
        2 if !text.contains(|it: char| it.is_ascii_whitespace()) => Some(span.start + 1),
        _ => None,
    }
}
