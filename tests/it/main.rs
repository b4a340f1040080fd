//! What layercake promises, as tests; one module for each part.

#![expect(
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unreadable_literal,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests touch the world, say what they skip, and end by panics; their figures are as given"
)]

mod action;
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
mod git;
mod groups;
mod hostile;
mod judged;
mod laws;
mod layers;
mod limits;
mod merging;
mod naive_history;
mod near;
mod patch;
mod path;
mod pattern;
mod properties;
mod provenance;
mod query;
mod reference;
mod related;
mod release;
mod report;
mod repositories;
mod rules;
mod schema;
mod seeds;
mod sides;
mod sites;
mod soak;
mod stopwatch;
mod stories;
mod supply_chain;
mod support;
mod yaml;
