//! Visible content and places of source files, with secrets hidden.
//!
//! A place reveals only the start of a secret: a position inside it is reported at its start, and
//! columns after it are counted as if it were empty, since they would reveal its length.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::printable::clean;
use crate::source::{FileId, RepoPath, Source, SourceMap, Span, offset};
use crate::yaml::emit::HIDDEN;
use crate::yaml::path::{Item, Location, Piece};

/// Source files of a run, with their secret ranges.
#[derive(Debug)]
pub struct View<'a> {
    sources: &'a SourceMap,
    /// Secret ranges by file: sorted, disjoint and nonempty.
    secrets: BTreeMap<FileId, Vec<Range<u32>>>,
    opaque: BTreeSet<FileId>,
}

/// Visible place of a span: lines and columns from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VisiblePlace<'a> {
    /// File that contains it.
    pub(super) path: &'a RepoPath,
    /// Commit of the further repository from which it was read.
    pub(super) commit: Option<&'a Arc<str>>,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_line: usize,
    pub(super) end_column: usize,
    /// Whether the span also covers a secret that begins at its reported end.
    pub(super) covers_secret: bool,
    /// Place in the decoded content, if the file contains it encoded.
    pub(super) decoded: Option<VisibleDecodedPlace<'a>>,
}

/// Visible place of a span in decoded content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VisibleDecodedPlace<'a> {
    /// Name of the decoded content.
    pub(super) name: &'a RepoPath,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_line: usize,
    pub(super) end_column: usize,
}

/// Visible part of a line, without its line break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShownLine {
    /// Content with `(hidden)` for each secret.
    pub(super) text: String,
    /// Ranges of `(hidden)`, in characters.
    pub(super) hidden: Vec<Range<usize>>,
    /// Whether the line begins inside a secret.
    pub(super) continues: bool,
}

impl<'a> View<'a> {
    /// Creates a view of `sources` that hides the spans in `secrets`, and all content of the files
    /// in `opaque`, which may contain undetected secrets.
    pub fn new(sources: &'a SourceMap, secrets: &[Span], opaque: &[FileId]) -> Self {
        let mut sorted: Vec<Span> = secrets
            .iter()
            .copied()
            .filter(|it| it.start < it.end)
            .collect();
        sorted.sort_unstable();
        let mut by_file: BTreeMap<FileId, Vec<Range<u32>>> = BTreeMap::new();
        for span in sorted {
            let ranges = by_file.entry(span.file).or_default();
            match ranges.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                Some(_) | None => ranges.push(span.start..span.end),
            }
        }
        Self {
            sources,
            secrets: by_file,
            opaque: opaque.iter().copied().collect(),
        }
    }

    pub(super) fn source(&self, file: FileId) -> &'a Source {
        self.sources.get(file)
    }

    /// Returns the span at which the content of `span` was written; see [`SourceMap::written`].
    pub(super) fn written(&self, span: Span) -> Span {
        self.sources.written(span)
    }

    /// Whether no content of the file may be shown.
    pub(super) fn is_opaque(&self, file: FileId) -> bool {
        self.opaque.contains(&file)
    }

    /// Returns the secret that contains the character after byte `at`.
    pub(super) fn secret_after(&self, file: FileId, at: u32) -> Option<&Range<u32>> {
        self.first_ending_after(file, at)
            .filter(|secret| secret.start <= at)
    }

    /// Returns the secret that contains the character before byte `at`.
    pub(super) fn secret_before(&self, file: FileId, at: u32) -> Option<&Range<u32>> {
        self.first_ending_after(file, at.checked_sub(1)?)
            .filter(|secret| secret.start < at)
    }

    /// Returns the content of a file with `(hidden)` for secrets on each line; `None` if the
    /// secrets are unknown.
    pub(super) fn masked(&self, file: FileId) -> Option<String> {
        if self.is_opaque(file) {
            return None;
        }
        let text = &**self.source(file).text();
        let mut masked = String::new();
        let mut from = 0;
        for secret in self.secrets_of(file) {
            masked.push_str(&text[from..secret.start as usize]);
            let hidden = &text[secret.start as usize..secret.end as usize];
            let lines = hidden.split_inclusive('\n').map(|line| {
                if line.ends_with('\n') {
                    "(hidden)\n"
                } else {
                    "(hidden)"
                }
            });
            masked.extend(lines);
            from = secret.end as usize;
        }
        masked.push_str(&text[from..]);
        Some(masked)
    }

    /// Returns the visible part of a line (from 0); `None` if the line does not exist or the file is
    /// opaque. An empty remainder after the last line break is not a line.
    pub(super) fn shown_line(&self, file: FileId, line: usize) -> Option<ShownLine> {
        if self.is_opaque(file) {
            return None;
        }
        let text = &**self.source(file).text();
        let range = self.line(file, line);
        self.source(file)
            .lines()
            .start_of(line)
            .filter(|it| *it < offset(text.len()))?;
        let continues = self.continues_secret(file, line);
        let mut shown = ShownLine {
            continues,
            ..ShownLine::default()
        };
        let mut from = range.start;
        for secret in self.secrets_from(file, range.start) {
            if secret.start >= range.end {
                break;
            }
            shown
                .text
                .push_str(&text[from as usize..secret.start.max(from) as usize]);
            let start = shown.text.chars().count();
            shown.text.push_str(HIDDEN);
            shown.hidden.push(start..start + HIDDEN.len());
            from = secret.end.min(range.end);
        }
        shown
            .text
            .push_str(&text[from as usize..range.end as usize]);
        Some(shown)
    }

    /// Whether `span` contains, or may contain, part of a secret.
    pub(crate) fn touches_secret(&self, span: Span) -> bool {
        let next = self.first_ending_after(span.file, span.start);
        self.is_opaque(span.file) || next.is_some_and(|secret| secret.start < span.end)
    }

    /// Whether part of a secret is in `span`, or before it on its line, so that reported columns
    /// differ from those of the file.
    pub(super) fn shifts(&self, span: Span) -> bool {
        let start = self.source(span.file).lines().line_start(span.start);
        self.touches_secret(Span { start, ..span })
    }

    /// Whether a secret continues at the start of a line (from 0).
    pub(super) fn continues_secret(&self, file: FileId, line: usize) -> bool {
        let start = self.source(file).lines().start_of(line);
        let secret = start.and_then(|start| Some((start, self.secret_after(file, start)?)));
        secret.is_some_and(|(start, secret)| secret.start < start)
    }

    /// Returns the byte range of a line (from 0) without its line break.
    pub(super) fn line(&self, file: FileId, line: usize) -> Range<u32> {
        let source = self.source(file);
        let length = offset(source.text().len());
        let start = source.lines().start_of(line).unwrap_or(length);
        let next = source.lines().start_of(line + 1).unwrap_or(length);
        let text = &source.text()[start as usize..next as usize];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        start..start + offset(text.len())
    }

    /// Returns the visible part of `location`: without keys and indices inside a secret.
    pub(super) fn shown_location(&self, location: &Location) -> Location {
        let pieces = &location.0;
        let secret = pieces.iter().position(|piece| match piece {
            Piece::Key(key) => self.secret_after(key.span.file, key.span.start).is_some(),
            Piece::Index(_) => false,
        });
        let Some(secret) = secret else {
            return location.clone();
        };
        let items = pieces[..secret]
            .iter()
            .rev()
            .take_while(|piece| matches!(piece, Piece::Index(_)))
            .count();
        Location(pieces[..secret - items].to_vec())
    }

    /// Returns the visible part of `location` as a path, with list items by name if these are
    /// visible.
    pub(super) fn shown_path(&self, location: &Location, items: &[Item]) -> String {
        let items: Vec<Item> = items
            .iter()
            .filter(|item| {
                let name = item.name.span;
                self.secret_after(name.file, name.start).is_none()
            })
            .cloned()
            .collect();
        self.shown_location(location).with_items(&items).to_string()
    }

    /// Returns the place of a span in its file, including spans in decoded content.
    pub(super) fn place(&self, span: Span) -> VisiblePlace<'a> {
        let written = self.sources.written(span);
        let [(line, column), (end_line, end_column)] = self.ends(written);
        let decoded = (written != span).then(|| {
            let [(line, column), (end_line, end_column)] = self.ends(span);
            VisibleDecodedPlace {
                name: self.source(span.file).path(),
                line,
                column,
                end_line,
                end_column,
            }
        });
        let source = self.source(written.file);
        let covers_secret = self.covers_secret(span);
        let path = source.path();
        let commit = source.commit();
        VisiblePlace {
            path,
            commit,
            line,
            column,
            end_line,
            end_column,
            covers_secret,
            decoded,
        }
    }

    /// Formats the line of a span, with the part and its line if the file contains it encoded.
    pub(crate) fn origin(&self, span: Span) -> String {
        let place = self.place(span);
        let origin = format!("{}:{}", clean(place.path.as_str()), place.line);
        let Some(decoded) = place.decoded else {
            return origin;
        };
        let name = decoded.name.as_str();
        // A part has the name of its file and a number.
        let name = name.strip_prefix(place.path.as_str()).unwrap_or(name);
        format!("{origin} (decoded, {}:{})", clean(name), decoded.line)
    }

    /// Returns line and column, both from 1, of the start of a span in its own content.
    pub(super) fn start(&self, span: Span) -> (usize, usize) {
        self.position(span.file, self.moved_start(span))
    }

    /// Returns line and column of the start and of the end of a span in its own content.
    fn ends(&self, span: Span) -> [(usize, usize); 2] {
        let start = self.moved_start(span);
        [start, self.moved_end(span, start)].map(|at| self.position(span.file, at))
    }

    fn covers_secret(&self, span: Span) -> bool {
        self.secret_before(span.file, span.end).is_some()
    }

    /// Returns the start of `span`, or of the secret that contains it or, on the same line, ends at
    /// it. In an opaque file, returns the start of the line, which is needed to locate and fix the
    /// document.
    fn moved_start(&self, span: Span) -> u32 {
        let at = span.start;
        let lines = self.source(span.file).lines();
        let line = lines.line_start(at);
        match self.secret_before(span.file, at) {
            Some(secret) if at < secret.end || line < at => {
                if self.is_opaque(span.file) {
                    line.max(secret.start)
                } else {
                    secret.start
                }
            }
            Some(_) | None => at,
        }
    }

    /// Returns the end of `span`, or the start of the secret that contains it or ends at it; never
    /// before `start`.
    fn moved_end(&self, span: Span, start: u32) -> u32 {
        let secret = self.secret_before(span.file, span.end);
        secret.map_or(span.end, |secret| secret.start).max(start)
    }

    fn position(&self, file: FileId, at: u32) -> (usize, usize) {
        let source = self.source(file);
        let line = source.lines().line_of(at);
        let start = source
            .lines()
            .start_of(line)
            .expect("every byte is on a line");
        let count = |range: Range<u32>| source.lines().characters(source.text(), range);
        let hidden: usize = self
            .secrets_from(file, start)
            .iter()
            .take_while(|secret| secret.start < at)
            .map(|secret| count(secret.start.max(start)..secret.end.min(at)))
            .sum();
        // Like editors, do not count a byte order mark; one in a secret is already uncounted.
        let has_mark = start == 0 && at > 0 && source.text().starts_with('\u{feff}');
        let mark = usize::from(has_mark && self.secret_after(file, start).is_none());
        (line + 1, count(start..at).saturating_sub(hidden + mark) + 1)
    }

    fn secrets_of(&self, file: FileId) -> &[Range<u32>] {
        self.secrets.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Returns the secrets that end after byte `at`.
    fn secrets_from(&self, file: FileId, at: u32) -> &[Range<u32>] {
        let secrets = self.secrets_of(file);
        &secrets[secrets.partition_point(|secret| secret.end <= at)..]
    }

    fn first_ending_after(&self, file: FileId, at: u32) -> Option<&Range<u32>> {
        self.secrets_from(file, at).first()
    }
}
