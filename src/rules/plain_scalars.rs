//! Rules about misread scalars, run in one walk over every unquoted key and value of a document.
//!
//! Secrets are skipped: even the form of a secret's text is confidential.

use std::collections::{HashMap, HashSet};

use super::{
    FileFacts, boolean_key, boolean_word, lossy_version, misread_string, octal_integer,
    unread_number,
};
use crate::diagnostic::{Diagnostic, Rule};
use crate::source::Span;
use crate::system::deckhand::document::Document;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node, Value};

/// Unquoted scalar of a document.
pub(super) struct PlainScalar<'a> {
    document: &'a Document,
    /// Its text as written.
    pub(super) text: &'a str,
    /// Its value in YAML 1.1.
    pub(super) value: &'a Value,
    pub(super) role: ScalarRole,
    at: Span,
    /// Path to the scalar; for a key, to its value.
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

/// Step into a mapping or a list.
#[derive(Clone, Copy)]
enum ScalarStep<'a> {
    Key(&'a Key),
    Index(usize),
}

impl PlainScalar<'_> {
    /// Keys that lead to the scalar, innermost first, without the key itself.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let own = usize::from(self.role == ScalarRole::Key);
        self.way
            .iter()
            .rev()
            .skip(own)
            .filter_map(|step| match step {
                ScalarStep::Key(key) => key.as_str(),
                ScalarStep::Index(_) => None,
            })
    }

    /// Whether it is a word that only YAML 1.1 reads as a boolean.
    pub(super) fn is_boolean_word(&self) -> bool {
        const WORDS: [&str; 4] = ["yes", "no", "on", "off"];
        matches!(self.value, Value::Bool(_))
            && WORDS
                .iter()
                .any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Whether one of the two innermost keys marks it as a version.
    pub(super) fn names_version(&self) -> bool {
        const WORDS: [&str; 7] = [
            "version",
            "tag",
            "release",
            "revision",
            "reference",
            "commit",
            "branch",
        ];
        // Property groups give versions in keys that do not contain `version`.
        const OF_GROUPS: [&str; 2] = ["client_plugin_supported", "client_plugin_supported_since"];
        self.keys().take(2).any(|key| has_word(key, &WORDS))
            || self
                .keys()
                .next()
                .is_some_and(|key| OF_GROUPS.contains(&key))
    }

    /// Finding of `rule` for this scalar.
    pub(super) fn finding(&self, rule: &'static Rule, message: String, label: &str) -> Diagnostic {
        let pieces = self.way.iter().map(|step| match step {
            ScalarStep::Key(key) => Piece::Key((*key).clone()),
            ScalarStep::Index(index) => Piece::Index(*index),
        });
        rule.finding(message, self.at, label)
            .about(Location(pieces.collect()).to_string())
            .document(&self.document.key)
    }
}

/// The rules; each covers different scalars.
pub(super) const RULES: &[&Rule] = &[
    &boolean_key::RULE,
    &boolean_word::RULE,
    &lossy_version::RULE,
    &misread_string::RULE,
    &octal_integer::RULE,
    &unread_number::RULE,
];

/// Checks of the rules, in the same order.
const CHECKS: &[fn(&PlainScalar<'_>) -> Option<Diagnostic>] = &[
    boolean_key::report,
    boolean_word::report,
    lossy_version::report,
    misread_string::report,
    octal_integer::report,
    unread_number::report,
];

pub(super) fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    for document in facts.documents {
        let unwalked = document
            .shared
            .iter()
            .map(|shared| (shared.collection, false))
            .collect();
        let way = Vec::new();
        let reported = HashSet::new();
        let root = document.root();
        let mut walk = ScalarWalk {
            facts,
            document,
            found,
            way,
            walked: unwalked,
            reported,
        };
        walk.node(&root);
    }
}

struct ScalarWalk<'a, 'f> {
    facts: &'a FileFacts<'a>,
    document: &'a Document,
    found: &'f mut Vec<Diagnostic>,
    way: Vec<ScalarStep<'a>>,
    /// Collections that have aliases, and whether they were walked.
    walked: HashMap<Span, bool>,
    /// Scalars already reported.
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

    /// Whether a collection was not yet walked under another alias.
    fn is_new(&mut self, span: Span) -> bool {
        self.walked
            .get_mut(&span)
            .is_none_or(|walked| !std::mem::replace(walked, true))
    }

    fn scalar(&mut self, value: &'a Value, at: Span, role: ScalarRole) {
        // Fast path: nearly all scalars are strings that begin with a letter, which have the same
        // value quoted or unquoted.
        if let Value::String(value) = value
            && !may_be_number(value)
        {
            return;
        }
        let text = self.facts.sources.slice(at);
        if text.is_empty() || text.starts_with(['"', '\'', '|', '>']) {
            return;
        }
        let scalar = PlainScalar {
            document: self.document,
            text,
            value,
            role,
            at,
            way: &self.way,
        };
        if let Some(finding) = CHECKS.iter().find_map(|check| check(&scalar))
            && !self.is_tagged(at)
            && self.reported.insert(at)
        {
            self.found.push(finding);
        }
    }

    /// Whether a tag before the scalar sets its type.
    fn is_tagged(&self, at: Span) -> bool {
        let before = &self.facts.sources.get(at.file).text()[..at.start as usize];
        // An anchor may come between the tag and the scalar. The search is limited because a line
        // may be as long as a file.
        let nearest: String = before.chars().rev().take(MAX_TAG_CHARACTERS).collect();
        let line = nearest.split(['\n', '\r']).next().unwrap_or_default();
        line.split_whitespace()
            .take(2)
            .any(|word| word.ends_with('!'))
    }
}

/// Whether the key contains one of `words` or its plural as a word: `image_tags` and `imageTag`
/// contain `tag`, `percentage` does not.
pub(super) fn has_word(key: &str, words: &[&str]) -> bool {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in key.chars() {
        let begins = !letter.is_alphanumeric() || (was_lower && letter.is_uppercase());
        if begins {
            parts.push(String::new());
        }
        if letter.is_alphanumeric() {
            parts
                .last_mut()
                .expect("there is a first part")
                .extend(letter.to_lowercase());
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
