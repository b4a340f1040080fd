//! Tests of merging and of the stopwatch; tests that render sites are in `tests/it/` of the root.

#![expect(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::unreadable_literal,
    unreachable_pub,
    reason = "tests access files, and have literal numbers and long tables"
)]

mod found;
mod limits;
mod merging;
mod patch;
mod pattern;
mod properties;
mod stopwatch;
