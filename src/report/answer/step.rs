//! Steps of a trace or of a flow, and their words.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use crate::merge::deckhand::Method;
use crate::render::flow::Why;
use crate::render::replay::Via;

/// Effect of a step on a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The value is written here.
    Literal,
    /// There never was a value.
    Absent,
    /// The document is not rendered.
    Blocked,
    /// The trace ends here, because it is too long.
    Unfollowed,
    /// An action keeps the value of the parent, or overrides it with the document's own data.
    Layered {
        /// Parent with a value.
        parent: Option<ParentStep>,
        /// The action.
        action: Option<StepAction>,
        /// Whether own data has a value, if the action takes it from there.
        own: Option<bool>,
    },
    /// A substitution writes the value.
    Substituted {
        /// How the value is written.
        via: Via,
        /// Path in the source document.
        from: String,
        /// Paths that it writes.
        to: Vec<String>,
    },
    /// An action creates the value.
    Created(Option<StepAction>),
    /// A document that is merged into this one has the value.
    Combined(Option<StepAction>),
    /// The value represents a secret that is elsewhere.
    Placeholder,
    /// A step removes the value.
    Removed(Option<StepAction>),
    /// Steps are skipped, because the document is too large.
    TooLarge,
    /// A text reaches this place.
    Reached(HopKind, String),
    /// A text is stopped.
    Stopped(Why),
}

/// Parent of a document in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentStep {
    pub(crate) name: Arc<str>,
    /// Number of the parent's last step, if the document replaces its parent.
    pub(crate) replaced: Option<usize>,
}

/// A step of a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// A layering action, with its path.
    Layering(Method, String),
    /// A substitution of this path.
    Substitution(String),
    /// A merge of cloud-config documents with these merge classes, if known.
    Merged(Option<String>),
    /// A JSON Patch, with the operation that wrote or removed the value.
    Patched(Option<Operation>),
}

/// An operation of a JSON Patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number in the patch, from 1.
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) path: String,
}

/// How a text gets into a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HopKind {
    /// It is in the document's own data.
    Own,
    /// An action takes it from the document's own data.
    Layered,
    /// By inheritance.
    Inherited,
    /// By inheritance, into a document that replaces the other.
    Replaced,
    /// By merging another document.
    Merged,
    /// By a substitution.
    Substituted,
    /// By a substitution with a pattern.
    Pattern,
    /// It does not.
    Not,
    /// The document would not be replaced by this one.
    NotReplaced,
}

impl From<Via> for HopKind {
    fn from(via: Via) -> Self {
        match via {
            Via::Literal | Via::Made => HopKind::Own,
            Via::Inherited => HopKind::Inherited,
            Via::Replaced => HopKind::Replaced,
            Via::Layered { .. } => HopKind::Layered,
            Via::Merged => HopKind::Merged,
            Via::Substituted => HopKind::Substituted,
            Via::Pattern => HopKind::Pattern,
            Via::Deleted | Via::Absent | Via::Blocked | Via::Unfollowed => HopKind::Not,
        }
    }
}

impl Display for HopKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HopKind::Own => "own data",
            HopKind::Layered => "own data, by an action",
            HopKind::Inherited => "inherited by",
            HopKind::Replaced => "replaced by",
            HopKind::Merged => "merged into",
            HopKind::Substituted => "substituted into",
            HopKind::Pattern => "inserted by a pattern into",
            HopKind::Not => "not in",
            HopKind::NotReplaced => "no longer replaced by",
        })
    }
}

/// Describes the reason why a text stops.
pub(super) fn describe_stop(why: Why) -> &'static str {
    match why {
        Why::SetAgain => "set again",
        Why::NotInherited => "not inherited, because an action replaces it",
        Why::Deleted => "deleted by an action",
        Why::Overwritten => "overwritten by a substitution",
        Why::Kept => "kept unchanged",
        Why::NotMerged => "discarded with its whole document",
        Why::NoAction => "no action applies it from the document's own data",
        Why::Unused => "ends unused",
        Why::Blocked => NOT_RENDERED,
    }
}

const NOT_RENDERED: &str = "not rendered: on a cycle, or needs one that is";

impl Display for StepKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StepKind::Literal => f.write_str("literal"),
            StepKind::Absent => f.write_str("no value"),
            StepKind::Blocked => f.write_str(NOT_RENDERED),
            StepKind::Unfollowed => f.write_str("trace too long to follow further"),
            StepKind::Layered {
                parent,
                action,
                own,
            } => {
                if let Some(parent) = parent {
                    write!(f, "{parent}, ")?;
                }
                let value = match own {
                    None => "",
                    Some(true) => ", own value",
                    Some(false) => ", own data has no value there",
                };
                write!(f, "{}{value}", Words(action))
            }
            StepKind::Substituted { via, from, to } => {
                let how = match via {
                    Via::Made => "created by substitution",
                    Via::Pattern => "pattern substitution",
                    _ => "substitution",
                };
                write!(f, "{how} {from} into {}", to.join(", "))
            }
            StepKind::Created(action) => write!(f, "created by {}", Words(action)),
            StepKind::Combined(action) => write!(f, "{}", Words(action)),
            StepKind::Placeholder => f.write_str("created: placeholder for a secret elsewhere"),
            StepKind::Removed(action) => write!(f, "{} removes it", Words(action)),
            StepKind::TooLarge => f.write_str("too large: only its own data is rendered"),
            StepKind::Reached(hop, place) => write!(f, "{hop} {place}"),
            StepKind::Stopped(why) => f.write_str(describe_stop(*why)),
        }
    }
}

impl Display for ParentStep {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.replaced {
            write!(f, "replaces #{number}, ")?;
        }
        write!(f, "parent {}", self.name)
    }
}

impl Display for StepAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StepAction::Layering(method, path) => write!(f, "action {} {path}", method.as_str()),
            StepAction::Substitution(from) => write!(f, "substitution {from}"),
            StepAction::Merged(Some(classes)) => write!(f, "merged by {classes}"),
            StepAction::Merged(None) => f.write_str("merged"),
            StepAction::Patched(None) => f.write_str("patched"),
            StepAction::Patched(Some(Operation { number, name, path })) => {
                write!(f, "patched by operation {number} ({name} {path})")
            }
        }
    }
}

/// Words of an action, if it is known.
struct Words<'a>(&'a Option<StepAction>);

impl Display for Words<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |part| part.fmt(f))
    }
}
