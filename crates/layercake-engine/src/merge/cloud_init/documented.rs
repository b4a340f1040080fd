//! Semantics of the first documentation of 2013 (`cloud-init.md` 11): each part specifies how the
//! *next* one is merged. It was never released.

use std::sync::Arc;

use layercake_source::Spanned;
use layercake_yaml::{Mapping, Node, Value};

use super::classes::{class_for, format_class, is_list};
use super::specification::ParsedSpecification;
use super::verdict::{Kept, Mergers, Verdict};
use super::{Class, Dialect, Failure, MergeRules, Settled, Specification};
use crate::merge::Strategy;

/// Part to be merged.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Content of the part. Without a mapping, it does not affect the next part.
    pub data: &'a Node,
    /// Merge header of the part.
    pub header: Option<&'a Spanned<Arc<str>>>,
}

/// Returns the merge strategy of each part, given all of them in order: the specification of the
/// previous part, in its mapping and then in its header, or `list(extend)+dict()+str(append)` by
/// default.
///
/// A part with an invalid specification is dropped and ignored. A specification with an unknown
/// class drops the next part, which it would merge.
pub fn stack<'a>(parts: impl IntoIterator<Item = Incoming<'a>>) -> Vec<MergeRules> {
    let mut top = Ok(Mergers::Documented(Documented::DEFAULT));
    let merged_data = parts.into_iter().map(|part| {
        if part.data.as_mapping().is_none() {
            return top.clone();
        }
        let parsed = ParsedSpecification::read(part.data, part.header)?;
        std::mem::replace(&mut top, settled(&parsed))
    });
    merged_data
        .map(|mergers| MergeRules::Documented(Settled(mergers)))
        .collect()
}

/// Returns the merge strategy of each configuration, by falling priority: the specification of the
/// merged result so far, which applies until it specifies another.
///
/// If the specification of the result is invalid, the configuration that made it so fails.
/// cloud-init would have failed as a whole.
pub fn stack_of_many<'a>(configurations: impl IntoIterator<Item = &'a Node>) -> Vec<MergeRules> {
    let mut top = Ok(Mergers::Documented(Documented::DEFAULT));
    let mut result: Option<Node> = None;
    let mut all_rules = Vec::new();
    for configuration in configurations {
        let rules = MergeRules::Documented(Settled(top.clone()));
        let said = only_specification(configuration);
        let base = result.get_or_insert_with(|| empty_like(configuration));
        // A failed merge leaves the result unchanged.
        let is_merged = Strategy::CloudInit(rules.clone())
            .merge(base, &said)
            .is_ok();
        let parsed = ParsedSpecification::read(base, None);
        match parsed {
            Ok(parsed) if is_merged && !parsed.is_empty() => top = settled(&parsed),
            Ok(_) => {}
            Err(failure) => {
                all_rules.push(MergeRules::Documented(Settled(Err(failure))));
                continue;
            }
        }
        all_rules.push(rules);
    }
    all_rules
}

fn settled(parsed: &ParsedSpecification) -> Result<Mergers, Failure> {
    if parsed.is_empty() {
        return Ok(Mergers::Documented(Documented::DEFAULT));
    }
    let specification = parsed.resolved(Dialect::Documented)?;
    Ok(Mergers::of(&specification, Dialect::Documented))
}

/// Returns a mapping with only the merge specification. Keys are merged independently, so these
/// merge as in the whole mapping.
fn only_specification(data: &Node) -> Node {
    let entries = data.as_mapping().into_iter().flat_map(Mapping::iter);
    let said: Mapping = entries
        .filter(|(key, _)| {
            key.as_str()
                .is_some_and(|key| matches!(key, "merge_how" | "merge_type"))
        })
        .map(|(key, node)| (key.clone(), node.clone()))
        .collect();
    Node {
        value: Value::Mapping(Arc::new(said)),
        ..data.clone()
    }
}

fn empty_like(data: &Node) -> Node {
    Node::made(Value::Mapping(Arc::new(Mapping::new())), data.span)
}

/// Requested classes of 2013; the first request for a class is the effective one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Documented {
    dict: Option<Dict>,
    list: Option<List>,
    text: Option<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dict {
    overwrite: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List {
    extend: bool,
    discard_non_list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    append: bool,
}

impl Documented {
    /// `list(extend)+dict()+str(append)`.
    const DEFAULT: Self = Self {
        dict: Some(Dict { overwrite: false }),
        list: Some(List {
            extend: true,
            discard_non_list: false,
        }),
        text: Some(Text { append: true }),
    };

    pub(super) fn of(specification: &Specification) -> Self {
        let first = |class| specification.first(class).map(|request| &request.settings);
        Self {
            dict: first(Class::Dict).map(|settings| Dict {
                overwrite: settings.has("overwrite"),
            }),
            list: first(Class::List).map(|settings| List {
                extend: settings.has("extend"),
                discard_non_list: settings.has("discard_non_list"),
            }),
            text: first(Class::Str).map(|settings| Text {
                append: settings.has("append"),
            }),
        }
    }

    /// Decides by the type of the old value.
    pub(super) fn meet(self, old: &Node, new: &Node) -> Verdict {
        let Some(class) = class_for(&old.value) else {
            return Verdict::Old(Kept::UnhandledType);
        };
        let missing = Verdict::Old(Kept::MissingClass(class));
        match class {
            Class::Dict => self.dict.map_or(missing, |_| match new.as_mapping() {
                Some(_) => Verdict::Entries,
                None => Verdict::Old(Kept::NotAMapping),
            }),
            Class::List => self.list.map_or(missing, |list| list.meet(new)),
            Class::Str => self.text.map_or(missing, |text| {
                if text.append {
                    Verdict::Joined
                } else {
                    Verdict::Old(Kept::NoAppend)
                }
            }),
        }
    }

    /// Decides about a key that both mappings have, as `dict` does.
    pub(super) fn clash(self, old: &Node, new: &Node) -> Verdict {
        match self.dict {
            Some(Dict { overwrite: true }) => Verdict::New,
            Some(Dict { overwrite: false }) => self.meet(old, new),
            None => Verdict::Old(Kept::MissingClass(Class::Dict)),
        }
    }
}

impl std::fmt::Display for Documented {
    /// Formats the equivalent specification.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dict = self
            .dict
            .map(|it| format_class(Class::Dict, [(it.overwrite, "overwrite")]));
        let list = self.list.map(|it| {
            format_class(
                Class::List,
                [
                    (it.extend, "extend"),
                    (it.discard_non_list, "discard_non_list"),
                ],
            )
        });
        let text = self
            .text
            .map(|it| format_class(Class::Str, [(it.append, "append")]));
        let classes: Vec<String> = [list, dict, text].into_iter().flatten().collect();
        formatter.write_str(&classes.join("+"))
    }
}

impl List {
    fn meet(self, new: &Node) -> Verdict {
        match (is_list(new), self.extend, self.discard_non_list) {
            (true, true, _) => Verdict::After,
            (true, false, _) => Verdict::Old(Kept::NoExtend),
            (false, _, true) => Verdict::Old(Kept::DiscardedNonList),
            (false, _, false) => Verdict::Item,
        }
    }
}
