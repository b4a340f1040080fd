//! How one node is laid over another, system by system.
//!
//! A [`Strategy`] lays a whole document over what there is. For each it can
//! be asked, of any place, from which of the two its value came, and the other
//! way round: what explains results is read off the same rules that made them.

pub mod cloud_init;
pub mod deckhand;
pub mod patch;
pub mod pattern;

use std::sync::Arc;

use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::path::Location;

/// How a whole document is laid over what there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// By cloud-init's merge classes (`cloud-init.md` 2 to 5).
    CloudInit(cloud_init::Laying),
    /// As a list of operations (RFC 6902): the document is the patch.
    JsonPatch(Arc<patch::Patch>),
}

/// One of the two nodes of which a third is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one below: what there was.
    Base,
    /// The one above: what was laid over it.
    Over,
}

/// From where a place of the result has its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// From this place of one of the two.
    From(Side, Location),
    /// A text made of both: what stood at `base`, and what `over` has.
    Joined {
        /// The place of the text below.
        base: Location,
        /// The place of what was put to it.
        over: Location,
    },
    /// Neither has it: a mapping or list on the way to a place.
    Made,
    /// Nothing is there: it was taken away by what stands at this place above.
    Deleted(Location),
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
    pub fn at(&self) -> Span {
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

    /// From where `place` of what [`Strategy::lay`] makes of the two has its
    /// value, or why nothing is there.
    pub fn came(&self, base: &Node, over: &Node, place: &Location) -> Origin {
        match self {
            Strategy::CloudInit(laying) => laying.came(base, over, place),
            Strategy::JsonPatch(patch) => patch.came(base, over, place),
        }
    }

    /// The places of the result at which stands what one of the two has at
    /// `place`, texts included that were made of it. There may be places among
    /// them for which [`Strategy::came`] says something else; none is missing.
    pub fn went(&self, base: &Node, over: &Node, side: Side, place: &Location) -> Vec<Location> {
        match self {
            Strategy::CloudInit(laying) => laying.went(base, over, side, place),
            Strategy::JsonPatch(patch) => patch.went(base, over, side, place),
        }
    }
}
