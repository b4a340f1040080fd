//! cloud-init's merging of parts, by merge classes that each part specifies itself (`cloud-init.md`
//! 2 to 5) or, in the dialect of 2013, that the previous part specified (11).
//!
//! A verdict decides what happens to two values at the same place (`verdict`), by the current
//! classes (`classes`) or those of 2013 (`documented`). Merging (`merge`) and notices about effects
//! without a warning of cloud-init (`notice`) are both based on the verdicts.

mod classes;
mod documented;
mod elements;
mod merge;
mod notice;
mod specification;
mod verdict;

use std::sync::Arc;

use layercake_source::{Span, Spanned};
use layercake_yaml::Node;
use layercake_yaml::path::Location;

pub use documented::{Incoming, stack, stack_of_many};
pub use notice::{Fact, Notice, Remains, Replaced, SplitInto, lacks, lost_items};
pub use specification::{
    Class, Request, Settings, Specification, SpecificationKeys, UnknownOption,
};
pub use verdict::Kept;

use specification::Taken;
use verdict::Mergers;

/// Dialect of specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The current one of cloud-init.
    Current,
    /// The one of 2013, which was never released.
    Documented,
}

/// Strategy for merging one mapping.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeRules {
    /// As current cloud-init: by the mapping's own `merge_how` or `merge_type`, which is removed
    /// from it, then by its header.
    Current {
        /// The header `Merge-Type` or `X-Merge-Type`, if any.
        header: Option<Spanned<Arc<str>>>,
        /// Strategy if neither exists.
        default: Default,
    },
    /// As in 2013: the strategy is known beforehand, and no keys are removed. See [`stack`] and
    /// [`stack_of_many`].
    Documented(Settled),
}

/// Default for a mapping without a merge specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// For user-data parts: `dict(replace)+list()+str()`.
    UserData,
    /// For configurations by falling priority: `list()+dict()+str()`.
    Many,
}

/// Merge classes for a mapping in the dialect of 2013, or the reason why it cannot be merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled(Result<Mergers, Failure>);

/// Reason why a mapping was not merged; nothing of it was (9).
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Span of the text to fix.
    pub at: Span,
    /// Whether that text, or the value it was to be merged into, is secret.
    pub secret: bool,
    /// Kind of the failure.
    pub kind: FailureKind,
}

/// Kind of a [`Failure`].
#[derive(Clone, Debug, PartialEq)]
pub enum FailureKind {
    /// A part of a specification does not have the form `name(option,option)`.
    Format,
    /// Python cannot iterate over the structure of a specification.
    Shape(ShapeFault),
    /// cloud-init has no class of this name.
    UnknownClass {
        /// The name, as looked up.
        name: Arc<str>,
        /// A similar class that was probably intended.
        near: Option<Class>,
    },
    /// A value other than a string is appended to a string, under `str(append)`.
    AppendedToText {
        /// The string.
        old: Span,
        /// Its place.
        place: Location,
        /// Kind of the value that is appended.
        found: &'static str,
    },
    /// A mapping is used like a list, under `list(no_replace)`.
    MappingForList {
        /// The list at the same place.
        old: Span,
        /// Its place.
        place: Location,
    },
    /// The result would exceed a limit.
    OverLimit {
        /// Place of the result.
        place: Location,
        /// The exceeded limit.
        excess: Excess,
    },
}

/// Limit on the result of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Characters of strings as items of lists: more than the maximum number of nodes of a document
    /// (`yaml::Limit::NODES`).
    Items,
    /// Bytes of a string to which others were appended: more than
    /// [`MAX_OUTPUT`](super::pattern::MAX_OUTPUT).
    Text,
}

/// Error in the structure of a specification (4). Strings are the kinds of the values found
/// instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeFault {
    /// The specification is neither a string nor iterable.
    Specification(&'static str),
    /// An item is not a mapping, list or string.
    Item(&'static str),
    /// An item is an empty list or string.
    EmptyItem,
    /// A mapping has no `name`.
    MissingName,
    /// A mapping has no `settings`.
    MissingSettings,
    /// A name is not a string.
    Name(&'static str),
    /// `settings` cannot contain options.
    Settings(&'static str),
}

impl MergeRules {
    /// See [`Strategy::merge`](super::Strategy::merge). Returns a notice for each lost list, mapping
    /// or key, at most [`Notice::LIMIT`] others, and one with the number of further ones.
    pub(super) fn merge(&self, base: &mut Node, over: &Node) -> Result<Vec<Notice>, Failure> {
        let Terms { mergers, taken } = self.settled(over)?;
        merge::merge(&mergers, taken, base, over)
    }

    /// Returns the merge classes for `over` in the syntax of a specification; `None` if it cannot
    /// be merged, or if its specification is secret.
    pub fn classes(&self, over: &Node) -> Option<String> {
        let is_secret = match self {
            MergeRules::Current { header, .. } => {
                let how = SpecificationKeys::by(over).how;
                how.is_some_and(|(_, how)| over.secret || how.holds_secret())
                    || over.secret && header.is_some()
            }
            // The source of the specification is not known here.
            MergeRules::Documented(_) => over.secret,
        };
        let settled = self.settled(over).ok().filter(|_| !is_secret);
        settled
            .map(|terms| terms.mergers.to_string())
            .filter(|classes| !classes.is_empty())
    }

    fn settled(&self, over: &Node) -> Result<Terms, Failure> {
        match self {
            MergeRules::Documented(Settled(mergers)) => Ok(Terms {
                mergers: mergers.clone()?,
                taken: Taken::default(),
            }),
            MergeRules::Current { header, default } => {
                let asked = Specification::read(over, header.as_ref(), Dialect::Current)?;
                let mergers = if asked.is_empty() {
                    Mergers::of_default(*default)
                } else {
                    Mergers::of(&asked, Dialect::Current)
                };
                Ok(Terms {
                    mergers,
                    taken: SpecificationKeys::by(over).taken,
                })
            }
        }
    }
}

/// Merge strategy of one mapping.
struct Terms {
    /// Merge classes.
    mergers: Mergers,
    /// Keys that are not data.
    taken: Taken,
}
