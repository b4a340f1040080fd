//! The two sides of a comparison: which two states of a repository are
//! compared, and why these.
//!
//! Either flags say so, or, with `--auto`, the surroundings: a hook, a CI job,
//! a clone with a default branch (`detect.rs`). What is missing is an error
//! with the command that brings it. It is never taken for an empty side:
//! compared with nothing, everything would be new. Only where there truly was
//! nothing, before the first commit, is there [nothing](Side::Nothing) to
//! compare with.

mod detect;
mod reached;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use reached::Reached;

use super::repositories::Bump;
use crate::error::{Error, ErrorKind, shell_word};
use crate::source::{MemoryTree, Repository, Tree, WorkTree};

/// How the two sides are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Where HEAD parted from this revision, against the working tree.
    pub since: Option<String>,
    /// HEAD against the index.
    pub staged: bool,
    /// This revision, against [`to`](Wanted::to).
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
pub enum Side {
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

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::Commit { name, .. } => f.write_str(name),
            Side::Nothing => f.write_str("nothing"),
            Side::Index => f.write_str("the index"),
            Side::WorkTree => f.write_str("the working tree"),
        }
    }
}

/// Two states to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The earlier one.
    pub from: Side,
    /// The later one.
    pub to: Side,
    /// What is pinned there in place of what site definitions pin.
    pub bumps: Vec<Bump>,
    /// Why these.
    pub chosen: Chosen,
}

impl Sides {
    fn new(code: &'static str, from: Side, to: Side) -> Self {
        let sentence = format!("{from} against {to}");
        Self { from, to, bumps: Vec::new(), chosen: Chosen { code, sentence } }
    }

    fn bumped(bumps: &[Bump]) -> Self {
        let words: Vec<String> = bumps.iter().map(ToString::to_string).collect();
        let sentence = format!("the working tree against itself with {}", words.join(", "));
        let (from, to, bumps) = (Side::WorkTree, Side::WorkTree, bumps.to_vec());
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
    wanted: &Wanted,
    environment: &Environment,
) -> Result<Option<Sides>, Error> {
    refuse_contradiction(wanted)?;
    let sides = match wanted {
        Wanted { since: Some(revision), merge_base, .. } => {
            Some(since(repository, revision, *merge_base)?)
        }
        Wanted { from: Some(from), to, .. } => Some(from_to(repository, from, to.as_deref())?),
        Wanted { staged: true, .. } => Some(staged(repository, "staged")?),
        Wanted { auto: true, .. } => detect::sides(repository, environment)?,
        Wanted { bumps, .. } if !bumps.is_empty() => Some(Sides::bumped(bumps)),
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
pub fn open(repository: &Repository, side: &Side) -> Result<Box<dyn Tree + Send>, Error> {
    Ok(match side {
        Side::Commit { id, .. } => Box::new(repository.commit(id)?),
        Side::Nothing => Box::new(MemoryTree::default()),
        Side::Index => Box::new(repository.index()?),
        Side::WorkTree => Box::new(WorkTree::compared(repository)?),
    })
}

fn refuse_contradiction(wanted: &Wanted) -> Result<(), Error> {
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

fn refuse_bare(repository: &Repository, sides: &Sides) -> Result<(), Error> {
    let is_stored = |side: &Side| match side {
        Side::Commit { .. } | Side::Nothing => true,
        Side::Index | Side::WorkTree => false,
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

fn since(repository: &Repository, revision: &str, base: MergeBase) -> Result<Sides, Error> {
    let from = match base {
        MergeBase::Use => common(repository, revision, "HEAD")?,
        MergeBase::Skip => commit(repository, revision, revision)?,
    };
    Ok(Sides::new("since", from, Side::WorkTree))
}

fn from_to(repository: &Repository, from: &str, to: Option<&str>) -> Result<Sides, Error> {
    let to = match to {
        None | Some("worktree") => Side::WorkTree,
        Some("index") => Side::Index,
        Some(revision) => commit(repository, revision, revision)?,
    };
    Ok(Sides::new("from-to", commit(repository, from, from)?, to))
}

/// What the next commit changes. Before the first one there is nothing, as git
/// itself has it in `git diff --staged`.
fn staged(repository: &Repository, code: &'static str) -> Result<Sides, Error> {
    let before =
        if repository.is_unborn() { Side::Nothing } else { commit(repository, "HEAD", "HEAD")? };
    Ok(Sides::new(code, before, Side::Index))
}

/// The commit that `revision` names, under the name that says what it is for.
fn commit(repository: &Repository, revision: &str, name: &str) -> Result<Side, Error> {
    Ok(Side::Commit { id: repository.resolve(revision)?, name: name.to_owned() })
}

/// Where two histories part.
fn common(repository: &Repository, one: &str, other: &str) -> Result<Side, Error> {
    let Some(id) = repository.merge_base(one, other)? else {
        let message = format!("`{one}` and `{other}` have no commit in common");
        let revision = shell_word(one);
        let help = format!("`--since {revision} --no-merge-base` compares with `{one}` itself");
        return Err(Error::new(ErrorKind::Git, message).with_help(help));
    };
    let name =
        if one == other { one.to_owned() } else { format!("merge-base of {one} and {other}") };
    Ok(Side::Commit { id, name })
}
