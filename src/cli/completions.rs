//! `completions`: the shell completion script.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::streams::{VerbFailure, print};
use super::verbs::Cli;

/// Prints the script for `shell`.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, VerbFailure> {
    let mut script = Vec::new();
    generate(shell, &mut visible_commands(&Cli::command()), "layercake", &mut script);
    print(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// The program without its hidden verbs, which the script would offer.
fn visible_commands(program: &Command) -> Command {
    Command::new("layercake")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(program.get_arguments().cloned())
        .subcommands(program.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned())
}
