//! Further repositories, which revisions of them were read, and what links to them are made of.

use serde::{Deserialize, Serialize};

use super::Report;
use super::id::SetRef;
use super::place::FilePlace;
use super::sites::SiteSets;
use crate::report::{Links, View};
use crate::source::{self, History, UsedRevision};

/// A further repository, in the sites that read the same revisions of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct UsedRepository")]
pub struct RepositoryUse {
    /// The name with which the paths of its files begin: `NAME:path`.
    pub(crate) name: String,
    /// The sites.
    pub(crate) sites: SetRef,
    /// The revision of the base side; none without a comparison, or where these sites did not
    /// use the repository.
    pub(crate) base: Option<UsedRevision>,
    /// The revision of the head side; none where these sites do not use it any more.
    pub(crate) head: Option<UsedRevision>,
    /// The commits between both; none where they are the same, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<History>,
    /// The line that pins the head's revision in one of the sites.
    pub(crate) pin: Option<FilePlace>,
    /// The template of links to its lines.
    pub(crate) links: Option<Links>,
}

/// The further repositories of a run, by name.
pub(super) fn used(
    repositories: &[source::UsedRepository],
    sets: &mut SiteSets,
    view: &View<'_>,
) -> Vec<RepositoryUse> {
    let used = repositories.iter().map(|it| RepositoryUse {
        name: it.name.to_string(),
        sites: sets.set_of(it.sites.iter().map(Some)),
        base: it.base.clone(),
        head: it.head.clone(),
        history: it.history.clone(),
        pin: it.pin.map(|span| FilePlace::new(span, view)),
        links: it.links.as_deref().and_then(|template| Links::new(template).ok()),
    });
    used.collect()
}

impl Report {
    /// The further repository that a file is in, as the first of its sites have it, and its path
    /// there; none for a file of the repository that was checked.
    pub(in crate::report) fn repository_of<'f>(
        &self,
        file: &'f str,
    ) -> Option<(&RepositoryUse, &'f str)> {
        let (name, path) = file.split_once(':')?;
        let used = self.repositories.iter().find(|used| used.name == name)?;
        Some((used, path))
    }

    /// The line that pins the revision of which a place in a further repository is.
    pub(in crate::report) fn pin_of(&self, place: &FilePlace) -> Option<&FilePlace> {
        let (first, _) = self.repository_of(&place.file)?;
        let is_read = |used: &&RepositoryUse| {
            let head = used.head.as_ref();
            used.name == first.name && head.is_some_and(|it| it.commit == place.commit)
        };
        self.repositories.iter().find(is_read).unwrap_or(first).pin.as_ref()
    }

    /// Without fixes of files in further repositories: `--fix` writes to none of them.
    pub(super) fn without_further_fixes(mut self) -> Self {
        let mut findings = std::mem::take(&mut self.findings);
        for finding in &mut findings {
            let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
            if edits.into_iter().any(|edit| self.repository_of(&edit.file).is_some()) {
                finding.fix = None;
            }
        }
        Self { findings, ..self }
    }
}
