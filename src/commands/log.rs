//! `layercake log`: commits that changed outputs, with these outputs.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use globset::GlobSet;

use super::documents::{DocumentGlobs, DocumentMatcher};
use super::history::{CommitIndex, HistoryRequest, RepositoryWithHistory, SiteHistory};
use super::{Selection, Workspace, configuration, globs, names};
use crate::check::{ProgressUnit, RunControl, Settings, SiteStates, StateAs, StatesAtHand, Work};
use crate::compare::Change;
use crate::error::{Error, ErrorKind};
use crate::report::View;
use crate::report::log::{CommitEffect, LogEnd, OutputEffect, SiteEffect, UnusableSite};
use crate::source::{DocKey, RepoPath};
use crate::yaml::diff::Difference;
use crate::yaml::path::Location;

/// Request for a log.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// Filter for outputs.
    pub documents: DocumentGlobs,
    /// Whether to omit commits that changed nothing.
    pub effective: bool,
    /// Range of the history.
    pub history: HistoryRequest,
}

/// Passes the requested commits to `found`, newest first, with the outputs that they changed, until
/// it returns false. A merge changes an output if a value in it differs from all parents. Returns
/// whether there are more.
///
/// # Errors
/// Without a git repository, or if commits or files cannot be read.
pub fn run(
    selection: &Selection,
    request: &LogRequest,
    control: &RunControl,
    found: &mut dyn FnMut(CommitEffect) -> bool,
) -> Result<LogEnd, Error> {
    // A site may exist only in earlier commits.
    let workspace = Workspace::open(&Selection {
        sites: Vec::new(),
        ..selection.clone()
    })?;
    let repository = RepositoryWithHistory::find(selection)?;
    let Some(tip) = &repository.tip else {
        return Err(Error::new(
            ErrorKind::Git,
            "the repository has no commits yet",
        ));
    };
    let history = SiteHistory::open(&workspace, &repository, &request.history)?;
    let keys = configuration::list_keys(&workspace.configured.config, &[]);
    let settings = Settings {
        keys,
        work: Work::Render,
        ..Settings::default()
    };
    let states = SiteStates::new(
        workspace.options.clone(),
        settings,
        None,
        BTreeSet::new(),
        control.clone(),
    );
    let filter = Filter {
        sites: globs(&selection.sites)?,
        documents: request.documents.matcher()?,
    };
    let (unusable, seen) = (BTreeMap::new(), SeenNames::default());
    let mut walk = LogWalk {
        history,
        states,
        filter,
        unusable,
        seen,
    };
    walk.look_at_newest(tip)?;
    let ids = walk.history.ids(tip)?;
    control
        .progress
        .begin(ProgressUnit::Commits, Some(ids.len()));
    let mut left = request.history.limit.unwrap_or(usize::MAX);
    for ids in ids.chunks(COMMITS_AT_ONCE) {
        if request.history.stop.is_cancelled() {
            return Ok(LogEnd::Interrupted);
        }
        for effect in walk.effects(ids)? {
            if left == 0 {
                return Ok(LogEnd::Limited);
            }
            left -= usize::from(effect.is_effective());
            walk.seen.add_outputs(&effect);
            let is_listed = effect.is_effective() || !request.effective;
            if is_listed && !found(effect) {
                return Ok(LogEnd::Interrupted);
            }
        }
        control.progress.add(ProgressUnit::Commits, ids.len());
    }
    walk.seen.ensure_matched(&selection.sites, request)?;
    Ok(LogEnd::Whole)
}

/// Names in the requested commits.
#[derive(Default)]
struct SeenNames {
    sites: BTreeSet<Arc<str>>,
    outputs: BTreeSet<DocKey>,
}

impl SeenNames {
    fn add_outputs(&mut self, effect: &CommitEffect) {
        let outputs = effect.sites.iter().flat_map(|site| &site.outputs);
        self.outputs
            .extend(outputs.map(|output| output.document.clone()));
    }

    /// Checks that each filter matches something.
    fn ensure_matched(&self, sites: &[String], request: &LogRequest) -> Result<(), Error> {
        for glob in sites {
            let matcher = globs(std::slice::from_ref(glob))?;
            if !self
                .sites
                .iter()
                .any(|site| matcher.iter().any(|it| it.is_match(&**site)))
            {
                return Err(names::no_site(glob, self.sites.iter().map(|site| &**site)));
            }
        }
        request
            .documents
            .ensure_matched("rendered document", &self.outputs)
    }
}

/// Number of commits whose sites are processed together.
const COMMITS_AT_ONCE: usize = 32;

/// Maximum number of states of sites that are in memory together, unless one commit has more.
const MAX_STATES: usize = 64;

/// Filter for outputs.
struct Filter {
    sites: Option<GlobSet>,
    documents: DocumentMatcher,
}

impl Filter {
    fn has_site(&self, site: &str) -> bool {
        self.sites.as_ref().is_none_or(|globs| globs.is_match(site))
    }
}

struct LogWalk<'w> {
    history: SiteHistory<'w>,
    states: SiteStates,
    filter: Filter,
    /// Places of the faults in commits that cannot be rendered.
    unusable: BTreeMap<CommitIndex, Option<(RepoPath, u32)>>,
    seen: SeenNames,
}

/// A site in a commit, to compare with its earlier states.
#[derive(Clone, Copy)]
struct SiteTask {
    /// Index among the current commits.
    at: usize,
    head: CommitIndex,
}

impl LogWalk<'_> {
    /// Loads the sites of the newest commit, which decide what is secret in all others.
    fn look_at_newest(&mut self, tip: &str) -> Result<(), Error> {
        let mut states = Vec::new();
        for site in self.sites(tip)? {
            let index = self.history.first_equal(tip, Some(&site))?;
            states.push(self.history.state(index)?);
        }
        if states.is_empty() {
            return Ok(());
        }
        let is_filtered = !self.filter.documents.matches_all();
        let outputs = &mut self.seen.outputs;
        self.states
            .look(&states, self.history.further(), |at_hand| {
                for index in (0..states.len()).filter(|_| is_filtered) {
                    if let StateAs::Site(site) = at_hand.state(index) {
                        outputs.extend(site.graph.outputs().map(|(_, recipe)| recipe.key.clone()));
                    }
                }
            })
    }

    /// Effects of these commits.
    fn effects(&mut self, ids: &[String]) -> Result<Vec<CommitEffect>, Error> {
        let mut effects = Vec::new();
        let mut tasks = VecDeque::new();
        for (at, id) in ids.iter().enumerate() {
            let commit = self.history.commit_at(id, None)?;
            let commit = self.history.commit(commit).commit.clone();
            effects.push(CommitEffect::of(commit.expect("a commit was requested")));
            for site in self.sites(id)? {
                let head = self.history.commit_at(id, Some(&site))?;
                if self.history.equal_parent(head)?.is_none() {
                    tasks.push_back(SiteTask { at, head });
                }
            }
        }
        while !tasks.is_empty() {
            self.advance(&mut tasks, &mut effects)?;
        }
        for effect in &mut effects {
            effect.sites.sort_by(|one, other| one.site.cmp(&other.site));
        }
        Ok(effects)
    }

    /// Requested sites of a commit, and those that it removed.
    fn sites(&mut self, id: &str) -> Result<BTreeSet<Arc<str>>, Error> {
        let mut sites = BTreeSet::clone(&*self.history.sites(id)?);
        let mut gone: Option<BTreeSet<Arc<str>>> = None;
        for parent in self.history.parents_of(id)? {
            let of_parent = self.history.sites(&parent)?;
            gone = Some(match gone {
                None => of_parent.difference(&sites).cloned().collect(),
                Some(gone) => gone.intersection(&of_parent).cloned().collect(),
            });
        }
        let mut gone = gone.unwrap_or_default();
        // A renamed site is not removed.
        let renamed = if gone.is_empty() {
            BTreeSet::new()
        } else {
            sites.clone()
        };
        for site in renamed {
            let index = self.history.commit_at(id, Some(&site))?;
            for parent in &*self.history.parents(index)? {
                if let Some(before) = &self.history.commit(*parent).site {
                    gone.remove(before);
                }
            }
        }
        sites.extend(gone);
        self.seen.sites.extend(sites.iter().cloned());
        sites.retain(|site| self.filter.has_site(site));
        Ok(sites)
    }

    /// Processes as many tasks as fit in memory together, and returns the others.
    fn advance(
        &mut self,
        tasks: &mut VecDeque<SiteTask>,
        effects: &mut [CommitEffect],
    ) -> Result<(), Error> {
        let mut chosen: Vec<(SiteTask, Bases)> = Vec::new();
        let mut commits: BTreeSet<CommitIndex> = BTreeSet::new();
        while let Some(task) = tasks.front().copied() {
            let bases = self.bases(task.head)?;
            commits.extend(bases.known.iter().copied().chain([task.head]));
            if commits.len() > MAX_STATES && !chosen.is_empty() {
                break;
            }
            tasks.pop_front();
            chosen.push((task, bases));
        }
        let wanted = chosen
            .iter()
            .flat_map(|(task, bases)| bases.known.iter().chain([&task.head]));
        let mut commits: Vec<CommitIndex> = wanted.copied().collect();
        // Adjacent states of a site share most of their relations.
        commits.sort_by_key(|index| {
            let commit = self.history.commit(*index);
            (
                commit.site.clone(),
                std::cmp::Reverse(commit.time()),
                *index,
            )
        });
        commits.dedup();
        let mut states = Vec::with_capacity(commits.len());
        for commit in &commits {
            states.push(self.history.state(*commit)?);
        }
        let indexes: HashMap<CommitIndex, usize> = commits
            .iter()
            .enumerate()
            .map(|(at, commit)| (*commit, at))
            .collect();
        let Self {
            history,
            states: site_states,
            filter,
            unusable,
            ..
        } = self;
        site_states.look(&states, history.further(), |at_hand| {
            let (sources, secrets, opaque) = at_hand.texts();
            let view = View::new(sources, &secrets, &opaque);
            for commit in &commits {
                match at_hand.state(indexes[commit]) {
                    StateAs::Unusable(at) => {
                        unusable.insert(*commit, Some(at_hand.file_and_line(at)));
                    }
                    StateAs::Failed => drop(unusable.insert(*commit, None)),
                    StateAs::Site(_) | StateAs::Absent => {}
                }
            }
            for (task, bases) in chosen {
                if bases.known.iter().any(|base| unusable.contains_key(base)) {
                    tasks.push_back(task);
                    continue;
                }
                let site = history.commit(task.head).site.clone().unwrap_or_default();
                let effect = &mut effects[task.at];
                if let Some(at) = unusable.get(&task.head) {
                    effect.unusable.push(UnusableSite {
                        site,
                        at: at.clone(),
                    });
                    continue;
                }
                let head = indexes[&task.head];
                let outputs = if bases.known.is_empty() && !history.commit(task.head).is_cut() {
                    added(at_hand, head, filter)
                } else {
                    let known = bases.known.iter().map(|base| indexes[base]);
                    changed(at_hand, head, known, filter, &view)
                };
                let before = bases
                    .known
                    .first()
                    .and_then(|base| history.commit(*base).site.clone());
                if !outputs.is_empty() {
                    let is_renamed = before.as_ref() != Some(&site);
                    let renamed_from = before.filter(|_| is_renamed);
                    let passed_over = bases.passed_over;
                    let passed_over = passed_over
                        .iter()
                        .filter_map(|it| history.commit(*it).commit.as_ref());
                    let passed_over = passed_over.map(|commit| commit.id.clone()).collect();
                    effect.sites.push(SiteEffect {
                        site,
                        renamed_from,
                        passed_over,
                        outputs,
                    });
                }
            }
        })
    }

    /// Commits to compare a site with: its parents, or their nearest ancestors that can be
    /// rendered.
    fn bases(&mut self, head: CommitIndex) -> Result<Bases, Error> {
        let mut bases = Bases::default();
        let mut open: Vec<CommitIndex> = vec![head];
        while let Some(commit) = open.pop() {
            let mut next = Vec::new();
            for parent in &*self.history.parents(commit)? {
                if bases.known.contains(parent) || bases.passed_over.contains(parent) {
                    continue;
                }
                if self.unusable.contains_key(parent) {
                    bases.passed_over.push(*parent);
                    next.push(*parent);
                } else {
                    bases.known.push(*parent);
                }
            }
            open.extend(next.into_iter().rev());
        }
        Ok(bases)
    }
}

#[derive(Default)]
struct Bases {
    known: Vec<CommitIndex>,
    passed_over: Vec<CommitIndex>,
}

/// Keeps the differences of an output at which it also differs from another base. Returns whether
/// any are left, or the change has no places.
fn intersect(change: &mut Change, other: &Change) -> bool {
    let overlap =
        |one: &Location, other: &Location| one.starts_with(other) || other.starts_with(one);
    let differs = |others: &[Difference], one: &Difference| {
        others
            .iter()
            .any(|other| overlap(one.location(), other.location()))
    };
    let is_at_once = change.data.is_empty() && change.metadata.is_empty();
    change
        .data
        .retain(|difference| differs(&other.data, difference));
    change
        .metadata
        .retain(|difference| differs(&other.metadata, difference));
    is_at_once || !change.data.is_empty() || !change.metadata.is_empty()
}

/// Outputs in which something differs from every base.
fn changed(
    at_hand: &StatesAtHand<'_>,
    head: usize,
    bases: impl Iterator<Item = usize>,
    filter: &Filter,
    view: &View<'_>,
) -> Vec<OutputEffect> {
    let mut outputs: Option<Vec<Change>> = None;
    for base in bases {
        let mut of_base = Vec::new();
        at_hand.changes(base, head, |changes| {
            of_base.extend(
                changes
                    .into_iter()
                    .filter(|change| filter.documents.matches(&change.key)),
            );
            Vec::new()
        });
        outputs = Some(match outputs {
            None => of_base,
            Some(mut outputs) => {
                let others: BTreeMap<&DocKey, &Change> =
                    of_base.iter().map(|it| (&it.key, it)).collect();
                outputs.retain_mut(|output| {
                    others
                        .get(&output.key)
                        .is_some_and(|other| intersect(output, other))
                });
                outputs
            }
        });
    }
    let outputs = outputs.into_iter().flatten();
    outputs
        .map(|change| OutputEffect::new(change, view))
        .collect()
}

/// Outputs of a first commit.
fn added(at_hand: &StatesAtHand<'_>, head: usize, filter: &Filter) -> Vec<OutputEffect> {
    let StateAs::Site(site) = at_hand.state(head) else {
        return Vec::new();
    };
    let outputs = site
        .graph
        .outputs()
        .filter(|(doc, _)| site.rendered.data(*doc).is_some());
    let keys = outputs
        .map(|(_, recipe)| &recipe.key)
        .filter(|key| filter.documents.matches(key));
    keys.cloned().map(OutputEffect::added).collect()
}
