//! Layering per system: each module builds a [`Graph`](crate::graph::Graph) of which document is
//! merged into which, and reports the problems it finds.

pub mod cloud_init;
pub mod deckhand;
pub mod edits;
pub mod heat;
mod written;

pub use written::Written;
