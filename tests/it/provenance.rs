//! Where values come from, and where they go to.

mod flow;
mod laws;
mod replay;

pub use laws::{untrue_flows, untrue_ways, ways_by_kind};
