//! `invalid-yaml`: a file that is not YAML.

use super::foreign::ForeignForm;
use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{Span, offset};
use crate::yaml::{PythonRefusal, YamlProblem, YamlProblemKind};

super::rule!("invalid-yaml", Error [Refused, Unreadable], "a file that is not YAML", was "P007");

/// The first conflict of a merge that git left in the file: from its first marker to the end of
/// its last.
pub(super) fn conflict(facts: &FileFacts<'_>) -> Option<Span> {
    // YAML in which markers are text has them indented.
    if facts.problems.is_empty() {
        return None;
    }
    let text = facts.sources.get(facts.file).text();
    let start = line_that_begins(text, 0, "<<<<<<< ")?;
    let middle = line_that_begins(text, start, "=======")?;
    let last = line_that_begins(text, middle, ">>>>>>> ")?;
    let end = text[last..].find('\n').map_or(text.len(), |length| last + length);
    Some(Span { file: facts.file, start: offset(start), end: offset(end) })
}

fn line_that_begins(text: &str, from: usize, marker: &str) -> Option<usize> {
    let mut found = text[from..].match_indices(marker).map(|(at, _)| from + at);
    found.find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

pub(super) fn word_conflict(facts: &FileFacts<'_>, conflict: Span) -> Diagnostic {
    let marker = Span { end: conflict.start + 7, ..conflict };
    Diagnostic::new(&RULE, "not YAML: a merge conflict", Label::new(marker, "the first marker"))
        .note(facts.unread_yaml())
        .help("decide which of both sides stays, and take the lines `<<<<<<<`, `=======` and `>>>>>>>` out")
}

/// Whether a problem of the file comes of this conflict.
pub(super) fn is_of_conflict(problem: &YamlProblem, conflict: Span) -> bool {
    match problem.kind {
        YamlProblemKind::Syntax(_)
        | YamlProblemKind::RefusedByLibyaml(_)
        | YamlProblemKind::RefusedByPython(_)
        | YamlProblemKind::UnhashableKey
        | YamlProblemKind::InvalidMerge => problem.span.end >= conflict.start,
        YamlProblemKind::UndefinedAlias(_)
        | YamlProblemKind::DuplicateAnchor { .. }
        | YamlProblemKind::RecursiveAlias
        | YamlProblemKind::DuplicateKey { .. }
        | YamlProblemKind::Surrogate
        | YamlProblemKind::UnknownTag(_)
        | YamlProblemKind::InvalidScalar(_) => conflict.contains(problem.span),
        YamlProblemKind::OverLimit(_) | YamlProblemKind::Internal => false,
    }
}

pub(super) fn word(facts: &FileFacts<'_>, problem: &YamlProblem) -> Diagnostic {
    match ForeignForm::of_line(facts, problem.span) {
        Some(form) if is_of_reader(&problem.kind) => Diagnostic::new(
            &RULE,
            format!("not YAML, but one of the {}", form.subject()),
            Label::new(problem.span, "the reader stops here"),
        )
        .note(facts.unread_yaml())
        .help("put what the template makes into the layer folders; or quote it if it is text")
        .about(form.subject()),
        _ => word_problem(facts, problem),
    }
}

/// Whether the reader of YAML could not go on.
fn is_of_reader(kind: &YamlProblemKind) -> bool {
    matches!(
        kind,
        YamlProblemKind::Syntax(_)
            | YamlProblemKind::RefusedByLibyaml(_)
            | YamlProblemKind::UnhashableKey
    )
}

fn word_problem(facts: &FileFacts<'_>, problem: &YamlProblem) -> Diagnostic {
    let at = problem.span;
    let found = |message: &str, label: &str| {
        Diagnostic::new(&RULE, message, Label::new(at, label)).note(facts.unread_yaml())
    };
    let text = "put it in quotes if it is meant as text";
    match &problem.kind {
        // Readers print columns, and the tokens that they expect depend on the text.
        YamlProblemKind::Syntax(_) | YamlProblemKind::RefusedByLibyaml(_)
            if facts.is_secret(at) =>
        {
            found("not YAML", "the reader stops here, or near it").help(text)
        }
        YamlProblemKind::Syntax(reason) => {
            found(&format!("not YAML: {reason}"), "the reader stops here")
        }
        YamlProblemKind::RefusedByLibyaml(reason) => {
            found(&format!("not YAML to libyaml: {reason}"), "libyaml stops here").note(match facts
                .holds
            {
                FileContents::Documents => {
                    "YAML 1.2 may allow it, but Pegleg and Deckhand read with libyaml"
                }
                FileContents::Parts => {
                    "YAML 1.2 may allow it, but cloud-init reads YAML 1.1, as libyaml does"
                }
            })
        }
        YamlProblemKind::RefusedByPython(refusal) => {
            let (what, help) = match refusal {
                PythonRefusal::Tab => (
                    "a tab outside of quotes",
                    "write spaces, or put the text in quotes if the tab belongs to it",
                ),
                PythonRefusal::QuestionMark => {
                    ("`?` ends a text without quotes inside of [] and {}", "put the text in quotes")
                }
            };
            found(&format!("not YAML to PyYAML: {what}"), "PyYAML stops here")
                .note("YAML allows it, but cloud-init reads with PyYAML's own reader")
                .help(help)
        }
        YamlProblemKind::UnhashableKey => {
            found("a key that is a list or a mapping", "this cannot be a key").help(text)
        }
        YamlProblemKind::InvalidMerge => found(
            "`<<` over something that is no mapping",
            "neither a mapping nor a list of mappings",
        )
        .help("give `<<` a mapping, such as an alias of one"),
        YamlProblemKind::UndefinedAlias(_) => {
            let name = facts.quote(at);
            found(&format!("no anchor for the alias `{name}`"), "no such anchor stands before this")
                .help("write the anchor first, in the same YAML document; or put it in quotes")
                .about(name)
        }
        YamlProblemKind::DuplicateAnchor { first } => {
            let name = facts.quote(at);
            found(&format!("anchor `{name}` stands twice in one YAML document"), "the second time")
                .related(*first, "the first time")
                .help("give one of them another name")
                .about(name)
        }
        YamlProblemKind::RecursiveAlias => {
            found("an alias inside the collection that it stands for", "this never ends")
                .help("write out what is meant")
        }
        YamlProblemKind::DuplicateKey { .. }
        | YamlProblemKind::Surrogate
        | YamlProblemKind::UnknownTag(_)
        | YamlProblemKind::InvalidScalar(_)
        | YamlProblemKind::OverLimit(_)
        | YamlProblemKind::Internal => unreachable!("another rule puts this into words"),
    }
}
