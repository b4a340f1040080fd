//! How one node is laid over another, system by system.

pub mod deckhand;
pub mod pattern;
