//! Further repositories, their revisions, and their URL templates.

use serde::{Deserialize, Serialize};

use super::Report;
use super::id::SetRef;
use super::place::FilePlace;
use super::sites::SiteSets;
use crate::report::{Links, View};
use crate::source::{self, History, UsedRevision};

/// A further repository, for the sites that use the same revisions of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct UsedRepository")]
pub struct RepositoryUse {
    /// Name, which prefixes the paths of its files: `NAME:path`.
    pub(crate) name: String,
    /// Sites that use these revisions.
    pub(crate) sites: SetRef,
    /// Revision on the base side; `None` without a comparison, or if these sites did not use the
    /// repository.
    pub(crate) base: Option<UsedRevision>,
    /// Revision on the head side; `None` if these sites no longer use it.
    pub(crate) head: Option<UsedRevision>,
    /// Commits between the revisions; `None` if they are equal or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<History>,
    /// Location of the pinned head revision in one of the sites.
    pub(crate) pin: Option<FilePlace>,
    /// URL template for lines of the repository.
    pub(crate) links: Option<Links>,
}

/// Returns the further repositories of a run, by name.
pub(super) fn used(
    repositories: &[source::UsedRepository],
    sets: &mut SiteSets,
    view: &View<'_>,
) -> Vec<RepositoryUse> {
    repositories
        .iter()
        .map(|used| RepositoryUse {
            name: used.name.to_string(),
            sites: sets.set_of(used.sites.iter().map(Some)),
            base: used.base.clone(),
            head: used.head.clone(),
            history: used.history.clone(),
            pin: used.pin.map(|span| FilePlace::new(span, view)),
            links: used
                .links
                .as_deref()
                .and_then(|template| Links::new(template).ok()),
        })
        .collect()
}

impl Report {
    /// Returns the further repository that contains a file, as used by the first of its sites, and
    /// the path in it; `None` for a file of the checked repository.
    pub(in crate::report) fn repository_of<'f>(
        &self,
        file: &'f str,
    ) -> Option<(&RepositoryUse, &'f str)> {
        let (name, path) = file.split_once(':')?;
        let used = self.repositories.iter().find(|used| used.name == name)?;
        Some((used, path))
    }

    /// Returns the line that pins the further repository of a place.
    pub(in crate::report) fn pin_of(&self, place: &FilePlace) -> Option<&FilePlace> {
        let (first, _) = self.repository_of(&place.file)?;
        self.repositories
            .iter()
            .find(|used| {
                let head = used.head.as_ref();
                used.name == first.name && head.is_some_and(|it| it.commit == place.commit)
            })
            .unwrap_or(first)
            .pin
            .as_ref()
    }

    /// Removes fixes of files in further repositories, to which `--fix` does not write.
    pub(super) fn without_further_fixes(mut self) -> Self {
        let mut findings = std::mem::take(&mut self.findings);
        for finding in &mut findings {
            let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
            if edits
                .into_iter()
                .any(|edit| self.repository_of(&edit.file).is_some())
            {
                finding.fix = None;
            }
        }
        Self { findings, ..self }
    }
}
