//! `missing-ignore-reason`: a comment suppresses findings and does not say why.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Label};

super::rule!(
    "missing-ignore-reason", Warning[Strict], "a comment suppresses findings and does not say why";
    AnyFile(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let silent = facts.ignores.ignores.iter().filter(|ignore| ignore.reason.is_empty());
    found.extend(silent.map(|ignore| {
        let names: Vec<&str> = ignore.names.iter().map(|name| &*name.text).collect();
        let message = format!("`{}` is ignored without a reason", names.join("`, `"));
        Diagnostic::new(&RULE, message, Label::new(ignore.span, "no reason behind the bracket"))
            .note("who reads it later cannot tell whether it still holds")
            .help("say why, behind the `]`")
            .about(&*ignore.words)
    }));
}
