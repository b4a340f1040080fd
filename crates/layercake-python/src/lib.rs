//! Python's regular expressions, replacement templates and value formatting.
//!
//! Deckhand passes the patterns of substitutions to Python's `re`, and inserted values to `str`
//! (`deckhand.md` 12.4). [`Pattern`] parses a pattern as Python 3.11 does, rejects what Python
//! rejects, and translates the rest for the underlying engine. [`python_text`] is Python's `str`.
//!
//! A search that takes too many steps, or a replacement that grows too large, returns a
//! [`PatternFailure`], so that no pattern can hang the process or exhaust memory.
//!
//! # Modules
//!
//! Lowest first; a module uses only those above it in this list, and the items of the crate root.
//!
//! - `translate`: parsing of a pattern, and its translation for the engine
//! - `template`: replacement templates
//! - `text`: values as Python's `str` and `repr` format them

mod template;
mod text;
mod translate;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use fancy_regex::{Regex, RegexBuilder};

use parking_lot::Mutex;
use template::TemplateError;
pub use template::TemplateErrorKind;
use template::{Piece, Template};
pub use text::{float_repr, python_text};

/// Maximum length of a string after replacement, in bytes.
pub const MAX_OUTPUT: usize = 16 * 1024 * 1024;
/// Maximum number of backtracking steps of a search.
pub const MAX_BACKTRACKS: usize = 1_000_000;
/// Maximum number of backtracking steps of all searches of one document, not counting searches with
/// few steps.
pub const MAX_EFFORT: usize = 5 * MAX_BACKTRACKS;
/// Maximum number of bytes after the matches that the patterns of one document may scan, counted
/// again for each match: an engine may scan to the end of the string before it accepts a match, and
/// again for the next one.
pub const MAX_LOOKS: usize = 1_000_000_000;
/// Maximum number of backtracking steps of all searches of a run. Each document of each site has an
/// equal share, at most [`MAX_EFFORT`].
pub const MAX_EFFORT_OF_RUN: usize = 20 * MAX_EFFORT;
/// Maximum number of bytes after their matches that all patterns of a run scan, shared in the same
/// way.
pub const MAX_LOOKS_OF_RUN: usize = 4 * MAX_LOOKS;
/// Backtracking limits of the attempts of a search; the next limit applies if the previous one was
/// too low. The engine does not report its steps, so the limit of the attempt is counted instead.
const TIERS: [usize; 4] = [
    MAX_BACKTRACKS / 1000,
    MAX_BACKTRACKS / 100,
    MAX_BACKTRACKS / 10,
    MAX_BACKTRACKS,
];
/// Maximum memory of one compiled pattern, in bytes.
const MAX_SIZE: usize = 10 * 1024 * 1024;

/// Regular expression of Python's `re`. Cheap to clone.
#[derive(Clone)]
pub struct Pattern {
    inner: Arc<Inner>,
}

struct Inner {
    text: Box<str>,
    matcher: Matcher,
}

enum Matcher {
    /// A pattern without metacharacters, or with one group around such a pattern. Searched without
    /// the engine.
    Literal {
        text: Box<str>,
        groups: usize,
    },
    Expression(Box<Expression>),
    /// A pattern that Python cannot compile.
    Unusable,
}

struct Expression {
    engine: Engine,
    /// Variant that does not match the empty string at the start of the search.
    advancing: Engine,
    source: translate::Translation,
}

/// A regular expression for each of [`TIERS`], compiled on first use.
struct Engine {
    pattern: String,
    tiers: [OnceLock<Option<Regex>>; TIERS.len()],
}

/// Remaining limits for searches.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of backtracking steps.
    backtracks: usize,
    /// Number of bytes that may be scanned again.
    looks: usize,
}

impl Default for Effort {
    /// Returns the limits of one document.
    fn default() -> Self {
        Self {
            backtracks: MAX_EFFORT,
            looks: MAX_LOOKS,
        }
    }
}

impl Effort {
    /// Returns the share of each of `documents` documents. It depends only on their number, so that
    /// results depend neither on their order nor on the number of threads.
    pub fn share_of(documents: u64) -> Self {
        let documents = usize::try_from(documents).unwrap_or(usize::MAX).max(1);
        Self {
            backtracks: MAX_EFFORT.min(MAX_EFFORT_OF_RUN / documents),
            looks: MAX_LOOKS.min(MAX_LOOKS_OF_RUN / documents),
        }
    }

    /// Returns whether searches that succeeded with `other` succeed with this.
    pub fn covers(&self, other: &Self) -> bool {
        self.backtracks >= other.backtracks && self.looks >= other.looks
    }

    /// Returns whether no backtracking is left, except for the free first attempt.
    pub fn is_spent(&self) -> bool {
        self.backtracks == 0
    }

    fn backtrack(&mut self, backtracks: usize) -> Result<(), PatternFailure> {
        spend(&mut self.backtracks, backtracks)
    }

    fn scan_again(&mut self, bytes: usize) -> Result<(), PatternFailure> {
        spend(&mut self.looks, bytes)
    }
}

fn spend(left: &mut usize, cost: usize) -> Result<(), PatternFailure> {
    let rest = left.checked_sub(cost);
    *left = rest.unwrap_or(0);
    rest.map(drop).ok_or(PatternFailure::TooManySteps)
}

/// Reason why a string is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// Byte offset of the error in the pattern, if any.
    pub at: Option<usize>,
    /// Error message: lower case, one line.
    pub message: String,
    /// Whether Python supports the pattern, and only this implementation does not.
    pub is_unsupported: bool,
}

/// Reason why a pattern could not be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternFailure {
    /// The search takes too many steps.
    TooManySteps,
    /// The result would be longer than [`MAX_OUTPUT`].
    OutputTooLarge,
    /// The replacement is not a valid template. Python also parses it if nothing matches.
    Template(TemplateError),
}

/// Groups captured by a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures<'t> {
    groups: Vec<Option<&'t str>>,
}

/// Replacement of each match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement<'a> {
    /// A literal string.
    Literal(&'a str),
    /// A template of Python's `re.sub`: `\1`, `\g<name>`, `\n`.
    Template(&'a str),
}

/// Cache of compiled patterns: compiling one takes as long as reading a file, and most occur many
/// times.
#[derive(Debug, Default)]
pub struct Patterns {
    known: Mutex<HashMap<Box<str>, Pattern, foldhash::fast::RandomState>>,
}

impl Patterns {
    /// Parses `text`, or returns the cached pattern.
    ///
    /// # Errors
    /// As [`Pattern::parse`].
    pub fn parse(&self, text: &str) -> Result<Pattern, PatternError> {
        if let Some(known) = self.known.lock().get(text) {
            return Ok(known.clone());
        }
        let pattern = Pattern::parse(text)?;
        self.known.lock().insert(text.into(), pattern.clone());
        Ok(pattern)
    }

    /// Frees the patterns that only this cache has.
    pub fn forget_unused(&self) {
        self.known
            .lock()
            .retain(|_, pattern| Arc::strong_count(&pattern.inner) > 1);
    }
}

impl Pattern {
    /// Parses `text`.
    ///
    /// # Errors
    /// If it is not a valid regular expression of Python.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let grouped = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let literal = grouped.map_or((text, 0), |inner| (inner, 1));
        let matcher = match literal {
            (text, groups) if !text.contains(is_special) => Matcher::Literal {
                text: text.into(),
                groups,
            },
            _ => Matcher::Expression(Box::new(Expression::compile(text)?)),
        };
        Ok(Self {
            inner: Arc::new(Inner {
                text: text.into(),
                matcher,
            }),
        })
    }

    /// Creates a pattern that matches nothing from an invalid one. Deckhand only compiles a pattern
    /// if the value contains it literally, so an invalid one may never fail there.
    pub fn unusable(text: &str) -> Self {
        Self {
            inner: Arc::new(Inner {
                text: text.into(),
                matcher: Matcher::Unusable,
            }),
        }
    }

    /// Returns whether the pattern can be applied.
    pub fn is_usable(&self) -> bool {
        !matches!(self.inner.matcher, Matcher::Unusable)
    }

    /// Returns the pattern as written.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Returns the first match in `text`, as Python's `re.search` does.
    ///
    /// # Errors
    /// If the search takes too long.
    pub fn search<'t>(&self, text: &'t str) -> Result<Option<Captures<'t>>, PatternFailure> {
        self.search_within(text, &mut Effort::default())
    }

    /// As [`Pattern::search`], with the remaining limits of several searches.
    ///
    /// # Errors
    /// If the search takes too long.
    pub fn search_within<'t>(
        &self,
        text: &'t str,
        effort: &mut Effort,
    ) -> Result<Option<Captures<'t>>, PatternFailure> {
        let Some(spans) = self.find(text, 0, Empty::Allowed, effort)? else {
            return Ok(None);
        };
        let groups = spans
            .iter()
            .map(|span| span.map(|(start, end)| &text[start..end]));
        Ok(Some(Captures {
            groups: groups.collect(),
        }))
    }

    /// Returns `text` with every match replaced, and the number of matches, as Python's `re.sub`
    /// does. Since 3.7 it also replaces an empty match directly after another match.
    ///
    /// # Errors
    /// If the search takes too long, the result grows too large, or the template is not valid in
    /// Python.
    pub fn replace_all(
        &self,
        text: &str,
        replacement: Replacement<'_>,
    ) -> Result<(String, usize), PatternFailure> {
        self.replace_all_within(text, replacement, &mut Effort::default())
    }

    /// As [`Pattern::replace_all`], with the remaining limits of several searches.
    ///
    /// # Errors
    /// As [`Pattern::replace_all`].
    pub fn replace_all_within(
        &self,
        text: &str,
        replacement: Replacement<'_>,
        effort: &mut Effort,
    ) -> Result<(String, usize), PatternFailure> {
        let template = match replacement {
            Replacement::Literal(literal) => Template::literal(literal),
            Replacement::Template(template) => {
                Template::parse(template, self.groups(), |name| self.group_named(name))
                    .map_err(PatternFailure::Template)?
            }
        };
        let mut output = Output(String::new());
        let mut copied = 0;
        let mut from = 0;
        let mut count = 0;
        let mut empty = Empty::Allowed;
        while let Some(spans) = self.find(text, from, empty, effort)? {
            let (start, end) = spans[0].expect("group 0 always participates");
            output.push(&text[copied..start])?;
            for piece in template.pieces() {
                match piece {
                    Piece::Text(text) => output.push(text)?,
                    Piece::Group(group) => {
                        let (start, end) = spans[*group].unwrap_or_default();
                        output.push(&text[start..end])?;
                    }
                }
            }
            (copied, from) = (end, end);
            count += 1;
            empty = if start == end {
                Empty::NotAtStart
            } else {
                Empty::Allowed
            };
        }
        output.push(&text[copied..])?;
        Ok((output.0, count))
    }

    /// Returns the spans of the groups of the first match from byte `from` on.
    fn find(
        &self,
        text: &str,
        from: usize,
        empty: Empty,
        effort: &mut Effort,
    ) -> Result<Option<Spans>, PatternFailure> {
        let expression = match &self.inner.matcher {
            Matcher::Literal {
                text: literal,
                groups,
            } => {
                let found = find_literal(literal, text, from, empty);
                return Ok(found.map(|span| vec![Some(span); 1 + groups]));
            }
            Matcher::Unusable => return Ok(None),
            Matcher::Expression(expression) => expression,
        };
        if from > 0 {
            effort.scan_again(text.len() - from)?;
        }
        let engine = match empty {
            Empty::Allowed => &expression.engine,
            Empty::NotAtStart => &expression.advancing,
        };
        engine.captures(text, from, effort)
    }

    /// Returns the number of groups, not counting the whole match.
    fn groups(&self) -> usize {
        match &self.inner.matcher {
            Matcher::Literal { groups, .. } => *groups,
            Matcher::Unusable => 0,
            Matcher::Expression(expression) => expression.source.groups,
        }
    }

    fn group_named(&self, name: &str) -> Option<usize> {
        match &self.inner.matcher {
            Matcher::Literal { .. } | Matcher::Unusable => None,
            Matcher::Expression(expression) => expression.source.names.get(name).copied(),
        }
    }
}

type Spans = Vec<Option<(usize, usize)>>;

/// Places where an empty match is allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    Allowed,
    /// Not at the start of the search, where the previous empty match was.
    NotAtStart,
}

/// Returns the next occurrence of a literal string.
fn find_literal(literal: &str, text: &str, from: usize, empty: Empty) -> Option<(usize, usize)> {
    if literal.is_empty() && empty == Empty::NotAtStart {
        let next = text[from..].chars().next()?;
        let at = from + next.len_utf8();
        return Some((at, at));
    }
    let start = from + text[from..].find(literal)?;
    Some((start, start + literal.len()))
}

/// Returns whether the character can have a special meaning in Python's `re`.
fn is_special(character: char) -> bool {
    matches!(
        character,
        '\\' | '.' | '[' | ']' | '{' | '}' | '(' | ')' | '*' | '+' | '?' | '^' | '$' | '|'
    )
}

impl Expression {
    fn compile(text: &str) -> Result<Self, PatternError> {
        let source = translate::translate(text)?;
        let engine = Engine::new(source.whole());
        let first = build(&engine.pattern, TIERS[0]).map_err(|error| PatternError {
            at: None,
            is_unsupported: true,
            message: format!(
                "the pattern is not supported: {}",
                one_line(&error.to_string())
            ),
        })?;
        let _ = engine.tiers[0].set(Some(first));
        let advancing = Engine::new(source.advancing());
        Ok(Self {
            engine,
            advancing,
            source,
        })
    }
}

impl Engine {
    fn new(pattern: String) -> Self {
        Self {
            pattern,
            tiers: Default::default(),
        }
    }

    /// Returns the first match from byte `from` on. Counts the limit of each attempt except the
    /// first, which is free.
    fn captures(
        &self,
        text: &str,
        from: usize,
        effort: &mut Effort,
    ) -> Result<Option<Spans>, PatternFailure> {
        for (tier, backtracks) in TIERS.into_iter().enumerate() {
            if tier > 0 {
                effort.backtrack(backtracks)?;
            }
            let compiled = self.tiers[tier].get_or_init(|| build(&self.pattern, backtracks).ok());
            let regex = compiled.as_ref().ok_or(PatternFailure::TooManySteps)?;
            if let Ok(captures) = regex.captures_from_pos(text, from) {
                return Ok(captures.map(|captures| {
                    let groups = captures.iter();
                    groups
                        .map(|group| group.map(|group| (group.start(), group.end())))
                        .collect()
                }));
            }
        }
        Err(PatternFailure::TooManySteps)
    }
}

fn build(pattern: &str, backtracks: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(pattern)
        .backtrack_limit(backtracks)
        .delegate_size_limit(MAX_SIZE)
        .build()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// String of at most [`MAX_OUTPUT`] bytes.
struct Output(String);

impl Output {
    fn push(&mut self, text: &str) -> Result<(), PatternFailure> {
        if self.0.len() + text.len() > MAX_OUTPUT {
            return Err(PatternFailure::OutputTooLarge);
        }
        self.0.push_str(text);
        Ok(())
    }
}

impl<'t> Captures<'t> {
    /// Returns the text of group `index`; 0 is the whole match. The outer option is `None` if the
    /// pattern has no such group, the inner one if the group did not participate in the match.
    pub fn group(&self, index: usize) -> Option<Option<&'t str>> {
        self.groups.get(index).copied()
    }

    /// Returns the number of groups, including the whole match.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns `false`, because there always is the whole match.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Pattern({:?})", self.text())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Pattern {}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for PatternError {}

impl fmt::Display for PatternFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternFailure::TooManySteps => {
                formatter.write_str("the pattern takes too many steps to match")
            }
            PatternFailure::OutputTooLarge => {
                write!(
                    formatter,
                    "the result of the replacement would be longer than {MAX_OUTPUT} bytes"
                )
            }
            PatternFailure::Template(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PatternFailure {}
