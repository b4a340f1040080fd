//! Merge specifications of a mapping or a header: the key that contains it, and its value, a string
//! or a structure, parsed into merge classes with their options (`cloud-init.md` 2 to 4, and 11 for
//! the terms of 2013).
//!
//! cloud-init is written in Python and accepts any type that works there. Each of these cases is
//! handled explicitly here. The effects of the classes are implemented elsewhere.

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

/// Requested classes in lookup order: those of the mapping, then those of its header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specification {
    /// Requests for classes, including duplicates.
    pub requests: Vec<Request>,
}

/// Request for a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The class.
    pub class: Class,
    /// Its name as looked up, for example `list` or `m_list`.
    pub name: Spanned<Arc<str>>,
    /// Its options.
    pub settings: Settings,
    /// Text of the request, including the options.
    pub at: Span,
    /// Whether that text is secret.
    secret: bool,
}

/// Merge classes of cloud-init (5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Merges values into a mapping.
    Dict,
    /// Merges values into a list.
    List,
    /// Merges values into a string.
    Str,
}

/// Options of a class. Python's `in` decides whether an option is set.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// A list of options, or a mapping with options as keys.
    Words {
        /// The strings among them.
        words: Vec<Spanned<Arc<str>>>,
        /// The kinds of the others, which have no effect.
        others: Vec<Spanned<&'static str>>,
    },
    /// One string; every option that it contains is set.
    Text(Spanned<Arc<str>>),
}

/// Option that the class does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOption {
    /// The option; if the options are one string, that string.
    pub word: Spanned<Arc<str>>,
    /// A similar option that was probably intended.
    pub near: Option<&'static str>,
}

impl Specification {
    /// Parses the specification in `data`, then the one in `header`.
    ///
    /// # Errors
    /// If cloud-init rejects the specification (9). It first parses everything, then looks up the
    /// classes, then the options.
    pub fn read(
        data: &Node,
        header: Option<&Spanned<Arc<str>>>,
        dialect: Dialect,
    ) -> Result<Self, Failure> {
        ParsedSpecification::read(data, header)?.resolved(dialect)
    }

    /// Returns whether no class is requested, so that the default applies.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Returns the first request for a class, which is the effective one.
    pub fn first(&self, class: Class) -> Option<&Request> {
        self.requests.iter().find(|request| request.class == class)
    }

    /// Iterates over the requests that have no effect, because the class was requested before, each
    /// with the effective one.
    pub fn dead(&self) -> impl Iterator<Item = (&Request, &Request)> {
        self.requests.iter().filter_map(|request| {
            let first = self.first(request.class)?;
            (!std::ptr::eq(first, request)).then_some((request, first))
        })
    }
}

impl Request {
    /// Returns its options that the class does not have.
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
                let has_no_effect = !known.iter().any(|option| text.value.contains(option));
                (has_no_effect && !text.value.is_empty())
                    .then(|| unknown(text))
                    .into_iter()
                    .collect()
            }
        }
    }
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 3] = [Class::Dict, Class::List, Class::Str];

    /// Returns the name of the class.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Dict => "dict",
            Class::List => "list",
            Class::Str => "str",
        }
    }

    /// Returns the options of the class.
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

    /// Returns the current option with the same effect as this option of 2013, if any.
    pub fn modern_option(self, word: &str) -> Option<&'static str> {
        match (self, word) {
            (Class::List, "extend") => Some("append"),
            (Class::Dict, "overwrite") => Some("replace"),
            (Class::Dict | Class::List | Class::Str, _) => None,
        }
    }

    /// Returns a similar option: the same except for case and dashes, the counterpart in the other
    /// dialect, or one with a small edit distance.
    fn nearest_option(self, word: &str, dialect: Dialect) -> Option<&'static str> {
        let known = self.options(dialect);
        let spelled = with_underscores(strip(&word.to_lowercase()));
        if let Some(same) = known.iter().find(|option| **option == spelled) {
            return Some(same);
        }
        let modern = self
            .modern_option(&spelled)
            .filter(|option| known.contains(option));
        modern.or_else(|| nearest(&spelled, known.iter().copied()))
    }

    /// Returns the class with this name (5). The current dialect allows a prefix `m_`.
    fn named(name: &str, dialect: Dialect) -> Option<Self> {
        let name = match dialect {
            Dialect::Current => name.strip_prefix("m_").unwrap_or(name),
            Dialect::Documented => name,
        };
        Class::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

impl Settings {
    /// Returns whether an option is set.
    pub fn has(&self, option: &str) -> bool {
        match self {
            Settings::Words { words, .. } => words.iter().any(|word| &*word.value == option),
            Settings::Text(text) => text.value.contains(option),
        }
    }
}

/// Merge specification of a mapping, and the keys that cloud-init removes with it (2).
#[derive(Clone, Copy, Debug)]
pub struct SpecificationKeys<'a> {
    /// Key and value of the specification; never null.
    pub how: Option<(&'a Key, &'a Node)>,
    /// Keys that are removed.
    pub(super) taken: Taken,
}

/// Keys that are removed from a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    merge_how: bool,
    merge_type: bool,
}

const MERGE_HOW: &str = "merge_how";
const MERGE_TYPE: &str = "merge_type";

impl<'a> SpecificationKeys<'a> {
    /// Finds the specification at the top level of `data`: `merge_how` or, if that is missing or
    /// null, `merge_type`.
    pub fn by(data: &'a Node) -> Self {
        let entry = |key| data.as_mapping().and_then(|mapping| mapping.get_entry(key));
        let present = |key| entry(key).filter(|(_, node)| !node.is_null());
        match present(MERGE_HOW) {
            Some(how) => Self {
                how: Some(how),
                taken: Taken {
                    merge_how: true,
                    merge_type: false,
                },
            },
            None => Self {
                how: present(MERGE_TYPE),
                taken: Taken {
                    merge_how: true,
                    merge_type: true,
                },
            },
        }
    }
}

impl Taken {
    /// Returns whether this key is removed.
    pub(super) fn has(self, key: &Key) -> bool {
        match key.as_str() {
            Some(MERGE_HOW) => self.merge_how,
            Some(MERGE_TYPE) => self.merge_type,
            Some(_) | None => false,
        }
    }

    /// Returns a value without the removed keys.
    pub(super) fn left_of(self, node: &Node) -> Cow<'_, Node> {
        match node.as_mapping() {
            Some(mapping) if mapping.keys().any(|key| self.has(key)) => {
                let mut left = mapping.clone();
                left.retain(|key| !self.has(key));
                Cow::Owned(Node {
                    value: Value::Mapping(Arc::new(left)),
                    ..node.clone()
                })
            }
            Some(_) | None => Cow::Borrowed(node),
        }
    }

    /// Iterates over the entries without the removed keys.
    pub(super) fn rest(self, mapping: &Mapping) -> impl Iterator<Item = (&Key, &Node)> {
        mapping.iter().filter(move |(key, _)| !self.has(key))
    }
}

/// Parsed names with options, before the lookup.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParsedSpecification(Vec<Item>);

#[derive(Clone, Debug, PartialEq)]
struct Item {
    pub name: Spanned<Name>,
    options: Options,
    pub at: Span,
    secret: bool,
}

/// Value at the place of a class name.
#[derive(Clone, Debug, PartialEq)]
enum Name {
    Text(SmolStr),
    /// Not a string; its kind.
    Other(&'static str),
}

/// Value at the place of the options.
#[derive(Clone, Debug, PartialEq)]
enum Options {
    Usable(Settings),
    /// A value in which Python cannot look up an option; its kind.
    Unusable(Spanned<&'static str>),
}

impl ParsedSpecification {
    /// Parses the specification in `data`, then the one in `header`.
    pub(super) fn read(data: &Node, header: Option<&Spanned<Arc<str>>>) -> Result<Self, Failure> {
        let mut items = match SpecificationKeys::by(data).how {
            Some((_, how)) => items_of(how)?,
            None => Vec::new(),
        };
        if let Some(header) = header {
            items.extend(items_of_text(
                &Written::of_text(&header.value, header.span),
                data.secret,
            )?);
        }
        Ok(Self(items))
    }

    /// Returns whether no class is requested.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks up all names, then their options.
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
        Ok(Specification {
            requests: requests.collect::<Result<_, Failure>>()?,
        })
    }
}

impl Item {
    fn class(&self, dialect: Dialect) -> Result<(Class, SmolStr), Failure> {
        let at = self.name.span;
        let fails = |kind| Failure {
            at,
            secret: self.secret,
            kind,
        };
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

/// Returns a class with a similar name: the same in lower case, a synonym from another language, or
/// one with a small edit distance.
fn nearest_class(name: &str, dialect: Dialect) -> Option<Class> {
    let name = with_underscores(strip(&name.to_lowercase()));
    let other_words = [
        (
            Class::Dict,
            &["map", "mapping", "dictionary", "object", "hash"][..],
        ),
        (Class::List, &["array", "sequence", "tuple"][..]),
        (Class::Str, &["string", "text", "unicode"][..]),
    ];
    let of_words = other_words
        .into_iter()
        .find(|(_, words)| words.contains(&&*name));
    Class::named(&name, dialect)
        .or_else(|| of_words.map(|(class, _)| class))
        .or_else(|| {
            let near = nearest(&name, Class::ALL.into_iter().map(Class::as_str))?;
            Class::ALL.into_iter().find(|class| class.as_str() == near)
        })
}

fn with_underscores(text: &str) -> String {
    text.replace('-', "_")
}

/// Implements Python's `str.strip`.
fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

/// Implements Python's `str.isspace`: Unicode white space, and four ASCII separators that Unicode
/// does not include.
fn is_python_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}
