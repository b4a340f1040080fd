//! Integration tests, with one module for each part of layercake.

#![expect(
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::unreadable_literal,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests access files, print what they skip, panic, and have literal numbers and long tables"
)]

mod action;
#[cfg(target_os = "linux")]
mod certificates;
mod cli;
mod cloud_init;
mod config;
mod conformance;
mod demo;
mod docs;
mod examples;
mod fix_edits;
mod formats;
mod found;
mod groups;
mod hostile;
mod judged;
mod laws;
mod layers;
mod limits;
mod mcp;
mod naive_history;
mod properties;
mod provenance;
mod reference;
mod related;
mod release;
mod report;
mod repositories;
mod rules;
mod schema;
mod seeds;
mod server;
mod sides;
mod sites;
mod soak;
mod stored;
mod stories;
mod supply_chain;
mod support;
mod words;
mod yaml;

use layercake_source_testing as git;
use layercake_yaml_testing::values as path;
