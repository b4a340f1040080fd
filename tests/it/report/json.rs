use layercake::diagnostic::{Diagnostic, Label};
use layercake::report::answer::write_list;
use layercake::report::model::rendered;
use layercake::report::{DocumentOptions, RenderedDocument, SiteDocuments, SiteRow, canonical};
use layercake::source::{DocKey, RepoPath, Span};
use layercake::yaml::{Date, Key, Mapping, Node, Timestamp, Value};
use serde_json::Value as Json;

use super::{Files, rule};

#[test]
fn values_have_a_canonical_form() {
    let timestamp = |microsecond, offset| {
        let date = Date {
            year: 2001,
            month: 12,
            day: 14,
        };
        Value::Timestamp(Timestamp {
            date,
            hour: 21,
            minute: 5,
            second: 43,
            microsecond,
            offset,
        })
    };
    let cases = [
        (Value::Null, "null"),
        (Value::Bool(true), "true"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (
            Value::BigInt("123456789012345678901234567890".into()),
            "123456789012345678901234567890",
        ),
        (
            text("é\u{1f600}\"\\\n\r\t\u{8}\u{c}\u{1b}\u{7f}"),
            "\"é\u{1f600}\\\"\\\\\\n\\r\\t\\b\\f\\u001b\u{7f}\"",
        ),
        (
            Value::Date(Date {
                year: 19,
                month: 1,
                day: 31,
            }),
            "\"!!date:0019-01-31\"",
        ),
        (timestamp(0, None), "\"!!datetime:2001-12-14T21:05:43\""),
        (
            timestamp(100_000, Some(0)),
            "\"!!datetime:2001-12-14T21:05:43.100000+00:00\"",
        ),
        (
            timestamp(7, Some(-330)),
            "\"!!datetime:2001-12-14T21:05:43.000007-05:30\"",
        ),
        (
            Value::Binary([0, 255, 7, 1][..].into()),
            "\"!!binary:AP8HAQ==\"",
        ),
        (
            Value::Set([key(text("b")), key(Value::Int(1)), key(text("a"))].into()),
            "{\"!!set\":[1,\"a\",\"b\"]}",
        ),
        (
            Value::Pairs([(node(text("b")), node(Value::Int(1)))].into()),
            "[[\"b\",1]]",
        ),
        (
            mapping([
                (text("é"), Value::Int(0)),
                (text("z"), mapping([])),
                (
                    text("B"),
                    Value::from(vec![node(Value::Null), node(Value::Bool(false))]),
                ),
                (Value::Int(1), Value::Int(1)),
                (Value::Bool(false), Value::Int(2)),
                (Value::Null, Value::Int(3)),
                (Value::Float(1.5), Value::Int(4)),
                (
                    Value::Date(Date {
                        year: 2019,
                        month: 1,
                        day: 31,
                    }),
                    Value::Int(5),
                ),
            ]),
            "{\"!!bool:false\":2,\"!!date:2019-01-31\":5,\"!!float:1.5\":4,\"!!int:1\":1,\
             \"!!null\":3,\"B\":[null,false],\"z\":{},\"é\":0}",
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(canonical(&node(value)), expected);
    }
}

#[test]
fn floats_are_formatted_as_in_python() {
    let cases = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-123.456, "-123.456"),
        (100.0, "100.0"),
        (0.0001, "0.0001"),
        (0.00012345, "0.00012345"),
        (1e-5, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (1e15, "1000000000000000.0"),
        (1234567890123456.7, "1234567890123456.8"),
        (9999999999999998.0, "9999999999999998.0"),
        (1e16, "1e+16"),
        (1.25e16, "1.25e+16"),
        (1e20, "1e+20"),
        (1e100, "1e+100"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::INFINITY, "\"!!float:.inf\""),
        (f64::NEG_INFINITY, "\"!!float:-.inf\""),
        (f64::NAN, "\"!!float:.nan\""),
    ];
    for (float, expected) in cases {
        assert_eq!(canonical(&node(Value::Float(float))), expected);
    }
}

#[test]
fn rendered_documents_keep_their_order() {
    let data = mapping([
        (text("z"), Value::Float(1e16)),
        (text("a"), Value::BigInt("99999999999999999999".into())),
    ]);
    let document = RenderedDocument {
        key: DocKey::new("s/v1", "", "n"),
        metadata: node(Value::Null),
        data: node(data),
        file: RepoPath::new("a.yaml"),
        line: 3,
    };
    let mut out = Vec::new();
    let site = SiteDocuments {
        site: None,
        documents: vec![document],
    };
    rendered(&[site], DocumentOptions::default(), None, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "{\"version\":1,\"sites\":[{\"site\":null,\"documents\":[{\"schema\":\"s/v1\",\"name\":\"n\",\
         \"layer\":\"\",\"file\":\"a.yaml\",\"line\":3,\"data\":{\"z\":1e+16,\
         \"a\":99999999999999999999}}]}]}\n"
    );
}

#[test]
fn every_finding_is_in_the_json() {
    let files = Files::new(&[("a.yaml", "«a:one\ntwo»: «b:2»\n")]);
    let finding = |line: usize| {
        Diagnostic::new(
            rule("duplicate-key"),
            format!("no {line}"),
            Label::new(files.at('a'), "x"),
        )
        .related(files.at('b'), "y")
        .document(DocKey::new("s", "l", "n"))
    };
    let json: Json = serde_json::from_str(&files.json((0..100).map(finding).collect())).unwrap();
    assert_eq!(json["version"], 2);
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 100);
    assert_eq!(findings[42]["message"], "no 42");
    assert_eq!(
        findings[42]["primary"].to_string(),
        "{\"file\":\"a.yaml\",\"line\":1,\"column\":1,\"end_line\":2,\"end_column\":4,\"label\":\"x\",\
         \"text\":\"t1\"}"
    );
    assert_eq!(
        findings[42]["documents"].to_string(),
        "[{\"schema\":\"s\",\"layer\":\"l\",\"name\":\"n\"}]"
    );
    assert_eq!(
        files.json((0..3).map(finding).collect()),
        files.json((0..3).map(finding).collect())
    );
    assert_eq!(
        serde_json::from_str::<Json>(&files.json(vec![])).unwrap()["findings"],
        Json::Array(vec![])
    );
}

#[test]
fn fingerprints_are_stable_when_lines_move_and_values_change() {
    let prints = |text: &str, messages: [&str; 2], rules: [&str; 2]| -> Vec<String> {
        let subjects = ["one", "other"];
        let files = Files::new(&[("a.yaml", text)]);
        let findings = [('a', 0), ('b', 1)].map(|(place, at)| {
            let label = Label::new(files.at(place), "here");
            Diagnostic::new(rule(rules[at]), messages[at], label).about(subjects[at])
        });
        let json: Json = serde_json::from_str(&files.json(findings.into())).unwrap();
        let findings = json["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|it| it["fingerprint"].as_str().unwrap().to_owned())
            .collect()
    };
    let same = ["missing-parent"; 2];
    let before = prints("«a:x»: 1\n«b:y»: 2\n", ["`1`", "`2`"], same);
    assert_eq!(
        before,
        prints("\n\n«a:x»: 3\n\n«b:y»: 4\n", ["`3`", "`4`"], same)
    );
    assert_ne!(before[0], before[1]);
    let others = prints(
        "«a:x»: 1\n«b:y»: 2\n",
        ["`1`", "`2`"],
        ["missing-parent", "duplicate-key"],
    );
    assert_eq!(before[0], others[0]);
    assert_ne!(before[1], others[1]);
    // Literal values, because users keep baselines for years.
    assert_eq!(before[0], "d2c84ab117d470e3d1d3abe8b6da8b0d");
}

#[test]
fn sites_are_listed() {
    let row = SiteRow {
        site: Some("x".into()),
        site_type: None,
        files: 1,
        documents: 2,
        outputs: 3,
        deployed: Some(2),
    };
    let mut out = Vec::new();
    write_list("sites", &[row], &mut out).unwrap();
    let json: Json = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        json.to_string(),
        "{\"version\":1,\"sites\":[{\"site\":\"x\",\"type\":null,\"files\":1,\"documents\":2,\"outputs\":3,\"deployed\":2}]}"
    );
}

fn span() -> Span {
    Files::new(&[("a", "«a:»")]).at('a')
}

fn node(value: Value) -> Node {
    Node::new(value, span())
}

fn key(value: Value) -> Key {
    Key {
        value,
        span: span(),
    }
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn mapping<const N: usize>(entries: [(Value, Value); N]) -> Value {
    let entries: Mapping = entries
        .into_iter()
        .map(|(at, value)| (key(at), node(value)))
        .collect();
    Value::Mapping(entries.into())
}
