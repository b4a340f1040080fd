//! The two sides of a comparison: the selected states of a repository, and the reason for their
//! choice.
//!
//! They are given by flags or, with `--auto`, detected from the environment: a hook, a CI job, a
//! clone with a default branch (`detect.rs`). Missing history is an error with the command to fetch
//! it. It is never treated as an empty side, because then everything would be new. Only before the
//! first commit is there [nothing](ChosenSide::Nothing) to compare with.

mod detect;
mod reached;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use reached::{ReachedByEdits, listed};

use super::repositories::Bump;
use crate::error::{Error, shell_word};
use crate::source::{MemoryTree, Repository, SharedTree, WorkTree};

/// Selection of the two sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideSelection {
    /// Compare the working tree with the merge base of this revision and HEAD.
    pub since: Option<String>,
    /// Compare the index with HEAD.
    pub staged: bool,
    /// Compare this revision with [`to`](SideSelection::to).
    pub from: Option<String>,
    /// A revision, `worktree` or `index`; the working tree if `None`.
    pub to: Option<String>,
    /// Whether `since` means the merge base.
    pub merge_base: MergeBase,
    /// Detect the sides from the environment.
    pub auto: bool,
    /// Compare the working tree with itself with these pins.
    pub bumps: Vec<Bump>,
}

impl SideSelection {
    /// This selection, or the working tree against HEAD if nothing is selected.
    #[must_use]
    pub fn or_from_head(self) -> Self {
        if self != Self::default() {
            return self;
        }
        Self {
            from: Some("HEAD".to_owned()),
            ..self
        }
    }
}

/// Two revisions written as one word, `A..B` or `A...B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Earlier revision.
    pub from: String,
    /// Later revision.
    pub to: String,
    /// Whether the merge base of both is meant by the earlier one: `A...B`.
    pub merge_base: MergeBase,
}

impl Range {
    /// Parses a range, in which a missing revision is `HEAD`; `None` for one revision or a path.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to, merge_base) = match text.split_once("...") {
            Some((from, to)) => (from, to, MergeBase::Use),
            None => text
                .split_once("..")
                .map(|(from, to)| (from, to, MergeBase::Skip))?,
        };
        let is_path = from.ends_with('/') || to.starts_with(['/', '.']) || to.contains("..");
        let is_empty = from.is_empty() && to.is_empty();
        let or_head = |end: &str| if end.is_empty() { "HEAD" } else { end }.to_owned();
        (!is_path && !is_empty).then(|| Self {
            from: or_head(from),
            to: or_head(to),
            merge_base,
        })
    }

    /// The two sides. With `since`, the earlier one is always the merge base.
    fn sides(&self, repository: &Repository, since: MergeBase) -> Result<ChosenSides, Error> {
        let from = match (self.merge_base, since) {
            (MergeBase::Skip, MergeBase::Skip) => commit(repository, &self.from, &self.from)?,
            (MergeBase::Use, _) | (_, MergeBase::Use) => common(repository, &self.from, &self.to)?,
        };
        Ok(ChosenSides::new(
            "from-to",
            from,
            commit(repository, &self.to, &self.to)?,
        ))
    }
}

/// Whether the merge base of a revision with HEAD is used in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeBase {
    /// The merge base.
    #[default]
    Use,
    /// The revision itself.
    Skip,
}

/// Environment for `--auto`.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables by name; only [`Environment::VARIABLES`] are read.
    pub variables: BTreeMap<String, String>,
    /// Content of the file that `GITHUB_EVENT_PATH` names, if it is set.
    pub event: Option<String>,
    /// Configured base revision, if any.
    pub base: Option<String>,
}

impl Environment {
    /// Names of all variables that are read.
    pub const VARIABLES: &[&str] = detect::VARIABLES;

    /// Value of a variable; an empty one counts as not set.
    fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(Self::VARIABLES.contains(&name), "{name} is not read");
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// One state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenSide {
    /// A commit.
    Commit {
        /// Full id.
        id: String,
        /// Name for messages, such as `main` or `merge-base of main and HEAD`.
        name: String,
    },
    /// No files: the state before the first commit.
    Nothing,
    /// The index.
    Index,
    /// Files on disk.
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

/// Two states to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenSides {
    /// Earlier side.
    pub from: ChosenSide,
    /// Later side.
    pub to: ChosenSide,
    /// Revisions that replace pins of site definitions.
    pub(crate) bumps: Vec<Bump>,
    /// Reason for the choice.
    pub chosen: Chosen,
}

impl ChosenSides {
    fn new(code: &'static str, from: ChosenSide, to: ChosenSide) -> Self {
        let sentence = format!("{from} against {to}");
        Self {
            from,
            to,
            bumps: Vec::new(),
            chosen: Chosen { code, sentence },
        }
    }

    fn bumped(bumps: &[Bump]) -> Self {
        let words: Vec<String> = bumps.iter().map(ToString::to_string).collect();
        let sentence = format!("the working tree against itself with {}", words.join(", "));
        let (from, to, bumps) = (ChosenSide::WorkTree, ChosenSide::WorkTree, bumps.to_vec());
        Self {
            from,
            to,
            bumps,
            chosen: Chosen {
                code: "bump",
                sentence,
            },
        }
    }
}

/// Reason for the choice of two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Stable code for programs, such as `since` or `github-push`.
    pub code: &'static str,
    /// Text for people, such as `merge-base of main and HEAD against the working tree`.
    pub sentence: String,
}

/// Determines the two states to compare; `None` if no comparison is requested.
///
/// # Errors
/// If flags conflict, a revision names no commit, or history is missing; the help says how to fetch
/// it.
pub fn choose(
    repository: &Repository,
    wanted: &SideSelection,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    refuse_contradiction(wanted)?;
    let sides = match wanted {
        SideSelection {
            since: Some(revision),
            merge_base,
            ..
        } => Some(since(repository, revision, *merge_base)?),
        SideSelection {
            from: Some(from),
            to,
            ..
        } => Some(from_to(repository, from, to.as_deref())?),
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

/// Opens the files of one side.
///
/// # Errors
/// If they cannot be read completely.
pub(crate) fn open(repository: &Repository, side: &ChosenSide) -> Result<SharedTree, Error> {
    Ok(match side {
        ChosenSide::Commit { id, .. } => Arc::new(repository.commit(id)?),
        ChosenSide::Nothing => Arc::new(MemoryTree::default()),
        ChosenSide::Index => Arc::new(repository.index()?),
        ChosenSide::WorkTree => Arc::new(WorkTree::compared(repository)?),
    })
}

fn refuse_contradiction(wanted: &SideSelection) -> Result<(), Error> {
    let is_bumped = !wanted.bumps.is_empty();
    let given = [
        wanted.since.is_some(),
        wanted.staged,
        wanted.from.is_some(),
        wanted.auto,
        is_bumped,
    ];
    let refusal = if given.into_iter().filter(|given| *given).count() > 1 {
        "only one of `--since`, `--staged`, `--from`, `--bump` and `--auto` can be used"
    } else if wanted.to.is_some() && wanted.from.is_none() {
        "`--to` needs `--from`"
    } else if wanted.merge_base == MergeBase::Skip && wanted.since.is_none() {
        "`--no-merge-base` needs `--since`"
    } else {
        return Ok(());
    };
    Err(Error::usage(refusal))
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
        "this is a bare repository: it has no working tree and no index, so {} is not possible",
        sides.chosen.sentence
    );
    let help = "compare two revisions: `--from REV --to REV`";
    Err(Error::usage(message).with_help(help))
}

fn since(repository: &Repository, revision: &str, base: MergeBase) -> Result<ChosenSides, Error> {
    if let Some(range) = Range::parse(revision) {
        return range.sides(repository, base);
    }
    let from = match base {
        MergeBase::Use => common(repository, revision, "HEAD")?,
        MergeBase::Skip => commit(repository, revision, revision)?,
    };
    Ok(ChosenSides::new("since", from, ChosenSide::WorkTree))
}

fn from_to(repository: &Repository, from: &str, to: Option<&str>) -> Result<ChosenSides, Error> {
    if let (Some(range), None) = (Range::parse(from), to) {
        return range.sides(repository, MergeBase::Skip);
    }
    let to = match to {
        None | Some("worktree") => ChosenSide::WorkTree,
        Some("index") => ChosenSide::Index,
        Some(revision) => commit(repository, revision, revision)?,
    };
    Ok(ChosenSides::new(
        "from-to",
        commit(repository, from, from)?,
        to,
    ))
}

/// Sides for the next commit. Before the first commit the base is empty, as in `git diff --staged`.
fn staged(repository: &Repository, code: &'static str) -> Result<ChosenSides, Error> {
    let before = if repository.is_unborn() {
        ChosenSide::Nothing
    } else {
        commit(repository, "HEAD", "HEAD")?
    };
    Ok(ChosenSides::new(code, before, ChosenSide::Index))
}

/// The commit that `revision` names. `name` describes it in messages.
fn commit(repository: &Repository, revision: &str, name: &str) -> Result<ChosenSide, Error> {
    Ok(ChosenSide::Commit {
        id: repository.resolve(revision)?,
        name: name.to_owned(),
    })
}

/// Merge base of two histories.
fn common(repository: &Repository, one: &str, other: &str) -> Result<ChosenSide, Error> {
    let Some(id) = repository.merge_base(one, other)? else {
        let message = format!("`{one}` and `{other}` have no commit in common");
        let revision = shell_word(one);
        let help =
            format!("pass `--since {revision} --no-merge-base` to compare with `{one}` itself");
        return Err(Error::git(message).with_help(help));
    };
    let name = if one == other {
        one.to_owned()
    } else {
        format!("merge-base of {one} and {other}")
    };
    Ok(ChosenSide::Commit { id, name })
}
