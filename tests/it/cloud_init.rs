//! cloud-init: how user-data is split into parts, and which faults are reported.

mod reading;
mod rules;
mod traps;
