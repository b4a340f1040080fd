//! Stored trees: the files of a commit or of the index.
//!
//! A damaged or missing object is never treated as a missing or empty file: reading it returns an
//! error.

use std::collections::BTreeMap;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind as Mode;
use parking_lot::Mutex;

use super::listing::files_below;
use super::{Repository, content_id, cure};
use crate::error::Error;
use crate::nested::all_files;
use crate::tree::{
    LEADS_INTO_NESTED, LEADS_NOWHERE, LEADS_OUT, NO_SUCH_FILE, read_plain, submodule_behind,
    unread_link,
};
use crate::{ContentId, Entry, EntryKind, Nested, ReadError, RepoPath, Source, Tree};

/// Files of one commit or of the index. Symbolic links are resolved inside of it; nothing outside
/// is reachable. Contents are returned as stored, without converting line endings or resolving LFS
/// pointers.
pub struct StoredTree {
    repository: Repository,
    origin: StoredOrigin,
    entries: Vec<Entry>,
    paths: Paths,
    /// Idle handles: each reading thread takes one, with its cache of unpacked objects.
    handles: Mutex<Vec<gix::Repository>>,
}

/// Origin of a stored tree.
pub(super) enum StoredOrigin {
    Commit(gix::ObjectId),
    Index,
}

/// Entries of a stored tree by path, including folders.
pub(super) type Paths = BTreeMap<BString, (Mode, gix::ObjectId)>;

impl StoredTree {
    /// Maximum number of files and folders. Trees are stored once, however often they are
    /// referenced, so a few can expand to more files than any disk can hold.
    pub const MAX_PATHS: usize = 2_000_000;

    /// Commit id in hexadecimal digits; `None` for the index.
    pub fn commit_id(&self) -> Option<String> {
        match self.origin {
            StoredOrigin::Commit(id) => Some(id.to_string()),
            StoredOrigin::Index => None,
        }
    }

    /// Id of the whole content, i.e. of the commit; `None` for the index.
    pub(crate) fn content(&self) -> Option<ContentId> {
        match self.origin {
            StoredOrigin::Commit(id) => Some(content_id(id)),
            StoredOrigin::Index => None,
        }
    }

    /// Whether both have the same files with the same contents and modes.
    pub fn holds_the_same_as(&self, other: &StoredTree) -> bool {
        self.stored_files().eq(other.stored_files())
    }

    /// Whether there are symbolic links.
    pub fn has_links(&self) -> bool {
        self.paths.values().any(|(mode, _)| *mode == Mode::Link)
    }

    /// Whether the path exists.
    pub(super) fn holds(&self, path: &BStr) -> bool {
        self.paths.contains_key(path)
    }

    fn stored_files(&self) -> impl Iterator<Item = (&BString, &(Mode, gix::ObjectId))> {
        self.paths
            .iter()
            .filter(|(_, (mode, _))| *mode != Mode::Tree)
    }

    pub(super) fn new(repository: Repository, origin: StoredOrigin, paths: Paths) -> Self {
        let handles = Mutex::default();
        let mut tree = Self {
            repository,
            origin,
            entries: Vec::new(),
            paths,
            handles,
        };
        let mut entries: Vec<Entry> = tree
            .paths
            .iter()
            .filter_map(|(path, (mode, id))| tree.entry(path, *mode, *id))
            .collect();
        // `BString` and `str` sort alike, except with represented bytes
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        tree.entries = entries;
        tree
    }

    fn entry(&self, path: &[u8], mode: Mode, id: gix::ObjectId) -> Option<Entry> {
        let path = RepoPath::of_bytes(path);
        let (kind, content) = match mode {
            Mode::Tree => return None,
            Mode::Commit => (EntryKind::Submodule, Some(content_id(id))),
            Mode::Blob | Mode::BlobExecutable => (EntryKind::File, Some(content_id(id))),
            Mode::Link => match self.resolve(&path) {
                Ok(StoredTarget::Folder) => {
                    (EntryKind::FolderLink, Some(self.unread_link(&path, id)))
                }
                Ok(StoredTarget::File(id)) => (EntryKind::File, Some(content_id(id))),
                Ok(StoredTarget::Submodule) | Err(_) => {
                    (EntryKind::File, Some(self.unread_link(&path, id)))
                }
            },
        };
        Some(Entry {
            path,
            kind,
            content,
            is_link: matches!(mode, Mode::Link),
        })
    }

    fn unread_link(&self, path: &RepoPath, id: gix::ObjectId) -> ContentId {
        let target = self.blob(id, MAX_LINK_BYTES).unwrap_or_default();
        let submodule = submodule_behind(path, &target, |path| match self.nested(path) {
            Nested::Submodule(commit) => Some(commit),
            Nested::Untracked => None,
        });
        unread_link(content_id(id), submodule)
    }

    /// Entry at `path`, with symbolic links resolved.
    fn resolve(&self, path: &RepoPath) -> Result<StoredTarget, ReadError> {
        self.follow(path).map(|(_, target)| target)
    }

    /// Final target of `path`, and its entry.
    fn follow(&self, path: &RepoPath) -> Result<(BString, StoredTarget), ReadError> {
        let mut ahead: Vec<BString> = parts_in_reverse(BStr::new(&path.bytes()));
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
                Some((mode, id)) if ahead.is_empty() => {
                    return Ok((here, StoredTarget::of(*mode, *id)));
                }
                None | Some(_) if links > 0 => return Err(ReadError::new(LEADS_NOWHERE)),
                None | Some(_) => return Err(ReadError::new(NO_SUCH_FILE)),
            }
        }
        Ok((here, StoredTarget::Folder))
    }

    fn link_target(&self, id: gix::ObjectId) -> Result<BString, ReadError> {
        let target: BString = self.blob(id, MAX_LINK_BYTES)?.into();
        if target.starts_with(b"/") {
            Err(ReadError::new(LEADS_OUT))
        } else {
            Ok(target)
        }
    }

    fn blob(&self, id: gix::ObjectId, limit: u64) -> Result<Vec<u8>, ReadError> {
        let repository = self.handle();
        let bytes = match repository.try_find_header(id) {
            Ok(Some(header)) if header.size() > limit => Err(ReadError::TooLarge(header.size())),
            Ok(Some(_)) => match repository.find_blob(id) {
                Ok(mut blob) => Ok(blob.take_data()),
                Err(_) => Err(damaged(&repository, id)),
            },
            Ok(None) => Err(ReadError::Damaged {
                reason: format!("git object {id} is missing in this clone"),
                help: cure::missing_objects_help(&repository),
            }),
            Err(_) => Err(damaged(&repository, id)),
        };
        self.return_handle(repository);
        bytes
    }

    /// Bytes of an index object from the working tree, if they are the same: reading and hashing a
    /// file is cheaper than unpacking an object, and most files are unmodified.
    fn copy(&self, path: &RepoPath, id: gix::ObjectId) -> Option<Vec<u8>> {
        let root = match self.origin {
            StoredOrigin::Index => self.repository.work_tree_root()?,
            StoredOrigin::Commit(_) => return None,
        };
        let bytes = read_plain(root, path)?;
        (self.repository.content_of(&bytes)? == content_id(id)).then_some(bytes)
    }

    fn handle(&self) -> gix::Repository {
        let waiting = self.handles.lock().pop();
        waiting.unwrap_or_else(|| self.repository.shared.to_thread_local())
    }

    fn return_handle(&self, handle: gix::Repository) {
        self.handles.lock().push(handle);
    }
}

impl Tree for StoredTree {
    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        // a folder's entries sort after its own path, but siblings such as `folder-2` may come
        // between, because `-` sorts before `/`
        let inside = self.entries.iter().filter(|entry| entry.is_in(folder));
        Ok(inside.cloned().collect())
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        if let Some((Mode::Blob | Mode::BlobExecutable, id)) =
            self.paths.get(BStr::new(&path.bytes()))
        {
            let copy = self.copy(path, *id);
            return copy.map_or_else(|| self.blob(*id, Source::MAX_BYTES), Ok);
        }
        match self.resolve(path)? {
            StoredTarget::File(id) => self.blob(id, Source::MAX_BYTES),
            StoredTarget::Folder => Err(ReadError::new("a folder, not a file")),
            StoredTarget::Submodule => Err(ReadError::new("a submodule, not a file")),
        }
    }

    fn real_path(&self, path: &RepoPath) -> Option<RepoPath> {
        Some(RepoPath::of_bytes(&self.follow(path).ok()?.0))
    }

    fn linked_folder(&self, path: &RepoPath) -> Result<Option<RepoPath>, ReadError> {
        match self.follow(path)? {
            (folder, StoredTarget::Folder) => Ok(Some(RepoPath::of_bytes(&folder))),
            (_, StoredTarget::File(_)) => Ok(None),
            (_, StoredTarget::Submodule) => Err(ReadError::new(LEADS_INTO_NESTED)),
        }
    }

    fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        self.repository.content_of(bytes)
    }

    fn content_of_unread(&self, path: &RepoPath) -> Option<ContentId> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.path.cmp(path))
            .ok()?;
        self.entries[at].content
    }

    fn nested(&self, path: &RepoPath) -> Nested {
        match self.paths.get(BStr::new(&path.bytes())) {
            Some((Mode::Commit, id)) => Nested::Submodule(content_id(*id)),
            Some(_) | None => Nested::Untracked,
        }
    }

    fn files_of_nested(&self, path: &RepoPath) -> Option<Vec<RepoPath>> {
        let Nested::Submodule(commit) = self.nested(path) else {
            return None;
        };
        // if it is checked out, the commit is probably there too
        let nested = self.repository.nested(path)?;
        all_files(&nested.commit(&commit.to_string()).ok()?)
    }

    fn ensure_present(&self, files: &[RepoPath]) -> Result<(), Error> {
        let repository = self.handle();
        let missing = if cure::is_partial(&repository) {
            let resolved = files.iter().filter_map(|path| self.resolve(path).ok());
            resolved
                .filter(|target| target.is_missing_from(&repository))
                .count()
        } else {
            0
        };
        self.return_handle(repository);
        if missing == 0 {
            return Ok(());
        }
        let all = files.len();
        let whose = match self.origin {
            StoredOrigin::Commit(id) => format!("commit {}", id.to_hex_with_len(12)),
            StoredOrigin::Index => "the index".to_owned(),
        };
        let message =
            format!("{missing} of {all} files of {whose} are missing in this partial clone");
        Err(Error::git(message).with_help(cure::PARTIAL_HELP))
    }
}

/// Final target of a path in a stored tree.
#[derive(Clone, Copy)]
enum StoredTarget {
    File(gix::ObjectId),
    Folder,
    Submodule,
}

impl StoredTarget {
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

const TOO_MANY_LINKS: &str = "too many levels of symbolic links";

/// The limit of Linux.
const MAX_LINKS: usize = 40;
/// Maximum length of a path in bytes, as on Linux.
const MAX_LINK_BYTES: u64 = 4096;

fn parts_in_reverse(path: &BStr) -> Vec<BString> {
    let parts = path.rsplit(|byte| *byte == b'/');
    parts
        .filter(|part| !part.is_empty() && *part != b".")
        .map(BString::from)
        .collect()
}

/// Parent folder of `path`; `None` for the root.
fn parent(mut path: BString) -> Option<BString> {
    if path.is_empty() {
        return None;
    }
    let end = path.rfind_byte(b'/').unwrap_or(0);
    path.truncate(end);
    Some(path)
}

fn damaged(repository: &gix::Repository, id: gix::ObjectId) -> ReadError {
    let help = cure::missing_objects_help(repository);
    ReadError::Damaged {
        reason: format!("git object {id} is damaged"),
        help,
    }
}

/// Entries of a commit by path.
pub(super) fn paths_of(repository: &gix::Repository, commit: gix::ObjectId) -> gix::Result<Paths> {
    let tree = repository.find_commit(commit)?.tree_id()?.detach();
    files_below(repository, tree, &mut |_, _| true)
}
