//! `ineffective-merge-option`: an option of a merge class that changes nothing,
//! because of the others.

use super::{SetFacts, SpecifiedPart, option_at};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::merge::cloud_init::{Class, Dialect, Request, Settings, Specification};
use crate::source::Span;

super::super::rule!(
    "ineffective-merge-option",
    Warning,
    "an option of a merge class that changes nothing, because of the others";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // Each of its options does something whatever the others are.
        Dialect::Documented => return,
    }
    for specified in facts.specified() {
        let of = |class| specified.specification.first(class);
        // Without it nothing of the part is taken, which is another finding, as is
        // what is set by a text.
        let Some(dict) = of(Class::Dict).filter(|_| !has_text(&specified)) else { continue };
        let mut dead = of_dict(dict);
        dead.extend(of(Class::List).into_iter().flat_map(|list| of_list(list, dict)));
        dead.extend(of(Class::Str).and_then(|text| of_text(text, &specified.specification)));
        let words = if specified.is_secret() { word_hidden } else { word };
        found.extend(dead.into_iter().map(words));
    }
}

fn has_text(specified: &SpecifiedPart<'_>) -> bool {
    specified.specification.requests.iter().any(|request| match &request.settings {
        Settings::Text(_) => true,
        Settings::Words { .. } => false,
    })
}

/// An option without effect.
struct IneffectiveOption {
    class: Class,
    option: &'static str,
    at: Span,
    /// The text that prevents an effect, where it is written.
    because: Option<Span>,
    note: &'static str,
    help: &'static str,
    severity: Severity,
}

fn word(dead: IneffectiveOption) -> Diagnostic {
    let IneffectiveOption { class, option, at, because, note, help, severity } = dead;
    let message = format!("`{option}` of `{}` has no effect", class.as_str());
    let finding = Diagnostic::new(&RULE, message, Label::new(at, "changes nothing"))
        .note(note)
        .help(help)
        .about(option);
    let finding = match because {
        Some(because) if because != at => finding.related(because, "because of this"),
        Some(_) | None => finding,
    };
    Diagnostic { severity, ..finding }
}

/// Finding in a secret part: nothing of its text.
fn word_hidden(dead: IneffectiveOption) -> Diagnostic {
    let message = format!("an option of `{}` has no effect", dead.class.as_str());
    Diagnostic::new(&RULE, message, Label::new(dead.at, "changes nothing"))
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
                note: "with `replace` a new value takes the place of the old as a whole: nothing \
                       is merged below the top",
                help: "take one of the two out",
                severity: Severity::Warning,
            }));
        }
    }
    dead.extend(option_at(&dict.settings, "recurse_dict").map(|at| IneffectiveOption {
        class: Class::Dict,
        option: "recurse_dict",
        at,
        because: replace,
        note: if replace.is_some() {
            "with `replace` a new value takes the place of the old as a whole"
        } else {
            "mappings are always merged into each other"
        },
        help: "take it out",
        severity: if replace.is_some() { Severity::Warning } else { Severity::Note },
    }));
    dead
}

/// The modes of `list`, the one that counts first.
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
            note: "a list is merged in one way: by the first of `append`, `prepend`, `replace` and \
                   `no_replace` that is named, in this order",
            help: "leave only what is meant",
            severity: Severity::Warning,
        })
        .collect();
    if let Some((mode, because)) = mode.filter(|(mode, _)| *mode != "replace") {
        let recurse = RECURSE.into_iter().chain(["recurse_dict"]);
        dead.extend(recurse.filter_map(|option| Some((option, at(option)?))).map(
            |(option, at)| IneffectiveOption {
                class: Class::List,
                option,
                at,
                because: Some(because),
                note: match mode {
                    "append" | "prepend" => {
                        "items that are put to a list meet none that they could be merged into; \
                         whether a part's lists are merged at all, `dict` says"
                    }
                    _ => "nothing of the new list is taken",
                },
                help: "take it out; for lists to be merged give `recurse_list` to `dict`",
                severity: Severity::Warning,
            },
        ));
    }
    if !reaches_lists(dict)
        && let Some((option, at)) = mode.filter(|(mode, _)| ["append", "prepend"].contains(mode))
    {
        dead.push(IneffectiveOption {
            class: Class::List,
            option,
            at,
            because: Some(dict.at),
            note: "only `dict` with `recurse_list` has lists merged: with `replace` the new list \
                   takes the place of the old, and without both the old one stays",
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
        let takes_turns = !modes.into_iter().any(|mode| list.settings.has(mode));
        takes_turns && list.settings.has("recurse_str") && reaches_lists(dict)
    });
    let in_mappings = dict.settings.has("recurse_str") && !dict.settings.has("replace");
    (!in_lists && !in_mappings).then_some(IneffectiveOption {
        class: Class::Str,
        option: "append",
        at,
        because: Some(dict.at),
        note: "only `dict` with `recurse_str` has texts merged: with `replace` the new text takes \
               the place of the old, and without both the old one stays",
        help: "write `recurse_str` among the options of `dict`, or take `append` out",
        severity: Severity::Warning,
    })
}
