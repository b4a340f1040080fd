//! The command line: parses arguments, runs the verb and prints its result. Only this module uses
//! standard output, standard error and the environment.

mod arguments;
mod candidates;
mod cloud_config;
mod comparison;
mod completions;
mod config;
mod demo;
mod environment;
mod fault;
mod history;
mod hygiene;
mod manual;
mod outputs;
mod queries;
mod query;
mod saved;
mod streams;
mod terminal;
mod verbs;
mod view;
mod watching;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser};
use layercake::check::threads;
use layercake::commands::names::right_command;
use layercake::commands::{self, CheckClock, Selection};
use layercake::error::{Error, UnknownWord};
use layercake::guard::{self, Place};
use layercake::mcp;
use layercake::report::{self};
use layercake::rules::RULES;
use layercake::server::{self, Ended};
use layercake::stopwatch::Stopwatch;

use self::environment::{limit_threads_from_environment, today};
use self::streams::{VerbFailure, complain, explain_failure, print, unless_closed};
use self::terminal::Terminal;
use self::verbs::{Cli, Debug, Verb};

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    fault::report_panics();
    limit_threads_from_environment();
    match completions::print_candidates() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return exit_code(reject_arguments(&error, &[])),
    }
    let arguments = std::env::args_os();
    guard::guarded(Place::Run, || run_arguments(arguments)).unwrap_or_else(|| {
        complain(fault::GIVEN_UP);
        ExitCode::from(2)
    })
}

fn run_arguments(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match Cli::try_parse_from(&arguments) {
        Ok(cli) if cli.global.timing => timed(|| exit_code(with_right_command(cli, &arguments))),
        Ok(cli) => exit_code(with_right_command(cli, &arguments)),
        Err(refusal) => exit_code(reject_arguments(&refusal, &arguments)),
    }
}

/// Runs the verb. If a word names something else than expected, the help has the right command.
fn with_right_command(cli: Cli, arguments: &[OsString]) -> Result<ExitCode, VerbFailure> {
    let selection = Selection::of(cli.global.directory.clone());
    verb(cli).map_err(|failure| match failure {
        VerbFailure::Work(error) => {
            let unknown = error.unknown();
            let help = unknown.and_then(|it| right_command(&selection, verb_name(arguments), it));
            VerbFailure::Work(match help {
                Some(help) => error.with_help(help),
                None => error,
            })
        }
        VerbFailure::Output(_) => failure,
    })
}

/// The verb in a command line; `lint` without one.
fn verb_name(arguments: &[OsString]) -> &str {
    let verbs = Cli::command();
    let is_verb = |word: &&str| verbs.find_subcommand(word).is_some();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    words.find(is_verb).unwrap_or("lint")
}

/// Remedy for a word that no argument expects.
fn help_for_unexpected(refusal: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let word = kinds.into_iter().find_map(|kind| match refusal.get(kind) {
        Some(ContextValue::String(word)) if !word.starts_with('-') => Some(word.clone()),
        _ => None,
    })?;
    let named = arguments
        .windows(2)
        .find(|pair| pair[0] == "-C")
        .map(|pair| &pair[1]);
    let selection = Selection::of(named.map_or_else(|| ".".into(), PathBuf::from));
    let unknown = UnknownWord {
        word,
        expected: "argument",
    };
    right_command(&selection, verb_name(arguments), &unknown)
}

/// Does `work`, and reports on standard error where the time went.
fn timed(work: impl FnOnce() -> ExitCode) -> ExitCode {
    let stopwatch = Stopwatch::start();
    let code = stopwatch.time(work);
    let mut table = Vec::new();
    report::timing::write(&stopwatch.times(), threads(), &mut table)
        .expect("writing to memory cannot fail");
    complain(&String::from_utf8_lossy(&table));
    code
}

/// Exit code of a run. Reports an error on standard error.
fn exit_code(done: Result<ExitCode, VerbFailure>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(VerbFailure::Work(error)) => {
            explain_failure(&error);
            ExitCode::from(2)
        }
        Err(VerbFailure::Output(error)) => {
            complain(&format!("error: cannot write output: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// Handles arguments that ask for help or are invalid.
fn reject_arguments(
    refusal: &clap::Error,
    arguments: &[OsString],
) -> Result<ExitCode, VerbFailure> {
    let unknown = refusal.get(ContextKind::InvalidArg);
    if matches!(unknown, Some(ContextValue::String(flag)) if flag == "--show-secrets") {
        complain(
            "error: `--show-secrets` is only valid for `layercake render`\n  \
             help: no other command shows secrets\n",
        );
        return Ok(ExitCode::from(2));
    }
    if refusal.use_stderr() {
        complain(&refusal.render().to_string());
        if let Some(help) = help_for_unexpected(refusal, arguments) {
            complain(&format!("  help: {help}\n"));
        }
        return Ok(ExitCode::from(2));
    }
    unless_closed(refusal.print())?;
    Ok(ExitCode::SUCCESS)
}

/// Serves an editor. LSP asks for the exit code 1 if it ends without a shutdown.
fn server() -> Result<ExitCode, VerbFailure> {
    match server::serve_standard_streams(CheckClock::Reading(today)) {
        Ok(Ended::Orderly) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Abrupt | Ended::Orphaned) => Ok(ExitCode::FAILURE),
        Err(error) => {
            let message = format!("the client breaks the protocol: {error}");
            let help = "an editor starts `layercake server`; `layercake lint` is for a terminal";
            Err(Error::usage(message).with_help(help).into())
        }
    }
}

/// Serves an agent.
#[expect(
    clippy::disallowed_methods,
    reason = "the client is at the standard streams"
)]
fn mcp(selection: &Selection) -> Result<ExitCode, VerbFailure> {
    mcp::serve(selection, io::stdin().lock(), io::stdout())
        .map_err(|cause| Error::io("cannot read standard input").caused_by(cause))?;
    Ok(ExitCode::SUCCESS)
}

fn verb(cli: Cli) -> Result<ExitCode, VerbFailure> {
    let terminal = Terminal::new(cli.global.color, cli.global.progress_after());
    let directory = cli.global.directory;
    match cli.verb {
        Verb::Lint(arguments) => comparison::lint(arguments, directory, &terminal),
        Verb::Baseline(verb) => hygiene::baseline(verb, directory, &terminal),
        Verb::Diff(arguments) => comparison::diff(arguments, directory, &terminal),
        Verb::Render(arguments) => queries::render(arguments, directory, &terminal),
        Verb::Query(arguments) => query::query(arguments, directory, &terminal),
        Verb::CloudConfig(arguments) => cloud_config::cloud_config(arguments, directory, &terminal),
        Verb::Report(arguments) => saved::report(arguments, directory, &terminal),
        Verb::Sites(arguments) => queries::sites(arguments, directory, &terminal),
        Verb::ExplainValue(arguments) => queries::explain_value(arguments, directory, &terminal),
        Verb::Blame(arguments) => history::blame(arguments, directory, &terminal),
        Verb::Log(arguments) => history::log(arguments, directory, &terminal),
        Verb::Impact(arguments) => queries::impact(arguments, directory, &terminal),
        Verb::Graph(arguments) => queries::graph(arguments, directory, &terminal),
        Verb::Demo(arguments) => demo::demo(arguments, &directory, &terminal),
        Verb::Server { stdio: _ } => server(),
        Verb::Mcp { reading } => mcp(&reading.selection(directory)),
        Verb::Explain { rule, class } if rule.as_deref() == Some("consequence") => {
            let word = class
                .map(|class| commands::explain::consequence_of(&class))
                .transpose()?;
            print(|out| match word {
                Some(word) => report::consequences::write(word, &terminal.style, out),
                None => report::consequences::write_list(&terminal.style, out),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Explain { rule, class } => {
            commands::explain::refuse_class(class.as_deref())?;
            let style = &terminal.style;
            let rules = rule
                .map(|name| commands::explain::rules_of(&name))
                .transpose()?;
            print(|out| match rules.as_deref() {
                Some([rule]) => report::page::write(rule, style, out),
                rules => report::rules::write_list(rules.unwrap_or(RULES), style, out),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Rules {
            rules,
            config,
            format,
        } => config::rules(
            &directory,
            &config.place(),
            rules.selectors(),
            format,
            &terminal,
        ),
        Verb::Config(verb) => config::config(&directory, verb, &terminal),
        Verb::Init => config::init(&directory, &terminal),
        Verb::Completions { shell } => completions::completions(shell),
        Verb::Man { verb, dir } => match dir {
            Some(folder) => manual::write(&directory.join(folder)),
            None => manual::print_page(&verb, &terminal),
        },
        Verb::Debug(Debug::Parse { files, selection }) => {
            queries::parse(&files.entered(selection.selection(directory))?)
        }
        Verb::Debug(Debug::Side { comparison }) => queries::side(&directory, &comparison.wanted()),
        Verb::Debug(Debug::Fail { places, arguments }) => {
            guard::plant(places);
            Ok(run_arguments(
                std::iter::once("layercake".into()).chain(arguments),
            ))
        }
    }
}
