//! `missing-ignore-reason`: comment that suppresses findings without a reason.

use super::FileFacts;
use crate::diagnostic::Diagnostic;

super::rule!(
    "missing-ignore-reason", Warning[Strict], "comment that suppresses findings without a reason";
    AnyFile(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let silent = facts
        .ignores
        .ignores
        .iter()
        .filter(|ignore| ignore.reason.is_empty());
    found.extend(silent.map(|ignore| {
        let names: Vec<&str> = ignore.names.iter().map(|name| &*name.text).collect();
        let message = format!("`{}` is ignored without a reason", names.join("`, `"));
        RULE.finding(message, ignore.span, "no reason after the bracket")
            .note("without a reason, a reader does not know whether it is still needed")
            .help("add a reason after the `]`")
            .about(&*ignore.words)
    }));
}
