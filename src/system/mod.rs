//! Who says which document lies on which: one module a system, each handing
//! over problems and a [`Graph`](crate::graph::Graph).

pub mod cloud_init;
pub mod deckhand;
pub mod edits;
pub mod heat;
mod written;

pub use written::Written;
