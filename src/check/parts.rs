//! The files that cloud-init is given: read once, like all others.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::files::{Files, ToRead, failure};
use super::load::{Loaded, SetFiles, Side};
use super::sets::{PartGlobs, sets_of_site};
use super::{GivenHeader, Plan};
use crate::error::Error;
use crate::guard::{Place, guarded};
use crate::source::{
    Entry, EntryKind, FileId, RepoPath, Source, SourceMap, Span, Spanned, Tree, offset,
};
use crate::system::Written;
use crate::system::cloud_init::part::{CloudPart, Header};
use crate::system::cloud_init::read::{Included, UserData, read_configuration, read_with};
use crate::system::cloud_init::{GivenFile, Set};
use crate::system::deckhand::secrecy::Folder;
use crate::system::edits::Located;

/// A file of parts.
#[derive(Debug)]
pub(super) struct PartFile {
    pub(super) path: RepoPath,
    pub(super) file: FileId,
    /// What it gives, files that it includes among it.
    pub(super) read: Arc<UserData>,
    /// What stands for it where it gives nothing.
    nothing: CloudPart,
    /// Whether all of it is secret.
    pub(super) is_secret: bool,
}

impl PartFile {
    /// Every file that its parts stand in, decoded ones among them.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        let parts = self.read.parts.iter().map(|part| part.span.file);
        let faults = self.read.faults.iter().chain(&self.read.aborted).map(|it| it.at.file);
        let problems = self.read.problems.iter().map(|it| it.span.file);
        std::iter::once(self.file).chain(parts).chain(faults).chain(problems)
    }
}

impl<T: Default + Send> Files<'_, T> {
    /// The files of `tree` that are parts of declared sets, by path; `entries` are all of it.
    pub(super) fn parts(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        entries: Vec<Entry>,
    ) -> Result<Vec<PartFile>, Error> {
        let globs = self.part_globs.clone();
        let is_part = |it: &Entry| it.kind == EntryKind::File && globs.has(&it.path);
        let entries: Vec<Entry> = entries.into_iter().filter(is_part).collect();
        let paths: Vec<RepoPath> = entries.iter().map(|entry| entry.path.clone()).collect();
        tree.ensure_present(&paths)?;
        let files: Vec<ToRead<'_>> =
            entries.iter().map(|entry| ToRead::text(&entry.path, tree, entry.content)).collect();
        let ids = self.read(plan, &files)?;
        let mut known: ByPath = paths.iter().cloned().zip(ids.iter().copied()).collect();
        let mut parts = Vec::new();
        for (path, file) in paths.into_iter().zip(ids) {
            let (read, is_secret) =
                self.part_file(plan, tree, &globs, (&path, file), &mut known)?;
            let end = offset(self.sources.get(file).text().len());
            let mut nothing = CloudPart::nothing(&path, Span::new(file, 0, end));
            if is_secret {
                nothing.hide();
            }
            parts.push(PartFile { path, file, read, nothing, is_secret });
        }
        Ok(parts)
    }

    /// What a file gives, and whether all of that is secret: of one that is, or
    /// includes one.
    fn part_file(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        globs: &PartGlobs,
        (path, file): (&RepoPath, FileId),
        known: &mut ByPath,
    ) -> Result<(Arc<UserData>, bool), Error> {
        let kinds = &plan.configuration.secrets;
        let mut is_secret = self.secret.have_in(tree, path)
            || Folder::in_tree(tree, path).hides(kinds, self.sources.get(file).text());
        if let Some(known) = self.user_data.get(&file) {
            return Ok((known.clone(), is_secret));
        }
        let mut sources = std::mem::take(&mut self.sources);
        let headers = plan.configuration.headers.iter().filter(|header| header.path == *path);
        let headers = headers.map(|header| header.read(&mut sources)).collect();
        let mut error = None;
        let mut includes = false;
        let mut include = |sources: &mut SourceMap, from: &RepoPath, path: &str| {
            includes = true;
            std::mem::swap(&mut self.sources, sources);
            self.fill();
            let path = joined(from, path);
            is_secret |= path.as_ref().is_some_and(|path| self.secret.have_in(tree, path));
            let folder = path.as_ref().map(|path| Folder::in_tree(tree, path));
            let included = path.map(|path| self.included(plan, tree, path, known)).transpose();
            std::mem::swap(&mut self.sources, sources);
            match included {
                Ok(Some(included)) => {
                    if let (Included::File(file), Some(folder)) = (&included, folder) {
                        is_secret |= folder.hides(kinds, sources.get(*file).text());
                    }
                    included
                }
                Ok(None) => Included::Missing,
                Err(failed) => {
                    error.get_or_insert(failed);
                    Included::Missing
                }
            }
        };
        let read = guarded(Place::Parts(path.as_str()), || {
            if globs.is_user_data(path) {
                return read_with(file, headers, &mut sources, &mut include);
            }
            UserData { parts: vec![read_configuration(file, &sources)], ..UserData::default() }
        });
        let failed = || UserData { problems: vec![failure(file)], ..UserData::default() };
        let mut read = read.unwrap_or_else(failed);
        // Where it failed while it included a file, they are where it put them.
        if sources.upcoming() > self.sources.upcoming() {
            self.sources = sources;
        }
        self.fill();
        if let Some(error) = error {
            return Err(error);
        }
        if is_secret {
            read.parts.iter_mut().for_each(CloudPart::hide);
        }
        let read = Arc::new(read);
        // What a file includes may be another on the other side.
        if !includes {
            self.user_data.insert(file, read.clone());
        }
        Ok((read, is_secret))
    }

    /// The file at a path that `#include` names.
    fn included(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        path: RepoPath,
        known: &mut ByPath,
    ) -> Result<Included, Error> {
        if let Some(file) = known.get(&path) {
            return Ok(Included::File(*file));
        }
        match tree.read(&path) {
            Err(error) if error.is_missing() => return Ok(Included::Missing),
            Ok(_) | Err(_) => {}
        }
        let ids = self.read(plan, &[ToRead::text(&path, tree, None)])?;
        known.extend(ids.first().map(|id| (path.clone(), *id)));
        Ok(ids.first().map_or(Included::Missing, |id| Included::File(*id)))
    }
}

/// The files of one side that are read as parts, so that each is read once and
/// one that includes itself is known again.
type ByPath = BTreeMap<RepoPath, FileId>;

/// The path that a line of `#include` in the file at `from` names: one from its
/// folder, or from the root of the tree; none where it leads out of the tree.
fn joined(from: &RepoPath, line: &str) -> Option<RepoPath> {
    let mut parts: Vec<&str> = match line.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.parts().collect(),
    };
    if !line.starts_with('/') {
        parts.pop();
    }
    for part in line.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(RepoPath::new(parts.join("/")))
}

impl GivenHeader {
    /// The header, in a text of its own.
    fn read(&self, sources: &mut SourceMap) -> Header {
        let text = format!("{}: {}", self.name, self.value);
        let file = sources.add(Source::new(self.given_as.clone(), Ok(text.into_bytes())));
        let (end, after) = (offset(self.name.len()), offset(self.name.len() + ": ".len()));
        let value = Span::new(file, after, after + offset(self.value.len()));
        Header {
            name: Spanned::new(self.name.clone(), Span::new(file, 0, end)),
            value: Spanned::new(self.value.clone(), value),
        }
    }
}

impl PartFile {
    /// What is the same on both sides where the file is.
    pub(super) fn identity(&self) -> (&RepoPath, *const UserData) {
        (&self.path, Arc::as_ptr(&self.read))
    }

    /// Its parts that are used: none where cloud-init gives the file up.
    fn parts(&self) -> &[CloudPart] {
        if self.read.aborted.is_some() { &[] } else { &self.read.parts }
    }

    fn given(&self) -> GivenFile<'_> {
        let parts = self.parts().iter().collect();
        GivenFile { at: Span::point(self.file, 0), parts, read: Some(&*self.read) }
    }

    /// Its parts, as what somebody may have edited.
    pub(super) fn located(&self) -> impl Iterator<Item = Located<'_>> {
        let nothing = self.parts().is_empty().then_some(&self.nothing);
        self.parts().iter().chain(nothing).enumerate().map(|(index, part)| Located {
            repository: None,
            path: &self.path,
            place: None,
            index,
            document: Written::Part(part),
        })
    }
}

impl Side {
    /// The files of parts that this side has, with what was read of them.
    pub(super) fn reads(&self) -> HashSet<(&RepoPath, *const UserData)> {
        self.parts.iter().map(PartFile::identity).collect()
    }

    /// Says of each set of files which parts are in it.
    pub(super) fn find_parts(&mut self, plan: &Plan<'_>) {
        let mut sets = std::mem::take(&mut self.sets);
        let parts = self.parts_by_path();
        for files in &mut sets {
            let site = (files.name.as_deref(), files.site_type.as_deref());
            let used = sets_of_site(&plan.configuration.sets, site, Some, &parts);
            let used = used.iter().flat_map(|set| &set.sources).flat_map(|source| &source.files);
            let used: BTreeSet<FileId> = used.map(|given| given.at.file).collect();
            let is_used = |file: &&PartFile| used.contains(&file.file);
            for file in self.parts.iter().filter(is_used) {
                files.part_paths.insert(file.path.clone());
                files.parts.extend(file.files());
            }
            files.parts.sort_unstable();
            files.parts.dedup();
        }
        self.sets = sets;
    }

    /// All parts, by the path of their file.
    pub(super) fn parts_by_path(&self) -> BTreeMap<&RepoPath, GivenFile<'_>> {
        self.parts.iter().map(|file| (&file.path, file.given())).collect()
    }
}

impl Loaded {
    /// The sets of one site, as one of the sides has them.
    pub(super) fn sets<'a>(
        &self,
        plan: &Plan<'_>,
        side: &'a Side,
        files: &SetFiles,
    ) -> Vec<Set<'a>> {
        let site = (files.name.as_deref(), files.site_type.as_deref());
        self.sets_of(plan, site, &side.parts_by_path())
    }

    /// The sets of one site, by its name and type, of these parts.
    pub(super) fn sets_of<'a>(
        &self,
        plan: &Plan<'_>,
        site: (Option<&str>, Option<&str>),
        parts: &BTreeMap<&'a RepoPath, GivenFile<'a>>,
    ) -> Vec<Set<'a>> {
        let at = |at| self.configured.place(at);
        sets_of_site(&plan.configuration.sets, site, at, parts)
    }
}
