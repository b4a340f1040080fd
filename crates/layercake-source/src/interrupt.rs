//! Cleanup before a signal ends the run: removes files that are not finished.
//!
//! A separate thread waits for signals. It is blocked while a file is created or renamed, so that
//! no file is missed. On systems without signals, nothing is removed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use parking_lot::{Mutex, MutexGuard};

use crate::cancel::Cancel;

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished(Vec::new()));

/// Handle that is cancelled when the user interrupts the run (Ctrl-C); the run then ends by itself. A
/// second signal ends it immediately.
#[cfg(unix)]
pub fn stop_on_interrupt() -> Cancel {
    use signal_hook::consts::SIGINT;
    use signal_hook::flag::{register, register_conditional_default};

    let stop = Cancel::default();
    // Without handlers, a signal ends the run.
    if register_conditional_default(SIGINT, stop.0.clone()).is_ok() {
        drop(register(SIGINT, stop.0.clone()));
    }
    stop
}

/// Handle that no signal cancels.
#[cfg(not(unix))]
pub fn stop_on_interrupt() -> Cancel {
    Cancel::default()
}

/// List of unfinished files. While it is locked, no signal ends the run.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    UNFINISHED.lock()
}

/// Files to remove if a signal ends the run, and how to remove them.
pub(super) struct Unfinished(Vec<(PathBuf, Remove)>);

/// Function that removes a file.
type Remove = fn(&Path) -> io::Result<()>;

impl Unfinished {
    /// Creates a file that must later be finished or removed.
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

    /// Runs the step that finishes or removes the file; if it fails, the file remains in the list.
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

/// Waits for termination signals. The first one removes the unfinished files, and ends the run as
/// it would have without a handler.
#[cfg(unix)]
fn watch() {
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let end = |mut signals: Signals| {
        for signal in signals.forever() {
            // Locked until the process ends, so that no new file is created.
            let unfinished = UNFINISHED.lock();
            // A failure cannot be reported here.
            unfinished
                .0
                .iter()
                .for_each(|(path, remove)| drop(remove(path)));
            drop(emulate_default_handler(signal));
        }
    };
    // If waiting is impossible, a signal ends the run directly.
    let watching = Signals::new(termination_signals())
        .and_then(|signals| std::thread::Builder::new().spawn(move || end(signals)));
    drop(watching);
}

/// Termination signals, except those that were ignored at startup, as with `nohup`.
#[cfg(unix)]
fn termination_signals() -> impl Iterator<Item = i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let ignored = ignored();
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
        .into_iter()
        .filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// Bit mask of the signals that this process ignores, from the lowest (proc(5)); zero if unknown.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = super::tree::process_status().unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

#[cfg(not(unix))]
fn watch() {}
