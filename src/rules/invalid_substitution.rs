//! `invalid-substitution`: a substitution that cannot be applied.

use super::{FileFacts, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::merge::pattern::PatternFailure;
use crate::render::{Problem, ProblemKind};
use crate::source::Span;
use crate::yaml::path::WalkError;

super::rule!("invalid-substitution", Error [Refused], "a substitution that cannot be applied", was "P005");

const SKIPPED: &str = "the substitution is skipped; Deckhand refuses the whole site";
const DESTINATION_SKIPPED: &str = "this destination is skipped; Deckhand refuses the whole site";

pub(super) fn word_depth(facts: &FileFacts<'_>, at: Span) -> Diagnostic {
    let message =
        format!("a substitution of `{}` has `recurse` without `depth`", facts.name_at(at));
    Diagnostic::new(&RULE, message, Label::new(at, "`depth` is missing"))
        .note("this destination is skipped; Deckhand refuses the whole site")
        .help("write `recurse: {depth: -1}`; a positive number limits how deep to look")
}

pub(super) fn word(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    use ProblemKind as Kind;
    match &problem.kind {
        Kind::SourcePath { source, error } => word_source_path(facts, problem, *source, error),
        Kind::SourceNotText { value, found } => word_source_kind(facts, problem, *value, found),
        Kind::MissingGroup { group } => word_group(facts, problem, *group),
        Kind::DestinationPath(error) => word_destination(facts, problem, error),
        Kind::EmptyRoot => word_empty_root(facts, problem),
        Kind::PatternTargetType { target, found, container } => {
            let diagnostic = word_target(facts, problem, *target, found);
            diagnostic.help(if *container {
                "add `recurse: {depth: -1}` to look in all strings below the path, or let the path \
                 lead to one"
            } else {
                "let the path lead to a string, or leave `dest.pattern` out to write the whole value"
            })
        }
        Kind::PatternFailure(PatternFailure::Template(_)) => word_template(facts, problem),
        Kind::PatternFailure(_)
        | Kind::Cycle(_)
        | Kind::MissingActionPath { .. }
        | Kind::ActionPath { .. }
        | Kind::DifferentAction { .. }
        | Kind::MissingValue { .. }
        | Kind::IgnoredSourcePath { .. }
        | Kind::UnmatchedSourcePattern { .. }
        | Kind::MissingPatternTarget { .. }
        | Kind::UnmatchedPattern { .. }
        | Kind::NotLaid { .. }
        | Kind::Laid { .. }
        | Kind::DifferentListWrite
        | Kind::DifferentRecursion { .. }
        | Kind::BackslashInPatternValue { .. }
        | Kind::DifferentPatternText { .. }
        | Kind::OverLimit(_)
        | Kind::Failed => unreachable!("these are put into words by rules of their own"),
    }
}

fn word_source_path(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    source: DocId,
    error: &WalkError,
) -> Diagnostic {
    let (name, source_name) = (facts.name(problem.doc), facts.name(source));
    let message = format!("`{name}` cannot follow its source path into `{source_name}`");
    Diagnostic::new(&RULE, message, Label::new(problem.at, error.to_string()))
        .related(facts.document(source).name_span, "the source document")
        .note("the substitution is skipped; Deckhand refuses the whole site")
        .help("let the path lead to what is in the source document")
}

fn word_source_kind(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    value: Span,
    found: &str,
) -> Diagnostic {
    let message = format!("`src.pattern` of `{}` is applied to {found}", facts.name(problem.doc));
    Diagnostic::new(&RULE, message, Label::new(problem.at, "a pattern selects parts of strings"))
        .related(facts.first_line(value), format!("the source value is {found}"))
        .note(SKIPPED)
        .help("let `src.path` lead to a string, or leave `src.pattern` out")
}

fn word_group(facts: &SiteFacts<'_>, problem: &Problem, group: i64) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("`src.pattern` of `{name}` has no group {group}");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "the pattern has no such group"))
        .note(SKIPPED)
        .help("groups are the pairs of parentheses, counted from 1; 0 is all that the pattern matches")
}

fn word_destination(facts: &SiteFacts<'_>, problem: &Problem, error: &WalkError) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message = format!("a substitution cannot write to `{path}` of `{name}`");
    Diagnostic::new(&RULE, message, Label::new(problem.at, error.to_string()))
        .note(DESTINATION_SKIPPED)
        .help(help_for(error))
}

/// The way to fix a destination path.
fn help_for(error: &WalkError) -> &'static str {
    match error {
        WalkError::NotRooted => "begin the path with `.`",
        WalkError::CreateThrough { .. } => {
            "let the path lead through mappings: keys can be created in mappings alone"
        }
        WalkError::NotCreatable => "put the place into `data`, or write the path in plain names",
        WalkError::UnsupportedOperator(_)
        | WalkError::EndlessDescent
        | WalkError::NoParent
        | WalkError::TooManyVisits { .. } => "write the path in plain names and indexes",
        WalkError::BeforeStart { .. }
        | WalkError::IndexIntoMapping { .. }
        | WalkError::IndexInto { .. }
        | WalkError::SliceOf { .. }
        | WalkError::ZeroStep
        | WalkError::WriteInto { .. }
        | WalkError::OutOfElements
        | WalkError::IndexTooLarge { .. }
        | WalkError::TooManyMatches => "let the path lead to what is there, or can be created",
    }
}

fn word_empty_root(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let message = format!(
        "a substitution writes an empty value to the root of `{}`",
        facts.name(problem.doc)
    );
    Diagnostic::new(&RULE, message, Label::new(problem.at, "the whole data would be empty"))
        .note(DESTINATION_SKIPPED)
        .help("let `dest.path` lead to a key, or `src.path` to a value that is not empty")
}

fn word_target(facts: &SiteFacts<'_>, problem: &Problem, target: Span, found: &str) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message = format!("the pattern for `{path}` of `{name}` is applied to {found}");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "a pattern changes parts of strings"))
        .related(facts.first_line(target), format!("{found} stands at the path"))
        .note(DESTINATION_SKIPPED)
}

fn word_template(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let (name, path) = (facts.name(problem.doc), facts.destination_path(problem.doc, problem.at));
    let message = format!("a pattern cannot put its value into `{path}` of `{name}`");
    let label = Label::new(problem.at, "Python's `re.sub` refuses the value as a template");
    let values = facts.rendered.problems_of(problem.doc).iter().filter_map(|other| {
        match (&other.kind, other.at == problem.at) {
            (ProblemKind::BackslashInPatternValue { value, .. }, true) => Some(*value),
            _ => None,
        }
    });
    let finding = values.take(1).fold(Diagnostic::new(&RULE, message, label), |finding, value| {
        finding.related(facts.first_line(value), "the value has a backslash")
    });
    finding.note(DESTINATION_SKIPPED).help(
        "substitute the whole value, without `dest.pattern`, or choose a value without backslashes",
    )
}
