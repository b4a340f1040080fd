//! Emitted YAML reads back as the same value.

use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::emit::{EmitOptions, scalar_text, to_yaml};
use layercake_yaml::{Key, Mapping, Node, Value, parse};
use layercake_yaml_testing::reading::{assert_reads_back, some_file};
use layercake_yaml_testing::values::{any_value, node};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn generated_nodes_read_back(value in any_value()) {
        assert_reads_back(&node(value));
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
