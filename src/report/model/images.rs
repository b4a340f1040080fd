//! Container images that edits changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::id::SetRef;
use super::sites::SiteSets;

/// An image that differs between the sides.
#[derive(Clone, Debug, Default)]
pub struct ImageChange {
    /// `None` for an image that no output of the site used before.
    pub(crate) base: Option<String>,
    /// `None` for an image that no output of the site uses any more.
    pub(crate) head: Option<String>,
    /// Names of the documents that use it, or used it.
    pub(crate) users: BTreeSet<Arc<str>>,
    /// Sites with the change.
    pub(crate) sites: BTreeSet<Option<Arc<str>>>,
}

/// An [`ImageChange`] in a report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an image")]
pub struct ReportedImage {
    /// `None` for a new image.
    pub(crate) base: Option<String>,
    /// `None` for a removed image.
    pub(crate) head: Option<String>,
    /// Names of the documents that use it, or used it.
    pub(crate) users: Vec<String>,
    pub(crate) sites: SetRef,
}

impl ReportedImage {
    pub(super) fn new(change: &ImageChange, sets: &mut SiteSets) -> Self {
        Self {
            base: change.base.clone(),
            head: change.head.clone(),
            users: change.users.iter().map(ToString::to_string).collect(),
            sites: sets.set_of(change.sites.iter().map(Option::as_ref)),
        }
    }
}
