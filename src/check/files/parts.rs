//! Files given to cloud-init, each read once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Files, ToRead};
use crate::check::file::failure;
use crate::check::{GivenHeader, Plan};
use crate::error::Error;
use crate::guard::{Place, guarded};
use crate::source::{
    Entry, EntryKind, FileId, RepoPath, Source, SourceMap, Span, Spanned, Tree, offset,
};
use crate::system::Written;
use crate::system::cloud_init::GivenFile;
use crate::system::cloud_init::declared::PartGlobs;
use crate::system::cloud_init::part::{CloudPart, Header};
use crate::system::cloud_init::read::{Included, UserData, read_configuration, read_with};
use crate::system::deckhand::secrecy::Folder;
use crate::system::edits::Located;

/// A file of parts.
#[derive(Debug)]
pub(in crate::check) struct PartFile {
    pub(in crate::check) path: RepoPath,
    pub(in crate::check) file: FileId,
    /// Its user-data, with the files that it includes.
    pub(in crate::check) read: Arc<UserData>,
    /// Placeholder part if the file gives nothing.
    nothing: CloudPart,
    /// Whether all of it is secret.
    pub(in crate::check) is_secret: bool,
}

impl PartFile {
    /// All files that contain its parts, including decoded ones.
    pub(in crate::check) fn files(&self) -> impl Iterator<Item = FileId> {
        let parts = self.read.parts.iter().map(|part| part.span.file);
        let faults = self
            .read
            .faults
            .iter()
            .chain(&self.read.aborted)
            .map(|it| it.at.file);
        let problems = self.read.problems.iter().map(|it| it.span.file);
        std::iter::once(self.file)
            .chain(parts)
            .chain(faults)
            .chain(problems)
    }
}

impl Files<'_> {
    /// Files of `tree` that are parts of declared sets, by path; `entries` are all its files.
    pub(in crate::check) fn parts(
        &mut self,
        plan: &Plan,
        tree: &dyn Tree,
        entries: Vec<Entry>,
    ) -> Result<Vec<PartFile>, Error> {
        let globs = self.part_globs.clone();
        let is_part = |it: &Entry| it.kind == EntryKind::File && globs.is_part(&it.path);
        let mut entries: Vec<Entry> = entries.into_iter().filter(is_part).collect();
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        let paths: Vec<RepoPath> = entries.iter().map(|entry| entry.path.clone()).collect();
        tree.ensure_present(&paths)?;
        let files: Vec<ToRead<'_>> = entries
            .iter()
            .map(|entry| ToRead::text(&entry.path, tree, entry.content))
            .collect();
        let ids = self.read(plan, &files)?;
        let mut known: ByPath = paths.iter().cloned().zip(ids.iter().copied()).collect();
        let mut parts = Vec::new();
        for (path, file) in paths.into_iter().zip(ids) {
            let (read, is_secret) =
                self.part_file(plan, tree, &globs, (&path, file), &mut known)?;
            let end = offset(self.sources.get(file).text().len());
            let mut nothing = CloudPart::empty(&path, Span::new(file, 0, end));
            if is_secret {
                nothing.hide();
            }
            parts.push(PartFile {
                path,
                file,
                read,
                nothing,
                is_secret,
            });
        }
        Ok(parts)
    }

    /// User-data of a file, and whether all of it is secret because the file or an included one is.
    fn part_file(
        &mut self,
        plan: &Plan,
        tree: &dyn Tree,
        globs: &PartGlobs,
        (path, file): (&RepoPath, FileId),
        known: &mut ByPath,
    ) -> Result<(Arc<UserData>, bool), Error> {
        let kinds = &plan.options.configuration.secrets;
        let mut is_secret = self.secret.have_in(tree, path)
            || Folder::in_tree(tree, path).hides(kinds, self.sources.get(file).text());
        if let Some(known) = self.user_data.get(&file) {
            return Ok((known.clone(), is_secret));
        }
        let mut sources = std::mem::take(&mut self.sources);
        let mut decoding = std::mem::take(&mut self.decoding);
        let headers = plan
            .options
            .configuration
            .headers
            .iter()
            .filter(|header| header.path == *path);
        let headers = headers.map(|header| header.read(&mut sources)).collect();
        let mut error = None;
        let mut includes = false;
        let mut include = |sources: &mut SourceMap, from: &RepoPath, path: &str| {
            includes = true;
            std::mem::swap(&mut self.sources, sources);
            self.fill();
            let path = joined(from, path);
            is_secret |= path
                .as_ref()
                .is_some_and(|path| self.secret.have_in(tree, path));
            let folder = path.as_ref().map(|path| Folder::in_tree(tree, path));
            let included = path
                .map(|path| self.included(plan, tree, path, known))
                .transpose();
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
                return read_with(file, headers, &mut decoding, &mut sources, &mut include);
            }
            UserData {
                parts: vec![read_configuration(file, &sources)],
                ..UserData::default()
            }
        });
        self.decoding = decoding;
        let failed = || UserData {
            problems: vec![failure(file)],
            ..UserData::default()
        };
        let mut read = read.unwrap_or_else(failed);
        // After a failure during an include, the sources are still in `self`.
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
        // An included file may differ on the other side.
        if !includes {
            self.user_data.insert(file, read.clone());
        }
        Ok((read, is_secret))
    }

    /// The file at a path that `#include` names.
    fn included(
        &mut self,
        plan: &Plan,
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
        Ok(ids
            .first()
            .map_or(Included::Missing, |id| Included::File(*id)))
    }
}

/// Files of one side that are read as parts. Each is read once, and a file that includes itself is
/// recognized.
type ByPath = BTreeMap<RepoPath, FileId>;

/// Path that an `#include` line in the file at `from` names, relative to its folder or to the root
/// of the tree; `None` if it leads out of the tree.
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
    /// The header, in a source of its own.
    fn read(&self, sources: &mut SourceMap) -> Header {
        let text = format!("{}: {}", self.name, self.value);
        let file = sources.add(Source::new(self.given_as.clone(), Ok(text.into_bytes())));
        let (end, after) = (
            offset(self.name.len()),
            offset(self.name.len() + ": ".len()),
        );
        let value = Span::new(file, after, after + offset(self.value.len()));
        Header {
            name: Spanned::new(self.name.clone(), Span::new(file, 0, end)),
            value: Spanned::new(self.value.clone(), value),
        }
    }
}

impl PartFile {
    /// Key that is equal on both sides if the file is.
    pub(in crate::check) fn identity(&self) -> (&RepoPath, *const UserData) {
        (&self.path, Arc::as_ptr(&self.read))
    }

    /// Parts that are used; none if cloud-init rejects the file.
    fn parts(&self) -> &[CloudPart] {
        if self.read.aborted.is_some() {
            &[]
        } else {
            &self.read.parts
        }
    }

    pub(in crate::check) fn given(&self) -> GivenFile<'_> {
        let parts = self.parts().iter().collect();
        GivenFile {
            at: Span::point(self.file, 0),
            parts,
            read: Some(&*self.read),
        }
    }

    /// Parts with their places, for finding edits.
    pub(in crate::check) fn located(&self) -> impl Iterator<Item = Located<'_>> {
        let nothing = self.parts().is_empty().then_some(&self.nothing);
        self.parts()
            .iter()
            .chain(nothing)
            .enumerate()
            .map(|(index, part)| Located {
                repository: None,
                path: &self.path,
                place: None,
                index,
                document: Written::Part(part),
            })
    }
}
