//! Types of scalars: YAML 1.1 as PyYAML resolves and constructs it.

use layercake_yaml::{Date, Timestamp, Value, YamlLimit, YamlProblemKind, parse};
use layercake_yaml_testing::reading::some_file;

/// Value of a scalar with this text, including its tag.
fn scalar(text: &str) -> Result<Value, YamlProblemKind> {
    let mut parsed = parse(some_file(), &format!("- {text}\n"));
    if let Some(problem) = parsed.problems.pop() {
        return Err(problem.kind);
    }
    let items = parsed.documents[0]
        .root
        .as_sequence()
        .expect("it is a list");
    Ok(items[0].value.clone())
}

fn check(cases: &[(&str, Value)]) {
    for (text, expected) in cases {
        assert_eq!(scalar(text), Ok(expected.clone()), "{text}");
    }
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn is_invalid(text: &str) -> bool {
    matches!(scalar(text), Err(YamlProblemKind::InvalidScalar(_)))
}

#[test]
fn words() {
    check(&[
        ("yes", Value::Bool(true)),
        ("On", Value::Bool(true)),
        ("FALSE", Value::Bool(false)),
        ("y", text("y")),
        ("tRUE", text("tRUE")),
        ("Null", Value::Null),
        ("nULL", text("nULL")),
        ("~", Value::Null),
        ("~a", text("~a")),
        ("", Value::Null),
        ("<<<", text("<<<")),
    ]);
}

#[test]
fn integers() {
    check(&[
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("+12_", Value::Int(12)),
        ("1__0", Value::Int(10)),
        ("010", Value::Int(8)),
        ("0_", Value::Int(0)),
        ("08", text("08")),
        ("0o10", text("0o10")),
        ("0x1F", Value::Int(31)),
        ("0X1f", text("0X1f")),
        ("-0b101", Value::Int(-5)),
        ("12:30:45", Value::Int(45045)),
        ("-1:30", Value::Int(-90)),
        ("01:30", text("01:30")),
        ("1:60", text("1:60")),
        ("1:75", text("1:75")),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        (
            "9223372036854775808",
            Value::BigInt("9223372036854775808".into()),
        ),
        (
            "0xffffffffffffffffff",
            Value::BigInt("4722366482869645213695".into()),
        ),
        (
            "-1:0:0:0:0:0:0:0:0:0:0:0",
            Value::BigInt("-36279705600000000000".into()),
        ),
    ]);
    assert!(is_invalid("0b_"));
}

#[test]
fn integers_have_at_most_the_digits_that_python_reads() {
    let too_many = Err(YamlProblemKind::OverLimit(YamlLimit::Digits));
    assert!(scalar(&"9".repeat(YamlLimit::DIGITS)).is_ok());
    assert_eq!(scalar(&"9".repeat(YamlLimit::DIGITS + 1)), too_many);
    assert!(scalar(&format!("0x{}", "f".repeat(3500))).is_ok());
    assert_eq!(scalar(&format!("0x{}", "f".repeat(3600))), too_many);
    assert_eq!(scalar(&format!("1{}", ":00".repeat(100_000))), too_many);
}

#[test]
fn floats() {
    check(&[
        ("1.", Value::Float(1.0)),
        ("1_0.5", Value::Float(10.5)),
        (".5", Value::Float(0.5)),
        ("-.5", text("-.5")),
        ("1.0e+3", Value::Float(1000.0)),
        ("1.0e3", text("1.0e3")),
        ("1e3", text("1e3")),
        ("-.INF", Value::Float(f64::NEG_INFINITY)),
        ("inf", text("inf")),
        ("+.nan", text("+.nan")),
        ("1:30.5", Value::Float(90.5)),
        ("0:30.5", Value::Float(30.5)),
        ("190:20:30.15", Value::Float(685_230.15)),
        ("1.2.3", text("1.2.3")),
    ]);
    assert!(matches!(scalar(".NaN"), Ok(Value::Float(nan)) if nan.is_nan()));
}

#[test]
fn times() {
    let date = Date {
        year: 2001,
        month: 12,
        day: 14,
    };
    let moment = Timestamp {
        date,
        hour: 21,
        minute: 59,
        second: 43,
        microsecond: 100_000,
        offset: None,
    };
    check(&[
        ("2001-12-14", Value::Date(date)),
        ("2001-12-4", text("2001-12-4")),
        ("2001-12-14t21:59:43.1", Value::Timestamp(moment)),
        (
            "2001-12-14 21:59:43.10 -5",
            Value::Timestamp(Timestamp {
                offset: Some(-300),
                ..moment
            }),
        ),
        (
            "2001-12-14 \t21:59:43.1Z",
            Value::Timestamp(Timestamp {
                offset: Some(0),
                ..moment
            }),
        ),
        ("2001-12-14 21:59", text("2001-12-14 21:59")),
    ]);
    for impossible in [
        "2001-02-29",
        "0000-01-01",
        "2001-01-01 24:00:00",
        "2001-01-01 00:00:00+24",
    ] {
        assert!(is_invalid(impossible), "{impossible}");
    }
    assert!(scalar("2000-02-29").is_ok());
}

#[test]
fn tags() {
    check(&[
        ("!!int ' 12 '", Value::Int(12)),
        ("!!int 0o17", Value::Int(15)),
        ("!!bool yEs", Value::Bool(true)),
        ("!!float 1e3", Value::Float(1000.0)),
        (
            r#"!!binary "YW I=\nxx""#,
            Value::Binary(b"ab".as_slice().into()),
        ),
        (
            "!!timestamp 2001-1-1",
            Value::Date(Date {
                year: 2001,
                month: 1,
                day: 1,
            }),
        ),
    ]);
    for invalid in [
        "!!int ''",
        "!!binary YWI",
        "!!timestamp '2001-12-14 21:59:43 '",
    ] {
        assert!(is_invalid(invalid), "{invalid}");
    }
}
