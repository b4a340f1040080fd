//! The pipeline over two sides: both are rendered and judged whole, site by
//! site; what is the same on both is read, parsed and rendered once.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::configuration::{Related, related};
use super::load::{KnownToThreads, Loaded, SetFiles, Side as LoadedSide};
use super::parts::PartFile;
use super::repositories::{AllRevisions, LocatedFile, Which, used_repositories};
use super::run::{after_its_like, counts_for};
use super::side::{Asked, OneSide, identities};
use super::{Checked, CheckedSite, Plan, RenderedSite, Work};
use crate::compare::reach::{Comparison, SiteChanges, SiteReach, Unlisted, gather};
use crate::compare::{
    Attributed, Attribution, Limits, Proof, Question, Renames, Status, Texts, Trial, Wanted,
    attribute, compare as changes_of, edits_meeting, not_comparable, shields,
};
use crate::diagnostic::{Diagnostic, Trait};
use crate::edit::{Edit, EditId, EditKind};
use crate::ending::give_back;
use crate::error::Error;
use crate::graph::Graph;
use crate::guard::{Place as Guarded, guarded};
use crate::render::{Alike, Earlier, Extent, Rendered, render_again};
use crate::rules::{self, FailedStep, SiteFacts};
use crate::source::{DocKey, FileId, RepoPath, SourceMap, Span};
use crate::stopwatch::{Stage, did, lap};
use crate::system::Written;
use crate::system::cloud_init::{GivenFile, Sets};
use crate::system::deckhand::Site;
use crate::system::deckhand::layout::Place;
use crate::system::edits::{
    Edits, FileEdit, FileEditCause, Located, Membership, SitePair, SitePlaces, edits,
};
use crate::triage::{self, Findings};
use crate::yaml::diff::ListKeys;
use crate::yaml::{Node, Value, Whole};

/// How two sides are compared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How items of lists are matched.
    pub keys: ListKeys,
    /// How causes are found.
    pub attribution: Attribution,
    /// What the base takes from the head instead of rendering it: what has the
    /// same values, or, where it is to name its own text, what was read from the
    /// same.
    pub alike: Alike,
    /// The work on each side.
    pub work: Work,
    /// What was there before the head.
    pub before: Before,
}

/// What a head is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// The base of the plan.
    #[default]
    Base,
    /// Nothing, as before a first commit: nobody edited anything, all that is found is new.
    Nothing,
}

impl Settings {
    /// A site is rendered again so often at most to find causes, unless they
    /// are to be verified.
    pub const RENDERINGS: usize = 400;
    /// Maximum number of documents of all these renderings of a site, which has at least
    /// [`Settings::MIN_RENDERINGS`].
    pub const RENDERED_DOCUMENTS: usize = 250_000;
    /// See [`Settings::RENDERED_DOCUMENTS`].
    pub const MIN_RENDERINGS: usize = 20;

    fn attribution_of(&self, documents: usize) -> Attribution {
        match self.attribution {
            Attribution::Verified => Attribution::Verified,
            Attribution::Followed { renderings } => {
                let most = Self::RENDERED_DOCUMENTS / documents.max(1);
                Attribution::Followed { renderings: renderings.min(most.max(Self::MIN_RENDERINGS)) }
            }
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let attribution = Attribution::Followed { renderings: Settings::RENDERINGS };
        // Rules ask which texts a value was written in: where some of what they
        // look at named texts of the other side, they would find otherwise than
        // they do where that side stands alone.
        let (keys, alike, work) = (ListKeys::default(), Alike::Text, Work::Judge);
        Self { keys, attribution, alike, work, before: Before::Base }
    }
}

/// What a comparison found.
#[derive(Debug)]
pub struct Compared {
    /// The head side; its findings are in [`Compared::findings`].
    pub checked: Checked<()>,
    /// What changed, and why.
    pub comparison: Comparison,
    /// The findings of both sides, told apart.
    pub findings: triage::ComparedFindings,
    /// What the gates say; also among the new findings.
    pub gated: Findings,
    /// The files that are not the same on both sides, by path.
    pub edited_files: BTreeSet<crate::source::RepoPath>,
    /// What is wrong with the baseline of the base, if it cannot be used; all
    /// that the base has counts as found there then.
    pub damaged_baseline: Option<String>,
}

impl Compared {
    /// The findings without which a comparison would mislead: what could not be read, and what
    /// the gates say.
    pub fn without_rules(&self) -> triage::ComparedFindings {
        let is_gated = |diagnostic: &Diagnostic| {
            let mut gated = self.gated.diagnostics.iter();
            gated.any(|it| {
                (it.rule.name, &it.message) == (diagnostic.rule.name, &diagnostic.message)
            })
        };
        self.findings.retained(|it| it.rule.is(Trait::Unreadable) || is_gated(it))
    }
}

/// A site on the sides where it is there, while both are at hand.
pub struct BothSides<'a> {
    /// As it was.
    pub base: Option<RenderedSite<'a>>,
    /// As it is.
    pub head: Option<RenderedSite<'a>>,
}

/// Looks at both sides of a site.
type PerPair<'f> = dyn Fn(&BothSides<'_>) + Sync + 'f;

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
    let base = loaded.base.as_ref().unwrap_or(&loaded.head);
    let sides = Sides { plan, settings, loaded: &loaded, base, head: &loaded.head };
    let (pairs, revisions) = sides.pairs();
    let repositories = used_repositories(plan, &loaded);
    let sources = lap(Stage::Pair, || Documents::of(&sides, &revisions));
    let mut edits = lap(Stage::Pair, || {
        let keys = settings.keys.clone();
        match settings.before {
            Before::Base => {
                let files = sides.file_edits(&pairs, &revisions, &sources.edited);
                edits(sources.base, sources.head, &sources.unedited, files, keys)
            }
            Before::Nothing => edits(Vec::new(), Vec::new(), &[], Vec::new(), keys),
        }
    });
    let reported = revisions.reported(plan.further(), &repositories);
    for number in edits.edits.iter_mut().filter_map(|edit| edit.repository.as_mut()) {
        *number = reported[*number];
    }
    did(Stage::Pair, || edits.edits.len());
    plan.progress.sites.store(pairs.len(), Relaxed);
    // Limits stay as if all sites were compared.
    let left_out = sides.head.all_sets - sides.head.sets.len();
    let limits = Limits::of_each(pairs.len() + left_out);
    let unedited = &sources.unedited[..];
    let site_type = |pair: &SetPair<'_>| pair.site_type();
    let sites = after_its_like(&pairs, site_type, |pair, like| {
        let run = SiteRun { sides: &sides, pair, edits: &edits, unedited, like, limits };
        sides.site(&run, per_site)
    });
    let (mut findings, has_failed) = lap(Stage::Judge, || sides.findings(&sites, &edits.edits));
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
    let edited = &sources.edited;
    let is_edited = |site: Option<&Arc<str>>, file| {
        let file = loaded.sources.written(Span::point(file, 0)).file;
        let mut edited = edited.range((file, None)..=(file, Some(usize::MAX)));
        edited.any(|(_, number)| revisions.are_of_site(*number, site))
    };
    let mut comparison = lap(Stage::Route, || gather(edits.edits, found, &is_edited));
    sides.limit(&mut comparison, &mut findings, &concerned);
    let files = edited.iter().map(|(file, _)| loaded.sources.get(*file));
    let real = files.filter(|file| file.decoded_from().is_none());
    let edited_files = real.map(|file| file.path().clone()).collect();
    let (secrets, opaque) = (loaded.secrets(), loaded.opaque());
    let documents = loaded.documents(plan, &loaded.head.wanted(plan));
    let checked = Checked {
        sites: checked,
        repositories,
        findings: Findings::default(),
        secrets,
        opaque,
        documents,
        undefined: Vec::new(),
        unread: Vec::new(),
        internal_error,
        sources: mem::take(&mut loaded.sources),
    };
    let gated = Findings::default();
    let damaged_baseline = loaded.damaged_baseline.take();
    give_back(loaded);
    Ok(Compared { checked, comparison, findings, gated, edited_files, damaged_baseline })
}

impl Compared {
    /// Adds what the gates say, of an edit where it is of one.
    pub fn add_gated(&mut self, finding: Diagnostic, edit: Option<EditId>) {
        self.gated.diagnostics.push(finding.clone());
        self.findings.add(finding, edit, &self.checked.sources);
    }
}

/// Both sides of a run.
struct Sides<'a> {
    plan: &'a Plan<'a>,
    settings: &'a Settings,
    loaded: &'a Loaded,
    base: &'a LoadedSide,
    head: &'a LoadedSide,
}

/// The documents of both sides, by whether their files are the same.
struct Documents<'a> {
    unedited: Vec<Located<'a>>,
    base: Vec<Located<'a>>,
    head: Vec<Located<'a>>,
    edited: BTreeSet<LocatedFile>,
}

impl<'a> Documents<'a> {
    fn of(sides: &Sides<'a>, revisions: &AllRevisions) -> Self {
        let files = |which: Which| -> BTreeSet<LocatedFile> {
            let side = sides.side(which);
            let parts = side.files_of_parts().into_iter().map(|file| (file, None));
            let documents = side.files.iter().flat_map(|file| {
                let numbers = revisions.numbers_of(file.repository, which);
                numbers.iter().map(|number| (file.id, *number))
            });
            documents.chain(parts).collect()
        };
        let (base, head) = (files(Which::Base), files(Which::Head));
        let shared: BTreeSet<LocatedFile> = base.intersection(&head).copied().collect();
        let of = |which: Which, is_shared: bool| {
            let wanted = |file: LocatedFile| shared.contains(&file) == is_shared;
            let mut located = sides.located(which, revisions, &wanted);
            let other = sides.side(which.other());
            let others = other.reads();
            let is_wanted = |file: &&PartFile| others.contains(&file.identity()) == is_shared;
            let parts = sides.side(which).parts.iter().filter(is_wanted);
            located.extend(parts.flat_map(PartFile::located));
            located
        };
        Self {
            unedited: of(Which::Head, true),
            base: of(Which::Base, false),
            head: of(Which::Head, false),
            edited: base.symmetric_difference(&head).copied().collect(),
        }
    }
}

/// A file that was edited and perhaps not read.
#[derive(Default)]
struct UnreadFile<'a> {
    sides: [Option<FileId>; 2],
    places: Vec<Option<&'a Place>>,
}

/// One site on the sides where it is there.
struct SetPair<'a> {
    name: Option<Arc<str>>,
    base: Option<&'a SetFiles>,
    head: Option<&'a SetFiles>,
    /// The further repositories of each side, by the numbers of their revisions.
    repositories: [Vec<usize>; 2],
}

/// What came of one site.
struct ComparedSite {
    checked: Option<CheckedSite<()>>,
    found: SiteChanges,
    base_findings: Vec<Diagnostic>,
    head_findings: Vec<Diagnostic>,
    /// The edits that caused findings of the head which the base does not
    /// have, as far as that is known, by the finding's index.
    caused: BTreeMap<usize, Vec<EditId>>,
    /// The edits of documents that it has on one of the sides.
    concerned: Vec<EditId>,
}

impl SetPair<'_> {
    /// Whether the same kinds of files make the site on both sides.
    fn is_made_alike(&self) -> bool {
        match (self.base, self.head) {
            (Some(base), Some(head)) => {
                let [on_base, on_head] = &self.repositories;
                base.site_type == head.site_type && on_base == on_head
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Which files make it on the base side and on the head side, without parts.
    fn memberships(&self) -> [Option<Membership>; 2] {
        let of = |set: Option<&SetFiles>, repositories: &Vec<usize>| {
            set.map(|set| set.membership(repositories.clone()))
        };
        let [base, head] = &self.repositories;
        [of(self.base, base), of(self.head, head)]
    }

    /// Its type, on the head side if it is there.
    fn site_type(&self) -> Option<Arc<str>> {
        self.head.or(self.base)?.site_type.clone()
    }

    /// The site with its number of outputs on the base side and on the head side.
    fn reach(&self, [base, head]: [Option<usize>; 2]) -> SiteReach {
        SiteReach { site: self.name.clone(), site_type: self.site_type(), base, head }
    }

    /// What tells that layercake itself failed at the site.
    fn word_internal(&self, undone: FailedStep) -> Option<Diagnostic> {
        Some(self.head.or(self.base)?.word_internal(undone))
    }
}

/// Which sites read which files, on both sides together.
struct Readers<'a> {
    sites: BTreeSet<&'a str>,
    by_type: BTreeMap<&'a str, BTreeSet<&'a str>>,
    by_part: BTreeMap<&'a RepoPath, BTreeSet<&'a str>>,
    /// Whether there are sites of which it is not known what they read.
    are_unknown: bool,
}

impl<'a> Readers<'a> {
    fn of(sides: [&'a LoadedSide; 2]) -> Self {
        let are_unknown = sides.iter().any(|side| side.unread_definitions().next().is_some());
        let (sites, by_type, by_part) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut readers = Self { sites, by_type, by_part, are_unknown };
        for set in sides.into_iter().flat_map(|side| &side.sets) {
            let Some(name) = set.name.as_deref() else { continue };
            readers.sites.insert(name);
            let site_type = set.site_type.as_deref().unwrap_or_default();
            readers.by_type.entry(site_type).or_default().insert(name);
            for path in &set.part_paths {
                readers.by_part.entry(path).or_default().insert(name);
            }
        }
        readers
    }

    /// The files that only the site of `set` reads.
    fn alone(&self, set: &SetFiles) -> SitePlaces {
        let is_alone = |readers: Option<&BTreeSet<&str>>| {
            !self.are_unknown && readers.is_some_and(|readers| readers.len() == 1)
        };
        let own = set.name.clone().map(Place::Site);
        let of_type = set.site_type.clone().filter(|name| is_alone(self.by_type.get(&**name)));
        let global = is_alone(Some(&self.sites)).then_some(Place::Global);
        let places = own.into_iter().chain(of_type.map(Place::Type)).chain(global);
        let parts = set.part_paths.iter().filter(|path| is_alone(self.by_part.get(path)));
        SitePlaces { places: places.collect(), parts: parts.cloned().collect() }
    }
}

impl<'a> Sides<'a> {
    fn side(&self, which: Which) -> &'a LoadedSide {
        match which {
            Which::Base => self.base,
            Which::Head => self.head,
        }
    }

    fn located(
        &self,
        which: Which,
        revisions: &AllRevisions,
        wanted: &dyn Fn(LocatedFile) -> bool,
    ) -> Vec<Located<'a>> {
        let files = self.side(which).files.iter().flat_map(|file| {
            let numbers = revisions.numbers_of(file.repository, which).iter();
            numbers.map(move |number| (file, *number))
        });
        files
            .filter(|(file, number)| wanted((file.id, *number)))
            .flat_map(|(file, repository)| {
                let path = self.loaded.sources.get(file.id).path();
                let documents = self.loaded.file(file.id).documents.iter().enumerate();
                documents.map(move |(index, document)| Located {
                    repository,
                    path,
                    place: file.place.as_ref(),
                    index,
                    document: Written::Deckhand(document),
                })
            })
            .collect()
    }

    /// The sites that are wanted, by name, and the further repositories that they are made of.
    fn pairs(&self) -> (Vec<SetPair<'a>>, AllRevisions) {
        let mut pairs: BTreeMap<Option<Arc<str>>, SetPair<'a>> = BTreeMap::new();
        let empty = |name: &Option<Arc<str>>| SetPair {
            name: name.clone(),
            base: None,
            head: None,
            repositories: [Vec::new(), Vec::new()],
        };
        for set in self.base.wanted(self.plan) {
            pairs.entry(set.name.clone()).or_insert_with(|| empty(&set.name)).base = Some(set);
        }
        for set in self.head.wanted(self.plan) {
            pairs.entry(set.name.clone()).or_insert_with(|| empty(&set.name)).head = Some(set);
        }
        let mut revisions = AllRevisions::default();
        for pair in pairs.values_mut() {
            let of = |set: Option<&'a SetFiles>| set.map_or(&[][..], |set| &set.repositories);
            let sides = [of(pair.base), of(pair.head)];
            let further = self.plan.further();
            pair.repositories = revisions.add_site(further, pair.name.as_ref(), sides);
        }
        (pairs.into_values().collect(), revisions)
    }

    /// Edits that no document shows: of site definitions whose sites are made of other files
    /// on each side, and of files that cannot be read.
    fn file_edits(
        &self,
        pairs: &[SetPair<'a>],
        revisions: &AllRevisions,
        edited: &BTreeSet<LocatedFile>,
    ) -> Vec<FileEdit<'a>> {
        let readers = LazyCell::new(|| Readers::of([self.base, self.head]));
        let defined = pairs.iter().filter(|pair| !pair.is_made_alike()).filter_map(|pair| {
            let name = pair.name.as_deref()?;
            let [base, head] = [self.base, self.head]
                .map(|side| side.file_at(&side.definition_of(name)?, self.loaded));
            let (cause, alone) = match (pair.base, pair.head, base, head) {
                (None, Some(set), None, Some(_)) => (FileEditCause::SiteAdded, readers.alone(set)),
                (Some(set), None, Some(_), None) => {
                    (FileEditCause::SiteRemoved, readers.alone(set))
                }
                _ => (FileEditCause::Definition, SitePlaces::default()),
            };
            let path = self.loaded.sources.get(head.or(base)?).path();
            let edit = FileEdit { alone, ..FileEdit::new(path, cause, [base, head]) };
            (base != head).then_some(edit)
        });
        let unread = self.unread(revisions, edited);
        let known: BTreeSet<&RepoPath> = unread.iter().map(|file| file.path).collect();
        let unknown = pairs.iter().filter_map(|pair| self.unknown_repositories(pair));
        let unknown: Vec<FileEdit<'a>> =
            unknown.filter(|file| !known.contains(file.path)).collect();
        defined.chain(unread).chain(unknown).collect()
    }

    /// The edit of the definition of a site of which other repositories, or other revisions, are
    /// not read on each side.
    fn unknown_repositories(&self, pair: &SetPair<'a>) -> Option<FileEdit<'a>> {
        let name = pair.name.as_deref()?;
        let sides = [self.base, self.head];
        let unknown = sides.map(|side| side.unknown_repositories(name));
        if pair.base.is_none() || pair.head.is_none() || unknown[0] == unknown[1] {
            return None;
        }
        let [base, head] = sides.map(|side| side.file_at(&side.definition_of(name)?, self.loaded));
        let path = self.loaded.sources.get(head.or(base)?).path();
        let (is_unread, places) =
            (unknown.map(|unknown| !unknown.is_empty()), vec![self.head.place_of(head?)]);
        let edit = FileEdit::new(path, FileEditCause::Repository, [base, head]);
        Some(FileEdit { is_unread, places, ..edit })
    }

    /// Edits of files that cannot be read.
    fn unread(
        &self,
        revisions: &AllRevisions,
        edited: &BTreeSet<LocatedFile>,
    ) -> Vec<FileEdit<'a>> {
        let mut found: BTreeMap<(Option<usize>, &RepoPath), UnreadFile<'a>> = BTreeMap::new();
        for (at, which) in [Which::Base, Which::Head].into_iter().enumerate() {
            let side = self.side(which);
            let of_parts = side.files_of_parts().into_iter().map(|file| ((file, None), None));
            let of_documents = side.files.iter().flat_map(|file| {
                let numbers = revisions.numbers_of(file.repository, which).iter();
                numbers.map(move |number| ((file.id, *number), Some(file.place.as_ref())))
            });
            let files = of_documents.chain(of_parts);
            for ((id, repository), place) in files.filter(|(file, _)| edited.contains(file)) {
                let source = self.loaded.sources.get(id);
                if source.decoded_from().is_none() {
                    let found = found.entry((repository, source.path())).or_default();
                    found.sides[at] = Some(id);
                    found.places.extend(place);
                }
            }
        }
        let unread = found.into_iter().filter_map(|((repository, path), file)| {
            let UnreadFile { sides, places } = file;
            let is_unread = self.loaded.unread_sides(sides)?;
            let edit = FileEdit::new(path, FileEditCause::Unread, sides);
            Some(FileEdit { repository, is_unread, places, ..edit })
        });
        unread.collect()
    }

    /// Renders, judges and compares one site. A fault in layercake itself
    /// costs this site and says so.
    fn site(
        &self,
        run: &SiteRun<'_, 'a>,
        per_site: &PerPair<'_>,
    ) -> (ComparedSite, Option<OneSide<'a>>) {
        let pair = run.pair;
        let name = pair.name.as_deref().unwrap_or_default();
        let outcome = guarded(Guarded::Site(name), || run.run(per_site));
        self.plan.progress.sites_rendered.fetch_add(1, Relaxed);
        outcome.unwrap_or_else(|| {
            let reach = pair.reach([None, None]);
            let compared = ComparedSite {
                checked: None,
                found: SiteChanges::nothing(reach),
                base_findings: Vec::new(),
                head_findings: pair.word_internal(FailedStep::Checking).into_iter().collect(),
                caused: BTreeMap::new(),
                concerned: Vec::new(),
            };
            (compared, None)
        })
    }

    /// Leaves what the plan asks for: the edits of the files that are given,
    /// as far as they concern the sites that are wanted, and those that caused
    /// a finding there is to report.
    fn limit(
        &self,
        comparison: &mut Comparison,
        findings: &mut triage::ComparedFindings,
        concerned: &BTreeSet<EditId>,
    ) {
        if self.plan.only.is_empty() && self.plan.sites.is_none() {
            return;
        }
        let reported: BTreeSet<EditId> = findings.causes.iter().flatten().copied().collect();
        let is_given = |edit: &Edit| {
            let texts = edit.base.iter().chain(&edit.head);
            let mut places = texts.flat_map(|text| std::iter::once(&text.at).chain(&text.covers));
            places.any(|place| self.plan.concerns(self.loaded.sources.path_of(*place)))
        };
        let in_site = |id: EditId| self.plan.sites.is_none() || concerned.contains(&id);
        let numbers =
            comparison.keep(&|id, edit| reported.contains(&id) || (in_site(id) && is_given(edit)));
        findings.renumber(&numbers);
    }

    /// The findings of both sides, told apart, and whether one of them tells a
    /// fault of layercake itself. Such a one is new whichever side it is on: it
    /// says that this run found less than there is.
    fn findings(&self, sites: &[ComparedSite], edits: &[Edit]) -> (triage::ComparedFindings, bool) {
        let of_files = |side: &LoadedSide| {
            let found = lap(Stage::Rules, || self.loaded.file_findings(side));
            did(Stage::Rules, || found.len());
            found
        };
        let (mut head, mut base) = (of_files(self.head), of_files(self.base));
        base.extend(self.base.layout_findings());
        head.extend(self.head.layout_findings());
        let mut caused: BTreeMap<Told<'_>, &[EditId]> = BTreeMap::new();
        for site in sites {
            base.extend(site.base_findings.iter().cloned());
            head.extend(site.head_findings.iter().cloned());
            for (index, edits) in &site.caused {
                caused.insert(told(&site.head_findings[*index]), edits);
            }
        }
        base.extend(self.loaded.configuration_findings(self.plan, self.base));
        if self.settings.before == Before::Nothing {
            // What is found in an empty folder was not there before.
            base.clear();
        }
        head.extend(self.loaded.configuration_findings(self.plan, self.head));
        head.extend(self.loaded.configured.change());
        let (internal, base): (Vec<_>, Vec<_>) = base.into_iter().partition(rules::is_internal);
        head.extend(internal);
        let has_failed = head.iter().any(rules::is_internal);
        let mut base = self.loaded.judge(self.plan, self.base, base);
        let mut head = self.loaded.judge(self.plan, self.head, head);
        if let Some(globs) = &self.plan.sites {
            base.retain_mut(|diagnostic| counts_for(diagnostic, globs));
            head.retain_mut(|diagnostic| counts_for(diagnostic, globs));
        }
        let sources = &self.loaded.sources;
        let in_files = LazyCell::new(|| EditsInFiles::of(edits, sources));
        let causes = |finding: &Diagnostic| match caused.get(&told(finding)) {
            Some(edits) => edits.to_vec(),
            None => in_files.causes(finding),
        };
        let only = &self.plan.only;
        let of_side = |findings, side: &LoadedSide| triage::SideFindings {
            findings,
            sites: side.site_names(),
        };
        let (base, head) = (of_side(base, self.base), of_side(head, self.head));
        let mut compared = triage::ComparedFindings::new(base, head, sources, only, &causes);
        let unread = |id: EditId| {
            let edit = &edits[id.index()];
            edit.head.as_ref().filter(|_| edit.kind == EditKind::File).map(|text| text.at.file)
        };
        compared.mark_consequences(&unread, sources);
        let added_ignores = match self.settings.before {
            Before::Base => self.loaded.added_ignores(),
            Before::Nothing => 0,
        };
        (triage::ComparedFindings { added_ignores, ..compared }, has_failed)
    }
}

/// What tells a finding of one site from others.
type Told<'d> = (Span, &'static str, &'d str, &'d [Arc<str>]);

fn told(finding: &Diagnostic) -> Told<'_> {
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

/// One site while it is compared.
struct SiteRun<'r, 'a> {
    sides: &'r Sides<'a>,
    pair: &'r SetPair<'a>,
    edits: &'r Edits<'a>,
    unedited: &'a [Located<'a>],
    /// The head of another site, which is probably much like this one's.
    like: Option<&'r OneSide<'a>>,
    limits: Limits,
}

impl<'a> SiteRun<'_, 'a> {
    fn run(&self, per_site: &PerPair<'_>) -> (ComparedSite, Option<OneSide<'a>>) {
        let name = self.pair.name.as_deref().unwrap_or_default();
        let take = |sides: &BothSides<'_>| guarded(Guarded::Taking(name), || per_site(sides));
        let (mut compared, taken, head) = self.compared_and(&take);
        if taken.is_none() {
            compared.head_findings.extend(self.pair.word_internal(FailedStep::Taking));
        }
        (compared, head)
    }

    /// The site compared, whether `take` came to its end, and the head.
    fn compared_and(
        &self,
        take: &dyn Fn(&BothSides<'_>) -> Option<()>,
    ) -> (ComparedSite, Option<()>, Option<OneSide<'a>>) {
        let like = self.like.map(|like| (like, Alike::Text));
        let sources = &self.sides.loaded.sources;
        if let (Before::Nothing, Some(head)) = (self.sides.settings.before, self.pair.head) {
            let side = self.one_side(self.sides.head, head, like);
            let taken = take(&BothSides { base: None, head: Some(side.at_hand(sources)) });
            let reach = self.reach(None, Some(&side));
            let compared =
                ComparedSite { base_findings: Vec::new(), ..self.unchanged(head, &side, reach) };
            return (compared, taken, Some(side));
        }
        if let (Some(base), Some(head)) = (self.pair.base, self.pair.head)
            && base.files == head.files
            && base.parts == head.parts
            && self.unread().is_empty()
        {
            let side = self.one_side(self.sides.head, head, like);
            let at_hand = || Some(side.at_hand(sources));
            let taken = take(&BothSides { base: at_hand(), head: at_hand() });
            let reach = self.reach(Some(&side), Some(&side));
            return (self.unchanged(head, &side, reach), taken, Some(side));
        }
        let head = self.pair.head.map(|set| self.one_side(self.sides.head, set, like));
        let same = head.as_ref().map(|head| (head, self.sides.settings.alike));
        let base = self.pair.base.map(|set| self.one_side(self.sides.base, set, same));
        let taken = take(&BothSides {
            base: base.as_ref().map(|side| side.at_hand(sources)),
            head: head.as_ref().map(|side| side.at_hand(sources)),
        });
        let name = self.pair.name.as_deref().unwrap_or_default();
        let compared =
            guarded(Guarded::Comparison(name), || self.compared(base.as_ref(), head.as_ref()));
        let compared = compared.unwrap_or_else(|| self.not_compared(base.as_ref(), head.as_ref()));
        give_back(base);
        (compared, taken, head)
    }

    /// A site of which only the findings of both sides are known.
    fn not_compared(&self, base: Option<&OneSide<'a>>, head: Option<&OneSide<'a>>) -> ComparedSite {
        let mut head_findings = findings_of(head);
        head_findings.extend(self.pair.word_internal(FailedStep::Comparing));
        ComparedSite {
            checked: self.pair.head.zip(head).map(|(set, side)| side.checked(set, Some(()))),
            found: SiteChanges::nothing(self.reach(base, head)),
            base_findings: findings_of(base),
            head_findings,
            caused: BTreeMap::new(),
            concerned: Vec::new(),
        }
    }

    fn reach(&self, base: Option<&OneSide<'a>>, head: Option<&OneSide<'a>>) -> SiteReach {
        let outputs = |side: Option<&OneSide<'_>>| side.map(OneSide::outputs);
        self.pair.reach([base, head].map(outputs))
    }

    fn compared(&self, base: Option<&OneSide<'a>>, head: Option<&OneSide<'a>>) -> ComparedSite {
        let (before, after) = (base.map(OneSide::side), head.map(OneSide::side));
        let (site, concerned) = lap(Stage::Pair, || {
            let site = self.site_pair();
            let concerned = self.edits.of_site(&site);
            (site, concerned)
        });
        let trying = Trying {
            edits: self.edits,
            site: &site,
            sides: self.sides,
            known: KnownToThreads::default(),
            earlier: [base, head],
            has_failed: AtomicBool::new(false),
        };
        let rerender = |chosen: &[EditId], wanted: Wanted<'_>| {
            let extent = |graph: &Graph| Extent::Only(wanted(graph));
            let is_chosen = |edit| chosen.binary_search(&edit).is_ok();
            trying.with(&is_chosen, &extent, trial)
        };
        let keys = &self.sides.settings.keys;
        let renames = Renames::of(&self.edits.edits, &concerned);
        let mut changes = lap(Stage::Differ, || {
            changes_of(before.as_ref(), after.as_ref(), &renames, keys, self.limits)
        });
        did(Stage::Differ, || changes.len());
        let sides = before.iter().chain(&after);
        let documents = sides.map(|side| side.graph.recipes.len()).max().unwrap_or_default();
        let question = Question {
            base: before.as_ref(),
            head: after.as_ref(),
            edits: &self.edits.edits,
            concerned: &concerned,
            rerender: &rerender,
            renames: &renames,
            keys,
            attribution: self.sides.settings.attribution_of(documents),
            limits: self.limits,
        };
        let Attributed { mut proofs, unlisted: unlisted_causes } =
            lap(Stage::Cause, || attribute(&question, &mut changes));
        let (mut shields, unlisted_shields) = lap(Stage::Route, || shields(&question));
        let unread = self.unread();
        if !unread.is_empty() {
            changes = not_comparable(before.as_ref(), after.as_ref(), &renames, changes, &unread);
            let reaches = changes.iter().flat_map(|change| &change.causes);
            let reaches: BTreeSet<EditId> = reaches.map(|cause| cause.edit).collect();
            let unread: BTreeSet<EditId> = unread.iter().map(|(edit, _)| *edit).collect();
            // An edit of unknown content has no proof and no shield.
            shields.retain(|(edit, _)| !unread.contains(edit));
            proofs.retain(|edit, _| !unread.contains(edit));
            proofs.extend(unread.intersection(&reaches).map(|edit| (*edit, Proof::Followed)));
        }
        let unlisted = Unlisted {
            outputs: changes.len().saturating_sub(self.limits.outputs),
            causes: unlisted_causes,
            shields: unlisted_shields,
        };
        if unlisted.outputs > 0 {
            // Outputs that are worse than before are kept.
            let is_worse =
                |status| matches!(status, Status::Broken | Status::Removed | Status::NotComparable);
            changes.sort_by_key(|change| !is_worse(change.status));
            changes.truncate(self.limits.outputs);
        }
        let (base_findings, mut head_findings) = (findings_of(base), findings_of(head));
        let loaded = self.sides.loaded;
        let findings_with = |chosen| {
            let is_chosen = |edit| edit == chosen;
            trying.with(&is_chosen, &|_| Extent::All, |tried| {
                tried.findings(loaded, &self.sides.plan.rules)
            })
        };
        let caused = lap(Stage::Cause, || {
            self.caused(&base_findings, &head_findings, &concerned, &findings_with)
        });
        if trying.has_failed.load(Relaxed) {
            head_findings.extend(self.pair.word_internal(FailedStep::Trying));
        }
        let reach = self.reach(base, head);
        ComparedSite {
            checked: self.pair.head.zip(head).map(|(set, side)| side.checked(set, Some(()))),
            found: SiteChanges { reach, changes, unlisted, shields, proofs },
            base_findings,
            head_findings,
            caused,
            concerned: concerned.into_iter().chain(unread.into_iter().map(|(id, _)| id)).collect(),
        }
    }

    /// The edits of files that cannot be read, of those that make the site on one of the sides.
    fn unread(&self) -> Vec<(EditId, &Edit)> {
        let mut files = self.edits.unread().peekable();
        if files.peek().is_none() {
            return Vec::new();
        }
        let sets: Vec<&SetFiles> = self.pair.base.into_iter().chain(self.pair.head).collect();
        let members = self.pair.memberships();
        let makes = |file: &FileEdit<'_>| {
            let mut ids = file.base.iter().chain(&file.head).map(|at| at.file);
            file.places.iter().any(|place| {
                members.iter().flatten().any(|member| member.has_at(file.repository, *place))
            }) || ids.any(|id| sets.iter().any(|set| set.parts.binary_search(&id).is_ok()))
        };
        let made = files.filter(|(file, _)| makes(file));
        let mut edits: Vec<_> =
            made.map(|(_, edit)| (edit, &self.edits.edits[edit.index()])).collect();
        edits.sort_unstable_by_key(|(edit, _)| *edit);
        edits
    }

    /// A site of the same files on both sides.
    fn unchanged(&self, set: &'a SetFiles, side: &OneSide<'a>, reach: SiteReach) -> ComparedSite {
        ComparedSite {
            checked: Some(side.checked(set, Some(()))),
            found: SiteChanges::nothing(reach),
            base_findings: side.findings.clone(),
            head_findings: side.findings.clone(),
            caused: BTreeMap::new(),
            concerned: Vec::new(),
        }
    }

    /// One side, with what is alike in an earlier rendering taken from there.
    fn one_side(
        &self,
        side: &'a LoadedSide,
        set: &'a SetFiles,
        earlier: Option<(&OneSide<'a>, Alike)>,
    ) -> OneSide<'a> {
        OneSide::of(self.sides.plan, self.sides.loaded, (side, set), earlier, Asked::default())
    }

    fn site_pair(&self) -> SitePair<'a> {
        // A part that came is none of the base's, and yet it is the site's as soon
        // as that edit is taken; which sets it is in, their globs decide.
        let sides = self.pair.base.into_iter().chain(self.pair.head);
        let parts: BTreeSet<RepoPath> = sides.flat_map(|set| &set.part_paths).cloned().collect();
        let [base, head] = self.pair.memberships().map(|membership| {
            membership.map(|membership| Membership { parts: parts.clone(), ..membership })
        });
        let definition = self.pair.name.as_ref().and_then(|name| {
            let (head, base) = (self.sides.head, self.sides.base);
            head.definition_of(name).or_else(|| base.definition_of(name))
        });
        SitePair {
            base,
            head,
            definition: definition.map(|path| self.edits.of_definition(&path)).unwrap_or_default(),
            unedited: self.unedited,
        }
    }

    /// The edits that caused findings of the head that the base does not have:
    /// those at the finding's places, or else those that alone bring it about.
    fn caused(
        &self,
        base: &[Diagnostic],
        head: &[Diagnostic],
        concerned: &[EditId],
        findings_with: &dyn Fn(EditId) -> Vec<Diagnostic>,
    ) -> BTreeMap<usize, Vec<EditId>> {
        /// So many edits are tried by themselves at most.
        const MOST: usize = 50;
        let known: HashSet<Subject> = base.iter().map(subject).collect();
        let new = head.iter().enumerate().filter(|(_, finding)| !known.contains(&subject(finding)));
        let texts =
            LazyCell::new(|| Texts::of(&self.edits.edits, concerned, |edit| edit.head.as_ref()));
        let mut tried: BTreeMap<EditId, HashSet<Subject>> = BTreeMap::new();
        let mut caused = BTreeMap::new();
        for (index, finding) in new {
            let mut edits: Vec<EditId> = match concerned {
                [only] => vec![*only],
                _ => at_places(finding, &texts),
            };
            if edits.is_empty() {
                edits.extend(concerned.iter().take(MOST).copied().filter(|edit| {
                    let findings = tried
                        .entry(*edit)
                        .or_insert_with(|| findings_with(*edit).iter().map(subject).collect());
                    findings.contains(&subject(finding))
                }));
            }
            caused.insert(index, edits);
        }
        caused
    }
}

/// Identity of a finding across two renderings of a site.
type Subject = (&'static str, String, Option<DocKey>);

fn subject(finding: &Diagnostic) -> Subject {
    (finding.rule.name, finding.message.clone(), finding.documents.first().cloned())
}

/// The edits at the places of a finding.
fn at_places(finding: &Diagnostic, texts: &Texts) -> Vec<EditId> {
    let labels = std::iter::once(&finding.primary).chain(&finding.related);
    edits_meeting(labels.map(|label| (texts, label.span)))
}

fn findings_of(side: Option<&OneSide<'_>>) -> Vec<Diagnostic> {
    side.map(|side| side.findings.clone()).unwrap_or_default()
}

/// What is needed to render a site with some of the edits.
struct Trying<'t, 'a> {
    edits: &'t Edits<'a>,
    site: &'t SitePair<'a>,
    sides: &'t Sides<'t>,
    known: KnownToThreads,
    earlier: [Option<&'t OneSide<'a>>; 2],
    /// Whether layercake itself failed at a document that neither side has so.
    has_failed: AtomicBool,
}

impl Trying<'_, '_> {
    /// What `look` sees in the site with the edits that are `chosen`.
    fn with<T>(
        &self,
        chosen: &dyn Fn(EditId) -> bool,
        extent: &dyn Fn(&Graph) -> Extent,
        look: impl FnOnce(Tried<'_>) -> T,
    ) -> T {
        did(Stage::Cause, || 1);
        let versions = self.known.lend(|known| self.edits.apply(self.site, chosen, known));
        let mut documents = Vec::new();
        let mut parts: BTreeMap<&RepoPath, GivenFile<'_>> = BTreeMap::new();
        for (path, version) in &versions {
            match version.document() {
                Written::Deckhand(document) => documents.push(document),
                Written::Part(part) => {
                    let given = || GivenFile { at: part.at, parts: Vec::new(), read: None };
                    let given = parts.entry(path).or_insert_with(given);
                    given.parts.extend((!part.is_nothing()).then_some(part));
                }
            }
        }
        let name = self.site.head.as_ref().or(self.site.base.as_ref());
        let name = name.and_then(|membership| membership.site.clone());
        let membership = self.edits.membership(self.site, chosen);
        let site_type = membership.and_then(|membership| membership.site_type.as_deref());
        let (plan, loaded) = (self.sides.plan, self.sides.loaded);
        let sets = loaded.sets_of(plan, (name.as_deref(), site_type), &parts);
        let sides = self.earlier.into_iter().flatten().map(|side| (&side.site, &side.graph));
        let related = related(plan, &loaded.configured, name, documents, sets, sides);
        let identities = identities(&related);
        let Related { site, sets, graph } = related;
        let graph = Graph { sharers: self.sides.head.all_sets, ..graph };
        let earlier = self.earlier.into_iter().flatten();
        let earlier: Vec<Earlier<'_>> =
            earlier.map(|side| side.earlier(&site, &identities, Alike::Value)).collect();
        let rendered = render_again(&graph, &earlier, extent(&graph));
        self.has_failed.fetch_or(rendered.has_failed(), Relaxed);
        look(Tried { site: &site, sets: &sets, graph, rendered })
    }
}

/// A site with some of the edits, rendered.
struct Tried<'v> {
    site: &'v Site<'v>,
    sets: &'v Sets<'v>,
    graph: Graph,
    rendered: Rendered,
}

fn trial(tried: Tried<'_>) -> Trial {
    let written = tried.site.documents.iter().map(|document| document.whole().clone());
    let nothing = |_| Whole::Held(Node::new(Value::Null, Span::point(FileId::default(), 0)));
    let written = written.chain(tried.sets.iter().map(nothing)).collect();
    Trial { written, graph: tried.graph, rendered: tried.rendered }
}

impl Tried<'_> {
    fn findings(&self, loaded: &Loaded, settings: &rules::RuleOptions) -> Vec<Diagnostic> {
        let (site, sets, graph, rendered) = (self.site, self.sets, &self.graph, &self.rendered);
        let (sources, schemas) = (&loaded.sources, &loaded.schemas);
        let facts =
            SiteFacts { sources, site, sets, graph, rendered, schemas, settings, earlier: None };
        rules::word_site(&facts)
    }
}
