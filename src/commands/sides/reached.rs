//! Sites that staged edits can reach, and the files of both sides without other sites.

use super::{ChosenSide, ChosenSides};
use crate::check::{SiteNames, sites_reading};
use crate::source::{RepoPath, Repository, StagedSides, StoredTree};
use crate::system::deckhand::layout::Layout;

/// Sites and files that staged edits can reach.
pub(crate) struct ReachedByEdits {
    /// Root of the site repository.
    pub(crate) root: RepoPath,
    pub(crate) sites: SiteNames,
    /// Base and head. Of other sites they contain only the files directly in the site's folder: the
    /// definition.
    pub(crate) trees: [StoredTree; 2],
}

impl ReachedByEdits {
    /// Sites that the edits between two sides can reach in the site repository around `from`.
    /// `None` if that may be all sites, or is unknown without reading all files.
    pub(crate) fn find(
        repository: &Repository,
        sides: &ChosenSides,
        from: &RepoPath,
    ) -> Option<Self> {
        let (ChosenSide::Commit { id, .. }, ChosenSide::Index, []) =
            (&sides.from, &sides.to, &*sides.bumps)
        else {
            return None;
        };
        let staged = repository.staged_sides(id)?;
        let edited = staged.edited()?;
        if edited.iter().any(Layout::may_be_definition) {
            return None;
        }
        let is_around = |root: &RepoPath| root == from || from.below(root).is_some();
        let definitions = trees(&staged, &is_around, &SiteNames::new())?;
        let layouts = [0, 1].map(|side| Layout::discover(&definitions[side], from).ok().flatten());
        let [Some(base), Some(head)] = layouts else {
            return None;
        };
        if base.root != head.root {
            return None;
        }
        let [of_base, of_head] = &definitions;
        let sites = sites_reading(&edited, &[(of_base, &base), (of_head, &head)])?;
        let root = head.root;
        let trees = trees(&staged, &|other| *other == root, &sites)?;
        Some(Self { root, sites, trees })
    }
}

/// Both sides without the folders of sites other than `sites`. `is_root` says which folders may be
/// site repositories.
fn trees(
    staged: &StagedSides,
    is_root: &dyn Fn(&RepoPath) -> bool,
    sites: &SiteNames,
) -> Option<[StoredTree; 2]> {
    staged.trees(&|folder| {
        let Some((root, site)) = Layout::site_of_folder(folder) else {
            return true;
        };
        // Both sides have the same definitions, because none is edited.
        let has_definition = || staged.has_file(&RepoPath::new(folder).join(Layout::DEFINITION));
        !is_root(&root) || sites.contains(site) || !has_definition()
    })
}
