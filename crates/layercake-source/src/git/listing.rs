//! Recursive listing of a stored tree.
//!
//! Trees are stored once, however often they are referenced: a few trees of a hundred bytes can
//! expand to more files than any disk can hold, and in a damaged repository a tree can contain
//! itself.

use gix::bstr::BStr;
use gix::objs::tree::EntryRef;
use gix::traverse::tree::visit::Action;
use gix::traverse::tree::{Recorder, Visit};

use super::StoredTree;
use super::stored::Paths;

/// Maximum length of a path in bytes, as on Linux.
const MAX_PATH_BYTES: usize = 4096;

/// Decides by path and id whether a folder is listed.
pub(super) type IsListed<'f> = dyn FnMut(&BStr, gix::ObjectId) -> bool + 'f;

/// Entries below the tree with this id, by path, skipping folders that are not listed.
///
/// # Errors
/// If a tree is missing or damaged, or there are too many entries.
pub(super) fn files_below(
    repository: &gix::Repository,
    folder: gix::ObjectId,
    is_listed: &mut IsListed<'_>,
) -> gix::Result<Paths> {
    let recorder = Recorder::default();
    let mut listing = BoundedRecorder {
        recorder,
        is_listed,
        exceeds: false,
    };
    let listed = repository
        .find_tree(folder)?
        .traverse()
        .breadthfirst(&mut listing);
    if listing.exceeds {
        let most = StoredTree::MAX_PATHS;
        let why = gix::error::message!(
            "there are more than {most} files and folders, or a path of more than {MAX_PATH_BYTES} bytes"
        );
        return Err(gix::Error::from_error(why));
    }
    listed?;
    let records = listing.recorder.records.into_iter();
    Ok(records
        .map(|entry| (entry.filepath, (entry.mode.kind(), entry.oid)))
        .collect())
}

/// Visitor that collects entries up to the limit.
struct BoundedRecorder<'f, 'l> {
    recorder: Recorder,
    is_listed: &'l mut IsListed<'f>,
    exceeds: bool,
}

impl BoundedRecorder<'_, '_> {
    fn within(&mut self, visit: impl FnOnce(&mut Recorder) -> Action) -> Action {
        self.exceeds = self.recorder.records.len() >= StoredTree::MAX_PATHS
            || self.recorder.path().len() > MAX_PATH_BYTES;
        if self.exceeds {
            Action::Break(())
        } else {
            visit(&mut self.recorder)
        }
    }
}

impl Visit for BoundedRecorder<'_, '_> {
    fn pop_back_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_back_tracked_path_and_set_current();
    }

    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.recorder.pop_path_component();
    }

    fn visit_tree(&mut self, entry: &EntryRef<'_>) -> Action {
        if !(self.is_listed)(self.recorder.path(), entry.oid.to_owned()) {
            return Action::Continue(false);
        }
        self.within(|recorder| recorder.visit_tree(entry))
    }

    fn visit_nontree(&mut self, entry: &EntryRef<'_>) -> Action {
        self.within(|recorder| recorder.visit_nontree(entry))
    }
}
