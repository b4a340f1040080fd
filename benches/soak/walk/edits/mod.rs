//! Random edits of a repository, as people make them and as they slip: in the
//! data and in the envelope of documents, of which documents and files there
//! are, of the layers and of the sites, in the text alone, and in what is YAML
//! at all.

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

/// An edit, done.
pub struct Edit {
    /// What was done, the kinds in order.
    pub kinds: Vec<Kind>,
    /// The files after it.
    pub head: Files,
}

impl Edit {
    /// Whether nothing but the text was changed.
    pub fn changes_nothing(&self) -> bool {
        self.kinds.iter().all(|kind| kind.changes_nothing())
    }

    /// Whether comments alone were changed.
    pub fn is_comment(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::Comment))
    }

    /// Whether a text was made that is no YAML.
    pub fn breaks(&self) -> bool {
        self.kinds.contains(&Kind::Breaks)
    }
}

/// Makes the table of the kinds of edits: name, how often, and by what.
macro_rules! kinds {
    ($($kind:ident, $name:literal, $weight:literal, $make:path;)*) => {
        /// The kinds of edits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = $name] $kind,)*
        }

        impl Kind {
            /// All of them, in the order of reports, with how often they are made.
            pub const ALL: &[(Kind, usize)] = &[$((Kind::$kind, $weight),)*];

            /// What reports call it.
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
    Scalar, "a value of data", 26, data::scalar;
    Subtree, "a subtree of data", 6, data::subtree;
    Entry, "a key more", 10, data::entry;
    NoEntry, "a key less", 6, data::no_entry;
    KeyRenamed, "a key renamed", 6, data::key;
    Item, "an item more", 6, data::item;
    NoItem, "an item less", 4, data::no_item;
    Label, "a label", 5, envelope::label;
    Selector, "a selector", 5, envelope::selector;
    Action, "an action more", 7, envelope::action;
    NoAction, "an action less", 2, envelope::no_action;
    Method, "the method of an action", 6, envelope::method;
    ActionPath, "the path of an action", 8, envelope::action_path;
    Substitution, "a substitution more", 9, envelope::substitution;
    NoSubstitution, "a substitution less", 2, envelope::no_substitution;
    Source, "the source of a substitution", 4, envelope::source;
    SourcePath, "the path of a source", 4, envelope::source_path;
    Destination, "the path of a destination", 5, envelope::destination;
    Pattern, "a pattern", 6, envelope::pattern;
    Abstract, "`abstract`", 3, envelope::is_abstract;
    Replacement, "`replacement`", 4, envelope::replacement;
    LayerOf, "the layer of a document", 3, envelope::layer;
    Schema, "the schema of a document", 2, envelope::schema;
    Name, "the name of a document", 3, envelope::name;
    StoragePolicy, "`storagePolicy`", 3, envelope::storage_policy;
    Control, "whether a document is a control document", 2, envelope::control;
    DocumentCopied, "a document copied", 5, documents::copied;
    Child, "a document laid on another", 6, documents::child;
    Related, "related documents more", 6, documents::related;
    NoDocument, "a document less", 4, documents::removed;
    DocumentMoved, "a document moved", 5, documents::moved;
    Reordered, "documents of a file reordered", 4, documents::reordered;
    FileCopied, "a file copied", 2, documents::file_copied;
    FileMoved, "a file moved", 3, documents::file_moved;
    NoFile, "a file less", 2, documents::file_removed;
    Policy, "the layering policy", 1, layout::policy;
    SiteType, "a site of another type", 1, layout::site_type;
    SiteCopied, "a site more", 1, layout::site_copied;
    NoSite, "a site less", 1, layout::site_removed;
    Comment, "a comment", 5, data::comment;
    Quotes, "other quotes", 4, data::quotes;
    KeysReordered, "keys reordered", 4, data::keys_reordered;
    Breaks, "no YAML any more", 3, data::breaks;
}

impl Kind {
    fn changes_nothing(self) -> bool {
        matches!(self, Kind::Comment | Kind::Quotes | Kind::KeysReordered)
    }
}

/// One edit of `files`, sometimes of several kinds at once.
pub fn edit(files: &Files, random: &mut Random) -> Edit {
    let count = if random.in_hundred(12) { 2 + random.below(4) } else { 1 };
    let mut edit = Edit { kinds: Vec::new(), head: files.clone() };
    while edit.kinds.len() < count {
        let kind = chosen(random);
        let made = kind.make(&mut Workshop { files: &edit.head, random });
        let Some(changed) = made.filter(|changed| is_sound(&edit.head, changed, kind)) else {
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

/// Whether the surgery came off: something is another now; no text is worse
/// YAML than it was, unless that is what is wanted; and values are the same
/// where only the text was to change.
fn is_sound(files: &Files, changed: &Changed, kind: Kind) -> bool {
    let is_new = |(path, text): &(Text, Option<Text>)| files.get(path) != text.as_ref();
    let is_sound = |(path, text): &(Text, Option<Text>)| match (files.get(path), text) {
        (_, None) => true,
        (before, Some(after)) => {
            let before = before.map_or("", |it| it);
            kind == Kind::Breaks
                || faults(path, after) <= faults(path, before)
                    && (!kind.changes_nothing()
                        || documents(path, before) == documents(path, after))
        }
    };
    changed.iter().any(is_new) && changed.iter().all(is_sound)
}

fn faults(path: &str, text: &str) -> usize {
    parsed(path, text).problems.iter().filter(|problem| problem.kind.is_fatal()).count()
}

fn documents(path: &str, text: &str) -> Vec<String> {
    parsed(path, text).documents.iter().map(|it| super::plain::plain(&it.root)).collect()
}
