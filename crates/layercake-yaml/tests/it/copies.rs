//! Copies share memory with the original and never change it.

use layercake_source::Span;
use layercake_yaml::{Key, Mapping, Node, Value};
use layercake_yaml_testing::reading::some_file;

#[test]
fn changing_a_copy_does_not_change_the_original() {
    // With and without a table of keys.
    for length in [3, 40] {
        let original = numbered(length);
        let mut copy = original.clone();
        copy.insert(key("new"), number(-1));
        copy.remove("k1");
        copy.insert(key("k2"), number(-2));
        assert_eq!(original, numbered(length));
        assert_eq!(copy.len(), original.len());
        for (name, there, here) in [
            ("new", None, Some(-1)),
            ("k1", Some(1), None),
            ("k2", Some(2), Some(-2)),
        ] {
            assert_eq!(original.get(name), there.map(number).as_ref(), "{name}");
            assert_eq!(copy.get(name), here.map(number).as_ref(), "{name}");
        }
        let names = |mapping: &Mapping| -> Vec<String> {
            mapping
                .keys()
                .filter_map(Key::as_str)
                .map(str::to_owned)
                .collect()
        };
        let mut expected = names(&original);
        expected.remove(1);
        expected.push("new".to_owned());
        assert_eq!(names(&copy), expected);
    }
}

fn numbered(length: i64) -> Mapping {
    (0..length)
        .map(|at| (key(&format!("k{at}")), number(at)))
        .collect()
}

fn key(name: &str) -> Key {
    Key::string(name, Span::point(some_file(), 0))
}

fn number(value: i64) -> Node {
    Node::new(Value::Int(value), Span::point(some_file(), 0))
}
