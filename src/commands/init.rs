//! `layercake init`: a commented configuration and the pre-commit hook entry.

mod hooks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::hooks::with_hook;
use super::configuration::ConfigurationSource;
use super::policy::Selectors;
use super::{Project, Selection, Start};
use crate::check::{RunControl, check};
use crate::config::NAMES;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::source::{RepoPath, write_file};

/// Configuration to write: the recommended semantics, and comments.
pub const CONFIGURATION: &str = include_str!("init/layercake.yaml");

/// Address of the configuration's JSON Schema for editors, of this version.
const SCHEMA_URL: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/v",
    env!("CARGO_PKG_VERSION"),
    "/docs/layercake.schema.json"
);

/// Line of it that sets the semantics.
const CHOICE: &str = "semantics: deckhand\n";

/// Hook entry for the configuration of pre-commit.
pub const HOOK: &str = include_str!("init/hook.yaml");

/// Configuration file of pre-commit.
pub const HOOKS_FILE: &str = ".pre-commit-config.yaml";

/// Files that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialized {
    /// Configuration file.
    pub configuration: PathBuf,
    /// Configuration of pre-commit.
    pub hooks: PathBuf,
    /// What was done with it.
    pub outcome: HooksOutcome,
    /// Differences between the chosen semantics and the other in this repository, as a sentence.
    pub differences: String,
}

/// What was done with the configuration of pre-commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HooksOutcome {
    /// Created with the hook.
    Created,
    /// The hook was added.
    Added,
    /// It has a hook of layercake; unchanged.
    Present,
    /// The hook could not be added; unchanged.
    Unsupported,
}

/// Writes both files to the root of the repository around `directory`.
///
/// # Errors
/// If there is a configuration already, no repository, or no write permission. Nothing is written
/// then.
pub fn run(directory: &Path, control: &RunControl) -> Result<Initialized, Error> {
    let selection = Selection {
        configuration: ConfigurationSource::Nowhere,
        ..Selection::of(directory.to_owned())
    };
    let start = Start::find(&selection)?;
    let Some(root) = start.root.as_ref().filter(|_| start.is_repository) else {
        let message = "no repository found";
        let help = "change to a git repository or a site repository, or pass it with `-C DIR`";
        return Err(Error::usage(message).with_help(help));
    };
    let is_there = |name: &str| {
        let read = start.tree.read(&RepoPath::new(name));
        !read.is_err_and(|error| error.is_missing())
    };
    if let Some(name) = NAMES.into_iter().find(|name| is_there(name)) {
        let message = format!("`{name}` exists already");
        let help = "run `layercake config show` for its settings, and `layercake config schema` \
                    for all possible ones";
        return Err(Error::usage(message).with_help(help));
    }
    let configuration = root.join(NAMES[0]);
    let differences = differences(&undecided(directory, control));
    write_file(&configuration, explaining(&differences).as_bytes())?;
    let hooks = root.join(HOOKS_FILE);
    let outcome = match start.tree.read(&RepoPath::new(HOOKS_FILE)) {
        Ok(bytes) => add_hook(&hooks, &bytes)?,
        Err(error) if error.is_missing() => {
            write_file(&hooks, format!("repos:\n{HOOK}").as_bytes())?;
            HooksOutcome::Created
        }
        Err(_) => HooksOutcome::Unsupported,
    };
    Ok(Initialized {
        configuration,
        hooks,
        outcome,
        differences,
    })
}

/// Adds the hook to an existing file with this content.
fn add_hook(file: &Path, content: &[u8]) -> Result<HooksOutcome, Error> {
    let Ok(text) = str::from_utf8(content) else {
        return Ok(HooksOutcome::Unsupported);
    };
    match with_hook(text) {
        Ok(text) => {
            write_file(file, text.as_bytes())?;
            Ok(HooksOutcome::Added)
        }
        Err(unchanged) => Ok(unchanged),
    }
}

/// Differences between the two semantics in a repository.
struct Undecided {
    /// Texts that cause a difference; `None` if the repository could not be rendered.
    places: Option<usize>,
    /// Sites that render differently.
    sites: BTreeSet<Arc<str>>,
}

/// Renders the sites around `directory` with both semantics. Failures are ignored here: `lint`
/// reports them.
fn undecided(directory: &Path, control: &RunControl) -> Undecided {
    let rule = "undecided-semantics".to_owned();
    let selection = Selection {
        configuration: ConfigurationSource::Nowhere,
        selectors: Selectors {
            select: vec![rule.clone()],
            ..Selectors::default()
        },
        ..Selection::of(directory.to_owned())
    };
    let checked =
        Project::open(&selection).and_then(|project| check(&project.plan(control), |_| ()));
    let Ok(checked) = checked else {
        return Undecided {
            places: None,
            sites: BTreeSet::new(),
        };
    };
    let findings = checked
        .findings
        .diagnostics
        .iter()
        .filter(|it| it.rule.name == rule);
    Undecided {
        places: Some(Diagnostic::total(findings.clone())),
        sites: findings
            .flat_map(|finding| finding.sites.iter().cloned())
            .collect(),
    }
}

/// Describes the differences between the semantics.
fn differences(undecided: &Undecided) -> String {
    match (undecided.places, undecided.sites.len()) {
        (None, _) => {
            "This repository could not be rendered to compare the two: run `layercake lint` for details."
                .to_owned()
        }
        (Some(0), _) => "This repository renders equally with both.".to_owned(),
        (Some(places), 0) => format!("This repository has {}.", differing(places)),
        (Some(places), sites) => {
            let sites = if sites == 1 { "1 site".into() } else { format!("{sites} sites") };
            format!("This repository has {}, in {sites}.", differing(places))
        }
    }
}

/// Configuration with a comment that explains the chosen semantics.
fn explaining(differences: &str) -> String {
    let explained = CONFIGURATION.replacen(CHOICE, &format!("# {differences}\n{CHOICE}"), 1);
    format!("# yaml-language-server: $schema={SCHEMA_URL}\n{explained}")
}

fn differing(places: usize) -> String {
    match places {
        1 => "1 place that renders differently".to_owned(),
        places => format!("{places} places that render differently"),
    }
}
