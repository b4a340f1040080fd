//! `missing-merge-class`: merge specification without a required class.

use super::{SetFacts, SpecifiedPart, mergeable, option_at};
use crate::diagnostic::{Diagnostic, Severity};
use crate::merge::cloud_init::{Class, Dialect, Request};
use crate::source::Span;

super::super::rule!(
    "missing-merge-class", Error, "merge specification without a required class";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    for specified in facts.specified() {
        if facts.set.dialect == Dialect::Documented && is_last(facts, &specified) {
            // Its specification would apply to the next part.
            continue;
        }
        match specified.specification.first(Class::Dict) {
            None => found.extend(without_dict(facts.set.dialect, &specified)),
            Some(dict) => match facts.set.dialect {
                Dialect::Current => found.extend(unreached(&specified, dict)),
                // In this dialect any class merges all values.
                Dialect::Documented => {}
            },
        }
    }
}

/// Whether it is the last part of its source.
fn is_last(facts: &SetFacts<'_>, specified: &SpecifiedPart<'_>) -> bool {
    let mut sources = facts.set.sources.iter();
    sources.any(|source| {
        mergeable(source)
            .last()
            .is_some_and(|part| std::ptr::eq(part, specified.part))
    })
}

fn without_dict(dialect: Dialect, specified: &SpecifiedPart<'_>) -> Option<Diagnostic> {
    let (message, label, help) = match dialect {
        Dialect::Current => (
            "a part is ignored because its merge specification has no class `dict`",
            "no `dict`",
            "add `dict(...)`, with the intended options, such as `dict(recurse_list)`",
        ),
        Dialect::Documented => (
            "the next part is ignored because this merge specification has no class `dict`",
            "no `dict`",
            "add `dict()`",
        ),
    };
    let at = specified.part.specification()?;
    let swallowed = specified
        .specification
        .requests
        .iter()
        .find_map(swallowed_dict);
    let finding = RULE
        .finding(message, first_line(specified, at), label)
        .note(
            "a part is a mapping at the top level, and a merge specification replaces the default \
             completely: without `dict` cloud-init silently ignores the whole part",
        );
    let finding = match swallowed.filter(|_| !specified.is_secret()) {
        Some(at) => finding.related(
            at,
            "without a preceding `+`, this is an option, not a class",
        ),
        None => finding,
    };
    Some(finding.help(help))
}

/// Span of a specification: a whole string, or the first item of a list.
fn first_line(specified: &SpecifiedPart<'_>, at: Span) -> Span {
    match &specified.specification.requests[..] {
        [first, ..] if at.contains(first.at) => first.at,
        _ => at,
    }
}

/// Span of an option that was meant to be the class `dict`.
fn swallowed_dict(request: &Request) -> Option<Span> {
    let options = request.unknown_options(Dialect::Current);
    options
        .into_iter()
        .find(|it| it.word.value.contains("dict("))
        .map(|it| it.word.span)
}

/// Findings for recursion into lists or strings without a class for them.
fn unreached(specified: &SpecifiedPart<'_>, dict: &Request) -> Vec<Diagnostic> {
    let wants = |options: &[&str]| {
        options
            .iter()
            .find_map(|option| option_at(&dict.settings, option))
            .filter(|_| {
                // `ineffective-merge-option` reports recursion beside `replace`.
                !dict.settings.has("replace")
            })
    };
    let lacks = |class| specified.specification.first(class).is_none();
    let list = wants(&["recurse_list", "recurse_array"]).filter(|_| lacks(Class::List));
    let text = wants(&["recurse_str"]).filter(|_| lacks(Class::Str));
    let word = |(at, class, what): (Span, Class, &str)| {
        let class = class.as_str();
        let message = format!("`dict` merges {what}, but the class `{class}` is missing");
        let finding = RULE
            .finding(message, at, format!("needs `{class}`"))
            .note(format!(
                "classes that are not listed are not used: existing {what} are kept unchanged, and \
                 the {what} of the part are lost"
            ))
            .help(format!(
                "add `+{class}(append)`, or `+{class}()` to replace"
            ))
            .about(class);
        Diagnostic {
            severity: Severity::Warning,
            ..finding
        }
    };
    let list = list.map(|at| (at, Class::List, "lists"));
    let text = text.map(|at| (at, Class::Str, "strings"));
    list.into_iter().chain(text).map(word).collect()
}
