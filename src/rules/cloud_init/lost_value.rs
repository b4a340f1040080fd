//! `lost-value`: a value of a part that is not taken over where it meets
//! another.

use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Class, Dialect, Kept, Notice};
use crate::yaml::path::{Location, Piece};

super::super::rule!(
    "lost-value",
    Warning,
    "a value of a cloud-init part that is not taken over where it meets another"
);

/// None where it is meant so.
pub(super) fn word(laid: &MergedDocument<'_>, notice: &Notice, kept: Kept) -> Option<Diagnostic> {
    if is_meant(laid, notice, kept) || is_specification(&notice.place) {
        return None;
    }
    let LostValueMessage { why, help } = words(laid, notice, kept)?;
    let shown = laid.shown(&notice.place);
    let message = match &shown {
        Some(place) => format!("`{place}` is lost: {why}"),
        None => format!("a value is lost: {why}"),
    };
    let at = laid.at(&notice.place, notice.at);
    let finding = Diagnostic::new(&RULE, message, Label::new(at, "not taken over"))
        .related(laid.facts.first_line(notice.old), "this stays")
        .help(help);
    Some(finding.about(shown.unwrap_or_default()))
}

/// In the dialect of 2013 a merge specification is data, which meets that of other parts.
fn is_specification(place: &Location) -> bool {
    let key = place.0.first().and_then(|piece| match piece {
        Piece::Key(key) => key.as_str(),
        Piece::Index(_) => None,
    });
    matches!(key, Some("merge_how" | "merge_type"))
}

/// Whether the present value is meant to stay: because it counts more, or because the part says so.
/// The specification itself is reported where its effect does not depend on the value.
fn is_meant(laid: &MergedDocument<'_>, notice: &Notice, kept: Kept) -> bool {
    let keeps = laid.is_lower() || laid.asks(Class::Dict, &["no_replace"]);
    match kept {
        Kept::Null | Kept::NoReplace | Kept::DiscardedNonList => true,
        Kept::Scalar | Kept::UnhandledType => keeps,
        Kept::NotAMapping | Kept::NoExtend | Kept::NoAppend => laid.is_lower(),
        Kept::NoListRecursion | Kept::NoTextRecursion if other_type(notice, kept).is_some() => {
            keeps
        }
        Kept::NoListRecursion => keeps || laid.asks(Class::List, &["append", "prepend"]),
        Kept::NoTextRecursion => keeps || laid.asks(Class::Str, &["append"]),
        Kept::MissingClass(Class::Dict) => true,
        Kept::MissingClass(Class::List) => {
            laid.is_lower() || laid.asks(Class::Dict, &["recurse_list", "recurse_array"])
        }
        Kept::MissingClass(Class::Str) => {
            laid.is_lower() || laid.asks(Class::Dict, &["recurse_str"])
        }
    }
}

struct LostValueMessage {
    why: String,
    help: String,
}

fn words(laid: &MergedDocument<'_>, notice: &Notice, kept: Kept) -> Option<LostValueMessage> {
    let message = |why: &str, help: &str| {
        Some(LostValueMessage { why: why.to_owned(), help: help.to_owned() })
    };
    if let Some(class) = other_type(notice, kept) {
        return Some(LostValueMessage {
            why: format!("what it meets is a {}", singular(class)),
            help: format!("write it as a {}, or take one of the two out", singular(class)),
        });
    }
    match kept {
        Kept::Null | Kept::NoReplace | Kept::DiscardedNonList | Kept::NotAMapping => None,
        Kept::Scalar | Kept::UnhandledType => Some(scalar(laid)),
        Kept::NoListRecursion => message(
            "`dict` lacks `recurse_list`",
            "write `dict(recurse_list)+list(append)` to join the lists; `dict(no_replace)` says \
             that this is meant",
        ),
        Kept::NoTextRecursion => message(
            "`dict` lacks `recurse_str`",
            "write `dict(recurse_str)` and `str()` to take the new text; `dict(no_replace)` says \
             that this is meant",
        ),
        Kept::MissingClass(class) => Some(LostValueMessage {
            why: format!("no class is asked for that merges into {}", plural(class)),
            help: format!("add `{}()`", class.as_str()),
        }),
        Kept::NoExtend => message("`list` lacks `extend`", "write `list(extend)`"),
        Kept::NoAppend => message("`str` lacks `append`", "write `str(append)`"),
    }
}

/// One of the two is neither mapping, list nor text.
fn scalar(laid: &MergedDocument<'_>) -> LostValueMessage {
    let (replace, keep) = match laid.dialect {
        Dialect::Current => ("replace", "; `dict(no_replace)` says that this is meant"),
        Dialect::Documented => ("overwrite", ""),
    };
    LostValueMessage {
        why: format!("`dict` without `{replace}` keeps what is there"),
        help: format!(
            "take it out here or in the earlier part, or write `dict({replace})`, which takes each \
             value as a whole{keep}"
        ),
    }
}

/// The class of the old value, where the new one is of another type, so that no option would merge
/// the two.
fn other_type(notice: &Notice, kept: Kept) -> Option<Class> {
    let of_new = match kept {
        Kept::NotAMapping => return Some(Class::Dict),
        Kept::NoListRecursion => Class::List,
        Kept::NoTextRecursion => Class::Str,
        Kept::Null
        | Kept::Scalar
        | Kept::MissingClass(_)
        | Kept::UnhandledType
        | Kept::NoReplace
        | Kept::NoExtend
        | Kept::DiscardedNonList
        | Kept::NoAppend => return None,
    };
    notice.old_class.filter(|class| *class != of_new)
}

fn singular(class: Class) -> &'static str {
    match class {
        Class::Dict => "mapping",
        Class::List => "list",
        Class::Str => "text",
    }
}

fn plural(class: Class) -> &'static str {
    match class {
        Class::Dict => "mappings",
        Class::List => "lists",
        Class::Str => "texts",
    }
}
