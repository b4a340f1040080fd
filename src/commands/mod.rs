//! The verbs, one file each: each defines its request to [`check`] and its input for the report.
//! [`sides`] determines the two states that a verb compares. Nothing here prints or reads the
//! environment; writers, folders and variables are parameters.

pub mod baseline;
pub mod blame;
pub mod cloud_config;
pub mod compare;
pub mod config;
pub mod configuration;
pub mod demo;
pub mod documents;
pub mod explain;
pub mod explain_since;
pub mod explain_value;
pub mod fix;
pub mod graph;
pub mod history;
pub mod impact;
pub mod init;
pub mod lint;
pub mod listing;
pub mod log;
pub mod names;
pub mod parse;
pub mod places;
pub mod policy;
pub mod query;
pub mod render;
pub mod reports;
pub mod repositories;
pub mod rules;
pub mod sides;
pub mod sites;
pub mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use self::compare::SitesToRead;
use self::configuration::{ConfigurationTrees, FoundConfiguration, SemanticsFlags};
use self::policy::Selectors;
use self::repositories::{Clones, OpenedRepositories};
use self::sides::{ChosenSide, ChosenSides, ReachedByEdits, listed};
use crate::certificate::CheckTime;
use crate::check::{
    self, AcceptedBy, Base, NameAndType, Options, Plan, RunControl, Scope, SiteNames,
};
use crate::error::{Error, shell_word};
use crate::rules::RuleOptions;
use crate::source::{
    ContentId, Excluding, OverlaidTexts, Overlay, RepoPath, Repository, SharedTree, Tree, WorkTree,
};
use crate::stopwatch::{Stage, time};
use crate::system::deckhand::layout::Layout;

/// Input of every verb that reads documents.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Folder to run in; paths are relative to it.
    pub directory: PathBuf,
    /// Root of the site repository to read, if it is not the one around `directory`.
    pub within: Option<PathBuf>,
    /// Revision to read instead of the working tree.
    pub revision: Option<String>,
    /// Globs of the requested sites; all if empty.
    pub sites: Vec<String>,
    /// Files or folders; see [`Selection::set`].
    pub files: Vec<PathBuf>,
    /// Whether the files form one set without layout, even inside a site repository.
    pub set: bool,
    /// Clones of further repositories: `NAME=PATH`, `NAME=PATH@REV` or `NAME=PATH@worktree`.
    pub repositories: Vec<String>,
    /// Clones of lower precedence, for names that are not among these.
    pub more_repositories: Vec<String>,
    /// Deckhand semantics given by flags.
    pub meaning: SemanticsFlags,
    /// Source of the configuration.
    pub configuration: configuration::ConfigurationSource,
    /// Rule selection given by flags.
    pub selectors: Selectors,
    /// Baseline of accepted findings.
    pub baseline: BaselineChoice,
    /// Unsaved texts of files.
    pub texts: OverlaidTexts,
    /// Clock for the dates of certificates.
    pub clock: CheckClock,
}

impl Selection {
    /// Selection of everything around `directory`, with default options.
    pub fn of(directory: PathBuf) -> Self {
        Self {
            directory,
            ..Self::default()
        }
    }

    /// Folder from which the repository is found.
    fn start(&self) -> &Path {
        self.within.as_deref().unwrap_or(&self.directory)
    }
}

/// Clock for the dates of certificates. Only the command line reads the real one.
#[derive(Clone, Copy, Debug, Default)]
pub enum CheckClock {
    /// Dates are not judged.
    #[default]
    Absent,
    /// Always this time.
    At(CheckTime),
    /// The time that a function reads.
    Reading(fn() -> CheckTime),
}

impl CheckClock {
    fn time(self) -> Option<CheckTime> {
        match self {
            Self::Absent => None,
            Self::At(time) => Some(time),
            Self::Reading(read) => Some(read()),
        }
    }
}

/// Location of the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BaselineChoice {
    /// In [`FILE`](crate::triage::baseline::FILE) at the root, if it exists.
    #[default]
    Usual,
    /// In this file.
    Named(PathBuf),
    /// No baseline: all findings are reported.
    Nothing,
}

/// A selection with its trees opened.
pub struct Project {
    tree: SharedTree,
    /// The tree without unsaved texts and exclusions.
    saved: SharedTree,
    /// Base side: its files, and their layout if it is a site repository.
    base: Option<(SharedTree, Option<Arc<Layout>>)>,
    repositories: OpenedRepositories,
    scope: ProjectScope,
    /// Compared sites; all if `None`.
    reached: Option<Arc<SiteNames>>,
    options: Arc<Options>,
    clock: CheckClock,
    /// Configuration in effect.
    pub(crate) configured: FoundConfiguration,
}

enum ProjectScope {
    Repository(Arc<Layout>),
    Set(Vec<RepoPath>),
}

impl Project {
    /// Opens what the selection names.
    ///
    /// # Errors
    /// Without a site repository, or if a path, glob or revision is invalid.
    pub fn open(selection: &Selection) -> Result<Self, Error> {
        time(Stage::Start, || {
            // Files may be read depending on all sites.
            let is_by_site =
                selection.revision.is_none() && !selection.set && selection.files.is_empty();
            let requested = globs(&selection.sites)?.filter(|_| is_by_site);
            let is_limited = requested.is_some();
            let project = Self::from(Start::limited(selection, requested)?, selection, &[])?;
            let project = if is_limited && !project.is_judged_by_site() {
                Self::from(Start::find(selection)?, selection, &[])?
            } else {
                project
            };
            project.with_sites_of(selection)
        })
    }

    /// Whether findings in a site follow from its layers: from no other site, and from no file that is
    /// linked to.
    fn is_judged_by_site(&self) -> bool {
        match &self.scope {
            ProjectScope::Repository(layout) => {
                self.reads_by_site(&layout.root)
                    && !layout.has_clashing_sites()
                    && !layout.has_links()
            }
            ProjectScope::Set(_) => false,
        }
    }

    /// As [`Project::open`], for a verb that reports only on the requested sites.
    ///
    /// # Errors
    /// As [`Project::open`].
    pub(crate) fn open_asked(selection: &Selection) -> Result<Self, Error> {
        let is_name = |glob: &String| {
            !glob.is_empty() && !glob.contains(['*', '?', '[', ']', '{', '}', '\\', '/'])
        };
        // Files may be read depending on all sites.
        let is_named = selection.files.is_empty() && selection.sites.iter().all(is_name);
        let names = if is_named { &selection.sites[..] } else { &[] };
        let open =
            || Self::from(Start::find(selection)?, selection, names)?.with_sites_of(selection);
        time(Stage::Start, open)
    }

    /// Opens both sides of a comparison of what the selection names.
    ///
    /// # Errors
    /// As [`Project::open`]; also if a side cannot be read completely.
    pub fn open_sides(
        selection: &Selection,
        repository: &Repository,
        sides: &ChosenSides,
        reading: SitesToRead,
    ) -> Result<Self, Error> {
        time(Stage::Start, || {
            let reached = match reading {
                SitesToRead::All => None,
                SitesToRead::Reached => Self::open_reached(selection, repository, sides)?,
            };
            if let Some(project) = reached {
                return project.with_sites_of(selection);
            }
            let base = sides::open(repository, &sides.from)?;
            let head = sides::open(repository, &sides.to)?;
            let start = Start::on_sides(repository, sides, selection, [base, head])?;
            let project = Self::from(start, selection, &[])?;
            project.repositories.ensure_read(&sides.bumps)?;
            project.with_sites_of(selection)
        })
    }

    /// Both sides, limited to the sites that the edits can reach. `None` if all sites have to be read.
    fn open_reached(
        selection: &Selection,
        repository: &Repository,
        sides: &ChosenSides,
    ) -> Result<Option<Self>, Error> {
        let from = repository.prefix_or_root(selection.start());
        let requested = globs(&selection.sites)?;
        let unsaved = selection.texts.keys().cloned();
        let reached = ReachedByEdits::find(repository, sides, &from, requested.as_ref(), unsaved);
        let Some(ReachedByEdits { root, sites, trees }) = reached else {
            return Ok(None);
        };
        let start = Start::on_sides(repository, sides, selection, trees)?;
        let project = Self::from(start, selection, &[])?;
        let is_whole = project.reads_by_site(&root);
        Ok(is_whole.then_some(Self {
            reached: Some(Arc::new(sites)),
            ..project
        }))
    }

    /// Whether the tree without its sites contains everything read besides the layers of the site
    /// repository at `root`. A part of a set can be anywhere, and a baseline counts the findings of
    /// all sites.
    fn reads_by_site(&self, root: &RepoPath) -> bool {
        let is_there =
            matches!(&self.scope, ProjectScope::Repository(layout) if layout.root == *root);
        let has_baseline = |tree: &SharedTree| {
            let read = self.options.baseline.as_ref().map(|path| tree.read(path));
            read.is_some_and(|read| !read.is_err_and(|error| error.is_missing()))
        };
        let mut trees = std::iter::once(&self.tree).chain(self.base.iter().map(|(tree, _)| tree));
        let is_in_sites = |path: &RepoPath| path.below(&root.join("site")).is_some();
        is_there
            && self.options.configuration.sets.is_empty()
            && !self.options.baseline.as_ref().is_some_and(is_in_sites)
            && !trees.any(has_baseline)
    }

    /// Opens what the selection names, with the sites of these names, or all if there are none.
    fn from(start: Start, selection: &Selection, sites: &[String]) -> Result<Self, Error> {
        let saved = start.tree.clone();
        let start = start.with_texts(&selection.texts);
        let configured = start.configured(selection)?;
        let options = configuration::settle(&configured, selection.meaning, &selection.selectors)?;
        let start = start.without(&configured)?;
        let mut given = Vec::new();
        let clones = Clones::named(selection, &configured)?;
        for file in &selection.files {
            given.push(match clones.path_of(file) {
                Some(path) => path,
                None => start.path_of(selection, file)?,
            });
        }
        let there_are = |site: &str| options.configuration.has_site(site);
        let sites = if sites.iter().all(|site| there_are(site)) {
            sites
        } else {
            &[]
        };
        let (layout, base_layout) = if selection.set {
            (None, None)
        } else {
            time(Stage::List, || start.layouts(sites))?
        };
        let (scope, only) = match layout {
            Some(layout) => (ProjectScope::Repository(Arc::new(layout)), given),
            None if !selection.set => return Err(no_repository(&start)),
            None if given.is_empty() => (ProjectScope::Set(vec![start.from.clone()]), given),
            None => (ProjectScope::Set(given), Vec::new()),
        };
        let repositories = match &scope {
            ProjectScope::Repository(layout) => {
                if start.finds_configuration(selection) {
                    crate::config::refuse_in_layers(layout.files.iter().map(|file| &file.path))?;
                }
                let base = start.base.as_ref().zip(base_layout.as_ref());
                let base = base.map(|(tree, layout)| (tree as &dyn Tree, layout));
                time(Stage::List, || clones.open((&start.tree, layout), base))
            }
            ProjectScope::Set(_) => clones.unopened(),
        };
        repositories.ensure_there(&only)?;
        let baseline = match &selection.baseline {
            BaselineChoice::Usual => Some(configured.baseline(start.root.as_deref())),
            BaselineChoice::Named(file) => Some(start.path_of(selection, file)?),
            BaselineChoice::Nothing => None,
        };
        let accepted_by = match &selection.configuration {
            configuration::ConfigurationSource::Base => AcceptedBy::Base,
            configuration::ConfigurationSource::Root
            | configuration::ConfigurationSource::File(_)
            | configuration::ConfigurationSource::Nowhere => AcceptedBy::Itself,
        };
        let rules = RuleOptions {
            time: selection.clock.time(),
            ..options.rules
        };
        let options = Options {
            rules,
            sites: globs(&selection.sites)?,
            only,
            baseline,
            accepted_by,
            ..options
        };
        Ok(Self {
            repositories,
            tree: start.tree,
            saved,
            base: start.base.map(|tree| (tree, base_layout.map(Arc::new))),
            scope,
            reached: None,
            options: Arc::new(options),
            clock: selection.clock,
            configured,
        })
    }

    /// Root of the tree on disk that a selection is about: paths are relative to it. If the folder of the
    /// selection is an absolute path over symbolic links, so is the root.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn root_around(selection: &Selection) -> Result<PathBuf, Error> {
        let tree = work_tree(selection)?;
        let folder = canonical(&selection.directory)?;
        let below = folder.strip_prefix(tree.root()).unwrap_or(Path::new(""));
        let above = selection
            .directory
            .ancestors()
            .nth(below.components().count());
        let is_named = selection.directory.is_absolute() && selection.directory.ends_with(below);
        let root = above.filter(|_| is_named);
        Ok(root.unwrap_or(tree.root()).to_owned())
    }

    /// Contents of the files below the site repository: the id of each, or of its bytes.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(crate) fn contents(&self) -> Result<BTreeMap<RepoPath, Option<ContentId>>, Error> {
        let root = match &self.scope {
            ProjectScope::Repository(layout) => layout.root.clone(),
            ProjectScope::Set(_) => RepoPath::new(""),
        };
        let entries = self.tree.entries(&root)?.into_iter();
        let of_bytes = |path: &RepoPath| {
            let bytes = self.tree.read(path).ok()?;
            self.tree.content_of(&bytes)
        };
        let contents = entries.map(|entry| {
            let content = entry.content.or_else(|| of_bytes(&entry.path));
            (entry.path, content)
        });
        Ok(contents.collect())
    }

    /// The project with the options of an earlier state of it, if its configuration and the day are the same: files that
    /// were read with these options need not be read again.
    pub(crate) fn with_options_of(self, before: &Self) -> Self {
        let is_same_time = self.options.rules.time == before.options.rules.time;
        if is_same_time && self.configured.is_same(&before.configured) {
            Self {
                options: before.options.clone(),
                ..self
            }
        } else {
            self
        }
    }

    /// Replaces the unsaved texts. The files are not listed again: returns false, and changes nothing, if
    /// more than the text of these files can be another.
    ///
    /// # Errors
    /// If a glob of the configuration is invalid.
    pub(crate) fn set_texts(
        &mut self,
        texts: &OverlaidTexts,
        changed: &BTreeSet<RepoPath>,
    ) -> Result<bool, Error> {
        let ProjectScope::Repository(layout) = &self.scope else {
            return Ok(false);
        };
        let has_sets = !self.options.configuration.sets.is_empty();
        let is_same_time = self.clock.time() == self.options.rules.time;
        if has_sets || !is_same_time || self.base.is_some() || !layout.has_documents_in(changed) {
            return Ok(false);
        }
        self.tree = without_excluded(overlaid(self.saved.clone(), texts), &self.configured)?;
        Ok(true)
    }

    /// Removes the limit to files and folders, and returns these.
    fn take_only(&mut self) -> Vec<RepoPath> {
        std::mem::take(&mut Arc::make_mut(&mut self.options).only)
    }

    /// Checks that each requested site exists.
    fn with_sites_of(self, selection: &Selection) -> Result<Self, Error> {
        let ProjectScope::Repository(layout) = &self.scope else {
            return Ok(self);
        };
        let base = self.base.iter().filter_map(|(_, layout)| layout.as_ref());
        let names: Vec<&str> = std::iter::once(layout)
            .chain(base)
            .flat_map(|layout| layout.definitions())
            .map(|(site, _)| &**site)
            .filter(|site| self.options.configuration.has_site(site))
            .collect();
        for glob in &selection.sites {
            let matcher = globs(std::slice::from_ref(glob))?;
            if !names
                .iter()
                .any(|site| matcher.iter().any(|it| it.is_match(site)))
            {
                return Err(names::no_site(glob, names));
            }
        }
        Ok(self)
    }

    /// Sites that read one of these files; `None` for possibly all, for example if a file may be
    /// part of a declared set.
    pub(crate) fn sites_reading<'f>(
        &self,
        files: impl IntoIterator<Item = &'f RepoPath>,
    ) -> Option<SiteNames> {
        let ProjectScope::Repository(layout) = &self.scope else {
            return None;
        };
        if !self.options.configuration.sets.is_empty() {
            return None;
        }
        check::sites_reading(files, &[(&self.tree, layout)])
    }

    /// All sites, with or without a usable definition.
    fn sites(&self) -> Vec<NameAndType> {
        match &self.scope {
            ProjectScope::Repository(layout) => layout
                .definitions()
                .map(|(site, _)| (Some(site.clone()), None))
                .collect(),
            ProjectScope::Set(_) => vec![(None, None)],
        }
    }

    /// Whether a site consists only of its layers.
    fn is_by_site(&self) -> bool {
        let is_repository = matches!(self.scope, ProjectScope::Repository(_));
        is_repository && self.options.configuration.sets.is_empty()
    }

    /// Whether only some sites or files are requested.
    fn is_limited(&self) -> bool {
        self.options.sites.is_some() || !self.options.only.is_empty()
    }

    /// Plan of a run over the opened trees.
    pub fn plan(&self, control: &RunControl) -> Plan {
        let scope = match &self.scope {
            ProjectScope::Set(paths) => Scope::Set(paths.clone()),
            ProjectScope::Repository(layout) => Scope::Repository {
                layout: layout.clone(),
                further: self.repositories.further.clone(),
                uses: self.repositories.head.clone(),
            },
        };
        Plan {
            tree: self.tree.clone(),
            scope,
            base: self.base.as_ref().map(|(tree, layout)| Base {
                tree: tree.clone(),
                layout: layout.clone(),
                uses: self.repositories.base.clone(),
                reached: self.reached.clone(),
            }),
            options: self.options.clone(),
            control: control.clone(),
        }
    }
}

/// Files on disk that a selection is about.
///
/// # Errors
/// If it is about a revision, or there are none.
fn work_tree(selection: &Selection) -> Result<WorkTree, Error> {
    if selection.revision.is_some() {
        let message = "only the files of the working tree can be changed";
        return Err(Error::usage(message).with_help("remove `--rev`"));
    }
    let root = Start::find(selection)?.root;
    WorkTree::in_folder(root.expect("a start without a revision is on disk"))
}

fn overlaid(tree: SharedTree, texts: &OverlaidTexts) -> SharedTree {
    if texts.is_empty() {
        return tree;
    }
    Arc::new(Overlay::new(tree, texts.clone()))
}

/// A tree without the files that the configuration excludes.
fn without_excluded(
    tree: SharedTree,
    configured: &FoundConfiguration,
) -> Result<SharedTree, Error> {
    let excluded = configuration::glob_set(&configured.config.discover.exclude)?;
    Ok(match excluded {
        Some(excluded) => Arc::new(Excluding::new(tree, excluded)),
        None => tree,
    })
}

/// Path in the tree of a file given by the user, which need not exist yet.
fn path_in_tree(tree: &WorkTree, directory: &Path, file: &Path) -> Result<RepoPath, Error> {
    RepoPath::of_place(tree.root(), &canonical_or_deleted(directory.join(file))?).ok_or_else(|| {
        let message = format!("`{}` is not part of this repository", file.display());
        Error::usage(message)
    })
}

/// Starting point for finding files.
struct Start {
    tree: SharedTree,
    base: Option<SharedTree>,
    /// Root of the tree on disk; `None` for a bare repository.
    root: Option<PathBuf>,
    /// Whether the root is that of a repository, instead of that of the given files.
    is_repository: bool,
    /// Folder of the selection, in the tree.
    from: RepoPath,
    commit: Option<String>,
}

impl Start {
    fn find(selection: &Selection) -> Result<Self, Error> {
        Self::limited(selection, None)
    }

    /// As [`Start::find`]; the working tree of a git repository without the folders of other sites than
    /// those requested.
    fn limited(selection: &Selection, requested: Option<GlobSet>) -> Result<Self, Error> {
        let directory = selection.start();
        if !directory.is_dir() {
            return Err(not_a_folder(directory));
        }
        match (Repository::discover(directory)?, &selection.revision) {
            (Some(repository), Some(revision)) => {
                Self::at_revision(&repository, revision, directory)
            }
            (Some(repository), None) if repository.work_tree_root().is_none() => {
                let message = "this is a bare repository without a working tree";
                let help = "pass a revision, e.g. `--rev HEAD`";
                Err(Error::git(message).with_help(help))
            }
            (Some(repository), None) => Self::in_work_tree(&repository, directory, requested),
            (None, Some(_)) => {
                let message = format!("`{}` is not inside a git repository", directory.display());
                let help = "remove `--rev` to read the files on disk";
                Err(Error::git(message).with_help(help))
            }
            (None, None) => Self::outside_git(selection),
        }
    }

    fn at_revision(
        repository: &Repository,
        revision: &str,
        directory: &Path,
    ) -> Result<Self, Error> {
        let tree = repository.commit(revision)?;
        let commit = tree.commit_id();
        let root = repository.work_tree_root().map(canonical).transpose()?;
        let from = repository.prefix_or_root(directory);
        Ok(Self {
            tree: Arc::new(tree),
            base: None,
            root,
            is_repository: true,
            from,
            commit,
        })
    }

    fn on_sides(
        repository: &Repository,
        sides: &ChosenSides,
        selection: &Selection,
        [mut base, mut tree]: [SharedTree; 2],
    ) -> Result<Self, Error> {
        let root = repository.work_tree_root().map(canonical).transpose()?;
        let from = repository.prefix_or_root(selection.start());
        let commit = match &sides.to {
            ChosenSide::Commit { id, .. } => Some(id.clone()),
            ChosenSide::Nothing | ChosenSide::Index | ChosenSide::WorkTree => None,
        };
        for bump in &sides.bumps {
            if let Some(revision) = &bump.base {
                base = bump.applied(base, &from, revision, &selection.sites)?;
            }
            tree = bump.applied(tree, &from, &bump.head, &selection.sites)?;
        }
        let base = Some(base);
        Ok(Self {
            tree,
            base,
            root,
            is_repository: true,
            from,
            commit,
        })
    }

    fn in_work_tree(
        repository: &Repository,
        directory: &Path,
        requested: Option<GlobSet>,
    ) -> Result<Self, Error> {
        let from = repository.prefix_or_root(directory);
        let whole = WorkTree::in_repository(repository)?;
        let tree = match requested {
            Some(requested) => whole.limited(listed(&from, move |site| requested.is_match(site))),
            None => whole,
        };
        let root = Some(tree.root().to_owned());
        Ok(Self {
            tree: Arc::new(tree),
            base: None,
            root,
            is_repository: true,
            from,
            commit: None,
        })
    }

    /// Outside of git, the root is the nearest folder that is a site repository, or else the folder
    /// that contains all given files.
    fn outside_git(selection: &Selection) -> Result<Self, Error> {
        let directory = canonical(selection.start())?;
        let rooted = |folder: &Path| -> Result<Self, Error> {
            let tree = WorkTree::in_folder(folder.to_owned())?;
            let root = tree.root().to_owned();
            let from = RepoPath::of_place(&root, &directory).unwrap_or_else(|| RepoPath::new(""));
            let tree: SharedTree = Arc::new(tree);
            let (root, is_repository) = (Some(root), false);
            Ok(Self {
                tree,
                base: None,
                root,
                is_repository,
                from,
                commit: None,
            })
        };
        if !selection.set {
            for folder in directory.ancestors() {
                let start = rooted(folder)?;
                if Layout::discover(&start.tree, &RepoPath::new(""))?.is_some() {
                    return Ok(Self {
                        is_repository: true,
                        ..start
                    });
                }
            }
        }
        let mut common = directory.clone();
        for file in &selection.files {
            let file = file_on_disk(&selection.directory, file)?;
            while !file.starts_with(&common) {
                common.pop();
            }
        }
        rooted(&common)
    }

    fn with_texts(self, texts: &OverlaidTexts) -> Self {
        Self {
            tree: overlaid(self.tree, texts),
            ..self
        }
    }

    /// Whether the configuration is read from its usual place, not given or disabled by a flag.
    fn finds_configuration(&self, selection: &Selection) -> bool {
        match &selection.configuration {
            configuration::ConfigurationSource::Root | configuration::ConfigurationSource::Base => {
                self.is_repository
            }
            configuration::ConfigurationSource::File(_)
            | configuration::ConfigurationSource::Nowhere => false,
        }
    }

    /// Configuration in effect here.
    fn configured(&self, selection: &Selection) -> Result<FoundConfiguration, Error> {
        if !self.is_repository
            && selection.configuration == configuration::ConfigurationSource::Root
        {
            return Ok(FoundConfiguration::default());
        }
        if self.finds_configuration(selection) {
            let folders = self
                .from
                .as_str()
                .match_indices('/')
                .map(|(at, _)| &self.from.as_str()[..at]);
            let folders: Vec<RepoPath> = folders
                .chain([self.from.as_str()])
                .map(RepoPath::new)
                .collect();
            crate::config::refuse_unread(&self.tree, &folders)?;
        }
        let base = self.base.as_ref().map(|base| base as &dyn Tree);
        let around = ConfigurationTrees {
            tree: &self.tree,
            base,
            root: self.root.as_deref(),
        };
        configuration::find(&selection.directory, &selection.configuration, &around)
    }

    /// The start without the files that the configuration excludes.
    fn without(self, configured: &FoundConfiguration) -> Result<Self, Error> {
        Ok(Self {
            tree: without_excluded(self.tree, configured)?,
            base: self
                .base
                .map(|base| without_excluded(base, configured))
                .transpose()?,
            ..self
        })
    }

    /// Path in the tree of a file or folder given by the user.
    fn path_of(&self, selection: &Selection, file: &Path) -> Result<RepoPath, Error> {
        let (directory, file_text) = (&selection.directory, file.display());
        let outside = || {
            let message = format!("`{file_text}` is not part of this repository");
            Error::usage(message)
        };
        let root = self.root.as_ref().ok_or_else(outside)?;
        if self.commit.is_none() && self.base.is_none() {
            let resolved = directory.join(file).canonicalize();
            let resolved = resolved.map_err(|_| places::not_found(selection, file))?;
            let resolved = RepoPath::of_place(root, &resolved).ok_or_else(outside)?;
            return Ok(self
                .linked_path(directory, file, &resolved)
                .unwrap_or(resolved));
        }
        let path = RepoPath::of_place(root, &canonical_or_deleted(directory.join(file))?)
            .ok_or_else(outside)?;
        for tree in std::iter::once(&self.tree).chain(&self.base) {
            let entries = tree.entries(&RepoPath::new(""))?;
            if entries
                .iter()
                .any(|entry| entry.path == path || entry.path.below(&path).is_some())
            {
                return Ok(path);
            }
        }
        let place = match (&self.commit, &self.base) {
            (_, Some(_)) => "either side".to_owned(),
            (Some(commit), None) => format!("commit {commit}"),
            (None, None) => "this repository".to_owned(),
        };
        let message = format!("`{file_text}` is not part of {place}");
        let error = places::not_found(selection, file);
        let renamed = Error::usage(message).about("path", file_text.to_string());
        Err(match error.help() {
            Some(help) => renamed.with_help(help),
            None => renamed,
        })
    }

    /// Path that the user gave for the file at `resolved`, if it leads there through links.
    fn linked_path(&self, directory: &Path, file: &Path, resolved: &RepoPath) -> Option<RepoPath> {
        let is_plain = file
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let start = directory.canonicalize().ok().filter(|_| is_plain)?;
        let path = RepoPath::of_place(self.root.as_ref()?, &start.join(file))?;
        (self.tree.real_path(&path).as_ref() == Some(resolved)).then_some(path)
    }

    /// Layout of the files and of the base side. A side without a site repository has no sites, if
    /// the other side has one. If `sites` are given and can be found by name, lists only these.
    fn layouts(&self, sites: &[String]) -> Result<(Option<Layout>, Option<Layout>), Error> {
        let named = match sites {
            [] => None,
            names => Layout::of_sites(&self.tree, &self.from, names)?,
        };
        let head = match named {
            Some(layout) => Some(layout),
            None => Layout::discover(&self.tree, &self.from)?,
        };
        let base = match &self.base {
            Some(tree) => Layout::discover(tree, &self.from)?,
            None => None,
        };
        let absent = |tree: &SharedTree, other: &Layout| Layout::absent(tree, &other.root);
        match (head, base, &self.base) {
            (None, Some(base), _) => Ok((Some(absent(&self.tree, &base)?), Some(base))),
            (Some(head), None, Some(tree)) => {
                let base = absent(tree, &head)?;
                Ok((Some(head), (!base.unread.is_empty()).then_some(base)))
            }
            (head, base, _) => Ok((head, base)),
        }
    }
}

/// Path on disk of a file that the user named in `directory`.
fn file_on_disk(directory: &Path, file: &Path) -> Result<PathBuf, Error> {
    directory
        .join(file)
        .canonicalize()
        .map_err(|error| cannot_be_found(file, error))
}

/// Canonical form of a path that may be deleted: a revision has files and folders that no longer
/// exist on disk.
fn canonical_or_deleted(mut path: PathBuf) -> Result<PathBuf, Error> {
    let mut gone = Vec::new();
    loop {
        match (path.canonicalize(), path.file_name()) {
            (Ok(there), _) => return Ok(there.join(gone.iter().rev().collect::<PathBuf>())),
            (Err(_), Some(name)) => gone.push(name.to_owned()),
            (Err(error), None) => return Err(cannot_be_found(&path, error)),
        }
        path.pop();
    }
}

fn canonical(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize()
        .map_err(|error| cannot_be_found(path, error))
}

fn cannot_be_found(path: &Path, error: io::Error) -> Error {
    let path = path.display().to_string();
    let error = match error.kind() {
        io::ErrorKind::NotFound => Error::usage(format!("`{path}` not found")),
        _ => Error::usage(format!("cannot read `{path}`")).caused_by(error),
    };
    error.about("path", path)
}

/// Parses `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`; returns the line 0-based.
///
/// # Errors
/// If the line is 0.
fn file_and_line(text: &str) -> Result<(PathBuf, Option<usize>), Error> {
    let numbered = |text: &str| {
        let (file, number) = text.rsplit_once(':')?;
        Some((file.to_owned(), number.parse::<usize>().ok()?))
    };
    let Some((file, last)) = numbered(text.trim_end_matches(':')) else {
        return Ok((text.into(), None));
    };
    let (file, line) = numbered(&file).unwrap_or((file, last));
    match line.checked_sub(1) {
        Some(number) => Ok((file.into(), Some(number))),
        None => {
            let message = format!("invalid line in `{text}`");
            Err(Error::usage(message).with_help("lines are counted from 1"))
        }
    }
}

fn not_a_folder(directory: &Path) -> Error {
    let message = format!("`{}` is not a folder", directory.display());
    let error = Error::usage(message);
    match directory.parent().filter(|_| directory.is_file()) {
        Some(folder) => {
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            error.with_help(format!(
                "did you mean `-C {}`?",
                shell_word(&folder.to_string_lossy())
            ))
        }
        None => error.with_help("pass an existing folder"),
    }
}

fn globs(texts: &[String]) -> Result<Option<GlobSet>, Error> {
    if texts.is_empty() {
        return Ok(None);
    }
    let unusable =
        |error: globset::Error| Error::usage("invalid glob on the command line").caused_by(error);
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(unusable)?);
    }
    set.build().map(Some).map_err(unusable)
}

fn no_repository(start: &Start) -> Error {
    let place = match (&start.commit, start.from.as_str()) {
        (Some(commit), "") => format!("commit {commit}"),
        (Some(commit), folder) => format!("`{folder}` of commit {commit}"),
        (None, _) => "this folder".into(),
    };
    let help = match &site_repositories_below(start)[..] {
        [] => "a site repository has `site/NAME/site-definition.yaml`; pass its folder with `-C DIR`, \
               or check files without layout: `--set FILE...`"
            .to_owned(),
        [only] => format!("did you mean `-C {}`?", shell_word(only.as_str())),
        [first, rest @ ..] => format!(
            "did you mean `-C {}`? There {} in this folder",
            shell_word(first.as_str()),
            match rest.len() {
                1 => "is one more site repository".to_owned(),
                count => format!("are {count} more site repositories"),
            }
        ),
    };
    Error::usage(format!("{place} is not inside a site repository")).with_help(help)
}

/// Site repositories in the folders below the current one, relative to it.
fn site_repositories_below(start: &Start) -> Vec<RepoPath> {
    let entries = start.tree.entries(&start.from).unwrap_or_default();
    let roots = entries.iter().filter_map(|entry| {
        let root = Layout::root_of_definition(&entry.path)?;
        Some(RepoPath::new(
            root.as_str()
                .strip_prefix(start.from.as_str())?
                .trim_start_matches('/'),
        ))
    });
    let roots: BTreeSet<RepoPath> = roots.filter(|root| !root.as_str().is_empty()).collect();
    roots.into_iter().collect()
}
