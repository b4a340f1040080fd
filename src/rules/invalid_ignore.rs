//! `invalid-ignore`: malformed comment for suppressing findings.

use super::did_you_mean::comment_edit;
use super::{FileFacts, RULES, find, ignorable};
use crate::diagnostic::Diagnostic;
use crate::ignore::{Malformed, RuleName};
use crate::near::nearest;
use crate::source::Span;

super::rule!(
    "invalid-ignore", Warning[UnsafelyFixable], "malformed comment for suppressing findings";
    AnyFile(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    // After a syntax error it is unknown where comments are.
    let is_whole = !facts.problems.iter().any(|problem| problem.kind.is_fatal());
    for (at, fault) in &facts.ignores.malformed {
        if is_whole || *fault != Malformed::Data {
            found.push(report_malformed(*at, fault));
        }
    }
    for ignore in &facts.ignores.ignores {
        let unknown = ignore.names.iter().filter(|name| name.rules.is_empty());
        found.extend(unknown.map(|name| report_name(facts, name)));
    }
}

fn report_malformed(at: Span, fault: &Malformed) -> Diagnostic {
    let (message, label) = match fault {
        Malformed::Misspelt => (
            "misspelled `# layercake:` at the start of an ignore comment",
            "expected `# layercake:`",
        ),
        Malformed::UnknownWord => (
            "unknown keyword in a comment for layercake",
            "expected `ignore`, `ignore-document` or `ignore-file`",
        ),
        Malformed::Nameless => ("an ignore comment without a rule", "expected `[RULE]`"),
        Malformed::Unclosed => ("unclosed bracket in an ignore comment", "expected `]`"),
        Malformed::Data => (
            "an ignore comment inside a value",
            "this is data, not a comment",
        ),
    };
    let diagnostic = RULE.finding(message, at, label);
    match fault {
        Malformed::Data => diagnostic.help(
            "put the comment on the line above the value, or, as `ignore-document`, after the \
                 document's `---`",
        ),
        Malformed::Misspelt
        | Malformed::UnknownWord
        | Malformed::Nameless
        | Malformed::Unclosed => diagnostic.help("write `# layercake: ignore[RULE] REASON`"),
    }
}

fn report_name(facts: &FileFacts<'_>, name: &RuleName) -> Diagnostic {
    let text = &name.text;
    if find(text).is_some() {
        let message = format!("`{text}` cannot be ignored by a comment");
        return RULE
            .finding(
                message,
                name.span,
                "these findings have no location in a file",
            )
            .about(text)
            .help("remove it");
    }
    let message = format!("unknown rule `{text}` in an ignore comment");
    let names = RULES.iter().filter(|rule| !ignorable(rule.name).is_empty());
    let near = nearest(text, names.map(|rule| rule.name));
    let diagnostic = RULE
        .finding(message, name.span, "no rule has this name")
        .about(text);
    match near {
        Some(near) => {
            diagnostic.did_you_mean(near, comment_edit(facts.sources, name.span, text, near))
        }
        None => diagnostic.help("`layercake explain` lists the rules"),
    }
}
