//! The files that cloud-init is given: read once, like all others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Plan;
use super::load::{Loaded, Parse, SetFiles, Side, ToRead};
use super::sets::{PartGlobs, sets_of_site};
use crate::error::Error;
use crate::source::{Entry, EntryKind, FileId, RepoPath, SourceMap, Tree};
use crate::system::Written;
use crate::system::cloud_init::part::Part;
use crate::system::cloud_init::read::{Included, UserData, read, read_configuration};
use crate::system::cloud_init::{Given, Set};
use crate::system::edits::Located;

/// A file of parts.
#[derive(Debug)]
pub(super) struct PartFile {
    pub(super) path: RepoPath,
    pub(super) file: FileId,
    /// What it gives, files that it includes among it.
    pub(super) read: Arc<UserData>,
}

impl PartFile {
    /// Every file that its parts stand in, decoded ones among them.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        let parts = self.read.parts.iter().map(|part| part.span.file);
        let faults = self.read.faults.iter().chain(&self.read.aborted).map(|it| it.at.file);
        std::iter::once(self.file).chain(parts).chain(faults)
    }
}

impl Parse {
    /// The files of `tree` that are parts of declared sets, by path.
    pub(super) fn parts(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
    ) -> Result<Vec<PartFile>, Error> {
        let globs = PartGlobs::of(&plan.configuration.sets);
        if globs.is_empty() {
            return Ok(Vec::new());
        }
        let entries = tree.entries(&RepoPath::new(""))?;
        let is_part = |it: &Entry| it.kind == EntryKind::File && globs.has(&it.path);
        let entries: Vec<Entry> = entries.into_iter().filter(is_part).collect();
        let paths: Vec<RepoPath> = entries.iter().map(|entry| entry.path.clone()).collect();
        tree.ensure_present(&paths)?;
        let files: Vec<ToRead<'_>> =
            entries.iter().map(|entry| ToRead::text(&entry.path, tree, entry.content)).collect();
        let ids = self.read(plan, &files)?;
        let mut parts = Vec::new();
        for (path, file) in paths.into_iter().zip(ids) {
            let read = self.part_file(plan, tree, &globs, (&path, file))?;
            parts.push(PartFile { path, file, read });
        }
        Ok(parts)
    }

    fn part_file(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        globs: &PartGlobs,
        (path, file): (&RepoPath, FileId),
    ) -> Result<Arc<UserData>, Error> {
        if let Some(known) = self.user_data.get(&file) {
            return Ok(known.clone());
        }
        let mut sources = std::mem::take(&mut self.sources);
        let mut error = None;
        let mut includes = false;
        let mut include = |sources: &mut SourceMap, from: &RepoPath, path: &str| {
            includes = true;
            std::mem::swap(&mut self.sources, sources);
            self.fill();
            let included = self.included(plan, tree, from, path);
            std::mem::swap(&mut self.sources, sources);
            included.unwrap_or_else(|failed| {
                error.get_or_insert(failed);
                Included::Missing
            })
        };
        let mut read = if globs.is_user_data(path) {
            read(file, &mut sources, &mut include)
        } else {
            UserData { parts: vec![read_configuration(file, &sources)], ..UserData::default() }
        };
        self.sources = sources;
        self.fill();
        if let Some(error) = error {
            return Err(error);
        }
        if globs.is_secret(path) {
            read.parts.iter_mut().for_each(Part::hide);
        }
        let read = Arc::new(read);
        // What a file includes may be another on the other side.
        if !includes {
            self.user_data.insert(file, read.clone());
        }
        Ok(read)
    }

    /// What `#include` in the file at `from` leads to: a path from its folder,
    /// or from the root of the tree.
    fn included(
        &mut self,
        plan: &Plan<'_>,
        tree: &dyn Tree,
        from: &RepoPath,
        path: &str,
    ) -> Result<Included, Error> {
        let Some(path) = joined(from, path) else { return Ok(Included::Missing) };
        match tree.read(&path) {
            Err(error) if error.is_missing() => return Ok(Included::Missing),
            Ok(_) | Err(_) => {}
        }
        let ids = self.read(plan, &[ToRead::text(&path, tree, None)])?;
        Ok(ids.first().map_or(Included::Missing, |id| Included::File(*id)))
    }
}

/// The path that `line` names in the file at `from`; none where it leads out
/// of the tree.
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

impl PartFile {
    /// Its parts that are used: none where cloud-init gives the file up.
    fn parts(&self) -> &[Part] {
        if self.read.aborted.is_some() { &[] } else { &self.read.parts }
    }

    fn given(&self) -> Given<'_> {
        Given { parts: self.parts().iter().collect(), read: Some(&*self.read) }
    }

    /// Its parts, as what somebody may have edited.
    pub(super) fn located(&self) -> impl Iterator<Item = Located<'_>> {
        self.parts().iter().enumerate().map(|(index, part)| Located {
            repository: None,
            path: &self.path,
            place: None,
            index,
            document: Written::Part(part),
        })
    }
}

impl Side {
    /// Whether this side has a file of parts as it is.
    pub(super) fn has(&self, file: &PartFile) -> bool {
        let mut own = self.parts.iter();
        own.any(|own| own.path == file.path && Arc::ptr_eq(&own.read, &file.read))
    }

    /// Says of each set of files which parts are in it.
    pub(super) fn find_parts(&mut self, plan: &Plan<'_>) {
        let mut sets = std::mem::take(&mut self.sets);
        let parts = self.parts_by_path();
        for files in &mut sets {
            let site = (files.name.as_deref(), files.site_type.as_deref());
            let used = sets_of_site(&plan.configuration.sets, site, Some, &parts);
            let used = used.iter().flat_map(|set| &set.sources).flat_map(|source| &source.files);
            let used: Vec<&UserData> = used.filter_map(|given| given.read).collect();
            let is_used = |file: &&PartFile| {
                used.iter().any(|used| std::ptr::eq(*used, &raw const *file.read))
            };
            for file in self.parts.iter().filter(is_used) {
                files.part_paths.insert(file.path.clone());
                files.parts.extend(file.files());
            }
            files.parts.sort_unstable();
            files.parts.dedup();
        }
        self.sets = sets;
    }

    /// All parts.
    pub(super) fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().flat_map(|file| &file.read.parts)
    }

    /// All parts, by the path of their file.
    pub(super) fn parts_by_path(&self) -> BTreeMap<&RepoPath, Given<'_>> {
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
        parts: &BTreeMap<&'a RepoPath, Given<'a>>,
    ) -> Vec<Set<'a>> {
        let at = |at| self.configured.place(at);
        sets_of_site(&plan.configuration.sets, site, at, parts)
    }
}
