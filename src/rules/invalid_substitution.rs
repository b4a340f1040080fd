//! `invalid-substitution`: substitution that cannot be applied.

use super::{FileFacts, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::render::{InvalidSubstitution, Problem, ProblemKind, SubstitutionProblem};
use crate::source::Span;
use crate::yaml::path::WalkError;

super::rule!("invalid-substitution", Error [Refused], "substitution that cannot be applied", was "P005");

const SKIPPED: &str = "the substitution is skipped; Deckhand refuses the whole site";
const DESTINATION_SKIPPED: &str = "this destination is skipped; Deckhand refuses the whole site";

pub(super) fn report_depth(facts: &FileFacts<'_>, at: Span) -> Diagnostic {
    let message = format!(
        "a substitution of `{}` has `recurse` without `depth`",
        facts.name_at(at)
    );
    RULE.finding(message, at, "`depth` is missing")
        .note("this destination is skipped; Deckhand refuses the whole site")
        .help("write `recurse: {depth: -1}`; a positive number limits the depth")
}

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    invalid: &InvalidSubstitution,
) -> Diagnostic {
    use InvalidSubstitution as Kind;
    match invalid {
        Kind::SourcePath { source, error } => report_source_path(facts, problem, *source, error),
        Kind::SourceNotText { value, found } => report_source_kind(facts, problem, *value, found),
        Kind::MissingGroup { group } => report_group(facts, problem, *group),
        Kind::DestinationPath(error) => report_destination(facts, problem, error),
        Kind::EmptyRoot => report_empty_root(facts, problem),
        Kind::PatternTargetType {
            target,
            found,
            container,
        } => {
            let diagnostic = report_target(facts, problem, *target, found);
            diagnostic.help(if *container {
                "add `recurse: {depth: -1}` to search all strings below the path, or point the \
                 path at a string"
            } else {
                "point the path at a string, or remove `dest.pattern` to write the whole value"
            })
        }
    }
}

fn report_source_path(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    source: DocId,
    error: &WalkError,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let source_name = facts.name(source);
    let message = format!("`{name}` has a source path that cannot be resolved in `{source_name}`");
    RULE.finding(message, problem.at, error.to_string())
        .related(facts.document(source).name_span, "the source document")
        .note("the substitution is skipped; Deckhand refuses the whole site")
        .help("use a path that exists in the source document")
}

fn report_source_kind(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    value: Span,
    found: &str,
) -> Diagnostic {
    let message = format!(
        "`src.pattern` of `{}` is applied to {found}",
        facts.name(problem.doc)
    );
    RULE.finding(message, problem.at, "patterns apply to strings only")
        .related(
            facts.first_line(value),
            format!("the source value is {found}"),
        )
        .note(SKIPPED)
        .help("point `src.path` at a string, or remove `src.pattern`")
}

fn report_group(facts: &SiteFacts<'_>, problem: &Problem, group: i64) -> Diagnostic {
    let name = facts.name(problem.doc);
    let message = format!("`src.pattern` of `{name}` has no group {group}");
    RULE.finding(message, problem.at, "the pattern has no such group")
        .note(SKIPPED)
        .help("groups are pairs of parentheses, numbered from 1; 0 is the whole match")
}

fn report_destination(facts: &SiteFacts<'_>, problem: &Problem, error: &WalkError) -> Diagnostic {
    let destination = facts.destination(problem);
    let message = format!("a substitution cannot write to {destination}");
    RULE.finding(message, problem.at, error.to_string())
        .note(DESTINATION_SKIPPED)
        .help(help_for(error))
}

/// Help for fixing a destination path.
fn help_for(error: &WalkError) -> &'static str {
    match error {
        WalkError::NotRooted => "begin the path with `.`",
        WalkError::CreateThrough { .. } => {
            "use a path through mappings: keys can be created in mappings only"
        }
        WalkError::NotCreatable => "add the place to `data`, or use plain names in the path",
        WalkError::UnsupportedOperator(_)
        | WalkError::EndlessDescent
        | WalkError::NoParent
        | WalkError::TooManyVisits { .. } => "use plain names and indexes in the path",
        WalkError::BeforeStart { .. }
        | WalkError::IndexIntoMapping { .. }
        | WalkError::IndexInto { .. }
        | WalkError::SliceOf { .. }
        | WalkError::ZeroStep
        | WalkError::WriteInto { .. }
        | WalkError::OutOfElements
        | WalkError::IndexTooLarge { .. }
        | WalkError::TooManyMatches => "use a path that exists or can be created",
    }
}

fn report_empty_root(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let message = format!(
        "a substitution writes an empty value to the root of `{}`",
        facts.name(problem.doc)
    );
    RULE.finding(message, problem.at, "the whole data would be empty")
        .note(DESTINATION_SKIPPED)
        .help("point `dest.path` at a key, or `src.path` at a value that is not empty")
}

fn report_target(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    target: Span,
    found: &str,
) -> Diagnostic {
    let destination = facts.destination(problem);
    let message = format!("the pattern for {destination} is applied to {found}");
    RULE.finding(message, problem.at, "patterns apply to strings only")
        .related(
            facts.first_line(target),
            format!("the path leads to {found}"),
        )
        .note(DESTINATION_SKIPPED)
}

pub(super) fn report_template(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let destination = facts.destination(problem);
    let message = format!("a pattern cannot insert its value into {destination}");
    let values = facts
        .rendered
        .problems_of(problem.doc)
        .iter()
        .filter_map(|other| match (&other.kind, other.at == problem.at) {
            (
                ProblemKind::Substitution(SubstitutionProblem::BackslashInPatternValue {
                    value,
                    ..
                }),
                true,
            ) => Some(*value),
            _ => None,
        });
    let finding = values.take(1).fold(
        RULE.finding(
            message,
            problem.at,
            "Python's `re.sub` rejects the value as a template",
        ),
        |finding, value| finding.related(facts.first_line(value), "the value has a backslash"),
    );
    finding.note(DESTINATION_SKIPPED).help(
        "substitute the whole value, without `dest.pattern`, or use a value without backslashes",
    )
}
