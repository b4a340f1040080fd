//! Further repositories of a run: the revisions that the sites read on each side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::load::{Loaded, LoadedSide};
use super::{Plan, Which};
use crate::source::{Span, UsedRepository, UsedRevision};
use crate::system::deckhand::layout::{LayoutProblem, Pin, Use};

/// A further repository as a site reads it on one side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RepositoryRead {
    Nothing,
    /// Index among the further repositories.
    Files(usize),
    /// An unreadable revision.
    Unreadable(UsedRevision),
}

/// Further repositories of a run. Sites that read the same revisions share one entry.
pub(super) fn used_repositories(plan: &Plan, loaded: &Loaded) -> Vec<UsedRepository> {
    type Key = (Arc<str>, [RepositoryRead; 2]);
    let mut used: BTreeMap<Key, UsedRepository> = BTreeMap::new();
    let wanted = loaded.sides().flat_map(|side| side.wanted(plan));
    let sites: BTreeSet<Arc<str>> = wanted.filter_map(|set| set.name.clone()).collect();
    for site in sites {
        let sides = [Which::Base, Which::Head]
            .map(|which| plan.uses(which)?.get(&site))
            .map(|uses| uses.map_or(&[][..], Vec::as_slice));
        let names: BTreeSet<&Arc<str>> = sides
            .iter()
            .flat_map(|it| it.iter())
            .map(|it| &it.name)
            .collect();
        for name in names {
            let [base, head] = sides.map(|uses| uses.iter().find(|it| it.name == *name));
            let Some(given) = head.or(base).map(|it| it.given.clone()) else {
                continue;
            };
            let read = |it: Option<&Use>| match it {
                None => RepositoryRead::Nothing,
                Some(Use {
                    found: Ok(index), ..
                }) => RepositoryRead::Files(*index),
                Some(Use {
                    found: Err(_),
                    revision,
                    ..
                }) => RepositoryRead::Unreadable(revision.clone()),
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

impl LoadedSide {
    /// Names and pins of a site's repositories that are not read.
    pub(super) fn unknown_repositories(&self, site: &str) -> BTreeSet<(&str, Option<&Pin>)> {
        let missing = self
            .layout_problems
            .iter()
            .filter_map(|problem| match problem {
                LayoutProblem::MissingRepository { sites, .. } => {
                    let (_, named) = sites.iter().find(|(of, _)| &**of == site)?;
                    Some(named)
                }
                LayoutProblem::UnreadableRepository {
                    site: of,
                    repository,
                    ..
                } => (&**of == site).then_some(repository),
                _ => None,
            });
        missing
            .map(|it| (&*it.name.value, it.pin.as_ref().map(|pin| &pin.value)))
            .collect()
    }

    /// Place where the definition of a site pins the revision of a repository.
    fn pin_of(&self, site: &str, name: &str, loaded: &Loaded) -> Option<Span> {
        let file = self.file_at(&self.definition_of(site)?, loaded)?;
        let named = loaded.repositories_of(file)?;
        named
            .into_iter()
            .find(|it| &*it.name.value == name)?
            .pin
            .map(|pin| pin.span)
    }
}
