//! `invalid-ignore`: a comment that is to suppress findings, and cannot.

use super::{FileFacts, RULES, find, ignorable};
use crate::diagnostic::{Diagnostic, Label};
use crate::ignore::{Malformed, RuleName};
use crate::near::nearest;
use crate::source::Span;

super::rule!(
    "invalid-ignore", Warning, "a comment that is to suppress findings, and cannot";
    AnyFile(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    // Behind a syntax error it is unknown which text is a comment.
    let is_whole = !facts.problems.iter().any(|problem| problem.kind.is_fatal());
    for (at, fault) in &facts.ignores.malformed {
        if is_whole || *fault != Malformed::Data {
            found.push(word_malformed(*at, fault));
        }
    }
    for ignore in &facts.ignores.ignores {
        let unknown = ignore.names.iter().filter(|name| name.rules.is_empty());
        found.extend(unknown.map(word_name));
    }
}

fn word_malformed(at: Span, fault: &Malformed) -> Diagnostic {
    let (message, label) = match fault {
        Malformed::Misspelt => (
            "a comment that is to ignore findings does not begin as such comments do",
            "`# layercake:` is spelled otherwise here",
        ),
        Malformed::UnknownWord => (
            "a comment for layercake says none of the words that it knows",
            "`ignore`, `ignore-document` or `ignore-file` is missing here",
        ),
        Malformed::Nameless => ("a comment names no rule to ignore", "no rule is named"),
        Malformed::Unclosed => {
            ("a comment names rules without an end", "the bracket is not closed")
        }
        Malformed::Data => (
            "text that looks like a comment for layercake is part of a value",
            "this is data, and suppresses nothing",
        ),
    };
    let diagnostic = Diagnostic::new(&RULE, message, Label::new(at, label));
    match fault {
        Malformed::Data => diagnostic.help(
            "put the comment on the line above the value, or, as `ignore-document`, behind \
                 the document's `---`",
        ),
        Malformed::Misspelt
        | Malformed::UnknownWord
        | Malformed::Nameless
        | Malformed::Unclosed => diagnostic.help("write `# layercake: ignore[RULE] REASON`"),
    }
}

fn word_name(name: &RuleName) -> Diagnostic {
    let text = &name.text;
    if find(text).is_some() {
        let message = format!("`{text}` cannot be ignored by a comment");
        let label = Label::new(name.span, "this finding is of no place in a file");
        return Diagnostic::new(&RULE, message, label).about(text).help("remove it");
    }
    let message = format!("a comment ignores `{text}`, which is no rule");
    let label = Label::new(name.span, "there is no such rule");
    let names = RULES.iter().filter(|rule| !ignorable(rule.name).is_empty());
    let near = nearest(text, names.map(|rule| rule.name));
    let diagnostic = Diagnostic::new(&RULE, message, label).about(text);
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("`layercake explain` lists the rules"),
    }
}
