//! Git repositories: their working trees listed, their commits read.
//!
//! The only place that knows git, and it asks gix in-process; no `git` is
//! run, nothing is fetched and nothing is written.
//!
//! [`Repository::discover`] keeps git's own environment variables. As a hook,
//! layercake is started with `GIT_DIR` and, for a commit of only some files,
//! with a `GIT_INDEX_FILE` of that commit: without them it would answer for
//! another repository, or for another set of tracked files, than the one git
//! asks about. Further repositories are not what these variables speak of and
//! are found without them, by [`Repository::discover_further`].

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind as Mode;

use super::tree::path_of;
use super::{ContentId, Entry, EntryKind, ReadError, RepoPath, Source, Tree};
use crate::error::{Error, ErrorKind};

/// A git repository, with a working tree or without. Cheap to clone.
#[derive(Clone)]
pub struct Repository {
    shared: gix::ThreadSafeRepository,
}

impl Repository {
    /// The repository that `from` lies in, or that git's environment names;
    /// `None` where there is none.
    ///
    /// # Errors
    /// Where there is one that cannot be opened, or no folder `from`.
    pub fn discover(from: &Path) -> Result<Option<Self>, Error> {
        let found = gix::ThreadSafeRepository::discover_with_environment_overrides_opts(
            from,
            upwards(),
            gix::sec::trust::Mapping::default(),
        );
        Self::found(found, from)
    }

    /// The repository that `from` lies in, whatever git's environment says,
    /// which speaks of the first repository only.
    ///
    /// # Errors
    /// Where there is one that cannot be opened, or no folder `from`.
    pub fn discover_further(from: &Path) -> Result<Option<Self>, Error> {
        let mut trust = gix::sec::trust::Mapping::<gix::open::Options>::default();
        for options in [&mut trust.full, &mut trust.reduced] {
            options.modify(|options| options.permissions(deaf_to_git_variables()));
        }
        Self::found(gix::ThreadSafeRepository::discover_opts(from, upwards(), trust), from)
    }

    fn found(
        found: gix::Result<gix::ThreadSafeRepository>,
        from: &Path,
    ) -> Result<Option<Self>, Error> {
        match found {
            Ok(shared) => Ok(Some(Self { shared })),
            Err(error) if says_no_repository(&error) => Ok(None),
            Err(error) => Err(Error::new(
                ErrorKind::Git,
                format!("the git repository of `{}` cannot be opened", from.display()),
            )
            .caused_by(error)),
        }
    }

    /// The root of the working tree; a bare repository has none.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.shared.work_dir()
    }

    /// Where `from` lies inside the working tree, its symbolic links and `..`
    /// resolved; `None` where it is outside, or not UTF-8.
    pub fn prefix(&self, from: &Path) -> Option<RepoPath> {
        let root = gix::path::realpath(self.work_tree_root()?).ok()?;
        let inside = gix::path::realpath(from).ok()?;
        let parts = inside.strip_prefix(root).ok()?.components();
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        Some(RepoPath::new(parts?.join("/")))
    }

    /// The files of the commit that `revision` names: a branch, a tag, an id,
    /// or any of git's expressions for one (`HEAD~1`, `origin/main`).
    ///
    /// # Errors
    /// Where `revision` names no commit, or one whose folders are not all
    /// here; the help says how to get them.
    pub fn commit(&self, revision: &str) -> Result<CommitTree, Error> {
        let repository = self.shared.to_thread_local();
        let object = repository
            .rev_parse_single(revision)
            .and_then(|id| id.object())
            .map_err(|cause| unresolved(&repository, revision, cause))?;
        let kind = object.kind;
        let Ok(commit) = object.peel_to_commit() else {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("`{revision}` is a {kind}, not a commit"),
            ));
        };
        let id = commit.id;
        let paths = paths_of(&repository, id).map_err(|cause| {
            let message = format!("the files of `{revision}` cannot be listed");
            let error = Error::new(ErrorKind::Git, message).caused_by(cause);
            error.with_help(missing_objects_help(&repository))
        })?;
        Ok(CommitTree::new(self.clone(), id, paths))
    }

    /// What git sees below `folder` of the working tree: files that are
    /// tracked and on disk, whether ignored or not, and files that are neither
    /// tracked nor ignored. Unsorted; folders are not listed, and repositories
    /// inside this one are listed without what they hold.
    pub(super) fn on_disk(&self, folder: &RepoPath) -> Result<Vec<OnDisk>, Error> {
        self.walk(folder).map_err(|cause| {
            let message = match self.work_tree_root() {
                Some(root) => format!("the working tree `{}` cannot be listed", root.display()),
                None => "the working tree cannot be listed".to_owned(),
            };
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }

    fn walk(&self, folder: &RepoPath) -> gix::Result<Vec<OnDisk>> {
        let repository = self.shared.to_thread_local();
        let index = repository.index_or_empty()?;
        let options = repository.dirwalk_options()?.emit_tracked(true);
        let only = (!folder.as_str().is_empty()).then(|| format!(":(top,literal){folder}"));
        let mut seen = Seen(Vec::with_capacity(index.entries().len()));
        let only = only.as_deref().map(BStr::new);
        repository.dirwalk(&index, only, &AtomicBool::new(false), options, &mut seen)?;
        Ok(seen.0)
    }
}

/// Ceilings that do not lie above the start are no error to git either.
fn upwards() -> gix::discover::upwards::Options<'static> {
    gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() }
}

fn deaf_to_git_variables() -> gix::open::Permissions {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.git_prefix = gix::sec::Permission::Deny;
    permissions.config.env = false;
    permissions
}

fn says_no_repository(error: &gix::Error) -> bool {
    use gix::discover::upwards::Error::{
        NoGitRepository, NoGitRepositoryWithinCeiling, NoGitRepositoryWithinFs,
    };
    error.downcast_any_ref().is_some_and(|error| {
        matches!(
            error,
            NoGitRepository { .. }
                | NoGitRepositoryWithinCeiling { .. }
                | NoGitRepositoryWithinFs { .. }
        )
    })
}

/// One path of the working tree as git sees it.
pub(super) struct OnDisk {
    /// The path, `/` between its parts, in whatever bytes its name has.
    pub(super) path: BString,
    /// What is there.
    pub(super) kind: OnDiskKind,
}

/// What a path of the working tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnDiskKind {
    /// A file, or something that is none, such as a pipe.
    File,
    /// A symbolic link, to whatever.
    Link,
    /// A submodule or any other repository.
    Repository,
}

/// Collects what gix's walk emits.
struct Seen(Vec<OnDisk>);

impl gix::dir::walk::Delegate for Seen {
    fn emit(
        &mut self,
        entry: gix::dir::EntryRef<'_>,
        _: Option<gix::dir::entry::Status>,
    ) -> gix::dir::walk::Action {
        use gix::dir::entry::Kind;
        let kind = match entry.disk_kind {
            Some(Kind::File | Kind::Untrackable) => Some(OnDiskKind::File),
            Some(Kind::Symlink) => Some(OnDiskKind::Link),
            Some(Kind::Repository) => Some(OnDiskKind::Repository),
            Some(Kind::Directory) | None => None,
        };
        let path = entry.rela_path.into_owned();
        self.0.extend(kind.map(|kind| OnDisk { path, kind }));
        gix::dir::walk::Action::Continue(())
    }

    /// As git does by default, but also into folders of which a sparse
    /// checkout leaves out every file: what is there all the same counts.
    fn can_recurse(
        &mut self,
        entry: gix::dir::EntryRef<'_>,
        for_deletion: Option<gix::dir::walk::ForDeletionMode>,
        root_is_repository: bool,
    ) -> bool {
        use gix::dir::entry::{Kind, Property};
        let left_out = entry.property == Some(Property::TrackedExcluded);
        (left_out && entry.disk_kind == Some(Kind::Directory))
            || entry.status.can_recurse(
                entry.disk_kind,
                entry.pathspec_match,
                for_deletion,
                root_is_repository,
            )
    }
}

/// The files of one commit. Symbolic links are followed inside the commit;
/// nothing outside of it can be reached. Contents are those that git stored:
/// no line ending is converted, no large-file pointer resolved.
pub struct CommitTree {
    repository: Repository,
    id: gix::ObjectId,
    entries: Vec<Entry>,
    paths: Paths,
    /// Handles that wait for the next reader: each reading thread takes one,
    /// and with it the packs it has unpacked.
    handles: Mutex<Vec<gix::Repository>>,
}

/// What stands at each path of a commit, folders included.
type Paths = BTreeMap<BString, (Mode, gix::ObjectId)>;

impl CommitTree {
    /// The id of the commit, in hexadecimal digits.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    fn new(repository: Repository, id: gix::ObjectId, paths: Paths) -> Self {
        let handles = Mutex::default();
        let mut tree = Self { repository, id, entries: Vec::new(), paths, handles };
        let mut entries: Vec<Entry> = tree
            .paths
            .iter()
            .filter_map(|(path, (mode, id))| tree.entry(path, *mode, *id))
            .collect();
        // `BString`s sort as `str`s do, but for what replacement characters moved
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        tree.entries = entries;
        tree
    }

    fn entry(&self, path: &[u8], mode: Mode, id: gix::ObjectId) -> Option<Entry> {
        let (path, utf8) = path_of(path);
        let (kind, content) = match mode {
            Mode::Tree => return None,
            Mode::Commit => (EntryKind::Submodule, None),
            Mode::Blob | Mode::BlobExecutable => (EntryKind::File, Some(content_id(id))),
            Mode::Link => match self.resolve(&path) {
                Ok(Target::Folder | Target::Submodule) => return None,
                Ok(Target::File(id)) => (EntryKind::File, Some(content_id(id))),
                Err(_) => (EntryKind::File, None),
            },
        };
        let (kind, content) = if utf8 { (kind, content) } else { (EntryKind::NotUtf8, None) };
        Some(Entry { path, kind, content })
    }

    /// What `path` names, its symbolic links followed.
    fn resolve(&self, path: &RepoPath) -> Result<Target, ReadError> {
        let mut ahead: Vec<BString> = parts_in_reverse(path.as_str().into());
        let mut here = BString::default();
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == ".." {
                here = parent(here).ok_or_else(|| ReadError::new(LEADS_OUT))?;
                continue;
            }
            let folder = here.len();
            if folder > 0 {
                here.push(b'/');
            }
            here.extend_from_slice(&part);
            match self.paths.get(&here) {
                Some((Mode::Link, _)) if links == MAX_LINKS => {
                    return Err(ReadError::new(TOO_MANY_LINKS));
                }
                Some((Mode::Link, id)) => {
                    links += 1;
                    let target = self.link_target(*id)?;
                    here.truncate(folder);
                    ahead.extend(parts_in_reverse(target.as_bstr()));
                }
                Some((Mode::Tree, _)) => {}
                Some((mode, id)) if ahead.is_empty() => return Ok(Target::of(*mode, *id)),
                None | Some(_) if links > 0 => return Err(ReadError::new(LEADS_NOWHERE)),
                None | Some(_) => return Err(ReadError::new(NO_SUCH_FILE)),
            }
        }
        Ok(Target::Folder)
    }

    fn link_target(&self, id: gix::ObjectId) -> Result<BString, ReadError> {
        let target: BString = self.blob(id, MAX_LINK_BYTES)?.into();
        if target.starts_with(b"/") { Err(ReadError::new(LEADS_OUT)) } else { Ok(target) }
    }

    fn blob(&self, id: gix::ObjectId, limit: u64) -> Result<Vec<u8>, ReadError> {
        let repository = self.handle();
        let bytes = match repository.try_find_header(id) {
            Ok(Some(header)) if header.size() > limit => Err(ReadError::TooLarge(header.size())),
            Ok(Some(_)) => repository
                .find_blob(id)
                .map(|mut blob| blob.take_data())
                .map_err(|error| ReadError::new(error.to_string())),
            Ok(None) => Err(ReadError::new(format!("git object {id} is not in this clone"))),
            Err(error) => Err(ReadError::new(error.to_string())),
        };
        self.hand_back(repository);
        bytes
    }

    fn handle(&self) -> gix::Repository {
        let waiting = self.handles.lock().unwrap_or_else(PoisonError::into_inner).pop();
        waiting.unwrap_or_else(|| self.repository.shared.to_thread_local())
    }

    fn hand_back(&self, handle: gix::Repository) {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }
}

impl Tree for CommitTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        // a folder's entries follow its own path, but siblings such as
        // `folder-2` may stand between them: `-` sorts before `/`
        let inside = self.entries.iter().filter(|entry| entry.path.below(folder).is_some());
        Ok(inside.cloned().collect())
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        if let Some((Mode::Blob | Mode::BlobExecutable, id)) =
            self.paths.get(path.as_str().as_bytes().as_bstr())
        {
            return self.blob(*id, Source::MAX_BYTES);
        }
        match self.resolve(path)? {
            Target::File(id) => self.blob(id, Source::MAX_BYTES),
            Target::Folder => Err(ReadError::new("a folder, not a file")),
            Target::Submodule => Err(ReadError::new("a submodule, not a file")),
        }
    }

    fn ensure_present(&self, files: &[RepoPath]) -> Result<(), Error> {
        let repository = self.handle();
        let missing = if is_partial(&repository) {
            let resolved = files.iter().filter_map(|path| self.resolve(path).ok());
            resolved.filter(|target| target.is_missing_from(&repository)).count()
        } else {
            0
        };
        self.hand_back(repository);
        if missing == 0 {
            return Ok(());
        }
        let message = format!(
            "{missing} of {} files of commit {} are not in this partial clone",
            files.len(),
            self.id.to_hex_with_len(12)
        );
        Err(Error::new(ErrorKind::Git, message).with_help(PARTIAL_HELP))
    }
}

/// What a path of a commit names in the end.
#[derive(Clone, Copy)]
enum Target {
    File(gix::ObjectId),
    Folder,
    Submodule,
}

impl Target {
    fn of(mode: Mode, id: gix::ObjectId) -> Self {
        match mode {
            Mode::Blob | Mode::BlobExecutable | Mode::Link => Self::File(id),
            Mode::Tree => Self::Folder,
            Mode::Commit => Self::Submodule,
        }
    }

    fn is_missing_from(self, repository: &gix::Repository) -> bool {
        match self {
            Self::File(id) => !repository.has_object(id),
            Self::Folder | Self::Submodule => false,
        }
    }
}

const NO_SUCH_FILE: &str = "no such file";
const LEADS_OUT: &str = "a symbolic link that leads out of the repository";
const LEADS_NOWHERE: &str = "a symbolic link to nothing";
const TOO_MANY_LINKS: &str = "too many symbolic links on the way to it";

/// As many as Linux follows.
const MAX_LINKS: usize = 40;
/// As long as a path can be on Linux.
const MAX_LINK_BYTES: u64 = 4096;

fn parts_in_reverse(path: &BStr) -> Vec<BString> {
    let parts = path.rsplit(|byte| *byte == b'/');
    parts.filter(|part| !part.is_empty() && *part != b".").map(BString::from).collect()
}

/// The folder that `path` is in; the root is in none.
fn parent(mut path: BString) -> Option<BString> {
    if path.is_empty() {
        return None;
    }
    let end = path.rfind_byte(b'/').unwrap_or(0);
    path.truncate(end);
    Some(path)
}

fn content_id(id: gix::ObjectId) -> ContentId {
    ContentId::new(id.as_bytes())
}

fn paths_of(repository: &gix::Repository, commit: gix::ObjectId) -> gix::Result<Paths> {
    let tree = repository.find_commit(commit)?.tree()?;
    let listed = tree.traverse().breadthfirst.files()?.into_iter();
    Ok(listed.map(|entry| (entry.filepath, (entry.mode.kind(), entry.oid))).collect())
}

/// Why `revision` could not be resolved, and what helps: git says little more
/// than that it does not know it.
fn unresolved(repository: &gix::Repository, revision: &str, cause: gix::Error) -> Error {
    if let Some(help) = ambiguity_help(&cause) {
        let message = format!("`{revision}` is short for several objects");
        return Error::new(ErrorKind::Git, message).with_help(help);
    }
    if let Some(branch) = unborn_branch(repository, revision) {
        let message = format!("`{revision}` names no commit: branch `{branch}` has none yet");
        return Error::new(ErrorKind::Git, message).with_help("make the first commit");
    }
    if revision.contains("..") {
        let message = format!("`{revision}` is a range, not one commit");
        return Error::new(ErrorKind::Usage, message).with_help("name one of its two ends");
    }
    let error = Error::new(ErrorKind::Git, format!("unknown revision `{revision}`"));
    let error = match unknown_help(repository, revision) {
        Some(help) => error.with_help(help),
        None => error.with_help("name a commit, branch or tag of this repository"),
    };
    error.caused_by(cause)
}

fn ambiguity_help(cause: &gix::Error) -> Option<String> {
    use gix::revision::spec::parse::Error::AmbiguousPrefix;
    let Some(AmbiguousPrefix { candidates, .. }) = cause.downcast_any_ref() else {
        return None;
    };
    let candidates: Vec<String> = candidates.iter().map(|(id, _)| format!("`{id}`")).collect();
    Some(format!("use more digits: {}", candidates.join(", ")))
}

/// The name of the checked-out branch, if it has no commit and is what
/// `revision` starts from.
fn unborn_branch(repository: &gix::Repository, revision: &str) -> Option<String> {
    let head = repository.head().ok().filter(gix::Head::is_unborn)?;
    let branch = head.referent_name()?.shorten().to_string();
    ["HEAD", "@", &branch].contains(&base_name(revision)).then_some(branch)
}

/// What `revision` starts from: `main` of `main~2^{tree}`.
fn base_name(revision: &str) -> &str {
    let end = revision.find(['~', '^', ':']).or_else(|| revision.find("@{"));
    &revision[..end.unwrap_or(revision.len())]
}

fn unknown_help(repository: &gix::Repository, revision: &str) -> Option<String> {
    let name = base_name(revision);
    let remotes: Vec<String> = repository.remote_names().iter().map(ToString::to_string).collect();
    let tracked = remotes.iter().map(|remote| format!("{remote}/{name}"));
    let mut tracked = tracked.filter(|tracked| resolves(repository, tracked));
    if let Some(tracked) = tracked.next().filter(|_| !resolves(repository, name)) {
        return Some(format!("there is `{tracked}{}`", &revision[name.len()..]));
    }
    let shallow = repository.is_shallow().unwrap_or(false);
    let depth = if shallow { " --unshallow" } else { "" };
    let of_remote = remotes.iter().find(|remote| {
        name.strip_prefix(remote.as_str()).is_some_and(|branch| branch.starts_with('/'))
    });
    let fetch = match of_remote.filter(|_| !resolves(repository, name)) {
        // a clone of one branch fetches no other unless told to
        Some(remote) => {
            format!("`git fetch{depth} {remote} '+refs/heads/*:refs/remotes/{remote}/*'`")
        }
        None if shallow => "`git fetch --unshallow`".to_owned(),
        None => return None,
    };
    Some(if shallow {
        format!(
            "this clone is shallow; {fetch} gets the rest \
             (with `actions/checkout`: `fetch-depth: 0`)"
        )
    } else {
        format!("{fetch} gets the branches of `{}`", of_remote.map_or("", String::as_str))
    })
}

fn resolves(repository: &gix::Repository, name: &str) -> bool {
    repository.rev_parse_single(name).is_ok_and(|id| repository.has_object(id))
}

const PARTIAL_HELP: &str = "`git fetch --refetch --no-filter` gets what a partial clone left out";

fn missing_objects_help(repository: &gix::Repository) -> &'static str {
    if is_partial(repository) { PARTIAL_HELP } else { "`git fsck` tells what the repository lacks" }
}

/// Whether objects may be missing because the clone was made with a filter.
fn is_partial(repository: &gix::Repository) -> bool {
    let config = repository.config_snapshot();
    let mut remotes = repository.remote_names().into_iter();
    remotes.any(|remote| config.boolean(&format!("remote.{remote}.promisor")) == Some(true))
        || config.string("extensions.partialClone").is_some()
}
