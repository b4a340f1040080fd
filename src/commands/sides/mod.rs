//! The two sides of a comparison: which two states of a repository are
//! compared, and why these.
//!
//! Either flags say so, or, with `--auto`, the surroundings: a hook, a CI job,
//! a clone with a default branch (`detect.rs`). What is missing is an error
//! with the command that brings it. It is never taken for an empty side:
//! compared with nothing, everything would be new. Only where there truly was
//! nothing, before the first commit, is there [nothing](ChosenSide::Nothing) to
//! compare with.

mod detect;
mod reached;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use reached::ReachedByEdits;

use super::repositories::Bump;
use crate::error::{Error, ErrorKind, shell_word};
use crate::source::{MemoryTree, Repository, Tree, WorkTree};

/// How the two sides are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideSelection {
    /// Where HEAD parted from this revision, against the working tree.
    pub since: Option<String>,
    /// HEAD against the index.
    pub staged: bool,
    /// This revision, against [`to`](SideSelection::to).
    pub from: Option<String>,
    /// A revision, `worktree` or `index`; the working tree where not given.
    pub to: Option<String>,
    /// What `since` means.
    pub merge_base: MergeBase,
    /// As the surroundings say.
    pub auto: bool,
    /// The working tree against itself with these pins.
    pub bumps: Vec<Bump>,
}

/// Whether a revision stands for the commit where HEAD parted from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeBase {
    /// It does.
    #[default]
    Use,
    /// It stands for itself.
    Skip,
}

/// What of the environment counts for `--auto`.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables by name, of which [`Environment::VARIABLES`] are read.
    pub variables: BTreeMap<String, String>,
    /// The text of the file that `GITHUB_EVENT_PATH` names, if it names one.
    pub event: Option<String>,
    /// The revision from which work starts, where the configuration names one.
    pub base: Option<String>,
}

impl Environment {
    /// The names of all variables that are read.
    pub const VARIABLES: &[&str] = detect::VARIABLES;

    /// What a variable holds; an empty one counts as not set.
    fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(Self::VARIABLES.contains(&name), "{name} is not read");
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// One state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenSide {
    /// A commit.
    Commit {
        /// Its full id.
        id: String,
        /// What it was asked for as, such as `main` or `merge-base of main
        /// and HEAD`.
        name: String,
    },
    /// No file at all: what was there before the first commit.
    Nothing,
    /// What the next commit will hold.
    Index,
    /// The files as they lie on disk.
    WorkTree,
}

impl fmt::Display for ChosenSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChosenSide::Commit { name, .. } => f.write_str(name),
            ChosenSide::Nothing => f.write_str("nothing"),
            ChosenSide::Index => f.write_str("the index"),
            ChosenSide::WorkTree => f.write_str("the working tree"),
        }
    }
}

/// Two states to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenSides {
    /// The earlier one.
    pub from: ChosenSide,
    /// The later one.
    pub to: ChosenSide,
    /// What is pinned there in place of what site definitions pin.
    pub(crate) bumps: Vec<Bump>,
    /// Why these.
    pub chosen: Chosen,
}

impl ChosenSides {
    fn new(code: &'static str, from: ChosenSide, to: ChosenSide) -> Self {
        let sentence = format!("{from} against {to}");
        Self { from, to, bumps: Vec::new(), chosen: Chosen { code, sentence } }
    }

    fn bumped(bumps: &[Bump]) -> Self {
        let words: Vec<String> = bumps.iter().map(ToString::to_string).collect();
        let sentence = format!("the working tree against itself with {}", words.join(", "));
        let (from, to, bumps) = (ChosenSide::WorkTree, ChosenSide::WorkTree, bumps.to_vec());
        Self { from, to, bumps, chosen: Chosen { code: "bump", sentence } }
    }
}

/// Why two sides were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// For programs; stable, such as `since` or `github-push`.
    pub code: &'static str,
    /// For people, such as `merge-base of main and HEAD against the working
    /// tree`.
    pub sentence: String,
}

/// Which two states are to be compared; none where nothing asks for it.
///
/// # Errors
/// Where flags mean nothing together, a revision names no commit, or history
/// is missing; the help says what brings it.
pub fn choose(
    repository: &Repository,
    wanted: &SideSelection,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    refuse_contradiction(wanted)?;
    let sides = match wanted {
        SideSelection { since: Some(revision), merge_base, .. } => {
            Some(since(repository, revision, *merge_base)?)
        }
        SideSelection { from: Some(from), to, .. } => {
            Some(from_to(repository, from, to.as_deref())?)
        }
        SideSelection { staged: true, .. } => Some(staged(repository, "staged")?),
        SideSelection { auto: true, .. } => detect::sides(repository, environment)?,
        SideSelection { bumps, .. } if !bumps.is_empty() => Some(ChosenSides::bumped(bumps)),
        _ => None,
    };
    if let Some(sides) = &sides {
        refuse_bare(repository, sides)?;
    }
    Ok(sides)
}

/// The files of one side.
///
/// # Errors
/// Where it cannot be read whole.
pub(crate) fn open(
    repository: &Repository,
    side: &ChosenSide,
) -> Result<Box<dyn Tree + Send>, Error> {
    Ok(match side {
        ChosenSide::Commit { id, .. } => Box::new(repository.commit(id)?),
        ChosenSide::Nothing => Box::new(MemoryTree::default()),
        ChosenSide::Index => Box::new(repository.index()?),
        ChosenSide::WorkTree => Box::new(WorkTree::compared(repository)?),
    })
}

fn refuse_contradiction(wanted: &SideSelection) -> Result<(), Error> {
    let is_bumped = !wanted.bumps.is_empty();
    let given =
        [wanted.since.is_some(), wanted.staged, wanted.from.is_some(), wanted.auto, is_bumped];
    let refusal = if given.into_iter().filter(|given| *given).count() > 1 {
        "only one of `--since`, `--staged`, `--from`, `--bump` and `--auto` can say what is compared"
    } else if wanted.to.is_some() && wanted.from.is_none() {
        "`--to` needs `--from`: with what is it to be compared?"
    } else if wanted.merge_base == MergeBase::Skip && wanted.since.is_none() {
        "`--no-merge-base` needs `--since`"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Usage, refusal))
}

fn refuse_bare(repository: &Repository, sides: &ChosenSides) -> Result<(), Error> {
    let is_stored = |side: &ChosenSide| match side {
        ChosenSide::Commit { .. } | ChosenSide::Nothing => true,
        ChosenSide::Index | ChosenSide::WorkTree => false,
    };
    if repository.work_tree_root().is_some() || (is_stored(&sides.from) && is_stored(&sides.to)) {
        return Ok(());
    }
    let message = format!(
        "this is a bare repository: it has no working tree and no index, so {} is impossible",
        sides.chosen.sentence
    );
    let help = "compare two revisions: `--from REV --to REV`";
    Err(Error::new(ErrorKind::Usage, message).with_help(help))
}

fn since(repository: &Repository, revision: &str, base: MergeBase) -> Result<ChosenSides, Error> {
    let from = match base {
        MergeBase::Use => common(repository, revision, "HEAD")?,
        MergeBase::Skip => commit(repository, revision, revision)?,
    };
    Ok(ChosenSides::new("since", from, ChosenSide::WorkTree))
}

fn from_to(repository: &Repository, from: &str, to: Option<&str>) -> Result<ChosenSides, Error> {
    let to = match to {
        None | Some("worktree") => ChosenSide::WorkTree,
        Some("index") => ChosenSide::Index,
        Some(revision) => commit(repository, revision, revision)?,
    };
    Ok(ChosenSides::new("from-to", commit(repository, from, from)?, to))
}

/// What the next commit changes. Before the first one there is nothing, as git
/// itself has it in `git diff --staged`.
fn staged(repository: &Repository, code: &'static str) -> Result<ChosenSides, Error> {
    let before = if repository.is_unborn() {
        ChosenSide::Nothing
    } else {
        commit(repository, "HEAD", "HEAD")?
    };
    Ok(ChosenSides::new(code, before, ChosenSide::Index))
}

/// The commit that `revision` names, under the name that says what it is for.
fn commit(repository: &Repository, revision: &str, name: &str) -> Result<ChosenSide, Error> {
    Ok(ChosenSide::Commit { id: repository.resolve(revision)?, name: name.to_owned() })
}

/// Where two histories part.
fn common(repository: &Repository, one: &str, other: &str) -> Result<ChosenSide, Error> {
    let Some(id) = repository.merge_base(one, other)? else {
        let message = format!("`{one}` and `{other}` have no commit in common");
        let revision = shell_word(one);
        let help = format!("`--since {revision} --no-merge-base` compares with `{one}` itself");
        return Err(Error::new(ErrorKind::Git, message).with_help(help));
    };
    let name =
        if one == other { one.to_owned() } else { format!("merge-base of {one} and {other}") };
    Ok(ChosenSide::Commit { id, name })
}
