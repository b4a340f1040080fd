//! Laws of reading and writing YAML: the text at a span reads as the value, and written values read
//! back.

use layercake_source::{FileId, Span};
use layercake_yaml::emit::{EmitOptions, to_yaml};
use layercake_yaml::{Mapping, Node, Parsed, Size, Value, parse, parse_in_both_ways};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// File id for text that is not in a file.
pub fn some_file() -> FileId {
    FileId::default()
}

/// Whether two values are the same: types, order of keys, and NaN included.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (Value::Sequence(left), Value::Sequence(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(l, r)| same(&l.value, &r.value))
        }
        (Value::Mapping(left), Value::Mapping(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|((left_key, l), (right_key, r))| {
                        same(&left_key.value, &right_key.value) && same(&l.value, &r.value)
                    })
        }
        // Python's sets have no order, and its pairs are lists when recorded.
        (Value::Set(_), Value::Set(_)) => left.equals_in_python(right),
        (Value::Pairs(left), Value::Pairs(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|((left_key, l), (right_key, r))| {
                        same(&left_key.value, &right_key.value) && same(&l.value, &r.value)
                    })
        }
        (Value::Pairs(pairs), Value::Sequence(items)) => {
            pairs.len() == items.len()
                && pairs.iter().zip(items.iter()).all(|((key, value), item)| {
                    matches!(item.as_sequence(), Some([k, v])
                        if same(&key.value, &k.value) && same(&value.value, &v.value))
                })
        }
        _ => left == right,
    }
}

/// Whether the text of a span, in a similar position, reads as `value`.
pub fn text_reads_as(text: &str, span: Span, value: &Value) -> bool {
    let is_blank = |it: char| matches!(it, ' ' | '\t' | '\r' | '\n' | '\u{85}' | '\u{feff}');
    let before = text[..span.start as usize].trim_end_matches(is_blank);
    let token = before
        .rsplit(|it| is_blank(it) || matches!(it, '[' | '{' | ','))
        .next();
    // A tag affects the value but is not in the span, and a comment may be between the two.
    if token.is_some_and(|token| token.starts_with('!'))
        || before
            .rsplit(is_blank)
            .filter(|it| !it.is_empty())
            .take(6)
            .any(|it| it.starts_with('!'))
    {
        return true;
    }
    let written = &text[span.range()];
    let places = (0..8).flat_map(|indent| {
        let blanks = " ".repeat(indent);
        [
            format!("{blanks}- {written}"),
            format!("{blanks}- [{written}]"),
            format!("{blanks}- {written}: value"),
            format!("{blanks}- {{? {written}\n{blanks} : value}}"),
            // The end of a text that ends in a colon depends on what follows it.
            format!("{blanks}- {{? {written}: value}}"),
        ]
    });
    // Only at the root may a continuation line start at the first column.
    let mut places = places.chain([format!("--- {written}"), format!("{written}: value")]);
    places.any(|place| {
        let mut found = false;
        for document in parse(some_file(), &place).documents {
            leaves(&document.root, &mut |_, read| {
                found |= same(read, value) || read.equals_in_python(value);
            });
        }
        found
    })
}

/// Whether the fast path for plain YAML reads the text; checks that it reads it like the parsers.
pub fn reads_as_plain(text: &str) -> bool {
    let (plain, parsed) = parse_in_both_ways(some_file(), text);
    let Some(plain) = plain else { return false };
    assert!(format!("{plain:?}") == format!("{parsed:?}"), "{text:?}");
    true
}

/// Checks that children are inside their parents, unless an alias or a merge put them there.
pub fn within(node: &Node) {
    for child in node.as_sequence().unwrap_or_default() {
        let from_elsewhere = child.span.end <= node.span.start;
        assert!(from_elsewhere || node.span.contains(child.span));
        within(child);
    }
    for (key, child) in node.as_mapping().into_iter().flat_map(Mapping::iter) {
        for span in [key.span, child.span] {
            assert!(
                span.end <= node.span.start
                    || node.span.contains(span)
                    || child.span.end <= span.start
            );
        }
        within(child);
    }
}

/// Checks the cached sizes of collections.
pub fn check_cached_size(node: &Node) {
    let (nodes, bytes, height, capitals) = counted(node);
    let size = Size::of(node);
    assert_eq!(
        (size.nodes(), size.bytes(), size.height()),
        (nodes, bytes, height),
        "{node:?}"
    );
    assert_eq!(size.has_capitals(), capitals, "{node:?}");
}

/// Counts the nodes of a value, the bytes of its strings and the depth of its collections, and
/// whether a string contains a word in capitals.
fn counted(node: &Node) -> (u64, u64, usize, bool) {
    if let Value::Pairs(pairs) = &node.value {
        // A list of pairs is as large as a list of lists of two.
        let pair = |(key, value): &(Node, Node)| vec![key.clone(), value.clone()];
        let lists = pairs
            .iter()
            .map(|it| Node::new(Value::from(pair(it)), node.span));
        return counted(&Node::new(
            Value::from(lists.collect::<Vec<_>>()),
            node.span,
        ));
    }
    let keys = node
        .as_mapping()
        .into_iter()
        .flat_map(Mapping::keys)
        .map(|key| weight(&key.value));
    let values = node.as_mapping().into_iter().flat_map(Mapping::values);
    let items = node.as_sequence().unwrap_or_default();
    let text = node.as_str().unwrap_or_default();
    let bytes = weight(&node.value) + keys.sum::<usize>();
    let is_capital = |letter: char| matches!(letter, 'A'..='Z' | '0'..='9' | '_');
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let capitals = words.any(|word| word.len() >= Size::WORD && word.chars().all(is_capital));
    let all = (
        1,
        u64::try_from(bytes).expect("inputs are small"),
        0,
        capitals,
    );
    values
        .chain(items)
        .fold(all, |(nodes, bytes, height, capitals), child| {
            let below = counted(child);
            (
                nodes + below.0,
                bytes + below.1,
                height.max(below.2 + 1),
                capitals | below.3,
            )
        })
}

/// Bytes of a string or number, or of the keys of a set.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::BigInt(digits) => digits.len(),
        Value::Binary(bytes) => bytes.len(),
        Value::Set(keys) => keys.iter().map(|key| weight(&key.value)).sum(),
        _ => 0,
    }
}

/// Calls `visit` with every scalar and every key.
pub fn leaves(node: &Node, visit: &mut dyn FnMut(Span, &Value)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| leaves(item, visit)),
        Value::Mapping(mapping) => {
            for (key, value) in mapping.iter() {
                visit(key.span, &key.value);
                leaves(value, visit);
            }
        }
        Value::Pairs(pairs) => {
            for (key, value) in pairs.iter() {
                leaves(key, visit);
                leaves(value, visit);
            }
        }
        Value::Set(keys) => keys.iter().for_each(|key| visit(key.span, &key.value)),
        scalar => visit(node.span, scalar),
    }
}

/// Collects the spans of a value, its keys and its parts.
pub fn spans(node: &Node, all: &mut Vec<Span>) {
    all.push(node.span);
    for (key, child) in node.as_mapping().into_iter().flat_map(Mapping::iter) {
        all.push(key.span);
        spans(child, all);
    }
    node.as_sequence()
        .unwrap_or_default()
        .iter()
        .for_each(|item| spans(item, all));
    if let Value::Pairs(pairs) = &node.value {
        for (left, right) in pairs.iter() {
            spans(left, all);
            spans(right, all);
        }
    }
}

/// Checks that parsing inverts emitting, also with comments after the leaves.
pub fn assert_reads_back(node: &Node) {
    let origin = |_: Span| "site/a.yaml:1 | > \" ' \u{7f}".to_owned();
    for origin in [None, Some(&origin as &dyn Fn(Span) -> String)] {
        let text = to_yaml(
            node,
            &EmitOptions {
                show_secrets: true,
                origin,
            },
        );
        let parsed = parse(some_file(), &text);
        assert_eq!(parsed.problems, [], "{text}");
        assert_eq!(parsed.documents.len(), 1, "{text}");
        let read = &parsed.documents[0].root;
        assert!(
            same(&read.value, &node.value),
            "{text}\n{:?}\n{:?}",
            read.value,
            node.value
        );
    }
}

/// Whether a text has no problem that discards a document.
pub fn reads_without_problem(parsed: &Parsed) -> bool {
    !parsed.problems.iter().any(|it| it.kind.is_fatal())
}

/// Whether libyaml reads a text.
pub fn libyaml_reads(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The translation of libyaml to Rust counts bytes as characters.
    let text: String = text
        .chars()
        .map(|it| match it {
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => it,
            '\u{a0}'.. => '^',
            _ => it,
        })
        .collect();
    serde_yaml::Deserializer::from_str(&text)
        .map(IgnoredAny::deserialize)
        .find_map(Result::err)
        // A limit of the translation, not of libyaml.
        .is_none_or(|error| error.to_string().starts_with("recursion limit exceeded"))
}
