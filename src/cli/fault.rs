//! A fault of layercake itself on standard error: where in its code it is, and
//! nothing that it had in hand.
//!
//! What it costs is told in findings; this line is what a report of it needs.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::BTreeSet;
use std::panic::{self, Location};
use std::sync::{Mutex, PoisonError};

use super::streams::complain;

/// What is said where nothing of a run is left.
pub(super) const GIVEN_UP: &str = "error: layercake itself failed\n  \
    help: this is a fault of layercake; please report it, with the place above, the command line \
    and the smallest files you can\n";

/// Tells of every fault from now on where it is, of each place once.
///
/// The message of a panic is not told, since it may hold a value, and values
/// may be secret. `RUST_BACKTRACE=1` adds how it came there: names of functions.
pub(super) fn tell_where() {
    let told = Mutex::new(BTreeSet::new());
    panic::set_hook(Box::new(move |fault| {
        let place = fault.location().map(Location::to_string).unwrap_or_default();
        if told.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone()) {
            let version = env!("CARGO_PKG_VERSION");
            complain(&format!("layercake {version} failed at {place}{}\n", backtrace()));
        }
    }));
}

fn backtrace() -> String {
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    }
}
