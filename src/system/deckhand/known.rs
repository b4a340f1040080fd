//! Caches of parsed strings, so that strings common to many documents are parsed and stored once.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;
use smol_str::SmolStr;

use crate::merge::deckhand::ActionPath;
use crate::merge::pattern::{Pattern, PatternError, Patterns};
use crate::yaml::path::{Path, PathError};

/// Per-thread cache of parsed strings, with patterns shared between threads because they are
/// expensive to compile.
#[derive(Debug, Default)]
pub struct KnownTexts {
    words: TextTable<Arc<str>>,
    paths: TextTable<Path>,
    action_paths: TextTable<ActionPath>,
    patterns: Arc<Patterns>,
}

impl KnownTexts {
    /// An empty cache with these patterns.
    pub(crate) fn of(patterns: Arc<Patterns>) -> Self {
        Self {
            patterns,
            ..Self::default()
        }
    }

    /// Interns the name of a schema or layer, so that comparing two of them reads the same memory
    /// twice instead of two locations.
    pub(super) fn report(&mut self, text: &SmolStr) -> Arc<str> {
        let word = self
            .words
            .get_or_read(text, |text| Ok::<_, Infallible>(text.into()));
        let Ok(word) = word;
        word
    }

    /// Cached [`Path::parse`].
    pub(super) fn path(&mut self, text: &SmolStr) -> Result<Path, PathError> {
        self.paths.get_or_read(text, Path::parse)
    }

    /// Cached [`ActionPath::parse`].
    pub(super) fn action_path(&mut self, text: &SmolStr) -> Result<ActionPath, PathError> {
        self.action_paths.get_or_read(text, ActionPath::parse)
    }

    /// Cached [`Pattern::parse`].
    pub(super) fn pattern(&mut self, text: &SmolStr) -> Result<Pattern, PatternError> {
        self.patterns.parse(text)
    }
}

/// Cache of the values parsed from strings.
#[derive(Debug)]
struct TextTable<T>(HashMap<SmolStr, T, foldhash::fast::RandomState>);

impl<T> Default for TextTable<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Clone> TextTable<T> {
    /// Maximum number and length in bytes of the cached strings, which bounds memory for untrusted
    /// input.
    const MAX_ENTRIES: usize = 4096;
    const MAX_BYTES: usize = 200;

    /// Returns the cached value of a string, or reads and caches it. Errors are not cached.
    fn get_or_read<E>(
        &mut self,
        text: &SmolStr,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let value = read(text)?;
        if self.0.len() < Self::MAX_ENTRIES && text.len() <= Self::MAX_BYTES {
            self.0.insert(text.clone(), value.clone());
        }
        Ok(value)
    }
}

/// Pool of caches for threads that work on the same task: each thread owns one while it reads, and
/// waits for no other.
#[derive(Default)]
pub(crate) struct KnownToThreads {
    patterns: Arc<Patterns>,
    /// Caches that no thread uses.
    idle: Mutex<Vec<KnownTexts>>,
}

impl KnownToThreads {
    /// Runs `work` with a cache. A cache is dropped if `work` panics, as it may be inconsistent.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut KnownTexts) -> T) -> T {
        let mut known = self
            .idle
            .lock()
            .pop()
            .unwrap_or_else(|| KnownTexts::of(self.patterns.clone()));
        let value = work(&mut known);
        self.idle.lock().push(known);
        value
    }
}
