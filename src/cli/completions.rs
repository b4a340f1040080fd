//! Shell completion: the script that registers it, and the candidates for a command line.
//!
//! The script calls the program for each completion, so that sites and revisions are those of the
//! repository in the current folder, and rules and formats those of the installed version.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use layercake::check::Progress;
use layercake::commands::{self, Selection};
use layercake::report::Format;
use layercake::rules::{GROUPS, RULES};
use layercake::source::Repository;

use super::streams::{VerbFailure, print};
use super::verbs::Cli;

/// Environment variable with which the script asks for candidates.
const VARIABLE: &str = "LAYERCAKE_COMPLETE";

/// Prints the script for `shell`.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, VerbFailure> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).expect("both lists have the same shells");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "layercake", "layercake", "layercake", &mut script)?;
    print(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints candidates if the script asked for them. Returns whether it did.
pub(super) fn print_candidates() -> Result<bool, clap::Error> {
    let folder = env::current_dir().ok();
    CompleteEnv::with_factory(visible_commands)
        .var(VARIABLE)
        .try_complete(env::args_os(), folder.as_deref())
}

/// The program without its hidden verbs, which would be offered.
fn visible_commands() -> Command {
    let program = Cli::command();
    Command::new("layercake")
        .args(program.get_arguments().cloned())
        .subcommands(program.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned())
}

/// Names of rules and groups.
pub(super) fn rules() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let rules = RULES.iter().map(|rule| (rule.name, rule.summary));
        let groups = GROUPS.iter().map(|(name, _)| (*name, "group of rules"));
        let candidate = |(name, help): (&str, &str)| {
            CompletionCandidate::new(name).help(Some(help.to_owned().into()))
        };
        rules.chain(groups).map(candidate).collect()
    })
}

/// Report formats.
pub(super) fn formats() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        Format::ALL.iter().map(|format| CompletionCandidate::new(format.name())).collect()
    })
}

/// Names of sites.
pub(super) fn sites() -> ArgValueCandidates {
    ArgValueCandidates::new(site_names)
}

fn site_names() -> Vec<CompletionCandidate> {
    let listed = commands::sites::run(&Selection::of(directory()), &Progress::default());
    let rows = listed.map(|listed| listed.rows).unwrap_or_default();
    let names = rows.iter().filter_map(|row| row.site.as_deref());
    names.map(CompletionCandidate::new).collect()
}

/// Branches and tags, and `HEAD`.
pub(super) fn revisions() -> ArgValueCandidates {
    ArgValueCandidates::new(revision_names)
}

/// Revisions, `worktree` and `index`.
pub(super) fn sides() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let others = ["worktree", "index"].map(CompletionCandidate::new);
        others.into_iter().chain(revision_names()).collect()
    })
}

fn revision_names() -> Vec<CompletionCandidate> {
    let repository = Repository::discover(&directory()).ok().flatten();
    let names = repository.map(|repository| repository.reference_names()).unwrap_or_default();
    let names = names.into_iter().map(CompletionCandidate::new);
    [CompletionCandidate::new("HEAD")].into_iter().chain(names).collect()
}

/// Folder given by `-C` in the command line to complete, which follows `--`.
fn directory() -> PathBuf {
    let words: Vec<_> = env::args_os().skip_while(|word| word != "--").collect();
    let named = words.windows(2).rfind(|pair| pair[0] == "-C");
    named.map_or_else(|| PathBuf::from("."), |pair| PathBuf::from(&pair[1]))
}
