//! Tests of texts, similar names and file trees.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests access files, run programs, print, and panic"
)]

mod git;
mod limits;
mod near;
mod path;
