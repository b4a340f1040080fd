//! The semantics of 2013 that the first documentation describes
//! (`cloud-init.md` 11): each part says how the *next* one is merged. It never
//! came to be in a release.

use std::sync::Arc;

use layercake_source::Spanned;
use layercake_yaml::{Mapping, Node, Value};

use super::classes::asked;
use super::specification::Asked;
use super::verdict::{Kept, Mergers, Verdict};
use super::{Class, Dialect, Failure, Laying, Settled, Specification};
use crate::merge::Strategy;

/// One part, as it comes to be merged.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// What it holds; a part without a mapping says nothing to the next one.
    pub data: &'a Node,
    /// Its header that says how it is merged.
    pub header: Option<&'a Spanned<Arc<str>>>,
}

/// What each part is laid by, given all of them in order: what the part before
/// it says, in its mapping and then in its header, or
/// `list(extend)+dict()+str(append)` where that says nothing.
///
/// A part whose own specification cannot be read is dropped, and says nothing.
/// A class that is not there costs the part that it would merge: the next one.
pub fn stack<'a>(parts: impl IntoIterator<Item = Incoming<'a>>) -> Vec<Laying> {
    let mut top = Ok(Mergers::Documented(Documented::DEFAULT));
    let laid = parts.into_iter().map(|part| {
        if part.data.as_mapping().is_none() {
            return top.clone();
        }
        let asked = Asked::read(part.data, part.header)?;
        std::mem::replace(&mut top, settled(&asked))
    });
    laid.map(|mergers| Laying::Documented(Settled(mergers))).collect()
}

/// What each of several configurations of falling priority is laid by: what
/// the result of those before it says, which holds until it says another.
///
/// Where the result cannot be read for that, the configuration that made it so
/// fails; cloud-init would have failed as a whole.
pub fn stack_of_many<'a>(configurations: impl IntoIterator<Item = &'a Node>) -> Vec<Laying> {
    let mut top = Ok(Mergers::Documented(Documented::DEFAULT));
    let mut result: Option<Node> = None;
    let mut layings = Vec::new();
    for configuration in configurations {
        let laying = Laying::Documented(Settled(top.clone()));
        let said = only_specification(configuration);
        let base = result.get_or_insert_with(|| empty_like(configuration));
        // What cannot be laid leaves the result as it was.
        let is_laid = Strategy::CloudInit(laying.clone()).lay(base, &said).is_ok();
        let asked = Asked::read(base, None);
        match asked {
            Ok(asked) if is_laid && !asked.is_empty() => top = settled(&asked),
            Ok(_) => {}
            Err(failure) => {
                layings.push(Laying::Documented(Settled(Err(failure))));
                continue;
            }
        }
        layings.push(laying);
    }
    layings
}

fn settled(asked: &Asked) -> Result<Mergers, Failure> {
    if asked.is_empty() {
        return Ok(Mergers::Documented(Documented::DEFAULT));
    }
    let specification = asked.resolved(Dialect::Documented)?;
    Ok(Mergers::of(&specification, Dialect::Documented))
}

/// A mapping with only those of its keys that say how it is merged. Keys do
/// not heed each other, so that they merge as in the whole.
fn only_specification(data: &Node) -> Node {
    let is_one = |key: &str| matches!(key, "merge_how" | "merge_type");
    let entries = data.as_mapping().into_iter().flat_map(Mapping::iter);
    let said = entries.filter(|(key, _)| key.as_str().is_some_and(is_one));
    let said: Mapping = said.map(|(key, node)| (key.clone(), node.clone())).collect();
    Node { value: Value::Mapping(Arc::new(said)), ..data.clone() }
}

fn empty_like(data: &Node) -> Node {
    Node::made(Value::Mapping(Arc::new(Mapping::new())), data.span)
}

/// The classes of 2013 that are asked for; of one that is asked for twice the
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Documented {
    dict: Option<Dict>,
    list: Option<List>,
    text: Option<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dict {
    Overwrite,
    Merge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List {
    on_list: OnList,
    on_other: OnOther,
}

/// What `list` does with another list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnList {
    Extend,
    Keep,
}

/// What `list` does with what is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnOther {
    Discard,
    Append,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Append,
    Keep,
}

impl Documented {
    /// `list(extend)+dict()+str(append)`.
    const DEFAULT: Self = Self {
        dict: Some(Dict::Merge),
        list: Some(List { on_list: OnList::Extend, on_other: OnOther::Append }),
        text: Some(Text::Append),
    };

    pub(super) fn of(specification: &Specification) -> Self {
        let first = |class| specification.first(class).map(|request| &request.settings);
        Self {
            dict: first(Class::Dict)
                .map(|it| if it.has("overwrite") { Dict::Overwrite } else { Dict::Merge }),
            list: first(Class::List).map(|it| List {
                on_list: if it.has("extend") { OnList::Extend } else { OnList::Keep },
                on_other: if it.has("discard_non_list") {
                    OnOther::Discard
                } else {
                    OnOther::Append
                },
            }),
            text: first(Class::Str)
                .map(|it| if it.has("append") { Text::Append } else { Text::Keep }),
        }
    }

    /// Whether two values of this type are merged so that nothing of both is lost.
    pub(super) fn keeps_both(self, class: Class) -> bool {
        let merges = self.dict == Some(Dict::Merge);
        match class {
            Class::Dict => merges,
            Class::List => merges && self.list.is_some_and(|list| list.on_list == OnList::Extend),
            Class::Str => merges && self.text == Some(Text::Append),
        }
    }

    /// The type of the old value decides.
    pub(super) fn meet(self, old: &Node, new: &Node) -> Verdict {
        let Some(class) = super::classes::class_for(&old.value) else {
            return Verdict::Old(Kept::UnhandledType);
        };
        let missing = Verdict::Old(Kept::MissingClass(class));
        match class {
            Class::Dict => self.dict.map_or(missing, |_| match new.as_mapping() {
                Some(_) => Verdict::Entries,
                None => Verdict::Old(Kept::NotAMapping),
            }),
            Class::List => self.list.map_or(missing, |list| list.meet(new)),
            Class::Str => self.text.map_or(missing, |text| match text {
                Text::Append => Verdict::Joined,
                Text::Keep => Verdict::Old(Kept::NoAppend),
            }),
        }
    }

    /// `dict`'s way with a key that both have.
    pub(super) fn clash(self, old: &Node, new: &Node) -> Verdict {
        match self.dict {
            Some(Dict::Overwrite) => Verdict::New,
            Some(Dict::Merge) => self.meet(old, new),
            None => Verdict::Old(Kept::MissingClass(Class::Dict)),
        }
    }
}

impl std::fmt::Display for Documented {
    /// As a specification that asks for the same.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dict = self.dict.map(|it| asked(Class::Dict, [(it == Dict::Overwrite, "overwrite")]));
        let list = self.list.map(|it| {
            let extends = it.on_list == OnList::Extend;
            let discards = it.on_other == OnOther::Discard;
            asked(Class::List, [(extends, "extend"), (discards, "discard_non_list")])
        });
        let text = self.text.map(|it| asked(Class::Str, [(it == Text::Append, "append")]));
        let classes: Vec<String> = [list, dict, text].into_iter().flatten().collect();
        formatter.write_str(&classes.join("+"))
    }
}

impl List {
    fn meet(self, new: &Node) -> Verdict {
        let is_list = matches!(new.value, Value::Sequence(_) | Value::Pairs(_));
        match (is_list, self.on_list, self.on_other) {
            (true, OnList::Extend, _) => Verdict::After,
            (true, OnList::Keep, _) => Verdict::Old(Kept::NoExtend),
            (false, _, OnOther::Discard) => Verdict::Old(Kept::DiscardedNonList),
            (false, _, OnOther::Append) => Verdict::Item,
        }
    }
}
