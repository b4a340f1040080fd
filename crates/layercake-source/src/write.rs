//! Writing of files and folders: the only module that modifies the disk, except that
//! `git/create.rs` creates a repository.
//!
//! Files are written atomically: to a temporary file in the same folder, which is then renamed. An
//! existing path that is not a plain file is left alone, including a symbolic link, because the
//! user did not name its target.

use std::fs::{self, File, FileType, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::interrupt;
use super::tree::{bytes_at, is_empty_folder, is_there};
use crate::error::Error;

/// Writes `bytes` to the file `path`, replacing its contents.
///
/// # Errors
/// If the folder does not exist or is not writable, or `path` exists and is not a file. The file is
/// then unchanged.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_files(&[(path, bytes)])
}

/// Writes each of `files`. All temporary files are written before the first one is renamed, so that
/// a full disk changes nothing.
///
/// # Errors
/// As for [`write_file`]. All files are then unchanged, unless a folder was modified concurrently.
pub fn write_files(files: &[(&Path, &[u8])]) -> Result<(), Error> {
    let written: Result<Vec<TemporaryFile<'_>>, Error> = files
        .iter()
        .map(|(path, bytes)| TemporaryFile::of(path, bytes))
        .collect();
    written?.into_iter().try_for_each(TemporaryFile::put)
}

/// Writes `bytes` to the file `path` if it does not exist or `is_own` accepts its contents: for
/// names not chosen by the user.
///
/// # Errors
/// As for [`write_file`], and if another file exists, which is then unchanged.
pub fn write_own_file(
    path: &Path,
    bytes: &[u8],
    is_own: &dyn Fn(&[u8]) -> bool,
) -> Result<(), Error> {
    refuse_git(path)?;
    // The list of unfinished files is locked only for this statement.
    let begun = interrupt::unfinished().begin(path, create, remove);
    match begun {
        Ok(mut file) => {
            let new = TemporaryFile {
                written: path.to_owned(),
                path,
                is_put: false,
            };
            fill(&mut file, bytes, None).map_err(|error| cannot_write(path, error))?;
            new.put()
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            ensure_own(path, is_own)?;
            write_file(path, bytes)
        }
        Err(error) => Err(cannot_write(path, error)),
    }
}

/// Checks that [`write_file`] can write `path`, without creating or changing a file.
///
/// # Errors
/// As for [`write_file`], except for a full disk.
pub fn ensure_writable(path: &Path) -> Result<(), Error> {
    refuse_git(path)?;
    permissions_of_file(path)?;
    let folder = folder_of(path);
    match ensure_writable_folder(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let help = format!(
                "create the folder `{}`, or name another file",
                folder.display()
            );
            Err(cannot_write(path, error).with_help(help))
        }
        Err(error) => Err(cannot_write(path, error)),
    }
}

#[cfg(unix)]
fn ensure_writable_folder(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};

    Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

#[cfg(not(unix))]
fn ensure_writable_folder(folder: &Path) -> io::Result<()> {
    if folder.metadata()?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

/// Checks that the file `path` does not exist or `is_own` accepts its contents.
///
/// # Errors
/// If another file exists, or the file cannot be read.
pub fn ensure_own(path: &Path, is_own: &dyn Fn(&[u8]) -> bool) -> Result<(), Error> {
    // Pipes and targets of links are not read.
    let is_new = permissions_of_file(path)?.is_none();
    if is_new || is_own(&bytes_at(path)?) {
        Ok(())
    } else {
        Err(foreign(path))
    }
}

/// Writes `bytes` to a new file in `folder`, readable only by this user; returns its path. Nothing
/// removes the file.
///
/// # Errors
/// If the folder is not writable.
pub fn write_temporary_file(folder: &Path, suffix: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let written = || {
        let builder = &mut tempfile::Builder::new();
        let mut file = builder
            .prefix("layercake-")
            .suffix(suffix)
            .tempfile_in(folder)?;
        file.write_all(bytes)?;
        let (_, path) = file.keep()?;
        Ok(path)
    };
    written().map_err(|error: io::Error| cannot_write(folder, error))
}

fn foreign(path: &Path) -> Error {
    let message = format!(
        "`{}` already exists, and layercake did not create it",
        path.display()
    );
    let help = "name another file in the configuration, name this one with a flag, or move it \
                away";
    Error::usage(message).with_help(help)
}

/// A temporary file next to its target; removed unless it is renamed, also if a signal ends the
/// run.
struct TemporaryFile<'p> {
    written: PathBuf,
    path: &'p Path,
    is_put: bool,
}

impl<'p> TemporaryFile<'p> {
    fn of(path: &'p Path, bytes: &[u8]) -> Result<Self, Error> {
        refuse_git(path)?;
        let permissions = permissions_of_file(path)?;
        let (written, mut file) = create_beside(path).map_err(|error| cannot_write(path, error))?;
        let beside = Self {
            written,
            path,
            is_put: false,
        };
        fill(&mut file, bytes, permissions).map_err(|error| cannot_write(path, error))?;
        Ok(beside)
    }

    fn put(mut self) -> Result<(), Error> {
        interrupt::unfinished()
            .finish(&self.written, |written| put(written, self.path))
            .map_err(|error| cannot_write(self.path, error))?;
        self.is_put = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.is_put {
            // A failed removal cannot be reported here.
            drop(interrupt::unfinished().finish(&self.written, remove));
        }
    }
}

/// Creates the folder `path` and its parents; an existing empty folder is accepted.
///
/// # Errors
/// If `path` exists and is not an empty folder, or cannot be created.
pub fn create_empty_folder(path: &Path) -> Result<(), Error> {
    if !is_there(path) {
        return create_folder(path);
    }
    if is_empty_folder(path).map_err(|error| cannot_create(path, error))? {
        return Ok(());
    }
    Err(
        Error::usage(format!("the folder `{}` is not empty", path.display()))
            .with_help("name an empty or new folder"),
    )
}

/// Creates the folder `path` and its parents, if it does not exist.
///
/// # Errors
/// If `path` exists and is not a folder, or cannot be created.
#[expect(clippy::disallowed_methods, reason = "folders are created here")]
pub fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| cannot_create(path, error))
}

/// Creates a folder inside `parent`: `NAME-1`, or with the next free number.
///
/// # Errors
/// If it cannot be created, or no number is free.
pub fn create_new_folder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    const NUMBERS: u32 = 10_000;
    for number in 1..=NUMBERS {
        let path = parent.join(format!("{name}-{number}"));
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_create(&path, error)),
        }
    }
    let message = format!(
        "`{}` holds {NUMBERS} folders `{name}-NUMBER`",
        parent.display()
    );
    Err(Error::io(message).with_help("remove those that are no longer needed"))
}

#[expect(clippy::disallowed_methods, reason = "folders are created here")]
fn make(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

fn cannot_create(path: &Path, error: io::Error) -> Error {
    let message = format!("cannot create the folder `{}`", path.display());
    Error::io(message).caused_by(error)
}

/// Canonical path of a file with symbolic links resolved. The file need not exist; `None` if its
/// folder does not exist.
pub fn real_place(file: &Path) -> Option<PathBuf> {
    Some(folder_of(file).canonicalize().ok()?.join(file.file_name()?))
}

/// Folder of a file.
fn folder_of(file: &Path) -> &Path {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Refuses paths that only git may write.
///
/// # Errors
/// If `path` is inside a git folder.
pub fn refuse_git(path: &Path) -> Result<(), Error> {
    if real_place(path).is_some_and(|place| is_of_git(&place)) {
        let message = format!("`{}` is inside a git folder", path.display());
        return Err(
            Error::usage(message).with_help("name a file outside of `.git` and other git folders")
        );
    }
    Ok(())
}

/// Whether a path without symbolic links is or is inside `.git` or a git folder with another name
/// (gitrepository-layout(5)), and not in a working tree there.
fn is_of_git(place: &Path) -> bool {
    let is_git = |folder: &Path| {
        folder
            .file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case(".git"))
            || folder.join("HEAD").is_file()
                && ["objects", "refs"]
                    .iter()
                    .all(|name| folder.join(name).is_dir())
    };
    let mut around = place.ancestors();
    around
        .find(|folder| is_git(folder) || is_there(&folder.join(".git")))
        .is_some_and(is_git)
}

/// Whether the file `path` of `folder` is inside it and outside of `.git`, with symbolic links
/// resolved. A folder that does not exist is accepted.
pub fn stays_inside(folder: &Path, path: &Path) -> bool {
    let file = folder.join(path);
    let (Ok(folder), Some(place)) = (folder.canonicalize(), real_place(&file)) else {
        return true;
    };
    place.starts_with(&folder) && !is_of_git(&place)
}

/// Permissions of an existing file.
fn permissions_of_file(path: &Path) -> Result<Option<Permissions>, Error> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.permissions())),
        Ok(metadata) => Err(not_a_file(path, metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_write(path, error)),
    }
}

fn not_a_file(path: &Path, kind: FileType) -> Error {
    let shown = path.display();
    if kind.is_symlink() {
        let message =
            format!("`{shown}` is a symbolic link, which layercake does not follow for writing");
        return Error::io(message).with_help("name the target of the link");
    }
    let what = if kind.is_dir() {
        "a folder"
    } else {
        "not a regular file"
    };
    Error::io(format!("`{shown}` is {what}"))
        .with_help("name a file, or omit `=FILE` to write to standard output")
}

/// Creates a file with an unused name in the folder of `path`.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    const ATTEMPTS: u32 = 100;
    let name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidInput)?
        .to_string_lossy();
    let mut attempt = 0;
    loop {
        let beside = path.with_file_name(format!(".{name}.{}-{attempt}", std::process::id()));
        match interrupt::unfinished().begin(&beside, create, remove) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn create(beside: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(beside)
}

fn fill(file: &mut File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

#[expect(clippy::disallowed_methods, reason = "files are written here")]
fn put(beside: &Path, path: &Path) -> io::Result<()> {
    fs::rename(beside, path)
}

#[expect(clippy::disallowed_methods, reason = "files are written here")]
fn remove(beside: &Path) -> io::Result<()> {
    fs::remove_file(beside)
}

fn cannot_write(path: &Path, error: io::Error) -> Error {
    let message = format!("cannot write `{}`", path.display());
    Error::io(message).caused_by(error)
}
