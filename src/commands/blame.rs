//! `layercake blame SITE SCHEMA NAME [PATH]`: which commit made each value of an output what it is.

mod facts;
mod outputs;
mod values;
mod walk;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use self::walk::{Step, Walk};
use super::explain_value::{SET, no_site};
use super::history::{CommitIndex, HistoryRequest, RepositoryWithHistory, SiteHistory};
use super::policy::Selectors;
use super::{Selection, Workspace, configuration, file_and_line};
use crate::check::{
    Checked, Progress, RenderedSite, Settings, SiteStates, StateAs, StatesAtHand, Work,
};
use crate::error::{Error, ErrorKind};
use crate::report::View;
use crate::report::blame::{Blame, BlameAnswer, BlamedCommit};
use crate::source::RepoPath;

/// What is asked of a history.
#[derive(Clone, Debug)]
pub struct BlameRequest {
    /// The site; `-` for files without sites.
    pub site: String,
    /// The schema of the document; empty where only one document of the name is expected, or
    /// outputs of all schemas are asked for.
    pub schema: String,
    /// The name of the document; all outputs of the site without one.
    pub name: Option<String>,
    /// The value whose history is asked for; all values without one.
    pub path: Option<String>,
    /// What is asked of them.
    pub question: BlameQuestion,
    /// Which of the history is asked for.
    pub history: HistoryRequest,
}

/// What is asked of a value, an output or a site.
#[derive(Clone, Debug)]
pub enum BlameQuestion {
    /// Which commit made it what it is.
    Value,
    /// Which commits made a value this text, or another than this.
    When(String),
    /// Since which commit the text at this `FILE:LINE` reaches a value, or does not.
    WhyNot(String),
    /// Which commit brought the findings of this rule, or of this group of rules.
    Finding(String),
}

/// Given steps of the history of a value, each as the answer would be if it was all.
pub type FoundSteps<'f> = dyn FnMut(&Blame, &View<'_>) + 'f;

/// The commits that are asked for. Steps of the history of a value are handed to `found` as soon as
/// they are known, as parts of the answer.
///
/// # Errors
/// If there is no git repository, no such site, document or value, or if commits or files cannot be
/// read.
pub fn run(
    selection: &Selection,
    request: &BlameRequest,
    progress: &Progress,
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
            selection.selectors = Selectors { select: vec![rule.clone()], ..Selectors::default() };
            work = Work::Judge;
        }
    }
    let mut workspace = Workspace::open(&selection)?;
    let files = mem::take(&mut workspace.options.only);
    let repository = RepositoryWithHistory::find(&selection)?;
    let mut history = SiteHistory::open(&workspace, &repository, &request.history)?;
    let site = (request.site != SET).then(|| request.site.as_str().into());
    let first = match (&selection.revision, &repository.tip) {
        (Some(_), Some(tip)) => history.first_alike(tip, site.as_ref())?,
        (_, tip) => history.work_tree(site.clone(), tip.as_deref())?,
    };
    let keys = configuration::list_keys(&workspace.configured.config, &[]);
    let settings = Settings { keys, work, ..Settings::default() };
    let set = site.is_none().then(|| vec![repository.from.clone()]);
    let names = request.name.iter().map(|name| name.as_str().into()).collect();
    let states = SiteStates::new(&workspace.options, &settings, set, names, progress);
    let run = BlameRun { workspace: &workspace, settings: &settings, request, files, first };
    let (checked, blame) = match &request.question {
        BlameQuestion::Value => run.values(history, states, found)?,
        BlameQuestion::When(text) => {
            let (checked, blame) = run.values(history, states, &mut |_, _| ())?;
            (checked, outputs::when(blame, text)?)
        }
        BlameQuestion::WhyNot(place) => run.texts(history, states, place)?,
        BlameQuestion::Finding(_) => run.findings(history, states)?,
    };
    let unshallow = blame.is_cut().then(|| repository.repository.unshallow_help());
    Ok((checked, Blame { unshallow, ..blame }))
}

/// Looks at what a walk found next.
type FoundNext<'f, 'w, 'p, T, C> =
    dyn FnMut(&mut Walk<'w, 'p, T>, &mut [C]) -> Result<(), Error> + 'f;

/// What a run is asked, and where it begins.
struct BlameRun<'r> {
    workspace: &'r Workspace,
    settings: &'r Settings,
    request: &'r BlameRequest,
    /// The files that are given.
    files: Vec<RepoPath>,
    first: CommitIndex,
}

impl BlameRun<'_> {
    /// What `look` sees in the site where the walk begins.
    fn begin<T, S>(
        &self,
        walk: &mut Walk<'_, '_, T>,
        look: impl FnOnce(&RenderedSite<'_>, &StatesAtHand<'_>) -> Result<S, Error>,
    ) -> Result<S, Error> {
        walk.at(self.first, |state, at_hand| match state {
            StateAs::Site(site) => look(&site, at_hand),
            StateAs::Absent => Err(no_site(&self.workspace.sites(), &self.request.site)),
            StateAs::Unusable(_) | StateAs::Failed => {
                let message = format!("site `{}` cannot be rendered", self.request.site);
                Err(Error::new(ErrorKind::Usage, message).with_help("`layercake lint` says why"))
            }
        })?
    }

    /// All that the walk finds, and whether there is more. What it finds next is given to `next`,
    /// too.
    fn go<'w, 'p, T, C>(
        &self,
        walk: &mut Walk<'w, 'p, T>,
        step: Step<'_, T, C>,
        commit_of: fn(&C) -> CommitIndex,
        next: &mut FoundNext<'_, 'w, 'p, T, C>,
    ) -> Result<(Vec<C>, bool), Error> {
        let mut found = Vec::new();
        let mut commits = BTreeSet::new();
        let limit = self.request.history.limit.unwrap_or(usize::MAX);
        loop {
            let known = found.len();
            let goes_on = walk.advance(step, &mut |change| {
                commits.insert(commit_of(&change));
                if commits.len() <= limit {
                    found.push(change);
                }
            })?;
            next(walk, &mut found[known..])?;
            let is_ended = commits.len() == limit || self.request.history.is_stopped();
            let is_partial = commits.len() > limit || (goes_on && is_ended);
            if is_partial || !goes_on {
                return Ok((found, is_partial));
            }
        }
    }

    /// An answer that names no commit.
    fn blame(&self, answer: BlameAnswer) -> Blame {
        let site = (self.request.site != SET).then(|| self.request.site.as_str().into());
        let (commits, unusable) = (Vec::new(), Vec::new());
        Blame { site, commits, answer, unusable, is_partial: false, unshallow: None }
    }

    /// The answer with the commits that it names.
    fn end<T>(
        &self,
        mut walk: Walk<'_, '_, T>,
        named: NamedCommits,
        (answer, is_partial): (BlameAnswer, bool),
    ) -> Result<(Checked<()>, Blame), Error> {
        let unusable = walk.unusable.iter().map(|(commit, at)| (named.numbers[commit], *at));
        let unusable = unusable.collect();
        let commits = named.commits;
        let blame = Blame { commits, unusable, is_partial, ..self.blame(answer) };
        let state = walk.history.state(self.first)?;
        Ok((walk.lend_states().close(&state, walk.history.further()), blame))
    }
}

/// The commits that an answer names, newest first.
struct NamedCommits {
    commits: Vec<BlamedCommit>,
    numbers: BTreeMap<CommitIndex, usize>,
}

impl NamedCommits {
    /// These, and those that cannot be rendered.
    fn of<T>(walk: &Walk<'_, '_, T>, found: impl Iterator<Item = CommitIndex>) -> Self {
        let named: BTreeSet<CommitIndex> = found.chain(walk.unusable.keys().copied()).collect();
        let mut named: Vec<CommitIndex> = named.into_iter().collect();
        named.sort_by_key(|commit| Reverse(walk.history.commit(*commit).time()));
        let numbers = named.iter().enumerate().map(|(at, commit)| (*commit, at)).collect();
        let commits = named.iter().map(|index| {
            let commit = walk.history.commit(*index);
            let (commit, site) = (commit.commit.clone(), commit.site.clone());
            BlamedCommit { commit, site }
        });
        Self { commits: commits.collect(), numbers }
    }

    fn numbers_of(&self, commits: &[CommitIndex]) -> Vec<usize> {
        commits.iter().map(|commit| self.numbers[commit]).collect()
    }
}
