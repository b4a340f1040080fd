//! `layercake log`: commits that changed outputs, with these outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use super::blame::walk::{Before, CommitsAtHand, Done, Known, Walk};
use super::documents::{DocumentGlobs, DocumentMatcher};
use super::history::{CommitIndex, HistoryRequest, RepositoryWithHistory, SiteHistory};
use super::{Project, Selection, configuration, globs, names};
use crate::check::{ProgressUnit, RunControl, Settings, SiteStates, StateAs, StatesAtHand, Work};
use crate::compare::Change;
use crate::error::Error;
use crate::report::View;
use crate::report::answer::log::{CommitEffect, LogEnd, OutputEffect, SiteEffect, UnusableSite};
use crate::source::DocKey;
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
    let project = Project::open(&Selection {
        sites: Vec::new(),
        ..selection.clone()
    })?;
    let repository = RepositoryWithHistory::find(selection)?;
    let Some(tip) = &repository.tip else {
        return Err(Error::git("the repository has no commits yet"));
    };
    let history = SiteHistory::open(&project, &repository, &request.history)?;
    let keys = configuration::list_keys(&project.configured.config, &[]);
    let settings = Settings {
        keys,
        work: Work::Render,
        ..Settings::default()
    };
    let states = SiteStates::new(
        project.options.clone(),
        settings,
        None,
        BTreeSet::new(),
        control.clone(),
    );
    let filter = Filter {
        sites: globs(&selection.sites)?,
        documents: request.documents.matcher()?,
    };
    let mut walk = LogWalk {
        walk: Walk::of_each(history, states),
        filter,
        seen: SeenNames::default(),
    };
    walk.look_at_newest(tip)?;
    let ids = walk.walk.history.ids(tip)?;
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
    /// Follows the sites of the current commits, by their indexes, to the earlier states that they are
    /// compared with.
    walk: Walk<'w, usize>,
    filter: Filter,
    seen: SeenNames,
}

/// Effect of a commit on a site.
enum OnSite {
    Changed(SiteEffect),
    Unusable(UnusableSite),
}

impl LogWalk<'_> {
    /// Loads the sites of the newest commit, which decide what is secret in all others.
    fn look_at_newest(&mut self, tip: &str) -> Result<(), Error> {
        let mut commits = Vec::new();
        for site in self.sites(tip)? {
            commits.push(self.walk.history.first_equal(tip, Some(&site))?);
        }
        if commits.is_empty() {
            return Ok(());
        }
        let is_filtered = !self.filter.documents.matches_all();
        let outputs = &mut self.seen.outputs;
        self.walk.at(&commits, |states| {
            for index in (0..commits.len()).filter(|_| is_filtered) {
                if let StateAs::Site(site) = states.state(index) {
                    outputs.extend(site.graph.outputs().map(|(_, recipe)| recipe.key.clone()));
                }
            }
        })
    }

    /// Effects of these commits.
    fn effects(&mut self, ids: &[String]) -> Result<Vec<CommitEffect>, Error> {
        let mut effects = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            let commit = self.walk.history.commit_at(id, None)?;
            let commit = self.walk.history.commit(commit).commit.clone();
            effects.push(CommitEffect::of(commit.expect("a commit was requested")));
            for site in self.sites(id)? {
                let head = self.walk.history.commit_at(id, Some(&site))?;
                if self.walk.history.equal_parent(head)?.is_none() {
                    self.walk.follow(head, vec![at]);
                }
            }
        }
        let filter = &self.filter;
        let step = |at_hand: &CommitsAtHand<'_, '_>, head, commits: &[usize]| {
            on_site(at_hand, head, commits, filter)
        };
        let mut add = |(at, on_site): (usize, OnSite)| {
            let CommitEffect {
                sites, unusable, ..
            } = &mut effects[at];
            match on_site {
                OnSite::Changed(effect) => sites.push(effect),
                OnSite::Unusable(site) => unusable.push(site),
            }
        };
        while self.walk.advance(&step, &mut add)?.continues {}
        for effect in &mut effects {
            effect.sites.sort_by(|one, other| one.site.cmp(&other.site));
            effect
                .unusable
                .sort_by(|one, other| one.site.cmp(&other.site));
        }
        Ok(effects)
    }

    /// Requested sites of a commit, and those that it removed.
    fn sites(&mut self, id: &str) -> Result<BTreeSet<Arc<str>>, Error> {
        let mut sites = BTreeSet::clone(&*self.walk.history.sites(id)?);
        let mut gone: Option<BTreeSet<Arc<str>>> = None;
        for parent in self.walk.history.parents_of(id)? {
            let of_parent = self.walk.history.sites(&parent)?;
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
            let index = self.walk.history.commit_at(id, Some(&site))?;
            for parent in &*self.walk.history.parents(index)? {
                if let Some(before) = &self.walk.history.commit(*parent).site {
                    gone.remove(before);
                }
            }
        }
        sites.extend(gone);
        self.seen.sites.extend(sites.iter().cloned());
        sites.retain(|site| self.filter.has_site(site));
        Ok(sites)
    }
}

/// Effect of a commit on its site, if any, for each of these commits. `None` if earlier states are
/// needed that are not in memory.
fn on_site(
    at_hand: &CommitsAtHand<'_, '_>,
    head: CommitIndex,
    commits: &[usize],
    filter: &Filter,
) -> Option<Done<usize, (usize, OnSite)>> {
    let CommitsAtHand {
        history, states, ..
    } = at_hand;
    let site = history.commit(head).site.clone().unwrap_or_default();
    let mut done = Done::default();
    let on_site = match at_hand.site(head)? {
        Known::Not(at) => {
            done.unusable.insert(head, at);
            let (file, line) = at.map(|at| states.file_and_line(at)).unzip();
            let file = file.map(|path| path.to_string());
            Some(OnSite::Unusable(UnusableSite { site, file, line }))
        }
        Known::Is(_) => {
            let is_known = |commit| {
                Some(match at_hand.site(commit)? {
                    Known::Is(_) => Known::Is(()),
                    Known::Not(at) => Known::Not(at),
                })
            };
            let before = at_hand.before(head, &is_known, &mut done.unusable)?;
            effect_on_site(at_hand, head, site, &before, filter).map(OnSite::Changed)
        }
    };
    // Each state of a site is of one commit.
    done.changes.extend(commits.first().copied().zip(on_site));
    Some(done)
}

/// Outputs of a site that differ from all earlier states; `None` if there are none.
fn effect_on_site(
    at_hand: &CommitsAtHand<'_, '_>,
    head: CommitIndex,
    site: Arc<str>,
    before: &Before<()>,
    filter: &Filter,
) -> Option<SiteEffect> {
    let CommitsAtHand {
        history, states, ..
    } = at_hand;
    let index = at_hand.index_of(head)?;
    let outputs = if before.known.is_empty() && !history.commit(head).is_cut() {
        added(states, index, filter)
    } else {
        let (sources, secrets, opaque) = states.texts();
        let view = View::new(sources, &secrets, &opaque);
        let bases = before
            .known
            .iter()
            .filter_map(|(base, ())| at_hand.index_of(*base));
        changed(states, index, bases, filter, &view)
    };
    if outputs.is_empty() {
        return None;
    }
    let first = before.known.first();
    let earlier = first.and_then(|(base, ())| history.commit(*base).site.clone());
    let passed_over = before.passed_over.iter();
    let passed_over = passed_over.filter_map(|it| history.commit(*it).commit.as_ref());
    Some(SiteEffect {
        renamed_from: earlier.filter(|earlier| *earlier != site),
        site,
        passed_over: passed_over.map(|commit| commit.id.clone()).collect(),
        outputs,
    })
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
