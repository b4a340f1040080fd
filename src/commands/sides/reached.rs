//! Sites that the edits between two sides can reach, and the files of both sides without other
//! sites. They follow from the difference of the trees and from the site definitions, before any other
//! file is read.

use std::sync::Arc;

use globset::GlobSet;

use super::{ChosenSide, ChosenSides};
use crate::check::{SiteNames, sites_reading};
use crate::config;
use crate::source::{IsListed, LaterState, RepoPath, Repository, SharedTree, Tree};
use crate::system::deckhand::layout::{Layout, Place};

/// Sites and files that edits can reach.
pub(crate) struct ReachedByEdits {
    /// Root of the site repository.
    pub(crate) root: RepoPath,
    /// The sites, and those that read an edited file in the folder of a type or a site.
    pub(crate) sites: SiteNames,
    /// Base and head. Of other sites they contain only the files directly in the site's folder: the
    /// definition.
    pub(crate) trees: [SharedTree; 2],
}

impl ReachedByEdits {
    /// Sites among the requested ones that the edits between two sides can reach in the site
    /// repository around `from`; files with `unsaved` texts count as edited. `None` if that may be all sites, or is unknown without reading all
    /// files.
    pub(crate) fn find(
        repository: &Repository,
        sides: &ChosenSides,
        from: &RepoPath,
        requested: Option<&GlobSet>,
        unsaved: impl Iterator<Item = RepoPath>,
    ) -> Option<Self> {
        let (ChosenSide::Commit { id: base, .. }, []) = (&sides.from, &*sides.bumps) else {
            return None;
        };
        let later = match &sides.to {
            ChosenSide::Commit { id, .. } => LaterState::Commit(id),
            ChosenSide::Index => LaterState::Index,
            ChosenSide::WorkTree => LaterState::WorkTree,
            ChosenSide::Nothing => return None,
        };
        let both = repository.side_by_side(base, later)?;
        let mut edited = both.edited()?;
        edited.extend(unsaved);
        let concerns_all = |path: &RepoPath| {
            may_concern_all(path) || (requested.is_none() && is_global(path, from))
        };
        if edited.iter().any(concerns_all) {
            return None;
        }
        let definitions = both.trees(listed(from, |_| false))?;
        let layouts = [0, 1].map(|side| Layout::discover(&definitions[side], from).ok().flatten());
        let [Some(base), Some(head)] = layouts else {
            return None;
        };
        if base.root != head.root || base.has_clashing_sites() || head.has_clashing_sites() {
            return None;
        }
        let sides: [(&dyn Tree, &Layout); 2] = [(&definitions[0], &base), (&definitions[1], &head)];
        let sites = reached(&edited, &sides, requested)?;
        let read = sites.clone();
        let trees = both.trees(listed(&head.root, move |site| read.contains(site)))?;
        let root = head.root;
        Some(Self { root, sites, trees })
    }
}

/// Whether an edit of this file may concern all sites: one of a site definition, of the
/// configuration, or of git's attributes.
fn may_concern_all(path: &RepoPath) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    Layout::may_be_definition(path) || config::NAMES.contains(&name) || name == ".gitattributes"
}

/// Whether a file is in `global/` of a site repository around `from`.
fn is_global(path: &RepoPath, from: &RepoPath) -> bool {
    path.as_str().match_indices("global/").any(|(at, _)| {
        let before = &path.as_str()[..at];
        let root = RepoPath::new(before.trim_end_matches('/'));
        (at == 0 || before.ends_with('/')) && is_around(&root, from)
    })
}

/// Whether a folder is another one, or contains it.
fn is_around(folder: &RepoPath, inside: &RepoPath) -> bool {
    inside == folder || inside.below(folder).is_some()
}

/// Requested sites that read one of the edited files, and all sites that read one in the folder of a
/// type or a site: a requested site may have a document that was moved from there. `None` for all
/// sites.
fn reached(
    edited: &[RepoPath],
    sides: &[(&dyn Tree, &Layout)],
    requested: Option<&GlobSet>,
) -> Option<SiteNames> {
    let (_, layout) = sides.last()?;
    let in_place = |is_in: fn(&Place) -> bool| {
        let is_in =
            move |file: &&RepoPath| layout.place_of(file).is_some_and(|place| is_in(&place));
        edited.iter().filter(is_in)
    };
    // No site reads files outside of the layers.
    let reached = sites_reading(in_place(|_| true), sides);
    let Some(requested) = requested else {
        return reached;
    };
    let all = || {
        let definitions = sides.iter().flat_map(|(_, layout)| layout.definitions());
        definitions.map(|(site, _)| site.clone()).collect()
    };
    let mut sites: SiteNames = reached.unwrap_or_else(all);
    sites.retain(|site| requested.is_match(&**site));
    sites.extend(sites_reading(
        in_place(|place| *place != Place::Global),
        sides,
    )?);
    Some(sites)
}

/// Lists everything except the folders inside of the folders of other sites than `is_read`, in the
/// site repository around `from`. The definitions of these remain, which are directly in their folders.
pub(crate) fn listed(
    from: &RepoPath,
    is_read: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> IsListed {
    let from = from.clone();
    Arc::new(move |folder| {
        let Some((root, site)) = Layout::site_of_folder(folder) else {
            return true;
        };
        // A site folder around `from` may contain another site repository.
        is_read(site) || is_around(&RepoPath::new(folder), &from) || !is_around(&root, &from)
    })
}
