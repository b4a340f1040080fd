//! What a run takes away before a signal ends it: files that are written and
//! not yet where they are to be.
//!
//! The signal is waited for by a thread of its own, which does not go on while a
//! file is made or put in its place, so that none is missed. Where there are no
//! signals, nothing is taken away.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished(Vec::new()));

/// The files that are not finished. While this is held, no signal ends the run.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    lock()
}

fn lock() -> MutexGuard<'static, Unfinished> {
    // Whoever panicked left the list as it was: it is changed by single calls.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Files that go where a signal ends the run.
pub(super) struct Unfinished(Vec<PathBuf>);

impl Unfinished {
    /// Makes a file that is to be finished.
    pub(super) fn begin<T>(
        &mut self,
        path: &Path,
        make: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let made = make(path)?;
        self.0.push(path.to_owned());
        Ok(made)
    }

    /// Does what makes it no longer unfinished; where that fails, it still is.
    pub(super) fn finish(
        &mut self,
        path: &Path,
        end: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        end(path)?;
        self.0.retain(|unfinished| unfinished != path);
        Ok(())
    }
}

/// Waits for the signals by which runs are ended. The first takes away what is
/// unfinished and ends the run as it would have done.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::TERM_SIGNALS;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let end = |mut signals: Signals| {
        for signal in signals.forever() {
            // Held to the end: nothing is begun any more.
            let unfinished = lock();
            // There is nobody to tell what cannot be removed, or that it does not end.
            unfinished.0.iter().for_each(|path| drop(super::write::remove(path)));
            drop(emulate_default_handler(signal));
        }
    };
    // Where it cannot be waited for, a signal ends the run by itself.
    let watching = Signals::new(TERM_SIGNALS)
        .and_then(|signals| std::thread::Builder::new().spawn(move || end(signals)));
    drop(watching);
}

#[cfg(not(unix))]
fn watch() {}
