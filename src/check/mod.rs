//! The pipeline, top to bottom: files, documents, sites, graphs, rendered
//! documents, findings.
//!
//! Files are read and parsed in parallel, each once; then sites are made in
//! parallel, each by itself. What a caller wants of a rendered site it takes
//! from there (`per_site`), so that not all sites are in memory at
//! once.

mod compare;
mod configuration;
mod files;
mod load;
mod parts;
mod repositories;
mod sets;
mod side;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

pub use compare::{Before, BothSides, Compared, Settings, compare, compare_with};
pub use configuration::{Configuration, Entry, EntryKind, GivenHeader, KnownMissing};
pub use files::first_document;
pub use load::baseline;
pub use sets::{DeclaredSet, SecretFiles};

use globset::GlobSet;
use rayon::prelude::*;

use self::files::Files;
use self::load::{Loaded, SetFiles};
use self::repositories::Which;
use self::side::{Asked, OneSide};
use crate::diagnostic::Diagnostic;
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::{DocId, Graph};
use crate::guard::{Place, guarded};
use crate::render::{Alike, Rendered};
use crate::rules::{self, Undone};
use crate::source::{FileId, RepoPath, SourceMap, Span, Tree, UsedRepository};
use crate::stopwatch::{Stage, did, lap, split};
use crate::system::cloud_init::Sets;
use crate::system::deckhand::layout::{Layout, Uses};
use crate::system::deckhand::{Options, Site};
use crate::triage::{self, Findings, Policy};
use crate::yaml::Parsed;

/// Which documents belong together.
pub enum Scope<'a> {
    /// The sites of a repository.
    Repository {
        /// How its files lie in the tree.
        layout: &'a Layout,
        /// Further repositories that its sites, and those of the base, are made of.
        further: Vec<Further<'a>>,
        /// Which of them each of its sites is made of.
        uses: Uses,
    },
    /// All documents below these paths, as one set without layout.
    Set(Vec<RepoPath>),
}

impl<'a> Scope<'a> {
    /// The sites of a repository that are made of no other.
    pub fn of_repository(layout: &'a Layout) -> Self {
        Scope::Repository { layout, further: Vec::new(), uses: Uses::new() }
    }
}

/// A further repository at one revision.
pub struct Further<'a> {
    /// The name under which it was given: several revisions of it have the same.
    pub name: Arc<str>,
    /// Its files.
    pub tree: &'a dyn Tree,
    /// Where its `global/`, `type/` and `site/` are in the tree.
    pub root: RepoPath,
    /// The commit that it is at, in full; none where files on disk are read.
    pub commit: Option<Arc<str>>,
    /// The template of links to its lines.
    pub links: Option<Arc<str>>,
}

/// What is to be done.
pub struct Plan<'a> {
    /// Where the files are.
    pub tree: &'a dyn Tree,
    /// Which of them belong together.
    pub scope: Scope<'a>,
    /// What they are compared with; nothing where only one side is checked.
    pub base: Option<Base<'a>>,
    /// How they are understood, where the configuration says nothing else of a
    /// site.
    pub options: Options,
    /// Names of the sites wanted; all where none is given.
    pub sites: Option<GlobSet>,
    /// Files and folders to which findings are limited; all where none is
    /// given.
    pub only: Vec<RepoPath>,
    /// What the rules are told.
    pub rules: rules::Settings,
    /// What becomes of their findings.
    pub policy: Policy,
    /// The file that says which of them were accepted before, if it is there;
    /// none where nothing is to be.
    pub baseline: Option<RepoPath>,
    /// On which side that file is read for the head.
    pub accepted_by: AcceptedBy,
    /// What else the repository's configuration asks for.
    pub configuration: Configuration,
    /// Told how far the run is.
    pub progress: &'a Progress,
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
    pub tree: &'a dyn Tree,
    /// How they lie; none where it is no site repository.
    pub layout: Option<&'a Layout>,
    /// Which further repositories each of its sites is made of.
    pub uses: Uses,
    /// The sites that are compared, where the files of the others were left out but for their
    /// definitions; all where it is not said.
    pub reached: Option<BTreeSet<Arc<str>>>,
}

impl<'a> Base<'a> {
    /// A side whose sites are made of no other repository.
    pub fn of_repository(tree: &'a dyn Tree, layout: Option<&'a Layout>) -> Self {
        Self { tree, layout, uses: Uses::new(), reached: None }
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
    fn further(&self) -> &[Further<'_>] {
        match &self.scope {
            Scope::Repository { further, .. } => further,
            Scope::Set(_) => &[],
        }
    }

    /// The further repositories of the sites on a side; none where there are no sites.
    fn uses(&self, which: Which) -> Option<&Uses> {
        match (&self.scope, which) {
            (Scope::Repository { uses, .. }, Which::Head) => Some(uses),
            (Scope::Repository { .. }, Which::Base) => self.base.as_ref().map(|base| &base.uses),
            (Scope::Set(_), _) => None,
        }
    }

    /// Whether a site is compared, or is the only side.
    fn reaches(&self, site: Option<&Arc<str>>) -> bool {
        let reached = self.base.as_ref().and_then(|base| base.reached.as_ref());
        reached.is_none_or(|reached| site.is_some_and(|site| reached.contains(site)))
    }

    /// Whether only some sites or files are looked at.
    fn is_limited(&self) -> bool {
        let is_part = match &self.scope {
            Scope::Repository { .. } => false,
            Scope::Set(paths) => !paths.iter().all(RepoPath::is_root),
        };
        is_part || self.sites.is_some() || !self.only.is_empty()
    }

    /// Whether `file` is among those to which the run is limited.
    pub fn concerns(&self, path: &RepoPath) -> bool {
        triage::concerns(&self.only, path)
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
    pub fn unasked(&self, docs: impl IntoIterator<Item = DocId>) -> Vec<DocId> {
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
    /// Renders the documents that the caller [needs](Answer::Needs). Nothing is judged.
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
pub enum Answer<T> {
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
        let mut taken = Vec::new();
        let sites = self.sites.into_iter().map(|site| {
            let was_taken = site.taken.is_some();
            taken.extend(site.taken);
            CheckedSite {
                name: site.name,
                site_type: site.site_type,
                files: site.files,
                documents: site.documents,
                outputs: site.outputs,
                taken: was_taken.then_some(()),
            }
        });
        let checked = Checked {
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
        };
        (checked, taken)
    }
}

/// Reads, renders and judges what `plan` says; `per_site` takes from each
/// rendered site what the caller wants of it.
///
/// # Errors
/// Where there is no such site, or a tree that cannot be listed. Faults of
/// documents are findings.
pub fn check<T: Send>(
    plan: &Plan<'_>,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    run(plan, Work::Judge, None, &|site| Answer::Is(per_site(site)))
}

/// Reads and renders what `plan` says, for a caller that runs no rules: the findings are what
/// rendering itself met.
///
/// # Errors
/// As [`check`].
pub fn render_sites<T: Send>(
    plan: &Plan<'_>,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    run(plan, Work::Render, None, &|site| Answer::Is(per_site(site)))
}

/// Reads what `plan` says, and renders of each site the documents that `per_site` needs, which
/// it says of the site as far as it is rendered: at first nothing is. There are no findings. The
/// site called `first`, if there is one, comes before all others.
///
/// # Errors
/// As [`check`].
pub fn answer_sites<T: Send>(
    plan: &Plan<'_>,
    first: Option<&str>,
    per_site: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
) -> Result<Checked<T>, Error> {
    run(plan, Work::Answer, first, &per_site)
}

/// Reads what `plan` says, and renders and judges what cloud-init is given in each site; Deckhand's
/// documents are neither rendered nor judged.
///
/// # Errors
/// As [`check`].
pub fn merge_sets<T: Send>(
    plan: &Plan<'_>,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Result<Checked<T>, Error> {
    run(plan, Work::Merge, None, &|site| Answer::Is(per_site(site)))
}

/// Reads what `plan` says and relates the documents of each site, without rendering them.
///
/// # Errors
/// As [`check`].
pub fn relate_sites(plan: &Plan<'_>) -> Result<Checked<()>, Error> {
    run(plan, Work::Relate, None, &|_| Answer::Is(()))
}

fn run<T: Send>(
    plan: &Plan<'_>,
    work: Work,
    first: Option<&str>,
    per_site: &(impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync),
) -> Result<Checked<T>, Error> {
    let mut loaded = Loaded::new(plan, work)?;
    loaded.ensure_sites(plan)?;
    let mut wanted = loaded.head.wanted(plan);
    let first = wanted.iter().position(|set| first.is_some() && set.name.as_deref() == first);
    if let Some(first) = first {
        wanted[..=first].rotate_right(1);
    }
    plan.progress.sites.store(wanted.len(), Relaxed);
    let mut diagnostics = if work.has_findings() {
        lap(Stage::Rules, || loaded.file_findings(&loaded.head))
    } else {
        Vec::new()
    };
    did(Stage::Rules, || diagnostics.len());
    if matches!(work, Work::Judge | Work::Render) {
        diagnostics.extend(loaded.head.layout_findings());
    }
    let mut sites = after_its_like(
        &wanted,
        |files| files.site_type.as_deref(),
        |files, like| site(plan, &loaded, files, like, per_site),
    );
    if let Some(first) = first {
        sites[..=first].rotate_left(1);
    }
    let (sites, found): (Vec<_>, Vec<_>) = sites.into_iter().unzip();
    diagnostics.extend(found.into_iter().flatten());
    diagnostics.extend(loaded.configuration_findings(plan, &loaded.head));
    let internal_error = loaded.has_failed() || diagnostics.iter().any(rules::is_internal);
    did(Stage::Judge, || diagnostics.len());
    let findings = lap(Stage::Judge, || {
        let mut diagnostics = loaded.judge(plan, &loaded.head, diagnostics);
        if let Some(globs) = &plan.sites {
            diagnostics.retain_mut(|diagnostic| counts_for(diagnostic, globs));
        }
        Findings::new(diagnostics, &loaded.sources, &plan.only).with_consequences(&loaded.sources)
    });
    let (secrets, opaque) = (loaded.secrets(), loaded.opaque());
    let documents = loaded.documents(plan, &wanted);
    let (undefined, unread) = (loaded.undefined(plan), loaded.unread(plan, &wanted));
    let repositories = repositories::used_repositories(plan, &loaded);
    let sources = mem::take(&mut loaded.sources);
    give_back(loaded);
    Ok(Checked {
        sources,
        sites,
        repositories,
        findings,
        secrets,
        opaque,
        documents,
        undefined,
        unread,
        internal_error,
    })
}

/// Whether a finding counts for one of the sites asked for; the others are
/// left out of it.
fn counts_for(diagnostic: &mut Diagnostic, sites: &GlobSet) -> bool {
    diagnostic.sites.retain(|site| sites.is_match(&**site));
    !diagnostic.sites.is_empty()
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
pub fn parse(plan: &Plan<'_>) -> Result<ParseTotals, Error> {
    let files = Files::new(plan, Work::Judge, &|_, _, parsed| parsed)?;
    let totals = ParseTotals {
        files: files.kept.len(),
        documents: files.kept.iter().map(|parsed: &Parsed| parsed.documents.len()).sum(),
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

/// Renders and judges one site, and gives it back for those that are `like` it.
fn site<'l, T>(
    plan: &Plan<'_>,
    loaded: &'l Loaded,
    files: &SetFiles,
    like: Option<&OneSide<'l>>,
    per_site: &(impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync),
) -> ((CheckedSite<T>, Vec<Diagnostic>), Option<OneSide<'l>>) {
    let name = files.name.as_deref().unwrap_or_default();
    let like = like.map(|like| (like, Alike::Text));
    let (mut docs, mut before) = (Vec::new(), None);
    // A fault in layercake itself costs this site, or what was to be taken from
    // it, and says so; the others go on.
    let (side, taken) = loop {
        let asked = Asked { docs: &docs, before: before.as_ref() };
        let side = guarded(Place::Site(name), || {
            OneSide::of(plan, loaded, (&loaded.head, files), like, asked)
        });
        let at_hand = side.as_ref().map(|side| side.at_hand(&loaded.sources));
        match at_hand.and_then(|site| guarded(Place::Taking(name), || per_site(&site))) {
            Some(Answer::Needs(more)) => docs.extend(more),
            Some(Answer::Is(taken)) => break (side, Some(taken)),
            None => break (side, None),
        }
        before = side;
    };
    let has_failed = side.as_ref().is_some_and(|side| side.rendered.has_failed());
    let undone = match (&side, &taken) {
        (None, _) => Some(Undone::Checking),
        (Some(_), _) if has_failed && !loaded.work.has_findings() => Some(Undone::Checking),
        (Some(_), None) => Some(Undone::Taking),
        (Some(_), Some(_)) => None,
    };
    // Sites that are like this one ask what was found here.
    let mut found = side.as_ref().map(|side| side.findings.clone()).unwrap_or_default();
    found.extend(undone.map(|undone| files.word_internal(undone)));
    let checked = match &side {
        Some(side) => side.checked(files, taken),
        None => CheckedSite::failed(loaded, files),
    };
    plan.progress.sites_rendered.fetch_add(1, Relaxed);
    ((checked, found), side)
}

impl<T> CheckedSite<T> {
    /// A site at which layercake itself failed.
    fn failed(loaded: &Loaded, files: &SetFiles) -> Self {
        let documents = files.files.iter().map(|file| loaded.file(*file).documents.len());
        Self {
            name: files.name.clone(),
            site_type: files.site_type.clone(),
            files: files.files.len(),
            documents: documents.sum(),
            outputs: 0,
            taken: None,
        }
    }
}

impl SetFiles {
    /// The finding for what layercake failed to do with it.
    fn word_internal(&self, undone: Undone) -> Diagnostic {
        let sites = self.name.iter().cloned().collect();
        Diagnostic { sites, ..rules::word_internal(self.first_file(), undone) }
    }
}

/// Does `one` for each item: for the first, then for the first of each kind, and
/// after each of these for the others of its kind. Each is shown what was made of
/// one that it is probably much like: the first of its kind, or else the first of
/// all. What `one` gives comes in the order of the items.
fn after_its_like<I: Sync, K: Ord + Send, R: Send, S: Send + Sync>(
    items: &[I],
    kind: impl Fn(&I) -> K,
    one: impl Fn(&I, Option<&S>) -> (R, Option<S>) + Sync,
) -> Vec<R> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut members: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        members.entry(kind(item)).or_default().push(index);
    }
    let members: Vec<Vec<usize>> = members.into_values().collect();
    let split = split();
    let to_begin = AtomicUsize::new(items.len());
    let one = |at: usize, like: Option<&S>| {
        let _part = split.part();
        to_begin.fetch_sub(1, Relaxed);
        one(&items[at], like)
    };
    let free = |made: Option<S>| {
        let _part = split.part();
        if to_begin.load(Relaxed) == 0 {
            // None comes that could use the memory.
            give_back(made);
        } else {
            lap(Stage::Free, || drop(made));
        }
    };
    let others = |members: &[usize], like: Option<&S>| -> Vec<(usize, R)> {
        let other = |at: &usize| {
            let (made, of_nobody) = one(*at, like);
            free(of_nobody);
            (*at, made)
        };
        members[1..].par_iter().map(other).collect()
    };
    let (of_first, like_all) = one(0, None);
    let of_kind = |members: &Vec<usize>| {
        // The first of all is the first of its kind.
        if members[0] == 0 {
            return others(members, like_all.as_ref());
        }
        let (led, like) = one(members[0], like_all.as_ref());
        let mut made = others(members, like.as_ref());
        // Sites are large: none is kept for longer than others ask for it.
        free(like);
        made.push((members[0], led));
        made
    };
    let made: Vec<Vec<(usize, R)>> = members.par_iter().map(of_kind).collect();
    drop(split);
    give_back(like_all);
    let mut made: BTreeMap<usize, R> = made.into_iter().flatten().collect();
    made.insert(0, of_first);
    made.into_values().collect()
}
