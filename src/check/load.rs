//! The files of a run with their documents, and which of them make a site. What
//! is wrong with a file by itself is told from here.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use globset::GlobSet;
use rayon::prelude::*;

use super::configuration::Configured;
use super::files::{
    AsRead, Files, FilesSoFar, KnownFiles, SideFile, SideFiles, SitesRead, failure,
};
use super::parts::PartFile;
use super::repositories::Which;
use super::run::counts_for;
use super::{AcceptedBy, Plan, Scope, Work};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::guard::{Place as Guarded, guarded};
use crate::ignore::{self, Ignore};
use crate::merge::pattern::Patterns;
use crate::rules::{self, FileContents, FileFacts, RuleOptions, UserDataFacts};
use crate::source::{
    DocKey, FileId, ReadError, RepoPath, Source, SourceMap, Span, TextFault, Tree, offset,
};
use crate::stopwatch::{Stage, did, lap, split};
use crate::system::cloud_init;
use crate::system::cloud_init::part::CloudPart;
use crate::system::deckhand::document::{Document, DocumentFault, DocumentFaultKind};
use crate::system::deckhand::known::KnownTexts;
use crate::system::deckhand::layout::{
    Layout, NamedRepository, Place, Problem as LayoutProblem, SiteFiles, Uses, clashes,
};
use crate::system::deckhand::read::{Reading, Surroundings, read};
use crate::system::deckhand::schema::{Schemas, is_data_schema};
use crate::system::deckhand::secrecy::later::{Later, LaterSecrets, PlacedDocument};
use crate::system::deckhand::secrecy::{self, Folder, SecretKinds};
use crate::system::edits::Membership;
use crate::triage::{Baseline, Damage, Findable, SitesOfFiles, TriagedFindings};
use crate::yaml::{self, Node, Parsed};

/// The files that are rendered together.
pub(super) struct SetFiles {
    pub(super) name: Option<Arc<str>>,
    pub(super) site_type: Option<Arc<str>>,
    pub(super) files: Vec<FileId>,
    pub(super) repositories: Vec<usize>,
    /// The files that the parts of its sets stand in, by id, and their paths.
    pub(super) parts: Vec<FileId>,
    pub(super) part_paths: BTreeSet<RepoPath>,
}

impl SetFiles {
    /// The files that make the site, without parts of cloud-init; `repositories` as a
    /// [`Membership`] has them.
    pub(super) fn membership(&self, repositories: Vec<usize>) -> Membership {
        Membership {
            site: self.name.clone(),
            site_type: self.site_type.clone(),
            repositories,
            parts: BTreeSet::new(),
        }
    }

    /// The file that the set begins with; the first of all where it has none.
    pub(super) fn first_file(&self) -> FileId {
        self.files.first().or(self.parts.first()).copied().unwrap_or_default()
    }
}

impl From<SiteFiles> for SetFiles {
    fn from(site: SiteFiles) -> Self {
        let SiteFiles { name, site_type, repositories, files } = site;
        let (parts, part_paths) = (Vec::new(), BTreeSet::new());
        let (name, site_type) = (Some(name), Some(site_type));
        Self { name, site_type, files, repositories, parts, part_paths }
    }
}

/// What one file holds.
#[derive(Debug, Default)]
pub(super) struct LoadedFile {
    problems: Vec<yaml::YamlProblem>,
    pub(super) documents: Vec<Document>,
    others: Vec<DocumentFault>,
    /// Places of secrets; the whole file if they cannot be located.
    secrets: Vec<Span>,
    /// Whether no line of it may be shown.
    is_opaque: bool,
    comments: Vec<yaml::Comment>,
    /// What these say of findings.
    ignores: ignore::Comments,
    /// Whether it is one of cloud-init's.
    has_parts: bool,
    /// Its first document as it is written, where that may define a site.
    definition: Option<Node>,
    /// What was found in it, and at which place it was taken to be.
    found: Option<(Option<Place>, Vec<Diagnostic>)>,
}

/// All files of a run, read and parsed.
pub(super) struct Loaded {
    pub(super) sources: SourceMap,
    pub(super) files: Vec<LoadedFile>,
    /// What is checked.
    pub(super) head: Side,
    /// What it is compared with.
    pub(super) base: Option<Side>,
    known: KnownFiles,
    /// The schemas in them.
    pub(super) schemas: Schemas,
    in_repository: bool,
    pub(super) work: Work,
    /// The settings of the rules; none is selected in a run without findings.
    pub(super) settings: RuleOptions,
    /// The configuration's places, and what of it was met.
    pub(super) configured: Configured,
    /// What is wrong with the baseline of the base, if it cannot be used.
    pub(super) damaged_baseline: Option<String>,
}

/// The files of one side and how they lie.
#[derive(Default)]
pub(super) struct Side {
    pub(super) files: Vec<SideFile>,
    pub(super) sets: Vec<SetFiles>,
    /// How many sets there are with those that are not compared.
    pub(super) all_sets: usize,
    /// The files that cloud-init is given, by path.
    pub(super) parts: Vec<PartFile>,
    layout: Option<Layout>,
    pub(super) layout_problems: Vec<LayoutProblem>,
    /// What of its findings was accepted before.
    baseline: Option<Baseline>,
    /// What its own file accepts, where that of the other side counts.
    own_baseline: Option<Baseline>,
    /// The sites that each file counts for, as soon as somebody asks.
    sites: OnceLock<SitesOfFiles>,
}

impl Loaded {
    /// Reads what the work needs.
    pub(super) fn new(plan: &Plan<'_>, work: Work) -> Result<Self, Error> {
        let baselines = match work {
            Work::Judge | Work::Merge => BaselineFiles::of(plan),
            Work::Render | Work::Answer | Work::Relate => BaselineFiles::default(),
        };
        let sites = SitesRead::of(plan, work, baselines.is_there());
        Self::read(plan, (work, sites), baselines, FilesSoFar::default())
    }

    /// Reads the files of these sites that were not read yet, to answer questions; those that were
    /// keep their ids.
    pub(super) fn of_sites(
        plan: &Plan<'_>,
        sites: SitesRead<'_>,
        earlier: Option<Self>,
    ) -> Result<Self, Error> {
        let earlier =
            earlier.map(|it| FilesSoFar { sources: it.sources, kept: it.files, known: it.known });
        let baselines = BaselineFiles::default();
        Self::read(plan, (Work::Answer, sites), baselines, earlier.unwrap_or_default())
    }

    fn read(
        plan: &Plan<'_>,
        (work, sites): (Work, SitesRead<'_>),
        baselines: BaselineFiles<'_>,
        earlier: FilesSoFar<LoadedFile>,
    ) -> Result<Self, Error> {
        let (schemas, known) = (Schemas::default(), KnownToThreads::default());
        let secrets = &plan.configuration.secrets;
        let reader = Reader { schemas: &schemas, known: &known, secrets, work };
        let settings = match work {
            Work::Judge | Work::Merge => plan.rules.clone(),
            Work::Render | Work::Answer | Work::Relate => {
                RuleOptions { wanted: HashSet::default(), ..plan.rules.clone() }
            }
        };
        let keep = |sources: &SourceMap, file: AsRead<'_>, parsed: Parsed| {
            let mut loaded = lap(Stage::Documents, || reader.file(sources, file, parsed));
            if matches!(work, Work::Judge | Work::Render) {
                lap(Stage::Rules, || loaded.judge(sources, file, &schemas, &settings));
            }
            // What the base alone has so will be asked what is edited in it; what is rendered is
            // printed with its metadata.
            if !file.is_of_base && work == Work::Judge {
                loaded.let_go(sources, file);
            }
            loaded
        };
        let read = Files::new(plan, (work, sites), earlier, &keep)?;
        let Files { mut sources, kept: mut files, head, base, known: read_files, .. } = read;
        let (mut head, mut base) = (Side::of(head), base.map(Side::of));
        did(Stage::Documents, || files.iter().map(|file| file.documents.len()).sum());
        let of_base = base.as_mut().map(|base| (base, Which::Base));
        for (side, which) in std::iter::once((&mut head, Which::Head)).chain(of_base) {
            lap(Stage::List, || side.find_sets(plan.uses(which), &mut sources, &files));
            side.all_sets = side.sets.len();
            side.sets.retain(|set| plan.reaches(set.name.as_ref()));
            side.find_parts(plan);
        }
        for file in std::iter::once(&head).chain(&base).flat_map(|side| &side.parts) {
            add_part_file(file, &sources, &mut files);
        }
        for (file, loaded) in files.iter_mut().enumerate().filter(|(_, it)| it.has_parts) {
            loaded.keep_each_once();
            loaded.hide_lost_parts(FileId(offset(file)), &sources, secrets);
            loaded.read_ignores(FileId(offset(file)), &sources);
        }
        if let Some(base) = &base {
            hide_later_secrets(&mut files, &sources, &head, base);
        }
        let damaged_baseline =
            baselines.read(plan.accepted_by, &mut head, &mut base, &mut sources)?;
        let in_repository = matches!(plan.scope, Scope::Repository { .. });
        let configured = Configured::new(&plan.configuration, &mut sources);
        let schemas = schemas.with_groups(configured.groups(&plan.configuration));
        Ok(Self {
            sources,
            files,
            head,
            base,
            known: read_files,
            schemas,
            in_repository,
            work,
            settings,
            configured,
            damaged_baseline,
        })
    }

    /// On which sides some of a file is not read, if that makes an edit of it unknown: documents
    /// cannot be read on one of the sides, or a part breaks off on both. cloud-init drops a part
    /// that breaks off.
    pub(super) fn unread_sides(&self, sides: [Option<FileId>; 2]) -> Option<[bool; 2]> {
        let on_sides = |is_so: &dyn Fn(FileId) -> bool| sides.map(|file| file.is_some_and(is_so));
        let is_unread = on_sides(&|file| self.is_faulty(file) || self.breaks_off(file));
        let is_unknown =
            |file| self.is_faulty(file) || (self.breaks_off(file) && !self.file(file).has_parts);
        let is_unknown = on_sides(&is_unknown).contains(&true) || is_unread == [true; 2];
        is_unknown.then_some(is_unread)
    }

    /// Whether documents of a file are lost, for they cannot be read.
    fn breaks_off(&self, file: FileId) -> bool {
        self.file(file).problems.iter().any(|problem| problem.kind.is_fatal())
    }

    /// Whether a file holds something that layercake does not read, and others may.
    fn is_faulty(&self, file: FileId) -> bool {
        let is_over_limit = |problem: &yaml::YamlProblem| {
            matches!(problem.kind, yaml::YamlProblemKind::OverLimit(_))
        };
        match self.sources.get(file).fault() {
            // Parts are read as bytes.
            Some(TextFault::BadEncoding(..)) => !self.file(file).has_parts,
            Some(
                TextFault::Unreadable(_)
                | TextFault::TooLarge(_)
                | TextFault::LargeFilePointer
                | TextFault::Nested(_),
            ) => true,
            None => self.file(file).problems.iter().any(is_over_limit),
        }
    }

    /// The further repositories that a site definition names.
    pub(super) fn repositories_of(&self, definition: FileId) -> Option<Vec<NamedRepository>> {
        Layout::repositories_of(self.file(definition).definition.as_ref()?)
    }

    pub(super) fn file(&self, file: FileId) -> &LoadedFile {
        &self.files[file.0 as usize]
    }

    /// Every side that is read, the head first.
    pub(super) fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.head).chain(&self.base)
    }

    /// That the plan asks for sites that there are.
    pub(super) fn ensure_sites(&self, plan: &Plan<'_>) -> Result<(), Error> {
        let Some(globs) = &plan.sites else { return Ok(()) };
        let is_broken = |mut finding: Diagnostic| counts_for(&mut finding, globs);
        let mut findings = self.sides().flat_map(Side::layout_findings);
        let found = self.sides().any(|side| !side.wanted(plan).is_empty());
        let mut unread = self.sides().flat_map(Side::unread_definitions);
        if found || findings.any(is_broken) || unread.any(|(site, _)| globs.is_match(&**site)) {
            return Ok(());
        }
        let sets = self.sides().flat_map(|side| &side.sets);
        let names: BTreeSet<&str> = sets.filter_map(|set| set.name.as_deref()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let help = match (self.in_repository, names.is_empty()) {
            (true, false) => format!("the sites are: {}", names.join(", ")),
            (true, true) => "no site of this repository has a usable site definition".into(),
            (false, _) => "a set of files has no sites; leave `--site` out".into(),
        };
        Err(Error::new(ErrorKind::Usage, "no site matches `--site`").with_help(help))
    }

    /// The sites that the plan asks for and that have no usable definition, on the head's side.
    pub(super) fn undefined(&self, plan: &Plan<'_>) -> Vec<Arc<str>> {
        let defined = self.head.site_names();
        let is_named =
            |site: &Arc<str>| plan.sites.as_ref().is_none_or(|globs| globs.is_match(&**site));
        let is_asked = |site: &Arc<str>| is_named(site) && self.head.may_read_one(site, &plan.only);
        let findings = self.head.layout_findings().into_iter();
        let unread = self.head.unread_definitions().map(|(site, _)| site.clone());
        let named: BTreeSet<Arc<str>> =
            findings.flat_map(|finding| finding.sites).chain(unread).collect();
        named.into_iter().filter(|site| !defined.contains(site) && is_asked(site)).collect()
    }

    /// The files of the wanted sites that the plan asks for and that were not read to their end.
    pub(super) fn unread(&self, plan: &Plan<'_>, wanted: &[&SetFiles]) -> Vec<RepoPath> {
        // There are far fewer files than sites that read them, and mostly all were read.
        let is_unread = |file: &FileId| self.is_faulty(*file) || self.breaks_off(*file);
        let unread: BTreeSet<FileId> =
            self.head.all_files().into_iter().filter(is_unread).collect();
        if unread.is_empty() {
            return Vec::new();
        }
        let files = wanted.iter().flat_map(|set| set.files.iter().chain(&set.parts));
        let files = files.filter(|file| unread.contains(file));
        let paths: BTreeSet<&RepoPath> =
            files.map(|file| self.sources.path_of(Span::point(*file, 0))).collect();
        paths.into_iter().filter(|path| plan.concerns(path)).cloned().collect()
    }

    /// How many documents the head's files hold that the plan asks for.
    pub(super) fn documents(&self, plan: &Plan<'_>, wanted: &[&SetFiles]) -> usize {
        let files: BTreeSet<FileId> = match &plan.sites {
            None => self.head.files.iter().map(|file| file.id).collect(),
            Some(_) => wanted.iter().flat_map(|set| &set.files).copied().collect(),
        };
        files.into_iter().map(|file| self.file(file).documents.len()).sum()
    }

    /// The findings of a side's files by themselves, with the sites they count
    /// for.
    pub(super) fn file_findings(&self, side: &Side) -> Vec<Diagnostic> {
        let documents = if self.work == Work::Merge { &[] } else { &side.files[..] }.iter();
        let documents =
            documents.map(|file| (file.id, FileContents::Documents, file.place.as_ref()));
        let parts = side.files_of_parts().into_iter().map(|file| (file, FileContents::Parts, None));
        let (mut found, mut unjudged) = (Vec::new(), Vec::new());
        // A file that is the same in two revisions of a repository is judged once.
        let mut met = HashSet::new();
        for (id, holds, place) in documents.chain(parts) {
            if !met.insert((id, holds)) {
                continue;
            }
            let file = self.file(id);
            match &file.found {
                Some((judged_at, known)) if judged_at.as_ref() == place => {
                    found.extend(known.iter().cloned());
                }
                Some(_) | None => {
                    let file_facts = file.facts(&self.sources, id, &self.schemas, &self.settings);
                    unjudged.push(FileFacts { holds, place, ..file_facts });
                }
            }
        }
        let split = split();
        let judged: Vec<Vec<Diagnostic>> = unjudged
            .par_iter()
            .map(|facts| {
                let _part = split.part();
                rules::word_file(facts)
            })
            .collect();
        drop(split);
        found.extend(judged.into_iter().flatten());
        let sites = side.sites_of_files();
        for diagnostic in &mut found {
            diagnostic.sites = sites.of(diagnostic.primary.span.file).cloned().collect();
        }
        let mut found = rules::folded(found);
        found.extend(side.parts.iter().flat_map(|file| self.part_findings(side, file)));
        found
    }

    /// What is wrong with what a file gives cloud-init, with the sites that use
    /// the file.
    fn part_findings(&self, side: &Side, file: &PartFile) -> Vec<Diagnostic> {
        let files: BTreeSet<FileId> = file.files().collect();
        let secrets = files.into_iter().flat_map(|file| &self.file(file).secrets);
        let facts = UserDataFacts {
            sources: &self.sources,
            read: &file.read,
            secrets: secrets.copied().collect(),
        };
        let mut found = rules::word_user_data(&facts);
        let using = side.sets.iter().filter(|set| set.part_paths.contains(&file.path));
        let sites: Vec<Arc<str>> = using.filter_map(|set| set.name.clone()).collect();
        for finding in &mut found {
            finding.sites.clone_from(&sites);
        }
        found
    }

    /// What the configuration says of a side and nothing of it heeds.
    pub(super) fn configuration_findings(&self, plan: &Plan<'_>, side: &Side) -> Vec<Diagnostic> {
        if self.work != Work::Judge {
            return Vec::new();
        }
        let files = side.all_files().into_iter();
        let paths = files.map(|file| self.sources.path_of(Span::point(file, 0)).as_str());
        let sites = side.sets.iter().filter_map(|set| set.name.as_deref());
        let documents = side.files.iter().flat_map(|file| &self.file(file.id).documents);
        let documents = documents.map(|document| &*document.key.schema);
        let sets = (!side.parts.is_empty()).then_some(cloud_init::OUTPUT);
        let schemas = documents.chain(sets);
        self.configured.findings(&plan.configuration, paths, sites, schemas)
    }

    /// The findings of a side that count, those that are suppressed among them.
    pub(super) fn judge(
        &self,
        plan: &Plan<'_>,
        side: &Side,
        found: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let sites = side.sites_of_files();
        let findable = Findable {
            sources: &self.sources,
            sites,
            ignores: self.ignores(side).collect(),
            baseline: side.baseline.as_ref(),
            held: if side.has_baseline() { self.held(side) } else { BTreeSet::new() },
        };
        let judged = plan.policy.judge(found, &findable, side.own_baseline.as_ref());
        // Who looks at a part, or by no rule, does not see what is found elsewhere.
        let is_whole = !plan.is_limited() && self.work == Work::Judge;
        let in_vain = if is_whole { self.in_vain(plan, &judged) } else { Vec::new() };
        let in_vain = in_vain.into_iter().map(|finding| {
            let sites = sites.of(finding.primary.span.file).cloned().collect();
            Diagnostic { sites, ..finding }
        });
        let mut findings = plan.policy.levelled_all(in_vain.collect(), &findable);
        findings.extend(judged.findings);
        findings
    }

    /// The comments of a side that say what is not to be reported.
    fn ignores<'a>(&'a self, side: &'a Side) -> impl Iterator<Item = &'a Ignore> {
        side.all_files().into_iter().flat_map(|file| &self.file(file).ignores.ignores)
    }

    /// The files of a side, and the documents in each.
    fn held<'a>(&'a self, side: &'a Side) -> BTreeSet<(&'a RepoPath, Option<&'a DocKey>)> {
        let files = side.files.iter().flat_map(|file| {
            let path = self.sources.get(file.id).path();
            let documents = self.file(file.id).documents.iter();
            let keys = documents.map(|document| Some(&document.key));
            keys.chain([None]).map(move |key| (path, key))
        });
        let parts = side.files_of_parts().into_iter();
        files.chain(parts.map(|file| (self.sources.get(file).path(), None))).collect()
    }

    /// The findings for what was said of findings in vain. Nothing is said of
    /// a rule that was not asked for, nor of a file that was not read whole.
    fn in_vain(&self, plan: &Plan<'_>, judged: &TriagedFindings<'_>) -> Vec<Diagnostic> {
        let levels = &plan.policy.levels;
        let path_of = |ignore: &Ignore| self.sources.path_of(ignore.span).as_str();
        let unused = judged.unused.iter().filter_map(|unused| {
            let file = self.file(unused.ignore.span.file);
            let is_whole = !file.problems.iter().any(|problem| problem.kind.is_fatal());
            let is_on = |name: &&ignore::RuleName| {
                name.rules.iter().any(|it| levels.can_count_at(it, path_of(unused.ignore)))
            };
            let names: Vec<&ignore::RuleName> =
                unused.names.iter().copied().filter(is_on).collect();
            (is_whole && !names.is_empty())
                .then(|| rules::word_unused_ignore(&self.sources, unused.ignore, &names))
        });
        let stale = judged.stale.iter().filter_map(|stale| {
            let (at, entry) = (stale.entry.span?, stale.entry);
            let is_on =
                |rule: &crate::diagnostic::Rule| levels.can_count_at(rule, entry.file.as_str());
            rules::find(&entry.rule).is_none_or(is_on).then(|| {
                rules::word_stale_baseline(at, &entry.rule, entry.file.as_str(), stale.gone)
            })
        });
        unused.chain(stale).collect()
    }

    /// How many comments that say what is not to be reported the head has more
    /// than the base.
    pub(super) fn added_ignores(&self) -> usize {
        let Some(base) = &self.base else { return 0 };
        let counted = |side| {
            let mut counted: BTreeMap<(&RepoPath, &str), usize> = BTreeMap::new();
            for ignore in self.ignores(side) {
                let path = self.sources.path_of(ignore.span);
                *counted.entry((path, &*ignore.words)).or_default() += 1;
            }
            counted
        };
        let known = counted(base);
        let more = counted(&self.head)
            .into_iter()
            .map(|(key, count)| count.saturating_sub(known.get(&key).copied().unwrap_or_default()));
        more.sum()
    }

    /// Whether layercake itself failed while it read a file.
    pub(super) fn has_failed(&self) -> bool {
        let mut problems = self.files.iter().flat_map(|file| &file.problems);
        problems.any(|problem| problem.kind == yaml::YamlProblemKind::Internal)
    }

    pub(super) fn secrets(&self) -> Vec<Span> {
        self.files.iter().flat_map(|file| &file.secrets).copied().collect()
    }

    /// Files of which no line may be shown.
    pub(super) fn opaque(&self) -> Vec<FileId> {
        let files = (0..self.files.len()).map(|index| FileId(offset(index)));
        files.filter(|file| self.file(*file).is_opaque).collect()
    }
}

/// Hides what is public in the base and secret in the head, where a file was edited.
fn hide_later_secrets(files: &mut [LoadedFile], sources: &SourceMap, head: &Side, base: &Side) {
    let ids = |side: &Side| -> BTreeSet<FileId> { side.files.iter().map(|file| file.id).collect() };
    let (of_head, of_base) = (ids(head), ids(base));
    let only_base: BTreeSet<FileId> = of_base.difference(&of_head).copied().collect();
    if only_base.is_empty() {
        return;
    }
    let in_files = |wanted: &mut dyn Iterator<Item = FileId>| -> Vec<PlacedDocument<'_>> {
        let placed = wanted.flat_map(|id| {
            let path = sources.get(id).path();
            files[id.0 as usize]
                .documents
                .iter()
                .map(move |document| PlacedDocument { path, document })
        });
        placed.collect()
    };
    let removed = in_files(&mut only_base.iter().copied());
    let added = in_files(&mut of_head.difference(&of_base).copied());
    let all = in_files(&mut of_head.iter().copied());
    let later = LaterSecrets::of(&all, &added, &removed);
    let found: Vec<Option<Later>> = removed.iter().map(|it| later.in_document(*it)).collect();
    let mut found = found.into_iter();
    for id in only_base {
        let file = &mut files[id.0 as usize];
        let later: Vec<Option<Later>> = found.by_ref().take(file.documents.len()).collect();
        file.hide_later(&later, id, sources.get(id));
    }
}

/// Hides all text of a file, and of those that it is decoded from.
fn hide(files: &mut [LoadedFile], file: FileId, sources: &SourceMap) {
    let mut next = Some(file);
    while let Some(file) = next {
        let source = sources.get(file);
        let all = Span::new(file, 0, offset(source.text().len()));
        let secrets = &mut files[file.0 as usize].secrets;
        if !secrets.contains(&all) {
            secrets.push(all);
        }
        next = source.decoded_from().map(|from| from.file);
    }
}

impl LoadedFile {
    /// What the rules are told of it, as of one with documents that counts for
    /// no site.
    fn facts<'a>(
        &'a self,
        sources: &'a SourceMap,
        file: FileId,
        schemas: &'a Schemas,
        settings: &'a RuleOptions,
    ) -> FileFacts<'a> {
        FileFacts {
            sources,
            file,
            problems: &self.problems,
            documents: &self.documents,
            others: &self.others,
            secrets: &self.secrets,
            ignores: &self.ignores,
            holds: FileContents::Documents,
            place: None,
            schemas,
            settings,
        }
    }

    /// Looks at it with the rules.
    fn judge(
        &mut self,
        sources: &SourceMap,
        file: AsRead<'_>,
        schemas: &Schemas,
        settings: &RuleOptions,
    ) {
        let facts = self.facts(sources, file.id, schemas, settings);
        let found = rules::word_file(&FileFacts { place: file.place, ..facts });
        self.found = Some((file.place.cloned(), found));
    }

    /// Lets go of what of its documents can be read again, for the few who ask: of a
    /// repository like treasuremap it is two fifths of all values that are read.
    fn let_go(&mut self, sources: &SourceMap, file: AsRead<'_>) {
        let source = sources.get(file.id);
        // What cannot be read to its end, or is secret as a whole, is not read again.
        if source.fault().is_some() || file.is_secret || self.documents.is_empty() {
            return;
        }
        let text = Arc::new(yaml::WholeText::new(file.id, source.text().clone()));
        for document in &mut self.documents {
            document.leave_to(&text);
        }
    }

    /// A file at which layercake itself failed: nothing of it is known, so that
    /// all of it may be secret.
    fn failed(file: FileId, source: &Source) -> Self {
        let whole = Span::new(file, 0, offset(source.text().len()));
        let problems = vec![failure(file)];
        Self { problems, secrets: vec![whole], is_opaque: true, ..Self::default() }
    }

    /// Keeps what a part that stands in the file says of findings, and where it
    /// is secret.
    fn add_part(&mut self, part: &CloudPart) {
        self.problems.extend(part.problems.iter().cloned());
        self.comments.extend(&part.comments);
        if part.data.secret {
            self.secrets.push(part.span);
        }
    }

    /// A text may be read several times: for each side, and for each that
    /// includes it.
    fn keep_each_once(&mut self) {
        self.problems.sort_by_key(|problem| problem.span);
        self.problems.dedup();
        self.comments.sort_by_key(|comment| comment.span);
        self.comments.dedup();
        let mut known = HashSet::new();
        self.secrets.retain(|secret| known.insert(*secret));
    }

    fn read_ignores(&mut self, file: FileId, sources: &SourceMap) {
        let source = sources.get(file);
        self.ignores = ignore::read(file, source, &self.comments, &rules::ignorable);
        self.ignores.hide(&self.secrets);
    }

    /// Hides a file of parts in which something could not be read, and perhaps a secret.
    fn hide_lost_parts(&mut self, file: FileId, sources: &SourceMap, kinds: &SecretKinds) {
        let is_lost = self.problems.iter().any(|problem| problem.kind.is_fatal());
        if is_lost && kinds.may_be_in(sources.get(file).text()) {
            self.hide_all(file, sources.get(file));
        }
    }

    /// Hides what its documents have that is secret later.
    fn hide_later(&mut self, later: &[Option<Later>], file: FileId, source: &Source) {
        if later.iter().all(Option::is_none) {
            return;
        }
        for (document, later) in self.documents.iter_mut().zip(later) {
            let Some(later) = later else { continue };
            document.hide(later);
            match later {
                Later::Data => {}
                Later::Scalars(places) => self.secrets.extend(places),
            }
        }
        self.secrets.extend(self.secrets_of_documents(file, source.text()));
        self.ignores.hide(&self.secrets);
        // What was found may quote it.
        self.found = None;
    }

    fn hide_all(&mut self, file: FileId, source: &Source) {
        self.secrets = vec![Span::new(file, 0, offset(source.text().len()))];
        self.is_opaque = true;
    }
}

impl Side {
    fn of(files: SideFiles) -> Self {
        let SideFiles { files, layout, parts } = files;
        Self { files, parts, layout, ..Self::default() }
    }

    /// The sites that are there.
    pub(super) fn site_names(&self) -> BTreeSet<Arc<str>> {
        self.sets.iter().filter_map(|set| set.name.clone()).collect()
    }

    /// Every file that its parts stand in, decoded ones among them.
    pub(super) fn files_of_parts(&self) -> BTreeSet<FileId> {
        self.parts.iter().flat_map(PartFile::files).collect()
    }

    /// The files of documents and those of parts.
    pub(super) fn all_files(&self) -> Vec<FileId> {
        let documents = self.files.iter().map(|file| file.id);
        let all: BTreeSet<FileId> = documents.chain(self.files_of_parts()).collect();
        all.into_iter().collect()
    }

    fn has_baseline(&self) -> bool {
        self.baseline.is_some() || self.own_baseline.is_some()
    }

    /// The sets that the plan asks for.
    pub(super) fn wanted(&self, plan: &Plan<'_>) -> Vec<&SetFiles> {
        let is_wanted = |set: &&SetFiles| {
            let named =
                |globs: &GlobSet| set.name.as_ref().is_some_and(|name| globs.is_match(&**name));
            plan.sites.as_ref().is_none_or(named)
        };
        self.sets.iter().filter(is_wanted).collect()
    }

    /// The sites that each file counts for.
    fn sites_of_files(&self) -> &SitesOfFiles {
        self.sites.get_or_init(|| {
            let named = self.sets.iter().filter_map(|set| Some((set, set.name.as_ref()?)));
            let all = named.clone().map(|(set, _)| set.files.len() + set.parts.len()).sum();
            // A list of the right size, which stays the one that there is.
            let mut pairs = Vec::with_capacity(all);
            for (set, name) in named {
                let files = set.files.iter().chain(&set.parts);
                pairs.extend(files.map(|file| (*file, name.clone())));
            }
            pairs.extend(self.unread_definitions().map(|(site, file)| (file, site.clone())));
            pairs.into_iter().collect()
        })
    }

    /// The sites whose definitions cannot be read.
    pub(super) fn unread_definitions(&self) -> impl Iterator<Item = (&Arc<str>, FileId)> {
        self.layout_problems.iter().filter_map(|problem| match problem {
            LayoutProblem::UnreadDefinition { site, file } => Some((site, *file)),
            _ => None,
        })
    }

    /// What is wrong with how the files lie.
    pub(super) fn layout_findings(&self) -> Vec<Diagnostic> {
        self.layout_problems.iter().filter_map(rules::word_layout).collect()
    }

    /// The file of documents at this path of the repository itself.
    pub(super) fn file_at(&self, path: &RepoPath, loaded: &Loaded) -> Option<FileId> {
        let mut files = self.files.iter().filter(|file| file.repository.is_none());
        files.find(|file| loaded.sources.get(file.id).path() == path).map(|file| file.id)
    }

    /// Which sites a file counts for.
    pub(super) fn place_of(&self, id: FileId) -> Option<&Place> {
        self.files.iter().find(|file| file.id == id)?.place.as_ref()
    }

    /// Whether a site may read one of these files and folders: those of other sites it does not.
    fn may_read_one(&self, site: &str, paths: &[RepoPath]) -> bool {
        let Some(layout) = &self.layout else { return true };
        let of_sites = layout.root.join("site");
        let may_read = |path: &RepoPath| {
            path.below(&of_sites).is_none_or(|rest| rest.split('/').next() == Some(site))
        };
        paths.is_empty() || paths.iter().any(may_read)
    }

    /// The path of a site's definition.
    pub(super) fn definition_of(&self, site: &str) -> Option<RepoPath> {
        self.layout.as_ref().map(|layout| layout.definition_of(site))
    }

    /// Finds the sets; `uses` are the further repositories of the sites, none where there are no
    /// sites.
    fn find_sets(&mut self, uses: Option<&Uses>, sources: &mut SourceMap, loaded: &[LoadedFile]) {
        // Two revisions of a further repository are never in one folder.
        let mut folders: BTreeMap<Option<usize>, Vec<FileId>> = BTreeMap::new();
        for file in &self.files {
            folders.entry(file.repository).or_default().push(file.id);
        }
        for files in folders.into_values() {
            let files = files.into_iter().map(|file| (file, sources.get(file).path()));
            self.layout_problems.extend(clashes(files));
        }
        let Some(uses) = uses else {
            let files = self.files.iter().map(|file| file.id).collect();
            self.sets = vec![SetFiles {
                name: None,
                site_type: None,
                files,
                repositories: Vec::new(),
                parts: Vec::new(),
                part_paths: BTreeSet::new(),
            }];
            return;
        };
        let Some(layout) = &self.layout else { return };
        let definition = |file: FileId| loaded[file.0 as usize].definition.as_ref();
        let files: Vec<(FileId, Option<&Node>)> =
            self.files.iter().map(|file| (file.id, definition(file.id))).collect();
        self.sets = sites_of(layout, uses, sources, &files, &mut self.layout_problems);
        let is_unread = |file: FileId| {
            let has_fault = || sources.get(file).fault().is_some();
            definition(file).is_none()
                && (has_fault() || !loaded[file.0 as usize].problems.is_empty())
        };
        for problem in &mut self.layout_problems {
            if let LayoutProblem::InvalidDefinition { site, at } = problem
                && is_unread(at.file)
            {
                *problem = LayoutProblem::UnreadDefinition { site: site.clone(), file: at.file };
            }
        }
    }
}

/// The sites of a layout; what is in the way gets a source of its own, to
/// point at.
fn sites_of(
    layout: &Layout,
    uses: &Uses,
    sources: &mut SourceMap,
    files: &[(FileId, Option<&Node>)],
    problems: &mut Vec<LayoutProblem>,
) -> Vec<SetFiles> {
    for (path, oddity) in &layout.odd {
        let file = sources.add(Source::new(path.clone(), Ok(Vec::new())));
        problems.push(LayoutProblem::Odd { file, oddity: *oddity });
    }
    for site in layout.undefined_sites() {
        let missing = Source::new(layout.definition_of(&site), Ok(Vec::new()));
        let file = sources.add(missing);
        problems.push(LayoutProblem::MissingDefinition { file, site });
    }
    layout.sites(files, uses, problems).into_iter().map(SetFiles::from).collect()
}

/// Keeps what a file of parts says where it stands: there, or in a text that it
/// includes or that was decoded from it.
fn add_part_file(part_file: &PartFile, sources: &SourceMap, files: &mut [LoadedFile]) {
    let read = &part_file.read;
    for file in part_file.files() {
        let file = &mut files[file.0 as usize];
        file.has_parts = true;
        // More is known of it from now on.
        file.found = None;
    }
    for part in &read.parts {
        files[part.span.file.0 as usize].add_part(part);
    }
    for problem in &read.problems {
        files[problem.span.file.0 as usize].problems.push(problem.clone());
    }
    for comment in &read.comments {
        files[comment.span.file.0 as usize].comments.push(*comment);
    }
    if part_file.is_secret {
        // What the parts came in shows them too.
        part_file.files().for_each(|file| hide(files, file, sources));
    }
}

/// What the file at `path` of `tree` accepts, if it is there.
///
/// # Errors
/// Where it cannot be read: what it accepts is not known then.
pub fn baseline(tree: &dyn Tree, path: &RepoPath) -> Result<Option<Baseline>, Error> {
    let file = BaselineFile::at(tree, path);
    file.map(|file| file.read(&mut SourceMap::new())).transpose()
}

/// The files that say what was accepted before.
#[derive(Default)]
struct BaselineFiles<'t> {
    /// None where it is not there.
    head: Option<BaselineFile<'t>>,
    base: Option<BaselineFile<'t>>,
}

/// A file that says what was accepted before, as it was read.
struct BaselineFile<'t> {
    tree: &'t dyn Tree,
    path: &'t RepoPath,
    bytes: Result<Vec<u8>, ReadError>,
}

impl<'t> BaselineFiles<'t> {
    fn of(plan: &'t Plan<'_>) -> Self {
        let Some(path) = &plan.baseline else { return Self::default() };
        let base = plan.base.as_ref().and_then(|base| BaselineFile::at(base.tree, path));
        Self { head: BaselineFile::at(plan.tree, path), base }
    }

    fn is_there(&self) -> bool {
        self.head.is_some()
    }

    /// Reads what was accepted before on each side, and gives what is wrong with
    /// the file of the base, if it cannot be used: the base is then taken as it is
    /// without one, for a change that mends the file could not be checked otherwise.
    fn read(
        self,
        accepted_by: AcceptedBy,
        head: &mut Side,
        base: &mut Option<Side>,
        sources: &mut SourceMap,
    ) -> Result<Option<String>, Error> {
        let own = self.head.map(|file| file.read(sources)).transpose()?;
        let Some(base) = base else {
            head.baseline = own;
            return Ok(None);
        };
        let mut damage = None;
        base.baseline = match self.base.map(|file| file.read(sources)).transpose() {
            Err(error) if error.kind() == ErrorKind::Baseline => {
                damage = Some(error.to_string());
                None
            }
            read => read?,
        };
        match accepted_by {
            AcceptedBy::Itself => head.baseline = own,
            AcceptedBy::Base => {
                head.baseline = Some(base.baseline.clone().unwrap_or_default());
                head.own_baseline = own;
            }
        }
        Ok(damage)
    }
}

impl<'t> BaselineFile<'t> {
    fn at(tree: &'t dyn Tree, path: &'t RepoPath) -> Option<Self> {
        match tree.read(path) {
            Err(error) if error.is_missing() => None,
            bytes => Some(Self { tree, path, bytes }),
        }
    }

    fn read(self, sources: &mut SourceMap) -> Result<Baseline, Error> {
        let Self { tree, path, bytes } = self;
        if let Some(error) = bytes.as_ref().err().and_then(|error| error.fatal(path)) {
            return Err(error);
        }
        let file = sources.add(Source::new(path.clone(), bytes));
        let source = sources.get(file);
        let unusable = |message: String| {
            Error::new(ErrorKind::Baseline, message).with_help(
                "mend it, or take back its last change; `layercake baseline write` writes a new \
                 one, which accepts all that is found now; `--no-baseline` goes on without",
            )
        };
        if source.fault().is_some() {
            return Err(unusable(format!("the baseline `{path}` cannot be read")));
        }
        let folder = Folder::in_tree(tree, path);
        let is_secret = folder.hides(&SecretKinds::default(), source.text());
        Baseline::read(file, source.text()).map_err(|Damage { line, message }| {
            let why = if is_secret { secrecy::NOT_SHOWN } else { &message };
            unusable(format!("the baseline is damaged: {path}:{line}: {why}"))
        })
    }
}

/// What reads the Deckhand documents of parsed files.
struct Reader<'r> {
    schemas: &'r Schemas,
    known: &'r KnownToThreads,
    secrets: &'r SecretKinds,
    work: Work,
}

impl Reader<'_> {
    fn file(&self, sources: &SourceMap, file: AsRead<'_>, parsed: Parsed) -> LoadedFile {
        let source = sources.get(file.id);
        let parsed = if file.is_secret { hidden(parsed) } else { parsed };
        let first = parsed.documents.first().filter(|_| Layout::may_be_definition(source.path()));
        let definition = first.map(|document| document.root.clone());
        let place = Guarded::Documents(source.path().as_str());
        let loaded = guarded(place, || self.documents(file, source, parsed));
        let loaded = loaded.unwrap_or_else(|| LoadedFile::failed(file.id, source));
        LoadedFile { definition, ..loaded }
    }

    fn documents(&self, file: AsRead<'_>, source: &Source, parsed: Parsed) -> LoadedFile {
        let text = source.text();
        let (problems, comments) = (parsed.problems, parsed.comments);
        // Most files have one document, for which a list that grows has room for four.
        let documents = Vec::with_capacity(parsed.documents.len());
        let mut loaded = LoadedFile { problems, documents, comments, ..LoadedFile::default() };
        let mut empty = EmptyDocuments::default();
        for document in &parsed.documents {
            let (kinds, folder) = (self.secrets, file.folder);
            let around = Surroundings { kinds, folder, problems: &loaded.problems };
            let reading = || self.known.lend(|known| read(document, text, known, around));
            match guarded(Guarded::Reading(source.path().as_str()), reading) {
                Some(Reading::Document(document)) => loaded.documents.push(*document),
                Some(Reading::Nothing(fault)) => loaded.others.extend(empty.kept(fault)),
                None => loaded.problems.push(failure(file.id)),
            }
        }
        empty.count_in(&mut loaded.others);
        if self.work == Work::Judge {
            for schema in loaded.documents.iter().filter(|document| is_data_schema(document)) {
                // Here it is done in parallel.
                lap(Stage::Validate, || self.schemas.compiled(&schema.data));
            }
        }
        if file.is_secret {
            loaded.secrets = vec![Span::new(file.id, 0, offset(text.len()))];
        } else if loaded.has_secrets_anywhere(source, file.folder, self.secrets) {
            loaded.hide_all(file.id, source);
        } else {
            loaded.secrets = loaded.secrets_of_documents(file.id, text);
        }
        if self.work.has_findings() {
            loaded.ignores = ignore::read(file.id, source, &loaded.comments, &rules::ignorable);
        }
        loaded.ignores.hide(&loaded.secrets);
        loaded
    }
}

impl LoadedFile {
    /// Whether secrets may be anywhere in the file: part of it was not read as expected and
    /// may be secret.
    fn has_secrets_anywhere(&self, source: &Source, folder: Folder, kinds: &SecretKinds) -> bool {
        let is_lost = source.fault().is_some()
            || !self.others.is_empty()
            || self.problems.iter().any(|problem| problem.kind.is_fatal());
        let is_secret = |document: &Document| document.data.secret;
        self.documents.iter().any(|document| document.is_doubtful)
            || is_lost
                && (folder == Folder::Secrets
                    || self.documents.iter().any(is_secret)
                    || kinds.may_be_in(source.text()))
    }

    /// Hidden parts of the documents that are secret and were read without a mistake: the data
    /// and everything after its key, such as comments.
    fn secrets_of_documents(&self, file: FileId, text: &str) -> Vec<Span> {
        let mut secrets = Vec::new();
        for (index, document) in self.documents.iter().enumerate() {
            if document.data.secret {
                secrets.push(document.data.span);
                let next = self.documents.get(index + 1).map(|next| next.span.start);
                let end = document.after_data.or(next).unwrap_or(offset(text.len()));
                secrets.extend(document.data_key.and_then(|key| behind(key, end, text)));
            }
        }
        secrets.retain(|span| span.file == file);
        secrets
    }
}

/// The text between a key and byte `end`, without the colon and surrounding white space.
fn behind(key: Span, end: u32, text: &str) -> Option<Span> {
    let stretch = text.get(key.end as usize..end as usize)?;
    let stretch = stretch.trim_start();
    let stretch = stretch.strip_prefix(':').unwrap_or(stretch).trim_start();
    let start = end - offset(stretch.len());
    Some(Span::new(key.file, start, start + offset(stretch.trim_end().len())))
}

/// The documents of a file that are empty. A file can be nothing but millions of `---`: the
/// first few are reported one by one, the others as a number.
#[derive(Default)]
struct EmptyDocuments {
    kept: usize,
    more: usize,
}

impl EmptyDocuments {
    /// Maximum number of empty documents of a file that are reported one by one.
    const MAX_KEPT: usize = 20;

    /// The fault, unless it is one of too many empty documents.
    fn kept(&mut self, fault: DocumentFault) -> Option<DocumentFault> {
        if !matches!(fault.kind, DocumentFaultKind::Empty { .. }) {
            return Some(fault);
        }
        if self.kept == Self::MAX_KEPT {
            self.more += 1;
            return None;
        }
        self.kept += 1;
        Some(fault)
    }

    /// Notes at the last of the faults that were kept how many were not.
    fn count_in(&self, faults: &mut [DocumentFault]) {
        let mut kinds = faults.iter_mut().rev().map(|fault| &mut fault.kind);
        let last = kinds.find_map(|kind| match kind {
            DocumentFaultKind::Empty { more } => Some(more),
            _ => None,
        });
        if let Some(more) = last {
            *more = self.more;
        }
    }
}

/// What threads that work at the same thing have read before: each has one while it
/// reads, and waits for no other.
#[derive(Default)]
pub(super) struct KnownToThreads {
    patterns: Arc<Patterns>,
    /// Those that no thread has.
    idle: Mutex<Vec<KnownTexts>>,
}

impl KnownToThreads {
    /// What `work` gives, with something known. What a fault may have left half
    /// done is not used again.
    pub(super) fn lend<T>(&self, work: impl FnOnce(&mut KnownTexts) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut known = known.unwrap_or_else(|| KnownTexts::of(self.patterns.clone()));
        let made = work(&mut known);
        idle().push(known);
        made
    }
}

/// What was parsed of a file that is secret as a whole.
fn hidden(parsed: Parsed) -> Parsed {
    let hide = |document: yaml::YamlDocument| yaml::YamlDocument {
        root: document.root.into_secret(),
        ..document
    };
    Parsed { documents: parsed.documents.into_iter().map(hide).collect(), ..parsed }
}
