//! Tests of patterns, templates and values as text.

#![expect(
    clippy::too_many_lines,
    clippy::unreadable_literal,
    reason = "tests have literal numbers and long tables"
)]

mod found;
mod limits;
mod pattern;
