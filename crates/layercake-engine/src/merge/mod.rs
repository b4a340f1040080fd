//! How one node is laid over another, system by system.
//!
//! A [`Strategy`] lays a whole document over what there is. What it moves keeps its span, so that
//! [`numbers`] can say from where each value of a result came.

pub mod cloud_init;
pub mod deckhand;
pub mod numbers;
pub mod patch;
pub mod pattern;

use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::Node;
use layercake_yaml::path::Location;

/// How a whole document is laid over what there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// By cloud-init's merge classes (`cloud-init.md` 2 to 5).
    CloudInit(cloud_init::Laying),
    /// As a list of operations (RFC 6902): the document is the patch.
    JsonPatch(Arc<patch::Patch>),
}

/// Why a document could not be laid over another; nothing of it was.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// By cloud-init's merge classes.
    CloudInit(cloud_init::Failure),
    /// As a patch.
    JsonPatch(patch::Failure),
}

/// Something that may not be as whoever wrote it meant it, although it was
/// laid.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// By cloud-init's merge classes.
    CloudInit(cloud_init::Notice),
}

impl Failure {
    /// The text at fault.
    pub(crate) fn at(&self) -> Span {
        match self {
            Failure::CloudInit(failure) => failure.at,
            Failure::JsonPatch(failure) => failure.at,
        }
    }
}

impl Strategy {
    /// Lays `over` over `base`, and tells what in it may not be as it was
    /// meant.
    ///
    /// # Errors
    /// Where it cannot be done; `base` is then as it was.
    pub fn lay(&self, base: &mut Node, over: &Node) -> Result<Vec<Notice>, Failure> {
        match self {
            Strategy::CloudInit(laying) => {
                let notices = laying.lay(base, over).map_err(Failure::CloudInit)?;
                Ok(notices.into_iter().map(Notice::CloudInit).collect())
            }
            Strategy::JsonPatch(patch) => {
                patch.apply(base, over).map_err(Failure::JsonPatch)?;
                Ok(Vec::new())
            }
        }
    }

    /// Whether it may move a value of the base to another place of the base.
    pub(crate) fn moves_within(&self) -> bool {
        match self {
            Strategy::CloudInit(_) => false,
            Strategy::JsonPatch(_) => true,
        }
    }

    /// What [`Strategy::lay`] does with `over`, as a participle with the merge
    /// classes that do it, e.g. `merged by dict(replace)+list()+str()`. Nothing
    /// that is secret is told.
    pub fn told(&self, over: &Node) -> String {
        match self {
            Strategy::CloudInit(laying) => match laying.classes(over) {
                Some(classes) => format!("merged by {classes}"),
                None => "merged".to_owned(),
            },
            Strategy::JsonPatch(_) => "patched".to_owned(),
        }
    }

    /// Place in `over` of the operation that removed the node with the span `taken` from `base`; none
    /// if `over` removes nodes by the value at their own place.
    pub fn taken_by(&self, base: &Node, over: &Node, taken: Span) -> Option<Location> {
        match self {
            Strategy::CloudInit(_) => None,
            Strategy::JsonPatch(patch) => patch.taken_by(base, over, taken),
        }
    }
}
