//! Files and folders written: the only place that changes anything on disk,
//! but for the repository that `git/create.rs` makes.
//!
//! A file is there whole or not at all: it is written beside its place and
//! then put there. What stands at the place and is no plain file is left
//! alone, a symbolic link too, since what it leads to was not named.

use std::fs::{self, File, FileType, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::interrupt;
use super::tree::{bytes_at, is_empty_folder, is_there};
use crate::error::{Error, ErrorKind};

/// Writes `bytes` to the file `path`, in place of what it held.
///
/// # Errors
/// Where the folder is not there or cannot be written to, and where something
/// else than a file stands at `path`. The file is then as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_files(&[(path, bytes)])
}

/// Writes to each of `files` its bytes: all of them are written beside their
/// places before the first is put there, so that a full disk changes none.
///
/// # Errors
/// As [`write_file`]. All files are then as they were, unless the folder of one
/// was changed meanwhile.
pub fn write_files(files: &[(&Path, &[u8])]) -> Result<(), Error> {
    let written: Result<Vec<TemporaryFile<'_>>, Error> =
        files.iter().map(|(path, bytes)| TemporaryFile::of(path, bytes)).collect();
    written?.into_iter().try_for_each(TemporaryFile::put)
}

/// Writes `bytes` to the file `path` where nothing is there, or a file whose content `is_own`
/// accepts: for names that somebody else than the user chose.
///
/// # Errors
/// As [`write_file`], and where another file is there, which is then as it was.
pub fn write_own_file(
    path: &Path,
    bytes: &[u8],
    is_own: &dyn Fn(&[u8]) -> bool,
) -> Result<(), Error> {
    refuse_git(path)?;
    // The list of unfinished files is locked for this statement alone.
    let begun = interrupt::unfinished().begin(path, create, remove);
    match begun {
        Ok(mut file) => {
            let new = TemporaryFile { written: path.to_owned(), path, is_put: false };
            fill(&mut file, bytes, None).map_err(|error| cannot_write(path, error))?;
            new.put()
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // The content of a pipe or of what a link leads to is not read.
            permissions_of_file(path)?;
            if is_own(&bytes_at(path)?) { write_file(path, bytes) } else { Err(foreign(path)) }
        }
        Err(error) => Err(cannot_write(path, error)),
    }
}

fn foreign(path: &Path) -> Error {
    let message = format!("`{}` is there, and layercake did not write it", path.display());
    let help = "a file that the configuration names replaces nothing else: name another file \
                there, name this one with a flag, or move it away";
    Error::new(ErrorKind::Usage, message).with_help(help)
}

/// A new text beside the place where it is to be; it goes where it is not put
/// there, also where a signal ends the run.
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
        let beside = Self { written, path, is_put: false };
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
            // There is nothing to be said of a remainder that cannot be removed.
            drop(interrupt::unfinished().finish(&self.written, remove));
        }
    }
}

/// Makes the folder `path`, with those it lies in; an empty one that is there
/// will do.
///
/// # Errors
/// Where something else stands at `path`, a folder with something in it too,
/// and where it cannot be made.
pub fn create_empty_folder(path: &Path) -> Result<(), Error> {
    if !is_there(path) {
        return create_folder(path);
    }
    if is_empty_folder(path).map_err(|error| cannot_make(path, error))? {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, format!("the folder `{}` is not empty", path.display()))
        .with_help("name a folder that is empty, or is not there yet"))
}

/// Makes the folder `path`, with those it lies in, where it is not there yet.
///
/// # Errors
/// Where something else than a folder stands there, and where it cannot be
/// made.
#[expect(clippy::disallowed_methods, reason = "this is where folders are made")]
pub fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| cannot_make(path, error))
}

/// Makes a folder inside `parent`: `NAME-1`, or with the next number that
/// nothing there has.
///
/// # Errors
/// Where it cannot be made, or there is no number left.
pub fn create_new_folder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    const NUMBERS: u32 = 10_000;
    for number in 1..=NUMBERS {
        let path = parent.join(format!("{name}-{number}"));
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_make(&path, error)),
        }
    }
    let message = format!("`{}` holds {NUMBERS} folders `{name}-NUMBER`", parent.display());
    Err(Error::new(ErrorKind::Io, message).with_help("remove those that nobody needs"))
}

#[expect(clippy::disallowed_methods, reason = "this is where folders are made")]
fn make(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

fn cannot_make(path: &Path, error: io::Error) -> Error {
    let message = format!("the folder `{}` cannot be made", path.display());
    Error::new(ErrorKind::Io, message).caused_by(error)
}

/// Where a file is, however it is spelled, with symbolic links on the way followed; the
/// file itself need not be there. None where its folder is not.
pub fn real_place(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Some(folder.canonicalize().ok()?.join(file.file_name()?))
}

/// What is inside of a repository is written by git alone.
///
/// # Errors
/// Where `path` is there.
pub fn refuse_git(path: &Path) -> Result<(), Error> {
    if real_place(path).is_some_and(|place| is_of_git(&place)) {
        let message = format!("`{}` is part of what git stores", path.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .with_help("name a file that is not in `.git`, nor in another folder of git's"));
    }
    Ok(())
}

/// Whether a place, without symbolic links on the way, is `.git`, or such a folder under
/// another name (gitrepository-layout(5)), or lies in one and in no working tree there.
fn is_of_git(place: &Path) -> bool {
    let is_git = |folder: &Path| {
        folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
            || folder.join("HEAD").is_file()
                && ["objects", "refs"].iter().all(|name| folder.join(name).is_dir())
    };
    let is_root = |folder: &Path| is_there(&folder.join(".git"));
    let mut around = place.ancestors();
    around.find(|folder| is_git(folder) || is_root(folder)).is_some_and(is_git)
}

/// Whether the file `path` of `folder` lies below it and not in `.git`, symbolic
/// links on the way followed. A folder that is not there leads nowhere else.
pub fn stays_inside(folder: &Path, path: &Path) -> bool {
    let file = folder.join(path);
    let (Ok(folder), Some(place)) = (folder.canonicalize(), real_place(&file)) else {
        return true;
    };
    place.starts_with(&folder) && !is_of_git(&place)
}

/// The permissions of the file that is there; none where there is none.
fn permissions_of_file(path: &Path) -> Result<Option<Permissions>, Error> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.permissions())),
        Ok(metadata) => Err(no_file(path, metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_write(path, error)),
    }
}

fn no_file(path: &Path, kind: FileType) -> Error {
    let shown = path.display();
    if kind.is_symlink() {
        let message = format!("`{shown}` is a symbolic link, which is not written through");
        return Error::new(ErrorKind::Io, message).with_help("name the file that it leads to");
    }
    let what = if kind.is_dir() { "a folder" } else { "no plain file" };
    Error::new(ErrorKind::Io, format!("`{shown}` is {what}"))
        .with_help("name a file; without `=FILE` the report goes to standard output")
}

/// A new file in the folder of `path`, under a name that nobody has.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    const ATTEMPTS: u32 = 100;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
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

#[expect(clippy::disallowed_methods, reason = "this is where files are written")]
fn put(beside: &Path, path: &Path) -> io::Result<()> {
    fs::rename(beside, path)
}

#[expect(clippy::disallowed_methods, reason = "this is where files are written")]
fn remove(beside: &Path) -> io::Result<()> {
    fs::remove_file(beside)
}

fn cannot_write(path: &Path, error: io::Error) -> Error {
    let message = format!("`{}` cannot be written", path.display());
    Error::new(ErrorKind::Io, message).caused_by(error)
}
