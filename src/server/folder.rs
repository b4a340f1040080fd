//! A folder that a client opened: its site repository with the texts of open documents, and its
//! published findings.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range as Bytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{Diagnostic, Location, Uri};

use super::base::BaseFiles;
use super::client::Client;
use super::findings::Shown;
use super::rendered::ReadOnlyText;
use super::text::{Encoding, Lines, moved};
use super::uri::uri_of;
use super::worker::OpenDocuments;
use crate::ask::uses::NamedDocuments;
use crate::cancel::Cancel;
use crate::check::{Further, RunControl, Workspace};
use crate::commands::configuration::rule_pages;
use crate::commands::{Project, Selection};
use crate::error::Error;
use crate::source::{ContentId, FileId, OverlaidTexts, RepoPath, Span};
use crate::triage::Findings;

/// Diagnostics by address.
pub(super) type Published = BTreeMap<String, Vec<Diagnostic>>;

type FileContents = BTreeMap<RepoPath, Option<ContentId>>;

/// A folder of the client.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) opened: Option<OpenedFolder>,
    /// Files that changed since the workspace was last brought up to date.
    changed: BTreeSet<PathBuf>,
    state: FolderState,
    /// Why it could not be read or judged.
    problem: Option<String>,
    published: Published,
}

/// How much of the last change was processed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FolderState {
    Unread,
    Unjudged,
    Judged,
}

/// A site repository that was read.
pub(super) struct OpenedFolder {
    pub(super) project: Project,
    pub(super) workspace: Workspace,
    /// The folder that the client opened.
    pub(super) path: PathBuf,
    /// Root of the repository on disk.
    pub(super) root: PathBuf,
    /// Whether git may list other files than those that were read.
    may_list_others: bool,
    /// Contents of its files when they were last looked at, for a client that does not report changes.
    seen: Option<FileContents>,
    /// Files of the base of comparisons, once a question needed them.
    pub(super) base: Option<BaseFiles>,
    /// Findings of the last judged state.
    pub(super) findings: Findings,
    /// Number of texts that were read then.
    texts_judged: usize,
    /// Its documents and the texts that name them, once a question needed them.
    pub(super) names: Option<Arc<NamedDocuments>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            opened: None,
            changed: BTreeSet::new(),
            state: FolderState::Unread,
            problem: None,
            published: Published::new(),
        }
    }

    /// Takes note of a changed file, if it is in the folder's repository.
    pub(super) fn note(&mut self, file: &Path) {
        let opened = self.opened.as_ref();
        let root = opened.map_or(&*self.path, |opened| &opened.root);
        if file.starts_with(root) {
            self.changed.insert(file.to_owned());
            self.state = FolderState::Unread;
        }
    }

    /// Takes note of a file that changed on disk.
    pub(super) fn note_on_disk(&mut self, file: &Path) {
        if is_of_git(file) {
            // A commit or a branch: its files are reported, too.
            if let Some(opened) = &mut self.opened {
                opened.base = None;
                opened.may_list_others = true;
            }
        } else {
            self.note(file);
        }
    }

    /// Takes note of the files that changed since it was last called.
    pub(super) fn look(&mut self) {
        let Some(opened) = &mut self.opened else {
            return;
        };
        opened.base = None;
        // What cannot be listed is reported when it is read.
        let Ok(now) = opened.project.contents() else {
            return;
        };
        let Some(before) = opened.seen.replace(now.clone()) else {
            return;
        };
        let paths: BTreeSet<&RepoPath> = before.keys().chain(now.keys()).collect();
        let changed = paths
            .into_iter()
            .filter(|path| before.get(*path) != now.get(*path));
        let root = opened.root.clone();
        let changed: Vec<PathBuf> = changed.map(|path| root.join(path.as_str())).collect();
        for file in changed {
            self.note(&file);
        }
    }

    /// Whether a change was not read yet.
    pub(super) fn is_unread(&self) -> bool {
        self.state == FolderState::Unread
    }

    /// Whether the findings may differ from the published ones.
    pub(super) fn is_outdated(&self) -> bool {
        self.state < FolderState::Judged
    }

    /// Whether a file has a text that is not judged yet.
    pub(super) fn is_unjudged(&self, file: &Path) -> bool {
        let text = |opened: &OpenedFolder| {
            let path = RepoPath::of_place(&opened.root, file)?;
            let [current, _] = opened.workspace.contents_of(&path)?;
            Some(current.index() >= opened.texts_judged)
        };
        self.is_outdated() && self.opened.as_ref().and_then(text).unwrap_or_default()
    }

    /// Forgets what was read, after a failure of layercake.
    pub(super) fn fail(&mut self) {
        self.opened = None;
        self.state = FolderState::Judged;
    }

    /// Whether an error differs from the last one.
    pub(super) fn is_new_problem(&mut self, error: &Error) -> bool {
        let before = self.problem.replace(error.to_string());
        before != self.problem
    }

    /// Reads what changed. On an error, the state before remains; the changes are read next time.
    ///
    /// # Errors
    /// Without a site repository, if its configuration is invalid, or if it is cancelled.
    pub(super) fn read(
        &mut self,
        open: &OpenDocuments,
        client: &Client,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let read = self.read_changes(open, client, cancel);
        self.state = match &read {
            Ok(()) => FolderState::Unjudged,
            Err(_) if cancel.is_cancelled() => FolderState::Unread,
            Err(_) => FolderState::Judged,
        };
        read
    }

    fn read_changes(
        &mut self,
        open: &OpenDocuments,
        client: &Client,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let control = RunControl::stopped_by(cancel);
        match &mut self.opened {
            Some(opened) => {
                let changed = self.changed.iter();
                let files = changed.filter_map(|file| RepoPath::of_place(&opened.root, file));
                let files: BTreeSet<RepoPath> = files.collect();
                if !(client.watches_files() && opened.replaces_texts(&files, open)?) {
                    opened.list_again(open, client)?;
                }
                let plan = opened.project.plan(&control);
                opened.workspace.change(plan, &files)?;
                opened.drop_findings_of_freed_texts();
                opened.names = None;
                opened.base = None;
            }
            None => {
                let opened = OpenedFolder::read(self.path.clone(), open, client, &control)?;
                self.opened = Some(opened);
            }
        }
        self.changed.clear();
        Ok(())
    }

    /// Judges what the changes reach. Returns the diagnostics of the files whose diagnostics differ
    /// from the published ones.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn judged(&mut self, client: &Client, cancel: &Cancel) -> Result<Published, Error> {
        let Some(opened) = &mut self.opened else {
            self.state = FolderState::Judged;
            return Ok(Published::new());
        };
        // The handle of the run that read the files may be cancelled since.
        opened.workspace.stopped_by(cancel);
        opened.findings = opened.workspace.findings()?;
        opened.texts_judged = opened.workspace.texts_read();
        let shown = opened.shown(client);
        let mut found = Published::new();
        for finding in &opened.findings.diagnostics {
            let (address, diagnostic) = shown.diagnostic(finding);
            found.entry(address.0).or_default().push(diagnostic);
        }
        self.problem = None;
        self.state = FolderState::Judged;
        Ok(self.publish(found))
    }

    /// The published diagnostics of a file.
    pub(super) fn published(&self, file: &Path) -> Option<&Vec<Diagnostic>> {
        self.published.get(&uri_of(file).0)
    }

    /// The files whose diagnostics are others than the published ones, with these.
    pub(super) fn publish(&mut self, found: Published) -> Published {
        let before = std::mem::replace(&mut self.published, found);
        let mut changed: Published = before
            .keys()
            .filter(|path| !self.published.contains_key(*path))
            .map(|path| (path.clone(), Vec::new()))
            .collect();
        let new = self.published.iter();
        let new = new.filter(|(path, list)| before.get(*path) != Some(*list));
        changed.extend(new.map(|(path, list)| (path.clone(), list.clone())));
        changed
    }
}

impl OpenedFolder {
    fn read(
        path: PathBuf,
        open: &OpenDocuments,
        client: &Client,
        control: &RunControl,
    ) -> Result<Self, Error> {
        let root = Project::root_around(&Selection::of(path.clone()))?;
        let project = project((&path, &root), open, client)?;
        // Before the files are read, so that no change is missed.
        let seen = (!client.watches_files()).then(|| project.contents());
        let seen = seen.transpose()?;
        Ok(Self {
            workspace: Workspace::judging(project.plan(control))?,
            path,
            root,
            may_list_others: false,
            seen,
            project,
            base: None,
            findings: Findings::default(),
            texts_judged: 0,
            names: None,
        })
    }

    /// Replaces the texts of changed files in the project. False, with the project unchanged, if its files
    /// have to be listed again.
    fn replaces_texts(
        &mut self,
        changed: &BTreeSet<RepoPath>,
        open: &OpenDocuments,
    ) -> Result<bool, Error> {
        let is_file = |file: &RepoPath| {
            let path = self.root.join(file.as_str());
            open.contains_key(&path) || path.symlink_metadata().is_ok_and(|it| it.is_file())
        };
        if self.may_list_others || !changed.iter().all(is_file) {
            return Ok(false);
        }
        let texts = overlaid(&self.root, open);
        self.project.set_texts(&texts, changed)
    }

    fn list_again(&mut self, open: &OpenDocuments, client: &Client) -> Result<(), Error> {
        let project = project((&self.path, &self.root), open, client)?;
        self.project = project.with_options_of(&self.project);
        self.may_list_others = false;
        Ok(())
    }

    /// Keeps the findings whose texts are still known: until the change is judged, they are shown.
    fn drop_findings_of_freed_texts(&mut self) {
        let sources = self.workspace.sources();
        self.findings.diagnostics.retain(|finding| {
            let mut texts = std::iter::once(&finding.primary).chain(&finding.related);
            texts.all(|label| sources.has(label.span.file))
        });
    }

    /// Where a text is, in the current content of its file.
    pub(super) fn location(&self, text: Span, encoding: Encoding) -> Location {
        let sources = self.workspace.sources();
        // Text inside of an encoded part is shown at the part.
        let written = sources.written(text);
        let current = self.workspace.current_of(written.file);
        let [now, before] = [current, written.file].map(|file| sources.get(file));
        let Bytes { start, end } = written.range();
        let [start, end] = [start, end].map(|byte| moved(before.text(), now.text(), byte));
        Location {
            uri: self.uri_of_content(current),
            range: Lines::of(now, encoding).range(start..end),
        }
    }

    /// Address of the file of a text.
    pub(super) fn uri(&self, text: Span) -> Uri {
        let written = self.workspace.sources().written(text);
        self.uri_of_content(written.file)
    }

    fn uri_of_content(&self, content: FileId) -> Uri {
        let path = self.workspace.sources().get(content).path();
        match self.workspace.further_of(content) {
            None => uri_of(&self.root.join(path.as_str())),
            Some((
                Further {
                    folder: Some(folder),
                    ..
                },
                inside,
            )) => uri_of(&folder.join(inside)),
            Some((further, _)) => ReadOnlyText::Source {
                path: path.to_string(),
                commit: further.commit.as_deref().unwrap_or_default().to_owned(),
                folder: self.path.clone(),
            }
            .uri(),
        }
    }

    /// How its findings are shown.
    pub(super) fn shown<'s>(&'s self, client: &Client) -> Shown<'s> {
        Shown {
            folder: self,
            encoding: client.encoding,
            pages: rule_pages(&self.project.configured),
        }
    }
}

/// The site repository around a folder, with open documents.
fn project(
    (folder, root): (&Path, &Path),
    open: &OpenDocuments,
    client: &Client,
) -> Result<Project, Error> {
    let mut selection = Selection::of(folder.to_owned());
    selection.texts = overlaid(root, open);
    selection.clock = client.clock;
    Project::open(&selection)
}

/// Whether a file is one of git's own.
pub(super) fn is_of_git(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == ".git")
}

/// Texts below a root, in place of the files there.
pub(super) fn overlaid(root: &Path, open: &OpenDocuments) -> OverlaidTexts {
    let texts = open.iter().filter_map(|(path, document)| {
        Some((RepoPath::of_place(root, path)?, Some(document.text.clone())))
    });
    texts.collect()
}
