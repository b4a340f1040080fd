//! `layercake init`: a commented configuration and the pre-commit hook entry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::configuration::ConfigurationSource;
use super::policy::Selectors;
use super::{Selection, Start, Workspace};
use crate::check::{Progress, check};
use crate::config::NAMES;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::source::{RepoPath, write_file};

/// Configuration to write: the recommended semantics, and comments.
pub const CONFIGURATION: &str = include_str!("init/layercake.yaml");

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
    /// Hook file; `None` if it existed already.
    pub hooks: Option<PathBuf>,
}

/// Writes both files to the root of the repository around `directory`.
///
/// # Errors
/// If there is a configuration already, no repository, or no write permission. Nothing is written
/// then.
pub fn run(directory: &Path) -> Result<Initialized, Error> {
    let selection = Selection {
        configuration: ConfigurationSource::Nowhere,
        ..Selection::of(directory.to_owned())
    };
    let start = Start::find(&selection)?;
    let Some(root) = start.root.as_ref().filter(|_| start.is_repository) else {
        let message = "no repository found";
        let help = "change to a git repository or a site repository, or pass it with `-C DIR`";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    };
    let is_there = |name: &str| {
        let read = start.tree.read(&RepoPath::new(name));
        !read.is_err_and(|error| error.is_missing())
    };
    if let Some(name) = NAMES.into_iter().find(|name| is_there(name)) {
        let message = format!("`{name}` exists already");
        let help = "run `layercake config show` for its settings, and `layercake config schema` \
                    for all possible ones";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    }
    let configuration = root.join(NAMES[0]);
    let text = recommending(&undecided(directory));
    write_file(&configuration, text.as_bytes())?;
    if is_there(HOOKS_FILE) {
        return Ok(Initialized { configuration, hooks: None });
    }
    let hooks = root.join(HOOKS_FILE);
    write_file(&hooks, format!("repos:\n{HOOK}").as_bytes())?;
    Ok(Initialized { configuration, hooks: Some(hooks) })
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
fn undecided(directory: &Path) -> Undecided {
    let rule = "undecided-semantics".to_owned();
    let selection = Selection {
        configuration: ConfigurationSource::Nowhere,
        selectors: Selectors { select: vec![rule.clone()], ..Selectors::default() },
        ..Selection::of(directory.to_owned())
    };
    let progress = Progress::default();
    let checked =
        Workspace::open(&selection).and_then(|workspace| check(&workspace.plan(&progress), |_| ()));
    let Ok(checked) = checked else { return Undecided { places: None, sites: BTreeSet::new() } };
    let findings = checked.findings.diagnostics.iter().filter(|it| it.rule.name == rule);
    Undecided {
        places: Some(Diagnostic::total(findings.clone())),
        sites: findings.flat_map(|finding| finding.sites.iter().cloned()).collect(),
    }
}

/// Configuration with a comment that explains the chosen semantics.
fn recommending(undecided: &Undecided) -> String {
    let reason = match (undecided.places, undecided.sites.len()) {
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
    };
    CONFIGURATION.replacen(CHOICE, &format!("# {reason}\n{CHOICE}"), 1)
}

fn differing(places: usize) -> String {
    match places {
        1 => "1 place that renders differently".to_owned(),
        places => format!("{places} places that render differently"),
    }
}
