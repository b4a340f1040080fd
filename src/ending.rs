//! Memory at process exit.
//!
//! A process about to exit does not free its memory piece by piece, because the system reclaims all
//! of it at once. A long-running process, such as one that uses the library, must free it.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::stopwatch::{Stage, time};

static IS_NEAR: AtomicBool = AtomicBool::new(false);

/// Declares that the process exits after one run: from now on, `give_back` leaks its argument.
pub fn announce() {
    IS_NEAR.store(true, Relaxed);
}

/// Frees the remains of a run, unless the process is about to exit.
pub(crate) fn give_back<T>(remains: T) {
    if IS_NEAR.load(Relaxed) {
        std::mem::forget(remains);
    } else {
        time(Stage::Free, || drop(remains));
    }
}
