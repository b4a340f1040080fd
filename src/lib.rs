//! layercake: what every site of a Deckhand repository renders to, what is
//! wrong with it, and which lines wrote it.
//!
//! ```text
//! source ──▶ yaml ──▶ system ──▶ graph ──▶ render ──▶ rules ──▶ triage ──▶ report
//!                       └──▶ edit ─────────▶ compare ──┘
//! ```
//!
//! [`check`] is this line as code, [`commands`] are the verbs on top of it. A
//! module knows those before it and none after it; `docs/architecture.md` says
//! what each promises, and `tests/it/layers.rs` holds the walls. What is below
//! [`system`] are crates of their own, which have the names of their modules here.
//!
//! What holds everywhere:
//!
//! - A node carries the span of the text that wrote it; merging moves nodes
//!   and never rewrites spans.
//! - A node knows whether it is secret, wherever it travels to; reports ask it.
//! - A fault of a document is a [`diagnostic`] with its place; an [`error`] is
//!   what keeps layercake from its work.
//! - Nothing depends on the order of files, on threads, or on the current
//!   folder.

pub mod check;
pub mod commands;
pub mod config;
pub mod diagnostic;
pub mod ending;
pub mod fix;
pub mod ignore;
pub mod report;
pub mod rules;
pub mod schema;
pub mod system;
pub mod triage;

pub use layercake_engine::{compare, edit, graph, guard, merge, render, stopwatch};
pub use layercake_source::{self as source, error, near};
pub use layercake_yaml as yaml;
