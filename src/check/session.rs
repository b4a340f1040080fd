//! Files of one side that were read, and are queried, rendered and judged once, or again after some
//! of them changed. Unchanged files are not processed again.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::configuration::MetSources;
use super::files::{SiteNames, SitesRead};
use super::load::{Loaded, SetFiles, files_of_several};
use super::repositories::used_repositories;
use super::site::{KnownDocuments, OneSide};
use super::{
    Answer, Checked, CheckedSite, Plan, ProgressUnit, RenderedSite, RunControl, TakenBySite, Work,
};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::graph::DocId;
use crate::guard::{Place, guarded};
use crate::render::FileSet;
use crate::rules::{self, FailedStep};
use crate::source::{FileId, RepoPath, SourceMap, Span, UsedRepository};
use crate::stopwatch::{Stage, add_count, split, time};
use crate::triage::Findings;

/// Name and type of a site; `None` for a set without layout.
pub(crate) type NameAndType = (Option<Arc<str>>, Option<Arc<str>>);

/// Files that were read and can be queried several times.
///
/// A session of [`Work::Answer`] renders documents as its queries need them, without rules. One of
/// [`Work::Judge`] returns all findings.
pub struct Session {
    plan: Plan,
    loaded: Loaded,
    /// Sites whose files were read completely; `None` for all sites.
    read: Option<SiteNames>,
    /// Rendered documents that several sites share.
    known: KnownDocuments,
    /// Sites with their last findings, by name.
    judged: JudgedSites,
    /// Internal failures.
    failures: Vec<Diagnostic>,
}

type JudgedSites = BTreeMap<Option<Arc<str>>, JudgedSite>;

/// A site that was judged.
struct JudgedSite {
    files: Vec<FileId>,
    parts: Vec<FileId>,
    /// Number of sites at that time: they share the budget for matching patterns.
    sites: usize,
    found: Vec<Diagnostic>,
    met: MetSources,
    /// Its rendered documents, if it was judged more than once and so is probably being edited.
    known: Option<KnownDocuments>,
}

/// A site to judge, with its rendered documents.
struct ReachedSite<'s> {
    set: &'s SetFiles,
    known: Option<KnownDocuments>,
}

impl JudgedSite {
    fn is_of(&self, set: &SetFiles, sites: usize) -> bool {
        self.files == set.files && self.parts == set.parts && self.sites == sites
    }
}

impl Session {
    /// Reads the files of these sites (`None` for all sites) and the definitions of all. Reads
    /// everything if sites may share more than layers, as in a set of files without layout.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn new(plan: Plan, sites: Option<SiteNames>) -> Result<Self, Error> {
        let sites = sites.filter(|_| plan.is_by_site());
        Self::open(plan, Work::Answer, sites)
    }

    /// Reads all files of the plan, to judge them.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn judging(plan: Plan) -> Result<Self, Error> {
        Self::open(plan, Work::Judge, None)
    }

    fn open(plan: Plan, work: Work, read: Option<SiteNames>) -> Result<Self, Error> {
        let sites = Self::sites_read(&plan, work, read.as_ref());
        let loaded = Loaded::for_session(&plan, work, sites)?;
        let known = KnownDocuments::of_files(shared_files(&plan, &loaded));
        Ok(Self {
            plan,
            loaded,
            read,
            known,
            judged: JudgedSites::new(),
            failures: Vec::new(),
        })
    }

    /// Reads the files of these sites, too (`None` for all sites), as far as they were not read yet.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn read(&mut self, sites: Option<SiteNames>) -> Result<(), Error> {
        let read = match (&self.read, sites) {
            (None, _) => return Ok(()),
            (Some(read), Some(more)) if more.is_subset(read) => return Ok(()),
            (Some(read), more) => more.map(|more| more.union(read).cloned().collect()),
        };
        self.read_again(self.plan.clone(), read)
    }

    /// Replaces the state after `files` were changed, added or removed, as `plan` reads them now.
    /// All other files are unchanged. Texts that are no longer read are freed. On an error, the
    /// session keeps its state.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn change(&mut self, plan: Plan, files: &BTreeSet<RepoPath>) -> Result<(), Error> {
        if !Arc::ptr_eq(&plan.options, &self.plan.options) {
            // Options apply to everything that was read, rendered and judged.
            *self = Self::open(plan, self.loaded.work, self.read.clone())?;
            return Ok(());
        }
        self.loaded.forget(files);
        self.read_again(plan, self.read.clone())?;
        // They are about earlier texts.
        self.failures.clear();
        Ok(())
    }

    fn read_again(&mut self, plan: Plan, read: Option<SiteNames>) -> Result<(), Error> {
        let sites = Self::sites_read(&plan, self.loaded.work, read.as_ref());
        self.loaded.read_again(&plan, sites)?;
        let files = shared_files(&plan, &self.loaded);
        self.known = mem::take(&mut self.known).keeping(files);
        (self.plan, self.read) = (plan, read);
        Ok(())
    }

    fn sites_read<'s>(plan: &'s Plan, work: Work, sites: Option<&'s SiteNames>) -> SitesRead<'s> {
        match (work, sites) {
            (_, Some(names)) => SitesRead::Named(names),
            // All, because a change of files may decide whether a site can be judged alone.
            (Work::Judge, None) => SitesRead::All,
            (_, None) => SitesRead::of(plan, work, false),
        }
    }

    /// The sites, by name.
    pub(crate) fn sites(&self) -> Vec<NameAndType> {
        let sites = self.loaded.head.wanted(&self.plan).into_iter();
        sites
            .map(|set| (set.name.clone(), set.site_type.clone()))
            .collect()
    }

    /// Path of the file that contains a span.
    pub(crate) fn path_of(&self, text: Span) -> &RepoPath {
        self.loaded.sources.path_of(text)
    }

    /// Queries all sites, or those named in `only` and anything that is not a site. `per_site` is
    /// called repeatedly until the documents it requests are rendered; at first none are. Returns
    /// the answers by site name, without sites at which layercake failed.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub(crate) fn ask<T: Send>(
        &mut self,
        only: Option<&SiteNames>,
        per_site: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
    ) -> Result<BTreeMap<Option<Arc<str>>, T>, Error> {
        let answers = TakenBySite::new();
        self.render_for(only, &|site| match per_site(site) {
            Answer::Needs(docs) => docs,
            Answer::Is(answer) => {
                answers.add(site, answer);
                Vec::new()
            }
        })?;
        Ok(answers.into_sites())
    }

    fn render_for(
        &mut self,
        only: Option<&SiteNames>,
        per_site: &PerSite<'_>,
    ) -> Result<(), Error> {
        let mut wanted = self.loaded.head.wanted(&self.plan);
        wanted.retain(|set| match (only, &set.name) {
            (Some(names), Some(name)) => names.contains(name),
            (None, _) | (_, None) => true,
        });
        self.plan
            .control
            .progress
            .begin(ProgressUnit::Sites, Some(wanted.len()));
        let known = [&self.known];
        let of_sites = map_in_parallel(&self.plan, &wanted, |set| {
            site(&self.plan, &self.loaded, set, &known, per_site)
        })?;
        self.failures
            .extend(of_sites.into_iter().flat_map(|done| done.found));
        Ok(())
    }

    /// All findings, as of a run over the files in their current state. Judges only sites that a
    /// change reached.
    ///
    /// # Errors
    /// If the run of the plan is cancelled. After a change to another plan, the same sites are judged.
    pub fn findings(&mut self) -> Result<Findings, Error> {
        let before = mem::take(&mut self.judged);
        let (mut judged, reached) = self.reached(before);
        self.plan
            .control
            .progress
            .begin(ProgressUnit::Sites, Some(reached.len()));
        let found = map_in_parallel(&self.plan, &reached, |reached| {
            let known: Vec<&KnownDocuments> =
                [&self.known].into_iter().chain(&reached.known).collect();
            site(&self.plan, &self.loaded, reached.set, &known, &|_| {
                Vec::new()
            })
        });
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.judged = judged;
                return Err(error);
            }
        };
        let sites = self.loaded.head.all_sets;
        for (ReachedSite { set, known }, done) in reached.into_iter().zip(found) {
            let (files, parts) = (set.files.clone(), set.parts.clone());
            judged.insert(
                set.name.clone(),
                JudgedSite {
                    files,
                    parts,
                    sites,
                    found: done.found,
                    met: done.met,
                    known,
                },
            );
        }
        let met = judged
            .values()
            .flat_map(|site| &site.met)
            .copied()
            .collect();
        let mut diagnostics = of_files(&self.loaded);
        diagnostics.extend(judged.values().flat_map(|site| site.found.iter().cloned()));
        diagnostics.extend(
            self.loaded
                .configuration_findings(&self.plan, &self.loaded.head, &met),
        );
        self.judged = judged;
        Ok(triaged(&self.plan, &self.loaded, diagnostics))
    }

    /// Splits the sites into unchanged ones from `before` and those to judge.
    fn reached<'s>(&'s self, mut before: JudgedSites) -> (JudgedSites, Vec<ReachedSite<'s>>) {
        /// Maximum number of sites whose documents are kept: if an edit reaches more, each is
        /// judged anew.
        const MAX_EDITED: usize = 8;
        let (mut judged, mut reached) = (JudgedSites::new(), Vec::new());
        for set in self.loaded.head.wanted(&self.plan) {
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
            let known = known
                .filter(|_| keeps)
                .map(|known| known.keeping(set.all_files().collect()));
            ReachedSite { set, known }
        };
        (judged, reached.into_iter().map(of_site).collect())
    }

    /// Sources, to show places in them.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }

    /// Frees everything except what is needed to show places.
    pub(crate) fn close(self) -> Checked<()> {
        checked(&self.plan, self.loaded, Vec::new(), self.failures)
    }
}

/// Callback for a rendered site that returns the documents it needs in addition.
pub(super) type PerSite<'f> = dyn Fn(&RenderedSite<'_>) -> Vec<DocId> + Sync + 'f;

/// Reads the files of the plan, and does the work on each site.
pub(super) fn run(plan: &Plan, work: Work, per_site: &PerSite<'_>) -> Result<Checked<()>, Error> {
    let loaded = Loaded::new(plan, work)?;
    let mut diagnostics = of_files(&loaded);
    let wanted = loaded.head.wanted(plan);
    let known = KnownDocuments::of_files(shared_files(plan, &loaded));
    plan.control
        .progress
        .begin(ProgressUnit::Sites, Some(wanted.len()));
    let of_sites = map_in_parallel(plan, &wanted, |files| {
        site(plan, &loaded, files, &[&known], per_site)
    })?;
    let mut sites = Vec::new();
    let mut met = MetSources::new();
    for done in of_sites {
        sites.push(done.checked);
        diagnostics.extend(done.found);
        met.extend(done.met);
    }
    diagnostics.extend(loaded.configuration_findings(plan, &loaded.head, &met));
    Ok(checked(plan, loaded, sites, diagnostics))
}

/// Findings of file rules and on the layout.
fn of_files(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = if loaded.work.has_findings() {
        time(Stage::Rules, || loaded.file_findings(&loaded.head))
    } else {
        Vec::new()
    };
    add_count(Stage::Rules, || found.len());
    if matches!(loaded.work, Work::Judge | Work::Render) {
        found.extend(loaded.head.layout_findings(&loaded.sources));
    }
    found
}

/// Files that several of the wanted sites share.
fn shared_files(plan: &Plan, loaded: &Loaded) -> FileSet {
    files_of_several(loaded.head.wanted(plan).into_iter().enumerate())
}

/// Result of a run over one side with these sites and findings.
fn checked(
    plan: &Plan,
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
    Checked {
        findings,
        undefined,
        unread,
        internal_error,
        ..checked
    }
}

/// Selects the findings that count.
fn triaged(plan: &Plan, loaded: &Loaded, diagnostics: Vec<Diagnostic>) -> Findings {
    add_count(Stage::Judge, || diagnostics.len());
    time(Stage::Judge, || {
        let mut diagnostics = loaded.judge(plan, &loaded.head, diagnostics);
        plan.keep_requested(&mut diagnostics);
        Findings::new(diagnostics, &loaded.sources, &plan.options.only)
            .with_consequences(&loaded.sources)
    })
}

/// Result of a run for reports, without findings.
pub(super) fn closed(
    plan: &Plan,
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
        only: plan.options.only.clone(),
        internal_error: false,
        sources: mem::take(&mut loaded.sources),
    };
    plan.control.ending.give_back(loaded);
    checked
}

/// Result for one site.
struct SiteDone {
    checked: CheckedSite<()>,
    found: Vec<Diagnostic>,
    met: MetSources,
}

/// Renders and judges one site, and calls `per_site`.
fn site<'l>(
    plan: &Plan,
    loaded: &'l Loaded,
    files: &SetFiles,
    known: &[&KnownDocuments],
    per_site: &PerSite<'_>,
) -> (SiteDone, Option<OneSide<'l>>) {
    let name = files.name.as_deref().unwrap_or_default();
    let (mut docs, mut before) = (Vec::new(), None);
    // After an internal failure, reports it for this site; other sites are not affected.
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
    let failed_step = match (&side, is_taken) {
        (None, _) => Some(FailedStep::Checking),
        (Some(_), _) if has_failed && !loaded.work.has_findings() => Some(FailedStep::Checking),
        (Some(_), false) => Some(FailedStep::TakingData),
        (Some(_), true) => None,
    };
    let mut found = side
        .as_mut()
        .map(|side| mem::take(&mut side.findings))
        .unwrap_or_default();
    found.extend(failed_step.map(|step| files.internal_error_finding(step)));
    let checked = files.checked(loaded, side.as_ref().map_or(0, OneSide::outputs));
    let met = side.as_ref().map(|side| side.related.met.clone());
    let met = met.unwrap_or_default();
    plan.control.progress.add(ProgressUnit::Sites, 1);
    (
        SiteDone {
            checked,
            found,
            met,
        },
        side,
    )
}

/// Does `one` for the first item, which computes the shared data, and then for the others in
/// parallel. Frees the leftovers of each. Returns the results in the order of the items.
///
/// # Errors
/// If the run is cancelled.
pub(super) fn map_in_parallel<I: Sync, R: Send, S: Send>(
    plan: &Plan,
    sites: &[I],
    one: impl Fn(&I) -> (R, S) + Sync,
) -> Result<Vec<R>, Error> {
    let RunControl { cancel, ending, .. } = &plan.control;
    let split = split();
    let to_begin = AtomicUsize::new(sites.len());
    let one = |site: &I| {
        let _part = split.part();
        to_begin.fetch_sub(1, Relaxed);
        cancel.check()?;
        let (made, left) = one(site);
        if to_begin.load(Relaxed) == 0 {
            // The last item: no other could use the memory.
            ending.give_back(left);
        } else {
            time(Stage::Free, || drop(left));
        }
        Ok(made)
    };
    let (first, others) = sites.split_at(sites.len().min(1));
    let mut made: Vec<Result<R, Error>> = first.iter().map(&one).collect();
    made.par_extend(others.par_iter().map(&one));
    // Items that ran meanwhile may be incomplete.
    cancel.check()?;
    made.into_iter().collect()
}
