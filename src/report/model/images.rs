//! Container images that edits changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::id::SetRef;
use super::sites::SiteSets;

/// Documents that use an image, or used it, with their sites; by the image at the base and at the head.
/// `None` for an image that no output of the site used before, or uses any more.
pub type ImageChanges = BTreeMap<[Option<String>; 2], BTreeSet<(Arc<str>, Option<Arc<str>>)>>;

/// A changed image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an image")]
pub struct ReportedImage {
    /// `None` for a new image.
    pub(crate) base: Option<String>,
    /// `None` for a removed image.
    pub(crate) head: Option<String>,
    /// Names of the documents that use it, or used it.
    pub(crate) users: BTreeSet<Arc<str>>,
    pub(crate) sites: SetRef,
}

impl ReportedImage {
    pub(super) fn all(changes: &ImageChanges, sets: &mut SiteSets) -> Vec<Self> {
        let changes = changes.iter().map(|([base, head], users)| Self {
            base: base.clone(),
            head: head.clone(),
            users: users.iter().map(|(name, _)| name.clone()).collect(),
            sites: sets.set_of(users.iter().map(|(_, site)| site.as_ref())),
        });
        changes.collect()
    }
}
