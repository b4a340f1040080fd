//! Both sides of a run after reading: paired sites, and the edits between them.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::files::{PartFile, SideFile};
use super::load::{Loaded, LoadedSide, SetFiles, files_of_several};
use super::{Further, Plan, Which};
use crate::compare::reach::SiteReach;
use crate::diagnostic::Diagnostic;
use crate::render::FileSet;
use crate::rules::FailedStep;
use crate::source::{FileId, RepoPath, UsedRepository};
use crate::system::Written;
use crate::system::deckhand::layout::{Place, SiteScope};
use crate::system::edits::files::{FileEdit, FileEditCause, SitePlaces};
use crate::system::edits::{Located, Membership};

/// Both sides of a run.
pub(super) struct Sides<'a> {
    pub(super) plan: &'a Plan,
    pub(super) loaded: &'a Loaded,
    pub(super) base: &'a LoadedSide,
    pub(super) head: &'a LoadedSide,
    /// Requested sites, sorted by name.
    pub(super) pairs: Vec<SetPair<'a>>,
    /// Further repositories of the sites.
    pub(super) revisions: AllRevisions,
    /// Folders of a site that was renamed: base side, head side.
    renamed: Option<[&'a Place; 2]>,
}

/// Documents of both sides, grouped by whether their files are equal.
pub(super) struct Documents<'a> {
    pub(super) unedited: Vec<Located<'a>>,
    pub(super) base: Vec<Located<'a>>,
    pub(super) head: Vec<Located<'a>>,
    /// Files that differ between the sides.
    pub(super) edited: BTreeSet<LocatedFile>,
}

impl<'a> Documents<'a> {
    pub(super) fn of(sides: &Sides<'a>) -> Self {
        let [base, head] = [Which::Base, Which::Head].map(|which| -> BTreeSet<LocatedFile> {
            sides.files(which).map(|(file, _)| file).collect()
        });
        let shared: BTreeSet<LocatedFile> = base.intersection(&head).copied().collect();
        let of = |which: Which, is_shared: bool| {
            let wanted = |file: LocatedFile| shared.contains(&file) == is_shared;
            let mut located = sides.located(which, &wanted);
            let other = sides.side(which.other());
            let others = other.reads();
            let is_wanted = |file: &&PartFile| others.contains(&file.identity()) == is_shared;
            let parts = sides.side(which).parts.iter().filter(is_wanted);
            located.extend(parts.flat_map(PartFile::located));
            located
        };
        Self {
            unedited: of(Which::Head, true),
            base: of(Which::Base, false),
            head: of(Which::Head, false),
            edited: base.symmetric_difference(&head).copied().collect(),
        }
    }
}

/// An edited file that may be unreadable.
#[derive(Default)]
struct UnreadFile<'a> {
    sides: [Option<FileId>; 2],
    places: Vec<Option<&'a Place>>,
}

/// A site on each side that has it.
pub(super) struct SetPair<'a> {
    pub(super) name: Option<Arc<str>>,
    pub(super) base: Option<&'a SetFiles>,
    pub(super) head: Option<&'a SetFiles>,
    /// Indices of the revisions of further repositories, by side.
    repositories: [Vec<usize>; 2],
}

impl SetPair<'_> {
    /// Whether the site is made of the same kinds of files on both sides.
    fn is_made_alike(&self) -> bool {
        match (self.base, self.head) {
            (Some(base), Some(head)) => {
                let [on_base, on_head] = &self.repositories;
                base.site_type == head.site_type && on_base == on_head
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Membership of files in the site on the base side and on the head side, without parts.
    pub(super) fn memberships(&self) -> [Option<Membership>; 2] {
        let of = |set: Option<&SetFiles>, repositories: &Vec<usize>| {
            let membership = set?.membership(repositories.clone());
            Some(Membership {
                scope: SiteScope {
                    site: self.name.clone(),
                    ..membership.scope
                },
                ..membership
            })
        };
        let [base, head] = &self.repositories;
        [of(self.base, base), of(self.head, head)]
    }

    /// Site type, from the head side if possible.
    pub(super) fn site_type(&self) -> Option<Arc<str>> {
        self.head.or(self.base)?.site_type.clone()
    }

    /// Reach of the site with its number of outputs on the base side and on the head side.
    pub(super) fn reach(&self, [base, head]: [Option<usize>; 2]) -> SiteReach {
        SiteReach {
            site: self.name.clone(),
            site_type: self.site_type(),
            base,
            head,
            is_read: true,
        }
    }

    /// Finding for an internal error at the site.
    pub(super) fn internal_error_finding(&self, step: FailedStep) -> Option<Diagnostic> {
        Some(self.head.or(self.base)?.internal_error_finding(step))
    }
}

/// Sites by the files that they read on either side.
struct SiteReaders<'a> {
    by_place: BTreeMap<Place, BTreeSet<&'a str>>,
    by_part: BTreeMap<&'a RepoPath, BTreeSet<&'a str>>,
    /// Whether a definition is unreadable, so that its site may read any file.
    are_unknown: bool,
}

impl<'a> SiteReaders<'a> {
    fn of(sides: [&'a LoadedSide; 2]) -> Self {
        let mut unread = sides.iter().flat_map(|side| side.unread_definitions());
        let mut readers = Self {
            by_place: BTreeMap::new(),
            by_part: BTreeMap::new(),
            are_unknown: unread.next().is_some(),
        };
        for set in sides.into_iter().flat_map(|side| &side.sets) {
            let Some(name) = set.name.as_deref() else {
                continue;
            };
            for place in set.scope().places() {
                readers.by_place.entry(place).or_default().insert(name);
            }
            for path in &set.part_paths {
                readers.by_part.entry(path).or_default().insert(name);
            }
        }
        readers
    }

    /// Files that only the site of `set` reads.
    fn alone(&self, set: &SetFiles) -> SitePlaces {
        let is_alone = |readers: Option<&BTreeSet<&str>>| {
            !self.are_unknown && readers.is_some_and(|readers| readers.len() == 1)
        };
        let places = set
            .scope()
            .places()
            .filter(|place| matches!(place, Place::Site(_)) || is_alone(self.by_place.get(place)));
        let parts = set
            .part_paths
            .iter()
            .filter(|path| is_alone(self.by_part.get(path)));
        SitePlaces {
            places: places.collect(),
            parts: parts.cloned().collect(),
        }
    }
}

impl<'a> Sides<'a> {
    pub(super) fn of(plan: &'a Plan, loaded: &'a Loaded) -> Self {
        let (base, head) = (loaded.base.as_ref().unwrap_or(&loaded.head), &loaded.head);
        let (pairs, revisions) = pairs(plan, [base, head]);
        Self {
            plan,
            loaded,
            base,
            head,
            pairs,
            revisions,
            renamed: None,
        }
    }

    /// Pairs two states of one site, which may have two names.
    pub(super) fn of_site(
        plan: &'a Plan,
        loaded: &'a Loaded,
        (base, before): (&'a LoadedSide, Option<&'a SetFiles>),
        (head, after): (&'a LoadedSide, Option<&'a SetFiles>),
    ) -> Self {
        let name = after.or(before).and_then(|set| set.name.clone());
        let mut revisions = AllRevisions::default();
        let of = |set: Option<&'a SetFiles>| set.map_or(&[][..], |set| &set.repositories);
        let read = [of(before), of(after)];
        let repositories = revisions.add_site(plan.further(), name.as_ref(), read);
        let pairs = vec![SetPair {
            name,
            base: before,
            head: after,
            repositories,
        }];
        let folder = |side: &'a LoadedSide, set: Option<&SetFiles>| {
            let name = set?.name.as_ref()?;
            let mut places = side.files.iter().filter_map(|file| file.place.as_ref());
            places.find(|place| matches!(place, Place::Site(site) if site == name))
        };
        let folders = folder(base, before).zip(folder(head, after));
        let renamed = folders.filter(|(before, after)| before != after);
        let renamed = renamed.map(|(before, after)| [before, after]);
        Self {
            plan,
            loaded,
            base,
            head,
            pairs,
            revisions,
            renamed,
        }
    }

    /// Files shared by several sites, on either side.
    pub(super) fn files_of_several(&self) -> FileSet {
        let sites = self.pairs.iter().enumerate();
        let sets = sites.flat_map(|(site, pair)| {
            pair.base
                .into_iter()
                .chain(pair.head)
                .map(move |set| (site, set))
        });
        files_of_several(sets)
    }

    fn side(&self, which: Which) -> &'a LoadedSide {
        match which {
            Which::Base => self.base,
            Which::Head => self.head,
        }
    }

    /// Files of a side. Files with parts are in no layer.
    fn files(&self, which: Which) -> impl Iterator<Item = (LocatedFile, Option<&'a SideFile>)> {
        let side = self.side(which);
        let documents = side.files.iter().flat_map(move |file| {
            let numbers = self.revisions.numbers_of(file.repository, which).iter();
            numbers.map(move |number| ((file.id, *number), Some(file)))
        });
        documents.chain(
            side.files_of_parts()
                .into_iter()
                .map(|file| ((file, None), None)),
        )
    }

    fn located(&self, which: Which, wanted: &dyn Fn(LocatedFile) -> bool) -> Vec<Located<'a>> {
        self.files(which)
            .filter(|(file, _)| wanted(*file))
            .filter_map(|((id, repository), file)| Some((id, repository, file?)))
            .flat_map(|(id, repository, file)| {
                let path = self.loaded.sources.get(id).path();
                let documents = self.loaded.file(id).documents.iter().enumerate();
                documents.map(move |(index, document)| Located {
                    repository,
                    path,
                    place: self.place_of(file),
                    index,
                    document: Written::Deckhand(document),
                })
            })
            .collect()
    }

    /// Sites that a file applies to, named as on the head side.
    fn place_of(&self, file: &'a SideFile) -> Option<&'a Place> {
        let place = file.place.as_ref();
        match self.renamed {
            Some([before, after]) if place == Some(before) => Some(after),
            _ => place,
        }
    }

    /// Edits without a document: of site definitions that change which files make the site, and of
    /// unreadable files.
    pub(super) fn file_edits(&self, edited: &BTreeSet<LocatedFile>) -> Vec<FileEdit<'a>> {
        let readers = LazyCell::new(|| SiteReaders::of([self.base, self.head]));
        let defined = self
            .pairs
            .iter()
            .filter(|pair| !pair.is_made_alike())
            .filter_map(|pair| {
                let name = pair.name.as_deref()?;
                let [base, head] = [self.base, self.head]
                    .map(|side| side.file_at(&side.definition_of(name)?, self.loaded));
                let (cause, alone) = match (pair.base, pair.head, base, head) {
                    (None, Some(set), None, Some(_)) => {
                        (FileEditCause::SiteAdded, readers.alone(set))
                    }
                    (Some(set), None, Some(_), None) => {
                        (FileEditCause::SiteRemoved, readers.alone(set))
                    }
                    _ => (FileEditCause::Definition, SitePlaces::default()),
                };
                let path = self.loaded.sources.get(head.or(base)?).path();
                let edit = FileEdit {
                    alone,
                    ..FileEdit::new(path, cause, [base, head])
                };
                (base != head).then_some(edit)
            });
        let unread = self.unread(edited);
        let known: BTreeSet<&RepoPath> = unread.iter().map(|file| file.path).collect();
        let unknown = self
            .pairs
            .iter()
            .filter_map(|pair| self.unknown_repositories(pair));
        let others = self
            .unfollowed()
            .chain(unknown)
            .filter(|file| !known.contains(file.path));
        let others: Vec<FileEdit<'a>> = others.collect();
        defined.chain(unread).chain(others).collect()
    }

    /// Edit of a site definition whose further repositories, or their revisions, are unreadable and
    /// differ between the sides.
    fn unknown_repositories(&self, pair: &SetPair<'a>) -> Option<FileEdit<'a>> {
        let name = pair.name.as_deref()?;
        let sides = [self.base, self.head];
        let unknown = sides.map(|side| side.unknown_repositories(name));
        if pair.base.is_none() || pair.head.is_none() || unknown[0] == unknown[1] {
            return None;
        }
        let [base, head] = sides.map(|side| side.file_at(&side.definition_of(name)?, self.loaded));
        let path = self.loaded.sources.get(head.or(base)?).path();
        let (is_unread, places) = (
            unknown.map(|unknown| !unknown.is_empty()),
            vec![self.head.place_of(head?)],
        );
        let edit = FileEdit::new(path, FileEditCause::Repository, [base, head]);
        Some(FileEdit {
            is_unread,
            places,
            ..edit
        })
    }

    /// Edits of unreadable files.
    fn unread(&self, edited: &BTreeSet<LocatedFile>) -> Vec<FileEdit<'a>> {
        let mut found: BTreeMap<(Option<usize>, &RepoPath), UnreadFile<'a>> = BTreeMap::new();
        for (at, which) in [Which::Base, Which::Head].into_iter().enumerate() {
            for ((id, repository), file) in self.files(which).filter(|(it, _)| edited.contains(it))
            {
                let source = self.loaded.sources.get(id);
                if source.decoded_from().is_none() {
                    let found = found.entry((repository, source.path())).or_default();
                    found.sides[at] = Some(id);
                    found.places.extend(file.map(|file| file.place.as_ref()));
                }
            }
        }
        let unread = found.into_iter().filter_map(|((repository, path), file)| {
            let UnreadFile { sides, places } = file;
            let is_unread = self.loaded.unread_sides(sides)?;
            let edit = FileEdit::new(path, FileEditCause::Unread, sides);
            Some(FileEdit {
                repository,
                is_unread,
                places,
                ..edit
            })
        });
        unread.collect()
    }

    /// Edits of files of parts that change what cloud-init uses and this program does not follow.
    fn unfollowed(&self) -> impl Iterator<Item = FileEdit<'a>> {
        let mut files: BTreeMap<&RepoPath, [Option<&PartFile>; 2]> = BTreeMap::new();
        for (at, side) in [self.base, self.head].into_iter().enumerate() {
            for file in &side.parts {
                files.entry(&file.path).or_default()[at] = Some(file);
            }
        }
        let sources = &self.loaded.sources;
        let edited = files.into_iter().filter(move |(_, sides)| {
            let [one, other] = sides.map(|file| file.map(PartFile::identity));
            if one == other {
                return false;
            }
            // What exceeds a limit may include files that differ.
            let mut read = sides.iter().flatten().map(|file| &file.read);
            if read.any(|read| read.exceeds_limit()) {
                return true;
            }
            let [base, head] = sides.map(|file| {
                file.map(|file| (file.read.unfollowed(sources), &file.read.unread[..]))
                    .unwrap_or_default()
            });
            base != head
        });
        edited.map(|(path, sides)| {
            let sides = sides.map(|file| file.map(|file| file.file));
            FileEdit::new(path, FileEditCause::Unread, sides)
        })
    }
}

/// Requested sites of both sides, sorted by name, and their further repositories.
fn pairs<'a>(plan: &Plan, [base, head]: [&'a LoadedSide; 2]) -> (Vec<SetPair<'a>>, AllRevisions) {
    let mut pairs: BTreeMap<Option<Arc<str>>, SetPair<'a>> = BTreeMap::new();
    let empty = |name: &Option<Arc<str>>| SetPair {
        name: name.clone(),
        base: None,
        head: None,
        repositories: [Vec::new(), Vec::new()],
    };
    for set in base.wanted(plan) {
        pairs
            .entry(set.name.clone())
            .or_insert_with(|| empty(&set.name))
            .base = Some(set);
    }
    for set in head.wanted(plan) {
        pairs
            .entry(set.name.clone())
            .or_insert_with(|| empty(&set.name))
            .head = Some(set);
    }
    let mut revisions = AllRevisions::default();
    for pair in pairs.values_mut() {
        let of = |set: Option<&'a SetFiles>| set.map_or(&[][..], |set| &set.repositories);
        let sides = [of(pair.base), of(pair.head)];
        pair.repositories = revisions.add_site(plan.further(), pair.name.as_ref(), sides);
    }
    (pairs.into_values().collect(), revisions)
}

/// A further repository as used by some sites: its index among the further repositories of the run,
/// on each side.
struct Revisions {
    /// `None` if the sites do not use it there.
    base: Option<usize>,
    /// `None` if the sites do not use it there.
    head: Option<usize>,
    sites: BTreeSet<Arc<str>>,
}

/// Further repositories of all sites, on both sides.
#[derive(Default)]
pub(super) struct AllRevisions {
    all: Vec<Revisions>,
    /// For each further repository, the indices of its revisions on the base side.
    on_base: BTreeMap<usize, Vec<Option<usize>>>,
    /// The same on the head side.
    on_head: BTreeMap<usize, Vec<Option<usize>>>,
}

/// A file with the index of its further repository's revision.
pub(super) type LocatedFile = (FileId, Option<usize>);

impl AllRevisions {
    /// Pairs the further repositories of a site on the base side and on the head side by name, in
    /// order. Returns the indices of their revisions for each side.
    fn add_site(
        &mut self,
        further: &[Arc<Further>],
        site: Option<&Arc<str>>,
        [base, head]: [&[usize]; 2],
    ) -> [Vec<usize>; 2] {
        let mut open: Vec<Option<usize>> = head.iter().copied().map(Some).collect();
        let mut on_head: Vec<Option<usize>> = vec![None; head.len()];
        let mut on_base = Vec::new();
        for index in base {
            let is_it = |other: &Option<usize>| {
                other.is_some_and(|it| further[it].name == further[*index].name)
            };
            let at = open.iter().position(is_it);
            let number = self.number(Some(*index), at.and_then(|at| open[at].take()), site);
            on_base.push(number);
            if let Some(at) = at {
                on_head[at] = Some(number);
            }
        }
        let on_head = on_head.into_iter().zip(head);
        let on_head = on_head
            .map(|(known, index)| known.unwrap_or_else(|| self.number(None, Some(*index), site)));
        let on_head = on_head.collect();
        [on_base, on_head]
    }

    /// Index of a pair of revisions; adds `site` to the sites that use it.
    fn number(
        &mut self,
        base: Option<usize>,
        head: Option<usize>,
        site: Option<&Arc<str>>,
    ) -> usize {
        let known = self
            .all
            .iter()
            .position(|it| (it.base, it.head) == (base, head));
        let number = known.unwrap_or_else(|| {
            let number = self.all.len();
            self.all.push(Revisions {
                base,
                head,
                sites: BTreeSet::new(),
            });
            // A repository that sites use on one side only is compared with itself.
            let (of_base, of_head) = (base.or(head), head.or(base));
            self.on_base
                .entry(of_base.expect("a side"))
                .or_default()
                .push(Some(number));
            self.on_head
                .entry(of_head.expect("a side"))
                .or_default()
                .push(Some(number));
            number
        });
        self.all[number].sites.extend(site.cloned());
        number
    }

    /// Indices of the revisions of a repository on this side; the main repository has none.
    fn numbers_of(&self, repository: Option<usize>, which: Which) -> &[Option<usize>] {
        let numbers = match which {
            Which::Base => &self.on_base,
            Which::Head => &self.on_head,
        };
        match repository {
            None => &[None],
            Some(index) => numbers.get(&index).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether a site uses these revisions. The main repository is used by every site.
    pub(super) fn are_of_site(&self, number: Option<usize>, site: Option<&Arc<str>>) -> bool {
        number.is_none_or(|number| site.is_some_and(|it| self.all[number].sites.contains(it)))
    }

    /// Index in `used` of each of these. A site uses at most one repository of a name.
    pub(super) fn reported(&self, further: &[Arc<Further>], used: &[UsedRepository]) -> Vec<usize> {
        let reported = self.all.iter().map(|it| {
            let name = it.head.or(it.base).map(|index| &further[index].name);
            let site = it.sites.first();
            let is_it = |used: &UsedRepository| {
                Some(&used.name) == name && site.is_some_and(|site| used.sites.contains(site))
            };
            used.iter().position(is_it).unwrap_or_default()
        });
        reported.collect()
    }
}
