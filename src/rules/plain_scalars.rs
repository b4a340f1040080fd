//! The rules about misread scalars, in one walk: every key and value that is unquoted in a
//! document, with its text and its place.
//!
//! Nothing of a secret is looked at: what its text looks like is part of it.

use std::collections::{HashMap, HashSet};

use super::{
    FileFacts, boolean_key, boolean_word, lossy_version, misread_string, octal_integer,
    unread_number,
};
use crate::diagnostic::{Diagnostic, Label, Rule};
use crate::source::Span;
use crate::system::deckhand::document::Document;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node, Value};

/// An unquoted scalar of a document.
pub(super) struct PlainScalar<'a> {
    document: &'a Document,
    /// Its text as it is written.
    pub(super) text: &'a str,
    /// Its value in YAML 1.1.
    pub(super) value: &'a Value,
    pub(super) role: ScalarRole,
    at: Span,
    /// The way to it; of a key, to its value.
    way: &'a [ScalarStep<'a>],
}

/// Role of a scalar in its mapping or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarRole {
    Key,
    Value,
}

/// Maximum number of characters before a scalar that are searched for a tag.
const MAX_TAG_CHARACTERS: usize = 100;

/// A step into a mapping or a list.
#[derive(Clone, Copy)]
enum ScalarStep<'a> {
    Key(&'a Key),
    Index(usize),
}

impl PlainScalar<'_> {
    /// The keys that lead to it, the nearest first; a key's own not.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let own = usize::from(self.role == ScalarRole::Key);
        self.way.iter().rev().skip(own).filter_map(|step| match step {
            ScalarStep::Key(key) => key.as_str(),
            ScalarStep::Index(_) => None,
        })
    }

    /// Whether it is a word that only YAML 1.1 takes for true or false.
    pub(super) fn is_boolean_word(&self) -> bool {
        const WORDS: [&str; 4] = ["yes", "no", "on", "off"];
        matches!(self.value, Value::Bool(_))
            && WORDS.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Whether one of the two keys above it says that it is a version.
    pub(super) fn names_version(&self) -> bool {
        const WORDS: [&str; 7] =
            ["version", "tag", "release", "revision", "reference", "commit", "branch"];
        // Property groups name versions by what supports them.
        const OF_GROUPS: [&str; 2] = ["client_plugin_supported", "client_plugin_supported_since"];
        self.keys().take(2).any(|key| has_word(key, &WORDS))
            || self.keys().next().is_some_and(|key| OF_GROUPS.contains(&key))
    }

    /// A finding of `rule` about it.
    pub(super) fn finding(&self, rule: &'static Rule, message: String, label: &str) -> Diagnostic {
        let pieces = self.way.iter().map(|step| match step {
            ScalarStep::Key(key) => Piece::Key((*key).clone()),
            ScalarStep::Index(index) => Piece::Index(*index),
        });
        Diagnostic::new(rule, message, Label::new(self.at, label))
            .about(Location(pieces.collect()).to_string())
            .document(self.document.key.clone())
    }
}

/// The rules, each about other scalars than the rest.
pub(super) const RULES: &[&Rule] = &[
    &boolean_key::RULE,
    &boolean_word::RULE,
    &lossy_version::RULE,
    &misread_string::RULE,
    &octal_integer::RULE,
    &unread_number::RULE,
];

/// Their checks, in the same order.
const WORDS: &[fn(&PlainScalar<'_>) -> Option<Diagnostic>] = &[
    boolean_key::word,
    boolean_word::word,
    lossy_version::word,
    misread_string::word,
    octal_integer::word,
    unread_number::word,
];

pub(super) fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    for document in facts.documents {
        let unwalked = document.shared.iter().map(|shared| (shared.collection, false)).collect();
        let (way, reported) = (Vec::new(), HashSet::new());
        let root = document.root();
        let mut walk = ScalarWalk { facts, document, found, way, walked: unwalked, reported };
        walk.node(&root);
    }
}

struct ScalarWalk<'a, 'f> {
    facts: &'a FileFacts<'a>,
    document: &'a Document,
    found: &'f mut Vec<Diagnostic>,
    way: Vec<ScalarStep<'a>>,
    /// The collections that have aliases, and whether they have been walked.
    walked: HashMap<Span, bool>,
    /// The scalars that something has been said of.
    reported: HashSet<Span>,
}

impl<'a> ScalarWalk<'a, '_> {
    fn node(&mut self, node: &'a Node) {
        if node.secret {
            return;
        }
        match &node.value {
            Value::Mapping(mapping) => {
                if self.is_new(node.span) {
                    self.mapping(mapping);
                }
            }
            Value::Sequence(items) => {
                if self.is_new(node.span) {
                    for (index, item) in items.iter().enumerate() {
                        self.step(ScalarStep::Index(index), item);
                    }
                }
            }
            Value::Null | Value::Set(_) | Value::Pairs(_) | Value::Binary(_) => {}
            scalar => self.scalar(scalar, node.span, ScalarRole::Value),
        }
    }

    fn mapping(&mut self, mapping: &'a Mapping) {
        for (key, value) in mapping.iter() {
            self.way.push(ScalarStep::Key(key));
            self.scalar(&key.value, key.span, ScalarRole::Key);
            self.way.pop();
            self.step(ScalarStep::Key(key), value);
        }
    }

    fn step(&mut self, step: ScalarStep<'a>, to: &'a Node) {
        self.way.push(step);
        self.node(to);
        self.way.pop();
    }

    /// Whether a collection has not been walked before, under another alias.
    fn is_new(&mut self, span: Span) -> bool {
        self.walked.get_mut(&span).is_none_or(|walked| !std::mem::replace(walked, true))
    }

    fn scalar(&mut self, value: &'a Value, at: Span, role: ScalarRole) {
        // Nearly all scalars are texts that begin with a letter, and those are
        // what they look like, in quotes or without: an unquoted one begins as
        // it is written.
        if let Value::String(value) = value
            && !may_be_number(value)
        {
            return;
        }
        let text = self.facts.sources.slice(at);
        if text.is_empty() || text.starts_with(['"', '\'', '|', '>']) {
            return;
        }
        let scalar = PlainScalar { document: self.document, text, value, role, at, way: &self.way };
        if let Some(finding) = WORDS.iter().find_map(|word| word(&scalar))
            && !self.is_tagged(at)
            && self.reported.insert(at)
        {
            self.found.push(finding);
        }
    }

    /// Whether a tag before the scalar says what it is.
    fn is_tagged(&self, at: Span) -> bool {
        let before = &self.facts.sources.get(at.file).text()[..at.start as usize];
        // An anchor may come between the two. Tags and anchors are short: a line may be as long as
        // a file, and is not read back to its start.
        let nearest: String = before.chars().rev().take(MAX_TAG_CHARACTERS).collect();
        let line = nearest.split(['\n', '\r']).next().unwrap_or_default();
        line.split_whitespace().take(2).any(|word| word.ends_with('!'))
    }
}

/// Whether one of `words`, or its plural, is a word of the key: `image_tags`
/// and `imageTag` have `tag`, `percentage` has not.
pub(super) fn has_word(key: &str, words: &[&str]) -> bool {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in key.chars() {
        let begins = !letter.is_alphanumeric() || (was_lower && letter.is_uppercase());
        if begins {
            parts.push(String::new());
        }
        if letter.is_alphanumeric() {
            parts.last_mut().expect("there is a first part").extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    parts.iter().any(|part| {
        let singular = part.strip_suffix('s').unwrap_or(part);
        words.iter().any(|word| *word == part || *word == singular)
    })
}

fn may_be_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'))
}
