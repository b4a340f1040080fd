//! Values, words and paths to write into documents.

use layercake::yaml::{Key, Node};

use super::super::random::Random;

/// Keys, including those from which Deckhand strips `.data`.
const KEYS: &[&str] = &[
    "added", "data", "database", "host", "list", "name", "nodes", "region", "values", "x",
];

/// YAML scalars of every kind, including some that are not what they look like, and some that
/// Python's patterns treat differently.
const SCALARS: &[&str] = &[
    "one",
    "two",
    "three words here",
    "'quoted'",
    "\"\"",
    "1",
    "0",
    "-7",
    "80",
    "0o17",
    "017",
    "1.5",
    "1e3",
    "true",
    "false",
    "yes",
    "null",
    "~",
    "2019-01-31",
    "2001-12-14t21:59:43.10-05:00",
    "'1.10'",
    "1.10",
    "'C:\\new\\1'",
    "'\\g<0>'",
    "DOMAIN",
    "made.example.org",
    "10.0.0.1",
    "123456789012345678901234567890",
    "\"\\u00e9\\t\"",
    ".inf",
];

/// Returns a random key.
pub fn key(random: &mut Random) -> &'static str {
    random.word(KEYS)
}

/// Returns a random single-line scalar.
pub fn scalar(random: &mut Random) -> String {
    if random.in_hundred(30) {
        return format!("value-{}", random.below(1000));
    }
    random.word(SCALARS).to_owned()
}

/// Returns a random single-line value.
pub fn value(random: &mut Random) -> String {
    match random.below(10) {
        0 => format!(
            "{{{}: {}, y: {}}}",
            key(random),
            scalar(random),
            scalar(random)
        ),
        1 => format!("[{}, {}]", scalar(random), scalar(random)),
        2 => format!("[{{name: {}, {}: [a, b]}}]", scalar(random), key(random)),
        3 => random.word(&["{}", "[]"]).to_owned(),
        _ => scalar(random),
    }
}

/// Returns a path to a location in `data`, or just beyond one.
pub fn path_in(data: &Node, random: &mut Random) -> String {
    let (mut path, mut at) = (String::new(), data);
    while path.is_empty() || random.in_hundred(65) {
        let Some((step, inside)) = step_into(at, random) else {
            break;
        };
        path.push_str(&step);
        at = inside;
    }
    match random.below(12) {
        0 => path.push_str(".missing"),
        1 => path.push_str("[0]"),
        2 => path.push_str("[1]"),
        _ => {}
    }
    if path.is_empty() {
        ".".to_owned()
    } else {
        path
    }
}

fn step_into<'a>(node: &'a Node, random: &mut Random) -> Option<(String, &'a Node)> {
    if let Some(items) = node.as_sequence() {
        let index = random.below(items.len().max(1));
        return items.get(index).map(|item| (format!("[{index}]"), item));
    }
    let entries: Vec<(&Key, &Node)> = node.as_mapping()?.iter().collect();
    let (key, inside) = random.of(&entries)?;
    let name = plain_name(key)?;
    Some((format!(".{name}"), inside))
}

/// Returns a key that needs no quoting in a path.
fn plain_name(key: &Key) -> Option<&str> {
    let name = key.as_str()?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// Returns a path for an action, including prefixes that the semantics interpret differently.
pub fn action_path(data: &Node, random: &mut Random) -> String {
    let path = path_in(data, random);
    match random.below(12) {
        0 => "$".to_owned(),
        1 | 2 => ".".to_owned(),
        3 => format!(".data{}", if path == "." { "" } else { &path }),
        4 => format!("${path}"),
        5 => path.trim_start_matches('.').to_owned(),
        _ => path,
    }
}

/// Returns a pattern for a part of `text`, or one with many matches.
pub fn pattern(text: &str, random: &mut Random) -> String {
    let words: Vec<&str> = text
        .split(|it: char| !it.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    match random.below(6) {
        0 => random
            .word(&[
                "[a-z]+",
                "\\d+",
                "(a|e)",
                "^.",
                "nothing-like-it",
                "(",
                "a.",
            ])
            .to_owned(),
        _ => random
            .of(&words)
            .map_or("DOMAIN".to_owned(), ToString::to_string),
    }
}

/// Quotes `text` as a scalar.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\n', " "))
}
