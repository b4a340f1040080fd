//! A comparison as the verbs hand it over to be reported: what changed, and
//! which two sides were compared. How sides are chosen is not known here.

use std::time::Duration;

use super::ChosenSemantics;
use crate::compare::reach::Comparison;
use crate::triage;

/// A comparison, and what is said beside it.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// What changed.
    pub comparison: &'a Comparison,
    /// What was compared.
    pub sides: &'a Sides,
    /// The findings of both sides; none where nobody asked for them.
    pub findings: Option<&'a triage::Compared>,
    /// How many documents the head side renders to, in all sites.
    pub outputs: usize,
    /// The meaning of documents, unless a saved report does not name it.
    pub semantics: Option<ChosenSemantics>,
    /// How long it took.
    pub timing: Timing,
}

/// The two sides of a comparison, and why it is these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// What people call the repository: the name of its folder. Empty where
    /// that is not known, as of a saved report.
    pub repository: String,
    /// Its path in the repository that it is inside of, if it is nested in one.
    pub nested_at: Option<String>,
    /// The base.
    pub from: SideText,
    /// The head.
    pub to: SideText,
    /// How they were chosen, for programs: a word such as `since`, which
    /// stays the same in later versions.
    pub chosen_by: String,
    /// How they were chosen, for people, e.g. `merge-base of main and HEAD`.
    pub reason: String,
    /// Whether the repository holds only part of its history.
    pub shallow: bool,
    /// How many files differ between the sides.
    pub edited_files: usize,
    /// Whether all that differs is told.
    pub extent: Extent,
}

/// How much of what differs is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// What concerns the sites or files that were asked for.
    Asked,
}

impl Sides {
    /// Whether nothing was there before, so that there are no edits and all findings are new.
    pub fn is_first(&self) -> bool {
        self.from.kind == SideKind::Nothing
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideText {
    /// What its files were read from.
    pub kind: SideKind,
    /// The commit, in full; none where it is no commit.
    pub commit: Option<String>,
    /// The id of the tree of files, in full, where that is known.
    pub tree: Option<String>,
    /// What the user called it, e.g. `main`; empty where nobody named it.
    pub name: String,
}

/// What the files of a side were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideKind {
    /// A commit.
    Commit,
    /// Nothing: what was there before the first commit.
    Nothing,
    /// The index of git: what is staged.
    Index,
    /// The working tree.
    Worktree,
}

impl SideKind {
    /// The word reports for programs use.
    pub fn as_str(self) -> &'static str {
        match self {
            SideKind::Commit => "commit",
            SideKind::Nothing => "nothing",
            SideKind::Index => "index",
            SideKind::Worktree => "worktree",
        }
    }
}

/// How long the parts of a run took; none where a part was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// All of it.
    pub total: Option<Duration>,
    /// Reading files.
    pub read: Option<Duration>,
    /// Parsing them.
    pub parse: Option<Duration>,
    /// Rendering the sites.
    pub render: Option<Duration>,
    /// Finding what differs.
    pub diff: Option<Duration>,
    /// Finding the edits that caused it.
    pub attribute: Option<Duration>,
}
