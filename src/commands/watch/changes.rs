//! Changed files, as the operating system reports them. Only this file uses `notify`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::error::Error;

/// Time without a further event after which changes are one batch, such as a branch switch.
const QUIET: Duration = Duration::from_millis(100);

/// Events below a folder.
pub(super) struct Changes {
    events: Receiver<notify::Result<Event>>,
    /// Sends the events until it is dropped.
    _watcher: RecommendedWatcher,
}

/// Changed files.
pub(super) enum Changed {
    /// These files and folders.
    Paths(BTreeSet<PathBuf>),
    /// Events were lost: anything.
    Anything,
}

impl Changes {
    /// # Errors
    /// If the folder cannot be watched.
    pub(super) fn below(folder: &Path) -> Result<Self, Error> {
        let (sender, events) = mpsc::channel();
        let failed = |cause| {
            let message = format!("cannot watch `{}`", folder.display());
            Error::io(message)
                .caused_by(cause)
                .with_help("a system limits the number of watched folders")
        };
        let mut watcher = notify::recommended_watcher(sender).map_err(failed)?;
        watcher
            .watch(folder, RecursiveMode::Recursive)
            .map_err(failed)?;
        Ok(Self {
            events,
            _watcher: watcher,
        })
    }

    /// Waits for a batch of changes outside of `.git`.
    pub(super) fn next(&self) -> Changed {
        let mut paths = BTreeSet::new();
        let mut is_lost = false;
        loop {
            let is_waiting = paths.is_empty() && !is_lost;
            let event = if is_waiting {
                self.events.recv().ok()
            } else {
                self.events.recv_timeout(QUIET).ok()
            };
            match event {
                // Reading causes events, too.
                Some(Ok(event)) if event.kind.is_access() => {}
                Some(Ok(event)) => {
                    is_lost |= event.need_rescan();
                    paths.extend(event.paths.into_iter().filter(|path| !is_of_git(path)));
                }
                Some(Err(_)) => is_lost = true,
                None if is_lost => return Changed::Anything,
                None => return Changed::Paths(paths),
            }
        }
    }
}

fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}
