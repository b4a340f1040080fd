//! Emitted YAML reads back as the same value.

use std::sync::Arc;

use layercake::source::Span;
use layercake::yaml::emit::{EmitOptions, scalar_text, to_yaml};
use layercake::yaml::{Date, Key, Mapping, Node, Timestamp, Value, parse};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::conformance::{recorded, some_file};
use crate::laws::reading::assert_reads_back;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn generated_nodes_read_back(value in any_value()) {
        assert_reads_back(&node(value));
    }
}

#[test]
#[ignore = "needs the recorded corpus"]
fn recorded_documents_read_back() {
    for case in recorded("deckhand/yaml.json") {
        let text = case["yaml"].as_str().expect("each case has YAML");
        for document in parse(some_file(), text).documents {
            assert_reads_back(&document.root);
        }
    }
}

#[test]
fn output_is_idiomatic_yaml() {
    let text = "\
a: 1
list:
- x
- k: v
  l:
  - nested
- - 1
  - 2
empty: {}
none: null
block: |
  one
    two

  three
strip: |-
  one
  two
keep: |+
  one


indented: |2
   one
  two
quoted: \"yes\"
time: \"12:30\"
date: 2001-12-14
moment: 2001-12-14T21:59:43.1-05:00
big: 123456789012345678901234567890
float: 1.0e+20
binary: !!binary \"YWI=\"
set: !!set
  ? a
  ? b
pairs: !!pairs
- a: 1
- ? - b
  : c
2: int
true: bool
null: none
";
    let parsed = parse(some_file(), text);
    assert_eq!(parsed.problems, []);
    assert_eq!(
        to_yaml(&parsed.documents[0].root, &EmitOptions::default()),
        text
    );
}

#[test]
fn secrets_are_hidden_completely() {
    let secret = read("a: {b: [1, 2]}\nc: |\n  x\n  y\n").into_secret();
    assert_eq!(to_yaml(&secret, &EmitOptions::default()), "(hidden)\n");
    let mut mapping = Mapping::new();
    mapping.insert(Key::string("key", secret.span), secret);
    let node = node(Value::Mapping(Arc::new(mapping)));
    assert_eq!(to_yaml(&node, &EmitOptions::default()), "key: (hidden)\n");
    let shown = to_yaml(
        &node,
        &EmitOptions {
            show_secrets: true,
            origin: None,
        },
    );
    assert_eq!(
        shown,
        "key:\n  a:\n    b:\n    - 1\n    - 2\n  c: |\n    x\n    y\n"
    );
}

#[test]
fn leaves_are_annotated_with_their_origin() {
    let root = read("a: 1\nb: |\n  x\n  y\nc: []\nd: !!set {e}\nf: [{g: h}]\n");
    let origin = |span: Span| format!("at {}\nnext", span.start);
    let text = to_yaml(
        &root,
        &EmitOptions {
            show_secrets: false,
            origin: Some(&origin),
        },
    );
    let expected = "\
a: 1  # at 3 next
b: |  # at 8 next
  x
  y
c: []  # at 21 next
d: !!set
  ? e  # at 34 next
f:
- g: h  # at 45 next
";
    assert_eq!(text, expected);
}

#[test]
fn scalars_are_emitted_plain_where_possible() {
    for (text, expected) in [
        ("yes", "true"),
        ("~", "null"),
        ("1_0.50", "10.5"),
        ("0x1f", "31"),
        ("1e3", "1e3"),
        ("1.0e-7", "1.0e-07"),
        ("-0.0", "-0.0"),
        ("2001-12-14 21:59:43 Z", "2001-12-14T21:59:43Z"),
        ("!!binary YQ==", "YQ=="),
        ("[1, a]", "- 1\n- a"),
    ] {
        assert_eq!(scalar_text(&read(text).value), expected);
    }
}

fn read(text: &str) -> Node {
    parse(some_file(), text).documents.swap_remove(0).root
}

fn node(value: Value) -> Node {
    Node::new(value, Span::point(some_file(), 0))
}

pub fn any_value() -> impl Strategy<Value = Value> {
    any_scalar().prop_recursive(5, 40, 5, |inner| {
        let entries = vec((any_scalar(), inner.clone()), 0..5);
        let mapping = entries.prop_map(|entries| {
            let entries = entries
                .into_iter()
                .map(|(key, value)| (key_of(key), node(value)));
            Value::Mapping(Arc::new(entries.collect()))
        });
        let set = vec(any_scalar(), 0..4).prop_map(|keys| {
            let keys: Mapping = keys
                .into_iter()
                .map(|key| (key_of(key), node(Value::Null)))
                .collect();
            Value::Set(keys.keys().cloned().collect())
        });
        let pairs = vec((inner.clone(), inner.clone()), 0..4).prop_map(|pairs| {
            Value::Pairs(
                pairs
                    .into_iter()
                    .map(|(key, value)| (node(key), node(value)))
                    .collect(),
            )
        });
        let list = vec(inner, 0..5)
            .prop_map(|items| Value::Sequence(Arc::new(items.into_iter().map(node).collect())));
        prop_oneof![4 => mapping, 3 => list, 1 => set, 1 => pairs]
    })
}

fn key_of(value: Value) -> Key {
    Key {
        value,
        span: Span::point(some_file(), 0),
    }
}

fn any_scalar() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{1,8}",
        "[-?:,\\[\\]{}#&*!|>'\"%@`~=<. \ta1\n_\\\\]{0,8}",
        "[0-9+-.:_exbTZ ]{1,10}",
        "([ \t]{0,3}[a#:-]{0,3}[ \t]{0,2}\n{0,3}){1,4}",
        any::<String>(),
        "[a-z ]{1010,1100}",
        prop::sample::select(vec![
            "yes", "y", "null", "~", "", "<<", "=", "---", "...", "- a"
        ])
        .prop_map(str::to_owned),
    ];
    let date = (1..=9999_u16, 1..=12_u8, 1..=28_u8).prop_map(|(year, month, day)| Date {
        year,
        month,
        day,
    });
    let moment = (
        date.clone(),
        0..24_u8,
        0..60_u8,
        0..1_000_000_u32,
        any::<Option<i16>>(),
    )
        .prop_map(|(date, hour, minute, microsecond, offset)| Timestamp {
            date,
            hour,
            minute,
            second: minute,
            microsecond,
            offset: offset.map(|minutes| minutes % 1440),
        });
    prop_oneof![
        8 => text.prop_map(|text| Value::String(text.into())),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => any::<i64>().prop_map(Value::Int),
        1 => "-?[1-9][0-9]{20,40}".prop_map(|digits| Value::BigInt(digits.into())),
        2 => any::<f64>().prop_map(Value::Float),
        1 => (-1e7..1e7_f64).prop_map(Value::Float),
        1 => date.prop_map(Value::Date),
        1 => moment.prop_map(Value::Timestamp),
        1 => any::<Vec<u8>>().prop_map(|bytes| Value::Binary(bytes.into())),
    ]
}
