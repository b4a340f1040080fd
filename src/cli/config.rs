//! `rules`, `config` and `init`: the configuration in effect and the possible settings.

use std::path::Path;
use std::process::ExitCode;

use layercake::commands;
use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::init::{HOOK, HooksOutcome};
use layercake::commands::policy::Selectors;
use layercake::config::SCHEMA;
use layercake::report;

use super::arguments::TextFormat;
use super::streams::{VerbFailure, print};
use super::terminal::Terminal;
use super::verbs::ConfigVerb;

pub(super) fn rules(
    directory: &Path,
    place: &ConfigurationSource,
    selectors: Selectors,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let found = commands::config::find(directory, place)?;
    let rows = commands::rules::run(&selectors, &found)?;
    print(|out| match format {
        TextFormat::Text => report::rules::write(&rows, &terminal.style, out),
        TextFormat::Json => report::rules::write_rules_json(&rows, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn config(
    directory: &Path,
    verb: ConfigVerb,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    match verb {
        ConfigVerb::Show {
            meaning,
            rules,
            config,
            format,
        } => {
            let found = commands::config::find(directory, &config.place())?;
            let rows = commands::config::show(&found, meaning.meaning(), &rules.selectors())?;
            print(|out| match format {
                TextFormat::Text => report::settings::write(&rows, &terminal.style, out),
                TextFormat::Json => report::settings::write_settings_json(&rows, out),
            })?;
        }
        ConfigVerb::Path { config } => {
            let found = commands::config::find(directory, &config.place())?;
            print(|out| match commands::config::path(&found) {
                Some(path) => writeln!(out, "{}", path.display()),
                None => writeln!(out, "no configuration"),
            })?;
        }
        ConfigVerb::Check { config } => {
            let found = commands::config::find(directory, &config.place())?;
            print(|out| match &found.config.file {
                Some(file) => writeln!(out, "{} is valid", file.path),
                None => writeln!(out, "no configuration"),
            })?;
        }
        ConfigVerb::Schema => print(|out| out.write_all(SCHEMA.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Commands to run after `init`.
const AFTER_INIT: &str = "
next:
  layercake lint              report all problems
  layercake baseline write    accept them, and report only new ones from now on
  pre-commit install          check staged changes before each commit
";

pub(super) fn init(directory: &Path, terminal: &Terminal) -> Result<ExitCode, VerbFailure> {
    let written = terminal.watch(|control| commands::init::run(directory, control))?;
    print(|out| {
        writeln!(out, "wrote {}", written.configuration.display())?;
        let hooks = written.hooks.display();
        match written.outcome {
            HooksOutcome::Created => writeln!(out, "wrote {hooks}"),
            HooksOutcome::Added => writeln!(out, "added the hook to {hooks}"),
            HooksOutcome::Present => writeln!(out, "{hooks} has a hook of layercake already"),
            HooksOutcome::Unsupported => {
                writeln!(
                    out,
                    "cannot extend {hooks}; add this to its `repos`:\n\n{HOOK}"
                )
            }
        }?;
        let differences = &written.differences;
        writeln!(
            out,
            "semantics: deckhand, what Deckhand's code deploys. {differences}"
        )?;
        out.write_all(AFTER_INIT.as_bytes())
    })?;
    Ok(ExitCode::SUCCESS)
}
