//! Tests of the YAML reader and writer, of paths and of differences. Tests with recorded texts are in
//! `tests/it/` of the root.

#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "tests panic, and their numbers are small"
)]

mod changing;
mod copies;
mod emitting;
mod found;
mod hostile;
mod items;
mod limits;
mod lists;
mod path;
mod plain;
mod python;
mod query;
mod reading;
mod scalars;
mod spans;
