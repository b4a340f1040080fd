//! Saved reports: they are shown like the report of the run, and forged ones do no harm.

use std::time::{Duration, Instant};

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::compare::{Status, Via};
use layercake::diagnostic::{Diagnostic, Label};
use layercake::merge::deckhand::Semantics;
use layercake::report::model::{Report, ReportReadError, read};
use layercake::report::{Detail, FindingFilter, Format, TerminalOptions};
use layercake::rules::{Gates, RULES};
use layercake::source::{MemoryTree, RepoPath, Source, Span};
use layercake::yaml::Node;
use layercake_yaml_testing::values::any_value;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::comparison::{all_kinds, many_images, one_image};
use super::world::World;
use super::{Files, plain, rule};
use crate::support::{compare_files, options, saved};

#[test]
fn saved_comparison_is_shown_like_the_original() {
    for world in [
        one_image(),
        many_images(),
        all_kinds(),
        World::new(&[], &[]).finish(),
    ] {
        // `at` compares each format of the report and the saved report.
        world.at(80);
    }
}

#[test]
fn secret_metadata_has_no_location() {
    // Without `data`, all of a secret document is secret.
    let of = |policy: &str| {
        let document = format!(
            "---\nschema: deckhand/Passphrase/v1\nmetadata: {{schema: metadata/Document/v1, name: a, \
             storagePolicy: {policy}, layeringDefinition: {{abstract: false, layer: site}}}}\n"
        );
        MemoryTree::new().with("a.yaml", document)
    };
    let (options, selectors) = (options(Semantics::Documented), Selectors::default());
    let (place, gates) = (ConfigurationSource::Root, Gates::default());
    let compared = compare_files(
        &of("cleartext"),
        &of("encrypted"),
        options,
        &selectors,
        &place,
        &gates,
    );
    assert_eq!(compared.comparison.edits.len(), 1, "one edit, of metadata");
    saved::check_compared(&compared);
}

#[test]
fn finding_far_into_a_long_line_is_shown() {
    let long = "word ".repeat(2000);
    let marked = format!("a: {long}«!:secret»{long}«a:here» it is {long}«b:there»{long}\n");
    let files = Files::new(&[("a.yaml", &format!("before\n{marked}after\n"))]);
    let finding = files
        .finding("a finding", "this")
        .related(files.at('b'), "and that");
    let text = files.full(vec![finding.clone()], plain(80));
    assert!(text.contains("a.yaml:2:20004"), "{text}");
    let report: Json = serde_json::from_str(&files.json(vec![finding])).unwrap();
    let lines = report["lines"][0]["lines"].as_array().unwrap();
    let places: Vec<_> = lines
        .iter()
        .map(|it| (it["line"].clone(), it["column"].clone()))
        .collect();
    assert_eq!(
        places,
        [
            (json!(1), Json::Null),
            (json!(2), json!(19_604)),
            (json!(2), json!(29_615)),
            (json!(3), Json::Null)
        ]
    );
    assert!(
        lines
            .iter()
            .all(|it| it["text"].as_str().unwrap().len() <= 820)
    );
    assert!(!report.to_string().contains("secret»"));
}

#[test]
fn two_contents_of_one_path_are_distinguished() {
    // One path with two contents: that of the base and that of the head.
    let mut files = Files::new(&[("a.yaml", "one: «a:1»\nthe end\n")]);
    let other = files.add("a.yaml", "another: 1\n");
    let finding = files
        .finding("a finding", "here")
        .related(Span::new(other, 9, 10), "there");
    let text = files.full(vec![finding], plain(80));
    assert!(
        text.contains("one: 1") && text.contains("another: 1"),
        "{text}"
    );
}

#[test]
fn encoded_text_is_shown_decoded() {
    let mut files = Files::new(&[("a.yaml", "x: «a:aGVsbG8=»\n")]);
    let source = Source::decoded(
        RepoPath::new("a.yaml#1"),
        b"hello\nthere\nyou\n".to_vec(),
        files.at('a'),
    );
    let inside = files.sources.add(source);
    let label = Label::new(Span::new(inside, 6, 11), "here");
    let finding = Diagnostic::new(rule("missing-parent"), "a finding", label);
    let text = files.full(vec![finding], plain(80));
    assert!(text.contains("a.yaml:1, decoded:2:1"), "{text}");
}

#[test]
fn unknown_rule_is_named() {
    let files = Files::new(&[("a.yaml", "«a:x»: 1\n")]);
    let report = files.json(vec![files.finding("a finding", "here")]);
    let report = read(&report.replace("missing-parent", "rule-of-tomorrow")).unwrap();
    let text = written(Format::Concise, &report);
    assert!(
        text.starts_with("a.yaml:1:1: error[rule-of-tomorrow] a finding\n"),
        "{text}"
    );
}

#[test]
fn value_omitted_from_the_report_is_marked() {
    let side = |text: &str| format!("data: {{a: {}}}\n", text.repeat(70_000));
    let mut world = World::new(&["lab"], &[("a.yaml", &side("x"), &side("y"))]);
    world.edit("one", "a.yaml", ".a");
    let text = written(Format::Full, &world.finish().report());
    assert!(text.contains("no effect: 1 edit"), "{text}");
}

/// The report in full detail.
fn written(format: Format, report: &Report) -> String {
    let look = TerminalOptions {
        listing: FindingFilter {
            all: true,
            ignored: true,
        },
        limit: 0,
        detail: Detail::Whole,
    };
    let mut out = Vec::new();
    format
        .write(report, (look, &plain(60)), RULES, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// `report` with another value at a pointer.
fn forged(report: &str, pointer: &str, other: Json) -> Result<Report, ReportReadError> {
    let mut report: Json = serde_json::from_str(report).unwrap();
    *report.pointer_mut(pointer).expect("it is in the report") = other;
    read(&report.to_string())
}

#[test]
fn locations_outside_of_files_are_refused() {
    let files = Files::new(&[("a.yaml", "«a:x»: 1\n")]);
    let report = files.json(vec![files.finding("a finding", "here")]);
    for (pointer, other) in [
        ("/findings/0/primary/line", json!(0)),
        ("/findings/0/primary/column", json!(0)),
        ("/findings/0/primary/end_line", json!(u64::MAX)),
        ("/findings/0/primary/end_column", json!(0)),
        ("/lines/0/lines/0/line", json!(0)),
        ("/lines/0/lines/0/column", json!(u64::MAX)),
        ("/lines/0/lines/0/text", json!("a\nb")),
        ("/lines/0/lines/0/hidden", json!([[3, 2]])),
        ("/lines/0/id", json!("t2")),
        ("/findings/0/primary/text", json!("t2")),
    ] {
        let mut with_place: Json = serde_json::from_str(&report).unwrap();
        with_place["lines"][0]["lines"][0]["column"] = json!(1);
        with_place["lines"][0]["lines"][0]["hidden"] = json!([]);
        let result = forged(&with_place.to_string(), pointer, other);
        assert!(result.is_err(), "{pointer}");
    }
    let edited = one_image().json();
    for (pointer, other) in [
        ("/edits/0/at", json!({"base": null, "head": null})),
        ("/edits/0/at/head/line", json!(0)),
        ("/edits/0/at/head/column", json!(u64::MAX)),
        ("/edits/0/kind", json!("other")),
        ("/edits/0/id", json!("e2")),
        ("/routes/0/steps", json!([])),
        ("/routes/0/steps/0/via", json!("magic")),
        ("/shields/0/why", json!("why not")),
        ("/shields/0/by/0/line", json!(0)),
        ("/site_sets/0/sites", json!([7])),
        ("/site_sets/0/sites", json!([1, 0])),
        ("/outputs/0/sites", json!("s99")),
    ] {
        assert!(forged(&edited, pointer, other).is_err(), "{pointer}");
    }
}

#[test]
fn many_labels_are_rendered_quickly() {
    let files = Files::new(&[("a.yaml", "«a:x»: 1\n")]);
    let report = files.json(vec![files.finding("a finding", "here")]);
    let report: Json = serde_json::from_str(&report).unwrap();
    for column in [1, 1_000_000] {
        let mut many = report.clone();
        let mut label = report["findings"][0]["primary"].clone();
        (label["column"], label["end_column"]) = (json!(column), json!(column));
        many["findings"][0]["related"] = Json::Array(vec![label; 20_000]);
        let (text, start) = (many.to_string(), Instant::now());
        written(Format::Full, &read(&text).unwrap());
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
    }
}

#[test]
fn deep_nesting_is_shown_on_one_line() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let report = all_kinds().json();
    let before = report.find("\"value\": {").unwrap() + "\"value\": ".len();
    let after = before + report[before..].find('}').unwrap() + 1;
    let forged = format!("{}{deep}{}", &report[..before], &report[after..]);
    let report = read(&forged).unwrap();
    for format in Format::ALL {
        assert!(!written(format, &report).is_empty() || format.name() == "github");
    }
}

/// Writes a report from an untrusted source in all formats.
fn write_all_formats(report: &str) {
    let Ok(report) = read(report) else { return };
    for format in Format::ALL {
        written(format, &report);
    }
}

/// All pointers of a value.
fn pointers(value: &Json, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                pointers(item, &format!("{here}/{at}"), all);
            }
        }
        Json::Object(entries) => {
            for (key, item) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(item, &format!("{here}/{key}"), all);
            }
        }
        _ => {}
    }
}

/// Another value in place of one of a report.
fn changed(value: &Json, how: usize) -> Json {
    match (value, how % 6) {
        (Json::Array(items), 0) => Json::Array(items.iter().skip(1).cloned().collect()),
        (Json::Array(items), 1) => Json::Array([items.clone(), items.clone()].concat()),
        (Json::Array(items), 2) => Json::Array(items.iter().rev().cloned().collect()),
        (Json::Number(_), 0) => json!(0),
        (Json::Number(_), 1) => json!(1),
        (Json::Number(_), 2) => json!(100_000),
        (Json::Number(_), 3) => json!(4_000_000_000_u32),
        (Json::Number(_), 4) => json!(u64::MAX),
        (Json::String(text), 0) => json!(text.chars().rev().collect::<String>()),
        (Json::String(_), 1) => json!(""),
        (Json::String(_), 2) => json!("e1"),
        (Json::String(text), 3) => json!(text.repeat(300)),
        (Json::String(_), 4) => json!("/a~1b/0/!!int:1/é\u{feff}\r"),
        (Json::Bool(is), _) => json!(!is),
        (_, 5) => Json::Null,
        (other, _) => other.clone(),
    }
}

/// Report of findings in text with characters that are hard to handle.
fn findings_report() -> String {
    let mut files = Files::new(&[
        (
            "a.yaml",
            "\u{feff}one: «a:1» «!:secret»\r\n«!:two\n lines» and «b:more»\n\nthe end",
        ),
        (
            "b.yaml",
            &format!("{}«c:x»{}\n", "long ".repeat(500), "long ".repeat(500)),
        ),
        ("c.yaml", "not «d:shown»\n"),
    ]);
    let hidden = files.at('d').file;
    files.opaque.push(hidden);
    let finding = |places: &str| {
        let mut labels = places
            .chars()
            .map(|place| Label::new(files.at(place), "label"));
        let mut finding =
            Diagnostic::new(rule("duplicate-key"), "a finding", labels.next().unwrap());
        finding.related = labels.collect();
        finding.sites = super::sites(&["lab", "prod"]);
        finding.note("a note").help("help")
    };
    files.full(
        vec![finding("abcd"), finding("dcba"), finding("b")],
        plain(80),
    );
    files.json(vec![finding("abcd"), finding("dcba"), finding("b")])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn any_value_is_shown_of_a_saved_report(before in any_value(), after in any_value()) {
        let mut world = World::new(&["lab"], &[("a.yaml", "data: {a: 1}\n", "data: {a: 2}\n")]);
        let id = world.edit("one", "a.yaml", ".a");
        let output = world.output("lab", "one", Status::Changed, "a.yaml");
        world.cause(output, id, &[], &[(Via::Edited, "one", ".a", &[("a.yaml", 1)])]);
        let edit = &mut world.comparison.edits[0].edit;
        for (text, value) in [(&mut edit.base, before), (&mut edit.head, after)] {
            let text = text.as_mut().unwrap();
            text.node = Some(Node::new(value, text.at));
        }
        world.finish().at(80);
    }

    #[test]
    fn forged_reports_do_no_harm(
        which in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..6_usize), 1..4),
    ) {
        let report = match which {
            0 => all_kinds().json(),
            1 => one_image().json(),
            _ => findings_report(),
        };
        let mut report: Json = serde_json::from_str(&report).unwrap();
        for (at, how) in changes {
            let mut all = Vec::new();
            pointers(&report, "", &mut all);
            let place = report.pointer_mut(&all[at.index(all.len())]).unwrap();
            *place = changed(place, how);
        }
        write_all_formats(&report.to_string());
    }
}
