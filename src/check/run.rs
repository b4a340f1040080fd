//! Runs over all sites, in parallel and in their order: of one side, of two sides, and sessions.
//! Files are read, and each site is rendered, judged, compared or asked by itself.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::compare::{Before, Compared, ComparedSite, PerPair, Settings, SiteRun};
use super::edited::{Documents, Sides};
use super::files::{SiteNames, SitesRead};
use super::load::{Loaded, SetFiles, Side as LoadedSide, files_of_several};
use super::repositories::used_repositories;
use super::site::{Known, OneSide};
use super::{Answer, Checked, CheckedSite, Plan, RenderedSite, Taken, Work};
use crate::compare::reach::{Comparison, gather};
use crate::compare::{Limits, Texts, edits_meeting};
use crate::diagnostic::Diagnostic;
use crate::edit::{Edit, EditId, EditKind};
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::DocId;
use crate::guard::{Place, guarded};
use crate::rules::{self, FailedStep};
use crate::source::{RepoPath, SourceMap, Span, UsedRepository};
use crate::stopwatch::{Stage, did, lap, split};
use crate::system::edits::edits;
use crate::triage::{self, Findings};

/// A site's name and type; none for a set without layout.
pub type NameAndType = (Option<Arc<str>>, Option<Arc<str>>);

/// Files that were read to answer questions about their documents, which are rendered as far as an
/// answer needs them. Nothing is judged.
pub struct Session<'p> {
    plan: &'p Plan<'p>,
    loaded: Loaded,
    /// Sites whose files were all read; none if those of all sites were.
    read: Option<SiteNames>,
    /// Where layercake itself failed.
    failures: Vec<Diagnostic>,
}

impl<'p> Session<'p> {
    /// Reads the files of these sites and the definitions of all; the files of all sites of the
    /// plan where none are named. Where sites may share more than layers, as in a set of files
    /// without layout, reads all.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn new(plan: &'p Plan<'p>, sites: Option<SiteNames>) -> Result<Self, Error> {
        let sites = sites.filter(|_| plan.is_by_site());
        let loaded = Loaded::of_sites(plan, Self::sites_read(plan, sites.as_ref()), None)?;
        loaded.ensure_sites(plan)?;
        Ok(Self { plan, loaded, read: sites, failures: Vec::new() })
    }

    /// As [`Session::new`], of the files that were not read yet.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn read(self, sites: Option<SiteNames>) -> Result<Self, Error> {
        let read = match (&self.read, sites) {
            (None, _) => return Ok(self),
            (Some(read), Some(more)) if more.is_subset(read) => return Ok(self),
            (Some(read), more) => more.map(|more| more.union(read).cloned().collect()),
        };
        let sites = Self::sites_read(self.plan, read.as_ref());
        let loaded = Loaded::of_sites(self.plan, sites, Some(self.loaded))?;
        Ok(Self { loaded, read, ..self })
    }

    fn sites_read<'s>(plan: &'s Plan<'_>, sites: Option<&'s SiteNames>) -> SitesRead<'s> {
        match sites {
            Some(names) => SitesRead::Named(names),
            None => SitesRead::of(plan, Work::Answer, false),
        }
    }

    /// The sites, by name.
    pub fn sites(&self) -> Vec<NameAndType> {
        let sites = self.loaded.head.wanted(self.plan).into_iter();
        sites.map(|set| (set.name.clone(), set.site_type.clone())).collect()
    }

    /// The path of the file that a text is in.
    pub fn path_of(&self, text: Span) -> &RepoPath {
        self.loaded.sources.path_of(text)
    }

    /// Asks all sites, or those of the names in `only` and what is not a site. Renders of each the
    /// documents that `per_site` needs, which it says of the site as far as it is rendered: at
    /// first nothing is. Returns the answers by the sites' names, none of sites where layercake
    /// itself failed.
    pub fn ask<T: Send>(
        &mut self,
        only: Option<&SiteNames>,
        per_site: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
    ) -> BTreeMap<Option<Arc<str>>, T> {
        let answers = Taken::new();
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
        let (_, found) = sites_of(self.plan, &self.loaded, &wanted, per_site);
        self.failures.extend(found);
    }

    /// The texts, to show places in.
    pub fn close(self) -> Checked<()> {
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
    let mut diagnostics = if work.has_findings() {
        lap(Stage::Rules, || loaded.file_findings(&loaded.head))
    } else {
        Vec::new()
    };
    did(Stage::Rules, || diagnostics.len());
    if matches!(work, Work::Judge | Work::Render) {
        diagnostics.extend(loaded.head.layout_findings());
    }
    let (sites, found) = sites_of(plan, &loaded, &loaded.head.wanted(plan), per_site);
    diagnostics.extend(found);
    diagnostics.extend(loaded.configuration_findings(plan, &loaded.head));
    Ok(checked(plan, loaded, sites, diagnostics))
}

/// The sites of these files, and what was found in them.
fn sites_of(
    plan: &Plan<'_>,
    loaded: &Loaded,
    wanted: &[&SetFiles],
    per_site: &PerSite<'_>,
) -> (Vec<CheckedSite<()>>, Vec<Diagnostic>) {
    plan.progress.sites.store(wanted.len(), Relaxed);
    let known = Known::of_files(files_of_several(wanted.iter().copied().enumerate()));
    let sites = of_sites(wanted, |files| site(plan, loaded, files, &known, per_site));
    let (sites, found): (Vec<_>, Vec<_>) = sites.into_iter().unzip();
    (sites, found.into_iter().flatten().collect())
}

/// The result of a run over one side with these sites and findings.
fn checked(
    plan: &Plan<'_>,
    loaded: Loaded,
    sites: Vec<CheckedSite<()>>,
    diagnostics: Vec<Diagnostic>,
) -> Checked<()> {
    let internal_error = loaded.has_failed() || diagnostics.iter().any(rules::is_internal);
    did(Stage::Judge, || diagnostics.len());
    let findings = lap(Stage::Judge, || {
        let mut diagnostics = loaded.judge(plan, &loaded.head, diagnostics);
        plan.keep_asked(&mut diagnostics);
        Findings::new(diagnostics, &loaded.sources, &plan.options.only)
            .with_consequences(&loaded.sources)
    });
    let wanted = loaded.head.wanted(plan);
    let (undefined, unread) = (loaded.undefined(plan), loaded.unread(plan, &wanted));
    let repositories = used_repositories(plan, &loaded);
    let checked = closed(plan, loaded, sites, repositories);
    Checked { findings, undefined, unread, internal_error, ..checked }
}

/// What is left of a run for reports; without findings.
fn closed(
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
    known: &Known,
    per_site: &PerSite<'_>,
) -> ((CheckedSite<()>, Vec<Diagnostic>), Option<OneSide<'l>>) {
    let name = files.name.as_deref().unwrap_or_default();
    let (mut docs, mut before) = (Vec::new(), None);
    // A fault in layercake itself costs this site, or what was to be taken from
    // it, and says so; the others go on.
    let (mut side, is_taken) = loop {
        let side = guarded(Place::Site(name), || {
            OneSide::of(plan, loaded, (&loaded.head, files), &[known], (before.as_ref(), &docs))
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

/// Compares the head of `plan` with its base.
///
/// # Errors
/// As [`check`](super::check).
pub fn compare(plan: &Plan<'_>, settings: &Settings) -> Result<Compared, Error> {
    compare_with(plan, settings, &|_| ())
}

/// As [`compare`]; `per_site` takes from each site what the caller wants of
/// its two sides.
///
/// # Errors
/// As [`check`](super::check).
pub fn compare_with(
    plan: &Plan<'_>,
    settings: &Settings,
    per_site: &PerPair<'_>,
) -> Result<Compared, Error> {
    let mut loaded = Loaded::new(plan, settings.work)?;
    loaded.ensure_sites(plan)?;
    let sides = Sides::of(plan, &loaded);
    let repositories = used_repositories(plan, &loaded);
    let documents = lap(Stage::Pair, || Documents::of(&sides));
    let mut edits = lap(Stage::Pair, || {
        let keys = settings.keys.clone();
        match settings.before {
            Before::Base => {
                let files = sides.file_edits(&documents.edited);
                edits(documents.base, documents.head, &documents.unedited, files, keys)
            }
            Before::Nothing => edits(Vec::new(), Vec::new(), &[], Vec::new(), keys),
        }
    });
    let reported = sides.revisions.reported(plan.further(), &repositories);
    for number in edits.edits.iter_mut().filter_map(|edit| edit.repository.as_mut()) {
        *number = reported[*number];
    }
    did(Stage::Pair, || edits.edits.len());
    plan.progress.sites.store(sides.pairs.len(), Relaxed);
    // Limits stay as if all sites were compared.
    let left_out = sides.head.all_sets - sides.head.sets.len();
    let limits = Limits::of_each(sides.pairs.len() + left_out);
    let unedited = &documents.unedited[..];
    let known = Known::of_files(sides.files_of_several());
    let sites = of_sites(&sides.pairs, |pair| {
        let of_run = &known;
        let run =
            SiteRun { sides: &sides, settings, pair, edits: &edits, unedited, of_run, limits };
        let compared = run.guarded(per_site);
        plan.progress.sites_rendered.fetch_add(1, Relaxed);
        compared
    });
    let (mut findings, has_failed) =
        lap(Stage::Judge, || compared_findings(&sides, settings, &sites, &edits.edits));
    let internal_error = loaded.has_failed() || has_failed;
    did(Stage::Judge, || {
        sites.iter().map(|site| site.base_findings.len() + site.head_findings.len()).sum()
    });
    let mut found = Vec::new();
    let mut checked = Vec::new();
    let mut concerned = BTreeSet::new();
    for site in sites {
        checked.extend(site.checked);
        found.push(site.found);
        concerned.extend(site.concerned);
    }
    let edited = &documents.edited;
    let is_edited = |site: Option<&Arc<str>>, file| {
        let file = loaded.sources.written(Span::point(file, 0)).file;
        let mut edited = edited.range((file, None)..=(file, Some(usize::MAX)));
        edited.any(|(_, number)| sides.revisions.are_of_site(*number, site))
    };
    let mut comparison = lap(Stage::Route, || gather(edits.edits, found, &is_edited));
    limit(&sides, &mut comparison, &mut findings, &concerned);
    let files = edited.iter().map(|(file, _)| loaded.sources.get(*file));
    let real = files.filter(|file| file.decoded_from().is_none());
    let edited_files = real.map(|file| file.path().clone()).collect();
    let damaged_baseline = loaded.damaged_baseline.take();
    let checked = Checked { internal_error, ..closed(plan, loaded, checked, repositories) };
    let gated = Findings::default();
    Ok(Compared { checked, comparison, findings, gated, edited_files, damaged_baseline })
}

/// Leaves what the plan asks for: the edits of the files that are given,
/// as far as they concern the sites that are wanted, and those that caused
/// a finding there is to report.
fn limit(
    sides: &Sides<'_>,
    comparison: &mut Comparison,
    findings: &mut triage::ComparedFindings,
    concerned: &BTreeSet<EditId>,
) {
    if sides.plan.options.only.is_empty() && sides.plan.options.sites.is_none() {
        return;
    }
    let reported: BTreeSet<EditId> = findings.causes.iter().flatten().copied().collect();
    let is_given = |edit: &Edit| {
        let texts = edit.base.iter().chain(&edit.head);
        let mut places = texts.flat_map(|text| std::iter::once(&text.at).chain(&text.covers));
        places.any(|place| sides.plan.concerns(sides.loaded.sources.path_of(*place)))
    };
    let in_site = |id: EditId| sides.plan.options.sites.is_none() || concerned.contains(&id);
    let numbers =
        comparison.keep(&|id, edit| reported.contains(&id) || (in_site(id) && is_given(edit)));
    findings.renumber(&numbers);
}

/// The findings that are new, gone and the same on both sides, and whether one of them is an
/// internal error. Internal errors count as new on both sides, because they hide
/// other findings.
fn compared_findings(
    sides: &Sides<'_>,
    settings: &Settings,
    sites: &[ComparedSite],
    edits: &[Edit],
) -> (triage::ComparedFindings, bool) {
    let loaded = sides.loaded;
    let of_files = |side: &LoadedSide| {
        let found = lap(Stage::Rules, || loaded.file_findings(side));
        did(Stage::Rules, || found.len());
        found
    };
    let (mut head, mut base) = (of_files(sides.head), of_files(sides.base));
    base.extend(sides.base.layout_findings());
    head.extend(sides.head.layout_findings());
    let mut caused: BTreeMap<FindingKey<'_>, &[EditId]> = BTreeMap::new();
    for site in sites {
        base.extend(site.base_findings.iter().cloned());
        head.extend(site.head_findings.iter().cloned());
        for (index, edits) in &site.caused {
            caused.insert(finding_key(&site.head_findings[*index]), edits);
        }
    }
    base.extend(loaded.configuration_findings(sides.plan, sides.base));
    if settings.before == Before::Nothing {
        // What is found in an empty folder was not there before.
        base.clear();
    }
    head.extend(loaded.configuration_findings(sides.plan, sides.head));
    head.extend(loaded.configured.change());
    let (internal, base): (Vec<_>, Vec<_>) = base.into_iter().partition(rules::is_internal);
    head.extend(internal);
    let has_failed = head.iter().any(rules::is_internal);
    let mut base = loaded.judge(sides.plan, sides.base, base);
    let mut head = loaded.judge(sides.plan, sides.head, head);
    sides.plan.keep_asked(&mut base);
    sides.plan.keep_asked(&mut head);
    let sources = &loaded.sources;
    let in_files = LazyCell::new(|| EditsInFiles::of(edits, sources));
    let causes = |finding: &Diagnostic| match caused.get(&finding_key(finding)) {
        Some(edits) => edits.to_vec(),
        None => in_files.causes(finding),
    };
    let only = &sides.plan.options.only;
    let of_side =
        |findings, side: &LoadedSide| triage::SideFindings { findings, sites: side.site_names() };
    let (base, head) = (of_side(base, sides.base), of_side(head, sides.head));
    let mut compared = triage::ComparedFindings::new(base, head, sources, only, &causes);
    let unread = |id: EditId| {
        let edit = &edits[id.index()];
        edit.head.as_ref().filter(|_| edit.kind == EditKind::File).map(|text| text.at.file)
    };
    compared.mark_consequences(&unread, sources);
    let added_ignores = match settings.before {
        Before::Base => loaded.added_ignores(),
        Before::Nothing => 0,
    };
    (triage::ComparedFindings { added_ignores, ..compared }, has_failed)
}

/// Key that identifies a finding of one site.
type FindingKey<'d> = (Span, &'static str, &'d str, &'d [Arc<str>]);

fn finding_key(finding: &Diagnostic) -> FindingKey<'_> {
    (finding.primary.span, finding.rule.name, &*finding.message, &*finding.sites)
}

/// The edits of files, to find those that a finding of a file by itself comes from.
struct EditsInFiles<'e> {
    sources: &'e SourceMap,
    texts: Texts,
    by_path: BTreeMap<&'e RepoPath, Vec<EditId>>,
}

impl<'e> EditsInFiles<'e> {
    fn of(edits: &[Edit], sources: &'e SourceMap) -> Self {
        let ids: Vec<EditId> = (0..edits.len()).map(EditId::at).collect();
        let texts = Texts::of(edits, &ids, |edit| edit.head.as_ref());
        let mut by_path: BTreeMap<&RepoPath, Vec<EditId>> = BTreeMap::new();
        for id in ids {
            let edit = &edits[id.index()];
            let texts = edit.base.iter().chain(&edit.head);
            let places = texts.flat_map(|text| std::iter::once(&text.at).chain(&text.covers));
            let paths = places.map(|place| sources.path_of(*place));
            for path in paths.collect::<BTreeSet<_>>() {
                by_path.entry(path).or_default().push(id);
            }
        }
        Self { sources, texts, by_path }
    }

    /// The edits at the place of a finding, or else the first edits of its file.
    fn causes(&self, finding: &Diagnostic) -> Vec<EditId> {
        /// Maximum number of edits of its file that are named for a finding.
        const MAX_EDITS: usize = 10;
        let there = edits_meeting([(&self.texts, finding.primary.span)]);
        if !there.is_empty() {
            return there;
        }
        let in_file = self.by_path.get(self.sources.path_of(finding.primary.span));
        in_file.into_iter().flatten().take(MAX_EDITS).copied().collect()
    }
}

/// Does `one` for each site: for the first, which makes what the others share, and then for the
/// others in parallel. What is left of a site is freed. Returns the results in the order of the
/// sites.
fn of_sites<I: Sync, R: Send, S: Send>(sites: &[I], one: impl Fn(&I) -> (R, S) + Sync) -> Vec<R> {
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
