//! Provenance: where values come from, and where they flow to.

mod flow;
mod laws;
mod replay;

pub use laws::{untrue_flows, untrue_ways, ways_by_kind};
