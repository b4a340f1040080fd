//! A small repository with various git features, and damage to its files.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use arbitrary::Arbitrary;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use tempfile::TempDir;

/// The repository, and the intact content of its files.
pub struct Sound {
    folder: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Damage to a file below `.git`.
#[derive(Debug, Arbitrary)]
pub struct Damage {
    /// Index of the file, modulo the number of files.
    file: u8,
    /// Whether the decompressed object is damaged instead of the file.
    is_inside: bool,
    how: How,
}

#[derive(Debug, Arbitrary)]
enum How {
    Flip { at: u16, by: u8 },
    Cut { at: u16 },
    Insert { at: u16, bytes: Vec<u8> },
    Overwrite { at: u16, bytes: Vec<u8> },
    Take { at: u16, count: u8 },
    Replace { bytes: Vec<u8> },
    Copy { of: u8 },
    Remove,
}

/// Restores the files when dropped.
pub struct Damaged<'a> {
    sound: &'a Sound,
    touched: Vec<usize>,
}

impl Sound {
    /// Creates the repository with `git`.
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be created");
        let sound = Self {
            folder,
            files: Vec::new(),
        };
        sound.make();
        let files = sound.damageable();
        Self { files, ..sound }
    }

    /// Root of the working tree.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Damages the repository until the returned guard is dropped.
    pub fn damaged(&self, damages: &[Damage]) -> Damaged<'_> {
        let mut touched = Vec::new();
        for damage in damages.iter().take(6) {
            let at = usize::from(damage.file) % self.files.len();
            let (path, bytes) = &self.files[at];
            let current = if touched.contains(&at) {
                fs::read(path).unwrap_or_default()
            } else {
                bytes.clone()
            };
            touched.push(at);
            match damage.done(&current, &self.files) {
                Some(bytes) => fs::write(path, bytes).expect("the folder is writable"),
                // The file may not exist any more.
                None => drop(fs::remove_file(path)),
            }
        }
        Damaged {
            sound: self,
            touched,
        }
    }

    fn make(&self) {
        let git = |arguments: &[&str]| self.git(arguments);
        let write = |path: &str, text: &str| {
            let path = self.folder().join(path);
            fs::create_dir_all(path.parent().expect("the file is in a folder"))
                .expect("the folder is writable");
            fs::write(path, text).expect("the folder is writable");
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        write("global/a.yaml", "a: 1\n");
        write("site/one/a.yaml", "b: 1\n");
        write(
            "site/one/long.yaml",
            &"- a line that is there often\n".repeat(200),
        );
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=one"]);
        git(&["tag", "--annotate", "--message=first", "v1"]);
        git(&["branch", "side"]);
        write(
            "site/one/long.yaml",
            &("x: 1\n".to_owned() + &"- a line that is there often\n".repeat(199)),
        );
        git(&["commit", "--quiet", "--all", "--message=two"]);
        git(&["repack", "-adq"]);
        git(&["pack-refs", "--all"]);
        git(&["checkout", "--quiet", "side"]);
        write("global/b.yaml", "c: 1\n");
        std::os::unix::fs::symlink("b.yaml", self.folder().join("global/link.yaml"))
            .expect("the folder is writable");
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=on the side"]);
        git(&["checkout", "--quiet", "main"]);
        git(&["merge", "--quiet", "--no-edit", "side"]);
        git(&["tag", "tag"]);
        git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
        git(&[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
        ]);
        write("global/c.yaml", "d: 1\n");
        git(&["add", "."]);
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.env_clear()
            .envs(std::env::vars().filter(|(name, _)| name == "PATH"));
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_AUTHOR_DATE", "1700000000 +0000"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_DATE", "1700000000 +0000"),
        ] {
            git.env(name, value);
        }
        let status = git.args(arguments).current_dir(self.folder()).status();
        assert!(
            status.expect("git can be run").success(),
            "git {arguments:?}"
        );
    }

    /// Files that git reads, in a fixed order. The configuration is excluded, since it could set
    /// another folder as the working tree.
    fn damageable(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut open = vec![self.folder().join(".git")];
        let mut files = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("the folder is readable") {
                let path = entry.expect("the folder is readable").path();
                let name = path
                    .file_name()
                    .expect("the file has a name")
                    .to_string_lossy()
                    .into_owned();
                match path.is_dir() {
                    true if name != "hooks" => open.push(path),
                    false if name != "config" && name != "description" => {
                        let bytes = fs::read(&path).expect("the folder is readable");
                        // Objects and packs are read-only.
                        fs::remove_file(&path).expect("the folder is writable");
                        fs::write(&path, &bytes).expect("the folder is writable");
                        files.push((path, bytes));
                    }
                    true | false => {}
                }
            }
        }
        files.sort();
        files
    }
}

impl Default for Sound {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Damaged<'_> {
    fn drop(&mut self) {
        for at in &self.touched {
            let (path, bytes) = &self.sound.files[*at];
            fs::write(path, bytes).expect("the folder is writable");
        }
    }
}

impl Damage {
    /// Damages the content of a file; `None` if the file is removed.
    fn done(&self, bytes: &[u8], files: &[(PathBuf, Vec<u8>)]) -> Option<Vec<u8>> {
        let inside = self.is_inside.then(|| inflated(bytes)).flatten();
        match inside {
            Some(object) => Some(deflated(&self.how.done(&object, files)?)),
            None => self.how.done(bytes, files),
        }
    }
}

impl How {
    fn done(&self, bytes: &[u8], files: &[(PathBuf, Vec<u8>)]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        let place = |at: &u16| usize::from(*at) % (bytes.len() + 1);
        match self {
            How::Flip { at, by } => {
                let at = place(at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= by;
                }
            }
            How::Cut { at } => bytes.truncate(place(at)),
            How::Insert { at, bytes: more } => {
                let at = place(at);
                bytes.splice(at..at, more.iter().copied());
            }
            How::Overwrite { at, bytes: more } => {
                let at = place(at);
                let end = (at + more.len()).min(bytes.len());
                bytes.splice(at..end, more.iter().copied());
            }
            How::Take { at, count } => {
                let at = place(at);
                let end = (at + usize::from(*count)).min(bytes.len());
                bytes.drain(at..end);
            }
            How::Replace { bytes: other } => bytes.clone_from(other),
            How::Copy { of } => bytes.clone_from(&files[usize::from(*of) % files.len()].1),
            How::Remove => return None,
        }
        Some(bytes)
    }
}

/// Decompresses a loose object.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut inside = Vec::new();
    ZlibDecoder::new(bytes).read_to_end(&mut inside).ok()?;
    Some(inside)
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::none());
    encoder
        .write_all(bytes)
        .expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}
