//! Locations in rendered data, as JSON pointers, and how they correspond to locations in earlier
//! data.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::discriminant;
use std::sync::Arc;

use layercake::report::canonical;
use layercake::yaml::emit::{EmitOptions, to_yaml};
use layercake::yaml::{Key, Mapping, Node, Value};
use serde_json::{Map, Value as Json};

/// Entries or items, each with its step of a pointer; secrets have none.
fn children(node: &Node) -> Vec<(String, &Node)> {
    match &node.value {
        _ if node.secret => Vec::new(),
        Value::Mapping(entries) => entries
            .iter()
            .map(|(key, child)| (step(key), child))
            .collect(),
        Value::Sequence(items) => items
            .iter()
            .enumerate()
            .map(|(at, child)| (at.to_string(), child))
            .collect(),
        _ => Vec::new(),
    }
}

fn step(key: &Key) -> String {
    let text = key
        .as_str()
        .map_or_else(|| key_text(key), ToOwned::to_owned);
    text.replace('~', "~0").replace('/', "~1")
}

/// Text of a key that is not a string, as in canonical JSON.
fn key_text(key: &Key) -> String {
    let mapping: Mapping = [(key.clone(), Node::made(Value::Null, key.span))]
        .into_iter()
        .collect();
    let text = canonical(&Node::made(Value::Mapping(Arc::new(mapping)), key.span));
    let json: Map<String, Json> = serde_json::from_str(&text).expect("canonical data is JSON");
    json.keys().next().expect("the mapping has one key").clone()
}

/// Value at a pointer, unless it is inside a secret.
pub fn at<'n>(node: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').skip(1).try_fold(node, |node, step| {
        children(node)
            .into_iter()
            .find(|(name, _)| name == step)
            .map(|(_, child)| child)
    })
}

/// Pointers of scalars, empty collections and whole secrets.
pub fn values(node: &Node) -> Vec<String> {
    let below = |(step, child): (String, &Node)| {
        values(child)
            .into_iter()
            .map(move |pointer| format!("/{step}{pointer}"))
    };
    let found: Vec<String> = children(node).into_iter().flat_map(below).collect();
    if found.is_empty() {
        vec![String::new()]
    } else {
        found
    }
}

/// Pointers of secrets.
pub fn secrets(node: &Node) -> Vec<String> {
    let is_secret = |pointer: &String| at(node, pointer).is_some_and(|it| it.secret);
    values(node).into_iter().filter(is_secret).collect()
}

/// Value without its secrets.
pub fn shown(node: &Node) -> Json {
    let mut json = serde_json::from_str(&canonical(node)).expect("canonical data is JSON");
    for pointer in secrets(node) {
        *Json::pointer_mut(&mut json, &pointer).expect("the pointer exists") = "(hidden)".into();
    }
    json
}

/// Pointers of `head` with the corresponding pointers of `base`.
pub fn counterparts(head: &Node, base: &Node) -> HashMap<String, String> {
    let mut found = HashMap::from([(String::new(), String::new())]);
    for ((step, child), (base_step, base_child)) in paired(head, base) {
        let below = counterparts(child, base_child);
        found.extend(below.into_iter().map(|(pointer, base_pointer)| {
            (
                format!("/{step}{pointer}"),
                format!("/{base_step}{base_pointer}"),
            )
        }));
    }
    found
}

type Step<'n> = (String, &'n Node);

/// Corresponding entries or items of two values.
fn paired<'n>(head: &'n Node, base: &'n Node) -> Vec<(Step<'n>, Step<'n>)> {
    let (above, below) = (children(head), children(base));
    let pairs = match (&head.value, &base.value) {
        (Value::Mapping(_), Value::Mapping(_)) => {
            let same = |step| below.iter().position(|(name, _)| name == step);
            above
                .iter()
                .enumerate()
                .filter_map(|(at, (step, _))| Some((at, same(step)?)))
                .collect()
        }
        (Value::Sequence(_), Value::Sequence(_)) => {
            let items = |children: &[Step<'n>]| children.iter().map(|(_, item)| *item).collect();
            paired_items(items(&above), items(&below))
        }
        _ => Vec::new(),
    };
    pairs
        .into_iter()
        .map(|(at, base_at)| (above[at].clone(), below[base_at].clone()))
        .collect()
}

type ItemPairs = Vec<(usize, usize)>;

/// Indexes of corresponding items.
fn paired_items(head: Vec<&Node>, base: Vec<&Node>) -> ItemPairs {
    for key in ["name", "id"] {
        if let Some((head, base)) = identities(&head, key).zip(identities(&base, key)) {
            let pair = |(identity, at): (&String, &usize)| Some((*at, *base.get(identity)?));
            return head.iter().filter_map(pair).collect();
        }
    }
    let mut pairs = longest_common(&head, &base);
    let mut start = (0, 0);
    for end in [&pairs[..], &[(head.len(), base.len())]].concat() {
        let gap = similar(&head[start.0..end.0], &base[start.1..end.1]);
        pairs.extend(
            gap.into_iter()
                .map(|(at, base_at)| (start.0 + at, start.1 + base_at)),
        );
        start = (end.0 + 1, end.1 + 1);
    }
    pairs
}

/// Indexes of corresponding items that are not equal: in order while their types agree or, if one
/// list is longer and there is one type, by the most similar choice.
fn similar(head: &[&Node], base: &[&Node]) -> ItemPairs {
    let kinds: HashSet<_> = head
        .iter()
        .chain(base)
        .map(|item| discriminant(&item.value))
        .collect();
    if kinds.len() > 1 {
        let gap = head.iter().zip(base);
        let is_of_kind = |(item, other): &(&&Node, &&Node)| {
            discriminant(&item.value) == discriminant(&other.value)
        };
        let count = gap.take_while(is_of_kind).count();
        return (0..count).zip(0..count).collect();
    }
    if head.len() > base.len() {
        return similar(base, head)
            .into_iter()
            .map(|(at, base_at)| (base_at, at))
            .collect();
    }
    // For the items from `at` and `base_at`: sum of the similarities, and the chosen pairs.
    let mut best: HashMap<(usize, usize), (usize, ItemPairs)> = HashMap::new();
    for at in (0..head.len()).rev() {
        for base_at in (at..=at + base.len() - head.len()).rev() {
            let (sum, pairs) = best
                .get(&(at + 1, base_at + 1))
                .cloned()
                .unwrap_or_default();
            let sum = sum + similarity(head[at], base[base_at]);
            let paired = (sum, [&[(at, base_at)], &pairs[..]].concat());
            let skipped = best
                .get(&(at, base_at + 1))
                .filter(|(other, _)| *other > sum);
            best.insert((at, base_at), skipped.cloned().unwrap_or(paired));
        }
    }
    best.remove(&(0, 0)).unwrap_or_default().1
}

/// Equal bytes at both ends of two texts, or equal entries of two mappings.
fn similarity(item: &Node, other: &Node) -> usize {
    if let (Value::String(text), Value::String(other)) = (&item.value, &other.value) {
        let shorter = text.len().min(other.len());
        let is_equal_at_start =
            |count: &usize| text.as_bytes()[..*count] == other.as_bytes()[..*count];
        let start = (0..=shorter).rev().find(is_equal_at_start).unwrap_or(0);
        let [rest, other_rest] = [text, other].map(|text| &text.as_bytes()[start..]);
        let mut ends = (0..=shorter - start).rev();
        let is_equal_at_end =
            |count: &usize| rest[rest.len() - count..] == other_rest[other_rest.len() - count..];
        return start + ends.find(is_equal_at_end).unwrap_or(0);
    }
    let (Value::Mapping(_), Value::Mapping(_)) = (&item.value, &other.value) else {
        return 0;
    };
    let others = children(other);
    let is_equal = |(step, child): &Step<'_>| {
        others
            .iter()
            .any(|(name, other)| name == step && canonical(child) == canonical(other))
    };
    children(item)
        .iter()
        .filter(|entry| is_equal(entry))
        .count()
}

/// Index of each item by its value at `key`; `None` unless all values are distinct.
fn identities(items: &[&Node], key: &str) -> Option<BTreeMap<String, usize>> {
    let identity = |item: &&Node| {
        let identity = at(item, &format!("/{key}"))?;
        matches!(identity.value, Value::String(_) | Value::Int(_)).then(|| canonical(identity))
    };
    let all: Option<Vec<String>> = items.iter().map(identity).collect();
    let by_identity: BTreeMap<String, usize> = all?.into_iter().zip(0..).collect();
    (by_identity.len() == items.len()).then_some(by_identity)
}

/// Indexes of a longest common subsequence of equal items that includes equal items at both ends.
fn longest_common(head: &[&Node], base: &[&Node]) -> Vec<(usize, usize)> {
    let is_equal = |(item, other): &(&&Node, &&Node)| canonical(item) == canonical(other);
    let before = head.iter().zip(base).take_while(is_equal).count();
    let (head_rest, base_rest) = (&head[before..], &base[before..]);
    let after = head_rest
        .iter()
        .rev()
        .zip(base_rest.iter().rev())
        .take_while(is_equal)
        .count();
    let (head_end, base_end) = (head.len() - after, base.len() - after);
    let between = longest_common_between(&head[before..head_end], &base[before..base_end]);
    let between = between
        .into_iter()
        .map(|(at, base_at)| (before + at, before + base_at));
    let ends = (0..before)
        .zip(0..before)
        .chain((head_end..head.len()).zip(base_end..base.len()));
    let mut all: Vec<(usize, usize)> = ends.chain(between).collect();
    all.sort_unstable();
    all
}

/// Among several subsequences, the one that comparisons choose: if an item of either list can be
/// skipped, the one of the shorter list is, or the one with the smaller text.
fn longest_common_between(head: &[&Node], base: &[&Node]) -> Vec<(usize, usize)> {
    let [above, below] = [head, base]
        .map(|items| -> Vec<String> { items.iter().map(|item| canonical(item)).collect() });
    let mut longest = vec![vec![0; below.len() + 1]; above.len() + 1];
    for at in (0..above.len()).rev() {
        for base_at in (0..below.len()).rev() {
            longest[at][base_at] = if above[at] == below[base_at] {
                longest[at + 1][base_at + 1] + 1
            } else {
                longest[at + 1][base_at].max(longest[at][base_at + 1])
            };
        }
    }
    let leaves_out_base = (base.len(), yaml_texts(base)) <= (head.len(), yaml_texts(head));
    let (mut pairs, mut at, mut base_at) = (Vec::new(), 0, 0);
    while at < above.len() && base_at < below.len() {
        let [without_head, without_base] = [longest[at + 1][base_at], longest[at][base_at + 1]];
        if above[at] == below[base_at] {
            pairs.push((at, base_at));
            (at, base_at) = (at + 1, base_at + 1);
        } else if without_base > without_head || without_base == without_head && leaves_out_base {
            base_at += 1;
        } else {
            at += 1;
        }
    }
    pairs
}

fn yaml_texts(items: &[&Node]) -> Vec<String> {
    let options = EmitOptions {
        show_secrets: true,
        origin: None,
    };
    items.iter().map(|item| to_yaml(item, &options)).collect()
}
