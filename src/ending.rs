//! Memory at the end of a run.
//!
//! A process about to exit does not free its memory piece by piece, because the system reclaims all
//! of it at once. A long-running process, such as one that uses the library, must free it.

use crate::stopwatch::{Stage, time};

/// Whether the remains of a run are freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// They are freed.
    #[default]
    Frees,
    /// They are left to the system, since the process exits after the run.
    Exits,
}

impl Ending {
    /// Frees the remains of a run, unless the process is about to exit.
    pub(crate) fn give_back<T>(self, remains: T) {
        match self {
            Self::Frees => time(Stage::Free, || drop(remains)),
            Self::Exits => std::mem::forget(remains),
        }
    }
}
