//! A run over one side, and sessions: files are read, and each site is related, rendered, judged
//! or asked by itself.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use globset::GlobSet;
use rayon::prelude::*;

use super::files::{SiteNames, SitesRead};
use super::load::{Loaded, SetFiles};
use super::repositories::used_repositories;
use super::side::{Asked, OneSide};
use super::{Answer, Checked, CheckedSite, Plan, RenderedSite, Taken, Work};
use crate::diagnostic::Diagnostic;
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::DocId;
use crate::guard::{Place, guarded};
use crate::render::Alike;
use crate::rules::{self, FailedStep};
use crate::stopwatch::{Stage, did, lap, split};
use crate::triage::Findings;

/// A site's name and type; none for a set without layout.
pub type NameAndType = (Option<Arc<str>>, Option<Arc<str>>);

/// Files that were read to answer questions about their documents, which are rendered as far as an
/// answer needs them. Nothing is judged.
pub struct Session<'p> {
    plan: &'p Plan<'p>,
    loaded: Loaded,
    /// The sites of which all files were read; all where none.
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
            Some(names) => SitesRead::named(plan, names),
            None => SitesRead::of(plan, Work::Answer, false),
        }
    }

    /// The sites, by name.
    pub fn sites(&self) -> Vec<NameAndType> {
        let sites = self.loaded.head.wanted(self.plan).into_iter();
        sites.map(|set| (set.name.clone(), set.site_type.clone())).collect()
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
    let sites = after_its_like(
        wanted,
        |files| files.site_type.as_deref(),
        |files, like| site(plan, loaded, files, like, per_site),
    );
    let (sites, found): (Vec<_>, Vec<_>) = sites.into_iter().unzip();
    (sites, found.into_iter().flatten().collect())
}

/// The result of a run with these sites and findings.
fn checked(
    plan: &Plan<'_>,
    mut loaded: Loaded,
    sites: Vec<CheckedSite<()>>,
    diagnostics: Vec<Diagnostic>,
) -> Checked<()> {
    let internal_error = loaded.has_failed() || diagnostics.iter().any(rules::is_internal);
    did(Stage::Judge, || diagnostics.len());
    let findings = lap(Stage::Judge, || {
        let mut diagnostics = loaded.judge(plan, &loaded.head, diagnostics);
        if let Some(globs) = &plan.sites {
            diagnostics.retain_mut(|diagnostic| counts_for(diagnostic, globs));
        }
        Findings::new(diagnostics, &loaded.sources, &plan.only).with_consequences(&loaded.sources)
    });
    let wanted = loaded.head.wanted(plan);
    let (secrets, opaque) = (loaded.secrets(), loaded.opaque());
    let documents = loaded.documents(plan, &wanted);
    let (undefined, unread) = (loaded.undefined(plan), loaded.unread(plan, &wanted));
    let repositories = used_repositories(plan, &loaded);
    let sources = mem::take(&mut loaded.sources);
    give_back(loaded);
    Checked {
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
    }
}

/// Whether a finding counts for one of the sites asked for; the others are
/// left out of it.
pub(super) fn counts_for(diagnostic: &mut Diagnostic, sites: &GlobSet) -> bool {
    diagnostic.sites.retain(|site| sites.is_match(&**site));
    !diagnostic.sites.is_empty()
}

/// Renders and judges one site, and gives it back for those that are `like` it.
fn site<'l>(
    plan: &Plan<'_>,
    loaded: &'l Loaded,
    files: &SetFiles,
    like: Option<&OneSide<'l>>,
    per_site: &PerSite<'_>,
) -> ((CheckedSite<()>, Vec<Diagnostic>), Option<OneSide<'l>>) {
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
            Some(more) if !more.is_empty() => docs.extend(more),
            taken => break (side, taken.map(drop)),
        }
        before = side;
    };
    let has_failed = side.as_ref().is_some_and(|side| side.rendered.has_failed());
    let undone = match (&side, &taken) {
        (None, _) => Some(FailedStep::Checking),
        (Some(_), _) if has_failed && !loaded.work.has_findings() => Some(FailedStep::Checking),
        (Some(_), None) => Some(FailedStep::Taking),
        (Some(_), Some(())) => None,
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

impl CheckedSite<()> {
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
    pub(super) fn word_internal(&self, undone: FailedStep) -> Diagnostic {
        let sites = self.name.iter().cloned().collect();
        Diagnostic { sites, ..rules::word_internal(self.first_file(), undone) }
    }
}

/// Does `one` for each item: for the first, then for the first of each kind, and
/// after each of these for the others of its kind. Each is shown what was made of
/// one that it is probably much like: the first of its kind, or else the first of
/// all. What `one` gives comes in the order of the items.
pub(super) fn after_its_like<I: Sync, K: Ord + Send, R: Send, S: Send + Sync>(
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
