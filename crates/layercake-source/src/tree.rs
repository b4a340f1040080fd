//! Trees of files: what a run reads from.
//!
//! The only place that reads the file system. A tree gives out what lies
//! inside it and nothing else: a symbolic link that leads out of it, or into
//! `.git`, is refused, so that a pull request cannot have the files of the
//! machine that checks it read and quoted.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::GlobSet;
use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use super::git::{Checkout, WorkTreePath, WorkTreePathKind};
use super::nested::{all_files, checked_out};
use super::{Nested, RepoPath, Repository, Source, StoredTree};
use crate::error::{Error, ErrorKind};

/// Somewhere files are: a working tree, a commit, the index, a map in memory.
///
/// A tree made of another one has that as its [`inner`](Tree::inner) tree and answers what it
/// changes; all other questions go to the inner tree.
pub trait Tree: Sync {
    /// The tree that answers what this one does not; without one, there are no files but those
    /// that this tree answers for.
    fn inner(&self) -> Option<&dyn Tree> {
        None
    }

    /// Path in the [`inner`](Tree::inner) tree of what is at `path` here.
    fn inner_path(&self, path: &RepoPath) -> Option<RepoPath> {
        Some(path.clone())
    }

    /// Every entry below `folder`, sorted by path; folders themselves are not
    /// entries. What git ignores is left out. A `folder` that is not there
    /// has no entries, and one that is a submodule has itself.
    ///
    /// # Errors
    /// Where the tree as a whole cannot be listed.
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        inner_at(self, folder).map_or(Ok(Vec::new()), |(inner, folder)| inner.entries(&folder))
    }

    /// The bytes of one file. Files above [`Source::MAX_BYTES`] are refused
    /// before they are read.
    ///
    /// # Errors
    /// Where this file cannot be read; a diagnostic tells it.
    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        let (inner, path) = inner_at(self, path).ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        inner.read(&path)
    }

    /// The path under which the file at `path` is stored: another one where
    /// symbolic links lead to it. None where this tree gives out no such file.
    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let (inner, path) = inner_at(self, path)?;
        inner.real_path(&path)
    }

    /// The id that [`entries`](Tree::entries) would give a file of these bytes,
    /// where that can be told without reading anything: what was read from a
    /// working tree can so be recognised in a commit. git may store other
    /// bytes than it puts on disk (line endings, filters); the ids then differ
    /// although nothing was changed.
    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        self.inner()?.content_of(bytes)
    }

    /// The id that [`entries`](Tree::entries) would give the file at `path`, which cannot be
    /// read. None where that is unknown: the file is then another on each side.
    fn content_of_unread(&self, path: &RepoPath) -> Option<ContentId> {
        let (inner, path) = inner_at(self, path)?;
        inner.content_of_unread(&path)
    }

    /// How git knows the repository at `path`, an [`EntryKind::Submodule`] of this tree.
    fn nested(&self, path: &RepoPath) -> Nested {
        inner_at(self, path).map_or(Nested::Untracked, |(inner, path)| inner.nested(&path))
    }

    /// All files of the submodule at `path`, below it; none if they are not known, or if git
    /// does not track it.
    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let (inner, path) = inner_at(self, path)?;
        inner.files_of_nested(&path)
    }

    /// To be asked before many files are read, where one error says more than
    /// a diagnostic for each: a partial clone may hold none of them.
    ///
    /// # Errors
    /// Where some of `files` are known not to be here; the help says what
    /// brings them.
    fn ensure_present(&self, files: &[RepoPath]) -> Result<(), Error> {
        let Some(inner) = self.inner() else { return Ok(()) };
        let files: Vec<RepoPath> = files.iter().filter_map(|path| self.inner_path(path)).collect();
        inner.ensure_present(&files)
    }
}

/// The inner tree of `tree`, and the path there of what is at `path`.
fn inner_at<'t>(
    tree: &'t (impl Tree + ?Sized),
    path: &RepoPath,
) -> Option<(&'t dyn Tree, RepoPath)> {
    Some((tree.inner()?, tree.inner_path(path)?))
}

impl Tree for Box<dyn Tree + Send> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&**self)
    }
}

/// One path of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: RepoPath,
    /// What it is.
    pub kind: EntryKind,
    /// What reading it will give, where that is known without reading.
    pub content: Option<ContentId>,
    /// Whether it is a symbolic link.
    pub is_link: bool,
}

impl Entry {
    /// Whether this is below a folder, or is the folder itself as a submodule.
    pub(super) fn is_in(&self, folder: &RepoPath) -> bool {
        let is_folder = self.kind == EntryKind::Submodule && self.path == *folder;
        is_folder || self.path.below(folder).is_some()
    }
}

/// What an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a symbolic link to one.
    File,
    /// A git submodule, or another repository inside this one, whose content
    /// is not part of this repository.
    Submodule,
    /// A file that git tracks and that is not on disk.
    Missing,
    /// A path whose name is not UTF-8; it is shown with replacement characters
    /// and cannot be read.
    NotUtf8,
}

/// Stands for the bytes of a file: equal ids mean equal bytes. Ids that differ
/// mean nothing, for repositories may hash differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId {
    /// What of `bytes` is the id; the rest is zero.
    length: u8,
    bytes: [u8; 32],
}

impl ContentId {
    /// The id with these bytes, of which there are 20 or 32: a hash of the
    /// content, such as git's.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut id = [0; 32];
        id[..bytes.len()].copy_from_slice(bytes);
        let length = u8::try_from(bytes.len()).expect("git's ids have 20 or 32 bytes");
        Self { length, bytes: id }
    }
}

/// In hexadecimal digits, as git writes it.
impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.bytes[..usize::from(self.length)].iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Why one file could not be read; the rest of the tree is not affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// What the system said.
    Refused(String),
    /// It has so many bytes, more than [`Source::MAX_BYTES`]. Trees refuse
    /// such a file before they read it, so that it costs nothing.
    TooLarge(u64),
    /// git has stored it and cannot give it back. What it held is not known,
    /// so nothing that is said without it can be relied on.
    Damaged {
        /// What is wrong.
        reason: String,
        /// What cures it.
        help: &'static str,
    },
}

/// Why a file cannot be read that is not there.
pub(super) const NO_SUCH_FILE: &str = "no such file";

impl ReadError {
    /// The error that ends the run, if this one must: a file of the user's
    /// that cannot be read is a finding, but a repository that is damaged
    /// could hide one.
    pub fn fatal(&self, path: &RepoPath) -> Option<Error> {
        match self {
            ReadError::Refused(_) | ReadError::TooLarge(_) => None,
            ReadError::Damaged { reason, help } => {
                let message = format!("`{path}` cannot be read: {reason}");
                Some(Error::new(ErrorKind::Git, message).with_help(*help))
            }
        }
    }

    /// Whether there is nothing at all at the path.
    pub fn is_missing(&self) -> bool {
        matches!(self, ReadError::Refused(reason) if reason == NO_SUCH_FILE)
    }

    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// The files of a folder on disk, as they are now.
///
/// Inside git these are the files git sees: tracked ones that are on disk,
/// ignored or not, those that a sparse checkout leaves out, as the index has them, and
/// untracked ones that are not ignored. What is tracked says the index, which is read
/// once. Outside git these are all files. Folders that are symbolic links are not
/// followed.
pub struct WorkTree {
    /// Absolute, symbolic links resolved.
    root: PathBuf,
    /// None outside of git.
    checkout: Option<Checkout>,
    /// Whether files are given as git would store them.
    is_converted: bool,
    /// Folders that were read from, and whether they are what they seem.
    folders: Mutex<HashMap<PathBuf, bool>>,
}

impl WorkTree {
    /// The working tree of a repository, from its root.
    ///
    /// # Errors
    /// Where the repository has none, as a bare one.
    pub fn in_repository(repository: &Repository) -> Result<Self, Error> {
        let Some(root) = repository.work_tree_root() else {
            return Err(Error::new(ErrorKind::Git, "this repository has no working tree")
                .with_help("name a revision to read, such as `HEAD`"));
        };
        Self::at(root, Some(repository.clone()))
    }

    /// The working tree of a repository as a side of a comparison: files whose
    /// attributes convert them have the content that git would store.
    ///
    /// # Errors
    /// Where the repository has none, as a bare one.
    pub fn compared(repository: &Repository) -> Result<Self, Error> {
        Ok(Self { is_converted: true, ..Self::in_repository(repository)? })
    }

    /// The files of a folder that is in no repository.
    ///
    /// # Errors
    /// Where there is no such folder.
    pub fn in_folder(root: PathBuf) -> Result<Self, Error> {
        Self::at(&root, None)
    }

    fn at(root: &Path, repository: Option<Repository>) -> Result<Self, Error> {
        let resolved = fs::canonicalize(root).map_err(|cause| {
            let message = format!("cannot read the folder `{}`", root.display());
            Error::new(ErrorKind::Io, message).caused_by(cause)
        })?;
        if !resolved.is_dir() {
            return Err(Error::new(ErrorKind::Io, format!("`{}` is not a folder", root.display())));
        }
        let checkout = repository.map(Checkout::of);
        Ok(Self { root: resolved, checkout, is_converted: false, folders: Mutex::default() })
    }

    /// The folder's place on disk, symbolic links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place on disk of `path`, and the bytes there, if it is a plain file
    /// of this very name: what a link leads to has another one.
    pub fn plain_file(&self, path: &RepoPath) -> Option<(PathBuf, Vec<u8>)> {
        let file = on_disk_path(&self.root, path);
        let (resolved, metadata) = self.resolve(file.clone()).ok()?;
        let is_plain = resolved == file && metadata.is_file();
        is_plain.then(|| Some((file, self.read(path).ok()?)))?
    }

    fn left_out(&self) -> Result<Option<&StoredTree>, Error> {
        self.checkout.as_ref().map_or(Ok(None), Checkout::left_out)
    }

    fn walk(&self, folder: &RepoPath) -> Result<Vec<WorkTreePath>, Error> {
        let start = self.root.join(folder.as_str());
        let not_git = |entry: &walkdir::DirEntry| entry.file_name() != ".git";
        let walk = WalkDir::new(&start).follow_root_links(false).into_iter();
        let mut seen = Vec::new();
        for entry in walk.filter_entry(not_git) {
            let entry = entry.map_err(|cause| unlistable(&start, cause))?;
            seen.extend(self.on_disk(&entry));
        }
        Ok(seen)
    }

    fn on_disk(&self, entry: &walkdir::DirEntry) -> Option<WorkTreePath> {
        let kind = match entry.file_type() {
            kind if kind.is_dir() => return None,
            kind if kind.is_symlink() => WorkTreePathKind::Link,
            _ => WorkTreePathKind::File,
        };
        let inside = entry.path().strip_prefix(&self.root).ok()?;
        let parts: Vec<&[u8]> =
            inside.components().map(|part| part.as_os_str().as_encoded_bytes()).collect();
        Some(WorkTreePath { path: parts.join(&b'/').into(), kind })
    }

    fn entry(&self, seen: &WorkTreePath) -> Option<Entry> {
        let (path, utf8) = path_of(&seen.path);
        let kind = match seen.kind {
            WorkTreePathKind::File => EntryKind::File,
            WorkTreePathKind::Repository => EntryKind::Submodule,
            WorkTreePathKind::Link if utf8 && self.root.join(path.as_str()).is_dir() => {
                return None;
            }
            WorkTreePathKind::Link => EntryKind::File,
        };
        let kind = if utf8 { kind } else { EntryKind::NotUtf8 };
        let is_link = matches!(seen.kind, WorkTreePathKind::Link);
        Some(Entry { path, kind, content: None, is_link })
    }

    /// Whether `folder` is there under this very name: inside the root, not
    /// in `.git`, and no part of it a symbolic link.
    fn is_plain_folder(&self, folder: &Path) -> bool {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let resolved = fs::canonicalize(folder);
        let plain = resolved.is_ok_and(|resolved| resolved == folder && self.holds(&resolved));
        folders.insert(folder.to_owned(), plain);
        plain
    }

    /// Whether the tree may give out `resolved`, a path without links.
    fn holds(&self, resolved: &Path) -> bool {
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            return false;
        };
        // the configuration of a repository may hold credentials
        let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        !inside.components().any(is_git)
    }

    /// The place that `file` leads to in the end, and what is there.
    fn resolve(&self, file: PathBuf) -> Result<(PathBuf, Metadata), ReadError> {
        let metadata = fs::symlink_metadata(&file).map_err(|error| unreadable(&error))?;
        let folder = file.parent().unwrap_or(&self.root);
        if !metadata.is_symlink() && self.is_plain_folder(folder) {
            return Ok((file, metadata));
        }
        let resolved = fs::canonicalize(&file).map_err(|error| not_followed(&error))?;
        if !self.holds(&resolved) {
            return Err(ReadError::new("a symbolic link that leads out of the repository"));
        }
        let metadata = fs::metadata(&resolved).map_err(|error| unreadable(&error))?;
        Ok((resolved, metadata))
    }
}

impl Tree for WorkTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        // folders that are links are not followed, nor are those on the way
        let is_there = self.is_plain_folder(&on_disk_path(&self.root, folder));
        let seen = match &self.checkout {
            _ if !is_there => Vec::new(),
            Some(checkout) => checkout.on_disk(folder)?,
            None => self.walk(folder)?,
        };
        let mut entries: Vec<Entry> = seen.iter().filter_map(|seen| self.entry(seen)).collect();
        entries.retain(|entry| entry.is_in(folder));
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        if let Some(checkout) = &self.checkout {
            // in a comparison, a file that is gone is an edit, and so is a submodule without
            // a folder; one with an empty folder is not checked out, and not edited
            let mut missing = checkout.missing(folder, &seen)?;
            let has_folder = |path: &RepoPath| on_disk_path(&self.root, path).is_dir();
            missing.retain(|entry| {
                !self.is_converted
                    || (entry.kind == EntryKind::Submodule && has_folder(&entry.path))
            });
            entries.extend(missing);
            entries.sort_by(|one, other| one.path.cmp(&other.path));
        }
        if let Some(left_out) = self.left_out()? {
            let on_disk =
                |path: &RepoPath| entries.binary_search_by(|entry| entry.path.cmp(path)).is_ok();
            let mut others = left_out.entries(folder)?;
            others.retain(|other| !on_disk(&other.path));
            entries.extend(others);
            entries.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok(entries)
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        match self.read_on_disk(path) {
            Err(error) if error.is_missing() => match self.left_out() {
                Ok(Some(left_out)) => left_out.read(path),
                Ok(None) | Err(_) => Err(error),
            },
            read => read,
        }
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        match self.resolve(on_disk_path(&self.root, path)) {
            Ok((file, _)) => RepoPath::of_place(&self.root, &file),
            Err(error) if error.is_missing() => self.left_out().ok()??.real_path(path),
            Err(_) => None,
        }
    }

    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        self.checkout.as_ref()?.repository().content_of(bytes)
    }

    fn content_of_unread(&self, path: &RepoPath) -> Option<ContentId> {
        let repository = self.checkout.as_ref()?.repository();
        let file = on_disk_path(&self.root, path);
        let seen = fs::symlink_metadata(&file).ok()?;
        if seen.is_symlink() {
            let target = fs::read_link(&file).ok()?;
            let target = target.as_os_str().as_encoded_bytes();
            let submodule = submodule_behind(path, target, |path| self.content_of_nested(path));
            return repository.content_of(target).map(|text| broken_link(text, submodule));
        }
        if seen.is_dir() {
            return self.content_of_nested(path);
        }
        let opened = open_now(&file).ok().filter(|_| seen.is_file())?;
        is_same_file(&opened.metadata().ok()?, &seen).then_some(())?;
        repository.content_of_stream(opened, seen.len())
    }

    fn nested(&self, path: &RepoPath) -> Nested {
        let submodule = self.checkout.as_ref().and_then(|checkout| checkout.submodule(path));
        submodule.map_or(Nested::Untracked, Nested::Submodule)
    }

    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let checkout = self.checkout.as_ref()?;
        checkout.submodule(path)?;
        let nested = checkout.repository().nested(path)?;
        all_files(&WorkTree::in_repository(&nested).ok()?)
    }
}

/// The id of a symbolic link that leads to no file, whose own text has the id `text`: another
/// one than that of a file with this text. If it leads into a submodule, it is as the commit of
/// that.
pub(super) fn broken_link(text: ContentId, submodule: Option<ContentId>) -> ContentId {
    let commit = submodule.map(|commit| commit.to_string()).unwrap_or_default();
    ContentId::new(&Sha256::digest(format!("broken link {text} {commit}")))
}

/// What `commit_of` has for the submodule that a symbolic link at `path` leads into.
pub(super) fn submodule_behind(
    path: &RepoPath,
    target: &[u8],
    commit_of: impl Fn(&RepoPath) -> Option<ContentId>,
) -> Option<ContentId> {
    let mut parts: Vec<&str> = path.parts().collect();
    parts.pop();
    for part in str::from_utf8(target).ok()?.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (1..=parts.len()).find_map(|end| commit_of(&RepoPath::new(parts[..end].join("/"))))
}

impl WorkTree {
    /// Id of the content of the repository at `path`, if there is one; a submodule that is not
    /// checked out has what the index says.
    fn content_of_nested(&self, path: &RepoPath) -> Option<ContentId> {
        let checkout = self.checkout.as_ref()?;
        // assumed to be unchanged, whatever is checked out
        if let Some(Nested::Submodule(commit)) = self.left_out().ok()?.map(|it| it.nested(path)) {
            return Some(commit);
        }
        match checkout.repository().nested(path) {
            Some(nested) => checked_out(&nested),
            None if is_there(&on_disk_path(&self.root, path).join(".git")) => None,
            None => checkout.submodule(path),
        }
    }

    fn read_on_disk(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        for _ in 0..ATTEMPTS {
            let (file, metadata) = self.resolve(on_disk_path(&self.root, path))?;
            if metadata.is_dir() {
                return Err(ReadError::new("a folder, not a file"));
            }
            if !metadata.is_file() {
                return Err(ReadError::new("not a file"));
            }
            if metadata.len() > Source::MAX_BYTES {
                return Err(ReadError::TooLarge(metadata.len()));
            }
            if let Some(bytes) = read_file(&file, &metadata).map_err(|error| unreadable(&error))? {
                return self.as_compared(path, &file, bytes);
            }
        }
        Err(ReadError::new("it changes while it is read"))
    }

    /// The content that is compared, of which `bytes` are in `file`, to which `path` leads.
    fn as_compared(
        &self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, ReadError> {
        let Some(checkout) = self.checkout.as_ref().filter(|_| self.is_converted) else {
            return Ok(bytes);
        };
        if on_disk_path(&self.root, path).as_os_str() == file.as_os_str() {
            return checkout.stored(path, file, bytes);
        }
        match RepoPath::of_place(&self.root, file) {
            Some(real) => checkout.stored(&real, file, bytes),
            None => Ok(bytes),
        }
    }
}

/// Where `path` is below `root`: part by part, so that the separators are the
/// system's and an absolute path does not replace the root.
fn on_disk_path(root: &Path, path: &RepoPath) -> PathBuf {
    let mut file = root.to_owned();
    file.extend(path.parts());
    file
}

/// So often a file is read that changes meanwhile.
const ATTEMPTS: usize = 3;

/// What stands at `path` below `root`, if that is a plain file, and no longer than
/// files may be.
pub(super) fn read_plain(root: &Path, path: &RepoPath) -> Option<Vec<u8>> {
    let file = on_disk_path(root, path);
    let seen = fs::symlink_metadata(&file).ok()?;
    let is_plain = seen.is_file() && seen.len() <= Source::MAX_BYTES;
    is_plain.then(|| read_file(&file, &seen).ok().flatten()).flatten()
}

/// The bytes of the plain file that was `seen` there; none where something else
/// is there now, such as a link that leads out of the tree or a device without
/// an end, or where it was changed while it was read.
fn read_file(file: &Path, seen: &Metadata) -> io::Result<Option<Vec<u8>>> {
    let mut opened = open_now(file)?;
    let before = opened.metadata()?;
    if !is_same_file(&before, seen) {
        return Ok(None);
    }
    let capacity = usize::try_from(before.len().min(Source::MAX_BYTES)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(capacity + 1);
    (&mut opened).take(Source::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    let after = opened.metadata()?;
    let is_whole = bytes.len() as u64 == after.len() || after.len() > Source::MAX_BYTES;
    let is_old = before.modified().ok() == after.modified().ok();
    Ok((is_whole && is_old).then_some(bytes))
}

/// A file opened without waiting: opening a pipe would wait for its other end.
#[cfg(unix)]
fn open_now(file: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file)
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "this is where files are read")]
fn open_now(file: &Path) -> io::Result<File> {
    File::open(file)
}

/// Whether what was opened is the plain file that was seen.
#[cfg(unix)]
fn is_same_file(opened: &Metadata, seen: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    opened.is_file() && (opened.dev(), opened.ino()) == (seen.dev(), seen.ino())
}

#[cfg(not(unix))]
fn is_same_file(opened: &Metadata, _seen: &Metadata) -> bool {
    opened.is_file()
}

/// What the system tells of this process (proc(5)), where it does.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "this is where files are read")]
pub(super) fn process_status() -> Option<String> {
    fs::read_to_string("/proc/self/status").ok()
}

/// Whether there is anything at this place, were it a link to nothing.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether there is nothing in a folder.
#[expect(clippy::disallowed_methods, reason = "this is where folders are read")]
pub(super) fn is_empty_folder(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}

/// The text of a file that the environment names, such as the event of a CI
/// job. It is no part of any repository.
///
/// # Errors
/// Where it cannot be read, is no text, or is larger than
/// [`Source::MAX_BYTES`].
pub fn text_at(path: &Path) -> Result<String, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("the file `{}` cannot be read", path.display());
        Error::new(ErrorKind::Io, message).caused_by(cause)
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > Source::MAX_BYTES {
        let message = format!("`{}` is not a file of a usual size", path.display());
        return Err(Error::new(ErrorKind::Io, message));
    }
    let bytes = read_file(path, &metadata).map_err(unreadable)?.ok_or_else(|| {
        let message = format!("the file `{}` changes while it is read", path.display());
        Error::new(ErrorKind::Io, message)
    })?;
    String::from_utf8(bytes).map_err(|cause| {
        let message = format!("the file `{}` is not UTF-8", path.display());
        Error::new(ErrorKind::Io, message).caused_by(cause)
    })
}

/// The bytes of a file that somebody names, wherever it is; it may be a pipe.
///
/// # Errors
/// Where it cannot be read, or is larger than [`Source::MAX_BYTES`].
#[expect(clippy::disallowed_methods, reason = "this is where files are read")]
pub fn bytes_at(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("the file `{}` cannot be read", path.display());
        Error::new(ErrorKind::Io, message).caused_by(cause)
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let most = Source::MAX_BYTES + 1;
    file.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 == most {
        let message =
            format!("the file `{}` is larger than {} MiB", path.display(), Source::MAX_BYTES >> 20);
        return Err(Error::new(ErrorKind::Io, message));
    }
    Ok(bytes)
}

/// The names of the files that lie in a folder itself, and not in a folder of
/// it, sorted; what is no UTF-8 is not among them.
///
/// # Errors
/// Where there is no such folder.
#[expect(clippy::disallowed_methods, reason = "this is where folders are read")]
pub fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("the folder `{}` cannot be read", folder.display());
        Error::new(ErrorKind::Io, message).caused_by(cause)
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().is_file() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    names.sort();
    Ok(names)
}

fn unreadable(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::new(NO_SUCH_FILE),
        kind => ReadError::new(kind.to_string()),
    }
}

fn not_followed(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::new("a symbolic link to nothing"),
        kind => ReadError::new(format!("a symbolic link that cannot be followed: {kind}")),
    }
}

fn unlistable(folder: &Path, cause: walkdir::Error) -> Error {
    let at = cause.path().unwrap_or(folder);
    let message = format!("cannot list the folder `{}`", at.display());
    Error::new(ErrorKind::Io, message).caused_by(cause)
}

/// `path` as text, and whether that is all of it.
pub(super) fn path_of(path: &[u8]) -> (RepoPath, bool) {
    match str::from_utf8(path) {
        Ok(text) => (RepoPath::new(text), true),
        Err(_) => (RepoPath::new(String::from_utf8_lossy(path)), false),
    }
}

/// A further repository: the tree of it, or of one folder in it, under a name.
///
/// Its root is written `NAME:`, and the file `path` in it `NAME:path`.
pub struct Labelled<T> {
    label: String,
    folder: RepoPath,
    tree: T,
}

impl<T: Tree> Labelled<T> {
    /// What `tree` has below `folder`, with paths that start with `name:`.
    pub fn new(name: &str, tree: T, folder: RepoPath) -> Self {
        Self { label: format!("{name}:"), folder, tree }
    }

    /// How the root of this tree is written: `NAME:`.
    pub fn root(&self) -> RepoPath {
        RepoPath::new(&*self.label)
    }

    fn labelled(&self, entry: Entry) -> Option<Entry> {
        let inside = entry.path.below(&self.folder)?;
        Some(Entry { path: RepoPath::new(format!("{}{inside}", self.label)), ..entry })
    }
}

impl<T: Tree> Tree for Labelled<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn inner_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let inside = path.as_str().strip_prefix(&self.label)?;
        Some(if inside.is_empty() { self.folder.clone() } else { self.folder.join(inside) })
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let folder = if folder.as_str().is_empty() { &self.root() } else { folder };
        let Some(inner) = self.inner_path(folder) else {
            return Ok(Vec::new());
        };
        let entries = self.tree.entries(&inner)?.into_iter();
        Ok(entries.filter_map(|entry| self.labelled(entry)).collect())
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let real = self.tree.real_path(&self.inner_path(path)?)?;
        Some(RepoPath::new(format!("{}{}", self.label, real.below(&self.folder)?)))
    }
}

/// A tree without some of its files.
pub struct Excluding<T> {
    tree: T,
    excluded: GlobSet,
}

impl<T: Tree> Excluding<T> {
    /// `tree` without the files whose paths match. A file that is asked for by
    /// its path is still read.
    pub fn new(tree: T, excluded: GlobSet) -> Self {
        Self { tree, excluded }
    }
}

impl<T: Tree> Tree for Excluding<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.tree.entries(folder)?;
        entries.retain(|entry| !self.excluded.is_match(entry.path.as_str()));
        Ok(entries)
    }

    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let mut files = self.tree.files_of_nested(path)?;
        files.retain(|file| !self.excluded.is_match(path.join(file.as_str()).as_str()));
        Some(files)
    }
}

/// A tree with other texts in the place of some of its files.
pub struct Overlay<T> {
    tree: T,
    texts: BTreeMap<RepoPath, Arc<str>>,
}

impl<T: Tree> Overlay<T> {
    /// `tree`, with `texts` in the place of those of its files.
    pub fn new(tree: T, texts: BTreeMap<RepoPath, Arc<str>>) -> Self {
        Self { tree, texts }
    }
}

impl<T: Tree> Tree for Overlay<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.tree.entries(folder)?;
        for entry in entries.iter_mut().filter(|entry| self.texts.contains_key(&entry.path)) {
            entry.content = None;
        }
        Ok(entries)
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        match self.texts.get(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.tree.read(path),
        }
    }
}

/// Files that somebody named, and nothing else; what these name in their turn
/// is read from another tree.
pub struct ListedFiles<T> {
    files: MemoryTree,
    around: T,
}

impl<T: Tree> ListedFiles<T> {
    /// `files`, with what they name read from `around`.
    pub fn new(files: MemoryTree, around: T) -> Self {
        Self { files, around }
    }
}

impl<T: Tree> Tree for ListedFiles<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.files)
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        match self.files.read(path) {
            Err(error) if error.is_missing() => self.around.read(path),
            read => read,
        }
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        self.files.real_path(path).or_else(|| self.around.real_path(path))
    }
}

/// Files held in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    /// Contents; none for a file that cannot be read.
    files: BTreeMap<RepoPath, Option<Vec<u8>>>,
}

impl MemoryTree {
    /// A tree without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree with one more file, or with another content for it.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(RepoPath::new(path), Some(bytes.into()));
        self
    }

    /// The tree with one more file, which cannot be read.
    #[must_use]
    pub fn with_unreadable(mut self, path: &str) -> Self {
        self.files.insert(RepoPath::new(path), None);
        self
    }
}

impl Tree for MemoryTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let inside = self.files.iter().filter(|(path, _)| path.below(folder).is_some());
        let entry = |(path, bytes): (&RepoPath, &Option<Vec<u8>>)| {
            let content = bytes.as_ref().and_then(|bytes| self.content_of(bytes));
            Entry { path: path.clone(), kind: EntryKind::File, content, is_link: false }
        };
        Ok(inside.map(entry).collect())
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        let content = self.files.get(path).ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        content.clone().ok_or_else(|| ReadError::new("permission denied"))
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        self.files.contains_key(path).then(|| path.clone())
    }

    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        Some(ContentId::new(&Sha256::digest(bytes)))
    }
}
