//! Merging of one node into another, for each supported system.
//!
//! A [`Strategy`] merges a whole document into the data so far. Moved nodes keep their spans, so
//! that [`numbers`] can find the origin of each value of a result.

pub mod cloud_init;
pub mod deckhand;
pub mod numbers;
pub mod patch;

use std::sync::Arc;

pub use layercake_python as pattern;
use layercake_source::Span;
use layercake_yaml::Node;
use layercake_yaml::path::Location;

/// Strategy for merging a whole document.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// cloud-init's merge classes (`cloud-init.md` 2 to 5).
    CloudInit(cloud_init::MergeRules),
    /// JSON Patch (RFC 6902): the document is a list of operations.
    JsonPatch(Arc<patch::Patch>),
}

/// Reason why a document could not be merged; nothing of it was.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Failure of cloud-init's merge classes.
    CloudInit(cloud_init::Failure),
    /// Failure of a patch.
    JsonPatch(patch::Failure),
}

/// Possibly unintended effect of a merge.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Notice of cloud-init's merge classes.
    CloudInit(cloud_init::Notice),
}

impl Failure {
    /// Returns the span of the text to fix.
    pub(crate) fn at(&self) -> Span {
        match self {
            Failure::CloudInit(failure) => failure.at,
            Failure::JsonPatch(failure) => failure.at,
        }
    }
}

impl Strategy {
    /// Merges `over` into `base`, and returns possibly unintended effects.
    ///
    /// # Errors
    /// If the documents cannot be merged; `base` is then unchanged.
    pub fn merge(&self, base: &mut Node, over: &Node) -> Result<Vec<Notice>, Failure> {
        match self {
            Strategy::CloudInit(rules) => {
                let notices = rules.merge(base, over).map_err(Failure::CloudInit)?;
                Ok(notices.into_iter().map(Notice::CloudInit).collect())
            }
            Strategy::JsonPatch(patch) => {
                patch.apply(base, over).map_err(Failure::JsonPatch)?;
                Ok(Vec::new())
            }
        }
    }

    /// Returns whether it may move a value of the base to another place of the base.
    pub(crate) fn moves_within(&self) -> bool {
        match self {
            Strategy::CloudInit(_) => false,
            Strategy::JsonPatch(_) => true,
        }
    }

    /// Returns the place in `over` of the operation that removed the node with the span `taken`
    /// from `base`; `None` if `over` removes nodes by the value at their own place.
    pub fn taken_by(&self, base: &Node, over: &Node, taken: Span) -> Option<Location> {
        match self {
            Strategy::CloudInit(_) => None,
            Strategy::JsonPatch(patch) => patch.taken_by(base, over, taken),
        }
    }
}
