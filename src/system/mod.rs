//! Who says which document lies on which: one module a system, each handing
//! over problems and a [`Graph`](crate::graph::Graph).

pub mod deckhand;
pub mod heat;
