//! The language server, over its protocol: with a client in this process, and as a program.

mod client;
pub mod findings;
mod hover;
mod program;
