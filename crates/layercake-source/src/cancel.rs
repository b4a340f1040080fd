//! Stops a run from another thread.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, ErrorKind};

/// Handle to stop a run; clones stop the same run. A stopped run ends with an error at the next
/// file, site, trial or commit, and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Cancel(pub(crate) Arc<AtomicBool>);

impl Cancel {
    /// Stops the run.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the run is stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// # Errors
    /// If the run is stopped.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "the run was cancelled"));
        }
        Ok(())
    }
}
