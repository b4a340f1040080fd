//! Files that were read, with what was made of them. A verb opens a workspace and asks it: about one
//! side, or about the changes between two; once, or again after files changed. Unchanged files are
//! not processed again.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::configuration::MetSources;
use super::edited::Sides;
use super::files::{SiteNames, SitesRead};
use super::load::{Loaded, SetFiles, UnparsedFiles, files_of_several};
use super::repositories::used_repositories;
use super::site::{KnownDocuments, OneSide, SiteWork};
use super::{
    Answer, Checked, CheckedSite, Configuration, Further, Plan, ProgressUnit, RenderedSite,
    RunControl, TakenBySite, Work,
};
use crate::cancel::Cancel;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::graph::DocId;
use crate::guard::{Place, guarded};
use crate::render::FileSet;
use crate::rules::{self, CertificateTally, FailedStep, RuleOptions};
use crate::source::{FileId, RepoPath, SourceMap, Span, UsedRepository};
use crate::stopwatch::{Stage, add_count, split, time};
use crate::system::deckhand::document::Document;
use crate::triage::Findings;

/// Name and type of a site; `None` for a set without layout.
pub(crate) type NameAndType = (Option<Arc<str>>, Option<Arc<str>>);

/// Files of one side, or of two, that were read and can be asked about several times. Only
/// [`Workspace::findings`] and [`Workspace::changes`] judge; other questions render what they need.
pub struct Workspace {
    pub(super) plan: Plan,
    pub(super) loaded: Loaded,
    /// Sites whose files were read completely; `None` for all sites.
    read: Option<SiteNames>,
    /// Requested sites of the head. Files that cannot be parsed any more have the content that could
    /// be parsed last.
    sets: Vec<SetFiles>,
    unparsed: UnparsedFiles,
    /// Rendered documents that several sites, or both sides of a site, share.
    pub(super) known: KnownDocuments,
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

impl Workspace {
    /// Reads the files of these sites (`None` for all sites) and the definitions of all, for
    /// questions. Reads everything if sites may share more than layers, as in a set of files without
    /// layout.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub(crate) fn asking(plan: Plan, sites: Option<SiteNames>) -> Result<Self, Error> {
        let sites = sites.filter(|_| plan.is_by_site());
        Self::open(plan, Work::Answer, sites)
    }

    /// Reads all files of the plan, to judge them, compare them and ask about them.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn judging(plan: Plan) -> Result<Self, Error> {
        Self::open(plan, Work::Judge, None)
    }

    /// Reads the files that the work needs, for one question.
    pub(super) fn once(plan: Plan, work: Work) -> Result<Self, Error> {
        let loaded = Loaded::new(&plan, work)?;
        Ok(Self::of(plan, loaded, None))
    }

    fn open(plan: Plan, work: Work, read: Option<SiteNames>) -> Result<Self, Error> {
        let sites = Self::sites_read(&plan, work, read.as_ref());
        let loaded = Loaded::for_changes(&plan, work, sites)?;
        Ok(Self::of(plan, loaded, read))
    }

    fn of(plan: Plan, loaded: Loaded, read: Option<SiteNames>) -> Self {
        let sets: Vec<SetFiles> = loaded.head.wanted(&plan).into_iter().cloned().collect();
        let known = KnownDocuments::of_files(shared_files(&plan, &loaded, &sets));
        Self {
            plan,
            loaded,
            read,
            sets,
            unparsed: UnparsedFiles::new(),
            known,
            judged: JudgedSites::new(),
            failures: Vec::new(),
        }
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
        self.read_again(self.plan.clone(), read, &BTreeSet::new())
    }

    /// Replaces the state after `files` were changed, added or removed, as `plan` reads them now.
    /// All other files are unchanged. Texts that are no longer read are freed. A file that cannot be
    /// parsed any more keeps its last documents for findings elsewhere and for questions. On an error,
    /// the workspace keeps its state.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn change(&mut self, plan: Plan, files: &BTreeSet<RepoPath>) -> Result<(), Error> {
        if !Arc::ptr_eq(&plan.options, &self.plan.options) {
            // Options apply to everything that was read, rendered and judged.
            *self = Self::open(plan, self.loaded.work, self.read.clone())?;
            return Ok(());
        }
        self.read_again(plan, self.read.clone(), files)?;
        // They are about earlier texts.
        self.failures.clear();
        Ok(())
    }

    fn read_again(
        &mut self,
        plan: Plan,
        read: Option<SiteNames>,
        changed: &BTreeSet<RepoPath>,
    ) -> Result<(), Error> {
        let mut parsed = self.loaded.parsed_among(changed);
        let path = |file: FileId| self.loaded.sources.get(file).path().clone();
        parsed.extend(
            self.unparsed
                .iter()
                .map(|(file, last)| (path(*file), *last)),
        );
        self.loaded.forget(changed);
        let sites = Self::sites_read(&plan, self.loaded.work, read.as_ref());
        self.unparsed = if read == self.read && plan.has_files_of(&self.plan) {
            let unparsed = &self.unparsed;
            self.loaded
                .replace_texts(&plan, sites, changed, unparsed, &parsed)?
        } else {
            self.loaded.read_again(&plan, sites, parsed)?
        };
        let sets = self.loaded.head.wanted(&plan).into_iter();
        self.sets = sets.map(|set| set.with(&self.unparsed)).collect();
        let files = shared_files(&plan, &self.loaded, &self.sets);
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
        let sites = self.sets.iter();
        sites
            .map(|set| (set.name.clone(), set.site_type.clone()))
            .collect()
    }

    /// The further repository of a content, and the path there; `None` in the main repository.
    pub(crate) fn further_of(&self, file: FileId) -> Option<(&Further, &str)> {
        let source = self.loaded.sources.get(file);
        let mut further = self.plan.further().iter();
        further.find_map(|further| {
            let root = further.tree.root();
            let path = source.path().as_str().strip_prefix(root.as_str())?;
            (further.commit.as_ref() == source.commit()).then_some((&**further, path))
        })
    }

    /// A content that was read at a commit of a further repository.
    pub(crate) fn content_at(&self, path: &RepoPath, commit: &str) -> Option<FileId> {
        let files = self.loaded.head.files.iter().map(|file| file.id);
        let mut contents = files.map(|file| (file, self.loaded.sources.get(file)));
        let found = contents.find(|(_, source)| {
            source.path() == path && source.commit().is_some_and(|it| **it == *commit)
        });
        found.map(|(file, _)| file)
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
    pub fn ask<T: Send>(
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
        let is_asked = |set: &&SetFiles| match (only, &set.name) {
            (Some(names), Some(name)) => names.contains(name),
            (None, _) | (_, None) => true,
        };
        let asked: Vec<&SetFiles> = self.sets.iter().filter(is_asked).collect();
        self.plan
            .control
            .progress
            .begin(ProgressUnit::Sites, Some(asked.len()));
        let of_sites = map_in_parallel(&self.plan, &asked, |set| {
            self.site(set, Work::Answer, &[&self.known], per_site)
        })?;
        self.failures
            .extend(of_sites.into_iter().flat_map(|done| done.found));
        Ok(())
    }

    /// All findings, as of a run over the files in their current state. Judges only sites that a
    /// change reached.
    ///
    /// # Errors
    /// If it is cancelled. Sites that were judged before are not judged again next time.
    pub fn findings(&mut self) -> Result<Findings, Error> {
        let before = mem::take(&mut self.judged);
        let (mut judged, reached) = self.reached(before);
        self.plan
            .control
            .progress
            .begin(ProgressUnit::Sites, Some(reached.len()));
        let found = map_until_cancelled(&self.plan, &reached, |reached| {
            let known: Vec<&KnownDocuments> =
                [&self.known].into_iter().chain(&reached.known).collect();
            self.site(reached.set, Work::Judge, &known, &|_| Vec::new())
        });
        let sites = self.loaded.head.all_sets();
        for (ReachedSite { set, known }, done) in reached.into_iter().zip(found) {
            let Some(done) = done else { continue };
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
        if let Err(error) = self.plan.control.cancel.check() {
            self.judged = judged;
            return Err(error);
        }
        let met = judged
            .values()
            .flat_map(|site| &site.met)
            .copied()
            .collect();
        let mut diagnostics = of_files(&self.loaded);
        // Findings in the text before it could not be parsed any more have no place in the current one.
        let earlier: BTreeSet<FileId> = self.unparsed.values().copied().collect();
        let is_current = |finding: &&Diagnostic| !earlier.contains(&finding.primary.span.file);
        let of_sites = judged.values().flat_map(|site| &site.found);
        diagnostics.extend(of_sites.filter(is_current).cloned());
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
        for set in &self.sets {
            match before.remove(&set.name) {
                Some(site) if site.is_of(set, self.loaded.head.all_sets()) => {
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

    /// The current content of a file that was read, and the content that its documents are of: an
    /// earlier one if the current one cannot be parsed.
    pub(crate) fn contents_of(&self, path: &RepoPath) -> Option<[FileId; 2]> {
        let current = self.loaded.head.file_at(path, &self.loaded)?;
        Some([
            current,
            self.unparsed.get(&current).copied().unwrap_or(current),
        ])
    }

    /// The current content of a file whose earlier content this is.
    pub(crate) fn current_of(&self, earlier: FileId) -> FileId {
        let mut unparsed = self.unparsed.iter();
        let current = unparsed.find(|(_, last)| **last == earlier);
        current.map_or(earlier, |(current, _)| *current)
    }

    /// Number of contents that were read, including those that are freed. Later ones have higher
    /// indexes.
    pub(crate) fn texts_read(&self) -> usize {
        self.loaded.files_read()
    }

    /// Documents of a content.
    pub(crate) fn documents_of(&self, file: FileId) -> &[Document] {
        &self.loaded.file(file).documents
    }

    /// All documents of the head, as questions know them.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Document> {
        let files = self.loaded.head.files.iter();
        let known = files.map(|file| self.unparsed.get(&file.id).copied().unwrap_or(file.id));
        known.flat_map(|file| self.documents_of(file))
    }

    /// Paths of the files of documents in a folder.
    pub(crate) fn files_below(&self, folder: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        let files = self.loaded.head.files.iter();
        let paths = files.map(|file| self.loaded.sources.get(file.id).path());
        paths.filter(move |path| path.below(folder).is_some())
    }

    /// Settings of files beside documents.
    pub(crate) fn configuration(&self) -> &Configuration {
        &self.plan.options.configuration
    }

    /// Settings of the rules.
    pub(crate) fn settings(&self) -> &RuleOptions {
        &self.loaded.settings
    }

    /// Sources, to show places in them.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }

    /// Lets another handle stop what is asked from now on.
    pub(crate) fn stopped_by(&mut self, cancel: &Cancel) {
        self.plan.control.cancel = cancel.clone();
    }

    /// Sources, their secret spans, and the files whose lines must not be shown.
    pub(crate) fn texts(&self) -> (&SourceMap, Vec<Span>, Vec<FileId>) {
        self.loaded.texts()
    }

    /// Does the work that the files were read for on each site, and frees them.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub(super) fn check(self, per_site: &PerSite<'_>) -> Result<Checked<()>, Error> {
        let mut found = of_files(&self.loaded);
        self.plan
            .control
            .progress
            .begin(ProgressUnit::Sites, Some(self.sets.len()));
        let of_sites = map_in_parallel(&self.plan, &self.sets, |set| {
            self.site(set, self.loaded.work, &[&self.known], per_site)
        })?;
        let mut sites = Vec::new();
        let mut met = MetSources::new();
        for done in of_sites {
            sites.push(done.checked);
            found.extend(done.found);
            met.extend(done.met);
        }
        let head = &self.loaded.head;
        found.extend(self.loaded.configuration_findings(&self.plan, head, &met));
        Ok(self.checked(sites, found))
    }

    /// Frees everything except what is needed to show places.
    pub(crate) fn close(mut self) -> Checked<()> {
        let failures = mem::take(&mut self.failures);
        self.checked(Vec::new(), failures)
    }

    /// Result with these sites and findings.
    fn checked(self, sites: Vec<CheckedSite<()>>, found: Vec<Diagnostic>) -> Checked<()> {
        let internal_error = self.loaded.has_failed() || found.iter().any(rules::is_internal);
        let findings = triaged(&self.plan, &self.loaded, found);
        let wanted: Vec<&SetFiles> = self.sets.iter().collect();
        let undefined = self.loaded.undefined(&self.plan);
        let unread = self.loaded.unread(&self.plan, &wanted);
        let repositories = used_repositories(&self.plan, &self.loaded);
        Checked {
            findings,
            undefined,
            unread,
            internal_error,
            ..self.closed(sites, repositories)
        }
    }

    /// Result without findings.
    pub(super) fn closed(
        self,
        sites: Vec<CheckedSite<()>>,
        repositories: Vec<UsedRepository>,
    ) -> Checked<()> {
        self.plan
            .control
            .ending
            .give_back((self.known, self.judged));
        closed(&self.plan, self.loaded, sites, repositories)
    }

    /// Renders one site, judges it if the work does, and calls `per_site`.
    fn site<'w>(
        &'w self,
        set: &SetFiles,
        work: Work,
        known: &[&KnownDocuments],
        per_site: &PerSite<'_>,
    ) -> (SiteDone, Option<OneSide<'w>>) {
        let Self { plan, loaded, .. } = self;
        let name = set.name.as_deref().unwrap_or_default();
        let (mut docs, mut before) = (Vec::new(), None);
        // After an internal failure, reports it for this site; other sites are not affected.
        let (mut side, is_taken) = loop {
            let work = SiteWork {
                kind: work,
                documents: &|_| docs.clone(),
            };
            let side = guarded(Place::Site(name), || {
                OneSide::of(
                    plan,
                    loaded,
                    (&loaded.head, set),
                    known,
                    before.as_ref(),
                    &work,
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
            (Some(_), _) if has_failed && !work.has_findings() => Some(FailedStep::Checking),
            (Some(_), false) => Some(FailedStep::TakingData),
            (Some(_), true) => None,
        };
        let mut found = side
            .as_mut()
            .map(|side| mem::take(&mut side.findings))
            .unwrap_or_default();
        found.extend(failed_step.map(|step| set.internal_error_finding(step)));
        let certificates = side.as_ref().map(|side| side.certificates.clone());
        let checked = CheckedSite {
            certificates: certificates.unwrap_or_default(),
            ..set.checked(loaded, side.as_ref().map_or(0, OneSide::outputs))
        };
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
}

/// Callback for a rendered site that returns the documents it needs in addition.
pub(super) type PerSite<'f> = dyn Fn(&RenderedSite<'_>) -> Vec<DocId> + Sync + 'f;

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

/// Files that several of the sites share.
fn shared_files(plan: &Plan, loaded: &Loaded, sets: &[SetFiles]) -> FileSet {
    match &loaded.base {
        Some(_) => Sides::of(plan, loaded).files_of_several(),
        None => files_of_several(sets.iter().enumerate()),
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
    mut sites: Vec<CheckedSite<()>>,
    repositories: Vec<UsedRepository>,
) -> Checked<()> {
    let mut certificates = CertificateTally::default();
    for site in &mut sites {
        certificates.add(mem::take(&mut site.certificates));
    }
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
        certificates: (loaded.settings.time, certificates),
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
    let made = map_until_cancelled(plan, sites, one);
    plan.control.cancel.check()?;
    Ok(made.into_iter().flatten().collect())
}

/// As [`map_in_parallel`], with the results of the items that were done before the run was cancelled.
fn map_until_cancelled<I: Sync, R: Send, S: Send>(
    plan: &Plan,
    sites: &[I],
    one: impl Fn(&I) -> (R, S) + Sync,
) -> Vec<Option<R>> {
    let RunControl { cancel, ending, .. } = &plan.control;
    let split = split();
    let to_begin = AtomicUsize::new(sites.len());
    let one = |site: &I| {
        let _part = split.part();
        to_begin.fetch_sub(1, Relaxed);
        if cancel.is_cancelled() {
            return None;
        }
        let (made, left) = one(site);
        if to_begin.load(Relaxed) == 0 {
            // The last item: no other could use the memory.
            ending.give_back(left);
        } else {
            time(Stage::Free, || drop(left));
        }
        // An item that ran meanwhile may be incomplete.
        (!cancel.is_cancelled()).then_some(made)
    };
    let (first, others) = sites.split_at(sites.len().min(1));
    let mut made: Vec<Option<R>> = first.iter().map(&one).collect();
    made.par_extend(others.par_iter().map(&one));
    made
}
