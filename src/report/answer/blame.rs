//! Commits that changed the values of an output: human-readable, porcelain and JSON.

mod data;
mod leaves;
mod text;

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

pub use self::data::{write_blame_json, write_porcelain};
pub(super) use self::text::{describe_commit, short_id};
pub use self::text::{write, write_end, write_steps};
use crate::compare::Hop;
use crate::edit::{Edit, EditId};
use crate::report::answer::log::LogEnd;
use crate::report::answer::provenance::ReachState;
use crate::source::{DocKey, LoggedCommit, Span};
use crate::yaml::diff::ListKeys;
use crate::yaml::path::Location;
use crate::yaml::{Node, Value};

/// Result of `blame` for one site: commits that changed values of its outputs.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    /// Commits that the answer refers to, newest first.
    pub commits: Vec<BlamedCommit>,
    /// Answer to the query.
    pub answer: BlameAnswer,
    /// Skipped commits that cannot be rendered, each with the place of the error.
    pub unusable: Vec<(usize, Option<Span>)>,
    /// Whether the search found everything.
    pub end: LogEnd,
    /// Command that fetches the commits missing from this clone.
    pub unshallow: Option<String>,
}

/// Answer to the query.
#[derive(Clone, Debug)]
pub enum BlameAnswer {
    /// All values of these outputs.
    Outputs(Vec<BlamedOutput>),
    /// History of one value.
    Value(ValueHistory),
    /// Findings, with the commits that introduced them.
    Findings(Vec<BlamedFinding>),
    /// Source values, with the commits that changed whether they reach an output value.
    Texts(Vec<TextHistory>),
}

/// A finding and the commit that introduced it.
#[derive(Clone, Debug, Serialize)]
pub struct BlamedFinding<At = Span, C = Arc<BlameCause>> {
    /// Name of the rule.
    pub rule: &'static str,
    /// Message of the finding.
    pub message: String,
    /// Source location.
    pub at: At,
    /// Commit that introduced it; `None` if it was not found.
    pub change: Option<BlamedChange<C>>,
}

/// History of whether a source value reaches an output value.
#[derive(Clone, Debug, Serialize)]
pub struct TextHistory<At = Span, C = Arc<BlameCause>> {
    /// Document that contains the source value.
    pub document: DocKey,
    /// Path of the source value in `document`.
    #[serde(rename = "path")]
    pub place: String,
    /// Place of the source value.
    pub at: At,
    /// Current state.
    #[serde(flatten, serialize_with = "reach_state")]
    pub reach: ReachState,
    /// Changes, newest first.
    #[serde(rename = "history")]
    pub steps: Vec<ReachStep<C>>,
}

/// A commit that changed whether a source value reaches an output value.
#[derive(Clone, Debug, Serialize)]
pub struct ReachStep<C = Arc<BlameCause>> {
    /// The commit and its effect.
    #[serde(flatten)]
    pub change: BlamedChange<C>,
    /// State before the commit; `None` if unknown.
    pub before: Option<ReachState>,
    /// State from this commit on.
    pub after: ReachState,
}

/// A commit, or the working tree, and the name of the site in it.
#[derive(Clone, Debug)]
pub struct BlamedCommit {
    /// The commit; `None` for the working tree.
    pub commit: Option<LoggedCommit>,
    /// Name of the site in this commit.
    pub site: Option<Arc<str>>,
}

/// An output with the commit of each of its values.
#[derive(Clone, Debug)]
pub struct BlamedOutput {
    /// The document.
    pub document: DocKey,
    /// Span of the document.
    pub at: Span,
    /// Rendered data.
    pub data: Node,
    /// Index of the last commit that changed the output; `None` if unknown.
    pub last: Option<usize>,
    /// Values of the output, with their changes.
    pub values: Vec<BlamedValue>,
    /// Changes to the output, one for each commit.
    pub changes: Vec<BlamedChange>,
    /// Whether the output has more values than `values`.
    pub is_cut: bool,
}

/// A value and the change that set it.
#[derive(Clone, Debug)]
pub struct BlamedValue {
    /// Path of the value.
    pub place: Arc<Location>,
    /// Index into the output's `changes`; `None` if no commit was found.
    pub change: Option<usize>,
}

/// History of one value.
#[derive(Clone, Debug)]
pub struct ValueHistory {
    /// The document.
    pub document: DocKey,
    /// Path of the value in the document.
    pub place: Location,
    /// Current value.
    pub value: Option<Node>,
    /// Rendered data of the whole output.
    pub(crate) data: Node,
    /// Keys that identify items of lists inside of the value.
    pub(crate) keys: Arc<ListKeys>,
    /// Changes, newest first.
    pub steps: Vec<ValueStep>,
    /// Value filter: only commits that changed the value to or from this text are listed.
    pub when: Option<String>,
}

/// A commit that changed a value.
#[derive(Clone, Debug)]
pub struct ValueStep {
    /// The commit and its effect.
    pub change: BlamedChange,
    /// Value before the commit.
    pub before: Option<Node>,
    /// Value from this commit on.
    pub after: Option<Node>,
}

/// The change that a commit made to an output.
#[derive(Clone, Debug, Serialize)]
pub struct BlamedChange<C = Arc<BlameCause>> {
    /// Index into [`Blame::commits`].
    pub commit: usize,
    /// Reason why the search ended at this commit.
    pub end: BlameEnd,
    /// Whether the commit touched the file of the output's document.
    #[serde(rename = "own_file")]
    pub touched: bool,
    /// Indices of skipped commits before this one that cannot be rendered; the change may have
    /// happened in one of them.
    pub passed_over: Vec<usize>,
    /// Previous name of the output, if the commit renamed it.
    pub renamed_from: Option<DocKey>,
    /// Edits that caused the change.
    #[serde(rename = "edits")]
    pub causes: Vec<C>,
    /// Commits of further repositories that contain the edits, if this commit changed a pinned
    /// revision.
    pub further: Vec<FurtherCommit>,
}

/// A commit of a further repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FurtherCommit {
    /// Name of the repository.
    pub repository: Arc<str>,
    /// The commit.
    #[serde(flatten)]
    pub commit: LoggedCommit,
}

/// An edit that changed a value, with its route to the output.
#[derive(Clone, Debug)]
pub struct BlameCause {
    /// Index of the edit among the edits of its commit.
    pub(crate) id: EditId,
    pub(crate) edit: Arc<Edit>,
    /// Whether the edit is in the file of the output's document.
    pub(crate) is_in_own_file: bool,
    pub(crate) route: Arc<[Hop]>,
}

/// Reason why a value is attributed to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlameEnd {
    /// The value was different before this commit.
    Changed,
    /// The site did not exist before this commit.
    SiteAdded,
    /// This is the first commit.
    First,
    /// This is the oldest commit of a shallow clone.
    Cut,
    /// Earlier commits were excluded by the user.
    Excluded,
}

/// Name in JSON and porcelain output.
impl Display for BlameEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlameEnd::Changed => "changed",
            BlameEnd::SiteAdded => "site-added",
            BlameEnd::First => "first-commit",
            BlameEnd::Cut => "shallow",
            BlameEnd::Excluded => "since",
        })
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn reach_state<S: Serializer>(reach: &ReachState, serializer: S) -> Result<S::Ok, S::Error> {
    let mut form = serializer.serialize_struct("ReachState", 2)?;
    form.serialize_field("reaches", &(*reach == ReachState::Reaches))?;
    form.serialize_field("state", reach)?;
    form.end()
}

impl Blame {
    /// Whether any search ended at the boundary of a shallow clone.
    pub fn is_cut(&self) -> bool {
        let is_cut = |change: &BlamedChange| change.end == BlameEnd::Cut;
        match &self.answer {
            BlameAnswer::Outputs(outputs) => outputs
                .iter()
                .any(|output| output.changes.iter().any(is_cut)),
            BlameAnswer::Value(history) => history.steps.iter().any(|step| is_cut(&step.change)),
            BlameAnswer::Findings(findings) => findings
                .iter()
                .any(|finding| finding.change.as_ref().is_some_and(is_cut)),
            BlameAnswer::Texts(texts) => texts
                .iter()
                .any(|text| text.steps.iter().any(|step| is_cut(&step.change))),
        }
    }
}

impl BlamedOutput {
    /// Returns the change that set the value at `index`.
    fn change_of(&self, index: usize) -> Option<&BlamedChange> {
        Some(&self.changes[self.values.get(index)?.change?])
    }

    /// Returns the change of the last commit that changed the output.
    fn last_change(&self) -> Option<&BlamedChange> {
        self.changes
            .iter()
            .find(|change| Some(change.commit) == self.last)
    }
}

impl ValueStep {
    /// Whether the value is secret before or after the commit; then neither value may be shown.
    pub(crate) fn is_secret(&self) -> bool {
        [&self.before, &self.after]
            .into_iter()
            .flatten()
            .any(|value| value.secret)
    }

    /// Returns the values before and after the commit if both are mappings or lists.
    fn collections(&self) -> Option<[&Node; 2]> {
        let is_collection =
            |node: &&Node| matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        let sides = [&self.before, &self.after].map(|node| node.as_ref().filter(is_collection));
        let [Some(before), Some(after)] = sides else {
            return None;
        };
        (!self.is_secret()).then_some([before, after])
    }
}
