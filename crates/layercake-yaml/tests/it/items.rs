//! List items as lines that can be removed.

use layercake_yaml::{Node, lines_of_item, parse};
use layercake_yaml_testing::reading::some_file;

/// Text without the second item of the list at `list`.
fn without_second(text: &str) -> Option<String> {
    let parsed = parse(some_file(), text);
    let list = parsed.documents[0]
        .root
        .get("list")
        .and_then(Node::as_sequence);
    let lines = lines_of_item(text, list.expect("there is a list")[1].span)?.range();
    Some([&text[..lines.start], &text[lines.end..]].concat())
}

#[test]
fn item_is_removed_with_its_lines() {
    let removed = |text| without_second(text).expect("the item can be removed");
    assert_eq!(
        removed("list:\n- a: 1\n- b: 2\n  c: 3\n- d: 4\n"),
        "list:\n- a: 1\n- d: 4\n"
    );
    assert_eq!(
        removed("list:\n  - a\n  -   b # why\nx: 1\n"),
        "list:\n  - a\nx: 1\n"
    );
    assert_eq!(
        removed("list:\r\n- a\r\n- b\r\nx: 1\r\n"),
        "list:\r\n- a\r\nx: 1\r\n"
    );
    assert_eq!(removed("list:\n- a\n- b"), "list:\n- a\n");
    assert_eq!(
        removed("list:\n- a\n- b: |\n    text\n- c\n"),
        "list:\n- a\n- c\n"
    );
}

#[test]
fn item_with_an_anchor_or_comment_is_kept() {
    assert_eq!(without_second("list: [a, b]\n"), None);
    assert_eq!(without_second("list:\n- a\n# about b\n- b\n"), None);
    assert_eq!(without_second("list:\n- a\n- &b b\n- *b\n"), None);
    assert_eq!(
        without_second("list:\n- a\n- [b,\n   c]\nx: 1\n").as_deref(),
        Some("list:\n- a\nx: 1\n")
    );
}
