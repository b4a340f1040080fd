//! `invalid-yaml`: file that is not valid YAML.

use super::foreign::ForeignForm;
use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::source::{Span, offset};
use crate::yaml::{InvalidYaml, PythonRefusal, YamlProblem, YamlProblemKind};

super::rule!("invalid-yaml", Error [Refused, Unreadable, Cause], "file that is not valid YAML", was "P007");

/// First merge conflict that git left in the file, from its first marker to the end of its last.
pub(super) fn conflict(facts: &FileFacts<'_>) -> Option<Span> {
    // Valid YAML that contains the markers as text has them indented.
    if facts.problems.is_empty() {
        return None;
    }
    let text = facts.sources.get(facts.file).text();
    let start = line_that_begins(text, 0, "<<<<<<< ")?;
    let middle = line_that_begins(text, start, "=======")?;
    let last = line_that_begins(text, middle, ">>>>>>> ")?;
    let end = text[last..]
        .find('\n')
        .map_or(text.len(), |length| last + length);
    Some(Span {
        file: facts.file,
        start: offset(start),
        end: offset(end),
    })
}

fn line_that_begins(text: &str, from: usize, marker: &str) -> Option<usize> {
    let mut found = text[from..].match_indices(marker).map(|(at, _)| from + at);
    found.find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

pub(super) fn report_conflict(facts: &FileFacts<'_>, conflict: Span) -> Diagnostic {
    let marker = Span {
        end: conflict.start + 7,
        ..conflict
    };
    RULE.finding(
        "invalid YAML: merge conflict",
        marker,
        "first conflict marker",
    )
    .note(facts.unread_yaml())
    .help("resolve the conflict and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`")
}

/// Whether a problem of the file is a consequence of this conflict.
pub(super) fn is_of_conflict(problem: &YamlProblem, conflict: Span) -> bool {
    match &problem.kind {
        YamlProblemKind::Invalid(
            InvalidYaml::Syntax(_)
            | InvalidYaml::RefusedByLibyaml(_)
            | InvalidYaml::RefusedByPython(_)
            | InvalidYaml::UnhashableKey
            | InvalidYaml::InvalidMerge,
        ) => problem.span.end >= conflict.start,
        YamlProblemKind::Invalid(
            InvalidYaml::UndefinedAlias(_)
            | InvalidYaml::DuplicateAnchor { .. }
            | InvalidYaml::RecursiveAlias,
        )
        | YamlProblemKind::DuplicateKey { .. }
        | YamlProblemKind::AmbiguousMerge { .. }
        | YamlProblemKind::Surrogate
        | YamlProblemKind::Unusual(_)
        | YamlProblemKind::UnknownTag(_)
        | YamlProblemKind::InvalidScalar(_) => conflict.contains(problem.span),
        YamlProblemKind::OverLimit(_) | YamlProblemKind::Internal => false,
    }
}

pub(super) fn report(facts: &FileFacts<'_>, at: Span, invalid: &InvalidYaml) -> Diagnostic {
    match ForeignForm::of_line(facts, at) {
        Some(form) if is_of_reader(invalid) => RULE
            .finding(
                format!("invalid YAML: the file contains {}", form.subject()),
                at,
                "the parser stops here",
            )
            .note(facts.unread_yaml())
            .help(
                "put the rendered template into the layer folders, or quote this if it is a string",
            )
            .about(form.subject()),
        _ => report_problem(facts, at, invalid),
    }
}

/// Whether the problem made the YAML parser stop.
fn is_of_reader(invalid: &InvalidYaml) -> bool {
    matches!(
        invalid,
        InvalidYaml::Syntax(_) | InvalidYaml::RefusedByLibyaml(_) | InvalidYaml::UnhashableKey
    )
}

fn report_problem(facts: &FileFacts<'_>, at: Span, invalid: &InvalidYaml) -> Diagnostic {
    let found =
        |message: &str, label: &str| RULE.finding(message, at, label).note(facts.unread_yaml());
    let text = "quote it if it is a string";
    match invalid {
        // Parser messages contain columns and expected tokens, which depend on the text.
        InvalidYaml::Syntax(_) | InvalidYaml::RefusedByLibyaml(_) if facts.is_secret(at) => {
            found("invalid YAML", "the parser stops here, or nearby").help(text)
        }
        InvalidYaml::Syntax(reason) => {
            found(&format!("invalid YAML: {reason}"), "the parser stops here")
        }
        InvalidYaml::RefusedByLibyaml(reason) => found(
            &format!("invalid YAML for libyaml: {reason}"),
            "libyaml stops here",
        )
        .note(match facts.holds {
            FileContents::Documents => "YAML 1.2 may allow it, but Pegleg and Deckhand use libyaml",
            FileContents::Parts => {
                "YAML 1.2 may allow it, but cloud-init reads YAML 1.1, as libyaml does"
            }
        }),
        InvalidYaml::RefusedByPython(refusal) => {
            let (what, help) = match refusal {
                PythonRefusal::Tab => (
                    "tab outside of quotes",
                    "use spaces, or quote the string if the tab is part of it",
                ),
                PythonRefusal::QuestionMark => (
                    "`?` ends an unquoted string inside of [] and {}",
                    "quote the string",
                ),
            };
            found(
                &format!("invalid YAML for PyYAML: {what}"),
                "PyYAML stops here",
            )
            .note("YAML allows it, but cloud-init uses PyYAML's own parser")
            .help(help)
        }
        InvalidYaml::UnhashableKey => {
            found("list or mapping used as a key", "not allowed as a key").help(text)
        }
        InvalidYaml::InvalidMerge => found(
            "`<<` with a value that is not a mapping",
            "expected a mapping or a list of mappings",
        )
        .help("give `<<` a mapping, such as an alias of one"),
        InvalidYaml::UndefinedAlias(_) => {
            let name = facts.quote(at);
            found(
                &format!("undefined alias `{name}`"),
                "no anchor of this name comes before it",
            )
            .help("define the anchor earlier in the same YAML document, or quote this")
            .about(name)
        }
        InvalidYaml::DuplicateAnchor { first } => {
            let name = facts.quote(at);
            found(
                &format!("duplicate anchor `{name}` in a YAML document"),
                "defined again here",
            )
            .related(*first, "first defined here")
            .help("rename one of them")
            .about(name)
        }
        InvalidYaml::RecursiveAlias => found(
            "alias inside the collection that it refers to",
            "recursive alias",
        )
        .help("write the value out"),
    }
}
