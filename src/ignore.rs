//! Comments that say what is not to be reported: `# layercake: ignore[rule]
//! reason`, `ignore-document[...]` and `ignore-file[...]`.
//!
//! Reads the comments of one file, and determines how far each of them reaches. Text that looks
//! like such a comment but is none, because its words are wrong or because it is part of a value,
//! is reported too. Which findings there are is not known here.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::Range;

use crate::diagnostic::{Label, Rule};
use crate::source::{FileId, Source, Span, offset};
use crate::yaml::Comment;

/// The comments of a file that suppress findings.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    /// The valid comments, in the order of the text.
    pub(crate) ignores: Vec<Ignore>,
    /// The comments that look like one and are not valid, in the order of the text.
    pub(crate) malformed: Vec<(Span, Malformed)>,
}

/// One comment that says what is not to be reported.
#[derive(Clone, Debug)]
pub(crate) struct Ignore {
    /// The comment, from its `#` to the end of its reason.
    pub(crate) span: Span,
    /// The word and the text between its brackets, for comparisons of two versions of a file.
    pub(crate) words: String,
    /// The rules it names, as it names them.
    pub(crate) names: Vec<RuleName>,
    /// The reason; empty where it gives none.
    pub(crate) reason: String,
    /// The places that it covers.
    pub(crate) extent: IgnoreExtent,
}

/// One name between the brackets.
#[derive(Clone, Debug)]
pub(crate) struct RuleName {
    /// The name as it is written.
    pub(crate) text: String,
    /// Where.
    pub(crate) span: Span,
    /// The rules it names; none where there is no such rule.
    pub(crate) rules: Vec<&'static Rule>,
}

/// Places that an [`Ignore`] covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreExtent {
    /// To everything on, or beginning at, certain lines.
    Lines {
        /// The line of the comment, from zero: whatever goes over it.
        comment: usize,
        /// The lines it speaks of, from zero: whatever begins there.
        begins: Range<usize>,
    },
    /// To one YAML document.
    Document(Span),
    /// To its file.
    File,
}

impl IgnoreExtent {
    /// Extents of one kind have the order of their comments.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            IgnoreExtent::File => 0,
            IgnoreExtent::Document(_) => 1,
            IgnoreExtent::Lines { .. } => 2,
        }
    }
}

/// Reason why words that look like an [`Ignore`] are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It does not begin with `# layercake:`, but nearly so.
    Misspelt,
    /// There is no such word behind `layercake:`.
    UnknownWord,
    /// No rule is named.
    Nameless,
    /// The bracket is not closed.
    Unclosed,
    /// It is part of a value, and no comment.
    Data,
}

/// Text that replaces a secret.
const HIDDEN: &str = "(hidden)";

/// The beginning of every comment.
const WORD: &str = "layercake:";

/// Endings of the name, in the spellings in use: one of them is in every text that has the name.
const NAME_ENDS: [&str; 3] = ["cake", "Cake", "CAKE"];

const WORDS: [&str; 3] = ["ignore", "ignore-document", "ignore-file"];

/// Reads the comments of a file; `rules` gives the rules that a name means. `comments` are those of
/// the whole file.
pub(crate) fn read(
    file: FileId,
    source: &Source,
    comments: &[Comment],
    rules: &dyn Fn(&str) -> Vec<&'static Rule>,
) -> Comments {
    let text = &**source.text();
    // Nearly all files have comments, and next to none says anything of findings.
    if !NAME_ENDS.iter().any(|end| text.contains(end)) {
        return Comments::default();
    }
    let lines = OnceCell::new();
    let reader = CommentReader { file, source, text, comments, rules, lines };
    let mut read = Comments::default();
    for comment in comments {
        for stretch in directives(text, comment.span.range()) {
            match reader.ignore(stretch.clone()) {
                Ok(ignore) => read.ignores.push(ignore),
                Err(fault) => read.malformed.push((reader.span(stretch), fault)),
            }
        }
    }
    read.malformed.extend(reader.data().map(|span| (span, Malformed::Data)));
    read.malformed.sort_by_key(|(span, _)| *span);
    read
}

impl Comments {
    /// Hides the text of comments inside `secrets`: all but the names of rules.
    pub(crate) fn hide(&mut self, secrets: &[Span]) {
        let mut secrets: Vec<Span> = secrets.to_vec();
        secrets.sort_unstable();
        // The farthest end of all secrets up to each: what one of them contains ends before it.
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
        for ignore in self.ignores.iter_mut().filter(|ignore| is_secret(ignore.span)) {
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

/// The `extents` that cover a place of `label`, as ranges of indices. They are those of comments in
/// the file of the label, which is `source`: by [`IgnoreExtent::kind`], and those of one kind in
/// the order of the text.
pub(crate) fn reaching(
    extents: &[&IgnoreExtent],
    label: &Label,
    source: &Source,
) -> [Range<usize>; 4] {
    let span = label.span;
    let first = source.lines().line_of(span.start);
    let last = source.lines().line_of(span.end.max(span.start + 1) - 1).max(first);
    [
        side_by_side(extents, |extent| match extent {
            IgnoreExtent::File => Ordering::Equal,
            IgnoreExtent::Document(_) | IgnoreExtent::Lines { .. } => Ordering::Greater,
        }),
        side_by_side(extents, |extent| match extent {
            IgnoreExtent::File => Ordering::Less,
            IgnoreExtent::Document(document) => lies(&document.range(), span.start as usize),
            IgnoreExtent::Lines { .. } => Ordering::Greater,
        }),
        side_by_side(extents, |extent| match extent {
            IgnoreExtent::File | IgnoreExtent::Document(_) => Ordering::Less,
            IgnoreExtent::Lines { comment, .. } if *comment > last => Ordering::Greater,
            IgnoreExtent::Lines { comment, .. } => (*comment).cmp(&first).min(Ordering::Equal),
        }),
        side_by_side(extents, |extent| match extent {
            IgnoreExtent::File | IgnoreExtent::Document(_) => Ordering::Less,
            IgnoreExtent::Lines { begins, .. } => lies(begins, first),
        }),
    ]
}

/// The extents that lie neither before nor behind a place. A comment behind another reaches neither
/// less far down nor farther up, so that nothing else is between them.
fn side_by_side(
    extents: &[&IgnoreExtent],
    lies: impl Fn(&IgnoreExtent) -> Ordering,
) -> Range<usize> {
    let from = extents.partition_point(|extent| lies(extent).is_lt());
    from..from + extents[from..].partition_point(|extent| lies(extent).is_eq())
}

/// Where a stretch lies, seen from `place`.
fn lies(stretch: &Range<usize>, place: usize) -> Ordering {
    if stretch.end <= place {
        Ordering::Less
    } else if stretch.start > place {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// The stretches of a comment that begin with `# layercake:`, or nearly so.
fn directives(text: &str, comment: Range<usize>) -> Vec<Range<usize>> {
    let starts: Vec<usize> = text[comment.clone()]
        .match_indices('#')
        .map(|(at, _)| comment.start + at)
        .filter(|at| is_directive(&text[*at..comment.end]))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([comment.end]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn is_directive(text: &str) -> bool {
    comment_text(text)
        .is_some_and(|comment_text| comment_text.starts_with(WORD) || is_near(comment_text))
}

/// The text behind the `#`.
fn comment_text(text: &str) -> Option<&str> {
    text.strip_prefix('#').map(str::trim_start)
}

/// Whether the author means such a comment: `Layercake: ignore[RULE]`, or `layercake ignore[RULE]`.
/// Prose has no bracket there.
fn is_near(comment_text: &str) -> bool {
    if !comment_text.starts_with(['l', 'L']) {
        return false;
    }
    // As long as the words are, and some blanks.
    let comment_text: String =
        comment_text.chars().take(48).map(|it| it.to_ascii_lowercase()).collect();
    let word = comment_text.strip_prefix(WORD.trim_end_matches(':')).map(|rest| {
        rest.trim_start_matches(|it: char| it.is_ascii_whitespace() || ":;,.=-".contains(it))
    });
    let behind = word.and_then(|word| {
        WORDS.iter().find_map(|known| {
            word.strip_prefix(known).filter(|rest| rest.trim_start().starts_with('['))
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
    /// The lines of the text, as soon as a comment speaks of some.
    lines: OnceCell<ContentLines>,
}

/// Lines of a text that hold more than a comment, and those that begin a document.
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
        let comment_text =
            comment_text(whole).and_then(|comment_text| comment_text.strip_prefix(WORD));
        let comment_text = comment_text.ok_or(Malformed::Misspelt)?.trim();
        let end = comment_text.find(|it: char| !it.is_ascii_lowercase() && it != '-');
        let (word, rest) = comment_text.split_at(end.unwrap_or(comment_text.len()));
        if !WORDS.contains(&word) {
            return Err(Malformed::UnknownWord);
        }
        let within = rest.strip_prefix('[').ok_or(Malformed::Nameless)?;
        let (inside, after) = within.split_once(']').ok_or(Malformed::Unclosed)?;
        let names: Vec<RuleName> = inside.split(',').filter_map(|name| self.name(name)).collect();
        if names.is_empty() {
            return Err(Malformed::Nameless);
        }
        // The text behind a further `#` is another comment.
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

    /// The lines that a comment on line `comment` covers: its own; where the line has nothing else,
    /// the first below it that holds more than a comment. On, above or right behind the `---` of a
    /// document, these are the `---` and the next content.
    fn lines(&self, comment: usize) -> IgnoreExtent {
        let begins = if self.is_content(comment) {
            self.beginning_at(comment)
        } else {
            match self.content_before(comment).filter(|line| self.is_marker(*line)) {
                Some(marker) => self.beginning_at(marker),
                None => self.beginning_at(self.content_after(comment)),
            }
        };
        IgnoreExtent::Lines { comment, begins }
    }

    /// The line; where it begins a document, with the first that this holds.
    fn beginning_at(&self, line: usize) -> Range<usize> {
        let next = self.content_after(line);
        let is_its = self.is_marker(line) && !self.is_marker(next);
        let last = if is_its { next } else { line };
        line..last + 1
    }

    fn index(&self) -> &ContentLines {
        self.lines.get_or_init(|| {
            let all = || 0..self.source.lines().count();
            ContentLines {
                content: all().filter(|line| self.is_content(*line)).collect(),
                markers: all().filter(|line| self.is_marker(*line)).collect(),
            }
        })
    }

    /// The last line before `line` that holds more than a comment.
    fn content_before(&self, line: usize) -> Option<usize> {
        last_before(&self.index().content, line)
    }

    /// The first line behind `line` that holds more than a comment.
    fn content_after(&self, line: usize) -> usize {
        first_after(&self.index().content, line).unwrap_or(line)
    }

    /// The document that a comment on `line` belongs to: the one around it, or the next one. Right
    /// behind a `---` it belongs to that document, even if nothing else does.
    fn document(&self, line: usize) -> Range<usize> {
        let next = self.content_after(line);
        let is_behind = self.content_before(line).is_some_and(|before| self.is_marker(before));
        let is_inside = self.is_content(line) || is_behind || next == line;
        let from = if is_inside { line } else { next };
        // A marker begins its own document.
        let markers = &self.index().markers;
        let first = last_before(markers, from + 1).unwrap_or(0);
        let last = first_after(markers, from);
        let end = last.map_or(self.text.len(), |line| self.start_of(line));
        self.start_of(first)..end
    }

    /// `---` at the beginning of a line ends everything above it, scalars of all kinds too.
    fn is_marker(&self, line: usize) -> bool {
        let text = self.line(line).trim_start_matches('\u{feff}');
        text.strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    }

    fn is_content(&self, line: usize) -> bool {
        let text = self.line(line).trim_start_matches('\u{feff}').trim();
        !text.is_empty() && !text.starts_with('#')
    }

    fn line(&self, line: usize) -> &str {
        self.text[self.start_of(line)..self.start_of(line + 1)].trim_end()
    }

    fn start_of(&self, line: usize) -> usize {
        self.source.lines().start_of(line).map_or(self.text.len(), |start| start as usize)
    }

    fn line_of(&self, at: usize) -> usize {
        self.source.lines().line_of(offset(at))
    }

    /// Text that reads like one of these comments and is part of a value.
    fn data(&self) -> impl Iterator<Item = Span> {
        let found = self.text.match_indices(WORD).filter_map(|(at, _)| {
            let before = self.text[..at].trim_end_matches([' ', '\t']);
            let start = before.strip_suffix('#')?.len();
            let line = &self.text[start..self.start_of(self.line_of(start) + 1)];
            let comment_text = line.split_once(WORD)?.1.trim_start();
            comment_text.starts_with("ignore").then(|| self.span(start..start + line.len()))
        });
        found.filter(|span| {
            let point = Span::point(self.file, span.start);
            let behind = self.comments.partition_point(|comment| comment.span.end < point.start);
            !self.comments[behind..].first().is_some_and(|comment| comment.span.contains(point))
        })
    }
}

/// The last of some sorted numbers below `limit`.
fn last_before(sorted: &[usize], limit: usize) -> Option<usize> {
    sorted[..sorted.partition_point(|number| *number < limit)].last().copied()
}

/// The first of some sorted numbers above `limit`.
fn first_after(sorted: &[usize], limit: usize) -> Option<usize> {
    sorted.get(sorted.partition_point(|number| *number <= limit)).copied()
}

/// Where `part` begins in the `text` that it was cut from.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
