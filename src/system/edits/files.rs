//! Edits of files: those that values of documents cannot show, or show only in part.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::draft::{EditDraft, add};
use super::{DocumentPair, Located};
use crate::edit::{Edit, EditId, EditKind, Part as Section, Text};
use crate::source::{DocKey, FileId, RepoPath, Span};
use crate::system::Written;
use crate::system::deckhand::layout::Place;
use crate::yaml::path::Location;

/// An edit identified by its file rather than by values of documents.
#[derive(Clone, Debug)]
pub struct FileEdit<'a> {
    /// Further repository of the file, as in [`Located`].
    pub(crate) repository: Option<usize>,
    /// The file.
    pub(crate) path: &'a RepoPath,
    /// Reason why the edit is not expressed as edits of documents.
    pub(crate) cause: FileEditCause,
    /// Start of the file on the base side; `None` if it does not exist there.
    pub(crate) base: Option<Span>,
    /// Start of the file on the head side; `None` if it does not exist there.
    pub(crate) head: Option<Span>,
    /// Whether part of the file could not be read, on the base side and on the head side.
    pub(crate) is_unread: [bool; 2],
    /// Place of the file on each side where it is a file of documents.
    pub(crate) places: Vec<Option<&'a Place>>,
    /// Files added or removed with the site that the file defines; empty for other causes.
    pub(crate) alone: SitePlaces,
}

impl<'a> FileEdit<'a> {
    /// A fully read file at `path` of the main repository, with its IDs on the base and head sides.
    pub(crate) fn new(
        path: &'a RepoPath,
        cause: FileEditCause,
        sides: [Option<FileId>; 2],
    ) -> Self {
        let [base, head] = sides.map(|file| file.map(|file| Span::point(file, 0)));
        Self {
            repository: None,
            path,
            cause,
            base,
            head,
            is_unread: [false; 2],
            places: Vec::new(),
            alone: SitePlaces::default(),
        }
    }
}

impl FileEdit<'_> {
    /// Whether a file at `path` is this one, or is below it if this one is a repository.
    pub(super) fn holds(&self, path: &RepoPath) -> bool {
        self.path == path || path.below(self.path).is_some()
    }

    /// The edit, named after the first document of the file if `named` is given.
    pub(super) fn draft(&self, named: Option<&Located<'_>>) -> EditDraft {
        let kind = match self.cause {
            FileEditCause::Definition => EditKind::Site,
            FileEditCause::SiteAdded => EditKind::SiteAdded,
            FileEditCause::SiteRemoved => EditKind::SiteRemoved,
            FileEditCause::Unread => EditKind::File,
            FileEditCause::Repository => EditKind::Repository,
        };
        let document = named.map_or_else(
            || DocKey::new("", "", self.path.as_str()),
            |located| located.document.key().clone(),
        );
        let heading = match self.cause {
            FileEditCause::SiteAdded | FileEditCause::SiteRemoved => {
                named.map(|located| located.document.heading())
            }
            FileEditCause::Definition | FileEditCause::Unread | FileEditCause::Repository => None,
        };
        let [base, head] = [self.base, self.head].map(|start| {
            Some(Text {
                at: heading.or(start)?,
                covers: vec![start?],
                node: None,
            })
        });
        let part = Section::Whole;
        let edit = Edit {
            kind,
            repository: self.repository,
            document,
            part,
            location: Location::root(),
            items: Vec::new(),
            base,
            head,
            unlisted: 0,
        };
        EditDraft {
            order: (
                self.repository,
                self.path.clone(),
                0,
                false,
                0,
                part,
                String::new(),
            ),
            edit,
        }
    }
}

/// Reason why an edit is identified by its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEditCause {
    /// It defines a site that differs between the sides. Omitted if other edits already show this.
    Definition,
    /// It defines a site that was added.
    SiteAdded,
    /// It defines a site that was removed.
    SiteRemoved,
    /// It could not be read on one of the sides.
    Unread,
    /// It defines a site whose unread further repositories, or their unread revisions, differ
    /// between the sides.
    Repository,
}

impl FileEditCause {
    /// Whether the content of the edit is unknown.
    pub(super) fn is_unknown(self) -> bool {
        matches!(self, FileEditCause::Unread | FileEditCause::Repository)
    }
}

/// Files that only one site has, on either side.
#[derive(Clone, Debug, Default)]
pub(crate) struct SitePlaces {
    /// Places of documents.
    pub(crate) places: BTreeSet<Place>,
    /// Files of parts.
    pub(crate) parts: BTreeSet<RepoPath>,
}

/// Edits of unreadable files. The documents of such a file are unknown on the unread side, so
/// adding or removing one is part of the edit of the file.
pub(super) struct UnreadEdits<'a> {
    pub(super) files: Vec<(FileEdit<'a>, EditId)>,
    by_path: BTreeMap<(Option<usize>, &'a RepoPath), usize>,
}

impl<'a> UnreadEdits<'a> {
    pub(super) fn draft_edits(files: Vec<FileEdit<'a>>, drafts: &mut Vec<EditDraft>) -> Self {
        Self {
            by_path: files
                .iter()
                .enumerate()
                .map(|(at, file)| ((file.repository, file.path), at))
                .collect(),
            files: files
                .into_iter()
                .map(|file| {
                    let draft = file.draft(None);
                    (file, add(drafts, draft))
                })
                .collect(),
        }
    }

    /// Whether the definition of a site is among them.
    pub(super) fn has(&self, definition: &RepoPath) -> bool {
        [0, 1]
            .into_iter()
            .any(|side| self.edit_of(None, definition, side).is_some())
    }

    /// The edit that makes the content of `path` unknown on a side (0 for the base).
    fn edit_of(&self, repository: Option<usize>, path: &RepoPath, side: usize) -> Option<EditId> {
        if self.files.is_empty() {
            return None;
        }
        let ends = path.as_str().match_indices('/').map(|(end, _)| end);
        let mut paths = ends
            .chain([path.as_str().len()])
            .map(|end| &path.as_str()[..end]);
        paths.find_map(|path| {
            let path = RepoPath::new(path);
            let (file, edit) = &self.files[*self.by_path.get(&(repository, &path))?];
            file.is_unread[side].then_some(*edit)
        })
    }

    /// The edit of the unread file, for a pair that lacks a document on the unread side.
    pub(super) fn edit_of_pair(&self, pair: &DocumentPair<'_>) -> Option<EditId> {
        let at = |located: &Located<'_>, side| self.edit_of(located.repository, located.path, side);
        match (&pair.base, &pair.head) {
            (Some(base), None) => at(base, 1),
            (None, Some(head)) => at(head, 0),
            (Some(base), Some(head)) if is_nothing(base) => at(head, 0),
            (Some(base), Some(head)) if is_nothing(head) => at(base, 1),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

/// Edits that add or remove sites; these include the documents that no other site has.
pub(super) struct Sites<'a> {
    pub(super) files: Vec<(FileEdit<'a>, EditId)>,
    /// Edits by the place of a document and by the file of a part.
    by_place: BTreeMap<Place, usize>,
    by_part: BTreeMap<RepoPath, usize>,
}

impl<'a> Sites<'a> {
    /// Drafts the edits whose definitions could be read.
    pub(super) fn draft_edits<'l>(
        mut files: Vec<FileEdit<'a>>,
        unread: &UnreadEdits<'_>,
        documents: impl Iterator<Item = &'l Located<'a>>,
        drafts: &mut Vec<EditDraft>,
    ) -> Self
    where
        'a: 'l,
    {
        files.retain(|file| !unread.has(file.path));
        if files.is_empty() {
            return Self {
                files: Vec::new(),
                by_place: BTreeMap::new(),
                by_part: BTreeMap::new(),
            };
        }
        let first: HashMap<&RepoPath, &Located<'a>> = documents
            .filter(|it| it.index == 0 && it.repository.is_none())
            .map(|it| (it.path, it))
            .collect();
        let files: Vec<(FileEdit<'a>, EditId)> = files
            .into_iter()
            .map(|file| {
                let draft = file.draft(first.get(file.path).copied());
                (file, add(drafts, draft))
            })
            .collect();
        let alone = || {
            files
                .iter()
                .enumerate()
                .map(|(at, (file, _))| (at, &file.alone))
        };
        let places = alone().flat_map(|(at, alone)| alone.places.iter().map(move |it| (it, at)));
        let parts = alone().flat_map(|(at, alone)| alone.parts.iter().map(move |it| (it, at)));
        let by_place = places.map(|(place, at)| (place.clone(), at)).collect();
        let by_part = parts.map(|(path, at)| (path.clone(), at)).collect();
        Self {
            files,
            by_place,
            by_part,
        }
    }

    /// The added or removed site that alone has the file of this document.
    pub(super) fn only_site_with(&self, located: &Located<'_>) -> Option<&(FileEdit<'a>, EditId)> {
        let at = match located.document {
            Written::Part(_) => self.by_part.get(located.path),
            Written::Deckhand(_) => located
                .place
                .filter(|_| located.repository.is_none())
                .and_then(|place| self.by_place.get(place)),
        };
        at.map(|at| &self.files[*at])
    }

    /// The edit that added or removed the document together with its site.
    pub(super) fn edit_of_pair(&self, pair: &DocumentPair<'_>) -> Option<EditId> {
        let (located, with) = match (&pair.base, &pair.head) {
            (Some(base), None) => (base, FileEditCause::SiteRemoved),
            (None, Some(head)) => (head, FileEditCause::SiteAdded),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let (_, edit) = self
            .only_site_with(located)
            .filter(|(file, _)| file.cause == with)?;
        Some(*edit)
    }
}

/// Whether this is a placeholder for a file of parts that has none.
fn is_nothing(located: &Located<'_>) -> bool {
    match located.document {
        Written::Deckhand(_) => false,
        Written::Part(part) => part.is_nothing(),
    }
}
