//! Environment variables that layercake reads.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use layercake::certificate::CheckTime;
use layercake::check::{MAX_THREADS, limit_threads};
use layercake::commands::repositories::VARIABLE;
use layercake::commands::sides::{Environment, SideSelection};
use layercake::error::Error;
use layercake::source::text_at;

use super::streams::complain;

/// Environment variables from which rayon takes its number of threads.
const THREAD_VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

#[expect(clippy::disallowed_methods, reason = "the environment is read in cli/")]
pub(super) fn limit_threads_from_environment() {
    let asked = THREAD_VARIABLES.into_iter().find_map(|name| {
        let number: usize = std::env::var_os(name)?.to_str()?.parse().ok()?;
        (number > 0).then_some((name, number))
    });
    if let Some((name, number)) = asked
        && limit_threads(number)
    {
        complain(&format!(
            "warning: {name} is {number}, above the maximum; using {MAX_THREADS} threads\n"
        ));
    }
}

/// The present day, for the dates of certificates.
#[expect(clippy::disallowed_methods, reason = "certificates expire")]
pub(super) fn today() -> CheckTime {
    CheckTime::day_of(SystemTime::now())
}

/// Clones named in the environment, one per line.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
pub(super) fn repositories_of_environment() -> Vec<String> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    named
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Configuration file named in the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
pub(super) fn named_configuration() -> Option<PathBuf> {
    std::env::var_os("LAYERCAKE_CONFIG")
        .filter(|file| !file.is_empty())
        .map(PathBuf::from)
}

/// Whether the environment asks for color on standard output. Empty variables are unset, as
/// <https://no-color.org> specifies.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
pub(super) fn has_color(is_terminal: bool) -> bool {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_forced = ["CLICOLOR_FORCE", "FORCE_COLOR"]
        .into_iter()
        .filter_map(value)
        .any(|value| value != "0" && value != "false");
    // Terminals of Windows support color without the variable.
    let is_capable = value("TERM").map_or(cfg!(windows), |terminal| terminal != "dumb");
    is_forced || is_terminal && is_capable && value("NO_COLOR").is_none()
}

/// The part of the environment that a comparison uses; empty without `--auto`.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
pub(super) fn environment(wanted: &SideSelection) -> Result<Environment, Error> {
    let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
    if !wanted.auto {
        return Ok(Environment::default());
    }
    let set = |name: &&str| Some(((*name).to_owned(), value(name)?));
    let on_github = value("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let event = std::env::var_os("GITHUB_EVENT_PATH").filter(|path| on_github && !path.is_empty());
    Ok(Environment {
        variables: Environment::VARIABLES.iter().filter_map(set).collect(),
        event: event.map(|path| text_at(Path::new(&path))).transpose()?,
        base: None,
    })
}
