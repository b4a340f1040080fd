//! Current merge classes: decisions on two values at the same place (`cloud-init.md` 5).

use layercake_yaml::{Key, Node, Value};

use super::elements::length;
use super::verdict::{Kept, Verdict};
use super::{Class, Default, Request, Specification};

/// Requested classes; the first request for a class is the effective one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    dict: Option<Dict>,
    list: Option<List>,
    text: Option<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dict {
    replace: bool,
    allow_delete: bool,
    recursion: Recursion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List {
    mode: Mode,
    recursion: Recursion,
}

/// Behaviour of `list` for another list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Append,
    Prepend,
    Replace,
    NoReplace,
}

/// Types of new values that are merged recursively. A `dict` always recurses into mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recursion {
    dict: bool,
    list: bool,
    text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    append: bool,
}

impl Current {
    pub(super) fn of(specification: &Specification) -> Self {
        Self {
            dict: specification.first(Class::Dict).map(Dict::of),
            list: specification.first(Class::List).map(List::of),
            text: specification.first(Class::Str).map(Text::of),
        }
    }

    /// Creates `dict(replace)+list()+str()` for parts, otherwise `list()+dict()+str()` (1).
    pub(super) fn of_default(default: Default) -> Self {
        let into_dict = Recursion {
            dict: true,
            list: false,
            text: false,
        };
        let nowhere = Recursion {
            dict: false,
            ..into_dict
        };
        Self {
            dict: Some(Dict {
                replace: default == Default::UserData,
                allow_delete: false,
                recursion: into_dict,
            }),
            list: Some(List {
                mode: Mode::Replace,
                recursion: nowhere,
            }),
            text: Some(Text { append: false }),
        }
    }

    /// Decides by the type of the old value, as Python's `LookupMerger.merge`.
    pub(super) fn meet(&self, old: &Node, new: &Node) -> Verdict {
        let Some(class) = class_for(&old.value) else {
            return Verdict::Old(Kept::UnhandledType);
        };
        let missing = Verdict::Old(Kept::MissingClass(class));
        match class {
            Class::Dict => self.dict.map_or(missing, |_| Dict::meet(new)),
            Class::List => self.list.map_or(missing, |list| list.meet(old, new)),
            Class::Str => self.text.map_or(missing, |text| text.meet(new)),
        }
    }

    /// Decides about a key that both mappings have; only for `dict`.
    pub(super) fn clash(&self, old: &Node, new: &Node) -> Verdict {
        let Some(dict) = self.dict else {
            return Verdict::Old(Kept::MissingClass(Class::Dict));
        };
        match (new.is_null(), dict.allow_delete, dict.replace) {
            (true, true, _) => Verdict::Gone,
            (_, _, true) => Verdict::New,
            (true, false, false) => Verdict::Old(Kept::Null),
            (false, _, false) => self.recurse(dict.recursion, old, new),
        }
    }

    /// Returns whether `dict` keeps old values.
    pub(super) fn keeps(&self) -> bool {
        self.dict.is_some_and(|dict| !dict.replace)
    }

    fn recurse(&self, recursion: Recursion, old: &Node, new: &Node) -> Verdict {
        let reason = match class_for(&new.value) {
            None => Kept::Scalar,
            Some(class) if recursion.reaches(class) => return self.meet(old, new),
            // Recursion would not change it either.
            Some(_) if class_for(&old.value).is_none() => Kept::UnhandledType,
            Some(Class::List) => Kept::NoListRecursion,
            Some(Class::Str) => Kept::NoTextRecursion,
            Some(Class::Dict) => Kept::NotAMapping,
        };
        Verdict::Old(reason)
    }

    /// Decides about an index that both lists have, as `list(replace)`; only for `list`.
    pub(super) fn item(&self, old: &Node, new: &Node) -> Verdict {
        let Some(list) = self.list else {
            return Verdict::Old(Kept::MissingClass(Class::List));
        };
        match class_for(&new.value) {
            Some(class) if list.recursion.reaches(class) => self.meet(old, new),
            Some(_) | None => Verdict::New,
        }
    }
}

impl std::fmt::Display for Current {
    /// Formats the equivalent specification, without options that have no effect.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dict = self
            .dict
            .map(|dict| format_class(Class::Dict, dict.options()));
        let list = self
            .list
            .map(|list| format_class(Class::List, list.options()));
        let text = self
            .text
            .map(|text| format_class(Class::Str, text.options()));
        let classes: Vec<String> = [dict, list, text].into_iter().flatten().collect();
        formatter.write_str(&classes.join("+"))
    }
}

/// Formats a class with the options that are set.
pub(super) fn format_class<const COUNT: usize>(
    class: Class,
    options: [(bool, &'static str); COUNT],
) -> String {
    let set = options
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, option)| option);
    format!("{}({})", class.as_str(), set.collect::<Vec<_>>().join(","))
}

/// Returns the class for a value of this type. In Python, a list of pairs is a list, and a set is
/// not.
pub(super) fn class_for(value: &Value) -> Option<Class> {
    match value {
        Value::Mapping(_) => Some(Class::Dict),
        Value::Sequence(_) | Value::Pairs(_) => Some(Class::List),
        Value::String(_) => Some(Class::Str),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_) => None,
    }
}

/// Returns whether a value is a list of Python.
pub(super) fn is_list(node: &Node) -> bool {
    class_for(&node.value) == Some(Class::List)
}

impl Recursion {
    fn of(request: &Request) -> Self {
        let has = |option| request.settings.has(option);
        Self {
            dict: has("recurse_dict"),
            list: has("recurse_list") || has("recurse_array"),
            text: has("recurse_str"),
        }
    }

    fn reaches(self, class: Class) -> bool {
        match class {
            Class::Dict => self.dict,
            Class::List => self.list,
            Class::Str => self.text,
        }
    }
}

impl Dict {
    fn of(request: &Request) -> Self {
        let has = |option| request.settings.has(option);
        Self {
            replace: has("replace"),
            allow_delete: has("allow_delete"),
            recursion: Recursion {
                dict: true,
                ..Recursion::of(request)
            },
        }
    }

    fn options(self) -> [(bool, &'static str); 4] {
        // A replaced value is not merged further.
        let is_kept = !self.replace;
        [
            (self.replace, "replace"),
            (is_kept && self.recursion.list, "recurse_list"),
            (is_kept && self.recursion.text, "recurse_str"),
            (self.allow_delete, "allow_delete"),
        ]
    }

    fn meet(new: &Node) -> Verdict {
        if new.as_mapping().is_some() {
            Verdict::Entries
        } else {
            Verdict::Old(Kept::NotAMapping)
        }
    }
}

impl List {
    /// Checks the modes in cloud-init's fixed order.
    fn of(request: &Request) -> Self {
        let modes = [
            ("append", Mode::Append),
            ("prepend", Mode::Prepend),
            ("replace", Mode::Replace),
            ("no_replace", Mode::NoReplace),
        ];
        let found = modes
            .into_iter()
            .find(|(option, _)| request.settings.has(option));
        let mode = found.map_or(Mode::Replace, |(_, mode)| mode);
        Self {
            mode,
            recursion: Recursion::of(request),
        }
    }

    fn options(self) -> [(bool, &'static str); 6] {
        let is_replaced = self.mode == Mode::Replace;
        [
            (self.mode == Mode::Append, "append"),
            (self.mode == Mode::Prepend, "prepend"),
            (self.mode == Mode::NoReplace, "no_replace"),
            (is_replaced && self.recursion.dict, "recurse_dict"),
            (is_replaced && self.recursion.list, "recurse_list"),
            (is_replaced && self.recursion.text, "recurse_str"),
        ]
    }

    fn meet(self, old: &Node, new: &Node) -> Verdict {
        // Recursion only applies to mappings, lists and strings.
        let Some(class) = class_for(&new.value) else {
            return Verdict::Old(Kept::Scalar);
        };
        match (self.mode, class) {
            (Mode::Append, _) => Verdict::After,
            (Mode::Prepend, _) => Verdict::Before,
            (Mode::Replace, Class::List) => Verdict::Items,
            (Mode::Replace, Class::Dict | Class::Str) => Verdict::New,
            (Mode::NoReplace, Class::Dict) if !has_indexes_of(new, old) => Verdict::NoIndex,
            (Mode::NoReplace, _) => Verdict::Old(Kept::NoReplace),
        }
    }
}

/// Returns whether Python finds an entry of the mapping for each index that it looks up: those
/// below the length of both.
fn has_indexes_of(mapping: &Node, list: &Node) -> bool {
    let Some(mapping_entries) = mapping.as_mapping() else {
        return false;
    };
    let common = length(list).min(mapping_entries.len());
    (0..common).all(|index| {
        let index = i64::try_from(index).expect("lists are shorter than `i64::MAX`");
        mapping_entries
            .get(&Key {
                value: Value::Int(index),
                span: mapping.span,
            })
            .is_some()
    })
}

impl Text {
    fn of(request: &Request) -> Self {
        Self {
            append: request.settings.has("append"),
        }
    }

    fn options(self) -> [(bool, &'static str); 1] {
        [(self.append, "append")]
    }

    fn meet(self, new: &Node) -> Verdict {
        match (self.append, &new.value) {
            (false, _) => Verdict::New,
            (true, Value::String(_)) => Verdict::Joined,
            (true, _) => Verdict::NotText,
        }
    }
}
