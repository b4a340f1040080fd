//! Memory that nobody needs again.
//!
//! A program that is about to end need not give memory back piece by piece: the
//! system takes it all at once, and the pieces are many. A process that goes on,
//! as one that uses the library does, must.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::stopwatch::{Stage, lap};

static IS_NEAR: AtomicBool = AtomicBool::new(false);

/// Says that the process does one run and ends: from now on, what a run leaves
/// behind stays where it is.
pub fn announce() {
    IS_NEAR.store(true, Relaxed);
}

/// Frees what a run leaves behind, unless the process ends anyway.
pub(crate) fn give_back<T>(remains: T) {
    if IS_NEAR.load(Relaxed) {
        std::mem::forget(remains);
    } else {
        lap(Stage::Free, || drop(remains));
    }
}
