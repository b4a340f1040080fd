//! Files of a run, read and parsed once, in parallel. `Keep` extracts what is needed of a file
//! right after parsing, while its text and nodes are still in the processor's cache.

mod parts;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use globset::GlobSet;
use rayon::prelude::*;

pub(super) use self::parts::PartFile;
use super::file::{AsRead, LoadedFile, failure};
use super::{Plan, ProgressUnit, RunControl, Scope, Which, Work};
use crate::error::Error;
use crate::guard::{Place as Guarded, guarded};
use crate::source::{
    ContentId, Entry, EntryKind, FileId, RepoPath, Source, SourceMap, TextFault, Tree,
};
use crate::stopwatch::{Stage, add_count, split_for, time};
use crate::system::cloud_init::declared::{PartGlobs, SecretFiles};
use crate::system::cloud_init::read::{DecodingBudget, UserData};
use crate::system::deckhand::layout::{Layout, LinkedFolders, NotFollowed, Place, Uses};
use crate::system::deckhand::secrecy::Folder;
use crate::yaml::{self, Node, Parsed};

/// All files of a run, read and parsed, and their layout. Nothing is kept of a file that is not
/// YAML for Deckhand.
pub(super) struct Files<'t> {
    pub(super) sources: SourceMap,
    /// Indexed by file id.
    pub(super) kept: Vec<LoadedFile>,
    /// Contents already read. Sides share them, and a later reading reuses them.
    pub(super) known: KnownFiles,
    /// Globs for the files of cloud-init.
    pub(super) part_globs: Arc<PartGlobs>,
    /// Files that are secret as a whole.
    pub(super) secret: SecretFiles,
    /// User-data of files without includes.
    pub(super) user_data: HashMap<FileId, Arc<UserData>>,
    pub(super) decoding: DecodingBudget,
    keep: &'t Keep<'t>,
    work: Work,
    sites: SitesRead<'t>,
    later: ReadLater,
    /// Whether several sides are read, now or later.
    is_compared: bool,
    /// The side that is being read.
    which: Which,
}

/// A side to read.
#[derive(Clone, Copy)]
pub(super) struct SideSource<'s> {
    pub(super) tree: &'s dyn Tree,
    /// Layout of its files; `None` if it is not a site repository.
    pub(super) layout: Option<&'s Layout>,
    /// Further repositories of its sites; `None` without sites.
    pub(super) uses: Option<&'s Uses>,
    pub(super) which: Which,
}

impl<'s> SideSource<'s> {
    /// The head of a plan, and its base if there is one.
    pub(super) fn of_plan(plan: &'s Plan) -> Vec<Self> {
        let head = Self {
            tree: &plan.tree,
            layout: plan.layout(),
            uses: plan.uses(Which::Head),
            which: Which::Head,
        };
        let base = plan.base.as_ref().map(|base| Self {
            tree: &base.tree,
            layout: base.layout.as_deref(),
            uses: plan.uses(Which::Base),
            which: Which::Base,
        });
        std::iter::once(head).chain(base).collect()
    }
}

/// Names of sites.
pub(crate) type SiteNames = BTreeSet<Arc<str>>;

/// Sites whose files a run reads. Of other sites it reads only the definitions, which list all
/// sites and types.
#[derive(Clone, Copy)]
pub(super) enum SitesRead<'p> {
    All,
    /// The sites that the user asks for.
    Requested(&'p GlobSet),
    Named(&'p SiteNames),
}

impl<'p> SitesRead<'p> {
    /// Sites that the work needs. Findings in a site can depend on files of others: a baseline
    /// counts the findings of all sites, a part of a declared set can be anywhere, and folders of
    /// other sites can clash with its own.
    pub(super) fn of(plan: &'p Plan, work: Work, has_baseline: bool) -> Self {
        let is_judged_alone = || {
            plan.base.is_none()
                && plan.is_by_site()
                && !has_baseline
                && !plan.layout().is_some_and(Layout::has_clashing_sites)
        };
        if let Some(reached) = plan.base.as_ref().and_then(|base| base.reached.as_deref()) {
            return Self::Named(reached);
        }
        match &plan.options.sites {
            Some(globs) if work != Work::Judge || is_judged_alone() => Self::Requested(globs),
            Some(_) | None => Self::All,
        }
    }

    fn has(self, site: &str) -> bool {
        match self {
            Self::All => true,
            Self::Requested(globs) => globs.is_match(site),
            Self::Named(names) => names.contains(site),
        }
    }

    pub(super) fn are_all(self) -> bool {
        matches!(self, Self::All)
    }
}

/// Sites that read one of these files on at least one side: for a file in a site's folder the site,
/// in a type's folder the sites of the type. `None` for possibly all sites: if a file is global, in
/// no layer or a definition (which relates its site to others), if no site has its type, if a
/// definition is unusable, or if links may lead to the file.
pub(crate) fn sites_reading<'f>(
    files: impl IntoIterator<Item = &'f RepoPath>,
    sides: &[(&dyn Tree, &Layout)],
) -> Option<SiteNames> {
    let (_, layout) = sides.last()?;
    if sides.iter().any(|(_, layout)| layout.has_links()) {
        return None;
    }
    let (mut sites, mut types) = (SiteNames::new(), BTreeSet::new());
    for file in files {
        match layout.place_of(file)? {
            Place::Global => return None,
            Place::Type(name) => types.insert(name),
            Place::Site(name) if *file == layout.definition_of(&name) => return None,
            Place::Site(name) => sites.insert(name),
        };
    }
    let mut unused = types.clone();
    for (tree, layout) in sides.iter().filter(|_| !types.is_empty()) {
        for (site, path) in layout.definitions() {
            let site_type = type_of(*tree, &path)?;
            if types.contains(&site_type) {
                sites.insert(site.clone());
                unused.remove(&site_type);
            }
        }
    }
    if !unused.is_empty() {
        return None;
    }
    let mut all = sides.iter().flat_map(|(_, layout)| layout.definitions());
    let is_left_out = |(site, _): (&Arc<str>, RepoPath)| !sites.contains(site);
    all.any(is_left_out).then_some(sites)
}

/// Site type in the definition at a path; `None` if it is unusable.
fn type_of(tree: &dyn Tree, definition: &RepoPath) -> Option<Arc<str>> {
    Layout::type_of(&first_document(tree, definition)?).map(Arc::from)
}

/// Files of an earlier reading.
#[derive(Default)]
pub(super) struct FilesSoFar {
    pub(super) sources: SourceMap,
    pub(super) kept: Vec<LoadedFile>,
    pub(super) known: KnownFiles,
    pub(super) later: ReadLater,
}

/// Kind of files that are read next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ReadLater {
    #[default]
    Nothing,
    /// More files of the same side, or changed files.
    Changes,
    /// Other states of the files.
    States,
}

pub(super) type KnownFiles = HashMap<Identity, FileId, foldhash::fast::RandomState>;

/// Files of one side and their layout.
#[derive(Default)]
pub(super) struct SideFiles {
    pub(super) files: Vec<SideFile>,
    pub(super) layout: Option<Layout>,
    /// Files given to cloud-init, by path.
    pub(super) parts: Vec<PartFile>,
}

/// A file of one side.
#[derive(Clone)]
pub(super) struct SideFile {
    pub(super) id: FileId,
    /// Index of its further repository.
    pub(super) repository: Option<usize>,
    /// Sites that it applies to; `None` for a file of a set.
    pub(super) place: Option<Place>,
}

impl SideFile {
    fn of_set(id: FileId) -> Self {
        Self {
            id,
            repository: None,
            place: None,
        }
    }
}

/// Extracts what is kept of a parsed file. The file is in the source map; others may still be
/// missing there.
pub(super) type Keep<'t> = dyn Fn(&SourceMap, AsRead<'_>, Parsed) -> LoadedFile + Sync + 't;

impl<'t> Files<'t> {
    /// Goes on after `so_far`. `is_compared` if several sides are read, now or later.
    pub(super) fn new(
        plan: &Plan,
        (work, sites): (Work, SitesRead<'t>),
        so_far: FilesSoFar,
        is_compared: bool,
        keep: &'t Keep<'t>,
    ) -> Self {
        let mut files = Self {
            sources: so_far.sources,
            kept: so_far.kept,
            known: so_far.known,
            part_globs: Arc::new(PartGlobs::of(&plan.options.configuration.sets)),
            secret: SecretFiles::of(&plan.options.configuration.sets, RepoPath::new(""))
                .and(&plan.options.configuration.secret_files),
            user_data: HashMap::new(),
            decoding: DecodingBudget::default(),
            keep,
            work,
            sites,
            later: so_far.later,
            is_compared,
            which: Which::Head,
        };
        files.fill();
        files
    }

    /// The contents read so far.
    pub(super) fn so_far(mut self) -> FilesSoFar {
        self.fill();
        FilesSoFar {
            sources: self.sources,
            kept: self.kept,
            known: self.known,
            later: self.later,
        }
    }

    /// Reads these sides.
    pub(super) fn sides(
        &mut self,
        plan: &Plan,
        sources: &[SideSource<'_>],
    ) -> Result<Vec<SideFiles>, Error> {
        let sides = sources.iter().map(|source| {
            self.which = source.which;
            self.side(plan, source)
        });
        sides.collect()
    }

    /// Reads these files of the head again, and returns their new contents.
    pub(super) fn again(
        &mut self,
        plan: &Plan,
        files: &[(RepoPath, Place)],
    ) -> Result<Vec<FileId>, Error> {
        let files: Vec<ToRead<'_>> = files
            .iter()
            .map(|(path, place)| ToRead {
                unchanging: true,
                may_be_link: false,
                place: Some(place),
                ..ToRead::of(path, &plan.tree)
            })
            .collect();
        self.read(plan, &files)
    }

    fn may_change(&self) -> bool {
        self.later == ReadLater::Changes
    }

    fn side(&mut self, plan: &Plan, source: &SideSource<'_>) -> Result<SideFiles, Error> {
        let SideSource {
            tree, layout, uses, ..
        } = *source;
        let side = match &plan.scope {
            Scope::Repository { .. } => match layout {
                Some(layout) => self.repository(plan, (tree, layout), uses)?,
                None => return Ok(SideFiles::default()),
            },
            Scope::Set(paths) => self.set(plan, tree, paths)?,
        };
        if self.part_globs.is_empty() {
            return Ok(side);
        }
        let globs = self.part_globs.clone();
        let is_followed = |entry: &Entry| entry.is_link && globs.follow(&entry.path);
        let entries = tree.entries(&RepoPath::new(""))?;
        let nested = entries
            .iter()
            .filter(|entry| may_have_parts(tree, entry, &globs));
        let mut unread: Vec<(Entry, NotFollowed)> = nested
            .map(|entry| (entry.clone(), NotFollowed::Nested))
            .collect();
        let (links, mut entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_followed);
        let linked = LinkedFolders::of(tree, links, &is_followed, &mut 0)?;
        entries.extend(linked.entries.into_iter().chain(linked.files));
        unread.extend(linked.unread);
        let unread = self.unread_folders(plan, tree, &unread, side.layout.as_ref())?;
        let mut side = SideFiles {
            parts: self.parts(plan, tree, entries)?,
            ..side
        };
        side.files.extend(unread);
        Ok(side)
    }

    /// Folders that contain, or may contain, parts of declared sets, and are not read.
    fn unread_folders(
        &mut self,
        plan: &Plan,
        tree: &dyn Tree,
        unread: &[(Entry, NotFollowed)],
        layout: Option<&Layout>,
    ) -> Result<Vec<SideFile>, Error> {
        let is_known = |path: &RepoPath| {
            layout.is_some_and(|it| it.unread.iter().any(|unread| unread.folder.path == *path))
        };
        let unread: Vec<ToRead<'_>> = unread
            .iter()
            .filter(|(entry, _)| !is_known(&entry.path))
            .map(|(entry, why)| {
                let (content, unread) = (entry.content, Some(why));
                ToRead {
                    content,
                    unread,
                    ..ToRead::of(&entry.path, tree)
                }
            })
            .collect();
        Ok(self
            .read(plan, &unread)?
            .into_iter()
            .map(SideFile::of_set)
            .collect())
    }

    fn repository(
        &mut self,
        plan: &Plan,
        (tree, layout): (&dyn Tree, &Layout),
        uses: Option<&Uses>,
    ) -> Result<SideFiles, Error> {
        let mut layout = layout.clone();
        layout.keep_sites(&|site| plan.options.configuration.has_site(site));
        let is_read = |site: &str| self.sites.has(site);
        let is_asked = matches!(self.sites, SitesRead::Requested(_)) && self.work != Work::Judge;
        // If no requested site exists, the error lists the existing ones.
        if is_asked && layout.definitions().any(|(site, _)| is_read(site)) {
            layout.keep_sites(&is_read);
        }
        if !self.sites.are_all() {
            layout.keep_files_of(&is_read);
            let read = layout.definitions().filter(|(site, _)| is_read(site));
            let types: Option<BTreeSet<Arc<str>>> = read
                .map(|(_, definition)| type_of(tree, &definition))
                .collect();
            // A definition of unknown type may use any type.
            if let Some(types) = types {
                layout.keep_types(&|name| types.contains(name));
            }
        }
        layout.files.retain(|file| !self.part_globs.has(&file.path));
        let further = plan.further();
        for index in self.used_by(uses, &layout) {
            layout.add_repository(index, &further[index].tree, &further[index].tree.root())?;
        }
        add_count(Stage::List, || layout.files.len());
        layout.ensure_present(tree)?;
        let unread = layout.unread.iter().map(|it| (&it.folder, Some(&it.why)));
        let all = || {
            layout
                .files
                .iter()
                .map(|file| (file, None))
                .chain(unread.clone())
        };
        let files: Vec<ToRead<'_>> = all()
            .map(|(file, unread)| {
                let tree = file.repository.map_or(tree, |index| &further[index].tree);
                // A file that may change is read again only after a change, and both sides read the same files of a further
                // repository that is read from disk.
                let unchanging =
                    self.may_change() || (file.repository.is_some() && file.content.is_none());
                let commit = file
                    .repository
                    .and_then(|index| further[index].commit.as_ref());
                let (content, place, may_be_link) = (file.content, Some(&file.place), file.is_link);
                let to_read = ToRead {
                    commit,
                    ..ToRead::of(&file.path, tree)
                };
                ToRead {
                    content,
                    unchanging,
                    may_be_link,
                    place,
                    unread,
                    ..to_read
                }
            })
            .collect();
        let ids = self.read(plan, &files)?;
        let files = all().zip(ids).map(|((file, _), id)| SideFile {
            id,
            repository: file.repository,
            place: Some(file.place.clone()),
        });
        Ok(SideFiles {
            files: files.collect(),
            layout: Some(layout),
            parts: Vec::new(),
        })
    }

    fn set(
        &mut self,
        plan: &Plan,
        tree: &dyn Tree,
        paths: &[RepoPath],
    ) -> Result<SideFiles, Error> {
        let mut files = files_of_set(plan, tree, paths)?;
        files.retain(|path| !self.part_globs.has(path) && !plan.options.configuration.is_at(path));
        add_count(Stage::List, || files.len());
        tree.ensure_present(&files)?;
        let files: Vec<ToRead<'_>> = files.iter().map(|path| ToRead::of(path, tree)).collect();
        let files = self
            .read(plan, &files)?
            .into_iter()
            .map(SideFile::of_set)
            .collect();
        Ok(SideFiles {
            files,
            ..SideFiles::default()
        })
    }

    /// Further repositories of the sites that are read.
    fn used_by(&self, uses: Option<&Uses>, layout: &Layout) -> BTreeSet<usize> {
        let read = layout
            .definitions()
            .filter(|(site, _)| self.sites.has(site));
        let of_sites = read.filter_map(|(site, _)| uses?.get(site)).flatten();
        of_sites.filter_map(|it| it.found.clone().ok()).collect()
    }

    /// Reads and parses those of `files` that are not known yet.
    pub(super) fn read(&mut self, plan: &Plan, files: &[ToRead<'_>]) -> Result<Vec<FileId>, Error> {
        let mut unknown: Vec<(&ToRead<'_>, Identity)> = Vec::new();
        // Two revisions of a further repository have most of their files in common.
        let shares = plan.further().len() > 1;
        let mut slots: HashMap<Identity, usize, foldhash::fast::RandomState> = HashMap::default();
        let found = files.iter().map(|file| {
            let identity = file.identity(&self.secret);
            if let Some(id) = self.known.get(&identity) {
                return Ok(*id);
            }
            let slot = unknown.len();
            if shares && identity.content.is_some() {
                if let Some(slot) = slots.get(&identity) {
                    return Err(*slot);
                }
                slots.insert(identity.clone(), slot);
            }
            unknown.push((file, identity));
            Err(slot)
        });
        let found: Vec<Result<FileId, usize>> = found.collect();
        let read = self.read_all(&unknown, &plan.control)?;
        let may_share = self.is_compared || self.may_change();
        self.known
            .reserve(if may_share { unknown.len() } else { 0 });
        let ids = read
            .into_iter()
            .zip(unknown)
            .map(|(read, (file, identity))| {
                if !may_share {
                    return read.id;
                }
                // The content id may be known only after reading.
                let by_content = |identity: Identity| Identity {
                    content: read.content,
                    ..identity
                };
                match (read.content.is_some(), file.unchanging) {
                    (false, false) => read.id,
                    (true, false) => *self.known.entry(by_content(identity)).or_insert(read.id),
                    (false, true) => *self.known.entry(identity).or_insert(read.id),
                    (true, true) => {
                        let same = self.known.entry(by_content(identity.clone()));
                        let id = *same.or_insert(read.id);
                        *self.known.entry(identity).or_insert(id)
                    }
                }
            });
        let ids: Vec<FileId> = ids.collect();
        Ok(found
            .into_iter()
            .map(|found| found.unwrap_or_else(|slot| ids[slot]))
            .collect())
    }

    /// Reads and parses files in parallel; ids are in the order of `files`.
    ///
    /// # Errors
    /// If a file cannot be read for a reason that may affect others too. Returns the first such
    /// error. Also if the run is cancelled.
    fn read_all(
        &mut self,
        files: &[(&ToRead<'_>, Identity)],
        control: &RunControl,
    ) -> Result<Vec<ReadFile>, Error> {
        // By its content, a file is known on the other side.
        let is_compared = self.is_compared;
        let may_change = self.may_change();
        let has_content = |file: &ToRead<'_>| is_compared && (may_change || !file.unchanging);
        control
            .progress
            .begin(ProgressUnit::Files, Some(files.len()));
        let ids = self.sources.make_room(files.len());
        // Reserved at once, to avoid moving the kept files.
        let first = self.kept.len();
        self.kept.reserve_exact(files.len());
        self.kept
            .resize_with(first + files.len(), LoadedFile::default);
        let is_of_base = self.which == Which::Base;
        let (sources, keep) = (&self.sources, self.keep);
        let split = split_for(Stage::Read);
        let read: Vec<Result<ReadFile, Error>> = files
            .par_iter()
            .zip(ids)
            .zip(&mut self.kept[first..])
            .map(|(((file, identity), id), kept)| {
                let _part = split.part();
                control.cancel.check()?;
                let (path, tree) = (file.path, file.tree);
                let bytes = match file.unread {
                    None => Some(tree.read(path)),
                    Some(NotFollowed::Link(why)) => Some(Err(why.clone())),
                    Some(NotFollowed::Nested) => None,
                };
                let failure = bytes.as_ref().and_then(|bytes| bytes.as_ref().err());
                if let Some(error) = failure.and_then(|error| error.fatal(path)) {
                    return Err(error);
                }
                let content = match (&bytes, file.content) {
                    (Some(Ok(bytes)), None) if has_content(file) => tree.content_of(bytes),
                    (Some(Err(_)) | None, None) if has_content(file) => {
                        tree.content_of_unread(path)
                    }
                    (_, content) => content,
                };
                let source = match bytes {
                    Some(bytes) => Source::new(path.clone(), bytes),
                    None => Source::nested(path.clone(), tree.nested(path)),
                };
                let source = match file.commit {
                    Some(commit) => source.at_commit(commit.clone()),
                    None => source,
                };
                let source = sources.put(id, source);
                if file.text == FileFormat::Documents {
                    let parsed = time(Stage::Parse, || parse_guarded(id, source));
                    let Identity {
                        is_secret, folder, ..
                    } = *identity;
                    let place = file.place;
                    *kept = keep(
                        sources,
                        AsRead {
                            id,
                            place,
                            is_secret,
                            folder,
                            is_of_base,
                        },
                        parsed,
                    );
                }
                control.progress.add(ProgressUnit::Files, 1);
                Ok(ReadFile { id, content })
            })
            .collect();
        drop(split);
        add_count(Stage::Read, || files.len());
        add_count(Stage::Parse, || {
            files
                .iter()
                .filter(|(it, _)| it.text == FileFormat::Documents)
                .count()
        });
        read.into_iter().collect()
    }

    /// Adds empty entries for decoded texts, which contain no documents.
    pub(super) fn fill(&mut self) {
        self.kept
            .resize_with(self.sources.upcoming().index(), LoadedFile::default);
    }
}

/// First document of a file, such as a site definition; `None` if it is unreadable.
pub(crate) fn first_document(tree: &dyn Tree, path: &RepoPath) -> Option<Node> {
    let source = Source::new(path.clone(), Ok(tree.read(path).ok()?));
    let mut parsed = parse_guarded(FileId::default(), &source);
    (!parsed.documents.is_empty()).then(|| parsed.documents.swap_remove(0).root)
}

/// YAML files of a set.
fn files_of_set(plan: &Plan, tree: &dyn Tree, paths: &[RepoPath]) -> Result<Vec<RepoPath>, Error> {
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
            // A file given by name, not a folder.
            files.insert(path.clone());
        }
    }
    if plan.base.is_some() {
        // A file given by name may exist on one side only.
        let there: BTreeSet<RepoPath> = tree
            .entries(&RepoPath::new(""))?
            .into_iter()
            .map(|entry| entry.path)
            .collect();
        files.retain(|path| there.contains(path));
    }
    Ok(files.into_iter().collect())
}

/// A file to read.
pub(super) struct ToRead<'t> {
    path: &'t RepoPath,
    tree: &'t dyn Tree,
    content: Option<ContentId>,
    /// Commit of the further repository that it is read from.
    commit: Option<&'t Arc<str>>,
    /// Whether it is equal on both sides regardless of its content id.
    unchanging: bool,
    text: FileFormat,
    /// Whether it may be a symbolic link.
    may_be_link: bool,
    /// Sites that it applies to.
    place: Option<&'t Place>,
    /// Reason why it is a folder that is not read; `None` for a file.
    unread: Option<&'t NotFollowed>,
}

/// Whether an entry is a nested repository that contains, or may contain, parts of declared sets.
fn may_have_parts(tree: &dyn Tree, entry: &Entry, globs: &PartGlobs) -> bool {
    entry.kind == EntryKind::Submodule
        && match tree.files_of_nested(&entry.path) {
            Some(files) => files
                .iter()
                .any(|file| globs.has(&entry.path.join(file.as_str()))),
            None => globs.can_be_in(&entry.path),
        }
}

/// Properties that identify equal files.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    path: RepoPath,
    content: Option<ContentId>,
    /// Whether it is secret as a whole.
    is_secret: bool,
    folder: Folder,
}

impl Identity {
    /// Whether it is one of these files and has no content id.
    pub(super) fn is_of(&self, files: &BTreeSet<RepoPath>) -> bool {
        self.content.is_none() && files.contains(&self.path)
    }
}

/// Format of a file's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    /// YAML documents.
    Documents,
    /// Read by others.
    Other,
}

impl<'t> ToRead<'t> {
    fn of(path: &'t RepoPath, tree: &'t dyn Tree) -> Self {
        let (content, unchanging, text, place) = (None, false, FileFormat::Documents, None);
        let (may_be_link, unread, commit) = (true, None, None);
        Self {
            path,
            tree,
            content,
            commit,
            unchanging,
            text,
            may_be_link,
            place,
            unread,
        }
    }

    /// A file whose text is not YAML for Deckhand.
    pub(super) fn text(path: &'t RepoPath, tree: &'t dyn Tree, content: Option<ContentId>) -> Self {
        Self {
            content,
            text: FileFormat::Other,
            ..Self::of(path, tree)
        }
    }

    fn identity(&self, secret: &SecretFiles) -> Identity {
        let is_secret = secret.have_in(self.tree, self.path);
        let folder = if self.may_be_link {
            Folder::in_tree(self.tree, self.path)
        } else {
            Folder::of(self.path)
        };
        Identity {
            path: self.path.clone(),
            content: self.content,
            is_secret,
            folder,
        }
    }
}

/// A file that has been read.
struct ReadFile {
    id: FileId,
    content: Option<ContentId>,
}

/// Parses one file. After an internal failure, reports it for this file and discards partial
/// results; other files are not affected.
fn parse_guarded(file: FileId, source: &Source) -> Parsed {
    let parse = || yaml::parse(file, whole_documents(source));
    guarded(Guarded::File(source.path().as_str()), parse).unwrap_or_else(|| Parsed {
        problems: vec![failure(file)],
        ..Parsed::default()
    })
}

/// The text of a file up to a fault, without the incomplete document.
fn whole_documents(source: &Source) -> &str {
    let text = &**source.text();
    match source.fault() {
        None => return text,
        Some(TextFault::LargeFilePointer | TextFault::Nested(_)) => return "",
        Some(TextFault::Unreadable(_) | TextFault::BadEncoding(..) | TextFault::TooLarge(_)) => {}
    }
    let is_marker = |at: &usize| text[at + "\n---".len()..].starts_with(char::is_whitespace);
    let last = text
        .match_indices("\n---")
        .map(|(at, _)| at)
        .filter(is_marker)
        .last();
    &text[..last.map_or(0, |at| at + 1)]
}
