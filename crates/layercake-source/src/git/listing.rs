//! What stands at each path below a folder that git has stored.
//!
//! Folders are stored once, however often they are named: a few of them, of a
//! hundred bytes each, can stand for more files than any disk holds, and those
//! of a damaged repository for themselves.

use gix::bstr::BStr;
use gix::objs::tree::EntryRef;
use gix::traverse::tree::visit::Action;
use gix::traverse::tree::{Recorder, Visit};

use super::StoredTree;
use super::stored::Paths;

/// Bytes of a path, as on Linux.
const MAX_PATH_BYTES: usize = 4096;

/// Whether a folder is listed, by its path from the first one and its id.
pub(super) type IsListed<'f> = dyn FnMut(&BStr, gix::ObjectId) -> bool + 'f;

/// Entries below the folder with this id, by path, without those in folders that are not listed.
///
/// # Errors
/// Where a folder is not here or damaged, and where there is more in them than
/// layercake lists.
pub(super) fn files_below(
    repository: &gix::Repository,
    folder: gix::ObjectId,
    is_listed: &mut IsListed<'_>,
) -> gix::Result<Paths> {
    let recorder = Recorder::default();
    let mut listing = BoundedRecorder { recorder, is_listed, exceeds: false };
    let listed = repository.find_tree(folder)?.traverse().breadthfirst(&mut listing);
    if listing.exceeds {
        let most = StoredTree::MAX_PATHS;
        let why = gix::error::message!(
            "there are more than {most} files and folders, or a path of more than {MAX_PATH_BYTES} bytes"
        );
        return Err(gix::Error::from_error(why));
    }
    listed?;
    let records = listing.recorder.records.into_iter();
    Ok(records.map(|entry| (entry.filepath, (entry.mode.kind(), entry.oid))).collect())
}

/// Keeps what it is shown, as long as that is not too much.
struct BoundedRecorder<'f, 'l> {
    recorder: Recorder,
    is_listed: &'l mut IsListed<'f>,
    exceeds: bool,
}

impl BoundedRecorder<'_, '_> {
    fn within(&mut self, visit: impl FnOnce(&mut Recorder) -> Action) -> Action {
        self.exceeds = self.recorder.records.len() >= StoredTree::MAX_PATHS
            || self.recorder.path().len() > MAX_PATH_BYTES;
        if self.exceeds { Action::Break(()) } else { visit(&mut self.recorder) }
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
