//! `missing-merge-class`: a specification lacks a class that it needs.

use super::{SetFacts, SpecifiedPart, mergeable, option_at};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::merge::cloud_init::{Class, Dialect, Request};
use crate::source::Span;

super::super::rule!(
    "missing-merge-class", Error, "a merge specification lacks a class that it needs";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    for specified in facts.specified() {
        if facts.set.dialect == Dialect::Documented && is_last(facts, &specified) {
            // It says how the next part is merged.
            continue;
        }
        match specified.specification.first(Class::Dict) {
            None => found.extend(without_dict(facts.set.dialect, &specified)),
            Some(dict) => match facts.set.dialect {
                Dialect::Current => found.extend(unreached(&specified, dict)),
                // All values are merged there, by whatever class there is.
                Dialect::Documented => {}
            },
        }
    }
}

/// Whether no part of its source comes after it.
fn is_last(facts: &SetFacts<'_>, specified: &SpecifiedPart<'_>) -> bool {
    let mut sources = facts.set.sources.iter();
    sources.any(|source| {
        mergeable(source).last().is_some_and(|part| std::ptr::eq(part, specified.part))
    })
}

fn without_dict(dialect: Dialect, specified: &SpecifiedPart<'_>) -> Option<Diagnostic> {
    let (message, label, help) = match dialect {
        Dialect::Current => (
            "a part is passed over, since it names no class `dict`",
            "no `dict` in it",
            "add `dict(...)`, with the options that are meant, such as `dict(recurse_list)`",
        ),
        Dialect::Documented => (
            "the part after this one is passed over, since this one names no class `dict`",
            "no `dict` in it",
            "add `dict()`",
        ),
    };
    let at = specified.part.specification()?;
    let swallowed = specified.specification.requests.iter().find_map(swallowed_dict);
    let finding = Diagnostic::new(&RULE, message, Label::new(first_line(specified, at), label))
        .note(
            "at the top a part is a mapping, and what is said of merging replaces the default \
             completely: without `dict` nothing of the part is taken, and cloud-init does not say so",
        );
    let finding = match swallowed.filter(|_| !specified.is_secret()) {
        Some(at) => finding.related(at, "without a `+` before it, this is no class but an option"),
        None => finding,
    };
    Some(finding.help(help))
}

/// The text of a specification: all of a string, of a list the first item.
fn first_line(specified: &SpecifiedPart<'_>, at: Span) -> Span {
    match &specified.specification.requests[..] {
        [first, ..] if at.contains(first.at) => first.at,
        _ => at,
    }
}

/// The option that was to be the class `dict`.
fn swallowed_dict(request: &Request) -> Option<Span> {
    let options = request.unknown_options(Dialect::Current);
    options.into_iter().find(|it| it.word.value.contains("dict(")).map(|it| it.word.span)
}

/// Recursion into lists or texts for which no class is there.
fn unreached(specified: &SpecifiedPart<'_>, dict: &Request) -> Vec<Diagnostic> {
    let wants = |options: &[&str]| {
        options.iter().find_map(|option| option_at(&dict.settings, option)).filter(|_| {
            // Then nothing is recursed into, which is another finding.
            !dict.settings.has("replace")
        })
    };
    let lacks = |class| specified.specification.first(class).is_none();
    let list = wants(&["recurse_list", "recurse_array"]).filter(|_| lacks(Class::List));
    let text = wants(&["recurse_str"]).filter(|_| lacks(Class::Str));
    let word = |(at, class, what): (Span, Class, &str)| {
        let class = class.as_str();
        let message = format!("`dict` is to merge {what}, but no class `{class}` says how");
        let finding = Diagnostic::new(&RULE, message, Label::new(at, format!("needs `{class}`")))
            .note(format!(
                "a class that is not named is not there: {what} that are there by then stay as \
                 they are, and the part's are lost"
            ))
            .help(format!("add `+{class}(append)`, or `+{class}()` to replace"))
            .about(class);
        Diagnostic { severity: Severity::Warning, ..finding }
    };
    let list = list.map(|at| (at, Class::List, "lists"));
    let text = text.map(|at| (at, Class::Str, "texts"));
    list.into_iter().chain(text).map(word).collect()
}
