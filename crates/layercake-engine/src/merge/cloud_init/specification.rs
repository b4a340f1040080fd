//! What a mapping or a header says of how it is merged: the key that says it,
//! and what is written there, as text or as structure, read to merge classes
//! with their options (`cloud-init.md` 2 to 4, and 11 for the words of 2013).
//!
//! cloud-init is written in Python and takes what Python lets it take: here
//! each such reading is spelled out. What the classes do is not known here.

mod structure;
mod text;
mod written;

use std::borrow::Cow;
use std::sync::Arc;

use layercake_source::near::nearest;
use layercake_source::{Span, Spanned};
use layercake_yaml::{Key, Mapping, Node, Value};
use smol_str::SmolStr;

use super::{Dialect, Failure, FailureKind, ShapeFault};
use structure::items_of;
use text::items_of_text;
use written::Written;

/// The classes that are asked for, in the order in which they are looked
/// through: what the mapping says, then what its header says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specification {
    /// The classes, each as often as it is named.
    pub requests: Vec<Request>,
}

/// A class that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Which it is.
    pub class: Class,
    /// Its name as it is looked up, e.g. `list` or `m_list`.
    pub name: Spanned<Arc<str>>,
    /// Its options.
    pub settings: Settings,
    /// The text that asks for it, options included.
    pub at: Span,
    /// Whether that text is secret.
    secret: bool,
}

/// The merge classes that cloud-init has (5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// How values are merged into a mapping.
    Dict,
    /// How values are merged into a list.
    List,
    /// How values are merged into a text.
    Str,
}

/// The options of a class. Whether one is set is Python's `in`.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// Words: the elements of a list, or the keys of a mapping.
    Words {
        /// Those that are text.
        words: Vec<Spanned<Arc<str>>>,
        /// The kinds of those that are not, and so say nothing.
        others: Vec<Spanned<&'static str>>,
    },
    /// One text; whatever option stands anywhere in it is set.
    Text(Spanned<Arc<str>>),
}

/// A word among the options of a class that says nothing to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOption {
    /// The word; where the options are one text, that.
    pub word: Spanned<Arc<str>>,
    /// The option that was probably meant.
    pub near: Option<&'static str>,
}

impl Specification {
    /// What `data` says of how it is merged, and `header` after it.
    ///
    /// # Errors
    /// Where cloud-init makes nothing of it (9). It first takes all of it
    /// apart, then looks the classes up, then their options.
    pub fn read(
        data: &Node,
        header: Option<&Spanned<Arc<str>>>,
        dialect: Dialect,
    ) -> Result<Self, Failure> {
        Asked::read(data, header)?.resolved(dialect)
    }

    /// Whether nothing is asked for, so that the default holds.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The first request for a class, which is the one that counts.
    pub fn first(&self, class: Class) -> Option<&Request> {
        self.requests.iter().find(|request| request.class == class)
    }

    /// The requests that count for nothing, since the class was asked for
    /// before, each with the one that counts.
    pub fn dead(&self) -> impl Iterator<Item = (&Request, &Request)> {
        self.requests.iter().filter_map(|request| {
            let first = self.first(request.class)?;
            (!std::ptr::eq(first, request)).then_some((request, first))
        })
    }
}

impl Request {
    /// The words among its options that are none of its class.
    pub fn unknown_options(&self, dialect: Dialect) -> Vec<UnknownOption> {
        let known = self.class.options(dialect);
        let unknown = |word: &Spanned<Arc<str>>| UnknownOption {
            word: word.clone(),
            near: self.class.nearest_option(&word.value, dialect),
        };
        match &self.settings {
            Settings::Words { words, .. } => {
                let unknowns = words.iter().filter(|word| !known.contains(&&*word.value));
                unknowns.map(unknown).collect()
            }
            Settings::Text(text) => {
                let says_nothing = !known.iter().any(|option| text.value.contains(option));
                (says_nothing && !text.value.is_empty())
                    .then(|| unknown(text))
                    .into_iter()
                    .collect()
            }
        }
    }
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 3] = [Class::Dict, Class::List, Class::Str];

    /// The name that is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Dict => "dict",
            Class::List => "list",
            Class::Str => "str",
        }
    }

    /// The options that the class has.
    pub fn options(self, dialect: Dialect) -> &'static [&'static str] {
        match (dialect, self) {
            (Dialect::Current, Class::Dict) => &[
                "replace",
                "no_replace",
                "recurse_list",
                "recurse_array",
                "recurse_str",
                "recurse_dict",
                "allow_delete",
            ],
            (Dialect::Current, Class::List) => &[
                "append",
                "prepend",
                "replace",
                "no_replace",
                "recurse_dict",
                "recurse_list",
                "recurse_array",
                "recurse_str",
            ],
            (Dialect::Current | Dialect::Documented, Class::Str) => &["append"],
            (Dialect::Documented, Class::Dict) => &["overwrite"],
            (Dialect::Documented, Class::List) => &["extend", "discard_non_list"],
        }
    }

    /// The option of today that does what this word did in 2013; none where
    /// it is no word of 2013, or nothing does that any more.
    pub fn modern_option(self, word: &str) -> Option<&'static str> {
        match (self, word) {
            (Class::List, "extend") => Some("append"),
            (Class::Dict, "overwrite") => Some("replace"),
            (Class::Dict | Class::List | Class::Str, _) => None,
        }
    }

    /// The option that a word is nearly: the same but for case and dashes, the
    /// word of the other dialect, or a slip of the hand.
    fn nearest_option(self, word: &str, dialect: Dialect) -> Option<&'static str> {
        let known = self.options(dialect);
        let spelled = with_underscores(strip(&word.to_lowercase()));
        if let Some(same) = known.iter().find(|option| **option == spelled) {
            return Some(same);
        }
        let modern = self.modern_option(&spelled).filter(|option| known.contains(option));
        modern.or_else(|| nearest(&spelled, known.iter().copied()))
    }

    /// The class of a name (5): today with `m_` in front or without.
    fn named(name: &str, dialect: Dialect) -> Option<Self> {
        let name = match dialect {
            Dialect::Current => name.strip_prefix("m_").unwrap_or(name),
            Dialect::Documented => name,
        };
        Class::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

impl Settings {
    /// Whether an option is set.
    pub fn has(&self, option: &str) -> bool {
        match self {
            Settings::Words { words, .. } => words.iter().any(|word| &*word.value == option),
            Settings::Text(text) => text.value.contains(option),
        }
    }
}

/// What a mapping says of how it is merged, and which of its keys cloud-init
/// takes out for that (2).
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The key that says it, and what it says; never null.
    pub how: Option<(&'a Key, &'a Node)>,
    /// The keys that are taken out.
    pub(super) taken: Taken,
}

/// Which of the two keys are taken out of a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    merge_how: bool,
    merge_type: bool,
}

const MERGE_HOW: &str = "merge_how";
const MERGE_TYPE: &str = "merge_type";

impl<'a> Said<'a> {
    /// Looks at the top level of `data`: `merge_how`, and where that is absent
    /// or null, `merge_type`.
    pub fn by(data: &'a Node) -> Self {
        let entry = |key| data.as_mapping().and_then(|mapping| mapping.get_entry(key));
        let present = |key| entry(key).filter(|(_, node)| !node.is_null());
        match present(MERGE_HOW) {
            Some(how) => {
                Self { how: Some(how), taken: Taken { merge_how: true, merge_type: false } }
            }
            None => Self {
                how: present(MERGE_TYPE),
                taken: Taken { merge_how: true, merge_type: true },
            },
        }
    }
}

impl Taken {
    /// Whether this key is taken out.
    pub(super) fn has(self, key: &Key) -> bool {
        match key.as_str() {
            Some(MERGE_HOW) => self.merge_how,
            Some(MERGE_TYPE) => self.merge_type,
            Some(_) | None => false,
        }
    }

    /// What is left of a value: itself, unless it is a mapping with one of them.
    pub(super) fn left_of(self, node: &Node) -> Cow<'_, Node> {
        match node.as_mapping() {
            Some(mapping) if mapping.keys().any(|key| self.has(key)) => {
                let mut left = mapping.clone();
                left.retain(|key| !self.has(key));
                Cow::Owned(Node { value: Value::Mapping(Arc::new(left)), ..node.clone() })
            }
            Some(_) | None => Cow::Borrowed(node),
        }
    }

    /// The entries that are left.
    pub(super) fn rest(self, mapping: &Mapping) -> impl Iterator<Item = (&Key, &Node)> {
        mapping.iter().filter(move |(key, _)| !self.has(key))
    }
}

/// Names with options, taken apart but not looked up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked(Vec<Item>);

#[derive(Clone, Debug, PartialEq)]
struct Item {
    pub name: Spanned<Name>,
    options: Options,
    pub at: Span,
    secret: bool,
}

/// What stands where the name of a class is to stand.
#[derive(Clone, Debug, PartialEq)]
enum Name {
    Text(SmolStr),
    /// Not text; its kind.
    Other(&'static str),
}

/// What stands where the options are to stand.
#[derive(Clone, Debug, PartialEq)]
enum Options {
    Usable(Settings),
    /// Nothing in which Python can look for a word; its kind.
    Unusable(Spanned<&'static str>),
}

impl Asked {
    /// Takes apart what `data` says, and `header` after it.
    pub(super) fn read(data: &Node, header: Option<&Spanned<Arc<str>>>) -> Result<Self, Failure> {
        let mut items = match Said::by(data).how {
            Some((_, how)) => items_of(how)?,
            None => Vec::new(),
        };
        if let Some(header) = header {
            items
                .extend(items_of_text(&Written::of_text(&header.value, header.span), data.secret)?);
        }
        Ok(Self(items))
    }

    /// Whether nothing is asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks the names up, all of them before any options.
    pub(super) fn resolved(&self, dialect: Dialect) -> Result<Specification, Failure> {
        let classes: Result<Vec<(Class, SmolStr)>, Failure> =
            self.0.iter().map(|item| item.class(dialect)).collect();
        let requests = self.0.iter().zip(classes?).map(|(item, (class, name))| {
            Ok(Request {
                class,
                name: Spanned::new(name.into(), item.name.span),
                settings: item.settings()?,
                at: item.at,
                secret: item.secret,
            })
        });
        Ok(Specification { requests: requests.collect::<Result<_, Failure>>()? })
    }
}

impl Item {
    fn class(&self, dialect: Dialect) -> Result<(Class, SmolStr), Failure> {
        let at = self.name.span;
        let fails = |kind| Failure { at, secret: self.secret, kind };
        match &self.name.value {
            Name::Other(kind) => Err(fails(FailureKind::Shape(ShapeFault::Name(kind)))),
            Name::Text(name) => match Class::named(name, dialect) {
                Some(class) => Ok((class, name.clone())),
                None => Err(fails(FailureKind::UnknownClass {
                    name: name.clone().into(),
                    near: nearest_class(name, dialect),
                })),
            },
        }
    }

    fn settings(&self) -> Result<Settings, Failure> {
        match &self.options {
            Options::Usable(settings) => Ok(settings.clone()),
            Options::Unusable(found) => Err(Failure {
                at: found.span,
                secret: self.secret,
                kind: FailureKind::Shape(ShapeFault::Settings(found.value)),
            }),
        }
    }
}

/// The class that a name is nearly: the same in lower case, what a person
/// calls the same in another language, or a slip of the hand.
fn nearest_class(name: &str, dialect: Dialect) -> Option<Class> {
    let name = with_underscores(strip(&name.to_lowercase()));
    let other_words = [
        (Class::Dict, &["map", "mapping", "dictionary", "object", "hash"][..]),
        (Class::List, &["array", "sequence", "tuple"][..]),
        (Class::Str, &["string", "text", "unicode"][..]),
    ];
    let of_words = other_words.into_iter().find(|(_, words)| words.contains(&&*name));
    Class::named(&name, dialect).or_else(|| of_words.map(|(class, _)| class)).or_else(|| {
        let near = nearest(&name, Class::ALL.into_iter().map(Class::as_str))?;
        Class::ALL.into_iter().find(|class| class.as_str() == near)
    })
}

fn with_underscores(text: &str) -> String {
    text.replace('-', "_")
}

/// Python's `str.strip`.
fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

/// Python's `str.isspace`: Unicode's white space, and four separators of
/// ASCII that Unicode does not count.
fn is_python_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}
