//! A stretch of a text, and where it is written: pieces of a specification
//! are pointed at one by one where the scalar is written as it reads.

use std::ops::Range;

use layercake_source::{Span, offset};
use layercake_yaml::{Node, Origin};

use super::strip;

/// A stretch of a scalar's text.
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    /// Where the scalar is written.
    whole: Span,
    /// Where the stretch begins, where that can be told.
    at: Option<u32>,
}

impl<'a> Written<'a> {
    /// The whole text of a scalar; a text that is none is empty.
    pub(super) fn of_node(node: &'a Node) -> Self {
        let text = node.as_str().unwrap_or_default();
        match node.origin {
            Origin::Written => Self::of_text(text, node.span),
            Origin::Derived | Origin::Made => Self { text, whole: node.span, at: None },
        }
    }

    /// A text that is written at `span`.
    pub(super) fn of_text(text: &'a str, span: Span) -> Self {
        Self { text, whole: span, at: beginning(text, span) }
    }

    /// Where the stretch is written: itself, or else the scalar it is in.
    pub(super) fn span(&self) -> Span {
        match self.at {
            Some(at) => Span::new(self.whole.file, at, at + offset(self.text.len())),
            None => self.whole,
        }
    }

    /// The bytes `range` of the stretch; none where there are no such.
    pub(super) fn part(&self, range: Range<usize>) -> Option<Self> {
        let at = self.at.map(|at| at + offset(range.start));
        Some(Self { text: self.text.get(range)?, whole: self.whole, at })
    }

    /// The stretches between the separators.
    pub(super) fn split(&self, separator: char) -> impl Iterator<Item = Written<'a>> {
        let (whole, mut at) = (self.whole, self.at);
        let step = offset(separator.len_utf8());
        self.text.split(separator).map(move |text| {
            let stretch = Written { text, whole, at };
            at = at.map(|at| at + offset(text.len()) + step);
            stretch
        })
    }

    /// Without white space around it.
    pub(super) fn stripped(self) -> Self {
        let text = strip(self.text);
        let cut = offset(text.as_ptr().addr() - self.text.as_ptr().addr());
        Self { text, whole: self.whole, at: self.at.map(|at| at + cut) }
    }
}

/// The place of the first character, where every character is written as
/// itself: in a plain scalar of one line, which is as long as it reads, and in
/// a quoted one without blanks (a plain one that was folded is longer too, but
/// has a blank where it was).
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
