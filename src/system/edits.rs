//! What somebody edited: documents of two sides paired, and compared as
//! values. Comments, formatting, the order of keys and a file that moved
//! inside its place are no edits, unless the order of documents decides
//! between the one that moved and another.
//!
//! [`Edits::apply`] makes the documents of a site with only some of the edits:
//! the base side with none of them is the base, with all of them the head.
//! Documents whose order decides nothing may then stand in another one.

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
use crate::yaml::diff::{self, DiffSide, Difference, DifferenceKind, ListKeys, same};
use crate::yaml::path::{Item, Location, Piece, inside};
use crate::yaml::{Node, Value};

/// A document and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// The further repository that it is in, by the number of its revisions on both sides; none
    /// for the first.
    pub repository: Option<usize>,
    /// Its file.
    pub path: &'a RepoPath,
    /// Which sites the file counts for; none in a set without layout.
    pub place: Option<&'a Place>,
    /// Which document of its file it is, from zero.
    pub index: usize,
    /// The document.
    pub document: Written<'a>,
}

impl Located<'_> {
    /// Documents count in this order.
    fn order(&self) -> (Option<usize>, &RepoPath, usize) {
        (self.repository, self.path, self.index)
    }
}

/// Which files make a site on one side.
#[derive(Clone, Debug)]
pub struct Membership {
    /// The site; none for a set without layout, which has every file.
    pub site: Option<Arc<str>>,
    /// Its type.
    pub site_type: Option<Arc<str>>,
    /// The further repositories it uses, by the numbers of their revisions, in the order in which
    /// they count.
    pub repositories: Vec<usize>,
    /// The files of parts that its sets are made of.
    pub parts: BTreeSet<RepoPath>,
}

impl Membership {
    fn has(&self, located: &Located<'_>) -> bool {
        match located.document {
            Written::Part(_) => self.parts.contains(located.path),
            Written::Deckhand(_) => self.has_at(located.repository, located.place),
        }
    }

    /// Where documents of a repository count among those of the others.
    fn rank(&self, repository: Option<usize>) -> Option<usize> {
        let at = |number| self.repositories.iter().position(|it| *it == number);
        repository.map(|number| at(number).unwrap_or(number))
    }

    /// Whether a file of documents at this place counts.
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
    /// Which files make it on the base side; none where it is not there.
    pub base: Option<Membership>,
    /// Which files make it on the head side; none where it is not there.
    pub head: Option<Membership>,
    /// The edits of its definition by which that is decided.
    pub definition: Vec<EditId>,
    /// Documents of files that are the same on both sides, of every place.
    pub unedited: &'a [Located<'a>],
}

/// What somebody edited between two sides.
#[derive(Debug)]
pub struct Edits<'a> {
    /// The edits, by number.
    pub edits: Vec<Edit>,
    pairs: Vec<DocumentPair<'a>>,
    files: Vec<(FileEdit<'a>, EditId)>,
    keys: ListKeys,
}

/// An edit that is known by its file, and not by values of documents.
#[derive(Clone, Debug)]
pub struct FileEdit<'a> {
    /// The further repository that it is in, as of [`Located`].
    pub(crate) repository: Option<usize>,
    /// The file.
    pub(crate) path: &'a RepoPath,
    /// Why no documents tell it.
    pub(crate) cause: FileEditCause,
    /// The beginning of the file on the base side; none where it is not there.
    pub(crate) base: Option<Span>,
    /// The same on the head side.
    pub(crate) head: Option<Span>,
    /// Whether some of it is not read on the base side, and on the head side.
    pub(crate) is_unread: [bool; 2],
    /// Its place as a file of documents, on each side on which it is one.
    pub(crate) places: Vec<Option<&'a Place>>,
    /// The files that came or went with the site that it defines; none for other causes.
    pub(crate) alone: SitePlaces,
}

/// Files that one site has and no other, on either side.
#[derive(Clone, Debug, Default)]
pub(crate) struct SitePlaces {
    /// Places of documents.
    pub(crate) places: BTreeSet<Place>,
    /// Files of parts.
    pub(crate) parts: BTreeSet<RepoPath>,
}

impl<'a> FileEdit<'a> {
    /// An edit of the file at `path` of the repository itself, which is this on the base side and
    /// on the head side, and which is read.
    pub(crate) fn new(
        path: &'a RepoPath,
        cause: FileEditCause,
        sides: [Option<FileId>; 2],
    ) -> Self {
        let [base, head] = sides.map(|file| file.map(|file| Span::point(file, 0)));
        let (is_unread, places, alone) = ([false; 2], Vec::new(), SitePlaces::default());
        Self { repository: None, path, cause, base, head, is_unread, places, alone }
    }
}

impl FileEdit<'_> {
    /// Whether a file at `path` may be part of this one: it is this one, or below it as a
    /// repository.
    fn holds(&self, path: &RepoPath) -> bool {
        self.path == path || path.below(self.path).is_some()
    }
}

/// Why an edit is known by its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEditCause {
    /// It defines a site that is another on each side. Left out where other edits say so.
    Definition,
    /// It defines a site that came.
    SiteAdded,
    /// It defines a site that went.
    SiteRemoved,
    /// It cannot be read on one of the sides.
    Unread,
    /// It defines a site of which other further repositories, or other revisions of them, are not
    /// read on each side.
    Repository,
}

impl FileEditCause {
    /// Whether what was edited is unknown.
    fn is_unknown(self) -> bool {
        matches!(self, FileEditCause::Unread | FileEditCause::Repository)
    }
}

/// A document on both sides, or on one.
#[derive(Debug)]
struct DocumentPair<'a> {
    base: Option<Located<'a>>,
    head: Option<Located<'a>>,
    /// Where it counts without the edit of the whole of it, and with it.
    ranks: [DocumentRank; 2],
    /// The edit by which it came, went, or moved.
    whole: Option<EditId>,
    /// For each difference of the two, in their order, the edit that made it.
    parts: Vec<EditId>,
}

/// A document with some of its edits.
pub enum DocumentVersion<'a> {
    /// As it is written on one of the sides.
    Written(Written<'a>),
    /// One of Deckhand's, with some of its edits and not with others.
    Revised(Box<Document>),
    /// A part of cloud-init's, with some of its edits and not with others.
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

/// The edits that lead from the documents `base` to the documents `head`,
/// each those of the files that are not the same on both sides; `unedited` are
/// those of the others. `files` are edits that documents may not tell; items of lists are
/// known by `keys`.
pub fn edits<'a>(
    base: Vec<Located<'a>>,
    head: Vec<Located<'a>>,
    unedited: &[Located<'a>],
    files: Vec<FileEdit<'a>>,
    keys: ListKeys,
) -> Edits<'a> {
    let mut drafts = Vec::new();
    let (unread, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.cause.is_unknown());
    let unread = UnreadEdits::drafted(unread, &mut drafts);
    let (definitions, sites): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|file| file.cause == FileEditCause::Definition);
    let sites = Sites::drafted(sites, &unread, base.iter().chain(&head), &mut drafts);
    let mut pairs = pair(base, head, &sites);
    let moved = moved(&pairs, unedited);
    rank(&mut pairs, &moved);
    let pairs: Vec<DocumentPair<'a>> = pairs
        .into_iter()
        .zip(moved)
        .map(|(pair, moved)| pair.drafted(moved, (&unread, &sites), &keys, &mut drafts))
        .collect();
    let is_told = |file: &FileEdit<'_>| {
        unread.has(file.path) || pairs.iter().any(|pair| pair.defines(file.path, &drafts))
    };
    let untold: Vec<FileEdit<'a>> = definitions.into_iter().filter(|it| !is_told(it)).collect();
    let mut files = unread.files;
    files.extend(sites.files);
    for file in untold {
        let mut sides = pairs.iter().flat_map(|pair| pair.head.iter().chain(&pair.base));
        let draft = EditDraft::file(&file, sides.find(|located| located.path == file.path));
        files.push((file, add(&mut drafts, draft)));
    }
    numbered(drafts, pairs, files, keys)
}

/// The edits of files that cannot be read. What a document of such a file is on the side that
/// is not read is unknown: that it came or went is part of the edit of the file.
struct UnreadEdits<'a> {
    files: Vec<(FileEdit<'a>, EditId)>,
    by_path: BTreeMap<(Option<usize>, &'a RepoPath), usize>,
}

impl<'a> UnreadEdits<'a> {
    fn drafted(files: Vec<FileEdit<'a>>, drafts: &mut Vec<EditDraft>) -> Self {
        let by_path = files.iter().enumerate();
        let by_path = by_path.map(|(at, file)| ((file.repository, file.path), at)).collect();
        let files = files.into_iter().map(|file| {
            let draft = EditDraft::file(&file, None);
            (file, add(drafts, draft))
        });
        Self { files: files.collect(), by_path }
    }

    /// Whether the definition of a site is among them.
    fn has(&self, definition: &RepoPath) -> bool {
        [0, 1].into_iter().any(|side| self.edit_of(None, definition, side).is_some())
    }

    /// The edit by which it is unknown what is at `path` on a side, the base being 0.
    fn edit_of(&self, repository: Option<usize>, path: &RepoPath, side: usize) -> Option<EditId> {
        if self.files.is_empty() {
            return None;
        }
        let ends = path.as_str().match_indices('/').map(|(end, _)| end);
        let mut paths = ends.chain([path.as_str().len()]).map(|end| &path.as_str()[..end]);
        paths.find_map(|path| {
            let path = RepoPath::new(path);
            let (file, edit) = &self.files[*self.by_path.get(&(repository, &path))?];
            file.is_unread[side].then_some(*edit)
        })
    }

    /// The edit of the file that a pair is on one side only by, as the file is not read on the
    /// other side.
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

/// The edits of sites that came or went, of which the documents that no other site has are part.
struct Sites<'a> {
    files: Vec<(FileEdit<'a>, EditId)>,
    /// The edits by the places of documents and by the files of parts.
    by_place: BTreeMap<Place, usize>,
    by_part: BTreeMap<RepoPath, usize>,
}

impl<'a> Sites<'a> {
    /// Those whose definitions are read.
    fn drafted<'l>(
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
            return Self { files: Vec::new(), by_place: BTreeMap::new(), by_part: BTreeMap::new() };
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
        let alone = || files.iter().enumerate().map(|(at, (file, _))| (at, &file.alone));
        let places = alone().flat_map(|(at, alone)| alone.places.iter().map(move |it| (it, at)));
        let parts = alone().flat_map(|(at, alone)| alone.parts.iter().map(move |it| (it, at)));
        let by_place = places.map(|(place, at)| (place.clone(), at)).collect();
        let by_part = parts.map(|(path, at)| (path.clone(), at)).collect();
        Self { files, by_place, by_part }
    }

    /// The site that came or went and alone has the file of this document.
    fn having(&self, located: &Located<'_>) -> Option<&(FileEdit<'a>, EditId)> {
        let at = match located.document {
            Written::Part(_) => self.by_part.get(located.path),
            Written::Deckhand(_) => located
                .place
                .filter(|_| located.repository.is_none())
                .and_then(|place| self.by_place.get(place)),
        };
        at.map(|at| &self.files[*at])
    }

    /// The edit of a site with which a document came or went.
    fn edit_of_pair(&self, pair: &DocumentPair<'_>) -> Option<EditId> {
        let (located, with) = match (&pair.base, &pair.head) {
            (Some(base), None) => (base, FileEditCause::SiteRemoved),
            (None, Some(head)) => (head, FileEditCause::SiteAdded),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let (_, edit) = self.having(located).filter(|(file, _)| file.cause == with)?;
        Some(*edit)
    }
}

/// Whether this stands for a file of parts without any.
fn is_nothing(located: &Located<'_>) -> bool {
    match located.document {
        Written::Deckhand(_) => false,
        Written::Part(part) => part.is_nothing(),
    }
}

impl<'a> Edits<'a> {
    /// The edits of a site's definition that decide which files make the site.
    pub fn of_definition(&self, definition: &RepoPath) -> Vec<EditId> {
        let of = self.pairs.iter().filter(|pair| pair.is_first_of(definition));
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

    /// The edits of files that cannot be read, each with its file.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&FileEdit<'a>, EditId)> {
        let files = self.files.iter().filter(|(file, _)| file.cause.is_unknown());
        files.map(|(file, edit)| (file, *edit))
    }

    /// The edits of documents that a site has on one of the sides.
    pub(crate) fn of_site(&self, site: &SitePair<'a>) -> Vec<EditId> {
        let in_site = |located: &Located<'a>| {
            let mut sides = site.base.iter().chain(&site.head);
            sides.any(|membership| membership.has(located))
        };
        let pairs =
            self.pairs.iter().filter(|pair| pair.base.iter().chain(&pair.head).any(in_site));
        let mut edits: Vec<EditId> =
            pairs.flat_map(|pair| pair.whole.iter().chain(&pair.parts)).copied().collect();
        edits.extend(&site.definition);
        edits.sort_unstable();
        edits.dedup();
        edits
    }

    /// Which files make a site with the edits that are `chosen`; none where it is
    /// not there.
    pub(crate) fn membership<'s>(
        &self,
        site: &'s SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
    ) -> Option<&'s Membership> {
        let redefined = site.definition.iter().any(|edit| chosen(*edit));
        if redefined { site.head.as_ref() } else { site.base.as_ref() }
    }

    /// The documents of a site with the edits that are `chosen`, each with its
    /// file, in the order in which they count.
    pub fn apply(
        &self,
        site: &SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
        known: &mut KnownTexts,
    ) -> Vec<(&'a RepoPath, DocumentVersion<'a>)> {
        let Some(membership) = self.membership(site, chosen) else { return Vec::new() };
        let unedited = site.unedited.iter().filter(|located| membership.has(located));
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
            let (located, version) = pair.version(chosen, &self.keys, known)?;
            let [without, with] = &pair.ranks;
            let rank = if pair.whole.is_some_and(chosen) { with } else { without };
            membership.has(&located).then(|| (rank.clone(), located.path, version))
        });
        versions.extend(edited);
        let rank = |rank: &DocumentRank| membership.rank(rank.repository);
        versions.sort_by(|(one, ..), (other, ..)| {
            rank(one).cmp(&rank(other)).then_with(|| one.cmp(other))
        });
        versions.into_iter().map(|(_, path, version)| (path, version)).collect()
    }
}

/// Where a document counts among those of both sides: documents of the head
/// by their place there, and those that are where they were on the base behind
/// the last one that stands before them on both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DocumentRank {
    repository: Option<usize>,
    path: RepoPath,
    /// The place of a document of the head, from one; of one of the base that
    /// of the document it stands behind.
    behind: usize,
    /// For a document of the base its place there, from one.
    below: usize,
}

impl DocumentRank {
    fn of(located: &Located<'_>) -> Self {
        let (repository, path) = (located.repository, located.path.clone());
        Self { repository, path, behind: located.index + 1, below: 0 }
    }
}

/// Gives the pairs their ranks.
fn rank(pairs: &mut [DocumentPair<'_>], moved: &[Moved]) {
    // By file and place on the base: the place on the head of what stayed.
    let mut stayed: BTreeMap<(Option<usize>, RepoPath, usize), usize> = BTreeMap::new();
    for (pair, moved) in pairs.iter().zip(moved) {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else { continue };
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
            DocumentRank { behind, below: base.index + 1, ..DocumentRank::of(base) }
        });
        pair.ranks = match (base, head, moved) {
            (Some(_), Some(head), Moved::Stayed) => [head.clone(), head],
            (Some(base), Some(head), Moved::Elsewhere) => [base, head],
            (Some(only), None, _) | (None, Some(only), _) => [only.clone(), only],
            (None, None, _) => continue,
        };
    }
}

/// Whether a document on both sides moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    /// It counts where it did.
    Stayed,
    /// It is in another place, or counts on the other side of a document
    /// between which and it the order decides.
    Elsewhere,
}

/// Which of the pairs moved.
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
        for rival in passing(rivals).into_iter().filter(|rival| rival.base != rival.head) {
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

/// One of several documents between which their order decides.
struct OrderRival<'l> {
    /// The pair that it is; none for a document that is the same on both
    /// sides.
    pair: Option<usize>,
    base: (Option<usize>, &'l RepoPath, usize),
    head: (Option<usize>, &'l RepoPath, usize),
}

/// Those between which and another one the order is not the same on both sides:
/// in the order of the base, what has a later one of the head before it, or an
/// earlier one behind it.
fn passing(mut rivals: Vec<OrderRival<'_>>) -> Vec<OrderRival<'_>> {
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
    let passing = rivals.into_iter().zip(passes).filter(|(_, passes)| *passes);
    passing.map(|(rival, _)| rival).collect()
}

/// What documents have in common between which their order decides.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum OrderContest<'l> {
    /// Of several policies the first counts.
    Policy,
    /// Of several documents of one schema and name one is read, and one
    /// replaces (`deckhand.md` 7 and 8.1).
    Name(&'l str, &'l str),
    /// Of several parents in a layer the first is taken (6.2): schema, layer,
    /// and a label.
    Label(&'l str, &'l str, String),
}

impl<'l> OrderContest<'l> {
    /// The schema of the documents; none where it does not matter.
    fn schema(&self) -> Option<&'l str> {
        match self {
            OrderContest::Policy => None,
            OrderContest::Name(schema, _) | OrderContest::Label(schema, ..) => Some(schema),
        }
    }
}

fn contests(document: Written<'_>) -> Vec<OrderContest<'_>> {
    // Parts count in the order of their paths, whatever is in them.
    let Written::Deckhand(document) = document else { return Vec::new() };
    let Triple { schema, name, layer } = &*document.key;
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

/// The documents on both sides between which their order decides. Groups in
/// which none is edited are left out.
fn rivals<'l>(
    pairs: &'l [DocumentPair<'_>],
    unedited: &'l [Located<'_>],
) -> Vec<Vec<OrderRival<'l>>> {
    let mut groups: BTreeMap<OrderContest<'l>, Vec<OrderRival<'l>>> = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else { continue };
        let of_head = contests(head.document);
        for contest in contests(base.document).into_iter().filter(|it| of_head.contains(it)) {
            let rival = OrderRival { pair: Some(at), base: base.order(), head: head.order() };
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
                group.push(OrderRival { pair: None, base: order, head: order });
            }
        }
    }
    groups.into_values().collect()
}

/// Whether an edit of the first document of a site definition decides which files make the
/// site.
fn redefines(edit: &Edit) -> bool {
    edit.part == Section::Whole || edit.kind == EditKind::Site
}

impl<'a> DocumentPair<'a> {
    /// Whether it is the first document of this file on one of the sides.
    fn is_first_of(&self, path: &RepoPath) -> bool {
        self.base.iter().chain(&self.head).any(|located| {
            located.path == path && located.index == 0 && located.repository.is_none()
        })
    }

    fn edits(&self) -> impl Iterator<Item = EditId> {
        self.whole.iter().chain(&self.parts).copied()
    }

    /// Whether edits of it show that `definition` defines another site.
    fn defines(&self, definition: &RepoPath, drafts: &[EditDraft]) -> bool {
        let is_redefining = |edit: EditId| redefines(&drafts[edit.index()].edit);
        self.is_first_of(definition) && self.edits().any(is_redefining)
    }

    /// The document as it is with the edits that are `chosen`, and where it
    /// lies then.
    fn version(
        &self,
        chosen: &dyn Fn(EditId) -> bool,
        keys: &ListKeys,
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
            let mut parts = self.parts.iter();
            let root = diff::combine(
                &base.document.root(),
                &head.document.root(),
                &keys.of_document(&head.document.key().schema),
                |_| {
                    let edit = *parts.next().expect("the differences are found as before");
                    if chosen(edit) { DiffSide::Head } else { DiffSide::Base }
                },
            );
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

    /// The pair with the edits that lead from one side to the other, which
    /// have no numbers yet: they are counted in `drafts`.
    fn drafted(
        mut self,
        moved: Moved,
        (unread, sites): (&UnreadEdits<'_>, &Sites<'_>),
        keys: &ListKeys,
        drafts: &mut Vec<EditDraft>,
    ) -> Self {
        let of_file = unread.edit_of_pair(&self).or_else(|| sites.edit_of_pair(&self));
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
        let found = diff::differences(&base.document.root(), &head.document.root(), &keys);
        // Text that an anchor makes stand in several places is edited once.
        let mut met: HashMap<(Vec<Span>, Vec<Span>), EditId> = HashMap::new();
        for difference in found {
            let draft = EditDraft::part(head, &difference);
            let covers = |text: &Option<Text>| {
                text.as_ref().map(|text| text.covers.clone()).unwrap_or_default()
            };
            let texts = (covers(&draft.edit.base), covers(&draft.edit.head));
            let edit = *met.entry(texts).or_insert_with(|| match of_file {
                Some(edit) => drafts[edit.index()].cover(edit, [draft.edit.base, draft.edit.head]),
                None => add(drafts, draft),
            });
            self.parts.push(edit);
        }
        self
    }
}

/// An edit that has no number yet, and what it is sorted by.
struct EditDraft {
    order: EditOrder,
    edit: Edit,
}

/// Repository, file, index of the document in it, whether the edit has a text in the head,
/// position, part and location. Positions on different sides are not compared: those behind
/// a secret depend on how long it is.
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
        let edit =
            Edit { kind, repository, document, part, location, items, base, head, unlisted: 0 };
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
            items: items.map(|item| Item { at: item.at - outside, ..item.clone() }).collect(),
            base: text(&difference.base),
            head: text(&difference.head),
            unlisted: difference.unlisted,
        };
        Self::new(head, edit)
    }

    /// Makes texts of both sides part of this edit, which is `edit`.
    fn cover(&mut self, edit: EditId, texts: [Option<Text>; 2]) -> EditId {
        for (covering, text) in [&mut self.edit.base, &mut self.edit.head].into_iter().zip(texts) {
            match (covering, text) {
                (Some(covering), Some(text)) => covering.covers.extend(text.covers),
                (covering @ None, Some(text)) => *covering = Some(Text { node: None, ..text }),
                (Some(_) | None, None) => {}
            }
        }
        edit
    }

    /// An edit of a file, called after its first document where one is given.
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
            Some(Text { at, covers, node: None })
        };
        let (base, head) = (text(file.base), text(file.head));
        let (part, location, items) = (Section::Whole, Location::root(), Vec::new());
        let repository = file.repository;
        let edit =
            Edit { kind, repository, document, part, location, items, base, head, unlisted: 0 };
        Self { order: (repository, file.path.clone(), 0, false, 0, part, String::new()), edit }
    }

    fn new(located: &Located<'_>, edit: Edit) -> Self {
        let place = edit.location.to_string();
        let (repository, path) = (located.repository, located.path.clone());
        let (is_in_head, start) = (edit.head.is_some(), edit.at().start);
        let order = (repository, path, located.index, is_in_head, start, edit.part, place);
        Self { order, edit }
    }
}

/// Gives the edits their numbers.
fn numbered<'a>(
    drafts: Vec<EditDraft>,
    mut pairs: Vec<DocumentPair<'a>>,
    mut files: Vec<(FileEdit<'a>, EditId)>,
    keys: ListKeys,
) -> Edits<'a> {
    let mut drafts: Vec<(usize, EditDraft)> = drafts.into_iter().enumerate().collect();
    drafts.sort_by(|(_, one), (_, other)| one.order.cmp(&other.order));
    let mut ids = vec![EditId(0); drafts.len()];
    for (id, (drafted, _)) in drafts.iter().enumerate() {
        ids[*drafted] = EditId::at(id);
    }
    let of_pairs = pairs.iter_mut().flat_map(|pair| pair.whole.iter_mut().chain(&mut pair.parts));
    for edit in of_pairs.chain(files.iter_mut().map(|(_, edit)| edit)) {
        *edit = ids[edit.index()];
    }
    let edits = drafts.into_iter().map(|(_, draft)| draft.edit).collect();
    Edits { edits, pairs, files, keys }
}

/// The key that a location begins with, if that is text.
fn first_key(location: &Location) -> Option<&str> {
    match location.0.first()? {
        Piece::Key(key) => key.as_str(),
        Piece::Index(_) => None,
    }
}

/// The part of a document that a location of it lies in, and where there.
fn part_of(location: &Location) -> (Section, Location) {
    let part = match first_key(location) {
        Some("data") => Section::Data,
        Some("metadata") => Section::Metadata,
        Some(_) | None => return (Section::Root, location.clone()),
    };
    (part, Location(location.0[1..].to_vec()))
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
    let orders = located.document.deckhand().is_some_and(|it| it.layer_order.is_some());
    let defines_site = located.path.as_str().ends_with("/site-definition.yaml");
    match (part, first) {
        (Section::Data, Some("layerOrder") | None) if orders => EditKind::Policy,
        // What another revision holds are edits of their own.
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
    Text { at: document.heading(), covers: vec![document.span()], node: None }
}

fn text_of(place: &diff::DiffPlace, difference: &Difference) -> Text {
    let node = &place.node;
    if let DifferenceKind::Order { .. } = difference.kind {
        let covers = inside(node).map(|name| name.span).collect();
        return Text { at: node.span, covers, node: Some(node.clone()) };
    }
    let at = match place.key {
        Some(key) if key.file == node.span.file && key.end <= node.span.start => key.to(node.span),
        Some(key) => key,
        None => node.span,
    };
    let mut spans = Vec::new();
    collect_texts(node, &mut HashSet::default(), &mut spans);
    Text { at, covers: outermost(at, spans), node: Some(node.clone()) }
}

/// These places in their order, without those inside one before them.
fn outermost(first: Span, spans: Vec<Span>) -> Vec<Span> {
    let mut covers = vec![first];
    // Ends of what is kept, by starts: of what begins before a place only the farthest end counts.
    let mut ends: BTreeMap<(FileId, u32), u32> =
        BTreeMap::from([((first.file, first.start), first.end)]);
    for span in spans {
        let mut before = ends.range((span.file, 0)..=(span.file, span.start));
        if before.next_back().is_some_and(|(_, end)| *end >= span.end) {
            continue;
        }
        covers.push(span);
        let farthest = ends.range((span.file, 0)..=(span.file, span.start)).next_back();
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

/// The spans of `node` and of what is in it; what is shared is looked into once.
fn collect_texts(node: &Node, known: &mut HashSet<usize>, spans: &mut Vec<Span>) {
    spans.push(node.span);
    if node.value.address().is_some_and(|address| !known.insert(address)) {
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

/// Which documents of the two sides are one: those of one file with one
/// identity; then those of one place; then, where there is one on each side,
/// those that moved elsewhere; then parts that say the same in files with
/// other names; then those of one file that are alike; and last those of one place that were
/// renamed.
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
        |it| Some((it.repository, place_name(it.place), it.document.key().clone())),
        PairingRule::InTurn,
    );
    // What came or went with a site did not move.
    open.pair_by(
        |it| sites.having(it).is_none().then(|| it.document.key().clone()),
        PairingRule::Alone,
    );
    open.pair_parts_of_other_files();
    open.pair_alike();
    open.pair_renamed();
    let UnpairedDocuments { base, head, mut pairs } = open;
    pairs.extend(base.into_iter().flatten().map(|only| DocumentPair::of(Some(only), None)));
    pairs.extend(head.into_iter().flatten().map(|only| DocumentPair::of(None, Some(only))));
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
        let nowhere =
            DocumentRank { repository: None, path: RepoPath::new(""), behind: 0, below: 0 };
        let ranks = [nowhere.clone(), nowhere];
        Self { base, head, ranks, whole: None, parts: Vec::new() }
    }
}

/// Documents that are not paired yet.
struct UnpairedDocuments<'a> {
    base: Vec<Option<Located<'a>>>,
    head: Vec<Option<Located<'a>>>,
    pairs: Vec<DocumentPair<'a>>,
}

/// How many documents of one identity may be paired.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairingRule {
    /// The first with the first, the second with the second.
    InTurn,
    /// Only where there is one on each side.
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
                self.pairs
                    .push(DocumentPair::of(self.base[*below].take(), self.head[*above].take()));
            }
        }
    }

    /// Whether a document may have moved: from the repository itself to a further one, or back.
    /// Other revisions of further repositories are those of other sites.
    fn may_move(&self, below: usize, above: usize) -> bool {
        let repository = |located: &Option<Located<'_>>| located.and_then(|it| it.repository);
        match (repository(&self.base[below]), repository(&self.head[above])) {
            (Some(base), Some(head)) => base == head,
            (None, _) | (_, None) => true,
        }
    }

    /// A file of parts that was renamed holds the parts that it held.
    fn pair_parts_of_other_files(&mut self) {
        /// With so many that look alike from afar a part is compared at most.
        const MOST: usize = 100;
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
            let says_the_same = |at: &&usize| {
                let head = self.head[**at].as_ref().filter(|head| is_part(head));
                head.is_some_and(|head| same(&base.document.root(), &head.document.root()))
            };
            if let Some(at) = alike.iter().take(MOST).find(says_the_same) {
                self.pairs.push(DocumentPair::of(below.take(), self.head[*at].take()));
            }
        }
    }

    /// A document that was given another name, layer or schema is still the
    /// document it was.
    fn pair_alike(&mut self) {
        /// Maximum number of documents with which one is compared.
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
            let mut candidates = alike.into_iter().filter_map(|at| Some((at, self.head[at]?)));
            let found = candidates.find(|(_, head)| are_alike(base.document, head.document));
            if let Some((at, head)) = found {
                for likeness in likenesses(&head) {
                    known.entry(likeness).or_default().remove(&at);
                }
                self.pairs.push(DocumentPair::of(below.take(), self.head[at].take()));
            }
        }
    }
}

impl UnpairedDocuments<'_> {
    /// A document of another name is the one it was, where most of its values are; where it has
    /// none that may be compared, the one at its place in its file.
    fn pair_renamed(&mut self) {
        self.pair_by(
            |it| {
                let values = values_of(it).filter(|values| !values.is_empty())?;
                Some((naming_place(it), values))
            },
            PairingRule::InTurn,
        );
        let (base, head) = (Nameless::by_place(&self.base), Nameless::by_place(&self.head));
        let mut renamings: Vec<Renaming> = base
            .iter()
            .filter_map(|(place, below)| Some((below, head.get(place)?)))
            .flat_map(|(below, above)| Renaming::between(below, above))
            .collect();
        renamings.sort_unstable();
        for renaming in renamings {
            let (below, above) = (&mut self.base[renaming.base], &mut self.head[renaming.head]);
            if below.is_some() && above.is_some() {
                self.pairs.push(DocumentPair::of(below.take(), above.take()));
            }
        }
    }
}

/// Repository, place, schema and layer: what a renamed document keeps.
type NamingPlace = (Option<usize>, (u8, Arc<str>), Arc<str>, Arc<str>);

fn naming_place(located: &Located<'_>) -> NamingPlace {
    let Triple { schema, layer, .. } = &**located.document.key();
    (located.repository, place_name(located.place), schema.clone(), layer.clone())
}

/// Values of a document by which it is known again under another name.
fn values_of(located: &Located<'_>) -> Option<Vec<u64>> {
    /// Maximum number of values of a document that are compared.
    const MAX_VALUES: usize = 1_000;
    located.document.deckhand()?;
    let data = located.document.data();
    let is_empty = match &data.value {
        Value::Null => true,
        Value::Mapping(entries) => entries.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => false,
    };
    Some(if is_empty { Vec::new() } else { diff::shown_values(data, MAX_VALUES) })
}

/// A document without its name.
struct Nameless<'a> {
    /// Its index among those of its side.
    at: usize,
    /// Its file, and its index in that.
    position: (&'a RepoPath, usize),
    values: Vec<u64>,
}

impl<'a> Nameless<'a> {
    fn by_place(side: &[Option<Located<'a>>]) -> BTreeMap<NamingPlace, Vec<Self>> {
        let mut by_place: BTreeMap<NamingPlace, Vec<Self>> = BTreeMap::new();
        for (at, located) in side.iter().enumerate() {
            let Some(located) = located else { continue };
            let Some(values) = values_of(located) else { continue };
            let position = (located.path, located.index);
            by_place.entry(naming_place(located)).or_default().push(Self { at, position, values });
        }
        by_place
    }

    /// How many thousandths of the values two documents have in common, if they are enough.
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

/// How many numbers two sorted lists have in common.
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

/// Two documents that may be one of another name; the most alike are sorted first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Renaming {
    /// How many thousandths of their values differ, and whether they are at different places of
    /// files.
    difference: (usize, bool),
    base: usize,
    head: usize,
}

impl Renaming {
    fn between(base: &[Nameless<'_>], head: &[Nameless<'_>]) -> Vec<Self> {
        /// Maximum distance of two documents that are compared, among those of their place.
        const MAX_DISTANCE: usize = 25;
        let mut found = Vec::new();
        for (at, below) in base.iter().enumerate() {
            let near = at.saturating_sub(MAX_DISTANCE)..head.len().min(at + MAX_DISTANCE + 1);
            for above in head.get(near).unwrap_or_default() {
                let Some(likeness) = below.likeness(above) else { continue };
                let difference = (1000 - likeness, below.position != above.position);
                found.push(Self { difference, base: below.at, head: above.at });
            }
        }
        found
    }
}

/// Common properties of documents that are alike: the file, and the schema or the name.
type Likeness<'a> = (Option<usize>, &'a RepoPath, bool, &'a str);

fn likenesses<'a>(located: &Located<'a>) -> [Likeness<'a>; 2] {
    let Triple { schema, name, .. } = &**located.document.key();
    let likeness = |is_name, text| (located.repository, located.path, is_name, text);
    [likeness(false, &**schema), likeness(true, &**name)]
}

/// What parts that say the same have in common: which of their file they are,
/// and how many entries they hold. None for what is no part.
fn outline(located: &Located<'_>) -> Option<(usize, usize)> {
    let data = located.document.data();
    let entries = data.as_mapping().map_or_else(
        || data.as_sequence().map_or(0, <[Node]>::len),
        |mapping| mapping.iter().count(),
    );
    is_part(located).then_some((located.index, entries))
}

fn are_alike(base: Written<'_>, head: Written<'_>) -> bool {
    let (Triple { schema, layer, name }, other) = (&**base.key(), head.key());
    let renamed =
        *schema == other.schema && !base.data().is_null() && same(base.data(), head.data());
    renamed || (*name == other.name && (*schema == other.schema || *layer == other.layer))
}
