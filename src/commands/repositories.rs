//! The further repositories that sites are made of: clones that the user names, each read at the
//! revisions that site definitions pin. Nothing is fetched, checked out or written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::configuration::FoundConfiguration;
use super::{AnyTree, Selection, canonical};
use crate::check::{self, Further};
use crate::error::{Error, ErrorKind, shell_word};
use crate::source::{
    FileId, Labelled, Nested, Overlay, RepoPath, Repository, RevisionChoice, Tree, UsedRepository,
    UsedRevision, WorkTree, is_same_address,
};
use crate::system::deckhand::layout::{
    LAYERS, Layout, NamedRepository, Pin, Unreadable, Use, Uses,
};
use crate::yaml;

/// The variable that names clones, one `NAME=PATH` a line.
pub const VARIABLE: &str = "LAYERCAKE_REPOSITORIES";

/// A clone that the user named.
struct LocalClone {
    name: Arc<str>,
    /// The address of the repositories that it stands for; none where it stands for those of its
    /// name.
    address: Option<Arc<str>>,
    /// The template of links to its lines, as it is configured.
    links: Option<Arc<str>>,
    /// As the user wrote it.
    shown: String,
    wanted: CloneRevision,
    place: CloneFiles,
}

/// What is read of a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CloneRevision {
    /// What each site definition pins.
    Pins,
    /// This revision, whatever is pinned.
    Revision(Arc<str>),
    /// The files on disk, whatever is pinned.
    WorkTree,
}

/// Where the files of a clone are.
enum CloneFiles {
    /// In this folder of a git repository.
    Repository(Box<Repository>, RepoPath),
    /// In a folder outside git.
    Folder(PathBuf),
}

/// The clones that the user named.
pub(super) struct Clones(Vec<LocalClone>);

/// A side of a run: its files, and how they lie.
pub(super) type TreeAndLayout<'a> = (&'a dyn Tree, &'a Layout);

/// The further repositories of a run.
pub(super) struct OpenedRepositories {
    clones: Clones,
    /// Each at one revision.
    pub(crate) further: Vec<Further>,
    /// Which of them each site of the head is made of.
    pub(crate) head: Uses,
    /// Which of them each site of the base is made of.
    pub(crate) base: Uses,
}

impl Clones {
    /// The clones of the flags or, where there are none of a name, of the environment and of the
    /// configuration.
    ///
    /// # Errors
    /// Where one of them names nothing that is there.
    pub(super) fn named(
        selection: &Selection,
        configured: &FoundConfiguration,
    ) -> Result<Self, Error> {
        let mut clones: Vec<LocalClone> = Vec::new();
        for text in &selection.repositories {
            let clone = LocalClone::parsed(text, &selection.directory, "--repository ")?;
            if clones.iter().any(|it| it.name == clone.name) {
                let message = format!("`--repository` names `{}` twice", clone.name);
                let help = "leave one of them out";
                return Err(Error::new(ErrorKind::Usage, message).with_help(help));
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
                let message = format!("{at}: a bare repository has no folder to find it from");
                Error::new(ErrorKind::Usage, message)
                    .with_help(format!("give `--repository {}=PATH`", name.value))
            })?;
            let wanted = CloneRevision::of(repository.revision.as_deref());
            let clone = LocalClone::open(&name.value, &repository.path, folder, wanted);
            let clone = clone.map_err(|error| {
                let help = error.help().unwrap_or("mend its path or revision").to_owned();
                Error::new(ErrorKind::Usage, format!("{at}: {error}")).with_help(help)
            })?;
            let (address, links) = (repository.url.clone(), repository.links.clone());
            clones.push(LocalClone { address, links, ..clone });
        }
        Ok(Self(clones))
    }

    /// A file or folder that the user named as `NAME:path`, if NAME is one of these.
    pub(super) fn path_of(&self, file: &Path) -> Option<RepoPath> {
        let text = file.to_str()?;
        let (name, _) = text.split_once(':')?;
        let is_known = self.0.iter().any(|clone| &*clone.name == name);
        is_known.then(|| RepoPath::new(text.trim_end_matches('/')))
    }

    /// Opens what the sites of both sides are made of.
    pub(super) fn open(
        self,
        head: TreeAndLayout<'_>,
        base: Option<TreeAndLayout<'_>>,
    ) -> OpenedRepositories {
        if self.0.is_empty() {
            return self.unopened();
        }
        let mut opening = Opening { clones: &self.0, ..Opening::default() };
        let head = opening.side(head);
        let base = base.map(|base| opening.side(base)).unwrap_or_default();
        let further = opening.further;
        OpenedRepositories { clones: self, further, head, base }
    }

    /// These, where no site is made of them.
    pub(super) fn unopened(self) -> OpenedRepositories {
        let (head, base) = (Uses::new(), Uses::new());
        OpenedRepositories { clones: self, further: Vec::new(), head, base }
    }
}

impl OpenedRepositories {
    /// The same clones, to open what more sides are made of.
    pub(super) fn opening(&self) -> Opening<'_> {
        Opening { clones: &self.clones.0, ..Opening::default() }
    }

    /// That files and folders of further repositories are in one of their revisions.
    pub(super) fn ensure_there(&self, paths: &[RepoPath]) -> Result<(), Error> {
        for path in paths {
            let name = path.as_str().split_once(':').map(|(name, _)| name);
            if !self.clones.0.iter().any(|clone| Some(&*clone.name) == name) {
                continue;
            }
            let mut is_there = false;
            for opened in self.further.iter().filter(|it| Some(&*it.name) == name) {
                let entries = opened.tree.entries(&opened.tree.root())?;
                is_there |=
                    entries.iter().any(|it| it.path == *path || it.path.below(path).is_some());
            }
            if !is_there {
                let message = format!("`{path}` is in no revision that a site is made of");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        }
        Ok(())
    }

    /// That the revisions which a user asks about can be read.
    pub(super) fn ensure_read(&self, bumps: &[Bump]) -> Result<(), Error> {
        for bump in bumps {
            if let Some(base) = &bump.base {
                bump.ensure_read(&self.base, base)?;
            }
            bump.ensure_read(&self.head, &bump.head)?;
        }
        Ok(())
    }

    /// Adds the commits between the revisions of both sides, as far as they can be read.
    pub(super) fn add_history(&self, used: &mut [UsedRepository]) {
        for used in used {
            let commit = |it: &Option<UsedRevision>| {
                it.as_ref().and_then(|revision| revision.commit.clone())
            };
            let (Some(base), Some(head)) = (commit(&used.base), commit(&used.head)) else {
                continue;
            };
            let clone = self.clones.0.iter().find(|clone| clone.name == used.name);
            if let Some(LocalClone { place: CloneFiles::Repository(repository, _), .. }) = clone
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
    /// `NAME=PATH`, `NAME=PATH@REV` or `NAME=PATH@worktree`; `given_by` is what is written before
    /// it.
    fn parsed(text: &str, directory: &Path, given_by: &str) -> Result<Self, Error> {
        let malformed = || {
            let message = format!("`{given_by}{text}` names no repository");
            let help = "write it as NAME=PATH, NAME=PATH@REV or NAME=PATH@worktree, e.g. \
                        `global=../treasuremap`";
            Error::new(ErrorKind::Usage, message).with_help(help)
        };
        let (name, place) = text.split_once('=').ok_or_else(malformed)?;
        if name.is_empty() || place.is_empty() || name.contains([':', '/']) {
            return Err(malformed());
        }
        // A path may hold an `@` itself: what is there as it stands is taken so.
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
                let inside = repository.prefix(&folder).unwrap_or_else(|| RepoPath::new(""));
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

    /// That what is wanted of it in place of pins can be read.
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
                let help = format!("leave `@worktree` out: `--repository {name}={shown}`");
                Err(Error::new(ErrorKind::Usage, message).with_help(help))
            }
            (CloneFiles::Folder(_), CloneRevision::Revision(_)) => {
                let message = format!("`{shown}` is not inside a git repository");
                Err(Error::new(ErrorKind::Git, message).with_help("leave `@REV` out"))
            }
            (
                CloneFiles::Repository(..) | CloneFiles::Folder(_),
                CloneRevision::Pins | CloneRevision::WorkTree,
            ) => Ok(()),
        }
    }

    /// Whether it stands for what a site definition names.
    fn is_for(&self, named: &NamedRepository) -> bool {
        match (&self.address, &named.url) {
            (None, _) => self.name == named.name.value,
            (Some(own), Some(url)) => is_same_address(own, url),
            (Some(_), None) => false,
        }
    }

    /// The revision that a site which pins this is made of, and what chose it; none where files on
    /// disk are read.
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
            help: error.help().unwrap_or("mend the clone").to_owned(),
        };
        let (tree, inside, commit): (AnyTree, RepoPath, Option<Arc<str>>) =
            match (&self.place, revision) {
                (CloneFiles::Repository(repository, inside), Some(revision)) => {
                    let folders = LAYERS.map(|layer| inside.join(layer));
                    let tree = repository.pinned(revision, &folders).map_err(|error| {
                        let fetch = repository.fetch_command(shown, revision);
                        Unreadable { reason: error.to_string(), help: cure(&error, fetch) }
                    })?;
                    let commit = tree.commit_id().map(Arc::from);
                    (Box::new(tree), inside.clone(), commit)
                }
                (CloneFiles::Folder(_), Some(_)) => {
                    let reason = format!("`{shown}` is in no git repository");
                    let worktree = format!("`--repository {}={shown}@worktree`", self.name);
                    let help = format!("name a clone, or read the files as they are: {worktree}");
                    return Err(Unreadable { reason, help });
                }
                (CloneFiles::Repository(repository, _), None)
                    if repository.work_tree_root().is_none() =>
                {
                    let reason =
                        format!("`{shown}` is a bare repository, and no revision is pinned");
                    let help = "pin one: `revision: REV` beside its `url`".to_owned();
                    return Err(Unreadable { reason, help });
                }
                (CloneFiles::Repository(repository, inside), None) => {
                    let tree = WorkTree::in_repository(repository).map_err(unreadable)?;
                    (Box::new(tree), inside.clone(), None)
                }
                (CloneFiles::Folder(folder), None) => {
                    let tree = WorkTree::in_folder(folder.clone()).map_err(unreadable)?;
                    (Box::new(tree), RepoPath::new(""), None)
                }
            };
        let (name, links) = (self.name.clone(), self.links.clone());
        Ok(Further { tree: Labelled::new(&name, tree, inside), name, commit, links })
    }
}

/// Refuses a submodule that is not checked out: for git it is part of the repository around it.
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
            let help = format!("`git submodule update --init {}` does it", shell_word(shown));
            Err(Error::new(ErrorKind::Git, message).with_help(help))
        }
        Nested::Untracked => Ok(()),
    }
}

/// What helps where a pinned revision cannot be read.
fn cure(error: &Error, fetch: Option<String>) -> String {
    let near = error.help().filter(|help| help.starts_with("did you mean"));
    match (near, fetch) {
        (Some(near), Some(fetch)) => format!("{near} Or else `{fetch}` gets it"),
        (Some(near), None) => near.to_owned(),
        (None, Some(fetch)) => format!("`{fetch}` gets it, if the remote has it"),
        // The clone is not the repository that a help for it speaks of.
        (None, None) => {
            "bring the revision to the clone, which has no remote, or pin another".to_owned()
        }
    }
}

/// A clone by its number, and a revision or a commit of it by name; none where its files on disk
/// are read.
type Revision = (usize, Option<Arc<str>>);

/// What is known of clones while they are opened.
#[derive(Default)]
pub(super) struct Opening<'c> {
    clones: &'c [LocalClone],
    pub(super) further: Vec<Further>,
    /// Numbers among these, by commit.
    opened: BTreeMap<Revision, usize>,
    /// The same by revision.
    known: BTreeMap<Revision, Result<usize, Unreadable>>,
}

impl<'c> Opening<'c> {
    /// What the sites of a side are made of.
    pub(super) fn side(&mut self, (tree, layout): TreeAndLayout<'_>) -> Uses {
        let mut uses = Uses::new();
        for (site, path) in layout.definitions() {
            let Some(definition) = check::first_document(tree, &path) else { continue };
            let of_site = match &Layout::repositories_of(&definition) {
                Some(named) => named.iter().filter_map(|named| self.named(named)).collect(),
                None => self.all(),
            };
            uses.insert(site.clone(), of_site);
        }
        uses
    }

    /// The same clones, none of which is opened.
    pub(super) fn again(&self) -> Self {
        Self { clones: self.clones, ..Self::default() }
    }

    /// Whether no clone is given.
    pub(super) fn is_empty(&self) -> bool {
        self.clones.is_empty()
    }

    /// The index of the clone that was given under this name, with its repository and the folder in
    /// that; none of a folder outside git.
    pub(super) fn clone_named(&self, given: &str) -> Option<(usize, &'c Repository, &'c RepoPath)> {
        let index = self.clones.iter().position(|clone| *clone.name == *given)?;
        match &self.clones[index].place {
            CloneFiles::Repository(repository, inside) => Some((index, repository, inside)),
            CloneFiles::Folder(_) => None,
        }
    }

    /// The number of what a clone is at a commit, which is opened now if it was not.
    ///
    /// # Errors
    /// If its files cannot be read.
    pub(super) fn at_commit(&mut self, clone: usize, commit: &str) -> Result<usize, Error> {
        let found = self.number_of((clone, Some(commit.into())));
        found.map_err(|why| Error::new(ErrorKind::Git, why.reason).with_help(why.help))
    }

    /// A repository that a site definition names; none if it is not given, or its pin is wrong.
    fn named(&mut self, named: &NamedRepository) -> Option<Use> {
        let clone = self.clones.iter().position(|clone| clone.is_for(named))?;
        let pin = match named.pin.as_ref().map(|pin| &pin.value) {
            Some(Pin::Revision(revision)) => Some(revision),
            Some(Pin::NotAString(_)) => return None,
            None => None,
        };
        Some(self.read(named.name.value.clone(), clone, pin))
    }

    /// All repositories, as of a site that names none.
    fn all(&mut self) -> Vec<Use> {
        let clones = self.clones.iter().enumerate();
        clones.map(|(at, clone)| self.read(clone.name.clone(), at, None)).collect()
    }

    /// What a site that calls a clone `name` and pins this is made of.
    fn read(&mut self, name: Arc<str>, clone: usize, pin: Option<&Arc<str>>) -> Use {
        let (chosen_by, revision) = self.clones[clone].chosen(pin);
        let found = self.number_of((clone, revision.clone()));
        let commit = found.as_ref().ok().and_then(|at| self.further[*at].commit.clone());
        let given = self.clones[clone].name.clone();
        Use { name, given, revision: UsedRevision { chosen_by, revision, commit }, found }
    }

    /// The number of what was opened for a revision, which is opened now if it was not.
    fn number_of(&mut self, revision: Revision) -> Result<usize, Unreadable> {
        if let Some(known) = self.known.get(&revision) {
            return known.clone();
        }
        let (clone, name) = &revision;
        let found = self.clones[*clone].opened(name.as_deref()).map(|opened| {
            let next = self.further.len();
            let number = *self.opened.entry((*clone, opened.commit.clone())).or_insert(next);
            if number == next {
                self.further.push(opened);
            }
            number
        });
        self.known.insert(revision, found.clone());
        found
    }
}

/// Another revision of a further repository than is pinned, to be compared with what is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bump {
    /// The name of the repository in site definitions.
    pub(crate) name: String,
    /// The revision on the base side; none where that is as it is pinned.
    pub(crate) base: Option<String>,
    /// The revision on the head side.
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
    /// `NAME=REV` or `NAME=A..B`.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn parsed(text: &str) -> Result<Self, Error> {
        let malformed = || {
            let message = "it names no revision; write NAME=REV or NAME=A..B, e.g. `global=v1.8`";
            Error::new(ErrorKind::Usage, message)
        };
        let (name, revisions) = text.split_once('=').ok_or_else(malformed)?;
        let (base, head) = match revisions.split_once("..") {
            Some((base, head)) => (Some(base.to_owned()), head.trim_start_matches('.')),
            None => (None, revisions),
        };
        if name.is_empty() || head.is_empty() || base.as_deref() == Some("") {
            return Err(malformed());
        }
        Ok(Self { name: name.to_owned(), base, head: head.to_owned() })
    }

    /// That sites which pin `revision` are made of it.
    fn ensure_read(&self, uses: &Uses, revision: &str) -> Result<(), Error> {
        let uses = uses.values().flatten().filter(|it| *it.name == *self.name);
        let uses: Vec<&Use> = uses.collect();
        let is_pinned = |it: &&Use| it.revision.chosen_by == RevisionChoice::Pin;
        if uses.is_empty() {
            let help = format!("name one: `--repository {}=PATH`", self.name);
            let message = format!("no clone of `{}` is named", self.name);
            return Err(Error::new(ErrorKind::Usage, message).with_help(help));
        }
        if !uses.iter().any(is_pinned) {
            let message = format!("a revision of `{}` is given in place of every pin", self.name);
            let help = format!("name the clone alone: `--repository {}=PATH`", self.name);
            return Err(Error::new(ErrorKind::Usage, message).with_help(help));
        }
        let asked = uses.iter().filter(|it| it.revision.revision.as_deref() == Some(revision));
        let mut unread = asked.filter_map(|it| it.found.as_ref().err());
        match unread.next() {
            Some(why) => Err(Error::new(ErrorKind::Git, &*why.reason).with_help(&*why.help)),
            None => Ok(()),
        }
    }

    /// `tree` with `revision` pinned in the definitions of the sites that match one of the globs;
    /// of all where there is none.
    pub(super) fn applied(
        &self,
        tree: AnyTree,
        from: &RepoPath,
        revision: &str,
        sites: &[String],
    ) -> Result<AnyTree, Error> {
        let globs = super::globs(sites)?;
        let Some(layout) = Layout::discover(&tree, from)? else { return Ok(tree) };
        let mut texts = BTreeMap::new();
        let mut known = BTreeSet::new();
        for (site, path) in layout.definitions() {
            if globs.as_ref().is_some_and(|globs| !globs.is_match(&**site)) {
                continue;
            }
            let Some(definition) = check::first_document(&tree, &path) else { continue };
            let named = Layout::repositories_of(&definition).unwrap_or_default();
            known.extend(named.iter().map(|it| it.name.value.to_string()));
            let Some(repository) = named.iter().find(|it| *it.name.value == *self.name) else {
                continue;
            };
            let text = tree.read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let repinned = text.and_then(|text| repinned(&text, &named, repository, revision));
            let text = repinned.ok_or_else(|| {
                let message = format!(
                    "{path}: the revision of `{}` cannot be replaced where it is written",
                    self.name
                );
                let help =
                    format!("write `revision: {revision}` there, and compare without `--bump`");
                Error::new(ErrorKind::Usage, message).with_help(help)
            })?;
            texts.insert(path, Arc::from(text));
        }
        if texts.is_empty() {
            let message = format!("no site names the repository `{}`", self.name);
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let help = if known.is_empty() {
                "site definitions name them in `data.repositories`".to_owned()
            } else {
                format!("they name {}", known.join(", "))
            };
            return Err(Error::new(ErrorKind::Usage, message).with_help(help));
        }
        Ok(Box::new(Overlay::new(tree, texts)))
    }
}

/// The text of a definition with another revision of one of the repositories that it names; none
/// where that would change more.
fn repinned(
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
        (Some(pin), _) => written.map(|it| with(pin.span.start, pin.span.end, it)).collect(),
        (None, Some(key)) => {
            let line = text.get(..key.start as usize)?.rsplit('\n').next()?;
            let indent = " ".repeat(line.chars().count());
            let block = written.clone().map(|it| format!("revision: {it}\n{indent}"));
            let flow = written.map(|it| format!("revision: {it}, "));
            block.chain(flow).map(|it| with(key.start, key.start, &it)).collect()
        }
        (None, None) => Vec::new(),
    };
    let pins = |named: &[NamedRepository]| -> Vec<(Arc<str>, Option<Pin>)> {
        let pin = |it: &NamedRepository| it.pin.as_ref().map(|pin| pin.value.clone());
        named.iter().map(|it| (it.name.value.clone(), pin(it))).collect()
    };
    let mut wanted = pins(named);
    for (name, pin) in &mut wanted {
        if *name == repository.name.value {
            *pin = Some(Pin::Revision(revision.into()));
        }
    }
    candidates.into_iter().flatten().find(|text| {
        let parsed = yaml::parse(FileId::default(), text);
        let first = parsed.documents.first().filter(|_| parsed.problems.is_empty());
        let named = first.and_then(|first| Layout::repositories_of(&first.root));
        named.is_some_and(|named| pins(&named) == wanted)
    })
}
