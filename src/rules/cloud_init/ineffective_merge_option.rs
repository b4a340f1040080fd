//! `ineffective-merge-option`: merge option that has no effect because of other options.

use super::{SetFacts, SpecifiedPart, option_at};
use crate::diagnostic::{Diagnostic, Severity};
use crate::merge::cloud_init::{Class, Dialect, Request, Settings, Specification};
use crate::source::Span;

super::super::rule!(
    "ineffective-merge-option",
    Warning,
    "merge option that has no effect because of other options";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // In this dialect the options are independent of each other.
        Dialect::Documented => return,
    }
    for specified in facts.specified() {
        let of = |class| specified.specification.first(class);
        // Without `dict` nothing of the part is merged, and options given as a string are
        // ambiguous; other rules report both.
        let Some(dict) = of(Class::Dict).filter(|_| !has_text(&specified)) else {
            continue;
        };
        let mut dead = of_dict(dict);
        dead.extend(
            of(Class::List)
                .into_iter()
                .flat_map(|list| of_list(list, dict)),
        );
        dead.extend(of(Class::Str).and_then(|text| of_text(text, &specified.specification)));
        let report_option = if specified.is_secret() {
            report_hidden
        } else {
            report
        };
        found.extend(dead.into_iter().map(report_option));
    }
}

fn has_text(specified: &SpecifiedPart<'_>) -> bool {
    specified
        .specification
        .requests
        .iter()
        .any(|request| match &request.settings {
            Settings::Text(_) => true,
            Settings::Words { .. } => false,
        })
}

/// Option without effect.
struct IneffectiveOption {
    class: Class,
    option: &'static str,
    at: Span,
    /// Span of the text that prevents an effect.
    because: Option<Span>,
    note: &'static str,
    help: &'static str,
    severity: Severity,
}

fn report(dead: IneffectiveOption) -> Diagnostic {
    let IneffectiveOption {
        class,
        option,
        at,
        because,
        note,
        help,
        severity,
    } = dead;
    let message = format!("`{option}` of `{}` has no effect", class.as_str());
    let finding = RULE
        .finding(message, at, "no effect")
        .note(note)
        .help(help)
        .about(option);
    let finding = match because {
        Some(because) if because != at => finding.related(because, "because of this"),
        Some(_) | None => finding,
    };
    Diagnostic {
        severity,
        ..finding
    }
}

/// Finding in a secret part, without quoting it.
fn report_hidden(dead: IneffectiveOption) -> Diagnostic {
    let message = format!("an option of `{}` has no effect", dead.class.as_str());
    RULE.finding(message, dead.at, "no effect")
}

const RECURSE: [&str; 3] = ["recurse_list", "recurse_array", "recurse_str"];

fn of_dict(dict: &Request) -> Vec<IneffectiveOption> {
    let replace = option_at(&dict.settings, "replace");
    let mut dead = Vec::new();
    if let Some(replace) = replace {
        for option in RECURSE.into_iter().chain(["no_replace"]) {
            dead.extend(option_at(&dict.settings, option).map(|at| IneffectiveOption {
                class: Class::Dict,
                option,
                at,
                because: Some(replace),
                note: "`replace` replaces the old value as a whole: nothing is merged below the \
                       top level",
                help: "remove one of the two",
                severity: Severity::Warning,
            }));
        }
    }
    dead.extend(
        option_at(&dict.settings, "recurse_dict").map(|at| IneffectiveOption {
            class: Class::Dict,
            option: "recurse_dict",
            at,
            because: replace,
            note: if replace.is_some() {
                "`replace` replaces the old value as a whole"
            } else {
                "mappings are always merged recursively"
            },
            help: "remove it",
            severity: if replace.is_some() {
                Severity::Warning
            } else {
                Severity::Note
            },
        }),
    );
    dead
}

/// Modes of `list`, in order of precedence.
const MODES: [&str; 4] = ["append", "prepend", "replace", "no_replace"];

fn of_list(list: &Request, dict: &Request) -> Vec<IneffectiveOption> {
    let at = |option| option_at(&list.settings, option);
    let mut modes = MODES.into_iter().filter_map(|mode| Some((mode, at(mode)?)));
    let mode = modes.next();
    let mut dead: Vec<IneffectiveOption> = modes
        .map(|(option, at)| IneffectiveOption {
            class: Class::List,
            option,
            at,
            because: mode.map(|(_, at)| at),
            note: "a list has one merge mode: the first of `append`, `prepend`, `replace` and \
                   `no_replace` that is given, in this order",
            help: "keep only the intended mode",
            severity: Severity::Warning,
        })
        .collect();
    if let Some((mode, because)) = mode.filter(|(mode, _)| *mode != "replace") {
        let recurse = RECURSE.into_iter().chain(["recurse_dict"]);
        dead.extend(
            recurse
                .filter_map(|option| Some((option, at(option)?)))
                .map(|(option, at)| IneffectiveOption {
                    class: Class::List,
                    option,
                    at,
                    because: Some(because),
                    note: match mode {
                        "append" | "prepend" => {
                            "appended or prepended items are not merged into existing ones; the \
                         options of `dict` control whether lists are merged at all"
                        }
                        _ => "the new list is dropped",
                    },
                    help: "remove it; to merge lists, add `recurse_list` to `dict`",
                    severity: Severity::Warning,
                }),
        );
    }
    if !reaches_lists(dict)
        && let Some((option, at)) = mode.filter(|(mode, _)| ["append", "prepend"].contains(mode))
    {
        dead.push(IneffectiveOption {
            class: Class::List,
            option,
            at,
            because: Some(dict.at),
            note: "lists are merged only by `dict` with `recurse_list`: with `replace` the new \
                   list replaces the old one, and without either the old one is kept",
            help: "write `dict(recurse_list)`",
            severity: Severity::Warning,
        });
    }
    dead
}

/// Whether lists in mappings are merged.
fn reaches_lists(dict: &Request) -> bool {
    let recurses = dict.settings.has("recurse_list") || dict.settings.has("recurse_array");
    recurses && !dict.settings.has("replace")
}

fn of_text(text: &Request, specification: &Specification) -> Option<IneffectiveOption> {
    let at = option_at(&text.settings, "append")?;
    let dict = specification.first(Class::Dict)?;
    let in_lists = specification.first(Class::List).is_some_and(|list| {
        let modes = ["append", "prepend", "no_replace"];
        let is_by_item = !modes.into_iter().any(|mode| list.settings.has(mode));
        is_by_item && list.settings.has("recurse_str") && reaches_lists(dict)
    });
    let in_mappings = dict.settings.has("recurse_str") && !dict.settings.has("replace");
    (!in_lists && !in_mappings).then_some(IneffectiveOption {
        class: Class::Str,
        option: "append",
        at,
        because: Some(dict.at),
        note: "strings are merged only by `dict` with `recurse_str`: with `replace` the new string \
               replaces the old one, and without either the old one is kept",
        help: "add `recurse_str` to the options of `dict`, or remove `append`",
        severity: Severity::Warning,
    })
}
