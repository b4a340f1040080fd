//! `layercake blame SITE SCHEMA NAME [PATH]`: the commit that last changed each value of an output.

mod facts;
mod outputs;
mod values;
pub(super) mod walk;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use self::walk::{Advanced, Step, Walk};
use super::explain_value::no_site;
use super::history::{CommitIndex, HistoryRequest, RepositoryWithHistory, SiteHistory};
use super::policy::Selectors;
use super::{Project, Selection, configuration, file_and_line, names};
use crate::ask::SET;
use crate::check::{
    Checked, ProgressUnit, RenderedSite, RunControl, Settings, SiteStates, StateAs, StatesAtHand,
    Work,
};
use crate::error::Error;
use crate::report::View;
use crate::report::answer::blame::{Blame, BlameAnswer, BlamedCommit};
use crate::report::answer::log::LogEnd;
use crate::source::RepoPath;

/// Request for the commits behind values of a site.
#[derive(Clone, Debug)]
pub struct BlameRequest {
    /// Site; `-` for files without sites.
    pub site: String,
    /// Schema of the document; empty if the name is unique, or for outputs of all schemas.
    pub schema: String,
    /// Name of the document; all outputs of the site if `None`.
    pub name: Option<String>,
    /// Value whose history is requested; all values if `None`.
    pub path: Option<String>,
    /// Question about the values.
    pub question: BlameQuestion,
    /// Range of the history.
    pub history: HistoryRequest,
}

/// Question about a value, an output or a site.
#[derive(Clone, Debug)]
pub enum BlameQuestion {
    /// The commit that last changed it.
    Value,
    /// The commits that set a value to this text or away from it.
    When(String),
    /// The commit since which the text at this `FILE:LINE` reaches a value, or does not.
    WhyNot(String),
    /// The commit that introduced the findings of this rule, or of this group of rules.
    Finding(String),
}

/// Receives steps of the history of a value, each as an answer of its own.
pub type FoundSteps<'f> = dyn FnMut(&Blame, &View<'_>) + 'f;

/// Finds the requested commits. Passes steps of the history of a value to `found` as soon as they
/// are known, as parts of the answer.
///
/// # Errors
/// If the git repository, site, document or value does not exist, or if commits or files cannot be
/// read.
pub fn run(
    selection: &Selection,
    request: &BlameRequest,
    control: &RunControl,
    found: &mut FoundSteps<'_>,
) -> Result<(Checked<()>, Blame), Error> {
    let mut selection = selection.clone();
    let mut work = Work::Render;
    match &request.question {
        BlameQuestion::Value | BlameQuestion::When(_) if request.name.is_some() => {
            work = Work::Answer;
        }
        BlameQuestion::Value | BlameQuestion::When(_) => {}
        BlameQuestion::WhyNot(place) => selection.files = vec![file_and_line(place)?.0],
        BlameQuestion::Finding(rule) => {
            selection.selectors = Selectors {
                select: vec![rule.clone()],
                ..Selectors::default()
            };
            work = Work::Judge;
        }
    }
    let mut project = Project::open(&selection)?;
    let files = project.take_only();
    let repository = RepositoryWithHistory::find(&selection)?;
    let mut history = SiteHistory::open(&project, &repository, &request.history)?;
    let site = (request.site != SET).then(|| request.site.as_str().into());
    let first = match (&selection.revision, &repository.tip) {
        (Some(_), Some(tip)) => history.first_equal(tip, site.as_ref())?,
        (_, tip) => history.work_tree(site.clone(), tip.as_deref())?,
    };
    let keys = configuration::list_keys(&project.configured.config, &[]);
    let settings = Settings {
        keys,
        work,
        ..Settings::default()
    };
    let set = site.is_none().then(|| vec![repository.from.clone()]);
    let names = request
        .name
        .iter()
        .map(|name| name.as_str().into())
        .collect();
    let states = SiteStates::new(
        project.options.clone(),
        settings.clone(),
        set,
        names,
        control.clone(),
    );
    control.progress.begin(ProgressUnit::Commits, None);
    let run = BlameRun {
        project: &project,
        settings: &settings,
        request,
        files,
        first,
    };
    let (checked, blame) = match &request.question {
        BlameQuestion::Value => run.values(history, states, found)?,
        BlameQuestion::When(text) => {
            let (checked, blame) = run.values(history, states, &mut |_, _| ())?;
            (checked, outputs::when(blame, text)?)
        }
        BlameQuestion::WhyNot(place) => run.texts(history, states, place)?,
        BlameQuestion::Finding(_) => run.findings(history, states)?,
    };
    let unshallow = blame
        .is_cut()
        .then(|| repository.repository.unshallow_help());
    Ok((checked, Blame { unshallow, ..blame }))
}

/// Callback for the next results of a walk.
type FoundNext<'f, 'w, T, C> = dyn FnMut(&mut Walk<'w, T>, &mut [C]) -> Result<(), Error> + 'f;

/// A `blame` request with its opened repository.
struct BlameRun<'r> {
    project: &'r Project,
    settings: &'r Settings,
    request: &'r BlameRequest,
    /// Files given by the user.
    files: Vec<RepoPath>,
    first: CommitIndex,
}

impl BlameRun<'_> {
    /// Result of `look` for the site at the start of the walk.
    fn begin<T, S>(
        &self,
        walk: &mut Walk<'_, T>,
        look: impl FnOnce(&RenderedSite<'_>, &StatesAtHand<'_>) -> Result<S, Error>,
    ) -> Result<S, Error> {
        walk.at(&[self.first], |at_hand| match at_hand.state(0) {
            StateAs::Site(site) => look(&site, at_hand).map_err(|error| match at_hand.unread() {
                Some((path, line)) => names::because_unread(&error, &format!("{path}:{line}")),
                None => error,
            }),
            StateAs::Absent => Err(no_site(&self.project.sites(), &self.request.site)),
            StateAs::Unusable(at) => {
                let (path, line) = at_hand.file_and_line(at);
                Err(names::unread(&format!("{path}:{line}")))
            }
            StateAs::Failed => {
                let message = format!("cannot render site `{}`", self.request.site);
                Err(Error::usage(message).with_help("run `layercake lint` for details"))
            }
        })?
    }

    /// Results of the whole walk, and whether it ended early. Also passes new results to `next`.
    fn run_walk<'w, T, C>(
        &self,
        walk: &mut Walk<'w, T>,
        step: Step<'_, T, C>,
        commit_of: fn(&C) -> CommitIndex,
        next: &mut FoundNext<'_, 'w, T, C>,
    ) -> Result<(Vec<C>, LogEnd), Error> {
        let mut found = Vec::new();
        let mut commits = BTreeSet::new();
        let limit = self.request.history.limit.unwrap_or(usize::MAX);
        loop {
            let known = found.len();
            let Advanced {
                commits: finished,
                continues,
            } = walk.advance(step, &mut |change| {
                commits.insert(commit_of(&change));
                if commits.len() <= limit {
                    found.push(change);
                }
            })?;
            walk.states()
                .control()
                .progress
                .add(ProgressUnit::Commits, finished);
            next(walk, &mut found[known..])?;
            let end = if commits.len() > limit || continues && commits.len() == limit {
                LogEnd::Limited
            } else if continues && self.request.history.stop.is_cancelled() {
                LogEnd::Interrupted
            } else {
                LogEnd::Whole
            };
            if end != LogEnd::Whole || !continues {
                return Ok((found, end));
            }
        }
    }

    /// An answer without commits.
    fn blame(&self, answer: BlameAnswer) -> Blame {
        let site = (self.request.site != SET).then(|| self.request.site.as_str().into());
        let (commits, unusable) = (Vec::new(), Vec::new());
        Blame {
            site,
            commits,
            answer,
            unusable,
            end: LogEnd::Whole,
            unshallow: None,
        }
    }

    /// The answer with the commits that it refers to.
    fn end<T>(
        &self,
        mut walk: Walk<'_, T>,
        named: NamedCommits,
        (answer, end): (BlameAnswer, LogEnd),
    ) -> Result<(Checked<()>, Blame), Error> {
        let unusable = walk
            .unusable
            .iter()
            .map(|(commit, at)| (named.numbers[commit], *at));
        let unusable = unusable.collect();
        let commits = named.commits;
        let blame = Blame {
            commits,
            unusable,
            end,
            ..self.blame(answer)
        };
        let state = walk.history.state(self.first)?;
        Ok((
            walk.lend_states().close(&state, walk.history.further()),
            blame,
        ))
    }
}

/// Commits that an answer refers to, newest first.
struct NamedCommits {
    commits: Vec<BlamedCommit>,
    numbers: BTreeMap<CommitIndex, usize>,
}

impl NamedCommits {
    /// These, and those that cannot be rendered.
    fn of<T>(walk: &Walk<'_, T>, found: impl Iterator<Item = CommitIndex>) -> Self {
        let named: BTreeSet<CommitIndex> = found.chain(walk.unusable.keys().copied()).collect();
        let mut named: Vec<CommitIndex> = named.into_iter().collect();
        named.sort_by_key(|commit| Reverse(walk.history.commit(*commit).time()));
        let numbers = named
            .iter()
            .enumerate()
            .map(|(at, commit)| (*commit, at))
            .collect();
        let commits = named.iter().map(|index| {
            let commit = walk.history.commit(*index);
            let (commit, site) = (commit.commit.clone(), commit.site.clone());
            BlamedCommit { commit, site }
        });
        Self {
            commits: commits.collect(),
            numbers,
        }
    }

    fn numbers_of(&self, commits: &[CommitIndex]) -> Vec<usize> {
        commits.iter().map(|commit| self.numbers[commit]).collect()
    }
}
