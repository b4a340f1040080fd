//! A folder that a client opened: its site repository with the texts of open documents, and its
//! published findings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{Diagnostic, Hover};

use super::findings::Shown;
use super::hover::hover;
use super::text::Encoding;
use crate::cancel::Cancel;
use crate::check::{RunControl, Workspace};
use crate::commands::configuration::rule_pages;
use crate::commands::{Project, Selection};
use crate::error::Error;
use crate::source::{OverlaidTexts, RepoPath};

/// Texts of open documents by their paths.
pub(super) type OpenTexts = BTreeMap<PathBuf, Arc<str>>;

/// Diagnostics by file.
pub(super) type Published = BTreeMap<PathBuf, Vec<Diagnostic>>;

/// A folder of the client.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    opened: Option<OpenedFolder>,
    /// Files that changed since the workspace was last brought up to date.
    changed: BTreeSet<PathBuf>,
    /// Whether it was not judged since the last change.
    is_outdated: bool,
    /// Why it could not be judged.
    problem: Option<String>,
    published: Published,
}

/// A site repository that was read.
struct OpenedFolder {
    project: Project,
    workspace: Workspace,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            opened: None,
            changed: BTreeSet::new(),
            is_outdated: true,
            problem: None,
            published: Published::new(),
        }
    }

    /// Takes note of a changed file, if it is in the folder's repository.
    pub(super) fn note(&mut self, file: &Path) {
        let root = match &self.opened {
            Some(opened) => opened.project.root(),
            None => None,
        };
        if file.starts_with(root.unwrap_or(&self.path)) {
            self.changed.insert(file.to_owned());
            self.is_outdated = true;
        }
    }

    /// Whether the findings may differ from the published ones.
    pub(super) fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Forgets what was read, after a failure of layercake.
    pub(super) fn close(&mut self) {
        self.opened = None;
    }

    /// Whether an error differs from the last one.
    pub(super) fn is_new_problem(&mut self, error: &Error) -> bool {
        let before = self.problem.replace(error.to_string());
        before != self.problem
    }

    /// Judges what the changes reach. Returns the diagnostics of the files whose diagnostics differ
    /// from the published ones. On an error, the state stays, and the changes are judged next time.
    ///
    /// # Errors
    /// Without a site repository, if its configuration is invalid, or if the run is cancelled.
    pub(super) fn judged(
        &mut self,
        texts: &OpenTexts,
        encoding: Encoding,
        cancel: &Cancel,
    ) -> Result<Published, Error> {
        let judged = self.judge(texts, encoding, cancel);
        self.is_outdated = cancel.is_cancelled();
        judged
    }

    fn judge(
        &mut self,
        texts: &OpenTexts,
        encoding: Encoding,
        cancel: &Cancel,
    ) -> Result<Published, Error> {
        let control = RunControl {
            cancel: cancel.clone(),
            ..RunControl::default()
        };
        let project = self.project(texts)?;
        let plan = project.plan(&control);
        let root = project.root().unwrap_or(&self.path).to_owned();
        let opened = match self.opened.take() {
            Some(OpenedFolder {
                project: before,
                mut workspace,
            }) => {
                let files = self.changed.iter().filter_map(|file| within(&root, file));
                if let Err(error) = workspace.change(plan, &files.collect()) {
                    self.opened = Some(OpenedFolder {
                        project: before,
                        workspace,
                    });
                    return Err(error);
                }
                OpenedFolder { project, workspace }
            }
            None => OpenedFolder {
                workspace: Workspace::judging(plan)?,
                project,
            },
        };
        let OpenedFolder { project, workspace } = self.opened.insert(opened);
        let findings = workspace.findings()?;
        self.changed.clear();
        self.problem = None;
        let shown = Shown {
            sources: workspace.sources(),
            root: &root,
            encoding,
            pages: rule_pages(&project.configured),
        };
        let mut found = Published::new();
        for finding in &findings.diagnostics {
            let (path, diagnostic) = shown.diagnostic(finding);
            found.entry(path).or_default().push(diagnostic);
        }
        Ok(self.publish(found))
    }

    /// Describes the reach of a 0-based line; `None` for a file outside of the folder's repository.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn hover(
        &mut self,
        file: &Path,
        line: usize,
        cancel: &Cancel,
    ) -> Result<Option<Hover>, Error> {
        let Some(OpenedFolder { project, workspace }) = &mut self.opened else {
            return Ok(None);
        };
        match project.root().and_then(|root| within(root, file)) {
            Some(file) => {
                // The handle of the run that read the files may be cancelled since.
                workspace.stopped_by(cancel);
                hover(project, workspace, file, line)
            }
            None => Ok(None),
        }
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

    fn project(&self, texts: &OpenTexts) -> Result<Project, Error> {
        let mut selection = Selection::of(self.path.clone());
        let before = self.opened.as_ref().map(|opened| &opened.project);
        let root = match before.and_then(Project::root) {
            Some(root) => root.to_owned(),
            None => Project::root_around(&selection)?,
        };
        selection.texts = overlaid(&root, texts);
        let project = Project::open(&selection)?;
        Ok(match before {
            Some(before) => project.with_options_of(before),
            None => project,
        })
    }
}

fn overlaid(root: &Path, texts: &OpenTexts) -> OverlaidTexts {
    let texts = texts.iter();
    texts
        .filter_map(|(path, text)| Some((within(root, path)?, Some(text.clone()))))
        .collect()
}

fn within(root: &Path, file: &Path) -> Option<RepoPath> {
    RepoPath::of_place(root, file)
}
