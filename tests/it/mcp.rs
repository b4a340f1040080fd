//! The server for coding agents, over its protocol: with a client in this process, and as a program.

mod answers;
mod client;
mod hostile;
mod pages;
mod program;
mod protocol;
