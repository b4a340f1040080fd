//! The pipeline, top to bottom: files, documents, sites, graphs, rendered
//! documents, findings.
//!
//! Files are read and parsed in parallel, each once; then sites are made in
//! parallel, each by itself. What a caller wants of a rendered site it takes
//! from there (`per_site`), so that not all sites are in memory at
//! once.

pub mod compare;
mod configuration;
mod edited;
mod file;
mod files;
mod judge;
mod load;
mod repositories;
mod run;
mod session;
mod site;
mod states;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use globset::GlobSet;

pub(crate) use self::compare::ComparedWith;
pub use self::compare::{BothSides, Compared, Settings};
pub use self::configuration::Configuration;
pub(crate) use self::configuration::{Entry, GivenHeader, KnownMissing};
use self::file::{AsRead, LoadedFile};
use self::files::{Files, FilesSoFar, SideSource, SitesRead};
pub(crate) use self::files::{SiteNames, first_document, sites_reading};
pub(crate) use self::load::baseline;
pub use self::run::{compare, compare_with};
pub(crate) use self::session::NameAndType;
pub use self::session::Session;
use self::session::run;
pub(crate) use self::states::{SiteState, SiteStates, StateAs, StatesAtHand};
use crate::diagnostic::Diagnostic;
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::{DocId, Graph};
use crate::render::Rendered;
use crate::rules;
use crate::source::{FileId, Labelled, RepoPath, SourceMap, Span, Tree, UsedRepository};
use crate::system::cloud_init::Sets;
use crate::system::deckhand::layout::{Layout, Uses};
use crate::system::deckhand::{DeckhandOptions, Site};
use crate::triage::{self, Findings, TriagePolicy};
use crate::yaml::Parsed;

/// Which documents belong together.
pub enum Scope<'a> {
    /// The sites of a repository.
    Repository {
        /// How its files lie in the tree.
        layout: &'a Layout,
        /// Further repositories that its sites, and those of the base, are made of.
        further: &'a [Further],
        /// Which of them each of its sites is made of.
        uses: &'a Uses,
    },
    /// All documents below these paths, as one set without layout.
    Set(Vec<RepoPath>),
}

/// The further repositories of sites that are made of none.
static NO_USES: Uses = Uses::new();

impl<'a> Scope<'a> {
    /// The sites of a repository that are made of no other.
    pub fn of_repository(layout: &'a Layout) -> Self {
        Scope::Repository { layout, further: &[], uses: &NO_USES }
    }
}

/// A further repository at one revision.
pub struct Further {
    /// The name under which it was given: several revisions of it have the same.
    pub(crate) name: Arc<str>,
    /// Its files; its `global/`, `type/` and `site/` are at the root.
    pub(crate) tree: Labelled<Box<dyn Tree + Send>>,
    /// The commit that it is at, in full; none where files on disk are read.
    pub(crate) commit: Option<Arc<str>>,
    /// The template of links to its lines.
    pub(crate) links: Option<Arc<str>>,
}

/// What is to be done.
pub struct Plan<'a> {
    /// Where the files are.
    pub tree: &'a dyn Tree,
    /// Which of them belong together.
    pub scope: Scope<'a>,
    /// What they are compared with; nothing where only one side is checked.
    pub base: Option<Base<'a>>,
    /// What flags and the configuration ask for.
    pub options: Options,
    /// Told how far the run is.
    pub progress: &'a Progress,
}

/// Options of a run from flags and the configuration, independent of the files that it reads.
#[derive(Clone, Debug)]
pub struct Options {
    /// How documents are understood, where the configuration says nothing else of a
    /// site.
    pub deckhand: DeckhandOptions,
    /// Names of the sites wanted; all where none is given.
    pub sites: Option<GlobSet>,
    /// Files and folders to which findings are limited; all where none is
    /// given.
    pub only: Vec<RepoPath>,
    /// What the rules are told.
    pub rules: rules::RuleOptions,
    /// What becomes of their findings.
    pub policy: TriagePolicy,
    /// The file that says which of them were accepted before, if it is there;
    /// none where nothing is to be.
    pub baseline: Option<RepoPath>,
    /// On which side that file is read for the head.
    pub accepted_by: AcceptedBy,
    /// What else the repository's configuration asks for.
    pub configuration: Configuration,
    /// Whether documents that are made of the same things are made and judged once. Results are the
    /// same where they are not: tests compare both.
    pub shares_documents: bool,
}

impl Options {
    /// All sites and files, by the rules that count where nothing is configured.
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

    /// The plan to look at all files of a tree: those of its sites, or all as one
    /// set where it has no layout. `base` is what they are compared with.
    pub fn plan<'a>(
        self,
        tree: &'a dyn Tree,
        layout: Option<&'a Layout>,
        base: Option<Base<'a>>,
        progress: &'a Progress,
    ) -> Plan<'a> {
        let scope = match layout {
            Some(layout) => Scope::of_repository(layout),
            None => Scope::Set(vec![RepoPath::new("")]),
        };
        Plan { tree, scope, base, options: self, progress }
    }
}

/// Which side says what was accepted before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcceptedBy {
    /// Each side for itself.
    #[default]
    Itself,
    /// The base for both, so that no change accepts its own findings.
    Base,
}

/// The side that a run compares with.
pub struct Base<'a> {
    /// Where its files are.
    pub(crate) tree: &'a dyn Tree,
    /// How they lie; none where it is no site repository.
    pub(crate) layout: Option<&'a Layout>,
    /// Which further repositories each of its sites is made of.
    pub(crate) uses: &'a Uses,
    /// The sites that are compared, where the files of the others were left out but for their
    /// definitions; all where it is not said.
    pub(crate) reached: Option<&'a SiteNames>,
}

impl<'a> Base<'a> {
    /// A side whose sites are made of no other repository.
    pub fn of_repository(tree: &'a dyn Tree, layout: Option<&'a Layout>) -> Self {
        Self { tree, layout, uses: &NO_USES, reached: None }
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

/// How far a run is, to be looked at from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicUsize,
    files_read: AtomicUsize,
    sites: AtomicUsize,
    sites_rendered: AtomicUsize,
}

impl Progress {
    /// Files read so far, of how many.
    pub fn files(&self) -> (usize, usize) {
        (self.files_read.load(Relaxed), self.files.load(Relaxed))
    }

    /// Sites rendered so far, of how many; none are known before all files
    /// have been read.
    pub fn sites(&self) -> (usize, usize) {
        (self.sites_rendered.load(Relaxed), self.sites.load(Relaxed))
    }
}

impl Plan<'_> {
    fn layout(&self) -> Option<&Layout> {
        match &self.scope {
            Scope::Repository { layout, .. } => Some(layout),
            Scope::Set(_) => None,
        }
    }

    /// The further repositories.
    fn further(&self) -> &[Further] {
        match &self.scope {
            Scope::Repository { further, .. } => further,
            Scope::Set(_) => &[],
        }
    }

    /// The further repositories of the sites on a side; none where there are no sites.
    fn uses(&self, which: Which) -> Option<&Uses> {
        match (&self.scope, which) {
            (Scope::Repository { uses, .. }, Which::Head) => Some(uses),
            (Scope::Repository { .. }, Which::Base) => self.base.as_ref().map(|base| base.uses),
            (Scope::Set(_), _) => None,
        }
    }

    /// Leaves the findings that count for one of the sites asked for; the others are left out of
    /// them.
    fn keep_asked(&self, findings: &mut Vec<Diagnostic>) {
        let Some(globs) = &self.options.sites else { return };
        findings.retain_mut(|finding| {
            finding.sites.retain(|site| globs.is_match(&**site));
            !finding.sites.is_empty()
        });
    }

    /// Whether the layers of a site are all that it is made of: a part of a declared set can be
    /// anywhere.
    fn is_by_site(&self) -> bool {
        self.layout().is_some() && self.options.configuration.sets.is_empty()
    }

    /// Whether a site is compared, or is the only side.
    fn reaches(&self, site: Option<&Arc<str>>) -> bool {
        let reached = self.base.as_ref().and_then(|base| base.reached);
        reached.is_none_or(|reached| site.is_some_and(|site| reached.contains(site)))
    }

    /// Whether only some sites or files are looked at.
    fn is_limited(&self) -> bool {
        let is_part = match &self.scope {
            Scope::Repository { .. } => false,
            Scope::Set(paths) => !paths.iter().all(RepoPath::is_root),
        };
        is_part || self.options.sites.is_some() || !self.options.only.is_empty()
    }

    /// Whether `file` is among those to which the run is limited.
    pub(crate) fn concerns(&self, path: &RepoPath) -> bool {
        triage::concerns(&self.options.only, path)
    }
}

/// A rendered site, while it is at hand.
pub struct RenderedSite<'a> {
    /// Its documents and how they are related.
    pub site: &'a Site<'a>,
    /// What cloud-init is given there.
    pub sets: &'a Sets<'a>,
    /// The recipes they were lowered to.
    pub graph: &'a Graph,
    /// What came of them.
    pub rendered: &'a Rendered,
    /// All texts.
    pub sources: &'a SourceMap,
}

impl RenderedSite<'_> {
    /// Those of `docs` that were not asked for before.
    pub(crate) fn unasked(&self, docs: impl IntoIterator<Item = DocId>) -> Vec<DocId> {
        docs.into_iter().filter(|doc| !self.rendered.is_wanted(*doc)).collect()
    }
}

/// Which work a run does on the files that it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Renders sites and judges them by all rules.
    Judge,
    /// Renders the sets of cloud-init alone, and judges them and their parts.
    Merge,
    /// Renders sites. No rule runs, and no baseline is read.
    Render,
    /// Renders the documents that the caller needs (`Answer::Needs`). Nothing is judged.
    Answer,
    /// Relates the documents of each site to each other; none gets data.
    Relate,
}

impl Work {
    /// Whether the caller reports what is found.
    fn has_findings(self) -> bool {
        match self {
            Work::Judge | Work::Merge | Work::Render => true,
            Work::Answer | Work::Relate => false,
        }
    }
}

/// What a caller takes from a site of which only some documents are rendered.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// This.
    Is(T),
    /// Nothing yet: these documents have to be rendered for that, too.
    Needs(Vec<DocId>),
}

/// What a run found.
#[derive(Debug)]
pub struct Checked<T> {
    /// All texts, to show places in.
    pub sources: SourceMap,
    /// The sites, by name.
    pub sites: Vec<CheckedSite<T>>,
    /// The further repositories that they read, by name and sites.
    pub repositories: Vec<UsedRepository>,
    /// The findings.
    pub findings: Findings,
    /// The stretches of text that hold secrets, which no report may show.
    pub secrets: Vec<Span>,
    /// Files that may hold secrets in places nobody knows, for they could not
    /// be read to their end.
    pub opaque: Vec<FileId>,
    /// How many documents all files hold.
    pub documents: usize,
    /// Sites asked for that have no usable definition, by name; not listed with a comparison.
    pub undefined: Vec<Arc<str>>,
    /// Files asked for that were not read to their end, by path: more documents may be in them; not listed with
    /// a comparison.
    pub unread: Vec<RepoPath>,
    /// Whether a part of layercake itself failed.
    pub internal_error: bool,
}

/// One site, with what the caller took from it.
#[derive(Debug)]
pub struct CheckedSite<T> {
    /// Its name; none for a set without layout.
    pub name: Option<Arc<str>>,
    /// Its type; none for a set without layout.
    pub site_type: Option<Arc<str>>,
    /// How many files it is made of.
    pub files: usize,
    /// How many documents these hold.
    pub documents: usize,
    /// How many documents it renders to.
    pub outputs: usize,
    /// What the caller took; none where rendering failed inside layercake.
    pub taken: Option<T>,
}

impl<T> Checked<T> {
    /// What was found, and apart from it what the caller took of the sites, in
    /// their order.
    pub fn without_taken(self) -> (Checked<()>, Vec<T>) {
        let mut all = Vec::new();
        let checked = self.taking(|_, taken| taken.map(|taken| all.push(taken)));
        (checked, all)
    }

    /// The same with something else taken from each site, by its name and what was taken before.
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
            internal_error: self.internal_error,
        }
    }
}

/// What a caller takes from rendered sites, by their names. The run itself knows no type of it:
/// the pipeline is compiled once, and not for each verb.
struct TakenBySite<T>(Mutex<BTreeMap<Option<Arc<str>>, T>>);

impl<T> TakenBySite<T> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    fn add(&self, site: &RenderedSite<'_>, taken: T) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(site.site.name.clone(), taken);
    }

    fn into_sites(self) -> BTreeMap<Option<Arc<str>>, T> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads, renders and judges what `plan` says; `per_site` takes from each
/// rendered site what the caller wants of it.
///
/// # Errors
/// As `work_on_sites`.
pub fn check<T: Send>(
    plan: &Plan<'_>,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    work_on_sites(plan, Work::Judge, per_site)
}

/// Reads what `plan` says and does the work on its sites; `per_site` takes from each of them what
/// the caller wants of it.
///
/// # Errors
/// Where there is no such site, or a tree that cannot be listed. Faults of
/// documents are findings.
pub(crate) fn work_on_sites<T: Send>(
    plan: &Plan<'_>,
    work: Work,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    let taken = TakenBySite::new();
    let checked = run(plan, work, &|site| {
        taken.add(site, per_site(site));
        Vec::new()
    })?;
    let mut taken = taken.into_sites();
    Ok(checked.taking(|site, _| taken.remove(site)))
}

/// How much a run read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTotals {
    /// Files.
    pub files: usize,
    /// YAML documents in them.
    pub documents: usize,
    /// Bytes of text.
    pub bytes: usize,
}

/// Reads and parses the files of `plan`, and does nothing with them.
///
/// # Errors
/// As [`check`].
pub(crate) fn parse(plan: &Plan<'_>) -> Result<ParseTotals, Error> {
    let documents = AtomicUsize::new(0);
    let keep = |_: &SourceMap, _: AsRead<'_>, parsed: Parsed| {
        documents.fetch_add(parsed.documents.len(), Relaxed);
        give_back(parsed);
        LoadedFile::default()
    };
    let reads = (Work::Judge, SitesRead::All);
    let sources = SideSource::of_plan(plan);
    let files = Files::new(plan, &sources, reads, FilesSoFar::default(), &keep)?;
    let totals = ParseTotals {
        files: files.kept.len(),
        documents: documents.load(Relaxed),
        bytes: files.sources.iter().map(|(_, source)| source.text().len()).sum(),
    };
    give_back(files);
    Ok(totals)
}

/// Maximum number of threads of a run: each takes memory and a place in the system, whether it
/// has work or not.
pub const MAX_THREADS: usize = 256;

/// Limits the threads of this process to [`MAX_THREADS`] if more are `asked` for, and returns
/// whether it did. Must be called before any other work.
pub fn limit_threads(asked: usize) -> bool {
    let is_beyond = asked > MAX_THREADS;
    if is_beyond {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(MAX_THREADS);
        pool.build_global().expect("nothing has started threads before");
    }
    is_beyond
}

/// On how many threads files are read, and sites rendered.
pub fn threads() -> usize {
    rayon::current_num_threads()
}
