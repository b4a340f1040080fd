//! Git history with the content of all files, read from one `git fast-export`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use layercake::source::{FileId, RepoPath, Source, SourceMap};
use layercake::yaml::parse;
use rayon::prelude::*;
use walkdir::WalkDir;

use crate::git::scrub;

/// Index of a file's content in [`Log::contents`].
pub type Content = usize;

/// Files of a folder: relative path, mode and content.
pub type Folder = BTreeMap<Arc<str>, (Arc<str>, Content)>;

/// Ancestors of the last commit, and the commit itself.
pub struct Log {
    pub repository: PathBuf,
    /// Parents before their children; the last one is where blame starts.
    pub commits: Vec<Commit>,
    contents: Vec<Vec<u8>>,
    /// Contents that are not valid YAML.
    broken: HashSet<Content>,
}

pub struct Commit {
    /// `None` for the working tree.
    pub id: Option<String>,
    subject: String,
    pub parents: Vec<usize>,
    /// Layer folders, such as `type/small`; equal ones are shared.
    pub folders: BTreeMap<String, Arc<Folder>>,
}

impl Log {
    /// Reads the history of a revision.
    pub fn of_revision(repository: &Path, revision: &str) -> Self {
        Self::new(repository, Reader::read(&exported(repository, revision)))
    }

    /// Reads the history of the working tree as a commit on top of HEAD.
    pub fn of_working_tree(repository: &Path) -> Self {
        let mut reader = Reader::read(&exported(repository, "HEAD"));
        reader.add_working_tree(repository);
        Self::new(repository, reader)
    }

    fn new(repository: &Path, reader: Reader) -> Self {
        let mut known = HashSet::new();
        let commits = reader.commits.into_iter().map(|commit| Commit {
            folders: folders(&commit.files, &mut known),
            id: commit.id,
            subject: commit.subject,
            parents: commit.parents,
        });
        let commits = commits.collect();
        let contents = reader.contents;
        let broken = contents
            .par_iter()
            .enumerate()
            .filter(|(_, bytes)| is_broken(bytes));
        let broken = broken.map(|(content, _)| content).collect();
        Self {
            repository: repository.to_owned(),
            commits,
            contents,
            broken,
        }
    }

    /// Names of the sites at the start.
    pub fn sites(&self) -> Vec<String> {
        let start = self.commits.last().expect("a history has commits");
        let sites = start
            .folders
            .keys()
            .filter_map(|folder| folder.strip_prefix("site/"));
        sites.map(ToOwned::to_owned).collect()
    }

    /// Commits with their parents, one a line.
    pub fn overview(&self) -> String {
        let id = |at: usize| self.commits[at].id.as_deref().unwrap_or("working tree");
        let line = |at: usize| {
            let Commit {
                parents, subject, ..
            } = &self.commits[at];
            let parents: Vec<&str> = parents.iter().map(|parent| id(*parent)).collect();
            format!("{} {subject} <- {}", id(at), parents.join(" "))
        };
        (0..self.commits.len())
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub fn text(&self, content: Content) -> &str {
        str::from_utf8(&self.contents[content]).unwrap_or_default()
    }

    /// YAML files of a folder that cannot be read completely.
    pub fn broken_in<'a>(&'a self, folder: &'a Folder) -> impl Iterator<Item = Content> + use<'a> {
        let yaml = folder.iter().filter(|(path, _)| path.ends_with(".yaml"));
        yaml.map(|(_, (_, content))| *content)
            .filter(|content| self.broken.contains(content))
    }
}

fn is_broken(bytes: &[u8]) -> bool {
    let parsed = str::from_utf8(bytes).map(|text| parse(any_file(), text));
    parsed.is_ok_and(|parsed| {
        parsed
            .problems
            .iter()
            .any(|problem| problem.kind.is_fatal())
    })
}

/// Id of a file in which no location is looked up.
pub fn any_file() -> FileId {
    SourceMap::new().add(Source::new(RepoPath::new("any.yaml"), Ok(Vec::new())))
}

/// Files of each layer folder. Equal folders are shared through `known`.
fn folders(files: &Files, known: &mut HashSet<Arc<Folder>>) -> BTreeMap<String, Arc<Folder>> {
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    for (path, file) in files {
        if let Some((folder, rest)) = in_layer(path) {
            folders
                .entry(folder.to_owned())
                .or_default()
                .insert(rest.into(), file.clone());
        }
    }
    let shared = folders.into_iter().map(|(name, folder)| {
        let folder = Arc::new(folder);
        let same = known.get(&folder).cloned();
        (
            name,
            same.unwrap_or_else(|| known.insert(Arc::clone(&folder)).then_some(folder).unwrap()),
        )
    });
    shared.collect()
}

/// Layer folder of a path, and the path in it.
fn in_layer(path: &str) -> Option<(&str, &str)> {
    let depth = usize::from(!path.starts_with("global/"));
    let is_layer = ["global/", "type/", "site/"]
        .iter()
        .any(|layer| path.starts_with(layer));
    let (end, _) = path.match_indices('/').nth(depth).filter(|_| is_layer)?;
    Some((&path[..end], &path[end + 1..]))
}

fn exported(repository: &Path, revision: &str) -> Vec<u8> {
    let mut git = Command::new("git");
    scrub(&mut git);
    git.arg("-C")
        .arg(repository)
        .args(["fast-export", "--show-original-ids", revision]);
    let output = git.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Mode and content by path.
type Files = BTreeMap<Arc<str>, (Arc<str>, Content)>;

/// Content of a `git fast-export` stream.
#[derive(Default)]
struct Reader {
    commits: Vec<ReadCommit>,
    /// Index of the commit with a mark.
    by_mark: HashMap<String, usize>,
    contents: Vec<Vec<u8>>,
    by_bytes: HashMap<Vec<u8>, Content>,
    /// Content of the file with a mark.
    of_mark: HashMap<String, Content>,
}

#[derive(Default)]
struct ReadCommit {
    id: Option<String>,
    subject: String,
    parents: Vec<usize>,
    files: Files,
}

impl Reader {
    fn read(stream: &[u8]) -> Self {
        let (mut reader, mut rest) = (Self::default(), stream);
        let (mut is_file, mut last_mark) = (false, String::new());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = str::from_utf8(&rest[..end]).unwrap();
            rest = &rest[end + 1..];
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "blob" => is_file = true,
                "commit" => {
                    is_file = false;
                    reader.commits.push(ReadCommit::default());
                }
                "mark" => {
                    value.clone_into(&mut last_mark);
                    if !is_file {
                        reader
                            .by_mark
                            .insert(last_mark.clone(), reader.commits.len() - 1);
                    }
                }
                "data" => {
                    let (data, after) = rest.split_at(value.parse().unwrap());
                    rest = after;
                    let text = String::from_utf8_lossy(data);
                    if let Some(commit) = reader.commits.last_mut().filter(|_| !is_file) {
                        text.lines()
                            .next()
                            .unwrap_or_default()
                            .clone_into(&mut commit.subject);
                    } else {
                        let content = reader.content(data.to_vec());
                        reader.of_mark.insert(last_mark.clone(), content);
                    }
                }
                _ if !is_file => reader.read_commit(word, value),
                _ => {}
            }
        }
        reader
    }

    /// Reads a line of the current commit.
    fn read_commit(&mut self, word: &str, value: &str) {
        let [before @ .., commit] = &mut self.commits[..] else {
            return;
        };
        match word {
            "original-oid" => commit.id = Some(value.to_owned()),
            "from" => {
                let parent = self.by_mark[value];
                commit.parents.push(parent);
                commit.files = before[parent].files.clone();
            }
            "merge" => commit.parents.push(self.by_mark[value]),
            "D" => drop(commit.files.remove(value)),
            "M" => {
                let [mode, mark, path] = value.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                    panic!("{value}")
                };
                commit
                    .files
                    .insert(path.into(), (mode.into(), self.of_mark[mark]));
            }
            _ => {}
        }
    }

    fn content(&mut self, bytes: Vec<u8>) -> Content {
        let next = self.contents.len();
        *self.by_bytes.entry(bytes).or_insert_with_key(|bytes| {
            self.contents.push(bytes.clone());
            next
        })
    }

    fn add_working_tree(&mut self, root: &Path) {
        let head = self.commits.len() - 1;
        let mut files = Files::new();
        for layer in ["global", "type", "site"] {
            for entry in WalkDir::new(root.join(layer))
                .into_iter()
                .filter_map(Result::ok)
            {
                if entry.file_type().is_file() {
                    let path = entry.path().strip_prefix(root).unwrap().to_str().unwrap();
                    let content = self.content(fs::read(entry.path()).unwrap());
                    files.insert(path.into(), ("100644".into(), content));
                }
            }
        }
        self.commits.push(ReadCommit {
            parents: vec![head],
            files,
            ..ReadCommit::default()
        });
    }
}
