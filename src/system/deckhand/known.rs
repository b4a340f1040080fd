//! What was read of texts that many documents say: it is read, and held, once.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use smol_str::SmolStr;

use crate::merge::deckhand::ActionPath;
use crate::merge::pattern::{Pattern, PatternError, Patterns};
use crate::yaml::path::{Path, PathError};

/// What one thread has read before, by its text; and patterns, which all threads may
/// share, because to compile one is much.
#[derive(Debug, Default)]
pub struct KnownTexts {
    words: TextTable<Arc<str>>,
    paths: TextTable<Path>,
    action_paths: TextTable<ActionPath>,
    patterns: Arc<Patterns>,
}

impl KnownTexts {
    /// Nothing but these patterns.
    pub(crate) fn of(patterns: Arc<Patterns>) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// The name of a schema or a layer: to compare two of them is to read the same
    /// text twice, and not two texts from two places.
    pub(super) fn word(&mut self, text: &SmolStr) -> Arc<str> {
        let word = self.words.get_or_read(text, |text| Ok::<_, Infallible>(text.into()));
        let Ok(word) = word;
        word
    }

    /// As [`Path::parse`].
    pub(super) fn path(&mut self, text: &SmolStr) -> Result<Path, PathError> {
        self.paths.get_or_read(text, Path::parse)
    }

    /// As [`ActionPath::parse`].
    pub(super) fn action_path(&mut self, text: &SmolStr) -> Result<ActionPath, PathError> {
        self.action_paths.get_or_read(text, ActionPath::parse)
    }

    /// As [`Pattern::parse`].
    pub(super) fn pattern(&mut self, text: &SmolStr) -> Result<Pattern, PatternError> {
        self.patterns.parse(text)
    }
}

/// What was read of each of some texts.
#[derive(Debug)]
struct TextTable<T>(HashMap<SmolStr, T, foldhash::fast::RandomState>);

impl<T> Default for TextTable<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Clone> TextTable<T> {
    /// So many texts are remembered, of so many bytes each at most: what somebody
    /// else wrote takes no memory without end.
    const MOST: usize = 4096;
    const LONGEST: usize = 200;

    /// What `read` makes of a text, or made of it before. An error is not kept.
    fn get_or_read<E>(
        &mut self,
        text: &SmolStr,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let made = read(text)?;
        if self.0.len() < Self::MOST && text.len() <= Self::LONGEST {
            self.0.insert(text.clone(), made.clone());
        }
        Ok(made)
    }
}

/// What threads that work at the same thing have read before: each has one while it
/// reads, and waits for no other.
#[derive(Default)]
pub(crate) struct KnownToThreads {
    patterns: Arc<Patterns>,
    /// Those that no thread has.
    idle: Mutex<Vec<KnownTexts>>,
}

impl KnownToThreads {
    /// What `work` gives, with something known. What a fault may have left half
    /// done is not used again.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut KnownTexts) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut known = known.unwrap_or_else(|| KnownTexts::of(self.patterns.clone()));
        let made = work(&mut known);
        idle().push(known);
        made
    }
}
