//! Reports an internal failure on standard error with its place in the source code, without any
//! data of the run.
//!
//! Findings report the consequences; this line is for the bug report.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::BTreeSet;
use std::panic::{self, Location};

use parking_lot::Mutex;

use super::streams::complain;

/// Message when the whole run failed.
pub(super) const GIVEN_UP: &str = "error: layercake itself failed\n  \
    help: this is a bug in layercake; please report it with the place above, the command line \
    and files that reproduce it\n";

/// Installs a panic hook that reports the place of each panic once.
///
/// The message of a panic is not printed, because it may contain a secret value. `RUST_BACKTRACE=1`
/// adds the backtrace: names of functions.
pub(super) fn report_panics() {
    let reported = Mutex::new(BTreeSet::new());
    panic::set_hook(Box::new(move |fault| {
        let place = fault
            .location()
            .map(Location::to_string)
            .unwrap_or_default();
        if reported.lock().insert(place.clone()) {
            let version = env!("CARGO_PKG_VERSION");
            complain(&format!(
                "layercake {version} failed at {place}{}\n",
                backtrace()
            ));
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
