//! Every node has the span of its text, and that text reads as the node.

use layercake_yaml::{Node, parse};
use layercake_yaml_testing::reading::{leaves, some_file};

#[test]
fn span_covers_only_the_tokens_of_a_node() {
    for (text, expected) in [
        ("a: 1\n", ["a", "1"].as_slice()),
        ("a: 'it''s' # c\n", &["a", "'it''s'"]),
        ("\"ä\": é b  \n", &["\"ä\"", "é b"]),
        ("a:\nb: \n", &["a", "", "b", ""]),
        ("{a, b: }", &["a", "", "b", ""]),
        ("a: &x !!str 12\nb: *x\n", &["a", "12", "b", "12"]),
        (
            "a: |  # why |\n  x\n\n  y\n\n# end\n",
            &["a", "|  # why |\n  x\n\n  y\n"],
        ),
        (
            "a: # > no\n  &b >+\n  x\n\nc: |-",
            &["a", ">+\n  x\n\n", "c", "|-"],
        ),
        ("--- |2-\n   x\r\n\r\n", &["|2-\n   x\r\n"]),
        ("\u{feff}a: b\u{85}c: d", &["a", "b", "c", "d"]),
        (
            "x: &m {k: v}\ny:\n  <<: *m\n  l: w\n",
            &["x", "k", "v", "y", "k", "v", "l", "w"],
        ),
    ] {
        let parsed = parse(some_file(), text);
        let mut found = Vec::new();
        leaves(&parsed.documents[0].root, &mut |span, _| {
            found.push(&text[span.range()]);
        });
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn collections_span_their_first_to_last_token() {
    let text = "a: # first\n  - &b\n    c: [1,\n      2]\n  - d:\n\n# later\ne: *b\n";
    let parsed = parse(some_file(), text);
    assert_eq!(parsed.problems, []);
    let root = &parsed.documents[0].root;
    let list = root.get("a").expect("a key");
    let texts = |node: &Node| text[node.span.range()].to_owned();
    let items = list.as_sequence().expect("a list");
    assert_eq!(texts(root), text.trim_end());
    assert_eq!(texts(list), "- &b\n    c: [1,\n      2]\n  - d:");
    assert_eq!(texts(&items[0]), "c: [1,\n      2]");
    assert_eq!(texts(&items[1]), "d:");
    let shared = parsed.documents[0].shared[0];
    assert_eq!(shared.collection, items[0].span);
    assert_eq!(&text[shared.alias.range()], "*b");
    assert_eq!(texts(root.get("e").expect("a key")), texts(&items[0]));
}

#[test]
fn documents_and_comments() {
    let text = "# top\n---\na: 1 # one\n---\n---\n- b\n...\n# end\n";
    let parsed = parse(some_file(), text);
    let documents: Vec<&str> = parsed
        .documents
        .iter()
        .map(|it| &text[it.span.range()])
        .collect();
    assert_eq!(documents, ["---\na: 1", "---", "---\n- b"]);
    let comments: Vec<&str> = parsed
        .comments
        .iter()
        .map(|it| &text[it.span.range()])
        .collect();
    assert_eq!(comments, ["# top", "# one", "# end"]);
}
