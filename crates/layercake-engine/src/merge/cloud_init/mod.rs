//! How cloud-init lays one part over those before it: by merge classes that
//! the part names itself (`cloud-init.md` 2 to 5), or, in the dialect of 2013,
//! that the part before it named (11).
//!
//! What becomes of two values that meet is one verdict (`verdict`), by the
//! classes of today (`classes`) or of 2013 (`documented`). Laying (`lay`), what
//! cloud-init passes over in silence (`notice`) and where each value came from
//! (`origin`) are all read off it.

mod classes;
mod documented;
mod elements;
mod lay;
mod notice;
mod replaced;
mod specification;
mod verdict;

use std::sync::Arc;

use layercake_source::{Span, Spanned};
use layercake_yaml::Node;
use layercake_yaml::path::Location;

pub use documented::{Incoming, stack, stack_of_many};
pub use notice::{Fact, Notice, Remains, Replaced, TakenApart};
pub use specification::{Class, Request, Said, Settings, Specification, UnknownOption};
pub use verdict::Kept;

use specification::Taken;
use verdict::Mergers;

/// Whose words specifications are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// cloud-init's of today.
    Current,
    /// Those of 2013, which never came to be in a release.
    Documented,
}

/// How one mapping is laid over what there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Laying {
    /// As cloud-init does today: the mapping's own `merge_how` or `merge_type`
    /// says how, which is taken out of it, then its header.
    Current {
        /// The header `Merge-Type` or `X-Merge-Type`, where it has one.
        header: Option<Spanned<Arc<str>>>,
        /// How, where neither says.
        default: Default,
    },
    /// As in 2013: what the document is laid by was settled before, and nothing
    /// is taken out of it. See [`stack`] and [`stack_of_many`].
    Documented(Settled),
}

/// What holds where a mapping does not say how it is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Of user-data parts: `dict(replace)+list()+str()`.
    UserData,
    /// Of configurations of falling priority: `list()+dict()+str()`.
    Many,
}

/// What a mapping is laid by in the dialect of 2013, or why it cannot be laid.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled(Result<Mergers, Failure>);

/// Why a mapping was not laid over another; nothing of it was (9).
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The text that is at fault.
    pub at: Span,
    /// Whether that text is secret, or what it was to be merged into.
    pub secret: bool,
    /// What is wrong.
    pub kind: FailureKind,
}

/// The kinds of [`Failure`].
#[derive(Clone, Debug, PartialEq)]
pub enum FailureKind {
    /// A piece of a specification is not of the form `name(option,option)`.
    Format,
    /// The structure of a specification is none that Python can go through.
    Shape(ShapeFault),
    /// A class that cloud-init does not have.
    UnknownClass {
        /// Its name, as it is looked up.
        name: Arc<str>,
        /// The class that was probably meant.
        near: Option<Class>,
    },
    /// Something that is no text is to be put to a text, under `str(append)`.
    AppendedToText {
        /// The text.
        old: Span,
        /// Its place.
        place: Location,
        /// What kind of value is to be put to it.
        found: &'static str,
    },
    /// A mapping is to be read like a list, under `list(no_replace)`.
    MappingForList {
        /// The list that it meets.
        old: Span,
        /// Its place.
        place: Location,
    },
    /// The result would be more than is held in memory.
    OverLimit {
        /// The place at which it would be.
        place: Location,
        /// What there would be too much of.
        excess: Excess,
    },
}

/// What there would be too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Characters of texts as items of lists: more than a document may have
    /// nodes (`yaml::Limit::NODES`).
    Items,
    /// Bytes of a text that others were put to: more than
    /// [`MAX_OUTPUT`](super::pattern::MAX_OUTPUT).
    Text,
}

/// What is wrong with the structure of a specification (4). The words are the
/// kinds of what stands there instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeFault {
    /// The specification is neither text nor anything with items.
    Specification(&'static str),
    /// An item is neither mapping, list nor text.
    Item(&'static str),
    /// An item is an empty list or text.
    EmptyItem,
    /// A mapping has no `name`.
    MissingName,
    /// A mapping has no `settings`.
    MissingSettings,
    /// A name is no text.
    Name(&'static str),
    /// `settings` are nothing that words can be in.
    Settings(&'static str),
}

impl Laying {
    /// See [`Strategy::lay`](super::Strategy::lay). At most
    /// [`Notice::LIMIT`] notices are told, and one that says how many more
    /// there are.
    pub(super) fn lay(&self, base: &mut Node, over: &Node) -> Result<Vec<Notice>, Failure> {
        let Terms { mergers, taken, by_default } = self.settled(over)?;
        let replaced = match by_default {
            Some(Default::UserData) => replaced::replaced(base, over),
            Some(Default::Many) | None => Vec::new(),
        };
        let mut notices = lay::lay(&mergers, taken, base, over)?;
        notices.extend(replaced);
        Ok(notices)
    }

    /// Whether values of this type are merged with others of the same type so that nothing of
    /// both is lost.
    pub fn keeps(&self, class: Class) -> bool {
        match self {
            Laying::Documented(Settled(Ok(mergers))) => mergers.keeps_both(class),
            Laying::Documented(Settled(Err(_))) | Laying::Current { .. } => false,
        }
    }

    /// The merge classes by which `over` is laid, as they would be asked for;
    /// none where it cannot be laid, or asks for them in secret.
    pub(super) fn classes(&self, over: &Node) -> Option<String> {
        let is_secret = match self {
            Laying::Current { header, .. } => {
                let how = Said::by(over).how;
                how.is_some_and(|(_, how)| over.secret || how.holds_secret())
                    || over.secret && header.is_some()
            }
            // It is not known any more who asked for them.
            Laying::Documented(_) => over.secret,
        };
        let settled = self.settled(over).ok().filter(|_| !is_secret);
        settled.map(|terms| terms.mergers.to_string()).filter(|classes| !classes.is_empty())
    }

    fn settled(&self, over: &Node) -> Result<Terms, Failure> {
        match self {
            Laying::Documented(Settled(mergers)) => {
                Ok(Terms { mergers: mergers.clone()?, taken: Taken::default(), by_default: None })
            }
            Laying::Current { header, default } => {
                let asked = Specification::read(over, header.as_ref(), Dialect::Current)?;
                let by_default = asked.is_empty().then_some(*default);
                let mergers = match by_default {
                    Some(default) => Mergers::of_default(default),
                    None => Mergers::of(&asked, Dialect::Current),
                };
                Ok(Terms { mergers, taken: Said::by(over).taken, by_default })
            }
        }
    }
}

/// How one mapping is laid.
struct Terms {
    /// What it is laid by.
    mergers: Mergers,
    /// Which of its keys are no data.
    taken: Taken,
    /// The default, where nothing says how.
    by_default: Option<Default>,
}
