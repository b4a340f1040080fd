//! The language server, over its protocol: with a client in this process, and as a program.

mod client;
mod editing;
pub mod findings;
mod hover;
mod law;
mod navigate;
mod places;
mod program;
mod reach;
mod reading;
