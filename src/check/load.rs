//! The files of a run with their documents, on each side, and their assignment to sites.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::sync::{Arc, OnceLock};

use super::configuration::Configured;
use super::file::{AsRead, FileReader, LoadedFile};
use super::files::{
    Files, FilesSoFar, KnownFiles, PartFile, ReadLater, SideFile, SideFiles, SideSource, SitesRead,
};
use super::{AcceptedBy, CheckedSite, NameAndType, Plan, Scope, Which, Work};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::render::FileSet;
use crate::rules::{self, CertificateTally, FailedStep, KnownPem, RuleOptions};
use crate::source::{
    FileId, ReadError, RepoPath, Source, SourceMap, Span, TextFault, Tree, offset,
};
use crate::stopwatch::{Stage, add_count, time};
use crate::system::cloud_init::declared::sets_of_site;
use crate::system::cloud_init::read::UserData;
use crate::system::cloud_init::{GivenFile, Set};
use crate::system::deckhand::document::Document;
use crate::system::deckhand::known::KnownToThreads;
use crate::system::deckhand::layout::{
    LAYERS, Layout, LayoutProblem, NamedRepository, Place, SiteFiles, SiteScope, Uses, clashes,
};
use crate::system::deckhand::schema::Schemas;
use crate::system::deckhand::secrecy::later::{Later, LaterSecrets, PlacedDocument};
use crate::system::deckhand::secrecy::{self, Folder, SecretKinds};
use crate::system::edits::Membership;
use crate::triage::{Baseline, Damage, SitesOfFiles};
use crate::yaml::{self, Node, Parsed};

/// Files that are rendered together.
#[derive(Clone)]
pub(super) struct SetFiles {
    pub(super) name: Option<Arc<str>>,
    pub(super) site_type: Option<Arc<str>>,
    pub(super) files: Vec<FileId>,
    pub(super) repositories: Vec<usize>,
    /// Files that contain the parts of its sets, by id, and their paths.
    pub(super) parts: Vec<FileId>,
    pub(super) part_paths: BTreeSet<RepoPath>,
}

impl SetFiles {
    /// Membership of the files in the site, without parts of cloud-init. `repositories` as in
    /// [`Membership`].
    pub(super) fn membership(&self, repositories: Vec<usize>) -> Membership {
        Membership {
            scope: self.scope(),
            repositories,
            parts: BTreeSet::new(),
        }
    }

    /// Files of the layers that it reads.
    pub(super) fn scope(&self) -> SiteScope {
        SiteScope {
            site: self.name.clone(),
            site_type: self.site_type.clone(),
        }
    }

    /// Finding for a failed step.
    pub(super) fn internal_error_finding(&self, step: FailedStep) -> Diagnostic {
        let sites = self.name.iter().cloned().collect();
        Diagnostic {
            sites,
            ..rules::report_internal(self.first_file(), step)
        }
    }

    /// Summary of the site for the report.
    pub(super) fn checked(&self, loaded: &Loaded, outputs: usize) -> CheckedSite<()> {
        let documents = self
            .files
            .iter()
            .map(|file| loaded.file(*file).documents.len());
        CheckedSite {
            name: self.name.clone(),
            site_type: self.site_type.clone(),
            files: self.files.len(),
            documents: documents.sum(),
            outputs,
            certificates: CertificateTally::default(),
            taken: None,
        }
    }

    /// The set with the contents that could be parsed last.
    pub(super) fn with(&self, unparsed: &UnparsedFiles) -> Self {
        let last = |file: &FileId| unparsed.get(file).copied().unwrap_or(*file);
        Self {
            files: self.files.iter().map(last).collect(),
            ..self.clone()
        }
    }

    /// All its files, including those of parts.
    pub(super) fn all_files(&self) -> impl Iterator<Item = FileId> {
        self.files.iter().chain(&self.parts).copied()
    }

    /// First file of the set, or else its first part.
    pub(super) fn first_file(&self) -> FileId {
        self.files
            .first()
            .or(self.parts.first())
            .copied()
            .unwrap_or_default()
    }
}

impl From<SiteFiles> for SetFiles {
    fn from(site: SiteFiles) -> Self {
        let SiteFiles {
            name,
            site_type,
            repositories,
            files,
        } = site;
        let (parts, part_paths) = (Vec::new(), BTreeSet::new());
        let (name, site_type) = (Some(name), Some(site_type));
        Self {
            name,
            site_type,
            files,
            repositories,
            parts,
            part_paths,
        }
    }
}

/// Files shared by several sites; a site may have several sets, one on each side.
pub(super) fn files_of_several<'s>(sites: impl Iterator<Item = (usize, &'s SetFiles)>) -> FileSet {
    let (mut first_sites, mut of_several) = (Vec::new(), FileSet::default());
    for (site, set) in sites {
        for file in set.all_files() {
            let at = file.index();
            if first_sites.len() <= at {
                first_sites.resize(at + 1, None);
            }
            if *first_sites[at].get_or_insert(site) != site {
                of_several.insert(file);
            }
        }
    }
    of_several
}

/// All files of a run, read and parsed.
pub(super) struct Loaded {
    pub(super) sources: SourceMap,
    pub(super) files: Vec<LoadedFile>,
    /// Side that is checked.
    pub(super) head: LoadedSide,
    /// Side to compare with.
    pub(super) base: Option<LoadedSide>,
    known: KnownFiles,
    /// Schemas in the files.
    pub(super) schemas: Schemas,
    /// Strings with certificates in them.
    pub(super) pem: KnownPem,
    in_repository: bool,
    pub(super) work: Work,
    /// Settings of the rules; no rule is selected in a run without findings.
    pub(super) settings: RuleOptions,
    /// Places of the configuration, and its used entries.
    pub(super) configured: Configured,
    /// Error in the baseline of the base, if it is unusable.
    pub(super) damaged_baseline: Option<String>,
    /// Findings for documents of the head that were secret in the base, without their sites.
    exposed: Vec<Diagnostic>,
}

/// Contents of files that could be parsed, by path in the main repository.
pub(super) type ParsedFiles = BTreeMap<RepoPath, FileId>;

/// Contents of files that could be parsed last, by the current one, which cannot.
pub(super) type UnparsedFiles = BTreeMap<FileId, FileId>;

/// Parts of a reading that a later one reuses.
#[derive(Default)]
struct SoFar {
    schemas: Schemas,
    files: FilesSoFar,
    /// The configuration, if it was read.
    configured: Option<Configured>,
    /// Earlier contents, for site definitions that cannot be parsed any more.
    parsed: ParsedFiles,
}

impl SoFar {
    /// Nothing, before the first of several readings.
    fn before(later: ReadLater) -> Self {
        let files = FilesSoFar {
            later,
            ..FilesSoFar::default()
        };
        Self {
            files,
            ..Self::default()
        }
    }

    /// Reads files with `read`, and judges each alone if the work does.
    fn read_with<T>(
        &mut self,
        plan: &Plan,
        (work, sites): (Work, SitesRead<'_>),
        is_compared: bool,
        read: impl FnOnce(&mut Files<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let known = KnownToThreads::default();
        let reader = FileReader {
            schemas: &self.schemas,
            known: &known,
            secrets: &plan.options.configuration.secrets,
            work,
        };
        let settings = settings(plan, work);
        let keep = |sources: &SourceMap, file: AsRead<'_>, parsed: Parsed| {
            let mut loaded = time(Stage::Documents, || reader.file(sources, file, parsed));
            if matches!(work, Work::Judge | Work::Render) {
                time(Stage::Rules, || {
                    loaded.judge(sources, file, &self.schemas, &settings);
                });
            }
            // Not for files of the base alone, whose edits are determined later, and not for
            // rendering, which prints metadata.
            if !file.is_of_base && work == Work::Judge {
                loaded.free_documents(sources, file);
            }
            loaded
        };
        let so_far = mem::take(&mut self.files);
        let mut files = Files::new(plan, (work, sites), so_far, is_compared, &keep);
        let found = read(&mut files);
        self.files = files.so_far();
        hide_unknown_layers(&mut self.files.kept);
        found
    }
}

/// Settings of the rules; no rule is selected for work without findings.
fn settings(plan: &Plan, work: Work) -> RuleOptions {
    match work {
        Work::Judge | Work::Merge => plan.options.rules.clone(),
        Work::Render | Work::Answer | Work::Relate => RuleOptions {
            wanted: HashSet::default(),
            ..plan.options.rules.clone()
        },
    }
}

/// Files of one side and their layout.
#[derive(Default)]
pub(super) struct LoadedSide {
    pub(super) files: Vec<SideFile>,
    pub(super) sets: Vec<SetFiles>,
    /// Sites that are not compared, since no edit can reach them.
    pub(super) left_out: Vec<NameAndType>,
    /// Files given to cloud-init, by path.
    pub(super) parts: Vec<PartFile>,
    layout: Option<Layout>,
    pub(super) layout_problems: Vec<LayoutProblem>,
    /// Accepted findings.
    pub(super) baseline: Option<Baseline>,
    /// Its own accepted findings, if the baseline of the other side is in effect.
    pub(super) own_baseline: Option<Baseline>,
    /// Sites that each file applies to, computed on first use.
    sites: OnceLock<SitesOfFiles>,
}

impl Loaded {
    /// Reads the files that the work needs.
    pub(super) fn new(plan: &Plan, work: Work) -> Result<Self, Error> {
        Self::of_plan(plan, work, None, &mut SoFar::default())
    }

    /// Reads the files of these sites, which may change later.
    pub(super) fn for_changes(
        plan: &Plan,
        work: Work,
        sites: SitesRead<'_>,
    ) -> Result<Self, Error> {
        let mut so_far = SoFar::before(ReadLater::Changes);
        Self::of_plan(plan, work, Some(sites), &mut so_far)
    }

    /// Reads the files again after changes, except for those that are known, which keep their ids.
    /// Frees the texts that are no longer read, except for `parsed` ones of files that cannot be
    /// parsed any more; returns these. On an error, nothing changes.
    pub(super) fn read_again(
        &mut self,
        plan: &Plan,
        sites: SitesRead<'_>,
        parsed: ParsedFiles,
    ) -> Result<UnparsedFiles, Error> {
        let read_before = self.files_read();
        let mut so_far = SoFar {
            parsed,
            ..self.take(ReadLater::Changes)
        };
        match Self::of_plan(plan, self.work, Some(sites), &mut so_far) {
            Ok(loaded) => {
                *self = loaded;
                let broken = self
                    .head_files()
                    .filter(|file| self.file(file.id).breaks_off());
                let kept: UnparsedFiles = broken
                    .filter_map(|file| {
                        let path = self.sources.get(file.id).path();
                        Some((file.id, *so_far.parsed.get(path)?))
                    })
                    .collect();
                self.free_unread(read_before, kept.values().copied().collect());
                Ok(kept)
            }
            Err(error) => {
                self.put_back(so_far);
                Err(error)
            }
        }
    }

    /// As [`read_again`](Self::read_again), if the plan lists the same files, and only the texts of
    /// `changed` ones can be others.
    pub(super) fn replace_texts(
        &mut self,
        plan: &Plan,
        sites: SitesRead<'_>,
        changed: &BTreeSet<RepoPath>,
        unparsed: &UnparsedFiles,
        parsed: &ParsedFiles,
    ) -> Result<UnparsedFiles, Error> {
        let read = self.head_files().filter_map(|file| {
            let path = self.sources.get(file.id).path();
            let place = changed.contains(path).then(|| file.place.clone())??;
            Some((file.id, (path.clone(), place)))
        });
        let (before, files): (Vec<FileId>, Vec<_>) = read.unzip();
        let mut so_far = self.take(ReadLater::Changes);
        let again = |read: &mut Files<'_>| read.again(plan, &files);
        let now = so_far.read_with(plan, (self.work, sites), false, again);
        self.put_back(so_far);
        let now = now?;
        let new: BTreeMap<FileId, FileId> =
            before.iter().copied().zip(now.iter().copied()).collect();
        self.head
            .replace_files(&|file| new.get(&file).copied().unwrap_or(file));

        let mut kept = unparsed.clone();
        kept.retain(|file, _| !new.contains_key(file));
        let last = files.iter().map(|(path, _)| parsed.get(path).copied());
        let broken = now
            .into_iter()
            .zip(last)
            .filter(|(file, _)| self.file(*file).breaks_off());
        kept.extend(broken.filter_map(|(file, last)| Some((file, last?))));
        let last: BTreeSet<FileId> = kept.values().copied().collect();
        let gone = before.into_iter().chain(unparsed.values().copied());
        self.free(gone.filter(|file| !last.contains(file)).collect());
        Ok(kept)
    }

    /// Reads several states of one site. Known files from an earlier reading keep their ids.
    pub(super) fn of_states(
        plan: &Plan,
        states: &[SideSource<'_>],
        work: Work,
        earlier: Option<Self>,
    ) -> Result<(Self, Vec<LoadedSide>), Error> {
        let mut so_far = match earlier {
            Some(mut earlier) => earlier.take(ReadLater::States),
            None => SoFar::before(ReadLater::States),
        };
        Self::read(plan, states, (work, SitesRead::All), &mut so_far)
    }

    /// Takes the parts that a later reading reuses.
    fn take(&mut self, later: ReadLater) -> SoFar {
        SoFar {
            schemas: mem::take(&mut self.schemas),
            files: FilesSoFar {
                sources: mem::take(&mut self.sources),
                kept: mem::take(&mut self.files),
                known: mem::take(&mut self.known),
                later,
            },
            configured: Some(mem::take(&mut self.configured)),
            parsed: ParsedFiles::new(),
        }
    }

    /// Puts back what [`take`](Self::take) took, with the files that were read since.
    fn put_back(&mut self, so_far: SoFar) {
        self.schemas = so_far.schemas;
        self.sources = so_far.files.sources;
        self.files = so_far.files.kept;
        self.known = so_far.files.known;
        self.configured = so_far.configured.unwrap_or_default();
    }

    /// Files of documents on the head's side, in the main repository.
    fn head_files(&self) -> impl Iterator<Item = &SideFile> {
        self.head
            .files
            .iter()
            .filter(|file| file.repository.is_none())
    }

    /// Contents at these paths of the head that can be parsed.
    pub(super) fn parsed_among(&self, paths: &BTreeSet<RepoPath>) -> ParsedFiles {
        let parsed = self
            .head_files()
            .filter(|file| !self.file(file.id).breaks_off());
        parsed
            .map(|file| (self.sources.get(file.id).path(), file.id))
            .filter(|(path, _)| paths.contains(*path))
            .map(|(path, id)| (path.clone(), id))
            .collect()
    }

    /// Frees the files that were read before and are neither `kept` nor among those of the sides.
    fn free_unread(&mut self, read_before: usize, kept: BTreeSet<FileId>) {
        let mut read = kept;
        read.extend(self.sides().flat_map(LoadedSide::all_files));
        read.extend(self.configured.files());
        for file in read.clone() {
            let mut text = file;
            while let Some(from) = self.sources.get(text).decoded_from() {
                text = from.file;
                read.insert(text);
            }
        }
        let read_before = (0..read_before).map(|index| FileId::new(offset(index)));
        self.free(read_before.filter(|file| !read.contains(file)).collect());
    }

    fn free(&mut self, files: BTreeSet<FileId>) {
        for file in &files {
            self.sources.free(*file);
            self.files[file.index()] = LoadedFile::default();
        }
        self.known.retain(|_, file| !files.contains(file));
        self.schemas.keep_files(|file| !files.contains(&file));
    }

    /// Forgets which content changed files have.
    pub(super) fn forget(&mut self, files: &BTreeSet<RepoPath>) {
        self.known.retain(|identity, _| !identity.is_of(files));
    }

    /// Files whose documents are known, by content.
    pub(super) fn known_files(&self) -> FileSet {
        self.known.values().copied().collect()
    }

    /// Frees the documents of all other files; their secret spans are kept.
    pub(super) fn keep_files(&mut self, files: &FileSet) {
        self.known.retain(|_, file| files.contains(file));
        self.schemas.keep_files(|file| files.contains(&file));
        for (index, file) in self.files.iter_mut().enumerate() {
            if !files.contains(&FileId::new(offset(index))) {
                let LoadedFile {
                    secrets, is_opaque, ..
                } = mem::take(file);
                *file = LoadedFile {
                    secrets,
                    is_opaque,
                    ..LoadedFile::default()
                };
            }
        }
    }

    /// Hides text that is public in one state and secret in a newer one.
    pub(super) fn hide_later_secrets(&mut self, newer: &LoadedSide, older: &LoadedSide) {
        hide_later_secrets(&mut self.files, &self.sources, newer, older);
    }

    /// Hides text that is public in older files and secret in the newest ones.
    pub(super) fn hide_secrets_of(&mut self, newest: &BTreeSet<FileId>, older: &BTreeSet<FileId>) {
        let older: BTreeSet<FileId> = older.difference(newest).copied().collect();
        let known = BTreeSet::new();
        hide_in_earlier(
            &mut self.files,
            &self.sources,
            [newest, newest, &known],
            &older,
        );
    }

    /// Number of files, including earlier readings.
    pub(super) fn files_read(&self) -> usize {
        self.files.len()
    }

    /// Those of these files that were not read completely.
    pub(super) fn unread_files(&self, files: impl Iterator<Item = FileId>) -> BTreeSet<FileId> {
        files
            .filter(|file| self.is_faulty(*file) || self.file(*file).breaks_off())
            .collect()
    }

    /// Place up to which a file is readable.
    pub(super) fn fault_in(&self, file: FileId) -> Span {
        let mut problems = self.file(file).problems.iter();
        let fatal = problems.find(|problem| problem.kind.is_fatal());
        fatal.map_or(Span::point(file, 0), |problem| problem.span)
    }

    /// Reads the sides of a plan: the files of these sites, or of those that the work needs. Takes
    /// the content of `so_far`, except on an error.
    ///
    /// # Errors
    /// If something cannot be read, or a requested site does not exist.
    fn of_plan(
        plan: &Plan,
        work: Work,
        sites: Option<SitesRead<'_>>,
        so_far: &mut SoFar,
    ) -> Result<Self, Error> {
        let baselines = baseline_files(plan, work);
        let sites = sites.unwrap_or_else(|| SitesRead::of(plan, work, baselines[0].is_some()));
        let sources = SideSource::of_plan(plan);
        let (mut loaded, sides) = Self::read(plan, &sources, (work, sites), so_far)?;
        let mut sides = sides.into_iter();
        loaded.head = sides.next().unwrap_or_default();
        loaded.base = sides.next();
        if let Some(base) = &loaded.base {
            let exposed = ExposedDocuments::of(&loaded, &loaded.head, base);
            hide_later_secrets(&mut loaded.files, &loaded.sources, &loaded.head, base);
            loaded.exposed = exposed.hide_in(&mut loaded.files, &loaded.sources);
        }
        let sides = (&mut loaded.head, &mut loaded.base);
        let accepted_by = plan.options.accepted_by;
        let read = read_baselines(baselines, accepted_by, sides, &mut loaded.sources);
        let read = read.and_then(|damaged| loaded.ensure_sites(plan).map(|()| damaged));
        match read {
            Ok(damaged_baseline) => Ok(Self {
                damaged_baseline,
                ..loaded
            }),
            Err(error) => {
                *so_far = loaded.take(so_far.files.later);
                Err(error)
            }
        }
    }

    /// Reads these sides, without baselines; `so_far` as in [`of_plan`](Self::of_plan).
    fn read(
        plan: &Plan,
        to_read: &[SideSource<'_>],
        (work, sites): (Work, SitesRead<'_>),
        so_far: &mut SoFar,
    ) -> Result<(Self, Vec<LoadedSide>), Error> {
        let is_compared = to_read.len() > 1 || so_far.files.later == ReadLater::States;
        let read = |files: &mut Files<'_>| files.sides(plan, to_read);
        let sides = so_far.read_with(plan, (work, sites), is_compared, read)?;
        let SoFar {
            schemas,
            files,
            configured,
            parsed,
        } = mem::take(so_far);
        let FilesSoFar {
            mut sources,
            kept: mut files,
            known,
            ..
        } = files;
        let mut sides: Vec<LoadedSide> = sides.into_iter().map(LoadedSide::of).collect();
        add_count(Stage::Documents, || {
            files.iter().map(|file| file.documents.len()).sum()
        });
        for (side, source) in sides.iter_mut().zip(to_read) {
            time(Stage::List, || {
                let parsed = (source.which == Which::Head).then_some(&parsed);
                let files = ReadFiles {
                    files: &files,
                    parsed,
                };
                side.find_sets(source.uses, &mut sources, &files, work);
            });
            let (sets, left_out): (Vec<SetFiles>, Vec<SetFiles>) = mem::take(&mut side.sets)
                .into_iter()
                .partition(|set| plan.reaches(set.name.as_ref()));
            side.sets = sets;
            side.left_out = left_out
                .into_iter()
                .map(|set| (set.name, set.site_type))
                .collect();
            side.find_parts(plan);
        }
        so_far.parsed = parsed;
        for file in sides.iter().flat_map(|side| &side.parts) {
            add_part_file(file, &sources, &mut files);
        }
        let configuration = &plan.options.configuration;
        for (file, loaded) in files.iter_mut().enumerate().filter(|(_, it)| it.has_parts) {
            loaded.dedup();
            let secrets = &configuration.secrets;
            loaded.hide_lost_parts(FileId::new(offset(file)), &sources, secrets);
            loaded.read_ignores(FileId::new(offset(file)), &sources);
        }
        let configured = configured.unwrap_or_else(|| Configured::new(configuration, &mut sources));
        let loaded = Self {
            sources,
            files,
            head: LoadedSide::default(),
            base: None,
            known,
            schemas: schemas.with_groups(configured.groups(configuration)),
            pem: KnownPem::default(),
            in_repository: matches!(plan.scope, Scope::Repository { .. }),
            work,
            settings: settings(plan, work),
            configured,
            damaged_baseline: None,
            exposed: Vec::new(),
        };
        Ok((loaded, sides))
    }

    /// Sides on which a part of a file is unreadable, if that makes an edit of it unknown:
    /// documents are unreadable on one of the sides, or a part is truncated on both. cloud-init
    /// drops a truncated part.
    pub(super) fn unread_sides(&self, sides: [Option<FileId>; 2]) -> Option<[bool; 2]> {
        let on_sides = |is_so: &dyn Fn(FileId) -> bool| sides.map(|file| file.is_some_and(is_so));
        let is_unread = on_sides(&|file| self.is_faulty(file) || self.file(file).breaks_off());
        let is_unknown = |file| {
            self.is_faulty(file) || (self.file(file).breaks_off() && !self.file(file).has_parts)
        };
        let is_unknown = on_sides(&is_unknown).contains(&true) || is_unread == [true; 2];
        is_unknown.then_some(is_unread)
    }

    /// Whether a file contains something that layercake cannot read but other tools may.
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

    /// Further repositories named in a site definition.
    pub(super) fn repositories_of(&self, definition: FileId) -> Option<Vec<NamedRepository>> {
        Layout::repositories_of(self.file(definition).definition.as_ref()?)
    }

    pub(super) fn file(&self, file: FileId) -> &LoadedFile {
        &self.files[file.index()]
    }

    /// All sides, head first.
    pub(super) fn sides(&self) -> impl Iterator<Item = &LoadedSide> {
        std::iter::once(&self.head).chain(&self.base)
    }

    /// Sets of one site, as on one of the sides.
    pub(super) fn sets<'a>(
        &self,
        plan: &Plan,
        side: &'a LoadedSide,
        files: &SetFiles,
    ) -> Vec<Set<'a>> {
        let site = (files.name.as_deref(), files.site_type.as_deref());
        self.sets_of(plan, site, &side.parts_by_path())
    }

    /// Sets of one site, by its name and type, made of these parts.
    pub(super) fn sets_of<'a>(
        &self,
        plan: &Plan,
        site: (Option<&str>, Option<&str>),
        parts: &BTreeMap<&'a RepoPath, GivenFile<'a>>,
    ) -> Vec<Set<'a>> {
        let at = |at| self.configured.place(at);
        sets_of_site(&plan.options.configuration.sets, site, at, parts)
    }

    /// Checks that a requested site exists.
    fn ensure_sites(&self, plan: &Plan) -> Result<(), Error> {
        let Some(globs) = &plan.options.sites else {
            return Ok(());
        };
        let mut broken: Vec<Diagnostic> = self
            .sides()
            .flat_map(|side| side.layout_findings(&self.sources))
            .collect();
        plan.keep_requested(&mut broken);
        let found = self.sides().any(|side| !side.wanted(plan).is_empty());
        let mut unread = self.sides().flat_map(LoadedSide::unread_definitions);
        let is_left_out = self.head.left_out_of(plan).next().is_some();
        if found
            || is_left_out
            || !broken.is_empty()
            || unread.any(|(site, _)| globs.is_match(&**site))
        {
            return Ok(());
        }
        let has_sites = self
            .sides()
            .flat_map(|side| &side.sets)
            .any(|set| set.name.is_some());
        let help = match (self.in_repository, has_sites) {
            (true, true) => "run `layercake sites` to list the sites",
            (true, false) => "no site of this repository has a valid site definition",
            (false, _) => "a set of files has no sites; remove `--site`",
        };
        Err(Error::usage("no site matches `--site`").with_help(help))
    }

    /// Requested sites without a usable definition, on the head's side.
    pub(super) fn undefined(&self, plan: &Plan) -> Vec<Arc<str>> {
        let defined = self.head.site_names();
        let is_named = |site: &Arc<str>| {
            plan.options
                .sites
                .as_ref()
                .is_none_or(|globs| globs.is_match(&**site))
        };
        let is_asked =
            |site: &Arc<str>| is_named(site) && self.head.may_read_one(site, &plan.options.only);
        let findings = self.head.layout_findings(&self.sources).into_iter();
        let unread = self.head.unread_definitions().map(|(site, _)| site.clone());
        let named: BTreeSet<Arc<str>> = findings
            .flat_map(|finding| finding.sites)
            .chain(unread)
            .collect();
        named
            .into_iter()
            .filter(|site| !defined.contains(site) && is_asked(site))
            .collect()
    }

    /// Requested files of the wanted sites that were not read completely.
    pub(super) fn unread(&self, plan: &Plan, wanted: &[&SetFiles]) -> Vec<Span> {
        // Checked first: there are far fewer files than sites reading them, and mostly all are
        // readable.
        let unread = self.unread_files(self.head.all_files().into_iter());
        if unread.is_empty() {
            return Vec::new();
        }
        let files = wanted.iter().flat_map(|set| set.all_files());
        let files = files.filter(|file| unread.contains(file));
        let places = files.map(|file| self.sources.written(self.fault_in(file)));
        let places: BTreeMap<&RepoPath, Span> = places
            .map(|place| (self.sources.path_of(place), place))
            .collect();
        places
            .into_iter()
            .filter(|(path, _)| plan.concerns(path))
            .map(|(_, at)| at)
            .collect()
    }

    /// Number of documents in the requested files of the head.
    pub(super) fn documents(&self, plan: &Plan, wanted: &[&SetFiles]) -> usize {
        let files: BTreeSet<FileId> = match &plan.options.sites {
            None => self.head.files.iter().map(|file| file.id).collect(),
            Some(_) => wanted.iter().flat_map(|set| &set.files).copied().collect(),
        };
        files
            .into_iter()
            .map(|file| self.file(file).documents.len())
            .sum()
    }

    /// Findings for documents of the head that were secret in the base.
    pub(super) fn exposed_findings(&self) -> impl Iterator<Item = Diagnostic> {
        let sites = self.head.sites_of_files();
        self.exposed.iter().map(|finding| {
            let sites = sites.of(finding.primary.span.file).cloned().collect();
            Diagnostic {
                sites,
                ..finding.clone()
            }
        })
    }

    /// Whether layercake failed while reading a file.
    pub(super) fn has_failed(&self) -> bool {
        let mut problems = self.files.iter().flat_map(|file| &file.problems);
        problems.any(|problem| problem.kind == yaml::YamlProblemKind::Internal)
    }

    pub(super) fn secrets(&self) -> Vec<Span> {
        self.files
            .iter()
            .flat_map(|file| &file.secrets)
            .copied()
            .collect()
    }

    /// The sources, their secret spans, and the files whose lines must not be shown.
    pub(super) fn texts(&self) -> (&SourceMap, Vec<Span>, Vec<FileId>) {
        (&self.sources, self.secrets(), self.opaque())
    }

    /// Files whose lines must not be shown.
    pub(super) fn opaque(&self) -> Vec<FileId> {
        let files = (0..self.files.len()).map(|index| FileId::new(offset(index)));
        files.filter(|file| self.file(*file).is_opaque).collect()
    }
}

/// Hides the layers of secret documents that no policy has: the value may be a part of the secret.
fn hide_unknown_layers(files: &mut [LoadedFile]) {
    let documents = files.iter().flat_map(|file| &file.documents);
    let orders = documents
        .clone()
        .filter_map(|document| document.layer_order.as_ref());
    let layers = orders.flatten().map(|layer| layer.value.clone());
    let known: HashSet<Arc<str>> = layers.chain(LAYERS.map(Arc::from)).collect();
    for file in files {
        file.hide_layers(&|layer| known.contains(layer));
    }
}

/// Hides text that is public in the base and secret in the head, if a file was edited.
fn hide_later_secrets(
    files: &mut [LoadedFile],
    sources: &SourceMap,
    head: &LoadedSide,
    base: &LoadedSide,
) {
    let of_head = head.ids();
    let of_base = base.ids();
    let only_base: BTreeSet<FileId> = of_base.difference(&of_head).copied().collect();
    let only_head: BTreeSet<FileId> = of_head.difference(&of_base).copied().collect();
    hide_in_earlier(
        files,
        sources,
        [&of_head, &only_head, &only_base],
        &only_base,
    );
}

/// Hides text that is public in `earlier` files and secret in those of the head. Text that moved
/// into a secret is in the `added` files and not secret in the `known` ones.
fn hide_in_earlier(
    files: &mut [LoadedFile],
    sources: &SourceMap,
    [head, added, known]: [&BTreeSet<FileId>; 3],
    earlier: &BTreeSet<FileId>,
) {
    if earlier.is_empty() {
        return;
    }
    let [all, added, known, removed] =
        [head, added, known, earlier].map(|wanted| placed(files, sources, wanted));
    let later = LaterSecrets::of(&all, &added, &known);
    let found: Vec<Option<Later>> = removed.iter().map(|it| later.in_document(*it)).collect();
    let mut found = found.into_iter();
    for id in earlier {
        let file = &mut files[id.index()];
        let later: Vec<Option<Later>> = found.by_ref().take(file.documents.len()).collect();
        file.hide_later(&later, *id, sources.get(*id));
    }
}

/// Documents of these files.
fn placed<'a>(
    files: &'a [LoadedFile],
    sources: &'a SourceMap,
    wanted: &BTreeSet<FileId>,
) -> Vec<PlacedDocument<'a>> {
    let placed = wanted.iter().flat_map(|id| {
        let path = sources.get(*id).path();
        let documents = files[id.index()].documents.iter();
        documents.map(move |document| PlacedDocument { path, document })
    });
    placed.collect()
}

/// Documents of the head that were secret in the base, with their findings.
struct ExposedDocuments(BTreeMap<Span, Diagnostic>);

impl ExposedDocuments {
    fn of(loaded: &Loaded, head: &LoadedSide, base: &LoadedSide) -> Self {
        let of_head = head.ids();
        let of_base = base.ids();
        let edited: BTreeSet<FileId> = of_head.difference(&of_base).copied().collect();
        let gone: BTreeSet<FileId> = of_base.difference(&of_head).copied().collect();
        let placed = |wanted: &BTreeSet<FileId>| placed(&loaded.files, &loaded.sources, wanted);
        let (all, before) = (placed(&edited), placed(&gone));
        let found = LaterSecrets::of(&all, &[], &[]);
        let exposed = before.iter().flat_map(|document| found.exposed(*document));
        Self(
            exposed
                .map(|it| (it.head.span, rules::report_exposed(&it)))
                .collect(),
        )
    }

    /// Hides the data of the documents, which must not be shown beside its secret state. Returns the
    /// findings.
    fn hide_in(self, files: &mut [LoadedFile], sources: &SourceMap) -> Vec<Diagnostic> {
        let ids: BTreeSet<FileId> = self.0.keys().map(|at| at.file).collect();
        for id in ids {
            let file = &mut files[id.index()];
            let is_shown =
                |document: &Document| !document.data.secret && self.0.contains_key(&document.span);
            let documents = file.documents.iter();
            let later: Vec<Option<Later>> = documents
                .map(|document| is_shown(document).then_some(Later::Data))
                .collect();
            file.hide_later(&later, id, sources.get(id));
        }
        self.0.into_values().collect()
    }
}

impl LoadedSide {
    fn ids(&self) -> BTreeSet<FileId> {
        self.files.iter().map(|file| file.id).collect()
    }

    fn of(files: SideFiles) -> Self {
        let SideFiles {
            files,
            layout,
            parts,
        } = files;
        Self {
            files,
            parts,
            layout,
            ..Self::default()
        }
    }

    /// Replaces the contents of files of documents, which are no site definitions.
    fn replace_files(&mut self, new: &dyn Fn(FileId) -> FileId) {
        for file in &mut self.files {
            file.id = new(file.id);
        }
        for file in self.sets.iter_mut().flat_map(|set| &mut set.files) {
            *file = new(*file);
        }
        for problem in &mut self.layout_problems {
            problem.replace_files(new);
        }
        if let Some(sites) = self.sites.get_mut() {
            sites.replace_files(new);
        }
    }

    /// Number of sets, including those that are not compared.
    pub(super) fn all_sets(&self) -> usize {
        self.sets.len() + self.left_out.len()
    }

    /// Names of the existing sites.
    pub(super) fn site_names(&self) -> BTreeSet<Arc<str>> {
        self.sets
            .iter()
            .filter_map(|set| set.name.clone())
            .collect()
    }

    /// All files that contain its parts, including decoded ones.
    pub(super) fn files_of_parts(&self) -> BTreeSet<FileId> {
        self.parts.iter().flat_map(PartFile::files).collect()
    }

    /// Files of documents and files of parts.
    pub(super) fn all_files(&self) -> Vec<FileId> {
        let documents = self.files.iter().map(|file| file.id);
        let all: BTreeSet<FileId> = documents.chain(self.files_of_parts()).collect();
        all.into_iter().collect()
    }

    pub(super) fn has_baseline(&self) -> bool {
        self.baseline.is_some() || self.own_baseline.is_some()
    }

    /// Files of parts on this side, with their content.
    pub(super) fn reads(&self) -> HashSet<(&RepoPath, *const UserData)> {
        self.parts.iter().map(PartFile::identity).collect()
    }

    /// Assigns the parts to the sets of files.
    pub(super) fn find_parts(&mut self, plan: &Plan) {
        let mut sets = mem::take(&mut self.sets);
        let parts = self.parts_by_path();
        for files in &mut sets {
            let site = (files.name.as_deref(), files.site_type.as_deref());
            let used = sets_of_site(&plan.options.configuration.sets, site, Some, &parts);
            let used = used
                .iter()
                .flat_map(|set| &set.sources)
                .flat_map(|source| &source.files);
            let used: BTreeSet<FileId> = used.map(|given| given.at.file).collect();
            let is_used = |file: &&PartFile| used.contains(&file.file);
            for file in self.parts.iter().filter(is_used) {
                files.part_paths.insert(file.path.clone());
                files.parts.extend(file.files());
            }
            files.parts.sort_unstable();
            files.parts.dedup();
        }
        self.sets = sets;
    }

    /// All parts, by the path of their file.
    pub(super) fn parts_by_path(&self) -> BTreeMap<&RepoPath, GivenFile<'_>> {
        self.parts
            .iter()
            .map(|file| (&file.path, file.given()))
            .collect()
    }

    /// Sets that the plan requests.
    pub(super) fn wanted(&self, plan: &Plan) -> Vec<&SetFiles> {
        let sets = self.sets.iter();
        sets.filter(|set| plan.requests(set.name.as_deref()))
            .collect()
    }

    /// Requested sites that are not compared.
    pub(super) fn left_out_of<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> impl Iterator<Item = &'a NameAndType> {
        self.left_out
            .iter()
            .filter(|(name, _)| plan.requests(name.as_deref()))
    }

    /// Sites that each file applies to.
    pub(super) fn sites_of_files(&self) -> &SitesOfFiles {
        self.sites.get_or_init(|| {
            let named = self
                .sets
                .iter()
                .filter_map(|set| Some((set, set.name.as_ref()?)));
            let all = named
                .clone()
                .map(|(set, _)| set.files.len() + set.parts.len())
                .sum();
            // Exact capacity, because the list is kept.
            let mut pairs = Vec::with_capacity(all);
            for (set, name) in named {
                pairs.extend(set.all_files().map(|file| (file, name.clone())));
            }
            pairs.extend(
                self.unread_definitions()
                    .map(|(site, file)| (file, site.clone())),
            );
            pairs.into_iter().collect()
        })
    }

    /// Sites whose definitions are unreadable.
    pub(super) fn unread_definitions(&self) -> impl Iterator<Item = (&Arc<str>, FileId)> {
        self.layout_problems
            .iter()
            .filter_map(|problem| match problem {
                LayoutProblem::UnreadDefinition { site, file } => Some((site, *file)),
                _ => None,
            })
    }

    /// Place at which the definition of an existing site is unreadable or unusable.
    pub(super) fn unusable_definition(&self, site: &str) -> Option<Span> {
        self.layout_problems
            .iter()
            .find_map(|problem| match problem {
                LayoutProblem::UnreadDefinition { site: of, file }
                | LayoutProblem::MissingDefinition { site: of, file } => {
                    (**of == *site).then_some(Span::point(*file, 0))
                }
                LayoutProblem::InvalidDefinition { site: of, at } => (**of == *site).then_some(*at),
                LayoutProblem::Odd { .. }
                | LayoutProblem::MissingType { .. }
                | LayoutProblem::UnusedType { .. }
                | LayoutProblem::Clash { .. }
                | LayoutProblem::IgnoredRevision { .. }
                | LayoutProblem::MissingRepository { .. }
                | LayoutProblem::UnreadableRepository { .. } => None,
            })
    }

    /// Findings on the layout of the files.
    pub(super) fn layout_findings(&self, sources: &SourceMap) -> Vec<Diagnostic> {
        let problems = self.layout_problems.iter();
        problems
            .filter_map(|problem| rules::report_layout(sources, problem))
            .collect()
    }

    /// File of documents at this path of the main repository.
    pub(super) fn file_at(&self, path: &RepoPath, loaded: &Loaded) -> Option<FileId> {
        let mut files = self.files.iter().filter(|file| file.repository.is_none());
        files
            .find(|file| loaded.sources.get(file.id).path() == path)
            .map(|file| file.id)
    }

    /// Sites that a file applies to.
    pub(super) fn place_of(&self, id: FileId) -> Option<&Place> {
        self.files.iter().find(|file| file.id == id)?.place.as_ref()
    }

    /// Whether a site may read one of these files and folders. It does not read those of other
    /// sites.
    fn may_read_one(&self, site: &str, paths: &[RepoPath]) -> bool {
        let Some(layout) = &self.layout else {
            return true;
        };
        let of_sites = layout.root.join("site");
        let may_read = |path: &RepoPath| {
            path.below(&of_sites)
                .is_none_or(|rest| rest.split('/').next() == Some(site))
        };
        paths.is_empty() || paths.iter().any(may_read)
    }

    /// Path of a site's definition.
    pub(super) fn definition_of(&self, site: &str) -> Option<RepoPath> {
        self.layout
            .as_ref()
            .map(|layout| layout.definition_of(site))
    }

    /// Finds the sets. `uses` are the further repositories of the sites; `None` without sites.
    fn find_sets(
        &mut self,
        uses: Option<&Uses>,
        sources: &mut SourceMap,
        read: &ReadFiles<'_>,
        work: Work,
    ) {
        // Two revisions of a further repository are never in one folder.
        let mut folders: BTreeMap<Option<usize>, Vec<FileId>> = BTreeMap::new();
        for file in &self.files {
            folders.entry(file.repository).or_default().push(file.id);
        }
        for files in folders.into_values().filter(|_| work.has_findings()) {
            let files = files
                .into_iter()
                .map(|file| (file, sources.get(file).path()));
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
        let files: Vec<(FileId, Option<&Node>)> = self
            .files
            .iter()
            .map(|file| (file.id, read.definition(file, sources)))
            .collect();
        self.sets = sites_of(layout, uses, sources, &files, &mut self.layout_problems);
        let is_unread = |file: FileId| {
            let mut known = files.iter().filter(|(id, _)| *id == file);
            known.all(|(_, definition)| definition.is_none()) && read.is_faulty(file, sources)
        };
        for problem in &mut self.layout_problems {
            if let LayoutProblem::InvalidDefinition { site, at } = problem
                && is_unread(at.file)
            {
                *problem = LayoutProblem::UnreadDefinition {
                    site: site.clone(),
                    file: at.file,
                };
            }
        }
    }
}

/// Files that were read, to find the sites.
struct ReadFiles<'f> {
    files: &'f [LoadedFile],
    /// See [`SoFar::parsed`].
    parsed: Option<&'f ParsedFiles>,
}

impl<'f> ReadFiles<'f> {
    /// The site definition in a file, or in its content that could be parsed last.
    fn definition(&self, file: &SideFile, sources: &SourceMap) -> Option<&'f Node> {
        let of = |file: FileId| self.files[file.index()].definition.as_ref();
        let breaks_off = self.files[file.id.index()].breaks_off();
        match self
            .parsed
            .filter(|_| breaks_off && file.repository.is_none())
        {
            Some(parsed) => of(*parsed.get(sources.get(file.id).path())?),
            None => of(file.id),
        }
    }

    fn is_faulty(&self, file: FileId, sources: &SourceMap) -> bool {
        sources.get(file).fault().is_some() || !self.files[file.index()].problems.is_empty()
    }
}

/// Sites of a layout. Adds a source for obstructing entries, to show their place.
fn sites_of(
    layout: &Layout,
    uses: &Uses,
    sources: &mut SourceMap,
    files: &[(FileId, Option<&Node>)],
    problems: &mut Vec<LayoutProblem>,
) -> Vec<SetFiles> {
    for (path, oddity) in &layout.odd {
        let file = sources.add(Source::new(path.clone(), Ok(Vec::new())));
        problems.push(LayoutProblem::Odd {
            file,
            oddity: *oddity,
        });
    }
    for site in layout.undefined_sites() {
        let missing = Source::new(layout.definition_of(&site), Ok(Vec::new()));
        let file = sources.add(missing);
        problems.push(LayoutProblem::MissingDefinition { file, site });
    }
    layout
        .sites(files, uses, problems)
        .into_iter()
        .map(SetFiles::from)
        .collect()
}

/// Adds the problems, comments and secrets of a file of parts to the file that contains them:
/// itself, an included one or one decoded from it.
fn add_part_file(part_file: &PartFile, sources: &SourceMap, files: &mut [LoadedFile]) {
    let read = &part_file.read;
    for file in part_file.files() {
        let file = &mut files[file.index()];
        file.has_parts = true;
        // The findings are outdated.
        file.found = None;
    }
    for part in &read.parts {
        files[part.span.file.index()].add_part(part);
    }
    for problem in &read.problems {
        files[problem.span.file.index()]
            .problems
            .push(problem.clone());
    }
    for comment in &read.comments {
        files[comment.span.file.index()].comments.push(*comment);
    }
    if part_file.is_secret {
        // The containing files show the parts, too.
        part_file
            .files()
            .for_each(|file| hide(files, file, sources));
    }
}

/// Hides all text of a file and of the files that it is decoded from.
fn hide(files: &mut [LoadedFile], file: FileId, sources: &SourceMap) {
    let mut next = Some(file);
    while let Some(file) = next {
        let source = sources.get(file);
        let all = Span::new(file, 0, offset(source.text().len()));
        let secrets = &mut files[file.index()].secrets;
        if !secrets.contains(&all) {
            secrets.push(all);
        }
        next = source.decoded_from().map(|from| from.file);
    }
}

/// Accepted findings in the file at `path` of `tree`, if it exists.
///
/// # Errors
/// If it is unreadable.
pub(crate) fn baseline(tree: &dyn Tree, path: &RepoPath) -> Result<Option<Baseline>, Error> {
    let file = BaselineFile::at(tree, path);
    file.map(|file| file.read(&mut SourceMap::new()))
        .transpose()
}

/// A baseline file after reading.
struct BaselineFile<'t> {
    tree: &'t dyn Tree,
    path: &'t RepoPath,
    bytes: Result<Vec<u8>, ReadError>,
}

/// Baseline files of the head's side and of the base's; `None` if there is none or the work needs
/// none.
fn baseline_files(plan: &Plan, work: Work) -> [Option<BaselineFile<'_>>; 2] {
    match work {
        Work::Judge | Work::Merge => {}
        Work::Render | Work::Answer | Work::Relate => return [None, None],
    }
    let trees = [Some(&plan.tree), plan.base.as_ref().map(|base| &base.tree)];
    trees.map(|tree| BaselineFile::at(tree?, plan.options.baseline.as_ref()?))
}

/// Reads the baselines, and returns the error in that of the base, if any. The base is then treated
/// as without a baseline; otherwise a change that fixes the file could not be checked.
fn read_baselines(
    [of_head, of_base]: [Option<BaselineFile<'_>>; 2],
    accepted_by: AcceptedBy,
    (head, base): (&mut LoadedSide, &mut Option<LoadedSide>),
    sources: &mut SourceMap,
) -> Result<Option<String>, Error> {
    let own = of_head.map(|file| file.read(sources)).transpose()?;
    let Some(base) = base else {
        head.baseline = own;
        return Ok(None);
    };
    let mut damage = None;
    base.baseline = match of_base.map(|file| file.read(sources)).transpose() {
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
                "fix it or revert its last change; or run `layercake baseline write` to create a \
                 new one that accepts all current findings, or pass `--no-baseline` to ignore it",
            )
        };
        if source.fault().is_some() {
            return Err(unusable(format!("cannot read the baseline `{path}`")));
        }
        let folder = Folder::in_tree(tree, path);
        let is_secret = folder.hides(&SecretKinds::default(), source.text());
        Baseline::read(file, source.text()).map_err(|Damage { line, message }| {
            let why = if is_secret {
                secrecy::NOT_SHOWN
            } else {
                &message
            };
            unusable(format!("invalid baseline: {path}:{line}: {why}"))
        })
    }
}
