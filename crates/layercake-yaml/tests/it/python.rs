//! YAML that PyYAML's own scanner reads differently from libyaml.
//!
//! `⟦` and `⟧` enclose the position at which it stops; they are removed before the text is read.
//! The expectations were recorded with PyYAML 6.0.3, `yaml.SafeLoader` and `yaml.CSafeLoader`.
//! `yaml.SafeLoader` and `yaml.CSafeLoader`.

use layercake_yaml::json::canonical;
use layercake_yaml::{
    InvalidYaml, Loader, Parsed, PythonRefusal, YamlProblemKind, parse, parse_stretch,
};
use layercake_yaml_testing::reading::some_file;

/// libyaml reads these, too: only the scanner differs.
#[test]
fn tabs_and_question_marks_end_plain_scalars() {
    for (marked, refusal) in [
        ("a:⟦\t⟧b\n", PythonRefusal::Tab),
        ("a: b⟦\t⟧\n", PythonRefusal::Tab),
        ("a: b⟦\t⟧# c\n", PythonRefusal::Tab),
        ("a: b⟦\t⟧c\n", PythonRefusal::Tab),
        ("a: 'b'⟦\t⟧\n", PythonRefusal::Tab),
        ("a: [b,\n⟦\t⟧\nc]\n", PythonRefusal::Tab),
        ("a: [b,⟦\t⟧c]\n", PythonRefusal::Tab),
        ("{⟦\t⟧}\n", PythonRefusal::Tab),
        ("a: |⟦\t⟧\n  b\n", PythonRefusal::Tab),
        ("a: &x⟦\t⟧b\n", PythonRefusal::Tab),
        ("---⟦\t⟧a\n", PythonRefusal::Tab),
        ("a: \"\t\" # \t\nb:⟦\t⟧c\n", PythonRefusal::Tab),
        ("a: {b: c⟦?⟧d}\n", PythonRefusal::QuestionMark),
        ("a: [http://b/⟦?⟧c=d]\n", PythonRefusal::QuestionMark),
        ("{a⟦?⟧: b}\n", PythonRefusal::QuestionMark),
        ("a: [b: c⟦?⟧]\n", PythonRefusal::QuestionMark),
        ("a: [{b: c}, d⟦?⟧]\n", PythonRefusal::QuestionMark),
    ] {
        let (text, at) = unmarked(marked);
        let parsed = parse(some_file(), &text);
        assert_eq!(
            (parsed.problems.len(), parsed.documents.len()),
            (0, 1),
            "{text:?}"
        );
        let Parsed {
            problems,
            documents,
            ..
        } = read(&text);
        let [problem] = &problems[..] else {
            panic!("{text:?}: {problems:?}")
        };
        assert_eq!(
            problem.kind,
            YamlProblemKind::Invalid(InvalidYaml::RefusedByPython(refusal)),
            "{text:?}"
        );
        assert_eq!(problem.span.range(), at, "{text:?}");
        assert!(documents.is_empty(), "{text:?}");
    }
}

#[test]
fn tabs_and_question_marks_are_allowed_in_text() {
    for (text, value) in [
        ("a: \"b\tc\"\n", r#"{"a":"b\tc"}"#),
        ("a: 'b\tc?'\n", r#"{"a":"b\tc?"}"#),
        ("a: |\n  b\tc\n  \td?\n", r#"{"a":"b\tc\n\td?\n"}"#),
        ("a: >\n  b\n\n  c\td\n", r#"{"a":"b\nc\td\n"}"#),
        ("# \ta?\na: b # \tc\n", r#"{"a":"b"}"#),
        ("a: | # \tb\n  c\n", r#"{"a":"c\n"}"#),
        ("a: http://b/?c=d\n", r#"{"a":"http://b/?c=d"}"#),
        ("? a\n: b?\n", r#"{"a":"b?"}"#),
        ("a: [? b]\n", r#"{"a":[{"b":null}]}"#),
        ("{? a : b}\n", r#"{"a":"b"}"#),
        (
            "a: ['b?', \"c\t\"]\nd: e?\n",
            r#"{"a":["b?","c\t"],"d":"e?"}"#,
        ),
        ("a: 1\na: 'b\tc'\n", r#"{"a":"b\tc"}"#),
        ("a: 'b\tc'\na: 1\n", r#"{"a":1}"#),
    ] {
        assert_eq!(value_of(text), value, "{text:?}");
    }
}

/// libyaml refuses these.
#[test]
fn text_accepted_by_python_only_is_read() {
    for (text, value) in [
        ("[a:, b]\n", r#"[{"a":null},"b"]"#),
        ("%YAM 1.1\n---\na\n", r#""a""#),
        ("%YAML 1.3\n---\na\n", r#""a""#),
        ("a: |\n \tb\n", r#"{"a":"\tb\n"}"#),
        ("[?]\n", r#"[{"!!null":null}]"#),
        ("[a, ?, '?,']\n", r#"["a",{"!!null":null},"?,"]"#),
        ("[? a, ? ]\n", r#"[{"a":null},{"!!null":null}]"#),
        ("a: 1\n\u{feff}b: 2\n", "{\"a\":1,\"\u{feff}b\":2}"),
    ] {
        assert_ne!(parse(some_file(), text).problems, [], "{text:?}");
        assert_eq!(value_of(text), value, "{text:?}");
    }
}

/// libyaml reads these differently.
#[test]
fn text_has_its_value_in_python() {
    for (text, libyaml, python) in [
        ("a: !\n", r#"{"a":""}"#, r#"{"a":null}"#),
        (
            "# x\n\u{feff}a: b\n",
            r#"{"a":"b"}"#,
            "{\"\u{feff}a\":\"b\"}",
        ),
    ] {
        assert_eq!(
            canonical(&parse(some_file(), text).documents[0].root),
            libyaml,
            "{text:?}"
        );
        assert_eq!(value_of(text), python, "{text:?}");
    }
}

/// libyaml refuses escapes of surrogates, and strings here cannot contain one.
#[test]
fn surrogates_are_kept_with_a_problem() {
    for (marked, value) in [
        (r#"a: "⟦\ud83d⟧\ude00""#, r#"{"a":"😀"}"#),
        (r#"a: "x⟦\ud83d⟧ y""#, "{\"a\":\"x\u{fffd} y\"}"),
        (r#"a: ["⟦\ude00⟧"]"#, "{\"a\":[\"\u{fffd}\"]}"),
        (r#""⟦\U0000D83D⟧": 1"#, "{\"\u{fffd}\":1}"),
    ] {
        let (text, at) = unmarked(marked);
        assert_ne!(parse(some_file(), &text).problems, [], "{text}");
        assert_eq!(value_of(&text), value, "{text}");
        let problems = read(&text).problems;
        let [problem] = &problems[..] else {
            panic!("{text}: {problems:?}")
        };
        assert_eq!(
            (&problem.kind, problem.span.range()),
            (&YamlProblemKind::Surrogate, at)
        );
    }
    // Only libyaml reads the comment.
    let commented = "\"\\ud83d\\ude00\": {a: [\"\\ude00\"#x\n]}";
    assert_eq!(value_of(commented), "{\"😀\":{\"a\":[\"\u{fffd}\"]}}");
    let three = r#"a: "\ud83d\ud83d\ude00 \udfff""#;
    assert_eq!(value_of(three), "{\"a\":\"\u{fffd}😀 \u{fffd}\"}");
    for text in [
        r"a: \ud83d",
        r"a: '\ud83d'",
        r#"a: "\\ud83d""#,
        "a: |\n  \"\\ud83d\"\n",
    ] {
        assert_eq!(read(text).problems, [], "{text}");
        assert!(value_of(text).contains(r"\\ud83d"), "{text}");
    }
}

/// Parses a part of a file as if it were the whole file, with spans of the file.
#[test]
fn only_the_given_range_is_read() {
    let text = "\t?\na: [b]\n--\tc: [d?]";
    let start = text.find('a').unwrap();
    let end = text.find("--").unwrap();
    assert_eq!(
        parse_stretch(some_file(), text, start..end, Loader::Python).problems,
        []
    );
    let problems = parse_stretch(some_file(), text, end + 3..text.len(), Loader::Python).problems;
    assert_eq!(text.get(problems[0].span.range()), Some("?"));
}

fn read(text: &str) -> Parsed {
    parse_stretch(some_file(), text, 0..text.len(), Loader::Python)
}

#[track_caller]
fn value_of(text: &str) -> String {
    let Parsed {
        documents,
        problems,
        ..
    } = read(text);
    let fatal: Vec<_> = problems
        .iter()
        .filter(|problem| problem.kind.is_fatal())
        .collect();
    assert!(fatal.is_empty(), "{text:?}: {fatal:?}");
    canonical(&documents[0].root)
}

fn unmarked(marked: &str) -> (String, std::ops::Range<usize>) {
    let start = marked.find('⟦').expect("the text has a mark");
    let text = marked.replace('⟦', "");
    let end = text.find('⟧').expect("the mark is closed");
    (text.replace('⟧', ""), start..end)
}
