//! Tests of merging and of the stopwatch; tests that render sites are in `tests/it/` of the root.

#![expect(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    unreachable_pub,
    reason = "tests read pages, and have long tables"
)]

mod merging;
mod patch;
mod properties;
mod stopwatch;
