//! What a run takes away before a signal ends it: files that are written and
//! not yet where they are to be.
//!
//! The signal is waited for by a thread of its own, which does not go on while a
//! file is made or put in its place, so that none is missed. Where there are no
//! signals, nothing is taken away.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished(Vec::new()));

/// A flag that is set where the user interrupts the run (Ctrl-C), which then ends by itself. A second
/// signal ends it at once.
#[cfg(unix)]
pub fn stop_on_interrupt() -> Arc<AtomicBool> {
    use signal_hook::consts::SIGINT;
    use signal_hook::flag::{register, register_conditional_default};

    let stop = Arc::new(AtomicBool::new(false));
    // Without the handlers a signal ends the run by itself.
    if register_conditional_default(SIGINT, stop.clone()).is_ok() {
        drop(register(SIGINT, stop.clone()));
    }
    stop
}

/// A flag that is never set.
#[cfg(not(unix))]
pub fn stop_on_interrupt() -> Arc<AtomicBool> {
    Arc::default()
}

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

/// Files that go where a signal ends the run, and how they do.
pub(super) struct Unfinished(Vec<(PathBuf, Remove)>);

/// Takes a file away.
type Remove = fn(&Path) -> io::Result<()>;

impl Unfinished {
    /// Makes a file that is to be finished, or else to be removed.
    pub(super) fn begin<T>(
        &mut self,
        path: &Path,
        make: impl FnOnce(&Path) -> io::Result<T>,
        remove: Remove,
    ) -> io::Result<T> {
        let made = make(path)?;
        self.0.push((path.to_owned(), remove));
        Ok(made)
    }

    /// Does what makes it no longer unfinished; where that fails, it still is.
    pub(super) fn finish(
        &mut self,
        path: &Path,
        end: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        end(path)?;
        self.0.retain(|(unfinished, _)| unfinished != path);
        Ok(())
    }
}

/// Waits for the signals by which runs are ended. The first takes away what is
/// unfinished and ends the run as it would have done.
#[cfg(unix)]
fn watch() {
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let end = |mut signals: Signals| {
        for signal in signals.forever() {
            // Held to the end: nothing is begun any more.
            let unfinished = lock();
            // There is nobody to tell what cannot be removed, or that it does not end.
            unfinished.0.iter().for_each(|(path, remove)| drop(remove(path)));
            drop(emulate_default_handler(signal));
        }
    };
    // Where it cannot be waited for, a signal ends the run by itself.
    let watching = Signals::new(heeded())
        .and_then(|signals| std::thread::Builder::new().spawn(move || end(signals)));
    drop(watching);
}

/// The signals by which runs are ended, without those that this one was started to
/// ignore, as `nohup` and shells have it.
#[cfg(unix)]
fn heeded() -> impl Iterator<Item = i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let ignored = ignored();
    let is_heeded = move |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(is_heeded)
}

/// The signals that this process ignores, a bit for each from the lowest (proc(5));
/// none where the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = super::tree::process_status().unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(not(unix))]
fn watch() {}
