//! The YAML reader and writer: laws over any text, hostile input included.

mod copies;
pub mod emitting;
mod hostile;
mod items;
mod python;
mod reading;
mod scalars;
pub mod spans;
