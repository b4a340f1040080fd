//! Conversion of files of the working tree to their stored form: if attributes convert a file, `git
//! diff` does not compare the bytes on disk (gitattributes(5)).
//!
//! No program is run. For a file with a filter (`filter.NAME.clean`), git's index shows whether it
//! is unchanged; if it was changed, it cannot be compared, which is an error.

use std::path::Path;

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::{BStr, BString};
use gix::filter::plumbing::pipeline::CrlfRoundTripCheck;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::index::entry::{Flags, Stat};
use gix::worktree::stack::state::attributes::Source as Attributes;
use parking_lot::Mutex;

use super::{Repository, cure};
use crate::{ReadError, RepoPath, Source};

/// Converter for files of a working tree.
pub(super) struct Conversions {
    repository: Repository,
    /// Idle converters: each reading thread takes one.
    waiting: Mutex<Vec<Converter>>,
}

struct Converter {
    repository: gix::Repository,
    pipeline: gix::filter::plumbing::Pipeline,
    attributes: gix::worktree::Stack,
    /// Attributes of the last file that affect how it is stored.
    found: Outcome,
    /// Filters with a program that converts files for storage.
    filters: Vec<BString>,
}

impl Conversions {
    pub(super) fn of(repository: Repository) -> Self {
        Self {
            repository,
            waiting: Mutex::default(),
        }
    }

    /// Content that git compares for the file at `path`, with `bytes` on disk at `file`.
    ///
    /// # Errors
    /// If the conversion requires a program, or fails.
    pub(super) fn stored(
        &self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
        index: &gix::index::State,
    ) -> Result<Vec<u8>, ReadError> {
        let waiting = self.waiting.lock().pop();
        let mut converter = match waiting {
            Some(converter) => converter,
            None => Converter::new(&self.repository, index)
                .map_err(|cause| damaged(format!("cannot read its attributes: {cause}")))?,
        };
        let stored = converter.stored(path, file, bytes, index);
        self.waiting.lock().push(converter);
        stored
    }
}

impl Converter {
    fn new(repository: &Repository, index: &gix::index::State) -> gix::Result<Self> {
        let repository = repository.shared.to_thread_local();
        let stack = repository
            .attributes_only(index, Attributes::WorktreeThenIdMapping)?
            .detach();
        let (mut pipeline, attributes) =
            gix::filter::Pipeline::new(&repository, stack)?.into_parts();
        let options = pipeline.options_mut();
        let filters = options
            .drivers
            .drain(..)
            .filter(|it| it.clean.is_some() || it.process.is_some())
            .map(|filter| filter.name)
            .collect();
        options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        options.encodings_with_roundtrip_check.clear();
        let mut found = Outcome::default();
        found.initialize_with_selection(&MetadataCollection::default(), JUDGED);
        Ok(Self {
            repository,
            pipeline,
            attributes,
            found,
            filters,
        })
    }

    fn stored(
        &mut self,
        path: &RepoPath,
        file: &Path,
        bytes: Vec<u8>,
        index: &gix::index::State,
    ) -> Result<Vec<u8>, ReadError> {
        let entry = index.entry_by_path(BStr::new(&path.bytes()));
        if let Some(entry) = entry.filter(|entry| self.is_assumed_unchanged(entry)) {
            return self.blob(entry.id);
        }
        let at = path.on_disk(Path::new(""));
        let platform = self
            .attributes
            .at_path(at.as_path(), None, &self.repository.objects)
            .map_err(|cause| damaged(format!("cannot read its attributes: {cause}")))?;
        self.found.reset();
        platform.matching_attributes(&mut self.found);
        let judged = PathAttributes::of(&self.found, &self.filters);
        match (judged.filter, entry) {
            // git has not stored any content of it that could be compared
            (Some(_), None) => Ok(bytes),
            (Some(filter), Some(entry)) if !self.is_unchanged(entry, file) => {
                Err(damaged(format!(
                    "it was changed, and comparing it requires the program of its filter `{filter}`"
                )))
            }
            (Some(_), Some(entry)) => self.blob(entry.id),
            // line endings and UTF-16 with a byte order mark do not change the meaning of YAML
            (None, _) if is_yaml(path) && (!judged.converts_text || is_utf_16(&bytes)) => Ok(bytes),
            (None, _) => self.converted(path, bytes, index),
        }
    }

    fn converted(
        &mut self,
        path: &RepoPath,
        bytes: Vec<u8>,
        index: &gix::index::State,
    ) -> Result<Vec<u8>, ReadError> {
        let at = path.on_disk(Path::new(""));
        let objects = &self.repository.objects;
        let failed = |cause: String| damaged(format!("it cannot be converted for git: {cause}"));
        let platform = self
            .attributes
            .at_path(at.as_path(), None, objects)
            .map_err(|cause| failed(cause.to_string()))?;
        let converted = self.pipeline.convert_to_git(
            bytes.as_slice(),
            &at,
            &mut |_, found| {
                platform.matching_attributes(found);
            },
            &mut |buffer| {
                use gix::prelude::FindExt as _;
                let Some(entry) = index.entry_by_path(BStr::new(&path.bytes())) else {
                    return Ok(None);
                };
                Ok(objects.find_blob(&entry.id, buffer).ok().map(|_| ()))
            },
        );
        match converted.map_err(|cause| failed(cause.to_string()))? {
            ToGitOutcome::Buffer(converted) => Ok(converted.to_vec()),
            ToGitOutcome::Unchanged(_) => Ok(bytes),
            ToGitOutcome::Process(_) => unreachable!("there are no filters to run"),
        }
    }

    /// Whether git ignores changes of the file on disk (`git update-index --assume-unchanged`, or
    /// `--skip-worktree` outside of a sparse checkout).
    fn is_assumed_unchanged(&self, entry: &gix::index::Entry) -> bool {
        let is_sparse = || {
            self.repository
                .config_snapshot()
                .boolean("core.sparseCheckout")
        };
        entry.flags.contains(Flags::ASSUME_VALID)
            || (entry.flags.contains(Flags::SKIP_WORKTREE) && is_sparse() != Some(true))
    }

    fn is_unchanged(&self, entry: &gix::index::Entry, file: &Path) -> bool {
        let seen = gix::index::fs::Metadata::from_path_no_follow(file)
            .ok()
            .and_then(|seen| Stat::from_fs(&seen).ok());
        let options = self.repository.stat_options().unwrap_or_default();
        seen.is_some_and(|seen| entry.stat.matches(&seen, options))
    }

    fn blob(&self, id: gix::ObjectId) -> Result<Vec<u8>, ReadError> {
        let repository = &self.repository;
        match repository.try_find_header(id) {
            Ok(Some(header)) if header.size() > Source::MAX_BYTES => {
                Err(ReadError::TooLarge(header.size()))
            }
            Ok(_) | Err(_) => match repository.find_blob(id) {
                Ok(mut blob) => Ok(blob.take_data()),
                Err(_) => Err(ReadError::Damaged {
                    reason: format!("git object {id} is damaged or missing in this clone"),
                    help: cure::missing_objects_help(repository),
                }),
            },
        }
    }
}

/// Attributes that change the stored form, other than line endings.
const JUDGED: [&str; 3] = ["filter", "ident", "working-tree-encoding"];

struct PathAttributes {
    /// Filter of the file whose program would have to run.
    filter: Option<BString>,
    converts_text: bool,
}

impl PathAttributes {
    fn of(found: &Outcome, filters: &[BString]) -> Self {
        use gix::attrs::StateRef;
        let mut judged = Self {
            filter: None,
            converts_text: false,
        };
        for attribute in found.iter_selected() {
            match (
                attribute.assignment.name.as_str(),
                attribute.assignment.state,
            ) {
                ("filter", StateRef::Value(name)) => {
                    let name = name.as_bstr();
                    judged.filter = filters.iter().find(|filter| *filter == name).cloned();
                }
                ("ident", StateRef::Set) | ("working-tree-encoding", StateRef::Value(_)) => {
                    judged.converts_text = true;
                }
                (_, _) => {}
            }
        }
        judged
    }
}

fn is_yaml(path: &RepoPath) -> bool {
    [".yaml", ".yml"]
        .iter()
        .any(|end| path.as_str().ends_with(end))
}

fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn damaged(reason: String) -> ReadError {
    ReadError::Damaged {
        reason,
        help: "compare two commits, or run `git add` and use `--staged`",
    }
}
