//! Which commits changed the values of an output, for people and for programs.

mod data;
mod text;

use std::sync::Arc;

pub use self::data::{write_blame_json, write_porcelain};
pub(super) use self::text::{commit_words, short_id};
pub use self::text::{write, write_end, write_steps};
use crate::compare::Hop;
use crate::edit::{Edit, EditId};
use crate::source::{DocKey, LoggedCommit, Span};
use crate::yaml::Node;
use crate::yaml::path::Location;

/// Commits that changed values of a site's outputs.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The site; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// The commits that are named, newest first.
    pub commits: Vec<BlamedCommit>,
    /// What was asked for.
    pub answer: BlameAnswer,
    /// Commits that cannot be rendered and were passed over, with what is in the way.
    pub unusable: Vec<(usize, Option<Span>)>,
    /// Whether it was ended before all was found.
    pub is_partial: bool,
    /// The command that brings the commits which this clone lacks.
    pub unshallow: Option<String>,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub enum BlameAnswer {
    /// All values of these outputs.
    Outputs(Vec<BlamedOutput>),
    /// All that one value was.
    Value(ValueHistory),
    /// Findings, with the commits that brought them.
    Findings(Vec<BlamedFinding>),
    /// Texts, with the commits since which they reach a value, or do not.
    Texts(Vec<TextHistory>),
}

/// A finding, and the commit that brought it.
#[derive(Clone, Debug)]
pub struct BlamedFinding {
    /// The name of the rule.
    pub rule: &'static str,
    /// What it says.
    pub message: String,
    /// Where it is.
    pub at: Span,
    /// The commit; none if it was not found.
    pub change: Option<BlamedChange>,
}

/// A text, and since when it reaches a value or does not.
#[derive(Clone, Debug)]
pub struct TextHistory {
    /// The document of the text.
    pub document: DocKey,
    /// Where in that document it is.
    pub place: String,
    /// The text.
    pub at: Span,
    /// The output.
    pub output: DocKey,
    /// The value.
    pub output_place: String,
    /// Whether it reaches the value now.
    pub reach: ReachState,
    /// Newest first.
    pub steps: Vec<ReachStep>,
}

/// Whether a text reaches a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachState {
    /// It does.
    Reaches,
    /// It is stopped; why.
    Stopped(String),
    /// It is not written.
    NoText,
    /// There is no such output.
    NoOutput,
}

/// A commit since which a text reaches a value, or does not.
#[derive(Clone, Debug)]
pub struct ReachStep {
    /// The commit.
    pub change: BlamedChange,
    /// What was before it; none if that is not known.
    pub before: Option<ReachState>,
    /// What was from then on.
    pub after: ReachState,
}

/// A commit, or the working tree, and the site in it.
#[derive(Clone, Debug)]
pub struct BlamedCommit {
    /// None for the working tree.
    pub commit: Option<LoggedCommit>,
    /// The name of the site there.
    pub site: Option<Arc<str>>,
}

/// An output with the commits of its values.
#[derive(Clone, Debug)]
pub struct BlamedOutput {
    /// The document.
    pub document: DocKey,
    /// Its text.
    pub at: Span,
    /// What is rendered.
    pub data: Node,
    /// The commit that last changed anything in it; none if that is not known.
    pub last: Option<usize>,
    /// Its values.
    pub values: Vec<BlamedValue>,
    /// What is said of the commits that changed them.
    pub changes: Vec<BlamedChange>,
    /// Whether it has more values.
    pub is_cut: bool,
}

/// A value, and what made it what it is.
#[derive(Clone, Debug)]
pub struct BlamedValue {
    /// Where it is.
    pub place: Location,
    /// Index among the changes of the output; none if it was not found.
    pub change: Option<usize>,
}

/// All that one value was.
#[derive(Clone, Debug)]
pub struct ValueHistory {
    /// The document.
    pub document: DocKey,
    /// Where the value is in it.
    pub place: Location,
    /// What is there now.
    pub value: Option<Node>,
    /// All of the output.
    pub(crate) data: Node,
    /// Newest first.
    pub steps: Vec<ValueStep>,
    /// The text that the value was, if only commits that made it so, or another, are listed.
    pub when: Option<String>,
}

/// A commit that made a value another.
#[derive(Clone, Debug)]
pub struct ValueStep {
    /// The commit.
    pub change: BlamedChange,
    /// What was there.
    pub before: Option<Node>,
    /// What was there from then on.
    pub after: Option<Node>,
}

/// A commit as far as it changed an output.
#[derive(Clone, Debug)]
pub struct BlamedChange {
    /// Index of the commit.
    pub commit: usize,
    /// Why it is this commit.
    pub end: BlameEnd,
    /// Commits between it and the one before it that cannot be rendered: it may have been one of
    /// these.
    pub passed_over: Vec<usize>,
    /// Whether it touched the file of the output's document.
    pub touched: bool,
    /// The name of the output before, if that is another.
    pub renamed_from: Option<DocKey>,
    /// The edits.
    pub causes: Vec<BlameCause>,
    /// The commits of further repositories in which they are, if the site is made of other commits
    /// of these from then on.
    pub further: Vec<FurtherCommit>,
}

/// A commit of a further repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FurtherCommit {
    /// The name under which the repository was given.
    pub repository: Arc<str>,
    /// The commit.
    pub commit: LoggedCommit,
}

/// An edit that changed a value, and the way from it to the output.
#[derive(Clone, Debug)]
pub struct BlameCause {
    /// The number of the edit among those of its commit.
    pub(crate) id: EditId,
    pub(crate) edit: Edit,
    /// Whether it is in the file of the output's document.
    pub(crate) is_in_own_file: bool,
    pub(crate) route: Vec<Hop>,
}

/// Why a value belongs to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlameEnd {
    /// It is another one before.
    Changed,
    /// There is no such site before.
    SiteAdded,
    /// It is the first commit.
    First,
    /// This clone lacks what came before.
    Cut,
    /// What came before was not asked for.
    Beyond,
}

impl BlameEnd {
    /// The word reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            BlameEnd::Changed => "changed",
            BlameEnd::SiteAdded => "site-added",
            BlameEnd::First => "first-commit",
            BlameEnd::Cut => "shallow",
            BlameEnd::Beyond => "since",
        }
    }
}

impl Blame {
    /// Whether something ends where this clone does.
    pub fn is_cut(&self) -> bool {
        let is_cut = |change: &BlamedChange| change.end == BlameEnd::Cut;
        match &self.answer {
            BlameAnswer::Outputs(outputs) => {
                outputs.iter().any(|output| output.changes.iter().any(is_cut))
            }
            BlameAnswer::Value(history) => history.steps.iter().any(|step| is_cut(&step.change)),
            BlameAnswer::Findings(findings) => {
                findings.iter().any(|finding| finding.change.as_ref().is_some_and(is_cut))
            }
            BlameAnswer::Texts(texts) => {
                texts.iter().any(|text| text.steps.iter().any(|step| is_cut(&step.change)))
            }
        }
    }
}

impl ReachState {
    /// In words.
    pub(crate) fn words(&self) -> String {
        match self {
            ReachState::Reaches => "reaches the value".to_owned(),
            ReachState::Stopped(why) => format!("does not reach it: {why}"),
            ReachState::NoText => "is not written".to_owned(),
            ReachState::NoOutput => "there is no such output".to_owned(),
        }
    }
}

impl BlamedOutput {
    /// What made the value at an index what it is.
    fn change_of(&self, index: usize) -> Option<&BlamedChange> {
        Some(&self.changes[self.values.get(index)?.change?])
    }

    /// What the commit that last changed anything did.
    fn last_change(&self) -> Option<&BlamedChange> {
        self.changes.iter().find(|change| Some(change.commit) == self.last)
    }
}

impl ValueStep {
    /// Whether the value was secret, or is: neither may be shown.
    pub(crate) fn is_secret(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(|value| value.secret)
    }
}
