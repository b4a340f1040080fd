//! Further repositories of sites: clones given by the user, read at the revisions that site
//! definitions pin. Nothing is fetched, checked out or written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::configuration::FoundConfiguration;
use super::{Selection, canonical};
use crate::check::{self, Further};
use crate::error::{Error, shell_word};
use crate::near::help_for_unknown;
use crate::source::{
    FileId, Labelled, Nested, Overlay, RepoPath, Repository, RevisionChoice, SharedTree, Tree,
    UsedRepository, UsedRevision, WorkTree, is_same_address,
};
use crate::system::deckhand::layout::{
    LAYERS, Layout, NamedRepository, Pin, Unreadable, Use, Uses,
};
use crate::yaml;

/// Environment variable with clones, one `NAME=PATH` per line.
pub const VARIABLE: &str = "LAYERCAKE_REPOSITORIES";

/// A clone given by the user.
struct LocalClone {
    name: Arc<str>,
    /// URL of the repositories that it replaces; `None` if it replaces those of its name.
    address: Option<Arc<str>>,
    /// Configured template of links to its lines.
    links: Option<Arc<str>>,
    /// As the user wrote it.
    shown: String,
    wanted: CloneRevision,
    place: CloneFiles,
}

/// Revision to read of a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CloneRevision {
    /// The one that each site definition pins.
    Pins,
    /// This revision, regardless of pins.
    Revision(Arc<str>),
    /// Files on disk, regardless of pins.
    WorkTree,
}

/// Location of a clone's files.
enum CloneFiles {
    /// In this folder of a git repository.
    Repository(Box<Repository>, RepoPath),
    /// In a folder outside of git.
    Folder(PathBuf),
}

/// Clones given by the user.
pub(super) struct Clones(Vec<LocalClone>);

/// A side of a run: its files and their layout.
pub(super) type TreeAndLayout<'a> = (&'a dyn Tree, &'a Layout);

/// Further repositories of a run.
pub(super) struct OpenedRepositories {
    clones: Clones,
    /// Each at one revision.
    pub(crate) further: Vec<Arc<Further>>,
    /// Further repositories of each site of the head.
    pub(crate) head: Arc<Uses>,
    /// Further repositories of each site of the base.
    pub(crate) base: Arc<Uses>,
}

impl Clones {
    /// Clones of the flags; for other names those of the environment, then of the configuration.
    ///
    /// # Errors
    /// If one of them does not exist.
    pub(super) fn named(
        selection: &Selection,
        configured: &FoundConfiguration,
    ) -> Result<Self, Error> {
        let mut clones: Vec<LocalClone> = Vec::new();
        for text in &selection.repositories {
            let clone = LocalClone::parsed(text, &selection.directory, "--repository ")?;
            if clones.iter().any(|it| it.name == clone.name) {
                let message = format!("`--repository` is given twice for `{}`", clone.name);
                let help = "remove one of them";
                return Err(Error::usage(message).with_help(help));
            }
            clones.push(clone);
        }
        for text in &selection.more_repositories {
            let clone = LocalClone::parsed(text, &selection.directory, &format!("{VARIABLE}="))?;
            if !clones.iter().any(|it| it.name == clone.name) {
                clones.push(clone);
            }
        }
        for repository in &configured.config.repositories {
            let name = &repository.name;
            if clones.iter().any(|it| it.name == name.value) {
                continue;
            }
            let at = configured
                .config
                .describe_setting(&format!("`repositories.{}`", name.value), name.span);
            let folder = configured.folder.as_deref().ok_or_else(|| {
                let message = format!("{at}: a bare repository has no folder for relative paths");
                Error::usage(message).with_help(format!("pass `--repository {}=PATH`", name.value))
            })?;
            let wanted = CloneRevision::of(repository.revision.as_deref());
            let clone = LocalClone::open(&name.value, &repository.path, folder, wanted);
            let clone = clone.map_err(|error| {
                let help = error
                    .help()
                    .unwrap_or("fix its path or revision")
                    .to_owned();
                Error::usage(format!("{at}: {error}")).with_help(help)
            })?;
            let (address, links) = (repository.url.clone(), repository.links.clone());
            clones.push(LocalClone {
                address,
                links,
                ..clone
            });
        }
        Ok(Self(clones))
    }

    /// Path of a file or folder given as `NAME:path`, if NAME is one of these clones.
    pub(super) fn path_of(&self, file: &Path) -> Option<RepoPath> {
        let text = file.to_str()?;
        let (name, _) = text.split_once(':')?;
        let is_known = self.0.iter().any(|clone| &*clone.name == name);
        is_known.then(|| RepoPath::new(text.trim_end_matches('/')))
    }

    /// Opens the further repositories of the sites of both sides.
    pub(super) fn open(
        self,
        head: TreeAndLayout<'_>,
        base: Option<TreeAndLayout<'_>>,
    ) -> OpenedRepositories {
        if self.0.is_empty() {
            return self.unopened();
        }
        let mut opening = Opening {
            clones: &self.0,
            ..Opening::default()
        };
        let head = Arc::new(opening.side(head));
        let base = base.map(|base| opening.side(base)).unwrap_or_default();
        let further = opening.further;
        OpenedRepositories {
            clones: self,
            further,
            head,
            base: Arc::new(base),
        }
    }

    /// The clones for a run without sites that use them.
    pub(super) fn unopened(self) -> OpenedRepositories {
        OpenedRepositories {
            clones: self,
            further: Vec::new(),
            head: Arc::default(),
            base: Arc::default(),
        }
    }
}

impl OpenedRepositories {
    /// Opens more sides with the same clones.
    pub(super) fn opening(&self) -> Opening<'_> {
        Opening {
            clones: &self.clones.0,
            ..Opening::default()
        }
    }

    /// Checks that files and folders of further repositories exist in one of their revisions.
    pub(super) fn ensure_there(&self, paths: &[RepoPath]) -> Result<(), Error> {
        for path in paths {
            let name = path.as_str().split_once(':').map(|(name, _)| name);
            if !self.clones.0.iter().any(|clone| Some(&*clone.name) == name) {
                continue;
            }
            let mut is_there = false;
            for opened in self.further.iter().filter(|it| Some(&*it.name) == name) {
                let entries = opened.tree.entries(&opened.tree.root())?;
                is_there |= entries
                    .iter()
                    .any(|it| it.path == *path || it.path.below(path).is_some());
            }
            if !is_there {
                let message = format!("`{path}` does not exist in any revision used by a site");
                return Err(Error::usage(message));
            }
        }
        Ok(())
    }

    /// Checks that the requested revisions are readable.
    pub(super) fn ensure_read(&self, bumps: &[Bump]) -> Result<(), Error> {
        for bump in bumps {
            if let Some(base) = &bump.base {
                bump.ensure_read(&self.base, base)?;
            }
            bump.ensure_read(&self.head, &bump.head)?;
        }
        Ok(())
    }

    /// Adds the commits between the revisions of both sides, as far as they are readable.
    pub(super) fn add_history(&self, used: &mut [UsedRepository]) {
        for used in used {
            let commit = |it: &Option<UsedRevision>| {
                it.as_ref().and_then(|revision| revision.commit.clone())
            };
            let (Some(base), Some(head)) = (commit(&used.base), commit(&used.head)) else {
                continue;
            };
            let clone = self.clones.0.iter().find(|clone| clone.name == used.name);
            if let Some(LocalClone {
                place: CloneFiles::Repository(repository, _),
                ..
            }) = clone
                && base != head
            {
                used.history = repository.history(&base, &head).ok();
            }
        }
    }
}

impl CloneRevision {
    fn of(revision: Option<&str>) -> Self {
        match revision {
            None => CloneRevision::Pins,
            Some("worktree") => CloneRevision::WorkTree,
            Some(revision) => CloneRevision::Revision(revision.into()),
        }
    }
}

impl LocalClone {
    /// Parses `NAME=PATH`, `NAME=PATH@REV` or `NAME=PATH@worktree`. `given_by` is the prefix for
    /// messages.
    fn parsed(text: &str, directory: &Path, given_by: &str) -> Result<Self, Error> {
        let malformed = || {
            let message = format!("invalid repository `{given_by}{text}`");
            let help = "write it as NAME=PATH, NAME=PATH@REV or NAME=PATH@worktree, e.g. \
                        `global=../treasuremap`";
            Error::usage(message).with_help(help)
        };
        let (name, place) = text.split_once('=').ok_or_else(malformed)?;
        if name.is_empty() || place.is_empty() || name.contains([':', '/']) {
            return Err(malformed());
        }
        // A path may contain an `@`; an existing path takes precedence.
        let (path, revision) = match place.rsplit_once('@') {
            Some((path, revision)) if !directory.join(place).exists() => (path, Some(revision)),
            _ => (place, None),
        };
        Self::open(name, path, directory, CloneRevision::of(revision))
    }

    fn open(name: &str, path: &str, from: &Path, wanted: CloneRevision) -> Result<Self, Error> {
        let folder = canonical(&from.join(path))?;
        let place = match Repository::discover_further(&folder)? {
            Some(repository) => {
                let inside = repository.prefix_or_root(&folder);
                refuse_empty_submodule(&repository, &inside, path)?;
                CloneFiles::Repository(Box::new(repository), inside)
            }
            None => CloneFiles::Folder(folder),
        };
        let clone = Self {
            name: name.into(),
            address: None,
            links: None,
            shown: path.to_owned(),
            wanted,
            place,
        };
        clone.ensure_usable()?;
        Ok(clone)
    }

    /// Checks that what it reads instead of pins is readable.
    fn ensure_usable(&self) -> Result<(), Error> {
        let Self { name, shown, .. } = self;
        match (&self.place, &self.wanted) {
            (CloneFiles::Repository(repository, _), CloneRevision::Revision(revision)) => {
                repository.resolve(revision).map(drop)
            }
            (CloneFiles::Repository(repository, _), CloneRevision::WorkTree)
                if repository.work_tree_root().is_none() =>
            {
                let message = format!("`{shown}` is a bare repository, which has no working tree");
                let help = format!("remove `@worktree`: `--repository {name}={shown}`");
                Err(Error::usage(message).with_help(help))
            }
            (CloneFiles::Folder(_), CloneRevision::Revision(_)) => {
                let message = format!("`{shown}` is not inside a git repository");
                Err(Error::git(message).with_help("remove `@REV`"))
            }
            (
                CloneFiles::Repository(..) | CloneFiles::Folder(_),
                CloneRevision::Pins | CloneRevision::WorkTree,
            ) => Ok(()),
        }
    }

    /// Whether it provides the repository that a site definition names.
    fn is_for(&self, named: &NamedRepository) -> bool {
        match (&self.address, &named.url) {
            (None, _) => self.name == named.name.value,
            (Some(own), Some(url)) => is_same_address(own, url),
            (Some(_), None) => false,
        }
    }

    /// Revision for a site with this pin, and its origin; `None` for files on disk.
    fn chosen(&self, pin: Option<&Arc<str>>) -> (RevisionChoice, Option<Arc<str>>) {
        let is_folder = matches!(self.place, CloneFiles::Folder(_));
        match (&self.wanted, pin) {
            (CloneRevision::Revision(revision), _) => {
                (RevisionChoice::Override, Some(revision.clone()))
            }
            (CloneRevision::WorkTree, _) => (RevisionChoice::Folder, None),
            (CloneRevision::Pins, Some(pin)) => (RevisionChoice::Pin, Some(pin.clone())),
            (CloneRevision::Pins, None) if is_folder => (RevisionChoice::Folder, None),
            (CloneRevision::Pins, None) => (RevisionChoice::CheckedOut, None),
        }
    }

    /// Its files at a revision, or on disk.
    fn opened(&self, revision: Option<&str>) -> Result<Further, Unreadable> {
        let shown = &self.shown;
        let unreadable = |error: Error| Unreadable {
            reason: error.to_string(),
            help: error.help().unwrap_or("fix the clone").to_owned(),
        };
        let further = |tree: SharedTree, inside: &RepoPath| Further {
            tree: Labelled::new(&self.name, tree, inside.clone()),
            name: self.name.clone(),
            commit: None,
            folder: None,
            links: self.links.clone(),
        };
        match (&self.place, revision) {
            (CloneFiles::Repository(repository, inside), Some(revision)) => {
                let folders = LAYERS.map(|layer| inside.join(layer));
                let tree = repository.pinned(revision, &folders).map_err(|error| {
                    let fetch = repository.fetch_command(shown, revision);
                    Unreadable {
                        reason: error.to_string(),
                        help: revision_help(&error, fetch),
                    }
                })?;
                let commit = tree.commit_id().map(Arc::from);
                Ok(Further {
                    commit,
                    ..further(Arc::new(tree), inside)
                })
            }
            (CloneFiles::Folder(_), Some(_)) => {
                let reason = format!("`{shown}` is not inside a git repository");
                let worktree = format!("`--repository {}={shown}@worktree`", self.name);
                let help = format!("pass a clone, or read the files on disk: {worktree}");
                Err(Unreadable { reason, help })
            }
            (CloneFiles::Repository(repository, _), None)
                if repository.work_tree_root().is_none() =>
            {
                let reason = format!("`{shown}` is a bare repository, and no revision is pinned");
                let help = "pin one: `revision: REV` beside its `url`".to_owned();
                Err(Unreadable { reason, help })
            }
            (CloneFiles::Repository(repository, inside), None) => {
                let tree = WorkTree::in_repository(repository).map_err(unreadable)?;
                let folder = Some(inside.on_disk(tree.root()));
                Ok(Further {
                    folder,
                    ..further(Arc::new(tree), inside)
                })
            }
            (CloneFiles::Folder(folder), None) => {
                let tree = WorkTree::in_folder(folder.clone()).map_err(unreadable)?;
                let folder = Some(tree.root().to_owned());
                Ok(Further {
                    folder,
                    ..further(Arc::new(tree), &RepoPath::new(""))
                })
            }
        }
    }
}

/// Rejects a submodule that is not checked out: git treats it as part of the outer repository.
fn refuse_empty_submodule(
    repository: &Repository,
    inside: &RepoPath,
    shown: &str,
) -> Result<(), Error> {
    if inside.is_root() || repository.work_tree_root().is_none() {
        return Ok(());
    }
    match WorkTree::in_repository(repository)?.nested(inside) {
        Nested::Submodule(_) => {
            let message = format!("`{shown}` is a submodule that is not checked out");
            let help = format!("run `git submodule update --init {}`", shell_word(shown));
            Err(Error::git(message).with_help(help))
        }
        Nested::Untracked => Ok(()),
    }
}

/// Help for a pinned revision that cannot be read.
fn revision_help(error: &Error, fetch: Option<String>) -> String {
    let near = error.help().filter(|help| help.starts_with("did you mean"));
    match (near, fetch) {
        (Some(near), Some(fetch)) => format!("{near} Otherwise run `{fetch}`"),
        (Some(near), None) => near.to_owned(),
        (None, Some(fetch)) => format!("run `{fetch}`, if the remote has it"),
        // The error's own help is about another repository.
        (None, None) => {
            "add the revision to the clone, which has no remote, or pin another one".to_owned()
        }
    }
}

/// Index of a clone with the name of a revision or commit; `None` for its files on disk.
type Revision = (usize, Option<Arc<str>>);

/// Clones that were opened so far.
#[derive(Default)]
pub(super) struct Opening<'c> {
    clones: &'c [LocalClone],
    pub(super) further: Vec<Arc<Further>>,
    /// Indices in `further`, by commit.
    opened: BTreeMap<Revision, usize>,
    /// The same by revision.
    known: BTreeMap<Revision, Result<usize, Unreadable>>,
}

impl<'c> Opening<'c> {
    /// Further repositories of the sites of a side.
    pub(super) fn side(&mut self, (tree, layout): TreeAndLayout<'_>) -> Uses {
        let mut uses = Uses::new();
        for (site, path) in layout.definitions() {
            let Some(definition) = check::first_document(tree, &path) else {
                continue;
            };
            let of_site = match &Layout::repositories_of(&definition) {
                Some(named) => named.iter().filter_map(|named| self.named(named)).collect(),
                None => self.all(),
            };
            uses.insert(site.clone(), of_site);
        }
        uses
    }

    /// The same clones, not opened.
    pub(super) fn again(&self) -> Self {
        Self {
            clones: self.clones,
            ..Self::default()
        }
    }

    /// Whether no clone is given.
    pub(super) fn is_empty(&self) -> bool {
        self.clones.is_empty()
    }

    /// Index of the clone given under this name, with its repository and the folder in it; `None`
    /// for a folder outside of git.
    pub(super) fn clone_named(&self, given: &str) -> Option<(usize, &'c Repository, &'c RepoPath)> {
        let index = self.clones.iter().position(|clone| *clone.name == *given)?;
        match &self.clones[index].place {
            CloneFiles::Repository(repository, inside) => Some((index, repository, inside)),
            CloneFiles::Folder(_) => None,
        }
    }

    /// Index of a clone at a commit, which is opened if necessary.
    ///
    /// # Errors
    /// If its files cannot be read.
    pub(super) fn at_commit(&mut self, clone: usize, commit: &str) -> Result<usize, Error> {
        let found = self.number_of((clone, Some(commit.into())));
        found.map_err(|why| Error::git(why.reason).with_help(why.help))
    }

    /// A repository named in a site definition; `None` if it is not given, or its pin is invalid.
    fn named(&mut self, named: &NamedRepository) -> Option<Use> {
        let clone = self.clones.iter().position(|clone| clone.is_for(named))?;
        let pin = match named.pin.as_ref().map(|pin| &pin.value) {
            Some(Pin::Revision(revision)) => Some(revision),
            Some(Pin::NotAString(_)) => return None,
            None => None,
        };
        Some(self.read(named.name.value.clone(), clone, pin))
    }

    /// All repositories, for a site that names none.
    fn all(&mut self) -> Vec<Use> {
        let clones = self.clones.iter().enumerate();
        clones
            .map(|(at, clone)| self.read(clone.name.clone(), at, None))
            .collect()
    }

    /// A clone as used by a site that calls it `name` and has this pin.
    fn read(&mut self, name: Arc<str>, clone: usize, pin: Option<&Arc<str>>) -> Use {
        let (chosen_by, revision) = self.clones[clone].chosen(pin);
        let found = self.number_of((clone, revision.clone()));
        let commit = found
            .as_ref()
            .ok()
            .and_then(|at| self.further[*at].commit.clone());
        let given = self.clones[clone].name.clone();
        Use {
            name,
            given,
            revision: UsedRevision {
                chosen_by,
                revision,
                commit,
            },
            found,
        }
    }

    /// Index of a revision, which is opened if necessary.
    fn number_of(&mut self, revision: Revision) -> Result<usize, Unreadable> {
        if let Some(known) = self.known.get(&revision) {
            return known.clone();
        }
        let (clone, name) = &revision;
        let found = self.clones[*clone].opened(name.as_deref()).map(|opened| {
            let next = self.further.len();
            let number = *self
                .opened
                .entry((*clone, opened.commit.clone()))
                .or_insert(next);
            if number == next {
                self.further.push(Arc::new(opened));
            }
            number
        });
        self.known.insert(revision, found.clone());
        found
    }
}

/// A revision to compare with the pinned one of a further repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bump {
    /// Name of the repository in site definitions.
    pub(crate) name: String,
    /// Revision on the base side; `None` for the pinned one.
    pub(crate) base: Option<String>,
    /// Revision on the head side.
    pub(crate) head: String,
}

impl fmt::Display for Bump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Some(base) => write!(f, "{} {base} and {}", self.name, self.head),
            None => write!(f, "{} {}", self.name, self.head),
        }
    }
}

impl Bump {
    /// Parses `NAME=REV` or `NAME=A..B`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parsed(text: &str) -> Result<Self, Error> {
        let malformed = || {
            let message = "missing revision; write NAME=REV or NAME=A..B, e.g. `global=v1.8`";
            Error::usage(message)
        };
        let (name, revisions) = text.split_once('=').ok_or_else(malformed)?;
        let (base, head) = match revisions.split_once("..") {
            Some((base, head)) => (Some(base.to_owned()), head.trim_start_matches('.')),
            None => (None, revisions),
        };
        if name.is_empty() || head.is_empty() || base.as_deref() == Some("") {
            return Err(malformed());
        }
        Ok(Self {
            name: name.to_owned(),
            base,
            head: head.to_owned(),
        })
    }

    /// Checks that sites which pin `revision` use it.
    fn ensure_read(&self, uses: &Uses, revision: &str) -> Result<(), Error> {
        let uses = uses.values().flatten().filter(|it| *it.name == *self.name);
        let uses: Vec<&Use> = uses.collect();
        let is_pinned = |it: &&Use| it.revision.chosen_by == RevisionChoice::Pin;
        if uses.is_empty() {
            let help = format!("pass one: `--repository {}=PATH`", self.name);
            let message = format!("no clone of `{}` is given", self.name);
            return Err(Error::usage(message).with_help(help));
        }
        if !uses.iter().any(is_pinned) {
            let message = format!("a fixed revision of `{}` replaces all pins", self.name);
            let help = format!(
                "pass the clone without a revision: `--repository {}=PATH`",
                self.name
            );
            return Err(Error::usage(message).with_help(help));
        }
        let asked = uses
            .iter()
            .filter(|it| it.revision.revision.as_deref() == Some(revision));
        let mut unread = asked.filter_map(|it| it.found.as_ref().err());
        match unread.next() {
            Some(why) => Err(Error::git(&*why.reason).with_help(&*why.help)),
            None => Ok(()),
        }
    }

    /// `tree` with `revision` pinned in the definitions of the sites that match one of the globs,
    /// or of all sites without globs.
    pub(super) fn applied(
        &self,
        tree: SharedTree,
        from: &RepoPath,
        revision: &str,
        sites: &[String],
    ) -> Result<SharedTree, Error> {
        let globs = super::globs(sites)?;
        let Some(layout) = Layout::discover(&tree, from)? else {
            return Ok(tree);
        };
        let mut texts = BTreeMap::new();
        let mut known = BTreeSet::new();
        for (site, path) in layout.definitions() {
            if globs.as_ref().is_some_and(|globs| !globs.is_match(&**site)) {
                continue;
            }
            let Some(definition) = check::first_document(&tree, &path) else {
                continue;
            };
            let named = Layout::repositories_of(&definition).unwrap_or_default();
            known.extend(named.iter().map(|it| it.name.value.to_string()));
            let Some(repository) = named.iter().find(|it| *it.name.value == *self.name) else {
                continue;
            };
            let text = tree
                .read(&path)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            let with_pin = text.and_then(|text| with_pin(&text, &named, repository, revision));
            let text = with_pin.ok_or_else(|| {
                let message = format!(
                    "{path}: the revision of `{}` cannot be replaced where it is written",
                    self.name
                );
                let help =
                    format!("set `revision: {revision}` there, and compare without `--bump`");
                Error::usage(message).with_help(help)
            })?;
            texts.insert(path, Some(Arc::from(text)));
        }
        if texts.is_empty() {
            let message = format!("no site uses the repository `{}`", self.name);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = help_for_unknown(&self.name, "repositories of the sites", &known);
            let help = help
                .unwrap_or_else(|| "site definitions list them in `data.repositories`".to_owned());
            return Err(Error::usage(message).with_help(help));
        }
        Ok(Arc::new(Overlay::new(tree, texts)))
    }
}

/// Text of a definition with another revision of one of its repositories; `None` if that would
/// change anything else.
fn with_pin(
    text: &str,
    named: &[NamedRepository],
    repository: &NamedRepository,
    revision: &str,
) -> Option<String> {
    let quoted = format!("'{}'", revision.replace('\'', "''"));
    let with = |start: u32, end: u32, stretch: &str| {
        let (before, behind) = (text.get(..start as usize)?, text.get(end as usize..)?);
        Some(format!("{before}{stretch}{behind}"))
    };
    let written = [revision, &quoted].into_iter();
    let candidates: Vec<Option<String>> = match (&repository.pin, repository.first_key) {
        (Some(pin), _) => written
            .map(|it| with(pin.span.start, pin.span.end, it))
            .collect(),
        (None, Some(key)) => {
            let line = text.get(..key.start as usize)?.rsplit('\n').next()?;
            let indent = " ".repeat(line.chars().count());
            let block = written
                .clone()
                .map(|it| format!("revision: {it}\n{indent}"));
            let flow = written.map(|it| format!("revision: {it}, "));
            block
                .chain(flow)
                .map(|it| with(key.start, key.start, &it))
                .collect()
        }
        (None, None) => Vec::new(),
    };
    let pins = |named: &[NamedRepository]| -> Vec<(Arc<str>, Option<Pin>)> {
        let pin = |it: &NamedRepository| it.pin.as_ref().map(|pin| pin.value.clone());
        named
            .iter()
            .map(|it| (it.name.value.clone(), pin(it)))
            .collect()
    };
    let mut wanted = pins(named);
    for (name, pin) in &mut wanted {
        if *name == repository.name.value {
            *pin = Some(Pin::Revision(revision.into()));
        }
    }
    candidates.into_iter().flatten().find(|text| {
        let parsed = yaml::parse(FileId::default(), text);
        let first = parsed
            .documents
            .first()
            .filter(|_| parsed.problems.is_empty());
        let named = first.and_then(|first| Layout::repositories_of(&first.root));
        named.is_some_and(|named| pins(&named) == wanted)
    })
}
