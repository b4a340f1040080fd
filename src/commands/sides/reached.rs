//! The sites that staged edits can reach, and the files of both sides without those of other
//! sites.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Side, Sides};
use crate::check::first_document;
use crate::source::{RepoPath, Repository, StagedSides, StoredTree, Tree};
use crate::system::deckhand::layout::{Layout, Place};

/// What staged edits can reach.
pub(crate) struct Reached {
    /// The site repository in which they are.
    pub(crate) root: RepoPath,
    /// The sites.
    pub(crate) sites: BTreeSet<Arc<str>>,
    /// The base and the head. Of other sites they have what is directly in the site's folder: the
    /// definition.
    pub(crate) trees: [StoredTree; 2],
}

impl Reached {
    /// What the edits between two sides can reach in the site repository around `from`. None
    /// where that may be all sites, or is not known without reading all files.
    pub(crate) fn find(repository: &Repository, sides: &Sides, from: &RepoPath) -> Option<Self> {
        let (Side::Commit { id, .. }, Side::Index, []) = (&sides.from, &sides.to, &*sides.bumps)
        else {
            return None;
        };
        let staged = repository.staged_sides(id)?;
        let is_around = |root: &RepoPath| root == from || from.below(root).is_some();
        let definitions = trees(&staged, &is_around, &BTreeSet::new())?;
        let layouts = [0, 1].map(|side| Layout::discover(&definitions[side], from).ok().flatten());
        let [Some(base), Some(head)] = layouts else { return None };
        if base.root != head.root {
            return None;
        }
        let edited = Edited::among(&staged.edited()?, &head)?;
        let mut sites = edited.sites;
        if !edited.types.is_empty() {
            for (layout, tree) in [&base, &head].into_iter().zip(&definitions) {
                sites.extend(sites_of_types(layout, tree, &edited.types)?);
            }
        }
        let root = head.root;
        let trees = trees(&staged, &|other| *other == root, &sites)?;
        Some(Self { root, sites, trees })
    }
}

/// Edited layers that are not read by all sites.
#[derive(Default)]
struct Edited {
    sites: BTreeSet<Arc<str>>,
    types: BTreeSet<Arc<str>>,
}

impl Edited {
    /// Those of `paths`. None where one of these may concern all sites: it is global, not in a
    /// layer, such as a configuration, or a site definition, which relates its site to others.
    fn among(paths: &[RepoPath], layout: &Layout) -> Option<Self> {
        let mut edited = Self::default();
        for path in paths {
            match layout.place_of(path)? {
                Place::Global => return None,
                Place::Type(name) => edited.types.insert(name),
                Place::Site(name) if *path == layout.definition_of(&name) => return None,
                Place::Site(name) => edited.sites.insert(name),
            };
        }
        Some(edited)
    }
}

/// The sites of these types. None where a definition cannot be used.
fn sites_of_types(
    layout: &Layout,
    tree: &dyn Tree,
    types: &BTreeSet<Arc<str>>,
) -> Option<BTreeSet<Arc<str>>> {
    let mut sites = BTreeSet::new();
    for (site, path) in layout.definitions() {
        let definition = first_document(tree, &path)?;
        if types.contains(Layout::type_of(&definition)?) {
            sites.insert(site.clone());
        }
    }
    Some(sites)
}

/// Both sides without the folders of sites other than `sites`, where `is_root` says which folders
/// may be site repositories.
fn trees(
    staged: &StagedSides,
    is_root: &dyn Fn(&RepoPath) -> bool,
    sites: &BTreeSet<Arc<str>>,
) -> Option<[StoredTree; 2]> {
    staged.trees(&|folder, has_file| {
        let Some((root, site)) = Layout::site_of_folder(folder) else { return true };
        !is_root(&root) || !has_file(Layout::DEFINITION) || sites.contains(site)
    })
}
