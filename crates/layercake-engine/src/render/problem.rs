//! Problems found while documents are rendered, nested by the operation that found them.

use layercake_source::Span;
use layercake_yaml::path::WalkError;

use super::SizeLimit;
use crate::graph::{DocId, Edge};
use crate::merge::deckhand::{Difference, Method};
use crate::merge::pattern::PatternFailure;
use crate::merge::{Failure, Notice};

/// Problem found while a document was rendered.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The document.
    pub doc: DocId,
    /// Span of the text to fix: of the step, or of a part of it.
    pub at: Span,
    /// Kind of the problem.
    pub kind: ProblemKind,
}

/// The kinds of [`Problem`].
#[derive(Clone, Debug)]
pub enum ProblemKind {
    /// Documents depend on each other in a cycle.
    Cycle(Vec<Edge>),
    /// Problem of an action, which merges the document's own data.
    Action(ActionProblem),
    /// Problem of a substitution.
    Substitution(SubstitutionProblem),
    /// Problem of merging another whole document.
    Combine(CombineProblem),
    /// The document grew beyond a limit.
    OverLimit(SizeLimit),
    /// Layering copies more entries than [`MAX_COPIES`](super::MAX_COPIES) allows.
    TooManyCopies,
    /// A bug in layercake prevented the rendering.
    Failed,
}

/// Problem of an action.
#[derive(Clone, Debug)]
pub enum ActionProblem {
    /// The path is missing, or its value is null.
    MissingPath(MissingActionPath),
    /// The path cannot be followed or written.
    Path {
        /// Action at the path.
        method: Method,
        /// Reason.
        error: WalkError,
    },
    /// The action has different results in the two semantics.
    Different {
        /// Kind of the action.
        method: Method,
        /// Difference of the results.
        difference: Difference,
    },
}

/// Path of an action that is missing, or whose value is null.
#[derive(Clone, Debug)]
pub struct MissingActionPath {
    /// Action at the path.
    pub method: Method,
    /// Path as written.
    pub path: String,
    /// Whether the parent lacks it, instead of the child.
    pub in_parent: bool,
    /// An existing key with a similar name.
    pub near: Option<String>,
}

/// Problem of a substitution.
#[derive(Clone, Debug)]
pub enum SubstitutionProblem {
    /// The source document has no value or null at the path.
    MissingValue(MissingValue),
    /// The substitution cannot be applied.
    Invalid(InvalidSubstitution),
    /// A path is ignored because the data of the source document is not a mapping.
    IgnoredSourcePath {
        /// The source document.
        source: DocId,
        /// Path as written.
        path: String,
    },
    /// A source pattern does not match, so the whole string is used.
    UnmatchedSourcePattern {
        /// The string.
        value: Span,
    },
    /// A destination pattern has no value at its path.
    MissingPatternTarget {
        /// Path as written.
        path: String,
        /// An existing key with a similar name.
        near: Option<String>,
        /// Whether Deckhand's code accepts that: it searches below the mapping that it creates.
        is_accepted: bool,
        /// Whether Deckhand's code leaves an empty mapping there.
        is_created: bool,
    },
    /// A destination pattern does not match, so the value is kept.
    UnmatchedPattern {
        /// The searched value.
        target: Span,
    },
    /// A list is written to an element of a destination list (10.5).
    DifferentListWrite,
    /// A recursive pattern matches other strings in Deckhand's code than in its documentation
    /// (D13).
    DifferentRecursion {
        /// A string that only one of them changes.
        text: Span,
    },
    /// A pattern inserts a value with backslashes (12.4).
    BackslashInPatternValue {
        /// The value.
        value: Span,
        /// Whether Deckhand's code rejects the value instead of changing it.
        refused: bool,
    },
    /// A pattern inserts a value that is not a string (12.4).
    DifferentPatternText {
        /// The value.
        value: Span,
        /// The inserted strings; `None` if the value is secret.
        texts: Option<PatternTexts>,
    },
    /// A pattern search exceeds the cost limits, or Deckhand's code rejects the template.
    PatternFailure(PatternFailure),
}

/// Value that a substitution does not find, or finds as null.
#[derive(Clone, Debug)]
pub struct MissingValue {
    /// The source document.
    pub source: DocId,
    /// Path as written.
    pub path: String,
    /// The null value at the path.
    pub null: Option<Span>,
    /// An existing key with a similar name.
    pub near: Option<String>,
}

/// Reason why a substitution cannot be applied.
#[derive(Clone, Debug)]
pub enum InvalidSubstitution {
    /// A source path cannot be followed.
    SourcePath {
        /// The source document.
        source: DocId,
        /// Reason.
        error: WalkError,
    },
    /// A source pattern is applied to a value that is not a string.
    SourceNotText {
        /// The value.
        value: Span,
        /// Kind of the value.
        found: &'static str,
    },
    /// A source pattern lacks the requested group.
    MissingGroup {
        /// The requested group.
        group: i64,
    },
    /// A value cannot be written to its destination.
    DestinationPath(WalkError),
    /// An empty value is written to the root (`deckhand.md` 12.4).
    EmptyRoot,
    /// A destination pattern is applied to a value that it cannot search.
    PatternTargetType {
        /// The value.
        target: Span,
        /// Kind of the value.
        found: &'static str,
        /// Whether a search below the path would find strings.
        container: bool,
    },
}

/// Strings that a pattern inserts for a value that is not a string.
#[derive(Clone, Debug)]
pub struct PatternTexts {
    /// Kind of the value.
    pub found: &'static str,
    /// Inserted string according to the documentation.
    pub documented: String,
    /// String that Deckhand's code inserts.
    pub deckhand: String,
}

/// Problem of merging another whole document.
#[derive(Clone, Debug)]
pub enum CombineProblem {
    /// The document could not be merged and is skipped.
    NotMerged {
        /// The document.
        source: DocId,
        /// Reason.
        failure: Failure,
    },
    /// The document was merged, with a possibly unintended effect.
    Laid {
        /// The document.
        source: DocId,
        /// The effect.
        notice: Notice,
    },
}

impl From<ActionProblem> for ProblemKind {
    fn from(problem: ActionProblem) -> Self {
        Self::Action(problem)
    }
}

impl From<MissingActionPath> for ProblemKind {
    fn from(missing: MissingActionPath) -> Self {
        Self::Action(ActionProblem::MissingPath(missing))
    }
}

impl From<SubstitutionProblem> for ProblemKind {
    fn from(problem: SubstitutionProblem) -> Self {
        Self::Substitution(problem)
    }
}

impl From<InvalidSubstitution> for ProblemKind {
    fn from(invalid: InvalidSubstitution) -> Self {
        Self::Substitution(SubstitutionProblem::Invalid(invalid))
    }
}

impl From<CombineProblem> for ProblemKind {
    fn from(problem: CombineProblem) -> Self {
        Self::Combine(problem)
    }
}
