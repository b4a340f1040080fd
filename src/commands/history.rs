//! History of a site: the commits that touch its files, each as a state of the site. Consecutive
//! commits without such a change count as one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use globset::GlobSet;

use super::repositories::Opening;
use super::sides::listed;
use super::{Project, Selection, configuration};
use crate::cancel::Cancel;
use crate::check::{self, Further, SiteState};
use crate::error::Error;
use crate::report::answer::blame::BlameEnd;
use crate::source::{
    CommitReader, ContentId, Excluding, LoggedCommit, RepoPath, Repository, SharedTree, Tree,
    WorkTree, seconds_of_date,
};
use crate::system::deckhand::layout::{Layout, SiteScope};

/// Range of a history.
#[derive(Clone, Debug)]
pub struct HistoryRequest {
    /// Revision or date; earlier commits are ignored.
    pub since: Option<String>,
    /// Whether to follow only the first parents of merges.
    pub first_parent: bool,
    /// Maximum number of commits to find.
    pub limit: Option<usize>,
    /// Current time, the base of relative dates.
    pub now: SystemTime,
    /// Ends the walk with the results so far.
    pub stop: Cancel,
}

/// A repository whose history is requested.
pub(super) struct RepositoryWithHistory {
    pub(super) repository: Repository,
    /// Folder in which layercake runs.
    pub(super) from: RepoPath,
    /// Id of the newest commit; `None` before the first one.
    pub(super) tip: Option<String>,
}

impl RepositoryWithHistory {
    /// Repository of a selection.
    ///
    /// # Errors
    /// If there is none, or no such revision.
    pub(super) fn find(selection: &Selection) -> Result<Self, Error> {
        let directory = selection.start();
        let repository = Repository::discover(directory)?.ok_or_else(|| {
            let message = format!("`{}` is not inside a git repository", directory.display());
            Error::git(message).with_help("`blame` and `log` need a git repository")
        })?;
        let from = repository.prefix_or_root(directory);
        let tip = match &selection.revision {
            Some(revision) => Some(repository.resolve(revision)?),
            None if repository.is_unborn() => None,
            None => Some(repository.resolve("HEAD")?),
        };
        Ok(Self {
            repository,
            from,
            tip,
        })
    }

    /// Requested range of the history before its newest commit.
    fn extent(&self, request: &HistoryRequest) -> Result<HistoryExtent, Error> {
        let HistoryRequest {
            since,
            first_parent,
            now,
            ..
        } = request;
        let start = match (since, &self.tip) {
            (None, _) | (_, None) => HistoryStart::First,
            (Some(since), Some(tip)) => match self.repository.resolve(since) {
                Ok(hidden) => {
                    let ids = self.repository.commits_since(&hidden, tip)?;
                    HistoryStart::Among(ids.into_iter().collect())
                }
                Err(error) => match seconds_of_date(since, *now) {
                    Some(time) => HistoryStart::Time(time),
                    None => return Err(error),
                },
            },
        };
        Ok(HistoryExtent {
            start,
            first_parent: *first_parent,
        })
    }
}

/// Index of a commit of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CommitIndex(usize);

/// A commit, with the site in it.
pub(super) struct SiteCommit {
    /// `None` for the working tree.
    pub(super) commit: Option<LoggedCommit>,
    /// Name of the site in the commit; `None` for a set without layout.
    pub(super) site: Option<Arc<str>>,
    /// Whether it is outside of the requested range; its parents are ignored.
    pub(super) is_beyond: bool,
    /// Site type in the commit, if known.
    site_type: Option<Arc<str>>,
    /// `None` for the working tree.
    inputs: Option<SiteInputs>,
    parents: Option<Arc<[CommitIndex]>>,
}

impl SiteCommit {
    /// Commit time; the working tree is newer than all commits.
    pub(super) fn time(&self) -> i64 {
        self.commit
            .as_ref()
            .map_or(i64::MAX, |commit| commit.committed)
    }

    /// Reason why nothing is known of earlier commits.
    pub(super) fn end(&self) -> BlameEnd {
        if self.is_cut() {
            BlameEnd::Cut
        } else if self.is_beyond {
            BlameEnd::Excluded
        } else {
            BlameEnd::First
        }
    }

    /// Whether its parents are missing in this clone.
    pub(super) fn is_cut(&self) -> bool {
        self.commit.as_ref().is_some_and(|commit| commit.is_cut)
    }
}

/// Ids of the files and folders that make the site.
type SiteInputs = Vec<Option<ContentId>>;

/// Start of the requested range of a history.
#[derive(Clone, Debug, Default)]
enum HistoryStart {
    /// At the first commit.
    #[default]
    First,
    /// One of these commits.
    Among(HashSet<String>),
    /// At this time, in seconds since 1970.
    Time(i64),
}

/// Range of the history.
#[derive(Clone, Debug, Default)]
struct HistoryExtent {
    start: HistoryStart,
    /// Whether to follow only the first parents of merges.
    first_parent: bool,
}

/// Commits of the history of a site found so far.
pub(super) struct SiteHistory<'w> {
    repository: &'w Repository,
    reader: CommitReader,
    extent: HistoryExtent,
    /// Possible folders of the site repository: the one in which layercake runs, and its parents.
    roots: Arc<[RepoPath]>,
    excluded: Option<GlobSet>,
    /// Whether a site consists only of its layers.
    is_by_site: bool,
    clones: Opening<'w>,
    commits: Vec<SiteCommit>,
    /// By id and site.
    known: HashMap<(String, Option<Arc<str>>), CommitIndex>,
    /// Site types by the ids of their definitions; `None` if a definition is unusable.
    types: HashMap<ContentId, Option<Arc<str>>>,
    /// Names of sites, by the ids of their folders.
    sites: HashMap<SiteInputs, Arc<BTreeSet<Arc<str>>>>,
    /// Inputs with symbolic links, which can lead to any file.
    with_links: HashSet<SiteInputs>,
    /// The site made of this repository, if this is a further one.
    held: Option<Box<HeldSite<'w>>>,
}

/// A site at a fixed commit, made of changing commits of a further repository.
struct HeldSite<'w> {
    history: SiteHistory<'w>,
    commit: CommitIndex,
    /// Name under which the further repository was given, and the index of its clone.
    given: Arc<str>,
    clone: usize,
}

/// Two commits of a further repository: the ones pinned before and after a commit of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PinChange {
    /// Name under which the repository was given.
    pub(super) given: Arc<str>,
    before: Arc<str>,
    after: Arc<str>,
}

impl<'w> SiteHistory<'w> {
    /// History of the repository of `project`.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(super) fn open(
        project: &'w Project,
        repository: &'w RepositoryWithHistory,
        request: &HistoryRequest,
    ) -> Result<Self, Error> {
        let extent = repository.extent(request)?;
        let RepositoryWithHistory {
            repository, from, ..
        } = repository;
        let excluded = configuration::glob_set(&project.configured.config.discover.exclude)?;
        let roots = folders_around(from.clone()).collect();
        let (is_by_site, clones) = (project.is_by_site(), project.repositories.opening());
        Ok(Self {
            excluded,
            is_by_site,
            clones,
            ..Self::over(repository, extent, roots)?
        })
    }

    /// A history without any commit so far.
    fn over(
        repository: &'w Repository,
        extent: HistoryExtent,
        roots: Arc<[RepoPath]>,
    ) -> Result<Self, Error> {
        Ok(Self {
            repository,
            reader: repository.commit_reader()?,
            extent,
            roots,
            excluded: None,
            is_by_site: true,
            clones: Opening::default(),
            commits: Vec::new(),
            known: HashMap::new(),
            types: HashMap::new(),
            sites: HashMap::new(),
            with_links: HashSet::new(),
            held: None,
        })
    }

    /// The same history, with only one commit.
    ///
    /// # Errors
    /// If the commit cannot be read.
    pub(super) fn again(&self, index: CommitIndex) -> Result<(Self, CommitIndex), Error> {
        let again = Self::over(self.repository, self.extent.clone(), self.roots.clone())?;
        let (excluded, clones) = (self.excluded.clone(), self.clones.again());
        let mut again = Self {
            excluded,
            is_by_site: self.is_by_site,
            clones,
            ..again
        };
        let SiteCommit { commit, site, .. } = &self.commits[index.0];
        let index = match commit {
            Some(commit) => again.commit_at(&commit.id, site.as_ref())?,
            None => again.work_tree(site.clone(), None)?,
        };
        Ok((again, index))
    }

    /// Further repositories whose pinned commit differs between a commit and an earlier one.
    ///
    /// # Errors
    /// If files cannot be listed.
    pub(super) fn pin_changes(
        &mut self,
        base: CommitIndex,
        head: CommitIndex,
    ) -> Result<Vec<PinChange>, Error> {
        let [before, after] = [self.pins(base)?, self.pins(head)?];
        let changes = after.into_iter().filter_map(|(given, after)| {
            let before = before.get(&given)?.clone();
            (before != after).then_some(PinChange {
                given,
                before,
                after,
            })
        });
        Ok(changes.collect())
    }

    /// Pinned commits of a site's further repositories, by their names.
    fn pins(&mut self, index: CommitIndex) -> Result<BTreeMap<Arc<str>, Arc<str>>, Error> {
        if self.clones.is_empty() {
            return Ok(BTreeMap::new());
        }
        let SiteState { uses, name, .. } = self.state(index)?;
        let uses = name
            .and_then(|name| uses.get(&name).cloned())
            .unwrap_or_default();
        Ok(uses
            .into_iter()
            .filter_map(|it| Some((it.given, it.revision.commit?)))
            .collect())
    }

    /// History of a further repository between two commits, for the site as in `commit` of its own
    /// history. `None` if the repository has no history.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(super) fn of_further(
        self,
        commit: CommitIndex,
        pins: &PinChange,
    ) -> Result<Option<Self>, Error> {
        let Some((clone, repository, inside)) = self.clones.clone_named(&pins.given) else {
            return Ok(None);
        };
        let ids = repository.commits_since(&pins.before, &pins.after)?;
        let start = HistoryStart::Among(ids.into_iter().collect());
        let first_parent = self.extent.first_parent;
        let held = HeldSite {
            history: self,
            commit,
            given: pins.given.clone(),
            clone,
        };
        let extent = HistoryExtent {
            start,
            first_parent,
        };
        let history = Self::over(repository, extent, [inside.clone()].into())?;
        Ok(Some(Self {
            held: Some(Box::new(held)),
            ..history
        }))
    }

    /// Commit after a change of pins.
    ///
    /// # Errors
    /// If the commit cannot be read.
    pub(super) fn after(&mut self, pins: &PinChange) -> Result<CommitIndex, Error> {
        let site = self
            .held
            .as_ref()
            .and_then(|held| held.history.commit(held.commit).site.clone());
        self.first_equal(&pins.after, site.as_ref())
    }

    /// The working tree, on top of the commit with this id, if there is one.
    ///
    /// # Errors
    /// If the commit cannot be read.
    pub(super) fn work_tree(
        &mut self,
        site: Option<Arc<str>>,
        head: Option<&str>,
    ) -> Result<CommitIndex, Error> {
        let mut parents = None;
        if let Some(head) = head {
            let name = self.name_in(head, None, site.as_ref())?;
            parents = Some(self.first_equal(head, name.as_ref())?);
        }
        self.commits.push(SiteCommit {
            commit: None,
            site,
            is_beyond: false,
            site_type: None,
            inputs: None,
            parents: Some(parents.into_iter().collect()),
        });
        Ok(CommitIndex(self.commits.len() - 1))
    }

    /// Earliest commit since which a site is equal to that in the commit with this id.
    ///
    /// # Errors
    /// If a commit cannot be read.
    pub(super) fn first_equal(
        &mut self,
        id: &str,
        site: Option<&Arc<str>>,
    ) -> Result<CommitIndex, Error> {
        let mut first = self.commit_at(id, site)?;
        while let Some(parent) = self.equal_parent(first)? {
            first = parent;
        }
        Ok(first)
    }

    /// A parent in which the site consists of the same files.
    ///
    /// # Errors
    /// If a commit cannot be read.
    pub(super) fn equal_parent(
        &mut self,
        index: CommitIndex,
    ) -> Result<Option<CommitIndex>, Error> {
        let site = self.commits[index.0].site.clone();
        for parent in self.parent_ids(index) {
            let parent = self.commit_at(&parent, site.as_ref())?;
            let [own, other] = [index, parent].map(|index| &self.commits[index.0]);
            if own.inputs == other.inputs && !other.is_beyond {
                return Ok(Some(parent));
            }
        }
        Ok(None)
    }

    /// Ids of the parents to follow.
    fn parent_ids(&self, index: CommitIndex) -> Vec<String> {
        let SiteCommit {
            commit, is_beyond, ..
        } = &self.commits[index.0];
        let Some(commit) = commit
            .as_ref()
            .filter(|commit| !is_beyond && !commit.is_cut)
        else {
            return Vec::new();
        };
        let most = if self.extent.first_parent {
            1
        } else {
            usize::MAX
        };
        commit.parents.iter().take(most).cloned().collect()
    }

    /// Commit with this id, and the site of this name in it.
    ///
    /// # Errors
    /// If the commit cannot be read.
    pub(super) fn commit_at(
        &mut self,
        id: &str,
        site: Option<&Arc<str>>,
    ) -> Result<CommitIndex, Error> {
        let key = (id.to_owned(), site.cloned());
        if let Some(index) = self.known.get(&key) {
            return Ok(*index);
        }
        let commit = self.reader.commit(id)?;
        let (inputs, site_type) = self.inputs(id, site.map(|site| &**site))?;
        let is_beyond = match &self.extent.start {
            HistoryStart::First => false,
            HistoryStart::Among(ids) => !ids.contains(id),
            HistoryStart::Time(time) => commit.committed < *time,
        };
        let index = CommitIndex(self.commits.len());
        self.commits.push(SiteCommit {
            commit: Some(commit),
            site: site.cloned(),
            is_beyond,
            site_type,
            inputs: Some(inputs),
            parents: None,
        });
        self.known.insert(key, index);
        Ok(index)
    }

    /// Ids of everything that decides the files of a site in a commit, and its site type.
    fn inputs(
        &mut self,
        id: &str,
        site: Option<&str>,
    ) -> Result<(SiteInputs, Option<Arc<str>>), Error> {
        if let (Some(held), Some(site)) = (&self.held, site) {
            let scope = SiteScope {
                site: Some(site.into()),
                site_type: held.history.commit(held.commit).site_type.clone(),
            };
            let folders = scope.folders(&self.roots[0]);
            let paths = folders.each_ref().map(RepoPath::as_str);
            return Ok((self.reader.contents(id, &paths)?, None));
        }
        let everything = |history: &Self| history.reader.contents(id, &[""]);
        let Some(site) = site.filter(|_| self.is_by_site) else {
            return Ok((everything(self)?, None));
        };
        let (mut inputs, mut known_type) = (SiteInputs::new(), None);
        for root in &*self.roots.clone() {
            let [_, _, sites] = SiteScope::default().folders(root);
            let own = sites.join(site);
            let definition = own.join(Layout::DEFINITION);
            let paths = [&sites, &definition].map(RepoPath::as_str);
            let found = self.reader.contents(id, &paths)?;
            let site_type = match found[1] {
                Some(content) => self.site_type(id, &own, content)?,
                None => None,
            };
            let scope = SiteScope {
                site: Some(site.into()),
                site_type: site_type.clone(),
            };
            let folders = scope.folders(root);
            let paths = folders.each_ref().map(RepoPath::as_str);
            inputs.extend(self.reader.contents(id, &paths)?);
            // For an outer folder it may depend on other sites of an inner one.
            inputs.push(found[0].filter(|_| !root.is_root()));
            known_type = known_type.or(site_type);
        }
        if self.with_links.contains(&inputs) {
            inputs = everything(self)?;
        }
        Ok((inputs, known_type))
    }

    /// Site type in the definition of a site whose folder is `own`.
    fn site_type(
        &mut self,
        id: &str,
        own: &RepoPath,
        definition: ContentId,
    ) -> Result<Option<Arc<str>>, Error> {
        if let Some(known) = self.types.get(&definition) {
            return Ok(known.clone());
        }
        let tree = self
            .reader
            .files(id, &|folder| is_on_the_way(folder, own.as_str()))?;
        let document = check::first_document(&tree, &own.join(Layout::DEFINITION));
        let site_type = document.as_ref().and_then(Layout::type_of).map(Arc::from);
        self.types.insert(definition, site_type.clone());
        Ok(site_type)
    }

    /// Previous states of the site, first parent first: for each parent, the earliest commit in
    /// which the site consists of the same files.
    ///
    /// # Errors
    /// If a commit cannot be read.
    pub(super) fn parents(&mut self, index: CommitIndex) -> Result<Arc<[CommitIndex]>, Error> {
        if let Some(known) = &self.commits[index.0].parents {
            return Ok(known.clone());
        }
        let mut parents = Vec::new();
        for parent in self.parent_ids(index) {
            let SiteCommit { commit, site, .. } = &self.commits[index.0];
            let site = self.name_in(&parent, commit.as_ref(), site.as_ref())?;
            let parent = self.first_equal(&parent, site.as_ref())?;
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        let parents: Arc<[CommitIndex]> = parents.into();
        self.commits[index.0].parents = Some(parents.clone());
        Ok(parents)
    }

    /// Name of `site` in a parent of `child`, which differs if the site was renamed. The child is
    /// the working tree if `None`.
    fn name_in(
        &self,
        parent: &str,
        child: Option<&LoggedCommit>,
        site: Option<&Arc<str>>,
    ) -> Result<Option<Arc<str>>, Error> {
        let (Some(name), None) = (site, &self.held) else {
            return Ok(site.cloned());
        };
        for root in &*self.roots {
            let sites = root.join("site");
            let own = sites.join(name);
            if self.reader.contents(parent, &[own.as_str()])?[0].is_some() {
                return Ok(site.cloned());
            }
            let list = |id: &str| self.reader.files(id, &|folder| is_around(folder, &sites));
            let contents = |tree: &dyn Tree| site_contents(tree, &sites, name);
            let after = match child {
                Some(commit) => contents(&list(&commit.id)?),
                None => contents(&WorkTree::compared(self.repository)?),
            };
            let found = renamed_site(&contents(&list(parent)?), &after, name);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(site.cloned())
    }

    /// A commit by its index.
    pub(super) fn commit(&self, index: CommitIndex) -> &SiteCommit {
        &self.commits[index.0]
    }

    /// Parents of a commit, if they were requested before.
    pub(super) fn known_parents(&self, index: CommitIndex) -> Option<&Arc<[CommitIndex]>> {
        self.commits[index.0].parents.as_ref()
    }

    /// State of the site in a commit.
    ///
    /// # Errors
    /// If the files cannot be listed.
    pub(super) fn state(&mut self, index: CommitIndex) -> Result<SiteState, Error> {
        let commit = self.commits[index.0].commit.as_ref();
        if let (Some(held), Some(commit)) = (&mut self.held, commit) {
            return held.state(&commit.id);
        }
        let tree = self.files(index)?;
        let name = self.commits[index.0].site.clone();
        let mut layout = match &name {
            Some(_) => Layout::discover(&tree, &self.roots[0])?,
            None => None,
        };
        let uses = layout
            .as_ref()
            .map(|layout| self.clones.side((&tree, layout)));
        if let (Some(layout), Some(name)) = (&mut layout, &name) {
            layout.keep_sites(&|site| *site == **name);
        }
        Ok(SiteState {
            tree,
            layout: layout.map(Arc::new),
            uses: Arc::new(uses.unwrap_or_default()),
            name,
        })
    }

    fn files(&mut self, index: CommitIndex) -> Result<SharedTree, Error> {
        let SiteCommit {
            commit,
            site,
            site_type,
            inputs,
            ..
        } = &self.commits[index.0];
        let tree: SharedTree = match (commit, site) {
            (None, Some(site)) if self.is_by_site => Arc::new(self.on_disk(site)?),
            (None, _) => Arc::new(WorkTree::compared(self.repository)?),
            (Some(commit), Some(site)) if self.is_by_site => {
                let is_listed = |folder: &str| self.is_read(folder, site, site_type.as_deref());
                let tree = self.reader.files(&commit.id, &is_listed)?;
                if tree.has_links() {
                    self.with_links.extend(inputs.clone());
                    Arc::new(self.reader.files(&commit.id, &|_| true)?)
                } else {
                    Arc::new(tree)
                }
            }
            (Some(commit), _) => Arc::new(self.reader.files(&commit.id, &|_| true)?),
        };
        Ok(match &self.excluded {
            Some(excluded) => Arc::new(Excluding::new(tree, excluded.clone())),
            None => tree,
        })
    }

    /// The working tree without the folders of other sites, unless a link may lead there.
    fn on_disk(&self, site: &Arc<str>) -> Result<WorkTree, Error> {
        let whole = WorkTree::compared(self.repository)?;
        let [root] = &*self.roots else {
            return Ok(whole);
        };
        let read = site.clone();
        let own = whole.limited(listed(root, move |other| *other == *read));
        let entries = own.entries(&RepoPath::new(""))?;
        let has_links = entries.iter().any(|entry| entry.is_link);
        Ok(if has_links { whole } else { own })
    }

    /// Whether a folder may be part of a site of this type.
    fn is_read(&self, folder: &str, site: &str, site_type: Option<&str>) -> bool {
        let folder = RepoPath::new(folder);
        self.roots.iter().any(|root| {
            let Some(below) = folder.below(root) else {
                return false;
            };
            let mut names = below.split('/');
            match (names.next(), names.next()) {
                (Some("site"), name) => name.is_none_or(|name| name == site),
                (Some("type"), name) => {
                    name.is_none_or(|name| site_type.is_none_or(|known| name == known))
                }
                (Some("global"), _) => true,
                _ => false,
            }
        }) || self.roots.contains(&folder)
    }

    /// Ids of a commit and its ancestors in range, newest first, children before parents.
    ///
    /// # Errors
    /// If a commit cannot be read.
    pub(super) fn ids(&mut self, tip: &str) -> Result<Vec<String>, Error> {
        let tip = self.commit_at(tip, None)?;
        let mut children = self.children(tip)?;
        let mut open = BinaryHeap::from([(self.commit(tip).time(), Reverse(tip))]);
        let mut ids = Vec::new();
        while let Some((_, Reverse(index))) = open.pop() {
            ids.extend(
                self.commit(index)
                    .commit
                    .as_ref()
                    .map(|commit| commit.id.clone()),
            );
            for parent in self.parent_ids(index) {
                let parent = self.commit_at(&parent, None)?;
                let Some(left) = children.get_mut(&parent) else {
                    continue;
                };
                *left -= 1;
                if *left == 0 {
                    open.push((self.commit(parent).time(), Reverse(parent)));
                }
            }
        }
        Ok(ids)
    }

    /// Number of children in range of a commit and its ancestors.
    fn children(&mut self, tip: CommitIndex) -> Result<HashMap<CommitIndex, usize>, Error> {
        let (mut open, mut children) = (vec![tip], HashMap::from([(tip, 0)]));
        while let Some(index) = open.pop() {
            for parent in self.parent_ids(index) {
                let parent = self.commit_at(&parent, None)?;
                if self.commit(parent).is_beyond {
                    continue;
                }
                let count = children.entry(parent).or_insert_with(|| {
                    open.push(parent);
                    0
                });
                *count += 1;
            }
        }
        Ok(children)
    }

    /// Ids of the parents to follow.
    ///
    /// # Errors
    /// If the commit cannot be read.
    pub(super) fn parents_of(&mut self, id: &str) -> Result<Vec<String>, Error> {
        let index = self.commit_at(id, None)?;
        Ok(self.parent_ids(index))
    }

    /// Names of the sites of a commit that have a folder.
    ///
    /// # Errors
    /// If the folders cannot be listed.
    pub(super) fn sites(&mut self, id: &str) -> Result<Arc<BTreeSet<Arc<str>>>, Error> {
        let folders: Vec<RepoPath> = self.roots.iter().map(|root| root.join("site")).collect();
        let paths: Vec<&str> = folders.iter().map(RepoPath::as_str).collect();
        let contents = self.reader.contents(id, &paths)?;
        if let Some(known) = self.sites.get(&contents) {
            return Ok(known.clone());
        }
        let is_listed = |folder: &str| {
            folders.iter().any(|sites| {
                let sites = sites.as_str();
                let below = folder
                    .strip_prefix(sites)
                    .and_then(|rest| rest.strip_prefix('/'));
                is_on_the_way(folder, sites) || below.is_some_and(|name| !name.contains('/'))
            })
        };
        let listed = self.reader.files(id, &is_listed)?;
        let mut layout = Layout::discover(&listed, &self.roots[0])?;
        // The target of a link may be in a folder that was not listed.
        if layout.as_ref().is_none_or(Layout::has_links) {
            layout = Layout::discover(&self.reader.files(id, &|_| true)?, &self.roots[0])?;
        }
        let sites = layout
            .iter()
            .flat_map(Layout::definitions)
            .map(|(site, _)| site.clone());
        let sites: Arc<BTreeSet<Arc<str>>> = Arc::new(sites.collect());
        if !layout.is_some_and(|layout| layout.has_links()) {
            self.sites.insert(contents, sites.clone());
        }
        Ok(sites)
    }

    /// Further repositories of the states.
    pub(super) fn further(&self) -> &[Arc<Further>] {
        self.held
            .as_ref()
            .map_or(&self.clones.further, |held| &held.history.clones.further)
    }
}

impl HeldSite<'_> {
    /// The site, made of a commit of the further repository.
    fn state(&mut self, commit: &str) -> Result<SiteState, Error> {
        let mut state = self.history.state(self.commit)?;
        let number = self.history.clones.at_commit(self.clone, commit)?;
        let uses = state
            .name
            .as_ref()
            .and_then(|name| Arc::make_mut(&mut state.uses).get_mut(name));
        for used in uses
            .into_iter()
            .flatten()
            .filter(|used| used.given == self.given)
        {
            used.found = Ok(number);
            used.revision.commit = Some(commit.into());
        }
        Ok(state)
    }
}

/// A folder and its parents, innermost first.
fn folders_around(folder: RepoPath) -> impl Iterator<Item = RepoPath> {
    let parent = |folder: &RepoPath| {
        let (parent, _) = folder.as_str().rsplit_once('/').unwrap_or_default();
        (!folder.is_root()).then(|| RepoPath::new(parent))
    };
    std::iter::successors(Some(folder), parent)
}

/// Whether a folder equals or contains the other, or is inside it.
fn is_around(folder: &str, other: &RepoPath) -> bool {
    is_on_the_way(folder, other.as_str()) || RepoPath::new(folder).below(other).is_some()
}

/// Whether a folder equals or contains the other.
fn is_on_the_way(folder: &str, other: &str) -> bool {
    folder.is_empty()
        || other
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Contents of the files of each site, and how many files have each.
type SiteContents = HashMap<Arc<str>, HashMap<ContentId, usize>>;

/// Contents of the files below `sites`. A working tree does not know them; there, only the files of
/// the site `name` are read.
fn site_contents(tree: &dyn Tree, sites: &RepoPath, name: &str) -> SiteContents {
    let mut contents = SiteContents::new();
    for entry in tree.entries(sites).unwrap_or_default() {
        let site = entry
            .path
            .below(sites)
            .and_then(|below| below.split('/').next());
        let Some(site) = site else { continue };
        let read = || tree.content_of(&tree.read(&entry.path).ok()?);
        let content = entry
            .content
            .or_else(|| if site == name { read() } else { None });
        let of_site = contents.entry(site.into()).or_default();
        if let Some(content) = content {
            *of_site.entry(content).or_default() += 1;
        }
    }
    contents
}

/// The site that was renamed to this name: it no longer exists, and at least half of the files are
/// equal (as git detects renames).
fn renamed_site(before: &SiteContents, after: &SiteContents, name: &str) -> Option<Arc<str>> {
    let own = after.get(name).filter(|own| !own.is_empty())?;
    let shared = |other: &HashMap<ContentId, usize>| -> usize {
        let both = own
            .iter()
            .filter_map(|(content, count)| Some(other.get(content)?.min(count)));
        both.sum()
    };
    let count = |files: &HashMap<ContentId, usize>| files.values().sum::<usize>();
    let gone = before.iter().filter(|(site, _)| !after.contains_key(*site));
    let alike = gone.map(|(site, other)| (shared(other), count(other), site));
    let alike = alike.filter(|(shared, all, _)| shared * 2 >= count(own).max(*all));
    alike
        .max_by_key(|(shared, _, site)| (*shared, (*site).clone()))
        .map(|(.., site)| site.clone())
}
