//! Regular expressions, replacement templates and values as Python has them.
//!
//! Deckhand hands the patterns of substitutions to Python's `re`, and what it
//! inserts to `str` (`deckhand.md` 12.4). [`Pattern`] reads a pattern as
//! Python 3.11 does: what Python refuses is refused, and what both know is
//! translated for the engine beneath. [`python_text`] is
//! Python's `str`.
//!
//! A search that takes too many steps, or a replacement that grows too large,
//! is a [`PatternFailure`]; nothing here hangs or fills the memory.

mod template;
mod text;
mod translate;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use fancy_regex::{Regex, RegexBuilder};

use template::TemplateError;
pub use template::TemplateErrorKind;
use template::{Piece, Template};
pub use text::{float_repr, python_text};

/// A replaced text may be this long, in bytes.
pub const MAX_OUTPUT: usize = 16 * 1024 * 1024;
/// A search may go back this often to try another way.
pub const MAX_BACKTRACKS: usize = 1_000_000;
/// The searches of one document may do so this often, those left out that do
/// so seldom.
pub const MAX_EFFORT: usize = 5 * MAX_BACKTRACKS;
/// The bytes behind its matches that the patterns of one document may look at, for
/// each match anew: an engine may look to the end of a text before it takes what
/// it found at first, and then do so again behind it.
pub const MAX_LOOKS: usize = 1_000_000_000;
/// Maximum number of steps back of all searches of a run. Each document of each site has an
/// equal share, at most [`MAX_EFFORT`].
pub const MAX_EFFORT_OF_RUN: usize = 20 * MAX_EFFORT;
/// Maximum number of bytes after their matches that all patterns of a run look at, shared in
/// the same way.
pub const MAX_LOOKS_OF_RUN: usize = 4 * MAX_LOOKS;
/// How often a search may go back, and, where that is not enough, how often if
/// it is done once more. What a search took is not told by the engine: what it
/// was allowed counts in its place.
const TIERS: [usize; 4] =
    [MAX_BACKTRACKS / 1000, MAX_BACKTRACKS / 100, MAX_BACKTRACKS / 10, MAX_BACKTRACKS];
/// One compiled pattern may take this much memory, in bytes.
const MAX_SIZE: usize = 10 * 1024 * 1024;

/// A regular expression as Python's `re` reads it. Cheap to clone.
#[derive(Clone)]
pub struct Pattern {
    inner: Arc<Inner>,
}

struct Inner {
    text: Box<str>,
    matcher: Matcher,
}

enum Matcher {
    /// A text without metacharacters, or such a text as the only group: found
    /// without the engine.
    Literal {
        text: Box<str>,
        groups: usize,
    },
    Expression(Box<Expression>),
    /// What Python refuses to compile.
    Unusable,
}

struct Expression {
    engine: Engine,
    /// The same, where a match at the place the search starts from must not
    /// be empty.
    advancing: Engine,
    source: translate::Translation,
}

/// A regular expression for each of [`TIERS`], compiled when first needed.
struct Engine {
    pattern: String,
    tiers: [OnceLock<Option<Regex>>; TIERS.len()],
}

/// What searches may still do.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// So often they may go back.
    backtracks: usize,
    /// So many bytes they may look at again.
    looks: usize,
}

impl Default for Effort {
    /// That of one document.
    fn default() -> Self {
        Self { backtracks: MAX_EFFORT, looks: MAX_LOOKS }
    }
}

impl Effort {
    /// Share of each of `documents` documents. It depends on their number alone, so that results
    /// depend neither on their order nor on the number of threads.
    pub fn share_of(documents: u64) -> Self {
        let documents = usize::try_from(documents).unwrap_or(usize::MAX).max(1);
        Self {
            backtracks: MAX_EFFORT.min(MAX_EFFORT_OF_RUN / documents),
            looks: MAX_LOOKS.min(MAX_LOOKS_OF_RUN / documents),
        }
    }

    /// Whether searches that succeeded with `other` succeed with this.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.backtracks >= other.backtracks && self.looks >= other.looks
    }

    /// Whether no search may go back any more, but for the little that is free.
    pub fn is_spent(&self) -> bool {
        self.backtracks == 0
    }

    fn go_back(&mut self, backtracks: usize) -> Result<(), PatternFailure> {
        spend(&mut self.backtracks, backtracks)
    }

    fn look_again(&mut self, bytes: usize) -> Result<(), PatternFailure> {
        spend(&mut self.looks, bytes)
    }
}

fn spend(left: &mut usize, cost: usize) -> Result<(), PatternFailure> {
    let rest = left.checked_sub(cost);
    *left = rest.unwrap_or(0);
    rest.map(drop).ok_or(PatternFailure::TooManySteps)
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The byte of the text it concerns, where there is one.
    pub at: Option<usize>,
    /// What is wrong: lower case, one line.
    pub message: String,
    /// Whether Python takes it, and only this implementation does not.
    pub is_unsupported: bool,
}

/// Why a pattern could not be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternFailure {
    /// The search takes too many steps.
    TooManySteps,
    /// The replaced text would be longer than [`MAX_OUTPUT`].
    OutputTooLarge,
    /// The replacement is no template (Python reads one even where the pattern
    /// matches nothing).
    Template(TemplateError),
}

/// What a match captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures<'t> {
    groups: Vec<Option<&'t str>>,
}

/// What to put in place of each match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement<'a> {
    /// The text as it stands.
    Literal(&'a str),
    /// A template of Python's `re.sub`: `\1`, `\g<name>`, `\n`.
    Template(&'a str),
}

/// Patterns read before: compiling one costs as much as reading a file, and
/// most are written many times.
#[derive(Debug, Default)]
pub struct Patterns {
    known: Mutex<HashMap<Box<str>, Pattern, foldhash::fast::RandomState>>,
}

impl Patterns {
    /// Reads `text`, or finds it read.
    ///
    /// # Errors
    /// As [`Pattern::parse`].
    pub fn parse(&self, text: &str) -> Result<Pattern, PatternError> {
        if let Some(known) = self.known().get(text) {
            return Ok(known.clone());
        }
        let pattern = Pattern::parse(text)?;
        self.known().insert(text.into(), pattern.clone());
        Ok(pattern)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, Pattern, foldhash::fast::RandomState>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pattern {
    /// Reads `text`.
    ///
    /// # Errors
    /// Where it is no regular expression of Python's.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let grouped = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let literal = grouped.map_or((text, 0), |inner| (inner, 1));
        let matcher = match literal {
            (text, groups) if !text.contains(is_special) => {
                Matcher::Literal { text: text.into(), groups }
            }
            _ => Matcher::Expression(Box::new(Expression::compile(text)?)),
        };
        Ok(Self { inner: Arc::new(Inner { text: text.into(), matcher }) })
    }

    /// A text that is not a pattern, kept because Deckhand compiles it only where it finds the
    /// text itself. It matches nothing.
    pub fn unusable(text: &str) -> Self {
        Self { inner: Arc::new(Inner { text: text.into(), matcher: Matcher::Unusable }) }
    }

    /// Whether it can be applied.
    pub(crate) fn is_usable(&self) -> bool {
        !matches!(self.inner.matcher, Matcher::Unusable)
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The first match in `text`: Python's `re.search`.
    ///
    /// # Errors
    /// Where the search takes too long.
    pub fn search<'t>(&self, text: &'t str) -> Result<Option<Captures<'t>>, PatternFailure> {
        self.search_within(text, &mut Effort::default())
    }

    /// As [`Pattern::search`], where others have spent some of the effort.
    ///
    /// # Errors
    /// Where the search takes too long.
    pub fn search_within<'t>(
        &self,
        text: &'t str,
        effort: &mut Effort,
    ) -> Result<Option<Captures<'t>>, PatternFailure> {
        let Some(spans) = self.find(text, 0, Empty::Allowed, effort)? else { return Ok(None) };
        let groups = spans.iter().map(|span| span.map(|(start, end)| &text[start..end]));
        Ok(Some(Captures { groups: groups.collect() }))
    }

    /// `text` with every match replaced, and how many there were: Python's
    /// `re.sub`, which since 3.7 also replaces an empty match right after
    /// another match.
    ///
    /// # Errors
    /// Where the search takes too long, the result grows too large, or the
    /// template is none of Python's.
    pub fn replace_all(
        &self,
        text: &str,
        replacement: Replacement<'_>,
    ) -> Result<(String, usize), PatternFailure> {
        self.replace_all_within(text, replacement, &mut Effort::default())
    }

    /// As [`Pattern::replace_all`], where others have spent some of the effort.
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
        let (mut copied, mut from, mut count) = (0, 0, 0);
        let mut empty = Empty::Allowed;
        while let Some(spans) = self.find(text, from, empty, effort)? {
            let (start, end) = spans[0].expect("the whole match takes part in itself");
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
            empty = if start == end { Empty::NotAtStart } else { Empty::Allowed };
        }
        output.push(&text[copied..])?;
        Ok((output.0, count))
    }

    /// The spans of the groups of the first match from byte `from` on.
    fn find(
        &self,
        text: &str,
        from: usize,
        empty: Empty,
        effort: &mut Effort,
    ) -> Result<Option<Spans>, PatternFailure> {
        let expression = match &self.inner.matcher {
            Matcher::Literal { text: literal, groups } => {
                let found = find_literal(literal, text, from, empty);
                return Ok(found.map(|span| vec![Some(span); 1 + groups]));
            }
            Matcher::Unusable => return Ok(None),
            Matcher::Expression(expression) => expression,
        };
        if from > 0 {
            effort.look_again(text.len() - from)?;
        }
        let engine = match empty {
            Empty::Allowed => &expression.engine,
            Empty::NotAtStart => &expression.advancing,
        };
        engine.captures(text, from, effort)
    }

    /// How many groups there are, the whole match not counted.
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

/// Where an empty match counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    Allowed,
    /// Not where the search starts: there was an empty match just before.
    NotAtStart,
}

/// Where a text without metacharacters stands next.
fn find_literal(literal: &str, text: &str, from: usize, empty: Empty) -> Option<(usize, usize)> {
    if literal.is_empty() && empty == Empty::NotAtStart {
        let next = text[from..].chars().next()?;
        let at = from + next.len_utf8();
        return Some((at, at));
    }
    let start = from + text[from..].find(literal)?;
    Some((start, start + literal.len()))
}

/// Whether Python's `re` may take the character for more than itself.
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
            message: format!("the pattern is not supported: {}", one_line(&error.to_string())),
        })?;
        let _ = engine.tiers[0].set(Some(first));
        let advancing = Engine::new(source.advancing());
        Ok(Self { engine, advancing, source })
    }
}

impl Engine {
    fn new(pattern: String) -> Self {
        Self { pattern, tiers: Default::default() }
    }

    /// The first match from byte `from` on, at the price of the tier that it
    /// takes; the first of them is free.
    fn captures(
        &self,
        text: &str,
        from: usize,
        effort: &mut Effort,
    ) -> Result<Option<Spans>, PatternFailure> {
        for (tier, backtracks) in TIERS.into_iter().enumerate() {
            if tier > 0 {
                effort.go_back(backtracks)?;
            }
            let compiled = self.tiers[tier].get_or_init(|| build(&self.pattern, backtracks).ok());
            let regex = compiled.as_ref().ok_or(PatternFailure::TooManySteps)?;
            if let Ok(captures) = regex.captures_from_pos(text, from) {
                return Ok(captures.map(|captures| {
                    let groups = captures.iter();
                    groups.map(|group| group.map(|group| (group.start(), group.end()))).collect()
                }));
            }
        }
        Err(PatternFailure::TooManySteps)
    }
}

fn build(pattern: &str, backtracks: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(pattern).backtrack_limit(backtracks).delegate_size_limit(MAX_SIZE).build()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that grows no further than [`MAX_OUTPUT`].
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
    /// What group `index` matched; 0 is the whole match. The outer option is
    /// none where the pattern has no such group, the inner one where the group
    /// took no part in the match.
    pub fn group(&self, index: usize) -> Option<Option<&'t str>> {
        self.groups.get(index).copied()
    }

    /// How many groups there are, the whole match counted.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Never: there is the whole match.
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
                write!(formatter, "the replaced text would be longer than {MAX_OUTPUT} bytes")
            }
            PatternFailure::Template(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PatternFailure {}
