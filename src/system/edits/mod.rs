//! Edits between two sides: documents of both sides are paired and compared by value. Comments,
//! formatting, key order and a file moved within its place are not edits, unless the move changes
//! the relative order of two documents where order matters.
//!
//! [`Edits::apply`] returns the documents of a site with a subset of the edits applied: none of
//! them gives the base, all of them the head. Documents whose order does not matter may be
//! reordered.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Written;
use super::cloud_init::part::CloudPart;
use super::deckhand::document::Document;
use super::deckhand::known::KnownTexts;
use super::deckhand::layout::Place;
use super::deckhand::read::revised;
use crate::edit::{Edit, EditId, EditKind, Part as Section, Text};
use crate::source::{DocKey, FileId, RepoPath, Span, Triple};
use crate::yaml::diff::{self, DiffSide, Difference, DifferenceKind, ListKeys, Variants, same};
use crate::yaml::path::{Item, Location, Piece, inside};
use crate::yaml::{Key, Node, Value};

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
}

/// Files that make up a site on one side.
#[derive(Clone, Debug)]
pub struct Membership {
    /// The site; `None` for a set without layout, which has every file.
    pub site: Option<Arc<str>>,
    /// Type of the site.
    pub site_type: Option<Arc<str>>,
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
        let at = |number| self.repositories.iter().position(|it| *it == number);
        repository.map(|number| at(number).unwrap_or(number))
    }

    /// Whether a file of documents at this place belongs to the site.
    pub(crate) fn has_at(&self, repository: Option<usize>, place: Option<&Place>) -> bool {
        let used = repository.is_none_or(|index| self.repositories.contains(&index));
        used && match place {
            None | Some(Place::Global) => true,
            Some(Place::Type(name)) => Some(name) == self.site_type.as_ref(),
            Some(Place::Site(name)) => Some(name) == self.site.as_ref(),
        }
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

/// Files that only one site has, on either side.
#[derive(Clone, Debug, Default)]
pub(crate) struct SitePlaces {
    /// Places of documents.
    pub(crate) places: BTreeSet<Place>,
    /// Files of parts.
    pub(crate) parts: BTreeSet<RepoPath>,
}

impl<'a> FileEdit<'a> {
    /// A fully read file at `path` of the main repository, with its IDs on the base and head sides.
    pub(crate) fn new(
        path: &'a RepoPath,
        cause: FileEditCause,
        sides: [Option<FileId>; 2],
    ) -> Self {
        let [base, head] = sides.map(|file| file.map(|file| Span::point(file, 0)));
        let (is_unread, places, alone) = ([false; 2], Vec::new(), SitePlaces::default());
        Self {
            repository: None,
            path,
            cause,
            base,
            head,
            is_unread,
            places,
            alone,
        }
    }
}

impl FileEdit<'_> {
    /// Whether a file at `path` is this one, or is below it if this one is a repository.
    fn holds(&self, path: &RepoPath) -> bool {
        self.path == path || path.below(self.path).is_some()
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
    fn is_unknown(self) -> bool {
        matches!(self, FileEditCause::Unread | FileEditCause::Repository)
    }
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

/// A document with a subset of its edits applied.
pub enum DocumentVersion<'a> {
    /// The source document of one of the sides.
    Written(Written<'a>),
    /// A Deckhand document with some of its edits applied.
    Revised(Box<Document>),
    /// A cloud-init part with some of its edits applied.
    RevisedPart(Box<CloudPart>),
}

impl DocumentVersion<'_> {
    /// The document.
    pub fn document(&self) -> Written<'_> {
        match self {
            DocumentVersion::Written(document) => *document,
            DocumentVersion::Revised(document) => Written::Deckhand(document),
            DocumentVersion::RevisedPart(part) => Written::Part(part),
        }
    }
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
        .map(|(pair, moved)| pair.draft_edits(moved, (&unread, &sites), keys, &mut drafts))
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
        let draft = EditDraft::file(&file, sides.find(|located| located.path == file.path));
        files.push((file, add(&mut drafts, draft)));
    }
    assign_ids(drafts, pairs, files)
}

/// Edits of unreadable files. The documents of such a file are unknown on the unread side, so
/// adding or removing one is part of the edit of the file.
struct UnreadEdits<'a> {
    files: Vec<(FileEdit<'a>, EditId)>,
    by_path: BTreeMap<(Option<usize>, &'a RepoPath), usize>,
}

impl<'a> UnreadEdits<'a> {
    fn draft_edits(files: Vec<FileEdit<'a>>, drafts: &mut Vec<EditDraft>) -> Self {
        let by_path = files.iter().enumerate();
        let by_path = by_path
            .map(|(at, file)| ((file.repository, file.path), at))
            .collect();
        let files = files.into_iter().map(|file| {
            let draft = EditDraft::file(&file, None);
            (file, add(drafts, draft))
        });
        Self {
            files: files.collect(),
            by_path,
        }
    }

    /// Whether the definition of a site is among them.
    fn has(&self, definition: &RepoPath) -> bool {
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
    fn edit_of_pair(&self, pair: &DocumentPair<'_>) -> Option<EditId> {
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
struct Sites<'a> {
    files: Vec<(FileEdit<'a>, EditId)>,
    /// Edits by the place of a document and by the file of a part.
    by_place: BTreeMap<Place, usize>,
    by_part: BTreeMap<RepoPath, usize>,
}

impl<'a> Sites<'a> {
    /// Drafts the edits whose definitions could be read.
    fn draft_edits<'l>(
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
        let first = documents.filter(|it| it.index == 0 && it.repository.is_none());
        let first: HashMap<&RepoPath, &Located<'a>> = first.map(|it| (it.path, it)).collect();
        let files: Vec<(FileEdit<'a>, EditId)> = files
            .into_iter()
            .map(|file| {
                let draft = EditDraft::file(&file, first.get(file.path).copied());
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
    fn only_site_with(&self, located: &Located<'_>) -> Option<&(FileEdit<'a>, EditId)> {
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
    fn edit_of_pair(&self, pair: &DocumentPair<'_>) -> Option<EditId> {
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

impl<'a> Edits<'a> {
    /// Edits of a site definition that decide which files make up the site.
    pub fn of_definition(&self, definition: &RepoPath) -> Vec<EditId> {
        let of = self
            .pairs
            .iter()
            .filter(|pair| pair.is_first_of(definition));
        let edits = of.flat_map(DocumentPair::edits);
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
        let files = self
            .files
            .iter()
            .filter(|(file, _)| file.cause.is_unknown());
        files.map(|(file, edit)| (file, *edit))
    }

    /// Edits of documents that a site has on at least one side.
    pub(crate) fn of_site(&self, site: &SitePair<'a>) -> Vec<EditId> {
        let in_site = |located: &Located<'a>| {
            let mut sides = site.base.iter().chain(&site.head);
            sides.any(|membership| membership.has(located))
        };
        let pairs = self
            .pairs
            .iter()
            .filter(|pair| pair.base.iter().chain(&pair.head).any(in_site));
        let mut edits: Vec<EditId> = pairs
            .flat_map(|pair| pair.whole.iter().chain(&pair.parts))
            .copied()
            .collect();
        edits.extend(&site.definition);
        edits.sort_unstable();
        edits.dedup();
        edits
    }

    /// Files of a site with the `chosen` edits applied; `None` if the site does not exist then.
    pub(crate) fn membership<'s>(
        &self,
        site: &'s SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
    ) -> Option<&'s Membership> {
        let redefined = site.definition.iter().any(|edit| chosen(*edit));
        if redefined {
            site.head.as_ref()
        } else {
            site.base.as_ref()
        }
    }

    /// Documents of a site with the `chosen` edits applied, each with its file, in the order in
    /// which they count.
    pub fn apply(
        &self,
        site: &SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
        known: &mut KnownTexts,
    ) -> Vec<(&'a RepoPath, DocumentVersion<'a>)> {
        let Some(membership) = self.membership(site, chosen) else {
            return Vec::new();
        };
        let unedited = site
            .unedited
            .iter()
            .filter(|located| membership.has(located));
        let mut versions: Vec<(DocumentRank, &'a RepoPath, DocumentVersion<'a>)> = unedited
            .map(|located| {
                (
                    DocumentRank::of(located),
                    located.path,
                    DocumentVersion::Written(located.document),
                )
            })
            .collect();
        let edited = self.pairs.iter().filter_map(|pair| {
            let (located, version) = pair.version(chosen, known)?;
            let [without, with] = &pair.ranks;
            let rank = if pair.whole.is_some_and(chosen) {
                with
            } else {
                without
            };
            membership
                .has(&located)
                .then(|| (rank.clone(), located.path, version))
        });
        versions.extend(edited);
        let rank = |rank: &DocumentRank| membership.rank(rank.repository);
        versions.sort_by(|(one, ..), (other, ..)| {
            rank(one).cmp(&rank(other)).then_with(|| one.cmp(other))
        });
        versions
            .into_iter()
            .map(|(_, path, version)| (path, version))
            .collect()
    }
}

/// Sort key of a document among those of both sides. Head documents sort by their index; base
/// documents that are not at the same place in the head sort after the last preceding document that
/// is on both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DocumentRank {
    repository: Option<usize>,
    path: RepoPath,
    /// One-based head index of the document, or of the document that a base document follows.
    behind: usize,
    /// One-based base index of a base document, otherwise zero.
    below: usize,
}

impl DocumentRank {
    fn of(located: &Located<'_>) -> Self {
        let (repository, path) = (located.repository, located.path.clone());
        Self {
            repository,
            path,
            behind: located.index + 1,
            below: 0,
        }
    }
}

/// Sets the ranks of the pairs.
fn rank(pairs: &mut [DocumentPair<'_>], moved: &[Moved]) {
    // Head index of unmoved documents, by file and base index.
    let mut stayed: BTreeMap<(Option<usize>, RepoPath, usize), usize> = BTreeMap::new();
    for (pair, moved) in pairs.iter().zip(moved) {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else {
            continue;
        };
        let same_file = (base.repository, base.path) == (head.repository, head.path);
        if *moved == Moved::Stayed && same_file {
            stayed.insert((base.repository, base.path.clone(), base.index), head.index);
        }
    }
    for (pair, moved) in pairs.iter_mut().zip(moved) {
        let head = pair.head.as_ref().map(DocumentRank::of);
        let base = pair.base.as_ref().map(|base| {
            let file = |index: usize| (base.repository, base.path.clone(), index);
            let before = stayed.range(file(0)..file(base.index)).next_back();
            let behind = before.map_or(0, |(_, head)| head + 1);
            DocumentRank {
                behind,
                below: base.index + 1,
                ..DocumentRank::of(base)
            }
        });
        pair.ranks = match (base, head, moved) {
            (Some(_), Some(head), Moved::Stayed) => [head.clone(), head],
            (Some(base), Some(head), Moved::Elsewhere) => [base, head],
            (Some(only), None, _) | (None, Some(only), _) => [only.clone(), only],
            (None, None, _) => continue,
        };
    }
}

/// Whether a document that is on both sides moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    /// Its position in the order is unchanged.
    Stayed,
    /// It is at another place, or its order relative to a document changed where that order
    /// matters.
    Elsewhere,
}

/// Determines which of the pairs moved.
fn moved(pairs: &[DocumentPair<'_>], unedited: &[Located<'_>]) -> Vec<Moved> {
    let mut moved: Vec<Moved> = pairs
        .iter()
        .map(|pair| match (&pair.base, &pair.head) {
            (Some(base), Some(head))
                if (base.repository, base.place) != (head.repository, head.place) =>
            {
                Moved::Elsewhere
            }
            // Parts count in the order of their paths.
            (Some(base), Some(head)) if is_part(base) && base.path != head.path => Moved::Elsewhere,
            _ => Moved::Stayed,
        })
        .collect();
    for rivals in rivals(pairs, unedited) {
        for rival in reordered(rivals)
            .into_iter()
            .filter(|rival| rival.base != rival.head)
        {
            if let Some(pair) = rival.pair {
                moved[pair] = Moved::Elsewhere;
            }
        }
    }
    moved
}

fn is_part(located: &Located<'_>) -> bool {
    matches!(located.document, Written::Part(_))
}

/// One of several documents whose relative order matters.
struct OrderRival<'l> {
    /// Index of its pair; `None` for a document that is identical on both sides.
    pair: Option<usize>,
    base: (Option<usize>, &'l RepoPath, usize),
    head: (Option<usize>, &'l RepoPath, usize),
}

/// Returns the documents whose order relative to another one differs between the sides: in base
/// order, those with a later head position before them or an earlier one after them.
fn reordered(mut rivals: Vec<OrderRival<'_>>) -> Vec<OrderRival<'_>> {
    rivals.sort_by_key(|rival| rival.base);
    let mut latest = None;
    let mut passes: Vec<bool> = Vec::with_capacity(rivals.len());
    for rival in &rivals {
        passes.push(latest.is_some_and(|latest| latest > rival.head));
        latest = latest.max(Some(rival.head));
    }
    let mut earliest = rivals.last().map(|last| last.head);
    for (rival, passes) in rivals.iter().zip(&mut passes).rev() {
        *passes |= earliest < Some(rival.head);
        earliest = earliest.min(Some(rival.head));
    }
    let reordered = rivals.into_iter().zip(passes).filter(|(_, passes)| *passes);
    reordered.map(|(rival, _)| rival).collect()
}

/// Common property of documents whose relative order matters.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum OrderContest<'l> {
    /// The first of several policies counts.
    Policy,
    /// Of several documents with the same schema and name, one is read and one replaces
    /// (`deckhand.md` 7 and 8.1).
    Name(&'l str, &'l str),
    /// The first of several parents in a layer is taken (6.2): schema, layer and a label.
    Label(&'l str, &'l str, String),
}

impl<'l> OrderContest<'l> {
    /// Schema of the documents; `None` where it does not matter.
    fn schema(&self) -> Option<&'l str> {
        match self {
            OrderContest::Policy => None,
            OrderContest::Name(schema, _) | OrderContest::Label(schema, ..) => Some(schema),
        }
    }
}

fn contests(document: Written<'_>) -> Vec<OrderContest<'_>> {
    // Parts count in the order of their paths, regardless of their content.
    let Written::Deckhand(document) = document else {
        return Vec::new();
    };
    let Triple {
        schema,
        name,
        layer,
    } = &*document.key;
    let mut contests = vec![OrderContest::Name(schema, name)];
    if document.layer_order.is_some() {
        contests.push(OrderContest::Policy);
    }
    let labels = document.labels.iter();
    contests.extend(labels.map(|(key, value)| {
        OrderContest::Label(schema, layer, format!("{:?} {:?}", key.value, value.value))
    }));
    contests
}

/// Groups the documents on both sides whose relative order matters. Groups without an edited
/// document are omitted.
fn rivals<'l>(
    pairs: &'l [DocumentPair<'_>],
    unedited: &'l [Located<'_>],
) -> Vec<Vec<OrderRival<'l>>> {
    let mut groups: BTreeMap<OrderContest<'l>, Vec<OrderRival<'l>>> = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else {
            continue;
        };
        let of_head = contests(head.document);
        for contest in contests(base.document)
            .into_iter()
            .filter(|it| of_head.contains(it))
        {
            let rival = OrderRival {
                pair: Some(at),
                base: base.order(),
                head: head.order(),
            };
            groups.entry(contest).or_default().push(rival);
        }
    }
    let schemas: BTreeSet<&str> = groups.keys().filter_map(OrderContest::schema).collect();
    let may_contest = |located: &&Located<'_>| match located.document {
        Written::Deckhand(document) => {
            schemas.contains(&*document.key.schema) || document.layer_order.is_some()
        }
        Written::Part(_) => false,
    };
    for located in unedited.iter().filter(may_contest) {
        for contest in contests(located.document) {
            if let Some(group) = groups.get_mut(&contest) {
                let order = located.order();
                group.push(OrderRival {
                    pair: None,
                    base: order,
                    head: order,
                });
            }
        }
    }
    groups.into_values().collect()
}

/// Whether an edit of the first document of a site definition changes which files make up the site.
fn redefines(edit: &Edit) -> bool {
    edit.part == Section::Whole || edit.kind == EditKind::Site
}

impl<'a> DocumentPair<'a> {
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
        let is_redefining = |edit: EditId| redefines(&drafts[edit.index()].edit);
        self.is_first_of(definition) && self.edits().any(is_redefining)
    }

    /// The document with the `chosen` edits applied, and its location then.
    fn version(
        &self,
        chosen: &dyn Fn(EditId) -> bool,
        known: &mut KnownTexts,
    ) -> Option<(Located<'a>, DocumentVersion<'a>)> {
        let whole = self.whole.is_some_and(chosen);
        let (base, head) = match (&self.base, &self.head) {
            (Some(base), Some(head)) => (base, head),
            (Some(only), None) => {
                return (!whole).then_some((*only, DocumentVersion::Written(only.document)));
            }
            (None, only) => {
                let only = only.as_ref().filter(|_| whole)?;
                return Some((*only, DocumentVersion::Written(only.document)));
            }
        };
        let taken = self.parts.iter().filter(|edit| chosen(**edit)).count();
        let place = if whole { head } else { base };
        let version = if taken == self.parts.len() && (taken > 0 || whole) {
            DocumentVersion::Written(head.document)
        } else if taken == 0 {
            DocumentVersion::Written(base.document)
        } else {
            let mut edits = self.parts.iter();
            let root = self.variants.as_ref()?.with(|| {
                let edit = *edits.next().expect("each difference has an edit");
                if chosen(edit) {
                    DiffSide::Head
                } else {
                    DiffSide::Base
                }
            });
            match (base.document, head.document) {
                (Written::Part(base), Written::Part(head)) => {
                    DocumentVersion::RevisedPart(Box::new(CloudPart::revised(base, head, &root)))
                }
                (Written::Deckhand(base), _) => {
                    DocumentVersion::Revised(Box::new(revised(base, root, known)))
                }
                (Written::Part(_), Written::Deckhand(_)) => {
                    unreachable!("documents are paired within a system")
                }
            }
        };
        Some((*place, version))
    }

    /// Adds the edits between the two sides to `drafts`; the pair refers to them by draft index.
    fn draft_edits(
        mut self,
        moved: Moved,
        (unread, sites): (&UnreadEdits<'_>, &Sites<'_>),
        keys: &ListKeys,
        drafts: &mut Vec<EditDraft>,
    ) -> Self {
        let of_file = unread
            .edit_of_pair(&self)
            .or_else(|| sites.edit_of_pair(&self));
        let (base, head) = match (&self.base, &self.head) {
            (Some(base), Some(head)) => (base, head),
            (Some(only), None) | (None, Some(only)) => {
                let kind = EditKind::Document;
                let text = |located: &Located<'_>| whole_text(located.document);
                let (base, head) = (self.base.as_ref().map(text), self.head.as_ref().map(text));
                self.whole = Some(match of_file {
                    Some(edit) => drafts[edit.index()].cover(edit, [base, head]),
                    None => add(drafts, EditDraft::whole(kind, only, base, head)),
                });
                return self;
            }
            (None, None) => return self,
        };
        if moved == Moved::Elsewhere {
            let texts = [base, head].map(|located| Some(whole_text(located.document)));
            let [at_base, at_head] = texts;
            let draft = EditDraft::whole(EditKind::Moved, head, at_base, at_head);
            self.whole = Some(add(drafts, draft));
        }
        let keys = keys.of_document(&head.document.key().schema);
        let (found, variants) = diff::variants(&base.document.root(), &head.document.root(), &keys);
        // Text that an anchor puts in several places is edited once.
        let mut met: HashMap<(Vec<Span>, Vec<Span>), EditId> = HashMap::new();
        let mut found: Vec<EditDraft> = found
            .iter()
            .map(|difference| EditDraft::part(head, difference))
            .collect();
        join_layers(&mut found, base, head);
        for draft in found {
            let covers = |text: &Option<Text>| {
                text.as_ref()
                    .map(|text| text.covers.clone())
                    .unwrap_or_default()
            };
            let texts = (covers(&draft.edit.base), covers(&draft.edit.head));
            let edit = *met.entry(texts).or_insert_with(|| match of_file {
                Some(edit) => drafts[edit.index()].cover(edit, [draft.edit.base, draft.edit.head]),
                None => add(drafts, draft),
            });
            self.parts.push(edit);
        }
        self.variants = (!self.parts.is_empty()).then_some(variants);
        self
    }
}

/// Replaces several differences of the layers of a policy by one, of their order.
fn join_layers(found: &mut [EditDraft], base: &Located<'_>, head: &Located<'_>) {
    let of_layers = |draft: &&mut EditDraft| draft.edit.kind == EditKind::Policy;
    if found.iter_mut().filter(of_layers).count() < 2 {
        return;
    }
    if let Some(order) = layer_order(base, head) {
        let order = EditDraft::part(head, &order);
        found
            .iter_mut()
            .filter(of_layers)
            .for_each(|draft| *draft = order.clone());
    }
}

/// Returns the difference of the layers of a policy, if both sides are lists.
fn layer_order(base: &Located<'_>, head: &Located<'_>) -> Option<Difference> {
    let place = |located: &Located<'_>| {
        let node = located.document.data().get("layerOrder")?.clone();
        node.as_sequence()?;
        let keys = ["data", "layerOrder"].map(|key| Piece::Key(Key::string(key, node.span)));
        let location = Location(keys.to_vec());
        Some(diff::DiffPlace {
            location,
            key: None,
            node,
        })
    };
    Some(Difference::value(Some(place(base)?), Some(place(head)?)))
}

/// An edit without its final index, and its sort key.
#[derive(Clone)]
struct EditDraft {
    order: EditOrder,
    edit: Edit,
}

/// Repository, file, document index, whether the edit has a text in the head, position, part and
/// location. Positions on different sides are not compared: positions after a secret depend on its
/// length.
type EditOrder = (Option<usize>, RepoPath, usize, bool, u32, Section, String);

fn add(drafts: &mut Vec<EditDraft>, draft: EditDraft) -> EditId {
    let id = EditId::at(drafts.len());
    drafts.push(draft);
    id
}

impl EditDraft {
    fn whole(
        kind: EditKind,
        located: &Located<'_>,
        base: Option<Text>,
        head: Option<Text>,
    ) -> Self {
        let document = located.document.key().clone();
        let (part, location) = (Section::Whole, Location::root());
        let items = Vec::new();
        let repository = located.repository;
        let edit = Edit {
            kind,
            repository,
            document,
            part,
            location,
            items,
            base,
            head,
            unlisted: 0,
        };
        Self::new(located, edit)
    }

    fn part(head: &Located<'_>, difference: &Difference) -> Self {
        let (part, location) = part_of(difference.location());
        let outside = difference.location().0.len() - location.0.len();
        let items = difference.items.iter();
        let text =
            |place: &Option<diff::DiffPlace>| place.as_ref().map(|it| text_of(it, difference));
        let edit = Edit {
            kind: kind_of(head, difference, part, &location),
            repository: head.repository,
            document: head.document.key().clone(),
            part,
            location,
            items: items
                .map(|item| Item {
                    at: item.at - outside,
                    ..item.clone()
                })
                .collect(),
            base: text(&difference.base),
            head: text(&difference.head),
            unlisted: difference.unlisted,
        };
        Self::new(head, edit)
    }

    /// Adds texts of both sides to this edit, whose ID is `edit`.
    fn cover(&mut self, edit: EditId, texts: [Option<Text>; 2]) -> EditId {
        for (covering, text) in [&mut self.edit.base, &mut self.edit.head]
            .into_iter()
            .zip(texts)
        {
            match (covering, text) {
                (Some(covering), Some(text)) => covering.covers.extend(text.covers),
                (covering @ None, Some(text)) => *covering = Some(Text { node: None, ..text }),
                (Some(_) | None, None) => {}
            }
        }
        edit
    }

    /// An edit of a file, named after its first document if `named` is given.
    fn file(file: &FileEdit<'_>, named: Option<&Located<'_>>) -> Self {
        let kind = match file.cause {
            FileEditCause::Definition => EditKind::Site,
            FileEditCause::SiteAdded => EditKind::SiteAdded,
            FileEditCause::SiteRemoved => EditKind::SiteRemoved,
            FileEditCause::Unread => EditKind::File,
            FileEditCause::Repository => EditKind::Repository,
        };
        let document = named.map_or_else(
            || DocKey::new("", "", file.path.as_str()),
            |located| located.document.key().clone(),
        );
        let heading = match file.cause {
            FileEditCause::SiteAdded | FileEditCause::SiteRemoved => {
                named.map(|located| located.document.heading())
            }
            FileEditCause::Definition | FileEditCause::Unread | FileEditCause::Repository => None,
        };
        let text = |start: Option<Span>| {
            let (at, covers) = (heading.or(start)?, vec![start?]);
            Some(Text {
                at,
                covers,
                node: None,
            })
        };
        let (base, head) = (text(file.base), text(file.head));
        let (part, location, items) = (Section::Whole, Location::root(), Vec::new());
        let repository = file.repository;
        let edit = Edit {
            kind,
            repository,
            document,
            part,
            location,
            items,
            base,
            head,
            unlisted: 0,
        };
        Self {
            order: (
                repository,
                file.path.clone(),
                0,
                false,
                0,
                part,
                String::new(),
            ),
            edit,
        }
    }

    fn new(located: &Located<'_>, edit: Edit) -> Self {
        let place = edit.location.to_string();
        let (repository, path) = (located.repository, located.path.clone());
        let (is_in_head, start) = (edit.head.is_some(), edit.at().start);
        let order = (
            repository,
            path,
            located.index,
            is_in_head,
            start,
            edit.part,
            place,
        );
        Self { order, edit }
    }
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

/// First key of a location, if it is a string.
fn first_key(location: &Location) -> Option<&str> {
    match location.0.first()? {
        Piece::Key(key) => key.as_str(),
        Piece::Index(_) => None,
    }
}

/// Splits a location into the section of the document and the location within it.
fn part_of(location: &Location) -> (Section, Location) {
    let part = match first_key(location) {
        Some("data") => Section::Data,
        Some("metadata") => Section::Metadata,
        Some(_) | None => return (Section::Root, location.clone()),
    };
    (part, Location(location.0[1..].to_vec()))
}

/// Returns whether an edit moved the pin of a further repository to another revision.
pub fn moves_pin(edit: &Edit) -> bool {
    &*edit.document.schema == "pegleg/SiteDefinition/v1"
        && edit.part == Section::Data
        && pins_revision(&edit.location)
}

/// Whether a location is `repositories.NAME.revision`.
fn pins_revision(location: &Location) -> bool {
    match &location.0[..] {
        [_, _, Piece::Key(key)] => key.as_str() == Some("revision"),
        _ => false,
    }
}

fn kind_of(
    located: &Located<'_>,
    difference: &Difference,
    part: Section,
    location: &Location,
) -> EditKind {
    let first = first_key(location);
    let orders = located
        .document
        .deckhand()
        .is_some_and(|it| it.layer_order.is_some());
    let defines_site = located.path.as_str().ends_with("/site-definition.yaml");
    match (part, first) {
        (Section::Data, Some("layerOrder") | None) if orders => EditKind::Policy,
        // The content of another revision yields edits of its own.
        (Section::Data, Some("repositories")) if defines_site && pins_revision(location) => {
            EditKind::Value
        }
        (Section::Data, Some("site_type" | "repositories") | None)
            if defines_site && located.index == 0 =>
        {
            EditKind::Site
        }
        (Section::Metadata, Some("name"))
            if located.document.deckhand().is_some() && location.0.len() == 1 =>
        {
            EditKind::Renamed
        }
        _ if matches!(difference.kind, DifferenceKind::Order { .. }) => EditKind::Order,
        _ if difference.base.is_some() && difference.head.is_some() => EditKind::Value,
        _ => EditKind::Key,
    }
}

fn whole_text(document: Written<'_>) -> Text {
    Text {
        at: document.heading(),
        covers: vec![document.span()],
        node: None,
    }
}

fn text_of(place: &diff::DiffPlace, difference: &Difference) -> Text {
    let node = &place.node;
    if let DifferenceKind::Order { .. } = difference.kind {
        let covers = inside(node).map(|name| name.span).collect();
        return Text {
            at: node.span,
            covers,
            node: Some(node.clone()),
        };
    }
    let at = match place.key {
        Some(key) if key.file == node.span.file && key.end <= node.span.start => key.to(node.span),
        Some(key) => key,
        None => node.span,
    };
    let mut spans = Vec::new();
    collect_texts(node, &mut HashSet::default(), &mut spans);
    Text {
        at,
        covers: outermost(at, spans),
        node: Some(node.clone()),
    }
}

/// Returns the spans in order, omitting those inside an earlier one.
fn outermost(first: Span, spans: Vec<Span>) -> Vec<Span> {
    let mut covers = vec![first];
    // Ends of the kept spans by start; for each start, only the farthest end so far matters.
    let mut ends: BTreeMap<(FileId, u32), u32> =
        BTreeMap::from([((first.file, first.start), first.end)]);
    for span in spans {
        let mut before = ends.range((span.file, 0)..=(span.file, span.start));
        if before.next_back().is_some_and(|(_, end)| *end >= span.end) {
            continue;
        }
        covers.push(span);
        let farthest = ends
            .range((span.file, 0)..=(span.file, span.start))
            .next_back();
        let end = farthest.map_or(span.end, |(_, end)| span.end.max(*end));
        let later: Vec<u32> = ends
            .range((span.file, span.start)..=(span.file, u32::MAX))
            .take_while(|(_, other)| **other < end)
            .map(|((_, start), _)| *start)
            .collect();
        for start in later {
            ends.remove(&(span.file, start));
        }
        ends.insert((span.file, span.start), end);
    }
    covers
}

/// Collects the spans of `node` and its descendants; shared nodes are visited once.
fn collect_texts(node: &Node, known: &mut HashSet<usize>, spans: &mut Vec<Span>) {
    spans.push(node.span);
    if node
        .value
        .address()
        .is_some_and(|address| !known.insert(address))
    {
        return;
    }
    match &node.value {
        Value::Mapping(_) | Value::Sequence(_) => {
            inside(node).for_each(|child| collect_texts(child, known, spans));
        }
        Value::Pairs(pairs) => {
            for (left, right) in pairs.iter() {
                collect_texts(left, known, spans);
                collect_texts(right, known, spans);
            }
        }
        _ => {}
    }
}

/// Pairs the documents of the two sides, in this order: same file and identity; same place and
/// identity; same identity, once on each side, at different places; identical parts in files with
/// other names; similar documents of one file; and renamed documents of one place.
fn pair<'a>(
    base: Vec<Located<'a>>,
    head: Vec<Located<'a>>,
    sites: &Sites<'a>,
) -> Vec<DocumentPair<'a>> {
    let mut open = UnpairedDocuments {
        base: base.into_iter().map(Some).collect(),
        head: head.into_iter().map(Some).collect(),
        pairs: Vec::new(),
    };
    open.pair_by(
        |it| Some((it.repository, it.path.clone(), it.document.key().clone())),
        PairingRule::InTurn,
    );
    open.pair_by(
        |it| {
            Some((
                it.repository,
                place_name(it.place),
                it.document.key().clone(),
            ))
        },
        PairingRule::InTurn,
    );
    // Documents added or removed with a site did not move.
    open.pair_by(
        |it| {
            sites
                .only_site_with(it)
                .is_none()
                .then(|| it.document.key().clone())
        },
        PairingRule::Alone,
    );
    open.pair_parts_of_other_files();
    open.pair_alike();
    open.pair_renamed();
    let UnpairedDocuments {
        base,
        head,
        mut pairs,
    } = open;
    pairs.extend(
        base.into_iter()
            .flatten()
            .map(|only| DocumentPair::of(Some(only), None)),
    );
    pairs.extend(
        head.into_iter()
            .flatten()
            .map(|only| DocumentPair::of(None, Some(only))),
    );
    pairs
}

fn place_name(place: Option<&Place>) -> (u8, Arc<str>) {
    match place {
        None => (0, "".into()),
        Some(Place::Global) => (1, "".into()),
        Some(Place::Type(name)) => (2, name.clone()),
        Some(Place::Site(name)) => (3, name.clone()),
    }
}

impl<'a> DocumentPair<'a> {
    fn of(base: Option<Located<'a>>, head: Option<Located<'a>>) -> Self {
        let nowhere = DocumentRank {
            repository: None,
            path: RepoPath::new(""),
            behind: 0,
            below: 0,
        };
        let ranks = [nowhere.clone(), nowhere];
        Self {
            base,
            head,
            ranks,
            whole: None,
            parts: Vec::new(),
            variants: None,
        }
    }
}

/// Documents that are not paired yet.
struct UnpairedDocuments<'a> {
    base: Vec<Option<Located<'a>>>,
    head: Vec<Option<Located<'a>>>,
    pairs: Vec<DocumentPair<'a>>,
}

/// Rule for pairing several documents with the same identity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairingRule {
    /// The first with the first, the second with the second.
    InTurn,
    /// Only if there is exactly one on each side.
    Alone,
}

impl<'a> UnpairedDocuments<'a> {
    fn pair_by<K: Ord>(&mut self, identity: impl Fn(&Located<'a>) -> Option<K>, meet: PairingRule) {
        let of = |side: &[Option<Located<'a>>]| {
            let mut known: BTreeMap<K, Vec<usize>> = BTreeMap::new();
            for (at, located) in side.iter().enumerate() {
                if let Some(key) = located.as_ref().and_then(&identity) {
                    known.entry(key).or_default().push(at);
                }
            }
            known
        };
        let (base, head) = (of(&self.base), of(&self.head));
        for (key, below) in base {
            let above = head.get(&key).map_or(&[][..], Vec::as_slice);
            let is_one = below.len() == 1 && above.len() == 1;
            if meet == PairingRule::Alone && !(is_one && self.may_move(below[0], above[0])) {
                continue;
            }
            for (below, above) in below.iter().zip(above) {
                self.pairs.push(DocumentPair::of(
                    self.base[*below].take(),
                    self.head[*above].take(),
                ));
            }
        }
    }

    /// Whether a document may have moved: between the main repository and a further one, but not
    /// between further repositories, whose other revisions belong to other sites.
    fn may_move(&self, below: usize, above: usize) -> bool {
        let repository = |located: &Option<Located<'_>>| located.and_then(|it| it.repository);
        match (repository(&self.base[below]), repository(&self.head[above])) {
            (Some(base), Some(head)) => base == head,
            (None, _) | (_, None) => true,
        }
    }

    /// Pairs equal parts of files that were renamed.
    fn pair_parts_of_other_files(&mut self) {
        /// Maximum number of parts with the same outline that one part is compared with.
        const MAX_COMPARED: usize = 100;
        let mut known: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, located) in self.head.iter().enumerate() {
            known
                .entry(located.as_ref().and_then(outline).unwrap_or_default())
                .or_default()
                .push(at);
        }
        for below in &mut self.base {
            let Some(base) = *below else { continue };
            let Some(alike) = outline(&base).and_then(|outline| known.get(&outline)) else {
                continue;
            };
            let is_same = |at: &&usize| {
                let head = self.head[**at].as_ref().filter(|head| is_part(head));
                head.is_some_and(|head| same(&base.document.root(), &head.document.root()))
            };
            if let Some(at) = alike.iter().take(MAX_COMPARED).find(is_same) {
                self.pairs
                    .push(DocumentPair::of(below.take(), self.head[*at].take()));
            }
        }
    }

    /// Pairs documents that were given another name, layer or schema.
    fn pair_alike(&mut self) {
        /// Maximum number of documents that one document is compared with.
        const MAX_COMPARED: usize = 100;
        let mut known: BTreeMap<Likeness<'a>, BTreeSet<usize>> = BTreeMap::new();
        for (at, located) in self.head.iter().enumerate() {
            for likeness in located.iter().flat_map(likenesses) {
                known.entry(likeness).or_default().insert(at);
            }
        }
        for below in &mut self.base {
            let Some(base) = *below else { continue };
            let alike: BTreeSet<usize> = likenesses(&base)
                .iter()
                .filter_map(|likeness| known.get(likeness))
                .flat_map(|alike| alike.iter().take(MAX_COMPARED).copied())
                .collect();
            let mut candidates = alike
                .into_iter()
                .filter_map(|at| Some((at, self.head[at]?)));
            let found = candidates.find(|(_, head)| are_alike(base.document, head.document));
            if let Some((at, head)) = found {
                for likeness in likenesses(&head) {
                    known.entry(likeness).or_default().remove(&at);
                }
                self.pairs
                    .push(DocumentPair::of(below.take(), self.head[at].take()));
            }
        }
    }
}

impl UnpairedDocuments<'_> {
    /// Pairs renamed documents: those that share most of their values or, without comparable
    /// values, those at the same index of the same file.
    fn pair_renamed(&mut self) {
        self.pair_by(
            |it| {
                let values = values_of(it).filter(|values| !values.is_empty())?;
                Some((naming_place(it), values))
            },
            PairingRule::InTurn,
        );
        let (base, head) = (
            Nameless::by_place(&self.base),
            Nameless::by_place(&self.head),
        );
        let mut renamings: Vec<Renaming> = base
            .iter()
            .filter_map(|(place, below)| Some((below, head.get(place)?)))
            .flat_map(|(below, above)| Renaming::between(below, above))
            .collect();
        renamings.sort_unstable();
        for renaming in renamings {
            let (below, above) = (&mut self.base[renaming.base], &mut self.head[renaming.head]);
            if below.is_some() && above.is_some() {
                self.pairs
                    .push(DocumentPair::of(below.take(), above.take()));
            }
        }
    }
}

/// Repository, place, schema and layer, which a renamed document keeps.
type NamingPlace = (Option<usize>, (u8, Arc<str>), Arc<str>, Arc<str>);

fn naming_place(located: &Located<'_>) -> NamingPlace {
    let Triple { schema, layer, .. } = &**located.document.key();
    (
        located.repository,
        place_name(located.place),
        schema.clone(),
        layer.clone(),
    )
}

/// Hashes of the values that identify a renamed document.
fn values_of(located: &Located<'_>) -> Option<Vec<u64>> {
    /// Maximum number of values per document that are compared.
    const MAX_VALUES: usize = 1_000;
    located.document.deckhand()?;
    let data = located.document.data();
    let is_empty = match &data.value {
        Value::Null => true,
        Value::Mapping(entries) => entries.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => false,
    };
    Some(if is_empty {
        Vec::new()
    } else {
        diff::shown_values(data, MAX_VALUES)
    })
}

/// A document without its name.
struct Nameless<'a> {
    /// Index among the documents of its side.
    at: usize,
    /// File, and index in the file.
    position: (&'a RepoPath, usize),
    values: Vec<u64>,
}

impl<'a> Nameless<'a> {
    fn by_place(side: &[Option<Located<'a>>]) -> BTreeMap<NamingPlace, Vec<Self>> {
        let mut by_place: BTreeMap<NamingPlace, Vec<Self>> = BTreeMap::new();
        for (at, located) in side.iter().enumerate() {
            let Some(located) = located else { continue };
            let Some(values) = values_of(located) else {
                continue;
            };
            let position = (located.path, located.index);
            by_place
                .entry(naming_place(located))
                .or_default()
                .push(Self {
                    at,
                    position,
                    values,
                });
        }
        by_place
    }

    /// Share of common values in thousandths, if at least half of them are common.
    fn likeness(&self, other: &Self) -> Option<usize> {
        let is_in_place = self.position == other.position;
        let most = self.values.len().max(other.values.len());
        if most == 0 {
            return is_in_place.then_some(1000);
        }
        if self.values.len().min(other.values.len()) * 2 < most {
            return None;
        }
        let shared = count_shared(&self.values, &other.values);
        (shared * 2 >= most).then_some(shared * 1000 / most)
    }
}

/// Number of elements two sorted lists have in common.
fn count_shared(one: &[u64], other: &[u64]) -> usize {
    let (mut rest, mut shared) = (other, 0);
    for number in one {
        while rest.first().is_some_and(|first| first < number) {
            rest = &rest[1..];
        }
        if rest.first() == Some(number) {
            (rest, shared) = (&rest[1..], shared + 1);
        }
    }
    shared
}

/// A candidate pair of a renamed document; the most similar sort first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Renaming {
    /// Share of differing values in thousandths, and whether the positions in files differ.
    difference: (usize, bool),
    base: usize,
    head: usize,
}

impl Renaming {
    fn between(base: &[Nameless<'_>], head: &[Nameless<'_>]) -> Vec<Self> {
        /// Maximum distance between the compared documents, by index within their place.
        const MAX_DISTANCE: usize = 25;
        let mut found = Vec::new();
        for (at, below) in base.iter().enumerate() {
            let near = at.saturating_sub(MAX_DISTANCE)..head.len().min(at + MAX_DISTANCE + 1);
            for above in head.get(near).unwrap_or_default() {
                let Some(likeness) = below.likeness(above) else {
                    continue;
                };
                let difference = (1000 - likeness, below.position != above.position);
                found.push(Self {
                    difference,
                    base: below.at,
                    head: above.at,
                });
            }
        }
        found
    }
}

/// Common properties of similar documents: the file, and the schema or the name.
type Likeness<'a> = (Option<usize>, &'a RepoPath, bool, &'a str);

fn likenesses<'a>(located: &Located<'a>) -> [Likeness<'a>; 2] {
    let Triple { schema, name, .. } = &**located.document.key();
    let likeness = |is_name, text| (located.repository, located.path, is_name, text);
    [likeness(false, &**schema), likeness(true, &**name)]
}

/// Cheap fingerprint that equal parts share: index in the file and number of entries. `None` for
/// documents other than parts.
fn outline(located: &Located<'_>) -> Option<(usize, usize)> {
    let data = located.document.data();
    let entries = data.as_mapping().map_or_else(
        || data.as_sequence().map_or(0, <[Node]>::len),
        |mapping| mapping.iter().count(),
    );
    is_part(located).then_some((located.index, entries))
}

fn are_alike(base: Written<'_>, head: Written<'_>) -> bool {
    let (
        Triple {
            schema,
            layer,
            name,
        },
        other,
    ) = (&**base.key(), head.key());
    let renamed =
        *schema == other.schema && !base.data().is_null() && same(base.data(), head.data());
    renamed || (*name == other.name && (*schema == other.schema || *layer == other.layer))
}
