//! Patterns, templates and values, compared with Python 3.11.

use std::sync::Arc;

use layercake_python::{
    MAX_OUTPUT, Pattern, PatternFailure, Replacement, TemplateErrorKind, float_repr, python_text,
};
use layercake_yaml::{Date, Key, Timestamp, Value};
use layercake_yaml_testing::values::{here, node};
use proptest::prelude::*;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn searches_as_python_does() {
    for (text, subject, groups) in [
        ("b", "abc", Some(vec![Some("b")])),
        ("", "abc", Some(vec![Some("")])),
        ("(a)|(b)", "b", Some(vec![Some("b"), None, Some("b")])),
        ("(?P<x>a)(?P=x)", "baa", Some(vec![Some("aa"), Some("a")])),
        (r"(a)(b)?\1", "aa", Some(vec![Some("aa"), Some("a"), None])),
        ("(?<=a)b(?!c)", "abcab", Some(vec![Some("b")])),
        (
            "(<)?a(?(1)>|$)",
            "<a> a",
            Some(vec![Some("<a>"), Some("<")]),
        ),
        ("(<)?a(?(1)>|$)", "<a", Some(vec![Some("a"), None])),
        ("(a)?(?(1))", "b", Some(vec![Some(""), None])),
        // `$` matches before a final line break, `\Z` does not.
        ("a$", "a\n", Some(vec![Some("a")])),
        (r"a\Z", "a\n", None),
        ("a$", "a\nb", None),
        ("(?m)a$", "a\nb", Some(vec![Some("a")])),
        ("a.", "a\n", None),
        ("(?s)a.", "a\n", Some(vec![Some("a\n")])),
        ("(?x) a b # c", "ab", Some(vec![Some("ab")])),
        ("(?i:a)b", "Ab", Some(vec![Some("Ab")])),
        ("(?i:a)b", "AB", None),
        ("(?i)(?-i:a)b", "aB", Some(vec![Some("aB")])),
        // Syntax of other dialects inside a class is literal.
        ("[[]", "[", Some(vec![Some("[")])),
        ("[[a]", "a", Some(vec![Some("a")])),
        ("[a&&b]+", "&a", Some(vec![Some("&a")])),
        ("[a~~b]+", "~b", Some(vec![Some("~b")])),
        ("[+--b]+", "-,b", Some(vec![Some("-,b")])),
        ("[]a]+", "]a", Some(vec![Some("]a")])),
        ("[^]a]", "]b", Some(vec![Some("b")])),
        ("[[:alpha:]]", ":]", Some(vec![Some(":]")])),
        (r"[\b]", "\u{8}", Some(vec![Some("\u{8}")])),
        (r"[\101-\103]+", "ABCD", Some(vec![Some("ABC")])),
        (
            r"\0\07\101\x41\u0041",
            "\0\u{7}AAA",
            Some(vec![Some("\0\u{7}AAA")]),
        ),
        // `\d`, `\w` and `\s` know Unicode, each in Python's way.
        (r"\d", "٣", Some(vec![Some("٣")])),
        (r"(?a)\d", "٣", None),
        (r"\w+", "naïve", Some(vec![Some("naïve")])),
        (r"\w+", "e\u{301}", Some(vec![Some("e")])),
        (r"\w+", "a‿b", Some(vec![Some("a")])),
        (r"\s", "\u{1c}", Some(vec![Some("\u{1c}")])),
        (r"(?a)\bé", "é", None),
        (r"(?ai)\w", "ſK", Some(vec![Some("K")])),
        (r"\B", "", None),
        (r"\b", "a", Some(vec![Some("")])),
        // Braces that are not a quantifier.
        ("a{", "a{", Some(vec![Some("a{")])),
        ("a{}", "a{}", Some(vec![Some("a{}")])),
        ("a{,2}", "aaa", Some(vec![Some("aa")])),
        ("a{b}", "a{b}", Some(vec![Some("a{b}")])),
        ("a*+a", "aaa", None),
        ("(?>a*)a", "aaa", None),
        ("(?=a)*b", "ab", Some(vec![Some("b")])),
        ("(a){0}b", "ab", Some(vec![Some("b"), None])),
        ("a(?#comment)b", "ab", Some(vec![Some("ab")])),
        (r"\<\>\/\#\é", "<>/#é", Some(vec![Some("<>/#é")])),
    ] {
        let found = pattern(text).search(subject).unwrap();
        let found = found.map(|found| {
            (0..found.len())
                .map(|group| found.group(group).unwrap())
                .collect::<Vec<_>>()
        });
        assert_eq!(found, groups, "{text} in {subject:?}");
    }
    let found = pattern("(a)").search("a").unwrap().unwrap();
    assert_eq!(found.group(2), None);
}

#[test]
fn refuses_what_python_refuses() {
    for text in [
        r"\p{L}",
        r"\h",
        r"\R",
        r"\K",
        r"\e",
        r"\z",
        r"\8",
        r"[\8]",
        r"\x6",
        r"\u12",
        r"\400",
        r"\1",
        r"(\1)",
        r"\",
        "(?<n>a)",
        "(?P<1>a)",
        "(?P<n>a)(?P<n>b)",
        "(?P=n)",
        "(?P>n)",
        "(?R)",
        "(?",
        "(",
        ")",
        "a)",
        "[",
        "[]",
        "[a",
        "[b-a]",
        r"[\w-a]",
        r"[a-\d]",
        "*",
        "a**",
        "a++b+*",
        "^*",
        r"\b+",
        "a{2,1}",
        "a|*",
        "(?i",
        "(?z)",
        "(?L)",
        "(?au)a",
        "(?i-i:a)",
        "(?-a:a)",
        "a(?i)",
        "(?(1)a|b|c)(d)",
        "(?(2)a)(b)",
        "(?(0)a)",
        "(?(x)a)",
        "(?<=a*)",
        "(?<=a|bc)",
        "(?<!a+)b",
        "(a)(?<=\\1(b)\\2)",
        "(?#",
        "(?P",
        "(?P<n",
        r"\N",
        r"\N{}",
        r"\N{EM DASH",
        r"\N{DASH}",
        r"\N{EM  DASH}",
    ] {
        let error = Pattern::parse(text).expect_err(text);
        assert!(
            error.at.is_none_or(|at| text.is_char_boundary(at)),
            "{text}"
        );
        assert!(!error.message.contains('\n'), "{text}");
    }
}

#[test]
fn replaces_as_python_does() {
    for (text, subject, template, expected, count) in [
        ("x*", "abxd", "-", "-a-b--d-", 5),
        ("", "ab", "-", "-a-b-", 3),
        ("|a", "aa", "-", "-----", 5),
        ("a|", "ba", "-", "-b--", 3),
        (r"\b", "ab", "|", "|ab|", 2),
        ("(?=b)", "abb", "-", "a-b-b", 2),
        ("(a)(b)?", "aab", r"[\1\2]", "[a][ab]", 2),
        ("(?P<n>a)", "a", r"\g<n>\g<1>\g<0>0", "aaa0", 1),
        ("a", "a", r"\n\t\\\.\&\0\07\101", "\n\t\\\\.\\&\0\u{7}A", 1),
        ("a", "a.a", "$1", "$1.$1", 2),
        ("é", "éé", "\\é", "\\é\\é", 2),
        ("REGEX", "REGEX_FRESH", "EAT", "EAT_FRESH", 1),
        ("z", "abc", "x", "abc", 0),
    ] {
        let replaced = pattern(text).replace_all(subject, Replacement::Template(template));
        assert_eq!(
            replaced,
            Ok((expected.to_owned(), count)),
            "{text} in {subject}"
        );
    }
    let literally = pattern("a").replace_all("a", Replacement::Literal(r"\1\q"));
    assert_eq!(literally, Ok((r"\1\q".to_owned(), 1)));
}

#[test]
fn templates_fail_as_in_python() {
    use TemplateErrorKind::*;
    for (template, at, kind) in [
        ("a\\", 1, TrailingBackslash),
        (r"x\q", 1, BadEscape('q')),
        (r"\x41", 0, BadEscape('x')),
        (r"\400", 0, OctalTooLarge),
        (r"\g", 0, UnclosedGroup),
        (r"\g<1", 0, UnclosedGroup),
        (r"\g<>", 0, UnclosedGroup),
        (r"\g<-1>", 0, BadGroupName("-1".into())),
        (r"\g<n>", 0, UnknownGroup("n".into())),
        (r"\1\2", 2, NoSuchGroup(2)),
    ] {
        // Even without a match.
        let failure = pattern("(a)").replace_all("b", Replacement::Template(template));
        let Err(PatternFailure::Template(error)) = failure else {
            panic!("{template}")
        };
        assert_eq!((error.at, error.kind), (at, kind), "{template}");
    }
}

#[test]
fn hostile_patterns_end_in_errors() {
    let text = "x".repeat(60);
    let steps = pattern(r"(x+x+)+y\b").search(&text);
    assert_eq!(steps, Err(PatternFailure::TooManySteps));
    let large = pattern("").replace_all(&"x".repeat(MAX_OUTPUT / 2), Replacement::Literal("yy"));
    assert_eq!(large, Err(PatternFailure::OutputTooLarge));
    for text in [
        "(".repeat(100_000),
        "(?:a{1000}){1000}{1000}".into(),
        "((?:a{999}){999}){999}".into(),
    ] {
        assert!(Pattern::parse(&text).is_err());
    }
    assert!(Pattern::parse(&format!("{}a{}", "(".repeat(40), ")".repeat(40))).is_ok());
}

#[test]
fn values_are_written_as_in_python() {
    let text = |text: &str| Value::String(text.into());
    let list = |items: Vec<Value>| Value::Sequence(Arc::new(items.into_iter().map(node).collect()));
    let map = |entries: Vec<(Value, Value)>| {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| {
            (
                Key {
                    value: key,
                    span: here(),
                },
                node(value),
            )
        });
        Value::Mapping(Arc::new(entries.collect()))
    };
    let date = Date {
        year: 2001,
        month: 12,
        day: 4,
    };
    let noon = Timestamp {
        date,
        hour: 12,
        minute: 0,
        second: 0,
        microsecond: 0,
        offset: None,
    };
    let zoned = |offset| {
        Value::Timestamp(Timestamp {
            second: 5,
            offset: Some(offset),
            ..noon
        })
    };
    let fraction = Value::Timestamp(Timestamp {
        microsecond: 100_000,
        offset: Some(-300),
        ..noon
    });
    for (value, expected) in [
        (Value::Null, "None"),
        (Value::Bool(true), "True"),
        (Value::Int(-3), "-3"),
        (
            Value::BigInt("123456789012345678901".into()),
            "123456789012345678901",
        ),
        (Value::Float(1.0), "1.0"),
        (text("it's"), "it's"),
        (
            list(vec![Value::Int(1), text("x"), Value::Null]),
            "[1, 'x', None]",
        ),
        (
            map(vec![
                (text("a"), Value::Int(1)),
                (Value::Int(2), list(vec![])),
            ]),
            "{'a': 1, 2: []}",
        ),
        (map(vec![]), "{}"),
        (
            list(vec![text("it's"), text("\"it's\"")]),
            r#"["it's", '"it\'s"']"#,
        ),
        (
            list(vec![text("a\n\t\\\u{7f}é\u{301}\u{200b}\u{a0}😀\u{e0001}")]),
            "['a\\n\\t\\\\\\x7fé\u{301}\\u200b\\xa0😀\\U000e0001']",
        ),
        (Value::Date(date), "2001-12-04"),
        (
            list(vec![Value::Date(date)]),
            "[datetime.date(2001, 12, 4)]",
        ),
        (Value::Timestamp(noon), "2001-12-04 12:00:00"),
        (fraction.clone(), "2001-12-04 12:00:00.100000-05:00"),
        (
            list(vec![Value::Timestamp(noon)]),
            "[datetime.datetime(2001, 12, 4, 12, 0)]",
        ),
        (
            list(vec![fraction]),
            "[datetime.datetime(2001, 12, 4, 12, 0, 0, 100000, tzinfo=datetime.timezone(datetime.timedelta(days=-1, seconds=68400)))]",
        ),
        (
            list(vec![zoned(0)]),
            "[datetime.datetime(2001, 12, 4, 12, 0, 5, tzinfo=datetime.timezone.utc)]",
        ),
        (
            list(vec![zoned(330)]),
            "[datetime.datetime(2001, 12, 4, 12, 0, 5, tzinfo=datetime.timezone(datetime.timedelta(seconds=19800)))]",
        ),
        (
            Value::Binary(b"a'\"\x00\xff\n~".as_slice().into()),
            r#"b'a\'"\x00\xff\n~'"#,
        ),
        (Value::Set([].into()), "set()"),
        (Value::Set([Key::string("a", here())].into()), "{'a'}"),
        (
            Value::Pairs([(node(text("a")), node(Value::Int(1)))].into()),
            "[('a', 1)]",
        ),
    ] {
        assert_eq!(python_text(&value), expected);
    }
}

#[test]
fn floats_are_written_as_in_python() {
    for (float, expected) in [
        (1e16, "1e+16"),
        (1e15, "1000000000000000.0"),
        (123456789012345680.0, "1.2345678901234568e+17"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (0.1, "0.1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (1e20, "1e+20"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (1e100, "1e+100"),
        (12345.678, "12345.678"),
        (9999999999999998.0, "9999999999999998.0"),
        (1.5e-7, "1.5e-07"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ] {
        assert_eq!(float_repr(float), expected);
    }
}

proptest! {
    #[test]
    fn written_float_reads_back(float in any::<f64>().prop_filter("a number", |f| !f.is_nan())) {
        prop_assert_eq!(float_repr(float).parse::<f64>().unwrap().to_bits(), float.to_bits());
    }

    #[test]
    fn any_text_parses_or_fails(text in r"[a-c(?<>=!|*+{},1-2:P)\[\]\\^$.-]{0,14}", subject in "[a-c\n]{0,9}") {
        let Ok(pattern) = Pattern::parse(&text) else { return Ok(()) };
        if let Ok((same, _)) = pattern.replace_all(&subject, Replacement::Template(r"\g<0>")) {
            prop_assert_eq!(same, subject);
        }
    }

    /// A pattern without metacharacters matches its own text.
    #[test]
    fn plain_pattern_matches_its_own_text(text in "[a-b_ /-]{0,3}", subject in "[a-b_ /-]{0,9}") {
        let found = pattern(&text).search(&subject).unwrap().is_some();
        prop_assert_eq!(found, subject.contains(&text));
        if !text.is_empty() {
            let replaced = pattern(&text).replace_all(&subject, Replacement::Literal("<>"));
            prop_assert_eq!(replaced.unwrap().0, subject.replace(&text, "<>"));
        }
    }
}
