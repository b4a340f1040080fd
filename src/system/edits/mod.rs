//! Edits between two sides: documents of both sides are paired and compared by value. Comments,
//! formatting, key order and a file moved within its place are not edits, unless the move changes
//! the relative order of two documents where order matters.
//!
//! [`Edits::apply`] returns the documents of a site with a subset of the edits applied: none of
//! them gives the base, all of them the head. Documents whose order does not matter may be
//! reordered.

mod apply;
mod draft;
pub(crate) mod files;
mod order;
mod pair;
mod texts;

use std::collections::BTreeSet;

pub use apply::DocumentVersion;
pub use draft::moves_pin;
use draft::{EditDraft, add};
use files::{FileEdit, FileEditCause, Sites, UnreadEdits};
use order::{DocumentRank, moved, rank};
use pair::pair;

use crate::edit::{Edit, EditId, EditKind, Part as Section};
use crate::source::RepoPath;
use crate::system::Written;
use crate::system::deckhand::layout::{Place, SiteScope};
use crate::yaml::diff::{ListKeys, Variants};

/// A document and its location.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// Further repository of the document, as the index of its revision over both sides; `None` for
    /// the main repository.
    pub repository: Option<usize>,
    /// File of the document.
    pub path: &'a RepoPath,
    /// Place that decides which sites have the file; `None` in a set without layout.
    pub place: Option<&'a Place>,
    /// Zero-based index of the document in its file.
    pub index: usize,
    /// Source of the document.
    pub document: Written<'a>,
}

impl Located<'_> {
    /// Sort key of the order in which documents count.
    fn order(&self) -> (Option<usize>, &RepoPath, usize) {
        (self.repository, self.path, self.index)
    }

    fn is_part(&self) -> bool {
        matches!(self.document, Written::Part(_))
    }
}

/// Files that make up a site on one side.
#[derive(Clone, Debug)]
pub struct Membership {
    /// Files of the layers.
    pub scope: SiteScope,
    /// Further repositories the site uses, as indexes of their revisions, in the order in which
    /// they count.
    pub repositories: Vec<usize>,
    /// Files of the parts in the site's sets.
    pub parts: BTreeSet<RepoPath>,
}

impl Membership {
    fn has(&self, located: &Located<'_>) -> bool {
        match located.document {
            Written::Part(_) => self.parts.contains(located.path),
            Written::Deckhand(_) => self.has_at(located.repository, located.place),
        }
    }

    /// Position of a repository's documents in the order of repositories.
    fn rank(&self, repository: Option<usize>) -> Option<usize> {
        repository.map(|number| {
            self.repositories
                .iter()
                .position(|it| *it == number)
                .unwrap_or(number)
        })
    }

    /// Whether a file of documents at this place belongs to the site.
    pub(crate) fn has_at(&self, repository: Option<usize>, place: Option<&Place>) -> bool {
        let used = repository.is_none_or(|index| self.repositories.contains(&index));
        used && place.is_none_or(|place| self.scope.concerns(place))
    }
}

/// One site on both sides.
pub struct SitePair<'a> {
    /// Files of the site on the base side; `None` if the site does not exist there.
    pub base: Option<Membership>,
    /// Files of the site on the head side; `None` if the site does not exist there.
    pub head: Option<Membership>,
    /// Edits of the site definition that change these files.
    pub definition: Vec<EditId>,
    /// Documents, at any place, of files that are identical on both sides.
    pub unedited: &'a [Located<'a>],
}

/// The edits between two sides.
#[derive(Debug)]
pub struct Edits<'a> {
    /// The edits, indexed by [`EditId`].
    pub edits: Vec<Edit>,
    pairs: Vec<DocumentPair<'a>>,
    files: Vec<(FileEdit<'a>, EditId)>,
}

/// A document paired over both sides, or on one side only.
#[derive(Debug)]
struct DocumentPair<'a> {
    base: Option<Located<'a>>,
    head: Option<Located<'a>>,
    /// Ranks without and with the edit of the whole document.
    ranks: [DocumentRank; 2],
    /// The edit that added, removed or moved the document.
    whole: Option<EditId>,
    /// For each difference between the two, in order, the edit that made it.
    parts: Vec<EditId>,
    /// The document with some of these edits, if it is on both sides.
    variants: Option<Variants>,
}

/// Returns the edits between the documents `base` and `head`, taken from the files that differ
/// between the sides; `unedited` has the documents of all other files. `files` are edits that
/// documents may not show; list items are identified by `keys`.
pub fn edits<'a>(
    base: Vec<Located<'a>>,
    head: Vec<Located<'a>>,
    unedited: &[Located<'a>],
    files: Vec<FileEdit<'a>>,
    keys: &ListKeys,
) -> Edits<'a> {
    let mut drafts = Vec::new();
    let (unread, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.cause.is_unknown());
    let unread = UnreadEdits::draft_edits(unread, &mut drafts);
    let (definitions, sites): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|file| file.cause == FileEditCause::Definition);
    let sites = Sites::draft_edits(sites, &unread, base.iter().chain(&head), &mut drafts);
    let mut pairs = pair(base, head, &sites);
    let moved = moved(&pairs, unedited);
    rank(&mut pairs, &moved);
    let pairs: Vec<DocumentPair<'a>> = pairs
        .into_iter()
        .zip(moved)
        .map(|(pair, moved)| {
            let of_file = unread
                .edit_of_pair(&pair)
                .or_else(|| sites.edit_of_pair(&pair));
            pair.draft_edits(moved, of_file, keys, &mut drafts)
        })
        .collect();
    let is_shown = |file: &FileEdit<'_>| {
        unread.has(file.path) || pairs.iter().any(|pair| pair.defines(file.path, &drafts))
    };
    let hidden: Vec<FileEdit<'a>> = definitions.into_iter().filter(|it| !is_shown(it)).collect();
    let mut files = unread.files;
    files.extend(sites.files);
    for file in hidden {
        let mut sides = pairs
            .iter()
            .flat_map(|pair| pair.head.iter().chain(&pair.base));
        let draft = file.draft(sides.find(|located| located.path == file.path));
        files.push((file, add(&mut drafts, draft)));
    }
    assign_ids(drafts, pairs, files)
}

/// Sorts the edits and assigns their final indexes.
fn assign_ids<'a>(
    drafts: Vec<EditDraft>,
    mut pairs: Vec<DocumentPair<'a>>,
    mut files: Vec<(FileEdit<'a>, EditId)>,
) -> Edits<'a> {
    let mut drafts: Vec<(usize, EditDraft)> = drafts.into_iter().enumerate().collect();
    drafts.sort_by(|(_, one), (_, other)| one.order.cmp(&other.order));
    let mut ids = vec![EditId(0); drafts.len()];
    for (id, (draft_index, _)) in drafts.iter().enumerate() {
        ids[*draft_index] = EditId::at(id);
    }
    let of_pairs = pairs
        .iter_mut()
        .flat_map(|pair| pair.whole.iter_mut().chain(&mut pair.parts));
    for edit in of_pairs.chain(files.iter_mut().map(|(_, edit)| edit)) {
        *edit = ids[edit.index()];
    }
    let edits = drafts.into_iter().map(|(_, draft)| draft.edit).collect();
    Edits {
        edits,
        pairs,
        files,
    }
}

impl<'a> Edits<'a> {
    /// Edits of a site definition that decide which files make up the site.
    pub fn of_definition(&self, definition: &RepoPath) -> Vec<EditId> {
        let edits = self
            .pairs
            .iter()
            .filter(|pair| pair.is_first_of(definition))
            .flat_map(DocumentPair::edits);
        let files = self.files.iter().filter(|(file, _)| match file.cause {
            FileEditCause::Definition | FileEditCause::SiteAdded | FileEditCause::SiteRemoved => {
                file.path == definition
            }
            FileEditCause::Unread | FileEditCause::Repository => file.holds(definition),
        });
        edits
            .filter(|edit| redefines(&self.edits[edit.index()]))
            .chain(files.map(|(_, edit)| *edit))
            .collect()
    }

    /// Edits of unreadable files, each with its file.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&FileEdit<'a>, EditId)> {
        self.files
            .iter()
            .filter(|(file, _)| file.cause.is_unknown())
            .map(|(file, edit)| (file, *edit))
    }

    /// Edits of documents that a site has on at least one side.
    pub(crate) fn of_site(&self, site: &SitePair<'a>) -> Vec<EditId> {
        let mut edits: Vec<EditId> = self
            .pairs
            .iter()
            .filter(|pair| {
                pair.base.iter().chain(&pair.head).any(|located| {
                    let mut sides = site.base.iter().chain(&site.head);
                    sides.any(|membership| membership.has(located))
                })
            })
            .flat_map(DocumentPair::edits)
            .collect();
        edits.extend(&site.definition);
        edits.sort_unstable();
        edits.dedup();
        edits
    }
}

impl DocumentPair<'_> {
    /// Whether the first document of this file, on one of the sides, belongs to the pair.
    fn is_first_of(&self, path: &RepoPath) -> bool {
        self.base.iter().chain(&self.head).any(|located| {
            located.path == path && located.index == 0 && located.repository.is_none()
        })
    }

    fn edits(&self) -> impl Iterator<Item = EditId> {
        self.whole.iter().chain(&self.parts).copied()
    }

    /// Whether its edits show that `definition` defines a different site.
    fn defines(&self, definition: &RepoPath, drafts: &[EditDraft]) -> bool {
        self.is_first_of(definition)
            && self
                .edits()
                .any(|edit| redefines(&drafts[edit.index()].edit))
    }
}

/// Whether an edit of the first document of a site definition changes which files make up the site.
fn redefines(edit: &Edit) -> bool {
    edit.part == Section::Whole || edit.kind == EditKind::Site
}
