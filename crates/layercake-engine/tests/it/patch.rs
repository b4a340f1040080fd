//! JSON Patch: effects of patches, and the reasons and places of failures.

use std::sync::Arc;

use layercake_engine::merge::numbers::From;
use layercake_engine::merge::patch::{Failure, Patch, Reason};
use layercake_engine::merge::{self, Strategy};
use layercake_engine_testing::numbers;
use layercake_source::{FileId, NumberedInput, Span};
use layercake_yaml::path::{Location, Path, Piece, Segment};
use layercake_yaml::{Key, Node, Value, parse};
use layercake_yaml_testing::reading::same;

/// Two files: the document, and the patch.
fn file(index: u32) -> FileId {
    FileId::new(index)
}

/// The only document of a text in [`file`] 0.
pub fn document(text: &str) -> Node {
    let mut parsed = parse(file(0), text);
    assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
    parsed.documents.remove(0).root
}

/// Patch from a text in [`file`] 1.
pub fn read(text: &str) -> Result<Patch, Failure> {
    let end = u32::try_from(text.len()).expect("tests are short");
    Patch::read(text, Span::new(file(1), 0, end))
}

/// Applies a patch to a document, which must stay unchanged if that fails.
pub fn apply(base: &Node, patch: &Patch) -> Result<Node, Failure> {
    let strategy = Strategy::JsonPatch(Arc::new(patch.clone()));
    let mut result = base.clone();
    match strategy.merge(&mut result, patch.document()) {
        Ok(notices) => {
            assert!(notices.is_empty());
            Ok(result)
        }
        Err(merge::Failure::JsonPatch(failure)) => {
            assert!(
                same(&result.value, &base.value),
                "a failing patch applies nothing"
            );
            Err(failure)
        }
        Err(merge::Failure::CloudInit(failure)) => panic!("{failure:?}"),
    }
}

fn patched(base: &str, patch: &str) -> Result<Node, Failure> {
    apply(&document(base), &read(patch)?)
}

/// Failure of a patch in short: the operation, the reason's name and its member, the place it
/// reached, and the text at fault.
fn refused(base: &str, patch: &str) -> String {
    let failure = patched(base, patch).expect_err(patch);
    assert_eq!(failure.at.file, file(1));
    let at = &patch[failure.at.range()];
    let operation = failure
        .operation
        .map_or(String::new(), |index| format!("{index} "));
    let reason = match &failure.reason {
        Reason::NotJson(what) => format!("NotJson: {what}"),
        Reason::MissingKey { member, reached }
        | Reason::OutOfRange { member, reached }
        | Reason::NotAnIndex { member, reached }
        | Reason::NotAContainer {
            member, reached, ..
        } => {
            format!("{} {} in {reached}", name(&failure.reason), member.as_str())
        }
        Reason::Different { found } => format!("Different from {}", &base[found.range()]),
        reason => format!("{reason:?}"),
    };
    format!("{operation}{reason} | {at}")
}

fn name(reason: &Reason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '(', '{'])
        .next()
        .expect("a name")
        .to_owned()
}

#[test]
fn examples_of_the_rfc_hold() {
    for (base, patch, result) in [
        // A.1 to A.8
        (
            r#"{"foo": "bar"}"#,
            r#"[{"op": "add", "path": "/baz", "value": "qux"}]"#,
            r#"{"baz": "qux", "foo": "bar"}"#,
        ),
        (
            r#"{"foo": ["bar", "baz"]}"#,
            r#"[{"op": "add", "path": "/foo/1", "value": "qux"}]"#,
            r#"{"foo": ["bar", "qux", "baz"]}"#,
        ),
        (
            r#"{"baz": "qux", "foo": "bar"}"#,
            r#"[{"op": "remove", "path": "/baz"}]"#,
            r#"{"foo": "bar"}"#,
        ),
        (
            r#"{"foo": ["bar", "qux", "baz"]}"#,
            r#"[{"op": "remove", "path": "/foo/1"}]"#,
            r#"{"foo": ["bar", "baz"]}"#,
        ),
        (
            r#"{"baz": "qux", "foo": "bar"}"#,
            r#"[{"op": "replace", "path": "/baz", "value": "boo"}]"#,
            r#"{"baz": "boo", "foo": "bar"}"#,
        ),
        (
            r#"{"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}"#,
            r#"[{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}]"#,
            r#"{"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}"#,
        ),
        (
            r#"{"foo": ["all", "grass", "cows", "eat"]}"#,
            r#"[{"op": "move", "from": "/foo/1", "path": "/foo/3"}]"#,
            r#"{"foo": ["all", "cows", "eat", "grass"]}"#,
        ),
        (
            r#"{"baz": "qux", "foo": ["a", 2, "c"]}"#,
            r#"[{"op": "test", "path": "/baz", "value": "qux"},
                {"op": "test", "path": "/foo/1", "value": 2}]"#,
            r#"{"baz": "qux", "foo": ["a", 2, "c"]}"#,
        ),
        // A.10 and A.11
        (
            r#"{"foo": "bar"}"#,
            r#"[{"op": "add", "path": "/child", "value": {"grandchild": {}}}]"#,
            r#"{"foo": "bar", "child": {"grandchild": {}}}"#,
        ),
        (
            r#"{"foo": "bar"}"#,
            r#"[{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}]"#,
            r#"{"foo": "bar", "baz": "qux"}"#,
        ),
        // A.14 and A.16
        (
            r#"{"/": 9, "~1": 10}"#,
            r#"[{"op": "test", "path": "/~01", "value": 10}]"#,
            r#"{"/": 9, "~1": 10}"#,
        ),
        (
            r#"{"foo": ["bar"]}"#,
            r#"[{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}]"#,
            r#"{"foo": ["bar", ["abc", "def"]]}"#,
        ),
    ] {
        assert_eq!(patched(base, patch), Ok(document(result)), "{patch}");
    }
}

#[test]
fn errors_of_the_rfc_are_errors() {
    // A.9, A.12, A.13 and A.15
    for (base, patch, expected) in [
        (
            r#"{"baz": "qux"}"#,
            r#"[{"op": "test", "path": "/baz", "value": "bar"}]"#,
            r#"0 Different from "qux" | "bar""#,
        ),
        (
            r#"{"foo": "bar"}"#,
            r#"[{"op": "add", "path": "/baz/bat", "value": "qux"}]"#,
            r#"0 MissingKey path in . | "/baz/bat""#,
        ),
        (
            r#"{"foo": "bar"}"#,
            r#"[{"op": "add", "path": "/baz", "value": "qux", "op": "remove"}]"#,
            concat!(
                r#"0 NotAText { member: Op, found: "a list" } | "#,
                r#""add", "path": "/baz", "value": "qux", "op": "remove""#
            ),
        ),
        (
            r#"{"/": 9, "~1": 10}"#,
            r#"[{"op": "test", "path": "/~01", "value": "10"}]"#,
            r#"0 Different from 10 | "10""#,
        ),
    ] {
        assert_eq!(refused(base, patch), expected, "{patch}");
    }
}

#[test]
fn operations_match_python() {
    for (base, patch, result) in [
        // An empty patch, in all the forms that `jsonpatch` accepts.
        ("a: 1", "[]", "a: 1"),
        ("a: 1", "{}", "a: 1"),
        ("a: 1", r#""""#, "a: 1"),
        // An existing value is replaced in its place; `-` is a key of a mapping.
        (
            "{a: 1, b: 2}",
            r#"[{"op":"add","path":"/a","value":null}]"#,
            "{a: null, b: 2}",
        ),
        ("{}", r#"[{"op":"add","path":"/-","value":1}]"#, "{'-': 1}"),
        (
            "{'-': 1, a: 2}",
            r#"[{"op":"remove","path":"/-"}]"#,
            "{a: 2}",
        ),
        (
            "{'': 1}",
            r#"[{"op":"replace","path":"/","value":2}]"#,
            "{'': 2}",
        ),
        (
            "{'0': 1}",
            r#"[{"op":"replace","path":"/0","value":2}]"#,
            "{'0': 2}",
        ),
        // A numeric key is not a string.
        (
            "{1: a}",
            r#"[{"op":"add","path":"/1","value":"b"}]"#,
            "{1: a, '1': b}",
        ),
        // The end of a list.
        (
            "a: []",
            r#"[{"op":"add","path":"/a/0","value":1}]"#,
            "a: [1]",
        ),
        (
            "a: [1]",
            r#"[{"op":"add","path":"/a/1","value":2}]"#,
            "a: [1, 2]",
        ),
        // The whole document.
        (
            "a: 1",
            r#"[{"op":"add","path":"","value":{"b":2}}]"#,
            "b: 2",
        ),
        ("a: 1", r#"[{"op":"replace","path":"","value":[3]}]"#, "[3]"),
        (
            "a: 1",
            r#"[{"op":"test","path":"","value":{"a":1}}]"#,
            "a: 1",
        ),
        (
            "a: 1",
            r#"[{"op":"replace","path":"","value":[3]},{"op":"add","path":"/0","value":4}]"#,
            "[4, 3]",
        ),
        // To its own place: nothing happens if the value exists.
        (
            "a: [1, 2]",
            r#"[{"op":"move","from":"/a/0","path":"/a/0"}]"#,
            "a: [1, 2]",
        ),
        (
            "a: [1, 2]",
            r#"[{"op":"copy","from":"/a/0","path":"/a/0"}]"#,
            "a: [1, 1, 2]",
        ),
        (
            "{a: 1, b: 2}",
            r#"[{"op":"copy","from":"/a","path":"/b"}]"#,
            "{a: 1, b: 1}",
        ),
        (
            "a: {b: 1}",
            r#"[{"op":"copy","from":"/a","path":"/a/c"}]"#,
            "a: {b: 1, c: {b: 1}}",
        ),
        (
            "a: {b: 1}",
            r#"[{"op":"move","from":"/a/b","path":"/a"}]"#,
            "a: 1",
        ),
        // Out of a list, then to the value that is at the path by then.
        (
            "a: [{x: 1}, {y: 2}]",
            r#"[{"op":"move","from":"/a/0","path":"/a/0/z"}]"#,
            "a: [{y: 2, z: {x: 1}}]",
        ),
        // A value of the patch that later operations change.
        (
            "{}",
            r#"[{"op":"add","path":"/a","value":{"x":[1]}},{"op":"add","path":"/a/x/0","value":0}]"#,
            "a: {x: [0, 1]}",
        ),
        // Values that are equal by Python's `==`.
        (
            "a: [1, true, {b: 2}]",
            r#"[{"op":"test","path":"/a","value":[1.0,1,{"b":2}]}]"#,
            "a: [1, true, {b: 2}]",
        ),
        // A duplicate key has both values.
        (
            "{}",
            r#"[{"op":"add","path":"/a","value":{"b":1,"c":2,"b":3}}]"#,
            "a: {b: [1, 3], c: 2}",
        ),
        (
            "{}",
            r#"[{"op":"add","path":"/a","value":1,"value":2}]"#,
            "a: [1, 2]",
        ),
        // Escapes of pointers.
        (
            "{a/b: {m~n: 1}}",
            r#"[{"op":"replace","path":"/a~1b/m~0n","value":2}]"#,
            "{a/b: {m~n: 2}}",
        ),
    ] {
        assert_eq!(patched(base, patch), Ok(document(result)), "{patch}");
    }
}

/// Document, patch, and the result of [`refused`] for them.
type Refusal = (&'static str, &'static str, &'static str);

#[test]
fn failing_patch_reports_reason_and_place() {
    for (base, patch, expected) in MALFORMED.iter().chain(INAPPLICABLE) {
        assert_eq!(refused(base, patch), *expected, "{base} {patch}");
    }
}

/// Patches refused for any document.
const MALFORMED: &[Refusal] = &[
    ("{}", "", "NotJson: expected a value | "),
    ("{}", "1", r#"NotAList("an integer") | 1"#),
    (
        "{}",
        r#"{"op":"add"}"#,
        r#"NotAList("a mapping") | {"op":"add"}"#,
    ),
    ("{}", r#"["add"]"#, r#"0 NotAMapping("a string") | "add""#),
    (
        "{}",
        r#"[{"path":""}]"#,
        r#"0 MissingMember(Op) | {"path":""}"#,
    ),
    (
        "{}",
        r#"[{"op":"put","path":""}]"#,
        r#"0 UnknownOperation | "put""#,
    ),
    (
        "{}",
        r#"[{"op":"Add","path":"","value":1}]"#,
        r#"0 UnknownOperation | "Add""#,
    ),
    (
        "{}",
        r#"[{"op":"remove"}]"#,
        r#"0 MissingMember(Path) | {"op":"remove"}"#,
    ),
    (
        "{}",
        r#"[{"op":"remove","path":1}]"#,
        r#"0 NotAText { member: Path, found: "an integer" } | 1"#,
    ),
    (
        "{}",
        r#"[{"op":"add","path":"/a"}]"#,
        r#"0 MissingMember(Value) | {"op":"add","path":"/a"}"#,
    ),
    (
        "{}",
        r#"[{"op":"move","path":"/a"}]"#,
        r#"0 MissingMember(From) | {"op":"move","path":"/a"}"#,
    ),
    (
        "{}",
        r#"[{"op":"copy","path":"/a","from":"b"}]"#,
        r#"0 NoLeadingSlash(From) | "b""#,
    ),
    (
        "{}",
        r#"[{"op":"remove","path":"a"}]"#,
        r#"0 NoLeadingSlash(Path) | "a""#,
    ),
    (
        "{}",
        r#"[{"op":"remove","path":"/a~2"}]"#,
        r#"0 InvalidEscape(Path) | "/a~2""#,
    ),
    (
        "{}",
        r#"[{"op":"remove","path":"/a~"}]"#,
        r#"0 InvalidEscape(Path) | "/a~""#,
    ),
];

/// Patches refused because of the document.
const INAPPLICABLE: &[Refusal] = &[
    // Operations are applied in order; the first failure is reported.
    (
        "a: 1",
        r#"[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]"#,
        r#"1 MissingKey path in . | "/a""#,
    ),
    (
        "{1: a}",
        r#"[{"op":"remove","path":"/1"}]"#,
        r#"0 MissingKey path in . | "/1""#,
    ),
    (
        "a: {b: {}}",
        r#"[{"op":"replace","path":"/a/b/c","value":1}]"#,
        r#"0 MissingKey path in .a.b | "/a/b/c""#,
    ),
    (
        "a: {}",
        r#"[{"op":"copy","from":"/a/b","path":"/c"}]"#,
        r#"0 MissingKey from in .a | "/a/b""#,
    ),
    (
        "a: {}",
        r#"[{"op":"test","path":"/b","value":null}]"#,
        r#"0 MissingKey path in . | "/b""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/2","value":1}]"#,
        r#"0 OutOfRange path in .a | "/a/2""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"replace","path":"/a/1","value":1}]"#,
        r#"0 OutOfRange path in .a | "/a/1""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"remove","path":"/a/1"}]"#,
        r#"0 OutOfRange path in .a | "/a/1""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"remove","path":"/a/99999999999999999999"}]"#,
        r#"0 OutOfRange path in .a | "/a/99999999999999999999""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"move","from":"/a/0","path":"/a/1"}]"#,
        r#"0 OutOfRange path in .a | "/a/1""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/01","value":1}]"#,
        r#"0 NotAnIndex path in .a | "/a/01""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/+0","value":1}]"#,
        r#"0 NotAnIndex path in .a | "/a/+0""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/-1","value":1}]"#,
        r#"0 NotAnIndex path in .a | "/a/-1""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/","value":1}]"#,
        r#"0 NotAnIndex path in .a | "/a/""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"add","path":"/a/x","value":1}]"#,
        r#"0 NotAnIndex path in .a | "/a/x""#,
    ),
    (
        "a: 1",
        r#"[{"op":"add","path":"/a/b","value":1}]"#,
        r#"0 NotAContainer path in .a | "/a/b""#,
    ),
    (
        "a: [null]",
        r#"[{"op":"copy","from":"/a/0/x/y","path":"/b"}]"#,
        r#"0 NotAContainer from in .a[0] | "/a/0/x/y""#,
    ),
    (
        "a: text",
        r#"[{"op":"test","path":"/a/0","value":"t"}]"#,
        r#"0 NotAContainer path in .a | "/a/0""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"remove","path":"/a/-"}]"#,
        r#"0 PastTheEnd(Path) | "/a/-""#,
    ),
    (
        "a: [1]",
        r#"[{"op":"replace","path":"/a/-","value":1}]"#,
        r#"0 PastTheEnd(Path) | "/a/-""#,
    ),
    (
        "{'-': 1}",
        r#"[{"op":"replace","path":"/-","value":1}]"#,
        r#"0 PastTheEnd(Path) | "/-""#,
    ),
    (
        "a: [{}]",
        r#"[{"op":"add","path":"/a/-/b","value":1}]"#,
        r#"0 PastTheEnd(Path) | "/a/-/b""#,
    ),
    (
        "a: 1",
        r#"[{"op":"remove","path":""}]"#,
        r#"0 WholeDocument(Path) | """#,
    ),
    (
        "a: 1",
        r#"[{"op":"copy","from":"","path":"/b"}]"#,
        r#"0 WholeDocument(From) | """#,
    ),
    (
        "a: 1",
        r#"[{"op":"move","from":"","path":""}]"#,
        r#"0 WholeDocument(From) | """#,
    ),
    (
        "[1]",
        r#"[{"op":"add","path":"","value":{}}]"#,
        r#"0 WholeDocument(Path) | """#,
    ),
    (
        "a: {b: 1}",
        r#"[{"op":"move","from":"/a","path":"/a/b"}]"#,
        r#"0 IntoItself | "/a/b""#,
    ),
    (
        "a: [[1]]",
        r#"[{"op":"move","from":"/a/0","path":"/a/0/0"}]"#,
        r#"0 OutOfRange path in .a | "/a/0/0""#,
    ),
    (
        "a: .nan",
        r#"[{"op":"test","path":"/a","value":NaN}]"#,
        "0 Different from .nan | NaN",
    ),
];

/// Value that a patch inserts.
fn value(json: &str) -> Result<Value, Reason> {
    let text = format!(r#"[{{"op": "add", "path": "/a", "value": {json}}}]"#);
    let patch = read(&text).map_err(|failure| failure.reason)?;
    let result = apply(&document("{}"), &patch).map_err(|failure| failure.reason)?;
    let node = result.get("a").expect("it was put there");
    assert_eq!(&text[node.span.range()], json, "the value keeps its span");
    Ok(node.value.clone())
}

#[test]
fn values_are_read_as_json_and_not_as_yaml() {
    let text = |text: &str| Value::String(text.into());
    for (json, expected) in [
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("false", Value::Bool(false)),
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("-12", Value::Int(-12)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        (
            "9223372036854775808",
            Value::BigInt("9223372036854775808".into()),
        ),
        (
            "-99999999999999999999",
            Value::BigInt("-99999999999999999999".into()),
        ),
        ("1e5", Value::Float(100_000.0)),
        ("1E-2", Value::Float(0.01)),
        ("2.50", Value::Float(2.5)),
        ("-1.5e+3", Value::Float(-1500.0)),
        ("1e999", Value::Float(f64::INFINITY)),
        ("Infinity", Value::Float(f64::INFINITY)),
        ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        (r#""""#, text("")),
        (r#""yes""#, text("yes")),
        (r#""a\/b\\\"\b\f\n\r\t""#, text("a/b\\\"\u{8}\u{c}\n\r\t")),
        (r#""\u00e9 \ud83d\uDE00 é 😀""#, text("é 😀 é 😀")),
        ("\"\u{7f}\u{85}\u{2028}\"", text("\u{7f}\u{85}\u{2028}")),
        ("[\t]", Value::Sequence(Arc::default())),
        ("{\r\n}", Value::Mapping(Arc::default())),
    ] {
        assert_eq!(value(json), Ok(expected), "{json}");
    }
    assert!(matches!(value("NaN"), Ok(Value::Float(float)) if float.is_nan()));
}

#[test]
fn invalid_json_is_refused() {
    let not_json = |what| Err(Reason::NotJson(what));
    for (json, what) in [
        ("01", "expected `,` or `}`"),
        ("1.", "expected `,` or `}`"),
        (".5", "invalid value"),
        ("+1", "invalid value"),
        ("-", "expected a digit"),
        ("- 1", "expected a digit"),
        ("1e", "expected `,` or `}`"),
        ("tru", "invalid value"),
        ("yes", "invalid value"),
        ("'a'", "invalid value"),
        ("[1,]", "invalid value"),
        ("[1 2]", "expected `,` or `]`"),
        ("{,}", "expected a key in double quotes"),
        ("{\"a\":1,}", "expected a key in double quotes"),
        ("{a: 1}", "expected a key in double quotes"),
        ("{\"a\" 1}", "expected `:`"),
        ("\u{a0}1", "invalid value"),
        ("// comment", "invalid value"),
        (r#""\x41""#, "invalid escape in a string"),
        (r#""\u12g4""#, "`\\u` needs four hexadecimal digits"),
        (r#""\u+123""#, "`\\u` needs four hexadecimal digits"),
        (r#""\ud800""#, "lone surrogate in a string"),
        (r#""\ude00\ud83d""#, "lone surrogate in a string"),
        ("\"a\nb\"", "control character in a string"),
        ("\"a\tb\"", "control character in a string"),
    ] {
        assert_eq!(value(json), not_json(what), "{json}");
    }
    for (text, expected) in [
        ("[{", "NotJson: expected a key in double quotes | "),
        ("[", "NotJson: expected a value | "),
        ("[\"a", "NotJson: unterminated string | "),
        ("[] []", "NotJson: unexpected text after the value | "),
        ("\u{feff}[]", "NotJson: invalid value | "),
        ("# cloud-config-jsonp\n[]", "NotJson: invalid value | "),
        // Any spelling of the line sets the type of a part, but only this one is removed.
        ("#CLOUD-CONFIG-JSONP\n[]", "NotJson: invalid value | "),
    ] {
        assert_eq!(refused("{}", text), expected, "{text}");
    }
}

#[test]
fn json_may_follow_the_marker() {
    for text in [
        "#cloud-config-jsonp\n[]",
        "\n \u{a0}#cloud-config-jsonp\r\n\t[]\n",
        "#cloud-config-jsonp[]",
        "  []  ",
    ] {
        let patch = read(text).expect(text);
        assert_eq!(&text[patch.document().span.range()], "[]");
    }
}

#[test]
fn patches_that_exceed_memory_limits_are_refused() {
    use layercake_yaml::YamlLimit;
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(value(&nested), Err(Reason::OverLimit(YamlLimit::Depth)));
    assert_eq!(
        value(&"9".repeat(4301)),
        Err(Reason::OverLimit(YamlLimit::Digits))
    );
    assert!(value(&"9".repeat(4300)).is_ok());
    // Each copy is inserted into its own source.
    let operation = r#"{"op":"copy","from":"/a","path":"/a/x"}"#;
    let operations = vec![operation; 10_000].join(",");
    let failure = patched("a: {}", &format!("[{operations}]")).expect_err("it is too deep");
    assert_eq!(failure.reason, Reason::OverLimit(YamlLimit::Depth));
    // Pointers into a value that stays flat add no depth.
    let operation = r#"{"op":"add","path":"/a/b/c","value":{"d":[1]}}"#;
    let operations = vec![operation; 10_000].join(",");
    let result = patched("a: {b: {}}", &format!("[{operations}]"));
    assert_eq!(result, Ok(document("a: {b: {c: {d: [1]}}}")));
}

/// `.a[0]` as a place; places of the patch begin with an index.
fn place(text: &str) -> Location {
    let path = Path::parse(text).expect("a path");
    let segments = path.segments().expect("a plain path");
    let piece = |segment: &Segment| match segment {
        Segment::Name(name) => Piece::Key(Key::string(name.clone(), Span::point(file(0), 0))),
        Segment::Index(index) => Piece::Index(usize::try_from(*index).expect("from the front")),
    };
    Location(segments.iter().map(piece).collect())
}

/// Origin of a place, in short.
fn origin(base: &str, patch: &str, at: &str) -> String {
    let patch = read(patch).expect(patch);
    let strategy = Strategy::JsonPatch(Arc::new(patch.clone()));
    let numbers = numbers(&strategy, &document(base), patch.document());
    match numbers.from(&place(at)) {
        Some(From::Moved(NumberedInput::Before, from)) => format!("Base {from}"),
        Some(From::Moved(_, from)) => format!("Over {from}"),
        Some(other) => format!("{other:?}"),
        None => {
            let base = numbers.before().node();
            let taken = place(at).get(base).map(|node| node.span);
            let by = taken.and_then(|taken| strategy.taken_by(base, patch.document(), taken));
            by.map_or_else(|| "nothing".to_owned(), |by| format!("Deleted {by}"))
        }
    }
}

fn destinations(base: &str, patch: &str, input: NumberedInput, from: &str) -> String {
    let patch = read(patch).expect(patch);
    let strategy = Strategy::JsonPatch(Arc::new(patch.clone()));
    let numbers = numbers(&strategy, &document(base), patch.document());
    let places = numbers.destinations(input, &place(from));
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    places.join(" ")
}

#[test]
fn places_are_traced_in_both_directions() {
    let base = "{a: [{x: 1}, 2, 3], b: {c: 4, d: [5]}}";
    let patch = r#"[
        {"op": "move", "from": "/a/0", "path": "/b/e"},
        {"op": "add", "path": "/a/1", "value": {"y": [6]}},
        {"op": "copy", "from": "/b", "path": "/f"},
        {"op": "remove", "path": "/b/d"},
        {"op": "replace", "path": "/f/c", "value": {"z": 7}},
        {"op": "remove", "path": "/a/0"}
    ]"#;
    let result = "{a: [{y: [6]}, 3], b: {c: 4, e: {x: 1}}, f: {c: {z: 7}, d: [5], e: {x: 1}}}";
    assert_eq!(patched(base, patch), Ok(document(result)));
    for (at, from) in [
        (".", "Base ."),
        (".a", "Base .a"),
        (".a[0]", "Over .[1].value"),
        (".a[0].y[0]", "Over .[1].value.y[0]"),
        (".a[1]", "Base .a[2]"),
        (".b.c", "Base .b.c"),
        (".b.e", "Base .a[0]"),
        (".b.e.x", "Base .a[0].x"),
        (".b.d", "Deleted .[3]"),
        (".b.d[0]", "Deleted .[3]"),
        (".f", "Base .b"),
        (".f.c.z", "Over .[4].value.z"),
        (".f.c.q", "nothing"),
        (".f.d[0]", "Base .b.d[0]"),
        (".f.e.x", "Base .a[0].x"),
    ] {
        assert_eq!(origin(base, patch, at), from, "{at}");
    }
    for (input, from, to) in [
        (NumberedInput::Before, ".", "."),
        (NumberedInput::Before, ".a[0].x", ".b.e.x .f.e.x"),
        (NumberedInput::Before, ".a[1]", ""),
        (NumberedInput::Before, ".a[2]", ".a[1]"),
        (NumberedInput::Before, ".b.c", ".b.c"),
        (NumberedInput::Before, ".b.d[0]", ".f.d[0]"),
        (NumberedInput::Source, ".[1].value.y[0]", ".a[0].y[0]"),
        (NumberedInput::Source, ".[4].value", ".f.c"),
        (NumberedInput::Source, ".[4].path", ""),
        (NumberedInput::Source, ".[4]", ""),
    ] {
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(
            sorted(&destinations(base, patch, input, from)),
            sorted(to),
            "{from}"
        );
    }
}

#[test]
fn failing_patch_keeps_every_place() {
    let patch = r#"[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]"#;
    assert_eq!(origin("a: 1", patch, ".a"), "Base .a");
    assert_eq!(
        destinations("a: 1", patch, NumberedInput::Before, ".a"),
        ".a"
    );
    assert_eq!(
        destinations("a: 1", patch, NumberedInput::Source, ".[0]"),
        ""
    );
}

#[test]
fn long_patch_is_traced_in_bounded_time() {
    let operation = |index| format!(r#"{{"op":"add","path":"/l/0","value":{index}}}"#);
    let operations: Vec<String> = (0..10_000).map(operation).collect();
    let patch = read(&format!("[{}]", operations.join(","))).expect("a patch");
    let base = document("l: []");
    let result = apply(&base, &patch).expect("it applies");
    let items = result.get("l").and_then(Node::as_sequence).expect("a list");
    assert_eq!(items.len(), 10_000);
    let strategy = Strategy::JsonPatch(Arc::new(patch.clone()));
    let numbers = numbers(&strategy, &base, patch.document());
    for index in (0..10_000).step_by(500) {
        let at = Location(vec![place(".l").0[0].clone(), Piece::Index(index)]);
        let value = place(&format!(".[{}].value", 9_999 - index));
        let came = Some(From::Moved(NumberedInput::Source, value.clone()));
        assert_eq!(numbers.from(&at), came);
        assert_eq!(numbers.destinations(NumberedInput::Source, &value), [at]);
    }
}

#[test]
fn secrets_stay_secret() {
    let base = document("a: {b: 1}").into_secret();
    let text = r#"[{"op":"move","from":"/a/b","path":"/c"},{"op":"add","path":"/d","value":[2]}]"#;
    let patch = read(text).expect(text);
    let result = apply(&base, &patch).expect(text);
    let secret = |node: &Node, key: &str| node.get(key).expect("it is there").secret;
    assert!(secret(&result, "c"), "a moved value");
    assert!(!secret(&result, "d"), "a value of a public patch");

    let marked = patch.document().clone().into_secret();
    let mut result = document("a: {b: 1}");
    let strategy = Strategy::JsonPatch(Arc::new(patch));
    strategy.merge(&mut result, &marked).expect(text);
    assert!(!secret(&result, "c"));
    let added = result.get("d").and_then(Node::as_sequence).expect("a list");
    assert!(
        secret(&result, "d") && added[0].secret,
        "a value of a secret patch"
    );
}

#[test]
fn shared_nodes_are_not_changed() {
    let base = document("a: {b: [1, 2]}");
    let patch = read(
        r#"[{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/c/b/0"},{"op":"add","path":"/a/b/-","value":3}]"#,
    );
    let result = apply(&base, &patch.expect("a patch")).expect("it applies");
    assert_eq!(base, document("a: {b: [1, 2]}"));
    assert_eq!(result, document("{a: {b: [1, 2, 3]}, c: {b: [2]}}"));
}

/// The patch on the page for users.
#[test]
fn patch_in_the_documentation_applies() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cloud-init.md");
    let page = std::fs::read_to_string(page).expect("the page can be read");
    let (_, block) = page.split_once("```json\n").expect("it shows a patch");
    let (patch, _) = block.split_once("```").expect("the block ends");
    let result = patched("{ntp: {enabled: true, servers: []}, runcmd: [a, b]}", patch);
    let expected = "{ntp: {enabled: true, servers: [ntp.example.org]}, runcmd: [b]}";
    assert_eq!(result, Ok(document(expected)));
}
