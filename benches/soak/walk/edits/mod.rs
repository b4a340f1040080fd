//! Random edits of a repository, including typical mistakes: of data and envelopes of documents, of
//! documents and files, of layers and sites, of the text only, and edits that make the YAML
//! invalid.

mod data;
mod documents;
mod envelope;
mod layout;
mod values;
mod workshop;

use workshop::{Changed, Workshop};

use super::random::Random;
use super::text::parsed;
use super::{Files, Text};

/// Result of an edit.
pub struct Edit {
    /// Kinds of the edits, in order.
    pub kinds: Vec<Kind>,
    /// Files after the edit.
    pub head: Files,
}

impl Edit {
    /// Whether only the text was changed.
    pub fn changes_nothing(&self) -> bool {
        self.kinds.iter().all(|kind| kind.changes_nothing())
    }

    /// Whether only comments were changed.
    pub fn is_comment(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::Comment))
    }

    /// Whether the edit made the YAML of a file invalid.
    pub fn breaks(&self) -> bool {
        self.kinds.contains(&Kind::Breaks)
    }
}

/// Defines the kinds of edits: name, weight and function.
macro_rules! kinds {
    ($($kind:ident, $name:literal, $weight:literal, $make:path;)*) => {
        /// The kinds of edits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = $name] $kind,)*
        }

        impl Kind {
            /// All kinds in the order of reports, with their weights.
            pub const ALL: &[(Kind, usize)] = &[$((Kind::$kind, $weight),)*];

            /// Name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            fn make(self, workshop: &mut Workshop<'_>) -> Option<Changed> {
                match self {
                    $(Kind::$kind => $make(workshop),)*
                }
            }
        }
    };
}

kinds! {
    Scalar, "value of data", 26, data::scalar;
    Subtree, "subtree of data", 6, data::subtree;
    Entry, "key added", 10, data::entry;
    NoEntry, "key removed", 6, data::no_entry;
    KeyRenamed, "key renamed", 6, data::key;
    Item, "item added", 6, data::item;
    NoItem, "item removed", 4, data::no_item;
    Label, "label", 5, envelope::label;
    Selector, "selector", 5, envelope::selector;
    Action, "action added", 7, envelope::action;
    NoAction, "action removed", 2, envelope::no_action;
    Method, "method of an action", 6, envelope::method;
    ActionPath, "path of an action", 8, envelope::action_path;
    Substitution, "substitution added", 9, envelope::substitution;
    NoSubstitution, "substitution removed", 2, envelope::no_substitution;
    Source, "source of a substitution", 4, envelope::source;
    SourcePath, "path of a source", 4, envelope::source_path;
    Destination, "path of a destination", 5, envelope::destination;
    Pattern, "pattern", 6, envelope::pattern;
    Abstract, "`abstract`", 3, envelope::is_abstract;
    Replacement, "`replacement`", 4, envelope::replacement;
    LayerOf, "layer of a document", 3, envelope::layer;
    Schema, "schema of a document", 2, envelope::schema;
    Name, "name of a document", 3, envelope::name;
    StoragePolicy, "`storagePolicy`", 3, envelope::storage_policy;
    Control, "control document toggled", 2, envelope::control;
    DocumentCopied, "document copied", 5, documents::copied;
    Child, "child document added", 6, documents::child;
    Related, "related documents added", 6, documents::related;
    NoDocument, "document removed", 4, documents::removed;
    DocumentMoved, "document moved", 5, documents::moved;
    Reordered, "documents of a file reordered", 4, documents::reordered;
    FileCopied, "file copied", 2, documents::file_copied;
    FileMoved, "file moved", 3, documents::file_moved;
    NoFile, "file removed", 2, documents::file_removed;
    Policy, "layering policy", 1, layout::policy;
    SiteType, "site type", 1, layout::site_type;
    SiteCopied, "site added", 1, layout::site_copied;
    NoSite, "site removed", 1, layout::site_removed;
    Comment, "comment", 5, data::comment;
    Quotes, "quotes changed", 4, data::quotes;
    KeysReordered, "keys reordered", 4, data::keys_reordered;
    Breaks, "YAML made invalid", 3, data::breaks;
}

impl Kind {
    fn changes_nothing(self) -> bool {
        matches!(self, Kind::Comment | Kind::Quotes | Kind::KeysReordered)
    }
}

/// Applies one or, sometimes, several random edits to `files`.
pub fn edit(files: &Files, random: &mut Random) -> Edit {
    let count = if random.in_hundred(12) {
        2 + random.below(4)
    } else {
        1
    };
    let mut edit = Edit {
        kinds: Vec::new(),
        head: files.clone(),
    };
    while edit.kinds.len() < count {
        let kind = chosen(random);
        let changed_files = kind.make(&mut Workshop {
            files: &edit.head,
            random,
        });
        let Some(changed) = changed_files.filter(|changed| is_valid(&edit.head, changed, kind))
        else {
            continue;
        };
        apply(&mut edit.head, changed);
        edit.kinds.push(kind);
    }
    edit
}

fn chosen(random: &mut Random) -> Kind {
    let all: usize = Kind::ALL.iter().map(|(_, weight)| weight).sum();
    let mut left = random.below(all);
    for (kind, weight) in Kind::ALL {
        match left.checked_sub(*weight) {
            Some(rest) => left = rest,
            None => return *kind,
        }
    }
    unreachable!("the number is below the sum of the weights")
}

fn apply(files: &mut Files, changed: Changed) {
    for (path, text) in changed {
        match text {
            Some(text) => drop(files.insert(path, text)),
            None => drop(files.remove(&path)),
        }
    }
}

/// Whether the edit is valid: it changed something; no text has more YAML errors, unless that is
/// intended; and values are unchanged if only the text should change.
fn is_valid(files: &Files, changed: &Changed, kind: Kind) -> bool {
    let is_new = |(path, text): &(Text, Option<Text>)| files.get(path) != text.as_ref();
    let is_valid = |(path, text): &(Text, Option<Text>)| match (files.get(path), text) {
        (_, None) => true,
        (before, Some(after)) => {
            let before = before.map_or("", |it| it);
            kind == Kind::Breaks
                || faults(path, after) <= faults(path, before)
                    && (!kind.changes_nothing()
                        || documents(path, before) == documents(path, after))
        }
    };
    changed.iter().any(is_new) && changed.iter().all(is_valid)
}

fn faults(path: &str, text: &str) -> usize {
    parsed(path, text)
        .problems
        .iter()
        .filter(|problem| problem.kind.is_fatal())
        .count()
}

fn documents(path: &str, text: &str) -> Vec<String> {
    parsed(path, text)
        .documents
        .iter()
        .map(|it| super::plain::plain(&it.root))
        .collect()
}
