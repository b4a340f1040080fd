//! `invalid-yaml`: a file that is not YAML.

use super::{FileFacts, Holds};
use crate::diagnostic::{Diagnostic, Label};
use crate::yaml::{Problem, ProblemKind, PythonRefusal};

super::rule!("invalid-yaml", Error [Refused, Unreadable], "a file that is not YAML", was "P007");

pub(super) fn word(facts: &FileFacts<'_>, problem: &Problem) -> Diagnostic {
    let at = problem.span;
    let found = |message: &str, label: &str| {
        Diagnostic::new(&RULE, message, Label::new(at, label)).note(facts.unread_yaml())
    };
    let text = "put it in quotes if it is meant as text";
    match &problem.kind {
        // Readers tell columns, and what they expected depends on the text.
        ProblemKind::Syntax(_) | ProblemKind::RefusedByLibyaml(_) if facts.is_secret(at) => {
            found("not YAML", "the reader stops here, or near it").help(text)
        }
        ProblemKind::Syntax(reason) => {
            found(&format!("not YAML: {reason}"), "the reader stops here")
        }
        ProblemKind::RefusedByLibyaml(reason) => {
            found(&format!("not YAML to libyaml: {reason}"), "libyaml stops here").note(match facts
                .holds
            {
                Holds::Documents => {
                    "YAML 1.2 may allow it, but Pegleg and Deckhand read with libyaml"
                }
                Holds::Parts => {
                    "YAML 1.2 may allow it, but cloud-init reads YAML 1.1, as libyaml does"
                }
            })
        }
        ProblemKind::RefusedByPython(refusal) => {
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
        ProblemKind::UnhashableKey => {
            found("a key that is a list or a mapping", "this cannot be a key").help(text)
        }
        ProblemKind::InvalidMerge => found(
            "`<<` over something that is no mapping",
            "neither a mapping nor a list of mappings",
        )
        .help("give `<<` a mapping, such as an alias of one"),
        ProblemKind::UndefinedAlias(_) => {
            let name = facts.quote(at);
            found(&format!("no anchor for the alias `{name}`"), "no such anchor stands before this")
                .help("write the anchor first, in the same YAML document; or put it in quotes")
                .about(name)
        }
        ProblemKind::DuplicateAnchor { first } => {
            let name = facts.quote(at);
            found(&format!("anchor `{name}` stands twice in one YAML document"), "the second time")
                .related(*first, "the first time")
                .help("give one of them another name")
                .about(name)
        }
        ProblemKind::RecursiveAlias => {
            found("an alias inside the collection that it stands for", "this never ends")
                .help("write out what is meant")
        }
        ProblemKind::DuplicateKey { .. }
        | ProblemKind::UnknownTag(_)
        | ProblemKind::InvalidScalar(_)
        | ProblemKind::OverLimit(_)
        | ProblemKind::Internal => unreachable!("another rule puts this into words"),
    }
}
