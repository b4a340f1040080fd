//! `lost-value`: a value of a part that is dropped when it is merged with another.

use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::{Class, Dialect, Kept, Notice};
use crate::yaml::path::Location;

super::super::rule!(
    "lost-value",
    Warning,
    "value of a cloud-init part that is dropped when it is merged"
);

/// Returns `None` if the loss is intended.
pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    kept: Kept,
) -> Option<Diagnostic> {
    if is_meant(merged, notice, kept) || is_specification(&notice.place) {
        return None;
    }
    let LostValueMessage { why, help } = words(merged, notice, kept)?;
    let message = format!("{} is lost: {why}", merged.place_or(notice, "a value"));
    let labels = ["dropped", "this value is kept"];
    Some(merged.finding(&RULE, notice, message, labels).help(help))
}

/// In the 2013 dialect a merge specification is data that is merged like any other.
pub(super) fn is_specification(place: &Location) -> bool {
    matches!(place.first_key(), Some("merge_how" | "merge_type"))
}

/// Whether the existing value is meant to be kept, because it has higher priority or the
/// specification says so. Specifications that never have an effect are reported by other rules.
fn is_meant(merged: &MergedDocument<'_>, notice: &Notice, kept: Kept) -> bool {
    let keeps = merged.is_lower() || merged.asks(Class::Dict, &["no_replace"]);
    match kept {
        Kept::Null | Kept::NoReplace | Kept::DiscardedNonList => true,
        Kept::Scalar | Kept::UnhandledType => keeps,
        Kept::NotAMapping | Kept::NoExtend | Kept::NoAppend => merged.is_lower(),
        Kept::NoListRecursion | Kept::NoTextRecursion if other_type(notice, kept).is_some() => {
            keeps
        }
        Kept::NoListRecursion => keeps || merged.asks(Class::List, &["append", "prepend"]),
        Kept::NoTextRecursion => keeps || merged.asks(Class::Str, &["append"]),
        Kept::MissingClass(Class::Dict) => true,
        Kept::MissingClass(Class::List) => {
            merged.is_lower() || merged.asks(Class::Dict, &["recurse_list", "recurse_array"])
        }
        Kept::MissingClass(Class::Str) => {
            merged.is_lower() || merged.asks(Class::Dict, &["recurse_str"])
        }
    }
}

struct LostValueMessage {
    why: String,
    help: String,
}

fn words(merged: &MergedDocument<'_>, notice: &Notice, kept: Kept) -> Option<LostValueMessage> {
    let message = |why: &str, help: &str| {
        Some(LostValueMessage {
            why: why.to_owned(),
            help: help.to_owned(),
        })
    };
    if let Some(class) = other_type(notice, kept) {
        return Some(LostValueMessage {
            why: format!("the existing value is a {}", singular(class)),
            help: format!(
                "write it as a {}, or remove one of the two",
                singular(class)
            ),
        });
    }
    match kept {
        Kept::Null | Kept::NoReplace | Kept::DiscardedNonList | Kept::NotAMapping => None,
        Kept::Scalar | Kept::UnhandledType => Some(scalar(merged)),
        Kept::NoListRecursion => message(
            "`dict` lacks `recurse_list`",
            "write `dict(recurse_list)+list(append)` to join the lists, or `dict(no_replace)` if \
             this is intended",
        ),
        Kept::NoTextRecursion => message(
            "`dict` lacks `recurse_str`",
            "write `dict(recurse_str)` and `str()` to use the new string, or `dict(no_replace)` if \
             this is intended",
        ),
        Kept::MissingClass(class) => Some(LostValueMessage {
            why: format!(
                "the specification has no class that merges into {}",
                plural(class)
            ),
            help: format!("add `{}()`", class.as_str()),
        }),
        Kept::NoExtend => message("`list` lacks `extend`", "write `list(extend)`"),
        Kept::NoAppend => message("`str` lacks `append`", "write `str(append)`"),
    }
}

/// Message for a value that is neither mapping, list nor string.
fn scalar(merged: &MergedDocument<'_>) -> LostValueMessage {
    let (replace, keep) = match merged.dialect {
        Dialect::Current => ("replace", "; write `dict(no_replace)` if this is intended"),
        Dialect::Documented => ("overwrite", ""),
    };
    LostValueMessage {
        why: format!("`dict` without `{replace}` keeps the existing value"),
        help: format!(
            "remove it here or in the earlier part, or write `dict({replace})`, which replaces \
             each value as a whole{keep}"
        ),
    }
}

/// Class of the old value if the new one has another type, so no option merges the two.
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

pub(super) fn singular(class: Class) -> &'static str {
    match class {
        Class::Dict => "mapping",
        Class::List => "list",
        Class::Str => "string",
    }
}

fn plural(class: Class) -> &'static str {
    match class {
        Class::Dict => "mappings",
        Class::List => "lists",
        Class::Str => "strings",
    }
}
