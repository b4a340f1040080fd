//! Trees of files: the inputs of a run.
//!
//! The only module that reads the file system. A tree only returns files inside of it: symbolic
//! links that lead out of it or into `.git` are refused, so that a pull request cannot make files
//! of the checking machine visible.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use super::git::{Checkout, IsListed, WorkTreePath, WorkTreePathKind};
use super::nested::{all_files, checked_out};
use super::{Nested, RepoPath, Repository, Source, StoredTree};
use crate::error::Error;

/// A source of files: a working tree, a commit, the index, or a map in memory.
///
/// A wrapper has an [`inner`](Tree::inner) tree, and overrides only the methods whose results it
/// changes.
pub trait Tree: Sync {
    /// Inner tree for everything that this tree does not override; without one, only the files of
    /// this tree exist.
    fn inner(&self) -> Option<&dyn Tree> {
        None
    }

    /// Path in the [`inner`](Tree::inner) tree for `path` in this one.
    fn inner_path(&self, path: &RepoPath) -> Option<RepoPath> {
        Some(path.clone())
    }

    /// Lists all entries below `folder`, sorted by path, without folders and ignored files. A
    /// missing `folder` has no entries; a submodule has itself as an entry, and so has a symbolic
    /// link.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        inner_at(self, folder).map_or(Ok(Vec::new()), |(inner, folder)| inner.entries(&folder))
    }

    /// Lists the entries of `folder` below the symbolic link `link`, which leads to it.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    fn linked_entries(&self, link: &RepoPath, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let below = |entry: Entry| {
            let path = link.join(entry.path.below(folder)?);
            Some(Entry { path, ..entry })
        };
        Ok(self
            .entries(folder)?
            .into_iter()
            .filter_map(below)
            .collect())
    }

    /// Reads one file. Files larger than [`Source::MAX_BYTES`] are refused before they are read.
    ///
    /// # Errors
    /// If the file cannot be read; this becomes a diagnostic.
    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        let (inner, path) = inner_at(self, path).ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        inner.read(&path)
    }

    /// Path under which the file is stored, with symbolic links resolved; `None` if this tree has
    /// no such file.
    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let (inner, path) = inner_at(self, path)?;
        inner.real_path(&path)
    }

    /// Folder that the symbolic link at `path` leads to; `None` if it leads to a file. Components of
    /// `path` may be links too.
    ///
    /// # Errors
    /// If the link cannot be followed: it is broken, forms a loop, or leads out of this tree.
    fn linked_folder(&self, path: &RepoPath) -> Result<Option<RepoPath>, ReadError> {
        let (inner, path) = inner_at(self, path).ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        inner.linked_folder(&path)
    }

    /// Computes the id that [`entries`](Tree::entries) would give a file with these bytes, if this
    /// is possible without reading: it allows a file of the working tree to be recognized in a
    /// commit. git may store other bytes than it checks out (line endings, filters), so different
    /// ids do not imply a change.
    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        self.inner()?.content_of(bytes)
    }

    /// Id that [`entries`](Tree::entries) would give the unreadable file at `path`. `None` if
    /// unknown; the file then differs on each side.
    fn content_of_unread(&self, path: &RepoPath) -> Option<ContentId> {
        let (inner, path) = inner_at(self, path)?;
        inner.content_of_unread(&path)
    }

    /// Relation of the nested repository at `path`, an [`EntryKind::Submodule`] of this tree.
    fn nested(&self, path: &RepoPath) -> Nested {
        inner_at(self, path).map_or(Nested::Untracked, |(inner, path)| inner.nested(&path))
    }

    /// All files of the submodule at `path`, relative to it; `None` if they are unknown or git does
    /// not track it.
    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let (inner, path) = inner_at(self, path)?;
        inner.files_of_nested(&path)
    }

    /// Checks that many files are available before they are read, where one error is better than a
    /// diagnostic for each: a partial clone may lack all of them.
    ///
    /// # Errors
    /// If some of `files` are missing in the clone; the help names the command that fetches them.
    fn ensure_present(&self, files: &[RepoPath]) -> Result<(), Error> {
        let Some(inner) = self.inner() else {
            return Ok(());
        };
        let files: Vec<RepoPath> = files
            .iter()
            .filter_map(|path| self.inner_path(path))
            .collect();
        inner.ensure_present(&files)
    }
}

/// Inner tree of `tree`, and the inner path for `path`.
fn inner_at<'t>(
    tree: &'t (impl Tree + ?Sized),
    path: &RepoPath,
) -> Option<(&'t dyn Tree, RepoPath)> {
    Some((tree.inner()?, tree.inner_path(path)?))
}

/// A tree that its owners share.
pub type SharedTree = Arc<dyn Tree + Send>;

impl Tree for SharedTree {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&**self)
    }
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path in the tree.
    pub path: RepoPath,
    /// Kind of entry.
    pub kind: EntryKind,
    /// Content id, if it is known without reading.
    pub content: Option<ContentId>,
    /// Whether the entry is a symbolic link.
    pub is_link: bool,
}

impl Entry {
    /// Whether the entry is below a folder, or is the folder itself as a submodule or a link.
    pub(super) fn is_in(&self, folder: &RepoPath) -> bool {
        let is_folder = self.is_link || self.kind == EntryKind::Submodule;
        (is_folder && self.path == *folder) || self.path.below(folder).is_some()
    }
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a symbolic link to one or to nothing in this tree.
    File,
    /// A symbolic link to a folder of this tree. Its files are not listed.
    FolderLink,
    /// A git submodule or another nested repository, whose content is not part of this repository.
    Submodule,
    /// A file that git tracks, but that is missing on disk.
    Missing,
}

/// Identifies the content of a file: equal ids mean equal bytes. Different ids prove nothing,
/// because repositories may use different hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId {
    /// Number of bytes of the id; the rest is zero.
    length: u8,
    bytes: [u8; 32],
}

impl ContentId {
    /// Creates an id from 20 or 32 bytes: a hash of the content, such as git's.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut id = [0; 32];
        id[..bytes.len()].copy_from_slice(bytes);
        let length = u8::try_from(bytes.len()).expect("git's ids have 20 or 32 bytes");
        Self { length, bytes: id }
    }
}

/// Formats the id in hexadecimal digits, like git.
impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.bytes[..usize::from(self.length)].iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reason why a file could not be read; other files are not affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Error of the system.
    Refused(String),
    /// The file has this size, which exceeds [`Source::MAX_BYTES`]; it was not read.
    TooLarge(u64),
    /// git has stored the file, but cannot return it. The contents are unknown, so a result without
    /// them would be unreliable.
    Damaged {
        /// Description of the damage.
        reason: String,
        /// Remedy.
        help: &'static str,
    },
}

/// Reason for a missing file.
pub(super) const NO_SUCH_FILE: &str = "no such file";
/// Reasons why a link is not followed.
pub(super) const LEADS_OUT: &str = "a symbolic link that leads out of the repository";
pub(super) const LEADS_NOWHERE: &str = "a broken symbolic link";
pub(super) const LEADS_INTO_NESTED: &str = "a symbolic link into a nested repository";

impl ReadError {
    /// Error that must end the run, if any: an unreadable file of the user is a finding, but a
    /// damaged repository could hide findings.
    pub fn fatal(&self, path: &RepoPath) -> Option<Error> {
        match self {
            ReadError::Refused(_) | ReadError::TooLarge(_) => None,
            ReadError::Damaged { reason, help } => {
                let message = format!("`{path}` cannot be read: {reason}");
                Some(Error::git(message).with_help(*help))
            }
        }
    }

    /// Whether nothing exists at the path.
    pub fn is_missing(&self) -> bool {
        matches!(self, ReadError::Refused(reason) if reason == NO_SUCH_FILE)
    }

    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// The files of a folder on disk.
///
/// In a git repository, these are the files that git sees: tracked files on disk, even if they are
/// ignored; files outside of a sparse checkout, from the index; and untracked files that are not
/// ignored. The index is read once. Outside of git, these are all files. Symbolic links to folders
/// are not followed.
pub struct WorkTree {
    /// Absolute path without symbolic links.
    root: PathBuf,
    /// Working tree; `None` outside of git.
    checkout: Option<Arc<Checkout>>,
    /// Whether file contents are converted as git would store them.
    is_converted: bool,
    /// Folders that are listed; all if `None`.
    is_listed: Option<IsListed>,
    /// Folders read from, and whether they are safe.
    folders: Mutex<HashMap<PathBuf, bool>>,
}

impl WorkTree {
    /// Opens the working tree of a repository at its root.
    ///
    /// # Errors
    /// If the repository is bare.
    pub fn in_repository(repository: &Repository) -> Result<Self, Error> {
        let Some(root) = repository.work_tree_root() else {
            return Err(Error::git("this repository has no working tree")
                .with_help("name a revision to read, such as `HEAD`"));
        };
        Self::at(root, Some(repository.clone()))
    }

    /// Opens the working tree of a repository as a side of a comparison: files are converted by
    /// their attributes as git would store them.
    ///
    /// # Errors
    /// If the repository is bare.
    pub fn compared(repository: &Repository) -> Result<Self, Error> {
        Ok(Self {
            is_converted: true,
            ..Self::in_repository(repository)?
        })
    }

    /// The same files, without those in folders that are not listed.
    #[must_use]
    pub fn limited(&self, is_listed: IsListed) -> Self {
        Self {
            root: self.root.clone(),
            checkout: self.checkout.clone(),
            is_converted: self.is_converted,
            is_listed: Some(is_listed),
            folders: Mutex::default(),
        }
    }

    /// The working tree as seen by git; `None` outside of git.
    pub(super) fn checkout(&self) -> Option<&Checkout> {
        self.checkout.as_deref()
    }

    /// Opens a folder outside of any repository.
    ///
    /// # Errors
    /// If the folder does not exist.
    pub fn in_folder(root: PathBuf) -> Result<Self, Error> {
        Self::at(&root, None)
    }

    fn at(root: &Path, repository: Option<Repository>) -> Result<Self, Error> {
        let resolved = fs::canonicalize(root).map_err(|cause| {
            let message = format!("cannot read the folder `{}`", root.display());
            Error::io(message).caused_by(cause)
        })?;
        if !resolved.is_dir() {
            return Err(Error::io(format!("`{}` is not a folder", root.display())));
        }
        let checkout = repository.map(|repository| Arc::new(Checkout::of(repository)));
        Ok(Self {
            root: resolved,
            checkout,
            is_converted: false,
            is_listed: None,
            folders: Mutex::default(),
        })
    }

    /// Absolute path of the folder, without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Location on disk of `path` and the bytes of the file, if it is a regular file and not a
    /// link.
    pub fn plain_file(&self, path: &RepoPath) -> Option<(PathBuf, Vec<u8>)> {
        let file = path.on_disk(&self.root);
        let (resolved, metadata) = self.resolve(file.clone()).ok()?;
        let is_plain = resolved == file && metadata.is_file();
        is_plain.then(|| Some((file, self.read(path).ok()?)))?
    }

    fn left_out(&self) -> Result<Option<&StoredTree>, Error> {
        self.checkout().map_or(Ok(None), Checkout::left_out)
    }

    fn walk(&self, folder: &RepoPath) -> Result<Vec<WorkTreePath>, Error> {
        let start = folder.on_disk(&self.root);
        let walk = WalkDir::new(&start).follow_root_links(false).into_iter();
        let mut seen = Vec::new();
        for entry in walk.filter_entry(|entry| entry.file_name() != ".git") {
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
        let parts: Vec<&[u8]> = inside
            .components()
            .map(|part| part.as_os_str().as_encoded_bytes())
            .collect();
        Some(WorkTreePath {
            path: parts.join(&b'/').into(),
            kind,
        })
    }

    fn entry(&self, seen: &WorkTreePath) -> Entry {
        let path = RepoPath::of_bytes(&seen.path);
        let kind = match seen.kind {
            WorkTreePathKind::File => EntryKind::File,
            WorkTreePathKind::Repository => EntryKind::Submodule,
            WorkTreePathKind::Link => match self.linked_folder(&path) {
                Ok(Some(_)) => EntryKind::FolderLink,
                Ok(None) | Err(_) => EntryKind::File,
            },
        };
        let is_link = matches!(seen.kind, WorkTreePathKind::Link);
        let compared = self.checkout().filter(|_| self.is_converted && !is_link);
        let content =
            compared.and_then(|checkout| checkout.recorded(&seen.path, &path.on_disk(&self.root)));
        Entry {
            path,
            kind,
            content,
            is_link,
        }
    }

    /// Whether this is a symbolic link, and its folder has no others in its path.
    fn is_plain_link(&self, path: &Path) -> bool {
        let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        is_link
            && path
                .parent()
                .is_some_and(|folder| self.is_plain_folder(folder))
    }

    /// Whether a folder is in a repository inside of this one.
    fn is_nested(&self, folder: &RepoPath) -> bool {
        let is_submodule = |path: &RepoPath| {
            self.checkout
                .as_ref()
                .is_some_and(|checkout| checkout.submodule(path).is_some())
        };
        let ends = folder.as_str().match_indices('/').map(|(end, _)| end);
        let mut folders = ends
            .chain([folder.as_str().len()])
            .map(|end| &folder.as_str()[..end]);
        folders.any(|folder| {
            let folder = RepoPath::new(folder);
            !folder.is_root()
                && (is_submodule(&folder) || is_there(&folder.on_disk(&self.root).join(".git")))
        })
    }

    /// Whether `folder` exists under exactly this name: inside the root, outside of `.git`, and
    /// without symbolic links.
    fn is_plain_folder(&self, folder: &Path) -> bool {
        let mut folders = self.folders.lock();
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let resolved = fs::canonicalize(folder);
        let plain = resolved.is_ok_and(|resolved| resolved == folder && self.holds(&resolved));
        folders.insert(folder.to_owned(), plain);
        plain
    }

    /// Whether the tree may return `resolved`, a path without links.
    fn holds(&self, resolved: &Path) -> bool {
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            return false;
        };
        // the configuration of a repository may hold credentials
        !inside
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    }

    /// Final target of `file`, and its file type.
    fn resolve(&self, file: PathBuf) -> Result<(PathBuf, Metadata), ReadError> {
        let metadata = fs::symlink_metadata(&file).map_err(|error| unreadable(&error))?;
        let folder = file.parent().unwrap_or(&self.root);
        if !metadata.is_symlink() && self.is_plain_folder(folder) {
            return Ok((file, metadata));
        }
        let resolved = fs::canonicalize(&file).map_err(|error| link_error(&error))?;
        if !self.holds(&resolved) {
            return Err(ReadError::new(LEADS_OUT));
        }
        let metadata = fs::metadata(&resolved).map_err(|error| unreadable(&error))?;
        Ok((resolved, metadata))
    }
}

impl Tree for WorkTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        // links are listed, not followed
        let start = folder.on_disk(&self.root);
        let is_there = self.is_plain_folder(&start) || self.is_plain_link(&start);
        let seen = match &self.checkout {
            _ if !is_there => Vec::new(),
            Some(checkout) => checkout.on_disk(folder, self.is_listed.as_ref())?,
            None => self.walk(folder)?,
        };
        let mut entries: Vec<Entry> = seen.iter().map(|seen| self.entry(seen)).collect();
        entries.retain(|entry| entry.is_in(folder));
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        if let Some(checkout) = &self.checkout {
            // in a comparison, a missing file is an edit, and so is a submodule without a folder; a
            // submodule with an empty folder is not checked out and not edited
            let mut missing = checkout.missing(folder, &seen, self.is_listed.as_ref())?;
            missing.retain(|entry| {
                !self.is_converted
                    || (entry.kind == EntryKind::Submodule
                        && entry.path.on_disk(&self.root).is_dir())
            });
            entries.extend(missing);
            entries.sort_by(|one, other| one.path.cmp(&other.path));
        }
        if let Some(left_out) = self.left_out()? {
            let on_disk = |path: &RepoPath| {
                entries
                    .binary_search_by(|entry| entry.path.cmp(path))
                    .is_ok()
            };
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
        match self.resolve(path.on_disk(&self.root)) {
            Ok((file, _)) => RepoPath::of_place(&self.root, &file),
            Err(error) if error.is_missing() => self.left_out().ok()??.real_path(path),
            Err(_) => None,
        }
    }

    fn linked_folder(&self, path: &RepoPath) -> Result<Option<RepoPath>, ReadError> {
        match self.resolve(path.on_disk(&self.root)) {
            Ok((folder, metadata)) if metadata.is_dir() => {
                let folder = RepoPath::of_place(&self.root, &folder)
                    .ok_or_else(|| ReadError::new(LEADS_OUT))?;
                if self.is_nested(&folder) {
                    return Err(ReadError::new(LEADS_INTO_NESTED));
                }
                Ok(Some(folder))
            }
            Ok(_) => Ok(None),
            Err(error) if error.is_missing() => match self.left_out() {
                Ok(Some(left_out)) => left_out.linked_folder(path),
                Ok(None) | Err(_) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        self.checkout.as_ref()?.repository().content_of(bytes)
    }

    fn content_of_unread(&self, path: &RepoPath) -> Option<ContentId> {
        let repository = self.checkout.as_ref()?.repository();
        let file = path.on_disk(&self.root);
        let seen = fs::symlink_metadata(&file).ok()?;
        if seen.is_symlink() {
            let link = fs::read_link(&file).ok()?;
            let target = link.as_os_str().as_encoded_bytes();
            let submodule = submodule_behind(path, target, |path| self.content_of_nested(path));
            return repository
                .content_of(target)
                .map(|text| unread_link(text, submodule));
        }
        if seen.is_dir() {
            return self.content_of_nested(path);
        }
        let opened = open_now(&file).ok().filter(|_| seen.is_file())?;
        is_same_file(&opened.metadata().ok()?, &seen).then_some(())?;
        repository.content_of_stream(opened, seen.len())
    }

    fn nested(&self, path: &RepoPath) -> Nested {
        let submodule = self
            .checkout
            .as_ref()
            .and_then(|checkout| checkout.submodule(path));
        submodule.map_or(Nested::Untracked, Nested::Submodule)
    }

    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let checkout = self.checkout.as_ref()?;
        checkout.submodule(path)?;
        let nested = checkout.repository().nested(path)?;
        all_files(&WorkTree::in_repository(&nested).ok()?)
    }
}

/// Id of a symbolic link to no file, whose text has the id `text`; it differs from the id of a file
/// with this text. For a link into a submodule, the id depends on the submodule's commit.
pub(super) fn unread_link(text: ContentId, submodule: Option<ContentId>) -> ContentId {
    let commit = submodule
        .map(|commit| commit.to_string())
        .unwrap_or_default();
    ContentId::new(&Sha256::digest(format!("broken link {text} {commit}")))
}

/// Calls `commit_of` for the submodule that a symbolic link at `path` points into.
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
    /// Content id of the repository at `path`, if there is one; for a submodule that is not checked
    /// out, the commit in the index.
    fn content_of_nested(&self, path: &RepoPath) -> Option<ContentId> {
        let checkout = self.checkout.as_ref()?;
        // `--assume-unchanged`: the checkout does not matter
        if let Some(Nested::Submodule(commit)) = self.left_out().ok()?.map(|it| it.nested(path)) {
            return Some(commit);
        }
        match checkout.repository().nested(path) {
            Some(nested) => checked_out(&nested),
            None if is_there(&path.on_disk(&self.root).join(".git")) => None,
            None => checkout.submodule(path),
        }
    }

    fn read_on_disk(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        for _ in 0..ATTEMPTS {
            let (file, metadata) = self.resolve(path.on_disk(&self.root))?;
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
        Err(ReadError::new("it changed while it was read"))
    }

    /// Content for comparison; `bytes` are in `file`, the target of `path`.
    fn as_compared(
        &self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, ReadError> {
        let Some(checkout) = self.checkout.as_ref().filter(|_| self.is_converted) else {
            return Ok(bytes);
        };
        if path.on_disk(&self.root).as_os_str() == file.as_os_str() {
            return checkout.stored(path, file, bytes);
        }
        match RepoPath::of_place(&self.root, file) {
            Some(real) => checkout.stored(&real, file, bytes),
            None => Ok(bytes),
        }
    }
}

/// Maximum attempts to read a file that changes meanwhile.
const ATTEMPTS: usize = 3;

/// Reads the regular file at `path` below `root`, if it is not larger than the limit.
pub(super) fn read_plain(root: &Path, path: &RepoPath) -> Option<Vec<u8>> {
    let file = path.on_disk(root);
    let seen = fs::symlink_metadata(&file).ok()?;
    let is_plain = seen.is_file() && seen.len() <= Source::MAX_BYTES;
    is_plain
        .then(|| read_file(&file, &seen).ok().flatten())
        .flatten()
}

/// Reads the regular file that was `seen`; `None` if it was replaced since, e.g. by a link out of
/// the tree or an endless device, or changed during the read.
fn read_file(file: &Path, seen: &Metadata) -> io::Result<Option<Vec<u8>>> {
    let mut opened = open_now(file)?;
    let before = opened.metadata()?;
    if !is_same_file(&before, seen) {
        return Ok(None);
    }
    let capacity = usize::try_from(before.len().min(Source::MAX_BYTES)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(capacity + 1);
    (&mut opened)
        .take(Source::MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    let after = opened.metadata()?;
    let is_whole = bytes.len() as u64 == after.len() || after.len() > Source::MAX_BYTES;
    let is_old = before.modified().ok() == after.modified().ok();
    Ok((is_whole && is_old).then_some(bytes))
}

/// Opens a file without blocking on pipes.
#[cfg(unix)]
fn open_now(file: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(file)
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "files are read here")]
fn open_now(file: &Path) -> io::Result<File> {
    File::open(file)
}

/// Whether the opened file is the regular file that was seen.
#[cfg(unix)]
fn is_same_file(opened: &Metadata, seen: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    opened.is_file() && (opened.dev(), opened.ino()) == (seen.dev(), seen.ino())
}

#[cfg(not(unix))]
fn is_same_file(opened: &Metadata, _seen: &Metadata) -> bool {
    opened.is_file()
}

/// Status of this process (proc(5)), if available.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "files are read here")]
pub(super) fn process_status() -> Option<String> {
    fs::read_to_string("/proc/self/status").ok()
}

/// Whether anything exists at this path, including a broken link.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a folder is empty.
#[expect(clippy::disallowed_methods, reason = "folders are read here")]
pub(super) fn is_empty_folder(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}

/// Reads a file named by the environment, such as the event of a CI job. It does not belong to a
/// repository.
///
/// # Errors
/// If it cannot be read, is not UTF-8, or is larger than [`Source::MAX_BYTES`].
pub fn text_at(path: &Path) -> Result<String, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("cannot read the file `{}`", path.display());
        Error::io(message).caused_by(cause)
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > Source::MAX_BYTES {
        let message = format!(
            "`{}` is not a regular file, or it is too large",
            path.display()
        );
        return Err(Error::io(message));
    }
    let bytes = read_file(path, &metadata)
        .map_err(unreadable)?
        .ok_or_else(|| {
            let message = format!("the file `{}` changed while it was read", path.display());
            Error::io(message)
        })?;
    String::from_utf8(bytes).map_err(|cause| {
        let message = format!("the file `{}` is not UTF-8", path.display());
        Error::io(message).caused_by(cause)
    })
}

/// Reads a file named by the user, anywhere on disk; it may be a pipe.
///
/// # Errors
/// If it cannot be read, or is larger than [`Source::MAX_BYTES`].
#[expect(clippy::disallowed_methods, reason = "files are read here")]
pub fn bytes_at(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("cannot read the file `{}`", path.display());
        Error::io(message).caused_by(cause)
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let most = Source::MAX_BYTES + 1;
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 == most {
        let message = format!(
            "the file `{}` is larger than {} MiB",
            path.display(),
            Source::MAX_BYTES >> 20
        );
        return Err(Error::io(message));
    }
    Ok(bytes)
}

/// Names of the files directly in a folder, sorted; names that are not UTF-8 are skipped.
///
/// # Errors
/// If the folder does not exist.
#[expect(clippy::disallowed_methods, reason = "folders are read here")]
pub fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    let unreadable = |cause: io::Error| {
        let message = format!("cannot read the folder `{}`", folder.display());
        Error::io(message).caused_by(cause)
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

fn link_error(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::new(LEADS_NOWHERE),
        kind => ReadError::new(format!("a symbolic link that cannot be followed: {kind}")),
    }
}

fn unlistable(folder: &Path, cause: walkdir::Error) -> Error {
    let at = cause.path().unwrap_or(folder);
    let message = format!("cannot list the folder `{}`", at.display());
    Error::io(message).caused_by(cause)
}

/// An external repository: its tree, or one folder in it, under a name.
///
/// Its root is written `NAME:`, and its file `path` is written `NAME:path`.
pub struct Labelled<T> {
    label: String,
    folder: RepoPath,
    tree: T,
}

impl<T: Tree> Labelled<T> {
    /// Wraps the part of `tree` below `folder`, with the prefix `name:`.
    pub fn new(name: &str, tree: T, folder: RepoPath) -> Self {
        Self {
            label: format!("{name}:"),
            folder,
            tree,
        }
    }

    /// Path of the root of this tree: `NAME:`.
    pub fn root(&self) -> RepoPath {
        RepoPath::new(&*self.label)
    }

    fn labelled(&self, entry: Entry) -> Option<Entry> {
        let inside = entry.path.below(&self.folder)?;
        Some(Entry {
            path: RepoPath::new(format!("{}{inside}", self.label)),
            ..entry
        })
    }
}

impl<T: Tree> Tree for Labelled<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn inner_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let inside = path.as_str().strip_prefix(&self.label)?;
        Some(if inside.is_empty() {
            self.folder.clone()
        } else {
            self.folder.join(inside)
        })
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let folder = if folder.as_str().is_empty() {
            &self.root()
        } else {
            folder
        };
        let Some(inner) = self.inner_path(folder) else {
            return Ok(Vec::new());
        };
        let entries = self.tree.entries(&inner)?.into_iter();
        Ok(entries.filter_map(|entry| self.labelled(entry)).collect())
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let real = self.tree.real_path(&self.inner_path(path)?)?;
        Some(RepoPath::new(format!(
            "{}{}",
            self.label,
            real.below(&self.folder)?
        )))
    }

    fn linked_folder(&self, path: &RepoPath) -> Result<Option<RepoPath>, ReadError> {
        let inside = self
            .inner_path(path)
            .ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        let Some(real) = self.tree.linked_folder(&inside)? else {
            return Ok(None);
        };
        let below = if real == self.folder {
            Some("")
        } else {
            real.below(&self.folder)
        };
        match below {
            Some(below) => Ok(Some(RepoPath::new(format!("{}{below}", self.label)))),
            None => Err(ReadError::new(LEADS_OUT)),
        }
    }
}

/// A tree with excluded files.
pub struct Excluding<T> {
    tree: T,
    excluded: GlobSet,
}

impl<T: Tree> Excluding<T> {
    /// Hides the files of `tree` whose paths match from listings. They can still be read by path.
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

    fn linked_entries(&self, link: &RepoPath, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.tree.linked_entries(link, folder)?;
        entries.retain(|entry| !self.excluded.is_match(entry.path.as_str()));
        Ok(entries)
    }

    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let mut files = self.tree.files_of_nested(path)?;
        files.retain(|file| !self.excluded.is_match(path.join(file.as_str()).as_str()));
        Some(files)
    }
}

/// A tree with overlaid texts.
pub struct Overlay<T> {
    tree: T,
    texts: OverlaidTexts,
}

/// Texts of files that replace those of a tree or are added to it; `None` removes a file.
pub type OverlaidTexts = BTreeMap<RepoPath, Option<Arc<str>>>;

impl<T: Tree> Overlay<T> {
    /// Overlays `tree` with `texts`.
    pub fn new(tree: T, texts: OverlaidTexts) -> Self {
        Self { tree, texts }
    }
}

impl<T: Tree> Tree for Overlay<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.tree.entries(folder)?;
        let mut added = self.texts.clone();
        added.retain(|path, text| text.is_some() && path.below(folder).is_some());
        entries.retain_mut(|entry| match self.texts.get(&entry.path) {
            None => true,
            Some(text) => {
                added.remove(&entry.path);
                entry.content = None;
                text.is_some()
            }
        });
        entries.extend(added.into_keys().map(|path| Entry {
            path,
            kind: EntryKind::File,
            content: None,
            is_link: false,
        }));
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        match self.texts.get(path) {
            Some(Some(text)) => Ok(text.as_bytes().to_vec()),
            Some(None) => Err(ReadError::new(NO_SUCH_FILE)),
            None => self.tree.read(path),
        }
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        let stored = self.tree.real_path(path);
        match self.texts.get(path) {
            Some(None) => None,
            // A replaced link leads where it did, which decides whether its content is secret.
            Some(Some(_)) => stored.or_else(|| Some(path.clone())),
            None => stored,
        }
    }
}

/// A tree of explicitly named files; files that they refer to are read from another tree.
pub struct ListedFiles<T> {
    files: MemoryTree,
    around: T,
}

impl<T: Tree> ListedFiles<T> {
    /// Creates a tree of `files`; files that they refer to are read from `around`.
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
        self.files
            .real_path(path)
            .or_else(|| self.around.real_path(path))
    }
}

/// Files held in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    /// Contents; `None` for an unreadable file.
    files: BTreeMap<RepoPath, Option<Vec<u8>>>,
}

impl MemoryTree {
    /// Creates an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(RepoPath::new(path), Some(bytes.into()));
        self
    }

    /// Adds an unreadable file.
    #[must_use]
    pub fn with_unreadable(mut self, path: &str) -> Self {
        self.files.insert(RepoPath::new(path), None);
        self
    }
}

impl Tree for MemoryTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let inside = self
            .files
            .iter()
            .filter(|(path, _)| path.below(folder).is_some());
        let entry = |(path, bytes): (&RepoPath, &Option<Vec<u8>>)| {
            let content = bytes.as_ref().and_then(|bytes| self.content_of(bytes));
            Entry {
                path: path.clone(),
                kind: EntryKind::File,
                content,
                is_link: false,
            }
        };
        Ok(inside.map(entry).collect())
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        let content = self
            .files
            .get(path)
            .ok_or_else(|| ReadError::new(NO_SUCH_FILE))?;
        content
            .clone()
            .ok_or_else(|| ReadError::new("permission denied"))
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        self.files.contains_key(path).then(|| path.clone())
    }

    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        Some(ContentId::new(&Sha256::digest(bytes)))
    }
}
