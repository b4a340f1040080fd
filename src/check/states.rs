//! Several states of one site, such as those of its history. Content that states share is read,
//! rendered and judged once; any two states can be compared.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use super::compare::{Settings, SiteRun};
use super::edited::{Documents, Sides};
use super::files::SideSource;
use super::load::{Loaded, LoadedSide, SetFiles};
use super::repositories::used_repositories;
use super::site::{KnownDocuments, OneSide, SiteWork};
use super::workspace::closed;
use super::{Checked, Further, Options, Plan, RenderedSite, RunControl, Scope, Which, Work};
use crate::compare::{Change, Limits};
use crate::diagnostic::Diagnostic;
use crate::edit::Edit;
use crate::error::Error;
use crate::graph::{DocId, Graph};
use crate::guard::{Place, guarded};
use crate::source::{DocKey, FileId, RepoPath, SharedTree, SourceMap, Span};
use crate::system::deckhand::layout::{Layout, Uses};
use crate::system::edits::edits;

/// One state of a site.
pub(crate) struct SiteState {
    /// Files of the site; others may be missing.
    pub(crate) tree: SharedTree,
    /// Layout of the files; `None` without a site repository.
    pub(crate) layout: Option<Arc<Layout>>,
    /// Further repositories of the sites.
    pub(crate) uses: Arc<Uses>,
    /// Name of the site in this state; `None` for a set without layout.
    pub(crate) name: Option<Arc<str>>,
}

/// Maximum number of files whose documents are kept for later states, unless the current states
/// have more.
const MAX_FILES: usize = 4_000;

/// States of one site, of which some are in memory at a time.
pub(crate) struct SiteStates {
    options: Arc<Options>,
    settings: Settings,
    /// Files and folders of a set without layout.
    set: Option<Vec<RepoPath>>,
    control: RunControl,
    loaded: Option<Loaded>,
    known: KnownDocuments,
    /// Names of the needed documents, if not all are rendered.
    names: BTreeSet<Arc<str>>,
    /// The newest states, which decide what is secret or unreadable in older ones.
    newest: Option<NewestStates>,
}

/// The newest states, which decide what is secret or unreadable in older ones.
struct NewestStates {
    files: BTreeSet<FileId>,
    /// Unreadable files; accepted in all states.
    unread: BTreeSet<FileId>,
}

/// States that are in memory together.
pub(crate) struct StatesAtHand<'h> {
    plan: &'h Plan,
    settings: &'h Settings,
    loaded: &'h Loaded,
    known: &'h KnownDocuments,
    /// Files that are unreadable in the newest state.
    accepted: &'h BTreeSet<FileId>,
    states: Vec<StateAtHand<'h>>,
    /// See [`SiteStates::names`].
    names: RefCell<BTreeSet<Arc<str>>>,
}

struct StateAtHand<'h> {
    side: &'h LoadedSide,
    set: Option<&'h SetFiles>,
    name: Option<&'h Arc<str>>,
    site: Option<OneSide<'h>>,
    /// Place that is unreadable or unusable.
    unusable: Option<Span>,
}

/// Content of a state.
pub(crate) enum StateAs<'s> {
    /// A rendered site.
    Site(RenderedSite<'s>),
    /// The site does not exist.
    Absent,
    /// Some documents are unknown: this place is unreadable or unusable.
    Unusable(Span),
    /// layercake failed.
    Failed,
}

/// Changes between two states.
pub(crate) struct StateChanges {
    /// With their causes.
    pub(crate) changes: Vec<Change>,
    /// All edits.
    pub(crate) edits: Vec<Edit>,
}

impl SiteStates {
    /// Creates an empty collection. `set` are the files of a set without layout. If the settings
    /// say [`Work::Answer`](super::Work::Answer), renders only documents with one of these names
    /// and their dependencies.
    pub(crate) fn new(
        options: Arc<Options>,
        settings: Settings,
        set: Option<Vec<RepoPath>>,
        names: BTreeSet<Arc<str>>,
        control: RunControl,
    ) -> Self {
        let (loaded, known) = (None, KnownDocuments::default());
        Self {
            options,
            settings,
            set,
            control,
            loaded,
            known,
            names,
            newest: None,
        }
    }

    /// Calls `look` with these states, newest first. The states of the first call are the newest of
    /// all: what is secret or unreadable there is so in all others. `further` are the further
    /// repositories of the states.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn look<T>(
        &mut self,
        states: &[SiteState],
        further: &[Arc<Further>],
        look: impl FnOnce(&StatesAtHand<'_>) -> T,
    ) -> Result<T, Error> {
        self.control.cancel.check()?;
        let has_layout = |state: &&SiteState| state.layout.is_some();
        let first = states.iter().find(has_layout).or(states.first());
        let first = first.expect("at least one state");
        let plan = self.plan(first, further);
        let sources: Vec<SideSource<'_>> = states.iter().map(SiteState::source).collect();
        let work = self.settings.work;
        let read_before = self.loaded.as_ref().map_or(0, Loaded::files_read);
        let (mut loaded, sides) = Loaded::of_states(&plan, &sources, work, self.loaded.take())?;
        let newest = self.newest.get_or_insert_with(|| {
            let files: BTreeSet<FileId> = sides.iter().flat_map(LoadedSide::all_files).collect();
            let unread = loaded.unread_files(files.iter().copied());
            NewestStates { files, unread }
        });
        let of_states = sides
            .iter()
            .flat_map(|side| &side.files)
            .map(|file| file.id);
        let fresh = of_states
            .filter(|file| file.index() >= read_before)
            .collect();
        loaded.hide_secrets_of(&newest.files, &fresh);
        for states in sides.windows(2) {
            loaded.hide_later_secrets(&states[0], &states[1]);
        }
        if loaded.known_files().len() > MAX_FILES {
            let at_hand = sides.iter().flat_map(LoadedSide::all_files);
            loaded.keep_files(&at_hand.chain(newest.files.iter().copied()).collect());
        }
        self.known = mem::take(&mut self.known).keeping(loaded.known_files());
        let mut at_hand = StatesAtHand {
            plan: &plan,
            settings: &self.settings,
            loaded: &loaded,
            known: &self.known,
            accepted: &newest.unread,
            states: Vec::with_capacity(states.len()),
            names: RefCell::new(mem::take(&mut self.names)),
        };
        for (side, state) in sides.iter().zip(states) {
            at_hand.add(side, state.name.as_ref());
        }
        let seen = look(&at_hand);
        self.names = at_hand.names.take();
        self.loaded = Some(loaded);
        // What was seen may be incomplete.
        self.control.cancel.check()?;
        Ok(seen)
    }

    fn plan(&self, state: &SiteState, further: &[Arc<Further>]) -> Plan {
        let scope = match (&self.set, &state.layout) {
            (None, Some(layout)) => Scope::Repository {
                layout: layout.clone(),
                further: further.to_vec(),
                uses: state.uses.clone(),
            },
            (set, _) => Scope::Set(set.clone().unwrap_or_default()),
        };
        Plan {
            tree: state.tree.clone(),
            scope,
            base: None,
            options: self.options.clone(),
            control: self.control.clone(),
        }
    }

    /// Handles of the run.
    pub(crate) fn control(&self) -> &RunControl {
        &self.control
    }

    /// The sources read, their secret spans, and the files that may contain secrets at unknown
    /// places.
    ///
    /// # Panics
    /// If `look` was never called.
    pub(crate) fn texts(&self) -> (&SourceMap, Vec<Span>, Vec<FileId>) {
        self.loaded
            .as_ref()
            .expect("`look` was called before")
            .texts()
    }

    /// Frees everything except what is needed to show places.
    ///
    /// # Panics
    /// If `look` was never called.
    pub(crate) fn close(self, state: &SiteState, further: &[Arc<Further>]) -> Checked<()> {
        let plan = self.plan(state, further);
        let loaded = self.loaded.expect("`look` was called before");
        let repositories = used_repositories(&plan, &loaded);
        closed(&plan, loaded, Vec::new(), repositories)
    }
}

/// Whether the document of an output moved to another file or its file changed.
fn is_touched(change: &Change, ends: (Option<&OneSide<'_>>, Option<&OneSide<'_>>)) -> bool {
    let file = |doc: Option<DocId>, side: Option<&OneSide<'_>>| {
        Some(side?.related.graph.recipe(doc?).span.file)
    };
    file(change.output.base, ends.0) != file(change.output.head, ends.1)
}

impl SiteState {
    fn source(&self) -> SideSource<'_> {
        SideSource {
            tree: &self.tree,
            layout: self.layout.as_deref(),
            uses: self.layout.is_some().then_some(&*self.uses),
            // The base, because the metadata of all states is compared.
            which: Which::Base,
        }
    }
}

impl<'h> StatesAtHand<'h> {
    fn add(&mut self, side: &'h LoadedSide, name: Option<&'h Arc<str>>) {
        let set = side.sets.iter().find(|set| set.name.as_ref() == name);
        let before = self
            .states
            .iter()
            .rev()
            .find_map(|state| state.site.as_ref());
        let (plan, loaded) = (self.plan, self.loaded);
        let shown = name.map(|name| &**name).unwrap_or_default();
        let names = self.names.borrow();
        let asked = |graph: &Graph| {
            let named = graph
                .iter()
                .filter(|(_, recipe)| names.contains(&recipe.key.name));
            named.map(|(doc, _)| doc).collect()
        };
        let site = set.and_then(|set| {
            guarded(Place::Site(shown), || {
                let work = SiteWork {
                    kind: self.settings.work,
                    documents: &asked,
                };
                OneSide::of(plan, loaded, (side, set), &[self.known], before, &work)
            })
        });
        let unusable = match set {
            Some(set) => {
                let unread = loaded.unread_files(set.all_files());
                let first = unread.into_iter().find(|file| !self.is_accepted(*file));
                first.map(|file| loaded.fault_in(file))
            }
            None => name.and_then(|name| side.unusable_definition(name)),
        };
        drop(names);
        self.states.push(StateAtHand {
            side,
            set,
            name,
            site,
            unusable,
        });
    }

    /// Whether a file, or one with the same text at another path, is unreadable in the newest state.
    fn is_accepted(&self, file: FileId) -> bool {
        let text = |file: FileId| self.loaded.sources.get(file).text();
        let has_same_text = |other| !text(file).is_empty() && text(other) == text(file);
        self.accepted
            .iter()
            .any(|other| *other == file || has_same_text(*other))
    }

    /// State at an index.
    pub(crate) fn state(&self, index: usize) -> StateAs<'_> {
        let StateAtHand {
            set,
            site,
            unusable,
            ..
        } = &self.states[index];
        match (unusable, set, site) {
            (Some(at), ..) => StateAs::Unusable(*at),
            (None, None, _) => StateAs::Absent,
            (None, Some(_), Some(site)) => StateAs::Site(site.at_hand(&self.loaded.sources)),
            (None, Some(_), None) => StateAs::Failed,
        }
    }

    /// Findings in a state of the site, with their files.
    pub(crate) fn findings(&self, index: usize) -> Vec<(Diagnostic, RepoPath)> {
        let StateAtHand {
            side, set, site, ..
        } = &self.states[index];
        let files: BTreeSet<FileId> = set.iter().flat_map(|set| set.all_files()).collect();
        let of_files = self.loaded.file_findings(side);
        let of_files = of_files
            .into_iter()
            .filter(|it| files.contains(&it.primary.span.file));
        let of_site = site.iter().flat_map(|site| site.findings.iter().cloned());
        let path = |finding: &Diagnostic| self.loaded.sources.path_of(finding.primary.span).clone();
        of_files
            .chain(of_site)
            .map(|finding| (finding.clone(), path(&finding)))
            .collect()
    }

    /// Changes from one state to another that `focus` keeps, with causes. `None` if layercake
    /// failed.
    pub(crate) fn changes(
        &self,
        base: usize,
        head: usize,
        focus: impl FnOnce(Vec<Change>) -> Vec<Change>,
    ) -> Option<StateChanges> {
        let [base, head] = [base, head].map(|index| &self.states[index]);
        let of = |state: &StateAtHand<'h>| (state.side, state.set);
        let name = head.name.map(|name| &**name).unwrap_or_default();
        guarded(Place::Comparison(name), || {
            let sides = Sides::of_site(self.plan, self.loaded, of(base), of(head));
            let documents = Documents::of(&sides);
            let files = sides.file_edits(&documents.edited);
            let keys = &self.settings.keys;
            let (unedited, settings) = (&documents.unedited[..], self.settings);
            let edits = edits(documents.base, documents.head, unedited, files, keys);
            let (pair, limits) = (&sides.pairs[0], Limits::of_each(1));
            let of_run = self.known;
            let run = SiteRun {
                sides: &sides,
                settings,
                pair,
                edits: &edits,
                unedited,
                of_run,
                limits,
            };
            let ends = (base.site.as_ref(), head.site.as_ref());
            let changes = run.traced(ends, &[self.known], |mut changes| {
                for change in &mut changes {
                    change.touched = is_touched(change, ends);
                }
                focus(changes)
            });
            StateChanges {
                changes,
                edits: edits.edits,
            }
        })
    }

    /// Whether documents of this name are rendered. If not, later states render them.
    pub(crate) fn are_rendered(&self, name: &Arc<str>) -> bool {
        self.settings.work != Work::Answer || !self.names.borrow_mut().insert(name.clone())
    }

    /// The sources read, their secret spans, and the files that may contain secrets at unknown
    /// places.
    pub(crate) fn texts(&self) -> (&SourceMap, Vec<Span>, Vec<FileId>) {
        self.loaded.texts()
    }

    /// File and 1-based line of a span.
    pub(crate) fn file_and_line(&self, text: Span) -> (RepoPath, u32) {
        let sources = &self.loaded.sources;
        (
            sources.path_of(text).clone(),
            sources.start(text).line.get(),
        )
    }

    /// First place in a file of the states that cannot be read, if any.
    pub(crate) fn unread(&self) -> Option<(RepoPath, u32)> {
        let sets = self.states.iter().filter_map(|state| state.set);
        let unread = self.loaded.unread_files(sets.flat_map(SetFiles::all_files));
        let fault = unread.first().map(|file| self.loaded.fault_in(*file))?;
        Some(self.file_and_line(self.loaded.sources.written(fault)))
    }

    /// Outputs that have other names in the state `head`: new key to old key.
    pub(crate) fn renamed(&self, base: usize, head: usize) -> HashMap<DocKey, DocKey> {
        let mut renamed = HashMap::new();
        self.changes(base, head, |changes| {
            let of = |change: Change| Some((change.key, change.renamed_from?));
            renamed.extend(changes.into_iter().filter_map(of));
            Vec::new()
        });
        renamed
    }
}
