//! Reading of unusual and invalid YAML.

use layercake_yaml::json::canonical;
use layercake_yaml::{InvalidYaml, Node, Size, Value, YamlLimit, YamlProblemKind, parse};
use layercake_yaml_testing::reading::{libyaml_reads, reads_without_problem, some_file};

#[test]
fn problems_have_the_span_of_their_cause() {
    for (text, place, kind) in [
        ("a: [1\n", "[", "Invalid(Syntax"),
        ("a: x\n\tb: y\n", "x", "Invalid(Syntax"),
        ("a: {b:\tc, :d}\n", ":d", "Invalid(RefusedByLibyaml"),
        ("a: 1\na: 2\n", "a: 2", "DuplicateKey"),
        ("? [a]\n: b\n", "[a]", "Invalid(UnhashableKey"),
        ("a: !x/y b\n", "b", "UnknownTag"),
        ("a: !x\n  b: c\n", "b: c", "UnknownTag"),
        ("a: 2001-02-30\n", "2001", "InvalidScalar"),
        ("a: =\n", "=", "InvalidScalar"),
        ("a: [<<]\n", "<<", "InvalidScalar"),
        ("a: !!int x\n", "x", "InvalidScalar"),
        ("a: !!set [x]\n", "[x]", "InvalidScalar"),
        ("a: !!omap [x]\n", "x]", "InvalidScalar"),
        ("<<: 1\n", "1", "Invalid(InvalidMerge"),
        ("<<: [{}, 1]\n", "1", "Invalid(InvalidMerge"),
        ("a: *x\n", "*x", "Invalid(UndefinedAlias"),
        ("- &x 1\n- &x 2\n", "&x 2", "Invalid(DuplicateAnchor"),
        ("a: &x\n  b: *x\n", "*x", "Invalid(RecursiveAlias"),
    ] {
        let parsed = parse(some_file(), text);
        let [problem] = parsed.problems.as_slice() else {
            panic!("{text}{:?}", parsed.problems)
        };
        assert!(
            format!("{:?}", problem.kind).starts_with(kind),
            "{text}{problem:?}"
        );
        assert!(
            text[problem.span.start as usize..].starts_with(place),
            "{text}{problem:?}"
        );
        assert_eq!(
            parsed.documents.len(),
            usize::from(kind == "DuplicateKey"),
            "{text}"
        );
    }
}

/// Text that YAML 1.2 does not allow or that it reads differently from libyaml.
#[test]
fn scalars_continue_and_end_as_in_libyaml() {
    for (text, value) in [
        ("a: \"b\nc\"\n", "b c"),
        ("a: 'b\n\n\tc\n'\n", "b\nc "),
        ("a: \"b\\\n\tc\"\n", "bc"),
        ("a: \u{feff}b\n", "\u{feff}b"),
        ("a: |\n  b\n  c", "b\nc"),
        ("a: |+\n  b\n  ", "b\n"),
        ("a: >\n  b\n  c\n", "b c\n"),
    ] {
        let parsed = parse(some_file(), text);
        assert_eq!(parsed.problems, [], "{text:?}");
        let root = &parsed.documents[0].root;
        assert_eq!(
            root.get("a").and_then(Node::as_str),
            Some(value),
            "{text:?}"
        );
    }
}

#[test]
fn later_documents_need_their_dashes() {
    let parsed = parse(some_file(), "a: 1\n...\nb: 2\n...\n---\nc: 3\n");
    assert!(matches!(
        parsed.problems[0].kind,
        YamlProblemKind::Invalid(InvalidYaml::RefusedByLibyaml(_))
    ));
    assert_eq!(parsed.problems[0].span.start, 9);
    assert_eq!(parsed.documents.len(), 2);
}

#[test]
fn problem_affects_one_document() {
    let broken = [
        "b: [",
        "b: !x 1",
        "b: *c",
        "? {}",
        "b: 2001-02-30",
        "b: {c: ,d\n}\n  x",
        "-\tb:\n\t- 1",
    ];
    for broken in broken {
        let text = format!("---\na: 1\n---\n{broken}\n---\nc: 2\n...\n---\nd: 3\n");
        let parsed = parse(some_file(), &text);
        assert!(!parsed.problems.is_empty(), "{text}");
        let keys: Vec<_> = parsed
            .documents
            .iter()
            .map(|document| keys(&document.root.value))
            .collect();
        assert_eq!(keys, [["a"], ["c"], ["d"]], "{text}{:?}", parsed.problems);
    }
}

#[test]
fn every_problem_of_a_document_is_reported() {
    let parsed = parse(
        some_file(),
        "a: !x 1\nb: *c\nd: 2001-02-30\ne: {e: 1, e: 2}\n",
    );
    assert_eq!(parsed.problems.len(), 4);
}

#[test]
fn keys_are_equal_as_in_python() {
    for (text, count) in [
        ("{1: a, true: b, 1.0: c}", 1),
        ("{1: a, '1': b}", 2),
        ("{0: a, false: b, -0.0: c, ~: d, '': e}", 3),
        ("{100000000000000000000: a, 1.0e+20: b}", 1),
        ("{2001-12-14t21:59:43-05:00: a, 2001-12-15t02:59:43Z: b}", 1),
        (
            "{2001-12-14t21:59:43: a, 2001-12-14t21:59:43Z: b, 2001-12-14: c}",
            3,
        ),
        // Each is a separate key in Python, but no lookup finds it.
        ("{.nan: a, .NAN: b}", 1),
    ] {
        let parsed = parse(some_file(), text);
        let mapping = parsed.documents[0].root.as_mapping().expect("a mapping");
        assert_eq!(mapping.len(), count, "{text}");
    }
}

#[test]
fn merged_keys_come_first_and_are_overridden() {
    let text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {z: 3, <<: [*a, *b], w: 3}\n";
    let parsed = parse(some_file(), text);
    assert_eq!(parsed.problems, []);
    let merged = parsed.documents[0].root.get("c").expect("a key");
    assert_eq!(keys(&merged.value), ["y", "z", "x", "w"]);
    let written: Vec<&str> = ["y", "z", "x", "w"]
        .map(|key| {
            let (key, node) = merged
                .as_mapping()
                .and_then(|it| it.get_entry(key))
                .expect("a key");
            &text[key.span.to(node.span).range()]
        })
        .into();
    assert_eq!(written, ["y: 1", "z: 3", "x: 1", "w: 3"]);
}

#[test]
fn merge_key_accepts_sets_and_empty_lists() {
    let parsed = parse(
        some_file(),
        "{<<: !!set {a, b}, <<: [], \"<<\": 1, =: 2, !!merge x: {c: 3}}",
    );
    assert_eq!(parsed.problems, []);
    assert_eq!(
        keys(&parsed.documents[0].root.value),
        ["a", "b", "c", "<<", "="]
    );
}

/// `<<` is resolved on the composed node, where a list is a list regardless of its tag; an alias is
/// constructed independently.
#[test]
fn pairs_are_mappings_where_merged_or_aliased() {
    let parsed = parse(
        some_file(),
        "a: !!pairs [&x {k: v}, {l: w}]\nb: *x\n<<: !!omap [*x]\n",
    );
    assert_eq!(parsed.problems, []);
    let root = &parsed.documents[0].root;
    assert_eq!(keys(&root.value), ["k", "a", "b"]);
    assert_eq!(
        root.get("b")
            .and_then(|it| it.get("k"))
            .and_then(Node::as_str),
        Some("v")
    );
    let parsed = parse(some_file(), "a: 1\n<<: !!pairs [{a: 2, b: 3}]\n");
    assert_eq!(parsed.problems, []);
    assert_eq!(keys(&parsed.documents[0].root.value), ["a", "b"]);
    let parsed = parse(some_file(), "a: !!pairs [&x {[k]: v}]\n");
    assert_eq!(
        parsed.problems[0].kind,
        YamlProblemKind::Invalid(InvalidYaml::UnhashableKey)
    );
    let earlier = parse(some_file(), "<<: !!pairs [{a: 1}, {a: 2}, {b: 3}]\n");
    let root = &earlier.documents[0].root;
    assert_eq!(root.get("a").map(|it| &it.value), Some(&Value::Int(1)));
}

#[test]
fn size_counts_the_content_of_values() {
    for (text, nodes, bytes, height) in [
        ("!!binary aGVsbG8=", 1, 5, 0),
        ("18446744073709551616", 1, 20, 0),
        ("!!set {ab, 12345678901234567890}", 1, 22, 0),
        ("!!pairs [ab: [c, d], e: f]", 9, 6, 3),
    ] {
        let parsed = parse(some_file(), text);
        let size = Size::of(&parsed.documents[0].root);
        assert_eq!(
            (size.nodes(), size.bytes(), size.height()),
            (nodes, bytes, height),
            "{text}"
        );
    }
}

#[test]
fn lone_exclamation_mark_ignores_quotes() {
    let parsed = parse(some_file(), "- ! \"12\"\n- ! x\n- ! [1]\n");
    let items = parsed.documents[0].root.as_sequence().expect("a list");
    assert_eq!(items[0].value, Value::Int(12));
    assert_eq!(items[1].as_str(), Some("x"));
}

#[test]
fn integers_have_a_limit() {
    let parsed = parse(
        some_file(),
        &format!("a: {}", "7".repeat(YamlLimit::DIGITS + 1)),
    );
    assert_eq!(
        parsed.problems[0].kind,
        YamlProblemKind::OverLimit(YamlLimit::Digits)
    );
}

fn keys(value: &Value) -> Vec<&str> {
    match value {
        Value::Mapping(mapping) => mapping.keys().filter_map(|key| key.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Recorded with PyYAML 6.0.3, `yaml.CSafeLoader`.
#[test]
fn non_standard_yaml_is_read_as_by_libyaml() {
    for (text, value) in [
        ("{ ?foo: bar,\nbar: 42\n}\n", r#"{"foo":"bar","bar":42}"#),
        ("[?x]\n", r#"[{"x":null}]"#),
        ("k: [?a : b]\n", r#"{"k":[{"a":"b"}]}"#),
        ("k: {?a : b, ?c}\n", r#"{"k":{"a":"b","c":null}}"#),
        (
            "k: [x, ?a: b, ?a b\n c]\n",
            r#"{"k":["x",{"a":"b"},{"a b c":null}]}"#,
        ),
        ("k: [?-a: 1, a ?b]\n", r#"{"k":[{"-a":1},"a ?b"]}"#),
        ("---\nkey: &an:chor value\n", r#"{"key":":chor value"}"#),
        ("- [\n\tfoo,\n foo\n ]\n", r#"[["foo","foo"]]"#),
        ("!!str {=: x}\n", r#""x""#),
        (
            "k: !!int {a: b, =: '7', =: 8}\nl: !!str {=: {=: 1}}\n",
            r#"{"k":7,"l":"1"}"#,
        ),
        ("a:\n  k: |4\n    #x\n\n  z: 1\n", r#"{"a":{"k":"","z":1}}"#),
        (
            "a:\n  k: >4+\n      t\n\n    #x\n    #y\n  z: 1\n",
            r#"{"a":{"k":"t\n\n","z":1}}"#,
        ),
        ("a: {a: 1}\n\u{feff}\n", r#"{"a":{"a":1}}"#),
        ("a: [b,\r\n\u{feff}c]\n", r#"{"a":["b","c"]}"#),
        ("a: |\n x\n\u{feff}# c\nb: 1\n", r#"{"a":"x\n","b":1}"#),
        ("a: '\u{2028} x'\n", r#"{"a":"\u2028x"}"#),
        (
            "a: 'it''s \n\n \u{2028}\n y'\n",
            r#"{"a":"it's\n\u2028\ny"}"#,
        ),
        (
            "a: \"x\\\n  \u{2029} y\\ \u{2028} z\"\n",
            r#"{"a":"x\u2029y \u2028z"}"#,
        ),
        (
            "{k: \"a\\\\ud83d\", l: '\\ud83d'}\n",
            r#"{"k":"a\\ud83d","l":"\\ud83d"}"#,
        ),
    ] {
        assert_reads(text, value);
    }
    let parsed = parse(some_file(), "d:\n  &a: v\n");
    assert_eq!(parsed.problems, []);
    let inner = parsed.documents[0]
        .root
        .get("d")
        .and_then(Node::as_mapping)
        .unwrap();
    let (key, value) = inner.iter().next().unwrap();
    assert_eq!((&key.value, value.as_str()), (&Value::Null, Some("v")));
}

/// `flatten_mapping` ignores the tags of what `<<` merges, and merges the values of a set.
#[test]
fn tags_of_merged_collections_are_ignored() {
    for (text, value) in [
        ("{<<: !!map {a: !!int '3'}, b: 1}\n", r#"{"a":3,"b":1}"#),
        ("{<<: !!str {a: 1}}\n", r#"{"a":1}"#),
        (
            "{<<: !other [!other {a: 1}, !!set {b: 2}]}\n",
            r#"{"a":1,"b":2}"#,
        ),
        ("{<<: !!set {a: 1}}\n", r#"{"a":1}"#),
    ] {
        assert_reads(text, value);
    }
    let parsed = parse(some_file(), "a: &a !!set {b: 1}\nc: {<<: *a}\n");
    assert_eq!(parsed.problems, []);
    let merged = parsed.documents[0]
        .root
        .get("c")
        .and_then(|it| it.get("b"))
        .expect("a value");
    assert_eq!(merged.value, Value::Int(1));
}

fn assert_reads(text: &str, value: &str) {
    let parsed = parse(some_file(), text);
    assert!(
        reads_without_problem(&parsed),
        "{text:?}: {:?}",
        parsed.problems
    );
    let expected: serde_json::Value = serde_json::from_str(value).unwrap();
    let read: serde_json::Value =
        serde_json::from_str(&canonical(&parsed.documents[0].root)).unwrap();
    assert_eq!(read, expected, "{text:?}");
}

/// Recorded in the same way: comments without a blank, indicators in `[]` and `{}`, line breaks of
/// YAML 1.1, block scalars at the margin, byte order marks.
#[test]
fn tokens_begin_and_end_as_in_libyaml() {
    for (text, value) in [
        ("a: \"q\"#c\nb: 'q'#c\n", r#"{"a":"q","b":"q"}"#),
        ("a: [x]#c\nb: {y: z}#c\n", r#"{"a":["x"],"b":{"y":"z"}}"#),
        ("a: |#c\n b\nc: >-#c\n d\n", r#"{"a":"b\n","c":"d"}"#),
        ("? |#c\n x\n: y\n", r#"{"x\n":"y"}"#),
        ("[a#b, c#]\n", r#"["a#b","c#"]"#),
        ("k: [-]\n", r#"{"k":["-"]}"#),
        ("k: [-, a, -]\n", r#"{"k":["-","a","-"]}"#),
        ("k: {a: -, -: b}\n", r#"{"k":{"a":"-","-":"b"}}"#),
        ("[a: -]\n", r#"[{"a":"-"}]"#),
        ("k: {?a, ?\"b\"}\n", r#"{"k":{"a":null,"b":null}}"#),
        ("[?\"a\": b, ?&x c]\n", r#"[{"a":"b"},{"c":null}]"#),
        ("a: b\u{2028}c: d\n", r#"{"a":"b","c":"d"}"#),
        ("a: b # c\u{2028}d: e\n", r#"{"a":"b","d":"e"}"#),
        ("a: b\u{2028}  c\n", r#"{"a":"b\u2028c"}"#),
        ("a: b\u{2029}\u{2028}  c\n", r#"{"a":"b\u2029\u2028c"}"#),
        ("a: |\n b\u{2028} c\n", r#"{"a":"b\u2028c\n"}"#),
        ("a: |\u{2028}  b\u{2028}  c", r#"{"a":"b\u2028c"}"#),
        ("- a\u{2029}- b\n", r#"["a","b"]"#),
        ("a: b\u{85}c: d\n", r#"{"a":"b","c":"d"}"#),
        ("a:\n|\n", r#"{"a":""}"#),
        ("a:\n\u{feff}  b: 1\n", r#"{"a":{"b":1}}"#),
        ("---\n\u{feff}a: 1\n", r#"{"a":1}"#),
        ("[!!str, \"!!str,\"#c\n]\n", r#"["","!!str,"]"#),
        ("{a: !!null, b: \"x\"#c\n}\n", r#"{"a":null,"b":"x"}"#),
    ] {
        assert_reads(text, value);
    }
    let parsed = parse(some_file(), "{?, b: }\n");
    assert_eq!(parsed.problems, []);
    let mapping = parsed.documents[0].root.as_mapping().expect("a mapping");
    let read: Vec<_> = mapping
        .iter()
        .map(|(key, node)| (&key.value, &node.value))
        .collect();
    assert_eq!(
        read,
        [
            (&Value::Null, &Value::Null),
            (&Value::String("b".into()), &Value::Null)
        ]
    );
}

#[test]
fn unusual_text_is_reported() {
    for (text, places) in [
        ("a: \"q\"#c\nb: [x]#d\n", &["#c", "#d"][..]),
        ("a: |#c\n b#\n", &["#c"]),
        ("[a#b, -, '-' # c\n, \"x\"#d\n]\n", &["-,", "#d"]),
        ("a: b # c\u{2028}d: 'e\u{2028}'\n", &["\u{2028}d"]),
        (
            "# c\u{85}\u{feff}# d\na: b\u{2029}c: d\n",
            &["\u{85}", "\u{2029}c"],
        ),
    ] {
        let problems = parse(some_file(), text).problems;
        assert_eq!(problems.len(), places.len(), "{text:?}: {problems:?}");
        for (problem, place) in problems.iter().zip(places) {
            assert!(
                matches!(problem.kind, YamlProblemKind::Unusual(_)),
                "{problem:?}"
            );
            assert!(
                text[problem.span.start as usize..].starts_with(place),
                "{text:?}"
            );
        }
    }
}

#[test]
fn nodes_and_comments_of_libyaml_have_spans() {
    let text =
        "# é\n&x !!map {k: \"v\"#c\n, l: [!!str, &y # e\n z], m: !!null }\n--- |#h\n é\n# end";
    let parsed = parse(some_file(), text);
    assert!(reads_without_problem(&parsed));
    let comments: Vec<_> = parsed
        .comments
        .iter()
        .map(|it| &text[it.span.range()])
        .collect();
    assert_eq!(comments, ["# é", "#c", "# e", "#h", "# end"]);
    let root = &parsed.documents[0].root;
    assert!(text[root.span.range()].starts_with("{k:"));
    assert!(text[root.span.range()].ends_with("!!null }"));
    let list = root.get("l").and_then(Node::as_sequence).expect("a list");
    assert_eq!(
        list.iter()
            .map(|it| &text[it.span.range()])
            .collect::<Vec<_>>(),
        ["", "z"]
    );
    assert_eq!(&text[parsed.documents[1].root.span.range()], "|#h\n é\n");
}

#[test]
fn json_may_be_indented_with_tabs() {
    let entry =
        |at| format!("\t\"k{at}\":\t{{\n\t\t \"l\": [\n\t\t\t\"t\tu\",\t\"v\"\n\t\t]\n\t}},\n");
    let entries: String = (0..200).map(entry).collect();
    let text = format!("data: {{\n{entries}\t\"z\": \"\ta\n\t b\"\n}}\n");
    assert!(libyaml_reads(&text));
    let parsed = parse(some_file(), &text);
    assert_eq!(parsed.problems, []);
    let data = parsed.documents[0].root.get("data").unwrap();
    let list = data
        .get("k199")
        .and_then(|it| it.get("l"))
        .and_then(Node::as_sequence)
        .unwrap();
    assert_eq!(list[0].as_str(), Some("t\tu"));
    assert_eq!(data.get("z").and_then(Node::as_str), Some("\ta b"));
}

/// Recorded in the same way.
#[test]
fn other_non_standard_yaml_is_refused() {
    for text in [
        "k: {x: ?a}\n",
        "k: [??a]\n",
        "k: [x: ?a]\n",
        "d: &a:\n",
        "d: {a: &b:c, e: f}\n",
        "!!str {a: b}\n",
        "!!str {'=': x}\n",
        "!!str {=: [a]}\n",
        "!!timestamp {=: 2001-01-01}\n",
        "k: |4\n   y\n",
        "a: 1\n\u{feff}b: 2\n",
        "a: 1\n\u{feff}---\nb: 1\n",
        "'a\u{2028} b': 1\n",
        "{k: \"\\ud83d\\ude00\"}\n",
        "{k: \"\\U0000d83d\"}\n",
        "a: !!str#c\n",
        "a: *x#c\n",
        "a: &x#c\n",
        "[a:]\n",
        "{a: :b}\n",
        "{? a : b, ?]\n",
        "- \"a\"- b\n",
        "[!,? &x!!map \n]\n",
    ] {
        assert_ne!(parse(some_file(), text).problems, [], "{text:?}");
    }
}
