//! Ignore comments: `# layercake: ignore[rule] reason`, `ignore-document[...]` and
//! `ignore-file[...]`.
//!
//! Parses the comments of one file and determines their extents. Malformed comments, and text
//! inside of values that looks like one, are reported. This module does not know the findings.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::Range;

use crate::diagnostic::{Label, Rule};
use crate::source::{FileId, Source, Span, offset};
use crate::yaml::{Comment, is_blank_or_comment, is_document_marker};

/// The comments of a file that suppress findings.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    /// Valid comments, in text order.
    pub(crate) ignores: Vec<Ignore>,
    /// Malformed comments, in text order.
    pub(crate) malformed: Vec<(Span, Malformed)>,
}

/// An ignore comment.
#[derive(Clone, Debug)]
pub(crate) struct Ignore {
    /// Span from the `#` to the end of the reason.
    pub(crate) span: Span,
    /// Directive with its brackets, for comparing two versions of a file.
    pub(crate) words: String,
    /// Named rules, as written.
    pub(crate) names: Vec<RuleName>,
    /// Reason; may be empty.
    pub(crate) reason: String,
    pub(crate) extent: IgnoreExtent,
}

/// A name between the brackets.
#[derive(Clone, Debug)]
pub(crate) struct RuleName {
    /// Name as written.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Matching rules; empty if the name is unknown.
    pub(crate) rules: Vec<&'static Rule>,
}

/// Locations that an [`Ignore`] covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreExtent {
    /// Certain lines.
    Lines {
        /// Line of the comment, from zero: covers everything that crosses it.
        comment: usize,
        /// Covered lines, from zero: covers everything that begins there.
        begins: Range<usize>,
    },
    /// One YAML document.
    Document(Span),
    /// The whole file.
    File,
}

impl IgnoreExtent {
    /// Sort key; extents of one kind have the order of their comments.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            IgnoreExtent::File => 0,
            IgnoreExtent::Document(_) => 1,
            IgnoreExtent::Lines { .. } => 2,
        }
    }
}

/// Reason for rejecting text that looks like an [`Ignore`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It resembles `# layercake:`.
    Misspelt,
    /// The word after `layercake:` is unknown.
    UnknownWord,
    /// No rule is named.
    Nameless,
    /// The bracket is not closed.
    Unclosed,
    /// It is part of a value, not a comment.
    Data,
}

/// Placeholder for secrets.
const HIDDEN: &str = "(hidden)";

/// Prefix of every ignore comment.
const WORD: &str = "layercake:";

/// Endings of the name in common spellings; every text with the name contains one of them.
const NAME_ENDS: [&str; 3] = ["cake", "Cake", "CAKE"];

const WORDS: [&str; 3] = ["ignore", "ignore-document", "ignore-file"];

/// Parses `comments`, which are all comments of a file; `rules` resolves a name to rules.
pub(crate) fn read(
    file: FileId,
    source: &Source,
    comments: &[Comment],
    rules: &dyn Fn(&str) -> Vec<&'static Rule>,
) -> Comments {
    let text = &**source.text();
    // Fast path: few files have ignore comments.
    if !NAME_ENDS.iter().any(|end| text.contains(end)) {
        return Comments::default();
    }
    let lines = OnceCell::new();
    let reader = CommentReader {
        file,
        source,
        text,
        comments,
        rules,
        lines,
    };
    let mut read = Comments::default();
    for comment in comments {
        for stretch in directives(text, comment.span.range()) {
            match reader.ignore(stretch.clone()) {
                Ok(ignore) => read.ignores.push(ignore),
                Err(fault) => read.malformed.push((reader.span(stretch), fault)),
            }
        }
    }
    read.malformed
        .extend(reader.data().map(|span| (span, Malformed::Data)));
    read.malformed.sort_by_key(|(span, _)| *span);
    read
}

impl Comments {
    /// Hides the text of comments inside `secrets`, except the names of rules.
    pub(crate) fn hide(&mut self, secrets: &[Span]) {
        let mut secrets: Vec<Span> = secrets.to_vec();
        secrets.sort_unstable();
        // Largest end of all secrets up to each index: any span that starts later and ends before
        // it is covered.
        let ends: Vec<u32> = secrets
            .iter()
            .scan(0, |farthest, secret| {
                *farthest = secret.end.max(*farthest);
                Some(*farthest)
            })
            .collect();
        let is_secret = |span: Span| {
            let before = secrets.partition_point(|secret| secret.start <= span.start);
            ends[..before].last().is_some_and(|end| span.end <= *end)
        };
        for ignore in self
            .ignores
            .iter_mut()
            .filter(|ignore| is_secret(ignore.span))
        {
            if !ignore.reason.is_empty() {
                HIDDEN.clone_into(&mut ignore.reason);
            }
            for name in ignore.names.iter_mut().filter(|name| name.rules.is_empty()) {
                HIDDEN.clone_into(&mut name.text);
            }
            let names: Vec<&str> = ignore.names.iter().map(|name| &*name.text).collect();
            let word = ignore.words.split('[').next().unwrap_or_default();
            ignore.words = format!("{word}[{}]", names.join(", "));
        }
    }
}

/// Ranges of indices of the `extents` that cover a location of `label`. All extents are of the file
/// `source`, sorted by [`IgnoreExtent::kind`] and then by text order.
pub(crate) fn reaching(
    extents: &[&IgnoreExtent],
    label: &Label,
    source: &Source,
) -> [Range<usize>; 4] {
    let span = label.span;
    let first = source.lines().line_of(span.start);
    let last = source
        .lines()
        .line_of(span.end.max(span.start + 1) - 1)
        .max(first);
    [
        equal_range(extents, |extent| match extent {
            IgnoreExtent::File => Ordering::Equal,
            IgnoreExtent::Document(_) | IgnoreExtent::Lines { .. } => Ordering::Greater,
        }),
        equal_range(extents, |extent| match extent {
            IgnoreExtent::File => Ordering::Less,
            IgnoreExtent::Document(document) => lies(&document.range(), span.start as usize),
            IgnoreExtent::Lines { .. } => Ordering::Greater,
        }),
        equal_range(extents, |extent| match extent {
            IgnoreExtent::File | IgnoreExtent::Document(_) => Ordering::Less,
            IgnoreExtent::Lines { comment, .. } if *comment > last => Ordering::Greater,
            IgnoreExtent::Lines { comment, .. } => (*comment).cmp(&first).min(Ordering::Equal),
        }),
        equal_range(extents, |extent| match extent {
            IgnoreExtent::File | IgnoreExtent::Document(_) => Ordering::Less,
            IgnoreExtent::Lines { begins, .. } => lies(begins, first),
        }),
    ]
}

/// Range of the extents that compare equal. Extents of later comments neither start nor end
/// earlier, so the range is contiguous.
fn equal_range(
    extents: &[&IgnoreExtent],
    lies: impl Fn(&IgnoreExtent) -> Ordering,
) -> Range<usize> {
    let from = extents.partition_point(|extent| lies(extent).is_lt());
    from..from + extents[from..].partition_point(|extent| lies(extent).is_eq())
}

/// Position of `stretch` relative to `place`.
fn lies(stretch: &Range<usize>, place: usize) -> Ordering {
    if stretch.end <= place {
        Ordering::Less
    } else if stretch.start > place {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// Parts of a comment that begin with `# layercake:` or a near miss.
fn directives(text: &str, comment: Range<usize>) -> Vec<Range<usize>> {
    let starts: Vec<usize> = text[comment.clone()]
        .match_indices('#')
        .map(|(at, _)| comment.start + at)
        .filter(|at| is_directive(&text[*at..comment.end]))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([comment.end]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}

fn is_directive(text: &str) -> bool {
    comment_text(text)
        .is_some_and(|comment_text| comment_text.starts_with(WORD) || is_near_miss(comment_text))
}

/// Text after the `#`.
fn comment_text(text: &str) -> Option<&str> {
    text.strip_prefix('#').map(str::trim_start)
}

/// Whether the text is a near miss such as `Layercake: ignore[RULE]` or `layercake ignore[RULE]`.
/// Prose has no bracket at this position.
fn is_near_miss(comment_text: &str) -> bool {
    if !comment_text.starts_with(['l', 'L']) {
        return false;
    }
    // Long enough for all directives and some blanks.
    let comment_text: String = comment_text
        .chars()
        .take(48)
        .map(|it| it.to_ascii_lowercase())
        .collect();
    let word = comment_text
        .strip_prefix(WORD.trim_end_matches(':'))
        .map(|rest| {
            rest.trim_start_matches(|it: char| it.is_ascii_whitespace() || ":;,.=-".contains(it))
        });
    let behind = word.and_then(|word| {
        WORDS.iter().find_map(|known| {
            word.strip_prefix(known)
                .filter(|rest| rest.trim_start().starts_with('['))
        })
    });
    behind.is_some()
}

struct CommentReader<'a> {
    file: FileId,
    source: &'a Source,
    text: &'a str,
    comments: &'a [Comment],
    rules: &'a dyn Fn(&str) -> Vec<&'static Rule>,
    /// Index of the lines, computed on first use.
    lines: OnceCell<ContentLines>,
}

/// Lines with content other than comments, and lines that begin a document.
struct ContentLines {
    content: Vec<usize>,
    markers: Vec<usize>,
}

impl CommentReader<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        let length = self.text[range.clone()].trim_end().len();
        Span::new(self.file, offset(range.start), offset(range.start + length))
    }

    fn ignore(&self, stretch: Range<usize>) -> Result<Ignore, Malformed> {
        let whole = &self.text[stretch.clone()];
        let comment_text = comment_text(whole)
            .and_then(|comment_text| comment_text.strip_prefix(WORD))
            .ok_or(Malformed::Misspelt)?
            .trim();
        let end = comment_text.find(|it: char| !it.is_ascii_lowercase() && it != '-');
        let (word, rest) = comment_text.split_at(end.unwrap_or(comment_text.len()));
        if !WORDS.contains(&word) {
            return Err(Malformed::UnknownWord);
        }
        let within = rest.strip_prefix('[').ok_or(Malformed::Nameless)?;
        let (inside, after) = within.split_once(']').ok_or(Malformed::Unclosed)?;
        let names: Vec<RuleName> = inside
            .split(',')
            .filter_map(|name| self.name(name))
            .collect();
        if names.is_empty() {
            return Err(Malformed::Nameless);
        }
        // A further `#` begins another comment.
        let reason = after.split('#').next().unwrap_or_default();
        let end = offset_in(self.text, reason) + reason.trim_end().len();
        Ok(Ignore {
            span: self.span(stretch.start..end),
            words: format!("{word}[{inside}]"),
            names,
            reason: reason.trim().to_owned(),
            extent: self.extent(word, stretch.start),
        })
    }

    fn name(&self, text: &str) -> Option<RuleName> {
        let name = text.trim();
        let start = offset_in(self.text, name);
        let span = Span::new(self.file, offset(start), offset(start + name.len()));
        (!name.is_empty()).then(|| RuleName {
            text: name.to_owned(),
            span,
            rules: (self.rules)(name),
        })
    }

    fn extent(&self, word: &str, at: usize) -> IgnoreExtent {
        match word {
            "ignore-file" => IgnoreExtent::File,
            "ignore-document" => {
                let document = self.document(self.line_of(at));
                IgnoreExtent::Document(Span::new(
                    self.file,
                    offset(document.start),
                    offset(document.end),
                ))
            }
            _ => self.lines(self.line_of(at)),
        }
    }

    /// Lines covered by a comment on line `comment`: its own or, if the line has no other content,
    /// the next line with content. A comment on, above or right after the `---` of a document
    /// covers the `---` and the next content.
    fn lines(&self, comment: usize) -> IgnoreExtent {
        let first = if is_blank_or_comment(self.line(comment)) {
            let before = self.content_before(comment);
            let marker = before.filter(|line| is_document_marker(self.line(*line)));
            marker.unwrap_or_else(|| self.content_after(comment))
        } else {
            comment
        };
        let begins = self.lines_from(first);
        IgnoreExtent::Lines { comment, begins }
    }

    /// The line; for a document marker, also the first content line of the document.
    fn lines_from(&self, line: usize) -> Range<usize> {
        let next = self.content_after(line);
        let is_its = is_document_marker(self.line(line)) && !is_document_marker(self.line(next));
        let last = if is_its { next } else { line };
        line..last + 1
    }

    fn index(&self) -> &ContentLines {
        self.lines.get_or_init(|| {
            let all = || 0..self.source.lines().count();
            ContentLines {
                content: all()
                    .filter(|line| !is_blank_or_comment(self.line(*line)))
                    .collect(),
                markers: all()
                    .filter(|line| is_document_marker(self.line(*line)))
                    .collect(),
            }
        })
    }

    /// Last content line before `line`.
    fn content_before(&self, line: usize) -> Option<usize> {
        last_before(&self.index().content, line)
    }

    /// First content line after `line`.
    fn content_after(&self, line: usize) -> usize {
        first_after(&self.index().content, line).unwrap_or(line)
    }

    /// Document that a comment on `line` belongs to: the surrounding one, or else the next one.
    /// Right after a `---` it belongs to that document, even if the document is empty.
    fn document(&self, line: usize) -> Range<usize> {
        let next = self.content_after(line);
        let is_behind = self
            .content_before(line)
            .is_some_and(|before| is_document_marker(self.line(before)));
        let is_inside = !is_blank_or_comment(self.line(line)) || is_behind || next == line;
        let from = if is_inside { line } else { next };
        // A document marker belongs to the document that it begins.
        let markers = &self.index().markers;
        let first = last_before(markers, from + 1).unwrap_or(0);
        let last = first_after(markers, from);
        let end = last.map_or(self.text.len(), |line| self.start_of(line));
        self.start_of(first)..end
    }

    fn line(&self, line: usize) -> &str {
        self.text[self.start_of(line)..self.start_of(line + 1)].trim_end()
    }

    fn start_of(&self, line: usize) -> usize {
        self.source
            .lines()
            .start_of(line)
            .map_or(self.text.len(), |start| start as usize)
    }

    fn line_of(&self, at: usize) -> usize {
        self.source.lines().line_of(offset(at))
    }

    /// Spans of text that looks like an ignore comment but is part of a value.
    fn data(&self) -> impl Iterator<Item = Span> {
        let found = self.text.match_indices(WORD).filter_map(|(at, _)| {
            let before = self.text[..at].trim_end_matches([' ', '\t']);
            let start = before.strip_suffix('#')?.len();
            let line = &self.text[start..self.start_of(self.line_of(start) + 1)];
            let comment_text = line.split_once(WORD)?.1.trim_start();
            comment_text
                .starts_with("ignore")
                .then(|| self.span(start..start + line.len()))
        });
        found.filter(|span| {
            let point = Span::point(self.file, span.start);
            let behind = self
                .comments
                .partition_point(|comment| comment.span.end < point.start);
            !self.comments[behind..]
                .first()
                .is_some_and(|comment| comment.span.contains(point))
        })
    }
}

/// Last number below `limit` in a sorted slice.
fn last_before(sorted: &[usize], limit: usize) -> Option<usize> {
    sorted[..sorted.partition_point(|number| *number < limit)]
        .last()
        .copied()
}

/// First number above `limit` in a sorted slice.
fn first_after(sorted: &[usize], limit: usize) -> Option<usize> {
    sorted
        .get(sorted.partition_point(|number| *number <= limit))
        .copied()
}

/// Offset of `part` in the `text` that contains it.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
