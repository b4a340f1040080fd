//! The pipeline from top to bottom: files, documents, sites, graphs, rendered documents, findings.
//!
//! Files are read and parsed once, in parallel. Then sites are processed in parallel. Callers take
//! what they need of a rendered site in `per_site`, so that not all sites are in memory at once.

mod changes;
pub mod compare;
mod configuration;
mod edited;
mod file;
mod files;
mod judge;
mod load;
mod repositories;
mod site;
mod states;
mod taking;
mod workspace;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use globset::GlobSet;
use parking_lot::Mutex;

pub use self::changes::{Changes, compare, compare_with};
pub(crate) use self::compare::ComparedWith;
pub use self::compare::{BothSides, Compared, Settings};
pub use self::configuration::ChosenArmada;
pub use self::configuration::Configuration;
pub(crate) use self::configuration::{Entry, GivenHeader, KnownMissing};
use self::file::{AsRead, LoadedFile};
use self::files::{Files, FilesSoFar, SideSource, SitesRead};
pub(crate) use self::files::{SiteNames, first_document, sites_reading};
pub(crate) use self::load::baseline;
pub(crate) use self::states::{SiteState, SiteStates, StateAs, StatesAtHand};
pub(crate) use self::workspace::NameAndType;
pub use self::workspace::Workspace;
use crate::cancel::Cancel;
use crate::certificate::CheckTime;
use crate::diagnostic::Diagnostic;
use crate::ending::Ending;
use crate::error::Error;
use crate::graph::{DocId, Graph};
use crate::render::Rendered;
use crate::rules::{self, CertificateTally};
use crate::source::{FileId, Labelled, RepoPath, SharedTree, SourceMap, Span, UsedRepository};
use crate::system::cloud_init::Sets;
use crate::system::deckhand::layout::{Layout, Uses};
use crate::system::deckhand::{DeckhandOptions, Site};
use crate::triage::{self, Findings, TriagePolicy};
use crate::yaml::{Node, Parsed};

/// Documents that belong together.
#[derive(Clone)]
pub enum Scope {
    /// The sites of a repository.
    Repository {
        /// Layout of its files in the tree.
        layout: Arc<Layout>,
        /// Further repositories of its sites and of those of the base.
        further: Vec<Arc<Further>>,
        /// Further repositories of each of its sites.
        uses: Arc<Uses>,
    },
    /// All documents below these paths, as one set without layout.
    Set(Vec<RepoPath>),
}

impl Scope {
    /// The sites of a repository without further repositories.
    pub fn of_repository(layout: Layout) -> Self {
        Scope::Repository {
            layout: Arc::new(layout),
            further: Vec::new(),
            uses: Arc::default(),
        }
    }
}

/// A further repository at one revision.
pub struct Further {
    /// Name under which it was given; shared by its revisions.
    pub(crate) name: Arc<str>,
    /// Files; `global/`, `type/` and `site/` are at the root.
    pub(crate) tree: Labelled<SharedTree>,
    /// Full id of its commit; `None` if files on disk are read.
    pub(crate) commit: Option<Arc<str>>,
    /// Folder that contains its files, if those on disk are read.
    pub(crate) folder: Option<PathBuf>,
    /// Template of links to its lines.
    pub(crate) links: Option<Arc<str>>,
}

/// Plan of a run. Clones share everything.
#[derive(Clone)]
pub struct Plan {
    /// Tree with the files.
    pub tree: SharedTree,
    /// Documents that belong together.
    pub scope: Scope,
    /// Side to compare with; `None` to check one side.
    pub base: Option<Base>,
    /// Options from flags and the configuration.
    pub options: Arc<Options>,
    /// Handles of the run.
    pub control: RunControl,
}

/// Options of a run from flags and the configuration, independent of the files that it reads.
#[derive(Clone, Debug)]
pub struct Options {
    /// Options for documents, unless the configuration overrides them for a site.
    pub deckhand: DeckhandOptions,
    /// Names of the requested sites; all if `None`.
    pub sites: Option<GlobSet>,
    /// Files and folders to which findings are limited; all if empty.
    pub only: Vec<RepoPath>,
    /// Options of the rules.
    pub rules: rules::RuleOptions,
    /// Policy for their findings.
    pub policy: TriagePolicy,
    /// Baseline file, if it exists; `None` to use no baseline.
    pub baseline: Option<RepoPath>,
    /// Side whose baseline applies to the head.
    pub accepted_by: AcceptedBy,
    /// Other settings of the repository's configuration.
    pub configuration: Configuration,
    /// Whether equal documents are rendered and judged once. Results do not depend on it: tests
    /// compare both.
    pub shares_documents: bool,
}

impl Options {
    /// All sites and files, with the default rules.
    pub fn of(deckhand: DeckhandOptions) -> Self {
        Self {
            deckhand,
            sites: None,
            only: Vec::new(),
            rules: rules::RuleOptions::default(),
            policy: TriagePolicy::default(),
            baseline: None,
            accepted_by: AcceptedBy::Itself,
            configuration: Configuration::default(),
            shares_documents: true,
        }
    }

    /// Plan to check all files of a tree: those of its sites, or all as one set if it has no
    /// layout. `base` is the side to compare with.
    pub fn plan(self, tree: SharedTree, layout: Option<Layout>, base: Option<Base>) -> Plan {
        let scope = match layout {
            Some(layout) => Scope::of_repository(layout),
            None => Scope::Set(vec![RepoPath::new("")]),
        };
        Plan {
            tree,
            scope,
            base,
            options: Arc::new(self),
            control: RunControl::default(),
        }
    }
}

/// Side whose baseline is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcceptedBy {
    /// Each side uses its own.
    #[default]
    Itself,
    /// Both use that of the base, so that a change cannot accept its own findings.
    Base,
}

/// Base side of a comparison.
#[derive(Clone)]
pub struct Base {
    /// Tree with its files.
    pub(crate) tree: SharedTree,
    /// Layout; `None` if it is not a site repository.
    pub(crate) layout: Option<Arc<Layout>>,
    /// Further repositories of each of its sites.
    pub(crate) uses: Arc<Uses>,
    /// Compared sites, if other sites were read only as definitions; all if `None`.
    pub(crate) reached: Option<Arc<SiteNames>>,
}

impl Base {
    /// A side without further repositories.
    pub fn of_repository(tree: SharedTree, layout: Option<Layout>) -> Self {
        Self {
            tree,
            layout: layout.map(Arc::new),
            uses: Arc::default(),
            reached: None,
        }
    }
}

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Base,
    Head,
}

impl Which {
    fn other(self) -> Self {
        match self {
            Which::Base => Which::Head,
            Which::Head => Which::Base,
        }
    }
}

/// Handles of a run for other threads, and its place in the process. Clones are of the same run.
#[derive(Clone, Debug, Default)]
pub struct RunControl {
    /// Receives the progress.
    pub progress: Progress,
    /// Stops the run.
    pub cancel: Cancel,
    /// Whether its memory is freed.
    pub ending: Ending,
}

impl RunControl {
    /// Control of a run that this handle stops.
    pub(crate) fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            cancel: cancel.clone(),
            ..Self::default()
        }
    }

    /// Handles of a run after which the process exits.
    pub fn before_exit() -> Self {
        Self {
            ending: Ending::Exits,
            ..Self::default()
        }
    }
}

/// Progress of a run, readable from other threads through clones.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Mutex<ProgressStep>>);

/// The current step of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressStep {
    /// The items that it counts.
    pub unit: ProgressUnit,
    /// Number of finished items.
    pub done: usize,
    /// Number of all items, if known.
    pub all: Option<usize>,
}

/// Items that a step of a run counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressUnit {
    /// Files to read.
    #[default]
    Files,
    /// Sites to process.
    Sites,
    /// Commits of a history; the files and sites of each are not counted.
    Commits,
}

impl Progress {
    /// The current step.
    pub fn step(&self) -> ProgressStep {
        *self.0.lock()
    }

    /// Begins a step. Files are added to those of the step before.
    pub(crate) fn begin(&self, unit: ProgressUnit, all: Option<usize>) {
        let mut step = self.0.lock();
        let before = *step;
        *step = match (before.unit, unit) {
            (ProgressUnit::Commits, ProgressUnit::Files | ProgressUnit::Sites) => before,
            (ProgressUnit::Files, ProgressUnit::Files) => {
                let all = before.all.unwrap_or_default() + all.unwrap_or_default();
                ProgressStep {
                    all: Some(all),
                    ..before
                }
            }
            _ => ProgressStep { unit, done: 0, all },
        };
    }

    /// Counts finished items, if they are those of the current step.
    pub(crate) fn add(&self, unit: ProgressUnit, more: usize) {
        let mut step = self.0.lock();
        step.done += if step.unit == unit { more } else { 0 };
    }
}

impl Plan {
    /// Whether it reads the files that an earlier plan listed, so that only their texts can differ.
    fn has_files_of(&self, earlier: &Self) -> bool {
        match (&self.scope, &earlier.scope) {
            (Scope::Repository { layout, .. }, Scope::Repository { layout: before, .. }) => {
                Arc::ptr_eq(layout, before)
            }
            (Scope::Repository { .. } | Scope::Set(_), _) => false,
        }
    }

    fn layout(&self) -> Option<&Layout> {
        match &self.scope {
            Scope::Repository { layout, .. } => Some(layout),
            Scope::Set(_) => None,
        }
    }

    /// The further repositories.
    fn further(&self) -> &[Arc<Further>] {
        match &self.scope {
            Scope::Repository { further, .. } => further,
            Scope::Set(_) => &[],
        }
    }

    /// Further repositories of the sites on a side; `None` without sites.
    fn uses(&self, which: Which) -> Option<&Uses> {
        match (&self.scope, which) {
            (Scope::Repository { uses, .. }, Which::Head) => Some(uses),
            (Scope::Repository { .. }, Which::Base) => self.base.as_ref().map(|base| &*base.uses),
            (Scope::Set(_), _) => None,
        }
    }

    /// Whether the user asks for a site of this name; `None` for a set without layout.
    fn requests(&self, site: Option<&str>) -> bool {
        let globs = self.options.sites.as_ref();
        globs.is_none_or(|globs| site.is_some_and(|site| globs.is_match(site)))
    }

    /// Keeps the findings that apply to a requested site, and removes other sites from them.
    fn keep_requested(&self, findings: &mut Vec<Diagnostic>) {
        let Some(globs) = &self.options.sites else {
            return;
        };
        findings.retain_mut(|finding| {
            finding.sites.retain(|site| globs.is_match(&**site));
            !finding.sites.is_empty()
        });
    }

    /// Whether a site consists only of its layers. A part of a declared set can be anywhere.
    fn is_by_site(&self) -> bool {
        self.layout().is_some() && self.options.configuration.sets.is_empty()
    }

    /// Whether a site is compared, or there is only one side.
    fn reaches(&self, site: Option<&Arc<str>>) -> bool {
        let reached = self.base.as_ref().and_then(|base| base.reached.as_ref());
        reached.is_none_or(|reached| site.is_some_and(|site| reached.contains(site)))
    }

    /// Whether the run is limited to some sites or files.
    fn is_limited(&self) -> bool {
        let is_part = match &self.scope {
            Scope::Repository { .. } => false,
            Scope::Set(paths) => !paths.iter().all(RepoPath::is_root),
        };
        is_part || self.options.sites.is_some() || !self.options.only.is_empty()
    }

    /// Whether `path` is among those to which the run is limited.
    pub(crate) fn concerns(&self, path: &RepoPath) -> bool {
        triage::concerns(&self.options.only, path)
    }
}

/// A rendered site while it is in memory.
pub struct RenderedSite<'a> {
    /// Documents and their relations.
    pub site: &'a Site<'a>,
    /// Sets given to cloud-init there.
    pub sets: &'a Sets<'a>,
    /// Recipes of the documents.
    pub graph: &'a Graph,
    /// Rendering results.
    pub rendered: &'a Rendered,
    /// All sources.
    pub sources: &'a SourceMap,
}

impl<'s> RenderedSite<'s> {
    /// Rendered data of a document, or its own data if it is not rendered.
    pub(crate) fn data(&self, doc: DocId) -> &'s Node {
        let own = &self.graph.recipe(doc).data;
        self.rendered.data(doc).unwrap_or(own)
    }

    /// Those of `docs` that were not requested before.
    pub(crate) fn unrequested(&self, docs: impl IntoIterator<Item = DocId>) -> Vec<DocId> {
        docs.into_iter()
            .filter(|doc| !self.rendered.is_wanted(*doc))
            .collect()
    }
}

/// Kind of work that a run does on the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Renders sites and runs all rules on them.
    Judge,
    /// Renders only the sets of cloud-init, and runs rules on them and their parts.
    Merge,
    /// Renders sites without rules and without a baseline.
    Render,
    /// Renders the documents that the caller needs (`Answer::Needs`), without rules.
    Answer,
    /// Relates the documents of each site, without rendering.
    Relate,
}

impl Work {
    /// Whether the caller reports findings.
    fn has_findings(self) -> bool {
        match self {
            Work::Judge | Work::Merge | Work::Render => true,
            Work::Answer | Work::Relate => false,
        }
    }
}

/// Result of a caller for a site of which only some documents are rendered.
#[derive(Debug)]
pub enum Answer<T> {
    /// The final result.
    Is(T),
    /// These documents must be rendered first.
    Needs(Vec<DocId>),
}

impl<T> Answer<T> {
    /// The final result, once these documents are rendered.
    pub(crate) fn after(needed: Vec<DocId>, answer: impl FnOnce() -> T) -> Self {
        if needed.is_empty() {
            Answer::Is(answer())
        } else {
            Answer::Needs(needed)
        }
    }

    /// Both final results, once the documents are rendered that either needs.
    pub(crate) fn and<U>(self, other: Answer<U>) -> Answer<(T, U)> {
        match (self, other) {
            (Answer::Is(one), Answer::Is(other)) => Answer::Is((one, other)),
            (Answer::Needs(mut docs), Answer::Needs(more)) => {
                docs.extend(more);
                Answer::Needs(docs)
            }
            (Answer::Needs(docs), Answer::Is(_)) | (Answer::Is(_), Answer::Needs(docs)) => {
                Answer::Needs(docs)
            }
        }
    }

    /// Changes the final result.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Answer::Is(answer) => Answer::Is(change(answer)),
            Answer::Needs(docs) => Answer::Needs(docs),
        }
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Checked<T> {
    /// All sources, to show places in them.
    pub sources: SourceMap,
    /// Sites, sorted by name.
    pub sites: Vec<CheckedSite<T>>,
    /// Further repositories that they read, by name and sites.
    pub repositories: Vec<UsedRepository>,
    /// Findings.
    pub findings: Findings,
    /// Spans of text that contain secrets, which no report may show.
    pub secrets: Vec<Span>,
    /// Files that may contain secrets at unknown places, because they are partly unreadable.
    pub opaque: Vec<FileId>,
    /// Number of documents in all files.
    pub documents: usize,
    /// Requested sites without a usable definition, by name; empty with a comparison.
    pub undefined: Vec<Arc<str>>,
    /// Places up to which requested files were read, by path, if not completely, so that documents
    /// may be missing; empty with a comparison.
    pub unread: Vec<Span>,
    /// Files and folders to which the run is limited; empty for all.
    pub only: Vec<RepoPath>,
    /// Certificates in the outputs of the head, with the time of their check.
    pub certificates: (Option<CheckTime>, CertificateTally),
    /// Whether a part of layercake failed.
    pub internal_error: bool,
}

/// A site, with the data that the caller took from it.
#[derive(Debug)]
pub struct CheckedSite<T> {
    /// Name; `None` for a set without layout.
    pub name: Option<Arc<str>>,
    /// Site type; `None` for a set without layout.
    pub site_type: Option<Arc<str>>,
    /// Number of files.
    pub files: usize,
    /// Number of documents in the files.
    pub documents: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Certificates in its outputs, if rules judged them.
    pub(crate) certificates: CertificateTally,
    /// Data taken by the caller; `None` if layercake failed.
    pub taken: Option<T>,
}

impl<T> Checked<T> {
    /// The result, and separately the data taken from the sites, in their order.
    pub fn without_taken(self) -> (Checked<()>, Vec<T>) {
        let mut all = Vec::new();
        let checked = self.taking(|_, taken| taken.map(|taken| all.push(taken)));
        (checked, all)
    }

    /// Replaces the data taken from each site; `take` gets its name and the previous data.
    fn taking<U>(
        self,
        mut other: impl FnMut(&Option<Arc<str>>, Option<T>) -> Option<U>,
    ) -> Checked<U> {
        let sites = self.sites.into_iter().map(|site| CheckedSite {
            taken: other(&site.name, site.taken),
            name: site.name,
            site_type: site.site_type,
            files: site.files,
            documents: site.documents,
            outputs: site.outputs,
            certificates: site.certificates,
        });
        Checked {
            sites: sites.collect(),
            sources: self.sources,
            repositories: self.repositories,
            findings: self.findings,
            secrets: self.secrets,
            opaque: self.opaque,
            documents: self.documents,
            undefined: self.undefined,
            unread: self.unread,
            only: self.only,
            certificates: self.certificates,
            internal_error: self.internal_error,
        }
    }
}

/// Data that a caller takes from rendered sites, by site name. It keeps the pipeline free of type
/// parameters, so that it is compiled once and not for each verb.
pub(crate) struct TakenBySite<T>(Mutex<BTreeMap<Option<Arc<str>>, T>>);

impl<T> TakenBySite<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    pub(crate) fn add(&self, site: &RenderedSite<'_>, taken: T) {
        self.0.lock().insert(site.site.name.clone(), taken);
    }

    pub(crate) fn into_sites(self) -> BTreeMap<Option<Arc<str>>, T> {
        self.0.into_inner()
    }
}

/// Reads, renders and judges as `plan` says; `per_site` takes data from each rendered site.
///
/// # Errors
/// As `work_on_sites`.
pub fn check<T: Send>(
    plan: &Plan,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    work_on_sites(plan, Work::Judge, per_site)
}

/// Reads the files of `plan` and does `work` on its sites; `per_site` takes data from each.
///
/// # Errors
/// If a requested site does not exist, or a tree cannot be listed. Faults of documents are
/// findings.
pub(crate) fn work_on_sites<T: Send>(
    plan: &Plan,
    work: Work,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    ask_sites(plan, work, |site| Answer::Is(per_site(site)))
}

/// As [`work_on_sites`]; `per_site` is called repeatedly until the documents it requests are rendered.
///
/// # Errors
/// As [`work_on_sites`].
pub(crate) fn ask_sites<T: Send>(
    plan: &Plan,
    work: Work,
    per_site: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
) -> Result<Checked<T>, Error> {
    let taken = TakenBySite::new();
    let checked = Workspace::once(plan.clone(), work)?.check(&|site| match per_site(site) {
        Answer::Needs(docs) => docs,
        Answer::Is(answer) => {
            taken.add(site, answer);
            Vec::new()
        }
    })?;
    let mut taken = taken.into_sites();
    Ok(checked.taking(|site, _| taken.remove(site)))
}

/// Amount of data that a run read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTotals {
    /// Number of files.
    pub files: usize,
    /// Number of YAML documents in them.
    pub documents: usize,
}

/// Reads and parses the files of `plan`, and does nothing with them.
///
/// # Errors
/// As [`check`].
pub(crate) fn parse(plan: &Plan) -> Result<ParseTotals, Error> {
    let documents = AtomicUsize::new(0);
    let keep = |_: &SourceMap, _: AsRead<'_>, parsed: Parsed| {
        documents.fetch_add(parsed.documents.len(), Relaxed);
        plan.control.ending.give_back(parsed);
        LoadedFile::default()
    };
    let reads = (Work::Judge, SitesRead::All);
    let sources = SideSource::of_plan(plan);
    let is_compared = sources.len() > 1;
    let mut files = Files::new(plan, reads, FilesSoFar::default(), is_compared, &keep);
    files.sides(plan, &sources)?;
    let totals = ParseTotals {
        files: files.kept.len(),
        documents: documents.load(Relaxed),
    };
    plan.control.ending.give_back(files);
    Ok(totals)
}

/// Maximum number of threads of a run. Each costs memory and a system thread, even when idle.
pub const MAX_THREADS: usize = 256;

/// Limits the threads of this process to [`MAX_THREADS`] if more are `asked` for, and returns
/// whether it did. Must be called before any other work.
pub fn limit_threads(asked: usize) -> bool {
    let is_beyond = asked > MAX_THREADS;
    if is_beyond {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(MAX_THREADS);
        pool.build_global()
            .expect("nothing has started threads before");
    }
    is_beyond
}

/// Number of threads that read files and render sites.
pub fn threads() -> usize {
    rayon::current_num_threads()
}
