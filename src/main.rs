//! Entry point: arguments in, exit code out.

mod cli;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Allocator for all memory. A run allocates millions of small values on all cores and frees few of
/// them before it exits. glibc's allocator requests each page that a thread needs from the system,
/// a fifth of the total run time; mimalloc requests large chunks.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
