//! The further repositories of a run: which revisions the sites read on each side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::load::{Loaded, Side};
use super::{Further, Plan};
use crate::source::{FileId, Span, UsedRepository, UsedRevision};
use crate::system::deckhand::layout::{Pin, Problem as LayoutProblem, Use};

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Base,
    Head,
}

impl Which {
    pub(super) fn other(self) -> Self {
        match self {
            Which::Base => Which::Head,
            Which::Head => Which::Base,
        }
    }
}

/// A further repository as some sites are made of it: what is read of it on each side, by the
/// numbers of the further repositories of the run.
struct Revisions {
    /// None where the sites do not use it there.
    base: Option<usize>,
    /// None where the sites do not use it there.
    head: Option<usize>,
    sites: BTreeSet<Arc<str>>,
}

/// The further repositories of all sites, on both sides.
#[derive(Default)]
pub(super) struct AllRevisions {
    all: Vec<Revisions>,
    /// By further repository, the numbers of the revisions that it is on the base side of.
    on_base: BTreeMap<usize, Vec<Option<usize>>>,
    /// The same on the head side.
    on_head: BTreeMap<usize, Vec<Option<usize>>>,
}

/// A file, and the further repository that it is in, by the number of its revisions.
pub(super) type LocatedFile = (FileId, Option<usize>);

impl AllRevisions {
    /// Pairs the further repositories that a site reads on the base side and on the head side: of
    /// one name, in their order. Gives the numbers of their revisions, for each side.
    pub(super) fn add_site(
        &mut self,
        further: &[Further<'_>],
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

    /// The number of these revisions, of which `site` is made, too.
    fn number(
        &mut self,
        base: Option<usize>,
        head: Option<usize>,
        site: Option<&Arc<str>>,
    ) -> usize {
        let known = self.all.iter().position(|it| (it.base, it.head) == (base, head));
        let number = known.unwrap_or_else(|| {
            let number = self.all.len();
            self.all.push(Revisions { base, head, sites: BTreeSet::new() });
            // Where sites use it on one side alone, its files count as the same on both.
            let (of_base, of_head) = (base.or(head), head.or(base));
            self.on_base.entry(of_base.expect("a side")).or_default().push(Some(number));
            self.on_head.entry(of_head.expect("a side")).or_default().push(Some(number));
            number
        });
        self.all[number].sites.extend(site.cloned());
        number
    }

    /// The numbers of the revisions that a repository is on this side of; the repository itself
    /// has none.
    pub(super) fn numbers_of(&self, repository: Option<usize>, which: Which) -> &[Option<usize>] {
        let numbers = match which {
            Which::Base => &self.on_base,
            Which::Head => &self.on_head,
        };
        match repository {
            None => &[None],
            Some(index) => numbers.get(&index).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether a site is made of these revisions, as each is of the repository itself.
    pub(super) fn are_of_site(&self, number: Option<usize>, site: Option<&Arc<str>>) -> bool {
        number.is_none_or(|number| site.is_some_and(|it| self.all[number].sites.contains(it)))
    }

    /// For each of these its number among the repositories that are reported, of which a site is
    /// in one of each name.
    pub(super) fn reported(&self, further: &[Further<'_>], used: &[UsedRepository]) -> Vec<usize> {
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
        let sides = [Which::Base, Which::Head]
            .map(|which| plan.uses(which)?.get(&site))
            .map(|uses| uses.map_or(&[][..], Vec::as_slice));
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

impl Side {
    /// The names and pins of the repositories of a site that are not read.
    pub(super) fn unknown_repositories(&self, site: &str) -> BTreeSet<(&str, Option<&Pin>)> {
        let missing = self.layout_problems.iter().filter_map(|problem| match problem {
            LayoutProblem::MissingRepository { sites, .. } => {
                let (_, named) = sites.iter().find(|(of, _)| &**of == site)?;
                Some(named)
            }
            LayoutProblem::UnreadableRepository { site: of, repository, .. } => {
                (&**of == site).then_some(repository)
            }
            _ => None,
        });
        missing.map(|it| (&*it.name.value, it.pin.as_ref().map(|pin| &pin.value))).collect()
    }

    /// Where the definition of a site pins the revision of a repository.
    fn pin_of(&self, site: &str, name: &str, loaded: &Loaded) -> Option<Span> {
        let file = self.file_at(&self.definition_of(site)?, loaded)?;
        let named = loaded.repositories_of(file)?;
        named.into_iter().find(|it| &*it.name.value == name)?.pin.map(|pin| pin.span)
    }
}
