//! layercake: a linter that renders every site of a Deckhand repository, and traces problems and
//! changes to the source lines that caused them.
//!
//! ```text
//! source ──▶ yaml ──▶ system ──▶ graph ──▶ render ──▶ rules ──▶ triage ──▶ report
//!                       └──▶ edit ─────────▶ compare ──┘
//! ```
//!
//! [`check`] implements this pipeline, and [`commands`] the subcommands on top of it. A module may
//! only use modules before it; `docs/architecture.md` describes their contracts, and
//! `tests/it/layers.rs` enforces the order. The layers below [`system`] are separate crates,
//! re-exported here under the names of their modules.
//!
//! Invariants:
//!
//! - A node carries the span of the text that wrote it; merging moves nodes and never rewrites
//!   spans.
//! - A node carries its own secrecy flag through all transformations; reports check it.
//! - A problem of a document is a [`diagnostic`] with a location; an [`error`] is a problem that
//!   prevents the run.
//! - No result depends on the order of files, on threads, or on the current folder.

pub mod ask;
pub mod certificate;
pub mod check;
pub mod commands;
pub mod config;
pub mod deployment;
pub mod diagnostic;
pub mod ending;
pub mod fix;
pub mod ignore;
pub mod mcp;
pub mod report;
pub mod rules;
pub mod schema;
pub mod server;
pub mod system;
pub mod triage;

pub use layercake_engine::{compare, edit, graph, guard, merge, render, stopwatch};
pub use layercake_source::{self as source, cancel, error, near};
pub use layercake_yaml as yaml;
