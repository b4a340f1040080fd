//! Shell completion: the script that registers it, and the candidates for a command line.
//!
//! The script calls the program for each completion, so that sites and revisions are those of the
//! repository in the current folder, and rules and formats those of the installed version.

use std::env;
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory, ValueEnum, ValueHint};
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use super::candidates;
use super::streams::{VerbFailure, print};
use super::verbs::Cli;

/// Environment variable with which the script asks for candidates.
const VARIABLE: &str = "LAYERCAKE_COMPLETE";

/// Prints the script for `shell`, or else the names of all shells.
pub(super) fn completions(shell: Option<Shell>) -> Result<ExitCode, VerbFailure> {
    let Some(shell) = shell else {
        let shells: String = Shell::value_variants()
            .iter()
            .map(|it| format!("{it}\n"))
            .collect();
        print(|out| out.write_all(shells.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let shells = Shells::builtins();
    let shell = shells
        .completer(&shell.to_string())
        .expect("both lists have the same shells");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "layercake", "layercake", "layercake", &mut script)?;
    print(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints candidates if the script asked for them. Returns whether it did.
pub(super) fn print_candidates() -> Result<bool, clap::Error> {
    #[expect(
        clippy::disallowed_methods,
        reason = "shells complete paths from the current folder"
    )]
    let folder = env::current_dir().ok();
    CompleteEnv::with_factory(visible_commands)
        .var(VARIABLE)
        .try_complete(env::args_os(), folder.as_deref())
}

/// The program without its hidden verbs, which would be offered.
fn visible_commands() -> Command {
    let program = Cli::command();
    let visible = Command::new("layercake")
        .args(program.get_arguments().cloned())
        .subcommands(
            program
                .get_subcommands()
                .filter(|verb| !verb.is_hide_set())
                .cloned(),
        );
    with_paths(visible)
}

/// Replaces the candidates for paths, which would be offered with any name.
fn with_paths(command: Command) -> Command {
    let completed = |arg: Arg| match arg.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
            arg.add(candidates::paths())
        }
        _ => arg,
    };
    command.mut_args(completed).mut_subcommands(with_paths)
}
