//! The process edge: arguments in, exit code out.

mod cli;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A run makes millions of small values on all cores, and gives few of them
/// back before it ends. glibc's allocator asks the system anew for every page
/// that a thread needs, which is a fifth of all a run costs; this one takes
/// large pieces (docs/performance.md has what was measured).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
