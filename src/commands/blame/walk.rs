//! Walk through the history of one or more sites, for any number of items. Items that a step cannot pass on to
//! a parent belong to the current commit.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use super::facts::{EditsBetween, FindingSubject, texts_of_findings};
use crate::check::{RenderedSite, SiteStates, StateAs, StatesAtHand};
use crate::commands::history::{CommitIndex, SiteHistory};
use crate::error::Error;
use crate::graph::DocId;
use crate::render::Outcome;
use crate::source::{DocKey, FileId, Span};
use crate::yaml::Node;

/// A walk through the history with the items that it traces.
pub(in crate::commands) struct Walk<'w, T> {
    pub(in crate::commands) history: SiteHistory<'w>,
    /// `None` while lent to another walk.
    states: Option<SiteStates>,
    /// Items still to be traced, by the commit they were traced to, newest commit first.
    pending: BTreeMap<(Reverse<i64>, CommitIndex), Vec<T>>,
    /// Number of commits that are in memory at a time.
    window: usize,
    /// Whether items are passed on, so that also commits before those with items are needed.
    passes_on: bool,
    /// Commits that cannot be rendered, with the place of the fault.
    pub(in crate::commands) unusable: BTreeMap<CommitIndex, Option<Span>>,
}

/// Progress of a walk.
#[derive(Default)]
pub(in crate::commands) struct Advanced {
    /// Number of finished commits.
    pub(in crate::commands) commits: usize,
    /// Whether there is more to do.
    pub(in crate::commands) continues: bool,
}

/// Result for the items at a commit.
pub(in crate::commands) struct Done<T, C> {
    /// Items that are equal in an earlier commit.
    pub(in crate::commands) passed_on: Vec<(CommitIndex, T)>,
    /// Changes by the commit.
    pub(in crate::commands) changes: Vec<C>,
    pub(in crate::commands) unusable: BTreeMap<CommitIndex, Option<Span>>,
}

/// A step of a walk for the items at a commit. `None` if commits are needed that are not in memory.
pub(in crate::commands) type Step<'f, T, C> =
    &'f dyn Fn(&CommitsAtHand<'_, '_>, CommitIndex, &[T]) -> Option<Done<T, C>>;

impl<T, C> Default for Done<T, C> {
    fn default() -> Self {
        Self {
            passed_on: Vec::new(),
            changes: Vec::new(),
            unusable: BTreeMap::new(),
        }
    }
}

impl<'w, T> Walk<'w, T> {
    /// Maximum number of commits that are in memory at a time, unless one step needs more.
    const MAX_WINDOW: usize = 64;

    /// A walk whose steps pass items on to earlier commits, and may end early.
    pub(super) fn new(history: SiteHistory<'w>, states: SiteStates) -> Self {
        Self {
            window: 4,
            passes_on: true,
            ..Self::of_each(history, states)
        }
    }

    /// A walk whose steps compare each commit with an item with the ones before it.
    pub(in crate::commands) fn of_each(history: SiteHistory<'w>, states: SiteStates) -> Self {
        Self {
            history,
            states: Some(states),
            pending: BTreeMap::new(),
            window: Self::MAX_WINDOW,
            passes_on: false,
            unusable: BTreeMap::new(),
        }
    }

    /// Lends the states to another walk.
    ///
    /// # Panics
    /// If they are lent already.
    pub(super) fn lend_states(&mut self) -> SiteStates {
        self.states.take().expect("the states are not lent")
    }

    /// Takes the states back.
    pub(super) fn take_back(&mut self, states: SiteStates) {
        self.states = Some(states);
    }

    /// The states.
    ///
    /// # Panics
    /// If they are lent.
    pub(super) fn states(&self) -> &SiteStates {
        self.states.as_ref().expect("the states are not lent")
    }

    /// Result of `look` for the states at these commits.
    ///
    /// # Errors
    /// If their files cannot be read.
    ///
    /// # Panics
    /// If there are none.
    pub(in crate::commands) fn at<S>(
        &mut self,
        commits: &[CommitIndex],
        look: impl FnOnce(&StatesAtHand<'_>) -> S,
    ) -> Result<S, Error> {
        let states = commits.iter().map(|commit| self.history.state(*commit));
        let states = states.collect::<Result<Vec<_>, Error>>()?;
        let site_states = self.states.as_mut().expect("the states are not lent");
        site_states.look(&states, self.history.further(), look)
    }

    /// Adds items to trace from a commit on.
    pub(in crate::commands) fn follow(&mut self, commit: CommitIndex, items: Vec<T>) {
        let time = Reverse(self.history.commit(commit).time());
        self.pending
            .entry((time, commit))
            .or_default()
            .extend(items);
    }

    /// Continues as far as the commits in memory allow, and passes every change to `found`.
    ///
    /// # Errors
    /// If files or commits cannot be read.
    pub(in crate::commands) fn advance<C>(
        &mut self,
        step: Step<'_, T, C>,
        found: &mut dyn FnMut(C),
    ) -> Result<Advanced, Error> {
        let commits = self.next_commits()?;
        if commits.is_empty() {
            return Ok(Advanced::default());
        }
        let states = commits.iter().map(|commit| self.history.state(*commit));
        let states = states.collect::<Result<Vec<_>, Error>>()?;
        let mut finished = 0;
        let Self {
            history,
            states: site_states,
            pending,
            unusable,
            ..
        } = self;
        let (history, site_states) = (&*history, site_states.as_mut());
        let site_states = site_states.expect("the states are not lent");
        site_states.look(&states, history.further(), |at_hand| {
            let at_hand = CommitsAtHand::new(history, at_hand, &commits);
            while let Some(entry) = pending.first_entry() {
                let Some(done) = step(&at_hand, entry.key().1, entry.get()) else {
                    break;
                };
                entry.remove();
                finished += 1;
                unusable.extend(done.unusable);
                for (commit, item) in done.passed_on {
                    let time = Reverse(history.commit(commit).time());
                    pending.entry((time, commit)).or_default().push(item);
                }
                done.changes.into_iter().for_each(&mut *found);
            }
        })?;
        let most = if finished > 0 {
            Self::MAX_WINDOW.max(self.window)
        } else {
            usize::MAX
        };
        self.window = (self.window * 2).min(most);
        Ok(Advanced {
            commits: finished,
            continues: !self.pending.is_empty(),
        })
    }

    /// Commits to load next: those with pending items, and their parents.
    fn next_commits(&mut self) -> Result<Vec<CommitIndex>, Error> {
        let mut pending: VecDeque<(Reverse<i64>, CommitIndex)> =
            self.pending.keys().copied().collect();
        let mut open = BTreeSet::new();
        if self.passes_on {
            open.extend(pending.drain(..));
        }
        let mut chosen: Vec<CommitIndex> = Vec::new();
        loop {
            let is_full = chosen.len() >= self.window;
            let (commit, needs_parents) = match open.pop_first() {
                Some((_, commit)) if self.passes_on => (commit, !is_full),
                Some((_, commit)) => (commit, self.unusable.contains_key(&commit)),
                None => match pending.pop_front().filter(|_| !is_full) {
                    Some((_, commit)) => (commit, true),
                    None => break,
                },
            };
            if !chosen.contains(&commit) {
                chosen.push(commit);
            }
            if !needs_parents {
                continue;
            }
            for parent in &*self.history.parents(commit)? {
                if !chosen.contains(parent) {
                    open.insert((Reverse(self.history.commit(*parent).time()), *parent));
                }
            }
        }
        // Adjacent states of a site share most of their relations.
        chosen.sort_by_key(|commit| {
            let at = self.history.commit(*commit);
            (at.site.clone(), Reverse(at.time()), *commit)
        });
        Ok(chosen)
    }
}

/// Commits that are in memory together.
pub(in crate::commands) struct CommitsAtHand<'s, 'h> {
    pub(in crate::commands) history: &'s SiteHistory<'s>,
    pub(in crate::commands) states: &'s StatesAtHand<'h>,
    /// Index of the state of each commit.
    indexes: HashMap<CommitIndex, usize>,
    /// Outputs of each state by schema and name.
    documents: Vec<OnceCell<OutputsByName<'s>>>,
    /// Earlier names of outputs, for pairs of states.
    renamed: RefCell<HashMap<(usize, usize), HashMap<DocKey, DocKey>>>,
    /// Edits between pairs of states.
    edits: RefCell<HashMap<(usize, usize), KnownEdits>>,
    /// Texts of the findings of each state.
    findings: Vec<OnceCell<BTreeMap<FindingSubject, Vec<Span>>>>,
}

/// `None` if layercake failed.
type KnownEdits = Option<Rc<EditsBetween>>;

type OutputsByName<'s> = HashMap<(&'s str, &'s str), Vec<DocId>>;

/// Knowledge about a commit in memory.
pub(in crate::commands) enum Known<K> {
    /// Known.
    Is(K),
    /// Unknown, because this place is unreadable or unusable.
    Not(Option<Span>),
}

/// Earlier commits, as far as anything is known of them.
pub(in crate::commands) struct Before<K> {
    pub(in crate::commands) known: Vec<(CommitIndex, K)>,
    pub(in crate::commands) passed_over: Vec<CommitIndex>,
}

/// An output in one commit.
pub(super) enum OutputAt<'s> {
    /// Data, name, and the span of its document.
    Data(&'s Node, DocKey, Span),
    /// The output does not exist.
    Absent,
    /// The site does not exist.
    NoSite,
}

impl<'s> OutputAt<'s> {
    /// File of its document.
    pub(super) fn file(&self) -> Option<FileId> {
        match self {
            OutputAt::Data(.., span) => Some(span.file),
            OutputAt::Absent | OutputAt::NoSite => None,
        }
    }

    /// Its name, or its later name if it does not exist.
    pub(super) fn name<'k>(&'k self, later: &'k DocKey) -> &'k DocKey {
        match self {
            OutputAt::Data(_, key, _) => key,
            OutputAt::Absent | OutputAt::NoSite => later,
        }
    }

    pub(super) fn data(&self) -> Option<&'s Node> {
        match self {
            OutputAt::Data(data, ..) => Some(data),
            OutputAt::Absent | OutputAt::NoSite => None,
        }
    }
}

impl<'s, 'h> CommitsAtHand<'s, 'h> {
    fn new(
        history: &'s SiteHistory<'s>,
        states: &'s StatesAtHand<'h>,
        commits: &[CommitIndex],
    ) -> Self {
        let indexes = commits
            .iter()
            .enumerate()
            .map(|(at, commit)| (*commit, at))
            .collect();
        Self {
            history,
            states,
            indexes,
            documents: commits.iter().map(|_| OnceCell::new()).collect(),
            renamed: RefCell::default(),
            edits: RefCell::default(),
            findings: commits.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// Edits between two commits; `None` if one is not in memory, or if layercake failed.
    pub(super) fn edits_between(
        &self,
        base: CommitIndex,
        head: CommitIndex,
    ) -> Option<Rc<EditsBetween>> {
        let (base, head) = (self.index_of(base)?, self.index_of(head)?);
        let find = || EditsBetween::of(self.states, base, head).map(Rc::new);
        self.edits
            .borrow_mut()
            .entry((base, head))
            .or_insert_with(find)
            .clone()
    }

    /// Texts of the findings of a commit, if it is in memory.
    pub(super) fn findings(
        &self,
        commit: CommitIndex,
    ) -> Option<&BTreeMap<FindingSubject, Vec<Span>>> {
        let index = self.index_of(commit)?;
        Some(self.findings[index].get_or_init(|| texts_of_findings(self.states, index)))
    }

    /// Index of the state of a commit, if it is in memory.
    pub(in crate::commands) fn index_of(&self, commit: CommitIndex) -> Option<usize> {
        self.indexes.get(&commit).copied()
    }

    /// The site in a commit that is in memory, `None` inside if it does not exist.
    pub(in crate::commands) fn site(
        &self,
        commit: CommitIndex,
    ) -> Option<Known<Option<RenderedSite<'s>>>> {
        let states: &'s StatesAtHand<'h> = self.states;
        Some(match states.state(self.index_of(commit)?) {
            StateAs::Site(site) => Known::Is(Some(site)),
            StateAs::Absent => Known::Is(None),
            StateAs::Unusable(at) => Known::Not(Some(at)),
            StateAs::Failed => Known::Not(None),
        })
    }

    /// The output of this name in a commit, if that is in memory.
    pub(super) fn output(&self, commit: CommitIndex, key: &DocKey) -> Option<Known<OutputAt<'s>>> {
        self.output_named(commit, key, false)
    }

    /// The output of this name in an earlier commit, if both are in memory. Matches as outputs are
    /// paired: the layer matters only if there are several.
    pub(super) fn output_before(
        &self,
        (earlier, later): (CommitIndex, CommitIndex),
        key: &DocKey,
    ) -> Option<Known<OutputAt<'s>>> {
        let is_one_of_several = match self.site(later)? {
            Known::Is(Some(site)) => self.named(later, &site, key).len() > 1,
            Known::Is(None) | Known::Not(_) => false,
        };
        self.output_named(earlier, key, is_one_of_several)
    }

    fn output_named(
        &self,
        commit: CommitIndex,
        key: &DocKey,
        is_of_layer: bool,
    ) -> Option<Known<OutputAt<'s>>> {
        let site = match self.site(commit)? {
            Known::Is(Some(site)) => site,
            Known::Is(None) => return Some(Known::Is(OutputAt::NoSite)),
            Known::Not(at) => return Some(Known::Not(at)),
        };
        let is_it = |doc: &&DocId| site.graph.recipe(**doc).key.layer == key.layer;
        let doc = match self.named(commit, &site, key) {
            [only] if !is_of_layer => Some(only),
            several => several.iter().find(is_it),
        };
        let Some(doc) = doc else {
            return Some(Known::Is(OutputAt::Absent));
        };
        let recipe = site.graph.recipe(*doc);
        Some(match site.rendered.outcome(*doc) {
            Outcome::Ready(data) => {
                Known::Is(OutputAt::Data(data, recipe.key.clone(), recipe.span))
            }
            Outcome::Blocked(_) => Known::Not(Some(recipe.span)),
        })
    }

    /// Outputs of a schema and a name.
    fn named<'k>(
        &'k self,
        commit: CommitIndex,
        site: &RenderedSite<'s>,
        key: &'k DocKey,
    ) -> &'k [DocId] {
        let documents = self.index_of(commit).map(|index| &self.documents[index]);
        let documents = documents.map(|documents| documents.get_or_init(|| by_name(site)));
        let found = documents.and_then(|documents| documents.get(&(&*key.schema, &*key.name)));
        found.map_or(&[], Vec::as_slice)
    }

    /// Name in an earlier commit of an output of a later one, if it was renamed.
    pub(super) fn renamed_from(
        &self,
        earlier: CommitIndex,
        later: CommitIndex,
        key: &DocKey,
    ) -> Option<DocKey> {
        let pair = (self.index_of(earlier)?, self.index_of(later)?);
        let mut renamed = self.renamed.borrow_mut();
        let of_pair = renamed
            .entry(pair)
            .or_insert_with(|| self.states.renamed(pair.0, pair.1));
        of_pair.get(key).cloned()
    }

    /// Parents of a commit; a parent that cannot be rendered is replaced by its own parents. `None`
    /// if one is not in memory.
    pub(in crate::commands) fn before<K>(
        &self,
        commit: CommitIndex,
        known: &dyn Fn(CommitIndex) -> Option<Known<K>>,
        unusable: &mut BTreeMap<CommitIndex, Option<Span>>,
    ) -> Option<Before<K>> {
        let mut before = Before {
            known: Vec::new(),
            passed_over: Vec::new(),
        };
        self.add_before(commit, known, &mut before, unusable)?;
        Some(before)
    }

    fn add_before<K>(
        &self,
        commit: CommitIndex,
        known: &dyn Fn(CommitIndex) -> Option<Known<K>>,
        before: &mut Before<K>,
        unusable: &mut BTreeMap<CommitIndex, Option<Span>>,
    ) -> Option<()> {
        for parent in self.history.known_parents(commit)?.iter().copied() {
            let is_known = before.known.iter().any(|(known, _)| *known == parent);
            if is_known || before.passed_over.contains(&parent) {
                continue;
            }
            match known(parent)? {
                Known::Is(it) => before.known.push((parent, it)),
                Known::Not(at) => {
                    unusable.insert(parent, at);
                    before.passed_over.push(parent);
                    self.add_before(parent, known, before, unusable)?;
                }
            }
        }
        Some(())
    }
}

fn by_name<'s>(site: &RenderedSite<'s>) -> OutputsByName<'s> {
    let mut by_name = OutputsByName::new();
    let graph = site.graph;
    for (doc, recipe) in graph.outputs() {
        let name = (&*recipe.key.schema, &*recipe.key.name);
        by_name.entry(name).or_default().push(doc);
    }
    by_name
}
