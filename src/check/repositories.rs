//! The further repositories of a run: which revisions the sites read on each side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::load::{Loaded, Side};
use super::{Further, Plan};
use crate::source::{FileId, Span, UsedRepository, UsedRevision};
use crate::system::deckhand::layout::{Pin, Problem as LayoutProblem, Use};

/// A further repository as some sites are made of it: what is read of it on each side, by the
/// numbers of the further repositories of the run.
pub(super) struct Revisions {
    /// What is read on the base side; none where the sites do not use it there.
    pub(super) base: Option<usize>,
    /// What is read on the head side; none where the sites do not use it there.
    pub(super) head: Option<usize>,
    /// The sites.
    pub(super) sites: BTreeSet<Arc<str>>,
}

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Base,
    Head,
}

/// A file, and the further repository that it is in, by the number of its revisions.
pub(super) type LocatedFile = (Option<usize>, FileId);

impl Which {
    pub(super) fn other(self) -> Self {
        match self {
            Which::Base => Which::Head,
            Which::Head => Which::Base,
        }
    }
}

/// The numbers of the revisions of which this further repository is one; that of the repository
/// itself is none. Where sites use it on one side alone, its files count as the same on both.
pub(super) fn numbers_of(
    repository: Option<usize>,
    which: Which,
    revisions: &[Revisions],
) -> Vec<Option<usize>> {
    let Some(index) = repository else { return vec![None] };
    let read = |it: &Revisions| match which {
        Which::Base => it.base.or(it.head),
        Which::Head => it.head.or(it.base),
    };
    let numbers = revisions.iter().enumerate().filter(|(_, it)| read(it) == Some(index));
    numbers.map(|(number, _)| Some(number)).collect()
}

/// Pairs the further repositories that a site reads on the base side and on the head side: of one
/// name, in their order. Gives the numbers of their `revisions`, for each side.
pub(super) fn pair_revisions(
    revisions: &mut Vec<Revisions>,
    further: &[Further<'_>],
    site: Option<&Arc<str>>,
    [base, head]: [&[usize]; 2],
) -> [Vec<usize>; 2] {
    let mut open: Vec<Option<usize>> = head.iter().copied().map(Some).collect();
    let mut number_of = |base: Option<usize>, head: Option<usize>| {
        let known = revisions.iter().position(|it| (it.base, it.head) == (base, head));
        let number = known.unwrap_or_else(|| {
            revisions.push(Revisions { base, head, sites: BTreeSet::new() });
            revisions.len() - 1
        });
        revisions[number].sites.extend(site.cloned());
        number
    };
    let mut on_head: Vec<Option<usize>> = vec![None; head.len()];
    let mut on_base = Vec::new();
    for index in base {
        let is_it = |other: &Option<usize>| {
            other.is_some_and(|it| further[it].name == further[*index].name)
        };
        let at = open.iter().position(is_it);
        let number = number_of(Some(*index), at.and_then(|at| open[at].take()));
        on_base.push(number);
        if let Some(at) = at {
            on_head[at] = Some(number);
        }
    }
    let on_head = on_head.into_iter().zip(head);
    let on_head =
        on_head.map(|(known, index)| known.unwrap_or_else(|| number_of(None, Some(*index))));
    [on_base, on_head.collect()]
}

/// What a site reads of a further repository on one side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Nothing,
    /// What has this number among the further repositories.
    Files(usize),
    /// A revision that cannot be read.
    Unreadable(UsedRevision),
}

/// The further repositories of a run; those of which sites read the same are one.
pub(super) fn used_repositories(plan: &Plan<'_>, loaded: &Loaded) -> Vec<UsedRepository> {
    type Key = (Arc<str>, [Read; 2]);
    let mut used: BTreeMap<Key, UsedRepository> = BTreeMap::new();
    let wanted = loaded.sides().flat_map(|side| side.wanted(plan));
    let sites: BTreeSet<Arc<str>> = wanted.filter_map(|set| set.name.clone()).collect();
    for site in sites {
        let uses = |of_base: bool| -> &[Use] {
            let uses = plan.uses(of_base).filter(|_| !of_base || plan.base.is_some());
            uses.and_then(|uses| uses.get(&site)).map_or(&[], Vec::as_slice)
        };
        let sides = [uses(true), uses(false)];
        let names: BTreeSet<&Arc<str>> =
            sides.iter().flat_map(|it| it.iter()).map(|it| &it.name).collect();
        for name in names {
            let [base, head] = sides.map(|uses| uses.iter().find(|it| it.name == *name));
            let Some(given) = head.or(base).map(|it| it.given.clone()) else { continue };
            let read = |it: Option<&Use>| match it {
                None => Read::Nothing,
                Some(Use { found: Ok(index), .. }) => Read::Files(*index),
                Some(Use { found: Err(_), revision, .. }) => Read::Unreadable(revision.clone()),
            };
            let revision = |it: Option<&Use>| it.map(|it| it.revision.clone());
            let further = plan.further().iter().find(|it| it.name == given);
            let links = further.and_then(|it| it.links.clone());
            let repository = used.entry((given.clone(), [base, head].map(read)));
            let repository = repository.or_insert_with(|| UsedRepository {
                name: given,
                sites: BTreeSet::new(),
                base: revision(base),
                head: revision(head),
                history: None,
                pin: loaded.head.pin_of(&site, name, loaded),
                links,
            });
            repository.sites.insert(site.clone());
        }
    }
    let mut used: Vec<UsedRepository> = used.into_values().collect();
    used.sort_by(|one, other| (&one.name, &one.sites).cmp(&(&other.name, &other.sites)));
    used
}

impl Revisions {
    /// The number of these among the repositories that are reported, of which a site is in one
    /// of each name.
    pub(super) fn reported(&self, further: &[Further<'_>], used: &[UsedRepository]) -> usize {
        let name = self.head.or(self.base).map(|index| &further[index].name);
        let site = self.sites.first();
        let is_it = |it: &UsedRepository| {
            Some(&it.name) == name && site.is_some_and(|site| it.sites.contains(site))
        };
        used.iter().position(is_it).unwrap_or_default()
    }
}

impl Side {
    /// The names and pins of the repositories of a site that are not read.
    pub(super) fn unknown_repositories(
        &self,
        site: &str,
        loaded: &Loaded,
    ) -> BTreeSet<(Arc<str>, Option<Pin>)> {
        let missing = self.layout_problems.iter().filter_map(|problem| match problem {
            LayoutProblem::MissingRepository { name, sites } => {
                let is_of_site = sites.iter().any(|it| &*it.value == site);
                is_of_site.then(|| name.clone())
            }
            LayoutProblem::UnreadableRepository { site: of, repository, .. } => {
                (&**of == site).then(|| repository.name.value.clone())
            }
            _ => None,
        });
        let missing: BTreeSet<Arc<str>> = missing.collect();
        if missing.is_empty() {
            return BTreeSet::new();
        }
        let file = self.definition_of(site).and_then(|path| self.file_at(&path, loaded));
        let named = file.and_then(|file| loaded.repositories_of(file)).unwrap_or_default();
        let named = named.into_iter().filter(|it| missing.contains(&it.name.value));
        named.map(|it| (it.name.value, it.pin.map(|pin| pin.value))).collect()
    }

    /// Where the definition of a site pins the revision of a repository.
    fn pin_of(&self, site: &str, name: &str, loaded: &Loaded) -> Option<Span> {
        let file = self.file_at(&self.definition_of(site)?, loaded)?;
        let named = loaded.repositories_of(file)?;
        named.into_iter().find(|it| &*it.name.value == name)?.pin.map(|pin| pin.span)
    }
}
