//! Files of one side that were read, and are asked, rendered and judged: once, or again after some
//! of them changed. What did not change is not read, parsed, rendered or judged again.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::files::{SiteNames, SitesRead};
use super::load::{Loaded, SetFiles, files_of_several};
use super::repositories::used_repositories;
use super::site::{KnownDocuments, OneSide};
use super::{Answer, Checked, CheckedSite, Plan, RenderedSite, TakenBySite, Work};
use crate::diagnostic::Diagnostic;
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::DocId;
use crate::guard::{Place, guarded};
use crate::render::FileSet;
use crate::rules::{self, FailedStep};
use crate::source::{FileId, RepoPath, SourceMap, Span, UsedRepository};
use crate::stopwatch::{Stage, did, lap, split};
use crate::triage::Findings;

/// A site's name and type; none for a set without layout.
pub(crate) type NameAndType = (Option<Arc<str>>, Option<Arc<str>>);

/// Files that were read, and may be asked several times.
///
/// A session of [`Work::Answer`] renders documents as far as its answers need them, and judges
/// nothing. One of [`Work::Judge`] gives all findings.
pub struct Session<'p> {
    plan: &'p Plan<'p>,
    loaded: Loaded,
    /// Sites whose files were all read; none if those of all sites were.
    read: Option<SiteNames>,
    /// What was made of documents that several sites have.
    known: KnownDocuments,
    /// The sites as they were judged last, by name.
    judged: JudgedSites,
    /// Where layercake itself failed.
    failures: Vec<Diagnostic>,
}

type JudgedSites = BTreeMap<Option<Arc<str>>, JudgedSite>;

/// A site that was judged.
struct JudgedSite {
    files: Vec<FileId>,
    parts: Vec<FileId>,
    /// How many sites there were: they share what patterns may cost.
    sites: usize,
    found: Vec<Diagnostic>,
    /// What was made of its documents, if it was judged more than once: it may be the one that is
    /// being edited.
    known: Option<KnownDocuments>,
}

/// A site that is to be judged, with what was made of its documents.
struct ReachedSite<'s> {
    set: &'s SetFiles,
    known: Option<KnownDocuments>,
}

impl JudgedSite {
    fn is_of(&self, set: &SetFiles, sites: usize) -> bool {
        self.files == set.files && self.parts == set.parts && self.sites == sites
    }
}

impl<'p> Session<'p> {
    /// Reads the files of these sites and the definitions of all; the files of all sites of the
    /// plan where none are named. Where sites may share more than layers, as in a set of files
    /// without layout, reads all.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn new(plan: &'p Plan<'p>, sites: Option<SiteNames>) -> Result<Self, Error> {
        let sites = sites.filter(|_| plan.is_by_site());
        Self::open(plan, Work::Answer, sites)
    }

    /// Reads all files of the plan, to judge them.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn judging(plan: &'p Plan<'p>) -> Result<Self, Error> {
        Self::open(plan, Work::Judge, None)
    }

    fn open(plan: &'p Plan<'p>, work: Work, read: Option<SiteNames>) -> Result<Self, Error> {
        let sites = Self::sites_read(plan, work, read.as_ref());
        let loaded = Loaded::for_session(plan, (work, sites), None)?;
        loaded.ensure_sites(plan)?;
        let known = KnownDocuments::of_files(shared_files(plan, &loaded));
        Ok(Self { plan, loaded, read, known, judged: JudgedSites::new(), failures: Vec::new() })
    }

    /// As [`Session::new`], of the files that were not read yet.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn read(self, sites: Option<SiteNames>) -> Result<Self, Error> {
        let read = match (&self.read, sites) {
            (None, _) => return Ok(self),
            (Some(read), Some(more)) if more.is_subset(read) => return Ok(self),
            (Some(read), more) => more.map(|more| more.union(read).cloned().collect()),
        };
        let work = self.loaded.work;
        let sites = Self::sites_read(self.plan, work, read.as_ref());
        let loaded = Loaded::for_session(self.plan, (work, sites), Some(self.loaded))?;
        Ok(Self { loaded, read, ..self }.with_known_files())
    }

    /// The session after `files` changed, came or went, as `plan` reads them now. All other files
    /// are as they were.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn changed<'q>(
        self,
        plan: &'q Plan<'q>,
        files: &BTreeSet<RepoPath>,
    ) -> Result<Session<'q>, Error> {
        let Self { mut loaded, read, known, judged, failures, .. } = self;
        loaded.forget(files);
        let work = loaded.work;
        let sites = Self::sites_read(plan, work, read.as_ref());
        let loaded = Loaded::for_session(plan, (work, sites), Some(loaded))?;
        loaded.ensure_sites(plan)?;
        Ok(Session { plan, loaded, read, known, judged, failures }.with_known_files())
    }

    fn with_known_files(self) -> Self {
        let files = shared_files(self.plan, &self.loaded);
        Self { known: self.known.keeping(files), ..self }
    }

    fn sites_read<'s>(
        plan: &'s Plan<'_>,
        work: Work,
        sites: Option<&'s SiteNames>,
    ) -> SitesRead<'s> {
        match (work, sites) {
            (_, Some(names)) => SitesRead::Named(names),
            // Whether a site can be judged alone may change with the files.
            (Work::Judge, None) => SitesRead::All,
            (_, None) => SitesRead::of(plan, work, false),
        }
    }

    /// The sites, by name.
    pub(crate) fn sites(&self) -> Vec<NameAndType> {
        let sites = self.loaded.head.wanted(self.plan).into_iter();
        sites.map(|set| (set.name.clone(), set.site_type.clone())).collect()
    }

    /// The path of the file that a text is in.
    pub(crate) fn path_of(&self, text: Span) -> &RepoPath {
        self.loaded.sources.path_of(text)
    }

    /// Asks all sites, or those of the names in `only` and what is not a site. Renders of each the
    /// documents that `per_site` needs, which it says of the site as far as it is rendered: at
    /// first nothing is. Returns the answers by the sites' names, none of sites where layercake
    /// itself failed.
    pub(crate) fn ask<T: Send>(
        &mut self,
        only: Option<&SiteNames>,
        per_site: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
    ) -> BTreeMap<Option<Arc<str>>, T> {
        let answers = TakenBySite::new();
        self.render_for(only, &|site| match per_site(site) {
            Answer::Needs(docs) => docs,
            Answer::Is(answer) => {
                answers.add(site, answer);
                Vec::new()
            }
        });
        answers.into_sites()
    }

    fn render_for(&mut self, only: Option<&SiteNames>, per_site: &PerSite<'_>) {
        let mut wanted = self.loaded.head.wanted(self.plan);
        wanted.retain(|set| match (only, &set.name) {
            (Some(names), Some(name)) => names.contains(name),
            (None, _) | (_, None) => true,
        });
        self.plan.progress.sites.store(wanted.len(), Relaxed);
        let known = [&self.known];
        let of_sites = in_turn(&wanted, |set| site(self.plan, &self.loaded, set, &known, per_site));
        self.failures.extend(of_sites.into_iter().flat_map(|(_, found)| found));
    }

    /// All findings, as of a run over the files as they are now. Judges the sites that a change
    /// reached.
    pub fn findings(&mut self) -> Findings {
        let before = mem::take(&mut self.judged);
        let (mut judged, reached) = self.reached(before);
        self.plan.progress.sites.store(reached.len(), Relaxed);
        let found = in_turn(&reached, |reached| {
            let known: Vec<&KnownDocuments> =
                [&self.known].into_iter().chain(&reached.known).collect();
            let ((_, found), left) =
                site(self.plan, &self.loaded, reached.set, &known, &|_| Vec::new());
            (found, left)
        });
        let sites = self.loaded.head.all_sets;
        for (ReachedSite { set, known }, found) in reached.into_iter().zip(found) {
            let (files, parts) = (set.files.clone(), set.parts.clone());
            judged.insert(set.name.clone(), JudgedSite { files, parts, sites, found, known });
        }
        let mut diagnostics = of_files(&self.loaded);
        diagnostics.extend(judged.values().flat_map(|site| site.found.iter().cloned()));
        diagnostics.extend(self.loaded.configuration_findings(self.plan, &self.loaded.head));
        self.judged = judged;
        triaged(self.plan, &self.loaded, diagnostics)
    }

    /// The sites that are as they were `before`, and those that are to be judged.
    fn reached<'s>(&'s self, mut before: JudgedSites) -> (JudgedSites, Vec<ReachedSite<'s>>) {
        /// Maximum number of sites whose documents are kept: if an edit reaches more, each is
        /// judged anew.
        const MAX_EDITED: usize = 8;
        let (mut judged, mut reached) = (JudgedSites::new(), Vec::new());
        for set in self.loaded.head.wanted(self.plan) {
            match before.remove(&set.name) {
                Some(site) if site.is_of(set, self.loaded.head.all_sets) => {
                    judged.insert(set.name.clone(), site);
                }
                Some(site) => reached.push((set, Some(site.known.unwrap_or_default()))),
                None => reached.push((set, None)),
            }
        }
        let keeps = reached.len() <= MAX_EDITED;
        let of_site = |(set, known): (&'s SetFiles, Option<KnownDocuments>)| {
            let known =
                known.filter(|_| keeps).map(|known| known.keeping(set.all_files().collect()));
            ReachedSite { set, known }
        };
        (judged, reached.into_iter().map(of_site).collect())
    }

    /// The texts, to show places in.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }

    /// Ends the session; what is left shows places.
    pub(crate) fn close(self) -> Checked<()> {
        checked(self.plan, self.loaded, Vec::new(), self.failures)
    }
}

/// Looks at a rendered site, and returns the documents that have to be rendered before it can be
/// looked at whole.
pub(super) type PerSite<'f> = dyn Fn(&RenderedSite<'_>) -> Vec<DocId> + Sync + 'f;

/// Reads what the plan says, and does the work on each site.
pub(super) fn run(
    plan: &Plan<'_>,
    work: Work,
    per_site: &PerSite<'_>,
) -> Result<Checked<()>, Error> {
    let loaded = Loaded::new(plan, work)?;
    loaded.ensure_sites(plan)?;
    let mut diagnostics = of_files(&loaded);
    let wanted = loaded.head.wanted(plan);
    let known = KnownDocuments::of_files(shared_files(plan, &loaded));
    plan.progress.sites.store(wanted.len(), Relaxed);
    let of_sites = in_turn(&wanted, |files| site(plan, &loaded, files, &[&known], per_site));
    let (sites, found): (Vec<_>, Vec<_>) = of_sites.into_iter().unzip();
    diagnostics.extend(found.into_iter().flatten());
    diagnostics.extend(loaded.configuration_findings(plan, &loaded.head));
    Ok(checked(plan, loaded, sites, diagnostics))
}

/// The findings of files by themselves, and of how they lie.
fn of_files(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = if loaded.work.has_findings() {
        lap(Stage::Rules, || loaded.file_findings(&loaded.head))
    } else {
        Vec::new()
    };
    did(Stage::Rules, || found.len());
    if matches!(loaded.work, Work::Judge | Work::Render) {
        found.extend(loaded.head.layout_findings());
    }
    found
}

/// The files that several of the wanted sites are made of.
fn shared_files(plan: &Plan<'_>, loaded: &Loaded) -> FileSet {
    files_of_several(loaded.head.wanted(plan).into_iter().enumerate())
}

/// The result of a run over one side with these sites and findings.
fn checked(
    plan: &Plan<'_>,
    loaded: Loaded,
    sites: Vec<CheckedSite<()>>,
    diagnostics: Vec<Diagnostic>,
) -> Checked<()> {
    let internal_error = loaded.has_failed() || diagnostics.iter().any(rules::is_internal);
    let findings = triaged(plan, &loaded, diagnostics);
    let wanted = loaded.head.wanted(plan);
    let (undefined, unread) = (loaded.undefined(plan), loaded.unread(plan, &wanted));
    let repositories = used_repositories(plan, &loaded);
    let checked = closed(plan, loaded, sites, repositories);
    Checked { findings, undefined, unread, internal_error, ..checked }
}

/// The findings that count, of all that were found.
fn triaged(plan: &Plan<'_>, loaded: &Loaded, diagnostics: Vec<Diagnostic>) -> Findings {
    did(Stage::Judge, || diagnostics.len());
    lap(Stage::Judge, || {
        let mut diagnostics = loaded.judge(plan, &loaded.head, diagnostics);
        plan.keep_asked(&mut diagnostics);
        Findings::new(diagnostics, &loaded.sources, &plan.options.only)
            .with_consequences(&loaded.sources)
    })
}

/// What is left of a run for reports; without findings.
pub(super) fn closed(
    plan: &Plan<'_>,
    mut loaded: Loaded,
    sites: Vec<CheckedSite<()>>,
    repositories: Vec<UsedRepository>,
) -> Checked<()> {
    let checked = Checked {
        sites,
        repositories,
        findings: Findings::default(),
        secrets: loaded.secrets(),
        opaque: loaded.opaque(),
        documents: loaded.documents(plan, &loaded.head.wanted(plan)),
        undefined: Vec::new(),
        unread: Vec::new(),
        internal_error: false,
        sources: mem::take(&mut loaded.sources),
    };
    give_back(loaded);
    checked
}

/// Renders and judges one site, which it leaves.
fn site<'l>(
    plan: &Plan<'_>,
    loaded: &'l Loaded,
    files: &SetFiles,
    known: &[&KnownDocuments],
    per_site: &PerSite<'_>,
) -> ((CheckedSite<()>, Vec<Diagnostic>), Option<OneSide<'l>>) {
    let name = files.name.as_deref().unwrap_or_default();
    let (mut docs, mut before) = (Vec::new(), None);
    // A fault in layercake itself costs this site, or what was to be taken from
    // it, and says so; the others go on.
    let (mut side, is_taken) = loop {
        let side = guarded(Place::Site(name), || {
            OneSide::of(
                plan,
                loaded,
                (&loaded.head, files),
                known,
                (before.as_ref(), &|_| docs.clone()),
            )
        });
        let at_hand = side.as_ref().map(|side| side.at_hand(&loaded.sources));
        match at_hand.and_then(|site| guarded(Place::Taking(name), || per_site(&site))) {
            Some(more) if !more.is_empty() => docs.extend(more),
            taken => break (side, taken.is_some()),
        }
        before = side;
    };
    let has_failed = side.as_ref().is_some_and(|side| side.rendered.has_failed());
    let undone = match (&side, is_taken) {
        (None, _) => Some(FailedStep::Checking),
        (Some(_), _) if has_failed && !loaded.work.has_findings() => Some(FailedStep::Checking),
        (Some(_), false) => Some(FailedStep::Taking),
        (Some(_), true) => None,
    };
    let mut found = side.as_mut().map(|side| mem::take(&mut side.findings)).unwrap_or_default();
    found.extend(undone.map(|undone| files.word_internal(undone)));
    let checked = files.checked(loaded, side.as_ref().map_or(0, OneSide::outputs));
    plan.progress.sites_rendered.fetch_add(1, Relaxed);
    ((checked, found), side)
}

/// Does `one` for each site: for the first, which makes what the others share, and then for the
/// others in parallel. What is left of a site is freed. Returns the results in the order of the
/// sites.
pub(super) fn in_turn<I: Sync, R: Send, S: Send>(
    sites: &[I],
    one: impl Fn(&I) -> (R, S) + Sync,
) -> Vec<R> {
    let split = split();
    let to_begin = AtomicUsize::new(sites.len());
    let one = |site: &I| {
        let _part = split.part();
        to_begin.fetch_sub(1, Relaxed);
        let (made, left) = one(site);
        if to_begin.load(Relaxed) == 0 {
            // None comes that could use the memory.
            give_back(left);
        } else {
            lap(Stage::Free, || drop(left));
        }
        made
    };
    let (first, others) = sites.split_at(sites.len().min(1));
    let mut made: Vec<R> = first.iter().map(&one).collect();
    made.par_extend(others.par_iter().map(&one));
    made
}
