//! Edits of data, and of text only.

use layercake::yaml::{Node, Value};

use super::super::text::{
    line_starts, parsed, replaced, with_entry, with_item, with_swapped, without,
};
use super::values::{key as any_key, quoted, scalar as any_scalar, value};
use super::workshop::{Changed, Picked, Workshop};

fn is_scalar(node: &Node) -> bool {
    !node.is_collection() && !matches!(node.value, Value::Set(_) | Value::Pairs(_))
}

fn size(node: &Node) -> usize {
    let items = node.as_sequence().map(<[Node]>::len);
    items
        .or(node.as_mapping().map(layercake::yaml::Mapping::len))
        .unwrap_or_default()
}

/// Chooses a document with data, and a node in the data.
fn inside(
    workshop: &mut Workshop<'_>,
    wanted: impl Fn(&Node) -> bool + Copy,
) -> Option<(Picked, Node)> {
    let picked =
        workshop.pick(|root| root.get("data").is_some() && root.get("schema").is_some())?;
    if super::workshop::is_definition(&picked.root) {
        return None;
    }
    let node = workshop.node(picked.at(&["data"])?, wanted)?;
    Some((picked, node))
}

pub fn scalar(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, is_scalar)?;
    Some(picked.with(&node, &any_scalar(workshop.random)))
}

pub fn subtree(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |_| true)?;
    Some(picked.with(&node, &value(workshop.random)))
}

pub fn entry(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |node| node.as_mapping().is_some())?;
    let name = any_key(workshop.random);
    if node.get(name).is_some() {
        return None;
    }
    let text = with_entry(&picked.text, &node, name, &value(workshop.random))?;
    Some(picked.become_text(text))
}

pub fn no_entry(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |node| {
        node.as_mapping().is_some() && size(node) > 0
    })?;
    let text = without(&picked.text, &node, workshop.random.below(size(&node)))?;
    Some(picked.become_text(text))
}

pub fn key(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |node| {
        node.as_mapping().is_some() && size(node) > 0
    })?;
    let index = workshop.random.below(size(&node));
    let key = node.as_mapping()?.keys().nth(index)?;
    let name = any_key(workshop.random);
    if node.get(name).is_some() {
        return None;
    }
    Some(picked.become_text(replaced(&picked.text, key.span.range(), name)))
}

pub fn item(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |node| node.as_sequence().is_some())?;
    let index = workshop.random.below(size(&node).max(1));
    let text = with_item(&picked.text, &node, index, &value(workshop.random))?;
    Some(picked.become_text(text))
}

pub fn no_item(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (picked, node) = inside(workshop, |node| {
        node.as_sequence().is_some() && size(node) > 0
    })?;
    let text = without(&picked.text, &node, workshop.random.below(size(&node)))?;
    Some(picked.become_text(text))
}

/// Inserts a comment line; inside a block scalar it would be text, which is detected by comparing
/// the values.
pub fn comment(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (path, text) = workshop.file()?;
    let at = *workshop.random.of(&line_starts(&text))?;
    let number = workshop.random.below(1000);
    let comment = format!("{}# Comment {number}.\n", " ".repeat(number % 5));
    Some(vec![(path, Some(replaced(&text, at..at, &comment)))])
}

pub fn quotes(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.pick(|_| true)?;
    let node = workshop.node(&picked.root, |node| {
        node.as_str()
            .is_some_and(|text| !text.contains(['\n', '\\', '"']))
    })?;
    let text = node.as_str()?;
    let new = match workshop.random.below(3) {
        0 => quoted(text),
        1 => format!("\"{text}\""),
        _ => text.to_owned(),
    };
    Some(picked.become_text(replaced(&picked.text, node.span.range(), &new)))
}

pub fn keys_reordered(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.pick(|_| true)?;
    let node = workshop.node(&picked.root, |node| {
        node.as_mapping().is_some() && size(node) > 2
    })?;
    let index = workshop.random.below(size(&node) - 2);
    Some(picked.become_text(with_swapped(&picked.text, &node, index)?))
}

/// Inserts text that is usually invalid YAML at its location.
pub fn breaks(workshop: &mut Workshop<'_>) -> Option<Changed> {
    const WRONG: &[&str] = &[
        "\t- x",
        "key: [",
        "a: b: c\n",
        "\"",
        "%",
        "&a *b ",
        "{",
        "!x!",
        "\0",
    ];
    let (path, text) = workshop.file()?;
    let at = *workshop.random.of(&line_starts(&text))?;
    let new = replaced(&text, at..at, workshop.random.word(WRONG));
    let is_broken = parsed(&path, &new)
        .problems
        .iter()
        .any(|problem| problem.kind.is_fatal());
    is_broken.then(|| vec![(path, Some(new))])
}
