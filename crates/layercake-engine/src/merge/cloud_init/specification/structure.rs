//! Structured form of a specification (`cloud-init.md` 4): any value that Python can iterate over.
//! The name of each item is the first element that Python finds in it.

use layercake_source::{Span, Spanned};
use layercake_yaml::{Key, Mapping, Node, Value};

use super::text::items_of_text;
use super::written::Written;
use super::{Item, Name, Options, Settings, strip, with_underscores};
use crate::merge::cloud_init::{Failure, FailureKind, ShapeFault};

/// Parses the value of `merge_how`: a string (3), or a value that Python can iterate over (4).
pub(super) fn items_of(how: &Node) -> Result<Vec<Item>, Failure> {
    let each = |nodes: &mut dyn Iterator<Item = Node>| -> Result<Vec<Item>, Failure> {
        nodes
            .filter_map(|node| item_of(&node, how.secret).transpose())
            .collect()
    };
    let of_key = |key: &Key| Node {
        secret: how.secret,
        ..Node::new(key.value.clone(), key.span)
    };
    match &how.value {
        Value::String(_) => items_of_text(&Written::of_node(how), how.secret),
        Value::Sequence(items) => each(&mut items.iter().cloned()),
        Value::Mapping(mapping) => each(&mut mapping.keys().map(of_key)),
        Value::Set(keys) => each(&mut keys.iter().map(of_key)),
        Value::Pairs(pairs) => {
            let listed = pairs.iter().map(|(left, right)| {
                let pair = [left.clone(), right.clone()];
                let at = left.span.to(right.span);
                item_of_list(&pair, at, how.secret)
            });
            listed.filter_map(Result::transpose).collect()
        }
        // Python iterates over bytes as numbers, which are not valid items.
        Value::Binary(bytes) if bytes.is_empty() => Ok(Vec::new()),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_) => Err(shape(how, ShapeFault::Specification(how.value.kind()))),
    }
}

/// Parses an item of the structured form; returns `None` if it has no name.
fn item_of(node: &Node, secret: bool) -> Result<Option<Item>, Failure> {
    let secret = secret || node.secret;
    match &node.value {
        Value::Mapping(mapping) => item_of_mapping(mapping, node, secret),
        Value::Sequence(items) => item_of_list(items, node.span, secret),
        Value::String(text) => item_of_characters(text, node, secret),
        // Python finds a number in place of the name, and skips zero.
        Value::Binary(bytes) => match bytes.first() {
            None => Err(shape(node, ShapeFault::EmptyItem)),
            Some(0) => Ok(None),
            Some(_) => Ok(Some(Item {
                name: Spanned::new(Name::Other(Value::Int(0).kind()), node.span),
                options: Options::Usable(no_words()),
                at: node.span,
                secret,
            })),
        },
        Value::Pairs(pairs) if pairs.is_empty() => Err(shape(node, ShapeFault::EmptyItem)),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Set(_)
        | Value::Pairs(_) => Err(shape(node, ShapeFault::Item(node.value.kind()))),
    }
}

/// Parses `{name: list, settings: [append]}`.
fn item_of_mapping(mapping: &Mapping, node: &Node, secret: bool) -> Result<Option<Item>, Failure> {
    let name = mapping
        .get("name")
        .ok_or_else(|| shape(node, ShapeFault::MissingName))?;
    let Value::String(text) = &name.value else {
        return Err(shape(name, ShapeFault::Name(name.value.kind())));
    };
    let settings = mapping
        .get("settings")
        .ok_or_else(|| shape(node, ShapeFault::MissingSettings))?;
    let spelled = with_underscores(text);
    let spelled = strip(&spelled);
    if spelled.is_empty() {
        return Ok(None);
    }
    Ok(Some(Item {
        name: Spanned::new(Name::Text(spelled.into()), name.span),
        options: options_of(settings),
        at: node.span,
        secret,
    }))
}

/// Parses `[list, append]`.
fn item_of_list(items: &[Node], at: Span, secret: bool) -> Result<Option<Item>, Failure> {
    let Some((name, options)) = items.split_first() else {
        return Err(Failure {
            at,
            secret,
            kind: FailureKind::Shape(ShapeFault::EmptyItem),
        });
    };
    if name.value.is_falsy() {
        return Ok(None);
    }
    let found = match &name.value {
        Value::String(text) => Name::Text(text.clone()),
        other => Name::Other(other.kind()),
    };
    Ok(Some(Item {
        name: Spanned::new(found, name.span),
        options: Options::Usable(words_of(options.iter())),
        at,
        secret,
    }))
}

/// Parses a string in place of an item. Python uses its first character as the name, and the others
/// as options.
fn item_of_characters(text: &str, node: &Node, secret: bool) -> Result<Option<Item>, Failure> {
    let Some(first) = text.chars().next() else {
        return Err(shape(node, ShapeFault::EmptyItem));
    };
    let (name, options) = text.split_at(first.len_utf8());
    Ok(Some(Item {
        name: Spanned::new(Name::Text(name.into()), node.span),
        options: Options::Usable(Settings::Text(Spanned::new(options.into(), node.span))),
        at: node.span,
        secret,
    }))
}

/// Parses the value of `settings`.
fn options_of(settings: &Node) -> Options {
    let of_key = |key: &Key| Node::new(key.value.clone(), key.span);
    match &settings.value {
        Value::String(text) => Options::Usable(Settings::Text(Spanned::new(
            text.clone().into(),
            settings.span,
        ))),
        Value::Sequence(items) => Options::Usable(words_of(items.iter())),
        Value::Mapping(mapping) => {
            let keys: Vec<Node> = mapping.keys().map(of_key).collect();
            Options::Usable(words_of(keys.iter()))
        }
        Value::Set(keys) => {
            let keys: Vec<Node> = keys.iter().map(of_key).collect();
            Options::Usable(words_of(keys.iter()))
        }
        // The elements are pairs, which never equal an option.
        Value::Pairs(_) => Options::Usable(no_words()),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_) => Options::Unusable(Spanned::new(settings.value.kind(), settings.span)),
    }
}

fn words_of<'a>(nodes: impl Iterator<Item = &'a Node>) -> Settings {
    let mut words = Vec::new();
    let mut others = Vec::new();
    for node in nodes {
        match &node.value {
            Value::String(text) => words.push(Spanned::new(text.clone().into(), node.span)),
            other => others.push(Spanned::new(other.kind(), node.span)),
        }
    }
    Settings::Words { words, others }
}

fn no_words() -> Settings {
    Settings::Words {
        words: Vec::new(),
        others: Vec::new(),
    }
}

fn shape(node: &Node, fault: ShapeFault) -> Failure {
    Failure {
        at: node.span,
        secret: node.secret,
        kind: FailureKind::Shape(fault),
    }
}
