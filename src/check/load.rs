//! The files of a run: read and parsed once, their documents read, and which
//! of them make a site. What is wrong with a file by itself is told from here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use globset::GlobSet;
use rayon::prelude::*;

use super::configuration::Configured;
use super::parts::PartFile;
use super::sets::PartGlobs;
use super::{AcceptedBy, Further, Plan, Progress, Scope, counts_for};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::guard::{Place as Guarded, guarded};
use crate::ignore::{self, Ignore};
use crate::merge::pattern::Patterns;
use crate::rules::{self, FileFacts, Holds, Settings, UserDataFacts};
use crate::source::{
    ContentId, DocKey, EntryKind, FileId, RepoPath, Source, SourceMap, Span, TextFault, Tree,
    offset,
};
use crate::stopwatch::{Stage, did, lap, split, split_for};
use crate::system::cloud_init;
use crate::system::cloud_init::part::Part;
use crate::system::cloud_init::read::UserData;
use crate::system::deckhand::document::{Document, Fault, FaultKind};
use crate::system::deckhand::layout::{
    Layout, Place, Problem as LayoutProblem, SiteFiles, clashes,
};
use crate::system::deckhand::read::{Reading, SecretKinds, read, secret_stretch};
use crate::system::deckhand::schema::{Schemas, is_data_schema};
use crate::triage::{Baseline, Findable, Judged, SitesOfFiles};
use crate::yaml::{self, Parsed};

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
    problems: Vec<yaml::Problem>,
    pub(super) documents: Vec<Document>,
    others: Vec<Fault>,
    /// Where secrets stand, as far as can be told.
    secrets: Vec<Span>,
    comments: Vec<yaml::Comment>,
    /// What these say of findings.
    ignores: ignore::Comments,
    /// Whether it is one of cloud-init's.
    has_parts: bool,
}

/// All files of a run, read and parsed.
pub(super) struct Loaded {
    pub(super) sources: SourceMap,
    pub(super) files: Vec<LoadedFile>,
    /// What is checked.
    pub(super) head: Side,
    /// What it is compared with.
    pub(super) base: Option<Side>,
    /// The schemas in them.
    pub(super) schemas: Schemas,
    in_repository: bool,
    secret_kinds: SecretKinds,
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
    /// The files that cloud-init is given, by path.
    pub(super) parts: Vec<PartFile>,
    layout: Option<Layout>,
    layout_problems: Vec<LayoutProblem>,
    /// What of its findings was accepted before.
    baseline: Option<Baseline>,
    /// What its own file accepts, where that of the other side counts.
    own_baseline: Option<Baseline>,
    /// The sites that each file counts for, as soon as somebody asks.
    sites: OnceLock<SitesOfFiles>,
}

/// A file of one side.
pub(super) struct SideFile {
    pub(super) id: FileId,
    /// The further repository that it is in, by index.
    pub(super) repository: Option<usize>,
    /// Which sites it counts for; none for a file of a set.
    pub(super) place: Option<Place>,
}

impl SideFile {
    fn with_place(&self) -> (FileId, Option<&Place>) {
        (self.id, self.place.as_ref())
    }
}

/// All files of a run, parsed, and how they lie.
pub(super) struct Parse {
    pub(super) sources: SourceMap,
    pub(super) parsed: Vec<(FileId, Parsed)>,
    head: Side,
    base: Option<Side>,
    /// What is known of the contents of the head's files, by which the base
    /// shares them.
    known: HashMap<(RepoPath, Option<ContentId>), FileId>,
    /// Which files are cloud-init's.
    pub(super) part_globs: Arc<PartGlobs>,
    /// What files give cloud-init that include no others.
    pub(super) user_data: HashMap<FileId, Arc<UserData>>,
}

impl Parse {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, Error> {
        let mut parse = Self {
            sources: SourceMap::new(),
            parsed: Vec::new(),
            head: Side::default(),
            base: None,
            known: HashMap::new(),
            part_globs: Arc::new(PartGlobs::of(&plan.configuration.sets)),
            user_data: HashMap::new(),
        };
        parse.head = parse.side(plan, plan.tree, plan.layout())?;
        if let Some(base) = &plan.base {
            parse.base = Some(parse.side(plan, base.tree, base.layout)?);
        }
        Ok(parse)
    }

    fn side(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        layout: Option<&Layout>,
    ) -> Result<Side, Error> {
        let side = match &plan.scope {
            Scope::Repository { further, .. } => match layout {
                Some(layout) => self.repository(plan, tree, layout, further)?,
                None => return Ok(Side::default()),
            },
            Scope::Set(paths) => self.set(plan, tree, paths)?,
        };
        Ok(Side { parts: self.parts(plan, tree)?, ..side })
    }

    fn repository(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        layout: &Layout,
        further: &[Further<'_>],
    ) -> Result<Side, Error> {
        let mut layout = layout.clone();
        layout.keep_sites(&|site| plan.configuration.has_site(site));
        layout.files.retain(|file| !self.part_globs.has(&file.path));
        for (index, repository) in further.iter().enumerate() {
            layout.add_repository(index, repository.tree, &repository.root)?;
        }
        did(Stage::List, || layout.files.len());
        layout.ensure_present(tree, None)?;
        for (index, repository) in further.iter().enumerate() {
            layout.ensure_present(repository.tree, Some(index))?;
        }
        let files: Vec<ToRead<'_>> = layout
            .files
            .iter()
            .map(|file| match file.repository {
                Some(index) => ToRead::unchanging(&file.path, further[index].tree),
                None => ToRead { content: file.content, ..ToRead::of(&file.path, tree) },
            })
            .collect();
        let ids = self.read(plan, &files)?;
        let files = layout.files.iter().zip(ids).map(|(file, id)| SideFile {
            id,
            repository: file.repository,
            place: Some(file.place.clone()),
        });
        Ok(Side { files: files.collect(), layout: Some(layout), ..Side::default() })
    }

    fn set(&mut self, plan: &Plan<'_>, tree: &dyn Tree, paths: &[RepoPath]) -> Result<Side, Error> {
        let mut files = files_of_set(plan, tree, paths)?;
        files.retain(|path| !self.part_globs.has(path) && !plan.configuration.is_at(path));
        did(Stage::List, || files.len());
        tree.ensure_present(&files)?;
        let files: Vec<ToRead<'_>> = files.iter().map(|path| ToRead::of(path, tree)).collect();
        let ids = self.read(plan, &files)?.into_iter();
        let files = ids.map(|id| SideFile { id, repository: None, place: None }).collect();
        Ok(Side { files, ..Side::default() })
    }

    /// Reads and parses those of `files` that are not known yet.
    pub(super) fn read(
        &mut self,
        plan: &Plan<'_>,
        files: &[ToRead<'_>],
    ) -> Result<Vec<FileId>, Error> {
        let mut ids: Vec<Option<FileId>> =
            files.iter().map(|file| self.known.get(&file.identity()).copied()).collect();
        let unknown: Vec<&ToRead<'_>> =
            files.iter().zip(&ids).filter(|(_, id)| id.is_none()).map(|(file, _)| file).collect();
        let compared = plan.base.is_some();
        let read = parse_all(&mut self.sources, &unknown, plan.progress, compared)?;
        let mut read = read.into_iter().zip(&unknown);
        for id in ids.iter_mut().filter(|id| id.is_none()) {
            let (read, file) = read.next().expect("what is not known has been read");
            *id = Some(read.id);
            if compared && (read.content.is_some() || file.unchanging) {
                self.known.insert((file.path.clone(), read.content), read.id);
            }
            self.parsed.push((read.id, read.parsed));
        }
        Ok(ids.into_iter().flatten().collect())
    }

    /// Texts that were decoded are no files of documents.
    pub(super) fn fill(&mut self) {
        while FileId(offset(self.parsed.len())) < self.sources.upcoming(0) {
            self.parsed.push((FileId(offset(self.parsed.len())), Parsed::default()));
        }
    }
}

/// The YAML files of a set.
fn files_of_set(
    plan: &Plan<'_>,
    tree: &dyn Tree,
    paths: &[RepoPath],
) -> Result<Vec<RepoPath>, Error> {
    let mut files = BTreeSet::new();
    for path in paths {
        let entries = tree.entries(path)?;
        let yaml = entries.into_iter().filter(|entry| {
            let name = entry.path.as_str();
            entry.kind == EntryKind::File && (name.ends_with(".yaml") || name.ends_with(".yml"))
        });
        let before = files.len();
        files.extend(yaml.map(|entry| entry.path));
        if files.len() == before && !path.is_root() {
            // Not a folder with YAML in it: a file, named by hand.
            files.insert(path.clone());
        }
    }
    if plan.base.is_some() {
        // A file that is named may be on one of the sides only.
        let there: BTreeSet<RepoPath> =
            tree.entries(&RepoPath::new(""))?.into_iter().map(|entry| entry.path).collect();
        files.retain(|path| there.contains(path));
    }
    Ok(files.into_iter().collect())
}

/// A file that is to be read.
pub(super) struct ToRead<'t> {
    path: &'t RepoPath,
    tree: &'t dyn Tree,
    content: Option<ContentId>,
    /// Whether it is the same on both sides whatever its content is.
    unchanging: bool,
    /// What its text is.
    text: Text,
}

/// What the text of a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    /// YAML documents.
    Documents,
    /// Something that others read.
    Other,
}

impl<'t> ToRead<'t> {
    fn of(path: &'t RepoPath, tree: &'t dyn Tree) -> Self {
        Self { path, tree, content: None, unchanging: false, text: Text::Documents }
    }

    /// A file whose text is no YAML for Deckhand.
    pub(super) fn text(path: &'t RepoPath, tree: &'t dyn Tree, content: Option<ContentId>) -> Self {
        Self { content, text: Text::Other, ..Self::of(path, tree) }
    }

    fn unchanging(path: &'t RepoPath, tree: &'t dyn Tree) -> Self {
        Self { unchanging: true, ..Self::of(path, tree) }
    }

    fn identity(&self) -> (RepoPath, Option<ContentId>) {
        (self.path.clone(), self.content)
    }
}

impl Loaded {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, Error> {
        let Parse { mut sources, parsed, mut head, mut base, .. } = Parse::new(plan)?;
        for side in std::iter::once(&mut head).chain(&mut base) {
            lap(Stage::List, || side.find_sets(plan, &mut sources, &parsed));
            side.find_parts(plan);
        }
        let schemas = Schemas::default();
        let secrets = &plan.configuration.secrets;
        let mut files = documents_of(&sources, parsed, &schemas, secrets);
        did(Stage::Documents, || files.iter().map(|file| file.documents.len()).sum());
        for file in std::iter::once(&head).chain(&base).flat_map(|side| &side.parts) {
            add_part_file(file, &sources, &mut files);
        }
        for (file, loaded) in files.iter_mut().enumerate().filter(|(_, it)| it.has_parts) {
            loaded.keep_each_once();
            loaded.read_ignores(FileId(offset(file)), &sources);
        }
        let damaged_baseline = read_baselines(plan, &mut head, &mut base, &mut sources)?;
        let in_repository = matches!(plan.scope, Scope::Repository { .. });
        let secret_kinds = plan.configuration.secrets.clone();
        let configured = Configured::new(&plan.configuration, &mut sources);
        let schemas = schemas.with_groups(configured.groups(&plan.configuration));
        Ok(Self {
            sources,
            files,
            head,
            base,
            schemas,
            in_repository,
            secret_kinds,
            configured,
            damaged_baseline,
        })
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
        if found || findings.any(is_broken) {
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

    /// How many documents the head's files hold that the plan asks for.
    pub(super) fn documents(&self, plan: &Plan<'_>, wanted: &[&SetFiles]) -> usize {
        let files: BTreeSet<FileId> = match &plan.sites {
            None => self.head.files.iter().map(|file| file.id).collect(),
            Some(_) => wanted.iter().flat_map(|set| &set.files).copied().collect(),
        };
        files.into_iter().map(|file| self.file(file).documents.len()).sum()
    }

    /// The findings of a side's files by themselves, with the sites they count
    /// for. Those of files that are the same on the `other` side are among what
    /// was found there.
    pub(super) fn file_findings(
        &self,
        side: &Side,
        settings: &Settings,
        other: Option<(&Side, &[Diagnostic])>,
    ) -> Vec<Diagnostic> {
        let sites = side.sites_of_files();
        let same: HashMap<FileId, Option<&Place>, foldhash::fast::RandomState> =
            other.iter().flat_map(|(side, _)| &side.files).map(SideFile::with_place).collect();
        let (known, fresh): (Vec<_>, Vec<_>) = side
            .files
            .iter()
            .map(SideFile::with_place)
            .partition(|(file, place)| same.get(file).is_some_and(|there| there == place));
        let documents = fresh.into_iter().map(|(file, place)| (file, Holds::Documents, place));
        let parts = side.files_of_parts().into_iter().map(|file| (file, Holds::Parts, None));
        let of_parts = side.parts.iter().flat_map(|file| self.part_findings(side, file));
        let facts = documents.chain(parts).map(|(file, holds, place)| {
            let loaded = self.file(file);
            FileFacts {
                sources: &self.sources,
                file,
                problems: &loaded.problems,
                documents: &loaded.documents,
                others: &loaded.others,
                secrets: &loaded.secrets,
                comments: &loaded.comments,
                ignores: &loaded.ignores,
                holds,
                place,
                schemas: &self.schemas,
                settings,
            }
        });
        let facts: Vec<FileFacts<'_>> = facts.collect();
        let split = split();
        let found: Vec<Vec<Diagnostic>> = facts
            .par_iter()
            .map(|facts| {
                let _part = split.part();
                rules::word_file(facts)
            })
            .collect();
        drop(split);
        let known: BTreeSet<FileId> = known.into_iter().map(|(file, _)| file).collect();
        let known_findings = other.into_iter().flat_map(|(_, found)| found);
        let known_findings =
            known_findings.filter(|finding| known.contains(&finding.primary.span.file));
        let mut found: Vec<Diagnostic> =
            found.into_iter().flatten().chain(known_findings.cloned()).collect();
        for diagnostic in &mut found {
            diagnostic.sites = sites.of(diagnostic.primary.span.file).cloned().collect();
        }
        found.extend(of_parts);
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
        // Who looks at a part does not see what is found elsewhere.
        let in_vain = if plan.is_limited() { Vec::new() } else { self.in_vain(plan, &judged) };
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
    fn in_vain(&self, plan: &Plan<'_>, judged: &Judged<'_>) -> Vec<Diagnostic> {
        let levels = &plan.policy.levels;
        let path_of = |ignore: &Ignore| self.sources.path_of(ignore.span).as_str();
        let unused = judged.unused.iter().filter_map(|unused| {
            let file = self.file(unused.ignore.span.file);
            let is_whole = !file.problems.iter().any(|problem| problem.kind.is_fatal());
            let is_on = |name: &&ignore::Name| {
                name.rules.iter().any(|it| levels.can_count_at(it, path_of(unused.ignore)))
            };
            let names: Vec<&ignore::Name> = unused.names.iter().copied().filter(is_on).collect();
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
        problems.any(|problem| problem.kind == yaml::ProblemKind::Internal)
    }

    pub(super) fn secrets(&self) -> Vec<Span> {
        self.files.iter().flat_map(|file| &file.secrets).copied().collect()
    }

    /// Files with a document that was not read, and perhaps a secret in it.
    pub(super) fn opaque(&self) -> Vec<FileId> {
        let files = (0..self.files.len()).map(|index| FileId(offset(index)));
        let is_opaque = |id: &FileId| {
            self.file(*id).is_opaque(self.sources.get(*id).text(), &self.secret_kinds)
        };
        files.filter(is_opaque).collect()
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
    /// A file at which layercake itself failed: nothing of it is known, so that
    /// all of it may be secret.
    fn failed(file: FileId, source: &Source) -> Self {
        let whole = Span::new(file, 0, offset(source.text().len()));
        Self { problems: vec![failure(file)], secrets: vec![whole], ..Self::default() }
    }

    /// Keeps what a part that stands in the file says of findings, and where it
    /// is secret.
    fn add_part(&mut self, part: &Part) {
        self.problems.extend(part.problems.iter().cloned());
        self.comments.extend(&part.comments);
        if part.data.secret && !self.secrets.contains(&part.span) {
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
    }

    fn read_ignores(&mut self, file: FileId, sources: &SourceMap) {
        let source = sources.get(file);
        self.ignores = ignore::read(file, source, &self.comments, &rules::ignorable);
        self.ignores.hide(&self.secrets);
    }

    /// Whether a document was not read in which there is perhaps a secret;
    /// `text` is that of the file.
    fn is_opaque(&self, text: &str, kinds: &SecretKinds) -> bool {
        self.problems.iter().any(|problem| problem.kind.is_fatal()) && may_hold_secrets(text, kinds)
    }
}

impl Side {
    /// Every file that its parts stand in, decoded ones among them.
    fn files_of_parts(&self) -> BTreeSet<FileId> {
        self.parts.iter().flat_map(PartFile::files).collect()
    }

    /// The files of documents and those of parts.
    pub(super) fn all_files(&self) -> Vec<FileId> {
        let documents = self.files.iter().map(|file| file.id);
        documents.chain(self.files_of_parts()).collect()
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
            let files = named.flat_map(|(set, name)| {
                let files = set.files.iter().chain(&set.parts);
                files.map(|file| (*file, name.clone()))
            });
            files.collect()
        })
    }

    /// What is wrong with how the files lie.
    pub(super) fn layout_findings(&self) -> Vec<Diagnostic> {
        self.layout_problems.iter().map(rules::word_layout).collect()
    }

    /// The path of a site's definition.
    pub(super) fn definition_of(&self, site: &str) -> Option<RepoPath> {
        self.layout.as_ref().map(|layout| layout.definition_of(site))
    }

    fn find_sets(&mut self, plan: &Plan<'_>, sources: &mut SourceMap, parsed: &[(FileId, Parsed)]) {
        let files = self.files.iter().map(|file| (file.id, sources.get(file.id).path()));
        self.layout_problems.extend(clashes(files));
        let further = match &plan.scope {
            Scope::Repository { further, .. } => further,
            Scope::Set(_) => {
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
            }
        };
        let Some(layout) = &self.layout else { return };
        let files: Vec<(FileId, &Parsed)> =
            self.files.iter().map(|file| (file.id, &parsed[file.id.0 as usize].1)).collect();
        self.sets = sites_of(layout, further, sources, &files, &mut self.layout_problems);
    }
}

/// Whether a text that is not understood speaks of secrets.
fn may_hold_secrets(text: &str, kinds: &SecretKinds) -> bool {
    let words = ["encrypted", "Passphrase", "PrivateKey", "CertificateKey", "AuthorityKey"];
    words.iter().any(|word| text.contains(word)) || kinds.are_named_in(text)
}

/// The sites of a layout; what is in the way gets a source of its own, to
/// point at.
fn sites_of(
    layout: &Layout,
    further: &[Further<'_>],
    sources: &mut SourceMap,
    parsed: &[(FileId, &Parsed)],
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
    let given: Vec<String> = further.iter().map(|given| given.name.clone()).collect();
    layout.sites(parsed, &given, problems).into_iter().map(SetFiles::from).collect()
}

/// A file that has been read and parsed.
struct Read {
    id: FileId,
    content: Option<ContentId>,
    parsed: Parsed,
}

/// Reads and parses files in parallel; ids are given in the order of `files`.
///
/// # Errors
/// Where a file cannot be read for a reason that casts doubt on the others
/// too: of several the first.
fn parse_all(
    sources: &mut SourceMap,
    files: &[&ToRead<'_>],
    progress: &Progress,
    compared: bool,
) -> Result<Vec<Read>, Error> {
    progress.files.fetch_add(files.len(), Relaxed);
    let first = &*sources;
    let split = split_for(Stage::Read);
    let read: Vec<Result<(Source, Read), Error>> = files
        .par_iter()
        .enumerate()
        .map(|(index, file)| {
            let _part = split.part();
            let id = first.upcoming(index);
            let bytes = file.tree.read(file.path);
            if let Some(error) = bytes.as_ref().err().and_then(|error| error.fatal(file.path)) {
                return Err(error);
            }
            let content = match (&bytes, file.content) {
                (Ok(bytes), None) if compared && !file.unchanging => file.tree.content_of(bytes),
                (_, content) => content,
            };
            let source = Source::new(file.path.clone(), bytes);
            let parsed = match file.text {
                Text::Documents => lap(Stage::Parse, || parse_guarded(id, &source)),
                Text::Other => Parsed::default(),
            };
            progress.files_read.fetch_add(1, Relaxed);
            Ok((source, Read { id, content, parsed }))
        })
        .collect();
    drop(split);
    did(Stage::Read, || files.len());
    did(Stage::Parse, || files.iter().filter(|file| file.text == Text::Documents).count());
    read.into_iter()
        .map(|read| {
            let (source, read) = read?;
            sources.add(source);
            Ok(read)
        })
        .collect()
}

/// Parses one file. A fault in layercake itself costs this file and says so;
/// the others go on, and nothing of what it left is used.
fn parse_guarded(file: FileId, source: &Source) -> Parsed {
    let parse = || yaml::parse(file, whole_documents(source));
    guarded(Guarded::File(source.path().as_str()), parse)
        .unwrap_or_else(|| Parsed { problems: vec![failure(file)], ..Parsed::default() })
}

pub(super) fn failure(file: FileId) -> yaml::Problem {
    yaml::Problem { span: Span::point(file, 0), kind: yaml::ProblemKind::Internal }
}

/// The text of a file as far as it can be trusted: where it breaks off, the
/// document in which it does is left out.
fn whole_documents(source: &Source) -> &str {
    let text = &**source.text();
    match source.fault() {
        None => return text,
        Some(TextFault::LargeFilePointer) => return "",
        Some(TextFault::Unreadable(_) | TextFault::BadEncoding(..) | TextFault::TooLarge(_)) => {}
    }
    let is_marker = |at: &usize| text[at + "\n---".len()..].starts_with(char::is_whitespace);
    let last = text.match_indices("\n---").map(|(at, _)| at).filter(is_marker).last();
    &text[..last.map_or(0, |at| at + 1)]
}

/// Keeps what a file of parts says where it stands: there, or in a text that it
/// includes or that was decoded from it.
fn add_part_file(part_file: &PartFile, sources: &SourceMap, files: &mut [LoadedFile]) {
    let read = &part_file.read;
    for file in part_file.files() {
        files[file.0 as usize].has_parts = true;
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
    read_baseline(path, tree, &mut SourceMap::new())
}

/// Reads what was accepted before on each side, and gives what is wrong with
/// the file of the base, if it cannot be used: the base is then taken as it is
/// without one, for a change that mends the file could not be checked otherwise.
fn read_baselines(
    plan: &Plan<'_>,
    head: &mut Side,
    base: &mut Option<Side>,
    sources: &mut SourceMap,
) -> Result<Option<String>, Error> {
    let own = baseline_of(plan, plan.tree, sources)?;
    let (Some(base_side), Some(tree)) = (base, &plan.base) else {
        head.baseline = own;
        return Ok(None);
    };
    let mut damage = None;
    base_side.baseline = match baseline_of(plan, tree.tree, sources) {
        Err(error) if error.kind() == ErrorKind::Baseline => {
            damage = Some(error.to_string());
            None
        }
        read => read?,
    };
    match plan.accepted_by {
        AcceptedBy::Itself => head.baseline = own,
        AcceptedBy::Base => {
            head.baseline = Some(base_side.baseline.clone().unwrap_or_default());
            head.own_baseline = own;
        }
    }
    Ok(damage)
}

/// What of a side's findings was accepted before, if there is a file that says
/// so.
fn baseline_of(
    plan: &Plan<'_>,
    tree: &dyn Tree,
    sources: &mut SourceMap,
) -> Result<Option<Baseline>, Error> {
    match &plan.baseline {
        Some(path) => read_baseline(path, tree, sources),
        None => Ok(None),
    }
}

fn read_baseline(
    path: &RepoPath,
    tree: &dyn Tree,
    sources: &mut SourceMap,
) -> Result<Option<Baseline>, Error> {
    let bytes = match tree.read(path) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes,
    };
    if let Some(error) = bytes.as_ref().err().and_then(|error| error.fatal(path)) {
        return Err(error);
    }
    let file = sources.add(Source::new(path.clone(), bytes));
    let source = sources.get(file);
    let unusable = |message: String| {
        Error::new(ErrorKind::Baseline, message).with_help(
            "mend it, or take back its last change; `layercake baseline write` writes a new one, \
             which accepts all that is found now; `--no-baseline` goes on without",
        )
    };
    if source.fault().is_some() {
        return Err(unusable(format!("the baseline `{path}` cannot be read")));
    }
    let read = Baseline::read(file, source.text());
    read.map(Some).map_err(|it| {
        unusable(format!("the baseline is damaged: {path}:{}: {}", it.line, it.message))
    })
}

/// Reads the Deckhand documents of parsed files.
fn documents_of(
    sources: &SourceMap,
    parsed: Vec<(FileId, Parsed)>,
    schemas: &Schemas,
    secrets: &SecretKinds,
) -> Vec<LoadedFile> {
    let patterns = Patterns::default();
    let split = split_for(Stage::Documents);
    parsed
        .into_par_iter()
        .map(|(file, parsed)| {
            let _part = split.part();
            let source = sources.get(file);
            let place = Guarded::Documents(source.path().as_str());
            let reading = || documents_of_file(file, source, parsed, schemas, &patterns, secrets);
            guarded(place, reading).unwrap_or_else(|| LoadedFile::failed(file, source))
        })
        .collect()
}

fn documents_of_file(
    file: FileId,
    source: &Source,
    parsed: Parsed,
    schemas: &Schemas,
    patterns: &Patterns,
    secrets: &SecretKinds,
) -> LoadedFile {
    let text = source.text();
    let (problems, comments) = (parsed.problems, parsed.comments);
    // Most files have one document, for which a list that grows has room for four.
    let documents = Vec::with_capacity(parsed.documents.len());
    let mut loaded = LoadedFile { problems, documents, comments, ..LoadedFile::default() };
    for document in &parsed.documents {
        let reading = || read(document, text, patterns, secrets);
        match guarded(Guarded::Reading(source.path().as_str()), reading) {
            Some(Reading::Document(document)) => loaded.documents.push(*document),
            Some(Reading::Nothing(fault)) => loaded.others.push(fault),
            None => loaded.problems.push(failure(file)),
        }
    }
    for schema in loaded.documents.iter().filter(|document| is_data_schema(document)) {
        // Here it is done in parallel.
        lap(Stage::Validate, || schemas.compiled(&schema.data));
    }
    loaded.secrets = secrets_of(file, source, &loaded, secrets);
    loaded.ignores = ignore::read(file, source, &loaded.comments, &rules::ignorable);
    let is_lost = loaded.is_opaque(text, secrets);
    let whole = Span::new(file, 0, offset(text.len()));
    let hidden = if is_lost { std::slice::from_ref(&whole) } else { &loaded.secrets[..] };
    loaded.ignores.hide(hidden);
    loaded
}

/// Where the secrets of a file stand: the data of its secret documents, and
/// what may be such a document where something could not be read.
fn secrets_of(
    file: FileId,
    source: &Source,
    loaded: &LoadedFile,
    secrets: &SecretKinds,
) -> Vec<Span> {
    let broken_off = match source.fault() {
        Some(TextFault::BadEncoding(_, at)) => Some(Span::point(file, *at)),
        Some(TextFault::Unreadable(_) | TextFault::TooLarge(_) | TextFault::LargeFilePointer)
        | None => None,
    };
    let is_lost = |at: &Span| !loaded.documents.iter().any(|document| document.span.contains(*at));
    let lost = loaded.problems.iter().map(|problem| problem.span).chain(broken_off).filter(is_lost);
    let stretches = lost.filter_map(|at| secret_stretch(source.text(), at.start as usize, secrets));
    let secret = loaded.documents.iter().filter(|document| document.data.secret);
    secret
        .flat_map(|document| secret_parts(document, &loaded.problems))
        .chain(stretches.map(|range| Span::new(file, offset(range.start), offset(range.end))))
        .collect()
}

/// What of a secret document nobody may see: its data, and where it has keys
/// beside those that are known, or one of them twice, all but its schema and
/// metadata.
fn secret_parts(document: &Document, problems: &[yaml::Problem]) -> Vec<Span> {
    let (whole, data) = (document.span, document.data.span);
    let has_unknown = |fault: &Fault| matches!(fault.kind, FaultKind::UnknownKey { .. });
    let is_beside =
        |problem: &yaml::Problem| whole.contains(problem.span) && !data.contains(problem.span);
    if !document.faults.iter().any(has_unknown) && !problems.iter().any(is_beside) {
        return vec![data];
    }
    let mut shown = vec![document.schema_span];
    shown.extend(document.metadata.as_mapping().map(|_| document.metadata.span));
    shown.sort_by_key(|span| span.start);
    let mut parts = Vec::new();
    let mut from = whole.start;
    for span in shown {
        parts.push(Span::new(whole.file, from, span.start.max(from)));
        from = span.end.max(from);
    }
    parts.push(Span::new(whole.file, from, whole.end));
    parts.retain(|part| part.start < part.end);
    parts
}
