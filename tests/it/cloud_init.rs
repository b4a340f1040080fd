//! cloud-init: how user-data is taken apart, and what is wrong with it.

mod reading;
mod rules;
mod traps;
